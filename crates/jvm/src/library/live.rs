//! Runs a program with the agent: to count its calls, and to sample it.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::library::documents::{self, Samples, Times};
use crate::library::vector::{Counted, Sampled};
use crate::library::{Fault, Jars, Jvm, jmh};
use crate::{INTERRUPTED, Input, StopFlag};

/// Processor time of the program's threads after which it is not sampled again.
pub const SAMPLED: Duration = Duration::from_secs(10);

/// Largest number of runs that are sampled.
const MOST_RUNS: u32 = 20;

/// Calls of a run without any sample that are a fault: 20 runs make them in at least 0.1 s.
const SAMPLED_CALLS: u64 = 10_000_000;

/// A program to run.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its command, which begins with `java`.
    pub command: Vec<String>,
    /// Whether its output is dropped.
    pub hides_output: bool,
    /// Its standard input in each run.
    pub input: Input,
    /// Ends its runs.
    pub stop: StopFlag,
}

fn interrupted() -> Fault {
    Fault::new(INTERRUPTED, "run it again: no vector was made")
}

impl Program {
    /// Runs the program once and counts its calls of the class library. A program that fails is
    /// counted until its end, and `failure` says so.
    ///
    /// # Errors
    /// If the machine does not start, or the program ends without counts.
    pub fn count(&self, jvm: &Jvm, jars: &Jars) -> Result<Counted, Fault> {
        let folder = tempfile::tempdir().map_err(|e| Fault::no_temporary_folder(&e))?;
        let list = folder.path().join("primitives");
        fs::write(&list, jmh::lines(jvm, jars)?).map_err(|e| Fault::no_temporary_folder(&e))?;
        let agent = format!(
            "calls={},primitives={}",
            folder.path().join("calls").display(),
            list.display()
        );
        let more = ["-XX:-DontCompileHugeMethods".to_owned()];
        let failure = self.run(jvm, jars, &agent, &more)?;
        let calls = documents::calls(&self.document(&folder, "calls")?)?;
        Ok(Counted {
            java: calls.jvm.java(&jvm.options),
            calls: calls.calls,
            others: calls.others,
            left_out_classes: calls.left_out_classes,
            failure,
        })
    }

    /// Samples runs of the program without counting, until its threads have used 10 s of processor
    /// time.
    ///
    /// # Errors
    /// If the machine does not start, or the program ends without times.
    pub fn sample(&self, jvm: &Jvm, jars: &Jars) -> Result<Sampled, Fault> {
        let mut sampled = Sampled::default();
        while sampled.runs < MOST_RUNS && sampled.all_ns() < SAMPLED.as_nanos() as f64 {
            let begun = Instant::now();
            let (times, samples) = self.sample_once(jvm, jars)?;
            sampled.add(times, &samples);
            sampled.wall_ns += begun.elapsed().as_nanos() as f64;
        }
        Ok(sampled)
    }

    fn sample_once(&self, jvm: &Jvm, jars: &Jars) -> Result<(Times, Samples), Fault> {
        let folder = tempfile::tempdir().map_err(|e| Fault::no_temporary_folder(&e))?;
        let recording = folder.path().join("recording.jfr");
        let times = folder.path().join("times");
        let agent = format!("times={},recording={}", times.display(), recording.display());
        let more = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints"].map(str::to_owned);
        self.run(jvm, jars, &agent, &more)?;
        let times = documents::times(&self.document(&folder, "times")?)?;
        let output = jvm.output(&[], &jars.agent, Some(&recording))?;
        let samples = documents::samples(&output.stdout)?;
        Ok((times, samples))
    }

    /// Runs the program with the agent. Returns how it failed.
    fn run(
        &self,
        jvm: &Jvm,
        jars: &Jars,
        agent: &str,
        more: &[String],
    ) -> Result<Option<String>, Fault> {
        let mut options = more.to_vec();
        options.push(format!("-javaagent:{}={agent}", jars.agent.display()));
        let words = jvm.command(&self.command, &options)?;
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        if self.hides_output {
            command.stdout(Stdio::null());
        }
        let status = self.status(&mut command).map_err(|e| Fault::program_failed(&words[0], &e))?;
        let status = status.ok_or_else(interrupted)?;
        Ok((!status.success()).then(|| format!("the program ended with {status}")))
    }

    /// How the program ended. `None`: the user stopped it.
    fn status(&self, command: &mut Command) -> io::Result<Option<ExitStatus>> {
        if self.stop.is_set() {
            return Ok(None);
        }
        let mut child = self.input.spawn(command)?;
        self.stop.wait(&mut child)
    }

    fn document(&self, folder: &TempDir, name: &str) -> Result<Vec<u8>, Fault> {
        fs::read(folder.path().join(name)).map_err(|_| {
            Fault::new(
                format!("{} ended without a document of the agent", self.command.join(" ")),
                "the program must end by itself or by `System.exit`, not by `halt` or a signal that kills; its messages are above",
            )
        })
    }
}

impl Sampled {
    /// Fails if none of the work of the counted run was sampled: another run may have other work,
    /// as when the first one leaves a file.
    ///
    /// # Errors
    /// If all samples are in other threads, although the program made millions of calls.
    pub fn check_work(&self, counted: &Counted) -> Result<(), Fault> {
        let calls = counted.others + counted.calls.iter().map(|call| call.count).sum::<u64>();
        if calls < SAMPLED_CALLS || self.in_library_ns() + self.program_ns > 0.0 {
            return Ok(());
        }
        Err(Fault::new(
            format!(
                "the program made {calls} calls when they were counted, and none of its work was there in {} runs without counting",
                self.runs
            ),
            "each run must do the same work: delete the files that a run leaves and a later one finds",
        ))
    }

    fn add(&mut self, times: Times, samples: &Samples) {
        let all_ns = times.process_ns.saturating_sub(times.vm_ns) as f64;
        let each = all_ns / samples.all().max(1) as f64;
        self.runs += 1;
        self.samples += samples.all();
        self.program_ns += each * samples.program as f64;
        self.others_ns += each * samples.others as f64;
        self.vm_ns += times.vm_ns as f64;
        let mut by_method: BTreeMap<String, f64> = std::mem::take(&mut self.library_ns);
        for (name, count) in &samples.library {
            *by_method.entry(name.clone()).or_default() += each * *count as f64;
        }
        self.library_ns = by_method;
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::fd::OwnedFd;
    use std::os::unix::fs::PermissionsExt;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    /// A program `java` that is a shell script.
    fn program(folder: &TempDir, script: &str) -> (Program, Jvm, Jars) {
        let java = folder.path().join("java").display().to_string();
        fs::write(&java, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&java, fs::Permissions::from_mode(0o700)).unwrap();
        let command = vec![java, "Main".to_owned()];
        let jvm = Jvm::from_command(&command).unwrap();
        let jar = folder.path().join("none.jar");
        let jars = Jars { agent: jar.clone(), benchmarks: jar };
        let (input, stop) = (Input::empty(), StopFlag::default());
        (Program { command, hides_output: false, input, stop }, jvm, jars)
    }

    #[test]
    fn sampled_runs_read_the_input_of_the_counted_run() {
        let folder = tempfile::tempdir().unwrap();
        let found = folder.path().join("found");
        let (mut program, jvm, jars) = program(&folder, &format!("wc -c >> {}", found.display()));
        let (reader, mut writer) = io::pipe().unwrap();
        writer.write_all(b"12345").unwrap();
        drop(writer);
        program.input = Input::of(fs::File::from(OwnedFd::from(reader))).unwrap();
        for _ in 0..3 {
            assert_eq!(program.run(&jvm, &jars, "calls=x", &[]).unwrap(), None);
        }
        let counts = fs::read_to_string(found).unwrap();
        assert_eq!(counts.split_whitespace().collect::<Vec<_>>(), ["5", "5", "5"]);
    }

    #[test]
    fn stopped_program_has_no_result() {
        let folder = tempfile::tempdir().unwrap();
        let (mut program, jvm, jars) = program(&folder, "exec sleep 1000");
        let flag = Arc::new(AtomicBool::new(false));
        program.stop = Arc::clone(&flag).into();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            flag.store(true, Ordering::SeqCst);
        });
        let fault = program.run(&jvm, &jars, "calls=x", &[]).unwrap_err();
        assert_eq!(fault.message, INTERRUPTED);
        assert!(program.run(&jvm, &jars, "calls=x", &[]).is_err());
    }

    #[test]
    fn work_of_the_counted_run_alone_is_a_fault() {
        let counted = |others| Counted {
            java: yamba_record::machine::Java::default(),
            calls: Vec::new(),
            others,
            left_out_classes: 0,
            failure: None,
        };
        let idle = Sampled { runs: 20, others_ns: 1e7, ..Sampled::default() };
        assert!(idle.check_work(&counted(28_000_006)).is_err());
        assert!(idle.check_work(&counted(1000)).is_ok());
        let busy = Sampled { program_ns: 1e6, ..idle };
        assert!(busy.check_work(&counted(28_000_006)).is_ok());
    }
}
