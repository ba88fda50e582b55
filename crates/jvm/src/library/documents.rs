//! The documents of the agent.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::Error as _;

use crate::library::Fault;
use crate::library::jvm::Identity;

/// The largest size of an operand: that of an array.
const LARGEST_SIZE: f64 = i32::MAX as f64;

/// Reads counted calls.
pub(crate) fn calls(text: &[u8]) -> Result<Calls, Fault> {
    checked(text, |calls: &Calls| {
        let names = calls.calls.iter().all(|call| is_method(&call.name));
        let sizes = calls.calls.iter().filter_map(|call| call.mean_size);
        let is_size = |size: f64| (0.0..=LARGEST_SIZE).contains(&size);
        names && sizes.into_iter().all(is_size)
    })
}

/// Reads the processor time of a run.
pub(crate) fn times(text: &[u8]) -> Result<Times, Fault> {
    checked(text, |times: &Times| times.vm_ns <= times.process_ns)
}

/// Reads samples.
pub(crate) fn samples(text: &[u8]) -> Result<Samples, Fault> {
    checked(text, |samples: &Samples| samples.library.keys().all(|name| is_method(name)))
}

fn checked<'t, D: Deserialize<'t>>(text: &'t [u8], is_right: fn(&D) -> bool) -> Result<D, Fault> {
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
    let found = serde_json::from_slice(text).map_err(|e| Fault::bad_document(&e))?;
    if is_right(&found) {
        return Ok(found);
    }
    let error = serde_json::Error::custom("a name, size or count that no run has");
    Err(Fault::bad_document(&error))
}

/// The name under which the agent counts concatenations of texts.
const CONCATENATION: &str = "java.lang.invoke.StringConcatFactory.makeConcatWithConstants";

/// Whether a text is the name of a method with its class and parameters.
fn is_method(name: &str) -> bool {
    if name == CONCATENATION {
        return true;
    }
    let parts = name.strip_suffix(')').and_then(|rest| rest.split_once('('));
    parts.is_some_and(|(method, _)| method.contains('.'))
}

/// The counted calls of one run.
#[derive(Debug, Deserialize)]
pub(crate) struct Calls {
    pub jvm: Identity,
    /// Classes that could not be rewritten.
    pub left_out_classes: u64,
    /// Calls of methods that found no place in the counters.
    pub others: u64,
    pub calls: Vec<Call>,
}

/// The calls of a method in one class of sizes.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Call {
    pub name: String,
    /// `null`: no size matters. A document without it is incomplete.
    #[serde(deserialize_with = "Option::deserialize")]
    pub mean_size: Option<f64>,
    pub count: u64,
}

/// The processor time of one run.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Times {
    pub process_ns: u64,
    /// Time of collectors, compilers and other threads of the machine itself.
    pub vm_ns: u64,
}

/// The samples of one run.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Samples {
    /// In the program, callbacks included.
    pub program: u64,
    /// In threads without a frame of the program.
    pub others: u64,
    /// In the class library, by the method that the program called.
    pub library: BTreeMap<String, u64>,
}

impl Samples {
    pub(crate) fn in_library(&self) -> u64 {
        self.library.values().sum()
    }

    pub(crate) fn all(&self) -> u64 {
        self.program + self.others + self.in_library()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use yamba_mutants::{Change, Mutant, json};

    use super::*;

    const CALLS: &str = r#"{"jvm": {"vendor": "v", "version": "17", "vm": "s", "collector": "G1"},
"left_out_classes": 1, "others": 20, "calls": [
{"name": "java.lang.String.indexOf(String)", "mean_size": 43.5, "count": 2000},
{"name": "java.lang.String.indexOf(String)", "mean_size": 7.25, "count": 30},
{"name": "java.lang.System.nanoTime()", "mean_size": null, "count": 4}]}"#;
    const TIMES: &str = r#"{"process_ns": 5000000, "vm_ns": 1250000}"#;
    const SAMPLES: &str = r#"{"program": 12, "others": 3, "library": {"java.lang.String.indexOf(String)": 40, "java.util.HashMap.get(Object)": 1500}}"#;

    /// Whether a value became another one that a run can have: no call, no sample in the library,
    /// or a call whose size does not matter.
    fn is_of_another_run(mutant: &Mutant) -> bool {
        let values = [": library", ": calls", ": mean_size"];
        let is_value = values.iter().any(|value| mutant.detail.ends_with(value));
        mutant.change == Change::TypeChanged && is_value
    }

    /// Reads the mutants of a document. `agrees` has what was read and whether an element may be
    /// missing.
    fn each<D>(text: &str, read: fn(&[u8]) -> Result<D, Fault>, agrees: impl Fn(&D, bool) -> bool) {
        let mut found = 0;
        for mutant in json(text, 1, 10_000) {
            if is_of_another_run(&mutant) {
                continue;
            }
            let removed = [Change::LineRemoved, Change::FieldRemoved].contains(&mutant.change);
            match read(mutant.text.as_bytes()) {
                Ok(document) => assert!(agrees(&document, removed), "{mutant:?}"),
                Err(fault) => assert!(!mutant.change.keeps_figures(), "{fault} {mutant:?}"),
            }
            found += usize::from(read(mutant.text.as_bytes()).is_ok());
        }
        assert!(found > 100, "{found}");
    }

    /// The texts that describe the virtual machine are no figures.
    #[test]
    fn changed_calls_are_the_same_or_refused() {
        let key = |call: &Call| (call.name.clone(), call.mean_size.map(f64::to_bits));
        let of = |calls: &Calls| -> BTreeMap<_, u64> {
            calls.calls.iter().map(|call| (key(call), call.count)).collect()
        };
        let original = calls(CALLS.as_bytes()).unwrap();
        let expected = of(&original);
        each(CALLS, calls, |found, is_removed| {
            let own = of(found);
            own.iter().all(|(key, count)| expected.get(key) == Some(count))
                && (is_removed || own.len() == expected.len())
                && (found.others, found.left_out_classes) == (20, 1)
        });
    }

    #[test]
    fn changed_times_are_the_same_or_refused() {
        each(TIMES, times, |found, _| (found.process_ns, found.vm_ns) == (5_000_000, 1_250_000));
    }

    #[test]
    fn changed_samples_are_the_same_or_refused() {
        let expected = samples(SAMPLES.as_bytes()).unwrap().library;
        each(SAMPLES, samples, |found, is_removed| {
            let own = &found.library;
            own.iter().all(|(name, count)| expected.get(name) == Some(count))
                && (is_removed || own.len() == expected.len())
                && (found.program, found.others) == (12, 3)
        });
    }

    #[test]
    fn documents_without_a_size_or_with_more_time_than_the_process_are_refused() {
        assert!(calls(CALLS.replace("\"mean_size\": null, ", "").as_bytes()).is_err());
        assert!(times(TIMES.replace("1250000", "5000001").as_bytes()).is_err());
    }
}
