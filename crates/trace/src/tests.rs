use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use yamba_predict::vector::Use;

use crate::descriptors::Descriptors;
use crate::strace::Reader;
use crate::{Log, Refusal, Request, Trace, Unread, read_strace};

/// Reads one log.
pub(crate) fn strace(text: &str, request: &Request) -> Result<Trace, Refusal> {
    read_strace(&[Log { process: None, text }], request, false)
}

fn read(text: &str) -> Trace {
    let request = Request { application: None, unit: "run".to_owned(), units: 1.0 };
    strace(text, &request).expect("a trace")
}

/// The uses by label, with their counts.
fn uses(text: &str) -> BTreeMap<String, f64> {
    let each = read(text).vector.primitives.into_iter();
    each.map(|used| (used.label(), used.count)).collect()
}

#[track_caller]
fn has(text: &str, expected: &[(&str, f64)]) {
    let expected = expected.iter().map(|(label, count)| ((*label).to_owned(), *count));
    assert_eq!(uses(text), expected.collect());
}

#[test]
fn calls_have_the_kind_of_their_descriptor() {
    let text = r#"7 openat(AT_FDCWD, "/etc/passwd", O_RDONLY) = 3 <0.000009>
7 read(3, "root:x:0"..., 4096) = 832 <0.000012>
7 openat(AT_FDCWD, "/dev/zero", O_RDONLY) = 4
7 read(4, "\0\0", 2) = 2
7 socket(AF_INET, SOCK_STREAM|SOCK_CLOEXEC, IPPROTO_IP) = 5
7 connect(5, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}, 16) = 0
7 sendto(5, "a) = 3, \"b\"", 10, 0, NULL, 0) = 10
7 dup2(3, 9) = 9
7 pread64(9, "x", 1, 0) = 1
7 close(3) = 0
7 read(0, "y", 1) = 1
"#;
    let expected = [
        ("open(file)", 1.0),
        ("read(file)@832", 1.0),
        ("open(device)", 1.0),
        ("read(device)@2", 1.0),
        ("socket", 1.0),
        ("connect(tcp)", 1.0),
        ("write(tcp)@10", 1.0),
        ("dup2", 1.0),
        ("read(file)@1", 1.0),
        ("close(file)", 1.0),
        ("read(inherited)@1", 1.0),
    ];
    has(text, &expected);
}

#[test]
fn kinds_that_strace_shows_are_taken() {
    let text = r#"read(3</etc/passwd>, "r", 1) = 1
recvfrom(4<TCP:[127.0.0.1:1->127.0.0.1:2]>, "x", 1, 0, NULL, NULL) = 1
write(5<pipe:[77]>, "x", 1) = 1
write(1</dev/pts/0<char 136:0>>, "x", 1) = 1
sendmsg(6<UNIX-STREAM:[1->2]>, {msg_name=NULL}, 0) = 8
"#;
    let expected = [
        ("read(file)@1", 1.0),
        ("read(tcp)@1", 1.0),
        ("write(pipe)@1", 1.0),
        ("write(device)@1", 1.0),
        ("write(unix)@8", 1.0),
    ];
    has(text, &expected);
}

#[test]
fn interrupted_calls_are_joined_and_children_inherit_descriptors() {
    let text = r#"7  pipe2([3, 4], O_CLOEXEC) = 0
7  clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD, child_tidptr=0x7f) = 8
7  read(3,  <unfinished ...>
8  close(3)                          = 0
8  write(4, "hello", 5)              = 5
7  <... read resumed>"hello", 512)   = 5 <0.1>
8  exit_group(0)                     = ?
8  +++ exited with 0 +++
7  --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=8} ---
7  rt_sigreturn({mask=[]})           = 5
7  close(3)                          = 0
7  wait4(-1,  <unfinished ...>
"#;
    let expected = [
        ("pipe", 1.0),
        ("fork", 1.0),
        ("close(pipe)", 2.0),
        ("write(pipe)@5", 1.0),
        ("read(pipe)@5", 1.0),
        ("exit_group", 1.0),
        ("signal", 1.0),
        ("rt_sigreturn", 1.0),
    ];
    has(text, &expected);
    let trace = read(text);
    let found = (trace.calls, trace.unfinished, trace.unread.len());
    assert_eq!(found, (8, 1, 0));
    let of_child = trace.vector.primitives.iter().filter_map(|used| {
        let started = used.started?;
        Some((used.name.as_str(), started.count, started.size))
    });
    let expected =
        [("close(pipe)", 1.0, None), ("exit_group", 1.0, None), ("write(pipe)", 1.0, Some(5.0))];
    assert_eq!(of_child.collect::<Vec<_>>(), expected);
}

/// A child uses copies of its parent's descriptors, also before the clone of the parent has
/// returned.
#[test]
fn child_may_run_before_the_call_of_its_parent_returns() {
    let text = r#"7 pipe2([3, 4], 0) = 0
7 clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>
8 close(4) = 0
8 read(3, "x", 1) = 1
8 clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>
9 read(3, "y", 1) = 1
8 <... clone resumed>) = 9
7 <... clone resumed>) = 8
8 +++ exited with 0 +++
8 read(3, "z", 1) = 1
"#;
    let expected = [
        ("pipe", 1.0),
        ("fork", 2.0),
        ("close(pipe)", 1.0),
        ("read(pipe)@1", 2.0),
        // The number 8 was used again, by a process that the trace does not know.
        ("read(inherited)@1", 1.0),
    ];
    has(text, &expected);
    assert_eq!(read(text).unread, []);
}

#[test]
fn programs_of_processes_that_borrow_memory_have_a_kind_of_their_own() {
    let text = r#"7 vfork( <unfinished ...>
8 execve("/bin/true", ["true"], 0x7f) = -1 ENOENT (No such file or directory)
8 execve("/usr/bin/true", ["true"], 0x7f <unfinished ...>
7 <... vfork resumed>) = 8
8 <... execve resumed>) = 0
8 execve("/usr/bin/false", ["false"], 0x7f) = 0
7 clone3({flags=CLONE_VM|CLONE_VFORK, exit_signal=SIGCHLD}, 88) = 9
9 execve("/usr/bin/true", ["true"], 0x7f) = 0
"#;
    let expected =
        [("vfork", 2.0), ("execve(failed)", 1.0), ("execve(vfork)", 2.0), ("execve", 1.0)];
    has(text, &expected);
}

#[test]
fn calls_of_32_bit_processes_have_the_usual_names() {
    let text = r#"7 stat64("/etc", {st_mode=S_IFDIR|0755, st_size=4096, ...}) = 0
7 open("/x", O_RDONLY|O_LARGEFILE) = 3
7 fcntl64(3, F_DUPFD, 5) = 5
7 _llseek(5, 0, [0], SEEK_SET) = 0
7 mmap2(NULL, 4096, PROT_READ, MAP_PRIVATE, 5, 0) = 0xf7f0
7 futex_time64(0xf7f0, FUTEX_WAIT_PRIVATE, 2, NULL, NULL) = 0
7 clock_nanosleep_time64(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=1000}, NULL) = 0
7 rt_sigtimedwait_time64([USR1], NULL, NULL, 8) = 10 (SIGUSR1)
7 semtimedop_time64(0, [{sem_num=0, sem_op=-1, sem_flg=0}], 1, NULL) = 0
7 mq_timedreceive_time64(4, "x", 8, NULL, NULL) = 1
7 ppoll_time64([{fd=5, events=POLLIN}], 1, NULL, NULL, 8) = 1 ([{fd=5, revents=POLLIN}])
7 recvmmsg_time64(9, [{msg_len=1}], 1, 0, NULL) = 1
"#;
    let expected = [
        ("futex", 1.0),
        ("clock_nanosleep", 1.0),
        ("rt_sigtimedwait", 1.0),
        ("semtimedop", 1.0),
        ("mq_timedreceive", 1.0),
        ("poll@1", 1.0),
        ("recvmmsg(inherited)", 1.0),
        ("stat(file)", 1.0),
        ("open(file)", 1.0),
        ("fcntl(file)", 1.0),
        ("lseek(file)", 1.0),
        ("mmap(file)@4096", 1.0),
    ];
    has(text, &expected);
}

#[test]
fn only_calls_while_the_load_runs_are_counted() {
    let mut reader = Reader::with(Descriptors::default());
    reader.line(r#"7 openat(AT_FDCWD, "/page", O_RDONLY) = 3"#);
    reader.line("7 epoll_wait(4, <unfinished ...>");
    reader.restart();
    reader.line("7 <... epoll_wait resumed>[{events=EPOLLIN}], 9, -1) = 1");
    reader.line(r#"7 read(3, "p", 1) = 1"#);
    reader.pause();
    reader.line(r#"7 socket(AF_UNIX, SOCK_STREAM, 0) = 5"#);
    reader.line(r#"7 read(5, "p", 1) = 1"#);
    let request = Request { application: None, unit: "request".to_owned(), units: 1.0 };
    let found = reader.trace(&request).unwrap();
    assert_eq!((found.calls, found.unread.len()), (2, 0));
    let labels: Vec<String> = found.vector.primitives.iter().map(Use::label).collect();
    assert_eq!(labels, ["epoll_wait@1", "read(file)@1"]);
}

#[test]
fn processes_begin_with_the_given_descriptors() {
    let kinds = |kind: &str| HashMap::from([(1, Cow::Owned(kind.to_owned()))]);
    let lines = ["7 write(1, \"\", 5) = 5", "8 write(1, \"\", 5) = 5"];
    let count = |descriptors: Descriptors| {
        let mut reader = Reader::with(descriptors);
        lines.iter().for_each(|line| reader.line(line));
        let request = Request { application: None, unit: "run".to_owned(), units: 1.0 };
        let found = reader.trace(&request).unwrap().vector.primitives;
        found.iter().map(Use::label).collect::<Vec<_>>()
    };
    let begun = count(Descriptors::beginning_with(kinds("tcp")));
    assert_eq!(begun, ["write(tcp)@5"]);
    let mut running = Descriptors::default();
    running.add(&[7], kinds("unix"));
    let attached = count(running);
    assert_eq!(attached, ["write(inherited)@5", "write(unix)@5"]);
}

#[test]
fn failed_calls_have_a_kind_of_their_own() {
    let text = r#"access("/etc/ld.so.preload", R_OK) = -1 ENOENT (No such file or directory) <0.000009>
openat(AT_FDCWD, "/none", O_RDONLY) = -1 ENOENT (No such file or directory)
read(3, 0x55, 10) = -1 EAGAIN (Resource temporarily unavailable)
"#;
    has(text, &[("access(failed)", 1.0), ("open(failed)", 1.0), ("read(failed)", 1.0)]);
    let errors = read(text).vector.primitives.iter().map(|u| u.errors).collect::<Vec<_>>();
    assert_eq!(errors, [Some(1.0); 3]);
}

/// The mean of a bucket keeps the number of bytes.
#[test]
fn sizes_within_a_power_of_two_are_one_use_with_their_mean() {
    let call = |bytes: u64| format!("read(3</x>, \"\", 9999) = {bytes}\n");
    let sizes = [0, 1, 4096, 5000, 8191, 8192];
    let text: String = sizes.iter().map(|bytes| call(*bytes)).collect();
    let expected = [
        ("read(file)@0", 1.0),
        ("read(file)@1", 1.0),
        ("read(file)@5762.333333333333", 3.0),
        ("read(file)@8192", 1.0),
    ];
    has(&text, &expected);
    let all = read(&text).vector.primitives.into_iter();
    let bytes: f64 = all.map(|u| u.count * u.size.unwrap()).sum();
    assert!((bytes - sizes.iter().sum::<u64>() as f64).abs() < 1e-6);
}

#[test]
fn calls_without_descriptor_have_their_kind() {
    let text = r#"7 execve("/usr/bin/cat", ["cat", "/etc/passwd"], 0x7ffd /* 39 vars */) = 0
7 brk(NULL) = 0x5575
7 mmap(NULL, 8192, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f4b
7 openat(AT_FDCWD, ".", O_RDONLY|O_NONBLOCK|O_CLOEXEC|O_DIRECTORY) = 3
7 newfstatat(3, "", {st_mode=S_IFREG|0644, st_size=1, ...}, AT_EMPTY_PATH) = 0
7 newfstatat(AT_FDCWD, "/proc/stat", {st_mode=S_IFREG|0644, ...}, 0) = 0
7 clone3({flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD, stack=0x7f, stack_size=0x7f}, 88) = 9
9 close(3) = 0
7 epoll_pwait(4<anon_inode:[eventpoll]>, [{events=EPOLLIN, data=0x1}], 512, -1, NULL, 8) = 1
7 poll([{fd=4, events=POLLIN}, {fd=5, events=POLLIN}], 2, 100) = 1
7 writev(6<anon_inode:[eventfd]>, [{iov_base="x", iov_len=8}], 1) = 8
"#;
    let expected = [
        ("execve", 1.0),
        ("brk", 1.0),
        ("mmap(anonymous)@8192", 1.0),
        ("open(directory)", 1.0),
        ("fstat(directory)", 1.0),
        ("stat(proc)", 1.0),
        ("clone(thread)", 1.0),
        ("close(directory)", 1.0),
        ("epoll_wait@1", 1.0),
        ("poll@2", 1.0),
        ("write(eventfd)@8", 1.0),
    ];
    has(text, &expected);
    let vector = read(text).vector;
    assert_eq!(vector.application, "cat");
    assert_eq!(vector.command, ["cat", "/etc/passwd"]);
    assert_eq!(vector.check(), Ok(()));
}

/// Only reads and writes depend on the modes of a file.
#[test]
fn direct_and_synchronous_files_have_kinds_of_their_own() {
    let text = r#"7 openat(AT_FDCWD, "log", O_WRONLY|O_DSYNC) = 3
7 write(3</srv/log>, "x", 512) = 512
7 pread64(3, "x", 512, 0) = 512
7 openat(AT_FDCWD, "data", O_RDWR|O_DIRECT|O_SYNC) = 4
7 pread64(4, "x", 4096, 0) = 4096
7 pwrite64(4, "x", 4096, 0) = 4096
7 fstat(4, {st_mode=S_IFREG|0644, ...}) = 0
7 fcntl(4, F_SETFL, O_RDWR) = 0
7 pread64(4, "x", 4096, 0) = 4096
7 fcntl(4, F_SETFL, O_RDWR|O_DIRECT) = 0
7 pread64(4, "x", 4096, 0) = 4096
7 openat2(AT_FDCWD, "more", {flags=O_RDWR|O_DIRECT, resolve=0}, 24) = 5
7 dup(5) = 6
7 write(6, "x", 4096) = 4096
7 openat(AT_FDCWD, "/dev/sdb", O_RDWR|O_DIRECT) = 7
7 read(7, "x", 4096) = 4096
7 close_range(6, 7, 0) = 0
7 read(7</srv/other>, "x", 512) = 512
7 read(6</srv/other>, "x", 512) = 512
"#;
    let expected = [
        ("open(file)", 3.0),
        ("open(device)", 1.0),
        ("write(file,sync)@512", 1.0),
        ("read(file)@512", 3.0),
        ("close_range", 1.0),
        ("read(file,direct)@4096", 2.0),
        ("write(file,direct,sync)@4096", 1.0),
        ("fstat(file)", 1.0),
        ("fcntl(file)", 2.0),
        ("read(file)@4096", 1.0),
        ("dup", 1.0),
        ("write(file,direct)@4096", 1.0),
        ("read(device)@4096", 1.0),
    ];
    has(text, &expected);
}

#[test]
fn listed_descriptor_is_one_of_a_directory() {
    let text = r#"7 openat(AT_FDCWD, "sub", O_RDONLY) = 3
7 fstat(3, {st_mode=S_IFDIR|0755, ...}) = 0
7 getdents64(3, [], 32768) = 48
7 close(3) = 0
7 openat(AT_FDCWD, "/proc/7/fd", O_RDONLY) = 3
7 getdents64(3, [], 32768) = 96
7 close(3) = 0
"#;
    let expected = [
        ("open(file)", 1.0),
        ("fstat(file)", 1.0),
        ("getdents64(directory)@48", 1.0),
        ("close(directory)", 1.0),
        ("open(proc)", 1.0),
        ("getdents64(proc)@96", 1.0),
        ("close(proc)", 1.0),
    ];
    has(text, &expected);
}

#[test]
fn links_of_processes_lead_to_files_elsewhere() {
    let text = r#"7 openat(AT_FDCWD, "/proc/self/exe", O_RDONLY) = 3
7 read(3, "x", 16) = 16
7 close(3) = 0
7 openat(AT_FDCWD, "/proc/7/task/9/cwd/notes", O_RDONLY) = 3
7 close(3) = 0
7 openat(AT_FDCWD, "/proc/self/map_files/5555-5556", O_RDONLY) = 3
7 close(3) = 0
7 openat(AT_FDCWD, "/proc/7/task/9/stat", O_RDONLY) = 3
7 close(3) = 0
7 openat(AT_FDCWD, "/proc/7/map_files", O_RDONLY) = 3
7 close(3) = 0
7 openat(AT_FDCWD, "/proc/sys/exe", O_RDONLY) = 3
7 close(3) = 0
7 openat(AT_FDCWD, "/proc/1/root/proc/stat", O_RDONLY) = 3
7 close(3) = 0
7 openat(AT_FDCWD, "/proc/1/root/proc/self/exe", O_RDONLY) = 3
7 close(3) = 0
7 openat(AT_FDCWD, "/proc/1/root/dev/null", O_RDONLY) = 3
7 close(3) = 0
7 lstat("/proc/self/exe", {st_mode=S_IFLNK|0777, st_size=0, ...}) = 0
"#;
    let expected = [
        ("open(file)", 4.0),
        ("read(file)@16", 1.0),
        ("close(file)", 4.0),
        ("open(proc)", 4.0),
        ("close(proc)", 4.0),
        ("open(device)", 1.0),
        ("close(device)", 1.0),
        ("stat(proc)", 1.0),
    ];
    has(text, &expected);
}

#[test]
fn other_lines_are_numbered_and_prefixes_are_accepted() {
    let text = "strace: Process 8 attached\n[pid 8] 12:00:01.5 getppid() = 7\n[pid 9] 1700000000.123 getppid() = 7\nhello\n";
    let trace = read(text);
    let unread = Unread { log: 0, line: 4 };
    assert_eq!((trace.calls, trace.unread.clone()), (2, vec![unread]));
    let lost = trace.vector.traced.unwrap().lost;
    assert_eq!(lost, Some(1), "predictions name it");
    let request =
        Request { application: Some("server".to_owned()), unit: "request".to_owned(), units: 4.0 };
    let vector = strace(text, &request).unwrap().vector;
    assert_eq!((vector.application.as_str(), vector.units), ("server", Some(4.0)));
    assert_eq!(vector.primitives[0].count, 0.5);
    assert_eq!(strace("hello\n\n", &request), Err(Refusal::NoCall));
}

/// Every prefix of a line, and every line with a byte changed, is read without a panic.
#[test]
fn damaged_lines_do_no_harm() {
    let line = r#"7 clone(child_stack=NULL, flags=CLONE_VM, "é\") = [3, {4}]") = -1 ENOENT (No such file) <0.1>"#;
    let request = Request { application: None, unit: "run".to_owned(), units: 1.0 };
    for (at, _) in line.char_indices() {
        let _ = strace(&line[..at], &request);
        let _ = strace(&line[at..], &request);
        for other in ["\"", "(", ")", "=", "é", ""] {
            let _ = strace(&(line[..at].to_owned() + other + &line[at..] + "\n"), &request);
        }
    }
}
