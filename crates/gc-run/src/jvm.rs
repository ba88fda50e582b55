//! A JDK, and one bounded run of its `java`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use yamba_gc::Collector;
use yamba_gc::log::{self, Collection};

use yamba_locale::decimal_points;

use crate::limits::Limits;
use crate::watch::{CpuTime, Ended, watch};

/// Variables from which the virtual machine takes options.
const VARIABLES: [&str; 3] = ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"];

/// A JDK.
#[derive(Clone, Debug)]
pub struct Jvm {
    home: PathBuf,
    /// Its version with build number: `17.0.15+6`.
    pub version: String,
}

/// Result of a run.
#[derive(Debug)]
pub struct Finished {
    /// Wall-clock time of the process, in ns.
    pub elapsed_ns: f64,
    /// Processor time of the collector's threads.
    pub cpu: CpuTime,
    /// The collections of the log, in the order of their ids.
    pub collections: Vec<Collection>,
    /// The log of the JVM.
    pub log: String,
}

impl Finished {
    /// Processor time of collections and marking.
    fn cpu_ns(&self) -> f64 {
        self.cpu.collecting_ns + self.cpu.marking_ns
    }

    /// The run of a micro-benchmark with the least processor time, since other processes only add.
    pub(crate) fn least(runs: Vec<Self>) -> Option<Self> {
        let by_time = |a: &Self, b: &Self| a.cpu_ns().total_cmp(&b.cpu_ns());
        runs.into_iter().min_by(by_time)
    }

    /// The run of an application with the median of the processor time, as `--measure` has it. Of an even number, the longer one of both in the middle.
    pub(crate) fn median(mut runs: Vec<Self>) -> Option<Self> {
        runs.sort_by(|a, b| a.cpu_ns().total_cmp(&b.cpu_ns()));
        let middle = runs.len() / 2;
        runs.into_iter().nth(middle)
    }
}

/// Runs each of several `programs` once in each round. So the runs of a program lie apart: the speed of a shared host changes within minutes. A program that fails does not run
/// again, since it would fail again, perhaps after a minute. For each program, its runs and the reason for its failure.
pub(crate) fn in_rounds<T>(
    rounds: usize,
    programs: &[T],
    run: impl Fn(&T) -> Result<Finished, String>,
) -> Vec<(Vec<Finished>, Option<String>)> {
    let mut all: Vec<_> = programs.iter().map(|_| (Vec::new(), None)).collect();
    for index in (0..rounds).flat_map(|_| 0..programs.len()) {
        let (runs, failure) = &mut all[index];
        if failure.is_none() {
            match run(&programs[index]) {
                Ok(finished) => runs.push(finished),
                Err(reason) => *failure = Some(reason),
            }
        }
    }
    all
}

impl Jvm {
    /// The JDK in a folder; without a folder that of `JAVA_HOME`, or of the `java` on the PATH. An error says what is missing.
    pub fn find(home: Option<&Path>) -> Result<Self, String> {
        let of_environment = || std::env::var_os("JAVA_HOME").map(PathBuf::from);
        let home = home
            .map(Path::to_owned)
            .or_else(of_environment)
            .or_else(on_path);
        let home = home.ok_or("no JDK: there is no `java` on the PATH and JAVA_HOME is not set")?;
        for tool in ["java", "javac", "jar"] {
            if !home.join("bin").join(tool).exists() {
                return Err(format!(
                    "no JDK in {}: bin/{tool} is missing",
                    home.display()
                ));
            }
        }
        let release = fs::read_to_string(home.join("release")).unwrap_or_default();
        let version = release_version(&release).or_else(|| printed_version(&home));
        let version = version.ok_or_else(|| format!("{} has no version", home.display()))?;
        Ok(Self { home, version })
    }

    /// A program of the JDK.
    pub fn tool(&self, name: &str) -> PathBuf {
        self.home.join("bin").join(name)
    }

    /// A command of its `java`. The options in variables of the environment would replace those of a
    /// benchmark. The numbers of the log have decimal points; the application keeps the language.
    fn java(&self) -> Command {
        let mut command = Command::new(self.tool("java"));
        for variable in VARIABLES {
            command.env_remove(variable);
        }
        decimal_points(&mut command);
        command
    }

    /// Whether it has a collector. The error is what it printed.
    pub fn has(&self, collector: Collector) -> Result<(), String> {
        let output = self
            .java()
            .args([collector.option(), "-Xmx64m", "-version"])
            .output()
            .map_err(|e| e.to_string())?;
        if output.status.success() {
            return Ok(());
        }
        Err(first_line(&String::from_utf8_lossy(&output.stderr)))
    }

    /// Runs `java` with a collector and a log of its collections.
    pub fn run(
        &self,
        collector: Collector,
        arguments: &[String],
        logged: &str,
        limits: Limits,
    ) -> Result<Finished, String> {
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        let (log, errors) = (folder.path().join("log"), folder.path().join("errors"));
        let stderr = fs::File::create(&errors).map_err(|e| e.to_string())?;
        let child = self
            .java()
            .arg(collector.option())
            .arg(format!(
                "-Xlog:{logged}:file={}:uptime,level,tags:filecount=0",
                log.display()
            ))
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(stderr)
            .spawn()
            .map_err(|e| format!("java: {e}"))?;
        let Ended {
            status,
            elapsed_ns,
            cpu,
        } = watch(child, collector, limits)?;
        if !status.success() {
            let text = fs::read_to_string(&errors).unwrap_or_default();
            return Err(format!("java ended with {status}: {}", first_line(&text)));
        }
        let log = fs::read_to_string(&log).map_err(|e| format!("no log of collections: {e}"))?;
        let collections = log::read(&log, collector)?.into_values().collect();
        Ok(Finished {
            elapsed_ns,
            cpu,
            collections,
            log,
        })
    }
}

/// The options of a heap of fixed size.
pub(crate) fn heap_options(bytes: u64) -> [String; 2] {
    [format!("-Xms{bytes}"), format!("-Xmx{bytes}")]
}

fn on_path() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let java = std::env::split_paths(&path)
        .map(|f| f.join("java"))
        .find(|j| j.exists())?;
    Some(fs::canonicalize(java).ok()?.parent()?.parent()?.to_owned())
}

fn release_version(release: &str) -> Option<String> {
    let value = |key: &str| {
        let line = release.lines().find_map(|l| l.strip_prefix(key))?;
        Some(line.trim_matches('"').to_owned())
    };
    value("JAVA_RUNTIME_VERSION=").or_else(|| value("JAVA_VERSION="))
}

fn printed_version(home: &Path) -> Option<String> {
    let output = Command::new(home.join("bin/java"))
        .arg("-version")
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    Some(
        text.split_once("(build ")?
            .1
            .split([')', ','])
            .next()?
            .to_owned(),
    )
}

fn first_line(text: &str) -> String {
    text.lines()
        .find(|l| !l.trim().is_empty())
        .unwrap_or("no message")
        .to_owned()
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// Runs whose collections took these times.
    fn runs(times_ns: &[f64]) -> Vec<Finished> {
        let run = |time_ns: &f64| Finished {
            elapsed_ns: 0.0,
            cpu: CpuTime {
                collecting_ns: time_ns / 2.0,
                marking_ns: time_ns / 2.0,
                refining_ns: 100.0 - time_ns,
            },
            collections: Vec::new(),
            log: String::new(),
        };
        times_ns.iter().map(run).collect()
    }

    #[test]
    fn program_that_fails_does_not_run_again() {
        let order = RefCell::new(Vec::new());
        let found = in_rounds(3, &["a", "b"], |name| {
            order.borrow_mut().push(*name);
            let is_second_of_b = *name == "b" && order.borrow().len() == 4;
            runs(&[1.0])
                .pop()
                .filter(|_| !is_second_of_b)
                .ok_or_else(|| "out of memory".to_owned())
        });
        assert_eq!(order.take(), ["a", "b", "a", "b", "a"]);
        let counts = found
            .iter()
            .map(|(runs, failure)| (runs.len(), failure.as_deref()));
        assert!(counts.eq([(3, None), (1, Some("out of memory"))]));
    }

    #[test]
    fn benchmarks_have_the_least_run_and_applications_the_median() {
        let least = |times_ns: &[f64]| Finished::least(runs(times_ns)).map(|run| run.cpu_ns());
        let median = |times_ns: &[f64]| Finished::median(runs(times_ns)).map(|run| run.cpu_ns());
        let times_ns = [30.0, 10.0, 20.0];
        assert_eq!(
            (least(&times_ns), median(&times_ns)),
            (Some(10.0), Some(20.0))
        );
        assert_eq!(median(&times_ns[..2]), Some(30.0));
        assert_eq!((least(&[]), median(&[])), (None, None));
    }
}
