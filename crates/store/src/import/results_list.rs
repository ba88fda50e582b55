//! JSON with a list `results` of benchmarks, as hyperfine and nanobench write it.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::foreign::{Number, Results};
use super::members::Members;
use super::{DocumentFault, fault, quoted};

#[derive(Deserialize)]
struct Document<'a> {
    #[serde(borrow)]
    results: Vec<&'a RawValue>,
    /// The program that wrote it, where it says so, as an export of Yamba does.
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
    if let Some(producer) = document.producer {
        results.producer = producer;
    }
    for (index, result) in document.results.iter().enumerate() {
        let members = Members::read(result.get());
        let name = members.as_ref().and_then(|m| m.text(key).ok()?);
        let (Some(members), Some(name)) = (&members, name) else {
            results.leave_out(&format!("results[{index}]"), &format!("no {key} in it"));
            continue;
        };
        match numbers(name, members) {
            Ok(numbers) => numbers.into_iter().try_for_each(|number| results.push(number))?,
            Err(reason) => results.leave_out(&quoted(name), &reason),
        }
    }
    Ok(())
}
