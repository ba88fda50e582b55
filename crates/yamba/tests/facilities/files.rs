//! File benchmarks: evidence that must fail, and no leftovers after any process is killed.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use serde_json::Value;
use yamba_child_guard::Guarded;

use crate::Missing;
use crate::evidence::{Wrong, all_are_caught, are_caught, classes};
use crate::mounted::{by_sshfs, mounted};
use crate::support::{Answer, Yamba, json, processes_of, until};

const WRONG: [Wrong; 15] = [
    Wrong {
        // A page that a process has mapped and touched stays in memory.
        name: "kept_in_memory",
        base: "lat_file_rd",
        evidence: "resident_before_pass",
        members: "byte_t sum;
         bool may_fault() { return true; }
         void setup()
         {
             super::setup();
             void *pages = must(mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0));
             for (size_t i = 0; i < size; i += platform.page_size) sum += static_cast<volatile byte_t *>(pages)[i];
         }",
    },
    Wrong {
        // Another read occurs between the check and the pass.
        name: "read_before",
        base: "lat_file_rd",
        evidence: "fetched_per_byte",
        members: "void before_pass() { super::before_pass(); super::benchmark(); first_words = 0; fetched_before = storage.bytes_fetched(); }",
    },
    Wrong {
        // The benchmark only claims to bypass the file cache.
        name: "through_the_file_cache",
        base: "bw_disk_rd",
        evidence: "fetched_per_byte",
        members: "direct = false;
         void before_pass() { super::before_pass(); super::benchmark(); first_words = 0; fetched_before = storage.bytes_fetched(); }",
    },
    Wrong {
        // A disk with a cache would serve these blocks from it from the second pass on.
        name: "always_the_same_blocks",
        base: "lat_file_rd",
        evidence: "read_out_of_turn",
        members: "most = 16 << 10;
         most_in_sequence = 16 << 10;
         void before_pass()
         {
             super::before_pass();
             pattern.turn = 0;
             pattern.take();
         }",
    },
    Wrong {
        name: "from_storage",
        base: "bw_file_rd",
        evidence: "fetched_per_byte",
        members: "bool may_wait() { return true; }
         void benchmark() { int other = must(open(path, O_RDONLY)); storage.forget(other); must(close(other)); super::benchmark(); }",
    },
    Wrong {
        name: "nothing_read",
        base: "bw_file_rd",
        evidence: "handed_over_per_byte",
        members: "void benchmark() { pass_done(true); }",
    },
    Wrong {
        name: "mapped_from_storage",
        base: "bw_mmap_rd",
        evidence: "major_faults",
        members: "map_inside = true over {true};
         bool may_wait() { return true; }
         void benchmark() { int other = must(open(path, O_RDONLY)); storage.forget(other); must(close(other)); super::benchmark(); }",
    },
    Wrong {
        name: "forgotten_by_the_next",
        base: "bw_mmap_rd",
        evidence: "resident_share",
        members: "map_inside = true over {true};
         bool may_wait() { return true; }
         void benchmark() { super::benchmark(); storage.forget(held); }",
    },
    Wrong {
        // Another mapping keeps the file in the pages that it had.
        name: "in_its_old_pages",
        base: "lat_read_memory",
        evidence: "fetched_at_start",
        members: "block = 4 << 10 over {4 << 10};
         void use(const char *chosen)
         {
             const int other = must(open(chosen, O_RDONLY));
             const void *pages = must(mmap(nullptr, size, PROT_READ, MAP_SHARED | MAP_POPULATE, other, 0));
             super::use(chosen);
             must(munmap(const_cast<void *>(pages), size));
             must(close(other));
         }",
    },
    Wrong {
        // The file is in memory when it is read for the first time after it was written.
        name: "never_read_from_storage",
        base: "lat_read_sequential",
        evidence: "fetched_after_writing",
        members: "block = 4 << 10;
         void prepare()
         {
             super::prepare();
             const int other = must(open(scratch_file((file_name() + \".0\").c_str(), size), O_RDONLY));
             must(mmap(nullptr, size, PROT_READ, MAP_SHARED | MAP_POPULATE, other, 0));
             must(close(other));
         }",
    },
    Wrong {
        // The readers are alive but issue no requests, although they were scheduled. How many
        // batches are timed before that depends on the machine.
        name: "readers_that_sleep",
        base: "lat_file_contention",
        evidence: "is_reader_starved",
        members: "readers = 2 over {2};
         void setup()
         {
             super::setup();
             for (pid_t reader : competitors.members) must(kill(reader, SIGSTOP));
             while (!had_turns()) usleep(1000);
         }",
    },
    Wrong {
        name: "not_brought_to_storage",
        base: "lat_fs",
        evidence: "share_not_waited_for",
        members: "sync = true;
         void setup()
         {
             super::setup();
             sync = false;
         }",
    },
    Wrong {
        name: "nothing_created",
        base: "lat_fs",
        evidence: "files_there",
        members: "operation = \"create\";
         void benchmark() {}",
    },
    Wrong {
        name: "nothing_written",
        base: "bw_disk_wr",
        evidence: "blocks_on_storage",
        members: "void benchmark() { passes++; }",
    },
    Wrong {
        // A later check on storage would find the data there, because dropping it from the cache
        // writes it first.
        name: "written_to_memory",
        base: "bw_disk_wr",
        evidence: "unsynced_after_pass",
        members: "void benchmark()
         {
             const char *asked = sync;
             sync = \"none\";
             super::benchmark();
             sync = asked;
         }",
    },
];

const INCLUDES: &str =
    "#include <fcntl.h>\n#include <signal.h>\n#include <sys/mman.h>\n#include <unistd.h>";

/// Wrong benchmarks of a disk that the user names.
const WRONG_DISK: [Wrong; 5] = [
    Wrong {
        name: "always_the_first_blocks",
        base: "bw_disk_zone",
        evidence: "share_read_before",
        members: "block = 64 << 10;
         amount = 256 << 10;
         width = 100;
         uint64_t place(uint64_t, size_t number) { return number * block; }",
    },
    Wrong {
        name: "no_word_of_it",
        base: "bw_disk_zone",
        evidence: "words_not_read",
        members: "block = 64 << 10;
         amount = 256 << 10;
         width = 100;
         void benchmark() {}",
    },
    Wrong {
        name: "writes_beside_it",
        base: "bw_disk_zone",
        evidence: "bytes_written",
        members: "block = 64 << 10;
         amount = 256 << 10;
         width = 100;
         void benchmark()
         {
             super::benchmark();
             int other = must(open(scratch_file(\"other\", 4096), O_WRONLY));
             must(pwrite(other, buffer, 4096, 0) == 4096);
             must(fdatasync(other));
             must(close(other));
         }",
    },
    Wrong {
        name: "stays_near",
        base: "lat_disk_seek",
        evidence: "moved_per_distance",
        members: "distance = 30 over {30};
         uint64_t place(uint64_t pass, size_t number) { return (drawn + pass * reads() + number) % blocks() * block; }",
    },
    Wrong {
        name: "disk_in_memory",
        base: "lat_disk_seek",
        evidence: "fetched_per_byte",
        members: "distance = 30 over {30};
         void setup()
         {
             super::setup();
             must(close(file));
             file = must(open(path, O_RDONLY));
             for (uint64_t at = 0; at < disk_bytes; at += block) must(pread(file, buffer, block, off_t(at)) == ssize_t(block));
         }",
    },
];

/// A folder on a disk, since temporary files may be in memory.
pub fn storage() -> tempfile::TempDir {
    let disk = Path::new(env!("CARGO_TARGET_TMPDIR"));
    tempfile::Builder::new().tempdir_in(disk).unwrap()
}

pub fn evidence_detects_wrong_file_benchmarks() -> Result<(), Missing> {
    let folder = storage();
    let yamba = Yamba::new().env("TMPDIR", folder.path());
    let caught = all_are_caught(yamba, INCLUDES, &WRONG, "--set size=64K --launches 1");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    caught
}

/// Of four launches, the first two begin half of the processors apart.
pub fn launches_of_reads_from_storage_begin_on_processors_that_are_spread() -> Result<(), Missing> {
    let processors = std::thread::available_parallelism().unwrap().get();
    if processors < 2 {
        return Err(Missing::new("only one processor may be used"));
    }
    let folder = storage();
    let mut yamba = Yamba::new().env("TMPDIR", folder.path());
    let range = |yamba: &mut Yamba, words: &str| {
        let words =
            format!("run lat_read_uncached --set block=4K --launches 4 --quick --json {words}");
        let run = json(yamba, &words);
        let began_on = &run["benchmarks"][0]["evidence"]["began_on"];
        let end = |key: &str| began_on[key].as_f64().unwrap();
        [end("min"), end("max")]
    };
    let [first, last] = range(&mut yamba, "");
    let apart = last - first;
    assert!(apart >= (processors / 2) as f64, "{first} to {last}");
    assert_eq!(range(&mut yamba, "--cpu 0"), [-1.0, -1.0], "chosen by the user");
    Ok(())
}

pub fn evidence_detects_reads_of_another_disk() -> Result<(), Missing> {
    let folder = storage();
    let disk = folder.path().join("disk");
    fs::write(&disk, vec![7; 16 << 20]).unwrap();
    let yamba = Yamba::new().env("TMPDIR", folder.path());
    let words = format!("--launches 1 --set path={}", disk.display());
    all_are_caught(yamba, INCLUDES, &WRONG_DISK, &words)
}

pub fn file_cache_that_was_never_full_is_invalid() -> Result<(), Missing> {
    let folder = storage();
    let yamba = Yamba::new().env("TMPDIR", folder.path());
    let wrong = [Wrong {
        name: "never_full",
        base: "file_cache",
        evidence: "share_kept_beyond",
        members: "group = 64 << 20; limit = 16 << 20;",
    }];
    all_are_caught(yamba, INCLUDES, &wrong, "--launches 1")
}

/// A run in an overlay file system, as in a container. There the system's quick count of cached
/// pages is always 0.
fn upon_another(yamba: &Yamba, folder: &Path, words: &[&str]) -> Result<Answer, Missing> {
    for part in ["under", "over", "work"] {
        fs::create_dir(folder.join(part)).unwrap();
    }
    let parts = folder.display();
    let layers = format!("lowerdir={parts}/under,upperdir={parts}/over,workdir={parts}/work");
    mounted(yamba, folder, &format!("mount -t overlay overlay -o {layers}"), words)
}

pub fn stacked_file_system_does_not_hide_pages() -> Result<(), Missing> {
    let folder = storage();
    let wrong = WRONG.iter().filter(|w| {
        let name = w.name;
        name == "kept_in_memory" || name == "written_to_memory"
    });
    let wrong: Vec<Wrong> = wrong.cloned().collect();
    let yamba = Yamba::new().file("wrong.yamba", classes(INCLUDES, &wrong));
    let words = "run wrong.yamba --quick --json --set size=64K --launches 1";
    let words: Vec<&str> = words.split(' ').collect();
    are_caught(&upon_another(&yamba, folder.path(), &words)?, &wrong)
}

/// A file system that takes its pages from elsewhere and drops them when a file is opened.
pub fn file_system_that_drops_pages_on_open_is_handled() -> Result<(), Missing> {
    let folder = storage();
    let yamba = Yamba::new();
    let words = "run bw_file_rd bw_mmap_rd --quick --json --launches 1 --set size=1M";
    let words: Vec<&str> = words.split(' ').collect();
    let answer = by_sshfs(&yamba, folder.path(), &words)?;
    let run: Value = serde_json::from_str(&answer.out).expect(&answer.err);
    for figure in run["benchmarks"].as_array().unwrap() {
        let parameters = &figure["parameters"];
        let opens = [&parameters["open_inside"], &parameters["map_inside"]];
        let is_valid = !opens.iter().any(|o| o.as_bool() == Some(true));
        assert_eq!(figure["valid"], is_valid, "{figure}");
        let least = figure["evidence"]["resident_share"]["min"].as_f64();
        assert_eq!(least == Some(1.0), is_valid, "{figure}");
    }
    Ok(())
}

/// The disk is full when the first pass begins, or a call fails for another reason, or a pass needs
/// more files than are available.
const WITHOUT_ROOM: &str = "native {
    #include <fcntl.h>
    #include <unistd.h>
}
yamba no_bytes_left extends lat_fs on linux
{
    native {
        // Whether a file of 4 MiB could be written.
        bool is_filled(const std::string &name)
        {
            int other = must(open(name.c_str(), O_WRONLY | O_CREAT, 0600));
            size_t length = 0;
            ssize_t written = 1;
            while (written > 0 && length < 4 << 20) length += written = write(other, contents.data(), contents.size());
            must(close(other));
            return written > 0;
        }
    }
    operation = \"create\" over {\"create\"};
    size = 10 << 10 over {10 << 10} quick {10 << 10};
    void setup()
    {
        super::setup();
        // Many files, each far below the limit on the length of one.
        for (int i = 0; is_filled(path + \"/other\" + std::to_string(i)); i++) {}
    }
}
yamba no_such_file extends no_bytes_left on linux
{
    void setup()
    {
        super::setup();
        must(open((path + \"/nobody/made/this\").c_str(), O_RDONLY));
    }
}
yamba no_files_left extends lat_fs on linux
{
    operation = \"create\" over {\"create\"};
    size = 0 over {0} quick {0};
    files = 5000;
}
";

pub fn disk_that_fills_up_loses_one_figure() -> Result<(), Missing> {
    let folder = storage();
    let yamba = Yamba::new().file("full.yamba", WITHOUT_ROOM);
    let words = "run full.yamba lat_open_close --quick --json --launches 1";
    let words: Vec<&str> = words.split(' ').collect();
    let disk = "mount -t tmpfs -o size=64m,nr_inodes=200 none";
    let answer = mounted(&yamba, folder.path(), disk, &words)?;
    let run: Value = serde_json::from_str(&answer.out).expect(&answer.err);
    let all = run["benchmarks"].as_array().unwrap();
    assert_eq!(all.len(), 4, "{run}");
    for figure in all {
        let class = figure["class"].as_str().unwrap();
        if class == "lat_open_close" {
            assert_eq!(figure["status"], "ok", "{figure}");
            continue;
        }
        assert_eq!(figure["status"], "crashed", "{figure}");
        let notes = figure["notes"].to_string();
        if class == "no_such_file" {
            assert!(notes.contains("errno 2"), "{notes}");
            assert!(!notes.contains("no room"), "{notes}");
            continue;
        }
        let missing = class.split('_').nth(1).unwrap();
        let told = format!("no room for more {missing} in ");
        for part in [told.as_str(), "let TMPDIR name a larger disk"] {
            assert!(notes.contains(part), "{class}: {notes}");
        }
    }
    let left = fs::read_to_string(folder.path().join("left")).unwrap();
    assert_eq!(left, "");
    Ok(())
}

fn kill(pid: u32) {
    let mut command = Command::new("kill");
    command.args(["-KILL", &pid.to_string()]);
    // The process may have ended already.
    let _ = command.stderr(Stdio::null()).status();
}

/// Starts benchmarks that fork, write and create files.
fn start(yamba: &Yamba) -> Guarded {
    let words = ["run", "lat_file_contention", "bw_disk_wr", "lat_fs", "--quick"];
    yamba.begin(&words)
}

/// Sleeps for a random time, within most of the run's duration.
fn wait_a_moment() {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    std::thread::sleep(Duration::from_millis(200 + u64::from(now.unwrap().subsec_micros()) % 1500));
}

fn wait_until_nobody_works_in(folder: &Path) {
    until("a process is left", || processes_of(folder).is_empty());
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let all = fs::read_dir(folder).unwrap().flatten();
    all.map(|e| e.path()).collect()
}

pub fn kill_of_any_process_leaves_no_process_and_no_file() {
    let folder = storage();
    let yamba = Yamba::new().env("TMPDIR", folder.path());
    // Build first, so that the random moments fall into the measurement.
    start(&yamba).wait().unwrap();
    for _ in 0..3 {
        let mut run = start(&yamba);
        wait_a_moment();
        let programs = processes_of(folder.path());
        programs.into_iter().filter(|pid| *pid != run.id()).for_each(kill);
        run.wait().unwrap();
        wait_until_nobody_works_in(folder.path());
        assert_eq!(entries(folder.path()), Vec::<PathBuf>::new());
    }
    let mut run = start(&yamba);
    wait_a_moment();
    kill(run.id());
    run.wait().unwrap();
    wait_until_nobody_works_in(folder.path());
    // The next run removes unused leftovers once they are some seconds old.
    let then = SystemTime::now() - Duration::from_secs(60);
    for left in entries(folder.path()) {
        File::open(left).unwrap().set_modified(then).unwrap();
    }
    start(&yamba).wait().unwrap();
    assert_eq!(entries(folder.path()), Vec::<PathBuf>::new());
}
