//! An application whose calls take as long as those of another one, which already lacks the work
//! that a change removes.

use crate::carry::Context;
use crate::carry::factor::{Timed, TracedTimes};
use crate::constants::RARE;
use crate::vector::names::call;
use crate::vector::{Use, Vector, nearest_size};

impl Context {
    /// The context in which `vector` is predicted as if its calls took as long as those of another
    /// `application`, whose own context this is. Both were traced on the same machine.
    ///
    /// Calls that both make have the times of that application: a call of another size within a
    /// factor of 2 is scaled by the costs of both sizes. Calls that only `vector` makes, or that
    /// the other application makes rarely, have their cost times the factor of similar calls of
    /// that application. A call without a cost has its time in `own`, the context of `vector`,
    /// scaled as all calls are on average.
    #[must_use]
    pub fn applied_to(
        mut self,
        vector: &Vector,
        application: &str,
        own: Option<&Context>,
    ) -> Context {
        forget_rare(&mut self.times, &vector.primitives);
        let own_times = own.iter().flat_map(|own| own.times.each.iter().map(|t| (t, &own.times)));
        let added: Vec<Timed> = own_times
            .filter(|(t, _)| self.times.find(&t.name, t.size).is_none())
            .map(|(t, own)| {
                at_nearest_size(&self.times, t).unwrap_or_else(|| estimated(&self.times, t, own))
            })
            .collect();
        self.times.each.extend(added);
        self.outside_ns = own.and_then(|own| own.outside_ns);
        self.uses.clone_from(&vector.primitives);
        self.taken_from = Some(application.to_owned());
        self
    }
}

/// Forgets the times of calls that are rare beside these uses.
fn forget_rare(times: &mut TracedTimes, uses: &[Use]) {
    let timed = times.each.clone();
    times.each.retain(|t| {
        let same = |name: &str| call(name) == call(&t.name);
        let here = timed.iter().filter(|other| same(&other.name));
        let there = uses.iter().filter(|used| same(&used.name));
        let here: f64 = here.map(|other| other.count).sum();
        let there: f64 = there.map(|used| used.count).sum();
        here >= RARE * there
    });
}

/// A call of another application with the time of the same call here at the nearest size: sizes of
/// a trace are means. `None`: no size is so near.
fn at_nearest_size(times: &TracedTimes, other: &Timed) -> Option<Timed> {
    let same = || times.each.iter().filter(|t| t.name == other.name);
    let size = nearest_size(same().filter_map(|t| t.size), other.size?)?;
    let nearest = same().find(|t| t.size == Some(size))?;
    let cost = |size| Some(times.costs.at(&other.name, size)?.cost.ns);
    let scale = match (cost(other.size), cost(nearest.size)) {
        (Some(theirs), Some(ours)) if ours > 0.0 => theirs / ours,
        _ => 1.0,
    };
    let time_ns = other.count * nearest.time_ns / nearest.count * scale;
    Some(Timed { time_ns, ..other.clone() })
}

/// A call of another application, with its estimated time here.
fn estimated(times: &TracedTimes, other: &Timed, own: &TracedTimes) -> Timed {
    let time_ns = match times.costs.at(&other.name, other.size) {
        Some(at) => {
            let factor = times.factor(&other.name).map_or(1.0, |factor| factor.ratio);
            let whole_ns = other.count * at.cost.ns * factor;
            // The benchmark may contain other calls, which the trace has apart.
            let traced_ns = own.whole_ns(other);
            if traced_ns > 0.0 { whole_ns * other.time_ns / traced_ns } else { 0.0 }
        }
        None => match (times.overall, own.overall) {
            (Some(here), Some(there)) => other.time_ns * here.ratio / there.ratio,
            _ => other.time_ns,
        },
    };
    Timed { time_ns, is_of_others: true, ..other.clone() }
}
