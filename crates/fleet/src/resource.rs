//! The figures of one resource, combined for each node of a class.

use yamba_stats::quantile;

use crate::column::{Column, Value};

/// The least standard deviation between nodes that is assumed of a combined value: 0.1 %.
const LEAST_DEVIATION: f64 = 0.001;

/// A figure's residual counts up to this many deviations from the median of the node's residuals, so that one figure alone does not decide.
const CLIP: f64 = 6.0;

/// A node's figures have at least this share of the weight of all figures.
const LEAST_WEIGHT: f64 = 0.5;

/// A resource of a class.
#[derive(Clone, Debug, Default)]
pub struct Resource {
    /// The combined value within the modes of the figures.
    pub within: Column,
    /// The combined value before the modes of the figures are removed: its modes are those of the resource.
    pub whole: Column,
    /// By node of the class: how many figures count, and how many of them are slower than their mode.
    pub counts: Vec<[usize; 2]>,
}

/// The residuals of one node: figure of the resource, residual, offset of the figure's mode, squared error.
type Residuals = Vec<(usize, f64, f64, f64)>;

/// Combines the figures of a resource for each of `nodes` nodes.
///
/// The value of a node is the weighted mean of its residuals, each weighted by the inverse of its standard deviation between nodes: the sum of standardised values of P. C. O'Brien, "Procedures for Comparing
/// Samples with Multiple Endpoints", Biometrics 40 (1984) 1079-1087. Figures that agree add up, while their noise averages out. The spread of the result is taken from the nodes,
/// so correlated figures are no error. Residuals are clipped around the node's median residual (P. J. Huber's location estimate, in one step).
pub fn resource(figures: &[&Column], nodes: usize) -> Resource {
    let usable = figures.iter().filter(|column| !column.modes.is_empty());
    let usable: Vec<&Column> = usable.copied().collect();
    let spreads: Vec<f64> = usable.iter().map(|column| column.spread()).collect();
    let mut of_node: Vec<Residuals> = vec![Vec::new(); nodes];
    for (figure, column) in usable.iter().enumerate() {
        let main = column.main_center();
        for d in &column.distances {
            let offset = column.modes[d.mode].center - main;
            of_node[d.node].push((figure, d.residual, offset, d.squared_error));
        }
    }
    let all = Weights::of(0..spreads.len(), &spreads);
    let (mut within, mut whole) = (Vec::new(), Vec::new());
    let mut counts = vec![[0, 0]; nodes];
    for (node, residuals) in of_node.iter().enumerate() {
        let slower = residuals.iter().filter(|(_, residual, ..)| *residual > 0.0);
        counts[node] = [residuals.len(), slower.count()];
        let own = Weights::of(residuals.iter().map(|r| r.0), &spreads);
        if own.sum < LEAST_WEIGHT * all.sum || residuals.is_empty() {
            continue;
        }
        let (combined, offset, squared_error) = combined(residuals, &spreads);
        // Fewer figures average less noise out.
        let excess = (own.variance / all.variance - 1.0).max(0.0);
        within.push((
            Value {
                node,
                level: combined,
                squared_error,
            },
            excess,
        ));
        whole.push(Value {
            node,
            level: combined + offset,
            squared_error,
        });
    }
    let values: Vec<Value> = within.iter().map(|(value, _)| *value).collect();
    let mut column = Column::of(&values, LEAST_DEVIATION);
    for (distance, (_, excess)) in column.distances.iter_mut().zip(&within) {
        distance.deviation *= (1.0 + excess).sqrt();
    }
    Resource {
        within: column,
        whole: Column::of(&whole, LEAST_DEVIATION),
        counts,
    }
}

/// Weights of some figures: their sum, and the variance of the weighted mean of independent figures.
struct Weights {
    sum: f64,
    variance: f64,
}

impl Weights {
    fn of(figures: impl Iterator<Item = usize>, spreads: &[f64]) -> Weights {
        let (count, sum) = figures.fold((0.0, 0.0), |(count, sum), figure| {
            (count + 1.0, sum + 1.0 / spreads[figure])
        });
        Weights {
            sum,
            variance: count / (sum * sum),
        }
    }
}

/// The weighted mean of a node's clipped residuals, that of its offsets, and the squared error.
fn combined(residuals: &Residuals, spreads: &[f64]) -> (f64, f64, f64) {
    let plain: Vec<f64> = residuals.iter().map(|r| r.1).collect();
    let middle = quantile(&plain, 0.5).unwrap_or(0.0);
    let (mut sum, mut mean, mut offset, mut squared_error) = (0.0, 0.0, 0.0, 0.0);
    for (figure, residual, of_mode, error) in residuals {
        let weight = 1.0 / spreads[*figure];
        let reach = CLIP * spreads[*figure];
        sum += weight;
        mean += weight * residual.clamp(middle - reach, middle + reach);
        offset += weight * of_mode;
        squared_error += weight * weight * error;
    }
    (mean / sum, offset / sum, squared_error / (sum * sum))
}
