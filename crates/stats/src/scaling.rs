//! Scaling of throughput with the number of processes or threads.

/// A point of a scaling curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScalingPoint {
    /// The number of processes or threads.
    pub workers: usize,
    /// Total throughput, in operations per time unit or any other common unit.
    pub throughput: f64,
}

/// Efficiency and bend of a scaling curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Scaling {
    /// `X(P) / (P X(1))` for each point, ascending in P; 1 where processes or threads do not slow
    /// each other down.
    pub efficiency: Vec<f64>,
    /// The bend: the greatest P up to which each added process or thread contributes at least half
    /// of the throughput of one alone.
    pub bend: usize,
}

/// The minimum contribution of an added process or thread before the bend, as a share of the
/// throughput of one alone.
const WORTHWHILE: f64 = 0.5;

/// Efficiency and bend of a throughput curve with one point for P = 1.
///
/// The contribution of an added process or thread between two measured numbers P < Q is `(X(Q) -
/// X(P)) / (Q - P)`. The bend is the P before the first gap with a contribution below `X(1) / 2`,
/// or the last P without such a gap. A later rise does not count as scaling. Efficiency as in D. L.
/// Eager, J. Zahorjan and E. D. Lazowska, "Speedup Versus Efficiency in Parallel Systems", IEEE
/// Transactions on Computers 38 (1989) 408-423. `None` without P = 1, with a duplicate P or P = 0,
/// or with a throughput that is not positive and finite.
pub fn scaling(points: &[ScalingPoint]) -> Option<Scaling> {
    let mut curve = points.to_vec();
    curve.sort_by_key(|point| point.workers);
    let alone = curve.first().filter(|point| point.workers == 1)?.throughput;
    let sound = |point: &ScalingPoint| point.throughput > 0.0 && point.throughput.is_finite();
    let twice = curve.windows(2).any(|w| w[0].workers == w[1].workers);
    if twice || !curve.iter().all(sound) {
        return None;
    }
    let worthwhile = |w: &&[ScalingPoint]| {
        let added = (w[1].workers - w[0].workers) as f64;
        w[1].throughput - w[0].throughput >= WORTHWHILE * alone * added
    };
    let gaps = curve.windows(2).take_while(worthwhile).count();
    Some(Scaling {
        efficiency: curve
            .iter()
            .map(|point| point.throughput / (point.workers as f64 * alone))
            .collect(),
        bend: curve[gaps].workers,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scaling_of(curve: &[(usize, f64)]) -> Option<Scaling> {
        let points: Vec<ScalingPoint> = curve
            .iter()
            .map(|&(workers, throughput)| ScalingPoint { workers, throughput })
            .collect();
        scaling(&points)
    }

    #[test]
    fn bends_at_the_number_of_processors() {
        let got = scaling_of(&[(1, 10.0), (2, 20.0), (4, 38.0), (8, 40.0), (16, 36.0)]).unwrap();
        assert_eq!(got.efficiency, [1.0, 1.0, 0.95, 0.5, 0.225]);
        assert_eq!(got.bend, 4);
    }

    #[test]
    fn bend_counts_exactly_half_and_ignores_later_rise() {
        assert_eq!(scaling_of(&[(1, 2.0), (2, 3.0), (3, 4.0)]).unwrap().bend, 3);
        assert_eq!(scaling_of(&[(1, 2.0), (2, 2.5), (3, 6.0)]).unwrap().bend, 1);
        assert_eq!(scaling_of(&[(2, 4.0), (1, 2.0)]).unwrap().bend, 2);
        assert_eq!(scaling_of(&[(1, 2.0)]).unwrap().bend, 1);
    }

    #[test]
    fn undefined() {
        assert_eq!(scaling_of(&[]), None);
        assert_eq!(scaling_of(&[(2, 4.0), (4, 8.0)]), None);
        assert_eq!(scaling_of(&[(1, 4.0), (1, 8.0)]), None);
        assert_eq!(scaling_of(&[(0, 4.0), (1, 8.0)]), None);
        assert_eq!(scaling_of(&[(1, 0.0), (2, 8.0)]), None);
        assert_eq!(scaling_of(&[(1, 1.0), (2, f64::NAN)]), None);
    }
}
