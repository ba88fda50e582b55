//! The elapsed and the processor time of a unit of work, as one total.
//!
//! ```text
//! processor time = kernel time + user time
//! elapsed time   = processor time / parallelism + waiting
//! ```
//!
//! `parts.rs` has the kernel and user time, or those of Java's class library and of a program's own
//! code, and `waiting.rs` the waiting. The sum of several applications is one of their totals.
//! A part that nothing predicts is not in the sum: it is named with its share of the elapsed time
//! where the application was traced, and the interval has no upper end.
//!
//! Time without a processor, while other programs have it, is never predicted: it is no property of
//! the application.

mod parts;
#[cfg(test)]
mod tests;
mod waiting;

use serde::Serialize;

use super::Prediction;
use super::widths::Widths;
use crate::carry::Context;
use crate::costs::Costs;
use crate::vector::Vector;
use crate::vector::elapsed::Elapsed;
pub use waiting::scores;

/// The elapsed and the processor time of a unit of work on one system.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Total {
    /// The application, or several whose times are added.
    pub application: String,
    /// The unit of work: one of each application.
    pub unit: String,
    /// The system.
    pub system: String,
    /// Elapsed time per unit. `None`: the vector has no elapsed time.
    pub elapsed: Option<Time>,
    /// Processor time per unit.
    pub processor: Time,
    /// Elapsed time per unit where the vector was traced, in ns. `None`: unknown.
    pub traced_elapsed_ns: Option<f64>,
    /// Mean number of threads that run at once, as traced: the processor time divided by it is part
    /// of the elapsed time. `None`: unknown, or the sum of several applications.
    pub parallelism: Option<f64>,
    /// The parts of both sums. Their elapsed times add up.
    pub parts: Vec<Part>,
    /// The parts that are not in the sums.
    pub not_predicted: Vec<NotPredicted>,
}

/// A time with its interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Time {
    /// The time, in ns.
    pub ns: f64,
    /// Its interval. `None`: unknown, since the application was traced in one round. The upper end
    /// is infinite, which is null in JSON, if a part is not predicted.
    #[schemars(with = "Option<[Option<f64>; 2]>")]
    pub interval_ns: Option<[f64; 2]>,
    #[serde(skip)]
    widths: Widths,
}

/// A part of a total.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// Whether it is processor time, which several threads may spend at once.
    pub is_processor_time: bool,
    /// The time per unit. Processor time is divided by the parallelism if that is known.
    #[serde(flatten)]
    pub time: Time,
    /// Its share of the total elapsed time, or of the processor time without an elapsed time.
    pub share: f64,
    /// How the time was found.
    pub origin: PartOrigin,
}

/// How the time of a part was found.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PartOrigin {
    /// By costs of primitives on the system.
    Costs,
    /// As in the trace, on the same machine.
    Traced,
    /// As in the trace, on the same machine, but for the requested changes.
    TracedWithChanges,
    /// As in the trace, on another machine: the application itself sets the time.
    SetByApplication,
    /// The traced time is taken to be the same on another machine.
    TakenAsTraced,
    /// The traced time, scaled by the figure of this benchmark or primitive alone.
    ScaledBy(String),
    /// The traced user time, by the counted work and the costs of it on both machines.
    Work,
    /// The total of one application.
    Total,
}

/// A part that is in no sum.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct NotPredicted {
    /// Its name.
    pub name: String,
    /// Its share of the elapsed time where the application was traced. `None`: unknown.
    pub share_as_traced: Option<f64>,
    /// Whether it is processor time.
    pub is_processor_time: bool,
    /// Whether other programs cause it, so that the totals need not contain it.
    pub is_of_other_programs: bool,
}

/// The parts of an application's total, before they are added.
#[derive(Debug, Default)]
struct Parts {
    /// With the processor time itself.
    known: Vec<Part>,
    unknown: Vec<NotPredicted>,
}

impl Total {
    /// The total of a prediction of `vector`. `traced` is the vector before changes, and `context`
    /// has the costs where it was traced. `None`: the prediction is from benchmarks alone.
    pub fn new(
        found: &Prediction,
        vector: &Vector,
        traced: &Vector,
        context: Option<&Context>,
        costs: &Costs,
    ) -> Total {
        let traced_elapsed_ns = traced.elapsed_ns();
        let mut parts = Parts::default();
        parts.add_processor_times(found, vector, traced_elapsed_ns);
        parts.add_waiting(found, vector, traced, context, costs);
        let mut total = Total {
            application: found.application.clone(),
            unit: found.unit.clone(),
            system: found.system.clone(),
            traced_elapsed_ns,
            parallelism: vector.elapsed.map(|elapsed| elapsed.parallelism),
            elapsed: None,
            processor: Time::default(),
            parts: parts.known,
            not_predicted: parts.unknown,
        };
        total.add_up(vector.elapsed);
        if let (Some(elapsed), true) = (&mut total.elapsed, found.is_as_traced()) {
            let ns = traced.elapsed_deviation_ns().unwrap_or(0.0);
            elapsed.widen(&format!("elapsed time of {}", total.application), ns);
        }
        total
    }

    /// Adds the parts up, and divides their processor times by the parallelism.
    fn add_up(&mut self, elapsed: Option<Elapsed>) {
        let (processor, waiting): (Vec<&Part>, Vec<&Part>) =
            self.parts.iter().partition(|part| part.is_processor_time);
        self.processor = Time::sum(processor.iter().map(|part| (&part.time, 1.0)));
        if self.lacks_processor_time() {
            self.processor.open_above();
        }
        self.elapsed = elapsed.map(|elapsed| {
            let divided = processor.iter().map(|part| (&part.time, 1.0 / elapsed.parallelism));
            let mut sum = Time::sum(divided.chain(waiting.iter().map(|part| (&part.time, 1.0))));
            if self.lacks_elapsed_time() {
                sum.open_above();
            }
            sum
        });
        let whole_ns = self.elapsed.as_ref().unwrap_or(&self.processor).ns;
        let factor = elapsed.map_or(1.0, |elapsed| 1.0 / elapsed.parallelism);
        for part in &mut self.parts {
            if part.is_processor_time {
                part.time.scale(factor);
            }
            part.share = if whole_ns > 0.0 { part.time.ns / whole_ns } else { 0.0 };
        }
    }

    /// Whether a part of the processor time is not predicted.
    pub fn lacks_processor_time(&self) -> bool {
        self.not_predicted.iter().any(|part| part.is_processor_time)
    }

    /// Whether a part of the elapsed time is not predicted, except time that other programs take.
    pub fn lacks_elapsed_time(&self) -> bool {
        self.not_predicted.iter().any(|part| !part.is_of_other_programs)
    }

    /// The sum of the totals of several applications on one system.
    pub fn sum(totals: &[&Total]) -> Option<Total> {
        let first = totals.first()?;
        let texts = |text: fn(&Total) -> &str| -> Vec<&str> {
            totals.iter().map(|total| text(total)).collect()
        };
        let mut units = texts(|total| &total.unit);
        units.dedup();
        let elapsed: Option<Vec<&Time>> = totals.iter().map(|t| t.elapsed.as_ref()).collect();
        let elapsed = elapsed.map(|each| Time::sum(each.into_iter().map(|time| (time, 1.0))));
        let processor = Time::sum(totals.iter().map(|total| (&total.processor, 1.0)));
        let traced: Option<Vec<f64>> = totals.iter().map(|t| t.traced_elapsed_ns).collect();
        let traced_elapsed_ns = traced.map(|each| each.iter().sum::<f64>());
        let whole_ns = elapsed.as_ref().unwrap_or(&processor).ns;
        let part = |total: &&Total| {
            let own = total.elapsed.as_ref().filter(|_| elapsed.is_some());
            let time = own.unwrap_or(&total.processor).clone();
            Part {
                name: total.application.clone(),
                is_processor_time: elapsed.is_none(),
                share: time.ns / whole_ns,
                time,
                origin: PartOrigin::Total,
            }
        };
        let not_predicted = totals.iter().flat_map(|total| {
            let own = total.traced_elapsed_ns.zip(traced_elapsed_ns).map(|(own, all)| own / all);
            total.not_predicted.iter().map(move |part| NotPredicted {
                name: format!("{}, {}", total.application, part.name),
                share_as_traced: part.share_as_traced.zip(own).map(|(share, own)| share * own),
                ..part.clone()
            })
        });
        Some(Total {
            application: texts(|total| &total.application).join(" + "),
            unit: units.join(" + "),
            system: first.system.clone(),
            parallelism: None,
            parts: totals.iter().map(part).collect(),
            not_predicted: not_predicted.collect(),
            elapsed,
            processor,
            traced_elapsed_ns,
        })
    }
}

impl Time {
    /// A time with these half-widths. `None`: they are unknown.
    fn new(ns: f64, widths: Option<Widths>) -> Time {
        let interval_ns = widths.as_ref().map(|widths| widths.interval(ns));
        Time { ns, interval_ns, widths: widths.unwrap_or_default() }
    }

    /// The sum of times, each multiplied by a factor.
    fn sum<'a>(each: impl Iterator<Item = (&'a Time, f64)>) -> Time {
        let (mut ns, mut widths, mut is_known) = (0.0, Widths::default(), true);
        for (time, factor) in each {
            ns += time.ns * factor;
            widths.add_scaled(&time.widths, factor);
            is_known &= time.interval_ns.is_some();
        }
        Time::new(ns, is_known.then_some(widths))
    }

    fn scale(&mut self, factor: f64) {
        *self = Time::sum([(&*self, factor)].into_iter());
    }

    /// Widens both sides by a source that no other part has.
    fn widen(&mut self, source: &str, ns: f64) {
        if self.interval_ns.is_some() {
            self.widths.add(source, [ns; 2]);
            self.interval_ns = Some(self.widths.interval(self.ns));
        }
    }

    /// Removes the upper end of the interval, if it is known, since the time lacks a part.
    fn open_above(&mut self) {
        if self.interval_ns.is_some() {
            self.widths.add("parts that are not predicted", [0.0, f64::INFINITY]);
            self.interval_ns = Some(self.widths.interval(self.ns));
        }
    }
}
