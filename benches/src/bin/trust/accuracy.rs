//! Compares measured latencies and throughputs of instructions with published ones.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use clap::{Args, ValueEnum};
use yamba_record::Run;

/// Relative tolerances of latencies and throughputs.
const LATENCY: f64 = 0.003;
const THROUGHPUT: f64 = 0.02;

#[derive(Args)]
pub struct Accuracy {
    /// Published figures
    #[arg(default_value = "benches/data/zen4.tsv")]
    published: PathBuf,
    /// The program to measure with
    #[arg(long, default_value = "target/release/yamba")]
    yamba: PathBuf,
    /// Measure beside a process that never stops
    #[arg(long, value_name = "WHERE")]
    hog: Option<Where>,
}

/// The processor of the competing process.
#[derive(Clone, Copy, ValueEnum)]
enum Where {
    /// The last processor, which the harness uses
    Same,
    /// The first processor
    Other,
}

struct Published {
    instruction: String,
    latency: Option<f64>,
    throughput: Option<f64>,
}

impl Accuracy {
    pub fn run(&self) -> Result<String, String> {
        let text = fs::read_to_string(&self.published)
            .map_err(|e| format!("{}: {e}", self.published.display()))?;
        let published = parse(&text);
        let hog = self.hog.map(Hog::on).transpose()?;
        let run = self.measure(&published)?;
        drop(hog);
        let mut out = String::new();
        for (kind, tolerance) in [("latency", LATENCY), ("throughput", THROUGHPUT)] {
            table(&mut out, &published, &run, kind, tolerance);
        }
        Ok(out)
    }

    fn measure(&self, published: &[Published]) -> Result<Run, String> {
        let done = Command::new(&self.yamba)
            .args(["time", "--json", "--asm"])
            .args(published.iter().map(|p| &p.instruction))
            .stderr(Stdio::inherit())
            .output()
            .map_err(|e| format!("cannot start {}: {e}", self.yamba.display()))?;
        serde_json::from_slice(&done.stdout).map_err(|e| format!("no run: {e}"))
    }
}

fn parse(text: &str) -> Vec<Published> {
    let lines = text.lines().filter(|l| !l.starts_with('#'));
    let rows = lines.map(|line| {
        let mut cells = line.split('\t');
        let instruction = cells.next().unwrap_or_default().to_owned();
        let mut number = || cells.next().and_then(|c| c.parse().ok());
        Published {
            instruction,
            latency: number(),
            throughput: number(),
        }
    });
    rows.collect()
}

fn table(out: &mut String, published: &[Published], run: &Run, kind: &str, tolerance: f64) {
    let (mut within, mut all) = (0, 0);
    for row in published {
        let expected = match kind {
            "latency" => row.latency,
            _ => row.throughput,
        };
        let Some(expected) = expected else { continue };
        all += 1;
        let name = format!("asm/{}/{kind}", row.instruction);
        let entry = run.benchmarks.iter().find(|b| b.name == name);
        let cycles = entry.and_then(|b| b.cycles);
        let off = cycles.map(|c| c.median / expected - 1.0);
        within += usize::from(off.is_some_and(|o| o.abs() <= tolerance));
        let set_aside = entry.map_or(0, |b| b.set_aside);
        let _ = match (cycles, off) {
            (Some(c), Some(off)) => writeln!(
                out,
                "{name:44} {expected:7.3} {:9.4} [{:.4}, {:.4}] {:+6.2} %  {set_aside} set aside",
                c.median,
                c.interval[0],
                c.interval[1],
                off * 100.0
            ),
            _ => writeln!(out, "{name:44} {expected:7.3}   no cycles"),
        };
    }
    let percent = tolerance * 100.0;
    let _ = writeln!(out, "{kind}: {within} of {all} within {percent} %\n");
}

/// A process that spins until this value is dropped.
struct Hog(Child);

impl Hog {
    fn on(place: Where) -> Result<Hog, String> {
        let last = std::thread::available_parallelism().map_or(0, |n| n.get() - 1);
        let cpu = match place {
            Where::Same => last,
            Where::Other => 0,
        };
        let child = Command::new("taskset")
            .args(["-c", &cpu.to_string(), "sh", "-c", "while :; do :; done"])
            .spawn();
        child
            .map(Hog)
            .map_err(|e| format!("cannot start taskset: {e}"))
    }
}

impl Drop for Hog {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
