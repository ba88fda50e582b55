//! The settings of a `compile { ... }` clause. The command line has an option of the same name for
//! each key.

/// A key of a `compile` clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CompileKey {
    /// A folder to search for headers.
    IncludeDir,
    /// A macro: `NAME` or `NAME=VALUE`.
    Define,
    /// The optimisation level, as after `-O`.
    Optimise,
    /// The processor, as after `-march=`.
    March,
    /// The C++ standard, as after `-std=`.
    Std,
    /// A library: a file, or a name as after `-l`.
    Link,
    /// A package that pkg-config knows.
    PkgConfig,
    /// Another option of the compiler, such as `-fopenmp`.
    Flag,
}

use CompileKey::{Define, Flag, IncludeDir, Link, March, Optimise, PkgConfig, Std};

/// A value that a key cannot have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadValue {
    /// The fault, as a clause of a sentence.
    pub fault: String,
    /// How to fix it.
    pub help: &'static str,
}

impl CompileKey {
    /// All keys.
    pub const ALL: [CompileKey; 8] =
        [IncludeDir, Define, Optimise, March, Std, Link, PkgConfig, Flag];

    /// The word in the clause. The option of the command line has `-` for `_`.
    pub fn word(self) -> &'static str {
        match self {
            IncludeDir => "include_dir",
            Define => "define",
            Optimise => "optimise",
            March => "march",
            Std => "std",
            Link => "link",
            PkgConfig => "pkg_config",
            Flag => "flag",
        }
    }

    /// Whether it can have several values.
    pub fn is_list(self) -> bool {
        matches!(self, IncludeDir | Define | Link | PkgConfig | Flag)
    }

    /// Checks what the text of a value alone shows.
    ///
    /// # Errors
    /// If this key cannot have the value.
    pub fn check(self, value: &str) -> Result<(), BadValue> {
        let bad = |fault: String, help| Err(BadValue { fault, help });
        if value.is_empty() || value.contains(['\n', '\0']) {
            return bad("this value is empty or has a line end".to_owned(), self.example());
        }
        let is_option = value.starts_with('-') && !matches!(self, Define | Flag);
        match self {
            _ if is_option => {
                bad(format!("`{value}` is an option of the compiler"), self.example())
            }
            Define if !is_macro(value) => {
                bad(format!("`{value}` does not begin with the name of a macro"), self.example())
            }
            Optimise if !LEVELS.contains(&value) => {
                bad(format!("`{value}` is no optimisation level"), self.example())
            }
            Std => check_standard(value),
            Flag => check_flag(value),
            March | PkgConfig if value.contains(char::is_whitespace) => {
                bad(format!("`{value}` has a space"), self.example())
            }
            _ => Ok(()),
        }
    }

    /// How to write a value.
    fn example(self) -> &'static str {
        match self {
            IncludeDir => "write a folder, as in \"include\"",
            Define => "write NAME or NAME=VALUE, as in \"BUFFER_SIZE=4096\"",
            Optimise => "levels are 0, 1, 2, 3, s, z, g and fast",
            March => "write what the compiler takes after -march=, as in \"native\"",
            Std => "write a standard, as in \"c++20\"",
            Link => "write a file, as in \"libmylib.a\", or a name as after -l, as in \"z\"",
            PkgConfig => "write the name of one package, as in \"libpng\"",
            Flag => {
                "write one option that begins with -f, -m, -g, -w, -W, -pthread or -static, as in \"-fopenmp\""
            }
        }
    }
}

const LEVELS: [&str; 8] = ["0", "1", "2", "3", "s", "z", "g", "fast"];

fn is_macro(value: &str) -> bool {
    let is_start = |c: char| c.is_ascii_alphabetic() || c == '_';
    let name = value.split(['=', '(']).next().unwrap_or("");
    name.starts_with(is_start) && name.chars().all(|c| is_start(c) || c.is_ascii_digit())
}

/// Standards that come before C++17, by their names after `c++` or `gnu++`.
const OLDER: [&str; 6] = ["98", "03", "0x", "11", "1y", "14"];

fn check_standard(value: &str) -> Result<(), BadValue> {
    let version = value.strip_prefix("gnu++").or_else(|| value.strip_prefix("c++"));
    let is_word =
        |version: &&str| !version.is_empty() && version.bytes().all(|b| b.is_ascii_alphanumeric());
    match version.filter(is_word) {
        Some(version) if OLDER.contains(&version) => Err(BadValue {
            fault: format!("`{value}` is older than C++17, which the programs of Yamba need"),
            help: "write c++17, gnu++17 or a later standard; a library of an older standard can be linked as it is",
        }),
        Some(_) => Ok(()),
        None => {
            Err(BadValue { fault: format!("`{value}` is no C++ standard"), help: Std.example() })
        }
    }
}

/// Beginnings of options that `flag` takes. The others name files, replace a step of the compiler,
/// or have a setting of their own.
const FLAGS: [&str; 7] = ["-f", "-m", "-g", "-W", "-pedantic", "-pthread", "-static"];

/// Beginnings of options with these beginnings that `flag` does not take, with the reason.
const NO_FLAGS: [(&[&str], &str); 4] = [
    (&["-march="], "has a setting of its own: `march`"),
    (&["-Wl,", "-Wp,", "-Wa,"], "is for another program than the compiler"),
    (
        &["-fpack-struct", "-fshort-", "-m16", "-m32", "-mx32", "-mabi", "-fabi-", "-mlong-double"],
        "changes how data lies in memory, which Yamba's own code would not follow",
    ),
    (
        &[
            "-fsyntax-only",
            "-fdiagnostics-",
            "-fmessage-length",
            "-ftabstop",
            "-fdirectives-only",
            "-fpreprocessed",
            "-fplugin",
            "-fprofile",
            "-fauto-profile",
            "-fmodule",
            "-fuse-ld",
        ],
        "changes what the compiler reads or writes, which Yamba would not notice",
    ),
];

fn check_flag(value: &str) -> Result<(), BadValue> {
    let begins = |starts: &[&str]| starts.iter().any(|start| value.starts_with(start));
    let reason = NO_FLAGS.iter().find(|(starts, _)| begins(starts));
    let fault = match reason {
        Some((_, reason)) => format!("`{value}` {reason}"),
        None if !begins(&FLAGS) && value != "-w" => {
            format!("`{value}` is no option that `flag` takes")
        }
        None if value.contains(|c: char| c.is_whitespace() || c == '/') => {
            format!("`{value}` has a space, or names a file")
        }
        None => return Ok(()),
    };
    Err(BadValue { fault, help: Flag.example() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_values_are_refused() {
        let good = [
            (Define, "NDEBUG"),
            (Define, "LEVEL=-3"),
            (Define, "F(x)=x + 1"),
            (Optimise, "3"),
            (Optimise, "fast"),
            (March, "x86-64-v3"),
            (Std, "gnu++20"),
            (Std, "c++2b"),
            (Link, "out/lib my.a"),
            (PkgConfig, "gtk+-3.0"),
            (Flag, "-fopenmp"),
            (Flag, "-mavx2"),
            (Flag, "-Wno-unused-variable"),
        ];
        for (key, value) in good {
            assert_eq!(key.check(value), Ok(()), "{value}");
        }
        let bad = [
            (IncludeDir, ""),
            (Define, "3=4"),
            (Define, "-DX"),
            (Optimise, "4"),
            (Optimise, "-O3"),
            (March, "native -O3"),
            (Std, "c++14"),
            (Std, "gnu++0x"),
            (Std, "17"),
            (Std, "c17"),
            (Link, "-lz"),
            (PkgConfig, "zlib libpng"),
            (Flag, "fopenmp"),
            (Flag, "-fopenmp -O3"),
            (Flag, "-O3"),
            (Flag, "-o/tmp/x"),
            (Flag, "-march=native"),
            (Flag, "-fpack-struct=1"),
            (Flag, "-fprofile-use=x.gcda"),
            (Flag, "-Wl,-rpath,/tmp"),
            (Flag, "-include"),
        ];
        for (key, value) in bad {
            assert!(key.check(value).is_err(), "{value}");
        }
    }
}
