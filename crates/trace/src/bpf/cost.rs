//! The cost of the tracer, which is subtracted from the times.

/// User time after which the tracer finds nothing of its code and data in the nearest caches, in
/// ns.
const COLD_AFTER_NS: f64 = 5_000.0;

/// The time that the tracer adds to a call or page fault, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Added {
    /// The part that counts as user time.
    pub user_ns: f64,
    /// The part that the tracer leaves out: its own program at the end of a call, after it has read
    /// the clock.
    pub unseen_ns: f64,
    /// The part that counts as kernel time. It is below 0 if the tracer sees less than the whole
    /// call.
    pub kernel_ns: f64,
    /// Kernel time of the call or page fault as the tracer sees it.
    pub seen_ns: f64,
}

impl Added {
    /// The whole time.
    pub fn ns(self) -> f64 {
        self.user_ns + self.unseen_ns + self.kernel_ns
    }

    /// Interpolates between this cost, at `place` 0, and another one, at `place` 1.
    fn towards(self, other: Added, place: f64) -> Added {
        let place = place.clamp(0.0, 1.0);
        let between = |from: f64, to: f64| from + (to - from) * place;
        Added {
            user_ns: between(self.user_ns, other.user_ns),
            unseen_ns: between(self.unseen_ns, other.unseen_ns),
            kernel_ns: between(self.kernel_ns, other.kernel_ns),
            seen_ns: between(self.seen_ns, other.seen_ns),
        }
    }
}

/// The measured costs. The tracer costs more if the program has displaced its code and data from
/// the processor's caches since the last event.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// The cost for the shortest call.
    pub null: Added,
    /// The cost for a call that does some work: the tracer has displaced code and data that the
    /// call needs.
    pub call: Added,
    /// The cost for a call that does much work: the kernel has displaced code and data that the
    /// tracer needs.
    pub long_call: Added,
    /// The cost for a call after the program has used much memory.
    pub cold_call: Added,
    /// The cost for a page fault outside of calls.
    pub fault: Added,
    /// The cost for a page fault after the program has used much memory.
    pub cold_fault: Added,
}

impl Cost {
    /// The cost for a call in which the tracer sees `seen_ns`, after `user_ns` of user time.
    pub fn call(&self, seen_ns: f64, user_ns: f64) -> Added {
        let (from, to) = if seen_ns < self.call.seen_ns {
            (self.null, self.call)
        } else {
            (self.call, self.long_call)
        };
        let range_ns = to.seen_ns - from.seen_ns;
        let warm = from.towards(to, (seen_ns - from.seen_ns) / range_ns.max(1.0));
        warm.towards(self.cold_call, coldness(user_ns, self.call))
    }

    /// The cost for a page fault outside of calls, after `user_ns` of user time.
    pub fn fault(&self, user_ns: f64) -> Added {
        let coldness = coldness(user_ns, self.fault);
        self.fault.towards(self.cold_fault, coldness)
    }
}

/// How cold the tracer's code and data are: 0 if the program did nothing since the last event, 1 if
/// it has displaced all that the tracer needs.
fn coldness(user_ns: f64, warm: Added) -> f64 {
    (user_ns - warm.user_ns) / COLD_AFTER_NS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(user_ns: f64, kernel_ns: f64, seen_ns: f64) -> Added {
        Added { user_ns, unseen_ns: 50.0, kernel_ns, seen_ns }
    }

    #[test]
    fn costs_lie_between_those_that_were_measured() {
        let cost = Cost {
            null: added(200.0, 20.0, 100.0),
            call: added(200.0, 10.0, 200.0),
            long_call: added(300.0, -10.0, 1200.0),
            cold_call: added(600.0, 110.0, 400.0),
            fault: added(500.0, -200.0, 400.0),
            cold_fault: added(900.0, 0.0, 800.0),
        };
        assert_eq!(cost.call(50.0, 0.0), cost.null);
        assert_eq!(cost.call(150.0, 200.0).kernel_ns, 15.0);
        assert_eq!(cost.call(200.0, 200.0), cost.call);
        assert_eq!(cost.call(700.0, 200.0), added(250.0, 0.0, 700.0));
        assert_eq!(cost.call(9999.0, 200.0), cost.long_call);
        let half_cold = cost.call(200.0, 200.0 + COLD_AFTER_NS / 2.0);
        assert_eq!(half_cold.ns(), 510.0);
        assert_eq!(cost.call(9999.0, 1e9), cost.cold_call);
        assert_eq!(cost.fault(0.0), cost.fault);
        assert_eq!(cost.fault(1e9), cost.cold_fault);
    }
}
