//! One value of all nodes of a class: its modes, and the distance of each node from its mode.

use yamba_stats::{ModeRule, median, modes, qn};

use crate::slow_nodes::{FEWEST_NODES, fewest};

/// Two modes are at least this many of their standard deviations apart.
const SEPARATION: f64 = 6.0;

/// The fewest nodes of a mode. Of fewer, the spread is too uncertain.
const FEWEST_OF_MODE: usize = 8;

/// A node's own squared error counts beyond this multiple of the class's median: with six launches
/// of normal times, one of a hundred nodes has more.
const USUAL_ERRORS: f64 = 3.0;

/// A value of a node: the natural logarithm of a time, so that more is slower.
#[derive(Clone, Copy, Debug)]
pub struct Value {
    /// The index of the node within its class.
    pub node: usize,
    pub level: f64,
    /// Its squared standard error, from the launches.
    pub squared_error: f64,
}

/// A level that a real share of the nodes has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mode {
    /// The median of its nodes.
    pub center: f64,
    /// Their robust standard deviation.
    pub spread: f64,
    /// Number of nodes.
    pub count: usize,
}

/// A node's distance from its mode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance {
    /// The index of the node within its class.
    pub node: usize,
    /// The level minus that of the mode.
    pub residual: f64,
    /// The standard deviation of the residual: that of the mode, or more if the node's launches
    /// differ unusually.
    pub deviation: f64,
    /// The deviation with the spread as it was found, which may be below the assumed minimum.
    pub own_deviation: f64,
    /// The index of the mode.
    pub mode: usize,
    /// The squared error of the value.
    pub squared_error: f64,
}

/// One value of all nodes of a class.
#[derive(Clone, Debug, Default)]
pub struct Column {
    /// The modes, from the fastest.
    pub modes: Vec<Mode>,
    /// The nodes that have the value.
    pub distances: Vec<Distance>,
}

impl Column {
    /// The column of some values. `least_deviation` is the least standard deviation that a mode is
    /// assumed to have. Empty for too few values.
    pub fn new(values: &[Value], least_deviation: f64) -> Column {
        let levels: Vec<f64> = values.iter().map(|v| v.level).collect();
        let rule = ModeRule {
            fewest: fewest(levels.len()).max(FEWEST_OF_MODE),
            separation: SEPARATION,
            least_deviation,
        };
        let cuts = match levels.len() {
            n if n < FEWEST_NODES => return Column::default(),
            _ => modes(&levels, rule).unwrap_or_default(),
        };
        let place = |level: f64| cuts.partition_point(|cut| *cut <= level);
        let mut column = Column::default();
        for mode in 0..=cuts.len() {
            let own: Vec<&Value> = values.iter().filter(|v| place(v.level) == mode).collect();
            column.add(&own, mode, least_deviation);
        }
        column.distances.sort_by_key(|distance| distance.node);
        column
    }

    fn add(&mut self, values: &[&Value], number: usize, least_deviation: f64) {
        let levels: Vec<f64> = values.iter().map(|v| v.level).collect();
        let errors: Vec<f64> = values.iter().map(|v| v.squared_error).collect();
        let usual = USUAL_ERRORS * median(&errors).unwrap_or(0.0);
        let spread = qn(&levels).unwrap_or(0.0);
        let mode = Mode {
            center: median(&levels).unwrap_or(0.0),
            spread: spread.max(least_deviation),
            count: values.len(),
        };
        self.modes.push(mode);
        let deviation = |spread: f64, value: &Value| {
            (spread.powi(2) + (value.squared_error - usual).max(0.0)).sqrt()
        };
        self.distances.extend(values.iter().map(|value| Distance {
            node: value.node,
            residual: value.level - mode.center,
            deviation: deviation(mode.spread, value),
            own_deviation: deviation(spread, value),
            mode: number,
            squared_error: value.squared_error,
        }));
    }

    /// Appends the column of a group of nodes, whose centers are relative to `center`.
    pub fn append(&mut self, center: f64, other: Column) {
        let first = self.modes.len();
        let modes =
            other.modes.into_iter().map(|mode| Mode { center: center + mode.center, ..mode });
        self.modes.extend(modes);
        let distances = other
            .distances
            .into_iter()
            .map(|distance| Distance { mode: first + distance.mode, ..distance });
        self.distances.extend(distances);
        self.distances.sort_by_key(|distance| distance.node);
    }

    /// The standard deviation between all nodes, those between the modes included, without
    /// outliers.
    pub fn whole_spread(&self) -> f64 {
        let mean = self.average(|mode| mode.center);
        self.average(|mode| mode.spread.powi(2) + (mode.center - mean).powi(2)).sqrt()
    }

    /// The spread within the modes: the root mean square over the nodes.
    pub fn spread(&self) -> f64 {
        self.average(|mode| mode.spread.powi(2)).sqrt()
    }

    fn average(&self, of: impl Fn(&Mode) -> f64) -> f64 {
        let nodes: usize = self.modes.iter().map(|mode| mode.count).sum();
        let each = self.modes.iter().map(|mode| of(mode) * mode.count as f64);
        each.sum::<f64>() / nodes.max(1) as f64
    }

    /// The center of the mode with the most nodes.
    pub fn main_center(&self) -> f64 {
        let main = self.modes.iter().max_by_key(|mode| mode.count);
        main.map_or(0.0, |mode| mode.center)
    }
}
