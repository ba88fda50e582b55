//! Method and object of a request line.

use std::borrow::Cow;
use std::fmt::Write;

/// The most characters of an object. A request has room for 65534, and each may become three;
/// servers refuse less than this.
pub(super) const LONGEST: usize = 20_000;

/// Method and object of a request line. A line of HTTP 0.9 has no version.
pub(super) fn requested(request: &str) -> Option<(&str, Cow<'_, str>)> {
    let (method, rest) = request.split_once(' ')?;
    let (target, version) = rest.rsplit_once(' ').unwrap_or((rest, "HTTP/0.9"));
    let is_method = is_method(method) && version.starts_with("HTTP/");
    Some((method, object(target).filter(|_| is_method)?))
}

pub(super) fn is_method(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_uppercase())
}

/// The object of a request target: a path, or a full URL of a request to a proxy, whose host
/// belongs to the object. `None` for another target, such as `*`.
pub(super) fn object(target: &str) -> Option<Cow<'_, str>> {
    let target = unescaped(target)?;
    if target.starts_with('/') {
        return Some(target);
    }
    let (scheme, rest) = target.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    let default_port = match scheme.as_str() {
        "http" => ":80",
        "https" => ":443",
        _ => return None,
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let authority = authority.to_ascii_lowercase();
    let host = authority.strip_suffix(default_port).unwrap_or(&authority);
    if host.is_empty() || host.contains('@') {
        return None;
    }
    let slash = if path.starts_with('/') { "" } else { "/" };
    Some(Cow::Owned(format!("{scheme}://{host}{slash}{path}")))
}

/// A target as the client sent it. Servers write a byte that is not printable as `\xC3`, and a
/// quotation mark as `\"` or `\x22`. Bytes beyond ASCII become `%C3`, as in a URL. `None` if the
/// target has spaces or control characters.
fn unescaped(target: &str) -> Option<Cow<'_, str>> {
    if target.bytes().all(|b| b.is_ascii_graphic() && b != b'\\') {
        return Some(Cow::Borrowed(target));
    }
    // The reader of the log has replaced bytes that are no UTF-8.
    if target.contains(char::REPLACEMENT_CHARACTER) {
        return None;
    }
    let mut text = String::new();
    let mut rest = target;
    while let Some(first) = rest.bytes().next() {
        let (byte, length) = if first == b'\\' { escape(rest)? } else { (first, 1) };
        match byte {
            _ if byte.is_ascii_graphic() => text.push(char::from(byte)),
            0x80.. => write!(text, "%{byte:02X}").ok()?,
            _ => return None,
        }
        // A character beyond ASCII has several bytes.
        rest = if byte >= 0x80 && length == 1 {
            let whole = rest.chars().next()?;
            for next in rest.as_bytes().get(1..whole.len_utf8())? {
                write!(text, "%{next:02X}").ok()?;
            }
            &rest[whole.len_utf8()..]
        } else {
            &rest[length..]
        };
    }
    Some(Cow::Owned(text))
}

/// The byte of an escape at the beginning of the text, and the length of the escape.
fn escape(text: &str) -> Option<(u8, usize)> {
    match text.as_bytes().get(1)? {
        b'x' => {
            let digits = text.get(2..4)?;
            let is_hexadecimal = digits.bytes().all(|b| b.is_ascii_hexdigit());
            let byte = u8::from_str_radix(digits, 16).ok().filter(|_| is_hexadecimal)?;
            Some((byte, 4))
        }
        mark @ (b'"' | b'\\') => Some((*mark, 2)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_full_urls_belong_to_the_object() {
        for (request, object) in [
            ("GET http://h:80/a/b HTTP/1.1", "http://h/a/b"),
            ("GET HTTP://H HTTP/1.1", "http://h/"),
            ("GET https://h:443?q HTTP/1.1", "https://h/?q"),
            ("GET http://h:81/a HTTP/1.1", "http://h:81/a"),
            ("GET /old", "/old"),
        ] {
            assert_eq!(requested(request).unwrap(), ("GET", object.into()), "{request}");
        }
    }

    #[test]
    fn escapes_are_those_of_nginx_and_apache() {
        for (target, path) in [
            (r#"/a?q=\"x\""#, "/a?q=\"x\""),
            (r"/a?q=\x22x\x22", "/a?q=\"x\""),
            (r"/\xC3\xA9", "/%C3%A9"),
            ("/é\\xc3\\xa9x", "/%C3%A9%C3%A9x"),
            (r"/\\", "/\\"),
        ] {
            assert_eq!(object(target).unwrap(), path, "{target}");
        }
    }

    #[test]
    fn other_requests_are_none() {
        for request in [
            "-",
            r"\x16\x03",
            "GET /a b HTTP/1.1",
            "OPTIONS * HTTP/1.1",
            "CONNECT h:443 HTTP/1.1",
            "get / HTTP/1.1",
            "GET ftp://h/ HTTP/1.1",
            "GET http:///x HTTP/1.1",
            "GET http://user@h/x HTTP/1.1",
            r"GET /\x0a HTTP/1.1",
            r"GET /\xZZ HTTP/1.1",
            r"GET /\ HTTP/1.1",
            "GET /\u{fffd} HTTP/1.1",
        ] {
            assert_eq!(requested(request), None, "{request}");
        }
    }
}
