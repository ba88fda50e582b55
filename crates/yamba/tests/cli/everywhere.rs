//! Builds every benchmark of the suite and every example for every instruction set, and runs each
//! briefly: one batch of one point, with an emulator for foreign processors. Each must finish and
//! must reject invalid words; the figures do not matter.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;

use serde_json::Value;
use yamba_lang::{Analysis, ClassId, Files, Target};
use yamba_record::program::Program as Description;
use yamba_toolchain::embedded::Home;
use yamba_toolchain::files::Disk;

use crate::support::{Yamba, root};

/// The exit status of a program that cannot be measured on this machine.
const NOT_HERE: i32 = 4;

#[test]
#[ignore = "needs a C++ compiler and an emulator for every instruction set"]
fn suite_and_examples_run_on_every_instruction_set() {
    let analysis = analysis();
    let mut count = 0;
    let faults = Mutex::new(Vec::new());
    for (target, classes) in jobs(&analysis) {
        let programs = build(&target, &classes);
        let names: BTreeSet<String> = programs.keys().cloned().collect();
        assert_eq!(names, classes, "{target}");
        count += programs.len();
        let programs = Mutex::new(programs.into_iter());
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let next = || programs.lock().unwrap().next();
                    while let Some((name, program)) = next() {
                        if let Err(fault) = attempt(&program, &target) {
                            let fault = format!("{name} on {target}: {fault}");
                            faults.lock().unwrap().push(fault);
                        }
                    }
                });
            }
        });
    }
    assert!(count > 60, "{count} programs");
    let faults = faults.into_inner().unwrap();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    a_whole_run_has_many_figures();
}

/// Counts figures of the programs just built. Skipped benchmarks do not count.
fn a_whole_run_has_many_figures() {
    for quick in [&[][..], &["--quick"]] {
        let words = [&["run", "--dry-run", "--json"], quick].concat();
        let mut command = Yamba::new().without("YAMBA_STORE").command(&words);
        let output = command.current_dir(storage()).output().unwrap();
        let plan: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)));
        let all = plan["benchmarks"].as_array().unwrap().iter();
        let figures = all.filter(|b| b["skipped"].is_null()).count();
        assert!(figures >= 150, "{figures} figures with {quick:?}");
    }
}

/// Builds the programs of a target and returns their paths by class. Other tests use the same
/// cache. One command for all of them precompiles the common header.
fn build(target: &Target, classes: &BTreeSet<String>) -> BTreeMap<String, String> {
    let target = target.to_string();
    let examples = root().join("examples").display().to_string();
    let mut words = vec!["build", "--json", "--target", &target, "--lib", &examples];
    // By name, because a pattern does not choose every class.
    words.extend(classes.iter().map(String::as_str));
    let answer = Yamba::new().run_words(&words).ok();
    // The compiler's warnings.
    assert_eq!(answer.err, "", "{target}");
    let programs: Vec<Value> = serde_json::from_str(&answer.out).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let programs = programs.iter();
    programs.map(|p| (text(&p["class"]), text(&p["program"]))).collect()
}

fn analysis() -> Analysis {
    let home = Home {
        runtime: root().join("runtime"),
        library: root().join("library"),
        suite: root().join("suite"),
    };
    let disk = Disk::new(Vec::new(), &home).unwrap();
    let examples = root().join("examples/x.yamba");
    let mut inputs = disk.searched(false);
    inputs.extend(
        disk.around(&examples.display().to_string())
            .into_iter()
            .filter(|i| i.path.contains("/examples/")),
    );
    yamba_lang::analyse(inputs, &disk)
}

/// The names of the classes to build for each target.
fn jobs(analysis: &Analysis) -> Vec<(Target, BTreeSet<String>)> {
    let mut listed = analysis.requested();
    listed.retain(|c| analysis.is_listed(*c));
    let mut targets = analysis.targets();
    targets.retain(|t| t.system == "linux");
    let jobs = targets.into_iter().map(|target| {
        let exists = |c: &&ClassId| !analysis.program(**c, &target).variants.is_empty();
        let classes = listed.iter().filter(exists);
        let names = classes.map(|c| analysis.class(*c).name().to_owned());
        let names = names.collect();
        (target, names)
    });
    jobs.collect()
}

fn attempt(program: &str, target: &Target) -> Result<(), String> {
    let mut words = vec![program.to_owned()];
    match target.isa.as_str() {
        "x86_64" => {
            refuses_nonsense(&words)?;
            tells_an_ordinary_user(&words)?;
        }
        "x86_32" => {}
        foreign => words.insert(0, format!("qemu-{foreign}")),
    }
    let output = answer(&words, &["--run", "--batches", "1", "--time-ns", "1000000"])?;
    let out = String::from_utf8_lossy(&output.stdout);
    let ended = out.contains("\"event\":\"end\"") && !out.contains("\"event\":\"crash\"");
    match output.status.code() {
        Some(0) if ended => Ok(()),
        Some(NOT_HERE) => Ok(()),
        status => Err(format!("{status:?}\n{out}{}", String::from_utf8_lossy(&output.stderr))),
    }
}

/// Sizes of a small machine. With those of a large one, the arrays of some benchmarks take an
/// emulator half a minute to fill.
const SIZES: &str = "last_cache_size=4M memory_size=2G";

fn answer(program: &[String], arguments: &[&str]) -> Result<Output, String> {
    let scratch = tempfile::Builder::new().tempdir_in(storage()).unwrap();
    Command::new(&program[0])
        .args(&program[1..])
        .args(arguments)
        .env("YAMBA_SCRATCH", scratch.path())
        .env("YAMBA_SIZES", SIZES)
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("{program:?}: {e}"))
}

/// The answer to `--describe`.
fn described(output: &Output) -> Result<Description, String> {
    serde_json::from_slice(&output.stdout).map_err(|e| format!("{e}: {output:?}"))
}

/// Checks that every word or file name parameter rejects an invalid value.
fn refuses_nonsense(program: &[String]) -> Result<(), String> {
    let described = |arguments: &[&str]| described(&answer(program, arguments)?);
    let parameters = described(&["--describe"])?.parameters;
    for word in parameters.iter().filter(|p| p.ty.contains("char")) {
        let setting = format!("{}=neither-word-nor-file", word.name);
        let refused = described(&["--describe", "--set", &setting])?.refused;
        if !refused.is_some_and(|text| text.contains(&format!("--set {setting}: "))) {
            return Err(format!("takes {setting}"));
        }
    }
    Ok(())
}

/// A user id that owns no files.
const NOBODY: u32 = 65534;

/// Asks each program as an ordinary user's run does before it measures. If the tests run as root,
/// another user asks.
fn tells_an_ordinary_user(program: &[String]) -> Result<(), String> {
    if described(&answer(program, &["--describe"])?)?.skip.is_some() {
        return Ok(());
    }
    let place = tempfile::tempdir().unwrap();
    fs::set_permissions(place.path(), Permissions::from_mode(0o755)).unwrap();
    let own = place.path().join("program");
    // Copied by another process. If this one held the file open for writing while a child starts,
    // the copy could not be executed.
    let mut copy = Command::new("install");
    copy.args(["-m", "755", &program[0]]).arg(&own);
    assert!(copy.status().unwrap().success());
    let mut command = Command::new(&own);
    if rustix::process::geteuid().is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    let output = command
        .arg("--describe")
        .env_clear()
        .stdin(Stdio::null())
        .output()
        .map_err(|e| e.to_string())?;
    let description = described(&output)?;
    match (&description.skip, &description.refused) {
        (None, None) => Ok(()),
        (Some(why), None) if why.contains("root") => Ok(()),
        (skip, refused) => {
            Err(format!("as an ordinary user: skipped {skip:?}, refused {refused:?}"))
        }
    }
}

/// A folder on a disk. A temporary folder may be in memory, whose pages cannot be dropped.
fn storage() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
}
