//! Measures one program of another harness: several processes, one after the other.

use yamba_harness::{RunSink, Stop, unix_s};
use yamba_lang::Target;
use yamba_record::Run;

use super::launcher::Launcher;
use super::program::Side;
use super::series::AllSeries;
use super::{LaunchPlan, Words, head, own_options};
use crate::measure::Measured;
use crate::store_sink::StoreSink;
use crate::{Failure, Observer, StoreChoice, neighbours, temporary_folder};

/// The difference that matters in a comparison with a later run: the default of `yamba ab`.
const RESOLUTION: f64 = 0.03;

/// One program to measure.
#[derive(Clone, Debug)]
pub struct Alone {
    pub program: Words,
    /// Number of processes.
    pub launches: u64,
    pub plan: LaunchPlan,
    /// The arguments of this program, for the record.
    pub arguments: Vec<String>,
    /// The names of the run.
    pub tags: Vec<String>,
}

/// Measures the program, and stores its run. `step` hears of the number of processes that have
/// ended. Returns the run, and what was not understood.
///
/// # Errors
/// If the program is not found, belongs to no known harness, or one of its processes fails.
pub fn measure_alone(
    request: &Alone,
    target: &Target,
    stop: &Stop,
    store: &StoreChoice,
    observer: &dyn Observer,
    step: &mut dyn FnMut(u64),
) -> Result<(Measured, Vec<String>), Failure> {
    let scratch = temporary_folder("yamba-ab-")?;
    let Words { words, folder } = request.program.clone();
    let mut side = Side::new("program", words, folder)?;
    side.ask(stop, scratch.path())?;
    let adapter = side.adapter()?;
    own_options::check(&side, adapter)?;
    let plan = &request.plan;
    let machine = neighbours::machine(target);
    let mut run = Run::from(head(machine, adapter.name(), &side, plan, &request.arguments));
    (run.plan.launches, run.tags) = (request.launches, request.tags.clone());
    let mut sink = StoreSink::open(store, store.named().is_some(), observer)?;
    let mut launcher = Launcher::new(adapter, plan, scratch.path(), stop);
    let (mut series, mut left_out) = (AllSeries::default(), Vec::new());
    for round in 0..request.launches {
        step(round);
        let launched = launcher.launch(&side, None);
        if stop.requested() {
            run.interrupted = true;
            break;
        }
        let (results, ready) = match launched {
            Ok(launched) => launched,
            Err(why) if round == 0 => {
                return Err(Failure::new(format!("--program: {why}"))
                    .help("run the program by itself, and see what is wrong"));
            }
            Err(why) => {
                // The figures of the processes before it are kept.
                left_out.push(format!("process {}: {why}", round + 1));
                run.interrupted = true;
                break;
            }
        };
        if let Some(harness) = run.producer.harness.as_mut() {
            harness.version = results.version;
        }
        let not_compared = results.not_compared.into_iter();
        for text in results.left_out.into_iter().chain(not_compared) {
            if !left_out.contains(&text) {
                left_out.push(text);
            }
        }
        series.add(round, results.readings, ready, &|_| true);
        if round == 0 {
            sink.begin(&run.head, &[])?;
        }
        let none = AllSeries::default();
        run.benchmarks = series.entries(&none, &series.only_compute(&none, &|_| RESOLUTION));
        for (place, entry) in run.benchmarks.iter().enumerate() {
            sink.entry(place, entry);
        }
    }
    run.finished_unix_s = unix_s();
    let is_stored = !run.benchmarks.is_empty() && sink.finish(&run);
    Ok((Measured { run, is_in_vain: false, is_stored }, left_out))
}
