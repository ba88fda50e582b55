//! The report as a document, schema `yamba-fleet-report/1`.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::slow_nodes::classes::distinguishing;
use crate::slow_nodes::report::{JobOfFleet, Report};
use crate::slow_nodes::{Finding, POWER, false_alarms};

/// The version of the document.
const SCHEMA: &str = "yamba-fleet-report/1";

/// The report of a fleet, as `--json` prints it.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Document {
    /// `yamba-fleet-report/1`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: &'static str,
    /// The fleet, folder or runs that the report is about.
    pub name: String,
    /// The most nodes of the last job that are expected to be named although they are not slow.
    pub false_alarms: f64,
    /// The probability with which a slowdown of `detectable` is found.
    pub power: f64,
    /// The jobs, in order of time. All other members are about the last one.
    pub jobs: Vec<JobSummary>,
    /// Number of tests: nodes times resources, nodes times figures.
    pub tests: [usize; 2],
    /// The classes of nodes, from the largest.
    pub classes: Vec<ClassOfNodes>,
    /// The slow nodes, from the most certain one.
    pub slow: Vec<SlowNode>,
    /// The smallest slowdown that is found, by class and resource.
    pub detectable: Vec<DetectableSlowdown>,
    /// Nodes that have no document in the last job.
    pub missing: Vec<String>,
    /// Documents that could not be read, and nodes without a figure.
    pub failed: Vec<Failed>,
    /// Number of figures of all nodes that do not count, by reason.
    pub left_out: BTreeMap<&'static str, usize>,
}

#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct JobSummary {
    /// Its name. `null` for documents that name no job.
    pub job: Option<String>,
    /// Median start of its runs, in seconds since 1970 (UTC).
    pub started_unix_s: Option<f64>,
    /// Number of nodes.
    pub nodes: usize,
    /// Number of slow nodes.
    pub slow: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ClassOfNodes {
    /// A letter: `A` is the largest.
    pub class: String,
    pub nodes: Vec<String>,
    /// The facts that differ between the classes.
    pub facts: BTreeMap<String, Option<String>>,
    /// Resources with several modes.
    pub modes: Vec<ModesOfResource>,
    /// Nodes whose state is rare, with the facts that differ.
    pub differing: Vec<Differing>,
}

#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ModesOfResource {
    pub resource: String,
    /// The modes from the fastest: the ratio of times to the mode with most nodes, and the number
    /// of nodes.
    pub modes: Vec<(f64, usize)>,
}

/// A node with a rare state.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Differing {
    pub node: String,
    /// Its own facts that differ from those of its class.
    pub facts: BTreeMap<String, Option<String>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct SlowNode {
    pub node: String,
    pub class: String,
    pub resource: String,
    /// Its time divided by that of its class; above 1.
    pub ratio: f64,
    /// The 95 % interval of `ratio`.
    pub confidence_interval: [f64; 2],
    /// At most this many nodes are expected to be named by chance if the report names all evidence
    /// this strong: the p-value times the number of tests of its kind, divided by the share of this
    /// kind in the false alarms (0.8 for resources, 0.2 for figures).
    pub false_alarms: f64,
    /// `resource` if the figures of the resource together show it, `figure` if only single figures
    /// do.
    pub evidence: &'static str,
    /// Number of figures of the resource that count.
    pub figures: usize,
    /// Number of them that are slower than the class.
    pub slower: usize,
    /// The figures that differ most: at least three deviations.
    pub most: Vec<FigureOfNode>,
    /// The job since which the node is slow without a break.
    pub slow_since: Option<String>,
    /// The ratio in each job; `null` if it is unknown.
    pub history: Vec<Option<f64>>,
    /// Facts by which the node differs from its class.
    pub differs: BTreeMap<String, Option<String>>,
}

/// A figure that shows that a node is slow.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct FigureOfNode {
    /// Name, parameters, and number of processes or threads.
    pub figure: String,
    /// The node's time divided by that of its class.
    pub ratio: f64,
    /// The distance in standard deviations of the class.
    pub deviations: f64,
}

/// The smallest slowdown of a resource that is found.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct DetectableSlowdown {
    pub class: String,
    pub resource: String,
    /// Number of nodes with enough figures.
    pub nodes: usize,
    /// The standard deviation between nodes of the class: 0.01 for 1 %. `null` for too few nodes.
    pub spread: Option<f64>,
    /// A node that is slower by this factor in all figures is found with the probability `power`.
    /// `null` for too few nodes.
    pub slowdown: Option<f64>,
}

/// A node without figures.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Failed {
    /// The node, or the file of its document.
    pub node: String,
    pub reason: String,
}

/// The document of a report. `failed` are the documents that could not be read, `expected` the
/// nodes that should have one.
pub fn document(name: &str, report: &Report, failed: &[Failed], expected: &[String]) -> Document {
    let last = report.jobs.last();
    let none = JobOfFleet::default();
    let of = Source { report, last: last.unwrap_or(&none) };
    Document {
        schema: SCHEMA,
        name: name.to_owned(),
        false_alarms: false_alarms(of.last.job.tested),
        power: POWER,
        jobs: report.jobs.iter().map(summary).collect(),
        tests: of.last.job.tests,
        classes: of.classes(),
        slow: of.slow(),
        detectable: of.detectable(),
        missing: of.missing(failed, expected),
        failed: of.failed(failed),
        left_out: of.left_out(),
    }
}

impl Document {
    /// Whether any node was compared with others.
    pub fn has_tests(&self) -> bool {
        self.tests != [0, 0]
    }
}

/// The letter of a class, or its number after Z.
pub fn letter(class: usize) -> String {
    match u8::try_from(class) {
        Ok(n) if n < 26 => char::from(b'A' + n).to_string(),
        _ => (class + 1).to_string(),
    }
}

fn summary(of: &JobOfFleet) -> JobSummary {
    let mut slow: Vec<usize> = of.job.findings.iter().map(|f| f.node).collect();
    slow.sort_unstable();
    slow.dedup();
    JobSummary {
        job: of.name.clone(),
        started_unix_s: of.started_unix_s,
        nodes: of.job.nodes.len(),
        slow: slow.len(),
    }
}

struct Source<'a> {
    report: &'a Report,
    last: &'a JobOfFleet,
}

impl Source<'_> {
    fn classes(&self) -> Vec<ClassOfNodes> {
        let job = &self.last.job;
        let facts = distinguishing(&job.classes);
        let each = job.classes.iter().enumerate().zip(facts);
        let of =
            |((number, class), facts): ((usize, &crate::slow_nodes::Class), Vec<_>)| ClassOfNodes {
                class: letter(number),
                nodes: class.nodes.iter().map(|n| job.nodes[*n].clone()).collect(),
                facts: facts.into_iter().collect(),
                modes: self.modes(number),
                differing: self.differing(class),
            };
        each.map(of).collect()
    }

    fn modes(&self, class: usize) -> Vec<ModesOfResource> {
        let job = &self.last.job;
        let each = job.resources.iter().zip(&job.modes[class]);
        let several = each.filter(|(_, modes)| modes.len() > 1);
        let of = |(resource, modes): (&String, &Vec<(f64, usize)>)| ModesOfResource {
            resource: resource.clone(),
            modes: modes.clone(),
        };
        several.map(of).collect()
    }

    fn differing(&self, class: &crate::slow_nodes::Class) -> Vec<Differing> {
        let of = |(node, facts): &(usize, Vec<_>)| Differing {
            node: self.last.job.nodes[*node].clone(),
            facts: facts.iter().cloned().collect(),
        };
        class.differing.iter().map(of).collect()
    }

    fn slow(&self) -> Vec<SlowNode> {
        let findings = self.last.job.findings.iter();
        let each = findings.zip(&self.report.slow_since);
        each.map(|(finding, since)| self.slow_node(finding, *since)).collect()
    }

    fn slow_node(&self, finding: &Finding, since: usize) -> SlowNode {
        let job = &self.last.job;
        let of_class = job.classes.iter().position(|c| c.nodes.contains(&finding.node));
        let class = of_class.unwrap_or_default();
        let mut differing = job.classes[class].differing.iter();
        let own = differing.find(|(node, _)| *node == finding.node);
        let most = finding.figures.iter().map(|slow| FigureOfNode {
            figure: job.figures[slow.figure].0.clone(),
            ratio: slow.ratio,
            deviations: slow.score,
        });
        let (node, resource) = (&job.nodes[finding.node], &job.resources[finding.resource]);
        let jobs = self.report.jobs.iter();
        SlowNode {
            node: node.clone(),
            class: letter(class),
            resource: resource.clone(),
            ratio: finding.ratio,
            confidence_interval: finding.interval,
            false_alarms: finding.false_alarms,
            evidence: if finding.is_of_resource { "resource" } else { "figure" },
            figures: finding.counts[0],
            slower: finding.counts[1],
            most: most.collect(),
            slow_since: self.report.jobs[since].name.clone(),
            history: jobs.map(|j| j.job.ratio(node, resource)).collect(),
            differs: own.map(|(_, facts)| facts.iter().cloned().collect()).unwrap_or_default(),
        }
    }

    fn detectable(&self) -> Vec<DetectableSlowdown> {
        let each = self.last.job.detectable.iter();
        each.map(|d| DetectableSlowdown {
            class: letter(d.class),
            resource: self.last.job.resources[d.resource].clone(),
            nodes: d.nodes,
            spread: d.spread,
            slowdown: d.slowdown,
        })
        .collect()
    }

    fn missing(&self, failed: &[Failed], expected: &[String]) -> Vec<String> {
        let is_here = |name: &String| {
            self.last.job.nodes.contains(name) || failed.iter().any(|f| f.node == *name)
        };
        let all = expected.iter().chain(&self.last.missing);
        let mut missing: Vec<String> = all.filter(|name| !is_here(name)).cloned().collect();
        missing.sort();
        missing.dedup();
        missing
    }

    /// The documents that could not be read, and the nodes of the last job without a figure.
    fn failed(&self, unread: &[Failed]) -> Vec<Failed> {
        let without = self.last.without_figure.iter().cloned();
        let without = without.map(|node| Failed { node, reason: "no figure counts".to_owned() });
        unread.iter().cloned().chain(without).collect()
    }

    fn left_out(&self) -> BTreeMap<&'static str, usize> {
        let left_out = &self.last.left_out;
        let counts = [
            ("disturbed", left_out.disturbed),
            ("invalid or crashed", left_out.invalid),
            ("skipped", left_out.skipped),
            ("without a better direction", left_out.without_direction),
            ("in another unit than on most nodes", left_out.other_unit),
            ("of an earlier run under other conditions", left_out.other_conditions),
        ];
        counts.into_iter().filter(|(_, count)| *count > 0).collect()
    }
}
