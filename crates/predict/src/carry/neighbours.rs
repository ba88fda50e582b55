//! How much longer user time takes beside another hardware thread of the same core.
//!
//! Costs are those of quiet moments, or nearly so, but an application runs beside the neighbours of
//! its machine. They lengthen code that uses the whole width of a core by the lengthening of the
//! width probe, and code that waits for one result after the other by nothing. The value for an
//! application is halfway, and the interval has both.

use super::pair::Pair;
use super::user_scale::UserScale;
use crate::costs::Costs;

/// A smaller lengthening is that of the steps of a clock.
const LEAST_TO_SAY: f64 = 0.02;

/// User time beside the neighbours of a machine, as multiples of that of a quiet core.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Lengthening {
    pub value: f64,
    pub most: f64,
}

impl Lengthening {
    const NONE: Lengthening = Lengthening { value: 1.0, most: 1.0 };

    /// Of code that uses the whole width of its core and takes `most` times as long.
    fn up_to(most: f64) -> Lengthening {
        Lengthening { value: 1.0_f64.midpoint(most), most }
    }
}

/// The lengthenings on both machines. Between the costs of the same run, they cancel.
pub(crate) fn lengthenings(systems: Pair<&Costs>) -> Pair<Lengthening> {
    if systems.is_same() {
        return Pair { from: Lengthening::NONE, to: Lengthening::NONE };
    }
    systems.map(|costs| Lengthening::up_to(1.0 + costs.lengthening.unwrap_or(0.0)))
}

/// The remark of a prediction on these lengthenings. `None`: they are too small.
pub(crate) fn remark(lengthenings: Pair<Lengthening>) -> Option<String> {
    let of = |each: Lengthening, place: &str| {
        let is_noticeable = each.most > 1.0 + LEAST_TO_SAY;
        is_noticeable.then(|| format!("up to {:.2} times as long {place}", each.most))
    };
    let both = [of(lengthenings.from, "where it was traced"), of(lengthenings.to, "here")];
    let both: Vec<String> = both.into_iter().flatten().collect();
    (!both.is_empty()).then(|| {
        let all = both.join(" and ");
        format!("beside other hardware threads of the same cores, user time takes {all}; the value has half of that")
    })
}

impl UserScale {
    /// The ratio of times beside the neighbours of both machines, if the figures are of quiet
    /// cores.
    pub(crate) fn beside(self, lengthenings: Pair<Lengthening>) -> UserScale {
        let Pair { from, to } = lengthenings;
        UserScale {
            ratio: self.ratio * to.value / from.value,
            interval: [self.interval[0] / from.most, self.interval[1] * to.most],
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{cost, costs};

    #[test]
    fn value_is_halfway_and_the_remark_names_both_machines() {
        let of =
            |ns: f64, lengthening| Costs { lengthening, ..costs(&[("null", None, cost(ns, 0.0))]) };
        let (from, to) = (of(1.0, Some(0.5)), of(2.0, Some(1.0)));
        let found = lengthenings(Pair { from: &from, to: &to });
        assert_eq!(found.from, Lengthening { value: 1.25, most: 1.5 });
        assert_eq!(found.to, Lengthening { value: 1.5, most: 2.0 });
        assert_eq!(
            remark(found).unwrap(),
            "beside other hardware threads of the same cores, user time takes up to 1.50 times as long where it was traced and up to 2.00 times as long here; the value has half of that"
        );
        let scale = UserScale { ratio: 2.0, interval: [1.5, 3.0], is_within_launches: true };
        let beside = scale.beside(found);
        assert_eq!((beside.ratio, beside.interval), (2.0 * 1.5 / 1.25, [1.0, 6.0]));
        // The same run, and machines without probes.
        for (from, to) in [(&from, &from), (&of(1.0, None), &of(2.0, Some(0.01)))] {
            assert_eq!(remark(lengthenings(Pair { from, to })), None);
        }
    }
}
