//! Candidates for a completed word: benchmarks, tags, studies, stored runs, files. Read errors
//! yield no candidates, since a shell cannot show an error.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;

use clap::{Arg, Command, CommandFactory};
use clap_complete::engine::{
    ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter,
};
use yamba_store::{Listed, Store};

use crate::cli::{Cli, run_ref, select};
use yamba_session::{StoreChoice, study};

/// Number of run ids offered before any digit is typed.
const LATEST: usize = 20;

/// The command line with completers for its values.
pub(super) fn command() -> Command {
    with_values(Cli::command())
}

fn with_values(command: Command) -> Command {
    let name = command.get_name().to_owned();
    let command = command.mut_args(|arg| match values(&name, &arg) {
        Some(completer) => arg.add(completer),
        None => arg,
    });
    command.mut_subcommands(with_values)
}

/// The completer of an argument, chosen by the argument's value name in the help.
fn values(command: &str, arg: &Arg) -> Option<ArgValueCompleter> {
    let called = arg.get_value_names()?.first()?;
    Some(match called.as_str() {
        "NAME|GLOB|FILE.yamba" => safe(benchmarks_or_files),
        "NAME|GLOB" | "CLASS" => safe(benchmarks),
        "NAME" if command == "show" => safe(benchmarks),
        "TAG" if command == "tag" => safe(|current: &OsStr| tags_of(&listed(), current)),
        "TAG" => safe(tags),
        "NAME|FILE.toml" => safe(studies),
        "RUN" | "A" | "B" => safe(runs),
        "DIR" | "FOLDER" => safe(PathCompleter::dir()),
        "ACCESS.LOG" | "MODEL" => safe(PathCompleter::any()),
        called if called.starts_with("FILE") => safe(PathCompleter::any()),
        _ => return None,
    })
}

/// Removes candidates with shell metacharacters and those that look like options, because bash
/// inserts candidates unquoted.
fn safe(completer: impl ValueCompleter + 'static) -> ArgValueCompleter {
    let is_safe = |word: &OsStr| {
        let mut bytes = word.as_encoded_bytes().iter();
        bytes.all(|b| b.is_ascii_alphanumeric() || b"._/+-".contains(b))
            && !word.as_encoded_bytes().starts_with(b"-")
    };
    ArgValueCompleter::new(move |current: &OsStr| {
        let mut all = completer.complete(current);
        all.retain(|candidate| is_safe(candidate.get_value()));
        all
    })
}

fn that_begin<'a>(
    current: &OsStr,
    all: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Vec<CompletionCandidate> {
    let Some(begun) = current.to_str() else {
        return Vec::new();
    };
    let all = all.into_iter().filter(|(word, _)| word.starts_with(begun));
    all.map(|(word, about)| {
        let about = (!about.is_empty()).then(|| run_ref::plain(about).into());
        CompletionCandidate::new(word).help(about)
    })
    .collect()
}

/// The named candidates, else files with this extension.
fn or_files(
    named: Vec<CompletionCandidate>,
    current: &OsStr,
    extension: &'static str,
) -> Vec<CompletionCandidate> {
    if !named.is_empty() {
        return named;
    }
    let is_one = move |path: &Path| path.extension().is_some_and(|e| e == extension);
    PathCompleter::any().filter(is_one).complete(current)
}

fn benchmarks(current: &OsStr) -> Vec<CompletionCandidate> {
    let suite = select::suite().unwrap_or_default();
    that_begin(current, suite.names.iter().map(|name| (name.as_str(), "")))
}

fn benchmarks_or_files(current: &OsStr) -> Vec<CompletionCandidate> {
    or_files(benchmarks(current), current, "yamba")
}

fn tags(current: &OsStr) -> Vec<CompletionCandidate> {
    let suite = select::suite().unwrap_or_default();
    that_begin(current, suite.tags.iter().map(|tag| (tag.as_str(), "")))
}

fn studies(current: &OsStr) -> Vec<CompletionCandidate> {
    let all = study::shipped().unwrap_or_default();
    let named = all.iter().map(|(name, title)| (name.as_str(), title.as_str()));
    or_files(that_begin(current, named), current, "toml")
}

/// The stored runs, latest first. Completion neither creates nor migrates a store.
fn listed() -> Vec<Listed> {
    let location = StoreChoice::default().location().ok();
    let store = location.and_then(|l| Store::glance(&l).ok().flatten());
    let runs = store.and_then(|mut store| store.runs().ok());
    let mut runs = runs.unwrap_or_default();
    runs.retain(|run| run.id.bytes().all(|b| b.is_ascii_hexdigit()));
    runs
}

fn tags_of(runs: &[Listed], current: &OsStr) -> Vec<CompletionCandidate> {
    let tags: BTreeSet<&String> = runs.iter().flat_map(|run| &run.head.tags).collect();
    that_begin(current, tags.into_iter().map(|tag| (tag.as_str(), "")))
}

fn runs(current: &OsStr) -> Vec<CompletionCandidate> {
    let runs = listed();
    let ids: Vec<&str> = runs.iter().map(|run| run.id.as_str()).collect();
    let mut all = tags_of(&runs, current);
    if !runs.is_empty() {
        let latest = ("latest", "the run that was asked for last");
        all.extend(that_begin(current, [latest]));
    }
    // Before a digit is typed, the latest runs are offered, by their short ids.
    let is_begun = !current.is_empty();
    let most = if is_begun { runs.len() } else { LATEST };
    for run in runs.iter().take(most) {
        let moment = run_ref::moment(run.started_unix_s).map(run_ref::rfc3339);
        let about = format!("{} {}", moment.unwrap_or_default(), run.benchmarks.join(" "));
        let short = run_ref::short(&run.id, &ids);
        let id = if is_begun { &run.id } else { short };
        all.extend(that_begin(current, [(id, about.as_str())]));
    }
    or_files(all, current, "json")
}
