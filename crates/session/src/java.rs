//! Costs of class-library calls: finds the runs of a Java virtual machine on this machine, and
//! measures what they lack.

use std::collections::BTreeSet;

use yamba_harness::unix_s;
use yamba_jvm::library::jmh::{self, Effort};
use yamba_jvm::library::{Fault, Jars, Jvm};
use yamba_predict::{NULL_CALL, Vector, machine_name};
use yamba_record::{Benchmark, Machine, Note, Run, Status};
use yamba_store::{Detail, Store, import};
use yamba_toolchain::build::host;

use super::store::runs_of_machine;
use super::{Failure, StoreChoice, machine, temporary_folder};

/// A Java virtual machine on this machine, with its jars.
#[derive(Clone, Debug)]
pub struct JavaHere {
    /// Its program and options.
    pub jvm: Jvm,
    /// The agent and the benchmarks.
    pub jars: Jars,
    /// This machine with the virtual machine.
    pub machine: Machine,
}

/// A fault of Java with its help.
pub fn failure(fault: Fault) -> Failure {
    Failure::new(fault.message).help(fault.help)
}

impl JavaHere {
    /// Probes this machine, finds the jars and asks the virtual machine for its version.
    ///
    /// # Errors
    /// If the jars are missing or the virtual machine does not start.
    pub fn probe(jvm: Jvm) -> Result<JavaHere, Failure> {
        JavaHere::new(jvm, machine(&host()))
    }

    /// As [`JavaHere::probe`], for facts of this machine that are already known.
    pub(super) fn new(jvm: Jvm, machine: Machine) -> Result<JavaHere, Failure> {
        let jars = Jars::find().map_err(failure)?;
        let java = jvm.identify(&jars).map_err(failure)?;
        let machine = Machine { java: Some(java), ..machine };
        Ok(JavaHere { jvm, jars, machine })
    }

    /// The entries of all stored runs of this machine, the latest of each benchmark and point.
    /// `None`: there is no run.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn stored(&self, store: &StoreChoice) -> Result<Option<Run>, Failure> {
        let Some(name) = machine_name(&self.machine) else {
            return Ok(None);
        };
        stored(store, &name)
    }

    /// The benchmarks for these primitives that a run has no entry of. All benchmarks, if
    /// `primitives` is `None`.
    ///
    /// # Errors
    /// If the machine does not start.
    pub fn lacking(
        &self,
        run: Option<&Run>,
        primitives: Option<&BTreeSet<String>>,
    ) -> Result<BTreeSet<String>, Failure> {
        let all = jmh::primitives(&self.jvm, &self.jars).map_err(failure)?;
        let is_needed = |name: &String| {
            name == NULL_CALL || primitives.is_none_or(|primitives| primitives.contains(name))
        };
        let needed = all.into_iter().filter(|of| is_needed(&of.name));
        let known: BTreeSet<&str> =
            run.iter().flat_map(|r| &r.benchmarks).map(|b| b.name.as_str()).collect();
        let lacking = needed.map(|of| of.benchmark);
        Ok(lacking.filter(|b| !known.contains(b.as_str())).collect())
    }

    /// Measures these benchmarks with JMH. A benchmark without a result has crashed.
    ///
    /// # Errors
    /// If no benchmark has a result.
    pub fn measure(
        &self,
        benchmarks: &BTreeSet<String>,
        effort: Effort,
        arguments: Vec<String>,
    ) -> Result<Run, Failure> {
        let folder = temporary_folder("yamba-java-")?;
        let file = folder.path().join("jmh.json");
        let names: Vec<&str> = benchmarks.iter().map(String::as_str).collect();
        let started_unix_s = unix_s();
        jmh::measure(&self.jvm, &self.jars, &names, effort, &file).map_err(failure)?;
        let mut run = import::read(&file, import::LARGEST, Detail::Samples)?;
        let measured: BTreeSet<String> = run.benchmarks.iter().map(|b| b.name.clone()).collect();
        run.benchmarks.extend(benchmarks.difference(&measured).map(|name| crashed(name)));
        run.machine = self.machine.clone();
        run.started_unix_s = started_unix_s;
        run.finished_unix_s = unix_s();
        run.producer.arguments = arguments;
        run.producer.from_document = false;
        Ok(run)
    }
}

/// The least share of the class-library time of a primitive whose cost is measured. The others are
/// scaled as the measured ones are.
const LEAST_SHARE: f64 = 0.002;

/// The primitives of a vector that took time; all of them, if it has no times.
pub fn used(vector: &Vector) -> BTreeSet<String> {
    let least_ns = LEAST_SHARE * vector.kernel_ns.unwrap_or(0.0);
    let took_time = |time_ns: Option<f64>| time_ns.is_none_or(|ns| ns > least_ns);
    let uses = vector.primitives.iter();
    uses.filter(|used| took_time(used.time_ns)).map(|used| used.name.clone()).collect()
}

/// The entries of all stored runs of the machine with this name.
///
/// # Errors
/// If the store cannot be read.
pub fn stored(store: &StoreChoice, name: &str) -> Result<Option<Run>, Failure> {
    let Some(mut store) = Store::existing(&store.location()?)? else {
        return Ok(None);
    };
    let mut listed = runs_of_machine(&mut store, name)?;
    listed.retain(|run| run.head.vector.is_none() && !run.head.interrupted);
    let mut found: Option<Run> = None;
    for run in listed {
        let run = store.run(&run.id, Detail::Figures)?;
        match &mut found {
            None => found = Some(run),
            Some(found) => add_others(found, run),
        }
    }
    Ok(found)
}

/// Adds the entries of an older run that have no later one. Those that crashed do not replace a
/// figure.
pub(super) fn add_others(run: &mut Run, older: Run) {
    let is_of = |a: &Benchmark, b: &Benchmark| a.name == b.name && a.parameters == b.parameters;
    for entry in older.benchmarks {
        match run.benchmarks.iter_mut().find(|known| is_of(known, &entry)) {
            None => run.benchmarks.push(entry),
            Some(known) if known.status != Status::Ok => *known = entry,
            Some(_) => {}
        }
    }
}

fn crashed(name: &str) -> Benchmark {
    let note = "JMH has no result: the virtual machine crashed, hung or ran out of memory";
    Benchmark::ended(name, Status::Crashed, vec![Note::Text(note.to_owned())])
}
