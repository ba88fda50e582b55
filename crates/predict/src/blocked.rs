//! Calls in which a thread sleeps until an event occurs: `epoll_wait(blocked)`.
//!
//! Their benchmarks ask for events that are there. A call that sleeps also switches to another thread and back. One switch is charged to it, as its own thread's half of both.

use crate::cost::{Costs, Measured};

/// The kind of a call in which the thread slept.
pub const BLOCKED: &str = "blocked";

/// The calls that have this kind, by the names of their primitives.
pub const WAITING: [&str; 3] = ["epoll_wait", "poll", "select"];

/// The primitive of a switch from one process to another, with the wake-up of the latter.
const SWITCH: &str = "context_switch";

impl Costs {
    /// Adds the costs of calls that sleep: each is the cost of the call and that of a switch. A benchmark of such a call takes precedence.
    pub(crate) fn add_blocked(&mut self) {
        for call in WAITING {
            let name = format!("{call}({BLOCKED})");
            if self.primitives.contains_key(&name) {
                continue;
            }
            match self.blocked(call) {
                Some(measured) => {
                    copy_mark(&mut self.disturbed, call, &name);
                    copy_mark(&mut self.within_launches, call, &name);
                    self.primitives.insert(name, measured);
                }
                None => {
                    let reason = [SWITCH, call].iter().find_map(|of| self.unusable.get(*of));
                    if let Some(reason) = reason.cloned() {
                        self.unusable.insert(name, reason);
                    }
                }
            }
        }
    }

    /// The cost of a call in which the thread sleeps. `None`: that of the call or of a switch is unknown.
    fn blocked(&self, call: &str) -> Option<Measured> {
        let switch = self.primitives.get(SWITCH)?.curve.at(None)?.cost;
        let curve = self.primitives.get(call)?.curve.plus(switch);
        Some(Measured {
            curve,
            contains: Vec::new(),
        })
    }
}

/// Marks `name` if its call or the switch is marked.
fn copy_mark(marked: &mut std::collections::BTreeSet<String>, call: &str, name: &str) {
    if marked.contains(call) || marked.contains(SWITCH) {
        marked.insert(name.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{cost, costs};

    const WAIT: &str = "epoll_wait(blocked)";

    fn with_switch() -> Costs {
        costs(&[
            ("epoll_wait", Some(1.0), cost(300.0, 10.0)),
            ("epoll_wait", Some(11.0), cost(500.0, 10.0)),
            (SWITCH, None, cost(1500.0, 100.0)),
        ])
    }

    #[test]
    fn call_that_sleeps_costs_a_switch_more() {
        let mut costs = with_switch();
        costs.disturbed.insert(SWITCH.to_owned());
        costs.add_blocked();
        let at = costs.at(WAIT, Some(6.0)).unwrap();
        assert_eq!(
            (at.cost.ns, at.cost.interval_ns),
            (1900.0, [1790.0, 2010.0])
        );
        assert!(!costs.has("poll(blocked)"), "poll has no cost");
        assert!(costs.disturbed.contains(WAIT) && !costs.within_launches.contains(WAIT));
    }

    #[test]
    fn without_a_switch_the_reason_is_that_of_the_switch() {
        let mut costs = with_switch();
        costs.primitives.remove(SWITCH);
        let reason = "lat_ctx: it has no valid figure".to_owned();
        costs.unusable.insert(SWITCH.to_owned(), reason);
        costs.add_blocked();
        assert_eq!(costs.at(WAIT, Some(1.0)), None);
        assert_eq!(
            costs.lacking(WAIT),
            "epoll_wait(blocked) (lat_ctx: it has no valid figure)"
        );
    }

    #[test]
    fn benchmark_of_a_call_that_sleeps_takes_precedence() {
        let mut costs = with_switch();
        let mut measured = costs.primitives[SWITCH].clone();
        measured.curve = measured.curve.plus(cost(700.0, 0.0));
        costs.primitives.insert(WAIT.to_owned(), measured);
        costs.add_blocked();
        assert_eq!(costs.at(WAIT, None).unwrap().cost.ns, 2200.0);
    }
}
