//! A part of a generated text.

/// The part that `wanted` names (see `golden.rs`), without the numbers of the file's own lines.
pub fn excerpt(text: &str, name: &str, wanted: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let (from, to) = match wanted.split_once(" .. ") {
        Some((from, to)) => (from, Some(to)),
        None => (wanted, None),
    };
    let is_code = |line: &str| !line.starts_with("#line") && !line.trim_start().starts_with("//");
    let begin = lines.iter().position(|l| is_code(l) && l.contains(from))?;
    let rest = &lines[begin + 1..];
    let end = match to {
        Some(to) => 1 + rest.iter().position(|l| l.contains(to))?,
        None => match opening(&lines, begin) {
            Some(opening) => 1 + rest.iter().position(|l| closes(l, lines[opening]))?,
            None => 0,
        },
    };
    let own = format!(" \"{name}.cc\"");
    let shown = lines[begin..=begin + end].iter().map(|line| match line.strip_suffix(&own) {
        Some(numbered) if numbered.starts_with("#line ") => {
            "#line of the generated file\n".to_owned()
        }
        _ => format!("{line}\n"),
    });
    Some(shown.collect())
}

/// The line that opens the block of the line `begin`: that line itself, or the `{` after it and a
/// `#line`.
fn opening(lines: &[&str], begin: usize) -> Option<usize> {
    if lines[begin].ends_with('{') {
        return Some(begin);
    }
    (begin + 1..lines.len().min(begin + 3)).find(|i| lines[*i].trim() == "{")
}

/// Whether `line` ends the block that `opening` begins.
fn closes(line: &str, opening: &str) -> bool {
    let indentation = opening.len() - opening.trim_start().len();
    let is_as_deep = line.len() - line.trim_start().len() == indentation;
    is_as_deep && line.trim_start().starts_with('}')
}
