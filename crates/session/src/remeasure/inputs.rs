//! Checks that a program rebuilt from stored sources has the same inputs as the measured program.

use yamba_record::Run;
use yamba_record::run::BuildInputs;

use yamba_harness::Job;

/// Why `job` has other inputs than the program that `run` measured; `None` if they agree in all
/// recorded inputs.
///
/// If `run` and `other` agree in a fact that has changed since, such as the version of the C
/// library, both rebuilt sides change alike. Their comparison remains valid. A fact in which the
/// runs differ is a part of the comparison.
pub(super) fn changed(run: &Run, other: &Run, job: &Job) -> Option<String> {
    let then = recorded_inputs(run, &job.class)?;
    let now = job.provenance.inputs.clone().unwrap_or_default();
    if let Some(why) = &then.unlisted {
        return Some(format!("it cannot be rebuilt from what the run kept: {why}"));
    }
    if let Some(path) = other_include(then, &now) {
        return Some(format!(
            "{path} is no longer what was included then, and what the run kept does not stand in for it"
        ));
    }
    let others = recorded_inputs(other, &job.class);
    let mut names = then.facts.keys().chain(now.facts.keys());
    let name = names.find(|name| {
        let was = then.facts.get(*name);
        let is_shared = others.is_some_and(|others| others.facts.get(*name) == was);
        was != now.facts.get(*name) && (!is_shared || is_of_author(name))
    })?;
    let of = |inputs: &BuildInputs| inputs.facts.get(name).map_or("none".to_owned(), String::clone);
    let (was, is) = (of(then), of(&now));
    Some(format!("{name}: {was} then, {is} now"))
}

/// The recorded inputs of the programs of `class`.
pub(super) fn recorded_inputs<'r>(run: &'r Run, class: &str) -> Option<&'r BuildInputs> {
    let mut all = run.benchmarks.iter().filter(|b| b.declaration.class == class);
    all.find_map(|b| b.declaration.provenance.inputs.as_ref())
}

/// Whether the fact is about a file or library that the user named. Such a file is a part of the
/// program, not of the system.
fn is_of_author(fact: &str) -> bool {
    fact.starts_with("file ") || fact.starts_with("library ")
}

/// The path of an include file that only one side has, or whose text differs.
fn other_include(then: &BuildInputs, now: &BuildInputs) -> Option<String> {
    let mut all = then.includes.iter().chain(&now.includes);
    let other = all.find(|file| {
        let is_in = |inputs: &BuildInputs| inputs.includes.iter().any(|f| f.hash == file.hash);
        !is_in(then) || !is_in(now)
    });
    other.map(|file| file.path.clone())
}
