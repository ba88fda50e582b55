//! The processor time of a total: kernel and user time, or the times of Java's class library and of
//! the program's own code.

use super::{NotPredicted, Part, PartOrigin, Parts, Time};
use crate::prediction::product::sum_with_widths;
use crate::prediction::widths::Widths;
use crate::prediction::{PredictedUserTime, Prediction};
use crate::vector::{Platform, Vector};

/// The name of the user time.
const USER: &str = "user time";

/// The work of a Java virtual machine that no vector counts.
const OF_MACHINE: &str = "start, compiler and garbage collection of the virtual machine";

impl Parts {
    /// Adds the time in the platform and the user time.
    pub(super) fn add_processor_times(
        &mut self,
        found: &Prediction,
        vector: &Vector,
        traced_elapsed_ns: Option<f64>,
    ) {
        let is_java = found.platform == Platform::ClassLibrary;
        self.known.push(Part {
            name: if is_java { "class library" } else { "kernel time" }.to_owned(),
            is_processor_time: true,
            time: platform_time(found),
            share: 0.0,
            origin: match found.trace() {
                Some(trace) if trace.is_as_traced => PartOrigin::traced(trace.is_changed),
                _ => PartOrigin::Costs,
            },
        });
        match &found.user.predicted {
            Some(user) => self.known.push(user_part(found, user, vector, is_java)),
            None => {
                let parallelism = vector.elapsed.map(|elapsed| elapsed.parallelism);
                let share = |((user, parallelism), all)| user / parallelism / all;
                let user = vector.user_ns.zip(parallelism).zip(traced_elapsed_ns);
                self.unknown.push(NotPredicted::processor_time(USER, user.map(share)));
            }
        }
        for product in found.terms.primitives.iter().filter(|product| product.is_unknown) {
            let name = format!("kernel time of {}", product.label());
            self.unknown.push(NotPredicted::processor_time(&name, None));
        }
        for losses in vector.losses() {
            self.unknown.push(NotPredicted::processor_time(&losses, None));
        }
        if is_java {
            self.unknown.push(NotPredicted::processor_time(OF_MACHINE, None));
        }
    }
}

impl PartOrigin {
    /// The origin of a time on the machine of the trace.
    pub(super) fn traced(is_changed: bool) -> PartOrigin {
        if is_changed { PartOrigin::TracedWithChanges } else { PartOrigin::Traced }
    }
}

impl NotPredicted {
    fn processor_time(name: &str, share_as_traced: Option<f64>) -> NotPredicted {
        NotPredicted { is_processor_time: true, ..NotPredicted::waiting(name, share_as_traced) }
    }

    pub(super) fn waiting(name: &str, share_as_traced: Option<f64>) -> NotPredicted {
        NotPredicted {
            name: name.to_owned(),
            share_as_traced,
            is_processor_time: false,
            is_of_other_programs: false,
        }
    }
}

/// The kernel time, or that of the class library. The part of the border between user and kernel
/// time has the opposite sign in the user time.
fn platform_time(found: &Prediction) -> Time {
    let ns = found.predicted_ns;
    let mut widths = sum_with_widths(&found.terms).1;
    if let Some(trace) = found.trace() {
        let [spread, border] = found.sources_of_trace();
        widths.add(&spread, [ns * trace.trace_spread.unwrap_or(0.0); 2]);
        widths.add(&border, [ns * trace.trace_border.unwrap_or(0.0); 2]);
        widths.add("removed work", [trace.leaving_ns.unwrap_or(0.0), 0.0]);
    }
    if !found.unbounded.is_empty() {
        widths.add("calls without a bound", [0.0, f64::INFINITY]);
    }
    Time::new(ns, found.interval_ns.map(|_| widths))
}

fn user_part(found: &Prediction, user: &PredictedUserTime, vector: &Vector, is_java: bool) -> Part {
    let has_spread = found.trace().is_some_and(|trace| trace.trace_spread.is_some());
    let of_trace = || {
        let mut widths = Widths::default();
        found.add_trace_of_user_time(&mut widths, vector, user.ns);
        widths
    };
    let widths = user.widths.clone().or_else(|| has_spread.then(of_trace));
    let origin = match &user.scaled_by {
        Some(benchmark) => PartOrigin::ScaledBy(benchmark.clone()),
        None if user.is_by_work => PartOrigin::Work,
        None if found.is_as_traced() => PartOrigin::Traced,
        None => PartOrigin::TakenAsTraced,
    };
    Part {
        name: if is_java { "own code" } else { USER }.to_owned(),
        is_processor_time: true,
        time: Time::new(user.ns, widths),
        share: 0.0,
        origin,
    }
}
