//! Calls that the programs in the kernel counted, since events came faster than they were read.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use super::event::Event;
use super::kernel;
use super::layout::{COUNTED, COUNTED_BYTES, EVENT_BYTES, KEY_BYTES, value};

/// The counts in the kernel. They only grow, so that none is lost while they are read.
#[derive(Debug)]
pub struct CountedCalls {
    /// Number of calls.
    all: OwnedFd,
    /// The calls by their kinds.
    kinds: OwnedFd,
    /// `all`, and the sums of each kind, as they were read last.
    read: u64,
    sums: HashMap<[u8; KEY_BYTES], Sums>,
}

/// Calls of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sums {
    count: u64,
    call_ns: u64,
    user_ns: u64,
    result: u64,
}

/// Calls of one kind since the last reading.
#[derive(Clone, Debug, PartialEq)]
pub struct Counted {
    /// The first call of the kind, with the mean result and times of these calls.
    pub mean: Event,
    /// Number of calls.
    pub count: u64,
    /// Their time on a processor, in ns.
    pub call_ns: u64,
    /// Time on a processor in the threads' own code before them, in ns.
    pub user_ns: u64,
}

impl CountedCalls {
    pub fn new(all: OwnedFd, kinds: OwnedFd) -> CountedCalls {
        CountedCalls { all, kinds, read: 0, sums: HashMap::new() }
    }

    /// The calls since the last reading.
    pub fn since_last(&mut self) -> io::Result<Vec<Counted>> {
        let mut all = [0; 8];
        kernel::look_up(self.all.as_fd(), 0, &mut all)?;
        let all = u64::from_le_bytes(all);
        let mut found = Vec::new();
        if all == self.read {
            return Ok(found);
        }
        let sums = &mut self.sums;
        kernel::each_of(
            self.kinds.as_fd(),
            |key: &[u8; KEY_BYTES], value: &[u8; COUNTED_BYTES]| {
                let before = sums.entry(*key).or_default();
                found.extend(since(before, value));
            },
        )?;
        self.read = all;
        Ok(found)
    }
}

/// The calls of a value since `before`, which becomes its sums. `None`: no call.
fn since(before: &mut Sums, value_bytes: &[u8; COUNTED_BYTES]) -> Option<Counted> {
    let now = Sums {
        count: long(value_bytes, "counted.count"),
        call_ns: long(value_bytes, "counted.call"),
        user_ns: long(value_bytes, "counted.user"),
        result: long(value_bytes, "counted.result"),
    };
    let count = now.count.checked_sub(before.count).filter(|n| *n > 0)?;
    let more = |now: u64, before: u64| now.wrapping_sub(before);
    let (call_ns, user_ns) = (more(now.call_ns, before.call_ns), more(now.user_ns, before.user_ns));
    let results = more(now.result, before.result).cast_signed();
    *before = now;
    let mut event = [0; EVENT_BYTES];
    let begin = value(COUNTED, "counted.event") as usize;
    event[..COUNTED_BYTES - begin].copy_from_slice(&value_bytes[begin..]);
    let whole = i64::try_from(count).unwrap_or(i64::MAX);
    Some(Counted {
        mean: Event::mean(&event, results / whole, call_ns / count, user_ns / count)?,
        count,
        call_ns,
        user_ns,
    })
}

fn long(bytes: &[u8; COUNTED_BYTES], name: &str) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[value(COUNTED, name) as usize..][..8]);
    u64::from_le_bytes(word)
}

#[cfg(test)]
mod tests {
    use super::super::event::Content;
    use super::super::layout::place;
    use super::*;

    fn value_of(sums: [u64; 4]) -> [u8; COUNTED_BYTES] {
        let mut bytes = [0; COUNTED_BYTES];
        for (place, sum) in sums.into_iter().enumerate() {
            bytes[8 * place..][..8].copy_from_slice(&sum.to_le_bytes());
        }
        let event = value(COUNTED, "counted.event") as usize;
        bytes[event + place("event.ids")] = 7;
        bytes[event + place("event.number")] = 39;
        bytes
    }

    #[test]
    fn calls_since_the_last_reading_have_the_mean_of_their_sums() {
        let mut before = Sums::default();
        let first = since(&mut before, &value_of([4, 400, 800, 16])).unwrap();
        assert_eq!((first.count, first.call_ns, first.user_ns), (4, 400, 800));
        let failed = (-9i64 * 2).cast_unsigned();
        let sums = value_of([6, 700, 900, failed.wrapping_add(16)]);
        let second = since(&mut before, &sums).unwrap();
        assert_eq!((second.count, second.call_ns, second.user_ns), (2, 300, 100));
        assert_eq!((second.mean.thread, second.mean.number), (7, 39));
        let Content::Call(returned) = &second.mean.content else {
            panic!("{second:?}");
        };
        assert_eq!((returned.result, returned.call_ns), (-9, 150));
        assert_eq!(since(&mut before, &sums), None);
    }
}
