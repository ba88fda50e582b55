//! The waiting of a total.
//!
//! The trace has how long the application waited in each call. On another system, this time is
//! that of the trace if the application itself sets it, as for a sleep; it is scaled by one score
//! if both systems have it, such as `elapsed(fsync)`; else it is not predicted. A call that a
//! change has added, and that may wait, needs a score, too. No call that may wait counts as a null
//! call.

use std::collections::{BTreeMap, BTreeSet};

use super::{NotPredicted, Part, PartOrigin, Parts, Time};
use crate::carry::scale::Scale;
use crate::carry::{Context, user_work};
use crate::costs::Costs;
use crate::prediction::Prediction;
use crate::prediction::widths::Widths;
use crate::vector::may_wait::may_wait;
use crate::vector::names::{EPOLL_WAIT_BLOCKED, MAJOR_FAULT, call};
use crate::vector::{Use, Vector};

/// Calls that wait as long as the application asks.
const SLEEPS: [&str; 2] = ["nanosleep", "clock_nanosleep"];

/// The bytes of a read that stands for all waits of reads.
const READ_BYTES: f64 = 4096.0;

/// The primitive, with its size, whose elapsed cost is the score of a call's waiting. Reads and
/// writes that go to storage themselves, and writes that wait for it, have scores of their own.
fn score(name: &str) -> (String, Option<f64>) {
    match name {
        "read(file)" | MAJOR_FAULT => ("read(file,uncached)".to_owned(), Some(READ_BYTES)),
        "read(file,direct)" => ("elapsed(read,direct)".to_owned(), Some(READ_BYTES)),
        "write(file,direct)" => ("elapsed(write,direct)".to_owned(), None),
        "write(file,sync)" | "write(file,direct,sync)" => ("elapsed(write,sync)".to_owned(), None),
        _ => (format!("elapsed({})", call(name)), None),
    }
}

/// The primitives whose elapsed costs, and costs of user work, the total of a vector uses on
/// another system, or after a change.
pub fn scores(vector: &Vector) -> Vec<String> {
    let waits = |used: &&Use| (used.waited_ns > Some(0.0) && !is_set(used)) || lacks_wait(used);
    let each = vector.primitives.iter().filter(|_| vector.elapsed.is_some()).filter(waits);
    let work = vector.user_work.iter().flat_map(|_| user_work::NAMES).map(str::to_owned);
    let names: BTreeSet<String> = each.map(|used| score(&used.name).0).chain(work).collect();
    names.into_iter().collect()
}

/// Whether the application sets how long a use waits: it sleeps, or its time-out ends the wait.
fn is_set(used: &Use) -> bool {
    let has_timed_out = used.name == EPOLL_WAIT_BLOCKED && used.size == Some(0.0);
    SLEEPS.contains(&call(&used.name)) || has_timed_out
}

impl Parts {
    /// Adds the waiting of a prediction. `traced` is the vector before changes.
    pub(super) fn add_waiting(
        &mut self,
        found: &Prediction,
        vector: &Vector,
        traced: &Vector,
        context: Option<&Context>,
        costs: &Costs,
    ) {
        let Some(elapsed) = vector.elapsed else {
            self.unknown
                .push(NotPredicted::waiting("waiting: the vector has no elapsed time", None));
            return;
        };
        let traced_elapsed_ns = traced.elapsed_ns();
        let share = |ns: f64| traced_elapsed_ns.map(|all| ns / all);
        let traced = waits(traced);
        let systems = context.map(|context| context.systems(costs));
        let spread = vector.waiting_spread();
        for wait in waits(vector) {
            let ((name, is_set), ns) = wait;
            let (score, size) = score(name);
            let scale = systems.and_then(|systems| systems.scale(&score, size));
            let (scale, origin) = match scale {
                _ if found.is_as_traced() && !costs.is_changed(&score) => {
                    (Scale::SAME, PartOrigin::traced(!traced.contains(&wait)))
                }
                _ if is_set => (Scale::SAME, PartOrigin::SetByApplication),
                Some(scale) => (scale, PartOrigin::ScaledBy(score)),
                None => {
                    self.unknown.push(NotPredicted::waiting(&waiting(name), share(ns)));
                    continue;
                }
            };
            let mut time = scaled(ns, scale, spread.unwrap_or(0.0), &found.application);
            if found.is_as_traced() && spread.is_none() {
                time.interval_ns = None;
            }
            self.known.push(Part::waiting(name, time, origin));
        }
        for used in vector.primitives.iter().filter(|used| lacks_wait(used)) {
            let (score, size) = score(&used.name);
            match costs.at(&score, size) {
                Some(at) => {
                    let cost = at.cost.times(used.count);
                    let [low, high] = cost.interval_ns;
                    let widths = Widths::from_source(&score, [cost.ns - low, high - cost.ns]);
                    let time = Time::new(cost.ns, Some(widths));
                    self.known.push(Part::waiting(&used.name, time, PartOrigin::Costs));
                }
                None => self.unknown.push(NotPredicted::waiting(&waiting(&used.name), None)),
            }
        }
        self.unknown.extend((elapsed.ready_ns > 0.0).then(|| NotPredicted {
            is_of_other_programs: true,
            ..NotPredicted::waiting("waiting for a processor", share(elapsed.ready_ns))
        }));
    }
}

impl Part {
    fn waiting(name: &str, time: Time, origin: PartOrigin) -> Part {
        Part { name: waiting(name), is_processor_time: false, time, share: 0.0, origin }
    }
}

fn waiting(name: &str) -> String {
    format!("waiting: {name}")
}

/// The traced waiting per unit by primitive, and whether the application sets it; the longest
/// first.
fn waits(vector: &Vector) -> Vec<((&str, bool), f64)> {
    let mut all: BTreeMap<(&str, bool), f64> = BTreeMap::new();
    for used in &vector.primitives {
        if let Some(ns) = used.waited_ns.filter(|ns| *ns > 0.0) {
            *all.entry((&used.name, is_set(used))).or_default() += ns;
        }
    }
    let mut all: Vec<_> = all.into_iter().collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    all
}

/// Whether a change has added these uses, so that the trace does not say how long they wait.
fn lacks_wait(used: &Use) -> bool {
    used.count > 0.0 && used.time_ns.is_none() && used.waited_ns.is_none() && may_wait(&used.name)
}

/// A traced wait on the system. Its interval has that of the scale, and the spread of waiting in
/// the trace. Waiting of one application is off together.
fn scaled(ns: f64, scale: Scale, spread: f64, application: &str) -> Time {
    let there_ns = ns * scale.ratio;
    let [low, high] = scale.interval.map(|end| ns * end);
    let mut widths = Widths::from_source("elapsed cost", [there_ns - low, high - there_ns]);
    let source = format!("spread of the waiting of {application}");
    widths.add(&source, [there_ns * spread; 2]);
    Time::new(there_ns, Some(widths))
}
