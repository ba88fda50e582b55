//! The document of an application's demand, schema `yamba-vector/1`. People write and edit it by
//! hand. `names` has the names of primitives and machines, `may_wait` the calls that may wait,
//! `elapsed` the elapsed time, `work` the work in user mode, `rounds` the precision of traced
//! times, and `check` the rules for values.

mod check;
pub mod elapsed;
pub(crate) mod may_wait;
pub mod names;
pub mod rounds;
pub mod work;

use serde::{Deserialize, Serialize};

use crate::constants::{LONGEST_TICK_NS, NEAR_SIZE};
pub use elapsed::Elapsed;
use names::{CLOCK_READING, OTHER_EVENTS, is_fault};
pub use rounds::Round;
use rounds::{Clocks, Level, Uncertainty, level, spread};
use work::UserWork;

/// The schema's name.
pub const SCHEMA: &str = "yamba-vector/1";

/// The method `how` by which the calls of Java's class library are counted.
pub const JAVA: &str = "java";

/// How often an application uses each primitive for one unit of its work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Vector {
    /// Schema of the document: [`SCHEMA`].
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// Name of the application.
    pub application: String,
    /// One unit of its work, such as `request`.
    pub unit: String,
    /// Number of units from which the counts were taken. `None`: unknown.
    #[serde(default)]
    pub units: Option<f64>,
    /// The command with its arguments. Empty: unknown.
    #[serde(default)]
    pub command: Vec<String>,
    /// The command line of the shell that loads the application, which is then a server. `None`:
    /// one run of the command is traced.
    #[serde(default)]
    pub load: Option<String>,
    /// The regular expression whose group matches the number of units in the output of the load or
    /// of the command. `None`: each does `units` units.
    #[serde(default)]
    pub units_from: Option<String>,
    /// Where the counts come from. `None`: the vector was written by hand.
    #[serde(default)]
    pub traced: Option<Traced>,
    /// User time per unit, in ns, where the counts were taken. `None`: unknown.
    #[serde(default)]
    pub user_ns: Option<f64>,
    /// Kernel time per unit, in ns, where the counts were taken. `None`: unknown.
    #[serde(default)]
    pub kernel_ns: Option<f64>,
    /// The part of `user_ns` in processes that the application started while it was counted.
    /// `None`: none or unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_user_ns: Option<f64>,
    /// Number of clock readings per unit that needed no system call where the counts were taken,
    /// since code that the kernel maps into each process (vDSO) served them. On another system each
    /// may be a system call. `None`: unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_reads: Option<f64>,
    /// The elapsed time per unit where the counts were taken. `None`: unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elapsed: Option<Elapsed>,
    /// The work in user mode per unit. `None`: it was not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_work: Option<UserWork>,
    /// The primitives with their counts.
    pub primitives: Vec<Use>,
}

/// The origin of a vector's counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Traced {
    /// The method that counted the calls: `bpf`, `strace` or `java`.
    pub how: String,
    /// The machine: its processor, instruction set, system and kernel, as `yamba predict` names the
    /// machine of a run. `None`: unknown.
    #[serde(default)]
    pub machine: Option<String>,
    /// Time by which the tracer made a null call longer, in ns. The part that the trace counts is
    /// subtracted from the times. `None`: unknown.
    #[serde(default)]
    pub cost_ns_per_call: Option<f64>,
    /// Number of events that are missing in the counts, because the tracer could not keep up or a
    /// line of its log was not understood. `None`: unknown, as for a method that loses none.
    #[serde(default)]
    pub lost: Option<u64>,
    /// The processes and threads that the application started and whose calls are missing, since
    /// their logs are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_processes: Vec<u32>,
    /// How the command ended, such as `exit status: 3`. `None`: with status 0, or it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Number of calls that are in the counts and times, but were counted in the kernel by number,
    /// result and first argument only, since events came faster than they were read. The kinds of
    /// their descriptors may be wrong.
    #[serde(default, skip_serializing_if = "is_none")]
    pub without_details: u64,
    /// Number of runs of the command that were counted together. `None`: one.
    #[serde(default)]
    pub runs: Option<u32>,
    /// Rounds without and with the tracer. The times of the vector are scaled to those without.
    /// Empty: the application ran only with the tracer.
    #[serde(default)]
    pub rounds: Vec<Round>,
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

/// The use of one primitive at one size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Use {
    /// The primitive, such as `read(file)` or `connect(tcp)`.
    pub name: String,
    /// Its size, in the unit of the benchmark's parameter: bytes, pages, descriptors. `None`: it
    /// has no size.
    #[serde(default)]
    pub size: Option<f64>,
    /// Number of uses per unit of work.
    pub count: f64,
    /// Number of uses per unit of work that failed; they are part of `count`. `None`: unknown.
    #[serde(default)]
    pub errors: Option<f64>,
    /// Kernel time in these calls per unit of work, in ns. `None`: unknown.
    #[serde(default)]
    pub time_ns: Option<f64>,
    /// Time per unit of work in which no thread of the application ran, until one that had slept in
    /// these calls went on, in ns. `None`: none, or `elapsed` of the vector is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited_ns: Option<f64>,
    /// The part of these uses in processes that the application started while it was counted.
    /// `None`: none or unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<Started>,
}

/// The part of the uses of a primitive in processes that the application started while it was
/// counted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Started {
    /// Number of these uses per unit of work.
    pub count: f64,
    /// Their mean size. `None`: they have no size.
    #[serde(default)]
    pub size: Option<f64>,
    /// Their kernel time per unit of work, in ns. `None`: unknown.
    #[serde(default)]
    pub time_ns: Option<f64>,
}

/// The platform whose primitives a vector counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Platform {
    /// The kernel, by system calls.
    Kernel,
    /// Java's class library, by calls from the program.
    ClassLibrary,
}

impl Use {
    /// The primitive with its size, as users write it: `read(file)@4096`.
    pub fn label(&self) -> String {
        let size = self.size.map_or(String::new(), |size| format!("@{size}"));
        format!("{}{size}", self.name)
    }

    pub(crate) fn is_same(&self, name: &str, size: Option<f64>) -> bool {
        self.name == name && self.size == size
    }

    /// Uses without a time.
    pub(crate) fn untimed(name: &str, size: Option<f64>, count: f64) -> Use {
        Use {
            name: name.to_owned(),
            size,
            count,
            errors: None,
            time_ns: None,
            waited_ns: None,
            started: None,
        }
    }
}

impl Vector {
    /// The platform of the primitives. `kernel_ns` is the time in it.
    pub fn platform(&self) -> Platform {
        let is_java = self.traced.as_ref().is_some_and(|t| t.how == JAVA);
        if is_java { Platform::ClassLibrary } else { Platform::Kernel }
    }

    /// Number of units that one run of the command, or one load, does. `None`: unknown.
    pub fn units_each(&self) -> Option<f64> {
        let traced = self.traced.as_ref();
        let runs = traced.and_then(|traced| traced.runs).unwrap_or(1);
        let rounds = traced.map_or(1, |traced| traced.rounds.len().max(1));
        Some(self.units? / (f64::from(runs) * rounds as f64))
    }

    /// Number of programs that one run starts, with its own. `None`: unknown.
    pub fn programs(&self) -> Option<f64> {
        Some(count_of(&self.primitives, &["execve", "execveat"]) * self.units_each()?)
    }

    /// Clock readings that needed no system call, as uses without a time. `None`: none, or their
    /// number is unknown.
    pub fn clock_readings(&self) -> Option<Use> {
        let count = self.clock_reads.filter(|count| *count > 0.0)?;
        Some(Use::untimed(CLOCK_READING, None, count))
    }

    /// Number of system calls and of page faults per unit.
    pub fn events(&self) -> [f64; 2] {
        let count = |is_it: &dyn Fn(&str) -> bool| {
            let uses = self.primitives.iter();
            uses.filter(|used| is_it(&used.name)).map(|used| used.count).sum()
        };
        let is_call = |name: &str| !is_fault(name) && !OTHER_EVENTS.contains(&name);
        [count(&is_call), count(&is_fault)]
    }

    /// Says what the trace lost. Empty: nothing.
    pub fn losses(&self) -> Vec<String> {
        self.lost_events().into_iter().chain(self.missing_processes()).collect()
    }

    fn lost_events(&self) -> Option<String> {
        let lost = self.traced.as_ref()?.lost.filter(|lost| *lost > 0)? as f64;
        let counted = |units| self.events().iter().sum::<f64>() * units;
        let share = self.units.map_or(String::new(), |units| {
            format!(", {:.1} % of all", 100.0 * lost / (lost + counted(units)))
        });
        Some(format!("the trace lost {lost} events{share}: the counts and times are too low"))
    }

    fn missing_processes(&self) -> Option<String> {
        const MOST: usize = 10;
        let missing = &self.traced.as_ref()?.missing_processes;
        let processes = match missing.len() {
            0 => return None,
            1 => "process",
            _ => "processes",
        };
        let names: Vec<String> = missing.iter().take(MOST).map(u32::to_string).collect();
        let names = names.join(", ");
        let others = match missing.len().saturating_sub(MOST) {
            0 => String::new(),
            others => format!(" and {others} more"),
        };
        Some(format!(
            "the trace lacks the calls of {processes} {names}{others}, which the application started: the counts are too low"
        ))
    }

    /// How far the traced times may be off. `None`: unknown. Kernel time that is not that of the
    /// rounds, as in vectors of earlier versions, may be off by the difference, too. `removed_ns`
    /// is the kernel time that a change removed from the vector.
    pub(crate) fn uncertainty(&self, removed_ns: f64) -> Option<Uncertainty> {
        let rounds = &self.traced.as_ref()?.rounds;
        let whole_ns = self.kernel_ns.map(|kernel_ns| kernel_ns + removed_ns);
        let border = self
            .level()
            .zip(whole_ns)
            .map(|(level, kernel_ns)| level.border + (level.kernel_ns / kernel_ns - 1.0).abs());
        Some(Uncertainty {
            spread: spread(rounds)?,
            border: border.filter(|border| border.is_finite()),
        })
    }

    /// Half the width of the 90 % interval of the kernel time of another trace, as a share of it.
    /// `None`: unknown.
    pub fn half_width(&self) -> Option<f64> {
        self.uncertainty(0.0).map(Uncertainty::half_width)
    }

    /// The processor time of a unit without the tracer, by the rounds of the trace. `None`: the
    /// trace has no rounds, or the tracer's cost is not known.
    pub fn level(&self) -> Option<Level> {
        level(&self.traced.as_ref()?.rounds, self.clocks()?)
    }

    /// The precision of the clocks in the rounds of the trace. Without a number of units, the
    /// number of ticks is not known, and counts as 0. `None`: the tracer's cost is not known.
    pub(crate) fn clocks(&self) -> Option<Clocks> {
        let traced = self.traced.as_ref()?;
        let units_each = self.units.unwrap_or(0.0) / traced.rounds.len().max(1) as f64;
        let untraced_ns: f64 = traced.rounds.iter().map(|r| r.untraced_ns).sum();
        let events: f64 = self.events().iter().sum();
        Some(Clocks {
            ticks: untraced_ns * units_each / LONGEST_TICK_NS,
            tracer_ns: events * traced.cost_ns_per_call?,
        })
    }

    /// Scales the times so that all user time and all kernel time are those of the level. Times of
    /// 0 stay.
    pub fn scale_times(&mut self, to: Level) {
        let factor_of =
            |of: Option<f64>, to_ns: f64| of.filter(|ns| *ns > 0.0).map(|ns| to_ns / ns);
        let of_user = factor_of(self.user_ns, to.user_ns);
        if let Some(started_ns) = &mut self.started_user_ns {
            *started_ns = (*started_ns * of_user.unwrap_or(1.0)).min(to.user_ns);
        }
        self.user_ns = self.user_ns.map(|_| to.user_ns);
        let Some(factor) = factor_of(self.kernel_ns, to.kernel_ns) else {
            return;
        };
        let parts = self.primitives.iter_mut().flat_map(|used| {
            let started = used.started.as_mut().and_then(|s| s.time_ns.as_mut());
            used.time_ns.iter_mut().chain(started)
        });
        let all = self.kernel_ns.iter_mut().chain(parts);
        all.for_each(|ns| *ns *= factor);
    }
}

/// The number of successful calls among these uses.
pub(crate) fn count_of(uses: &[Use], calls: &[&str]) -> f64 {
    let own = uses.iter().filter(|used| {
        calls.contains(&names::call(&used.name)) && !used.name.ends_with(names::FAILED)
    });
    own.map(|used| used.count).sum()
}

/// The nearest of these sizes within a factor of [`NEAR_SIZE`]: the sizes of a trace are means.
/// `None`: no size is so near.
pub(crate) fn nearest_size(sizes: impl Iterator<Item = f64>, size: f64) -> Option<f64> {
    let is_near =
        |other: &f64| *other == size || (*other < NEAR_SIZE * size && size < NEAR_SIZE * *other);
    let distance = |other: &f64| (other - size).abs();
    sizes.filter(is_near).min_by(|a, b| distance(a).total_cmp(&distance(b)))
}
