//! Headers that the user adds to all requests.

use hyper::header::{
    CONNECTION, CONTENT_LENGTH, HOST, HeaderMap, HeaderName, HeaderValue, TRANSFER_ENCODING,
    UPGRADE,
};

/// Headers that decide how a request and its response are framed: with another value, they would
/// not be what is measured.
const OF_FRAMING: [HeaderName; 4] = [CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING, UPGRADE];

/// Headers of all requests.
#[derive(Clone, Debug, Default)]
pub struct Headers {
    /// Replaces the host of the server's URL.
    pub(super) host: Option<HeaderValue>,
    pub(super) others: HeaderMap,
}

impl Headers {
    /// Reads `host` and `lines` such as `Name: value`.
    ///
    /// # Errors
    /// Names a line that is no header, or that must not be changed.
    pub fn parse(host: Option<&str>, lines: &[String]) -> Result<Headers, String> {
        let mut headers = Headers::default();
        if let Some(host) = host {
            headers.host = Some(host_value(host)?);
        }
        for line in lines {
            headers.add(line)?;
        }
        Ok(headers)
    }

    fn add(&mut self, line: &str) -> Result<(), String> {
        let (name, value) = line
            .split_once(':')
            .ok_or_else(|| format!("{line:?} is no header such as \"Accept: text/html\""))?;
        let wrong = |e: &dyn std::fmt::Display| format!("{line:?}: {e}");
        let name: HeaderName = name.trim().parse().map_err(|e| wrong(&e))?;
        let value = value.trim();
        if OF_FRAMING.contains(&name) {
            return Err(wrong(&"this header is set by the client itself"));
        }
        if name != HOST {
            let value = HeaderValue::from_str(value).map_err(|e| wrong(&e))?;
            self.others.append(name, value);
            return Ok(());
        }
        if self.host.replace(host_value(value)?).is_some() {
            return Err(wrong(&"there are two values of Host"));
        }
        Ok(())
    }
}

fn host_value(text: &str) -> Result<HeaderValue, String> {
    let is_host = text.parse::<hyper::http::uri::Authority>().is_ok() && !text.contains('@');
    if !is_host {
        return Err(format!(
            "{text:?} is no host such as shop.example.org or shop.example.org:8080"
        ));
    }
    HeaderValue::from_str(text).map_err(|e| format!("{text:?}: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_headers_are_refused() {
        for line in [
            "Accept",
            "a b: 1",
            ": 1",
            "X: \n",
            "X: a\nb",
            "Content-Length: 5",
            "connection: close",
            "Host: a b",
        ] {
            // A value is trimmed, so that it may end in a line feed.
            let is_accepted = line == "X: \n";
            assert_eq!(Headers::parse(None, &[line.to_owned()]).is_ok(), is_accepted, "{line:?}");
        }
        assert!(Headers::parse(Some("http://a/"), &[]).is_err());
        assert!(Headers::parse(Some("a"), &["Host: b".to_owned()]).is_err());
        let header = Headers::parse(None, &["host: a:80".to_owned()]).unwrap();
        assert_eq!(header.host.unwrap(), "a:80");
    }
}
