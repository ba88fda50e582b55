//! The places of accesses in the output of strace.

use yamba_page_cache::FileAccesses;
use yamba_page_cache::Kind::{Read, Write};
use yamba_page_cache::document::Run;

use crate::{Log, Request, read_strace};

fn files(text: &str) -> FileAccesses {
    let request = Request { application: None, unit: "run".to_owned(), units: 1.0 };
    let log = Log { process: None, text };
    let trace = read_strace(&[log], &request, true).expect("a trace");
    trace.files.expect("files")
}

#[test]
fn positions_follow_reads_writes_and_seeks() {
    let found = files(
        r#"7 execve("/bin/x", ["x"], 0x7f /* 9 vars */) = 0
7 openat(AT_FDCWD, "a", O_RDONLY) = 3</tmp/a>
7 read(3</tmp/a>, "xx"..., 4096) = 4096
7 read(3</tmp/a>, "xx"..., 4096) = 4096
7 read(3</tmp/a>, "xx"..., 4096) = 100
7 read(3</tmp/a>, "", 4096) = 0
7 lseek(3</tmp/a>, 0, SEEK_SET) = 0
7 pread64(3</tmp/a>, "xx"..., 10, 70000) = 10
7 read(3</tmp/a>, "xx"..., 5) = 5
7 openat(AT_FDCWD, "b", O_RDWR|O_CREAT, 0666) = 4</tmp/b>
7 pwrite64(4</tmp/b>, "xx"..., 8, 8192) = 8
7 write(4</tmp/b>, "xx"..., 3) = 3
7 read(9<pipe:[77]>, "x", 1) = 1
7 read(5</dev/pts/0<char 136:0>>, "x", 1) = 1
"#,
    );
    let paths: Vec<_> = found.files.iter().flat_map(|file| &file.path).collect();
    assert_eq!(paths, ["/tmp/a", "/tmp/b"]);
    assert_eq!(
        found.accesses,
        [
            Run(0, Read, 0, 4096, 2),
            Run(0, Read, 8192, 100, 1),
            Run(0, Read, 70000, 10, 1),
            Run(0, Read, 0, 5, 1),
            Run(1, Write, 8192, 8, 1),
            Run(1, Write, 0, 3, 1),
        ]
    );
    assert_eq!((found.application.as_str(), found.unknown), ("x", 0));
}

#[test]
fn copied_descriptors_share_a_position() {
    let found = files(
        r#"7 openat(AT_FDCWD, "a", O_RDONLY) = 3</tmp/a>
7 dup2(3</tmp/a>, 9</tmp/z>) = 9</tmp/a>
7 read(9</tmp/a>, "x", 10) = 10
7 clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD) = 8
8 read(3</tmp/a>, "x", 20) = 20
8 close(3</tmp/a>) = 0
7 fcntl(3</tmp/a>, F_DUPFD, 5) = 5</tmp/a>
7 read(5</tmp/a>, "x", 30) = 30
"#,
    );
    let offsets: Vec<u64> = found.accesses.iter().map(|run| run.2).collect();
    assert_eq!(offsets, [0, 10, 30]);
}

#[test]
fn accesses_at_unknown_positions_are_counted() {
    let found = files(
        r#"7 read(0</tmp/inherited>, "x", 10) = 10
7 openat(AT_FDCWD, "log", O_WRONLY|O_APPEND) = 3</tmp/log>
7 write(3</tmp/log>, "x", 10) = 10
7 pread64(0</tmp/inherited>, "x", 10, 5) = 10
7 read(3</tmp/log>, 0x7f, 10) = -1 EBADF (Bad file descriptor)
"#,
    );
    assert_eq!(found.accesses, [Run(0, Read, 5, 10, 1)]);
    assert_eq!((found.unknown, found.left_out), (2, 0));
}

/// Direct accesses bypass the page cache, and their places are known.
#[test]
fn direct_accesses_are_left_out() {
    let text = r#"7 openat(AT_FDCWD, "/srv/a", O_RDWR|O_DIRECT) = 3</srv/a>
7 pread64(3</srv/a>, "x", 4096, 0) = 4096
7 openat(AT_FDCWD, "/srv/b", O_RDWR|O_SYNC) = 4</srv/b>
7 pread64(4</srv/b>, "x", 4096, 0) = 4096
"#;
    let found = files(text);
    let paths: Vec<_> = found.files.iter().filter_map(|file| file.path.as_deref()).collect();
    assert_eq!((paths, found.unknown), (vec!["/srv/b"], 0));
}

/// `F_SETFL` changes the open file, and so all of its descriptors. `F_GETFL` only shows the flag.
#[test]
fn writes_after_a_change_to_appending_have_no_known_position() {
    let found = files(
        r#"7 openat(AT_FDCWD, "log", O_WRONLY) = 3</tmp/log>
7 openat(AT_FDCWD, "other", O_WRONLY) = 4</tmp/other>
7 dup(3</tmp/log>) = 5</tmp/log>
7 clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD) = 8
7 write(3</tmp/log>, "x", 10) = 10
7 fcntl(4</tmp/other>, F_GETFL) = 0x8401 (flags O_WRONLY|O_APPEND|O_LARGEFILE)
7 fcntl(3</tmp/log>, F_SETFL, O_WRONLY|O_APPEND) = -1 EPERM (Operation not permitted)
7 write(3</tmp/log>, "x", 20) = 20
7 fcntl(3</tmp/log>, F_SETFL, O_WRONLY|O_APPEND) = 0
7 write(3</tmp/log>, "x", 30) = 30
7 write(5</tmp/log>, "x", 30) = 30
8 write(3</tmp/log>, "x", 30) = 30
7 write(4</tmp/other>, "x", 40) = 40
"#,
    );
    assert_eq!(
        found.accesses,
        [Run(0, Write, 0, 10, 1), Run(0, Write, 10, 20, 1), Run(1, Write, 0, 40, 1),]
    );
    assert_eq!((found.unknown, found.left_out), (3, 0));
}

/// The log that showed the fault: 4096 bytes are sent from a place of their own, and the position
/// stays.
#[test]
fn sendfile_with_an_offset_does_not_move_the_position() {
    let found = files(
        r#"1 openat(AT_FDCWD, "/srv/a", O_RDONLY) = 3</srv/a>
1 read(3</srv/a>, "x"..., 4096) = 4096
1 sendfile(4</dev/null<char 1:3>>, 3</srv/a>, [524288] => [528384], 4096) = 4096
1 read(3</srv/a>, "x"..., 4096) = 4096
1 sendfile(4</dev/null<char 1:3>>, 3</srv/a>, NULL, 10) = 10
1 read(3</srv/a>, "x"..., 4096) = 5
1 sendfile(4</dev/null<char 1:3>>, 3</srv/a>, 0x7ffd, 10) = 10
1 +++ exited with 0 +++
"#,
    );
    assert_eq!(
        found.accesses,
        [
            Run(0, Read, 0, 4096, 1),
            Run(0, Read, 524_288, 4096, 1),
            Run(0, Read, 4096, 4096, 1),
            Run(0, Read, 8192, 10, 1),
            Run(0, Read, 8202, 5, 1),
        ]
    );
    assert_eq!(found.unknown, 1, "the last one does not show its offset");
}

/// Both files of a copy are accessed, each at its own place.
#[test]
fn copies_within_the_kernel_access_both_files() {
    let found = files(
        r#"7 openat(AT_FDCWD, "a", O_RDONLY) = 3</a>
7 openat(AT_FDCWD, "b", O_RDWR) = 4</b>
7 copy_file_range(3</a>, [8000], 4</b>, [20000], 100, 0) = 100
7 copy_file_range(3</a>, NULL, 4</b>, NULL, 10, 0) = 10
7 copy_file_range(3</a>, [8100], 4</b>, NULL, 10, 0) = 5
7 splice(5<pipe:[7]>, NULL, 4</b>, [50000], 60, 0) = 60
7 splice(3</a>, NULL, 5<pipe:[7]>, NULL, 7, 0) = 7
7 sendfile(4</b>, 3</a>, NULL, 3) = 3
7 _llseek(3</a>, 900, [900], SEEK_SET) = 0
7 read(3</a>, "x", 1) = 1
7 preadv2(3</a>, [{iov_base="x", iov_len=1}], 1, -1, 0) = 1
7 preadv2(3</a>, [{iov_base="x", iov_len=1}], 1, 0, 0) = 1
"#,
    );
    assert_eq!(
        found.accesses,
        [
            Run(0, Read, 8000, 100, 1),
            Run(1, Write, 20_000, 100, 1),
            Run(0, Read, 0, 10, 1),
            Run(1, Write, 0, 10, 1),
            Run(0, Read, 8100, 5, 1),
            Run(1, Write, 10, 5, 1),
            Run(1, Write, 50_000, 60, 1),
            Run(0, Read, 10, 7, 1),
            Run(0, Read, 17, 3, 1),
            Run(1, Write, 15, 3, 1),
            Run(0, Read, 900, 1, 2),
            Run(0, Read, 0, 1, 1),
        ]
    );
    assert_eq!(found.unknown, 0);
}

/// A line that is not understood may have moved a position, and a descriptor without `-y` does not
/// show its file.
#[test]
fn accesses_that_the_log_does_not_show_are_counted() {
    let found = files(
        r#"7 openat(AT_FDCWD, "a", O_RDONLY) = 3</a>
7 read(3</a>, "x", 1) = 1
7 read(3</a>, "x", 1) = ??
7 read(3</a>, "x", 1) = 1
7 openat(AT_FDCWD, "b", O_RDONLY) = 4
7 read(4, "x", 1) = 1
"#,
    );
    assert_eq!(found.accesses, [Run(0, Read, 0, 1, 1)]);
    assert_eq!(found.unknown, 2);
}
