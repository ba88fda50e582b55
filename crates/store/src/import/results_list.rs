//! JSON with a list `results` of benchmarks, as hyperfine and nanobench write it.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::foreign::{Number, Results, own_export};
use super::members::Members;
use super::{DocumentFault, fault, quoted};

#[derive(Deserialize)]
struct Document<'a> {
    #[serde(borrow)]
    results: Vec<&'a RawValue>,
    /// Yamba's own exports name their program.
    #[serde(default)]
    producer: Option<String>,
}

/// Reads a document that lists its benchmarks as `results`, each with its name in `key`. `kind` is
/// the name of the format in messages. `numbers` returns the figures of a benchmark, or why it has
/// none.
pub(super) fn read(
    results: &mut Results,
    text: &str,
    kind: &str,
    key: &str,
    numbers: impl Fn(&str, &Members) -> Result<Vec<Number>, String>,
) -> Result<(), DocumentFault> {
    let document: Document<'_> = serde_json::from_str(text).map_err(|e| fault(&e, kind))?;
    if document.producer.is_some_and(|producer| producer.starts_with("yamba ")) {
        return Err(own_export("a run", kind));
    }
    for (index, result) in document.results.iter().enumerate() {
        let place = format!("results[{index}]");
        let Some(members) = Members::read(result.get()) else {
            results.leave_out(&place, "is no object, or has too many members");
            continue;
        };
        let name = match members.text(key) {
            Ok(Some(name)) => name,
            Ok(None) => {
                results.leave_out(&place, &format!("no {key} in it"));
                continue;
            }
            Err(reason) => {
                results.leave_out(&place, &reason);
                continue;
            }
        };
        match numbers(name, &members) {
            Ok(numbers) => numbers.into_iter().try_for_each(|number| results.push(number))?,
            Err(reason) => results.leave_out(&quoted(name), &reason),
        }
    }
    Ok(())
}
