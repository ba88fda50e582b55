//! Sends a load to a server, and makes a run of what was measured.

mod figures;

use yamba_harness::{Stop, drawn_id, unix_s};
use yamba_lang::Target;
use yamba_load::drive::{Outcome, Plan, drive};
use yamba_record::run::{Plan as RunPlan, Producer};
use yamba_record::{Parameters, Run};

use super::neighbours::machine;
use super::{Failure, StoreChoice, system_failure};

pub use figures::{ending, is_success};

/// A load to measure.
pub struct Request {
    /// The load.
    pub plan: Plan,
    /// The model or log and the pace, which identify the entries of the run.
    pub parameters: Parameters,
    /// Share of the requests without success in the log, from 0 to 1.
    pub unsuccessful: f64,
    /// Seed of the requests, for the record.
    pub seed: u64,
    /// The arguments of this program, for the record.
    pub arguments: Vec<String>,
}

/// The figures of a load.
pub struct Measured {
    /// The figures as a run.
    pub run: Run,
    /// All that was counted.
    pub outcome: Outcome,
}

impl Measured {
    /// Whether the figures describe the server under the load of the request.
    pub fn is_valid(&self) -> bool {
        self.run.benchmarks.iter().all(|benchmark| benchmark.valid)
    }
}

/// Sends the load. `progress` gets the number of responses now and then.
///
/// # Errors
/// If the system refuses a timer, or no request was answered.
pub fn measure(
    request: Request,
    target: &Target,
    stop: &Stop,
    progress: &mut dyn FnMut(u64),
) -> Result<Measured, Failure> {
    let mut run = Run::new(machine(target));
    run.id = drawn_id();
    run.started_unix_s = unix_s();
    let length = request.plan.length;
    let address = request.plan.target.address;
    let outcome = drive(request.plan, &|| stop.requested(), progress).map_err(system_failure)?;
    run.finished_unix_s = unix_s();
    if outcome.responses == 0 {
        return Err(nothing(&outcome, &address.to_string()));
    }
    run.interrupted = outcome.ending.is_some();
    run.plan = RunPlan {
        seed: request.seed,
        launches: 1,
        batches: outcome.windows.len() as u64,
        time_ns: length.map_or(outcome.elapsed_ns, |length| length.as_nanos() as u64),
        placement: "free".to_owned(),
        ..RunPlan::default()
    };
    run.producer = Producer {
        version: concat!("yamba ", env!("CARGO_PKG_VERSION")).to_owned(),
        arguments: request.arguments,
        ..Producer::default()
    };
    run.benchmarks = figures::benchmarks(&outcome, &request.parameters, request.unsuccessful);
    Ok(Measured { run, outcome })
}

/// The failure of a load without a response.
fn nothing(outcome: &Outcome, address: &str) -> Failure {
    let why = ending(outcome).unwrap_or_else(|| "the load was too short for a response".to_owned());
    Failure::new(format!("nothing was measured at {address}: {why}"))
        .help("start the server, and check its address with another client; --timeout sets how long a response may take")
}

/// Opens the store before a load, if the user named one: a load must not be measured in vain.
///
/// # Errors
/// If it cannot be opened.
pub fn check_store(choice: &StoreChoice) -> Result<(), Failure> {
    if choice.named.is_some() {
        choice.open()?;
    }
    Ok(())
}

/// Keeps a run in the store.
///
/// # Errors
/// If the store cannot be opened or written.
pub fn keep(run: &Run, choice: &StoreChoice) -> Result<(), Failure> {
    Ok(choice.open()?.add(run)?)
}
