//! The search folders of a compiler and its linker, as they report them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::{env, io};

use super::command::show;
use super::tool::{HEADER_VARIABLES, Tool};

/// Search folders in search order.
#[derive(Clone, Debug, Default)]
pub(super) struct Search {
    /// Folders for headers. Folders that do not exist yet come first, since the compiler does not
    /// report their position.
    pub(super) headers: Vec<PathBuf>,
    /// Folders for libraries and start files.
    pub(super) libraries: Vec<PathBuf>,
    /// Whether the compiler listed both.
    pub(super) is_known: bool,
}

/// The folders that `tool` searches with its own arguments and `flags`.
pub(super) fn folders(tool: &Tool, flags: &[String]) -> io::Result<Search> {
    asked(tool, flags, false)
}

/// The default search folders of `tool`, without those named by arguments or the environment. Each
/// is also listed by its real path.
pub(super) fn system_folders(tool: &Tool) -> io::Result<Search> {
    let mut plain = tool.clone();
    plain.arguments = without_folders(&tool.arguments);
    plain.ignores_header_variables = true;
    asked(&plain, &[], true)
}

/// Queries a compiler once per set of arguments.
fn asked(tool: &Tool, flags: &[String], is_system: bool) -> io::Result<Search> {
    static KNOWN: Mutex<BTreeMap<(String, bool, bool), Search>> = Mutex::new(BTreeMap::new());
    let mut command = tool.command();
    command.args(flags);
    let question = (show(&command), tool.ignores_header_variables, is_system);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(search) = known.get(&question) {
        return Ok(search.clone());
    }
    let headers = headers(tool, flags)?;
    let libraries = libraries(tool, flags, is_system)?;
    let mut search = Search {
        is_known: headers.is_some() && libraries.is_some(),
        headers: headers.unwrap_or_default(),
        libraries: libraries.unwrap_or_default(),
    };
    for folder in search.headers.iter_mut().chain(&mut search.libraries) {
        *folder = std::path::absolute(&*folder)?;
    }
    if is_system {
        for folders in [&mut search.headers, &mut search.libraries] {
            let real: Vec<PathBuf> = folders.iter().filter_map(|f| f.canonicalize().ok()).collect();
            folders.extend(real);
        }
    }
    known.insert(question, search.clone());
    Ok(search)
}

fn headers(tool: &Tool, flags: &[String]) -> io::Result<Option<Vec<PathBuf>>> {
    let mut command = tool.command();
    command.args(flags).args(["-v", "-E", "-x", "c++"]);
    let output = command.arg("/dev/null").output()?;
    Ok(header_folders(&String::from_utf8_lossy(&output.stderr)))
}

/// Parses the search folders that g++ and clang++ print with `-v`. `None` without a whole list of
/// folders.
fn header_folders(text: &str) -> Option<Vec<PathBuf>> {
    let missing = text.lines().filter_map(|line| {
        let rest = line.strip_prefix("ignoring nonexistent directory \"")?;
        rest.strip_suffix('"').map(PathBuf::from)
    });
    let mut folders: Vec<PathBuf> = missing.collect();
    let before = folders.len();
    let mut lines = text.lines();
    lines.find(|line| line.contains("#include \"...\" search starts here:"))?;
    let mut has_angle = false;
    for line in lines {
        if line.starts_with("End of search list") {
            let is_whole = has_angle && folders.len() > before;
            return is_whole.then_some(folders);
        }
        match line.strip_prefix(' ') {
            // clang marks folders of frameworks on macOS.
            Some(folder) => folders.push(folder.trim_end_matches(" (framework directory)").into()),
            None if !has_angle && line == "#include <...> search starts here:" => has_angle = true,
            None => return None,
        }
    }
    None
}

fn libraries(tool: &Tool, flags: &[String], is_system: bool) -> io::Result<Option<Vec<PathBuf>>> {
    let mut command = tool.command();
    command.args(flags).arg("-print-search-dirs");
    if is_system {
        command.env_remove("LIBRARY_PATH");
    }
    let output = command.output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let Some(listed) = library_folders(&text) else {
        return Ok(None);
    };
    let arguments = || tool.arguments.iter().chain(flags).map(String::as_str);
    let mut folders: Vec<PathBuf> = values_of(arguments(), "-L").map(PathBuf::from).collect();
    if !is_system {
        let more = env::var_os("LIBRARY_PATH").unwrap_or_default();
        folders.extend(env::split_paths(&more).filter(|p| !p.as_os_str().is_empty()));
    }
    folders.extend(listed);
    folders.retain(|folder| !folder.as_os_str().is_empty());
    Ok(Some(folders))
}

/// Parses the folders of libraries that g++ and clang++ print with `-print-search-dirs`. `None`
/// without exactly one list of absolute folders.
fn library_folders(text: &str) -> Option<Vec<PathBuf>> {
    let mut lists = text.lines().filter_map(|line| line.strip_prefix("libraries: ="));
    let folders: Vec<PathBuf> = env::split_paths(lists.next()?).collect();
    let is_list = !folders.is_empty() && folders.iter().all(|folder| folder.is_absolute());
    (is_list && lists.next().is_none()).then_some(folders)
}

/// The values of an option, whether joined to it or in the next argument.
pub(super) fn values_of<'a>(
    arguments: impl Iterator<Item = &'a str>,
    option: &'static str,
) -> impl Iterator<Item = &'a str> {
    let mut is_next = false;
    arguments.filter_map(move |argument| {
        if std::mem::take(&mut is_next) {
            return Some(argument);
        }
        let value = argument.strip_prefix(option)?;
        is_next = value.is_empty();
        (!is_next).then_some(value)
    })
}

/// Options whose value is a search folder. A name precedes its own prefixes.
const FOLDER_OPTIONS: [&str; 7] =
    ["-isystem", "-iquote", "-idirafter", "-iprefix", "-I", "-L", "-B"];

/// The arguments without those that name search folders.
pub(super) fn without_folders(arguments: &[String]) -> Vec<String> {
    without(arguments, &FOLDER_OPTIONS)
}

/// The arguments without those that name header search folders.
pub(super) fn without_header_folders(arguments: &[String]) -> Vec<String> {
    without(arguments, &FOLDER_OPTIONS[..5])
}

fn without(arguments: &[String], options: &[&str]) -> Vec<String> {
    let mut left = Vec::new();
    let mut all = arguments.iter();
    while let Some(argument) = all.next() {
        let option = options.iter().find(|o| argument.starts_with(**o));
        match option {
            Some(option) if *option == argument => drop(all.next()),
            Some(_) => {}
            None => left.push(argument.clone()),
        }
    }
    left
}

/// Whether a file is below one of the folders of [`of_system`], by its own path or its real path.
pub(super) fn is_below(path: &Path, system: &[PathBuf]) -> bool {
    let is_in = |path: &Path| system.iter().any(|folder| path.starts_with(folder));
    is_in(path) || path.canonicalize().is_ok_and(|real| is_in(&real))
}

/// Environment variables that affect which files a compiler reads, with their values.
pub(super) fn environment(ignores_header_variables: bool) -> BTreeMap<String, String> {
    let headers = HEADER_VARIABLES.iter().filter(|_| !ignores_header_variables);
    let named = headers.chain(&OTHER_VARIABLES);
    named
        .filter_map(|name| {
            let value = env::var_os(name).filter(|v| !v.is_empty())?;
            Some(((*name).to_owned(), value.to_string_lossy().into_owned()))
        })
        .collect()
}

/// Variables that select libraries, compiler parts, or libraries that a program loads at start.
const OTHER_VARIABLES: [&str; 9] = [
    "LIBRARY_PATH",
    "LD_RUN_PATH",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "COMPILER_PATH",
    "GCC_EXEC_PREFIX",
    "CCC_OVERRIDE_OPTIONS",
    "SOURCE_DATE_EPOCH",
    "GNUTARGET",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn search_list_of_gcc_is_read_with_missing_folders_first() {
        let text = "ignoring nonexistent directory \"/not/yet\"\n#include \"...\" search starts here:\n /quoted\n#include <...> search starts here:\n .\n /usr/include\nEnd of search list.\n /not/this\n";
        let expected = ["/not/yet", "/quoted", ".", "/usr/include"].map(PathBuf::from);
        assert_eq!(header_folders(text).unwrap(), expected);
        let of_mac = text.replace(" /usr/include", " /usr/include (framework directory)");
        assert_eq!(header_folders(&of_mac).unwrap(), expected);
    }

    #[test]
    fn changed_list_of_folders_is_read_line_by_line_or_refused() {
        let text = "#include \"...\" search starts here:\n#include <...> search starts here:\n /usr/include/c++/13\n /usr/lib/gcc/x86_64-linux-gnu/13/include\n /usr/local/include\nEnd of search list.\n";
        let form = yamba_mutants::Form { separator: "/", fields: &["14", "x86_64", " "] };
        let whole = header_folders(text).unwrap();
        for mutant in yamba_mutants::text(text, form, 50, 10_000) {
            let Some(read) = header_folders(&mutant.text) else {
                continue;
            };
            if mutant.change.keeps_figures() {
                assert_eq!(read, whole, "{mutant:?}");
            }
            let lines: Vec<&str> = mutant.text.lines().collect();
            let is_listed = |folder: &PathBuf| {
                let mut names = lines.iter().filter_map(|line| line.strip_prefix(' '));
                names.any(|name| Path::new(name) == folder)
            };
            assert!(read.iter().all(is_listed), "{mutant:?}");
            let kept = whole.iter().filter(|folder| read.contains(folder)).count();
            assert!(kept + 1 >= whole.len(), "{mutant:?}");
        }
        let text = "install: /usr/lib/gcc/13/\nprograms: =/usr/libexec/gcc/13/\nlibraries: =/usr/lib/gcc/13/:/lib/:/usr/lib/\n";
        let whole = library_folders(text).unwrap();
        assert_eq!(whole.len(), 3);
        for mutant in yamba_mutants::text(text, form, 51, 10_000) {
            let Some(read) = library_folders(&mutant.text) else {
                continue;
            };
            let is_changed = mutant.line == Some(2);
            assert!(read == whole || is_changed, "{mutant:?}");
            assert!(!mutant.change.keeps_figures() || read == whole, "{mutant:?}");
        }
    }

    #[test]
    fn folder_options_are_dropped_joined_or_apart() {
        let words =
            |text: &str| -> Vec<String> { text.split_whitespace().map(str::to_owned).collect() };
        let all = words("-O3 -I /a -I/b -isystem /c -DX -L/d -lfoo -B /e");
        assert_eq!(without_folders(&all), words("-O3 -DX -lfoo"));
        assert_eq!(without_header_folders(&all), words("-O3 -DX -L/d -lfoo -B /e"));
    }
}
