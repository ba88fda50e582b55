//! `yamba runs`

use super::run::Run;
use super::{Failure, StoreOption, output, run_ref};
use clap::Args;
use serde::Serialize;
use yamba_record::Machine;
use yamba_record::number::counted;
use yamba_record::run::FleetMember;
use yamba_report::wrap;
use yamba_store::{Listed, Store};

/// If a run has more benchmarks than this, only their number is shown.
const NAMED: usize = 3;

/// List stored runs
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba runs                                  the latest first
  yamba runs --json | jq -r '.[].id'          for a program
  yamba runs --store results.sqlite           those of another file

Times are UTC. Each command that takes a RUN takes the beginning of its id, a tag, `latest`, or `latest~1` for the one before. `latest` passes over
what `compare` and `selftest` measured, and the vectors of `yamba trace`: `latest-vector` is the latest of these.")]
pub(super) struct Runs {
    /// An array of {id, started, machine, tags, benchmarks, complete, vector_of}
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreOption,
}

impl Runs {
    pub(super) fn run(self) -> Result<(), Failure> {
        let location = self.store.choice().location()?;
        let runs = match Store::existing(&location)? {
            Some(mut store) => store.runs()?,
            None => Vec::new(),
        };
        if self.json {
            output::json(&runs.iter().map(StoredRun::new).collect::<Vec<_>>())?;
        } else if runs.is_empty() {
            let text = format!(
                "No run is kept yet in {location}: `yamba run NAME` measures and keeps one."
            );
            let lines = wrap(&text, output::width().unwrap_or(usize::MAX), "");
            output::result(&format!("{}\n", lines.join("\n")))?;
        } else {
            output::result(&table(&runs, output::width()))?;
        }
        output::note(&damages(&runs));
        Ok(())
    }
}

/// A stored run, as `--json` prints it.
#[derive(Serialize, schemars::JsonSchema)]
pub(super) struct StoredRun<'a> {
    /// The identifier of the run: sixteen hexadecimal digits.
    id: &'a str,
    /// Start of the run in UTC, in the form of RFC 3339; null if it is unknown.
    started: Option<String>,
    /// The main facts of the machine. An empty text or 0 means unknown.
    machine: MachineIdentity<'a>,
    /// Names that the user gave the run.
    tags: &'a [String],
    /// The names of the benchmarks, each once.
    benchmarks: &'a [String],
    /// Whether the run finished, and was neither stopped nor killed.
    complete: bool,
    /// The application whose vector the run has; null for a run of benchmarks.
    vector_of: Option<&'a str>,
    /// The place of the run in a fleet; null for a run on its own.
    fleet: Option<&'a FleetMember>,
}

/// The properties that identify a machine, without those that may change daily.
#[derive(Serialize, schemars::JsonSchema)]
struct MachineIdentity<'a> {
    /// The instruction set.
    isa: &'a str,
    /// The operating system.
    system: &'a str,
    /// The version of the operating system.
    kernel: &'a str,
    /// The processor's model.
    cpu: Option<&'a str>,
    /// Processors online.
    cpus: u64,
    /// Bytes of memory.
    memory: Option<u64>,
    /// Whether a hypervisor was detected.
    virtual_machine: Option<bool>,
}

impl<'a> StoredRun<'a> {
    fn new(run: &'a Listed) -> StoredRun<'a> {
        let machine = &run.head.machine;
        StoredRun {
            id: &run.id,
            started: run_ref::moment(run.started_unix_s).map(run_ref::rfc3339),
            machine: MachineIdentity {
                isa: &machine.isa,
                system: &machine.system,
                kernel: &machine.kernel,
                cpu: machine.cpu.as_deref(),
                cpus: machine.cpus,
                memory: machine.memory,
                virtual_machine: machine.virtual_machine,
            },
            tags: &run.head.tags,
            benchmarks: &run.benchmarks,
            complete: run.complete,
            vector_of: run.head.application(),
            fleet: run.head.fleet.as_ref(),
        }
    }
}

fn table(runs: &[Listed], width: Option<usize>) -> String {
    let head = ["run", "started (UTC)", "machine", "valid", "state", "tags", "what"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let ids: Vec<&str> = runs.iter().map(|r| r.id.as_str()).collect();
    for run in runs {
        let started = run_ref::moment(run.started_unix_s);
        let started = started.map(|t| t.format("%Y-%m-%d %H:%M:%S").to_string());
        let [entries, valid] = run.entries;
        rows.push(vec![
            run_ref::plain(run_ref::short(&run.id, &ids)),
            started.unwrap_or_else(|| "unknown".to_owned()),
            run_ref::plain(&machine(&run.head.machine)),
            match run.head.vector {
                Some(_) => String::new(),
                None => format!("{valid}/{entries}"),
            },
            state(run).to_owned(),
            run_ref::plain(&run.head.tags.join(" ")),
            run_ref::plain(&(place(run) + &what(run))),
        ]);
    }
    fitting(rows, width)
}

/// The table in this width. If it does not fit, a machine that all runs share is named once, below
/// it.
fn fitting(mut rows: Vec<Vec<String>>, width: Option<usize>) -> String {
    const MACHINE: usize = 2;
    let longest = output::columns(&rows).lines().map(|l| l.chars().count()).max();
    let is_shared = rows[1..].windows(2).all(|pair| pair[0][MACHINE] == pair[1][MACHINE]);
    if !is_shared || width.is_none() || longest <= width {
        return output::table(&rows, width);
    }
    let machine = rows[1][MACHINE].clone();
    for row in &mut rows {
        row.remove(MACHINE);
    }
    let all = match rows.len() {
        2 => "on",
        _ => "all on",
    };
    let line = format!("{all} {machine}");
    let lines = wrap(&line, width.unwrap_or(usize::MAX), "  ");
    format!("{}{}\n", output::table(&rows, width), lines.join("\n"))
}

/// The damage of each unreadable run, with help texts.
fn damages(runs: &[Listed]) -> String {
    let each = runs.iter().filter_map(|run| {
        let (id, why) = (run_ref::plain(&run.id), run.damage.as_ref()?);
        Some(format!("warning: run {id} is damaged: {why}\nhelp: `yamba rm {id}` takes it out\n"))
    });
    each.collect()
}

/// The state of a run. An unfinished run may still be running on another machine, which this
/// machine cannot see.
fn state(run: &Listed) -> &'static str {
    if run.damage.is_some() {
        return "damaged";
    }
    match (run.complete, run.head.interrupted, run.is_running) {
        (true, _, _) => "complete",
        (_, true, _) => "stopped",
        (_, _, Some(true)) => "running",
        (_, _, Some(false)) => "cut off",
        (_, _, None) => "no end",
    }
}

/// The processor without trademark signs, and the kernel version without its package suffix.
fn machine(machine: &Machine) -> String {
    let cpu = machine.cpu.as_deref().unwrap_or(&machine.isa);
    let cpu = cpu.split('@').next().unwrap_or(cpu);
    let cpu = cpu.replace("(R)", "").replace("(TM)", "");
    let cpu: Vec<&str> = cpu.split_whitespace().filter(|w| *w != "CPU").collect();
    let kernel = machine.kernel.split('-').next().unwrap_or_default();
    let system = format!("{} {kernel}", machine.system);
    let mut known = vec![cpu.join(" "), system.trim().to_owned()];
    known.retain(|part| !part.is_empty());
    match known.join(", ") {
        none if none.is_empty() => "unknown".to_owned(),
        known => known,
    }
}

/// The fleet and the node of a run. Empty for a run on its own.
fn place(run: &Listed) -> String {
    let member = run.head.fleet.as_ref();
    member.map_or(String::new(), |member| format!("{} {}: ", member.name, member.node))
}

/// A short description of the measured benchmarks.
fn what(run: &Listed) -> String {
    if let Some(application) = run.head.application() {
        return format!("vector of {application}");
    }
    let entries = counted(run.entries[0], "entry", "entries");
    if run.damage.is_some() {
        return entries;
    }
    if run.head.producer.imported.is_some() {
        return format!("{}, {entries}", run.head.producer.version);
    }
    if Run::from_arguments(&run.head.producer.arguments).is_some_and(|recorded| recorded.is_whole())
    {
        return format!("whole suite, {entries}");
    }
    match run.benchmarks.len() {
        0 => "nothing".to_owned(),
        1..=NAMED => run.benchmarks.join(" "),
        n => format!("{n} benchmarks, {entries}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machine_is_described_briefly() {
        let described = |cpu: Option<&str>| {
            machine(&Machine {
                isa: "x86_64".to_owned(),
                system: "linux".to_owned(),
                kernel: "6.1.0-25-amd64".to_owned(),
                cpu: cpu.map(str::to_owned),
                ..Machine::default()
            })
        };
        let xeon = described(Some("Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz"));
        assert_eq!(xeon, "Intel Xeon E5-2680 v4, linux 6.1.0");
        assert_eq!(described(None), "x86_64, linux 6.1.0");
        assert_eq!(machine(&Machine::default()), "unknown");
    }

    #[test]
    fn only_run_without_names_is_of_the_whole_suite() {
        let is_whole = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            Run::from_arguments(&words).map(|recorded| recorded.is_whole())
        };
        assert_eq!(is_whole("run --quick --set scale=3"), Some(true));
        assert_eq!(is_whole("run pagefault --quick"), Some(false));
        assert_eq!(is_whole("run --tag memory"), Some(false));
        assert_eq!(is_whole("time getppid();"), None);
        assert_eq!(is_whole("run --of-another-version"), None);
    }
}
