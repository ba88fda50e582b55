//! The server under load, as its URL names it.

use std::cell::Cell;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::rc::Rc;

use hyper::Uri;
use hyper::header::HeaderValue;
use hyper::http::uri::Authority;
use tokio::net::TcpStream;

/// A server.
#[derive(Clone, Debug)]
pub struct Target {
    /// All addresses of its name, in the order of the system.
    addresses: Vec<SocketAddr>,
    /// The address that accepted the first connection: all others go there, too.
    accepting: Rc<Cell<Option<SocketAddr>>>,
    pub(crate) host: HeaderValue,
    /// The path before that of each object, without a slash at its end.
    pub(crate) prefix: String,
}

impl Target {
    /// The server of a URL such as `http://127.0.0.1:8080`. Resolves its name. The error says what
    /// is wrong.
    pub fn resolve(url: &str) -> Result<Target, String> {
        let uri: Uri = url.parse().map_err(|e| format!("{url}: {e}"))?;
        for (mark, part) in [('?', "query"), ('#', "fragment")] {
            if url.contains(mark) {
                return Err(format!(
                    "{url}: it has a {part} after {mark}, and the paths of the objects follow it"
                ));
            }
        }
        if uri.scheme_str() != Some("http") {
            return Err(format!("{url}: only http:// is spoken, without encryption"));
        }
        let authority = uri.authority().ok_or_else(|| format!("{url}: it names no server"))?;
        if authority.as_str().contains('@') {
            return Err(format!(
                "{url}: it has a user's name before @; --header 'Authorization: ...' sends one"
            ));
        }
        let port = port(authority).map_err(|e| format!("{url}: {e}"))?;
        let name = authority.host().trim_start_matches('[').trim_end_matches(']');
        let addresses = (name, port).to_socket_addrs().map_err(|e| format!("{url}: {e}"))?;
        let addresses: Vec<SocketAddr> = addresses.collect();
        if addresses.is_empty() {
            return Err(format!("{url}: the name has no address"));
        }
        Ok(Target {
            addresses,
            accepting: Rc::default(),
            host: HeaderValue::from_str(authority.as_str()).map_err(|e| format!("{url}: {e}"))?,
            prefix: uri.path().trim_end_matches('/').to_owned(),
        })
    }

    /// The addresses as text.
    pub fn addresses(&self) -> String {
        let each: Vec<String> = self.addresses.iter().map(SocketAddr::to_string).collect();
        each.join(", ")
    }

    /// Connects to the first address that accepts. The error is that of the last address.
    pub(crate) async fn connect(&self) -> io::Result<TcpStream> {
        if let Some(address) = self.accepting.get() {
            return TcpStream::connect(address).await;
        }
        let stream = TcpStream::connect(&self.addresses[..]).await?;
        self.accepting.set(Some(stream.peer_addr()?));
        Ok(stream)
    }
}

/// The port of a server, 80 without one.
fn port(authority: &Authority) -> Result<u16, &'static str> {
    let after = &authority.as_str()[authority.host().len()..];
    match (after, authority.port_u16()) {
        ("", _) => Ok(80),
        (_, Some(port)) if port > 0 => Ok(port),
        (after, _) if after[1..].bytes().all(|b| b.is_ascii_digit()) && after.len() > 1 => {
            Err("its port must be a number from 1 to 65535")
        }
        _ => Err("after the server's name may be only a port, as :8080"),
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use tokio::runtime::Builder;

    use super::*;

    #[test]
    fn url_names_address_and_prefix() {
        let target = Target::resolve("http://127.0.0.1:8080/site/").unwrap();
        assert_eq!(
            (target.addresses().as_str(), target.prefix.as_str()),
            ("127.0.0.1:8080", "/site")
        );
        assert_eq!(Target::resolve("http://[::1]").unwrap().addresses(), "[::1]:80");
        assert_eq!(Target::resolve("http://127.0.0.1/").unwrap().prefix, "");
    }

    /// `localhost` often is `::1` first, while the server listens at 127.0.0.1 only.
    #[test]
    fn all_addresses_are_tried_and_the_accepting_one_is_kept() {
        let port = |listener: &TcpListener| listener.local_addr().unwrap();
        let closed = port(&TcpListener::bind("127.0.0.1:0").unwrap());
        let open = TcpListener::bind("127.0.0.1:0").unwrap();
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let target = Target {
            addresses: vec![closed, port(&open)],
            ..Target::resolve("http://127.0.0.1").unwrap()
        };
        for _ in 0..2 {
            let stream = runtime.block_on(target.connect()).unwrap();
            assert_eq!(stream.peer_addr().unwrap(), port(&open));
        }
        assert_eq!(target.accepting.get(), Some(port(&open)));
    }

    #[test]
    fn other_urls_are_refused() {
        for url in
            ["", "127.0.0.1:80", "https://127.0.0.1", "http://127.0.0.1:99999", "ftp://127.0.0.1/"]
        {
            assert!(Target::resolve(url).is_err(), "{url}");
        }
    }

    #[test]
    fn parts_of_a_url_that_no_request_would_have_are_named() {
        for (url, fault) in [
            ("http://127.0.0.1/p?key=1", "it has a query after ?"),
            ("http://127.0.0.1/p#x", "it has a fragment after #"),
            ("http://ann:secret@127.0.0.1/", "it has a user's name before @"),
            ("http://127.0.0.1:70000", "its port must be a number from 1 to 65535"),
            ("http://127.0.0.1:0", "its port must be a number from 1 to 65535"),
        ] {
            let error = Target::resolve(url).unwrap_err();
            assert!(error.contains(fault), "{error}");
        }
    }
}
