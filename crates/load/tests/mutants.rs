//! Changed logs of each form that is read: each request is that of the original, or its line is
//! refused, or its missing latency is named.

use yamba_load::model::log::{FieldChoice, Log, LogFault, LogReader, Note};
use yamba_mutants::{Change, Form, Mutant, text};

const COUNT: usize = 10_000;

/// Fields of other configurations.
const FIELDS: &[&str] = &[
    "-",
    "\"-\"",
    "0.004",
    "4000",
    "10.9.9.9",
    "shop.example:443",
    "1588500000.098",
    "[x]",
    "word",
];

/// The content of a line: client, time, method, object, status, bytes, latency in ns.
type Record = (String, u64, String, String, u16, u64, Option<u64>);

fn records(log: &Log) -> Vec<Record> {
    let record = |e: &yamba_load::model::log::Entry| {
        (
            log.clients[e.client as usize].clone(),
            (e.at_s * 1e3).round() as u64,
            log.methods[e.method as usize].clone(),
            log.paths[e.path as usize].clone(),
            e.status,
            e.bytes,
            e.took_s.map(|s| (s * 1e9).round() as u64),
        )
    };
    log.entries.iter().map(record).collect()
}

fn read(text: &str, choice: FieldChoice) -> Result<Log, LogFault> {
    let mut reader = LogReader::new(choice);
    text.split_inclusive('\n').for_each(|line| reader.line(line));
    reader.finish()
}

/// Checks all mutants of a log. `is_other` says which mutants no reader can tell from another log.
fn check(original: &str, choice: FieldChoice, is_other: fn(&Mutant) -> bool) {
    let form = Form { separator: " ", fields: FIELDS };
    let log = read(original, choice).unwrap();
    let known = records(&log);
    assert_eq!(known.len(), original.lines().count());
    let mut refused = 0;
    for mutant in text(original, form, 1, COUNT) {
        if is_other(&mutant) {
            continue;
        }
        let Ok(changed) = read(&mutant.text, choice) else {
            assert!(!mutant.change.keeps_figures(), "{mutant:?}");
            refused += 1;
            continue;
        };
        check_one(&mutant, &log, &known, &changed);
    }
    // A log is refused as a whole only if it was cut within its first lines.
    assert!(refused < COUNT / 20, "{refused}");
}

fn check_one(mutant: &Mutant, original: &Log, known: &[Record], changed: &Log) {
    let names_missing =
        changed.notes.iter().any(|n| matches!(n, Note::NoLatency(_) | Note::NotTimes(_)));
    let is_known = |record: &Record| {
        known.contains(record)
            || (names_missing && record.6.is_none() && {
                let same = |k: &&Record| {
                    (&k.0, k.1, &k.2, &k.3, k.4, k.5)
                        == (&record.0, record.1, &record.2, &record.3, record.4, record.5)
                };
                known.iter().any(|k| same(&k))
            })
    };
    let records = records(changed);
    assert!(records.iter().all(is_known), "{mutant:?}: {records:?}");
    let missing = known.len().saturating_sub(records.len()) as u64;
    let is_named = match mutant.change {
        Change::LineRemoved | Change::LineRepeated => true,
        // Lines after the end are another log; the cut line is refused, if the cut is within it.
        Change::Truncated => {
            mutant.text.ends_with('\n') || mutant.text.is_empty() || changed.refused_count == 1
        }
        _ => missing == changed.refused_count,
    };
    assert!(is_named, "{mutant:?}");
    assert_eq!(changed.resolution_s, original.resolution_s, "{mutant:?}");
    assert_eq!(changed.took_from, original.took_from, "{mutant:?}");
    if mutant.change.keeps_figures() {
        assert_eq!(records, known, "{mutant:?}");
    }
}

/// A log with these texts around the time, request, status and bytes. The paths have no digits:
/// another path is another object.
fn lines(before: &str, after: &str) -> String {
    let line = |i: usize| {
        let path = ["a", "b", "c"][i % 3];
        format!(
            "{before}10.0.0.{} - - [03/May/2020:10:{i:02}:16 +0000] \"GET /{path} HTTP/1.1\" 200 {}{}\n",
            i % 7,
            1500 + i,
            after.replace("N", &format!("{:02}", 11 + i))
        )
    };
    (0..12).map(line).collect()
}

fn never(_: &Mutant) -> bool {
    false
}

#[test]
fn common_log_format() {
    check(&lines("", ""), FieldChoice::default(), never);
}

#[test]
fn virtual_host_before_the_client() {
    check(
        &lines("shop.example.org:443 ", " \"-\" \"curl/7 (x; y)\""),
        FieldChoice::default(),
        never,
    );
}

#[test]
fn combined_log_format_with_request_time_and_time_of_day() {
    check(
        &lines("", " \"http://a/ b\" \"curl\" 1.0N 1588500000.0N \"-\""),
        FieldChoice::default(),
        never,
    );
}

/// Lines of IPv4 and IPv6, address lists, users, `-` for the bytes, and responses without a body.
fn various(after: &str) -> String {
    let line = |i: usize| {
        let client = ["10.0.0.7", "2001:db8::fade", "10.0.0.8, 192.0.2.9", "10.0.0.9:5123"][i % 4];
        let user = ["-", "frank", "ann"][i % 3];
        let response = ["200 5432", "304 -", "302 -", "200 -", "204 0"][i % 5];
        let path = ["a", "b", "c"][i % 3];
        format!(
            "{client} - {user} [03/May/2020:10:{i:02}:16 +0000] \"GET /{path} HTTP/1.1\" {response}{}\n",
            after.replace("N", &format!("{:02}", 11 + i))
        )
    };
    (0..12).map(line).collect()
}

/// Without the first client, a list is that of the second one.
fn is_shorter_list(mutant: &Mutant) -> bool {
    let first = mutant.detail.contains("10.0.0.8, 192.0.2.9 ");
    mutant.change == Change::FieldRemoved && first && !after(mutant).contains("10.0.0.8")
}

/// The changed line.
fn after(mutant: &Mutant) -> &str {
    mutant.detail.split_once("-> ").map_or("", |both| both.1)
}

#[test]
fn clients_users_and_responses_of_all_forms() {
    check(&various(" \"-\" \"curl\""), FieldChoice::default(), is_shorter_list);
}

#[test]
fn latency_with_key_and_unit() {
    let choice = FieldChoice { latency: Some("3=ms".parse().unwrap()), ..FieldChoice::default() };
    check(&various(" \"-\" uct=2N rt=1.Nms"), choice, is_shorter_list);
}

#[test]
fn virtual_host_in_the_place_of_the_identity() {
    let original = lines("", "").replace(" - -", " shop.example -");
    check(&original, FieldChoice::default(), never);
}

#[test]
fn names_as_clients() {
    // Names without digits: another name is another client.
    let names = ["ada", "bob", "cy", "dan", "eve", "flo", "gus"];
    let original = (0..7).fold(lines("", ""), |text, i| {
        text.replace(&format!("10.0.0.{i} "), &format!("{} ", names[i]))
    });
    check(&original, FieldChoice::default(), never);
}

#[test]
fn no_identity_or_user() {
    for fields in ["", " -"] {
        let original = lines("", "").replace(" - -", fields);
        check(&original, FieldChoice::default(), never);
    }
}

/// Bytes and microseconds are both whole numbers: if they are exchanged, the line is one of the
/// same form.
#[test]
fn combined_log_format_with_microseconds() {
    let choice = FieldChoice { latency: Some("3=us".parse().unwrap()), ..FieldChoice::default() };
    check(&lines("", " \"-\" \"curl\" 40N"), choice, |mutant| {
        mutant.change == Change::FieldsReordered && mutant.detail.contains("200 40")
    });
}

/// Elapsed time and bytes are both whole numbers.
#[test]
fn native_log_of_squid() {
    let line = |i: usize| {
        format!(
            "15885000{i:02}.098    {} 10.0.0.{} TCP_MISS/200 {} GET http://a.example/{} - HIER_DIRECT/10.1.1.1 text/html\n",
            120 + i,
            i % 7,
            5432 + i,
            ["x", "y", "z"][i % 3]
        )
    };
    let original: String = (0..12).map(line).collect();
    check(&original, FieldChoice::default(), |mutant| {
        let Some((_, after)) = mutant.detail.split_once("-> ") else {
            return false;
        };
        let fields: Vec<&str> = after.split_ascii_whitespace().collect();
        let is_number = |place: usize| fields.get(place).is_some_and(|f| f.parse::<u64>().is_ok());
        let has_other_number = is_number(1) && is_number(4) && fields.len() == 10;
        mutant.change == Change::FieldsReordered && has_other_number && fields[1].starts_with('5')
    });
}
