//! The part of a run's document that a fleet's report needs.

use std::cmp::Ordering;
use std::hash::Hash;

use indexmap::{IndexMap, IndexSet};
use yamba_compare::identity::{Fact, Fingerprint, fingerprint};
use yamba_record::run::FleetMember;
use yamba_record::{Benchmark, Run, Status};
use yamba_stats::{median, variance};

/// The heading of figures whose document names no topic.
const NO_TOPIC: &str = "Other benchmarks";

#[derive(Clone, Debug, Default)]
pub struct NodeRun {
    /// The node's name.
    pub node: String,
    /// The fleet. `None` if the document names none.
    pub fleet: Option<String>,
    /// The job, without the number of the task. `None` if the document names none.
    pub job: Option<String>,
    /// The run's id.
    pub id: String,
    /// Start of the run, in seconds since 1970 (UTC).
    pub started_unix_s: Option<f64>,
    /// The facts that divide machines into classes.
    pub fingerprint: Fingerprint,
    /// The figures that count.
    pub figures: Vec<FigureLevel>,
    /// Number of figures that do not count, by reason.
    pub left_out: LeftOut,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct FigureLevel {
    /// Name, parameters, and number of processes or threads.
    pub key: String,
    /// The topic of the benchmark, such as `Memory`.
    pub resource: String,
    /// The kind of figure and its unit: `latency in ns`.
    pub measure: String,
    /// The hash of the program. `None` if it is not known.
    pub program: Option<String>,
    /// The natural logarithms of the launches' medians, ascending; with the opposite sign for a
    /// bandwidth, so that more is always slower. Not empty.
    pub launches: Vec<f64>,
}

impl FigureLevel {
    /// The median of the launches.
    pub fn slowness(&self) -> f64 {
        median(&self.launches).unwrap_or(f64::NAN)
    }

    /// Squared standard error of the mean of the launches. 0 for a single launch.
    pub fn squared_error(&self) -> f64 {
        variance(&self.launches).unwrap_or(0.0) / self.launches.len() as f64
    }
}

/// Figures that do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Disturbed. Modes and slow nodes are found by single levels, and even within bounds the level
    /// of a disturbed figure could be anywhere.
    pub disturbed: usize,
    /// Invalid or crashed.
    pub invalid: usize,
    pub skipped: usize,
    /// Without a better direction, or without a positive launch.
    pub without_direction: usize,
    /// Of another kind, or in another unit, than on most nodes.
    pub other_unit: usize,
    /// Of an earlier run of the node, with another program or under other conditions than in its
    /// latest one.
    pub other_conditions: usize,
}

impl LeftOut {
    /// Adds the counts of another run.
    pub fn add(&mut self, other: LeftOut) {
        self.disturbed += other.disturbed;
        self.invalid += other.invalid;
        self.skipped += other.skipped;
        self.without_direction += other.without_direction;
        self.other_unit += other.other_unit;
        self.other_conditions += other.other_conditions;
    }
}

impl NodeRun {
    /// The summary of a run. `node` is the name of the node if the document names none.
    pub fn new(run: &Run, node: &str) -> NodeRun {
        let member = run.fleet.as_ref();
        let mut summary = NodeRun {
            node: member.map_or(node, |member| &member.node).to_owned(),
            fleet: member.map(|member| member.name.clone()),
            job: member.and_then(job_of),
            id: run.id.clone(),
            started_unix_s: run.started_unix_s,
            fingerprint: fingerprint(run),
            ..NodeRun::default()
        };
        for benchmark in &run.benchmarks {
            match level(benchmark) {
                Ok(level) => summary.figures.push(level),
                Err(count) => *count(&mut summary.left_out) += 1,
            }
        }
        summary
    }

    /// The latest of these runs of a node, with the launches of the others that measured with the
    /// same programs under the same conditions.
    pub fn merged(runs: &[&NodeRun]) -> NodeRun {
        let mut runs = runs.to_vec();
        let order = |a: &&NodeRun, b: &&NodeRun| a.started_unix_s.partial_cmp(&b.started_unix_s);
        runs.sort_by(|a, b| order(b, a).unwrap_or(Ordering::Equal));
        let mut merged = runs.first().copied().cloned().unwrap_or_default();
        if runs.len() < 2 {
            return merged;
        }
        let mut figures: IndexMap<[&str; 3], FigureLevel> = IndexMap::new();
        let mut left_out = LeftOut::default();
        for run in runs {
            left_out.add(run.left_out);
            if run.fingerprint != merged.fingerprint {
                left_out.other_conditions += run.figures.len();
                continue;
            }
            for figure in &run.figures {
                let key = [&*figure.key, &figure.resource, &figure.measure];
                let none = || FigureLevel { launches: Vec::new(), ..figure.clone() };
                let known = figures.entry(key).or_insert_with(none);
                if known.program == figure.program {
                    known.launches.extend(&figure.launches);
                } else {
                    left_out.other_conditions += 1;
                }
            }
        }
        merged.left_out = left_out;
        merged.figures = figures.into_values().collect();
        merged.figures.iter_mut().for_each(|f| f.launches.sort_by(f64::total_cmp));
        merged
    }
}

/// The job of a member: Slurm numbers each task of an array by its rank, as in `77_3`.
fn job_of(member: &FleetMember) -> Option<String> {
    let job = member.job.as_deref()?;
    let array = member.rank.and_then(|rank| job.strip_suffix(&format!("_{rank}")));
    // A user may have named the job.
    let array = array.filter(|array| array.bytes().all(|b| b.is_ascii_digit()));
    Some(array.unwrap_or(job).to_owned())
}

/// Selects the counter of a reason.
type Reason = fn(&mut LeftOut) -> &mut usize;

fn level(of: &Benchmark) -> Result<FigureLevel, Reason> {
    match of.status {
        Status::Ok if of.interference.is_disturbed => return Err(|l| &mut l.disturbed),
        Status::Ok => {}
        Status::Skipped | Status::NotStarted => return Err(|l| &mut l.skipped),
        Status::Invalid | Status::Crashed => return Err(|l| &mut l.invalid),
    }
    let kind = of.declaration.figure.as_deref().unwrap_or_default();
    let sign = match kind {
        "latency" => 1.0,
        "bandwidth" | "rate" => -1.0,
        _ => return Err(|l| &mut l.without_direction),
    };
    let launches = of.launches.iter().filter_map(|launch| launch.median);
    let mut logarithms: Vec<f64> = launches.map(|m| sign * m.ln()).collect();
    logarithms.sort_by(f64::total_cmp);
    if logarithms.is_empty() || !logarithms.iter().all(|l| l.is_finite()) {
        return Err(|l| &mut l.without_direction);
    }
    let provenance = &of.declaration.provenance;
    Ok(FigureLevel {
        key: of.label(),
        resource: provenance.topic.as_deref().unwrap_or(NO_TOPIC).to_owned(),
        measure: format!("{kind} in {}", of.unit.as_deref().unwrap_or_default()),
        program: provenance.program.clone(),
        launches: logarithms,
    })
}

/// Leaves out figures whose kind or unit is not that of most nodes: numbers in different units do
/// not compare.
pub(super) fn leave_out_other_units(nodes: &mut [NodeRun]) {
    let all = nodes.iter().flat_map(|node| &node.figures);
    let usual = commonest(all.map(|figure| (figure.key.clone(), figure.measure.as_str())));
    for node in nodes {
        let before = node.figures.len();
        node.figures.retain(|figure| usual.get(&figure.key) == Some(&figure.measure));
        node.left_out.other_unit += before - node.figures.len();
    }
}

/// Adds a fact to nodes that measured with other programs than most nodes with their processor and
/// system.
pub(super) fn name_other_programs(nodes: &mut [NodeRun]) {
    let mut kinds: IndexSet<Vec<Fact>> = IndexSet::new();
    let identities = nodes.iter().map(|node| node.fingerprint.identity.clone());
    let kinds: Vec<usize> = identities.map(|identity| kinds.insert_full(identity).0).collect();
    let all = nodes.iter().zip(&kinds).flat_map(|(node, kind)| {
        node.figures.iter().filter_map(|f| Some(((*kind, f.key.clone()), f.program.as_deref()?)))
    });
    let usual = commonest(all);
    for (node, kind) in nodes.iter_mut().zip(kinds) {
        let is_other = |f: &&FigureLevel| {
            f.program.is_some() && usual.get(&(kind, f.key.clone())) != f.program.as_ref()
        };
        let first = node.figures.iter().filter(is_other).min_by(|a, b| a.key.cmp(&b.key));
        // Nodes with the same programs have the same text, and may make a class.
        let text = first.and_then(|figure| {
            let hash: String = figure.program.as_ref()?.chars().take(8).collect();
            Some(format!("others than usual, such as {hash} for {}", figure.key))
        });
        if text.is_some() {
            node.fingerprint.state.push(("programs".to_owned(), text));
        }
    }
}

/// The commonest value of each key.
fn commonest<'a, K: Hash + Eq>(pairs: impl Iterator<Item = (K, &'a str)>) -> IndexMap<K, String> {
    let mut counts: IndexMap<K, IndexMap<&str, usize>> = IndexMap::new();
    for (key, value) in pairs {
        *counts.entry(key).or_default().entry(value).or_default() += 1;
    }
    let most = |values: IndexMap<&str, usize>| {
        // Of equally common ones the first.
        let most = values.into_iter().rev().max_by_key(|(_, count)| *count);
        most.map_or_else(String::new, |(value, _)| value.to_owned())
    };
    counts.into_iter().map(|(key, values)| (key, most(values))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(node: &str, start: f64, measure: &str, launches: &[f64]) -> NodeRun {
        let figure = FigureLevel {
            key: "lat_x".to_owned(),
            measure: measure.to_owned(),
            program: Some("usual".to_owned()),
            launches: launches.to_vec(),
            ..FigureLevel::default()
        };
        NodeRun {
            node: node.to_owned(),
            started_unix_s: Some(start),
            figures: vec![figure],
            ..NodeRun::default()
        }
    }

    #[test]
    fn launches_of_all_runs_of_a_node_count() {
        let mut early = run("n1", 1.0, "latency in ns", &[0.1, 0.3]);
        early.left_out.skipped = 2;
        let mut late = run("n1", 2.0, "latency in ns", &[0.2]);
        (late.id, late.left_out.skipped) = ("late".to_owned(), 1);
        let merged = NodeRun::merged(&[&early, &late]);
        assert_eq!((merged.id.as_str(), merged.left_out.skipped), ("late", 3));
        assert_eq!(merged.figures.len(), 1);
        assert_eq!(merged.figures[0].launches, [0.1, 0.2, 0.3]);
        let mut other = early.clone();
        other.figures[0].program = Some("other".to_owned());
        early.fingerprint.state.push(("kernel".to_owned(), Some("5".to_owned())));
        let merged = NodeRun::merged(&[&other, &early, &late]);
        assert_eq!(
            (&*merged.figures[0].launches, merged.left_out.other_conditions),
            (&[0.2][..], 2)
        );
    }

    #[test]
    fn figures_in_another_unit_than_most_do_not_count() {
        let units = ["latency in us", "latency in ns", "bandwidth in ns", "latency in ns"];
        let mut nodes = units.map(|unit| run("n", 1.0, unit, &[0.1]));
        leave_out_other_units(&mut nodes);
        assert_eq!(nodes.each_ref().map(|node| node.left_out.other_unit), [1, 0, 1, 0]);
        assert_eq!(nodes.each_ref().map(|node| node.figures.len()), [0, 1, 0, 1]);
    }

    #[test]
    fn other_program_than_on_most_nodes_of_the_kind_is_a_fact() {
        let mut nodes = vec![run("n", 1.0, "latency in ns", &[0.1]); 5];
        nodes[3].figures[0].program = Some("other".to_owned());
        nodes[4].figures[0].program = Some("of another processor".to_owned());
        nodes[4].fingerprint.identity.push(("cpu".to_owned(), Some("y".to_owned())));
        name_other_programs(&mut nodes);
        let text = "others than usual, such as other for lat_x".to_owned();
        assert_eq!(nodes[3].fingerprint.state, [("programs".to_owned(), Some(text))]);
        let is_usual = |place: usize| nodes[place].fingerprint.state.is_empty();
        assert!([0, 1, 2, 4].into_iter().all(is_usual));
    }

    #[test]
    fn tasks_of_one_array_are_one_job() {
        let job = |name: &str, rank| {
            job_of(&FleetMember { job: Some(name.to_owned()), rank, ..FleetMember::default() })
        };
        assert_eq!(job("77_12", Some(12)).as_deref(), Some("77"));
        assert_eq!(job("77_12", Some(2)).as_deref(), Some("77_12"));
        assert_eq!(job("june_1", Some(1)).as_deref(), Some("june_1"));
    }
}
