//! A JDK, and one bounded run of its `java`.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::gc::Collector;
use crate::gc::log::{self, Collection};
use crate::{INTERRUPTED, Input, StopFlag};

use yamba_machine::locale::decimal_points;

use crate::run::limits::Limits;
use crate::run::watch::{CpuTime, Ended, watch};

/// The first version whose log and options are known.
const LEAST_MAJOR: u32 = 17;

/// Variables from which the virtual machine takes options.
const VARIABLES: [&str; 3] = ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"];

/// A JDK.
#[derive(Clone, Debug)]
pub struct Jvm {
    home: PathBuf,
    /// Its version with build number: `17.0.15+6`.
    pub version: String,
    /// The standard input of its runs.
    input: Input,
    /// Ends its runs.
    stop: StopFlag,
}

/// Result of a run.
#[derive(Debug, Default)]
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
    /// Processor time of collections and marking, in ns.
    pub(crate) fn cpu_ns(&self) -> f64 {
        self.cpu.collecting_ns + self.cpu.marking_ns
    }

    /// The run of a micro-benchmark with the least processor time, since other processes only add.
    pub(crate) fn least(runs: Vec<Self>) -> Option<Self> {
        let by_time = |a: &Self, b: &Self| a.cpu_ns().total_cmp(&b.cpu_ns());
        runs.into_iter().min_by(by_time)
    }

    /// The run of an application with the median of the processor time, as `--measure` has it. Of
    /// an even number, the longer one of both in the middle.
    pub(crate) fn median(mut runs: Vec<Self>) -> Option<Self> {
        runs.sort_by(|a, b| a.cpu_ns().total_cmp(&b.cpu_ns()));
        let middle = runs.len() / 2;
        runs.into_iter().nth(middle)
    }
}

impl Jvm {
    /// The JDK in a folder; without a folder that of `JAVA_HOME`, or of the `java` on the PATH. An
    /// error says what is missing.
    pub fn find(home: Option<&Path>) -> Result<Self, String> {
        let of_environment = || std::env::var_os("JAVA_HOME").map(PathBuf::from);
        let home = home.map(Path::to_owned).or_else(of_environment).or_else(on_path);
        let home = home.ok_or("no JDK: there is no `java` on the PATH and JAVA_HOME is not set")?;
        Self::in_folder(home)
    }

    /// The JDK of a command's program, found as a shell finds it: `java` on the PATH, or a path.
    ///
    /// # Errors
    /// If the program is not there, or is not the `java` of a JDK.
    pub fn of_program(program: &str) -> Result<Self, String> {
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let found = found_by_shell(program, &paths).and_then(|path| fs::canonicalize(path).ok());
        let found = found.ok_or_else(|| format!("{program}: there is no such program"))?;
        let home = found.parent().and_then(Path::parent).unwrap_or(Path::new("/"));
        let own = fs::canonicalize(home.join("bin/java"));
        if own.ok().as_ref() != Some(&found) {
            return Err(format!("{program}: {} is not bin/java of a JDK", found.display()));
        }
        Self::in_folder(home.to_owned())
    }

    fn in_folder(home: PathBuf) -> Result<Self, String> {
        for tool in ["java", "javac", "jar"] {
            if !home.join("bin").join(tool).exists() {
                return Err(format!("no JDK in {}: bin/{tool} is missing", home.display()));
            }
        }
        let release = fs::read_to_string(home.join("release")).unwrap_or_default();
        let version = release_version(&release).unwrap_or_default();
        let mut jvm = Self { home, version, input: Input::empty(), stop: StopFlag::default() };
        if jvm.version.is_empty() {
            jvm.version = jvm.printed_version()?;
        }
        match major(&jvm.version) {
            Some(LEAST_MAJOR..) => Ok(jvm),
            _ => Err(format!(
                "the JDK in {} has the version {:?}: 17 or later is needed",
                jvm.home.display(),
                jvm.version
            )),
        }
    }

    /// The same JDK for runs with this standard input. Otherwise they read nothing.
    #[must_use]
    pub fn reading(self, input: Input) -> Self {
        Self { input, ..self }
    }

    /// The same JDK, whose runs end when this flag is set.
    #[must_use]
    pub fn stopped_by(self, stop: StopFlag) -> Self {
        Self { stop, ..self }
    }

    /// Fails if its runs were stopped.
    pub(crate) fn check_stop(&self) -> Result<(), String> {
        if self.stop.is_set() { Err(INTERRUPTED.to_owned()) } else { Ok(()) }
    }

    /// A program of the JDK.
    pub fn tool(&self, name: &str) -> PathBuf {
        self.home.join("bin").join(name)
    }

    /// A command of its `java`. The options in variables of the environment would replace those of
    /// a benchmark; an application has them in its command. The numbers of the log have decimal
    /// points; the application keeps the language.
    fn java(&self) -> Command {
        let mut command = Command::new(self.tool("java"));
        for variable in VARIABLES {
            command.env_remove(variable);
        }
        decimal_points(&mut command);
        command
    }

    /// The version that `java -version` prints.
    fn printed_version(&self) -> Result<String, String> {
        let output = self.java().arg("-version").output();
        let output = output.map_err(|e| format!("{}: {e}", self.tool("java").display()))?;
        let text = String::from_utf8_lossy(&output.stderr);
        banner_version(&text).ok_or_else(|| {
            let printed = first_line(&text);
            format!("{}: no version: {printed}", self.tool("java").display())
        })
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
        self.check_stop()?;
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        let (log, errors) = (folder.path().join("log"), folder.path().join("errors"));
        let stderr = fs::File::create(&errors).map_err(|e| e.to_string())?;
        let mut command = self.java();
        command
            .arg(collector.option())
            .arg(format!("-Xlog:{logged}:file={}:uptime,level,tags:filecount=0", log.display()))
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(stderr);
        let child = self.input.spawn(&mut command).map_err(|e| format!("java: {e}"))?;
        let Ended { status, elapsed_ns, cpu } = watch(child, collector, limits, &self.stop)?;
        if !status.success() {
            let text = fs::read_to_string(&errors).unwrap_or_default();
            return Err(format!("java ended with {status}: {}", first_line(&text)));
        }
        let log = fs::read_to_string(&log).map_err(|e| format!("no log of collections: {e}"))?;
        let collections = log::read(&log, collector)?.into_values().collect();
        Ok(Finished { elapsed_ns, cpu, collections, log })
    }
}

/// The options of a heap of fixed size.
pub(crate) fn heap_options(bytes: u64) -> [String; 2] {
    [format!("-Xms{bytes}"), format!("-Xmx{bytes}")]
}

/// The options of an application's run with a heap of fixed size. Predictions ignore calls of
/// `System.gc()`, so the runs that they are compared with do.
pub(crate) fn application_options(bytes: u64) -> Vec<String> {
    [&heap_options(bytes)[..], &["-XX:+DisableExplicitGC".to_owned()]].concat()
}

fn on_path() -> Option<PathBuf> {
    let java = found_by_shell("java", &std::env::var_os("PATH")?)?;
    Some(fs::canonicalize(java).ok()?.parent()?.parent()?.to_owned())
}

/// The file that a shell runs for a program: a path, or the first such file in the folders of
/// PATH.
fn found_by_shell(program: &str, paths: &OsStr) -> Option<PathBuf> {
    let is_program = |path: &PathBuf| {
        fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
    };
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(is_program);
    }
    std::env::split_paths(paths).map(|folder| folder.join(program)).find(is_program)
}

/// The version in the file `release` of a JDK.
fn release_version(release: &str) -> Option<String> {
    let value = |key: &str| {
        let line = release.lines().find_map(|l| l.strip_prefix(key))?;
        let value = line.trim().trim_matches('"');
        major(value).map(|_| value.to_owned())
    };
    value("JAVA_RUNTIME_VERSION=").or_else(|| value("JAVA_VERSION="))
}

/// The version in the output of `java -version`, other lines of which are warnings and banners:
/// `OpenJDK Runtime Environment (build 22-ea+36-2370)`.
fn banner_version(text: &str) -> Option<String> {
    let of_line = |line: &str| {
        let (product, rest) = line.split_once("(build ")?;
        let version = rest.split([')', ',']).next()?.trim();
        let is_runtime = product.contains("Runtime Environment");
        (is_runtime && major(version).is_some()).then(|| version.to_owned())
    };
    text.lines().find_map(of_line)
}

/// The number of a version as users know it: 8 of `1.8.0_412`, 17 of `17.0.15+6`, 22 of `22-ea+36`.
fn major(version: &str) -> Option<u32> {
    let mut numbers = version.split(|c: char| !c.is_ascii_digit());
    match numbers.next()?.parse().ok()? {
        1 => numbers.next()?.parse().ok(),
        number => Some(number),
    }
}

/// The first line that says something about a failure: not that options were taken from a variable.
fn first_line(text: &str) -> String {
    let is_banner = |line: &&str| ["Picked up ", "NOTE: "].iter().any(|b| line.starts_with(b));
    let said = |line: &&str| !line.trim().is_empty() && !is_banner(line);
    text.lines().find(said).unwrap_or("no message").to_owned()
}

#[cfg(test)]
pub(crate) mod tests {
    use std::io::{Seek, Write};

    use super::*;

    /// Runs whose collections took these times.
    fn runs(times_ns: &[f64]) -> Vec<Finished> {
        let run = |time_ns: &f64| Finished {
            cpu: CpuTime {
                collecting_ns: time_ns / 2.0,
                marking_ns: time_ns / 2.0,
                refining_ns: 100.0 - time_ns,
            },
            ..Finished::default()
        };
        times_ns.iter().map(run).collect()
    }

    #[test]
    fn versions_of_vendors_and_early_access_builds() {
        for (banner, version, number) in [
            (
                "openjdk version \"17.0.15\" 2025-04-15\nOpenJDK Runtime Environment (build 17.0.15+6-Debian-1deb12u1)\nOpenJDK 64-Bit Server VM (build 17.0.15+6-Debian-1deb12u1, mixed mode, sharing)\n",
                "17.0.15+6-Debian-1deb12u1",
                17,
            ),
            (
                "openjdk version \"22-ea\" 2024-03-19\nOpenJDK Runtime Environment (build 22-ea+36-2370)\n",
                "22-ea+36-2370",
                22,
            ),
            (
                "java version \"21.0.2\" 2024-01-16 LTS\nJava(TM) SE Runtime Environment (build 21.0.2+13-LTS-58)\nJava HotSpot(TM) 64-Bit Server VM (build 21.0.2+13-LTS-58, mixed mode, sharing)\n",
                "21.0.2+13-LTS-58",
                21,
            ),
            (
                "openjdk version \"21.0.2\" 2024-01-16 LTS\r\nOpenJDK Runtime Environment Zulu21.32+17-CA (build 21.0.2+13-LTS)\r\n",
                "21.0.2+13-LTS",
                21,
            ),
            (
                "openjdk version \"22.0.1\" 2024-04-16\nOpenJDK Runtime Environment GraalVM CE 22.0.1+8.1 (build 22.0.1+8-jvmci-b01)\n",
                "22.0.1+8-jvmci-b01",
                22,
            ),
            (
                "Picked up JAVA_TOOL_OPTIONS: -Dx=(build 9)\nNOTE: Picked up JDK_JAVA_OPTIONS: -Xmx1g\nopenjdk version \"1.8.0_412\"\nOpenJDK Runtime Environment (build 1.8.0_412-b08)\n",
                "1.8.0_412-b08",
                8,
            ),
        ] {
            let found = banner_version(banner).unwrap();
            assert_eq!((found.as_str(), major(&found)), (version, Some(number)));
        }
        assert_eq!(banner_version("Error: could not create the machine\n"), None);
        assert_eq!(banner_version("x Runtime Environment (build internal)\n"), None);
    }

    #[test]
    fn version_of_the_release_file() {
        let text = "IMPLEMENTOR=\"x\"\r\nJAVA_RUNTIME_VERSION=\"21.0.2+13-LTS\"\r\nJAVA_VERSION=\"21.0.2\"\r\n";
        assert_eq!(release_version(text).as_deref(), Some("21.0.2+13-LTS"));
        let old = "JAVA_VERSION=\"1.8.0_412\"\n";
        assert_eq!(release_version(old).as_deref(), Some("1.8.0_412"));
        assert_eq!(release_version("JAVA_VERSION=\"\"\n"), None);
    }

    #[test]
    fn banners_are_no_reason() {
        let text = "Picked up _JAVA_OPTIONS: -Xint\n\nError: no such option\n";
        assert_eq!(first_line(text), "Error: no such option");
        assert_eq!(first_line("NOTE: Picked up JDK_JAVA_OPTIONS: x\n"), "no message");
    }

    /// A folder like a JDK of this version. Its `java` is a script: it writes its arguments and the
    /// size of its input to the files `arguments` and `sizes`, and an empty log.
    pub(crate) fn jdk(folder: &Path, version: &str) -> PathBuf {
        let bin = folder.join(version).join("bin");
        fs::create_dir_all(&bin).unwrap();
        let java = "#!/bin/sh\n\
            cd \"$(dirname \"$0\")/..\"; echo \"$@\" > arguments; wc -c >> sizes\n\
            for word; do case $word in *:file=*) file=${word#*:file=}; : > \"${file%%:*}\";; esac; done\n";
        for tool in ["java", "javac", "jar"] {
            let path = bin.join(tool);
            fs::write(&path, java).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        }
        let release = format!("JAVA_VERSION=\"{version}\"\n");
        fs::write(folder.join(version).join("release"), release).unwrap();
        bin.join("java")
    }

    #[test]
    fn each_run_of_an_application_reads_the_whole_input() {
        let folder = tempfile::tempdir().unwrap();
        let java = jdk(folder.path(), "17.0.15");
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[0; 12345]).unwrap();
        file.rewind().unwrap();
        let benchmark = Jvm::of_program(java.to_str().unwrap()).unwrap();
        let application = benchmark.clone().reading(Input::of(file).unwrap());
        for jvm in [&benchmark, &application, &application] {
            jvm.run(Collector::Serial, &[], "gc*", crate::run::LIMITS).unwrap();
        }
        let sizes = fs::read_to_string(folder.path().join("17.0.15/sizes")).unwrap();
        assert_eq!(sizes.split_whitespace().collect::<Vec<_>>(), ["0", "12345", "12345"]);
    }

    #[test]
    fn program_is_found_as_a_shell_finds_it() {
        let folder = tempfile::tempdir().unwrap();
        let old = jdk(folder.path(), "17.0.15");
        let new = jdk(folder.path(), "25.0.3");
        let links = folder.path().join("links");
        fs::create_dir(&links).unwrap();
        fs::create_dir(links.join("java")).unwrap();
        std::os::unix::fs::symlink(&new, links.join("java25")).unwrap();
        let paths = std::env::join_paths([links, old.parent().unwrap().to_owned()]).unwrap();
        let found = |program: &str| {
            found_by_shell(program, &paths).and_then(|path| fs::canonicalize(path).ok())
        };
        assert_eq!(found("java"), Some(old));
        assert_eq!(found("java25"), Some(new.clone()));
        assert_eq!(found("java26"), None);
        let version = |program: &Path| Jvm::of_program(program.to_str().unwrap());
        assert_eq!(version(&new).unwrap().version, "25.0.3");
        let missing = version(Path::new("/no/such/java")).unwrap_err();
        assert_eq!(missing, "/no/such/java: there is no such program");
        let other = new.with_file_name("java8");
        fs::copy(&new, &other).unwrap();
        assert!(version(&other).unwrap_err().contains("is not bin/java of a JDK"));
    }

    #[test]
    fn benchmarks_have_the_least_run_and_applications_the_median() {
        let least = |times_ns: &[f64]| Finished::least(runs(times_ns)).map(|run| run.cpu_ns());
        let median = |times_ns: &[f64]| Finished::median(runs(times_ns)).map(|run| run.cpu_ns());
        let times_ns = [30.0, 10.0, 20.0];
        assert_eq!((least(&times_ns), median(&times_ns)), (Some(10.0), Some(20.0)));
        assert_eq!(median(&times_ns[..2]), Some(30.0));
        assert_eq!((least(&[]), median(&[])), (None, None));
    }
}
