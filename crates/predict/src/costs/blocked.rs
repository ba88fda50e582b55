//! Calls in which a thread sleeps until an event occurs: `epoll_wait(blocked)`.
//!
//! Their benchmarks ask for events that are there. A call that sleeps also has two switches, away
//! from its thread and back. One of them is charged to it, and the other one to the other thread.

use super::{At, Costs, Measured};
use crate::constants::SWITCHING_PROCESSES;
use crate::vector::names::{BLOCKED, SWITCH, WAITING, without_blocked};

impl Costs {
    /// Adds the costs of calls that sleep: each is the cost of the call and that of a switch. A
    /// benchmark of such a call takes precedence.
    pub(crate) fn add_blocked(&mut self) {
        for call in WAITING {
            let name = format!("{call}({BLOCKED})");
            let Some(measured_call) = self.primitives.get(call) else {
                continue;
            };
            if self.primitives.contains_key(&name) {
                continue;
            }
            if self.switch().is_some() {
                let measured =
                    Measured { curve: measured_call.curve.clone(), contains: Vec::new() };
                for marked in [&mut self.disturbed, &mut self.within_launches] {
                    if [call, SWITCH].iter().any(|part| marked.contains(*part)) {
                        marked.insert(name.clone());
                    }
                }
                self.composed.insert(name.clone());
                self.primitives.insert(name, measured);
            } else {
                let reason = self.unusable.get(SWITCH).cloned();
                let reason = reason.unwrap_or_else(|| format!("the run has no {SWITCH}"));
                self.unusable.insert(name, reason);
            }
        }
    }

    /// The primitives whose costs are in that of this one: the call and the switch of a call that
    /// sleeps, else itself.
    pub(crate) fn components<'a>(&self, name: &'a str) -> Vec<&'a str> {
        if self.composed.contains(name) {
            vec![name, without_blocked(name), SWITCH]
        } else {
            vec![name]
        }
    }

    /// The cost of a call that sleeps, with a factor for each primitive.
    pub(crate) fn cost_of_sleeping(
        &self,
        factor: &impl Fn(&str) -> f64,
        name: &str,
        size: Option<f64>,
    ) -> Option<At> {
        let call = self.primitives.get(name)?.curve.at(size)?;
        let cost = call.cost.times(factor(without_blocked(name)));
        let switch = self.switch()?.cost.times(factor(SWITCH));
        Some(At { cost: cost.plus(switch), ..call })
    }

    fn switch(&self) -> Option<At> {
        let at = self.primitives.get(SWITCH)?.curve.at(Some(SWITCHING_PROCESSES))?;
        (!at.is_extrapolated).then_some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::CostChange;
    use crate::tests::{cost, costs};

    const WAIT: &str = "epoll_wait(blocked)";

    fn with_switch() -> Costs {
        costs(&[
            ("epoll_wait", Some(1.0), cost(300.0, 10.0)),
            ("epoll_wait", Some(11.0), cost(500.0, 10.0)),
            (SWITCH, Some(2.0), cost(1500.0, 100.0)),
            (SWITCH, Some(16.0), cost(2500.0, 100.0)),
        ])
    }

    #[test]
    fn call_that_sleeps_costs_a_switch_more() {
        let mut costs = with_switch();
        costs.disturbed.insert(SWITCH.to_owned());
        costs.add_blocked();
        let at = costs.at(WAIT, Some(6.0)).unwrap();
        assert_eq!((at.cost.ns, at.cost.interval_ns), (1900.0, [1790.0, 2010.0]));
        assert!(!costs.has("poll(blocked)"), "poll has no cost");
        let disturbed = costs.disturbed_among(["epoll_wait", WAIT].into_iter());
        assert_eq!(disturbed, [WAIT], "the call itself is not disturbed");
    }

    #[test]
    fn changed_costs_of_the_call_and_of_the_switch_count() {
        let mut costs = with_switch();
        costs.add_blocked();
        let mut changed = |text: &str| {
            CostChange::read(text).unwrap().apply(&mut costs).unwrap();
            let ns = |name| costs.at(name, Some(1.0)).unwrap().cost.ns;
            (ns("epoll_wait"), ns(WAIT), costs.is_changed("epoll_wait"))
        };
        assert_eq!(changed("context_switch=2x"), (300.0, 3300.0, false));
        assert_eq!(changed("epoll_wait(blocked)=0.5x"), (300.0, 1650.0, false));
        assert_eq!(changed("epoll_wait=3x"), (900.0, 1950.0, true));
        assert!(costs.is_changed(WAIT));
    }

    #[test]
    fn without_a_switch_the_reason_is_that_of_the_switch() {
        let mut costs = with_switch();
        costs.primitives.remove(SWITCH);
        let mut lacking = |reason: Option<&str>| {
            let reason = reason.map(|reason| (SWITCH.to_owned(), reason.to_owned()));
            costs.unusable = reason.into_iter().collect();
            costs.add_blocked();
            assert_eq!(costs.at(WAIT, Some(1.0)), None);
            costs.lacking(WAIT)
        };
        let invalid = "lat_ctx: it has no valid figure";
        assert_eq!(lacking(Some(invalid)), format!("{WAIT} ({invalid})"));
        let expected = format!("{WAIT} (the run has no context_switch)");
        assert_eq!(lacking(None), expected);
    }

    /// The switch between more processes costs more.
    #[test]
    fn switch_between_two_processes_counts() {
        let mut costs =
            costs(&[("poll", None, cost(200.0, 0.0)), (SWITCH, Some(16.0), cost(2500.0, 0.0))]);
        costs.add_blocked();
        assert!(!costs.has("poll(blocked)"));
    }

    #[test]
    fn benchmark_of_a_call_that_sleeps_takes_precedence() {
        let mut costs = with_switch();
        let own = costs.primitives["epoll_wait"].clone();
        costs.primitives.insert(WAIT.to_owned(), own);
        costs.add_blocked();
        assert_eq!(costs.at(WAIT, Some(1.0)).unwrap().cost.ns, 300.0);
    }
}
