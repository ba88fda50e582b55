//! Finds the parameters of this machine's processor by the benchmarks tagged `hardware`.

use std::path::PathBuf;
use std::time::Duration;

use yamba_discover::PARAMETERS;
use yamba_harness::{Options, Stop};
use yamba_record::hardware::HardwareParameter;
use yamba_record::machine::details::{Cache, Details, Tlb};
use yamba_record::{Machine, Run};

use super::measure;
use super::select::Names;
use super::{Failure, Observer, StoreChoice};

/// The tag of the benchmarks that record curves of the hardware.
const TAG: &str = "hardware";

/// The time for all benchmarks, less what it takes to start their programs.
const TIME: Duration = Duration::from_secs(75);
const QUICK_TIME: Duration = Duration::from_secs(25);

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
/// found, in the order of the table.
///
/// # Errors
/// If a name is unknown, or a class of the suite cannot be read.
pub fn hardware(
    request: &Request,
    stop: &Stop,
    store: &StoreChoice,
    observer: &dyn Observer,
) -> Result<Vec<HardwareParameter>, Failure> {
    let wanted = wanted(&request.parameters)?;
    let curves = curves(&wanted);
    let time = if request.is_quick { QUICK_TIME } else { TIME };
    let prepared = measure::prepare(
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
        observer,
    )?;
    let run = prepared.measure(stop, store, observer)?.run;
    let mut parameters = parameters(&run);
    parameters.retain(|p| wanted.contains(&p.name.as_str()));
    Ok(parameters)
}

/// The benchmarks of these parameters.
fn curves(wanted: &[&str]) -> Vec<&'static str> {
    let mut curves: Vec<&'static str> =
        PARAMETERS.iter().filter(|p| wanted.contains(&p.name)).map(|p| p.curve).collect();
    if curves.is_empty() {
        // Any run tests which processors share a core.
        curves.push(PARAMETERS[0].curve);
    }
    curves.sort_unstable();
    curves.dedup();
    curves
}

/// The names of the parameters that these names or patterns select.
fn wanted(names: &[String]) -> Result<Vec<&'static str>, Failure> {
    let all = || PARAMETERS.iter().map(|p| p.name).chain([SIBLINGS]);
    if names.is_empty() {
        return Ok(all().collect());
    }
    let mut found = Vec::new();
    for name in names {
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

/// All parameters by the curves of a run, beside the claims of the machine.
fn parameters(run: &Run) -> Vec<HardwareParameter> {
    PARAMETERS
        .iter()
        .map(|parameter| {
            let mut entries = run.benchmarks.iter().flat_map(|b| &b.details.hardware);
            let found = entries.find(|p| p.name == parameter.name).cloned();
            let mut found = found.unwrap_or_else(|| HardwareParameter {
                name: parameter.name.to_owned(),
                unit: parameter.unit.to_owned(),
                reason: Some(not_measured(run, parameter.curve)),
                ..HardwareParameter::default()
            });
            found.claimed = claimed(&run.machine, parameter.name);
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

/// Why the benchmark of this name has no curve.
fn not_measured(run: &Run, curve: &str) -> String {
    let Some(benchmark) = run.benchmarks.iter().find(|b| b.name == curve) else {
        return "no benchmark measures it on this platform, or the run ended before".to_owned();
    };
    let reason = benchmark.notes.first().map(ToString::to_string);
    reason.unwrap_or_else(|| "its benchmark recorded no curve".to_owned())
}

/// The claim of the system or the processor for this parameter.
fn claimed(machine: &Machine, name: &str) -> Option<f64> {
    let details = machine.details.as_deref()?;
    let (place, what) = name.rsplit_once('.')?;
    match (place, what) {
        ("l1d" | "l1i" | "l2" | "l3", _) => {
            let cache = cache(details, place)?;
            let value = match what {
                "size" => cache.bytes,
                "ways" => cache.ways,
                "line" => cache.line,
                _ => None,
            };
            value.map(|v| v as f64)
        }
        ("tlb1" | "tlb2", "entries") => {
            let tlb = tlb(details, if place == "tlb1" { 1 } else { 2 })?;
            tlb.entries.map(|v| v as f64)
        }
        ("readahead", _) => details.storage.read_ahead.map(|v| v as f64),
        _ => None,
    }
}

fn cache<'a>(details: &'a Details, place: &str) -> Option<&'a Cache> {
    let level = u64::from(place.as_bytes()[1] - b'0');
    let is_code = place == "l1i";
    details.caches.iter().find(|c| c.level == level && (c.kind == "instruction") == is_code)
}

/// The translations of small pages for loads at this level.
fn tlb(details: &Details, level: u64) -> Option<&Tlb> {
    let serves = |tlb: &&Tlb| {
        tlb.level == Some(level)
            && tlb.kind != "instruction"
            && tlb.kind != "store"
            && tlb.pages.contains(&4096)
    };
    details.tlbs.iter().find(serves)
}

/// The meaning of a parameter, in a few words.
#[must_use]
pub fn meaning(name: &str) -> &'static str {
    let siblings = if name == SIBLINGS { "processors on one core" } else { "" };
    yamba_discover::parameter(name).map_or(siblings, |p| p.meaning)
}
