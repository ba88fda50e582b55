//! The objects of a log: its paths with their requests, sizes and statuses.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::model::log::Entry;

/// The status of a complete response.
const OK: u16 = 200;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Object {
    /// Index of the path in the log.
    pub path: u32,
    /// Number of requests.
    pub requests: u64,
    /// The median size of complete responses to GET, else of all responses to GET, else of all
    /// responses: those to HEAD have no body.
    pub bytes: u64,
    /// The most frequent status.
    pub status: u16,
}

/// A response to a request for an object.
struct Response {
    status: u16,
    bytes: u64,
    is_to_get: bool,
}

/// The objects by descending number of requests, then in the order of the log's paths. `methods`
/// are the names of the entries' methods.
pub(super) fn find(entries: &[Entry], methods: &[String], paths: usize) -> Vec<Object> {
    let mut of_path: Vec<Vec<Response>> = (0..paths).map(|_| Vec::new()).collect();
    for entry in entries {
        of_path[entry.path as usize].push(Response {
            status: entry.status,
            bytes: entry.bytes,
            is_to_get: methods[entry.method as usize] == "GET",
        });
    }
    let requested = of_path.iter().enumerate().filter(|(_, responses)| !responses.is_empty());
    let mut objects: Vec<Object> =
        requested.map(|(path, responses)| object(path as u32, responses)).collect();
    objects.sort_by_key(|object| Reverse(object.requests));
    objects
}

fn object(path: u32, responses: &[Response]) -> Object {
    let has_whole_body = |r: &&Response| r.is_to_get && r.status == OK;
    let mut bytes = sizes(responses.iter().filter(has_whole_body));
    if bytes.is_empty() {
        bytes = sizes(responses.iter().filter(|r| r.is_to_get));
    }
    if bytes.is_empty() {
        bytes = sizes(responses.iter());
    }
    bytes.sort_unstable();
    let mut statuses: BTreeMap<u16, u64> = BTreeMap::new();
    for response in responses {
        *statuses.entry(response.status).or_default() += 1;
    }
    // The lowest of equally frequent statuses: a complete response before a cached one.
    let status = statuses.iter().max_by_key(|(status, count)| (**count, Reverse(**status)));
    Object {
        path,
        requests: responses.len() as u64,
        bytes: bytes[bytes.len() / 2],
        status: status.map_or(OK, |(status, _)| *status),
    }
}

fn sizes<'a>(responses: impl Iterator<Item = &'a Response>) -> Vec<u64> {
    responses.map(|response| response.bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_to_head_have_no_size() {
        let methods = ["GET", "HEAD"].map(str::to_owned);
        let entry = |path, method, bytes| Entry {
            client: 0,
            path,
            method,
            at_s: 0.0,
            status: 200,
            bytes,
            took_s: None,
        };
        let entries: Vec<Entry> = (0..60)
            .map(|_| entry(0, 1, 0))
            .chain((0..40).map(|_| entry(0, 0, 50_000)))
            .chain([entry(1, 1, 7)])
            .collect();
        let objects = find(&entries, &methods, 2);
        assert_eq!(objects.iter().map(|o| o.bytes).collect::<Vec<_>>(), [50_000, 7]);
    }

    #[test]
    fn object_has_its_complete_size_and_usual_status() {
        let entry = |path, status, bytes| Entry {
            client: 0,
            path,
            method: 0,
            at_s: 0.0,
            status,
            bytes,
            took_s: None,
        };
        let entries = [
            entry(2, 404, 9),
            entry(1, 304, 0),
            entry(1, 200, 70),
            entry(1, 304, 0),
            entry(1, 200, 80),
            entry(1, 206, 5),
            entry(1, 200, 80),
        ];
        let objects = find(&entries, &["GET".to_owned()], 4);
        assert_eq!(
            objects,
            [
                Object { path: 1, requests: 6, bytes: 80, status: 200 },
                Object { path: 2, requests: 1, bytes: 9, status: 404 },
            ]
        );
    }
}
