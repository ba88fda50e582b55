//! Runs real programs that behave, crash, hang or write false records. Checks the results, and that
//! no process or file is left. Needs a C++ compiler, but no quiet machine: the sample program's
//! clock is simulated.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use yamba_child_guard::StartGuarded;
use yamba_harness::{
    Job, Measurement, NoProgram, Options, Program, Progress, Silent, Stop, UsageError, cache_curve,
};
use yamba_record::parameters::plain;
use yamba_record::{Benchmark, Note, Run, Status, Workers};

fn runtime() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime")
}

fn compiler() -> String {
    std::env::var("CXX").unwrap_or_else(|_| "g++".to_owned())
}

fn build(source: &str, name: &str, flags: &[&str]) -> PathBuf {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    // Another process of these tests may be running the existing file.
    let new = out.with_extension(std::process::id().to_string());
    let done = Command::new(compiler())
        .args(["-std=c++17", "-g", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(runtime())
        .args(flags)
        .arg(runtime().join("tests").join(source))
        .arg("-o")
        .arg(&new)
        .output()
        .expect("a C++ compiler");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
    fs::rename(&new, &out).unwrap();
    out
}

fn sample() -> &'static Path {
    static SAMPLE: OnceLock<PathBuf> = OnceLock::new();
    SAMPLE.get_or_init(|| build("sample.cc", "sample", &["-O2"]))
}

fn program() -> Program {
    Program { path: sample().to_path_buf(), runner: Vec::new(), emulated: false }
}

fn job(program: Program) -> Job {
    Job {
        class: "sample".to_owned(),
        program: Ok(program),
        provenance: yamba_record::run::Provenance::default(),
        texts: Default::default(),
    }
}

/// Ends a hanging program. A program that works is never silent for so long, even on a busy
/// machine.
const BRIEF_SILENCE: Duration = Duration::from_secs(3);

fn options(set: &[(&str, &str)]) -> Options {
    let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    Options {
        set: set.iter().map(own).collect(),
        launches: Some(2),
        batches: Some(11),
        time: Duration::from_micros(20),
        silence: Duration::from_secs(300),
        ..Options::default()
    }
}

fn run_jobs(jobs: &[Job], options: &Options) -> Result<Run, UsageError> {
    measure(jobs, options, &mut Silent, &Stop::default())
}

fn measure(
    jobs: &[Job],
    options: &Options,
    progress: &mut dyn Progress,
    stop: &Stop,
) -> Result<Run, UsageError> {
    let measurement = Measurement {
        jobs,
        options,
        isa: "x86_64",
        system: "linux",
        progress,
        stop,
        listing: &|_, _| None,
        neighbours: yamba_harness::Neighbours::Count,
    };
    measurement.run()
}

fn run_sample(set: &[(&str, &str)]) -> Vec<Benchmark> {
    let run = run_jobs(&[job(program())], &options(set)).unwrap();
    // The document is always JSON that reads back.
    let text = serde_json::to_string(&run).unwrap();
    let read: Run = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), text);
    run.benchmarks
}

/// The result of the sample in this mode: runtime/tests/sample.cc lists them.
fn mode(number: &str) -> Benchmark {
    let mut all = run_sample(&[("scale", "16"), ("mode", number)]);
    assert_eq!(all.len(), 1);
    all.remove(0)
}

#[test]
#[ignore = "needs g++"]
fn sweep_gives_one_entry_per_point() {
    let all = run_sample(&[]);
    assert_eq!(all.len(), 3);
    for (b, scale) in all.iter().zip([16, 32, 64]) {
        assert_eq!((b.status, &b.notes), (Status::Ok, &Vec::new()));
        assert_eq!(b.parameters.get("scale"), Some(&scale.into()));
        // A pass takes 4 x scale ns, its dummy 4 ns. A pass has 4 operations.
        assert_eq!(b.median, Some(f64::from(scale) - 1.0));
        assert_eq!(b.declaration.ports, ["sample_isa", "sample_linux"]);
        assert!(b.details.samples.len() >= 11);
        assert_eq!(b.details.evidence["seen"].median, Some(4.0));
        assert_eq!(b.details.evidence["seen"].expects, Some([Some(1.0), None]));
        assert_eq!(b.details.evidence["odd"].median, None);
    }
}

#[test]
#[ignore = "needs g++"]
fn set_sweep_and_quick_select_points() {
    let scales = |options: &Options| -> Vec<String> {
        let run = run_jobs(&[job(program())], options).unwrap();
        let scale = |b: &Benchmark| b.parameters.get("scale").unwrap().to_string();
        run.benchmarks.iter().map(scale).collect()
    };
    assert_eq!(scales(&options(&[("scale", "1K")])), ["1024"]);
    let mut quick = options(&[]);
    quick.quick = true;
    assert_eq!(scales(&quick), ["16"]);
    let values = vec!["8".to_owned(), "0x10".to_owned()];
    let mut swept = options(&[]);
    swept.sweep = vec![("scale".to_owned(), values)];
    assert_eq!(scales(&swept), ["8", "16"]);
}

#[test]
#[ignore = "needs g++"]
fn wrong_parameter_is_one_error() {
    let message = |set: &[(&str, &str)]| run_jobs(&[job(program())], &options(set)).unwrap_err().0;
    assert_eq!(
        message(&[("scal", "1")]),
        "sample: --set scal=1: sample has no parameter `scal`; it has scale (int), factor (double), flag (bool), mode (Mode), text (const char *), small (unsigned char)"
    );
    assert_eq!(
        message(&[("small", "256")]),
        "sample: --set small=256: small is of type unsigned char; `256` is out of range"
    );
    assert!(message(&[("scale", "abc")]).contains("`abc` is not a number"));
}

#[test]
#[ignore = "needs g++"]
fn crash_loses_only_its_own_figure() {
    let mut some = options(&[("scale", "16")]);
    let modes = ["0", "1", "7", "2", "4", "0"].map(str::to_owned);
    some.sweep = vec![("mode".to_owned(), modes.to_vec())];
    let run = run_jobs(&[job(program())], &some).unwrap();
    let statuses: Vec<Status> = run.benchmarks.iter().map(|b| b.status).collect();
    use Status::{Crashed, Ok};
    assert_eq!(statuses, [Ok, Crashed, Crashed, Crashed, Crashed, Ok]);
    assert!(run.failed());
    let note = |i: usize| run.benchmarks[i].notes[0].to_string();
    assert!(
        note(1).starts_with("sample was ended by SIGSEGV (invalid memory access)"),
        "{}",
        note(1)
    );
    assert!(note(2).starts_with("sample was ended by SIGABRT (abort)"), "{}", note(2));
    assert_eq!(note(3), "sample: no more than 3");
    assert!(
        note(4).starts_with(
            "sample: open(\"/no/such/file\", O_RDONLY) failed: No such file or directory (errno 2)"
        ),
        "{}",
        note(4)
    );
    assert!(note(4).contains("sample.cc:"), "{}", note(4));
    // Each was launched twice, and wrote three batches before each crash.
    for crashed in &run.benchmarks[1..4] {
        assert_eq!((crashed.records.batches().len(), crashed.median), (6, None));
    }
}

#[test]
#[ignore = "needs g++"]
fn empty_benchmark_is_invalid() {
    let b = mode("5");
    assert_eq!(b.status, Status::Invalid);
    assert!(b.notes[0].to_string().starts_with("nothing measurable"), "{:?}", b.notes);
}

#[test]
#[ignore = "needs g++"]
fn evidence_out_of_bounds_is_invalid() {
    let b = mode("9");
    assert_eq!((b.status, b.median), (Status::Invalid, Some(15.0)));
    assert!(
        b.notes[0].to_string().starts_with("ratio is 2 (median), expected [0.5, 1.5]"),
        "{:?}",
        b.notes
    );
}

#[test]
#[ignore = "needs g++"]
fn message_of_partner_process_is_in_notes() {
    let b = mode("6");
    assert_eq!(
        (b.status, b.notes[0].to_string().as_str()),
        (Status::Crashed, "sample: said by the partner")
    );
}

#[test]
#[ignore = "needs g++"]
fn hanging_program_is_killed() {
    let mut hanging = options(&[("scale", "16"), ("mode", "3")]);
    hanging.silence = BRIEF_SILENCE;
    let run = run_jobs(&[job(program())], &hanging).unwrap();
    let b = &run.benchmarks[0];
    assert_eq!((b.status, b.records.batches().len()), (Status::Crashed, 3));
    assert_eq!(b.notes[0], "sample said nothing for 3 s and was ended; --timeout gives it longer");
}

#[test]
#[ignore = "needs g++"]
fn results_before_stop_are_recorded() {
    let stop = Stop::default();
    /// Stops the run when the launch that never ends has begun.
    struct StopAtHanging(Stop, Vec<String>);
    impl yamba_harness::Progress for StopAtHanging {
        fn left(&mut self, _: u64) {}
        fn launch(&mut self, _: &str, parameters: &str, _: Workers) {
            self.1.push(parameters.to_owned());
            if parameters.contains("mode=3") {
                self.0.request();
            }
        }
        fn end(&mut self, interrupted: bool) {
            assert!(interrupted);
        }
    }
    let mut progress = StopAtHanging(stop.clone(), Vec::new());
    let mut some = options(&[("scale", "16")]);
    // With this seed, the first round has the order of the points on any machine.
    some.seed = Some(3);
    some.sweep = vec![("mode".to_owned(), vec!["0".to_owned(), "3".to_owned()])];
    let all = [job(program())];
    let run = measure(&all, &some, &mut progress, &stop).unwrap();
    assert_eq!(progress.1.len(), 2, "{:?}", progress.1);
    assert!(run.interrupted && !run.failed());
    assert_eq!(run.benchmarks.len(), 2);
    let first = &run.benchmarks[0];
    assert_eq!((first.status, first.median), (Status::Ok, Some(15.0)));
    assert_eq!(first.notes, ["stopped after 1 of 2 launches"]);
    assert_eq!(run.benchmarks[1].status, Status::Skipped);
}

#[test]
#[ignore = "needs g++"]
fn entries_not_started_before_stop_are_listed() {
    struct StopAtOnce(Stop);
    impl yamba_harness::Progress for StopAtOnce {
        fn left(&mut self, _: u64) {}
        fn launch(&mut self, _: &str, _: &str, _: Workers) {
            self.0.request();
        }
        fn end(&mut self, _: bool) {}
    }
    let stop = Stop::default();
    let mut some = options(&[("mode", "0")]);
    let values = ["16", "32", "64"].map(str::to_owned);
    some.sweep = vec![("scale".to_owned(), values.to_vec())];
    let mut progress = StopAtOnce(stop.clone());
    let all = [job(program())];
    let run = measure(&all, &some, &mut progress, &stop).unwrap();
    assert!(run.interrupted);
    let each = run.benchmarks.iter().map(|b| plain(b.parameters.get("scale").unwrap()));
    assert_eq!(each.collect::<Vec<String>>(), values);
    let waited = run.benchmarks.iter().filter(|b| {
        b.status == Status::NotStarted
            && b.notes == ["stopped before it began"]
            && b.launches.is_empty()
    });
    assert!(waited.count() >= 2);
}

#[test]
#[ignore = "needs g++"]
fn skipped_benchmark_has_reason() {
    let shell = |script: &str| {
        let mut program = program();
        program.runner = vec!["/bin/sh".to_owned(), "-c".to_owned(), script.to_owned()];
        run_jobs(&[job(program)], &options(&[("scale", "16")])).unwrap().benchmarks.remove(0)
    };
    let skipped = shell("YAMBA_TEST_SKIP=1 exec \"$0\" \"$@\"");
    assert_eq!(
        (skipped.status, skipped.notes),
        (Status::Skipped, vec!["needs file(\"/\")".into()])
    );
    let liar = shell("echo '{\"half\":'");
    assert_eq!(liar.status, Status::Crashed);
    assert!(
        liar.notes[0].to_string().starts_with("it does not describe itself"),
        "{:?}",
        liar.notes
    );

    let mut absent = program();
    absent.path = PathBuf::from("/no/such/program");
    let b = run_jobs(&[job(absent)], &options(&[])).unwrap().benchmarks.remove(0);
    assert_eq!(b.status, Status::Crashed);
    assert!(b.notes[0].to_string().contains("cannot start /no/such/program"), "{:?}", b.notes);

    let none = Job {
        class: "other".to_owned(),
        program: Err(NoProgram::Absent("missing: touch".to_owned())),
        provenance: yamba_record::run::Provenance::default(),
        texts: Default::default(),
    };
    let b = run_jobs(&[none], &options(&[])).unwrap().benchmarks.remove(0);
    assert_eq!((b.status, b.name.as_str()), (Status::Skipped, "other"));
}

/// Output besides the records does no harm. The last part of standard error is reported.
#[test]
#[ignore = "needs g++"]
fn garbage_around_records_is_skipped() {
    let mut program = program();
    let script = "case \"$*\" in *--run*) echo junk >&3; head -c 3000000 /dev/zero >&3; echo >&3; echo on stdout; echo oops >&2;; esac; exec \"$0\" \"$@\"";
    program.runner = vec!["/bin/sh".to_owned(), "-c".to_owned(), script.to_owned()];
    let b = run_jobs(&[job(program)], &options(&[("scale", "16")])).unwrap().benchmarks.remove(0);
    assert_eq!((b.status, b.median), (Status::Ok, Some(15.0)));
    assert_eq!(b.notes, ["4 lines among the records were none, and were passed over"]);
}

/// The sample as started by a shell script, which calls it by `"$0" "$@"`.
fn behind(script: &str) -> Program {
    let mut program = program();
    program.runner = vec!["/bin/sh".to_owned(), "-c".to_owned(), script.to_owned()];
    program
}

fn run_behind(script: &str, options: &Options) -> Benchmark {
    let run = run_jobs(&[job(behind(script))], options).unwrap();
    run.benchmarks.into_iter().next().unwrap()
}

/// A run of the whole suite has 300 times the time of a point. Its first round leaves less than the
/// slow benchmark's second launch takes.
#[test]
#[ignore = "needs g++"]
fn slow_setup_gets_fewer_launches_in_a_whole_run() {
    let whole = Options {
        quick: true,
        whole: true,
        launches: None,
        time: Duration::from_millis(10),
        ..options(&[("mode", "0")])
    };
    let slow = "case \"$*\" in *--run*) sleep 2;; esac; exec \"$0\" \"$@\"";
    let run = run_jobs(&[job(program()), job(behind(slow))], &whole).unwrap();
    let slow = &run.benchmarks[1];
    assert_eq!(slow.launches.len(), 1, "{:?}", slow.notes);
    let note = |n: &Note| n.to_string().starts_with("1 instead of 2 launches, since each takes");
    assert!(slow.notes.iter().any(note), "{:?}", slow.notes);
}

/// The first launch of each benchmark takes longer than planned: the last ones have no time left,
/// and say so.
#[test]
#[ignore = "needs g++"]
fn run_with_a_limit_leaves_out_what_does_not_fit() {
    let limit = Duration::from_secs(3);
    let limited = Options {
        launches: None,
        run_limit: Some(limit),
        time: Duration::from_millis(10),
        ..options(&[("mode", "0"), ("scale", "16")])
    };
    let slow = "case \"$*\" in *--run*) sleep 1;; esac; exec \"$0\" \"$@\"";
    let jobs = [(); 6].map(|()| job(behind(slow)));
    let run = run_jobs(&jobs, &limited).unwrap();
    let (measured, skipped): (Vec<_>, Vec<_>) =
        run.benchmarks.iter().partition(|b| b.status == Status::Ok);
    assert!((1..=3).contains(&measured.len()), "{}", measured.len());
    for one in skipped {
        assert_eq!(one.status, Status::Skipped);
        let note = one.notes[0].to_string();
        assert!(note.contains("of the 3 s of the whole run"), "{note}");
    }
}

/// The time ends during a launch that hangs: this is no interruption, and each entry says what it
/// lacks.
#[test]
#[ignore = "needs g++"]
fn end_of_the_time_is_no_interruption() {
    struct Uninterrupted;
    impl yamba_harness::Progress for Uninterrupted {
        fn left(&mut self, _: u64) {}
        fn launch(&mut self, _: &str, _: &str, _: Workers) {}
        fn end(&mut self, interrupted: bool) {
            assert!(!interrupted);
        }
    }
    let hanging = "case \"$*\" in *--run*) sleep 100;; esac; exec \"$0\" \"$@\"";
    let jobs = [(); 3].map(|()| job(behind(hanging)));
    let begun = std::time::Instant::now();
    let stop = Stop::default().until(begun + Duration::from_secs(2));
    let some = Options { silence: Duration::from_secs(50), ..options(&[("scale", "16")]) };
    let run = measure(&jobs, &some, &mut Uninterrupted, &stop).unwrap();
    assert!(begun.elapsed() < Duration::from_secs(20));
    assert!(!run.interrupted && !stop.requested());
    let mut notes: Vec<String> = run.benchmarks.iter().map(|b| b.notes[0].to_string()).collect();
    notes.sort();
    let left_out = "no time was left: `yamba run sample` measures it";
    let ended = "sample was ended, since the time of the run was over: `yamba run` gives it longer";
    assert_eq!(notes, [left_out, left_out, ended]);
    assert!(run.benchmarks.iter().all(|b| b.status == Status::Skipped));
}

#[test]
#[ignore = "needs g++"]
fn suspended_program_is_distinguished_from_hanging_one() {
    let mut stopping = options(&[("scale", "16")]);
    stopping.silence = BRIEF_SILENCE;
    let script = "case \"$*\" in *--run*) kill -STOP $$;; esac; exec \"$0\" \"$@\"";
    let b = run_behind(script, &stopping);
    assert_eq!(b.status, Status::Crashed);
    assert_eq!(b.notes[0], "sample was stopped by a signal, said nothing for 3 s and was ended");
}

/// Endless output, records or not, does not keep the run from continuing.
#[test]
#[ignore = "needs g++"]
fn program_that_floods_the_pipe_is_killed() {
    for line in [r#"{"event":"note","text":"again"}"#, "junk"] {
        let script =
            format!("case \"$*\" in *--run*) exec yes '{line}' >&3;; esac; exec \"$0\" \"$@\"");
        let b = run_behind(&script, &options(&[("scale", "16")]));
        assert_eq!(b.status, Status::Crashed);
        assert_eq!(b.notes[0], "sample wrote more records than any measurement does and was ended");
    }
}

/// A daemon that a benchmark leaves in a session of its own keeps all pipes open: the harness does
/// not wait for their end. It would compete with later launches, so it is killed before the next
/// one, even without `YAMBA_SCRATCH` in its environment.
#[test]
#[ignore = "needs g++"]
fn daemon_is_killed_after_its_launch() {
    for (environment, times) in [("", 3), ("env -i", 1)] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("daemon");
        let daemon = "echo $$ > FILE.new; mv FILE.new FILE; exec sleep 100";
        let script = format!(
            "case \"$*\" in *--run*) [ -e FILE ] && kill -0 $(cat FILE) && exit 9; rm -f FILE; \
             ENV setsid /bin/sh -c '{daemon}' & while [ ! -e FILE ]; do sleep 0.01; done;; esac; exec \"$0\" \"$@\""
        );
        let script = script.replace("FILE", &file.display().to_string());
        let mut some = options(&[("scale", "16")]);
        some.launches = Some(times);
        let b = run_behind(&script.replace("ENV", environment), &some);
        assert_eq!((b.status, b.median), (Status::Ok, Some(15.0)));
        // Another test of this process may have killed a daemon without `YAMBA_SCRATCH`.
        if environment.is_empty() {
            let note = format!("what outlived its launch was ended: {times} sleep");
            assert_eq!(b.notes[0], note.as_str());
        }
        let daemon: u32 = fs::read_to_string(&file).unwrap().trim().parse().unwrap();
        assert!(!is_alive(daemon));
    }
}

/// Field 6 of `/proc/PID/stat` is the session, whose number is that of its leader.
#[test]
#[ignore = "needs g++"]
fn launch_leads_a_session() {
    let script = "case \"$*\" in *--run*) [ \"$(cut -d' ' -f6 /proc/$$/stat)\" = $$ ] || exit 9;; esac; exec \"$0\" \"$@\"";
    let b = run_behind(script, &options(&[("scale", "16")]));
    assert_eq!(b.status, Status::Ok, "{:?}", b.notes);
}

/// Orphans that end by themselves are reaped, and not reported.
#[test]
#[ignore = "needs g++"]
fn orphans_that_exit_by_themselves_give_no_note() {
    let folder = tempfile::tempdir().unwrap();
    let orphan = folder.path().join("orphan");
    fs::write(&orphan, "#!/bin/sh\n:\n").unwrap();
    fs::set_permissions(&orphan, fs::Permissions::from_mode(0o755)).unwrap();
    let script = format!(
        "case \"$*\" in *--run*) for i in 1 2 3 4 5 6 7 8; do (setsid {} &); done; sleep 0.2;; esac; exec \"$0\" \"$@\"",
        orphan.display()
    );
    let b = run_behind(&script, &options(&[("scale", "16")]));
    assert_eq!(b.status, Status::Ok);
    // On a busy machine there may be a note about the duration of the launches.
    let is_about_orphans = |note: &Note| note.to_string().contains("outlived");
    assert!(!b.notes.iter().any(is_about_orphans), "{:?}", b.notes);
    let ended = format!(") Z {} ", std::process::id());
    let is_orphan = |stat: &str| stat.contains("(orphan)") && stat.contains(&ended);
    let all = fs::read_dir("/proc").unwrap().flatten();
    let stats = all.filter_map(|e| fs::read_to_string(e.path().join("stat")).ok());
    assert_eq!(stats.filter(|s| is_orphan(s)).count(), 0);
}

/// The figure of the complete launches is kept, but invalid.
#[test]
#[ignore = "needs g++"]
fn launches_continue_after_occasional_crash() {
    let folder = tempfile::tempdir().unwrap();
    let script = format!(
        "case \"$*\" in *--run*) echo >> {0}; [ $(wc -l < {0}) -eq 2 ] && kill -KILL $$;; esac; exec \"$0\" \"$@\"",
        folder.path().join("count").display()
    );
    let mut some = options(&[("scale", "16")]);
    some.launches = Some(4);
    let b = run_behind(&script, &some);
    assert_eq!((b.status, b.median), (Status::Invalid, Some(15.0)));
    assert_eq!(b.notes[0], "launch 2 of 4: sample was ended by SIGKILL (killed)");
    let counted: Vec<bool> = b.launches.iter().map(|l| l.median.is_some()).collect();
    assert_eq!(counted, [true, false, true, true]);
}

/// Each launch is a process of its own. The launches of several points are interleaved.
#[test]
#[ignore = "needs g++"]
fn launches_are_interleaved_in_reproducible_order() {
    let order = |seed: u64| {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("order");
        let script = format!(
            "case \"$*\" in *--run*) echo \"$*\" >> {};; esac; exec \"$0\" \"$@\"",
            file.display()
        );
        let mut some = options(&[]);
        (some.launches, some.seed) = (Some(6), Some(seed));
        let run = run_jobs(&[job(behind(&script))], &some).unwrap();
        assert_eq!((run.plan.seed, run.plan.launches), (seed, 6));
        for b in &run.benchmarks {
            let counted: Vec<u64> = b.launches.iter().map(|l| l.samples).collect();
            assert!(counted.len() == 6 && counted.iter().all(|n| *n >= 11), "{counted:?}");
        }
        let told = fs::read_to_string(&file).unwrap();
        let scale = |line: &str| line.split("scale=").nth(1).unwrap()[..2].to_owned();
        told.lines().map(scale).collect::<Vec<String>>()
    };
    let first = order(1);
    assert_eq!(first.len(), 18);
    for round in first.chunks(3) {
        let mut round = round.to_vec();
        round.sort();
        assert_eq!(round, ["16", "32", "64"], "one of each in a round");
    }
    assert_eq!(first, order(1));
    assert_ne!(first, order(2));
}

/// The record has the actual settings and times of each launch, also where they differ from the
/// plan.
#[test]
#[ignore = "needs g++"]
fn launch_records_request_and_times() {
    let now = || {
        let since = std::time::SystemTime::UNIX_EPOCH.elapsed();
        since.unwrap().as_secs_f64()
    };
    let before = now();
    let run = run_jobs(&[job(program())], &options(&[])).unwrap();
    let after = now();
    let started = run.started_unix_s.unwrap();
    assert!(before <= started && started <= after);
    assert_eq!(run.plan.warmup_ns, 20_000_000);
    let mut launches: Vec<(u64, u64, u64, usize)> = Vec::new();
    for (entry, b) in run.benchmarks.iter().enumerate() {
        for launch in &b.launches {
            let request = launch.request.as_ref().unwrap();
            // 10 us for each of two launches, a quarter of which is for warming up.
            assert_eq!((request.batches, request.time_ns, request.warmup_ns), (11, 10_000, 2_500));
            assert_eq!(request.precision, 0.005);
            let end = launch.started_ns + launch.took_ns;
            launches.push((launch.started_ns, end, launch.round, entry));
        }
    }
    launches.sort_unstable();
    assert!(launches.windows(2).all(|w| w[0].1 <= w[1].0), "{launches:?}");
    let rounds: Vec<u64> = launches.iter().map(|l| l.2).collect();
    assert_eq!(rounds, [0, 0, 0, 1, 1, 1]);
    assert!(launches.last().unwrap().1 as f64 <= (after - before) * 1e9);
}

/// The time of a launch before and after its batches counts.
#[test]
#[ignore = "needs g++"]
fn overrun_is_noted() {
    let b = run_behind("sleep 0.6; exec \"$0\" \"$@\"", &options(&[("scale", "16")]));
    assert_eq!(b.status, Status::Ok);
    let note = b.notes.last().expect("a note").to_string();
    for part in ["took ", " s instead of ", ": besides its batches a launch takes "] {
        assert!(note.contains(part), "{note}");
    }
}

#[test]
#[ignore = "needs g++"]
fn emulated_figure_has_a_note() {
    let mut program = program();
    program.runner = vec!["/usr/bin/env".to_owned()];
    program.emulated = true;
    let b = run_jobs(&[job(program)], &options(&[("scale", "16")])).unwrap().benchmarks.remove(0);
    assert_eq!(b.status, Status::Ok);
    assert_eq!(
        b.notes,
        ["emulated by /usr/bin/env: the figure says nothing of the speed of x86_64"]
    );
}

/// No test of its own: the run that the next test kills.
#[test]
fn victim() {
    // The program, so that this process need not build it again.
    if let Some(path) = std::env::var_os("YAMBA_TEST_VICTIM").map(PathBuf::from) {
        let program = Program { path, runner: Vec::new(), emulated: false };
        let _ = run_jobs(&[job(program)], &options(&[("scale", "16"), ("mode", "3")]));
    }
}

/// A killed run leaves no process. The next run removes its files.
#[test]
#[ignore = "needs g++"]
fn killed_run_leaves_no_children() {
    let home = tempfile::tempdir().unwrap();
    let mut run = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "victim"])
        .env("YAMBA_TEST_VICTIM", sample())
        .env("TMPDIR", home.path())
        .stdout(std::process::Stdio::null())
        .start();
    let child = eventually(|| measuring_child(run.id()));
    run.kill().unwrap();
    // Not by `wait`: a run of another test of this process may reap it, as it has its own group.
    eventually(|| (!is_alive(run.id()) && !is_alive(child)).then_some(()));
    assert!(fs::read_dir(home.path()).unwrap().count() <= 1);
}

fn eventually<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < Duration::from_secs(600), "it never happened");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A child of any thread of the run.
fn measuring_child(parent: u32) -> Option<u32> {
    fs::read_dir("/proc").ok()?.flatten().find_map(|entry| {
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let after_name = stat.rsplit_once(')')?.1;
        let owner: u32 = after_name.split_whitespace().nth(1)?.parse().ok()?;
        let command = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let is_run = command.windows(5).any(|w| w == b"--run");
        (owner == parent && is_run).then_some(pid)
    })
}

fn is_alive(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

/// Every program measures the curve of load latencies.
#[test]
#[ignore = "needs g++"]
fn program_measures_cache_curve() {
    let limit = 1 << 20;
    let stop = Stop::default();
    let curve =
        cache_curve(&program(), &options(&[]), &stop, Some(limit), &BTreeMap::new()).unwrap();
    let largest = curve.x.iter().fold(0.0_f64, |a, b| a.max(*b));
    assert_eq!((curve.name.as_str(), largest), ("load_latency", limit as f64));
    for of_passes in [curve.ns.len(), curve.probes_before.len(), curve.probes_after.len()] {
        assert_eq!(of_passes, curve.x.len());
    }
}
