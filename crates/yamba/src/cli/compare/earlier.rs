//! Earlier runs on the same machine, which tell of noise.

use std::array;

use yamba_record::Run;
use yamba_store::{Detail, Listed, Store};

use super::super::failure::Failure;
use super::super::output;
use super::super::store_option::StoreOption;
use crate::compare::floors::is_of_here;
use crate::compare::wanted::Wanted;

/// Of each program the latest so many: more take longer to read than they tell.
const MOST: usize = 20;

/// So many are read for that: those of other programs tell nothing.
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
    let mut listed = store.runs()?;
    listed.retain(|run| is_of_here(&run.head, a, b));
    let (sides, rest) = in_turn(listed);
    let (in_a_row, alone): (Vec<Listed>, Vec<Listed>) = rest
        .into_iter()
        .partition(|run| run.head.producer.for_another_command().is_some());
    let mut load = |run: &Listed| Ok(store.run(&run.id, Detail::Figures)?);
    let mut wanted = Wanted::of(a, b, MOST);
    let mut runs = latest(alone.iter().map(array::from_ref), &mut wanted, &mut load)?;
    // What one command measures in a row shows no drift from day to day: it stands in for what is not there.
    let in_a_row = in_a_row.iter().map(array::from_ref);
    runs.extend(latest(in_a_row, &mut wanted, &mut load)?);
    let told = sides.iter().filter(|pair| is_gate && tells_of_noise(pair));
    Ok(Earlier {
        runs: runs.into_iter().flatten().collect(),
        pairs: latest(told, &mut Wanted::of(a, b, MOST), &mut load)?,
    })
}

/// Of runs, or of runs of one moment together, those that have what is `wanted`, with that of it alone. No more than [`LOOKED_AT`] are read.
fn latest<'a, const N: usize>(
    listed: impl Iterator<Item = &'a [Listed; N]>,
    wanted: &mut Wanted,
    load: &mut dyn FnMut(&Listed) -> Result<Run, Failure>,
) -> Result<Vec<[Run; N]>, Failure> {
    let mut found = Vec::new();
    let mut read = 0;
    for sides in listed {
        if wanted.is_met() || read == LOOKED_AT {
            break;
        }
        if !sides.iter().all(|run| wanted.may_be_among(&run.benchmarks)) {
            continue;
        }
        read += 1;
        if let Some(mut runs) = whole(sides, wanted, load)?
            && wanted.take(&mut runs)
        {
            found.push(runs);
        }
    }
    Ok(found)
}

/// None where one of them has nothing that is `wanted`: then the next need not be read.
fn whole<const N: usize>(
    sides: &[Listed; N],
    wanted: &Wanted,
    load: &mut dyn FnMut(&Listed) -> Result<Run, Failure>,
) -> Result<Option<[Run; N]>, Failure> {
    let mut runs = Vec::new();
    for side in sides {
        let run = load(side)?;
        if !wanted.is_in(&run) {
            return Ok(None);
        }
        runs.push(run);
    }
    Ok(runs.try_into().ok())
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
    use yamba_record::{Machine, Status};

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

    /// A run with benchmarks as `lat_x=p`: their names and programs.
    fn with(each: &[&str]) -> Run {
        let mut run = Run::new(Machine::default());
        run.benchmarks.extend(each.iter().map(|one| {
            let (name, program) = one.split_once('=').unwrap();
            let mut made = crate::run::no_figure(name);
            made.status = Status::Ok;
            made.about.program = Some(program.to_owned());
            made
        }));
        run
    }

    /// The places of the runs that are found for a comparison of `both`, and how many are read.
    fn found(both: &[&str], each: &[Vec<&str>]) -> (Vec<usize>, usize) {
        let runs: Vec<Run> = each.iter().map(|these| with(these)).collect();
        let all = runs.iter().enumerate().map(|(place, run)| {
            let mut listed = listed(&place.to_string(), None, "run", true);
            listed.benchmarks = run.benchmarks.iter().map(|b| b.name.clone()).collect();
            [listed]
        });
        let all: Vec<[Listed; 1]> = all.collect();
        let both = with(both);
        let mut wanted = Wanted::of(&both, &both, MOST);
        let mut read = 0;
        let found = latest(all.iter(), &mut wanted, &mut |listed| {
            read += 1;
            let mut run = runs[listed.id.parse::<usize>().unwrap()].clone();
            run.id = listed.id.clone();
            Ok(run)
        });
        let found = found.ok().unwrap().into_iter().flatten();
        (found.map(|run| run.id.parse().unwrap()).collect(), read)
    }

    #[test]
    fn each_benchmark_has_its_latest_runs() {
        let of_x = vec![vec!["x=p"]; 25];
        assert_eq!(found(&["x=p"], &of_x), ((0..20).collect(), 20));
        // What is measured more often hides nothing of the others.
        let of_both = [of_x, vec![vec!["x=p", "y=q"]; 12]].concat();
        let (places, read) = found(&["x=p", "y=q"], &of_both);
        assert_eq!(places, (0..20).chain(25..37).collect::<Vec<_>>());
        assert_eq!(read, 32);
    }

    /// What has other benchmarks is not even read; of what has other programs of the same one, no more than a hundred.
    #[test]
    fn those_of_other_programs_take_no_place() {
        let mut all = vec![vec!["y=q"]; 300];
        all.extend(vec![vec!["x=other"]; 90]);
        all.extend(vec![vec!["x=p"]; 20]);
        assert_eq!(found(&["x=p"], &all), ((390..400).collect(), 100));
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
