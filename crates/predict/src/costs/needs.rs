//! The costs on which a prediction rests: how much of the kernel time each one decides, and how
//! uncertain that part is.
//!
//! A measurement of costs begins with those that decide the most.

use super::Costs;
use crate::constants::{
    PRECISE, ROUGH_CALL_NS, ROUGH_PROCESS_NS, ROUGH_SIZE_NS, ROUGH_WAIT_NS, SMALL_PART,
};
use crate::vector::may_wait::may_wait;
use crate::vector::names::{
    FAILED, NULL_CALL, PROCESS_CALLS, SWITCH, call, is_blocked, is_fault, without_blocked,
};
use crate::vector::{Use, Vector};

/// The origin of an application's times.
#[derive(Clone, Copy, Debug)]
pub enum Times<'a> {
    /// The vector has none: the prediction is uses times costs.
    Benchmarks,
    /// The application was traced on the system for which it is predicted.
    TracedHere,
    /// The application was traced on another system, which has these costs.
    TracedOn(&'a Costs),
}

/// A primitive whose cost a prediction needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Need {
    /// The primitive.
    pub primitive: String,
    /// The share of the kernel time that its cost decides.
    pub share: f64,
    /// Half the width of the cost's interval, as a share of the kernel time. `None`: the cost is
    /// not known.
    pub half_width: Option<f64>,
}

/// The costs that predictions need.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Needs {
    /// Each primitive once, the one that decides the largest share first. The null call comes
    /// before them: nothing is known of calls without a benchmark before it is.
    each: Vec<Need>,
}

impl Needs {
    /// The needs of a vector. On the machine of the trace, traced times need no costs: only if
    /// something has no time, as after a change, its time is estimated from the costs of all.
    pub fn new(vector: &Vector, times: Times, costs: &Costs) -> Needs {
        let uses = || vector.primitives.iter().filter(|used| used.count > 0.0);
        if matches!(times, Times::TracedHere) && uses().all(|used| used.time_ns.is_some()) {
            return Needs::default();
        }
        let mut needs = Needs::default();
        for used in uses() {
            needs.add_use(used, times, costs);
        }
        if let Some(readings) = vector.clock_readings() {
            needs.add_use(&readings, times, costs);
        }
        // Another call than those above, which no benchmark stands for, is charged as a null call.
        let others = uses().filter(|used| is_charged_as_null(used, costs));
        let count: f64 = others.map(|used| used.count).sum();
        let nulls = Use::untimed(NULL_CALL, None, count.max(1.0));
        needs.add_use(&nulls, Times::Benchmarks, costs);
        needs.scale();
        needs
    }

    /// The needs of a computation that uses the costs of these primitives, whatever their shares.
    pub fn named<'a>(names: impl Iterator<Item = &'a str>, costs: &Costs) -> Needs {
        let mut needs = Needs::default();
        for name in names {
            let cost = costs.has(name).then_some(0.0);
            needs.add(name, 0.0, cost);
        }
        needs
    }

    /// The needs of several predictions. A primitive that several need has the larger share and the
    /// larger half-width of all.
    #[must_use]
    pub fn and(mut self, others: Needs) -> Needs {
        for other in others.each {
            match self.each.iter_mut().find(|need| need.primitive == other.primitive) {
                Some(need) => {
                    need.share = need.share.max(other.share);
                    need.half_width = need.half_width.zip(other.half_width).map(|(a, b)| a.max(b));
                }
                None => self.each.push(other),
            }
        }
        self.sort();
        self
    }

    /// The primitives, the one that decides the largest share of the kernel time first.
    pub fn each(&self) -> &[Need] {
        &self.each
    }

    /// Half the width that the known costs add to the interval, as a share of the kernel time.
    /// Costs of different primitives count as independent.
    pub fn half_width(&self) -> f64 {
        let known = self.each.iter().filter_map(|need| need.half_width);
        known.map(|half| half * half).sum::<f64>().sqrt()
    }

    /// The known costs whose part of the interval is not small: above 1 % of the kernel time, and
    /// above a quarter of the half-width of all costs together. The largest part comes first.
    pub fn imprecise(&self) -> Vec<&Need> {
        let limit = PRECISE.max(SMALL_PART * self.half_width());
        let is_wide = |need: &&Need| need.half_width > Some(limit);
        let mut wide: Vec<&Need> = self.each.iter().filter(is_wide).collect();
        wide.sort_by(|a, b| {
            b.half_width.partial_cmp(&a.half_width).unwrap_or(std::cmp::Ordering::Equal)
        });
        wide
    }

    fn add_use(&mut self, used: &Use, times: Times, costs: &Costs) {
        if let Times::TracedOn(reference) = times
            && !reference.has(&used.name)
            && used.time_ns.is_some()
        {
            // No ratio of costs exists: the time is scaled as the others.
            return;
        }
        let known = costs.at(&used.name, used.size);
        let of_cost = || known.map(|at| at.cost.ns * used.count);
        let ns = used.time_ns.or_else(of_cost);
        let ns = ns.unwrap_or_else(|| used.count * rough_ns(used));
        let relative = relative_of(used, costs);
        if is_blocked(&used.name) {
            self.add(without_blocked(&used.name), ns, relative);
            self.add(SWITCH, ns, relative);
        } else {
            self.add(&used.name, ns, relative);
        }
    }

    /// Adds uses of this kernel time, and the relative half-width of their cost.
    fn add(&mut self, name: &str, ns: f64, relative: Option<f64>) {
        let half_width = relative.map(|relative| relative * ns);
        match self.each.iter_mut().find(|need| need.primitive == name) {
            Some(need) => {
                need.share += ns;
                need.half_width = need.half_width.zip(half_width).map(|(a, b)| a + b);
            }
            None => self.each.push(Need { primitive: name.to_owned(), share: ns, half_width }),
        }
    }

    /// Converts times to shares of all.
    fn scale(&mut self) {
        let all: f64 = self.each.iter().map(|need| need.share).sum();
        for need in &mut self.each {
            need.share /= all;
            need.half_width = need.half_width.map(|half| half / all);
        }
        self.sort();
    }

    fn sort(&mut self) {
        let is_other = |need: &Need| need.primitive != NULL_CALL;
        self.each.sort_by(|a, b| {
            let by_share = b.share.total_cmp(&a.share);
            is_other(a).cmp(&is_other(b)).then(by_share)
        });
    }
}

fn is_charged_as_null(used: &Use, costs: &Costs) -> bool {
    let has_cost = costs.at(&used.name, used.size).is_some();
    used.time_ns.is_none() && !has_cost && !costs.is_unknown(used)
}

/// The larger half-width of a use's cost as a share of it. `None`: the cost is not known.
fn relative_of(used: &Use, costs: &Costs) -> Option<f64> {
    let cost = costs.at(&used.name, used.size)?.cost;
    let [below, above] = cost.relative();
    Some(below.max(above))
}

/// A use's cost to an order of magnitude, in ns. It only decides what is measured first.
fn rough_ns(used: &Use) -> f64 {
    let name = call(&used.name);
    let is_of_a_process = PROCESS_CALLS.contains(&name) && !used.name.ends_with(FAILED);
    match name {
        _ if is_of_a_process => ROUGH_PROCESS_NS,
        _ if is_fault(&used.name) => ROUGH_WAIT_NS,
        _ if may_wait(&used.name) => ROUGH_WAIT_NS + used.size.unwrap_or_default() * ROUGH_SIZE_NS,
        _ => ROUGH_CALL_NS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{cost, costs, used, vector};

    fn timed(name: &str, count: f64, ns: f64) -> Use {
        Use { time_ns: Some(ns), ..used(name, None, count) }
    }

    /// A system of which no cost is known, though these have benchmarks.
    fn unmeasured() -> Costs {
        Costs { unmeasured: ["fork", "stat", "dup"].map(str::to_owned).into(), ..Costs::default() }
    }

    fn names(needs: &Needs) -> Vec<&str> {
        needs.each().iter().map(|need| need.primitive.as_str()).collect()
    }

    #[test]
    fn largest_traced_time_comes_first() {
        let vector = vector(vec![
            timed("stat", 9.0, 10.0),
            timed("fork", 1.0, 900.0),
            timed("poll(blocked)", 1.0, 90.0),
        ]);
        let there = costs(&[("stat", None, cost(1.0, 0.0)), ("fork", None, cost(1.0, 0.0))]);
        let needs = |times| Needs::new(&vector, times, &Costs::default());
        assert_eq!(names(&needs(Times::Benchmarks)), [NULL_CALL, "fork", "poll", SWITCH, "stat"]);
        assert_eq!(
            names(&needs(Times::TracedOn(&there))),
            [NULL_CALL, "fork", "stat"],
            "poll has no cost there"
        );
        assert!(needs(Times::TracedHere).each().is_empty());
        let all: f64 = needs(Times::Benchmarks).each().iter().map(|need| need.share).sum();
        assert!((all - 1.0).abs() < 1e-9);
    }

    /// A call that a change has added has no time: that of similar calls and their costs give one.
    #[test]
    fn use_without_a_time_needs_costs_where_it_was_traced() {
        let vector = vector(vec![timed("stat", 1.0, 10.0), used("fork", None, 1.0)]);
        let needs = Needs::new(&vector, Times::TracedHere, &unmeasured());
        assert_eq!(names(&needs), [NULL_CALL, "fork", "stat"]);
    }

    #[test]
    fn cost_is_precise_if_its_part_of_the_interval_is_small() {
        let vector =
            vector(vec![used("fork", None, 1.0), used("stat", None, 1.0), used("dup", None, 1.0)]);
        let known = costs(&[
            ("fork", None, cost(90_000.0, 9000.0)),
            ("stat", None, cost(9000.0, 3000.0)),
            ("dup", None, cost(1000.0, 800.0)),
            (NULL_CALL, None, cost(100.0, 0.0)),
        ]);
        let needs = Needs::new(&vector, Times::Benchmarks, &known);
        let half = needs.half_width();
        assert!((half - 9000f64.hypot(3000.0).hypot(800.0) / 100_500.0).abs() < 1e-3, "{half}");
        let wide = |needs: &Needs| -> Vec<String> {
            needs.imprecise().iter().map(|need| need.primitive.clone()).collect()
        };
        assert_eq!(wide(&needs), ["fork", "stat"]);
        let precise = costs(&[
            ("fork", None, cost(90_000.0, 90.0)),
            ("stat", None, cost(9000.0, 900.0)),
            ("dup", None, cost(1000.0, 800.0)),
        ]);
        assert!(wide(&Needs::new(&vector, Times::Benchmarks, &precise)).is_empty());
    }

    #[test]
    fn needs_of_several_predictions_have_the_larger_share() {
        let of = |name: &str, count| vector(vec![used(name, None, count), used("dup", None, 1.0)]);
        let needs = |name, count| Needs::new(&of(name, count), Times::Benchmarks, &unmeasured());
        let both = needs("stat", 8.0).and(needs("fork", 1.0));
        assert_eq!(names(&both)[..3], [NULL_CALL, "fork", "stat"]);
        assert_eq!(both.each()[2].share, needs("stat", 8.0).each()[1].share);
        assert_eq!(both.each().len(), 4);
    }
}
