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
    /// The median size of complete responses, or of all responses if none is complete.
    pub bytes: u64,
    /// The most frequent status.
    pub status: u16,
}

/// The objects by descending number of requests, then in the order of the log's paths.
pub(super) fn find(entries: &[Entry], paths: usize) -> Vec<Object> {
    let mut of_path: Vec<Vec<(u16, u64)>> = vec![Vec::new(); paths];
    for entry in entries {
        of_path[entry.path as usize].push((entry.status, entry.bytes));
    }
    let requested = of_path.iter().enumerate().filter(|(_, responses)| !responses.is_empty());
    let mut objects: Vec<Object> =
        requested.map(|(path, responses)| object(path as u32, responses)).collect();
    objects.sort_by_key(|object| Reverse(object.requests));
    objects
}

fn object(path: u32, responses: &[(u16, u64)]) -> Object {
    let complete = responses.iter().filter(|(status, _)| *status == OK);
    let mut bytes: Vec<u64> = complete.map(|(_, bytes)| *bytes).collect();
    if bytes.is_empty() {
        bytes = responses.iter().map(|(_, bytes)| *bytes).collect();
    }
    bytes.sort_unstable();
    let mut statuses: BTreeMap<u16, u64> = BTreeMap::new();
    for (status, _) in responses {
        *statuses.entry(*status).or_default() += 1;
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

#[cfg(test)]
mod tests {
    use super::*;

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
        let objects = find(&entries, 4);
        assert_eq!(
            objects,
            [
                Object { path: 1, requests: 6, bytes: 80, status: 200 },
                Object { path: 2, requests: 1, bytes: 9, status: 404 },
            ]
        );
    }
}
