//! Simulated fleets: each node draws its launches from those of a real run.
//!
//! `quiet.json` has the launches of two runs of 80 figures on a quiet AMD EPYC, `busy.json` those
//! of a run of the whole suite on an Intel Granite Rapids beside busy neighbours. Each number is
//! the time of a launch divided by the median of its run; a bandwidth is inverted.

use std::collections::BTreeMap;

use fastrand::Rng;
use yamba_fleet::slow_nodes::job::job;
use yamba_fleet::slow_nodes::{FigureLevel, Job, NodeRun};
use yamba_stats::{normal_quantile, student_t_quantile};

/// Launches of a run.
pub const LAUNCHES: usize = 6;

/// The factor between nodes: a distribution of its logarithm.
#[derive(Clone, Copy, Debug)]
pub enum Between {
    /// All nodes are alike.
    None,
    /// A normal distribution for each resource of a node, with this standard deviation.
    Normal(f64),
    /// A normal distribution for each figure of a node.
    NormalFigures(f64),
    /// Student's t distribution for each resource of a node, with these degrees of freedom and this
    /// scale.
    Student(f64, f64),
    /// An exponential distribution for each resource of a node, with this mean: only slower.
    Exponential(f64),
}

/// The name of a figure with the logarithms of its launches.
type Figure = (String, Vec<f64>);

/// The real launches: resources with their figures.
pub struct Source(Vec<(String, Vec<Figure>)>);

impl Source {
    pub fn quiet() -> Source {
        Source::read(include_str!("quiet.json"))
    }

    pub fn busy() -> Source {
        Source::read(include_str!("busy.json"))
    }

    fn read(text: &str) -> Source {
        type Read = BTreeMap<String, BTreeMap<String, Vec<f64>>>;
        let read: Read = serde_json::from_str(text).unwrap();
        let logarithms = |all: Vec<f64>| all.iter().map(|x| x.ln()).collect();
        let figures = |of: BTreeMap<String, Vec<f64>>| {
            of.into_iter().map(|(key, all)| (key, logarithms(all))).collect()
        };
        Source(read.into_iter().map(|(name, of)| (name, figures(of))).collect())
    }

    /// Launches with normal noise of this standard deviation, for a number of figures of each of
    /// some resources.
    pub fn normal(resources: usize, figures: usize, deviation: f64, random: &mut Rng) -> Source {
        let mut launches = || (0..400).map(|_| deviation * normal(random)).collect();
        let figures = |number: usize| {
            (0..figures).map(|figure| (format!("{number}.{figure}"), launches())).collect()
        };
        let names = 0..resources;
        let mut figures = figures;
        Source(names.map(|number| (format!("r{number}"), figures(number))).collect())
    }

    pub fn resources(&self) -> Vec<&str> {
        self.0.iter().map(|(name, _)| name.as_str()).collect()
    }

    pub fn figures(&self) -> usize {
        self.0.iter().map(|(_, figures)| figures.len()).sum()
    }

    pub fn fleet(&self, nodes: usize, between: Between, random: &mut Rng) -> Vec<NodeRun> {
        (0..nodes).map(|node| self.node(node, between, random)).collect()
    }

    fn node(&self, number: usize, between: Between, random: &mut Rng) -> NodeRun {
        let mut figures = Vec::new();
        for (resource, of_resource) in &self.0 {
            let offset = between.draw(random);
            for (key, logarithms) in of_resource {
                let own = match between {
                    Between::NormalFigures(deviation) => deviation * normal(random),
                    _ => offset,
                };
                figures.push(figure(key, resource, own, logarithms, random));
            }
        }
        NodeRun { node: format!("n{number}"), figures, ..NodeRun::default() }
    }
}

impl Between {
    fn draw(self, random: &mut Rng) -> f64 {
        match self {
            Between::None | Between::NormalFigures(_) => 0.0,
            Between::Normal(deviation) => deviation * normal(random),
            Between::Student(degrees, scale) => {
                scale * student_t_quantile(uniform(random), degrees).unwrap()
            }
            Between::Exponential(mean) => -mean * uniform(random).ln(),
        }
    }
}

fn uniform(random: &mut Rng) -> f64 {
    random.f64().clamp(1e-12, 1.0 - 1e-12)
}

fn normal(random: &mut Rng) -> f64 {
    normal_quantile(uniform(random)).unwrap()
}

fn figure(key: &str, resource: &str, offset: f64, from: &[f64], random: &mut Rng) -> FigureLevel {
    let mut draw = || offset + from[random.usize(..from.len())];
    let mut launches: Vec<f64> = (0..LAUNCHES).map(|_| draw()).collect();
    launches.sort_by(f64::total_cmp);
    let (key, resource) = (key.to_owned(), resource.to_owned());
    FigureLevel { key, resource, launches, ..FigureLevel::default() }
}

/// Makes a node slower by `factor` in all figures of a resource.
pub fn slow_down(run: &mut NodeRun, resource: &str, factor: f64) {
    let own = run.figures.iter_mut().filter(|f| f.resource == resource);
    own.flat_map(|figure| &mut figure.launches).for_each(|launch| *launch += factor.ln());
}

/// The findings of a job as names of node and resource.
pub fn named(job: &Job) -> Vec<(&str, &str)> {
    let each = job.findings.iter();
    each.map(|f| (job.nodes[f.node].as_str(), job.resources[f.resource].as_str())).collect()
}

pub fn analysed(runs: &[NodeRun]) -> Job {
    job(&runs.iter().collect::<Vec<_>>())
}
