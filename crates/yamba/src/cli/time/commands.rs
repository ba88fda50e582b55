//! `yamba time --command`: whole commands.

use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use yamba_compare::gate::{Asked, gate};
use yamba_compare::sequential::FIRST_LOOK;
use yamba_harness::{Around, CommandOutput, CommandPlan, IgnoredFailures, Stop, drawn_seed};
use yamba_record::command::CommandRuns;
use yamba_record::number::number;
use yamba_record::{Benchmark, Note, Run, Status};
use yamba_session::commands::{Request, Shell, Timed, prepare_commands};
use yamba_store::{export, inputs};
use yamba_toolchain::build::host;

use crate::cli::gate_options::GateOptions;
use crate::cli::output::{self, StatusLine};
use crate::cli::{
    Answer, Failure, StoreOption, Terminal, arguments, compare, quantity, system_failure,
};
use crate::views;
use yamba_report::wrap;

/// Options of statements and instructions. `--setup` has both.
const OF_STATEMENTS: [&str; 12] = [
    "statements",
    "asm",
    "init",
    "include",
    "process_limit",
    "include_dir",
    "define",
    "optimise",
    "march",
    "standard",
    "link",
    "pkg_config",
];

/// Options of whole commands.
#[derive(Args)]
#[command(next_help_heading = "Whole commands (with --command)")]
pub(super) struct Commands {
    /// Whole commands instead: each run is a fresh process, interleaved with those of the other
    /// commands; may be repeated
    #[arg(short = 'c', long = "command", value_name = "COMMAND", conflicts_with_all = OF_STATEMENTS)]
    commands: Vec<String>,
    /// Names of the commands, in their order
    #[arg(short = 'n', long = "name", value_name = "NAME", requires = "commands", conflicts_with_all = ["statements", "asm"], hide_short_help = true)]
    names: Vec<String>,
    #[command(flatten)]
    around: AroundOptions,
    /// Compare the others with this command, instead of the fastest
    #[arg(long, value_name = "COMMAND", requires = "commands", conflicts_with_all = ["statements", "asm"])]
    reference: Option<String>,
    /// Name of the reference
    #[arg(long, value_name = "NAME", requires = "reference", hide_short_help = true)]
    reference_name: Option<String>,
    /// Replace {NAME} by each of these values; may be repeated
    #[arg(short = 'L', long = "parameter", value_name = "NAME=A,B,C", requires = "commands", conflicts_with_all = ["statements", "asm"], value_parser = values)]
    parameters: Vec<(String, Vec<String>)>,
    /// Untimed runs of each command at the beginning
    #[arg(short = 'w', long, value_name = "N", requires = "commands", conflicts_with_all = ["statements", "asm"], default_value = "1", value_parser = quantity::count(0..=10000), hide_short_help = true)]
    warmup: u64,
    /// Number of runs [default: at least 10, and for 3 s]
    #[arg(short = 'r', long, value_name = "N", requires = "commands", conflicts_with_all = ["statements", "asm"], value_parser = quantity::count(1..=100_000))]
    runs: Option<u64>,
    /// Time for the runs of each command
    #[arg(long = "time", value_name = "TIME", requires = "commands", conflicts_with_all = ["statements", "asm"], default_value = "3s", value_parser = quantity::time)]
    time: Duration,
    #[command(flatten)]
    process: ProcessOptions,
    /// Also write the results as hyperfine's JSON
    #[arg(long, value_name = "FILE", requires = "commands", conflicts_with_all = ["statements", "asm"], hide_short_help = true)]
    export_json: Option<PathBuf>,
    /// Seed of the random order [default: random, and recorded]
    #[arg(long, value_name = "N", requires = "commands", conflicts_with_all = ["statements", "asm"], value_parser = quantity::count(0..=u64::MAX), hide_short_help = true)]
    seed: Option<u64>,
    #[command(flatten)]
    gate: GateOptions,
    #[command(flatten)]
    store: StoreOption,
}

/// Commands around the runs.
#[derive(Args)]
struct AroundOptions {
    /// Run this before each run, untimed; once for all commands, or once for each
    #[arg(short = 'p', long, value_name = "COMMAND", requires = "commands", conflicts_with_all = ["statements", "asm"])]
    prepare: Vec<String>,
    /// Run this after each run, untimed; once for all commands, or once for each
    #[arg(short = 'C', long, value_name = "COMMAND", requires = "commands", conflicts_with_all = ["statements", "asm"], hide_short_help = true)]
    conclude: Vec<String>,
    /// Run this once for each command after the last round of all commands
    #[arg(long, value_name = "COMMAND", requires = "commands", conflicts_with_all = ["statements", "asm"], hide_short_help = true)]
    cleanup: Option<String>,
}

/// How a run's process is started and judged.
#[derive(Args)]
struct ProcessOptions {
    /// Failing runs count, too: all, or those with these exit statuses, as 1,2
    #[arg(short = 'i', long, value_name = "STATUSES", num_args = 0..=1, require_equals = true, default_missing_value = "all-non-zero", requires = "commands", conflicts_with_all = ["statements", "asm"], value_parser = ignored, hide_short_help = true)]
    ignore_failure: Option<IgnoredFailures>,
    /// The shell, or `none`. Its start-up is measured and subtracted [default: /bin/sh where a
    /// command needs a shell]
    #[arg(short = 'S', long, value_name = "SHELL", requires = "commands", conflicts_with_all = ["statements", "asm"], hide_short_help = true)]
    shell: Option<String>,
    /// The file that each run reads as its standard input
    #[arg(long, value_name = "FILE", requires = "commands", conflicts_with_all = ["statements", "asm"], hide_short_help = true)]
    input: Option<PathBuf>,
    /// Where standard output goes: pipe (emptied by Yamba), null, inherit, or a file
    #[arg(long, value_name = "WHERE", requires = "commands", conflicts_with_all = ["statements", "asm"], default_value = "pipe", value_parser = output_of, hide_short_help = true)]
    output: CommandOutput,
}

/// The names are those of hyperfine.
fn ignored(text: &str) -> Result<IgnoredFailures, String> {
    if text == "all-non-zero" {
        return Ok(IgnoredFailures::All);
    }
    let statuses = text.split(',').map(|status| status.trim().parse::<u8>().map(i32::from));
    let statuses = statuses.collect::<Result<Vec<i32>, _>>();
    statuses.map(IgnoredFailures::Statuses).map_err(|_| {
        "write exit statuses from 0 to 255, as --ignore-failure=1,2, or no value for all".to_owned()
    })
}

fn output_of(text: &str) -> Result<CommandOutput, String> {
    match text {
        "pipe" => Ok(CommandOutput::Pipe),
        "null" => Ok(CommandOutput::Null),
        "inherit" => Ok(CommandOutput::Inherit),
        "" => Err("write pipe, null, inherit, or the name of a file".to_owned()),
        file => Ok(CommandOutput::File(file.into())),
    }
}

fn values(text: &str) -> Result<(String, Vec<String>), String> {
    match text.split_once('=') {
        Some((name, values)) if !name.is_empty() => Ok((name.to_owned(), list(values))),
        _ => Err(
            "write NAME=A,B,C, a parameter of commands; to link a library in a folder, name its file: --link DIR/libNAME.a"
                .to_owned(),
        ),
    }
}

/// Splits at commas, and removes the spaces around the values. As in hyperfine, `\,` is a comma of
/// a value and `\\` a backslash; any other backslash is one.
fn list(text: &str) -> Vec<String> {
    let mut values = vec![String::new()];
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let escaped =
            if letter == '\\' { letters.next_if(|next| matches!(next, ',' | '\\')) } else { None };
        match (escaped, values.last_mut()) {
            (None, _) if letter == ',' => values.push(String::new()),
            (letter_after, Some(value)) => value.push(letter_after.unwrap_or(letter)),
            (_, None) => {}
        }
    }
    values.iter().map(|value| value.trim().to_owned()).collect()
}

/// How the results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Text,
    Json,
    Raw,
}

impl Commands {
    /// Whether commands are to be timed.
    pub(super) fn is_on(&self) -> bool {
        !self.commands.is_empty()
    }

    /// Refuses the options that statements and instructions do not have.
    pub(super) fn check_absent(&self) -> Result<(), Failure> {
        let options =
            [("--fail-above", self.gate.is_on()), ("--store", self.store.store.is_some())];
        match options.into_iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => Err(Failure::new(format!("{option} is for whole commands"))
                .help("`yamba time -c COMMAND` stores its run and has a gate; measure a statement as a benchmark of a file: `yamba new`")),
            None => Ok(()),
        }
    }

    pub(super) fn run(
        self,
        setup: Option<String>,
        timeout: Option<Duration>,
        form: Form,
    ) -> Result<Answer, Failure> {
        self.check()?;
        if self.process.output == CommandOutput::Inherit && form != Form::Text {
            return Err(Failure::new(
                "--output inherit: the output would be mixed with the document of --json",
            )
            .help("use --output pipe, or --output FILE"));
        }
        let prepared = prepare_commands(self.request(setup, timeout))?;
        let stop = Stop::on_signals().map_err(system_failure)?;
        let line = StatusLine::new("warming up");
        let begun = Instant::now();
        let mut progress = |done: u64, all: u64| line.show(&said(done, all, begun.elapsed()));
        let (store, terminal) = (self.store.choice(), Terminal::default());
        let timed = prepared.measure(&host(), &stop, &store, &terminal, &mut progress)?;
        drop(line);
        self.answer(timed, form)
    }

    /// Checks the options that can be checked before anything runs.
    fn check(&self) -> Result<(), Failure> {
        self.gate.check()?;
        self.process.input.iter().for_each(|path| inputs::add(path));
        output::check(self.export_json.as_deref())?;
        if self.gate.is_on() && self.runs.is_some_and(|runs| runs < FIRST_LOOK) {
            return Err(Failure::new(format!("--fail-above needs at least {FIRST_LOOK} runs"))
                .help(
                    "leave --runs out: the runs end when all commands are decided, or after --time",
                ));
        }
        let are_several =
            self.commands.len() > 1 || self.reference.is_some() || !self.parameters.is_empty();
        if self.gate.is_on() && !are_several {
            return Err(Failure::new("--fail-above: there is one command")
                .help("name the command that it is compared with by --reference"));
        }
        Ok(())
    }

    fn answer(&self, timed: Timed, form: Form) -> Result<Answer, Failure> {
        let Timed { run, mut found, is_stored } = timed;
        // The results are printed, even if a limit is for no command.
        let limits = self.gate.limits(&[&run]);
        if let (Some(found), Ok(limits)) = (&mut found, &limits) {
            let asked = Asked { limits: limits.clone(), strict: self.gate.strict };
            found.gate = Some(gate(found, &asked));
        }
        let said = found.iter().flat_map(views::compare::gate_lines);
        let said: String = said.map(|line| format!("{line}\n")).collect();
        if let Some(path) = &self.export_json {
            output::whole(path, |out| export::write_hyperfine(&run, out).map(drop))?;
        }
        let is_good = !(run.failed() || run.interrupted);
        if form == Form::Text {
            let width = output::width();
            let text = report(&run, output::colour_on(&io::stdout()), width);
            output::result(&format!("{text}{said}"))?;
        } else {
            output::note(&said);
        }
        if is_stored {
            output::note(&format!("stored: {}\n", run.id));
        }
        match form {
            Form::Raw => output::document(&run)?,
            Form::Json => output::document(&run.summary())?,
            Form::Text => {}
        }
        limits?;
        match found.as_ref().map(compare::answer).transpose()? {
            Some(Answer::No) => Ok(Answer::No),
            _ => Ok(if is_good { Answer::Done } else { Answer::No }),
        }
    }

    fn request(&self, setup: Option<String>, timeout: Option<Duration>) -> Request {
        let named = |command: &String| (command.clone(), self.reference_name.clone());
        Request {
            commands: self.commands.clone(),
            names: self.names.clone(),
            reference: self.reference.as_ref().map(named),
            around: Around {
                setup: setup.into_iter().collect(),
                prepare: self.around.prepare.clone(),
                conclude: self.around.conclude.clone(),
                cleanup: self.around.cleanup.clone().into_iter().collect(),
            },
            parameters: self.parameters.clone(),
            limits: self.gate.fail_above.clone(),
            shell: match self.process.shell.as_deref() {
                None => Shell::Automatic,
                Some("none") => Shell::None,
                Some(shell) => Shell::Named(shell.to_owned()),
            },
            plan: CommandPlan {
                warmup: self.warmup,
                runs: self.runs,
                time: self.time,
                timeout,
                ignored: self.process.ignore_failure.clone().unwrap_or_default(),
                input: self.process.input.clone(),
                output: self.process.output.clone(),
                empty_shell: None,
                seed: self.seed.unwrap_or_else(drawn_seed),
            },
            arguments: arguments(),
        }
    }
}

/// The text of the line of progress.
fn said(done: u64, all: u64, spent: Duration) -> String {
    if done == 0 {
        return format!("round 1 of about {all}");
    }
    let left = spent.as_secs_f64() / done as f64 * all.saturating_sub(done) as f64;
    format!("round {} of about {all}, {left:.0} s left", done + 1)
}

/// Formats the results: each command with its times, then the comparison with the reference.
fn report(run: &Run, colour: bool, width: Option<usize>) -> String {
    let width = width.unwrap_or(usize::MAX);
    let mut out = String::new();
    for benchmark in &run.benchmarks {
        out += &format!("{}\n", output::painted(&benchmark.name, "1", colour));
        for line in lines(benchmark, colour) {
            for part in wrap(&line, width.saturating_sub(2), "    ") {
                out += &format!("  {part}\n");
            }
        }
    }
    let compared: Vec<String> = run.benchmarks.iter().filter_map(compared).collect();
    if !compared.is_empty() {
        out.push('\n');
    }
    for line in compared {
        for part in wrap(&line, width, "  ") {
            out += &format!("{part}\n");
        }
    }
    if run.interrupted {
        out += "Stopped early.\n";
    }
    out
}

fn lines(benchmark: &Benchmark, colour: bool) -> Vec<String> {
    let mut lines = Vec::new();
    let mark = match benchmark.status {
        Status::Ok if benchmark.interference.is_disturbed => {
            output::painted("disturbed", "33", colour) + "  "
        }
        Status::Ok => String::new(),
        Status::Invalid => output::painted("INVALID", "1;31", colour) + "  ",
        Status::Crashed => output::painted("FAILED", "1;31", colour) + "  ",
        Status::Skipped | Status::NotStarted => output::painted("skipped", "2", colour) + "  ",
    };
    match (benchmark.details.command.as_ref(), benchmark.median) {
        (Some(command), Some(median)) => {
            let ends = benchmark.confidence_interval;
            lines.push(format!(
                "time    {mark}{}",
                time(command, median, ends, benchmark.details.samples.len())
            ));
            lines.push(format!("cpu     {}", cpu(command, benchmark.details.samples.len())));
            lines.push(format!("memory  {}", memory(command)));
        }
        _ => lines.push(mark.trim_end().to_owned()),
    }
    lines.extend(benchmark.notes.iter().map(Note::to_string));
    lines
}

fn time(command: &CommandRuns, median: f64, ends: Option<[f64; 2]>, runs: usize) -> String {
    let interval = ends.map(|ends| format!(" {}", yamba_report::interval(ends, median, "ns")));
    let of = format!(
        "{}{}  mean {}, {} to {}, {runs} runs",
        ns(median),
        interval.unwrap_or_default(),
        ns(command.mean_ns),
        shortest(command.min_ns),
        ns(command.max_ns),
    );
    match &command.shell {
        Some(shell) => format!("{of}, less the start of {shell}"),
        None => of,
    }
}

/// The shortest time. With the time of the shell subtracted, it can be below 0.
fn shortest(value: f64) -> String {
    if value > 0.0 { ns(value) } else { "about 0".to_owned() }
}

/// Processor time of all runs below which the ticks of a kernel split it too coarsely into user and
/// system, in ns. With ticks of 4 ms, the error of the split then is 6 %.
const LEAST_CPU_NS: f64 = 1e9;

/// Processor time of one run below which the split is biased, in ns: Linux gives all time of a
/// process to the user if no tick hit the kernel. These are ten ticks of 4 ms.
const LEAST_CPU_OF_RUN_NS: f64 = 4e7;

fn cpu(command: &CommandRuns, runs: usize) -> String {
    let both = command.user_ns + command.system_ns;
    if both * (runs as f64) < LEAST_CPU_NS || both < LEAST_CPU_OF_RUN_NS {
        return format!("{}, too little to split it into user and system", ns(both));
    }
    format!("user {}, system {}", ns(command.user_ns), ns(command.system_ns))
}

fn memory(command: &CommandRuns) -> String {
    let mib = |bytes: u64| format!("{} MiB", number(bytes as f64 / f64::from(1 << 20)));
    let peak = match (command.peak_memory_bytes, command.memory_floor_bytes) {
        (Some(peak), _) => mib(peak),
        (None, Some(floor)) => format!("at most {}", mib(floor)),
        (None, None) => "not known".to_owned(),
    };
    format!(
        "{peak}; {} page faults, {} of them from storage; {} switches",
        number((command.minor_faults + command.major_faults).round()),
        number(command.major_faults.round()),
        number(command.switches.round()),
    )
}

fn ns(value: f64) -> String {
    yamba_report::figure(value, "ns")
}

/// `b takes 1.52 times as long as a [1.5, 1.55]`
fn compared(benchmark: &Benchmark) -> Option<String> {
    let ratio = benchmark.details.command.as_ref()?.to_reference.as_ref()?;
    let [low, high] = ratio.interval.map(number);
    let (name, reference) = (&benchmark.name, &ratio.reference);
    Some(if ratio.interval[0] > 1.0 || ratio.interval[1] < 1.0 {
        let times = number(ratio.ratio);
        format!("{name} takes {times} times as long as {reference} [{low}, {high}]")
    } else {
        format!("{name} and {reference}: no difference shown [{low}, {high}]")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cases without spaces are those of hyperfine's own tests of its lists.
    #[test]
    fn comma_after_backslash_belongs_to_value() {
        for (text, expected) in [
            (r"one\,two,three", &["one,two", "three"][..]),
            (r"a\\,b", &[r"a\", "b"]),
            (r"\,", &[","]),
            (r",\,", &["", ","]),
            (r"a\b,c\", &[r"a\b", r"c\"]),
            ("", &[""]),
            ("foo,", &["foo", ""]),
            ("a=b,c", &["a=b", "c"]),
            ("1, 2 , a b", &["1", "2", "a b"]),
        ] {
            assert_eq!(list(text), expected, "{text}");
        }
    }
}
