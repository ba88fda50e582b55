//! Keywords, which cannot be names.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Keywords that begin a member, and so also mark the end of the member before.
pub(super) const MEMBERS: &[&str] = &[
    "param",
    "bitstring",
    "evidence",
    "native",
    "import",
    "at_least",
    "at_most",
    "requires",
    "chart",
    "stands_for",
    "tags",
    "compile",
];

/// Words of a class header.
pub(super) const HEADER: &[&str] = &["yamba", "abstract", "extends", "ports", "on", "nothing"];

/// C++ keywords that name or begin a type.
const TYPES: &str = "
    void bool char short int long float double signed unsigned wchar_t char8_t char16_t char32_t
    auto";

/// C++ specifiers before a type.
const SPECIFIERS: &str = "
    static const volatile inline constexpr extern mutable virtual explicit register thread_local
    struct class union enum typename";

/// Other C++ keywords.
const OTHER_CPP: &str = "
    alignas alignof and and_eq asm bitand bitor break case catch compl const_cast continue
    decltype default delete do dynamic_cast else export false for friend goto if namespace new
    noexcept not not_eq nullptr operator or or_eq private protected public reinterpret_cast
    return sizeof static_assert static_cast switch template this throw true try typedef typeid
    using while xor xor_eq";

/// Whether a list, words with white space between them, has this word.
fn holds(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|w| w == word)
}

pub(crate) fn is_type(word: &str) -> bool {
    holds(TYPES, word)
}

pub(super) fn is_specifier(word: &str) -> bool {
    holds(SPECIFIERS, word)
}

/// Names that the C library or Yamba's runtime defines as macros in headers of every program. The
/// preprocessor would replace a member with such a name.
const MACROS: &str = "
    alloca assert errno math_errhandling must offsetof sa_handler sa_sigaction sched_priority
    sigmask st_atime st_ctime st_mtime strdupa strndupa va_arg va_copy va_end va_start EOF NAN
    NULL";

pub(crate) fn is_macro(word: &str) -> bool {
    holds(MACROS, word)
}

/// Whether `word` is reserved in C++, so that no generated member can have this name.
pub(crate) fn is_cpp(word: &str) -> bool {
    static ALL: LazyLock<HashSet<&str>> = LazyLock::new(|| {
        let lists = [TYPES, SPECIFIERS, OTHER_CPP];
        lists.into_iter().flat_map(str::split_whitespace).collect()
    });
    ALL.contains(word)
}
