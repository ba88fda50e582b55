//! The predicted kernel time of a unit of work: the dot product of the application's vector and the system's costs.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::cost::{At, Costs};
use crate::vector::{Use, Vector};
use crate::{NULL_CALL, canonical};

/// The predicted kernel time of one unit of an application's work on one system.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Prediction {
    /// Name of the application.
    pub application: String,
    /// The unit of its work.
    pub unit: String,
    /// The system: the run that measured its costs.
    pub system: String,
    /// Predicted kernel time per unit, in ns.
    pub predicted_ns: f64,
    /// Interval of `predicted_ns`, from the intervals of the costs.
    pub interval_ns: [f64; 2],
    /// Measured kernel time per unit on this system, in ns. `None`: not measured.
    pub measured_ns: Option<f64>,
    /// Interval of `measured_ns`. It covers the error of the kernel's clock-tick accounting.
    pub measured_interval_ns: Option<[f64; 2]>,
    /// Measured user time per unit on this system, in ns.
    pub measured_user_ns: Option<f64>,
    /// `predicted_ns` divided by `measured_ns`, less 1.
    pub error: Option<f64>,
    /// The share of the vector that has costs of its own.
    pub coverage: Coverage,
    /// The products, the largest first.
    pub primitives: Vec<Product>,
    /// Uses that are part of another primitive's cost.
    pub contained: Vec<Within>,
    /// User time per unit where the vector was taken, in ns. It is not predicted for another system.
    pub user_ns: Option<f64>,
    /// Whether some interval of the used costs covers its own launches only, and makes no claim about another run.
    pub is_within_launches: bool,
    /// Entries of the system's run that were not used, with the reason, and limits of the costs.
    pub notes: Vec<String>,
}

/// Shares from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Coverage {
    /// Share of the uses that have a cost of their own. The others are charged as a null call. `None` if there are no uses.
    pub calls: Option<f64>,
    /// Share of the traced kernel time in them, including time outside the listed primitives if the vector has its whole kernel time.
    /// `None` if the vector does not have the time of each primitive.
    pub kernel_time: Option<f64>,
}

/// One term of the sum.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Product {
    /// The primitive.
    pub name: String,
    /// Its size.
    pub size: Option<f64>,
    /// Number of uses per unit, without those that are part of another primitive.
    pub count: f64,
    /// Cost of one use, in ns.
    pub cost_ns: f64,
    /// `count` times `cost_ns`.
    pub product_ns: f64,
    /// Interval of `product_ns`.
    pub interval_ns: [f64; 2],
    /// Whether the primitive has a cost of its own. Otherwise it is charged as a null call.
    pub is_covered: bool,
    /// Whether the system has costs of the primitive by size, but the vector has no size.
    pub lacks_size: bool,
    /// Whether the size is outside the measured sizes.
    pub is_extrapolated: bool,
    /// Whether the use does not say the kind of the primitive: the interval is from the cheapest kind to the dearest, and `cost_ns` is its middle.
    pub is_of_any_kind: bool,
}

/// Uses of a primitive within another one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Within {
    /// The primitive.
    pub name: String,
    /// The primitive whose cost has it.
    pub within: String,
    /// Number of uses per unit.
    pub count: f64,
}

/// Predicts the kernel time of `vector` on `system`.
///
/// # Errors
/// If nothing is used, if nothing is covered, if something is not and the null call has no cost, or if the sum is 0 or infinite. The text names the primitives without a cost.
pub fn predict(vector: &Vector, system: &str, costs: &Costs) -> Result<Prediction, String> {
    let mut rest = vector.primitives.clone();
    let contained = without_contained(&mut rest, costs);
    let mut products = products(&rest, costs).map_err(|missing| match missing.as_slice() {
        [] => "every count of the vector is 0".to_owned(),
        missing => format!("{system} has no cost of {}", listed(missing)),
    })?;
    products.sort_by(|a, b| b.product_ns.total_cmp(&a.product_ns));
    let (predicted_ns, interval_ns) = sum(&products);
    if !(predicted_ns > 0.0 && predicted_ns.is_finite()) {
        return Err(format!(
            "the sum on {system} is {predicted_ns} ns, which is no time"
        ));
    }
    Ok(Prediction {
        application: vector.application.clone(),
        unit: vector.unit.clone(),
        system: system.to_owned(),
        predicted_ns,
        interval_ns,
        measured_ns: None,
        measured_interval_ns: None,
        measured_user_ns: None,
        error: None,
        coverage: coverage(vector, &products),
        is_within_launches: products
            .iter()
            .any(|p| costs.within_launches.contains(curve(p))),
        primitives: products,
        contained,
        user_ns: vector.user_ns,
        notes: costs.left_out.clone(),
    })
}

impl Prediction {
    /// Puts the measured times of a unit beside the prediction: kernel time with its interval, and user time, in ns.
    pub fn compare_with(&mut self, kernel_ns: f64, interval_ns: [f64; 2], user_ns: f64) {
        self.measured_ns = Some(kernel_ns);
        self.measured_interval_ns = Some(interval_ns);
        self.measured_user_ns = Some(user_ns);
        self.error = (kernel_ns > 0.0).then(|| self.predicted_ns / kernel_ns - 1.0);
    }
}

/// The terms of the sum, or the primitives without a cost if they cannot be charged as a null call or nothing else is used.
fn products(uses: &[Use], costs: &Costs) -> Result<Vec<Product>, Vec<String>> {
    let null = costs.at(&canonical(NULL_CALL), None);
    let mut missing = Vec::new();
    let mut products = Vec::new();
    for used in uses.iter().filter(|used| used.count > 0.0) {
        let own = costs.at(&used.name, used.size);
        if own.is_none() {
            missing.push(without_cost(used, costs));
        }
        products.extend(
            own.or(null)
                .map(|at| product(used, at, own.is_some(), costs)),
        );
    }
    if products.iter().any(|p| p.is_covered) && (missing.is_empty() || null.is_some()) {
        Ok(products)
    } else {
        Err(missing)
    }
}

/// The first few names, and the number of the others.
fn listed(names: &[String]) -> String {
    const NAMED: usize = 6;
    let shown = names[..names.len().min(NAMED)].join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => shown,
        others => format!("{shown} and {others} others"),
    }
}

/// The primitive as an error names it. The cost of a primitive with sizes is not known without a size.
fn without_cost(used: &Use, costs: &Costs) -> String {
    let is_known = costs.primitives.contains_key(&used.name);
    let reason = if is_known { " without a size" } else { "" };
    used.label() + reason
}

/// Removes the uses that are part of another primitive's cost, so that nothing is charged twice. Returns them.
///
/// The dearest primitive comes first, since a whole costs more than its parts: a `fork` within an `execve` then takes no further `wait4` away.
fn without_contained(uses: &mut [Use], costs: &Costs) -> Vec<Within> {
    let cost_of = |used: &Use| Some(costs.at(&used.name, used.size)?.cost.ns);
    let cost_at = |(i, used): (usize, &Use)| Some((i, cost_of(used)?));
    let mut order: Vec<(usize, f64)> = uses.iter().enumerate().filter_map(cost_at).collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut found = Vec::new();
    for (whole, _) in order {
        let (name, count) = (uses[whole].name.clone(), uses[whole].count);
        let Some(known) = costs.primitives.get(&name) else {
            continue;
        };
        let parts = &known.contains;
        for part in parts.iter().filter(|part| part.name != name) {
            let count = take(uses, &part.name, count * part.count);
            if count > 0.0 {
                found.push(Within {
                    name: part.name.clone(),
                    within: name.clone(),
                    count,
                });
            }
        }
    }
    found
}

/// Takes up to `count` uses of a primitive away, over all its sizes. Returns the number taken.
fn take(uses: &mut [Use], name: &str, count: f64) -> f64 {
    let mut left = count;
    for used in uses.iter_mut().filter(|used| used.name == name) {
        let taken = left.min(used.count);
        used.count -= taken;
        left -= taken;
    }
    count - left
}

/// The primitive whose curve gave the cost.
fn curve(product: &Product) -> &str {
    if product.is_covered {
        &product.name
    } else {
        NULL_CALL
    }
}

fn product(used: &Use, at: At, is_covered: bool, costs: &Costs) -> Product {
    let product = at.cost.times(used.count);
    Product {
        name: used.name.clone(),
        size: used.size,
        count: used.count,
        cost_ns: at.cost.ns,
        product_ns: product.ns,
        interval_ns: product.interval_ns,
        is_covered,
        lacks_size: !is_covered && costs.primitives.contains_key(&used.name),
        is_extrapolated: at.is_extrapolated,
        is_of_any_kind: is_covered && at.is_of_any_kind,
    }
}

/// The sum of the products and its interval.
///
/// Products that share a curve are off together: their half-widths are added. Costs of different primitives were measured independently: their
/// half-widths are added in quadrature, each side of the interval for itself.
fn sum(products: &[Product]) -> (f64, [f64; 2]) {
    let mut of_curves: BTreeMap<&str, [f64; 2]> = BTreeMap::new();
    for p in products {
        let widths = of_curves.entry(curve(p)).or_default();
        widths[0] += p.product_ns - p.interval_ns[0];
        widths[1] += p.interval_ns[1] - p.product_ns;
    }
    let total: f64 = products.iter().map(|p| p.product_ns).sum();
    let side = |i: usize| of_curves.values().map(|w| w[i] * w[i]).sum::<f64>().sqrt();
    (total, [(total - side(0)).max(0.0), total + side(1)])
}

fn coverage(vector: &Vector, products: &[Product]) -> Coverage {
    let uncovered = |used: &&Use| {
        let is_it = |p: &&Product| p.name == used.name && p.size == used.size;
        products.iter().find(is_it).is_some_and(|p| !p.is_covered)
    };
    let sum = |of: &dyn Fn(&Use) -> Option<f64>| -> Option<[f64; 2]> {
        let all = vector.primitives.iter().map(of).sum::<Option<f64>>()?;
        let open = vector.primitives.iter().filter(uncovered);
        Some([all - open.map(of).sum::<Option<f64>>()?, all])
    };
    let share = |[own, all]: [f64; 2]| (all > 0.0).then(|| own / all);
    let of_time = sum(&|used| used.time_ns);
    // The kernel's coarse clock can give less than the sum of the calls.
    let whole = |[own, all]: [f64; 2]| [own, vector.kernel_ns.map_or(all, |ns| ns.max(all))];
    Coverage {
        calls: sum(&|used| Some(used.count)).and_then(share),
        kernel_time: of_time.map(whole).and_then(share),
    }
}
