//! One line in the form of Common Log Format: `CLIENT IDENT USER [TIME] "REQUEST" STATUS BYTES`,
//! with any fields before the client and after the bytes.

use std::borrow::Cow;

use super::fields::{Field, fields};
use super::reason::Reason;
use super::target::{LONGEST, requested};
use super::time::unix_s;

/// The fields of a line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CommonLine<'a> {
    /// The fields before the time.
    pub before: Vec<Field<'a>>,
    /// Time in seconds since 1970 (UTC).
    pub at_s: f64,
    /// Number of digits after the point of the time's seconds.
    pub time_digits: u32,
    /// Method of the request.
    pub method: &'a str,
    /// A path, or a full URL of a request to a proxy.
    pub object: Cow<'a, str>,
    /// Status of the response.
    pub status: u16,
    /// Bytes of the response's body. `None`: `-`, as Apache writes for no bytes.
    pub bytes: Option<u64>,
    /// The fields after the bytes.
    pub after: Vec<Field<'a>>,
}

/// Reads a line.
pub(super) fn parse(text: &str) -> Result<CommonLine<'_>, Reason> {
    let text = text.trim_end();
    if !text.contains(' ') {
        return Err(Reason::NoFields);
    }
    // Other fields may be in brackets, so the request after it shows which one is the time.
    let Some((front, rest)) = text.split_once("] \"") else {
        let is_timed = text.contains('[') && text.contains(']');
        return Err(if is_timed { Reason::NoRequest } else { Reason::NoTime });
    };
    let (before, time) = front.rsplit_once('[').ok_or(Reason::NoTime)?;
    let (at_s, time_digits) = unix_s(time).map_err(Reason::Time)?;
    let (request, rest) = up_to_quote(rest).ok_or(Reason::NoRequest)?;
    let (status, rest) = word(rest);
    let status = whole(status).filter(|s| (100..1000).contains(s));
    let (bytes, rest) = word(rest);
    let bytes = if bytes == "-" { Some(None) } else { whole(bytes).map(Some) };
    let status = status.ok_or(Reason::NoStatus)? as u16;
    let bytes = bytes.ok_or(Reason::NoBytes)?;
    let (method, object) = requested(request).ok_or(Reason::Request)?;
    if object.len() > LONGEST {
        return Err(Reason::LongObject);
    }
    Ok(CommonLine {
        before: fields(before).ok_or(Reason::OpenBefore)?,
        at_s,
        time_digits,
        method,
        object,
        status,
        bytes,
        after: fields(rest).ok_or(Reason::OpenAfter)?,
    })
}

/// The text up to a quotation mark, and the rest. `\"` is part of the text.
fn up_to_quote(text: &str) -> Option<(&str, &str)> {
    let mut is_escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            '"' if !is_escaped => return Some((&text[..at], &text[at + 1..])),
            '\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    None
}

/// The first word, and the rest.
fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    text.split_once(' ').unwrap_or((text, ""))
}

/// A number of digits only: no sign, exponent or separator.
pub(super) fn whole(text: &str) -> Option<u64> {
    let is_number = text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::log::time::TimeFault;

    #[test]
    fn common_log_format() {
        let line = parse(
            "127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] \"GET /apache_pb.gif HTTP/1.0\" 200 2326",
        );
        let line = line.unwrap();
        assert_eq!((line.before.len(), line.before[0].text), (3, "127.0.0.1"));
        assert_eq!((line.method, &*line.object), ("GET", "/apache_pb.gif"));
        assert_eq!((line.status, line.bytes, line.after.len()), (200, Some(2326), 0));
        assert_eq!(line.at_s, 971_211_336.0);
    }

    #[test]
    fn combined_log_format_with_brackets_quotation_marks_and_more_fields() {
        let line = parse(
            r#"[shop] ::1 - - [10/Oct/2000:13:55:36 -0700] "GET /a?q=\"x\" HTTP/1.1" 304 - "http://a/ b" "Agent (\"x\") [y]" 0.004"#,
        );
        let line = line.unwrap();
        assert_eq!((&*line.object, line.bytes), ("/a?q=\"x\"", None));
        assert_eq!((line.before.len(), line.after.len()), (4, 3));
        assert_eq!((line.before[0].text, line.after[2].text), ("shop", "0.004"));
    }

    #[test]
    fn other_lines_are_refused_with_a_reason() {
        let line = |request: &str, rest: &str| {
            format!("a - - [10/Oct/2000:13:55:36 -0700] \"{request}\" {rest}")
        };
        for (text, reason) in [
            ("word".to_owned(), Reason::NoFields),
            ("a - - GET".to_owned(), Reason::NoTime),
            ("a - - [now] \"GET / HTTP/1.1\" 200 1".to_owned(), Reason::Time(TimeFault::Form)),
            ("a - - [10/Oct/2000:13:55:36 -0700] GET /".to_owned(), Reason::NoRequest),
            ("a - - [10/Oct/2000:13:55:36 -0700] \"GET /".to_owned(), Reason::NoRequest),
            (line("GET / HTTP/1.1", "ok 1"), Reason::NoStatus),
            (line("GET / HTTP/1.1", "2e2 1"), Reason::NoStatus),
            (line("GET / HTTP/1.1", "200"), Reason::NoBytes),
            (line("GET / HTTP/1.1", "200 1,500"), Reason::NoBytes),
            (line("GET / HTTP/1.1", "200 +5"), Reason::NoBytes),
            (line("GET / HTTP/1.1", "200 5 \"agent"), Reason::OpenAfter),
            (line("GET / HTTP/1.1", "200 5").replace("- -", "- \"bob"), Reason::OpenBefore),
            (line("-", "408 -"), Reason::Request),
            (line("\\x16\\x03", "400 0"), Reason::Request),
        ] {
            assert_eq!(parse(&text), Err(reason), "{text}");
        }
    }
}
