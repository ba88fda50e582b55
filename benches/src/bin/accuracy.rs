//! Compares measured latencies and throughputs of instructions with the published ones of this
//! machine's core.
//!
//! `cargo run --release -p yamba-benches --bin accuracy` chooses the file in `benches/data` by
//! vendor, family, model and feature flags. Where these do not decide, it compares nothing. To
//! measure beside a competitor, start one first: `taskset -c 0 sh -c 'while :; do :; done' &`.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Parser;
use yamba_record::Run;

#[derive(Parser)]
#[command(about = "Compares measured figures of instructions with published ones")]
struct Options {
    /// The published figures [default: those of this machine's core]
    published: Option<PathBuf>,
    /// The program that measures
    #[arg(long, default_value = "target/release/yamba")]
    yamba: PathBuf,
}

/// The measured properties, in the order of the columns, with their relative tolerances.
const TOLERANCES: [(&str, f64); 2] = [("latency", 0.003), ("throughput", 0.02)];

/// An instruction and its published figures in cycles.
#[derive(Debug, PartialEq)]
struct Published {
    instruction: String,
    figures: [Option<f64>; 2],
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let path = match options.published {
        Some(path) => path,
        None => own_table().map_err(|why| format!("nothing is compared: {why}"))?,
    };
    println!("published figures: {}", path.display());
    let published = published(&fs::read_to_string(path)?)?;
    // Exit status 1 means that a figure is invalid; the document has the others.
    let output = Command::new(options.yamba)
        .args(["time", "--json", "--asm"])
        .args(published.iter().map(|p| &p.instruction))
        .stderr(Stdio::inherit())
        .output()?;
    let run: Run = serde_json::from_slice(&output.stdout)?;
    let disturbed = run.benchmarks.iter().filter(|b| b.interference.is_disturbed).count();
    println!("disturbed: {disturbed} of {}", run.benchmarks.len());
    print!("{}", compared(&published, &run));
    Ok(())
}

/// The table of this machine's core.
fn own_table() -> Result<PathBuf, String> {
    let machine = yamba_machine::probe(std::env::consts::ARCH, std::env::consts::OS);
    let name = yamba_session::selftest::published_table(&machine, &yamba_machine::cpuinfo())?;
    Ok(Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name))
}

/// Reads a table: the instruction, its latency and its throughput, separated by tabs. Unknown
/// figures are empty.
fn published(text: &str) -> Result<Vec<Published>, String> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let row = |line: &str| {
        let mut cells = line.split('\t');
        let instruction = cells.next().unwrap_or_default().to_owned();
        let mut figures = [None; 2];
        for (figure, cell) in figures.iter_mut().zip(cells) {
            if !cell.is_empty() {
                let number = cell.parse();
                *figure = Some(number.map_err(|_| format!("`{cell}` in `{line}` is no number"))?);
            }
        }
        Ok(Published { instruction, figures })
    };
    lines.map(row).collect()
}

fn compared(published: &[Published], run: &Run) -> String {
    let measured = run.benchmarks.iter();
    let measured = measured.filter_map(|b| Some((b.name.as_str(), b.details.cycles?.median)));
    let measured: BTreeMap<&str, f64> = measured.collect();
    let mut out = String::new();
    for (column, (aspect, tolerance)) in TOLERANCES.iter().enumerate() {
        let (mut within, mut known) = (0, 0);
        for row in published {
            let Some(expected) = row.figures[column] else {
                continue;
            };
            known += 1;
            let name = format!("asm/{}/{aspect}", row.instruction);
            let Some(cycles) = measured.get(name.as_str()) else {
                out += &format!("{name:44} {expected:7.3}   no cycles\n");
                continue;
            };
            let off = cycles / expected - 1.0;
            within += usize::from(off.abs() <= *tolerance);
            out += &format!("{name:44} {expected:7.3} {cycles:9.4} {:+6.2} %\n", 100.0 * off);
        }
        let percent = 100.0 * tolerance;
        out += &format!("{aspect}: {within} of {known} within {percent} %\n\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use yamba_record::Machine;
    use yamba_record::run::Cycles;

    use super::*;

    #[test]
    fn figures_are_compared_with_published_ones() {
        let table = "# comment\nadd rax, rbx\t1\t0.25\nbswap rax\t1\t\n";
        let published = published(table).unwrap();
        let mut run: Run = Run::new(Machine::default());
        for (name, median) in
            [("asm/add rax, rbx/latency", 1.001), ("asm/add rax, rbx/throughput", 0.3)]
        {
            let text = include_str!("../../../tests/records/every-kind.json");
            let recorded: Run = serde_json::from_str(text).unwrap();
            let mut entry = recorded.benchmarks[0].clone();
            entry.name = name.to_owned();
            entry.details.cycles = Some(Cycles { median, confidence_interval: [median; 2] });
            run.benchmarks.push(entry);
        }
        let text = compared(&published, &run);
        for part in [
            "1.0010  +0.10 %",
            "asm/bswap rax/latency                          1.000   no cycles",
            "latency: 1 of 2 within 0.3 %",
            "throughput: 0 of 1 within 2 %",
        ] {
            assert!(text.contains(part), "{text}");
        }
        assert!(super::published("add\tone").is_err());
    }

    #[test]
    fn every_table_is_read() {
        for file in fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/data")).unwrap() {
            let text = fs::read_to_string(file.unwrap().path()).unwrap();
            assert!(published(&text).unwrap().len() >= 30);
        }
    }
}
