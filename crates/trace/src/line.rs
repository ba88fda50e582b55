//! One line of strace's output: its process, its time and its event.

/// The largest process number of Linux, `PID_MAX_LIMIT` of the kernel.
const LARGEST_PROCESS: u32 = 4_194_304;

/// A line of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// How the line names its process.
    pub prefix: Prefix,
    /// The time by the clock, in ns: since midnight (`-tt`), or since 1970 (`-ttt`). `None`: the
    /// line has none, or only whole seconds.
    pub time_ns: Option<u64>,
    /// The event.
    pub content: Content<'a>,
}

/// The process or thread that a line names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefix {
    /// None: only one process was traced, or only one is left.
    None,
    /// A column, as `strace -f -o FILE` writes: `123 close(3) = 0`.
    Column(u32),
    /// Brackets, as `strace -f` prints while there are several processes: `[pid 123] close(3) = 0`.
    Brackets(u32),
}

/// The event that a line reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content<'a> {
    /// A whole call, or the first part of one: `close(3) = 0`, `close(3 <unfinished ...>`.
    Call(&'a str),
    /// The rest of an interrupted call: `<... close resumed>) = 0`.
    Resumed {
        /// Name of the call.
        name: &'a str,
        /// The text after `resumed>`.
        rest: &'a str,
    },
    /// The end of a process.
    End,
    /// Another thread of the process has executed a program: it has ended, and its call goes on
    /// under this number.
    Superseded(u32),
    /// strace has attached to this new process.
    Attached(u32),
    /// A signal, or a remark of strace.
    Other,
}

/// Reads a line. `None`: it is not one of strace.
pub fn line(text: &str) -> Option<Line<'_>> {
    let text = text.trim();
    if let Some(content) = remark(text) {
        return Some(Line { prefix: Prefix::None, time_ns: None, content });
    }
    let (prefix, rest) = prefix(text);
    let (time_ns, rest) = without_columns(rest);
    let content = content(rest)?;
    Some(Line { prefix, time_ns, content })
}

/// A line that strace adds beside calls: its own messages, the callers of a call (`-k`) and
/// transferred bytes (`-e read`).
fn remark(text: &str) -> Option<Content<'_>> {
    let own = text.strip_prefix("strace: ").unwrap_or(text);
    if let Some(process) = attached(own) {
        return Some(Content::Attached(process));
    }
    let of_process = own.strip_prefix("Process ").is_some_and(|rest| {
        let word = rest.split(' ').nth(1).unwrap_or_default();
        ["attached", "detached", "suspended", "resumed"].contains(&word)
    });
    let is_remark = own.len() < text.len()
        || of_process
        || own.starts_with("[ Process PID=")
        || own.starts_with("> ")
        || own.starts_with("| ");
    is_remark.then_some(Content::Other)
}

/// The number in `Process 123 attached`.
fn attached(text: &str) -> Option<u32> {
    let number = text.strip_prefix("Process ")?.strip_suffix(" attached")?;
    process(number)
}

fn content(text: &str) -> Option<Content<'_>> {
    if text.starts_with("--- ") {
        return Some(Content::Other);
    }
    if let Some(end) = text.strip_prefix("+++ ") {
        return Some(match end.strip_prefix("superseded by execve in pid ") {
            Some(other) => Content::Superseded(process(other.strip_suffix(" +++")?)?),
            None => Content::End,
        });
    }
    if let Some(rest) = text.strip_prefix("<... ") {
        let (name, rest) = rest.split_once(" resumed>")?;
        return Some(Content::Resumed { name, rest });
    }
    let (name, _) = text.split_once('(')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (!name.is_empty() && name.chars().all(is_name)).then_some(Content::Call(text))
}

/// Reads the number of a process, which is written in decimal digits only.
fn process(text: &str) -> Option<u32> {
    let is_number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let number = text.parse().ok().filter(|_| is_number);
    number.filter(|number| (1..=LARGEST_PROCESS).contains(number))
}

/// The text behind the columns of process and times.
pub fn body(text: &str) -> &str {
    let (_, rest) = prefix(text.trim());
    without_columns(rest).1
}

/// The process at the beginning: `[pid 123] ` or `123 `, with its command in angle brackets (`-Y`).
fn prefix(text: &str) -> (Prefix, &str) {
    let (body, in_brackets) = match text.strip_prefix("[pid ") {
        Some(rest) => (rest.trim_start(), true),
        None => (text, false),
    };
    let digits = body.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = body.split_at(digits);
    let after_command = |rest: &'_ str| -> Option<usize> {
        let end = rest.starts_with('<').then(|| rest.find("> "));
        end.map_or(Some(0), |end| end.map(|end| end + 1))
    };
    let end = if in_brackets { "] " } else { " " };
    let found = || {
        let number = process(number)?;
        // The command ends before the bracket.
        let rest = match rest.strip_prefix('<') {
            Some(command) if in_brackets => &command[command.find(">]")? + 1..],
            _ => &rest[after_command(rest)?..],
        };
        Some((number, rest.strip_prefix(end)?.trim_start()))
    };
    match found() {
        Some((number, rest)) if in_brackets => (Prefix::Brackets(number), rest),
        Some((number, rest)) => (Prefix::Column(number), rest),
        None => (Prefix::None, text),
    }
}

/// Removes the columns of `-t`, `-r`, `-n` and `-i`. Returns the time by the clock.
fn without_columns(text: &str) -> (Option<u64>, &str) {
    let (mut found, mut rest) = (None, text);
    loop {
        let (word, after) = match rest.strip_prefix("(+") {
            Some(relative) => match relative.split_once(") ") {
                Some((word, after)) => (word.trim(), after),
                None => return (found, rest),
            },
            None => match number_in_brackets(rest) {
                Some(after) => {
                    rest = after.trim_start();
                    continue;
                }
                None => match rest.split_once(' ') {
                    Some(both) => both,
                    None => return (found, rest),
                },
            },
        };
        let Some(time) = time(word) else {
            return (found, rest);
        };
        if let Time::ByTheClock(ns) = time {
            found = found.or(Some(ns));
        }
        rest = after.trim_start();
    }
}

/// The text after `[  59] ` (`-n`) or `[00007f529d5ccad7] ` (`-i`).
fn number_in_brackets(text: &str) -> Option<&str> {
    let (number, rest) = text.strip_prefix('[')?.split_once("] ")?;
    let is_digit = |c: char| c.is_ascii_hexdigit() || c == '?';
    let number = number.trim();
    (!number.is_empty() && number.chars().all(is_digit)).then_some(rest)
}

/// A time column.
enum Time {
    /// In ns, with a fraction of seconds.
    ByTheClock(u64),
    /// Since the call before, or in whole seconds.
    Other,
}

/// Times of more seconds are those since 1970, and not since the call before.
const SINCE_1970_S: u64 = 100_000_000;

/// Reads `12:00:01.5`, `1700000000.123` or `0.000042`. Some locales have a comma before the
/// fraction.
fn time(word: &str) -> Option<Time> {
    let (whole, fraction) = match word.split_once(['.', ',']) {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (word, None),
    };
    let number = |text: &str| -> Option<u64> {
        let is_number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        text.parse().ok().filter(|_| is_number)
    };
    let fraction_ns = match fraction {
        Some(digits) if digits.len() <= 9 => {
            Some(number(digits)? * 10u64.pow(9 - u32::try_from(digits.len()).ok()?))
        }
        Some(_) => return None,
        None => None,
    };
    let parts = whole.split(':').map(number).collect::<Option<Vec<u64>>>()?;
    let (seconds, is_clock) = match parts[..] {
        [hours, minutes, seconds] => (hours * 3600 + minutes * 60 + seconds, true),
        [seconds] => (seconds, seconds >= SINCE_1970_S),
        _ => return None,
    };
    match fraction_ns {
        Some(ns) if is_clock => Some(Time::ByTheClock(seconds.checked_mul(1_000_000_000)? + ns)),
        Some(_) => Some(Time::Other),
        None => is_clock.then_some(Time::Other),
    }
}

/// The first part of a call that is interrupted, or during which strace detached from the process.
/// The message about a new process also interrupts a line.
pub fn unfinished(text: &str) -> Option<&str> {
    let marks = ["<unfinished ...>", "<detached ...>"];
    if let Some(first) = marks.iter().find_map(|mark| text.strip_suffix(mark)) {
        return Some(first.trim_end());
    }
    let (first, remark) = text.rsplit_once("Process ")?;
    let number = remark.strip_suffix(" attached")?;
    process(number)?;
    Some(first.strip_suffix("strace: ").unwrap_or(first).trim_end())
}

/// The process whose message interrupts a line.
pub fn attached_within(text: &str) -> Option<u32> {
    let (_, remark) = text.rsplit_once("Process ")?;
    process(remark.strip_suffix(" attached")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_before_the_call_are_read() {
        let time = 43_201_500_000_000;
        for (text, prefix, time_ns) in [
            ("close(3) = 0", Prefix::None, None),
            ("7 close(3) = 0", Prefix::Column(7), None),
            ("7<my app> close(3) = 0", Prefix::Column(7), None),
            ("[pid 7] close(3) = 0", Prefix::Brackets(7), None),
            ("[pid   7<a b>] close(3) = 0", Prefix::Brackets(7), None),
            ("7 12:00:01 close(3) = 0", Prefix::Column(7), None),
            ("7 12:00:01.5 close(3) = 0", Prefix::Column(7), Some(time)),
            ("7 12:00:01,5 close(3) = 0", Prefix::Column(7), Some(time)),
            ("12:00:01.500000 (+     0.000042) close(3) = 0", Prefix::None, Some(time)),
            ("7      0.000042 close(3) = 0", Prefix::Column(7), None),
            ("1700000000 close(3) = 0", Prefix::None, None),
            ("1700000000.000000001 close(3) = 0", Prefix::None, Some(1_700_000_000_000_000_001)),
            ("7 [  59] [00007f529d5ccad7] close(3) = 0", Prefix::Column(7), None),
        ] {
            let found = line(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((found.prefix, found.time_ns), (prefix, time_ns), "{text}");
            assert_eq!(found.content, Content::Call("close(3) = 0"), "{text}");
        }
    }

    #[test]
    fn damaged_columns_are_refused() {
        for text in [
            "-7 close(3) = 0",
            "7e0 close(3) = 0",
            "9999999 close(3) = 0",
            "[pid close(3) = 0",
            "7 NaN close(3) = 0",
            "7 8 close(3) = 0",
            "12:00 close(3) = 0",
        ] {
            assert_eq!(line(text), None, "{text}");
        }
    }
}
