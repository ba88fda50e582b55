//! Names logs in forms that are not read.

use std::fmt;
use std::net::SocketAddr;

/// The forms that are read.
pub(super) const COMMON: &str = "a log in Common or Combined Log Format has lines such as: 10.0.0.1 - - [10/Oct/2000:13:55:36 -0700] \"GET /a HTTP/1.1\" 200 2326";

/// A log in another form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForeignLog {
    /// Lines of JSON, as Caddy and Traefik write.
    Json,
    /// W3C Extended Log File Format, as IIS and CloudFront write.
    W3c,
    /// The log of a load balancer of AWS.
    LoadBalancer,
    /// The log of HAProxy.
    HaProxy,
    /// The error log of nginx or Apache.
    Errors,
    /// A text in UTF-16.
    Utf16,
}

/// Recognizes the form of a line that is no request.
pub(super) fn recognized(line: &str) -> Option<ForeignLog> {
    if line.starts_with('{') {
        return Some(ForeignLog::Json);
    }
    if ["#Version:", "#Software:", "#Fields:"].iter().any(|d| line.starts_with(d)) {
        return Some(ForeignLog::W3c);
    }
    if line.contains('\0') {
        return Some(ForeignLog::Utf16);
    }
    let levels = ["[error]", "[warn]", "[notice]", "[crit]", "[core:", "[mpm_", "[ssl:", "[php"];
    if levels.iter().any(|level| line.contains(level)) {
        return Some(ForeignLog::Errors);
    }
    if line.contains("haproxy[") {
        return Some(ForeignLog::HaProxy);
    }
    is_load_balancer(line).then_some(ForeignLog::LoadBalancer)
}

/// Whether a line begins as that of an application load balancer (`https TIME`) or a classic one
/// (`TIME NAME CLIENT:PORT`). Many programs begin their lines with such a time.
fn is_load_balancer(line: &str) -> bool {
    let mut words = line.split(' ');
    let first = words.next().unwrap_or("");
    let (second, third) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let is_application = ["http", "https", "h2", "ws", "wss", "grpcs"].contains(&first);
    (is_application && is_utc(second)) || (is_utc(first) && third.parse::<SocketAddr>().is_ok())
}

/// Whether a word is a time such as `2018-07-02T22:23:00.186641Z`.
fn is_utc(word: &str) -> bool {
    let form = word.bytes().take(19).map(|b| if b.is_ascii_digit() { b'0' } else { b });
    form.eq(*b"0000-00-00T00:00:00") && word.ends_with('Z')
}

impl fmt::Display for ForeignLog {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            ForeignLog::Json => "its lines are JSON, which is not read",
            ForeignLog::W3c => "it is in W3C Extended Log File Format, as IIS and CloudFront write, which is not read",
            ForeignLog::LoadBalancer => "its lines are those of a load balancer of AWS, which are not read",
            ForeignLog::HaProxy => "its lines are those of HAProxy, which are not read",
            ForeignLog::Errors => "it is an error log, not an access log",
            ForeignLog::Utf16 => "it is in UTF-16",
        })
    }
}

impl ForeignLog {
    pub(super) fn help(self) -> String {
        let how = match self {
            ForeignLog::Json => {
                "write it in Common Log Format: in Caddy by the encoder `transform`, in Traefik by `accessLog.format: common`, from other logs with jq"
            }
            ForeignLog::W3c => {
                "IIS writes `NCSA` logs; otherwise reorder the fields, for example with awk"
            }
            ForeignLog::LoadBalancer => "reorder the fields, for example with awk",
            ForeignLog::HaProxy => "HAProxy writes Common Log Format by `option httplog clf`",
            ForeignLog::Errors => "name the access log",
            ForeignLog::Utf16 => "convert it: iconv -f UTF-16 -t UTF-8 LOG | yamba load fit -",
        };
        format!("{how}; {COMMON}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_logs_have_names() {
        for (line, log) in [
            (r#"{"level":"info","ts":1646861401.5241024,"request":{"uri":"/"}}"#, ForeignLog::Json),
            ("#Software: Microsoft Internet Information Services 10.0", ForeignLog::W3c),
            (
                "http 2018-07-02T22:23:00.186641Z app/my-lb 192.168.131.39:2817",
                ForeignLog::LoadBalancer,
            ),
            (
                "2015-05-13T23:39:43.945958Z my-lb 192.168.131.39:2817 10.0.0.1:80",
                ForeignLog::LoadBalancer,
            ),
            (
                "Feb  6 12:14:14 localhost haproxy[14389]: 10.0.1.2:33317 [06/Feb/2009:12:14:14.655] http-in static/srv1",
                ForeignLog::HaProxy,
            ),
            ("2020/05/03 10:00:00 [error] 7#7: *1 open() failed", ForeignLog::Errors),
            ("[Sun May 03 10:00:00.1 2020] [core:error] [pid 7] x", ForeignLog::Errors),
            ("1\x000\x00.\x00", ForeignLog::Utf16),
        ] {
            assert_eq!(recognized(line), Some(log), "{line}");
        }
        for line in [
            "hello",
            "2024-05-03T10:00:00Z INFO started",
            "INFO 2024-05-03T10:00:00Z started 10.0.0.1:80",
            "2024-05-03T10:00:00Z api 10.0.0.1 connected",
        ] {
            assert_eq!(recognized(line), None, "{line}");
        }
    }
}
