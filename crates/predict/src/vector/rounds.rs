//! Rounds of a trace: the same work without and with the tracer.
//!
//! The tracer's own time is subtracted from the times of a trace. It also slows the application
//! down in ways that cannot be subtracted: it displaces the application's code and data from the
//! caches, and a load that waits longer is woken up more often. The processor time without the
//! tracer shows how much that is.

use serde::{Deserialize, Serialize};
use yamba_stats::{mean, median, standard_deviation, student_t_quantile};

use crate::constants::{CONFIDENCE, NORMAL_QUANTILE, UNCERTAIN_COST, UNCERTAIN_MISSED};

/// The processor time of a unit of work, without the tracer and then with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Round {
    /// User and kernel time without the tracer, in ns, by the kernel's own account.
    pub untraced_ns: f64,
    /// The kernel's part of `untraced_ns`, in ns: by the clock ticks that hit the kernel, and with
    /// the part of each call and page fault that ticks charge to the user.
    pub untraced_kernel_ns: f64,
    /// The part of `untraced_kernel_ns` that ticks charge to the user, in ns. 0 in vectors of
    /// earlier versions.
    #[serde(default)]
    pub missed_ns: f64,
    /// Elapsed time without the tracer, in ns. `None`: unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untraced_elapsed_ns: Option<f64>,
    /// Time in the trace in which no thread of the application ran since all slept, in ns. `None`:
    /// unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited_ns: Option<f64>,
    /// User time in the trace, in ns.
    pub user_ns: f64,
    /// Kernel time in the trace, in ns, before it is scaled.
    pub kernel_ns: f64,
}

impl Round {
    /// The share of the kernel in the trace.
    fn kernel_share(&self) -> f64 {
        self.kernel_ns / (self.user_ns + self.kernel_ns)
    }
}

/// How far the times of a trace may be off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Uncertainty {
    /// [`spread`], as a share of all time.
    pub spread: f64,
    /// Half the width of the 90 % interval for the border between user and kernel time, as a share
    /// of the kernel time. `None`: unknown.
    pub border: Option<f64>,
}

impl Uncertainty {
    /// Both together, in quadrature.
    pub(crate) fn half_width(self) -> f64 {
        self.spread.hypot(self.border.unwrap_or(0.0))
    }
}

/// The precision of the two clocks over all rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clocks {
    /// Number of clock ticks without the tracer, at least.
    pub ticks: f64,
    /// About the tracer's own cost for a unit of work, in ns: that of a null call for each call and
    /// page fault.
    pub tracer_ns: f64,
}

/// The processor time of a unit of work without the tracer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// User time, in ns.
    pub user_ns: f64,
    /// Kernel time, in ns.
    pub kernel_ns: f64,
    /// Half the width of the 90 % interval for the border between both, as a share of the kernel
    /// time.
    pub border: f64,
}

/// The processor time without the tracer: the median of all time, and the share of the kernel by
/// both clocks. The clocks are weighted by the inverses of their variances. That of n ticks with a
/// share p is `p (1 - p) / n`, and [`UNCERTAIN_MISSED`] adds to it. That of the tracer has the
/// scatter of the rounds and [`UNCERTAIN_COST`]. Where the clocks disagree by more than their
/// deviations, the interval is wider by that factor (R. T. Birge, *The Calculation of Errors by the
/// Method of Least Squares*, Physical Review 40 (1932), 207). `None`: there are no rounds, or their
/// times are 0.
pub fn level(rounds: &[Round], clocks: Clocks) -> Option<Level> {
    let sum = |value: fn(&Round) -> f64| rounds.iter().map(value).sum::<f64>();
    let all_ns = sum(|r| r.untraced_ns);
    let whole_ns = median(&rounds.iter().map(|r| r.untraced_ns).collect::<Vec<_>>())?;
    let shares: Vec<f64> = rounds.iter().map(Round::kernel_share).collect();
    let (by_tracer, by_ticks) = (median(&shares)?, sum(|r| r.untraced_kernel_ns) / all_ns);
    // Without any tick of a sort, the share is not known to be 0.
    let smoothed = (by_ticks * clocks.ticks + 1.0) / (clocks.ticks + 2.0);
    let missed = UNCERTAIN_MISSED * sum(|r| r.missed_ns) / all_ns;
    let tick_variance = smoothed * (1.0 - smoothed) / clocks.ticks + missed.powi(2);
    let scatter = standard_deviation(&shares).unwrap_or(0.0).powi(2) / shares.len() as f64;
    let tracer_variance = (UNCERTAIN_COST * clocks.tracer_ns / whole_ns).powi(2) + scatter;
    let weight_of_ticks = tracer_variance / (tracer_variance + tick_variance);
    let difference = by_ticks - by_tracer;
    let share = by_tracer + weight_of_ticks * difference;
    let deviation = (tracer_variance * (1.0 - weight_of_ticks)).sqrt();
    let disagreement = difference.abs() / (tracer_variance + tick_variance).sqrt();
    let border = NORMAL_QUANTILE * disagreement.max(1.0) * deviation / share;
    (border.is_finite() && share > 0.0).then_some(Level {
        user_ns: whole_ns * (1.0 - share),
        kernel_ns: whole_ns * share,
        border,
    })
}

/// Half the width of the 90 % interval for the time of another round, as a share of it:
/// `t s sqrt(1 + 1 / n) / m` of n rounds without the tracer with mean m and standard deviation s,
/// where t is the quantile of Student's distribution with n - 1 degrees of freedom. `None`: fewer
/// than two rounds.
pub fn spread(rounds: &[Round]) -> Option<f64> {
    spread_of(&rounds.iter().map(|r| r.untraced_ns).collect::<Vec<_>>())
}

/// Half the width of the interval of [`spread`], for any other time of each round.
pub(crate) fn spread_of(each: &[f64]) -> Option<f64> {
    let (number, mean) = (each.len() as f64, mean(each)?);
    let t = student_t_quantile(0.5 + CONFIDENCE / 2.0, number - 1.0)?;
    let half = t * standard_deviation(each)? * (1.0 + 1.0 / number).sqrt() / mean;
    half.is_finite().then_some(half)
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
            ..Round::default()
        }
    }

    #[test]
    fn times_are_scaled_to_those_without_the_tracer() {
        // The tracer doubles the time; the kernel has three quarters of it. A neighbour triples
        // both halves of the last round.
        let rounds =
            [round(100.0, 50.0, 150.0), round(104.0, 52.0, 156.0), round(300.0, 150.0, 450.0)];
        let clocks = Clocks { ticks: 0.0, tracer_ns: 100.0 };
        let level_of = |clocks| level(&rounds, clocks).unwrap().kernel_ns;
        assert_eq!(level_of(clocks), 78.0);
        assert_eq!(level(&[], clocks), None);
        // By the ticks, the kernel has a half. A tracer without cost is right, and many ticks are.
        let free = Clocks { ticks: 1e4, tracer_ns: 0.0 };
        assert_eq!(level_of(free), 78.0);
        let many = Clocks { ticks: 1e12, tracer_ns: 100.0 };
        assert!((level_of(many) - 52.0).abs() < 1e-3);
        // The standard deviations are 0.05 by 100 ticks, and half of 10.4 of 104 ns.
        let alike = Clocks { ticks: 100.0, tracer_ns: 10.4 };
        assert!((level_of(alike) - 65.0).abs() < 1e-9);
    }

    /// Both clocks have a standard deviation of 0.05, and their mean 0.05 / sqrt(2).
    #[test]
    fn border_is_wider_where_the_clocks_disagree() {
        let clocks = Clocks { ticks: 100.0, tracer_ns: 10.0 };
        let border = |kernel_ns: f64| {
            let rounds = [round(100.0, 100.0 - kernel_ns, kernel_ns)];
            let found = level(&rounds, clocks).unwrap();
            assert!((found.user_ns + found.kernel_ns - 100.0).abs() < 1e-9);
            found.border * found.kernel_ns / 100.0
        };
        let alone = 1.645 * 0.05 / 2.0_f64.sqrt();
        assert!((border(50.0) - alone).abs() < 1e-9);
        // A tenth of 50 ns of missed time is as uncertain as the ticks: their weight is a third.
        let mut missed = round(100.0, 30.0, 70.0);
        missed.missed_ns = 50.0;
        let found = level(&[missed], clocks).unwrap();
        assert!((found.kernel_ns - (70.0 - 20.0 / 3.0)).abs() < 1e-9, "{found:?}");
        // A half by the ticks and 0.7 by the tracer: 2.8 deviations of their difference.
        let apart = 0.2 / (0.05 * 2.0_f64.sqrt());
        assert!((border(70.0) - apart * alone).abs() < 1e-9);
        let no_time = [round(0.0, 0.0, 0.0)];
        assert_eq!(level(&no_time, clocks), None);
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
