//! Asks a program for its description.

use std::path::Path;

use serde::Deserialize;
use yamba_record::program::{Program as Description, SCHEMA};
use yamba_record::{Event, Workers};

use super::child::{self, Limits};
use super::job::Program;
use super::points::{Refused, settings};
use super::process_output::ProcessExit;
use super::reader::{event, utf8};
use super::{crash, units};

/// The computation of a description, for messages about its end.
const BEFORE_MEASURING: &str =
    "while it computed its parameters (`over`, `requires`) and static objects";

/// The program's description with these parameters and this number of processes or threads.
pub(super) fn describe(
    program: &Program,
    fixed: &[(String, String)],
    workers: Workers,
    scratch: &Path,
    limits: &Limits,
) -> Result<Description, Refused> {
    let mut arguments = vec!["--describe".to_owned()];
    arguments.extend(settings(fixed));
    if let Some((option, count)) = load_option(workers) {
        arguments.extend([option.to_owned(), count.to_string()]);
    }
    let limits = Limits { workers: workers.count(), ..limits.clone() };
    let (output, text) = child::output(program, &arguments, scratch, &limits);
    match output.exit {
        ProcessExit::Exit(0) => understood(&text),
        ProcessExit::Exit(2) => Err(Refused::Usage(output.messages)),
        ProcessExit::Exit(4) => Err(Refused::Skip(output.messages)),
        ProcessExit::Stopped => Err(Refused::Stopped),
        ProcessExit::OutOfTime => Err(Refused::Skip("no time was left".to_owned())),
        _ => {
            let ended = || format!("{}, {BEFORE_MEASURING}", crash::describe_exit(&output));
            Err(Refused::Crash(vec![last_error(&text).unwrap_or_else(ended)]))
        }
    }
}

/// The option for several processes or threads, with its value. `None` for one.
pub(super) fn load_option(workers: Workers) -> Option<(&'static str, u64)> {
    if workers.threads > 1 {
        return Some(("--threads", workers.threads));
    }
    (workers.processes > 1).then_some(("--processes", workers.processes))
}

/// The fields that descriptions of all versions have.
#[derive(Deserialize)]
struct Versioned {
    schema: String,
    #[serde(default)]
    class: String,
}

fn understood(text: &[u8]) -> Result<Description, Refused> {
    let wrong = |e| Refused::Crash(vec![format!("it does not describe itself: {e}")]);
    let text = utf8(text).map_err(wrong)?;
    let Versioned { schema, class } = serde_json::from_str(text).map_err(wrong)?;
    if schema != SCHEMA {
        return Err(Refused::Fault(format!(
            "{class}: it describes itself by `{schema}`, and this version of Yamba reads `{SCHEMA}`; \
             use a version of Yamba that reads it, or change the program as docs/protocol.md shows"
        )));
    }
    checked(serde_json::from_str(text).map_err(wrong)?)
}

/// The description, if its units are known.
pub(super) fn checked(description: Description) -> Result<Description, Refused> {
    if description.skip.is_none() {
        units::check(&description).map_err(Refused::Fault)?;
    }
    Ok(description)
}

/// The program's own error message, for example about an impossible value or a failed call.
fn last_error(text: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(text);
    text.lines().filter_map(|line| event(line.as_bytes()).ok()).find_map(|event| match event {
        Event::Error(error) => Some(error.text),
        _ => None,
    })
}
