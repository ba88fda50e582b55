//! Counts detections and false alarms in simulated fleets, for the figures in
//! `docs/notes/fleet.md`.
//!
//! `cargo run --release -p yamba-fleet --example simulate -- TRIALS NODES [quiet|busy|alarms]`

#[path = "../tests/simulation/mod.rs"]
mod simulation;

use fastrand::Rng;
use simulation::{Between, Source, analysed, named, slow_down};
use yamba_fleet::slow_nodes::Job;

/// The slowdown that must be found where the spread between nodes is at most [`QUIET`].
const SLOWDOWN: f64 = 1.03;
const QUIET: f64 = 0.005;

/// Reports of each trial with slow nodes.
const PASSES: usize = 3;

/// Slow nodes of each resource in one fleet.
const SLOW: usize = 5;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, or: usize| arguments.get(at).map_or(or, |a| a.parse().unwrap());
    let (trials, nodes) = (number(0, 20), number(1, 1000));
    let which = arguments.get(2).map_or("", String::as_str);
    let all = [("quiet", Source::quiet()), ("busy", Source::busy())];
    let is_meant = |name: &str| which.is_empty() || which == name;
    for (name, source) in all.into_iter().filter(|(name, _)| is_meant(name)) {
        println!("\n{name}: {} figures, {nodes} nodes, {trials} trials", source.figures());
        let deviations = [
            Between::None,
            Between::Normal(0.003),
            Between::Normal(0.0045),
            Between::NormalFigures(0.005),
        ];
        for between in deviations {
            power(&source, trials, nodes, between);
        }
    }
    if is_meant("alarms") {
        all_alarms(trials, nodes);
    }
}

fn all_alarms(trials: usize, nodes: usize) {
    println!("\nno node is slow: reports with an alarm, and alarms, of {trials}");
    let mut random = Rng::with_seed(7);
    let normal = Source::normal(7, 20, 0.01, &mut random);
    let all = [
        Between::None,
        Between::Normal(0.01),
        Between::Student(5.0, 0.005),
        Between::Student(3.0, 0.005),
        Between::Exponential(0.01),
    ];
    for (name, source) in [("normal", normal), ("quiet", Source::quiet()), ("busy", Source::busy())]
    {
        for between in all {
            for nodes in [10, 50, nodes] {
                alarms(name, &source, trials, nodes, between);
            }
        }
    }
}

/// In each trial [`SLOW`] nodes of each resource are slow: first by [`SLOWDOWN`], then by the
/// slowdown that the report before states, twice. The slow nodes have a share in the spread and the
/// tail, so only the last report is one of a fleet whose slow nodes are slow by the stated
/// slowdown.
fn power(source: &Source, trials: usize, nodes: usize, between: Between) {
    let mut random = Rng::with_seed(1);
    let mut counts: Vec<Counts> = source.resources().into_iter().map(Counts::new).collect();
    let mut alarms = 0;
    for _ in 0..trials {
        let mut runs = source.fleet(nodes, between, &mut random);
        let mut report = analysed(&runs);
        alarms += report.findings.len();
        let all = counts.len() * SLOW;
        let first = random.usize(..=nodes - all);
        for pass in 0..PASSES {
            for (number, own) in counts.iter_mut().enumerate() {
                own.factor = own.factor(&report, pass);
                for at in 0..SLOW {
                    slow_down(&mut runs[first + SLOW * number + at], own.resource, own.factor);
                }
            }
            report = analysed(&runs);
            for (node, resource) in named(&report) {
                let slow = (first..first + all).find(|at| runs[*at].node == node);
                let own = slow.map(|at| &mut counts[(at - first) / SLOW]);
                match own.filter(|own| own.resource == resource) {
                    Some(own) => own.found[pass] += 1,
                    None => alarms += 1,
                }
            }
            for (number, own) in counts.iter().enumerate() {
                for at in 0..SLOW {
                    let run = &mut runs[first + SLOW * number + at];
                    slow_down(run, own.resource, 1.0 / own.factor);
                }
            }
        }
    }
    println!("  {between:?}: {alarms} false alarms in {} reports", (1 + PASSES) * trials);
    for own in &counts {
        own.print(trials);
    }
}

/// Counts of one resource.
struct Counts<'a> {
    resource: &'a str,
    factor: f64,
    spread: f64,
    stated: f64,
    found: [usize; PASSES],
}

impl<'a> Counts<'a> {
    fn new(resource: &'a str) -> Counts<'a> {
        Counts { resource, factor: 1.0, spread: 0.0, stated: 0.0, found: [0; PASSES] }
    }

    /// The slowdown of a pass.
    fn factor(&mut self, report: &Job, pass: usize) -> f64 {
        let is_own = |d: &&yamba_fleet::slow_nodes::Detectable| {
            report.resources[d.resource] == self.resource
        };
        let found = report.detectable.iter().find(is_own).unwrap();
        if pass == 0 {
            return SLOWDOWN;
        }
        if pass == PASSES - 1 {
            self.spread += found.spread.unwrap_or(f64::NAN);
            self.stated += found.slowdown.unwrap_or(f64::NAN);
        }
        found.slowdown.unwrap_or(1.0)
    }

    fn print(&self, trials: usize) {
        let spread = self.spread / trials as f64;
        let mark = if spread <= QUIET { "*" } else { " " };
        let [fixed, _, stated] = self.found.map(|n| 100.0 * n as f64 / (SLOW * trials) as f64);
        let (spread, slowdown) = (100.0 * spread, self.stated / trials as f64);
        println!(
            "   {mark}{:30} spread {spread:.3} %; {SLOWDOWN}: {fixed:.1} %; stated {slowdown:.4}: {stated:.1} %",
            self.resource
        );
    }
}

fn alarms(name: &str, source: &Source, trials: usize, nodes: usize, between: Between) {
    let mut random = Rng::with_seed(2);
    let counts = (0..trials).map(|_| {
        let job: Job = analysed(&source.fleet(nodes, between, &mut random));
        job.findings.len()
    });
    let counts: Vec<usize> = counts.collect();
    let with = counts.iter().filter(|count| **count > 0).count();
    println!("  {name:8} {between:?}, {nodes} nodes: {with}, {}", counts.iter().sum::<usize>());
}
