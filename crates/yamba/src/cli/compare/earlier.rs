//! Earlier runs on the same machine, which tell of noise.

use std::collections::BTreeSet;

use yamba_record::{Benchmark, Run};
use yamba_store::{Detail, Listed, Store};

use super::super::failure::Failure;
use super::super::output;
use super::super::store_option::StoreOption;
use crate::compare::floors::is_of_here;

/// The latest so many: more take longer to read than they tell.
const MOST: usize = 20;

/// So many are looked at for that: those of other programs tell nothing.
const LOOKED_AT: usize = 5 * MOST;

/// What the store has of the noise.
#[derive(Default)]
pub(super) struct Earlier {
    /// Runs of different moments.
    pub runs: Vec<Run>,
    /// The two sides of what `noise` measured in turn; read for a gate only.
    pub pairs: Vec<[Run; 2]>,
}

/// Those that are kept with a benchmark of both, of the machine of B as it was then. Where they cannot be read, nothing is known, and a warning says so.
pub(super) fn known(option: &StoreOption, a: &Run, b: &Run, is_gate: bool) -> Earlier {
    match read(option, a, b, is_gate) {
        Ok(earlier) => earlier,
        Err(Failure::Sentence { message, .. }) => {
            output::note(&format!(
                "warning: nothing is known of the noise here: {message}\n"
            ));
            Earlier::default()
        }
        Err(_) => Earlier::default(),
    }
}

fn read(option: &StoreOption, a: &Run, b: &Run, is_gate: bool) -> Result<Earlier, Failure> {
    // Two documents are compared without making a store.
    let Some(mut store) = Store::existing(&option.location()?)? else {
        return Ok(Earlier::default());
    };
    let of_a: BTreeSet<&str> = a.benchmarks.iter().map(|b| b.name.as_str()).collect();
    let names: BTreeSet<&str> = b.benchmarks.iter().map(|b| b.name.as_str()).collect();
    let mut listed = store.runs()?;
    listed.retain(|run| {
        let mut both = run.benchmarks.iter();
        let has_some = both.any(|n| names.contains(n.as_str()) && of_a.contains(n.as_str()));
        has_some && is_of_here(&run.head, a, b)
    });
    let (sides, mut runs) = in_turn(listed);
    // What one command measures in a row shows no drift from day to day.
    runs.sort_by_key(|run| run.head.producer.for_another_command().is_some());
    let of_both = a.benchmarks.iter().chain(&b.benchmarks);
    let programs: BTreeSet<&String> = of_both.filter_map(|b| b.about.program.as_ref()).collect();
    let is_of_them = |b: &Benchmark| {
        b.about
            .program
            .as_ref()
            .is_some_and(|p| programs.contains(p))
    };
    // None of a run of other programs.
    let mut load = |listed: &Listed| {
        let mut run = store.run(&listed.id, Detail::Figures)?;
        run.benchmarks.retain(|b| names.contains(b.name.as_str()));
        let tells = run.benchmarks.iter().any(is_of_them);
        Ok::<_, Failure>(tells.then_some(run))
    };
    let told = sides.iter().filter(|pair| is_gate && tells_of_noise(pair));
    Ok(Earlier {
        runs: latest(runs.iter(), &mut load)?,
        pairs: latest(told, |[one, other]| {
            let sides = load(one)?.zip(load(other)?);
            Ok(sides.map(<[Run; 2]>::from))
        })?,
    })
}

/// Of the first [`LOOKED_AT`] the first [`MOST`] that `load` gives; no more are loaded.
fn latest<L, T>(
    listed: impl Iterator<Item = L>,
    mut load: impl FnMut(L) -> Result<Option<T>, Failure>,
) -> Result<Vec<T>, Failure> {
    let each = listed.take(LOOKED_AT);
    let given = each.filter_map(|one| load(one).transpose());
    given.take(MOST).collect()
}

/// Whether a pair is of one program, whole: those of gates and of `compare --again` are of two, nearly always.
fn tells_of_noise(pair: &[Listed; 2]) -> bool {
    let of_noise = |run: &Listed| run.head.producer.for_another_command() == Some("noise");
    pair.iter().all(|run| run.complete && of_noise(run))
}

/// The pairs that one command measured in turn, which began at one moment, and what is left: two sides of one moment show nothing of how moments differ. Of `listed`, in the order of
/// their moments, two sides are neighbours.
fn in_turn(listed: Vec<Listed>) -> (Vec<[Listed; 2]>, Vec<Listed>) {
    let (mut pairs, mut rest): (Vec<[Listed; 2]>, Vec<Listed>) = (Vec::new(), Vec::new());
    for run in listed {
        match rest.pop_if(|last| are_sides(last, &run)) {
            Some(last) => pairs.push([last, run]),
            None => rest.push(run),
        }
    }
    (pairs, rest)
}

fn are_sides(one: &Listed, other: &Listed) -> bool {
    let command = |run: &Listed| run.head.producer.for_another_command().map(str::to_owned);
    let is_one_moment = one.started_unix_s.is_some() && one.started_unix_s == other.started_unix_s;
    is_one_moment && command(one).is_some() && command(one) == command(other)
}

#[cfg(test)]
mod tests {
    use yamba_record::Machine;

    use super::*;

    fn listed(id: &str, started: Option<f64>, command: &str, complete: bool) -> Listed {
        let run: Run = Run {
            started_unix_s: started,
            ..Run::new(Machine::default())
        };
        let mut head = run.map(|_| ());
        head.producer.arguments = vec![command.to_owned()];
        Listed {
            id: id.to_owned(),
            started_unix_s: started,
            head,
            damage: None,
            benchmarks: Vec::new(),
            entries: [1, 1],
            complete,
            is_running: None,
        }
    }

    /// What is measured more often than what is compared hides nothing of it.
    #[test]
    fn those_of_other_programs_take_no_place() {
        let chosen = |given: fn(usize) -> bool| {
            let mut loaded = 0;
            let found = latest(0..1000, |n| {
                loaded += 1;
                Ok(given(n).then_some(n))
            });
            (found.ok().unwrap(), loaded)
        };
        assert_eq!(chosen(|_| true), ((0..20).collect(), 20));
        assert_eq!(chosen(|n| n >= 30), ((30..50).collect(), 50));
        assert_eq!(
            chosen(|n| n % 10 == 9),
            ((9..100).step_by(10).collect(), 100)
        );
    }

    #[test]
    fn sides_of_one_moment_are_pairs_and_only_those_of_noise_tell_of_it() {
        let all = vec![
            listed("a", Some(9.0), "run", true),
            listed("b", Some(8.0), "compare", true),
            listed("c", Some(8.0), "compare", true),
            listed("d", Some(7.0), "noise", true),
            listed("e", Some(7.0), "noise", true),
            listed("f", Some(6.0), "noise", true),
            listed("g", Some(6.0), "noise", false),
            listed("h", Some(5.0), "noise", true),
            listed("i", Some(4.0), "run", true),
            listed("j", Some(4.0), "run", true),
            listed("k", None, "noise", true),
            listed("l", None, "noise", true),
        ];
        let (pairs, rest) = in_turn(all);
        let ids = |pair: &[Listed; 2]| pair.iter().map(|run| run.id.as_str()).collect::<String>();
        assert_eq!(
            pairs.iter().map(ids).collect::<Vec<_>>(),
            ["bc", "de", "fg"]
        );
        let rest: String = rest.iter().map(|run| run.id.as_str()).collect();
        assert_eq!(rest, "ahijkl");
        let told = pairs.iter().filter(|pair| tells_of_noise(pair));
        assert_eq!(told.map(ids).collect::<Vec<_>>(), ["de"]);
    }
}
