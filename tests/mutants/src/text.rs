//! Mutants of texts that consist of lines with fields.

use std::ops::Range;

use fastrand::Rng;

use crate::number::{numbers, respelled};
use crate::{Change, Mutant};

/// How the lines of a text are divided.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// The text between two fields, such as `" "` or `","`.
    pub separator: &'static str,
    /// Fields to insert. They should look like those of other versions and configurations of the
    /// program.
    pub fields: &'static [&'static str],
}

/// Makes `count` mutants of `original`, which must have a line. The seed decides all of them.
pub fn text(original: &str, form: Form, seed: u64, count: usize) -> Vec<Mutant> {
    let lines: Vec<&str> = original.split_inclusive('\n').collect();
    assert!(!lines.is_empty(), "a text without lines has no mutants");
    let mut rng = Rng::with_seed(seed);
    let mut mutants = vec![
        whole(original.replace('\n', "\r\n"), Change::Crlf),
        whole(format!("\u{feff}{original}"), Change::ByteOrderMark),
    ];
    while mutants.len() < count {
        mutants.extend(mutant(original, &lines, form, &mut rng));
    }
    mutants.truncate(count);
    mutants
}

fn whole(text: String, change: Change) -> Mutant {
    Mutant { text, change, line: None, detail: String::new() }
}

fn mutant(original: &str, lines: &[&str], form: Form, rng: &mut Rng) -> Option<Mutant> {
    let at = rng.usize(..lines.len());
    let line = lines[at];
    let (change, changed) = match rng.u8(..10) {
        0 => return Some(truncated(original, rng)),
        1 => (Change::LineRemoved, String::new()),
        2 => (Change::LineRepeated, format!("{}\n{line}", line.trim_end_matches('\n'))),
        3 => (Change::FieldAdded, field_added(line, form, rng)),
        4 => (Change::FieldRemoved, field_removed(line, form, rng)?),
        5 => (Change::FieldsReordered, fields_swapped(line, form, rng)?),
        _ => number_changed(line, rng)?,
    };
    if changed == line {
        return None;
    }
    let detail = format!("{line:?} -> {changed:?}");
    let mut text = lines[..at].concat();
    text.push_str(&changed);
    text.push_str(&lines[at + 1..].concat());
    Some(Mutant { text, change, line: Some(at), detail })
}

fn truncated(original: &str, rng: &mut Rng) -> Mutant {
    let mut end = rng.usize(..original.len());
    while !original.is_char_boundary(end) {
        end -= 1;
    }
    let text = original[..end].to_owned();
    Mutant {
        line: Some(text.matches('\n').count()),
        detail: format!("ends at byte {end}"),
        change: Change::Truncated,
        text,
    }
}

/// A line without its end, and the end.
fn ended(line: &str) -> (&str, &str) {
    line.split_at(line.trim_end_matches('\n').len())
}

fn field_added(line: &str, form: Form, rng: &mut Rng) -> String {
    let (body, end) = ended(line);
    let mut fields: Vec<&str> = body.split(form.separator).collect();
    fields.insert(rng.usize(..=fields.len()), form.fields[rng.usize(..form.fields.len())]);
    fields.join(form.separator) + end
}

fn field_removed(line: &str, form: Form, rng: &mut Rng) -> Option<String> {
    let (body, end) = ended(line);
    let mut fields: Vec<&str> = body.split(form.separator).collect();
    if fields.len() < 2 {
        return None;
    }
    fields.remove(rng.usize(..fields.len()));
    Some(fields.join(form.separator) + end)
}

fn fields_swapped(line: &str, form: Form, rng: &mut Rng) -> Option<String> {
    let (body, end) = ended(line);
    let mut fields: Vec<&str> = body.split(form.separator).collect();
    let (one, two) = (rng.usize(..fields.len()), rng.usize(..fields.len()));
    fields.swap(one, two);
    (one != two).then(|| fields.join(form.separator) + end)
}

fn number_changed(line: &str, rng: &mut Rng) -> Option<(Change, String)> {
    let places: Vec<Range<usize>> = numbers(line);
    if places.is_empty() {
        return None;
    }
    let place = places[rng.usize(..places.len())].clone();
    let (change, number) = respelled(&line[place.clone()], rng)?;
    let mut changed = line.to_owned();
    changed.replace_range(place, &number);
    Some((change, changed))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const FORM: Form = Form { separator: " ", fields: &["0.5", "-"] };

    #[test]
    fn each_change_occurs_and_changes_the_text() {
        let original = "GET 1500.25 /\nPUT 20 /\n";
        let mutants = text(original, FORM, 1, 2000);
        assert_eq!(mutants.len(), 2000);
        assert!(mutants.iter().all(|m| m.text != original));
        let changes: HashSet<Change> = mutants.iter().map(|m| m.change).collect();
        assert_eq!(changes.len(), 14, "all but `TypeChanged`: {changes:?}");
    }

    #[test]
    fn one_seed_gives_the_same_mutants() {
        let texts = |seed| -> Vec<String> {
            text("a 1\nb 2\n", FORM, seed, 50).into_iter().map(|m| m.text).collect()
        };
        assert_eq!(texts(7), texts(7));
        assert_ne!(texts(7), texts(8));
    }
}
