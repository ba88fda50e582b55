//! In which unit launches are compared. Pure.

use yamba_record::Benchmark;
use yamba_stats::mean;

use super::spread;

/// What a launch's figure is told in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// The benchmark's own.
    Own,
    /// Cycles of the processor.
    Cycles,
}

impl Unit {
    /// As a document names it, of a benchmark.
    pub fn name(self, of: &Benchmark) -> Option<String> {
        match self {
            Unit::Own => of.unit.clone(),
            Unit::Cycles => Some("cycles".to_owned()),
        }
    }
}

/// The medians of one run's launches of one benchmark.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Medians {
    /// In the benchmark's unit.
    pub own: Vec<f64>,
    /// In cycles; none where they are unknown of any launch that has a median: a comparison is of all launches.
    pub cycles: Vec<f64>,
}

impl Medians {
    /// Those of a benchmark.
    pub fn of(benchmark: &Benchmark) -> Medians {
        let launches = benchmark.launches.iter().filter(|l| l.median.is_some());
        let cycles: Option<Vec<f64>> = launches.map(|l| l.cycles.filter(|c| *c > 0.0)).collect();
        let cycles = cycles.filter(|_| benchmark.cycles.is_some());
        Medians {
            own: benchmark.launches.iter().filter_map(|l| l.median).collect(),
            cycles: cycles.unwrap_or_default(),
        }
    }

    /// Whether cycles are known of all launches.
    pub fn knows_cycles(&self) -> bool {
        self.cycles.len() == self.own.len()
    }

    /// Those in one unit.
    pub fn within(&self, unit: Unit) -> &[f64] {
        match unit {
            Unit::Own => &self.own,
            Unit::Cycles => &self.cycles,
        }
    }
}

/// The unit that the launches of several runs are compared in: that of the benchmark, or cycles where all runs know them and the launches within the runs agree better in them.
///
/// What the core does itself takes its number of cycles at any clock rate; what memory, a device or a timer does takes its time. The spread within the runs tells which,
/// and knows nothing of the difference between them.
pub fn common<'a>(runs: impl Iterator<Item = &'a Medians> + Clone) -> Unit {
    let within = |unit: Unit| {
        let variances: Vec<f64> = runs
            .clone()
            .filter_map(|r| spread(r.within(unit)))
            .collect();
        mean(&variances)
    };
    let all_known = runs.clone().all(Medians::knows_cycles);
    match (within(Unit::Own), within(Unit::Cycles)) {
        (Some(own), Some(cycles)) if all_known && cycles < own => Unit::Cycles,
        _ => Unit::Own,
    }
}

/// The unit of a comparison, and among how many the compared launches themselves chose it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The unit.
    pub unit: Unit,
    /// 2 where both were possible: it is as if two tests had been made, and the p-value counts so (Bonferroni). Spreads of the two that know nothing of each other raise up to
    /// twice the alarms otherwise, since whichever agrees better by chance is taken. 1 where there was no choice, or where other launches made it.
    pub among: usize,
}

impl Choice {
    /// The benchmark's own, whatever the launches say.
    pub const OWN: Choice = Choice {
        unit: Unit::Own,
        among: 1,
    };
}

/// Re-measured launches are compared in the unit that the stored launches chose, where both sides know it: there was no choice.
pub fn chosen(before: Unit, a: &Benchmark, b: &Benchmark) -> Choice {
    let are_known = || [a, b].iter().all(|x| Medians::of(x).knows_cycles());
    let unit = match before {
        Unit::Cycles if are_known() => Unit::Cycles,
        _ => Unit::Own,
    };
    Choice { unit, among: 1 }
}

/// The unit that two runs' launches are compared in.
pub fn of_pair(a: &Benchmark, b: &Benchmark) -> Choice {
    let both = [a, b].map(Medians::of);
    Choice {
        unit: common(both.iter()),
        among: match both.iter().all(Medians::knows_cycles) {
            true => 2,
            false => 1,
        },
    }
}
