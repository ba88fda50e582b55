//! The figures of one resource, combined for each node of a class.

use std::collections::HashSet;

use yamba_stats::median;

use crate::slow_nodes::column::{Column, Value};

/// The least standard deviation between nodes that is assumed of a combined value: 0.1 %.
const LEAST_DEVIATION: f64 = 0.001;

/// The least standard deviation between nodes that is assumed of a figure: that of a launch in a
/// comparison.
pub const FIGURE_DEVIATION: f64 = yamba_compare::LEAST_DEVIATION;

/// A figure's distance counts up to this many deviations from the median of the node's distances,
/// so that one figure alone does not decide.
const CLIP: f64 = 3.0;

/// A node's figures have at least this share of the weight of all figures.
const LEAST_WEIGHT: f64 = 0.5;

/// A resource of a class.
#[derive(Clone, Debug, Default)]
pub struct Resource {
    /// The combined value.
    pub column: Column,
    /// By node of the class: how many figures count, and how many of them are slower than the
    /// class.
    pub counts: Vec<[usize; 2]>,
}

/// The distances of one node: figure of the resource, distance from the center of the figure's main
/// mode, squared error.
type Distances = Vec<(usize, f64, f64)>;

/// Combines the figures of a resource for each of `nodes` nodes. `figures` has the values of each
/// figure.
///
/// The value of a node is the weighted mean of its figures' distances from the class, each weighted
/// by the inverse of the standard deviation between nodes: the sum of standardised values of P. C.
/// O'Brien, "Procedures for Comparing Samples with Multiple Endpoints", Biometrics 40 (1984)
/// 1079-1087. Figures that agree add up, while their noise averages out. The spread of the result
/// is taken from the nodes, so correlated figures are no error. Distances are clipped around the
/// node's median distance (P. J. Huber's location estimate, in one step). The modes are those of
/// the combined value: a mode of a single figure is noise here. If there are several modes, the
/// figures are combined again within each, since the distance between modes would hide the spread
/// of a figure.
pub fn resource(figures: &[&[Value]], nodes: usize) -> Resource {
    let first = combined_nodes(figures, nodes);
    if first.column.modes.len() < 2 {
        return first;
    }
    let mut whole = Resource { column: Column::default(), counts: first.counts };
    for (number, mode) in first.column.modes.iter().enumerate() {
        let own = first.column.distances.iter().filter(|d| d.mode == number);
        let own: HashSet<usize> = own.map(|d| d.node).collect();
        let of_mode = |values: &&[Value]| -> Vec<Value> {
            values.iter().filter(|v| own.contains(&v.node)).copied().collect()
        };
        let figures: Vec<Vec<Value>> = figures.iter().map(of_mode).collect();
        let figures: Vec<&[Value]> = figures.iter().map(Vec::as_slice).collect();
        let within = combined_nodes(&figures, nodes);
        for node in own {
            whole.counts[node] = within.counts[node];
        }
        whole.column.append(mode.center, within.column);
    }
    whole
}

fn combined_nodes(figures: &[&[Value]], nodes: usize) -> Resource {
    let columns = figures.iter().map(|values| Column::new(values, FIGURE_DEVIATION));
    let usable: Vec<Column> = columns.filter(|column| !column.modes.is_empty()).collect();
    let spreads: Vec<f64> = usable.iter().map(Column::whole_spread).collect();
    let of_node = by_node(&usable, nodes);
    let all = Weights::new(0..spreads.len(), &spreads);
    let (mut values, mut excesses) = (Vec::new(), Vec::new());
    let mut counts = vec![[0, 0]; nodes];
    for (node, distances) in of_node.iter().enumerate() {
        let slower = distances.iter().filter(|(_, distance, _)| *distance > 0.0);
        counts[node] = [distances.len(), slower.count()];
        let own = Weights::new(distances.iter().map(|d| d.0), &spreads);
        if distances.is_empty() || own.sum < LEAST_WEIGHT * all.sum {
            continue;
        }
        values.push(combined(node, distances, &spreads));
        // Fewer figures average less noise out.
        excesses.push((own.variance / all.variance).max(1.0));
    }
    let mut column = Column::new(&values, LEAST_DEVIATION);
    for (distance, excess) in column.distances.iter_mut().zip(&excesses) {
        distance.deviation *= excess.sqrt();
        distance.own_deviation *= excess.sqrt();
    }
    Resource { column, counts }
}

fn by_node(figures: &[Column], nodes: usize) -> Vec<Distances> {
    let mut of_node: Vec<Distances> = vec![Vec::new(); nodes];
    for (figure, column) in figures.iter().enumerate() {
        let main = column.main_center();
        for d in &column.distances {
            let distance = d.residual + column.modes[d.mode].center - main;
            of_node[d.node].push((figure, distance, d.squared_error));
        }
    }
    of_node
}

/// Weights of some figures: their sum, and the variance of the weighted mean of independent
/// figures.
struct Weights {
    sum: f64,
    variance: f64,
}

impl Weights {
    fn new(figures: impl Iterator<Item = usize>, spreads: &[f64]) -> Weights {
        let (count, sum) = figures
            .fold((0.0, 0.0), |(count, sum), figure| (count + 1.0, sum + 1.0 / spreads[figure]));
        Weights { sum, variance: count / (sum * sum) }
    }
}

/// The weighted mean of a node's clipped distances. The error of a figure is clipped in the same
/// way.
fn combined(node: usize, distances: &Distances, spreads: &[f64]) -> Value {
    let plain: Vec<f64> = distances.iter().map(|d| d.1).collect();
    let middle = median(&plain).unwrap_or(0.0);
    let (mut sum, mut level, mut squared_error) = (0.0, 0.0, 0.0);
    for (figure, distance, error) in distances {
        let weight = 1.0 / spreads[*figure];
        let reach = CLIP * spreads[*figure];
        sum += weight;
        level += weight * distance.clamp(middle - reach, middle + reach);
        squared_error += weight * weight * error.min(spreads[*figure].powi(2));
    }
    Value { node, level: level / sum, squared_error: squared_error / (sum * sum) }
}
