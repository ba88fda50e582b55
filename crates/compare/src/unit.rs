//! Chooses the unit in which launches are compared. Pure.

use yamba_record::Benchmark;
use yamba_stats::mean;

use super::spread;

/// The unit of a launch's figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// The benchmark's own.
    Own,
    /// Cycles of the processor.
    Cycles,
}

impl Unit {
    /// The name of the unit in the document, for this benchmark.
    pub fn name(self, of: &Benchmark) -> Option<String> {
        match self {
            Unit::Own => of.unit.clone(),
            Unit::Cycles => Some("cycles".to_owned()),
        }
    }

    /// An interval that holds the undisturbed level of a benchmark whose batches may have been
    /// disturbed. `None` if none was.
    pub fn bounds(self, of: &Benchmark) -> Option<[f64; 2]> {
        let bounds = of.undisturbed_bounds(of.median?, of.confidence_interval)?;
        match self {
            Unit::Own => Some(bounds),
            Unit::Cycles => of.details.cycles.map(|c| c.confidence_interval),
        }
    }
}

/// The medians of one run's launches of one benchmark.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Medians {
    /// In the benchmark's unit.
    pub own: Vec<f64>,
    /// In cycles. Empty if any launch with a median has no cycles, since a comparison needs all
    /// launches.
    pub cycles: Vec<f64>,
}

impl Medians {
    /// The medians of a benchmark's launches.
    pub fn new(benchmark: &Benchmark) -> Medians {
        let launches = benchmark.launches.iter().filter(|l| l.median.is_some());
        let cycles: Option<Vec<f64>> = launches.map(|l| l.cycles.filter(|c| *c > 0.0)).collect();
        let cycles = cycles.filter(|_| benchmark.details.cycles.is_some());
        Medians {
            own: benchmark.launches.iter().filter_map(|l| l.median).collect(),
            cycles: cycles.unwrap_or_default(),
        }
    }

    /// Whether all launches have cycles.
    pub fn knows_cycles(&self) -> bool {
        self.cycles.len() == self.own.len()
    }

    /// The medians in one unit.
    pub fn within(&self, unit: Unit) -> &[f64] {
        match unit {
            Unit::Own => &self.own,
            Unit::Cycles => &self.cycles,
        }
    }
}

/// The unit for comparing the launches of several runs. Cycles if all runs know them and the
/// launches within each run agree better in cycles, else the benchmark's own unit.
///
/// Work inside the core takes the same number of cycles at any clock rate. Work of memory, a device
/// or a timer takes the same time. The spread within the runs shows which kind it is, and is
/// independent of the difference between the runs.
pub fn common<'a>(runs: impl Iterator<Item = &'a Medians> + Clone) -> Unit {
    let within = |unit: Unit| {
        let variances: Vec<f64> = runs.clone().filter_map(|r| spread(r.within(unit))).collect();
        mean(&variances)
    };
    let all_known = runs.clone().all(Medians::knows_cycles);
    match (within(Unit::Own), within(Unit::Cycles)) {
        (Some(own), Some(cycles)) if all_known && cycles < own => Unit::Cycles,
        _ => Unit::Own,
    }
}

/// The unit of a comparison, and how many units the compared launches could choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    pub unit: Unit,
    /// Number of tests for which the p-value is adjusted (Bonferroni). 2 if the compared launches
    /// themselves decided between two units: the unit with the smaller spread is chosen, and its
    /// spread may be small by chance. Without the adjustment, units with independent spreads raise
    /// up to twice as many false alarms. 1 if only one unit was possible, or if other launches
    /// decided.
    pub among: usize,
    /// If both sides were measured in the same rounds, a launch of each in one round: the number
    /// for which the p-value is adjusted because of earlier and later looks, a part of `among`.
    pub looks: Option<usize>,
}

impl Choice {
    /// The benchmark's own unit, without a choice.
    pub const OWN: Choice = Choice { unit: Unit::Own, among: 1, looks: None };
}

/// The unit for re-measured launches: the one that the stored launches chose, if both sides know
/// it. So there was no choice.
pub fn chosen(before: Unit, a: &Benchmark, b: &Benchmark) -> Choice {
    let are_known = || [a, b].iter().all(|x| Medians::new(x).knows_cycles());
    let unit = match before {
        Unit::Cycles if are_known() => Unit::Cycles,
        _ => Unit::Own,
    };
    Choice { unit, ..Choice::OWN }
}

/// The unit for comparing the launches of two runs.
pub fn choose_unit(a: &Benchmark, b: &Benchmark) -> Choice {
    let both = [a, b].map(Medians::new);
    Choice {
        unit: common(both.iter()),
        among: if both.iter().all(Medians::knows_cycles) { 2 } else { 1 },
        looks: None,
    }
}
