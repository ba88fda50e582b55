//! One line of a log: `CLIENT IDENT USER [TIME] "REQUEST" STATUS BYTES`, in Combined Log Format followed by `"REFERER" "AGENT"`.

use super::time::unix_s;

/// The fields of a line.
#[derive(Clone, Debug, PartialEq)]
pub struct Line<'a> {
    /// Address of the client.
    pub client: &'a str,
    /// Time in seconds since 1970 (UTC).
    pub at_s: f64,
    /// Number of digits after the point of the time's seconds.
    pub time_digits: u32,
    /// Method of the request.
    pub method: &'a str,
    /// Target of the request, which begins with `/`. Of a full URL, only the path.
    pub path: &'a str,
    /// Status of the response.
    pub status: u16,
    /// Bytes of the response's body; 0 for `-`.
    pub bytes: u64,
    /// Time in which the server answered, in seconds: a last field such as `0.004`, as nginx writes `$request_time`.
    pub took_s: Option<f64>,
}

/// Reads a line. The error says what is not understood.
pub fn parse(text: &str) -> Result<Line<'_>, &'static str> {
    let (client, rest) = text.trim_end().split_once(' ').ok_or("it has no fields")?;
    // The user between may have spaces.
    let (_, rest) = rest.split_once('[').ok_or("it has no [time]")?;
    let (time, rest) = rest.split_once(']').ok_or("it has no [time]")?;
    let (at_s, time_digits) =
        unix_s(time).ok_or("its time is not as 10/Oct/2000:13:55:36 -0700")?;
    let (request, rest) = quoted(rest.trim_start()).ok_or("it has no \"request\"")?;
    let mut fields = rest.split_ascii_whitespace();
    let status = fields.next().and_then(|f| f.parse().ok());
    let status = status.filter(|s| (100..1000).contains(s));
    let status = status.ok_or("it has no status")?;
    let bytes = match fields.next() {
        Some("-") => Some(0),
        field => field.and_then(|f| f.parse().ok()),
    };
    let (method, path) = target(request).ok_or("its request is not as GET /path HTTP/1.1")?;
    Ok(Line {
        client,
        at_s,
        time_digits,
        method,
        path,
        status,
        bytes: bytes.ok_or("it has no number of bytes")?,
        took_s: seconds(rest),
    })
}

/// The text between quotation marks, and the rest. `\"` does not end it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_prefix('"')?;
    let mut is_escaped = false;
    for (at, c) in inside.char_indices() {
        match c {
            '"' if !is_escaped => return Some((&inside[..at], &inside[at + 1..])),
            '\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    None
}

/// Method and path of a request line. A line of HTTP 0.9 has no version.
fn target(request: &str) -> Option<(&str, &str)> {
    let (method, rest) = request.split_once(' ')?;
    let (target, version) = rest.rsplit_once(' ').unwrap_or((rest, "HTTP/0.9"));
    let is_method = !method.is_empty() && method.bytes().all(|b| b.is_ascii_uppercase());
    let path = match target.strip_prefix("http://") {
        Some(url) => url.find('/').map_or("/", |at| &url[at..]),
        None => target,
    };
    let is_target = path.starts_with('/') && path.bytes().all(|b| b.is_ascii_graphic());
    (is_method && is_target && version.starts_with("HTTP/")).then_some((method, path))
}

/// The last field, if it is a decimal fraction.
fn seconds(rest: &str) -> Option<f64> {
    let last = rest.rsplit(' ').next()?;
    let is_decimal = last.contains('.') && last.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let seconds: f64 = last.parse().ok().filter(|_| is_decimal)?;
    seconds.is_finite().then_some(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_log_format() {
        let line = parse(
            "127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] \"GET /apache_pb.gif HTTP/1.0\" 200 2326",
        );
        let line = line.unwrap();
        assert_eq!(
            (line.client, line.method, line.path),
            ("127.0.0.1", "GET", "/apache_pb.gif")
        );
        assert_eq!((line.status, line.bytes, line.took_s), (200, 2326, None));
        assert_eq!(line.at_s, 971_211_336.0);
    }

    #[test]
    fn combined_log_format_with_quotation_marks_and_a_request_time() {
        let line = parse(
            r#"::1 - two words [10/Oct/2000:13:55:36 -0700] "GET /a?q=\"x\" HTTP/1.1" 304 - "http://a/ b" "Agent (\"x\") [y]" 0.004"#,
        );
        let line = line.unwrap();
        assert_eq!(
            (line.path, line.bytes, line.took_s),
            ("/a?q=\\\"x\\\"", 0, Some(0.004))
        );
        let plain =
            parse(r#"a - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 1 "-" "agent/1.0""#)
                .unwrap();
        assert_eq!(plain.took_s, None);
    }

    #[test]
    fn full_url_and_http_0_9() {
        for (request, path) in [
            ("GET http://h:80/a/b HTTP/1.1", "/a/b"),
            ("GET http://h HTTP/1.1", "/"),
            ("GET /old", "/old"),
        ] {
            let text = format!("a - - [10/Oct/2000:13:55:36 -0700] \"{request}\" 200 1");
            assert_eq!(parse(&text).unwrap().path, path);
        }
    }

    #[test]
    fn other_lines_are_refused_with_a_reason() {
        let line = |request: &str, rest: &str| {
            format!("a - - [10/Oct/2000:13:55:36 -0700] \"{request}\" {rest}")
        };
        for (text, reason) in [
            ("word".to_owned(), "it has no fields"),
            ("a - - GET".to_owned(), "it has no [time]"),
            (
                "a - - [now] \"GET / HTTP/1.1\" 200 1".to_owned(),
                "its time is not as 10/Oct/2000:13:55:36 -0700",
            ),
            (
                "a - - [10/Oct/2000:13:55:36 -0700] \"GET /".to_owned(),
                "it has no \"request\"",
            ),
            (line("GET / HTTP/1.1", "ok 1"), "it has no status"),
            (line("GET / HTTP/1.1", "200"), "it has no number of bytes"),
            (
                line("-", "408 -"),
                "its request is not as GET /path HTTP/1.1",
            ),
            (
                line("\\x16\\x03", "400 0"),
                "its request is not as GET /path HTTP/1.1",
            ),
            (
                line("GET /a b HTTP/1.1", "200 0"),
                "its request is not as GET /path HTTP/1.1",
            ),
            (
                line("OPTIONS * HTTP/1.1", "200 0"),
                "its request is not as GET /path HTTP/1.1",
            ),
        ] {
            assert_eq!(parse(&text), Err(reason), "{text}");
        }
    }
}
