//! From counts and samples to an application's vector. Pure.

use std::collections::BTreeMap;

use yamba_predict::vector::{JAVA, SCHEMA, Traced, Use, Vector};
use yamba_record::machine::Java;

use crate::library::documents::Call;
use crate::sum;

/// The weight of a call beside that of its size, where the time of a method is divided among its
/// sizes: 16 characters or elements cost about as much as a call.
const CALL: f64 = 16.0;

/// The calls of one run.
#[derive(Debug)]
pub struct Counted {
    /// The machine that counted.
    pub java: Java,
    pub(crate) calls: Vec<Call>,
    /// Calls of methods that found no place in the counters.
    pub others: u64,
    /// Classes whose calls were not counted.
    pub left_out_classes: u64,
    /// How the program failed. `None`: it ended well.
    pub failure: Option<String>,
}

/// The processor time of the program's own threads, over all sampled runs.
#[derive(Clone, Debug, Default)]
pub struct Sampled {
    /// Number of runs.
    pub runs: u32,
    /// Number of samples.
    pub samples: u64,
    /// Time in the class library by the method that the program called, without callbacks, in ns.
    pub library_ns: BTreeMap<String, f64>,
    /// Time in the program, in ns.
    pub program_ns: f64,
    /// Time of threads without a frame of the program, in ns.
    pub others_ns: f64,
    /// Time of collectors, compilers and other threads of the machine itself, in ns.
    pub vm_ns: f64,
    /// Time on the clock, in ns.
    pub wall_ns: f64,
}

impl Sampled {
    /// Time in the class library, in ns.
    pub fn in_library_ns(&self) -> f64 {
        sum(self.library_ns.values().copied())
    }

    /// Time of the program's threads, in ns.
    pub fn all_ns(&self) -> f64 {
        self.in_library_ns() + self.program_ns + self.others_ns
    }

    /// 95 % interval of the time in the class library, in ns, for n samples of which a share p is
    /// in the library: the standard deviation of p is sqrt(p (1 - p) / n).
    pub fn interval_ns(&self) -> [f64; 2] {
        let all = self.all_ns();
        let share = self.in_library_ns() / all;
        let half = 1.96 * (share * (1.0 - share) / self.samples as f64).sqrt();
        [share - half, share + half].map(|share| share.clamp(0.0, 1.0) * all)
    }
}

/// The names and units of a vector.
#[derive(Clone, Debug)]
pub struct Names {
    /// Name of the application.
    pub application: String,
    /// Name of a unit of its work.
    pub unit: String,
    /// Number of units in one run.
    pub units: f64,
    pub command: Vec<String>,
    /// The machine: processor, kernel and virtual machine.
    pub machine: Option<String>,
}

/// The vector of a program. The time of a method that was sampled but not counted, such as one
/// called by reflection, is part of the total and of no primitive.
pub fn vector(counted: &Counted, sampled: &Sampled, names: Names) -> Vector {
    let each = 1.0 / (names.units * f64::from(sampled.runs.max(1)));
    let weights = weights(&counted.calls);
    let uses = counted.calls.iter().map(|call| {
        let time_ns = sampled.library_ns.get(&call.name).copied().unwrap_or(0.0);
        Use {
            name: yamba_predict::canonical(&call.name),
            size: call.mean_size,
            count: call.count as f64 / names.units,
            errors: None,
            started: None,
            waited_ns: None,
            time_ns: Some(time_ns * each * weight(call) / weights[call.name.as_str()]),
        }
    });
    Vector {
        schema: SCHEMA.to_owned(),
        primitives: uses.collect(),
        application: names.application,
        unit: names.unit,
        units: Some(names.units),
        command: names.command,
        load: None,
        units_from: None,
        traced: Some(Traced {
            how: JAVA.to_owned(),
            machine: names.machine,
            cost_ns_per_call: None,
            lost: Some(counted.others),
            missing_processes: Vec::new(),
            failure: counted.failure.clone(),
            without_details: 0,
            runs: None,
            rounds: Vec::new(),
        }),
        user_ns: Some(sampled.program_ns * each),
        kernel_ns: Some(sampled.in_library_ns() * each),
        started_user_ns: None,
        clock_reads: None,
        elapsed: None,
        user_work: None,
    }
}

fn weight(call: &Call) -> f64 {
    call.count as f64 * (CALL + call.mean_size.unwrap_or(0.0))
}

/// The sum of the weights of each method.
fn weights(calls: &[Call]) -> BTreeMap<&str, f64> {
    let mut sums = BTreeMap::new();
    for call in calls {
        *sums.entry(call.name.as_str()).or_default() += weight(call);
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, mean_size: Option<f64>, count: u64) -> Call {
        Call { name: name.to_owned(), mean_size, count }
    }

    fn example() -> (Counted, Sampled) {
        let counted = Counted {
            java: Java::default(),
            calls: vec![
                call("a.B.c(int)", Some(16.0), 300),
                call("a.B.c(int)", Some(48.0), 100),
                call("a.B.d()", None, 50),
            ],
            others: 0,
            left_out_classes: 0,
            failure: None,
        };
        let sampled = Sampled {
            runs: 2,
            samples: 100,
            library_ns: [("a.B.c(int)".to_owned(), 3200.0), ("inherited".to_owned(), 800.0)].into(),
            program_ns: 5000.0,
            others_ns: 1000.0,
            ..Sampled::default()
        };
        (counted, sampled)
    }

    fn names() -> Names {
        Names {
            application: "app".to_owned(),
            unit: "document".to_owned(),
            units: 10.0,
            command: Vec::new(),
            machine: None,
        }
    }

    #[test]
    fn times_are_per_unit_and_divided_among_sizes() {
        let (counted, sampled) = example();
        let vector = vector(&counted, &sampled, names());
        vector.check().unwrap();
        let times: Vec<f64> = vector.primitives.iter().filter_map(|u| u.time_ns).collect();
        assert_eq!(times, [96.0, 64.0, 0.0]);
        assert_eq!(vector.primitives[0].count, 30.0);
        assert_eq!(vector.kernel_ns, Some(200.0));
        assert_eq!(vector.user_ns, Some(250.0));
    }

    #[test]
    fn time_without_samples_is_a_positive_zero() {
        let (counted, _) = example();
        let vector = vector(&counted, &Sampled::default(), names());
        assert!(vector.kernel_ns.unwrap().is_sign_positive());
    }

    #[test]
    fn interval_is_that_of_the_share_of_samples() {
        let (_, sampled) = example();
        let [low, high] = sampled.interval_ns();
        assert!((low - 3039.8).abs() < 0.1 && (high - 4960.2).abs() < 0.1, "{low} {high}");
    }
}
