//! The cost of one primitive over its size.

/// A cost in ns with its interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// The cost of one operation, in ns.
    pub ns: f64,
    /// The interval of `ns`.
    pub interval_ns: [f64; 2],
}

impl Cost {
    /// The cost and both ends times `factor`, which is not negative.
    pub fn times(self, factor: f64) -> Cost {
        Cost { ns: self.ns * factor, interval_ns: self.interval_ns.map(|end| end * factor) }
    }

    /// The sum of two costs. Their half-widths are added.
    pub(crate) fn plus(self, other: Cost) -> Cost {
        Cost {
            ns: self.ns + other.ns,
            interval_ns: [0, 1].map(|i| self.interval_ns[i] + other.interval_ns[i]),
        }
    }

    /// The difference of two costs, which may be negative. Their half-widths are added.
    pub(crate) fn minus(self, other: Cost) -> Cost {
        Cost {
            ns: self.ns - other.ns,
            interval_ns: [0, 1].map(|i| self.interval_ns[i] - other.interval_ns[1 - i]),
        }
    }

    /// The half-widths below and above, as shares of the cost. 0 if the cost is 0.
    pub(crate) fn relative(self) -> [f64; 2] {
        if self.ns <= 0.0 {
            return [0.0; 2];
        }
        let [low, high] = self.interval_ns;
        [(self.ns - low) / self.ns, (high - self.ns) / self.ns]
    }

    /// A cost that is this or the other one: the interval covers both.
    pub(crate) fn or(self, other: Cost) -> Cost {
        let [low, high] = self.interval_ns;
        Cost {
            ns: self.ns,
            interval_ns: [low.min(other.interval_ns[0]), high.max(other.interval_ns[1])],
        }
    }
}

/// Knots with straight lines between them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// The measured sizes in ascending order with their costs. One knot without a size: the cost
    /// does not depend on it.
    knots: Vec<(Option<f64>, Cost)>,
}

/// A point of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct At {
    /// The cost there.
    pub cost: Cost,
    /// Whether the size is outside the measured ones.
    pub is_extrapolated: bool,
    /// Whether the primitive has several kinds and the use has none: the interval is from the
    /// cheapest kind to the dearest.
    pub is_of_any_kind: bool,
}

impl Curve {
    /// Adds a knot. `false` if there is one of this size, or one without a size.
    pub fn add(&mut self, size: Option<f64>, cost: Cost) -> bool {
        let is_known = self.knots.iter().any(|(known, _)| *known == size);
        let is_mixed = !self.knots.is_empty() && (size.is_none() || self.knots[0].0.is_none());
        if is_known || is_mixed {
            return false;
        }
        let place = self.knots.partition_point(|(known, _)| *known < size);
        self.knots.insert(place, (size, cost));
        true
    }

    /// The cost at a measured size.
    pub(crate) fn knot(&self, size: Option<f64>) -> Option<Cost> {
        self.knots.iter().find(|(known, _)| *known == size).map(|(_, cost)| *cost)
    }

    /// The measured sizes, in ascending order.
    pub(crate) fn sizes(&self) -> impl Iterator<Item = f64> {
        self.knots.iter().filter_map(|(size, _)| *size)
    }

    /// The largest measured size.
    pub(crate) fn largest_size(&self) -> Option<f64> {
        self.knots.last()?.0
    }

    /// The size between the first and the last measured one at which the cost is nearest to `ns`,
    /// and whether the cost there is `ns`. `None` if the cost does not depend on the size, or does
    /// not grow with it.
    pub(crate) fn size_at(&self, ns: f64) -> Option<(f64, bool)> {
        let grows = self.knots.is_sorted_by(|a, b| a.1.ns < b.1.ns);
        let [(first, least), .., (last, most)] = self.knots.as_slice() else {
            return None;
        };
        match ns {
            _ if !grows => None,
            _ if ns <= least.ns => Some(((*first)?, ns == least.ns)),
            _ if ns >= most.ns => Some(((*last)?, ns == most.ns)),
            _ => {
                let after = self.knots.partition_point(|(_, cost)| cost.ns < ns);
                let [(low, from), (high, to)] = [self.knots[after - 1], self.knots[after]];
                let share = (ns - from.ns) / (to.ns - from.ns);
                Some((low? + share * (high? - low?), true))
            }
        }
    }

    /// The cost at a size. `None` if the cost depends on the size and the size is unknown.
    ///
    /// Between two knots the cost is on the line through them, outside all knots on the line
    /// through the nearest two, but at least 0. The ends of the interval are combined so that it is
    /// widest: both knots may be off in opposite directions.
    pub fn at(&self, size: Option<f64>) -> Option<At> {
        let (first, only) = self.knots.first()?;
        let Some(first) = first else {
            return Some(At { cost: *only, is_extrapolated: false, is_of_any_kind: false });
        };
        let size = size?;
        let last = self.knots.last()?.0?;
        let is_extrapolated = size < *first || size > last;
        if self.knots.len() == 1 {
            return Some(At { cost: *only, is_extrapolated, is_of_any_kind: false });
        }
        let after = self.knots.partition_point(|(known, _)| *known < Some(size));
        let after = after.clamp(1, self.knots.len() - 1);
        let cost = on_line(&self.knots[after - 1], &self.knots[after], size)?;
        Some(At { cost, is_extrapolated, is_of_any_kind: false })
    }
}

fn on_line(low: &(Option<f64>, Cost), high: &(Option<f64>, Cost), size: f64) -> Option<Cost> {
    let share = (size - low.0?) / (high.0? - low.0?);
    let weights = [1.0 - share, share];
    // A negative weight turns the interval around.
    let end = |i: usize| {
        let part = |weight: f64, cost: &Cost| {
            let turned = if weight < 0.0 { 1 - i } else { i };
            weight * cost.interval_ns[turned]
        };
        part(weights[0], &low.1) + part(weights[1], &high.1)
    };
    Some(Cost {
        ns: (weights[0] * low.1.ns + weights[1] * high.1.ns).max(0.0),
        interval_ns: [end(0).max(0.0), end(1).max(0.0)],
    })
}
