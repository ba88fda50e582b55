//! The jobs of a fleet in order, and each node through them.

use indexmap::{IndexMap, IndexSet};
use yamba_stats::median;

use crate::slow_nodes::job::{Job, job};
use crate::slow_nodes::node_run::{leave_out_other_units, name_other_programs};
use crate::slow_nodes::{LeftOut, NodeRun};

/// A node is slow in an earlier job if a node of its class is at least that slow with this
/// probability or less, for this test alone.
const SLOW_BEFORE: f64 = 0.01;

/// The report of a fleet.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The jobs, in order of time. The last one decides which nodes are slow.
    pub jobs: Vec<JobOfFleet>,
    /// For each finding of the last job: the index of the first job since which the node is slow in
    /// each job.
    pub slow_since: Vec<usize>,
}

/// A job, and its nodes.
#[derive(Clone, Debug, Default)]
pub struct JobOfFleet {
    /// The name of the job, or of the fleet. `None` for documents that name neither.
    pub name: Option<String>,
    /// Median start of its runs, in seconds since 1970 (UTC): one wrong clock does not change the
    /// order of the jobs.
    pub started_unix_s: Option<f64>,
    /// The analysis.
    pub job: Job,
    /// Number of figures of all nodes that do not count.
    pub left_out: LeftOut,
    /// Nodes without a figure that counts.
    pub without_figure: Vec<String>,
    /// Nodes of earlier jobs that this one lacks.
    pub missing: Vec<String>,
}

/// Analyses all jobs. If a node has several runs in a job, the launches of all of them count.
///
/// The jobs of one fleet count as one job unless most of its nodes ran in several: a fleet that was
/// resumed has a job for each part.
pub fn report(runs: &[NodeRun]) -> Report {
    let has_jobs = with_several_jobs(runs);
    let mut jobs: IndexMap<Key, IndexMap<&str, Vec<&NodeRun>>> = IndexMap::new();
    for run in runs {
        let fleet = run.fleet.as_deref();
        let key = (fleet, run.job.as_deref().filter(|_| has_jobs.contains(&fleet)));
        jobs.entry(key).or_default().entry(&run.node).or_default().push(run);
    }
    let each = jobs.into_iter().map(|((fleet, job), nodes)| {
        let nodes = nodes.into_values().map(|runs| NodeRun::merged(&runs));
        analysed(job.or(fleet), nodes.collect())
    });
    let mut jobs: Vec<JobOfFleet> = each.collect();
    jobs.sort_by(|a, b| {
        let order = a.started_unix_s.partial_cmp(&b.started_unix_s);
        order.unwrap_or(std::cmp::Ordering::Equal)
    });
    add_missing(&mut jobs);
    Report { slow_since: slow_since(&jobs), jobs }
}

type Key<'a> = (Option<&'a str>, Option<&'a str>);

/// The fleets of which at least half of the nodes ran in several jobs.
fn with_several_jobs(runs: &[NodeRun]) -> IndexSet<Option<&str>> {
    type Jobs<'a> = IndexMap<&'a str, IndexSet<Option<&'a str>>>;
    let mut fleets: IndexMap<Option<&str>, Jobs> = IndexMap::new();
    for run in runs {
        let nodes = fleets.entry(run.fleet.as_deref()).or_default();
        nodes.entry(&run.node).or_default().insert(run.job.as_deref());
    }
    let is_repeated = |nodes: &Jobs| {
        let several = nodes.values().filter(|jobs| jobs.len() > 1);
        2 * several.count() >= nodes.len()
    };
    let each = fleets.into_iter().filter(|(_, nodes)| is_repeated(nodes));
    each.map(|(fleet, _)| fleet).collect()
}

fn analysed(name: Option<&str>, mut nodes: Vec<NodeRun>) -> JobOfFleet {
    nodes.sort_by_cached_key(|run| natural(&run.node));
    leave_out_other_units(&mut nodes);
    name_other_programs(&mut nodes);
    let started: Vec<f64> = nodes.iter().filter_map(|run| run.started_unix_s).collect();
    let mut left_out = LeftOut::default();
    nodes.iter().for_each(|run| left_out.add(run.left_out));
    let empty = nodes.iter().filter(|run| run.figures.is_empty());
    JobOfFleet {
        name: name.map(str::to_owned),
        started_unix_s: median(&started),
        job: job(&nodes.iter().collect::<Vec<_>>()),
        left_out,
        without_figure: empty.map(|run| run.node.clone()).collect(),
        missing: Vec::new(),
    }
}

/// Splits a name so that `node9` precedes `node10`.
fn natural(name: &str) -> Vec<(String, u64)> {
    let mut parts: Vec<(String, u64)> = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let (text, tail) = rest.split_at(digits);
        let end = tail.find(|c: char| !c.is_ascii_digit()).unwrap_or(tail.len());
        let (number, tail) = tail.split_at(end);
        parts.push((text.to_owned(), number.parse().unwrap_or(0)));
        rest = tail;
    }
    parts
}

fn add_missing(jobs: &mut [JobOfFleet]) {
    let mut known: IndexMap<String, ()> = IndexMap::new();
    for job in jobs {
        let is_here = |name: &String| job.job.nodes.contains(name);
        job.missing = known.keys().filter(|name| !is_here(name)).cloned().collect();
        known.extend(job.job.nodes.iter().map(|name| (name.clone(), ())));
    }
}

/// For each finding of the last job: the first of the jobs in which the node is slow without a
/// break. Jobs without the node are no break.
fn slow_since(jobs: &[JobOfFleet]) -> Vec<usize> {
    let Some(last) = jobs.last() else {
        return Vec::new();
    };
    let since = |finding: &crate::slow_nodes::Finding| {
        let node = &last.job.nodes[finding.node];
        let resource = &last.job.resources[finding.resource];
        let mut first = jobs.len() - 1;
        for (at, job) in jobs.iter().enumerate().rev() {
            match slow(&job.job, node, resource) {
                Some(false) => break,
                Some(true) => first = at,
                None => {}
            }
        }
        first
    };
    last.job.findings.iter().map(since).collect()
}

/// Whether a node is slow in a resource. `None` if the job does not measure that.
fn slow(job: &Job, node: &str, resource: &str) -> Option<bool> {
    let is_named = |f: &crate::slow_nodes::Finding| {
        job.nodes[f.node] == node && job.resources[f.resource] == resource
    };
    if job.findings.iter().any(is_named) {
        return Some(true);
    }
    let state = job.state(node, resource)?;
    state.map(|state| state.p <= SLOW_BEFORE)
}
