//! Finds C++ that concerns the whole process, so that several threads would measure something else
//! than several processes: calls that start processes or change what all threads share, and counts
//! of the whole process.
//!
//! The search sees the author's C++, not the libraries that it calls. A file that names
//! `thread_index` or `yamba::threads` takes care of threads.

use yamba_lang::cpp::{self, CppTokenKind};

use crate::context::Context;
use crate::cpp_text;

/// Functions that start or end processes, or change a property of the whole process.
const CALLS: [&str; 48] = [
    "alarm",
    "brk",
    "chdir",
    "chroot",
    "clearenv",
    "clock",
    "clone",
    "clone3",
    "daemon",
    "fchdir",
    "fork",
    "getpid",
    "kill",
    "killpg",
    "lockf",
    "mallopt",
    "malloc_trim",
    "mlockall",
    "munlockall",
    "personality",
    "popen",
    "posix_spawn",
    "posix_spawnp",
    "prctl",
    "prlimit",
    "ptrace",
    "putenv",
    "sbrk",
    "setegid",
    "setenv",
    "seteuid",
    "setgid",
    "setitimer",
    "setlocale",
    "setrlimit",
    "setuid",
    "sigaction",
    "signal",
    "system",
    "timer_create",
    "umask",
    "unsetenv",
    "unshare",
    "vfork",
    "wait",
    "wait4",
    "waitid",
    "waitpid",
];

/// Constants and variables: resources and counts of the whole process, and what several processes
/// share or number themselves by.
const NAMES: [&str; 10] = [
    "CLOCK_PROCESS_CPUTIME_ID",
    "F_SETLK",
    "F_SETLKW",
    "MAP_SHARED",
    "MAP_SHARED_VALIDATE",
    "PTHREAD_PROCESS_SHARED",
    "RUSAGE_CHILDREN",
    "RUSAGE_SELF",
    "process",
    "processes",
];

/// Texts in literals and directives: files about the whole process, and support code, which was
/// written for processes.
const TEXTS: [&str; 2] = ["/proc/self/", "<support/"];

/// The first such name in the program.
pub(crate) fn first(context: &Context) -> Option<String> {
    let files = cpp_text::files(context).into_iter();
    files
        .map(|file| cpp_text::file_texts(context, file))
        .filter(|texts| !texts.iter().any(|text| knows_threads(text)))
        .find_map(|texts| texts.into_iter().find_map(first_in))
}

fn knows_threads(text: &str) -> bool {
    text.contains("thread_index") || text.contains("yamba::threads")
}

fn first_in(text: &str) -> Option<String> {
    let tokens = cpp::tokens(text);
    let words: Vec<&str> = tokens.iter().map(|t| &text[t.range.clone()]).collect();
    let is_word = |i: &usize| tokens[*i].kind == CppTokenKind::Word;
    let mut found = (0..words.len()).filter(is_word);
    let name = found.find(|i| {
        let is_call = words.get(i + 1) == Some(&"(");
        let list = if is_call { &CALLS[..] } else { &NAMES[..] };
        list.contains(&words[*i]) && is_global(&words, *i)
    });
    let name = name.map(|i| words[i].to_owned());
    name.or_else(|| {
        let has = |part: &&&str| text.contains(**part);
        TEXTS.iter().find(has).map(|part| (*part).to_owned())
    })
}

/// Whether the word is no member of an object, a class or another name space.
fn is_global(words: &[&str], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).map_or("", |i| words[i]);
    match before(1) {
        "." => false,
        ">" => before(2) != "-",
        "::" => {
            let space = before(2);
            let is_name = space.ends_with(|c: char| c.is_alphanumeric() || c == '_');
            !is_name || ["std", "yamba", "return"].contains(&space)
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<String> {
        first_in(text)
    }

    #[test]
    fn calls_and_counts_of_the_whole_process_are_found() {
        for (text, name) in [
            ("if (fork() == 0) _exit(0);", "fork"),
            ("return ::waitpid(child, nullptr, 0);", "waitpid"),
            ("std::signal(SIGUSR1, handle);", "signal"),
            ("getrusage(RUSAGE_SELF, &usage);", "RUSAGE_SELF"),
            ("mmap(nullptr, 1, PROT_READ, MAP_SHARED | MAP_ANON, -1, 0)", "MAP_SHARED"),
            ("snprintf(name, sizeof name, \"file.%d\", int(process));", "process"),
            ("file_of(yamba::process)", "process"),
            ("open(\"/proc/self/stat\", O_RDONLY)", "/proc/self/"),
            ("#include <support/sandbox.h>", "<support/"),
        ] {
            assert_eq!(found(text).as_deref(), Some(name), "{text}");
        }
    }

    #[test]
    fn members_comments_and_texts_are_not_found() {
        for text in [
            "condition.wait(lock); queue->kill(job); Job::system(1);",
            "parser.process(data); process(item); my::process + 1;",
            "// fork() would be slow\nputs(\"fork()\"); /* RUSAGE_SELF */",
            "int forked = 0; auto later = std::chrono::system_clock::now();",
            "std::lock_guard<std::mutex> guard(mutex); counter.fetch_add(1);",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
