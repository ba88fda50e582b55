//! The elapsed time of a unit of work.
//!
//! At each moment, either a thread of the application runs on a processor, or none does. The first
//! part is the processor time, divided by the mean number of threads that ran at once. The second
//! part is waiting. It ends when a thread goes on, and belongs to the call in which this thread had
//! slept. So a process that waits for a child does not wait while the child computes, and no time
//! counts twice.

use serde::{Deserialize, Serialize};

use super::{Round, Vector};
use crate::vector::rounds::spread_of;

/// The elapsed time per unit, without the tracer's own cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Elapsed {
    /// Mean number of the application's threads on processors, while at least one was: at least 1.
    pub parallelism: f64,
    /// Time in which none ran, but the thread that went on could have run before, in ns: other
    /// programs had the processor, or it had to wake up.
    pub ready_ns: f64,
}

impl Vector {
    /// Waiting per unit in all primitives, in ns.
    pub fn waited_ns(&self) -> f64 {
        self.primitives.iter().filter_map(|used| used.waited_ns).sum()
    }

    /// Elapsed time per unit where the counts were taken, in ns, as the sum of its parts. `None`: a
    /// part is unknown.
    pub fn elapsed_ns(&self) -> Option<f64> {
        let elapsed = self.elapsed?;
        let running_ns = (self.user_ns? + self.kernel_ns?) / elapsed.parallelism;
        Some(running_ns + elapsed.ready_ns + self.waited_ns())
    }

    /// How far the median elapsed time without the tracer is from that of the trace, in ns. The
    /// part for which a thread could have run counts for nothing: it depends on other programs.
    /// `None`: unknown.
    pub fn elapsed_deviation_ns(&self) -> Option<f64> {
        let most_ns = self.elapsed_ns()?;
        let least_ns = most_ns - self.elapsed?.ready_ns;
        let each = self.of_rounds(|round| round.untraced_elapsed_ns)?;
        let median_ns = yamba_stats::median(&each)?;
        Some((median_ns - median_ns.clamp(least_ns, most_ns)).abs())
    }

    /// Half the width of the 90 % interval for the waiting in another round, as a share of it.
    /// `None`: unknown.
    pub fn waiting_spread(&self) -> Option<f64> {
        spread_of(&self.of_rounds(|round| round.waited_ns)?)
    }

    /// A time of each round. `None`: it is unknown for one of them.
    fn of_rounds(&self, time_ns: impl Fn(&Round) -> Option<f64>) -> Option<Vec<f64>> {
        self.traced.as_ref()?.rounds.iter().map(time_ns).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{used, vector};
    use crate::vector::{Traced, Use};

    fn traced(rounds: Vec<Round>) -> Traced {
        Traced { rounds, ..Traced::default() }
    }

    fn round(waited_ns: f64) -> Round {
        Round { waited_ns: Some(waited_ns), ..Round::default() }
    }

    /// Two threads compute 60 + 40 ns at once, which takes 50 ns; then 30 ns of waiting and 20 ns
    /// without a processor.
    fn waiting() -> Vector {
        let waits = Use { waited_ns: Some(30.0), ..used("fsync(file)", None, 1.0) };
        Vector {
            user_ns: Some(60.0),
            kernel_ns: Some(40.0),
            elapsed: Some(Elapsed { parallelism: 2.0, ready_ns: 20.0 }),
            ..vector(vec![waits, used("stat", None, 1.0)])
        }
    }

    #[test]
    fn elapsed_time_is_that_of_running_threads_and_of_waiting() {
        assert_eq!(waiting().elapsed_ns(), Some(100.0));
        assert_eq!(Vector { user_ns: None, ..waiting() }.elapsed_ns(), None);
        assert_eq!(Vector { elapsed: None, ..waiting() }.elapsed_ns(), None);
    }

    #[test]
    fn time_without_a_processor_is_no_deviation() {
        let deviation = |untraced: [Option<f64>; 2]| {
            let rounds = untraced.map(|ns| Round { untraced_elapsed_ns: ns, ..round(1.0) });
            let mut vector = waiting();
            vector.traced = Some(traced(rounds.to_vec()));
            vector.elapsed_deviation_ns()
        };
        assert_eq!(deviation([Some(75.0), Some(95.0)]), Some(0.0), "between 80 and 100");
        assert_eq!(deviation([Some(60.0), Some(80.0)]), Some(10.0));
        assert_eq!(deviation([Some(100.0), Some(104.0)]), Some(2.0));
        assert_eq!(deviation([Some(100.0), None]), None);
        assert_eq!(waiting().elapsed_deviation_ns(), None, "no rounds");
    }

    #[test]
    fn spread_of_waiting_is_that_of_the_rounds() {
        let mut vector = waiting();
        vector.traced = Some(traced(vec![round(30.0), round(30.0)]));
        assert_eq!(vector.waiting_spread(), Some(0.0));
        vector.traced = Some(traced(vec![round(20.0), round(40.0)]));
        assert!(vector.waiting_spread() > Some(1.0));
        vector.traced = Some(traced(vec![round(30.0)]));
        assert_eq!(vector.waiting_spread(), None);
    }
}
