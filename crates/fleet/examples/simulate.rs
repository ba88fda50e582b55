//! Counts detections and false alarms in simulated fleets, for the figures in `docs/notes/fleet.md`.
//!
//! `cargo run --release -p yamba-fleet --example simulate -- TRIALS NODES`

#[path = "../tests/simulation/mod.rs"]
mod simulation;

use fastrand::Rng;
use simulation::{Between, Source, analysed, named, slow_down};
use yamba_fleet::Job;

/// The slowdown that must be found where the spread between nodes is at most [`QUIET`].
const SLOWDOWN: f64 = 1.03;
const QUIET: f64 = 0.005;

fn main() {
    let mut arguments = std::env::args()
        .skip(1)
        .map(|a| a.parse::<usize>().unwrap());
    let trials = arguments.next().unwrap_or(20);
    let nodes = arguments.next().unwrap_or(1000);
    for (name, source) in [("quiet", Source::quiet()), ("busy", Source::busy())] {
        println!("\n{name}: {} figures", source.figures());
        for between in [
            Between::None,
            Between::Normal(0.003),
            Between::NormalFigures(0.005),
        ] {
            power(&source, trials, nodes, between);
        }
    }
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
    for (name, source) in [
        ("normal", normal),
        ("quiet", Source::quiet()),
        ("busy", Source::busy()),
    ] {
        for between in all {
            for nodes in [10, 50, nodes] {
                alarms(name, &source, trials, nodes, between);
            }
        }
    }
}

/// One slow node in each trial, once slower by [`SLOWDOWN`], once by the slowdown that the report states.
fn power(source: &Source, trials: usize, nodes: usize, between: Between) {
    println!(
        "  {between:?}\n    resource, spread, {SLOWDOWN}: found, stated slowdown: found; other alarms"
    );
    let mut random = Rng::with_seed(1);
    for resource in source.resources() {
        let (mut fixed, mut stated, mut others) = (0, 0, 0);
        let (mut spread, mut slowdown) = (0.0, 0.0);
        for _ in 0..trials {
            let mut runs = source.fleet(nodes, between, &mut random);
            let job = analysed(&runs);
            others += job.findings.len();
            let found = job
                .detectable
                .iter()
                .find(|d| job.resources[d.resource] == resource);
            let found = found.unwrap();
            let own = found.slowdown.unwrap_or(f64::NAN);
            spread += found.spread.unwrap_or(f64::NAN) / trials as f64;
            slowdown += own / trials as f64;
            let node = random.usize(..nodes);
            for (factor, count) in [(SLOWDOWN, &mut fixed), (own, &mut stated)] {
                slow_down(&mut runs[node], resource, factor);
                let job = analysed(&runs);
                let is_own = |(n, r): &(&str, &str)| *n == runs[node].node && *r == resource;
                *count += usize::from(named(&job).iter().any(is_own));
                others += named(&job).iter().filter(|f| !is_own(f)).count();
                slow_down(&mut runs[node], resource, 1.0 / factor);
            }
        }
        let mark = if spread <= QUIET { "*" } else { " " };
        println!(
            "   {mark}{resource:30} {:6.3} %  {fixed}/{trials}  {:.4}: {stated}/{trials}; {others} of {} reports",
            100.0 * spread,
            slowdown,
            3 * trials
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
    println!(
        "  {name:8} {between:?}, {nodes} nodes: {with}, {}",
        counts.iter().sum::<usize>()
    );
}
