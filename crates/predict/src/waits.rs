//! How often an application waits for events on another kernel.
//!
//! A server that waits gets all events that have come. Their number depends on the scheduler: one
//! kernel lets the load send several requests before the server runs, and another one interrupts
//! the load at the first request. nginx with four connections on one processor waited 0.25 times
//! for each request by Linux 6.18, and 0.53 times by User-Mode Linux 6.1. The vector has the waits
//! of the traced kernel. On another kernel, each event may need a wait of its own. The interval
//! reaches to the time of these waits. Work of the application after each wait, such as readings of
//! the clock, is not in it, nor are fewer waits than traced.

use crate::product::Product;
use crate::scale::Systems;

/// The primitive whose size is the number of events, and its kind in which the thread slept. A
/// trace by strace does not distinguish them.
const WAIT: &str = "epoll_wait";
const SLEEP: &str = "epoll_wait(blocked)";

/// The waits per unit that one wait for each event adds to those of a term. 0: both kernels have
/// the same version, or one is unknown.
fn further(product: &Product, systems: &Systems) -> f64 {
    let versions = [systems.from, systems.to].map(|costs| version(&costs.kernel));
    let are_known = versions.iter().all(Option::is_some);
    match product.size {
        Some(events)
            if [WAIT, SLEEP].contains(&&*product.name)
                && are_known
                && versions[0] != versions[1] =>
        {
            product.count * (events - 1.0).max(0.0)
        }
        _ => 0.0,
    }
}

/// Raises the upper end of the interval of a term by the time of the further waits, and returns
/// their number per unit. The thread may sleep in each further wait: the wait takes the cost of
/// `epoll_wait(blocked)`, or the mean time of the traced waits if that is longer. 0: there are no
/// further waits, or their time is unknown.
pub(crate) fn widen(product: &mut Product, systems: &Systems) -> f64 {
    let further = further(product, systems);
    let cost_of = |name| systems.to.at(name, Some(1.0));
    let cost = cost_of(SLEEP).or_else(|| cost_of(WAIT));
    match (&mut product.interval_ns, cost) {
        (Some([_, high]), Some(at)) if further > 0.0 => {
            *high += further * at.cost.ns.max(product.product_ns / product.count);
            further
        }
        _ => 0.0,
    }
}

/// The line that names the further waits per unit.
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
    use crate::cost::Costs;
    use crate::tests::{cost, costs};

    fn term(name: &str, size: f64, count: f64, each_ns: f64) -> Product {
        Product {
            name: name.to_owned(),
            size: Some(size),
            count,
            product_ns: count * each_ns,
            interval_ns: Some([50.0, 700.0]),
            ..Product::default()
        }
    }

    fn with_kernel(kernel: &str) -> Costs {
        Costs { kernel: kernel.to_owned(), ..costs(&[(WAIT, Some(1.0), cost(300.0, 0.0))]) }
    }

    #[test]
    fn each_event_may_need_a_wait_on_a_kernel_of_another_version() {
        let (from, to) = (with_kernel("6.18.44-generic"), with_kernel("6.1.176"));
        let systems = Systems { from: &from, to: &to };
        assert_eq!(widen(&mut term(WAIT, 0.0, 2.0, 200.0), &systems), 0.0);
        assert_eq!(widen(&mut term("poll", 4.0, 2.0, 200.0), &systems), 0.0);
        let of_waits = |each_ns| term(WAIT, 4.0, 0.25, each_ns);
        for (each_ns, further_ns) in [(200.0, 300.0), (2400.0, 2400.0)] {
            let mut product = of_waits(each_ns);
            assert_eq!(widen(&mut product, &systems), 0.75);
            let high = 700.0 + 0.75 * further_ns;
            assert_eq!(product.interval_ns, Some([50.0, high]));
        }
        let with_sleep = Costs {
            kernel: to.kernel.clone(),
            ..costs(&[(WAIT, Some(1.0), cost(300.0, 0.0)), (SLEEP, Some(1.0), cost(2000.0, 0.0))])
        };
        for name in [WAIT, SLEEP] {
            let mut product = term(name, 4.0, 0.25, 600.0);
            let systems = Systems { to: &with_sleep, ..systems };
            assert_eq!(widen(&mut product, &systems), 0.75);
            let high = 700.0 + 0.75 * 2000.0;
            assert_eq!(product.interval_ns, Some([50.0, high]), "{name}");
        }
        let without_cost = Costs { primitives: Default::default(), ..to.clone() };
        let unknown = Systems { to: &without_cost, ..systems };
        assert_eq!(widen(&mut of_waits(200.0), &unknown), 0.0);
        let line = line(0.75, "b", "request").unwrap();
        assert!(line.contains("0.75 further waits each request"), "{line}");
    }

    #[test]
    fn waits_are_those_of_the_trace_on_a_kernel_of_the_same_version() {
        let from = with_kernel("6.18.44-generic");
        for kernel in ["6.18.2", "", "unknown"] {
            let to = with_kernel(kernel);
            let systems = Systems { from: &from, to: &to };
            assert_eq!(widen(&mut term(WAIT, 4.0, 1.0, 200.0), &systems), 0.0);
        }
        assert_eq!(line(0.0, "b", "request"), None);
    }
}
