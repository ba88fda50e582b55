//! Looking at what is measured anew while it is measured: are more launches worth their time?

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use yamba_record::{Benchmark, Run};

use super::again::{Request, each_launch};
use crate::compare::budget::{Wish, launch, within};
use crate::compare::floors::Floors;
use crate::compare::looks::{self, Looks};
use crate::compare::pairing::in_order;
use crate::compare::unit::{Choice, Unit, chosen};
use crate::compare::{Comparison, Entry, Terms, comparison};

/// What is known of the benchmarks that are measured anew.
pub(super) struct Looking<'a> {
    request: &'a Request<'a>,
    /// Whether side a is the stored one.
    has_stored_a: bool,
    /// What the stored runs were compared in. Launches that choose their unit themselves raise more alarms: these are others.
    units: BTreeMap<String, Unit>,
    /// Benchmarks whose both sides are one program: nothing can come of more launches.
    one_program: BTreeSet<&'a str>,
    /// Those that the stored runs suspect. Where side a is stored nothing else is called slower.
    suspected: BTreeSet<String>,
    looks: Option<Looks>,
    /// Jobs before this one are of side a.
    boundary: usize,
    end: Instant,
}

impl<'a> Looking<'a> {
    /// Before the first launch: time runs from now on. Jobs before `boundary` are of side a.
    pub fn begun(
        request: &'a Request<'a>,
        stored: &Comparison,
        has_stored_a: bool,
        one_program: BTreeSet<&'a str>,
        boundary: usize,
    ) -> Looking<'a> {
        let unit_of = |(of, _): &(&Benchmark, &Benchmark)| {
            let entry = stored.benchmarks.iter().find(|e| e.is_of(of))?;
            Some((in_order(of), entry.compared_in()))
        };
        Looking {
            request,
            has_stored_a,
            units: request.pairs.iter().filter_map(unit_of).collect(),
            one_program,
            suspected: stored
                .benchmarks
                .iter()
                .filter(|e| e.suspect)
                .map(Entry::place)
                .collect(),
            looks: request.gate.map(|gate| Looks::new(gate.limit)),
            boundary,
            end: Instant::now() + request.gate.map_or(Duration::ZERO, |gate| gate.time),
        }
    }

    /// So many times it is to be looked at.
    pub fn planned(&self) -> usize {
        self.looks.as_ref().map_or(1, |_| looks::PLANNED)
    }

    /// The two sides as far as they are measured.
    fn compared(&self, a: &Run, b: &Run) -> Comparison {
        let units = |x: &Benchmark, y: &Benchmark| self.unit(x, y);
        // What runs differ by falls on both sides alike where they were measured in turn.
        let floors = match self.has_stored_a {
            true => Floors::of(a, b, self.request.earlier, &units),
            false => Floors::default(),
        };
        let terms = Terms {
            floors: &floors,
            units: &units,
            looks: self.planned(),
        };
        let mut found = comparison(a, b, &terms);
        if let Some(gate) = self.request.gate {
            gate.thresholds.set(&mut found);
        }
        found
    }

    fn unit(&self, a: &Benchmark, b: &Benchmark) -> Choice {
        let before = self.units.get(&in_order(a)).copied();
        chosen(before.unwrap_or(Unit::Own), a, b)
    }

    /// What all looks say, and the last of them.
    pub fn concluded(&mut self, a: &Run, b: &Run) -> Comparison {
        let mut found = self.compared(a, b);
        if let Some(looks) = &mut self.looks {
            looks.conclude(&mut found);
        }
        found
    }

    /// As many launches again of each that is still undecided, as far as there is time.
    pub fn more(&mut self, entries: &[(usize, Benchmark)]) -> Vec<u64> {
        let mut more = vec![0; entries.len()];
        let (a, b) = (self.side(entries, true), self.side(entries, false));
        let found = self.compared(
            if self.has_stored_a {
                self.request.a
            } else {
                &a
            },
            &b,
        );
        let Some(looks) = &mut self.looks else {
            return more;
        };
        looks.look(&found);
        let open = found.benchmarks.iter();
        let is_hopeless = |e: &Entry| {
            self.one_program.contains(e.of.name.as_str())
                || (self.has_stored_a && !self.suspected.contains(&e.place()))
        };
        let open = open.filter(|e| looks.is_open(e) && !is_hopeless(e));
        let places = |entry: &Entry| -> Vec<usize> {
            let all = entries.iter().enumerate();
            all.filter(|(_, (_, of))| entry.is_of(of))
                .map(|(i, _)| i)
                .collect()
        };
        let open: Vec<(&Entry, Vec<usize>)> = open.map(|entry| (entry, places(entry))).collect();
        let launches = |place: usize| entries[place].1.launches.len() as u64;
        // What does not say how long it took was not done in no time.
        let planned = each_launch(&self.request.a.plan, &self.request.b.plan).as_secs_f64();
        let wish = |(entry, places): &(&Entry, Vec<usize>)| Wish {
            slowdown: entry.slowdown().unwrap_or(0.0),
            seconds: places
                .iter()
                .map(|i| launch(&entries[*i].1).unwrap_or(planned) * launches(*i) as f64)
                .sum(),
        };
        let wishes: Vec<Wish> = open.iter().map(wish).collect();
        let left = self.end.saturating_duration_since(Instant::now());
        let fits = within(&wishes, left.as_secs_f64());
        for ((_, places), _) in open.iter().zip(fits).filter(|(_, fits)| *fits) {
            places.iter().for_each(|i| more[*i] = launches(*i));
        }
        more
    }

    fn side(&self, entries: &[(usize, Benchmark)], is_a: bool) -> Run {
        let of = entries
            .iter()
            .filter(|(job, _)| (*job < self.boundary) == is_a);
        let b = self.request.b;
        Run {
            benchmarks: of.map(|(_, benchmark)| benchmark.clone()).collect(),
            producer: b.producer.clone(),
            ..Run::new(b.machine.clone())
        }
    }
}
