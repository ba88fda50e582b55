//! The form of a line: `[0.372s][info ][gc,start    ] GC(40) Pause Young (Allocation Failure)`.

/// The parts of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// `gc,start`.
    pub(super) tags: &'a str,
    /// The GC id. `None`: the line belongs to no collection.
    pub(super) id: Option<u32>,
    /// The rest, without white space at both ends.
    pub(super) message: &'a str,
}

const LEVELS: [&str; 5] = ["trace", "debug", "info", "warning", "error"];

/// Divides a line. `None`: it continues a message of several lines, none of which is read. An error
/// says what is wrong with its form.
pub(super) fn line(text: &str) -> Result<Option<Line<'_>>, &'static str> {
    let Some((tags, rest)) = decorations(text) else {
        // Lines that continue a message have no decorations at all.
        let is_changed = text.contains("[gc") || text.contains("GC(");
        return if is_changed {
            Err("it does not begin with time, level and tags, such as `[0.372s][info][gc]`")
        } else {
            Ok(None)
        };
    };
    let rest = rest.trim();
    let (id, message) = match rest.strip_prefix("GC(") {
        None if rest.contains("GC(") => return Err("its GC id is not at the beginning"),
        None => (None, rest),
        Some(rest) => {
            let found = rest.split_once(") ");
            let found = found.and_then(|(id, message)| Some((number(id)?, message)));
            let (id, message) = found.ok_or("its GC id is no number")?;
            (Some(id as u32), message.trim_start())
        }
    };
    Ok(Some(Line { tags, id, message }))
}

/// The tags and the rest of the line.
fn decorations(text: &str) -> Option<(&str, &str)> {
    let (time, rest) = text.strip_prefix('[')?.split_once("s][")?;
    let (level, rest) = rest.split_once("][")?;
    let (tags, rest) = rest.split_once(']')?;
    let is_tag = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_,".contains(c);
    let tags = tags.trim_end();
    let is_right = decimal(time).is_some()
        && LEVELS.contains(&level.trim_end())
        && !tags.is_empty()
        && tags.chars().all(is_tag)
        && (rest.is_empty() || rest.starts_with(' '));
    is_right.then_some((tags, rest))
}

/// Digits alone, as they are in each count of a log.
pub(super) fn number(text: &str) -> Option<f64> {
    let is_right = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|_| is_right)
}

/// Digits with a point between them.
pub(super) fn decimal(text: &str) -> Option<f64> {
    let (whole, fraction) = text.split_once('.')?;
    number(whole).and(number(fraction))?;
    text.parse().ok()
}

/// `123K`, in bytes.
pub(super) fn bytes(text: &str) -> Option<f64> {
    let unit = match text.chars().last()? {
        'B' => 1.0,
        'K' => 1024.0,
        'M' => 1024.0 * 1024.0,
        'G' => 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    Some(number(&text[..text.len() - 1])? * unit)
}

/// `A->B(C)`, whose parts `part` reads.
pub(super) fn change<T>(text: &str, part: fn(&str) -> Option<T>) -> Option<(T, T)> {
    let (before, after) = text.split_once("->")?;
    let (after, size) = after.strip_suffix(')')?.split_once('(')?;
    part(size)?;
    Some((part(before)?, part(after)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_line() {
        let found = line("[0.372s][info ][gc,start    ] GC(40) Pause Young (x)");
        let expected = Line { tags: "gc,start", id: Some(40), message: "Pause Young (x)" };
        assert_eq!(found, Ok(Some(expected)));
        let found = line("[12.005s][info][gc,heap,exit] ").unwrap().unwrap();
        assert_eq!((found.id, found.message), (None, ""));
        assert_eq!(line("a line that continues a message"), Ok(None));
        for changed in [
            "[0,372s][info ][gc,start    ] GC(40) Pause Young (x)",
            "[372ms][info ][gc,start    ] GC(40) Pause Young (x)",
            "[0.372s][gc,start    ] GC(40) Pause Young (x)",
            "[2026-11-28T03:00:00.000+0000][0.372s][info][gc] GC(40) Pause Young (x)",
            "[0.372s][info][gc] GC(-40) Pause Young (x)",
            "[0.372s][info][gc] 7 GC(40) Pause Young (x)",
            "0.372: [GC (Allocation Failure) GC(40)",
        ] {
            assert!(line(changed).is_err(), "{changed}");
        }
    }

    #[test]
    fn numbers_have_the_form_of_the_log() {
        assert_eq!(bytes("5K"), Some(5120.0));
        for changed in ["5", "-5K", "5e0K", "5,0K", "NaNK", "K", "+5K"] {
            assert_eq!(bytes(changed), None, "{changed}");
        }
        assert_eq!(decimal("2.438"), Some(2.438));
        for changed in ["2,438", "-2.438", "2", "2.438e0", ".5", "inf"] {
            assert_eq!(decimal(changed), None, "{changed}");
        }
        assert_eq!(change("24->0(20)", number), Some((24.0, 0.0)));
        assert_eq!(change("24->0", number), None);
    }
}
