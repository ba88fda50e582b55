//! Measures the tables and the figure of section 9 of lmbench3 on this machine, and lmbench's other scalable programs, with 1, 2 and 4 concurrent processes.
//!
//! `cargo run --release -p yamba-benches --bin scaled_load`. The run of each row is saved in `--out`. A saved run is measured again only if the
//! program is newer, or if the number of launches or of processes differs. Prints Markdown for docs/notes/lmbench-load.md.

mod figure;
mod tables;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use clap::Parser;
use yamba_record::Run;

use figure::cell;
use tables::{Row, TABLES};

#[derive(Parser)]
#[command(about = "lmbench3's tables of scaled load, measured here")]
struct Options {
    /// The program to measure with
    #[arg(long, default_value = "target/release/yamba")]
    yamba: PathBuf,
    /// Folder of the runs
    #[arg(long, default_value = "target/scaled-load")]
    out: PathBuf,
    /// Numbers of processes
    #[arg(short = 'P', value_delimiter = ',', default_values_t = [1, 2, 4])]
    processes: Vec<u64>,
    /// Launches per figure
    #[arg(long, default_value = "4")]
    launches: u64,
}

fn main() -> ExitCode {
    match tables(&Options::parse()) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(fault) => {
            eprintln!("error: {fault}");
            ExitCode::from(2)
        }
    }
}

fn tables(options: &Options) -> Result<String, String> {
    let folder = options.folder();
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut text = String::new();
    for table in &TABLES {
        let heads: Vec<String> = options
            .processes
            .iter()
            .map(|p| format!("P = {p}"))
            .collect();
        let _ = writeln!(text, "{}\n", table.title);
        let _ = writeln!(text, "| {} | ours | {} |", table.head, heads.join(" | "));
        let _ = writeln!(text, "| --- | --- |{}", " --- |".repeat(heads.len()));
        for row in table.rows {
            let run = options.run_of(row)?;
            let cells: Vec<String> = options
                .processes
                .iter()
                .map(|p| cell(&run, *p, table.figure))
                .collect();
            let _ = writeln!(
                text,
                "| {} | `{}` | {} |",
                row.name,
                row.point(" "),
                cells.join(" | ")
            );
        }
        text.push('\n');
    }
    Ok(text)
}

impl Options {
    /// The run of a row: the saved one if it is up to date, else a new one.
    fn run_of(&self, row: &Row) -> Result<Run, String> {
        let file = self
            .folder()
            .join(format!("{}.json", row.point("-").replace('/', "_")));
        if self.is_newer_than_the_program(&file) {
            let have = fs::read(&file).map_err(|e| format!("{}: {e}", file.display()))?;
            return serde_json::from_slice(&have).map_err(|e| format!("{}: {e}", file.display()));
        }
        let document = self.measure(row)?;
        let run: Run = serde_json::from_slice(&document)
            .map_err(|e| format!("{}: no run: {e}", row.benchmark))?;
        if run.interrupted {
            return Err("stopped; the rows before are kept".to_owned());
        }
        let points = run.benchmarks.len();
        if points != self.processes.len() {
            return Err(format!(
                "{}: {points} figures for {} numbers of processes: the row has to set what tells them apart",
                row.point(" "),
                self.processes.len()
            ));
        }
        keep(&file, &document).map_err(|e| format!("{}: {e}", file.display()))?;
        eprintln!("{}", file.display());
        Ok(run)
    }

    /// The folder of the runs; its name includes the numbers of launches and processes, so that runs with other numbers are not used.
    fn folder(&self) -> PathBuf {
        let processes: Vec<String> = self.processes.iter().map(u64::to_string).collect();
        self.out.join(format!(
            "{}-launches-by-{}",
            self.launches,
            processes.join("-")
        ))
    }

    fn is_newer_than_the_program(&self, file: &Path) -> bool {
        let written = |path: &Path| fs::metadata(path).and_then(|m| m.modified()).ok();
        written(file).is_some_and(|kept| written(&self.yamba).is_none_or(|made| kept >= made))
    }

    fn measure(&self, row: &Row) -> Result<Vec<u8>, String> {
        let processes: Vec<String> = self.processes.iter().map(u64::to_string).collect();
        let mut command = Command::new(&self.yamba);
        command.env("YAMBA_STORE", self.out.join("results.sqlite"));
        command.args(["run", row.benchmark, "--json", "-P", &processes.join(",")]);
        command.args(["--launches", &self.launches.to_string()]);
        for value in row.set {
            command.args(["--set", value]);
        }
        let done = command
            .stderr(Stdio::inherit())
            .output()
            .map_err(|e| format!("cannot start {}: {e}", self.yamba.display()))?;
        Ok(done.stdout)
    }
}

/// Writes the file atomically.
fn keep(file: &Path, document: &[u8]) -> std::io::Result<()> {
    let unfinished = file.with_extension("new");
    fs::write(&unfinished, document)?;
    fs::rename(&unfinished, file)
}
