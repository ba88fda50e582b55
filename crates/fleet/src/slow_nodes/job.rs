//! The nodes of one job: their classes, the slow ones, and what could have been found.

use indexmap::IndexMap;
use indexmap::IndexSet;
use yamba_stats::{Tail, student_t_quantile};

use crate::slow_nodes::classes::{Class, classes};
use crate::slow_nodes::column::{Column, Distance, Value};
use crate::slow_nodes::resource::{FIGURE_DEVIATION, Resource, resource};
use crate::slow_nodes::significance::{critical, p_of_launches, p_value, tails};
use crate::slow_nodes::{FigureLevel, NodeRun, POWER, false_alarms};

/// The share of the false alarms that the tests of resources have. Those of figures have the rest:
/// a node is rarely slow in one figure alone.
const SHARE_OF_RESOURCES: f64 = 0.8;
const SHARE_OF_FIGURES: f64 = 1.0 - SHARE_OF_RESOURCES;

/// A figure is named as evidence from this many deviations on.
const EVIDENCE: f64 = 3.0;

/// Confidence of a finding's interval.
const CONFIDENCE: f64 = 0.95;

/// The nodes of one job.
#[derive(Clone, Debug, Default)]
pub struct Job {
    /// The names of the nodes.
    pub nodes: Vec<String>,
    /// The names of the resources, in the order of their first figure.
    pub resources: Vec<String>,
    /// Each figure's key, and the index of its resource.
    pub figures: Vec<(String, usize)>,
    /// The classes, from the largest.
    pub classes: Vec<Class>,
    /// By class and resource: its modes, as the ratio to the mode with most nodes and the number of
    /// nodes. Empty for too few nodes.
    pub modes: Vec<Vec<Vec<(f64, usize)>>>,
    /// By node and resource.
    pub states: Vec<Vec<Option<State>>>,
    /// By node and figure: the distance from the class in standard deviations; more is slower.
    pub figure_scores: Vec<Vec<Option<f32>>>,
    /// The slow nodes, from the most certain one.
    pub findings: Vec<Finding>,
    /// The smallest slowdowns, by class and resource.
    pub detectable: Vec<Detectable>,
    /// Number of tests: nodes times resources, and nodes times figures.
    pub tests: [usize; 2],
    /// Number of nodes that were tested: those of large classes with enough figures.
    pub tested: usize,
}

/// A node in one resource.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// Its time divided by that of its class.
    pub ratio: f64,
    /// The distance of the ratio's logarithm from 0 in standard deviations of the class; more is
    /// slower.
    pub score: f64,
    /// The probability that a node of the class is at least this slow, for this test alone.
    pub p: f64,
    /// The index of the mode within the class.
    pub mode: usize,
}

/// A node that is slower than its class in a resource.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The index of the node.
    pub node: usize,
    /// The index of the resource.
    pub resource: usize,
    /// The node's time divided by that of its class: over the figures of the resource, or that of
    /// the first figure if `is_of_resource` is false.
    pub ratio: f64,
    /// The 95 % interval of `ratio`, from the spread of the class.
    pub interval: [f64; 2],
    /// At most this many nodes are expected to be named by chance if the report names all evidence
    /// this strong: the p-value times the number of tests of its kind, divided by the share of this
    /// kind in the false alarms.
    pub false_alarms: f64,
    /// Whether the figures of the resource together show it. Otherwise single figures do.
    pub is_of_resource: bool,
    /// Number of figures of the resource on this node that count, and of those that are slower than
    /// the class.
    pub counts: [usize; 2],
    /// The figures that show it, the most certain first.
    pub figures: Vec<SlowFigure>,
}

/// A figure as evidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlowFigure {
    /// The index of the figure.
    pub figure: usize,
    /// The node's time divided by that of its class.
    pub ratio: f64,
    /// The distance in standard deviations.
    pub score: f64,
}

/// The smallest slowdown that this job could find.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Detectable {
    /// The index of the class.
    pub class: usize,
    /// The index of the resource.
    pub resource: usize,
    /// Number of nodes of the class with enough figures of the resource.
    pub nodes: usize,
    /// The standard deviation between nodes of the class, as a share. `None` for too few nodes.
    pub spread: Option<f64>,
    /// A node that is slower by this factor in all figures of the resource is found with
    /// probability [`POWER`]. `None` for too few nodes.
    pub slowdown: Option<f64>,
}

/// The analysis of a class.
struct Analysed {
    figures: Vec<Column>,
    resources: Vec<Resource>,
}

impl Analysed {
    fn figure_columns(&self) -> Vec<&Column> {
        self.figures.iter().collect()
    }

    fn resource_columns(&self) -> Vec<&Column> {
        self.resources.iter().map(|r| &r.column).collect()
    }
}

/// A test: class, column within the class, and position of the distance in the column.
type Test = (usize, usize, usize);

/// Analyses the runs of one job, one for each node.
pub fn job(runs: &[&NodeRun]) -> Job {
    let (figures, resources, levels) = tabulated(runs);
    let fingerprints: Vec<_> = runs.iter().map(|run| &run.fingerprint).collect();
    let mut job = Job {
        nodes: runs.iter().map(|run| run.node.clone()).collect(),
        classes: classes(&fingerprints),
        resources,
        figures,
        ..Job::default()
    };
    let analysed: Vec<Analysed> =
        job.classes.iter().map(|class| analysed(&job, class, &levels)).collect();
    job.modes = analysed.iter().map(resource_modes).collect();
    let figures: Vec<Vec<&Column>> = analysed.iter().map(Analysed::figure_columns).collect();
    let resources: Vec<Vec<&Column>> = analysed.iter().map(Analysed::resource_columns).collect();
    job.tested = tested(&figures);
    let of_figures =
        Family::new(&figures, SHARE_OF_FIGURES, job.tested).require_launches(&job.classes, &levels);
    let of_resources = Family::new(&resources, SHARE_OF_RESOURCES, job.tested);
    job.tests = [of_resources.tests.len(), of_figures.tests.len()];
    job.fill(&of_resources, &of_figures);
    job.find(&of_resources, &of_figures, &analysed);
    job.detectable = detectable(&job, &of_resources);
    job
}

/// By figure and node.
type Levels<'a> = Vec<Vec<Option<&'a FigureLevel>>>;

/// The figures with the index of their resource, the resources, and the levels.
fn tabulated<'a>(runs: &[&'a NodeRun]) -> (Vec<(String, usize)>, Vec<String>, Levels<'a>) {
    let mut figures: IndexMap<(&str, &str), usize> = IndexMap::new();
    let mut resources: IndexSet<&str> = IndexSet::new();
    let mut levels: Levels = Vec::new();
    for (node, run) in runs.iter().enumerate() {
        for figure in &run.figures {
            let resource = resources.insert_full(&figure.resource).0;
            let key = (figure.key.as_str(), figure.resource.as_str());
            let at = figures.entry(key).insert_entry(resource).index();
            if at == levels.len() {
                levels.push(vec![None; runs.len()]);
            }
            levels[at][node] = Some(figure);
        }
    }
    let figures = figures.into_iter();
    let figures = figures.map(|((key, _), resource)| (key.to_owned(), resource));
    let resources = resources.into_iter().map(str::to_owned);
    (figures.collect(), resources.collect(), levels)
}

fn analysed(job: &Job, class: &Class, levels: &Levels) -> Analysed {
    let values: Vec<Vec<Value>> = levels.iter().map(|figure| values(class, figure)).collect();
    let of_resource = |number: usize| {
        let all = values.iter().zip(&job.figures);
        let own = all.filter(|(_, (_, resource))| *resource == number);
        let own: Vec<&[Value]> = own.map(|(values, _)| values.as_slice()).collect();
        resource(&own, class.nodes.len())
    };
    Analysed {
        resources: (0..job.resources.len()).map(of_resource).collect(),
        figures: values.iter().map(|v| Column::new(v, FIGURE_DEVIATION)).collect(),
    }
}

/// The values of a figure on the nodes of a class that have it.
fn values(class: &Class, levels: &[Option<&FigureLevel>]) -> Vec<Value> {
    let each = class.nodes.iter().enumerate().filter_map(|(node, whole)| {
        let level = levels[*whole]?;
        Some(Value { node, level: level.slowness(), squared_error: level.squared_error() })
    });
    each.collect()
}

/// By resource: the modes as ratios to the one with most nodes.
fn resource_modes(analysed: &Analysed) -> Vec<Vec<(f64, usize)>> {
    let of = |resource: &Resource| {
        let main = resource.column.main_center();
        let modes = resource.column.modes.iter();
        modes.map(|m| ((m.center - main).exp(), m.count)).collect()
    };
    analysed.resources.iter().map(of).collect()
}

/// Number of nodes of all classes with a test in any of these columns.
fn tested(columns: &[Vec<&Column>]) -> usize {
    let of_class = |columns: &Vec<&Column>| {
        let distances = columns.iter().flat_map(|column| &column.distances);
        distances.map(|d| d.node).collect::<IndexSet<usize>>().len()
    };
    columns.iter().map(of_class).sum()
}

/// The tests that share one limit of false alarms: one for each node of each class in each of some
/// columns.
struct Family<'a> {
    /// By class.
    columns: &'a [Vec<&'a Column>],
    /// By class and column.
    tails: Vec<Vec<Tail>>,
    tests: Vec<Test>,
    /// The p-value of each test.
    p: Vec<f64>,
    /// Its share of the job's false alarms.
    share: f64,
    /// The most false alarms that are expected in the job.
    false_alarms: f64,
}

impl<'a> Family<'a> {
    fn new(columns: &'a [Vec<&'a Column>], share: f64, nodes: usize) -> Family<'a> {
        let flat: Vec<&Column> = columns.iter().flatten().copied().collect();
        let mut all = tails(&flat).into_iter();
        let tails = columns.iter().map(|own| all.by_ref().take(own.len()).collect());
        let mut family = Family {
            tails: tails.collect(),
            columns,
            tests: Vec::new(),
            p: Vec::new(),
            share,
            false_alarms: false_alarms(nodes),
        };
        for (class, columns) in columns.iter().enumerate() {
            for (number, column) in columns.iter().enumerate() {
                for (at, distance) in column.distances.iter().enumerate() {
                    family.tests.push((class, number, at));
                    family.p.push(p_value(distance, column, &family.tails[class][number]));
                }
            }
        }
        family
    }

    /// Raises the p-value of a figure to that of its launches, if it may become significant.
    fn require_launches(mut self, classes: &[Class], levels: &Levels) -> Self {
        let limit = self.limit();
        let mut all: IndexMap<(usize, usize), Vec<f64>> = IndexMap::new();
        for at in 0..self.tests.len() {
            let (class, figure, _) = self.tests[at];
            if self.p[at] > limit {
                continue;
            }
            let distance = *self.distance(self.tests[at]);
            let (nodes, levels) = (&classes[class].nodes, &levels[figure]);
            let all = all.entry((class, figure)).or_insert_with(|| launches(nodes, levels));
            let own = levels[nodes[distance.node]].map_or(&[][..], |level| &level.launches);
            self.p[at] = self.p[at].max(p_of_launches(own, all));
        }
        self
    }

    /// The largest p-value that names a node. All tests of the family at this p-value have at most
    /// the family's share of the false alarms, whether or not they depend on each other.
    fn limit(&self) -> f64 {
        self.share * self.false_alarms / self.tests.len().max(1) as f64
    }

    fn distance(&self, (class, column, at): Test) -> &Distance {
        &self.columns[class][column].distances[at]
    }

    /// The tests that name a node, with the expected number of false alarms of both families.
    fn significant(&self) -> impl Iterator<Item = (Test, f64)> {
        let each = self.tests.iter().zip(&self.p);
        let significant = each.filter(|(_, p)| **p <= self.limit());
        significant.map(|(test, p)| (*test, p * self.tests.len() as f64 / self.share))
    }
}

/// The launches of one figure of some nodes, ascending.
fn launches(nodes: &[usize], levels: &[Option<&FigureLevel>]) -> Vec<f64> {
    let each = nodes.iter().filter_map(|node| levels[*node]);
    let mut all: Vec<f64> = each.flat_map(|level| level.launches.iter().copied()).collect();
    all.sort_by(f64::total_cmp);
    all
}

impl Job {
    /// The index of a node in the job, by its index in a class.
    fn node(&self, class: usize, node: usize) -> usize {
        self.classes[class].nodes[node]
    }

    /// The ratio of a node to its class in a resource. `None` if the job does not know it.
    pub fn ratio(&self, node: &str, resource: &str) -> Option<f64> {
        Some(self.state(node, resource)??.ratio)
    }

    /// A node in a resource. The outer `None`: the job has no such node or resource.
    pub fn state(&self, node: &str, resource: &str) -> Option<Option<State>> {
        let node = self.nodes.iter().position(|name| name == node)?;
        let resource = self.resources.iter().position(|name| name == resource)?;
        Some(self.states[node][resource])
    }

    fn fill(&mut self, resources: &Family, figures: &Family) {
        self.states = vec![vec![None; self.resources.len()]; self.nodes.len()];
        self.figure_scores = vec![vec![None; self.figures.len()]; self.nodes.len()];
        for (test, p) in resources.tests.iter().zip(&resources.p) {
            let distance = resources.distance(*test);
            let node = self.node(test.0, distance.node);
            self.states[node][test.1] = Some(State {
                ratio: distance.residual.exp(),
                score: distance.residual / distance.deviation,
                p: *p,
                mode: distance.mode,
            });
        }
        for test in &figures.tests {
            let distance = figures.distance(*test);
            let node = self.node(test.0, distance.node);
            let score = distance.residual / distance.deviation;
            self.figure_scores[node][test.1] = Some(score as f32);
        }
    }

    fn find(&mut self, resources: &Family, figures: &Family, analysed: &[Analysed]) {
        let mut found: IndexMap<(usize, usize), Finding> = IndexMap::new();
        for (test, alarms) in resources.significant() {
            let distance = resources.distance(test);
            let node = self.node(test.0, distance.node);
            let finding = self.finding(test.0, distance, test.1, alarms, &analysed[test.0]);
            found.insert((node, test.1), finding);
        }
        for (test, alarms) in figures.significant() {
            let distance = figures.distance(test);
            let (node, resource) = (self.node(test.0, distance.node), self.figures[test.1].1);
            let of_figure = self.finding(test.0, distance, resource, alarms, &analysed[test.0]);
            let finding = found
                .entry((node, resource))
                .or_insert(Finding { is_of_resource: false, ..of_figure.clone() });
            let is_stronger = !finding.is_of_resource && alarms < finding.false_alarms;
            if is_stronger {
                (finding.ratio, finding.interval) = (of_figure.ratio, of_figure.interval);
            }
            finding.false_alarms = finding.false_alarms.min(alarms);
        }
        self.findings = found.into_values().collect();
        self.findings.sort_by(|a, b| {
            (a.false_alarms, b.ratio)
                .partial_cmp(&(b.false_alarms, a.ratio))
                .unwrap_or(std::cmp::Ordering::Equal)
        });
    }

    fn finding(
        &self,
        class: usize,
        distance: &Distance,
        resource: usize,
        false_alarms: f64,
        analysed: &Analysed,
    ) -> Finding {
        let node = self.node(class, distance.node);
        Finding {
            node,
            resource,
            ratio: distance.residual.exp(),
            interval: interval(distance, self.classes[class].nodes.len()),
            false_alarms,
            is_of_resource: true,
            counts: analysed.resources[resource].counts[distance.node],
            figures: self.evidence(distance.node, resource, analysed),
        }
    }

    /// The figures of a resource that show that a node is slow, the most certain first.
    fn evidence(&self, node: usize, resource: usize, analysed: &Analysed) -> Vec<SlowFigure> {
        let own = self.figures.iter().enumerate();
        let own = own.filter(|(_, (_, of))| *of == resource);
        let slow = own.filter_map(|(figure, _)| {
            let distances = &analysed.figures[figure].distances;
            let at = distances.binary_search_by_key(&node, |d| d.node).ok()?;
            let distance = distances[at];
            Some(SlowFigure {
                figure,
                ratio: distance.residual.exp(),
                score: distance.residual / distance.deviation,
            })
        });
        let mut slow: Vec<SlowFigure> = slow.filter(|s| s.score >= EVIDENCE).collect();
        slow.sort_by(|a, b| b.score.total_cmp(&a.score));
        slow
    }
}

fn interval(distance: &Distance, nodes: usize) -> [f64; 2] {
    let degrees = (nodes as f64 - 1.0).max(1.0);
    let t = student_t_quantile(0.5 + 0.5 * CONFIDENCE, degrees).unwrap_or(f64::MAX);
    [-t, t].map(|t| (distance.residual + t * distance.deviation).exp())
}

/// The smallest slowdown of each resource of each class: 95 % of the nodes that were not found
/// would be found if they were slower by this factor.
fn detectable(job: &Job, resources: &Family) -> Vec<Detectable> {
    let p = resources.limit();
    let mut all = Vec::new();
    for (class, columns) in resources.columns.iter().enumerate() {
        for (resource, column) in columns.iter().enumerate() {
            let tail = &resources.tails[class][resource];
            let is_found = |d: &Distance| {
                let node = job.node(class, d.node);
                let mut found = job.findings.iter();
                found.any(|f| f.node == node && f.resource == resource)
            };
            let others = column.distances.iter().filter(|d| !is_found(d));
            let missing = others.filter_map(|d| Some(critical(d, column, tail, p)? - d.residual));
            let mut missing: Vec<f64> = missing.collect();
            missing.sort_by(f64::total_cmp);
            let place = (POWER * missing.len() as f64).ceil() as usize;
            all.push(Detectable {
                class,
                resource,
                nodes: column.distances.len(),
                spread: (!column.modes.is_empty()).then(|| column.spread()),
                slowdown: missing.get(place.saturating_sub(1)).map(|m| m.exp()),
            });
        }
    }
    all
}
