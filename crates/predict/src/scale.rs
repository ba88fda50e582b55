//! From one system to another: the ratio of a primitive's costs.

use crate::cost::{At, Cost, Costs};
use crate::own_cost::{Own, kinds_on_both, without_parts};
use crate::page_fault::{PAGE_FAULT, is_minor_fault};

/// The cost on one system divided by the cost on another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    pub ratio: f64,
    pub interval: [f64; 2],
    /// The cost where the application was traced, in ns. `None`: the ratio is that of others.
    pub from_ns: Option<f64>,
    /// Whether both systems have the same processor.
    pub has_same_processor: bool,
    pub is_extrapolated: bool,
    pub is_of_any_kind: bool,
}

impl Scale {
    /// The ratio of a system to itself.
    pub const SAME: Scale = Scale {
        ratio: 1.0,
        interval: [1.0; 2],
        from_ns: None,
        has_same_processor: false,
        is_extrapolated: false,
        is_of_any_kind: false,
    };

    /// The mean ratio for a primitive with a benchmark that was not measured yet. Few ratios may be
    /// known, and its own may be outside of theirs: the interval reaches to twice the largest one
    /// and to half the smallest.
    pub fn unmeasured(self) -> Scale {
        let [low, high] = self.interval;
        let is_exact = self == Scale::SAME;
        Scale { interval: if is_exact { self.interval } else { [low / 2.0, high * 2.0] }, ..self }
    }

    /// The time of traced uses on the other system, in ns, with its interval.
    ///
    /// The part that a benchmark accounts for changes as its cost does. The excess over it comes
    /// from misses of caches and predictors, and from waking others up. On another processor it is
    /// taken to change in the same proportion. On the same processor it stays: the interval reaches
    /// from an excess that stays to one that changes.
    pub fn carry(&self, traced_ns: f64, count: f64) -> (f64, [f64; 2]) {
        let own_ns = match self.from_ns {
            Some(each) if self.has_same_processor => traced_ns.min(count * each),
            _ => traced_ns,
        };
        let excess_ns = traced_ns - own_ns;
        let [low, high] = self.interval;
        let ends =
            [own_ns * low + excess_ns * low.min(1.0), own_ns * high + excess_ns * high.max(1.0)];
        (own_ns * self.ratio + excess_ns, ends)
    }
}

/// Two systems: the one where an application was traced, and the one for which it is predicted.
#[derive(Clone, Copy)]
pub(crate) struct Systems<'a> {
    pub from: &'a Costs,
    pub to: &'a Costs,
}

impl Systems<'_> {
    /// Whether both have the costs of the same run. A ratio then has no error.
    pub fn is_same(&self) -> bool {
        self.from.is_of_same_run(self.to)
    }

    /// Why a program may take another number of page faults: pointers have another width, so that
    /// the same data are on another number of pages.
    pub fn other_page_faults(&self) -> Option<String> {
        let [from, to] = [self.from.pointer_bytes?, self.to.pointer_bytes?];
        (from != to).then(|| {
            format!(
                "page faults are as many as in the trace, though pointers have {to} instead of {from} bytes"
            )
        })
    }

    /// Whether both systems have the same processor, and the cost of the primitive is as measured.
    fn have_same_processor(&self, name: &str) -> bool {
        let [from, to] = [&self.from.processor, &self.to.processor];
        from.is_some() && from == to && !self.to.is_changed(name)
    }

    /// The ratio of a primitive at a size. `None`: one of the costs is unknown, or is 0 beyond the
    /// measured sizes.
    ///
    /// The ratio of a primitive whose kind the use does not say is halfway between the smallest and
    /// the largest of its kinds.
    pub fn scale(&self, name: &str, size: Option<f64>) -> Option<Scale> {
        let is_known = |costs: &Costs| costs.primitives.contains_key(name);
        let are_known = is_known(self.from) && is_known(self.to);
        if is_minor_fault(name) && name != PAGE_FAULT && !are_known {
            // It is none of the kinds whose costs are changed.
            let to = &self.to.unchanged();
            let scale = Systems { to, ..*self }.scale(PAGE_FAULT, size)?;
            let own = self.from.measured(name, size);
            return Some(Scale { from_ns: own.map(|at| at.cost.ns), ..scale });
        }
        if is_known(self.from) || is_known(self.to) {
            let [from, to] = [self.from.at(name, size)?, self.to.at(name, size)?];
            let scale = match without_parts(name, size, [from.cost, to.cost], [self.from, self.to])
            {
                Some(own) => self.of_own([from, to], &own)?,
                None => self.of_costs(from, to)?,
            };
            return Some(Scale { has_same_processor: self.have_same_processor(name), ..scale });
        }
        let kinds = kinds_on_both(name, [self.from, self.to]).into_iter();
        let each = kinds
            .filter_map(|kind| self.of_costs(self.from.at(kind, size)?, self.to.at(kind, size)?));
        let all: Vec<Scale> = each.collect();
        let ratios = || all.iter().map(|s| s.ratio);
        let [low, high] = [ratios().reduce(f64::min)?, ratios().reduce(f64::max)?];
        Some(Scale {
            ratio: low.midpoint(high),
            interval: ends(&all)?,
            from_ns: self.from.at(name, size).map(|at| at.cost.ns),
            has_same_processor: self.have_same_processor(name),
            is_extrapolated: all.iter().any(|s| s.is_extrapolated),
            is_of_any_kind: true,
        })
    }

    /// The ratio of two costs without their parts. If the kind of these is unknown, the interval
    /// holds the ratios for each kind.
    fn of_own(&self, [from, to]: [At; 2], own: &Own) -> Option<Scale> {
        let left = |costs: &[Cost; 2]| {
            let at = |at: At, cost: Cost| At { cost, ..at };
            self.of_costs(at(from, costs[0]), at(to, costs[1]))
        };
        let scale = left(&own.middle)?;
        // Nothing is left of the cost there: the ratio may be 0.
        let nothing = Scale { interval: [0.0; 2], ..scale };
        let by_kind: Vec<Scale> =
            own.by_kind.iter().map(|costs| left(costs).unwrap_or(nothing)).collect();
        let interval = ends(&by_kind).unwrap_or(scale.interval);
        Some(Scale {
            interval: if self.is_same() {
                [scale.ratio; 2]
            } else {
                [interval[0].min(scale.ratio), interval[1].max(scale.ratio)]
            },
            ..scale
        })
    }

    /// The relative half-widths of both costs are added in quadrature, since both were measured
    /// independently.
    fn of_costs(&self, from: At, to: At) -> Option<Scale> {
        if !(from.cost.ns > 0.0 && to.cost.ns > 0.0) {
            return None;
        }
        let ratio = to.cost.ns / from.cost.ns;
        let ([from_below, from_above], [below, above]) = (relative(from.cost), relative(to.cost));
        let interval = [
            ratio * (1.0 - below.hypot(from_above)).max(0.0),
            ratio * (1.0 + above.hypot(from_below)),
        ];
        Some(Scale {
            ratio,
            interval: if self.is_same() { [ratio; 2] } else { interval },
            from_ns: Some(from.cost.ns),
            has_same_processor: false,
            is_extrapolated: from.is_extrapolated || to.is_extrapolated,
            is_of_any_kind: from.is_of_any_kind || to.is_of_any_kind,
        })
    }
}

/// The half-widths of a cost below and above it, as shares of the cost.
pub(crate) fn relative(cost: Cost) -> [f64; 2] {
    let [low, high] = cost.interval_ns;
    [(cost.ns - low) / cost.ns, (high - cost.ns) / cost.ns]
}

/// The interval that holds those of all ratios.
pub(crate) fn ends(all: &[Scale]) -> Option<[f64; 2]> {
    let low = all.iter().map(|s| s.interval[0]).reduce(f64::min)?;
    let high = all.iter().map(|s| s.interval[1]).reduce(f64::max)?;
    Some([low, high])
}
