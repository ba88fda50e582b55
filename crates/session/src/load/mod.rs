//! Sends a load to a server, and makes a run of what was measured.

mod figures;

use yamba_harness::{Stop, drawn_id, unix_s};
use yamba_lang::Target;
use yamba_load::drive::{CLOSED, Ending, MALFORMED, Outcome, Plan, drive};
use yamba_record::number::counted;
use yamba_record::run::{Plan as RunPlan, Producer};
use yamba_record::{Parameters, Run};

use super::neighbours::machine;
use super::{Failure, system_failure};

use figures::Expected;
pub use figures::{ending, error_kinds, is_success};

/// A load to measure.
pub struct Request {
    /// The load.
    pub plan: Plan,
    /// The model or log and the pace, which identify the entries of the run.
    pub parameters: Parameters,
    /// Requests per second that the load shall have. `None`: it has no such number.
    pub rate: Option<f64>,
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
    /// Requests per second that the load should have.
    pub rate: Option<f64>,
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
    let addresses = request.plan.target.addresses();
    let outcome = drive(request.plan, &|| stop.requested(), progress).map_err(system_failure)?;
    run.finished_unix_s = unix_s();
    if outcome.responses == 0 {
        return Err(nothing(&outcome, &addresses));
    }
    run.interrupted = outcome.ending == Some(Ending::Stopped);
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
    let expected = Expected { rate: request.rate, unsuccessful: request.unsuccessful };
    run.benchmarks = figures::benchmarks(&outcome, &request.parameters, expected);
    Ok(Measured { run, outcome, rate: request.rate })
}

/// The failure of a load without a response.
fn nothing(outcome: &Outcome, addresses: &str) -> Failure {
    // Servers that speak TLS close a connection without it, or answer in their own way.
    let is_other_protocol =
        [MALFORMED, CLOSED].iter().any(|kind| outcome.errors.contains_key(*kind));
    let help = match outcome.ending {
        Some(Ending::Exhausted(_)) => "set fewer --connections or --users, or raise this limit",
        _ if is_other_protocol => {
            "name the port at which the server speaks HTTP/1.1 without TLS, and check it with another client"
        }
        None if outcome.sent == 0 => "load longer with --for, or at a higher rate",
        _ => {
            "start the server, and check its address with another client; --timeout sets how long a response may take"
        }
    };
    let why = ending(outcome).or_else(|| figures::errors(outcome)).unwrap_or_else(|| {
        if outcome.sent == 0 {
            return "no request was due in this time".to_owned();
        }
        let sent = counted(outcome.sent, "request", "requests");
        format!("the load was too short for a response to {sent}")
    });
    Failure::new(format!("nothing was measured at {addresses}: {why}")).help(help)
}
