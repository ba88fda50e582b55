//! Requests that are ready to be sent.

mod headers;

use std::fmt::Write;
use std::rc::Rc;

use bytes::Bytes;
use http_body_util::Empty;
use hyper::header::{HOST, HeaderMap, HeaderValue, USER_AGENT};
use hyper::{Method, Uri};

use crate::drive::target::Target;
pub use headers::Headers;

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

/// The paths and headers of all requests, for one server.
#[derive(Clone)]
pub struct Requests {
    targets: Rc<Vec<RequestTarget>>,
    headers: HeaderMap,
}

struct RequestTarget {
    uri: Uri,
    host: HeaderValue,
}

impl Requests {
    /// Prepares the paths. Characters that no request line may contain are percent-encoded. A full
    /// URL is sent as it is, with its own host: that is how a proxy is asked.
    ///
    /// # Errors
    /// Names a path that is impossible.
    pub fn new(
        target: &Target,
        headers: &Headers,
        paths: impl Iterator<Item = String>,
    ) -> Result<Requests, String> {
        let prepared = |path: String| {
            request_target(target, headers, &path)
                .map_err(|why| format!("{}: {why}", shortened(&path)))
        };
        let targets: Vec<RequestTarget> = paths.map(prepared).collect::<Result<_, String>>()?;
        let mut all = HeaderMap::new();
        all.insert(USER_AGENT, HeaderValue::from_static(AGENT));
        all.extend(headers.others.clone());
        Ok(Requests { targets: Rc::new(targets), headers: all })
    }

    pub(crate) fn build(&self, request: Request) -> hyper::Request<Empty<Bytes>> {
        let mut built = hyper::Request::new(Empty::new());
        *built.method_mut() = if request.is_head { Method::HEAD } else { Method::GET };
        let RequestTarget { uri, host } = &self.targets[request.path];
        *built.uri_mut() = uri.clone();
        *built.headers_mut() = self.headers.clone();
        built.headers_mut().insert(HOST, host.clone());
        built
    }
}

fn request_target(target: &Target, headers: &Headers, path: &str) -> Result<RequestTarget, String> {
    let is_url = !path.starts_with('/');
    if is_url && !target.prefix.is_empty() {
        return Err(format!("a full URL cannot be below the path {}", target.prefix));
    }
    let uri: Uri = format!("{}{}", target.prefix, encoded(path))
        .parse()
        .map_err(|e: hyper::http::uri::InvalidUri| e.to_string())?;
    let own_host = match uri.authority() {
        Some(authority) => HeaderValue::from_str(authority.as_str()).map_err(|e| e.to_string())?,
        None => target.host.clone(),
    };
    let host = headers.host.clone().unwrap_or(own_host);
    Ok(RequestTarget { uri, host })
}

/// The most characters of a path in a message.
const SHOWN: usize = 60;

fn shortened(path: &str) -> String {
    match path.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &path[..end]),
        None => path.to_owned(),
    }
}

/// The path with characters that no request line may contain percent-encoded.
pub(crate) fn encoded(path: &str) -> String {
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
        let requests = Requests::new(&target, &Headers::default(), paths.into_iter()).unwrap();
        let built = requests.build(Request { path: 0, is_head: true });
        assert_eq!(
            (built.method(), built.uri().to_string().as_str()),
            (&Method::HEAD, "/site/a?q=%7B1%7D%7C%22%C3%A9%22")
        );
        assert_eq!(built.headers()[HOST], "127.0.0.1:8080");
        assert_eq!(requests.build(Request { path: 1, is_head: false }).uri().to_string(), "/site/");
    }

    #[test]
    fn message_about_a_long_path_is_short() {
        let target = Target::resolve("http://127.0.0.1:8080").unwrap();
        let path = format!("/{}", "a".repeat(70_000));
        let requests = Requests::new(&target, &Headers::default(), [path].into_iter());
        let error = requests.err().unwrap();
        assert!(error.starts_with("/aaa") && error.len() < 100, "{error}");
    }

    #[test]
    fn full_url_is_sent_whole_with_its_host() {
        let paths = || ["http://a.example:81/x".to_owned()].into_iter();
        let request = Request { path: 0, is_head: false };
        let proxy = Target::resolve("http://127.0.0.1:3128").unwrap();
        let requests = Requests::new(&proxy, &Headers::default(), paths()).unwrap();
        let built = requests.build(request);
        assert_eq!(built.uri().to_string(), "http://a.example:81/x");
        assert_eq!(built.headers()[HOST], "a.example:81");
        let below = Target::resolve("http://127.0.0.1:3128/site").unwrap();
        assert!(Requests::new(&below, &Headers::default(), paths()).is_err());
    }

    #[test]
    fn headers_are_sent_and_replace_host_and_agent() {
        let target = Target::resolve("http://127.0.0.1:8080").unwrap();
        let others = ["User-Agent: mine", "X-A: 1", "x-a: 2"].map(str::to_owned);
        let headers = Headers::parse(Some("shop.example"), &others).unwrap();
        let requests = Requests::new(&target, &headers, ["/".to_owned()].into_iter()).unwrap();
        let built = requests.build(Request { path: 0, is_head: false });
        let values = |name: &str| -> Vec<HeaderValue> {
            built.headers().get_all(name).iter().cloned().collect()
        };
        assert_eq!(values("host"), ["shop.example"]);
        assert_eq!(values("user-agent"), ["mine"]);
        assert_eq!(values("x-a"), ["1", "2"]);
    }
}
