//! Restores the lines of records, which `runtime/bundle/records.h` shortens.

use std::collections::BTreeMap;

use crate::bundle::item::bytes;

/// A line without its numbers, and the numbers of the latest such line.
struct Form {
    words: Vec<Vec<u8>>,
    numbers: Vec<Vec<u8>>,
}

/// The lines that `records` stand for, each with its end. `None` if one of them is malformed.
pub(crate) fn lines(records: &[String]) -> Option<Vec<u8>> {
    let mut forms: BTreeMap<usize, Form> = BTreeMap::new();
    let mut all = Vec::new();
    for (number, record) in records.iter().enumerate() {
        if let Some(line) = record.strip_prefix('!') {
            let line = bytes(line);
            all.extend_from_slice(&line);
            forms.insert(number, form(&line));
        } else {
            let (place, changes) = record.split_once(':')?;
            let form = forms.get_mut(&place.parse().ok()?)?;
            change(form, changes)?;
            all.extend(form.line());
        }
        all.push(b'\n');
    }
    Some(all)
}

impl Form {
    fn line(&self) -> Vec<u8> {
        let mut line = self.words[0].clone();
        for (number, words) in self.numbers.iter().zip(&self.words[1..]) {
            line.extend_from_slice(number);
            line.extend_from_slice(words);
        }
        line
    }
}

/// Replaces the numbers that are not empty.
fn change(form: &mut Form, changes: &str) -> Option<()> {
    if changes.is_empty() {
        return Some(());
    }
    for (place, number) in changes.split(',').enumerate() {
        if !number.is_empty() {
            *form.numbers.get_mut(place)? = number.as_bytes().to_vec();
        }
    }
    Some(())
}

/// The length of the number that begins `text`, or 0. `null` counts as a number.
fn number_length(text: &[u8]) -> usize {
    let is_of_number = |byte: &&u8| byte.is_ascii_digit() || b"-+.eE".contains(byte);
    match text {
        [b'n', b'u', b'l', b'l', ..] => 4,
        [b'-' | b'0'..=b'9', ..] => text.iter().take_while(is_of_number).count(),
        _ => 0,
    }
}

/// Splits a line at the numbers outside of its texts.
fn form(line: &[u8]) -> Form {
    let mut form = Form { words: vec![Vec::new()], numbers: Vec::new() };
    let (mut at, mut is_text) = (0, false);
    while at < line.len() {
        let byte = line[at];
        let length = if is_text { 0 } else { number_length(&line[at..]) };
        if length > 0 {
            form.numbers.push(line[at..at + length].to_vec());
            form.words.push(Vec::new());
            at += length;
            continue;
        }
        let length = if is_text && byte == b'\\' { 2 } else { 1 };
        is_text ^= byte == b'"';
        let words = form.words.last_mut().expect("there is always one");
        words.extend(&line[at..(at + length).min(line.len())]);
        at += length;
    }
    form
}

#[cfg(test)]
mod tests {
    use super::*;

    fn restored(records: &[&str]) -> Option<String> {
        let records: Vec<String> = records.iter().map(|r| (*r).to_owned()).collect();
        lines(&records).map(|lines| String::from_utf8(lines).unwrap())
    }

    #[test]
    fn changed_numbers_replace_those_of_latest_line_of_the_form() {
        let whole = r#"!{"event":"batch","ns":1.5,"a 7":[-2,null],"t":"1\"2 null"}"#;
        let text = restored(&[whole, "!x", "0:,8", "0:2", "1:", "0:,,9"]).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], &whole[1..]);
        assert_eq!(lines[2], r#"{"event":"batch","ns":1.5,"a 7":[8,null],"t":"1\"2 null"}"#);
        assert_eq!(lines[3], r#"{"event":"batch","ns":2,"a 7":[8,null],"t":"1\"2 null"}"#);
        assert_eq!(lines[4], "x");
        assert_eq!(lines[5], r#"{"event":"batch","ns":2,"a 7":[8,9],"t":"1\"2 null"}"#);
    }

    #[test]
    fn reference_to_missing_line_or_number_is_malformed() {
        for wrong in ["0:1", "7:1", "x", ":", "0:,,,,1"] {
            assert_eq!(restored(&[r#"!{"a":"b"}"#, wrong]), None, "{wrong}");
        }
    }
}
