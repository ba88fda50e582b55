//! Runs a program with the agent: to count its calls, and to sample it.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::library::documents::{self, Samples, Times};
use crate::library::vector::{Counted, Sampled};
use crate::library::{Fault, Jars, Jvm, jmh};

/// Processor time of the program's threads after which it is not sampled again.
pub const SAMPLED: Duration = Duration::from_secs(10);

/// Largest number of runs that are sampled.
const MOST_RUNS: u32 = 20;

/// A program to run.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its command, which begins with `java`.
    pub command: Vec<String>,
    /// Whether its output is dropped.
    pub hides_output: bool,
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
        let status = command.status().map_err(|e| Fault::program_failed(&words[0], &e))?;
        Ok((!status.success()).then(|| format!("the program ended with {status}")))
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
