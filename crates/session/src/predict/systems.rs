//! The runs that a prediction uses: those of the systems, and that of the machine where a vector
//! was traced.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::time::Instant;

use yamba_jvm::library::Jvm;
use yamba_jvm::library::jmh::Effort;
use yamba_predict::names::processor_name;
use yamba_predict::needs::Needs;
use yamba_predict::vector::Platform;
use yamba_predict::{Costs, Vector, machine_name};
use yamba_record::{Machine, Run};
use yamba_store::Detail;
use yamba_toolchain::build::host;

use super::Callbacks;
use super::measured::check_machine;
use super::notice::Notice;
use crate::costs::{self, Application, CostRequest, Known, Traced};
use crate::java::{self, JavaHere};
use crate::{Failure, StoreChoice, run_ref};

/// The default system.
const HERE: &str = "this machine";

/// The latest stored run, if the machine cannot be recognised.
const LATEST: &str = "latest";

/// A system whose times are predicted, or where an application was traced: the run that measured
/// its costs.
#[derive(Clone)]
pub(super) struct System {
    /// Its name in tables and messages.
    pub(super) name: String,
    pub(super) run: Run,
    pub(super) costs: Costs,
    /// The Java virtual machine here whose costs these are.
    pub(super) java: Option<JavaHere>,
}

/// How costs are measured.
#[derive(Clone, Copy)]
pub(super) struct Measuring<'a> {
    /// When the time for it began.
    pub(super) begun: Instant,
    /// The command line, which the runs record.
    pub(super) arguments: &'a [String],
    pub(super) callbacks: Callbacks<'a>,
}

/// Finds runs. Reads each one once.
pub(super) struct Systems<'a> {
    store: &'a StoreChoice,
    runs: run_ref::Runs,
    /// The primitives of the applications.
    primitives: Vec<String>,
    measuring: Measuring<'a>,
    /// This machine, after it was probed.
    machine: OnceCell<Machine>,
    /// The runs that the user has named so far.
    named: BTreeMap<String, System>,
    /// The best entries of the stored runs of the machines of the traces, by the name of the
    /// machine. `None`: no run has any.
    stored: BTreeMap<String, Option<Run>>,
    /// Whether the user stopped the measurement of costs.
    is_stopped: bool,
}

impl System {
    fn new(name: &str, run: Run) -> System {
        System { name: name.to_owned(), costs: Costs::from_run(&run), run, java: None }
    }
}

impl<'a> Systems<'a> {
    pub(super) fn new(
        store: &'a StoreChoice,
        primitives: Vec<String>,
        measuring: Measuring<'a>,
    ) -> Systems<'a> {
        Systems {
            runs: run_ref::Runs::new(store.clone()),
            store,
            primitives,
            measuring,
            machine: OnceCell::new(),
            named: BTreeMap::new(),
            stored: BTreeMap::new(),
            is_stopped: false,
        }
    }

    /// Whether the user stopped the measurement of costs, so that predictions are from those known
    /// by then.
    pub(super) fn is_stopped(&self) -> bool {
        self.is_stopped
    }

    /// This machine.
    fn machine(&self) -> &Machine {
        self.machine.get_or_init(|| crate::machine(&host()))
    }

    /// Refuses a system that is not this machine, where the applications are measured.
    pub(super) fn check_machine(&self, system: &System) -> Result<(), Failure> {
        let difference = check_machine(&system.name, &system.run, self.machine())?;
        if let Some(difference) = &difference {
            self.note(Notice::OtherState { run: &system.name, difference });
        }
        Ok(())
    }

    fn note(&self, notice: Notice) {
        (self.measuring.callbacks.notice)(notice);
    }

    /// The run that the user names.
    pub(super) fn named(&mut self, reference: &str) -> Result<System, Failure> {
        if let Some(known) = self.named.get(reference) {
            return Ok(known.clone());
        }
        let run = self.runs.load(reference, Detail::Figures)?;
        if run.interrupted {
            self.note(Notice::Interrupted { run: reference });
        }
        if run_ref::is_path(reference) {
            self.note(Notice::LeftOut { file: reference, run: &run });
        }
        let system = System::new(reference, run);
        self.named.insert(reference.to_owned(), system.clone());
        Ok(system)
    }

    /// The costs of this machine in all stored runs. Those that the applications, and the
    /// primitives that are used besides, need and no run has are measured within a minute.
    pub(super) fn here(
        &mut self,
        applications: &[Application],
        besides: &[String],
        is_thorough: bool,
    ) -> Result<System, Failure> {
        let machine = self.machine().clone();
        if machine_name(&machine).is_none() && !is_thorough {
            return self.named(LATEST);
        }
        let mut known = Known::on_machine(machine, self.store, &self.names())?;
        let needs = |costs: &Costs| -> Needs {
            let each = applications.iter().map(|of| of.needs(costs));
            let besides = Needs::named(besides.iter().map(String::as_str), costs);
            each.fold(besides, Needs::and)
        };
        let wanted = known.wanted(&needs(&known.costs()));
        if is_thorough {
            self.measure_all(&mut known)?;
        } else if wanted.benchmarks().next().is_some() {
            let benchmarks = wanted.benchmarks().collect();
            self.note(Notice::CostsBegin { benchmarks, most: costs::TIME });
            let stop = (self.measuring.callbacks.stop)()?;
            let request = CostRequest {
                needs: &needs,
                until: self.measuring.begun + costs::TIME,
                stop: &stop,
                store: self.store,
                arguments: self.measuring.arguments.to_vec(),
            };
            known.measure(&request, self.measuring.callbacks.observer)?;
            self.is_stopped = stop.requested();
            let needs = needs(&known.costs());
            let unmeasured = &known.wanted(&needs).unmeasured;
            self.note(Notice::CostsEnd { unmeasured, needs: &needs });
        }
        Ok(System { name: HERE.to_owned(), run: known.run(), costs: known.costs(), java: None })
    }

    /// The costs of a Java virtual machine here. Missing ones are measured.
    pub(super) fn java_system(&mut self, jvm: Jvm, vectors: &[&Vector]) -> Result<System, Failure> {
        let here = self.java_here(jvm)?;
        self.costs_of_java(here, vectors)
    }

    fn java_here(&self, jvm: Jvm) -> Result<JavaHere, Failure> {
        JavaHere::new(jvm, self.machine().clone())
    }

    fn costs_of_java(&self, here: JavaHere, vectors: &[&Vector]) -> Result<System, Failure> {
        let name = [&here.jvm.program].into_iter().chain(&here.jvm.options).cloned();
        let name = name.collect::<Vec<_>>().join(" ");
        let stored = here.stored(self.store)?;
        let used = vectors.iter().flat_map(|vector| java::used(vector)).collect();
        let lacking = here.lacking(stored.as_ref(), Some(&used))?;
        let run = if lacking.is_empty() {
            stored
        } else {
            self.note(Notice::JavaCostsBegin { here: &here, benchmarks: lacking.len() });
            let arguments = self.measuring.arguments.to_vec();
            let mut run = here.measure(&lacking, Effort::Full, arguments)?;
            self.store.keep(&run, self.measuring.callbacks.observer)?;
            stored.into_iter().for_each(|older| java::add_others(&mut run, older));
            Some(run)
        };
        let run = run.ok_or_else(|| {
            Failure::new("this machine has no name by which its costs are found")
                .help("`--on RUN` names a run with the costs")
        })?;
        let mut system = System::new(&name, run);
        system.java = Some(here);
        Ok(system)
    }

    /// The system where a vector of Java calls was traced. Missing costs are measured if it is a
    /// virtual machine here. `None`: no stored run has costs of another one.
    fn java_trace_system(&self, vector: &Vector, machine: &str) -> Result<Option<System>, Failure> {
        let jvm = Jvm::from_command(&vector.command).ok();
        let here = jvm.and_then(|jvm| self.java_here(jvm).ok());
        let is_here = |here: &JavaHere| machine_name(&here.machine).as_deref() == Some(machine);
        if let Some(here) = here.filter(is_here) {
            return self.costs_of_java(here, &[vector]).map(Some);
        }
        let run = java::stored(self.store, machine)?;
        Ok(run.map(|run| self.stored_system(run, &[])))
    }

    /// Where a vector was traced, as seen from this machine.
    pub(super) fn origin(
        &mut self,
        vector: &Vector,
        named: Option<&str>,
    ) -> Result<Traced, Failure> {
        let here = machine_name(self.machine());
        if let Some(reference) = named {
            let system = self.named(reference)?;
            let is_here = here.is_some() && machine_name(&system.run.machine) == here;
            return Ok(if is_here { Traced::Here } else { Traced::There(Box::new(system.costs)) });
        }
        let traced = vector.traced.as_ref().and_then(|t| t.machine.as_deref());
        Ok(match traced {
            None => Traced::Unknown,
            Some(_) if traced == here.as_deref() => Traced::Here,
            Some(machine) => match self.stored(machine)? {
                Some(run) => Traced::There(Box::new(Costs::from_run(&run))),
                None => Traced::Unknown,
            },
        })
    }

    fn names(&self) -> Vec<&str> {
        self.primitives.iter().map(String::as_str).collect()
    }

    /// The costs of another machine in its stored runs.
    fn stored(&mut self, machine: &str) -> Result<Option<Run>, Failure> {
        if let Some(known) = self.stored.get(machine) {
            return Ok(known.clone());
        }
        let run = costs::stored(self.store, machine, &self.names())?;
        self.stored.insert(machine.to_owned(), run.clone());
        Ok(run)
    }

    /// Measures the costs of all primitives.
    fn measure_all(&mut self, known: &mut Known) -> Result<(), Failure> {
        let Measuring { arguments, callbacks, .. } = self.measuring;
        let prepared = costs::prepared(arguments.to_vec(), callbacks.observer)?;
        let stop = (callbacks.stop)()?;
        let time_s = prepared.dry_run(&stop)?.time_s;
        self.note(Notice::AllCostsBegin { time_s });
        known.measure_all(prepared, &stop, self.store, callbacks.observer)?;
        self.is_stopped = stop.requested();
        Ok(())
    }

    /// A run of the machine where the vector was traced, or the reason for its absence.
    pub(super) fn trace_system(
        &mut self,
        vector: &Vector,
        named: Option<&str>,
        systems: &[System],
    ) -> Result<Result<System, String>, Failure> {
        if let Some(reference) = named {
            let named = self.named(reference)?;
            check_processor(vector, reference, &named.run.machine)?;
            // The costs of this machine are those of all its runs.
            let is_here = |system: &&System| {
                system.name == HERE
                    && machine_name(&system.run.machine) == machine_name(&named.run.machine)
            };
            return Ok(Ok(systems.iter().find(is_here).cloned().unwrap_or(named)));
        }
        let traced = vector.traced.as_ref();
        let Some(machine) = traced.and_then(|traced| traced.machine.as_deref()) else {
            let reason = "the vector does not say on which machine it was traced; `--traced-on RUN` names a run of it";
            return Ok(Err(reason.to_owned()));
        };
        let from_java = match vector.platform() {
            Platform::ClassLibrary => self.java_trace_system(vector, machine)?,
            Platform::Kernel => None,
        };
        if let Some(system) = from_java {
            return Ok(Ok(system));
        }
        let is_it =
            |system: &&System| machine_name(&system.run.machine).as_deref() == Some(machine);
        // A run that the user names for this machine is the reference: the times are then as
        // traced.
        if let Some(system) = systems.iter().find(is_it) {
            return Ok(Ok(system.clone()));
        }
        Ok(match self.stored(machine)? {
            Some(run) => Ok(self.stored_system(run, systems)),
            None => Err(format!(
                "no stored run has the costs of the machine where it was traced: {machine}"
            )),
        })
    }

    /// A stored run as a system. Its name is that of the system with the same run, else its id.
    fn stored_system(&self, run: Run, systems: &[System]) -> System {
        let same = systems.iter().find(|system| system.run.id == run.id);
        let name = match same {
            Some(system) => system.name.clone(),
            None => run_ref::short(&run.id, &[]).to_owned(),
        };
        System::new(&name, run)
    }
}

/// Whether a run that the user named for the machine of a trace has another processor than that.
fn check_processor(vector: &Vector, reference: &str, machine: &Machine) -> Result<(), Failure> {
    let traced = vector.traced.as_ref().and_then(|traced| traced.machine.as_deref());
    let (Some(traced), Some(own)) = (traced, processor_name(machine)) else {
        return Ok(());
    };
    // The name of a machine begins with that of its processor. One without a comma was written by
    // hand.
    if !traced.contains(',') || traced.starts_with(&format!("{own},")) {
        return Ok(());
    }
    let name = &vector.application;
    Err(Failure::new(format!(
        "--traced-on {reference}: it is of {own}, but {name} was traced on {traced}"
    ))
    .help("name a run of that machine; without `--traced-on`, a stored one is found"))
}
