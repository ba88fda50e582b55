//! The server under load, as its URL names it.

use std::net::{SocketAddr, ToSocketAddrs};

use hyper::Uri;
use hyper::header::HeaderValue;

/// A server.
#[derive(Clone, Debug)]
pub struct Target {
    pub address: SocketAddr,
    pub(crate) host: HeaderValue,
    /// The path before that of each object, without a slash at its end.
    pub(crate) prefix: String,
}

impl Target {
    /// The server of a URL such as `http://127.0.0.1:8080`. Resolves its name. The error says what
    /// is wrong.
    pub fn resolve(url: &str) -> Result<Target, String> {
        let uri: Uri = url.parse().map_err(|e| format!("{url}: {e}"))?;
        if uri.scheme_str() != Some("http") {
            return Err(format!("{url}: only http:// is spoken, without encryption"));
        }
        let authority = uri.authority().ok_or_else(|| format!("{url}: it names no server"))?;
        let is_plain = authority.as_str().len() == authority.host().len();
        let port = match uri.port_u16() {
            None if is_plain => 80,
            None => {
                return Err(format!("{url}: after the server's name may be only a port, as :8080"));
            }
            Some(port) => port,
        };
        let name = authority.host().trim_start_matches('[').trim_end_matches(']');
        let mut addresses = (name, port).to_socket_addrs().map_err(|e| format!("{url}: {e}"))?;
        let address = addresses.next().ok_or_else(|| format!("{url}: the name has no address"))?;
        Ok(Target {
            address,
            host: HeaderValue::from_str(authority.as_str()).map_err(|e| format!("{url}: {e}"))?,
            prefix: uri.path().trim_end_matches('/').to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_names_address_and_prefix() {
        let target = Target::resolve("http://127.0.0.1:8080/site/").unwrap();
        assert_eq!(
            (target.address.to_string().as_str(), target.prefix.as_str()),
            ("127.0.0.1:8080", "/site")
        );
        assert_eq!(Target::resolve("http://[::1]").unwrap().address.to_string(), "[::1]:80");
        assert_eq!(Target::resolve("http://127.0.0.1/").unwrap().prefix, "");
    }

    #[test]
    fn other_urls_are_refused() {
        for url in
            ["", "127.0.0.1:80", "https://127.0.0.1", "http://127.0.0.1:99999", "ftp://127.0.0.1/"]
        {
            assert!(Target::resolve(url).is_err(), "{url}");
        }
    }
}
