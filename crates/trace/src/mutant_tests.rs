//! Changed logs of strace give the counts of the original, or name what is missing.

use std::collections::{BTreeMap, BTreeSet};

use yamba_mutants::{Change, Form, Mutant, text};

use crate::{Log, Refusal, Request, Trace, read_strace};

/// Fields as other versions and options of strace write them.
const FORM: Form = Form {
    separator: " ",
    fields: &[
        "0.000012",
        "<0.000012>",
        "12:00:01.5",
        "1700000000.123456",
        "[pid",
        "(INJECTED)",
        "=",
        "7",
        "0x7f,",
        "NULL,",
        "12,",
        "?",
        "/* 9 vars */",
    ],
};

/// Each line has a use of its own, so that the uses show which lines were read. No path has a
/// digit: another path is another file.
const COLUMN: &str = r#"71 execve("/bin/x", ["x"], 0x7ffd /* 9 vars */) = 0
71 openat(AT_FDCWD, "/dev/zero", O_RDONLY) = 13
71 read(13, "\0\0"..., 4096) = 1832
71 pipe2([15, 16], O_CLOEXEC) = 0
71 socket(AF_INET, SOCK_STREAM|SOCK_CLOEXEC, IPPROTO_IP) = 17
71 sendto(17, "a) = 3, \"b\"", 10, 0, NULL, 0) = 10
71 mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, 13, 0) = 0x7f4b
71 access("/none", R_OK) = -1 ENOENT (No such file or directory)
71 clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD, child_tidptr=0x7f) = 82
82 write(16, "hello", 50 <unfinished ...>
71 poll([{fd=15, events=POLLIN}], 1, 100) = 1 ([{fd=15, revents=POLLIN}])
82 <... write resumed>) = 50 <0.000012>
82 exit_group(0) = ?
82 +++ exited with 0 +++
71 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=82} ---
71 wait4(-1, NULL, 0, NULL) = 82
71 dup3(15, 19, O_CLOEXEC) = 19
71 close(19) = 0
"#;

/// One process, with the times of calls and the files of descriptors, as an older version shows
/// them.
const SHOWN: &str = r#"12:00:01.500000 openat(AT_FDCWD, "/srv/a", O_RDONLY) = 13</srv/a> <0.000012>
12:00:01.500010 read(13</srv/a>, "x"..., 4096) = 4096 <0.000012>
12:00:01.500020 sendfile(17</dev/null<char 1:3>>, 13</srv/a>, [524288] => [526288], 2000) = 2000 <0.000012>
12:00:01.500030 pread64(13</srv/a>, "x"..., 784, 64) = 784 <0.000012>
12:00:01.500040 copy_file_range(13</srv/a>, [8000], 14</srv/b>, [20000], 100, 0) = 90 <0.000012>
12:00:01.500050 write(15<pipe:[77]>, "x", 12) = 12 <0.000012>
12:00:01.500060 lseek(13</srv/a>, 65536, SEEK_SET) = 65536 <0.000012>
12:00:01.500070 read(13</srv/a>, "x"..., 4096) = 300 <0.000012>
12:00:01.500080 sendmsg(16<UNIX-STREAM:[11->12]>, {msg_name=NULL}, 0) = 8 <0.000012>
12:00:01.500090 close(13</srv/a>) = 0 <0.000012>
"#;

/// Without `-o`: processes have numbers while there are several.
const BRACKETS: &str = r#"openat(AT_FDCWD, "/dev/zero", O_RDONLY) = 13
clone3({flags=CLONE_VM|CLONE_FILES|CLONE_THREAD, exit_signal=0}strace: Process 92 attached
[pid    92] read(13, "x", 100 <unfinished ...>
[pid    71] <... clone3 resumed> => {parent_tid=[92]}, 88) = 92
[pid    71] write(13, "x", 20) = 20
[pid    92] <... read resumed>) = 50
[pid    92] exit(0) = ?
[pid    92] +++ exited with 0 +++
read(13, "x", 7000) = 6000
+++ exited with 0 +++
"#;

/// The log of a child (`strace -ff -ttt`), whose descriptors its parent opened.
const CHILD: &str = r#"1700000000.000005 read(13, "\0", 300) = 200
1700000000.000006 openat(AT_FDCWD, "/sys/x", O_RDONLY) = 14
1700000000.000007 read(14, "\0", 3000) = 2000
1700000000.000012 exit_group(0) = ?
1700000000.000013 +++ exited with 0 +++
"#;
const PARENT: &str = r#"1700000000.000001 openat(AT_FDCWD, "/dev/zero", O_RDONLY) = 13
1700000000.000002 clone(child_stack=NULL, flags=SIGCHLD) = 82
1700000000.000009 close(13) = 0
"#;

fn request() -> Request {
    Request { application: None, unit: "run".to_owned(), units: 1.0 }
}

fn one(text: &str) -> Result<Trace, Refusal> {
    read_strace(&[Log { process: None, text }], &request(), true)
}

fn child(text: &str) -> Result<Trace, Refusal> {
    let log = |process, text| Log { process: Some(process), text };
    read_strace(&[log(71, PARENT), log(82, text)], &request(), false)
}

/// The uses by name, size and part in started processes.
fn uses(trace: &Trace) -> BTreeMap<String, f64> {
    let uses = trace.vector.primitives.iter();
    uses.map(|used| {
        let started = used.started.map_or(0.0, |started| started.count);
        (format!("{} {started}", used.label()), used.count)
    })
    .collect()
}

/// Each access: path, kind, first byte and length.
fn accesses(trace: &Trace) -> BTreeSet<(String, String, u64, u64)> {
    let Some(files) = &trace.files else {
        return BTreeSet::new();
    };
    let runs = files.accesses.iter().flat_map(|run| {
        let path = files.files[run.0 as usize].path.clone().unwrap();
        let kind = format!("{:?}", run.1);
        (0..run.4).map(move |n| (path.clone(), kind.clone(), run.2 + n * run.3, run.3))
    });
    runs.collect()
}

/// The parts that a trace names as missing.
fn missing(trace: &Trace) -> u64 {
    let unknown = trace.files.as_ref().map_or(0, |files| files.unknown);
    (trace.unread.len() + trace.unfinished) as u64 + unknown
}

/// A number in the place of another one: which of both is the process, the descriptor, or the
/// offset, only their places say.
fn exchanges_numbers(mutant: &Mutant) -> bool {
    let (before, after) = mutant.detail.split_once(" -> ").unwrap_or_default();
    let fields = |text: &str| -> Vec<String> { text.split(' ').map(str::to_owned).collect() };
    let pairs = fields(before).into_iter().zip(fields(after));
    let mut moved = pairs.filter(|(a, b)| a != b).flat_map(|(a, b)| [a, b]);
    let is_number = |field: &String| {
        let digits = field.trim_matches(|c: char| !c.is_ascii_digit());
        !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
    };
    mutant.change == Change::FieldsReordered && moved.all(|field| is_number(&field))
}

/// Reads 10 000 changed logs.
#[track_caller]
fn survives(original: &str, read: fn(&str) -> Result<Trace, Refusal>) {
    let whole = read(original).unwrap();
    let (all, files, lacks) = (uses(&whole), accesses(&whole), missing(&whole));
    let mut equal = 0;
    for mutant in text(original, FORM, 48, 10_000) {
        let Ok(trace) = read(&mutant.text) else {
            assert!(!mutant.change.keeps_figures(), "{mutant:?}");
            continue;
        };
        let (found, its_files) = (uses(&trace), accesses(&trace));
        if found == all && its_files == files {
            equal += 1;
            continue;
        }
        assert!(!mutant.change.keeps_figures(), "{mutant:?}");
        if exchanges_numbers(&mutant) {
            continue;
        }
        // A log without a line, or with a line twice, is another log. Its other lines give the
        // same counts, apart from kinds of descriptors that no line shows.
        let is_other_log =
            matches!(mutant.change, Change::LineRemoved | Change::LineRepeated | Change::Truncated);
        let is_named = missing(&trace) > lacks || is_other_log;
        assert!(is_named, "{found:?}\n{its_files:?}\nin silence: {mutant:?}");
        let repeated = f64::from(u8::from(mutant.change == Change::LineRepeated));
        for (label, count) in &found {
            let name = label.split(' ').next().unwrap();
            let known = |label: &String| label.split(' ').next() == Some(name);
            let before: f64 = all.iter().filter(|(l, _)| known(l)).map(|(_, n)| n).sum();
            let has_lost_kind = name.contains("(inherited)");
            assert!(has_lost_kind || *count <= before + repeated, "{label} {count}: {mutant:?}");
        }
        let new = its_files.difference(&files).collect::<Vec<_>>();
        assert!(new.is_empty() || is_other_log, "{new:?}: {mutant:?}");
    }
    assert!(equal > 1000, "{equal} of 10 000 give the figures of the original");
}

#[test]
fn changed_logs_of_several_processes_give_the_original_counts_or_name_what_is_missing() {
    survives(COLUMN, one);
}

#[test]
fn changed_logs_with_files_give_the_original_places_or_name_what_is_missing() {
    survives(SHOWN, one);
}

#[test]
fn changed_logs_without_a_column_of_processes_give_the_original_counts_or_name_what_is_missing() {
    survives(BRACKETS, one);
}

#[test]
fn changed_logs_of_each_process_give_the_original_counts_or_name_what_is_missing() {
    survives(CHILD, child);
}
