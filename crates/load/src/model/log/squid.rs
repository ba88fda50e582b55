//! A line of Squid's native access log: `TIME ELAPSED CLIENT CODE/STATUS BYTES METHOD URL USER
//! HIERARCHY/PEER TYPE`.
//!
//! Squid's documentation of `logformat squid`: the time is in seconds since 1970, and elapsed in
//! milliseconds.

use std::borrow::Cow;
use std::net::IpAddr;

use super::Line;
use super::line::whole;
use super::reason::Reason;
use super::target::{LONGEST, is_method, object};

/// Digits after the point of a time.
const TIME_DIGITS: usize = 3;

/// Whether a line has the beginning of this form: a time, a number, and the client.
pub(super) fn is_squid(text: &str) -> bool {
    let mut fields = text.split_ascii_whitespace();
    let begins = |field: Option<&str>, has_form: fn(&str) -> bool| field.is_some_and(has_form);
    begins(fields.next(), |f| time_s(f).is_some())
        && begins(fields.next(), |f| whole(f).is_some())
        && begins(fields.next(), |f| f.parse::<IpAddr>().is_ok())
}

/// Reads a line.
pub(super) fn parse(text: &str) -> Result<Line<'_>, Reason> {
    let fields: Vec<&str> = text.split_ascii_whitespace().collect();
    let [time, elapsed, client, result, bytes, method, url, _user, peer, kind] = fields[..] else {
        return Err(Reason::SquidFields(fields.len()));
    };
    let field = Reason::SquidField;
    let status = result.split_once('/').filter(|(code, status)| is_code(code) && status.len() == 3);
    let status = status.and_then(|(_, status)| whole(status));
    let has_peer =
        peer.split_once('/').is_some_and(|(code, peer)| is_code(code) && !peer.is_empty());
    if !has_peer {
        return Err(field("peer"));
    }
    if kind != "-" && !kind.contains('/') {
        return Err(field("type of the content"));
    }
    let client: IpAddr = client.parse().map_err(|_| Reason::Client)?;
    let object = object(url).ok_or(field("URL"))?;
    if object.len() > LONGEST {
        return Err(Reason::LongObject);
    }
    Ok(Line {
        client: Cow::Owned(client.to_canonical().to_string()),
        at_s: time_s(time).ok_or(field("time"))?,
        time_digits: TIME_DIGITS as u32,
        method: Some(method).filter(|m| is_method(m)).ok_or(field("method"))?,
        object,
        // Squid writes 000 for a client that left before a response.
        status: status.filter(|s| (100..1000).contains(s)).ok_or(Reason::NoStatus)? as u16,
        bytes: whole(bytes).ok_or(Reason::NoBytes)?,
        latency_s: Some(whole(elapsed).ok_or(field("elapsed time"))? as f64 / 1e3),
    })
}

/// A result or a peer's code, such as `TCP_MISS`, `NONE`, and `HIER_DIRECT`, which is `DIRECT`
/// before Squid 3.2.
fn is_code(text: &str) -> bool {
    let is_letter = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_';
    !text.is_empty() && text.bytes().all(is_letter)
}

fn time_s(text: &str) -> Option<f64> {
    let (seconds, fraction) = text.split_once('.')?;
    let is_time = (9..=10).contains(&seconds.len()) && fraction.len() == TIME_DIGITS;
    let both = whole(seconds).zip(whole(fraction)).filter(|_| is_time);
    both.map(|(seconds, ms)| seconds as f64 + ms as f64 / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_has_url_with_host_status_and_latency_in_ms() {
        let text = "1588500000.098    123 10.0.0.7 TCP_MISS/200 5432 GET http://a.example/x - HIER_DIRECT/93.184.216.34 text/html";
        assert!(is_squid(text));
        let line = parse(text).unwrap();
        assert_eq!((&*line.client, line.at_s), ("10.0.0.7", 1_588_500_000.098));
        assert_eq!((line.method, &*line.object), ("GET", "http://a.example/x"));
        assert_eq!((line.status, line.bytes, line.latency_s), (200, 5432, Some(0.123)));
    }

    #[test]
    fn codes_of_all_versions_are_read() {
        let good = "1588500000.098 12 10.0.0.7 TCP_HIT/200 54 GET http://a/x - HIER_NONE/- -";
        for (from, to) in [
            ("HIER_NONE/-", "DIRECT/10.1.1.1"),
            ("HIER_NONE/-", "NONE/-"),
            ("HIER_NONE/-", "PINNED/192.0.2.1"),
            ("HIER_NONE/-", "CARP/cache1"),
            ("HIER_NONE/-", "FIRSTUP_PARENT/cache1"),
            ("TCP_HIT/200", "NONE/200"),
        ] {
            let line = good.replace(from, to);
            assert_eq!(parse(&line), parse(good), "{to}");
        }
        for code in ["direct/10.1.1.1", "/10.1.1.1", "10.1.1.1/24", "text/html"] {
            let line = good.replace("HIER_NONE/-", code);
            assert_eq!(parse(&line), Err(Reason::SquidField("peer")), "{code}");
        }
    }

    #[test]
    fn other_lines_are_refused_with_a_reason() {
        let good = "1588500000.098 12 10.0.0.7 TCP_HIT/200 54 GET http://a/x - HIER_NONE/- -";
        assert!(parse(good).is_ok());
        for (from, to, reason) in [
            (" - HIER", " HIER", Reason::SquidFields(9)),
            ("/200", "/000", Reason::NoStatus),
            ("/200", "200", Reason::NoStatus),
            ("10.0.0.7", "h.example", Reason::Client),
            ("GET http://a/x", "CONNECT a:443", Reason::SquidField("URL")),
            (" 54 ", " 5.4e1 ", Reason::NoBytes),
            (" 12 ", " -1 ", Reason::SquidField("elapsed time")),
            (".098", ".1", Reason::SquidField("time")),
        ] {
            assert_eq!(parse(&good.replace(from, to)), Err(reason), "{from} {to}");
        }
    }
}
