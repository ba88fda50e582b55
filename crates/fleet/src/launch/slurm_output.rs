//! Reads the output of Slurm's programs. A line of another form is an error that shows it.

use crate::launch::command::is_host_name;
use crate::launch::{LaunchError, Node};

/// A submitted job.
#[derive(Debug, PartialEq)]
pub(crate) struct Submitted {
    pub id: String,
    /// The cluster, if `sbatch` chose among several.
    pub cluster: Option<String>,
}

/// The job in the output of `sbatch --parsable`: `12`, or `12;cluster`. Some sites replace `sbatch`
/// by a script that prints its own lines, or ignores the option.
pub(crate) fn submitted(said: &str) -> Result<Submitted, LaunchError> {
    let mut jobs: Vec<Submitted> = whole_lines("sbatch", said)?.filter_map(job).collect();
    jobs.dedup();
    match jobs.pop() {
        Some(job) if jobs.is_empty() => Ok(job),
        _ => Err(not_understood("sbatch", said.trim())),
    }
}

fn job(line: &str) -> Option<Submitted> {
    let (id, cluster) = match line.strip_prefix("Submitted batch job ") {
        Some(rest) => match rest.split_once(" on cluster ") {
            Some((id, cluster)) => (id, Some(cluster)),
            None => (rest, None),
        },
        None => match line.split_once(';') {
            Some((id, cluster)) => (id, Some(cluster)),
            None => (line, None),
        },
    };
    let is_cluster = cluster.is_none_or(|c| !c.is_empty() && !c.contains([' ', ';']));
    (number(id).is_some() && is_cluster)
        .then(|| Submitted { id: id.to_owned(), cluster: cluster.map(str::to_owned) })
}

/// A task of an array, as `squeue -o "%F|%K|%T|%r"` lists it.
#[derive(Debug, PartialEq)]
pub(crate) struct Row<'a> {
    pub id: &'a str,
    pub rank: u64,
    pub state: TaskState,
    pub reason: &'a str,
}

/// The state of a task, in Slurm's word.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TaskState {
    Pending,
    Running,
    Completed,
    Failed,
    TimedOut,
    Cancelled,
    NodeFailed,
    OutOfMemory,
    /// Slurm ended the job for the reason that the word names.
    Ended(String),
}

/// The tasks of the arrays `ids`.
pub(crate) fn rows<'a>(said: &'a str, ids: &[String]) -> Result<Vec<Row<'a>>, LaunchError> {
    let own = |line: &'a str| {
        let row = row(line).filter(|row| ids.iter().any(|id| id == row.id));
        row.ok_or_else(|| not_understood("squeue", line))
    };
    whole_lines("squeue", said)?.map(own).collect()
}

fn row(line: &str) -> Option<Row<'_>> {
    let fields: Vec<&str> = line.split('|').map(str::trim).collect();
    let [id, rank, state, reason] = fields[..] else {
        return None;
    };
    number(id)?;
    Some(Row { id, rank: number(rank)?, state: task_state(state)?, reason })
}

fn task_state(word: &str) -> Option<TaskState> {
    const RUNNING: [&str; 16] = [
        "RUNNING",
        "COMPLETING",
        "CONFIGURING",
        "SUSPENDED",
        "STOPPED",
        "RESIZING",
        "SIGNALING",
        "STAGE_OUT",
        "REQUEUED",
        "REQUEUE_FED",
        "REQUEUE_HOLD",
        "RESV_DEL_HOLD",
        "EXPEDITING",
        "POWER_UP_NODE",
        "POWERING_UP",
        "UPDATE_DB",
    ];
    const ENDED: [&str; 8] = [
        "BOOT_FAIL",
        "DEADLINE",
        "PREEMPTED",
        "REVOKED",
        "SPECIAL_EXIT",
        "LAUNCH_FAILED",
        "RECONFIG_FAIL",
        "START_FAIL",
    ];
    Some(match word {
        "PENDING" => TaskState::Pending,
        "COMPLETED" => TaskState::Completed,
        "FAILED" => TaskState::Failed,
        "TIMEOUT" => TaskState::TimedOut,
        "CANCELLED" => TaskState::Cancelled,
        "NODE_FAIL" => TaskState::NodeFailed,
        "OUT_OF_MEMORY" => TaskState::OutOfMemory,
        _ if RUNNING.contains(&word) => TaskState::Running,
        _ if ENDED.contains(&word) => TaskState::Ended(word.to_owned()),
        _ => return None,
    })
}

/// The nodes of a partition, or of the usual one, from the output of `sinfo -o "%N\t%T\t%P\t%E"`.
pub(crate) fn offered(listed: &str, partition: Option<&str>) -> Result<Vec<Node>, LaunchError> {
    let rows: Vec<[&str; 4]> = whole_lines("sinfo", listed)?
        .map(|line| node_row(line).ok_or_else(|| not_understood("sinfo", line)))
        .collect::<Result<_, _>>()?;
    let has_usual = rows.iter().any(|row| row[2].ends_with('*'));
    let is_in = |row: &&[&str; 4]| match partition {
        // As `sbatch --partition` takes them: several, with commas.
        Some(names) => names.split(',').any(|name| row[2].trim_end_matches('*') == name.trim()),
        None => !has_usual || row[2].ends_with('*'),
    };
    let mut nodes: Vec<Node> = Vec::new();
    for [name, state, _, reason] in rows.iter().filter(is_in) {
        if !nodes.iter().any(|node| node.name == *name) {
            nodes.push(Node { name: (*name).to_owned(), unusable: unusable(state, reason) });
        }
    }
    Ok(nodes)
}

/// Name, state, partition and reason of a node. Only the reason is free text.
fn node_row(line: &str) -> Option<[&str; 4]> {
    let fields: Vec<&str> = line.split('\t').map(str::trim).collect();
    let row: [&str; 4] = fields.try_into().ok()?;
    let [name, state, partition, _] = row;
    let partition = partition.strip_suffix('*').unwrap_or(partition);
    let is_partition = !partition.is_empty() && !partition.contains([' ', '*']);
    (is_host_name(name) && is_node_state(state_word(state)) && is_partition).then_some(row)
}

/// Flags that Slurm appends to the state of a node.
const FLAGS: [char; 10] = ['*', '~', '#', '!', '%', '$', '@', '^', '-', '+'];

fn state_word(state: &str) -> &str {
    state.trim_end_matches(FLAGS)
}

fn is_node_state(word: &str) -> bool {
    const BEGINNINGS: [&str; 20] = [
        "alloc",
        "blocked",
        "comp",
        "down",
        "drain",
        "fail",
        "future",
        "idle",
        "inval",
        "maint",
        "mix",
        "no_respond",
        "perfctrs",
        "npc",
        "plan",
        "power",
        "reboot",
        "resv",
        "reserved",
        "unk",
    ];
    let is_word = word.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    is_word && BEGINNINGS.iter().any(|begin| word.starts_with(begin))
}

/// Why a node in this state takes no task. `None` if it does. An idle node that does not respond
/// yet may have been resumed a moment ago; Slurm takes it down later if it stays silent.
fn unusable(state: &str, reason: &str) -> Option<String> {
    let word = state_word(state);
    let out = ["drain", "down", "fail", "maint", "unk", "reboot", "power", "inval", "future"];
    let is_given = !["", "none", "(null)"].contains(&reason.to_lowercase().as_str());
    let why = if state.ends_with('*') {
        format!("the node is {word} and does not respond")
    } else {
        format!("the node is {word}")
    };
    out.iter()
        .any(|out| word.starts_with(out))
        .then(|| if is_given { format!("{why}: {reason}") } else { why })
}

/// The field `ExitCode=STATUS:SIGNAL` in the output of `scontrol show job --oneliner`. `None`
/// unless it has exactly one.
pub(crate) fn exit_code(said: &str) -> Option<(i32, i32)> {
    let line = said.strip_suffix('\n')?;
    let mut codes = line.split_whitespace().filter_map(|word| word.strip_prefix("ExitCode="));
    let code = codes.next().filter(|_| codes.next().is_none())?;
    let (status, signal) = code.split_once(':')?;
    let byte = |text: &str| number(text).and_then(|n| i32::try_from(n).ok());
    Some((byte(status)?, byte(signal)?)).filter(|(status, signal)| *status < 256 && *signal < 128)
}

/// A number in decimal digits alone.
fn number(text: &str) -> Option<u64> {
    let is_number = text.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

/// The lines of a program's output, without empty ones. The last must be whole.
fn whole_lines<'a>(
    program: &str,
    said: &'a str,
) -> Result<impl Iterator<Item = &'a str>, LaunchError> {
    if !said.is_empty() && !said.ends_with('\n') {
        let last = said.lines().last().unwrap_or_default();
        return Err(not_understood(program, last));
    }
    let said = said.trim_start_matches('\u{feff}');
    Ok(said.lines().map(str::trim).filter(|line| !line.is_empty()))
}

fn not_understood(program: &str, line: &str) -> LaunchError {
    let shown: String = line.chars().take(200).collect();
    LaunchError::new(
        format!("{program} printed a line that is not understood: {shown:?}"),
        format!(
            "if a script of the site stands in for `{program}`, name Slurm's own first in PATH"
        ),
    )
}

#[cfg(test)]
mod tests {
    use yamba_mutants::{Change, Form, Mutant, text};

    use super::*;

    /// Lines of `sinfo` of Slurm 22.05: two partitions, of which `main` is the usual one.
    const SINFO: &str = "\
n1\tidle\tmain*\tnone
n1\tidle\tbig\tnone
n2\tdrained\tmain*\tbad DIMM
n3\tmixed\tmain*\tnone
n4\tdown*\tmain*\tNot responding
n6\tidle*\tmain*\tnone
n5\tdown\tbig\tnone
";

    const SQUEUE: &str = "\
4711|0|RUNNING|None
4711|1|PENDING|Resources
4711|2|COMPLETED|None
4711|3|FAILED|NonZeroExitCode
4711|12|TIMEOUT|TimeLimit
";

    const FORM: Form = Form { separator: "|", fields: &["0.5", "x", "(null)", "7"] };

    #[test]
    fn nodes_of_the_partition_are_listed_once_with_their_reasons() {
        let node = |name: &str, unusable: Option<&str>| Node {
            name: name.to_owned(),
            unusable: unusable.map(str::to_owned),
        };
        let usual = [
            node("n1", None),
            node("n2", Some("the node is drained: bad DIMM")),
            node("n3", None),
            node("n4", Some("the node is down and does not respond: Not responding")),
            node("n6", None),
        ];
        assert_eq!(offered(SINFO, None).unwrap(), usual);
        let big = [node("n1", None), node("n5", Some("the node is down"))];
        assert_eq!(offered(SINFO, Some("big")).unwrap(), big);
        // `sbatch` takes several names; a node in two of them is offered once.
        assert_eq!(offered(SINFO, Some("other,big")).unwrap(), big);
        assert_eq!(offered(SINFO, Some("big,main")).unwrap().len(), 6);
    }

    #[test]
    fn exit_code_has_status_and_signal() {
        let said = "JobId=7 ArrayJobId=5 ArrayTaskId=2 JobState=FAILED DerivedExitCode=1:0 ExitCode=0:9 Reason=x\n";
        assert_eq!(exit_code(said), Some((0, 9)));
        for said in [
            "JobId=7\n",
            "JobId=7 ExitCode=0:1",
            "JobId=7 ExitCode=0:-9\n",
            "JobId=7 ExitCode=0:9 ExitCode=1:0\n",
        ] {
            assert_eq!(exit_code(said), None, "{said}");
        }
    }

    #[test]
    fn submitted_job_is_found_among_lines_of_the_site() {
        let id = |said: &str| submitted(said).map(|job| (job.id, job.cluster)).ok();
        let plain = Some(("12".to_owned(), None));
        assert_eq!(id("12\n"), plain);
        assert_eq!(id("\nWelcome to the cluster\n12\r\n"), plain);
        assert_eq!(id("Submitted batch job 12\n"), plain);
        let other = Some(("12".to_owned(), Some("x".to_owned())));
        assert_eq!(id("12;x\n"), other);
        assert_eq!(id("Submitted batch job 12 on cluster x\n"), other);
        for said in ["", "12", "12\n13\n", "-12\n", "1,200\n", "12 13\n", "job 12\n", "12;\n"] {
            let error = submitted(said).unwrap_err();
            assert!(error.message.contains("sbatch printed"), "{error:?}");
        }
    }

    #[test]
    fn line_that_is_not_understood_is_shown() {
        let ids = ["4711".to_owned()];
        for line in [
            "CLUSTER: x",
            "4711|N/A|RUNNING|None",
            "4711|[0-3]|PENDING|None",
            "4711|1|HIBERNATED|None",
            "42|1|RUNNING|None",
            "4711|1|RUNNING",
            "4711|1|RUNNING|None|7",
            "4711+0|1|RUNNING|None",
        ] {
            let error = rows(&format!("{SQUEUE}{line}\n"), &ids).unwrap_err();
            assert!(error.message.contains(line), "{error:?}");
        }
        for line in ["CLUSTER: x", "n7|idle", "n7|sleeping|main*|none", "a b|idle|main*|none"] {
            let error = offered(&format!("{SINFO}{line}\n"), None).unwrap_err();
            assert!(error.message.contains(&format!("{line:?}")), "{error:?}");
        }
    }

    /// Whether a mutant is another list of the same form, which no reader can tell from the
    /// original's: whole rows are missing.
    fn lacks_rows(mutant: &Mutant) -> bool {
        matches!(mutant.change, Change::LineRemoved | Change::Truncated)
    }

    #[test]
    fn changed_list_of_tasks_gives_the_same_states_or_is_refused() {
        let ids = ["4711".to_owned()];
        let original = rows(SQUEUE, &ids).unwrap();
        for mutant in text(SQUEUE, FORM, 1, 10_000) {
            let Ok(found) = rows(&mutant.text, &ids) else {
                assert!(!mutant.change.keeps_figures(), "{mutant:?}");
                continue;
            };
            assert!(lacks_rows(&mutant) || found.len() >= original.len());
            for row in found {
                let is_same =
                    |o: &Row<'_>| (o.id, o.rank, &o.state) == (row.id, row.rank, &row.state);
                assert!(original.iter().any(is_same), "{mutant:?}");
            }
        }
    }

    /// Whether two fields of a line of `sinfo` changed places, of which the last is the reason:
    /// free text, which may be a name of a node or of a partition.
    fn exchanges_reason(mutant: &Mutant) -> bool {
        let reason = |text: &str| {
            let line = text.lines().nth(mutant.line?)?;
            Some(line.split('\t').next_back()?.to_owned())
        };
        mutant.change == Change::FieldsReordered && reason(SINFO) != reason(&mutant.text)
    }

    /// A number in a name is part of it: `n-3` is a name, too.
    #[test]
    fn changed_list_of_nodes_gives_the_same_nodes_or_is_refused() {
        let original = offered(SINFO, None).unwrap();
        let form = Form { separator: "\t", ..FORM };
        for mutant in text(SINFO, form, 2, 10_000) {
            let Ok(found) = offered(&mutant.text, None) else {
                assert!(!mutant.change.keeps_figures(), "{mutant:?}");
                continue;
            };
            if exchanges_reason(&mutant) {
                let others = found.iter().filter(|node| !original.contains(node));
                let is_like = others.count() <= 1 && found.len() + 1 >= original.len();
                assert!(is_like, "{mutant:?}");
                continue;
            }
            if mutant.change == Change::FieldsReordered {
                assert_eq!(found, original, "{mutant:?}");
            }
            assert!(lacks_rows(&mutant) || found.len() == original.len(), "{mutant:?}");
            let key = |node: &Node| (node.name.clone(), node.unusable.is_some());
            let known: Vec<_> = original.iter().map(key).collect();
            let others = found.iter().filter(|n| !known.contains(&key(n)));
            let names = [Change::NotANumber, Change::Infinite, Change::Negative, Change::Exponent];
            let most = usize::from(names.contains(&mutant.change));
            assert!(others.count() <= most, "{mutant:?}");
        }
    }

    #[test]
    fn changed_id_is_the_same_or_refused() {
        let form = Form { separator: " ", fields: &["7", "x", "on"] };
        for said in ["4711\n", "4711;east\n", "Submitted batch job 4711 on cluster east\n"] {
            let original = submitted(said).unwrap();
            for mutant in text(said, form, 3, 10_000) {
                match submitted(&mutant.text) {
                    Ok(found) => assert_eq!(found, original, "{mutant:?}"),
                    Err(_) => assert!(!mutant.change.keeps_figures(), "{mutant:?}"),
                }
            }
        }
    }
}
