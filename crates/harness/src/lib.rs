//! Runs built programs and turns their raw records into a run: child processes, the schedule of
//! launches, their records and figures.
//!
//! Each entry, a benchmark at one point with one number of processes, is measured by several
//! *launches*: fresh processes, since the layout of memory is drawn once per process. The launches
//! of all entries are interleaved in random order. A drift of the machine then does not look like a
//! difference between benchmarks.
//!
//! The harness reads records from a pipe as the program writes them: a crash at the program's end
//! loses none. The steps that turn records into figures are pure functions (`summary`), which tests
//! run on saved records.
//!
//! This crate knows instruction sets and systems by their names alone. It knows neither the
//! language nor a compiler nor a store, and prints nothing: it reports progress through
//! [`Progress`] and passes results to [`RunSink`].

mod assemble;
mod bounds;
mod budget;
mod caches;
mod child;
mod choice;
mod circle;
mod clock;
mod commands;
mod contention;
mod control_group;
mod core_pairs;
mod crash;
mod cycles;
mod describe;
mod distribution;
mod disturbed;
mod dry_run;
mod earlier_figures;
mod estimate;
mod freeze;
mod job;
mod kept_file;
mod kept_hardware;
mod launch_status;
mod launches;
mod load;
mod measurement;
mod options;
mod orphans;
mod plan;
mod points;
mod process_output;
mod progress;
mod quiet_file;
pub mod random;
mod reader;
pub mod replay;
mod run_sink;
mod schedule;
mod scratch;
mod sizes;
mod slot;
mod spread;
mod stop;
mod subsample_sweep;
mod summary;
mod time_digits;
mod units;
mod validity;
mod width_probes;

pub use assemble::not_started;
pub use caches::cache_curve;
pub use caches::measured::kept_caches;
pub use circle::circles;
pub use clock::unix_s;
pub use commands::{
    Around, CommandEnd, CommandFailure, CommandOutput, CommandPlan, CommandRun, CommandStep,
    FEWEST_RUNS, IgnoredFailures, ProgramRunner, ProgramStart, TimedCommand, TimedCommands,
    TimedRuns, excerpt, time_commands,
};
pub use contention::Neighbours;
pub use core_pairs::kept_core_pairs;
pub use crash::Listing;
pub use cycles::is_blocked;
pub use dry_run::{DryRun, DryRunEntry, dry_run};
pub use job::{Job, NoProgram, Program, UsageError};
pub use kept_hardware::{keep_hardware, kept_hardware};
pub use measurement::Measurement;
pub use options::{At, Options, Origin, Own, Placement, Slow};
pub use progress::{Progress, Silent};
pub use quiet_file::add_kept_widths;
pub use random::{drawn_id, drawn_seed};
pub use run_sink::RunSink;
pub use stop::Stop;

#[cfg(test)]
mod launch_tests;
#[cfg(test)]
mod tests;
