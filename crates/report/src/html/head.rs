//! The title of the page, the names of its runs, and the explanation of its tables.

use yamba_record::Run;
use yamba_record::machine::Machine;
use yamba_record::number::counted;

use crate::intervals;
use crate::letters::letter;
use crate::place::RunLocation;

/// The title of the page: machine and number of runs.
pub fn title(runs: &[Run]) -> String {
    let Some(first) = runs.first() else {
        return "no runs".to_owned();
    };
    let machine = machine(&first.machine);
    match runs.len() {
        1 => machine,
        n if runs.iter().all(|r| self::machine(&r.machine) == machine) => {
            format!("{machine}, {n} runs")
        }
        n => format!("{n} runs"),
    }
}

/// The processor's model, and the number of processors.
pub fn machine(machine: &Machine) -> String {
    let cpu = match machine.cpu.as_deref().unwrap_or(&machine.isa) {
        "" => "an unknown machine",
        cpu => cpu,
    };
    match machine.cpus {
        0 => cpu.to_owned(),
        n => format!("{cpu}, {}", counted(n, "processor", "processors")),
    }
}

/// The heading of a run's column: a letter, and the run's tag or id.
pub fn label(runs: &[Run], number: usize) -> String {
    let run = &runs[number];
    let name = run.tags.first().unwrap_or(&run.id);
    format!("{}: {name}", letter(number))
}

/// The explanation of the tables.
pub fn legend(runs: &[Run], places: &[RunLocation], is_compared: bool) -> String {
    let mut text = intervals::explanation(runs);
    text.push_str(" An invalid figure is struck through: it is not what its name says. Its reason is below it. A benchmark's name unfolds the details of its figure; in the distribution of its samples the line is the median, the band its interval. The commands there read the run from its store or its document's file.");
    if places.iter().any(RunLocation::is_database) {
        text.push_str(" They contain no password of a database: PGPASSWORD supplies it.");
    }
    if is_compared {
        text.push_str(" B/A is the ratio of the runs' launches with its interval, in cycles where these agree better; it need not be that of the figures shown.");
    } else if runs.len() > 1 {
        text.push_str(" `yamba compare` says whether figures side by side differ.");
    }
    text
}
