//! Words that mean something, and so cannot be names.

/// Words that open a member, and so also mark where the member before them must have ended.
pub(super) const MEMBERS: &[&str] = &[
    "param",
    "bitstring",
    "evidence",
    "native",
    "import",
    "at_least",
    "at_most",
    "chart",
    "tags",
];

/// Words of a class header.
pub(super) const HEADER: &[&str] = &["yamba", "abstract", "extends", "ports", "on", "nothing"];

/// C++'s words that name or begin a type by themselves.
const TYPES: &[&str] = &[
    "void", "bool", "char", "short", "int", "long", "float", "double", "signed", "unsigned",
    "wchar_t", "char8_t", "char16_t", "char32_t", "auto",
];

/// C++'s words that stand before a type and are none.
const SPECIFIERS: &[&str] = &[
    "static",
    "const",
    "volatile",
    "inline",
    "constexpr",
    "extern",
    "mutable",
    "virtual",
    "explicit",
    "register",
    "thread_local",
    "struct",
    "class",
    "union",
    "enum",
    "typename",
];

/// C++'s other words.
const OTHER_CPP: &[&str] = &[
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "bitand",
    "bitor",
    "break",
    "case",
    "catch",
    "compl",
    "const_cast",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "dynamic_cast",
    "else",
    "export",
    "false",
    "for",
    "friend",
    "goto",
    "if",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "reinterpret_cast",
    "return",
    "sizeof",
    "static_assert",
    "static_cast",
    "switch",
    "template",
    "this",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "using",
    "while",
    "xor",
    "xor_eq",
];

pub(crate) fn is_type(word: &str) -> bool {
    TYPES.contains(&word)
}

pub(super) fn is_specifier(word: &str) -> bool {
    SPECIFIERS.contains(&word)
}

/// Names that the C library, or Yamba's runtime, defines as macros in what every program includes. A member of such a name
/// would become something else before C++ sees it.
const MACROS: &[&str] = &[
    "alloca",
    "assert",
    "errno",
    "math_errhandling",
    "must",
    "offsetof",
    "sa_handler",
    "sa_sigaction",
    "sched_priority",
    "sigmask",
    "st_atime",
    "st_ctime",
    "st_mtime",
    "strdupa",
    "strndupa",
    "va_arg",
    "va_copy",
    "va_end",
    "va_start",
    "EOF",
    "NAN",
    "NULL",
];

pub(crate) fn is_macro(word: &str) -> bool {
    MACROS.contains(&word)
}

/// Whether C++ keeps `word` for itself, so that no generated member can bear it.
pub(crate) fn is_cpp(word: &str) -> bool {
    is_type(word) || is_specifier(word) || OTHER_CPP.contains(&word)
}
