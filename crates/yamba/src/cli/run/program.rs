//! `yamba run --program`: a program that follows the protocol, or one of another harness.

use std::collections::BTreeMap;
use std::time::Duration;

use yamba_harness::{Stop, drawn_seed};
use yamba_session::ab::{Alone, LaunchPlan, Words, measure_alone};
use yamba_session::protocol_program;
use yamba_toolchain::build::host;

use super::Run;
use crate::cli::output::{self, StatusLine};
use crate::cli::{Answer, Failure, Terminal, arguments, system_failure};

/// Processes of a program of another harness, as the launches of a usual and of a quick run.
const LAUNCHES: u64 = 6;
const QUICK_LAUNCHES: u64 = 2;

/// How long a process measures each benchmark, where its harness has an option for that.
const BENCHMARK_TIME: Duration = Duration::from_millis(100);

impl Run {
    pub(super) fn run_program(&self, program: &str) -> Result<Answer, Failure> {
        let program = Words::program(program)?;
        let stop = Stop::on_signals().map_err(system_failure)?;
        let (store, terminal) = (self.store.choice(), Terminal::default());
        if let Some(found) = protocol_program::ask(&program.words, &stop)? {
            let options = self.options()?;
            let measured =
                found.measure(options, &arguments(), &host(), &stop, &store, &terminal)?;
            return self.answer(measured, BTreeMap::new());
        }
        let request = self.alone(program)?;
        let line = StatusLine::new("process 1");
        let mut step = |ended| line.show(&format!("process {} of {}", ended + 1, request.launches));
        let (measured, left_out) =
            measure_alone(&request, &host(), &stop, &store, &terminal, &mut step)?;
        drop(line);
        output::note_left_out(&left_out);
        self.answer(measured, BTreeMap::new())
    }

    /// The measurement of a program of another harness.
    fn alone(&self, program: Words) -> Result<Alone, Failure> {
        if !self.set.is_empty() || !self.sweep.is_empty() {
            return Err(Failure::new(
                "--set and --sweep mean nothing to a program of another harness",
            )
            .help("write its own options after the program: --program './bench --size 3'"));
        }
        let effort = &self.effort;
        let usual = if effort.duration.quick { QUICK_LAUNCHES } else { LAUNCHES };
        Ok(Alone {
            program,
            launches: effort.samples.launches.unwrap_or(usual),
            plan: LaunchPlan {
                benchmark_time: BENCHMARK_TIME,
                timeout: effort.limits.timeout,
                prepare: None,
                seed: effort.samples.seed.unwrap_or_else(drawn_seed),
            },
            arguments: arguments(),
            tags: self.name.tags(&self.store)?,
        })
    }
}
