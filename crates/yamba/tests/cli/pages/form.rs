//! The form of an output: the part that stays the same when a command runs on another machine or at
//! another time. The rules:
//!
//! - A number is `N`, wherever it begins a word or follows `=`, `[`, `(` and the like; digits
//!   inside a name (`x86_64`) stay. A size may end in K, M, G or T. An id of a run is a number too.
//! - A number with a unit of time, of cycles, of bytes or of bandwidth is `N UNIT`: the table
//!   chooses the scale.
//! - The space between columns is one space.
//! - Core cycles beside a time may be there or not: a disturbed or emulated processor has none.
//! - What the table says in brackets of an entry's samples (`(19 discarded: 19 switch)`,
//!   `(disturbed)`, `(1 to 1.067)`) may be there or not.
//! - Evidence stands behind its entry or in the next line, as it fits: it counts as behind. A
//!   wrapped line is one line.
//! - Notes of the circumstances (`CIRCUMSTANCES`) may be there or not.
//!
//! All else must be equal, line by line. A shown line `...` stands for any number of lines.

/// Beginnings of lines that only describe the circumstances of a measurement. `All figures:` or
/// `all of NAME:` may precede them.
pub const CIRCUMSTANCES: [&str; 13] = [
    "Another hardware thread used the same core",
    "Batches beside another hardware thread count",
    "it is not known whether another hardware thread used the core:",
    "the machine is disturbed:",
    "memory is not locked:",
    "took N UNIT instead of N UNIT",
    "slow: after the first launch",
    "most batches are far shorter than they were made to be:",
    "the system refused to keep this process on one processor",
    "cycles unknown",
    "core cycles unknown",
    "Intervals are within launches:",
    "Intervals of few launches hold",
];

const STATUSES: [&str; 4] = ["ok", "INVALID", "CRASHED", "skipped"];

const UNITS: [&str; 29] = [
    "ps", "ns", "us", "ms", "s", "min", "cycles", "B", "kB", "KB", "MB", "GB", "TB", "KiB", "MiB",
    "GiB", "TiB", "B/s", "kB/s", "MB/s", "GB/s", "TB/s", "KiB/s", "MiB/s", "GiB/s", "Hz", "kHz",
    "MHz", "GHz",
];

/// Indentation of lines that belong to a table entry.
const INDENT: usize = 12;

/// Compares a page's expected output with the printed output: by form or, if `is_exact`, literally.
pub fn compare(shown: &[String], printed: &str, is_exact: bool) -> Result<(), String> {
    let (shown, printed) = if is_exact {
        let printed = printed.lines().map(|l| l.trim_end().to_owned());
        (shown.to_vec(), printed.collect())
    } else {
        let printed: Vec<String> = printed.lines().map(str::to_owned).collect();
        (forms(shown), forms(&printed))
    };
    let failed = match matched(&shown, &printed) {
        None => return Ok(()),
        Some(failed) => failed,
    };
    let marked = |lines: &[String], from: usize| {
        let mark = |i: usize| if i == from { '>' } else { ' ' };
        let each = lines.iter().enumerate();
        each.map(|(i, line)| format!("    {} {line}\n", mark(i))).collect::<String>()
    };
    Err(format!(
        "  the page has, with > at the first line that was not found:\n{}  the command printed:\n{}",
        marked(&shown, failed),
        marked(&printed, usize::MAX)
    ))
}

/// The index of the first unmatched expected line. `None` if all lines match and no printed line is
/// left over.
fn matched(shown: &[String], printed: &[String]) -> Option<usize> {
    // `reach[p]`: whether the expected lines so far can end before printed line `p`.
    let mut reach = vec![false; printed.len() + 1];
    reach[0] = true;
    for (index, line) in shown.iter().enumerate() {
        let is_rest = line == "..." || line == "…";
        let mut next = vec![false; printed.len() + 1];
        for at in 0..=printed.len() {
            if is_rest {
                next[at] = reach[at] || at > 0 && next[at - 1];
            } else if at > 0 {
                let is_match = reach[at - 1] && printed[at - 1] == *line;
                next[at] = is_match || next[at - 1] && is_circumstance(&printed[at - 1]);
            }
        }
        if !next.contains(&true) {
            return Some(index);
        }
        reach = next;
    }
    let end = printed.len();
    let is_shown_up_to = |at: usize| printed[at..].iter().all(|l| is_circumstance(l));
    let is_complete = (0..=end).any(|at| reach[at] && is_shown_up_to(at));
    (!is_complete).then_some(shown.len())
}

fn is_circumstance(form: &str) -> bool {
    let text = match form.split_once(": ") {
        Some((of, text)) if of == "All figures" || of.starts_with("all of ") => text,
        _ => form,
    };
    CIRCUMSTANCES.iter().any(|known| text.starts_with(known))
}

/// Whether circumstances explain every missing figure: no entry crashed, and invalid entries were
/// too short or too disturbed.
pub fn is_only_disturbed(printed: &str) -> bool {
    let lines = forms(&printed.lines().map(str::to_owned).collect::<Vec<_>>());
    let mut is_explained = true;
    let mut found = false;
    for line in &lines {
        match line.split(' ').next() {
            Some("CRASHED") => return false,
            Some("INVALID") if !is_explained => return false,
            Some("INVALID") => (found, is_explained) = (true, false),
            Some("ok" | "skipped") if !is_explained => return false,
            _ => is_explained |= line.contains("nothing measurable"),
        }
    }
    found && is_explained
}

/// The skipped entries, with their reasons.
pub fn skipped(printed: &str) -> Vec<String> {
    let lines: Vec<String> = printed.lines().map(str::to_owned).collect();
    let joined = joined(&lines);
    let mut found = Vec::new();
    for pair in joined.windows(2) {
        if pair[0].1.starts_with("skipped ") {
            found.push(format!("{}: {}", pair[0].1, pair[1].1));
        }
    }
    found
}

/// Whether a command with status 1 printed an answer: an invalid figure, or a failed gate.
pub fn has_answer(printed: &str) -> bool {
    let mut lines = printed.lines();
    lines.any(|line| line.starts_with("INVALID ") || line.starts_with("gate failed: "))
}

/// The form of each logical line.
fn forms(lines: &[String]) -> Vec<String> {
    joined(lines).iter().map(|(_, line)| form(line)).collect()
}

/// Joins wrapped lines and evidence to their entry. Each line has its indentation.
fn joined(lines: &[String]) -> Vec<(usize, String)> {
    let mut joined: Vec<(usize, String)> = Vec::new();
    for line in lines {
        let text = line.trim();
        let indent = line.len() - line.trim_start().len();
        if text.is_empty() {
            continue;
        }
        match joined.last_mut() {
            Some((first, before))
                if indent > INDENT + 1 && *first + 2 <= indent
                    || indent == INDENT && is_evidence(text) && is_entry(before) =>
            {
                before.push(' ');
                before.push_str(text);
            }
            _ => joined.push((indent, text.to_owned())),
        }
    }
    joined
}

fn is_entry(line: &str) -> bool {
    line.split(' ').next().is_some_and(|w| STATUSES.contains(&w))
}

/// Whether `text` begins with `NAME=VALUE` or with a bracket about samples.
fn is_evidence(text: &str) -> bool {
    let word = text.split(' ').next().unwrap_or_default();
    let is_name = |name: &str| {
        let mut chars = name.chars();
        !name.is_empty() && chars.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    word.split_once('=').is_some_and(|(name, _)| is_name(name)) || text.starts_with('(')
}

fn form(line: &str) -> String {
    let words: Vec<String> = line.split_whitespace().map(numbers).collect();
    let mut text: Vec<String> = Vec::new();
    for word in words {
        let bare = word.trim_end_matches([',', ';', ':', ')', ']', '.']);
        let is_unit = UNITS.contains(&bare) && text.last().is_some_and(|w| w.ends_with('N'));
        if is_unit && bare != "cycles" {
            text.push(format!("UNIT{}", &word[bare.len()..]));
        } else {
            text.push(word);
        }
    }
    let text = without_marks(&text.join(" "));
    let text = text.replace("N cycles [N, N] N UNIT [N, N]", "N UNIT [N, N]");
    let text = text.replace("[N, N] N cycles", "[N, N]");
    let text = text.replace("[N, N] cycles unknown", "[N, N]");
    text.replace("N cycles", "N UNIT")
}

/// Removes the brackets about an entry's samples.
fn without_marks(text: &str) -> String {
    let mut rest = text;
    let mut kept = String::new();
    while let Some((before, after)) = rest.split_once(" (") {
        let Some((inside, behind)) = after.split_once(')') else {
            break;
        };
        let is_mark = |part: &str| {
            ["disturbed", "launches disagree", "N % contended", "within launches", "N to N"]
                .contains(&part)
                || part.starts_with("N discarded")
        };
        kept.push_str(before);
        if !inside.split(", ").all(is_mark) {
            kept.push_str(&format!(" ({inside})"));
        }
        rest = behind;
    }
    kept + rest
}

/// Replaces each number in a word by `N`.
fn numbers(word: &str) -> String {
    let bare = word.trim_matches([',', ';', ':', '(', ')', '.']);
    let is_hex = |c: char| matches!(c, '0'..='9' | 'a'..='f');
    let is_id = [8, 16].contains(&bare.len()) && bare.chars().all(is_hex);
    if is_id && bare.contains(|c: char| c.is_ascii_digit()) {
        return word.replace(bare, "N");
    }
    let chars: Vec<char> = word.chars().collect();
    let mut found = String::new();
    let mut at = 0;
    while at < chars.len() {
        let before = at.checked_sub(1).map(|i| chars[i]);
        let is_inside = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
        match number_end(&chars, at).filter(|_| !is_inside) {
            Some(end) => {
                if found.ends_with('-') && (found.len() == 1 || found.ends_with("[-")) {
                    found.pop();
                }
                found.push('N');
                at = end;
            }
            None => {
                found.push(chars[at]);
                at += 1;
            }
        }
    }
    found
}

/// The end of the number that begins at `begin`: digits with points and commas, an exponent, a size
/// suffix.
fn number_end(chars: &[char], begin: usize) -> Option<usize> {
    let digit = |i: usize| chars.get(i).is_some_and(char::is_ascii_digit);
    let is = |i: usize, set: &str| chars.get(i).is_some_and(|c| set.contains(*c));
    let mut end = begin;
    while digit(end) || end > begin && is(end, ".,") && digit(end + 1) {
        end += 1;
    }
    if end == begin {
        return None;
    }
    if is(end, "e") && (digit(end + 1) || is(end + 1, "+-") && digit(end + 2)) {
        end += 2;
        while digit(end) {
            end += 1;
        }
    }
    if is(end, "KMGT") {
        end += 1;
    }
    let is_name = chars.get(end).is_some_and(|c| c.is_alphanumeric() || *c == '_');
    (!is_name).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_like(shown: &str, printed: &str) -> bool {
        let shown: Vec<String> = shown.lines().map(str::to_owned).collect();
        compare(&shown, printed, false).is_ok()
    }

    const SHOWN: &str = "\
ok       lat_a  size=16K  164.1 ns  [163.9, 164.4]
            answers=1 switches=2.5 (14 discarded)";

    #[test]
    fn other_figures_have_the_same_form() {
        for printed in [
            SHOWN,
            "ok  lat_a  size=1M  1.1 us  [1.0, 1.2]  604.3 cycles  answers=1.02 switches=2 (1 to 3)",
            "ok  lat_a  size=1M  1.1 us  [1.0, 1.2]  cycles unknown\n            answers=1e-5\n              switches=2 (disturbed, 3 discarded: 2 switch and 1 fault)",
            "ok  lat_a  size=8  1.1 s  [1, 2]  answers=1 switches=2\n            memory is not locked: that needs root\n",
        ] {
            assert!(is_like(SHOWN, printed), "{printed}");
        }
        assert!(is_like(
            "f();\n  time  603.8 cycles [602, 650]  163.5 ns [163, 175.7]",
            "f();\n  time  1.5 us [1.5, 1.6]"
        ));
        assert!(is_like("a  ee321c2a81ccbfd5  2026-11-22", "a  4569976311111111  2027-01-01"));
    }

    #[test]
    fn output_of_another_form_is_rejected() {
        for printed in [
            "",
            "CRASHED  lat_a  size=16K  164.1 ns  [163.9, 164.4]  answers=1 switches=2.5",
            "INVALID  lat_a  size=16K  164.1 ns  [163.9, 164.4]  answers=1 switches=2.5",
            "ok  lat_b  size=16K  164.1 ns  [163.9, 164.4]  answers=1 switches=2.5",
            "ok  lat_a  164.1 ns  [163.9, 164.4]  answers=1 switches=2.5",
            "ok  lat_a  size=16K  164.1 ns  answers=1 switches=2.5",
            "ok  lat_a  size=16K  164.1  [163.9, 164.4]  answers=1 switches=2.5",
            "ok  lat_a  size=16K  164.1 ns  [163.9, 164.4]  answers=1",
            "ok  lat_a  size=16K  164.1 ns  [163.9, 164.4]  answers=none switches=2.5",
            "ok  lat_a  size=16K  164.1 ns  [163.9, 164.4]  answers=1 switches=2.5\nanother line",
            "another line\nok  lat_a  size=16K  164.1 ns  [163.9, 164.4]  answers=1 switches=2.5",
            "ok  lat_a  size=16K  164.1 ns  [163.9, 164.4]  answers=1 switches=2.5\n            evidence is outside",
            "error: unexpected argument '--tme' found",
        ] {
            assert!(!is_like(SHOWN, printed), "{printed}");
        }
    }

    #[test]
    fn only_dots_match_any_lines() {
        assert!(is_like("a\n...\nz", "a\nb\nc\nz"));
        assert!(is_like("a\n…", "a\nb"));
        assert!(is_like("...\nz", "z"));
        assert!(!is_like("a\n...\nz", "a\nb\nz\nc"));
        assert!(!is_like("a\n...\ny\nz", "a\nb\nz\ny"));
        assert!(!is_like("a\nz", "a\nb\nz"));
    }

    #[test]
    fn digits_of_names_are_compared() {
        assert_eq!(numbers("x86_64.disp32(0)"), "x86_64.disp32(N)");
        assert_eq!(numbers("[-1.5,"), "[N,");
        assert_eq!(numbers("10,100,1000"), "N");
        assert_eq!(numbers("18:02"), "N:N");
        assert!(!is_like("on x86_64", "on x86_32"));
    }

    #[test]
    fn exact_output_is_compared_as_it_is() {
        let shown = ["  0004  53  push rbx".to_owned()];
        assert!(compare(&shown, "  0004  53  push rbx  \n", true).is_ok());
        assert!(compare(&shown, "  0004  54  push rbx\n", true).is_err());
        assert!(compare(&shown, "  0004 53  push rbx\n", true).is_err());
    }

    #[test]
    fn mismatch_names_the_first_missing_line() {
        let shown = ["one".to_owned(), "two".to_owned()];
        let said = compare(&shown, "one\nthree\n", false).unwrap_err();
        assert!(said.contains("    > two\n") && said.contains("      three\n"), "{said}");
    }

    #[test]
    fn skipped_entries_have_their_reasons() {
        let printed = "ok  a  1 ns  [1, 1]\nskipped  b  size=1\n            no port for x defines\n              bitstring y\n";
        assert_eq!(skipped(printed), ["skipped  b  size=1: no port for x defines bitstring y"]);
    }

    #[test]
    fn invalid_for_another_reason_than_the_circumstances_is_told_apart() {
        let short =
            "INVALID  a  0.1 ns  [0, 1]\n            nothing measurable: it costs nothing\n";
        assert!(is_only_disturbed(short));
        assert!(is_only_disturbed(&format!("ok  b  1 ns  [1, 1]\n{short}")));
        assert!(!is_only_disturbed("ok  b  1 ns  [1, 1]\n"));
        let evidence = "INVALID  a  1 ns  [0, 1]\n            x is 0 (median), expected [1, 1]\n";
        assert!(!is_only_disturbed(evidence));
        assert!(!is_only_disturbed(&format!("{evidence}{short}")));
        assert!(!is_only_disturbed(&format!("{short}CRASHED  c\n")));
    }
}
