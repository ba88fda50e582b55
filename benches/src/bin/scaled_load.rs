//! The tables of lmbench3's section 9 on this machine: latency, bandwidth and files with 1, 2 and 4 processes at the same time.
//!
//! `cargo run --release -p yamba-benches --bin scaled_load`. The run of each row is kept in `--out`; what is there is not measured again. Prints
//! Markdown, as docs/lmbench.md has it.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use clap::Parser;
use yamba_record::number::{number, scale};
use yamba_record::{Benchmark, Run, Status};

#[derive(Parser)]
#[command(about = "lmbench3's tables of scaled load, measured here")]
struct Options {
    /// The program to measure with
    #[arg(long, default_value = "target/release/yamba")]
    yamba: PathBuf,
    /// Where the runs are kept
    #[arg(long, default_value = "target/scaled-load")]
    out: PathBuf,
    /// Numbers of processes
    #[arg(short = 'P', value_delimiter = ',', default_values_t = [1, 2, 4])]
    processes: Vec<u64>,
    /// Time for each row, all its numbers of processes together
    #[arg(long, default_value = "6s")]
    time: String,
}

/// A row of lmbench's table: its name there, our benchmark and the one point of it.
struct Row {
    name: &'static str,
    benchmark: &'static str,
    set: &'static [&'static str],
}

const fn row(name: &'static str, benchmark: &'static str, set: &'static [&'static str]) -> Row {
    Row {
        name,
        benchmark,
        set,
    }
}

struct Table {
    title: &'static str,
    rows: &'static [Row],
    figure: fn(&Benchmark) -> Option<String>,
}

const TABLES: [Table; 3] = [
    Table {
        title: "Latency (lmbench3, table 4): the median of the processes' medians",
        rows: LATENCY,
        figure: latency,
    },
    Table {
        title: "Bandwidth (table 5): all processes together",
        rows: BANDWIDTH,
        figure: bandwidth,
    },
    Table {
        title: "Files (table 6): bandwidth of all together, latency of each",
        rows: FILES,
        figure: either,
    },
];

const SAME: &str = "placement=same";
const LOOPBACK: &str = "host=loopback";

const LATENCY: &[Row] = &[
    row("null call", "lat_syscall_getppid", &[]),
    row("null I/O: read", "lat_syscall_read", &[]),
    row("null I/O: write", "lat_syscall_write", &[]),
    row("stat", "lat_syscall_stat", &[]),
    row("open/close", "lat_open_close", &[]),
    row(
        "select (100 TCP)",
        "lat_select",
        &["kind=tcp", "descriptors=100"],
    ),
    row("signal install", "lat_sig_install", &[]),
    row("signal handler", "lat_sig_catch", &[]),
    row("fork process", "lat_fork_exit", &[]),
    row("exec process", "lat_proc_exec", &[]),
    row("sh process", "lat_proc_shell", &[]),
    row("pipe", "lat_pipe", &[SAME]),
    row("unix socket", "lat_unix", &[SAME]),
    row("UDP", "lat_udp", &[SAME, LOOPBACK]),
    row("TCP", "lat_tcp", &[SAME, LOOPBACK]),
    row("rpc (UDP)", "lat_rpc", &["transport=udp", SAME, LOOPBACK]),
    row("rpc (TCP)", "lat_rpc", &["transport=tcp", SAME, LOOPBACK]),
];

const BANDWIDTH: &[Row] = &[
    row("pipe", "bw_pipe", &[SAME]),
    row("unix socket", "bw_unix", &[SAME]),
    row("TCP", "bw_tcp", &[SAME, LOOPBACK]),
    row("bcopy (libc)", "bw_mem_copy", &[]),
    row("bcopy (hand)", "bw_mem_cp", &[]),
    row("memory read", "bw_mem_rd", &[]),
    row("memory write", "bw_mem_wr", &[]),
    row("STREAM copy", "stream_copy", &[]),
    row("STREAM scale", "stream_scale", &[]),
    row("STREAM sum", "stream_add", &[]),
    row("STREAM triad", "stream_triad", &[]),
    row("STREAM2 fill", "stream2_fill", &[]),
    row("STREAM2 copy", "stream2_copy", &[]),
    row("STREAM2 daxpy", "stream2_daxpy", &[]),
    row("STREAM2 sum", "stream2_sum", &[]),
];

const FILES: &[Row] = &[
    row(
        "bw_file_rd, shared",
        "bw_file_rd",
        &["touch=true", "shared=true"],
    ),
    row(
        "bw_file_rd, own files",
        "bw_file_rd",
        &["touch=true", "shared=false"],
    ),
    row(
        "bw_mmap_rd, shared",
        "bw_mmap_rd",
        &["map_inside=false", "shared=true"],
    ),
    row(
        "bw_mmap_rd, own files",
        "bw_mmap_rd",
        &["map_inside=false", "shared=false"],
    ),
    row("lat_mmap", "lat_mmap", &[]),
    row("lat_pagefault (in memory)", "lat_pagefault_minor", &[]),
    row("lat_pagefault (from storage)", "pagefault", &["scale=16"]),
];

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
    fs::create_dir_all(&options.out).map_err(|e| format!("{}: {e}", options.out.display()))?;
    let mut text = String::new();
    for table in &TABLES {
        let heads: Vec<String> = options
            .processes
            .iter()
            .map(|p| format!("P = {p}"))
            .collect();
        let _ = writeln!(text, "{}\n", table.title);
        let _ = writeln!(text, "| lmbench | ours | {} |", heads.join(" | "));
        let _ = writeln!(text, "| --- | --- |{}", " --- |".repeat(heads.len()));
        for row in table.rows {
            let run = options.run_of(row)?;
            let cells: Vec<String> = options
                .processes
                .iter()
                .map(|p| cell(&run, *p, table.figure))
                .collect();
            let ours: Vec<&str> = [row.benchmark]
                .into_iter()
                .chain(row.set.iter().copied())
                .collect();
            let _ = writeln!(
                text,
                "| {} | `{}` | {} |",
                row.name,
                ours.join(" "),
                cells.join(" | ")
            );
        }
        text.push('\n');
    }
    Ok(text)
}

impl Options {
    /// The row's run: that of before, or a new one.
    fn run_of(&self, row: &Row) -> Result<Run, String> {
        let name = [row.benchmark].into_iter().chain(row.set.iter().copied());
        let file = self
            .out
            .join(format!("{}.json", name.collect::<Vec<_>>().join("-")));
        if let Ok(have) = fs::read(&file) {
            return serde_json::from_slice(&have).map_err(|e| format!("{}: {e}", file.display()));
        }
        let document = self.measure(row)?;
        let run: Run = serde_json::from_slice(&document)
            .map_err(|e| format!("{}: no run: {e}", row.benchmark))?;
        if run.interrupted {
            return Err("stopped; the rows before are kept".to_owned());
        }
        keep(&file, &document).map_err(|e| format!("{}: {e}", file.display()))?;
        eprintln!("{}", file.display());
        Ok(run)
    }

    fn measure(&self, row: &Row) -> Result<Vec<u8>, String> {
        let processes: Vec<String> = self.processes.iter().map(u64::to_string).collect();
        let mut command = Command::new(&self.yamba);
        command.env("YAMBA_STORE", self.out.join("results.sqlite"));
        command.args([
            "run",
            row.benchmark,
            "--json",
            "--quick",
            "-P",
            &processes.join(","),
        ]);
        command.args(["--launches", "6", "--time", &self.time]);
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

/// Whole or not at all.
fn keep(file: &Path, document: &[u8]) -> std::io::Result<()> {
    let unfinished = file.with_extension("new");
    fs::write(&unfinished, document)?;
    fs::rename(&unfinished, file)
}

fn cell(run: &Run, processes: u64, figure: fn(&Benchmark) -> Option<String>) -> String {
    let of_these = run.benchmarks.iter().filter(|b| b.processes == processes);
    let cells: Vec<String> = of_these
        .map(|b| match (b.status, figure(b)) {
            (Status::Ok, Some(text)) if b.is_disturbed => format!("{text} (disturbed)"),
            (Status::Ok, Some(text)) => text,
            (Status::Invalid, _) => "invalid".to_owned(),
            (Status::Crashed, _) => "crashed".to_owned(),
            _ => "skipped".to_owned(),
        })
        .collect();
    cells.join(", ")
}

fn latency(b: &Benchmark) -> Option<String> {
    Some(shown(b.median_of_medians.or(b.median)?, b.unit.as_deref()?))
}

fn bandwidth(b: &Benchmark) -> Option<String> {
    b.throughput.as_ref().map(|all| shown(all.sum, &all.unit))
}

fn shown(value: f64, unit: &str) -> String {
    let (factor, unit) = scale(value, unit);
    format!("{} {unit}", number(value * factor))
}

fn either(b: &Benchmark) -> Option<String> {
    match b.figure.as_deref() {
        Some("bandwidth") => bandwidth(b),
        _ => latency(b),
    }
}
