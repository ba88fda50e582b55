//! Earlier runs on the same machine, which tell of noise.

use std::array;

use yamba_record::Run;
use yamba_store::{Detail, Listed, Store};

use super::super::failure::Failure;
use super::super::output;
use super::super::store_option::StoreOption;
use crate::compare::floors::{FEWEST_RUNS, is_of_here};
use crate::compare::identity::differences;
use crate::compare::wanted::Wanted;

/// Of each program the latest so many: more take longer to read than they tell.
const MOST: usize = 20;

/// So many that cannot be read are enough to know that the store is damaged, or out of reach.
const MOST_UNREAD: usize = 50;

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
    // Nothing is known of two machines.
    if !differences(a, b).must.is_empty() {
        return Ok(Earlier::default());
    }
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
    let mut unread = Vec::new();
    let mut load = |run: &Listed| {
        if unread.len() == MOST_UNREAD {
            return None;
        }
        let read = store.run(&run.id, Detail::Figures);
        read.map_err(|why| unread.push(why.to_string())).ok()
    };
    let mut wanted = Wanted::of(a, b, MOST);
    let mut runs = latest(alone.iter().map(array::from_ref), &mut wanted, &mut load);
    // What one command measures in a row shows no drift from day to day: it stands in for what is not there.
    wanted.lower(MOST - FEWEST_RUNS);
    let in_a_row = in_a_row.iter().map(array::from_ref);
    runs.extend(latest(in_a_row, &mut wanted, &mut load));
    let told = sides.iter().filter(|pair| is_gate && tells_of_noise(pair));
    let pairs = latest(told, &mut Wanted::of(a, b, MOST), &mut load);
    warn(&unread);
    Ok(Earlier {
        runs: runs.into_iter().flatten().collect(),
        pairs,
    })
}

/// Of runs that were damaged, or removed meanwhile.
fn warn(unread: &[String]) {
    if let Some(first) = unread.first() {
        let count = unread.len();
        output::note(&format!(
            "warning: earlier runs that could not be read tell nothing of the noise here ({count}): {first}\n"
        ));
    }
}

/// Of runs, or of runs of one moment together, those that have what is `wanted`, with that of it alone.
fn latest<'a, const N: usize>(
    listed: impl Iterator<Item = &'a [Listed; N]>,
    wanted: &mut Wanted,
    load: &mut dyn FnMut(&Listed) -> Option<Run>,
) -> Vec<[Run; N]> {
    let mut found = Vec::new();
    for sides in listed {
        if wanted.is_met() {
            break;
        }
        if !sides.iter().all(|run| wanted.may_be_among(&run.benchmarks)) {
            continue;
        }
        let Some(mut runs) = whole(sides, wanted, load) else {
            continue;
        };
        let taken = runs.as_mut().map(|runs| wanted.take(runs));
        let taken = taken.unwrap_or_default();
        let names = sides.iter().flat_map(|run| &run.benchmarks);
        wanted.miss(names.filter(|name| !taken.contains(*name)));
        found.extend(runs.filter(|_| !taken.is_empty()));
    }
    found
}

/// None where one of them cannot be read. None of them where one has nothing that is `wanted`: then the next need not be read.
fn whole<const N: usize>(
    sides: &[Listed; N],
    wanted: &Wanted,
    load: &mut dyn FnMut(&Listed) -> Option<Run>,
) -> Option<Option<[Run; N]>> {
    let mut runs = Vec::new();
    for side in sides {
        let run = load(side)?;
        if !wanted.is_in(&run) {
            return Some(None);
        }
        runs.push(run);
    }
    Some(runs.try_into().ok())
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
            Some(run).filter(|run| run.benchmarks[0].name != "damaged")
        });
        let found = found.into_iter().flatten();
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

    /// What has other benchmarks is not even read; of what has other programs of the same one, no more than fifty.
    #[test]
    fn those_of_other_programs_take_no_place() {
        let of_others = |count| {
            let mut all = vec![vec!["y=q"]; 300];
            all.extend(vec![vec!["x=other"]; count]);
            all.extend(vec![vec!["x=p"]; 20]);
            all
        };
        let all = found(&["x=p"], &of_others(49));
        assert_eq!(all, ((349..369).collect(), 69));
        assert_eq!(found(&["x=p"], &of_others(50)), (Vec::new(), 50));
    }

    /// A program that changes with every run takes nothing from one that stays.
    #[test]
    fn a_benchmark_that_is_given_up_costs_no_other_its_runs() {
        let mut all = vec![vec!["mine=old"]; 300];
        all.extend(vec![vec!["x=p"]; 12]);
        let found = found(&["x=p", "mine=new"], &all);
        assert_eq!(found, ((300..312).collect(), 62));
    }

    #[test]
    fn what_cannot_be_read_costs_no_other_run() {
        let mut all = vec![vec!["damaged=d", "x=p"]; 60];
        all.extend(vec![vec!["x=p"]; 3]);
        assert_eq!(found(&["x=p"], &all), (vec![60, 61, 62], 63));
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
