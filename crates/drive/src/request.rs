//! Requests that are ready to be sent.

use std::fmt::Write;
use std::rc::Rc;

use bytes::Bytes;
use http_body_util::Empty;
use hyper::header::{HOST, HeaderValue, USER_AGENT};
use hyper::{Method, Uri};

use crate::target::Target;

/// The name that servers see.
const AGENT: &str = concat!("yamba/", env!("CARGO_PKG_VERSION"));

/// A request to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Index of its path in [`Requests`].
    pub path: usize,
    /// Whether the method is HEAD instead of GET.
    pub is_head: bool,
}

/// The paths of all requests, for one server.
#[derive(Clone)]
pub struct Requests {
    uris: Rc<Vec<Uri>>,
    host: HeaderValue,
}

impl Requests {
    /// Prepares the paths. Characters that no request line may contain are percent-encoded. The error names a path that remains impossible.
    pub fn new(target: &Target, paths: impl Iterator<Item = String>) -> Result<Requests, String> {
        let uri = |path: String| {
            let whole = format!("{}{}", target.prefix, encoded(&path));
            whole.parse().map_err(|e| format!("{path}: {e}"))
        };
        let uris: Vec<Uri> = paths.map(uri).collect::<Result<_, String>>()?;
        Ok(Requests {
            uris: Rc::new(uris),
            host: target.host.clone(),
        })
    }

    pub(crate) fn build(&self, request: Request) -> hyper::Request<Empty<Bytes>> {
        let mut built = hyper::Request::new(Empty::new());
        *built.method_mut() = if request.is_head {
            Method::HEAD
        } else {
            Method::GET
        };
        *built.uri_mut() = self.uris[request.path].clone();
        let headers = built.headers_mut();
        headers.insert(HOST, self.host.clone());
        headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
        built
    }
}

fn encoded(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'"'
            | b'#'
            | b'<'
            | b'>'
            | b'\\'
            | b'^'
            | b'`'
            | b'{'
            | b'|'
            | b'}'
            | 0..=b' '
            | 127.. => {
                // Writing to a string cannot fail.
                let _ = write!(out, "%{byte:02X}");
            }
            _ => out.push(char::from(byte)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_the_prefix_and_only_legal_characters() {
        let target = Target::resolve("http://127.0.0.1:8080/site").unwrap();
        let paths = ["/a?q={1}|\"é\"", "/"].map(str::to_owned);
        let requests = Requests::new(&target, paths.into_iter()).unwrap();
        let built = requests.build(Request {
            path: 0,
            is_head: true,
        });
        assert_eq!(
            (built.method(), built.uri().to_string().as_str()),
            (&Method::HEAD, "/site/a?q=%7B1%7D%7C%22%C3%A9%22")
        );
        assert_eq!(built.headers()[HOST], "127.0.0.1:8080");
        assert_eq!(
            requests
                .build(Request {
                    path: 1,
                    is_head: false
                })
                .uri()
                .to_string(),
            "/site/"
        );
    }
}
