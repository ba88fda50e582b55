//! Parameters of the processor that were found in recorded curves.

use serde::{Deserialize, Serialize};

/// A parameter: its value, or why the curves do not show it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct HardwareParameter {
    /// Its name, such as `rob.entries`.
    pub name: String,
    /// Its unit, such as `entries`.
    pub unit: String,
    /// The value. `None` if it was not found.
    pub found: Option<f64>,
    /// The interval of the value. It holds the values of the launches alone, and that of 95 % over
    /// their halves.
    pub interval: Option<[f64; 2]>,
    /// The claim of the system or the processor. `None` without one.
    #[serde(default)]
    pub claimed: Option<f64>,
    /// Why it was not found. `None` if it was.
    pub reason: Option<String>,
}

/// The relative distance by which rounding may move a value out of its interval.
const ROUNDING: f64 = 1e-9;

impl HardwareParameter {
    /// How the parameter contradicts itself, as no version of Yamba writes it.
    pub fn contradiction(&self) -> Option<String> {
        let name = &self.name;
        match (self.found, self.interval, &self.reason) {
            (None, None, Some(_)) => None,
            (None, None, None) => Some(format!("{name} has neither a value nor a reason")),
            (None, Some(_), _) => Some(format!("{name} has an interval without a value")),
            (Some(_), _, Some(_)) => Some(format!("{name} has a value, and a reason for none")),
            (Some(found), ..) if found < 0.0 => {
                Some(format!("the value {found} of {name} is below 0"))
            }
            (Some(found), Some([low, high]), None) => {
                let slack = ROUNDING * found;
                let is_within = low - slack <= found && found <= high + slack;
                (!is_within).then(|| {
                    format!("the value {found} of {name} is outside its interval [{low}, {high}]")
                })
            }
            (Some(_), None, None) => Some(format!("{name} has a value without an interval")),
        }
    }
}

/// A parameter as `yamba hardware` found it on this machine, with the time of that run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct KeptParameter {
    /// The parameter.
    #[serde(flatten)]
    pub parameter: HardwareParameter,
    /// The time of the measurement, in seconds since 1970.
    pub unix_s: f64,
}

/// A resource that may be full before the measured buffer is.
struct Rival {
    parameter: &'static str,
    words: &'static str,
    /// How many instructions of the measured curve need one entry of this resource.
    instructions: f64,
}

const ROB: Rival = Rival { parameter: "rob.entries", words: "reorder buffer", instructions: 1.0 };
/// Every second load has its target in this register file, and the others in the other one.
const INTEGERS: Rival =
    Rival { parameter: "registers.integer", words: "integer register file", instructions: 2.0 };
const VECTORS: Rival =
    Rival { parameter: "registers.vector", words: "vector register file", instructions: 2.0 };

/// The rivals of each measured buffer.
const RIVALS: [(&str, &[Rival]); 4] = [
    ("loads.entries", &[ROB, INTEGERS, VECTORS]),
    ("stores.entries", &[ROB]),
    ("registers.integer", &[ROB]),
    ("registers.vector", &[ROB]),
];

/// Two resources may be the same one if the upper end of the measured interval times this is at
/// least the lower end of the other one. The loads of the method itself need entries, too.
const SAME_BUFFER: f64 = 1.06;

fn rivals_of(name: &str) -> &'static [Rival] {
    RIVALS.iter().find(|(measured, _)| *measured == name).map_or(&[], |(_, rivals)| rivals)
}

/// The parameters that the value of this one depends on.
pub fn rivals(name: &str) -> impl Iterator<Item = &'static str> {
    rivals_of(name).iter().map(|rival| rival.parameter)
}

/// Whether values of others depend on the parameter of this name.
#[must_use]
pub fn limits_others(name: &str) -> bool {
    RIVALS.iter().any(|(_, rivals)| rivals.iter().any(|rival| rival.parameter == name))
}

/// Replaces the value of a buffer by a reason, if it may be the end of another one. `kept` has
/// values of this machine, for parameters without one.
pub(crate) fn refuse_hidden(parameters: &mut [HardwareParameter], kept: &[KeptParameter]) {
    let known = parameters.iter().chain(kept.iter().map(|kept| &kept.parameter));
    let rivals = known.filter(|p| limits_others(&p.name));
    let lows: Vec<(String, f64)> =
        rivals.filter_map(|p| Some((p.name.clone(), p.interval?[0]))).collect();
    let least = |name: &str| lows.iter().find(|(rival, _)| rival == name).map(|(_, low)| *low);
    for parameter in parameters {
        let Some([_, high]) = parameter.interval else { continue };
        let Some(why) = why_hidden(rivals_of(&parameter.name), high, least) else { continue };
        let found = parameter.found.take().unwrap_or_default();
        parameter.interval = None;
        parameter.reason = Some(format!("at least {found}: {why}"));
    }
}

/// Why a buffer of at most `high` entries may be the end of one of its rivals: of the smallest, or
/// else of one whose size `least` does not know.
fn why_hidden(rivals: &[Rival], high: f64, least: impl Fn(&str) -> Option<f64>) -> Option<String> {
    let end = |rival: &Rival| Some(rival.instructions * least(rival.parameter)?);
    let known = rivals.iter().filter_map(|rival| Some((end(rival)?, rival)));
    let smallest = known.min_by(|a, b| a.0.total_cmp(&b.0));
    if let Some((_, rival)) = smallest.filter(|(end, _)| SAME_BUFFER * high >= *end) {
        return Some(format!("the {} may fill first", rival.words));
    }
    let unknown = rivals.iter().find(|rival| end(rival).is_none())?;
    Some(format!("the size of the {} is not known", unknown.words))
}

/// The parameter of jumps, and the benchmark of its curve.
pub(crate) const JUMPS: (&str, &str) = ("branch.targets", "branch_targets");

/// Caches that hold code.
pub(crate) const CODE_CACHES: [&str; 2] = ["l1i.size", "l2.size"];

/// Code that differs by at most this ratio from a cache may end with it.
const SAME_SIZE: f64 = 1.3;

/// Replaces the number of jumps by a reason, if their code, of `bytes` for each, is about as large
/// as one of these `caches` of code: the time of fetching code rises there, too.
pub(crate) fn refuse_ends_of_caches(
    parameters: &mut [HardwareParameter],
    bytes: f64,
    caches: &[(&str, f64)],
) {
    for parameter in parameters.iter_mut().filter(|p| p.name == JUMPS.0) {
        let Some(found) = parameter.found else { continue };
        let ratio = |size: f64| (found * bytes / size).max(size / (found * bytes));
        if let Some((name, _)) = caches.iter().find(|(_, size)| ratio(*size) <= SAME_SIZE) {
            (parameter.found, parameter.interval) = (None, None);
            parameter.reason = Some(format!(
                "the time rises at {found} jumps, whose code is about as large as {name}"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(name: &str, low: f64, high: f64) -> HardwareParameter {
        HardwareParameter {
            name: name.to_owned(),
            found: Some(low),
            interval: Some([low, high]),
            ..HardwareParameter::default()
        }
    }

    #[test]
    fn contradictions_are_named() {
        let found = |value: Option<f64>, interval, reason: Option<&str>| {
            let reason = reason.map(str::to_owned);
            let p = HardwareParameter { found: value, interval, reason, ..known("x", 1.0, 2.0) };
            p.contradiction().unwrap_or_default()
        };
        assert_eq!(found(Some(1.0), Some([1.0, 2.0]), None), "");
        assert_eq!(found(Some(0.0), Some([0.0, 0.0]), None), "");
        assert_eq!(found(None, None, Some("no step")), "");
        let beside = "the value 3 of x is outside its interval [1, 2]";
        assert_eq!(found(Some(3.0), Some([1.0, 2.0]), None), beside);
        let swapped = "the value 1.5 of x is outside its interval [2, 1]";
        assert_eq!(found(Some(1.5), Some([2.0, 1.0]), None), swapped);
        assert_eq!(found(Some(-5.0), Some([-6.0, 2.0]), None), "the value -5 of x is below 0");
        for (value, interval, reason) in [
            (Some(1.0), Some([1.0, 2.0]), Some("no step")),
            (Some(1.0), None, None),
            (None, None, None),
            (None, Some([1.0, 2.0]), Some("no step")),
        ] {
            assert_ne!(found(value, interval, reason), "", "{value:?} {interval:?} {reason:?}");
        }
    }

    /// 30 000 jumps 16 bytes apart take 469 KiB.
    #[test]
    fn jumps_that_fill_a_cache_have_no_value() {
        let caches = |l2: f64| [("l1i.size", 32768.0), ("l2.size", l2)];
        let of_caches = |found: f64, l2: f64| {
            let mut all = [known("branch.targets", found, found), known("l2.size", 1.0, 1.0)];
            refuse_ends_of_caches(&mut all, 16.0, &caches(l2));
            assert_eq!(all[1].found, Some(1.0));
            all[0].clone()
        };
        for l2 in [524_288.0, 393_216.0] {
            let refused = of_caches(30_000.0, l2);
            assert_eq!((refused.found, refused.interval), (None, None));
            let reason = "the time rises at 30000 jumps, whose code is about as large as l2.size";
            assert_eq!(refused.reason.as_deref(), Some(reason));
        }
        let reason = of_caches(2048.0, 524_288.0).reason.unwrap();
        assert!(reason.ends_with("as large as l1i.size"), "{reason}");
        assert_eq!(of_caches(30_000.0, 1_310_720.0).found, Some(30_000.0));
        assert_eq!(of_caches(12_288.0, 524_288.0).found, Some(12_288.0));
    }

    #[test]
    fn buffers_beyond_the_reorder_buffer_have_no_value() {
        let buffers =
            [known("registers.vector", 432.0, 441.0), known("stores.entries", 105.0, 109.0)];
        let mut all = [vec![known("rob.entries", 440.0, 448.0)], buffers.to_vec()].concat();
        refuse_hidden(&mut all, &[]);
        assert_eq!(all[0].found, Some(440.0));
        assert_eq!((all[1].found, all[1].interval), (None, None));
        let reason = all[1].reason.as_deref();
        assert_eq!(reason, Some("at least 432: the reorder buffer may fill first"));
        assert_eq!((all[2].found, &all[2].reason), (Some(105.0), &None));
        let mut alone = buffers;
        refuse_hidden(&mut alone, &[]);
        assert!(alone.iter().all(|p| p.found.is_none() && p.interval.is_none()));
    }

    /// Of 306 loads in flight, 153 wait for vector registers.
    #[test]
    fn loads_that_fill_registers_have_no_value() {
        let reason = |others: &[HardwareParameter], kept: &[KeptParameter]| {
            let mut all = [vec![known("loads.entries", 306.0, 312.0)], others.to_vec()].concat();
            refuse_hidden(&mut all, kept);
            all.remove(0).reason
        };
        let rob = |low: f64| known("rob.entries", low, low + 8.0);
        let files = |low: f64| {
            [known("registers.integer", 198.0, 201.0), known("registers.vector", low, low + 3.0)]
        };
        let with = |rob_low: f64, vector_low: f64| {
            reason(&[vec![rob(rob_low)], files(vector_low).to_vec()].concat(), &[])
        };
        let of_vectors = Some("at least 306: the vector register file may fill first".to_owned());
        assert_eq!(with(400.0, 153.0), of_vectors);
        assert_eq!(with(315.0, 150.0), of_vectors, "the smallest one");
        assert_eq!(with(315.0, 190.0).unwrap(), "at least 306: the reorder buffer may fill first");
        assert_eq!(with(400.0, 190.0), None);
        let unknown = reason(&[rob(400.0), files(190.0)[0].clone()], &[]);
        assert_eq!(
            unknown.unwrap(),
            "at least 306: the size of the vector register file is not known"
        );
        let parameter = files(190.0)[1].clone();
        let kept = [KeptParameter { parameter, unix_s: 1.0 }];
        assert_eq!(reason(&[rob(400.0), files(190.0)[0].clone()], &kept), None);
    }
}
