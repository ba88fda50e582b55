//! Tests with changed files: each fact is that of the original files, or is missing and its file is
//! named.

use serde_json::Value;
use yamba_mutants::{Change, Form, text};
use yamba_record::Machine;

use crate::describe;
use crate::queries::Queried;
use crate::sample::Sample;

const FORM: Form = Form { separator: " ", fields: &["0.5", "-", "7", "kB", "max"] };

/// Facts that are free text, or lists of words: no reader can know that a word is missing or
/// another. The last two are derived.
const FREE: [&str; 12] = [
    // Any number is valid, negative ones too.
    "/details/kernel/perf_event_paranoid",
    "/cpu",
    "/details/processor/vendor",
    "/details/kernel/mitigations",
    "/details/timers/available",
    "/details/timers/counter_invariant",
    "/details/storage/model",
    "/details/storage/options",
    "/details/storage/write_cache",
    "/virtual_machine",
    "/details/virtualisation/hypervisor",
    "/details/virtualisation/container",
];

/// A file of a sample, and the sample with another content of it.
struct SavedFile<'a> {
    path: &'a str,
    content: &'a str,
    before: &'a str,
    after: &'a str,
}

fn saved_files(sample: &str) -> Vec<SavedFile<'_>> {
    let starts: Vec<usize> = sample.match_indices("== ").map(|(at, _)| at).collect();
    let ends = starts.iter().skip(1).copied().chain([sample.len()]);
    let file = |(start, end): (&usize, usize)| {
        let (head, content) = sample[*start..end].split_once('\n')?;
        let path = head.strip_prefix("== ")?;
        let is_text = !path.contains(" = ") && !path.contains(" -> ") && !content.is_empty();
        is_text.then(|| SavedFile {
            path,
            content,
            before: &sample[..end - content.len()],
            after: &sample[end..],
        })
    };
    starts.iter().zip(ends).filter_map(file).collect()
}

fn described(files: &str, isa: &str) -> Machine {
    describe(&Sample::new(files), &Queried::default(), isa, "linux")
}

/// Whether a change cannot be noticed in this file. A whole line of a list is another list. In a
/// form with places, such as `/proc/loadavg`, two numbers can change places. Names of processors,
/// idle states and control groups are free text, in which a number is a part of the name; `0x2e0`
/// is a hexadecimal number.
fn is_unnoticeable(path: &str, change: Change) -> bool {
    let is_one = |names: &[&str]| names.iter().any(|name| path.ends_with(name));
    match change {
        // The name of an idle state is free text alone.
        _ if path.ends_with("/name") => !change.keeps_figures(),
        Change::LineRemoved | Change::LineRepeated | Change::Truncated => {
            is_one(&["mountinfo", "filesystems"])
        }
        Change::FieldsReordered => is_one(&["loadavg", "/proc/stat", "cpu.max", "mountinfo"]),
        // A path of a group with one more word is another path.
        Change::FieldAdded => path.ends_with("self/cgroup"),
        _ => is_respelled(change) && is_one(&["cpuinfo", "self/cgroup"]),
    }
}

fn is_respelled(change: Change) -> bool {
    let changes = [
        Change::Negative,
        Change::Exponent,
        Change::NotANumber,
        Change::Infinite,
        Change::DecimalComma,
        Change::Grouped,
    ];
    changes.contains(&change)
}

#[test]
fn changed_file_of_laptop_gives_the_same_facts_or_is_named() {
    check(include_str!("samples/x86_64_laptop.txt"), "x86_64");
}

#[test]
fn changed_file_of_board_gives_the_same_facts_or_is_named() {
    check(include_str!("samples/aarch64_board.txt"), "aarch64");
}

#[test]
fn changed_file_of_guest_gives_the_same_facts_or_is_named() {
    check(include_str!("samples/riscv64_guest.txt"), "riscv64");
}

#[test]
fn changed_file_of_container_gives_the_same_facts_or_is_named() {
    check(include_str!("samples/x86_64_container.txt"), "x86_64");
}

/// Changes each file of a sample, 10 000 times in all.
fn check(sample: &str, isa: &str) {
    let files = saved_files(sample);
    let original = serde_json::to_value(described(sample, isa)).unwrap();
    let total: usize = files.iter().map(|file| file.content.len() + 20).sum();
    for (seed, file) in files.iter().enumerate() {
        let share = (10_000 * (file.content.len() + 20)).div_ceil(total);
        for mutant in text(file.content, FORM, seed as u64, share) {
            let changed = [file.before, &mutant.text, file.after].concat();
            if is_unnoticeable(file.path, mutant.change) {
                continue;
            }
            let found = serde_json::to_value(described(&changed, isa)).unwrap();
            let name = file.path.rsplit('/').next().unwrap();
            let omitted = found.pointer("/details/omitted").and_then(Value::as_array);
            let is_named = omitted.is_some_and(|all| {
                let mut all = all.iter().filter_map(Value::as_str);
                all.any(|path| path == file.path || path == name)
            });
            let context = || format!("{}: {:?} {}", file.path, mutant.change, mutant.detail);
            // Older kernels write fewer lines: the fact is `null` then.
            let is_older = [Change::LineRemoved, Change::Truncated].contains(&mutant.change);
            let may_lack = is_named || is_older;
            let has_free_names = file.path == "/proc/cpuinfo" && !is_older;
            let at_kinds = has_free_names.then_some("/details/processor/kinds");
            same_or_missing("", (&original, &found), may_lack, at_kinds, &context);
        }
    }
}

/// Checks that each value of the changed document is that of the original, or is missing where it
/// may be. `free` is one more fact of free text.
fn same_or_missing(
    at: &str,
    (original, found): (&Value, &Value),
    may_lack: bool,
    free: Option<&str>,
    context: &dyn Fn() -> String,
) {
    let is_free = FREE.contains(&at) || Some(at) == free || at == "/details/omitted";
    if is_free || original == found {
        return;
    }
    match (original, found) {
        (Value::Object(before), Value::Object(after)) => {
            for (key, value) in before {
                let values = (value, after.get(key).unwrap_or(&Value::Null));
                same_or_missing(&format!("{at}/{key}"), values, may_lack, free, context);
            }
        }
        // An element that is not understood is left out, or lacks a part.
        (Value::Array(before), Value::Array(after)) if after.len() <= before.len() => {
            for value in after {
                let is_known = may_lack && before.iter().any(|of| is_part(value, of));
                assert!(is_known || before.contains(value), "{}\n{at}: {value}", context());
            }
            assert!(may_lack || after.len() == before.len(), "{}\n{at}: {found}", context());
        }
        (_, Value::Null) => assert!(may_lack, "{}\n{at}: {original} is missing", context()),
        (_, Value::String(text)) if text.is_empty() && may_lack => {}
        _ => panic!("{}\n{at}: {original} became {found}", context()),
    }
}

/// Whether a value equals another one, but for missing parts. Cores of unknown kind are one kind
/// without a name.
fn is_part(value: &Value, of: &Value) -> bool {
    match (value, of) {
        (Value::Object(kind), _) if kind.contains_key("cpus") && kind.contains_key("capacity") => {
            let is_same = |key: &str| kind[key].is_null() || of.get(key) == kind.get(key);
            is_same("name") && is_same("capacity")
        }
        (Value::Object(value), Value::Object(of)) => {
            value.iter().all(|(k, v)| v.is_null() || v == "" || of.get(k) == Some(v))
        }
        _ => value == of,
    }
}
