//! Calls that the programs in the kernel counted, since events came faster than they were read.

use std::collections::HashMap;
use std::io;

use aya::maps::{Array, HashMap as KernelMap, Map, MapData, MapError};

use super::shared::{CallKind, CallSums, Counters, DetailedCallEvent};

/// The counts in the kernel. They only grow, so that none is lost while they are read.
pub struct CountedCalls {
    counters: Array<MapData, Counters>,
    kinds: KernelMap<MapData, CallKind, CallSums>,
    /// The number of calls, and the sums of each kind, as they were read last.
    read: u64,
    sums: HashMap<CallKind, CallSums>,
    /// The number of lost events that are not reported.
    forgotten: u64,
}

/// Calls of one kind since the last reading.
#[derive(Clone, Debug, PartialEq)]
pub struct Counted {
    /// The first call of the kind, with the mean result and times of these calls.
    pub mean: DetailedCallEvent,
    /// Number of calls.
    pub count: u64,
    /// Their time on a processor, in ns.
    pub call_ns: u64,
    /// Time on a processor in the threads' own code before them, in ns.
    pub user_ns: u64,
}

impl CountedCalls {
    /// The counts in these maps.
    pub fn new(counters: Map, kinds: Map) -> Result<CountedCalls, MapError> {
        Ok(CountedCalls {
            counters: counters.try_into()?,
            kinds: kinds.try_into()?,
            read: 0,
            sums: HashMap::new(),
            forgotten: 0,
        })
    }

    /// Number of events that were lost so far, since [`CountedCalls::forget_lost`].
    pub fn lost(&self) -> io::Result<u64> {
        Ok(self.all_lost()? - self.forgotten)
    }

    /// Counts lost events from zero again.
    pub fn forget_lost(&mut self) -> io::Result<()> {
        self.forgotten = self.all_lost()?;
        Ok(())
    }

    fn all_lost(&self) -> io::Result<u64> {
        Ok(self.counters.get(&0, 0).map_err(io::Error::other)?.lost)
    }

    /// The time in which a traced thread was on a processor, and the sum of the threads' times
    /// there, in ns.
    pub fn running_ns(&self) -> io::Result<[u64; 2]> {
        let counters = self.counters.get(&0, 0).map_err(io::Error::other)?;
        Ok([counters.busy_ns, counters.thread_ns])
    }

    /// The calls since the last reading.
    pub fn since_last(&mut self) -> io::Result<Vec<Counted>> {
        let all = self.counters.get(&0, 0).map_err(io::Error::other)?.counted;
        let mut found = Vec::new();
        if all == self.read {
            return Ok(found);
        }
        for entry in self.kinds.iter() {
            let (kind, now) = entry.map_err(io::Error::other)?;
            if let Some(counted) = since(self.sums.get(&kind), now) {
                self.sums.insert(kind, now);
                found.push(counted);
            }
        }
        self.read = all;
        Ok(found)
    }
}

/// The calls since these sums. `None`: no call.
fn since(before: Option<&CallSums>, now: CallSums) -> Option<Counted> {
    let none = CallSums { count: 0, call_ns: 0, user_ns: 0, result: 0, first: now.first };
    let before = before.unwrap_or(&none);
    let count = now.count.checked_sub(before.count).filter(|n| *n > 0)?;
    let call_ns = now.call_ns.wrapping_sub(before.call_ns);
    let user_ns = now.user_ns.wrapping_sub(before.user_ns);
    let results = now.result.wrapping_sub(before.result).cast_signed();
    let mut mean = now.first;
    mean.result = results / i64::try_from(count).unwrap_or(i64::MAX);
    mean.call_ns = call_ns / count;
    mean.head.user_ns = user_ns / count;
    Some(Counted { mean: mean.without_detail(), count, call_ns, user_ns })
}

#[cfg(test)]
mod tests {
    use super::super::event::tests::call;
    use super::*;

    fn sums([count, call_ns, user_ns, result]: [u64; 4]) -> CallSums {
        CallSums { count, call_ns, user_ns, result, first: call([3; 5], 1) }
    }

    #[test]
    fn calls_since_the_last_reading_have_the_mean_of_their_sums() {
        let before = sums([4, 400, 800, 16]);
        let first = since(None, before).unwrap();
        assert_eq!((first.count, first.call_ns, first.user_ns), (4, 400, 800));
        let failed = (-9i64 * 2).cast_unsigned();
        let now = sums([6, 700, 900, failed.wrapping_add(16)]);
        let second = since(Some(&before), now).unwrap();
        assert_eq!((second.count, second.call_ns, second.user_ns), (2, 300, 100));
        let mean = second.mean.call;
        assert_eq!((mean.head.thread, mean.head.user_ns, mean.arguments), (7, 50, [3; 5]));
        assert_eq!((mean.result, mean.call_ns), (-9, 150));
        assert_eq!(since(Some(&now), now), None);
    }
}
