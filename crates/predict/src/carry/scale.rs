//! The ratio of a primitive's costs on two systems, by which its traced time is carried over.

use super::own_cost::{OwnCost, without_parts};
use super::pair::{Pair, Systems};
use crate::constants::UNMEASURED;
use crate::costs::{At, Cost};
use crate::vector::names::{PAGE_FAULT, is_minor_fault};

/// The cost on one system divided by the cost on another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    pub ratio: f64,
    pub interval: [f64; 2],
    /// The cost where the application was traced, in ns. `None`: the ratio is that of others.
    pub from_ns: Option<f64>,
    pub excess: Excess,
    /// The factor of a hypothetical change of the cost, which `ratio` and `interval` have already.
    pub change: f64,
    pub is_extrapolated: bool,
    pub is_of_any_kind: bool,
}

/// How the excess of a traced time over its benchmark changes. It comes from misses of caches and
/// predictors, and from waking others up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Excess {
    /// As the cost does.
    AsCost,
    /// It stays: both systems have the same processor.
    Stays,
    /// Between the cost and cache misses, which change by this ratio.
    AsMisses(f64),
}

impl Scale {
    /// The ratio of a system to itself.
    pub const SAME: Scale = Scale {
        ratio: 1.0,
        interval: [1.0; 2],
        from_ns: None,
        excess: Excess::AsCost,
        change: 1.0,
        is_extrapolated: false,
        is_of_any_kind: false,
    };

    /// The mean ratio for a primitive with a benchmark that was not measured yet. Few ratios may be
    /// known, and its own may be outside of theirs by the factor [`UNMEASURED`].
    pub fn unmeasured(self) -> Scale {
        let [low, high] = self.interval;
        let is_exact = self == Scale::SAME;
        Scale {
            interval: if is_exact { self.interval } else { [low / UNMEASURED, high * UNMEASURED] },
            ..self
        }
    }

    /// The time of traced uses on the other system, in ns, with its interval.
    ///
    /// The part that a benchmark accounts for changes as its cost does. The interval of an excess
    /// that does not reaches from an excess that does to the other ratio. The value for another
    /// processor is their geometric mean. A hypothetical change of the cost changes all of it.
    pub fn carry(&self, traced_ns: f64, count: f64) -> (f64, [f64; 2]) {
        let own_ns = self.from_ns.map_or(traced_ns, |each| traced_ns.min(count * each));
        let excess_ns = traced_ns - own_ns;
        let [low, high] = self.interval;
        let (ratio, other) = match self.excess {
            Excess::AsCost => (self.ratio, self.ratio),
            Excess::Stays => (self.change, self.change),
            Excess::AsMisses(misses) => {
                let misses = misses * self.change;
                ((self.ratio * misses).sqrt(), misses)
            }
        };
        let ends = [
            own_ns * low + excess_ns * low.min(other),
            own_ns * high + excess_ns * high.max(other),
        ];
        (own_ns * self.ratio + excess_ns * ratio, ends)
    }
}

impl Systems<'_> {
    /// The ratio of a primitive at a size. `None`: one of the costs is unknown, or is 0 beyond the
    /// measured sizes.
    ///
    /// The ratio of a primitive whose kind the use does not say is halfway between the smallest and
    /// the largest of its kinds.
    pub fn scale(self, name: &str, size: Option<f64>) -> Option<Scale> {
        let is_known = self.map(|costs| costs.primitives.contains_key(name));
        if is_minor_fault(name) && name != PAGE_FAULT && !(is_known.from && is_known.to) {
            // It is none of the kinds whose costs are changed.
            let to = &self.to.unchanged();
            let scale = Systems { to, ..self }.scale(PAGE_FAULT, size)?;
            let own = self.from.measured(name, size);
            return Some(Scale { from_ns: own.map(|at| at.cost.ns), ..scale });
        }
        let scale = if is_known.from || is_known.to {
            self.ratio_of_known(name, size)?
        } else {
            self.ratio_of_kinds(name, size)?
        };
        let costs = (self.to.at(name, size), self.to.measured(name, size));
        let change = match costs {
            (Some(changed), Some(own)) if own.cost.ns > 0.0 => changed.cost.ns / own.cost.ns,
            _ => 1.0,
        };
        Some(Scale { excess: self.excess(), change, ..scale })
    }

    /// How the excess over a cost changes.
    fn excess(self) -> Excess {
        match self.ratio_of_misses() {
            _ if self.have_same_processor() => Excess::Stays,
            Some(ratio) => Excess::AsMisses(ratio),
            None => Excess::AsCost,
        }
    }

    /// The ratio of the costs of a primitive, without those of the primitives that it contains.
    fn ratio_of_known(self, name: &str, size: Option<f64>) -> Option<Scale> {
        let costs = self.map(|costs| costs.at(name, size)).both()?;
        match without_parts(name, size, costs.map(|at| at.cost), self) {
            Some(own) => self.ratio_of_own(costs, &own),
            None => self.ratio(costs),
        }
    }

    /// The middle of the ratios of all kinds of a primitive.
    fn ratio_of_kinds(self, name: &str, size: Option<f64>) -> Option<Scale> {
        let ratio = |kind| self.ratio(self.map(|costs| costs.at(kind, size)).both()?);
        let all: Vec<Scale> = self.kinds(name).into_iter().filter_map(ratio).collect();
        let ratios = || all.iter().map(|s| s.ratio);
        let [low, high] = [ratios().reduce(f64::min)?, ratios().reduce(f64::max)?];
        Some(Scale {
            ratio: low.midpoint(high),
            interval: ends(&all)?,
            from_ns: self.from.at(name, size).map(|at| at.cost.ns),
            excess: Excess::AsCost,
            change: 1.0,
            is_extrapolated: all.iter().any(|s| s.is_extrapolated),
            is_of_any_kind: true,
        })
    }

    /// The ratio of two costs without their parts. If the kind of these is unknown, the interval
    /// holds the ratios for each kind.
    fn ratio_of_own(self, costs: Pair<At>, own: &OwnCost) -> Option<Scale> {
        let left = |own: Pair<Cost>| self.ratio(costs.zip(own).map(|(at, cost)| At { cost, ..at }));
        let scale = left(own.middle)?;
        // Nothing is left of the cost there: the ratio may be 0.
        let nothing = Scale { interval: [0.0; 2], ..scale };
        let by_kind: Vec<Scale> =
            own.by_kind.iter().map(|own| left(*own).unwrap_or(nothing)).collect();
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
    fn ratio(self, costs: Pair<At>) -> Option<Scale> {
        let Pair { from, to } = costs;
        if !(from.cost.ns > 0.0 && to.cost.ns > 0.0) {
            return None;
        }
        let ratio = to.cost.ns / from.cost.ns;
        let ([from_below, from_above], [below, above]) = (from.cost.relative(), to.cost.relative());
        let interval = [
            ratio * (1.0 - below.hypot(from_above)).max(0.0),
            ratio * (1.0 + above.hypot(from_below)),
        ];
        Some(Scale {
            ratio,
            interval: if self.is_same() { [ratio; 2] } else { interval },
            from_ns: Some(from.cost.ns),
            excess: Excess::AsCost,
            change: 1.0,
            is_extrapolated: from.is_extrapolated || to.is_extrapolated,
            is_of_any_kind: from.is_of_any_kind || to.is_of_any_kind,
        })
    }
}

/// The interval that holds those of all ratios.
pub(crate) fn ends(all: &[Scale]) -> Option<[f64; 2]> {
    let low = all.iter().map(|s| s.interval[0]).reduce(f64::min)?;
    let high = all.iter().map(|s| s.interval[1]).reduce(f64::max)?;
    Some([low, high])
}
