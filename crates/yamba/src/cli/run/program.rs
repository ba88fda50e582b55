//! `yamba run --program`: a program that follows the protocol, or one of another harness.

use std::collections::BTreeMap;
use std::time::Duration;

use yamba_harness::{Options, Stop, drawn_seed};
use yamba_session::ab::{Alone, LaunchPlan, Words, measure_alone};
use yamba_session::protocol_program;
use yamba_toolchain::build::host;

use super::{Effort, Run};
use crate::cli::common_options::HowPlaced;
use crate::cli::output::{self, StatusLine};
use crate::cli::{Answer, Failure, Terminal, arguments, system_failure};

/// Processes of a program of another harness, as the launches of a usual and of a quick run.
const LAUNCHES: u64 = 6;
const QUICK_LAUNCHES: u64 = 2;

/// How long a process measures each benchmark, where its harness has an option for that.
const BENCHMARK_TIME: Duration = Duration::from_millis(100);

impl Run {
    pub(super) fn run_program(&self, program: &str) -> Result<Answer, Failure> {
        let stop = Stop::on_signals().map_err(system_failure)?;
        output::unless_stopped(self.measured_program(program, &stop), &stop, Answer::No)
    }

    fn measured_program(&self, program: &str, stop: &Stop) -> Result<Answer, Failure> {
        let program = Words::program(program)?;
        let (store, terminal) = (self.store.choice(), Terminal::default());
        if let Some(found) = protocol_program::ask(&program.words, stop)? {
            let options = self.options()?;
            let measured =
                found.measure(options, &arguments(), &host(), stop, &store, &terminal)?;
            return self.answer(measured, BTreeMap::new());
        }
        let request = self.alone(program)?;
        let line = StatusLine::new("process 1");
        let mut step = |ended| line.show(&format!("process {} of {}", ended + 1, request.launches));
        let (measured, left_out) =
            measure_alone(&request, &host(), stop, &store, &terminal, &mut step)?;
        drop(line);
        output::note_left_out(&left_out);
        self.answer(measured, BTreeMap::new())
    }

    /// The measurement of a program of another harness.
    fn alone(&self, program: Words) -> Result<Alone, Failure> {
        let refused = self.without_meaning();
        if !refused.is_empty() {
            let message = format!(
                "options without a meaning for a program of another harness: {}",
                refused.join(", ")
            );
            return Err(Failure::new(message).help(
                "it has --quick, --launches, --timeout and --seed; write its own options after the program: --program './bench --size 3'",
            ));
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

    /// The given options that change nothing for a program of another harness: Yamba neither
    /// compiles it, nor decides where it runs and how it measures.
    fn without_meaning(&self) -> Vec<&'static str> {
        let Effort { duration, samples, limits, placement } = &self.effort;
        let usual = Options::default();
        let is_given = [
            ("--set", !self.set.is_empty()),
            ("--sweep", !self.sweep.is_empty()),
            ("--table", self.table),
            ("--thorough", duration.thorough),
            ("--time", duration.time.is_some()),
            ("--precision", duration.precision != usual.precision),
            ("--processes", samples.processes != [1]),
            ("--threads", !samples.threads.is_empty()),
            ("--batches", samples.batches.is_some()),
            ("--warmup", samples.warmup.is_some()),
            ("--percentiles", samples.percentiles),
            ("--disk-limit", limits.disk_limit != usual.disk_limit),
            ("--process-limit", limits.process_limit.is_some()),
            ("--realtime", placement.realtime),
            ("--placement", matches!(placement.placement, Some(HowPlaced::Pinned))),
            ("--cpu", placement.cpu.is_some()),
            ("options of the compiler", !self.code.settings().is_empty()),
        ];
        is_given.into_iter().filter(|(_, is)| *is).map(|(name, _)| name).collect()
    }
}
