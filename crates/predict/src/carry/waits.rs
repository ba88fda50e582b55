//! How often an application waits for events on another kernel.
//!
//! A server that waits gets all events that have come. Their number depends on the scheduler: one
//! kernel lets the load send several requests before the server runs, and another one interrupts
//! the load at the first request (docs/notes/prediction.md, "On another machine"). The vector has
//! the waits of the traced kernel. On another kernel, each event may need a wait of its own. The
//! interval reaches to the time of these waits. Work of the application after each wait, such as
//! readings of the clock, is not in it, nor are fewer waits than traced.

use super::pair::Systems;
use crate::vector::Use;
use crate::vector::names::{EPOLL_WAIT, EPOLL_WAIT_BLOCKED};

/// Waits that another kernel may add to those of a use.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct FurtherWaits {
    /// Their number per unit.
    pub count: f64,
    /// Their time per unit, in ns.
    pub ns: f64,
}

/// The waits that one wait for each event adds to those of a use, which take `used_ns` there. The
/// thread may sleep in each further wait: the wait takes the cost of `epoll_wait(blocked)`, or the
/// mean time of the traced waits if that is longer. None if both kernels have the same version, or
/// one is unknown, or the time is unknown.
pub(crate) fn further_waits(used: &Use, used_ns: f64, systems: Systems) -> FurtherWaits {
    let events = used.size.filter(|_| [EPOLL_WAIT, EPOLL_WAIT_BLOCKED].contains(&&*used.name));
    let versions = systems.map(|costs| version(&costs.kernel)).both();
    let is_other_kernel = versions.is_some_and(|versions| versions.from != versions.to);
    let cost_of = |name| systems.to.at(name, Some(1.0));
    match (events, cost_of(EPOLL_WAIT_BLOCKED).or_else(|| cost_of(EPOLL_WAIT))) {
        (Some(events), Some(at)) if is_other_kernel && events > 1.0 => {
            let count = used.count * (events - 1.0);
            FurtherWaits { count, ns: count * at.cost.ns.max(used_ns / used.count) }
        }
        _ => FurtherWaits::default(),
    }
}

/// The line that names the number of further waits per unit.
pub(crate) fn line(further: f64, system: &str, unit: &str) -> Option<String> {
    (further > 0.0).then(|| {
        format!(
            "{system} has another kernel, whose scheduler may let the application wait for each event separately: up to {further:.2} further waits each {unit}, whose time is in the interval"
        )
    })
}

/// The version of a kernel, such as 6.18 of `6.18.44-generic`. `None`: unknown.
fn version(release: &str) -> Option<[u32; 2]> {
    let mut parts = release.split(|c: char| !c.is_ascii_digit());
    let mut next = || parts.next()?.parse().ok();
    Some([next()?, next()?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::costs::Costs;
    use crate::tests::{cost, costs, used};

    fn with_kernel(kernel: &str) -> Costs {
        Costs { kernel: kernel.to_owned(), ..costs(&[(EPOLL_WAIT, Some(1.0), cost(300.0, 0.0))]) }
    }

    fn further(name: &str, size: f64, count: f64, each_ns: f64, systems: Systems) -> [f64; 2] {
        let found = further_waits(&used(name, Some(size), count), count * each_ns, systems);
        [found.count, found.ns]
    }

    #[test]
    fn each_event_may_need_a_wait_on_a_kernel_of_another_version() {
        let (from, to) = (with_kernel("6.18.44-generic"), with_kernel("6.1.176"));
        let systems = Systems { from: &from, to: &to };
        assert_eq!(further(EPOLL_WAIT, 0.0, 2.0, 200.0, systems), [0.0; 2]);
        assert_eq!(further("poll", 4.0, 2.0, 200.0, systems), [0.0; 2]);
        for (each_ns, further_ns) in [(200.0, 300.0), (2400.0, 2400.0)] {
            assert_eq!(further(EPOLL_WAIT, 4.0, 0.25, each_ns, systems), [0.75, 0.75 * further_ns]);
        }
        let with_sleep = Costs {
            kernel: to.kernel.clone(),
            ..costs(&[
                (EPOLL_WAIT, Some(1.0), cost(300.0, 0.0)),
                (EPOLL_WAIT_BLOCKED, Some(1.0), cost(2000.0, 0.0)),
            ])
        };
        for name in [EPOLL_WAIT, EPOLL_WAIT_BLOCKED] {
            let systems = Systems { to: &with_sleep, ..systems };
            assert_eq!(further(name, 4.0, 0.25, 600.0, systems), [0.75, 0.75 * 2000.0], "{name}");
        }
        let without_cost = Costs { primitives: Default::default(), ..to.clone() };
        let unknown = Systems { to: &without_cost, ..systems };
        assert_eq!(further(EPOLL_WAIT, 4.0, 0.25, 200.0, unknown), [0.0; 2]);
        let line = line(0.75, "b", "request").unwrap();
        assert!(line.contains("0.75 further waits each request"), "{line}");
    }

    #[test]
    fn waits_are_those_of_the_trace_on_a_kernel_of_the_same_version() {
        let from = with_kernel("6.18.44-generic");
        for kernel in ["6.18.2", "", "unknown"] {
            let to = with_kernel(kernel);
            let systems = Systems { from: &from, to: &to };
            assert_eq!(further(EPOLL_WAIT, 4.0, 1.0, 200.0, systems), [0.0; 2]);
        }
        assert_eq!(line(0.0, "b", "request"), None);
    }
}
