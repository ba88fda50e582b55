//! Logs of other versions and options of strace, logs of several processes, and texts that are no
//! logs.

use std::collections::BTreeMap;

use crate::tests::strace;
use crate::{Log, Refusal, Request, Trace, read_strace};

fn request() -> Request {
    Request { application: None, unit: "run".to_owned(), units: 1.0 }
}

/// The uses by label, and the number of lines that were not understood.
fn uses(trace: &Trace) -> (BTreeMap<String, f64>, usize) {
    let uses = trace.vector.primitives.iter();
    let counts = uses.map(|used| (used.label(), used.count)).collect();
    (counts, trace.unread.len())
}

fn counts_of(text: &str) -> (BTreeMap<String, f64>, usize) {
    uses(&strace(text, &request()).unwrap())
}

#[track_caller]
fn has(text: &str, expected: &[(&str, f64)]) {
    let counts = expected.iter().map(|(label, count)| ((*label).to_owned(), *count));
    assert_eq!(counts_of(text), (counts.collect(), 0));
}

/// The same run, as other options and versions of strace write it.
#[test]
fn options_and_versions_of_strace_give_the_same_counts() {
    let column = r#"7 execve("/bin/x", ["x"], 0x7ffd /* 9 vars */) = 0
7 openat(AT_FDCWD, "/srv", O_RDONLY|O_DIRECTORY) = 3
7 openat(AT_FDCWD, "/dev/zero", O_RDONLY) = 4
7 read(4, "\0\0"..., 100) = 100
7 socket(AF_UNIX, SOCK_STREAM, 0) = 5
7 close(3) = 0
7 access("/none", R_OK) = -1 ENOENT (No such file or directory)
7 clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD, child_tidptr=0x7f) = 8
8 write(5, "x", 1 <unfinished ...>
7 wait4(-1,  <unfinished ...>
8 <... write resumed>) = 1
8 exit_group(0) = ?
8 +++ exited with 0 +++
7 <... wait4 resumed>NULL, 0, NULL) = 8
7 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=8} ---
7 poll([{fd=4, events=POLLIN}], 1, 0) = 1 ([{fd=4, revents=POLLIN}])
7 exit_group(0) = ?
7 +++ exited with 0 +++
"#;
    let expected = counts_of(column);
    assert_eq!(expected.1, 0);
    assert_eq!(expected.0["close(directory)"], 1.0);
    assert_eq!(expected.0["read(device)@100"], 1.0);
    assert_eq!(expected.0["write(unix)@1"], 1.0);
    let each = |change: &dyn Fn(&str) -> String| {
        column.lines().map(change).collect::<Vec<_>>().join("\n") + "\n"
    };
    let (pid, rest) = (|line: &str| line[..1].to_owned(), |line: &str| line[2..].to_owned());
    let prefixed = |prefix: &str| each(&|line| format!("{} {prefix} {}", pid(line), rest(line)));
    let in_brackets = each(&|line| {
        let begins = line.contains("resumed") || line.starts_with("8 ") || line.contains("wait4");
        if begins && !line.contains("SIGCHLD {") {
            format!("[pid     {}] {}", pid(line), rest(line))
        } else {
            rest(line)
        }
    });
    let other_version = column
        .replace("AF_UNIX", "PF_LOCAL")
        .replace("resumed>", "resumed> ")
        .replace("child_stack=NULL", "child_stack=0");
    let shown = column
        .replace("= 3\n", "= 3</srv>\n")
        .replace("close(3", "close(3</srv>")
        .replace("(4, ", "(4</dev/zero<char 1:5>>, ")
        .replace("(5, ", "(5<UNIX-STREAM:[9->10]>, ");
    let backtrace = column.replace(
        "8 exit_group",
        " > /usr/lib/libc.so.6(_exit+0x1) [0x2b]\n | 00000  00 00   .. |\n8 exit_group",
    );
    let summary = "% time     seconds  usecs/call     calls    errors syscall\n------ ----------- ----------- --------- --------- ----------------\n  0,00    0,000000           0         1           read\n------ ----------- ----------- --------- --------- ----------------\n100,00    0,000000           0         9         1 total\n";
    for (name, text) in [
        ("CRLF", column.replace('\n', "\r\n")),
        ("byte order mark", format!("\u{feff}{column}")),
        ("-t", prefixed("12:00:01")),
        ("-tt", prefixed("12:00:01.123456")),
        ("-ttt", prefixed("1700000000.123456")),
        ("-t=unix", prefixed("1700000000")),
        ("-r", prefixed("     0.000012")),
        ("-r elsewhere", prefixed("     0,000012")),
        ("-tt -r", prefixed("12:00:01.123456 (+     0.000012)")),
        ("-n -i", prefixed("[  59] [00007f529d5ccad7]")),
        (
            "-T",
            each(&|line| {
                let has_result = line.contains(" = ");
                line.to_owned() + if has_result { " <0.000012>" } else { "" }
            }),
        ),
        ("-Y", each(&|line| format!("{}<my app> {}", pid(line), rest(line)))),
        ("without -o", in_brackets),
        ("version 4", other_version),
        ("-yy", shown),
        ("-k, -e read", backtrace),
        ("-C", format!("{column}{summary}")),
        ("-xx", column.replace("/dev/zero", r"\x2f\x64\x65\x76\x2f\x7a\x65\x72\x6f")),
    ] {
        assert_eq!(counts_of(&text), expected, "{name}:\n{text}");
    }
}

/// `strace -f` without `-o` names a process only while there are several.
#[test]
fn process_without_a_number_is_the_one_that_gets_a_number_later() {
    let text = r#"openat(AT_FDCWD, "/dev/zero", O_RDONLY) = 3
clone3({flags=CLONE_VM|CLONE_FILES|CLONE_THREAD, exit_signal=0}strace: Process 9 attached
[pid     9] read(3, "x", 1 <unfinished ...>
[pid     7] <... clone3 resumed> => {parent_tid=[9]}, 88) = 9
[pid     7] read(3, "x", 1) = 1
[pid     9] <... read resumed>) = 1
[pid     9] exit(0) = ?
[pid     9] +++ exited with 0 +++
read(3, "x", 1) = 1
+++ exited with 0 +++
"#;
    let expected =
        [("clone(thread)", 1.0), ("exit", 1.0), ("open(device)", 1.0), ("read(device)@1", 3.0)];
    has(text, &expected);
}

#[test]
fn program_that_another_thread_executes_goes_on_under_the_number_of_the_process() {
    let text = r#"7 openat(AT_FDCWD, "/dev/zero", O_RDONLY) = 3
7 clone(child_stack=0x7f, flags=CLONE_VM|CLONE_FILES|CLONE_THREAD, tls=0x7f) = 8
7 futex(0x7f, FUTEX_WAIT, 8, NULL <unfinished ...>
8 execve("/bin/true", ["true"], 0x7f <unfinished ...>
7 +++ superseded by execve in pid 8 +++
7 <... execve resumed>) = 0
7 read(3, "x", 1) = 1
"#;
    let expected =
        [("clone(thread)", 1.0), ("execve", 1.0), ("open(device)", 1.0), ("read(device)@1", 1.0)];
    has(text, &expected);
    assert_eq!(strace(text, &request()).unwrap().unfinished, 1, "the futex");
}

/// A call that a signal interrupts has failed, and one that did not return does not count.
#[test]
fn calls_that_did_not_return_are_not_counted() {
    let text = r#"7 read(0, 0x7ffd, 1) = ? ERESTARTSYS (To be restarted if SA_RESTART is set)
7 --- SIGALRM {si_signo=SIGALRM, si_code=SI_KERNEL} ---
7 rt_sigreturn({mask=[]}) = 0
7 read(0, <unfinished ...>
7 tgkill(7, 7, SIGKILL) = ?
7 +++ killed by SIGKILL +++
9 read(0,  <detached ...>
"#;
    let expected = [("read(failed)", 1.0), ("rt_sigreturn", 1.0), ("signal", 1.0)];
    has(text, &expected);
    assert_eq!(strace(text, &request()).unwrap().unfinished, 3);
}

/// Raw arguments do not show the kind of what a call opens.
#[test]
fn lines_that_show_too_little_are_not_understood() {
    let text = r#"7 getppid() = 1
7 openat(-100, "/srv", 0x10000) = 3
7 openat(AT_FDCWD, 0x7ffd, O_RDONLY) = 3
7 socket(0x1, 0x1, 0) = 3
7 read(0x3, 0x7ffd, 0x340) = 0x340
7 clone(child_stack=0, flags=0x1200011, child_tidptr=0x7f) = 8
7 pipe2(0x7ffd, 0) = 0
7 read(3, "x", 1) = 2
7 read(3, "x", 1) = -1
7 read(3, "x", 1) 1
7 read(3, "x", 1) = 1 1
7 read(3, "x") = 1
7 wait5(8) = 8
7 <... read resumed>, 1) = 1
getppid() = 1
"#;
    let (counts, unread) = counts_of(text);
    assert_eq!(counts, BTreeMap::from([("getppid".to_owned(), 1.0)]));
    assert_eq!(unread, 14);
}

/// The digits of a result may go on.
#[test]
fn line_without_an_end_is_not_read() {
    let (counts, unread) = counts_of("getppid() = 1\nread(0, \"x\", 100) = 10");
    assert_eq!((counts.len(), unread), (1, 1));
    let (counts, unread) = counts_of("getppid() = 1\n+++ exited with 0 +++");
    assert_eq!((counts.len(), unread), (1, 0));
}

#[test]
fn logs_of_other_programs_are_refused_by_name() {
    let refusal = |text: &str| strace(text, &request()).unwrap_err();
    for (text, name) in [
        ("open(\"/x\", 0) = 3\n+++ exited (status 0) +++\n", "ltrace"),
        ("[pid 7] libc.so.6->malloc(8) = 0x55d0\n", "ltrace"),
        ("SYS_brk(0) = 0x55d0\n", "ltrace"),
        ("     0.034 ( 0.005 ms): cat/123 brk() = 0x55d0\n", "perf trace"),
        ("         ? (         ): cat/123  ... [continued]: execve()) = 0\n", "perf trace"),
        ("SYSCALL(args) \t\t = return\nread(0x3, 0x1, 0x1)\t\t = 1 0\n", "dtruss"),
    ] {
        assert_eq!(refusal(text), Refusal::OtherProgram(name), "{text}");
    }
    let summary = "% time     seconds  usecs/call     calls    errors syscall\n------ -----------\n  0.00    0.000000           0         1           read\n100.00    0.000000           0        76         3 total\n";
    assert_eq!(refusal(summary), Refusal::Summary);
    assert_eq!(refusal("read(3,\"a\",4096) = 832 (0x340)\n"), Refusal::NoCall, "truss");
    // A program may write such a text.
    has(
        "7 write(1, \"0.034 (0.005 ms): libc.so->a(\", 30) = 30\n",
        &[("write(inherited)@30", 1.0)],
    );
}

/// A process that makes a child and a thread, each with its own log.
const PARENT: &str = r#"100.000001 openat(AT_FDCWD, "/dev/zero", O_RDONLY) = 3
100.000002 clone(child_stack=NULL, flags=SIGCHLD) = 8
100.000009 close(3) = 0
100.000010 openat(AT_FDCWD, "/etc/passwd", O_RDONLY) = 3
100.000011 clone(child_stack=0x7f, flags=CLONE_VM|CLONE_FILES|CLONE_THREAD) = 9
100.000020 wait4(8, NULL, 0, NULL) = 8
"#;
const CHILD: &str = "100.000005 read(3, \"\\0\", 1) = 1\n100.000012 exit_group(0) = ?\n";
const THREAD: &str = "100.000015 read(3, \"r\", 1) = 1\n";

fn several(logs: &[(u32, &str)], files: bool) -> Result<Trace, Refusal> {
    let logs: Vec<Log> =
        logs.iter().map(|(process, text)| Log { process: Some(*process), text }).collect();
    read_strace(&logs, &request(), files)
}

#[test]
fn first_number_of_a_call_that_takes_no_descriptor_hides_no_file() {
    let parent = "clone(child_stack=0x7f, flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD) = 9\nprlimit64(0, RLIMIT_NOFILE, NULL, {rlim_cur=1024, rlim_max=1024}) = 0\nclose(3</tmp/a>) = 0\n";
    let thread = "read(4</tmp/b>, \"x\", 1) = 1\nexit(0) = ?\n";
    let logs = [(7, parent), (9, thread)];
    assert_eq!(uses(&several(&logs, false).unwrap()).0["read(file)@1"], 1.0);
    let hidden = parent.replace("</tmp/a>", "");
    let logs = [(7, hidden.as_str()), (9, thread)];
    assert_eq!(several(&logs, false).unwrap_err(), Refusal::NoOrder(1));
}

#[test]
fn logs_of_each_process_are_put_in_order() {
    let absolute = |text: &str| text.replace("100.", "1700000000.");
    let [parent, child, thread] = [PARENT, CHILD, THREAD].map(absolute);
    let expected = BTreeMap::from(
        [
            ("clone(thread)", 1.0),
            ("close(device)", 1.0),
            ("exit_group", 1.0),
            ("fork", 1.0),
            ("open(device)", 1.0),
            ("open(file)", 1.0),
            ("read(device)@1", 1.0),
            ("read(file)@1", 1.0),
            ("wait4", 1.0),
        ]
        .map(|(label, count)| (label.to_owned(), count)),
    );
    let all = [(7, &*parent), (8, &*child), (9, &*thread)];
    let reversed = [all[2], all[1], all[0]];
    for logs in [all, reversed] {
        let found = several(&logs, false).unwrap();
        assert_eq!(uses(&found), (expected.clone(), 0));
        let started = found.vector.primitives.iter().filter(|used| used.started.is_some());
        assert_eq!(started.count(), 2, "read and exit_group of the child");
    }
    // Without the time of day, a process comes after the one that made it. The place of the thread
    // is unknown.
    let found = several(&[(8, CHILD), (7, PARENT)], false).unwrap();
    assert_eq!(uses(&found).0["read(device)@1"], 1.0);
    let logs = [(7, PARENT), (9, THREAD)];
    assert_eq!(several(&logs, false).unwrap_err(), Refusal::NoOrder(1));
    let logs = [(7, PARENT), (8, CHILD)];
    assert_eq!(several(&logs, true).unwrap_err(), Refusal::NoOrder(1));
    let early = child.replace("1700000000.000005", "1699999999.000005");
    let logs = [(7, &*parent), (8, &*early)];
    assert_eq!(several(&logs, false).unwrap_err(), Refusal::TooEarly(1));
}

/// The calls of a child are missing without its log, as without `-f`.
#[test]
fn processes_without_a_log_are_missing() {
    let made = |at: u32, child: u32| format!("1700000000.{at:06} fork() = {child}\n");
    let parent = made(1, 8) + &made(5, 9);
    let child = made(3, 10) + "1700000000.000004 exit_group(0) = ?\n";
    let grandchild = "1700000000.000009 exit_group(0) = ?\n";
    let all = [(7, &*parent), (8, &*child), (10, grandchild), (9, "")];
    for (present, missing) in [
        (&[0_usize, 1, 2, 3][..], &[][..]),
        (&[0, 1, 2], &[9]),
        (&[2, 0, 3], &[8]),
        (&[0, 1], &[9, 10]),
        (&[1], &[10]),
        (&[0], &[8, 9]),
        (&[2], &[]),
    ] {
        let logs: Vec<_> = present.iter().map(|log| all[*log]).collect();
        let vector = several(&logs, false).unwrap().vector;
        let traced = vector.traced.as_ref().unwrap();
        assert_eq!(traced.missing_processes, missing, "{present:?}");
        assert_eq!(vector.losses().is_empty(), missing.is_empty());
    }
    // With a number in each line, the log is that of all processes.
    let column = "7 fork() = 8\n7 exit_group(0) = ?\n";
    let vector = strace(column, &request()).unwrap().vector;
    assert!(vector.losses().is_empty());
}

#[test]
fn logs_that_are_not_of_one_process_each_are_refused() {
    let column = "7 getppid() = 1\n";
    assert_eq!(several(&[(7, PARENT), (8, column)], false).unwrap_err(), Refusal::NoProcess(1));
    assert_eq!(several(&[(7, PARENT), (7, PARENT)], false).unwrap_err(), Refusal::SameProcess(1));
    let unnamed = Log { process: None, text: PARENT };
    let logs = [unnamed.clone(), unnamed];
    assert_eq!(read_strace(&logs, &request(), false).unwrap_err(), Refusal::NoProcess(0));
}
