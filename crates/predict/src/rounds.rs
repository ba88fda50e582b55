//! Rounds of a trace: the same work without and with the tracer.
//!
//! The tracer's own time is subtracted from the times of a trace. It also slows the application down in ways that cannot be subtracted: it displaces the application's code
//! and data from the caches, and a load that waits longer is woken up more often. The processor time without the tracer shows how much that is.

use serde::{Deserialize, Serialize};
use yamba_stats::{mean, median, standard_deviation, student_t_quantile};

/// The confidence of the interval.
const CONFIDENCE: f64 = 0.9;

/// The processor time of a unit of work, without the tracer and then with it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Round {
    /// User and kernel time without the tracer, in ns, by the kernel's own account.
    pub untraced_ns: f64,
    /// The kernel's part of `untraced_ns`, in ns: by the clock ticks that hit the kernel, and with the part of each call and page fault that ticks charge to the user.
    pub untraced_kernel_ns: f64,
    /// User time in the trace, in ns.
    pub user_ns: f64,
    /// Kernel time in the trace, in ns, before it is scaled.
    pub kernel_ns: f64,
}

impl Round {
    /// Kernel time without the tracer, in ns: the share that the kernel has in the trace, of the whole time without it.
    pub fn undisturbed_ns(&self) -> f64 {
        self.untraced_ns * self.kernel_ns / (self.user_ns + self.kernel_ns)
    }
}

/// How far the times of a trace may be off, as shares of its kernel time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Uncertainty {
    /// [`spread`].
    pub spread: f64,
    /// [`border`]; 0 if it is unknown.
    pub border: f64,
}

impl Uncertainty {
    /// `None`: fewer than two rounds.
    pub(crate) fn of(rounds: &[Round]) -> Option<Uncertainty> {
        Some(Uncertainty {
            spread: spread(rounds)?,
            border: border(rounds).unwrap_or(0.0),
        })
    }
}

/// The factor that brings the times of all rounds together to the median of their times without the tracer. `None`: there are no rounds.
pub fn level(rounds: &[Round], kernel_ns: f64) -> Option<f64> {
    let factor = median(&undisturbed(rounds))? / kernel_ns;
    factor.is_finite().then_some(factor)
}

/// Half the width of the 90 % interval for the kernel time of another trace of as many units as one round, as a share of it:
/// `t s sqrt(1 + 1 / n) / m` of n rounds with mean m and standard deviation s, where t is the quantile of Student's distribution with n - 1 degrees of freedom.
/// `None`: fewer than two rounds.
pub fn spread(rounds: &[Round]) -> Option<f64> {
    let each = undisturbed(rounds);
    let (number, mean) = (each.len() as f64, mean(&each)?);
    let t = student_t_quantile(0.5 + CONFIDENCE / 2.0, number - 1.0)?;
    let half = t * standard_deviation(&each)? * (1.0 + 1.0 / number).sqrt() / mean;
    half.is_finite().then_some(half)
}

/// By what share of the kernel time the clock ticks and the tracer disagree on the border between user and kernel time: `|sum of ticks / sum of undisturbed - 1|`.
/// The tracer's events lie inside the kernel. `None`: there are no rounds, or no tick hit the kernel.
pub fn border(rounds: &[Round]) -> Option<f64> {
    let by_ticks: f64 = rounds.iter().map(|r| r.untraced_kernel_ns).sum();
    let by_tracer: f64 = undisturbed(rounds).iter().sum();
    let border = (by_ticks / by_tracer - 1.0).abs();
    (by_ticks > 0.0 && border.is_finite()).then_some(border)
}

fn undisturbed(rounds: &[Round]) -> Vec<f64> {
    rounds.iter().map(Round::undisturbed_ns).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(untraced_ns: f64, user_ns: f64, kernel_ns: f64) -> Round {
        Round {
            untraced_ns,
            untraced_kernel_ns: untraced_ns / 2.0,
            user_ns,
            kernel_ns,
        }
    }

    #[test]
    fn times_are_scaled_to_those_without_the_tracer() {
        // The tracer doubles the time; the kernel has three quarters of it. A neighbour triples both halves of the last round.
        let rounds = [
            round(100.0, 50.0, 150.0),
            round(104.0, 52.0, 156.0),
            round(300.0, 150.0, 450.0),
        ];
        let [first, second, third] = rounds.map(|r| r.undisturbed_ns());
        assert_eq!([first, second, third], [75.0, 78.0, 225.0]);
        assert_eq!(level(&rounds, 252.0), Some(78.0 / 252.0));
        assert_eq!(level(&[], 252.0), None);
    }

    #[test]
    fn border_is_the_difference_of_the_clocks() {
        // Half by the ticks; three quarters, and then a half, by the tracer: 100 ns and 125 ns in all.
        let rounds = [round(100.0, 50.0, 150.0), round(100.0, 100.0, 100.0)];
        assert!((border(&rounds).unwrap() - 0.2).abs() < 1e-12);
        let mut without_ticks = rounds;
        without_ticks
            .iter_mut()
            .for_each(|r| r.untraced_kernel_ns = 0.0);
        assert_eq!(border(&without_ticks), None);
        assert_eq!(border(&[]), None);
    }

    #[test]
    fn spread_is_the_interval_of_another_round() {
        // Mean 100, standard deviation 10; Student's t for one degree of freedom is 6.314.
        let half = 10.0 / 2.0_f64.sqrt();
        let rounds = [100.0 - half, 100.0 + half].map(|ns| round(2.0 * ns, 1.0, 1.0));
        let found = spread(&rounds).unwrap();
        let expected = 6.313_751_515 * 0.1 * 1.5_f64.sqrt();
        assert!((found / expected - 1.0).abs() < 1e-6, "{found}");
        assert_eq!(spread(&rounds[..1]), None);
    }
}
