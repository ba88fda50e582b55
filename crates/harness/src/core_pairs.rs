//! Which processors share a core, by a test with a competitor. A virtual machine often reports
//! other cores than the host has. A host may also move a virtual machine to other cores, so the
//! findings expire.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use yamba_record::Event;
use yamba_record::machine::{CorePair, CorePairs, Machine};

use super::child::{self, Limits};
use super::crash;
use super::job::Program;
use super::kept_file::{self, Kind};
use super::options::Options;
use super::scratch::Scratch;
use super::stop::Stop;

const KIND: Kind = Kind { name: "cores", version: 1 };

/// Findings are used for this time, in seconds. A pair takes up to a tenth of a second.
const VALID_S: f64 = 3600.0;

/// Findings without a clear pair are used for this time: a neighbour may be gone then.
const UNCLEAR_VALID_S: f64 = 30.0;

/// The findings of an earlier run on this machine, however old.
#[must_use]
pub fn kept_core_pairs(folder: &Path, machine: &Machine) -> Option<CorePairs> {
    kept_file::read(folder, KIND, machine)
}

/// The findings of an earlier run, if they are new enough at `now`.
pub(super) fn valid_core_pairs(folder: &Path, machine: &Machine, now: f64) -> Option<CorePairs> {
    let kept = kept_core_pairs(folder, machine)?;
    let is_clear = kept.pairs.iter().any(|pair| pair.shared.is_some());
    let valid_s = if is_clear { VALID_S } else { UNCLEAR_VALID_S };
    (0.0..valid_s).contains(&(now - kept.unix_s)).then_some(kept)
}

/// Tests the processors with `program`, and keeps the findings for later runs. `None` if the
/// program has no such test.
pub(super) fn test_core_pairs(
    program: &Program,
    options: &Options,
    seed: u64,
    stop: &Stop,
) -> Option<Vec<CorePair>> {
    let scratch = Scratch::new();
    let limits = Limits::new(options, stop, &scratch);
    let arguments = ["--core-pairs", "--choose", &seed.to_string()].map(str::to_owned);
    let output = child::run(program, &arguments, &scratch.folder("core-pairs"), &limits);
    if crash::reasons("--core-pairs", &output, &|_, _| None).is_some() {
        return None;
    }
    output.events.into_iter().find_map(|event| match event {
        Event::CorePairs { pairs } => Some(pairs),
        _ => None,
    })
}

/// Keeps the findings for later runs.
pub(super) fn keep(folder: &Path, machine: &Machine, found: &CorePairs) {
    kept_file::write(folder, KIND, machine, found);
}

/// The tested processors by core, as the argument `--cores` of a program has them: `0+2,1` for two
/// cores. Processors without a clear finding are left out: then the system's word counts. `None` if
/// nothing is left.
pub(super) fn cores_argument(pairs: &[CorePair]) -> Option<String> {
    let known = pairs.iter().filter(|pair| pair.shared.is_some());
    let processors: BTreeSet<u64> = known.flat_map(|pair| [pair.one, pair.other]).collect();
    let unclear = pairs.iter().filter(|pair| pair.shared.is_none());
    let unclear: BTreeSet<u64> = unclear.flat_map(|pair| [pair.one, pair.other]).collect();
    // The first processor of the core that each belongs to.
    let mut first: BTreeMap<u64, u64> = processors.difference(&unclear).map(|c| (*c, *c)).collect();
    for pair in pairs.iter().filter(|pair| pair.shared == Some(true)) {
        let cores = first.get(&pair.one).zip(first.get(&pair.other));
        if let Some((&one, &other)) = cores {
            let (low, high) = (one.min(other), one.max(other));
            for core in first.values_mut().filter(|core| **core == high) {
                *core = low;
            }
        }
    }
    let mut cores: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for (cpu, core) in &first {
        cores.entry(*core).or_default().push(cpu.to_string());
    }
    let lists: Vec<String> = cores.values().map(|core| core.join("+")).collect();
    (!lists.is_empty()).then(|| lists.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kept_file::tests::machine;

    fn pair(one: u64, other: u64, shared: Option<bool>) -> CorePair {
        CorePair { one, other, shared }
    }

    #[test]
    fn cores_are_groups_of_clear_findings() {
        let (yes, no) = (Some(true), Some(false));
        assert_eq!(cores_argument(&[]), None);
        assert_eq!(cores_argument(&[pair(0, 1, None)]), None);
        assert_eq!(cores_argument(&[pair(0, 1, no)]).unwrap(), "0,1");
        assert_eq!(cores_argument(&[pair(0, 1, yes)]).unwrap(), "0+1");
        let four = [pair(0, 2, yes), pair(1, 3, yes), pair(0, 1, no), pair(2, 3, no)];
        assert_eq!(cores_argument(&four).unwrap(), "0+2,1+3");
        // Four hardware threads of one core, found in any order.
        let chain = [pair(2, 3, yes), pair(0, 1, yes), pair(1, 2, yes)];
        assert_eq!(cores_argument(&chain).unwrap(), "0+1+2+3");
        let unclear = [pair(0, 1, no), pair(1, 2, None), pair(0, 3, no)];
        assert_eq!(cores_argument(&unclear).unwrap(), "0,3");
    }

    #[test]
    fn findings_expire() {
        let temporary = tempfile::tempdir().unwrap();
        let (folder, here) = (temporary.path(), machine("family 6 model 1", "x86_64"));
        let found = CorePairs { pairs: vec![pair(0, 1, Some(false))], unix_s: 1000.0 };
        assert_eq!(kept_core_pairs(folder, &here), None);
        keep(folder, &here, &found);
        assert_eq!(kept_core_pairs(folder, &here), Some(found.clone()));
        assert_eq!(valid_core_pairs(folder, &here, 2000.0), Some(found.clone()));
        assert_eq!(valid_core_pairs(folder, &here, 5000.0), None);
        // The clock was set back.
        assert_eq!(valid_core_pairs(folder, &here, 900.0), None);
        let unclear = CorePairs { pairs: vec![pair(0, 1, None)], ..found };
        keep(folder, &here, &unclear);
        assert_eq!(valid_core_pairs(folder, &here, 1010.0), Some(unclear));
        assert_eq!(valid_core_pairs(folder, &here, 1100.0), None);
    }
}
