//! Starts the processes of a program, and reads their results.

use std::fs;
use std::path::Path;

use fastrand::Rng;
use yamba_harness::{ProgramRunner, ProgramStart, Stop, excerpt};

use super::LaunchPlan;
use super::adapter::{Adapter, LAYOUT, Launch, Results};
use super::program::{SHOWN_LINES, Side, failed};

/// Bytes by which the environment is made longer at most: a page.
const LONGEST_LAYOUT: usize = 4096;

/// Starts one process after the other.
pub(super) struct Launcher<'a> {
    adapter: &'static dyn Adapter,
    plan: &'a LaunchPlan,
    scratch: &'a Path,
    runner: ProgramRunner,
    /// Draws the order of the processes and their layouts.
    pub random: Rng,
}

impl<'a> Launcher<'a> {
    pub fn new(
        adapter: &'static dyn Adapter,
        plan: &'a LaunchPlan,
        scratch: &'a Path,
        stop: &Stop,
    ) -> Launcher<'a> {
        Launcher {
            adapter,
            plan,
            scratch,
            runner: ProgramRunner::new(stop, plan.timeout),
            random: Rng::with_seed(plan.seed),
        }
    }

    /// Runs one process that measures the benchmarks `only`, or all. Returns its results, and the
    /// share of its time in which it was ready to run while others had the processor. The error
    /// says how it failed.
    pub fn launch(
        &mut self,
        of: &Side,
        only: Option<&[String]>,
    ) -> Result<(Results, Option<f64>), String> {
        let folder = self.scratch.join("launch");
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let benchmark_time = self.plan.benchmark_time;
        let launch = Launch { only, benchmark_time, folder: &folder };
        let start = self.adapter.start(&of.program, &launch);
        let layout = "x".repeat(self.random.usize(..LONGEST_LAYOUT));
        let environment = [(LAYOUT.to_owned(), layout)];
        let process = ProgramStart {
            words: start.words.clone(),
            folder: of.program.folder.clone(),
            environment: start.environment.iter().cloned().chain(environment).collect(),
            output: self.adapter.output(&launch),
        };
        if let Some(prepare) = &self.plan.prepare {
            let (end, messages) = self.runner.prepare(prepare, of.program.folder.as_deref());
            if !end.is_success() {
                return Err(format!("its preparation {}", failed(&end, &messages)));
            }
        }
        let (run, messages) = self.runner.run(&process);
        if !run.end.is_success() {
            let output = fs::read(launch.output()).unwrap_or_default();
            let output = excerpt(&output, SHOWN_LINES);
            return Err(format!("the program {}", failed(&run.end, &both(&messages, &output))));
        }
        let used = run.user_ns + run.system_ns;
        let ready = run.waited_ns.map(|waited| waited / (waited + used).max(1.0));
        Ok((self.adapter.read(&of.program, &start, &run)?, ready))
    }
}

/// Excerpts of standard error and of standard output: the cause of a failure is in either.
fn both(messages: &str, output: &str) -> String {
    match (messages.trim(), output.trim()) {
        ("", _) => output.to_owned(),
        (_, "") => messages.to_owned(),
        _ => format!("{}\nstandard output:\n{output}", messages.trim_end()),
    }
}
