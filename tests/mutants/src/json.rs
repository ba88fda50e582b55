//! Mutants of JSON documents.

use fastrand::Rng;
use serde_json::{Map, Value, json};

use crate::number::{numbers, respelled};
use crate::{Change, Mutant};

/// Makes `count` mutants of the JSON document `original`. The seed decides all of them.
///
/// # Panics
/// If `original` is no JSON document.
pub fn json(original: &str, seed: u64, count: usize) -> Vec<Mutant> {
    let document: Value = serde_json::from_str(original).expect("the original is JSON");
    let mut rng = Rng::with_seed(seed);
    let whole = |text, change| Mutant { text, change, line: None, detail: String::new() };
    let mut mutants = vec![
        whole(original.replace('\n', "\r\n"), Change::Crlf),
        whole(format!("\u{feff}{original}"), Change::ByteOrderMark),
    ];
    while mutants.len() < count {
        let mutant = match rng.u8(..10) {
            0 => Some(truncated(original, &mut rng)),
            1..=4 => number_changed(original, &mut rng),
            _ => structure_changed(&document, &mut rng),
        };
        mutants.extend(mutant);
    }
    mutants.truncate(count);
    mutants
}

fn truncated(original: &str, rng: &mut Rng) -> Mutant {
    let body = original.trim_end();
    let mut end = rng.usize(..body.len());
    while !body.is_char_boundary(end) {
        end -= 1;
    }
    Mutant {
        text: body[..end].to_owned(),
        change: Change::Truncated,
        line: None,
        detail: format!("ends at byte {end}"),
    }
}

/// Respells one number of the text, in strings too: `1.5e3`, `NaN`, `1,5`. Much of that is no JSON,
/// as some programs write it.
fn number_changed(original: &str, rng: &mut Rng) -> Option<Mutant> {
    let places = numbers(original);
    let place = places.get(rng.usize(..places.len().max(1)))?.clone();
    let (change, number) = respelled(&original[place.clone()], rng)?;
    let mut start = place.start.saturating_sub(30);
    while !original.is_char_boundary(start) {
        start -= 1;
    }
    let detail = format!("{:?} -> {number}", &original[start..place.end]);
    let mut text = original.to_owned();
    text.replace_range(place, &number);
    Some(Mutant { text, change, line: None, detail })
}

/// Changes one object or array of the document.
fn structure_changed(document: &Value, rng: &mut Rng) -> Option<Mutant> {
    let mut changed = document.clone();
    let mut places = Vec::new();
    containers(document, String::new(), &mut places);
    let place = &places[rng.usize(..places.len().max(1))..].first()?.clone();
    let (change, what) = match changed.pointer_mut(place)? {
        Value::Object(members) => member_changed(members, rng)?,
        Value::Array(elements) => element_changed(elements, rng)?,
        _ => return None,
    };
    Some(Mutant {
        text: changed.to_string(),
        change,
        line: None,
        detail: format!("{place}: {what}"),
    })
}

/// JSON pointers to all objects and arrays.
fn containers(value: &Value, at: String, places: &mut Vec<String>) {
    let escaped = |key: &str| key.replace('~', "~0").replace('/', "~1");
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                containers(member, format!("{at}/{}", escaped(key)), places);
            }
            places.push(at);
        }
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                containers(element, format!("{at}/{index}"), places);
            }
            places.push(at);
        }
        _ => {}
    }
}

fn member_changed(members: &mut Map<String, Value>, rng: &mut Rng) -> Option<(Change, String)> {
    let keys: Vec<String> = members.keys().cloned().collect();
    let key = keys.get(rng.usize(..keys.len().max(1)));
    match rng.u8(..3) {
        0 => {
            members.insert("added_by_a_newer_version".to_owned(), other_value(rng));
            Some((Change::FieldAdded, "a member".to_owned()))
        }
        1 => {
            members.remove(key?);
            Some((Change::FieldRemoved, key?.clone()))
        }
        _ => {
            members.insert(key?.clone(), other_value(rng));
            Some((Change::TypeChanged, key?.clone()))
        }
    }
}

fn element_changed(elements: &mut Vec<Value>, rng: &mut Rng) -> Option<(Change, String)> {
    if elements.is_empty() {
        return None;
    }
    let at = rng.usize(..elements.len());
    let change = match rng.u8(..3) {
        0 => {
            elements.remove(at);
            Change::LineRemoved
        }
        1 => {
            elements.insert(at, elements[at].clone());
            Change::LineRepeated
        }
        _ => {
            elements[at] = other_value(rng);
            Change::TypeChanged
        }
    };
    Some((change, format!("element {at}")))
}

fn other_value(rng: &mut Rng) -> Value {
    let values = [
        json!(null),
        json!(true),
        json!("NaN"),
        json!("1,5"),
        json!(""),
        json!([]),
        json!({}),
        json!(-1),
        json!(1e300),
    ];
    values[rng.usize(..values.len())].clone()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn each_change_occurs() {
        let original = r#"{"benchmarks": [{"name": "a/b", "real_time": 1500.25}], "n": 2}"#;
        let mutants = json(original, 1, 2000);
        let changes: HashSet<Change> = mutants.iter().map(|m| m.change).collect();
        assert_eq!(mutants.len(), 2000);
        assert_eq!(
            changes.len(),
            14,
            "all but `FieldsReordered`, since members have no order: {changes:?}"
        );
    }
}
