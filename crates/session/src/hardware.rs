//! Finds the parameters of this machine's processor by the benchmarks tagged `hardware`.

mod compare;
mod document;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use yamba_discover::PARAMETERS;
use yamba_harness::{Neighbours, Options, Stop, keep_hardware};
use yamba_record::hardware::{HardwareParameter, rivals};
use yamba_record::{Machine, Run};
use yamba_store::Detail;

use super::measure;
use super::run_ref::Runs;
use super::select::Names;
use super::{Failure, Observer, StoreChoice};

pub use compare::{Compared, ComparedParameter, compare};
pub use document::Document;

/// The tag of the benchmarks that record curves of the hardware.
const TAG: &str = "hardware";

/// The longest time, with all that is built and measured.
const TIME: Duration = Duration::from_secs(90);
const QUICK_TIME: Duration = Duration::from_secs(30);

/// The part of this time that is left for the inference and the store.
const RESERVE: Duration = Duration::from_secs(1);

/// How much longer than expected the last launch may take.
const LATE: Duration = Duration::from_secs(1);

/// Fewer benchmarks than this get no more time each.
const FEWEST: usize = 15;

/// A request for parameters.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Folders whose classes take precedence over those of the suite.
    pub libraries: Vec<PathBuf>,
    /// Names or patterns of parameters; if empty, all.
    pub parameters: Vec<String>,
    /// Whether less time suffices.
    pub is_quick: bool,
    /// The command line; the run records it.
    pub arguments: Vec<String>,
}

/// Measures the curves and finds the parameters: each has its value, or the reason why it was not
/// found, in the order of the table. Later runs on this machine know them.
///
/// # Errors
/// If a name is unknown, or a class of the suite cannot be read.
pub fn hardware(
    request: &Request,
    stop: &Stop,
    store: &StoreChoice,
    observer: &dyn Observer,
) -> Result<Document, Failure> {
    let begun = Instant::now();
    let wanted = wanted(&request.parameters)?;
    let curves = curves(&wanted);
    let time = if request.is_quick { QUICK_TIME } else { TIME };
    let end = time - RESERVE;
    // The launches of what is built take about as long as to build it, also on a slow machine.
    let may_build = |_| begun.elapsed() < time / 2 && !stop.requested();
    let prepared = measure::prepare_while(
        measure::Request {
            names: Names {
                names: vec![format!("{{{}}}", curves.join(","))],
                libraries: request.libraries.clone(),
            },
            tags: vec![TAG.to_owned()],
            options: Options {
                quick: request.is_quick,
                time: time / curves.len().max(FEWEST) as u32,
                ..Options::default()
            },
            arguments: request.arguments.clone(),
            ..measure::Request::default()
        },
        &may_build,
        observer,
    )?;
    let prepared = prepared.within((end - LATE).saturating_sub(begun.elapsed()));
    let run = prepared.measure(&stop.until(begun + end), store, observer)?.run;
    let found = Document::new(&run, &wanted, UNBUILT);
    // Classes of the user may record anything.
    if request.libraries.is_empty() && !found.interrupted {
        keep(&run, &found.parameters);
    }
    Ok(found)
}

/// The parameters that a stored run found.
///
/// # Errors
/// If a name is unknown, or there is no such run, or it has no parameters.
pub fn from_stored(
    reference: &str,
    names: &[String],
    store: &StoreChoice,
) -> Result<Document, Failure> {
    let wanted = wanted(names)?;
    let run = Runs::new(store.clone()).load(reference, Detail::Figures)?;
    if run.benchmarks.iter().all(|b| b.details.hardware.is_empty()) {
        return Err(Failure::new(format!("run {} has no parameters of the hardware", run.id))
            .help("`yamba hardware` measures them; `yamba runs` shows what each run measured"));
    }
    Ok(Document::new(&run, &wanted, UNKNOWN))
}

/// Keeps what a run found for later ones on this machine. Under an emulator times mean nothing.
fn keep(run: &Run, parameters: &[HardwareParameter]) {
    let mut disturbances = run.machine.details.iter().flat_map(|d| &d.disturbances);
    let is_emulated = disturbances.any(|d| d.name == "emulated");
    if let Neighbours::Discard(Some(folder)) = super::neighbours::neighbours()
        && let Some(unix_s) = run.finished_unix_s
        && !is_emulated
    {
        keep_hardware(&folder, &run.machine, parameters, unix_s);
    }
}

/// The benchmarks of these parameters.
fn curves(wanted: &[&str]) -> Vec<&'static str> {
    let is_rival = |name: &str| wanted.iter().any(|measured| rivals(measured).any(|r| r == name));
    let is_needed = |name: &str| wanted.contains(&name) || is_rival(name);
    let mut curves: Vec<&'static str> =
        PARAMETERS.iter().filter(|p| is_needed(p.name)).map(|p| p.curve).collect();
    if curves.is_empty() {
        // Any run tests which processors share a core.
        curves.push(PARAMETERS[0].curve);
    }
    curves.sort_unstable();
    curves.dedup();
    curves
}

/// All parameters with their units, in the order of the table.
pub fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
    PARAMETERS.iter().map(|p| (p.name, p.unit)).chain([(SIBLINGS, "pairs")])
}

/// The names of the parameters that these names or patterns select.
fn wanted(patterns: &[String]) -> Result<Vec<&'static str>, Failure> {
    let all = || names().map(|(name, _)| name);
    if patterns.is_empty() {
        return Ok(all().collect());
    }
    let mut found = Vec::new();
    for name in patterns {
        let pattern = super::select::glob(name)?;
        let before = found.len();
        found.extend(all().filter(|known| pattern.is_match(known)));
        if found.len() == before {
            return Err(Failure::new(format!("no parameter is called {name}"))
                .help(format!("parameters: {}", all().collect::<Vec<_>>().join(" "))));
        }
    }
    Ok(found)
}

/// Why a run without an entry for the benchmark of a parameter has none.
const UNBUILT: &str =
    "its benchmark was not built: no time was left, so run again, or this platform has none";
const UNKNOWN: &str =
    "the run lacks its benchmark: it was for other parameters, or had no time to build it";

/// All parameters by the curves of a run, beside the claims of the machine. `absent` is the reason
/// of one whose benchmark has no entry.
fn parameters(run: &Run, absent: &str) -> Vec<HardwareParameter> {
    PARAMETERS
        .iter()
        .map(|parameter| {
            let mut entries = run.benchmarks.iter().flat_map(|b| &b.details.hardware);
            let found = entries.find(|p| p.name == parameter.name).cloned();
            let mut found = found.unwrap_or_else(|| HardwareParameter {
                name: parameter.name.to_owned(),
                unit: parameter.unit.to_owned(),
                reason: Some(not_measured(run, parameter.curve, absent)),
                ..HardwareParameter::default()
            });
            found.claimed = run.machine.claimed(parameter.name);
            found
        })
        .chain([siblings(&run.machine)])
        .collect()
}

/// The parameter that no curve has: whether processors share a core.
const SIBLINGS: &str = "cores.siblings";

/// How many of the tested pairs of processors share a core, by a competitor on the other one.
fn siblings(machine: &Machine) -> HardwareParameter {
    let pairs = machine.core_pairs.as_ref().map(|found| found.pairs.as_slice()).unwrap_or_default();
    let known: Vec<bool> = pairs.iter().filter_map(|pair| pair.shared).collect();
    let found = known.iter().filter(|shared| **shared).count() as f64;
    let is_known = !known.is_empty() && known.len() == pairs.len();
    let reason = match (pairs.len(), known.len()) {
        (0, _) => "no two processors were tested".to_owned(),
        (all, known) => format!("{} of {all} pairs have no clear finding", all - known),
    };
    HardwareParameter {
        name: SIBLINGS.to_owned(),
        unit: "pairs".to_owned(),
        found: is_known.then_some(found),
        interval: is_known.then_some([found, found]),
        claimed: None,
        reason: (!is_known).then_some(reason),
    }
}

/// Why the benchmark of this name has no curve; without an entry in the run, the reason `absent`.
fn not_measured(run: &Run, curve: &str, absent: &str) -> String {
    let Some(benchmark) = run.benchmarks.iter().find(|b| b.name == curve) else {
        return absent.to_owned();
    };
    let reason = benchmark.notes.first().map(ToString::to_string);
    reason.unwrap_or_else(|| "its benchmark recorded no curve".to_owned())
}
