//! The runs that a prediction uses: those of the systems, and that of the machine where a vector
//! was traced.

use std::time::Instant;

use yamba_harness::Stop;
use yamba_jvm::library::Jvm;
use yamba_jvm::library::jmh::Effort;
use yamba_predict::needs::Needs;
use yamba_predict::vector::Platform;
use yamba_predict::{Costs, Vector, machine_name};
use yamba_record::Run;
use yamba_report::listed;
use yamba_session::costs::{self, Application, Asked, Known, Traced, Wanted};
use yamba_session::java::JavaHere;
use yamba_store::Detail;
use yamba_toolchain::build::host;

use crate::cli::{
    Failure, StoreOption, Terminal, arguments, java, output, run_ref, system_failure,
};

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

/// Most benchmarks or primitives that a message names.
const NAMED: usize = 6;

/// The time and effort of measuring costs.
pub(super) struct Measuring {
    /// When the command began.
    pub(super) begun: Instant,
    /// Whether all costs are measured, however long that takes.
    pub(super) is_thorough: bool,
}

/// Finds runs.
pub(super) struct Systems {
    store: StoreOption,
    named: run_ref::Runs,
    /// The primitives of the applications.
    primitives: Vec<String>,
    measuring: Measuring,
    /// Whether the user stopped the measurement of costs.
    is_stopped: bool,
}

impl System {
    fn new(name: &str, run: Run) -> System {
        System { name: name.to_owned(), costs: Costs::of_run(&run), run, java: None }
    }
}

impl Systems {
    pub(super) fn new(
        store: StoreOption,
        primitives: Vec<String>,
        measuring: Measuring,
    ) -> Systems {
        Systems {
            named: run_ref::Runs::new(store.choice()),
            store,
            primitives,
            measuring,
            is_stopped: false,
        }
    }

    /// Whether the user stopped the measurement of costs, so that predictions are from those known
    /// by then.
    pub(super) fn is_stopped(&self) -> bool {
        self.is_stopped
    }

    /// The run that the user names.
    pub(super) fn named(&mut self, reference: &str) -> Result<System, Failure> {
        let run = self.named.load(reference, Detail::Figures)?;
        if run.interrupted {
            output::note(&format!("warning: {reference} was stopped before it was done\n"));
        }
        Ok(System::new(reference, run))
    }

    /// The costs of this machine in all stored runs. Those that the applications, and the
    /// primitives that are used besides, need and no run has are measured within a minute.
    pub(super) fn here(
        &mut self,
        applications: &[Application],
        besides: &[String],
    ) -> Result<System, Failure> {
        let machine = yamba_session::machine(&host());
        if machine_name(&machine).is_none() && !self.measuring.is_thorough {
            return self.named(LATEST);
        }
        let store = self.store.choice();
        let mut known = Known::of_machine(machine, &store, &self.names())?;
        let needs = |costs: &Costs| -> Needs {
            let each = applications.iter().map(|of| of.needs(costs));
            let besides = Needs::named(besides.iter().map(String::as_str), costs);
            each.fold(besides, Needs::and)
        };
        let wanted = known.wanted(&needs(&known.costs()));
        if self.measuring.is_thorough {
            self.measure_all(&mut known)?;
        } else if let Some(plan) = planned(&wanted) {
            output::note(&plan);
            let stop = Stop::on_signals().map_err(system_failure)?;
            let asked = Asked {
                needs: &needs,
                until: self.measuring.begun + costs::TIME,
                stop: &stop,
                store: &store,
                arguments: own_arguments(),
            };
            known.measure(&asked, &Terminal::default())?;
            self.is_stopped = stop.requested();
            let needs = needs(&known.costs());
            output::note(&more(&known.wanted(&needs), &needs));
        }
        Ok(System { name: HERE.to_owned(), run: known.run(), costs: known.costs(), java: None })
    }

    /// The costs of a Java virtual machine here. Missing ones are measured.
    pub(super) fn of_java(&mut self, jvm: Jvm, vectors: &[Vector]) -> Result<System, Failure> {
        let name = [&jvm.program].into_iter().chain(&jvm.options).cloned();
        let name = name.collect::<Vec<_>>().join(" ");
        let here = java::here(jvm)?;
        let stored = here.stored(&self.store.choice())?;
        let used = vectors.iter().flat_map(java::used).collect();
        let lacking = here.lacking(stored.as_ref(), Some(&used))?;
        let run = if lacking.is_empty() {
            stored
        } else {
            output::note(
                "no stored run has all costs of these calls: measuring the missing ones once, for later predictions, too\n",
            );
            java::measure(&here, &lacking, Effort::Full, &self.store)?;
            here.stored(&self.store.choice())?
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
    fn of_java_trace(&mut self, vector: &Vector, machine: &str) -> Result<Option<System>, Failure> {
        let jvm = Jvm::from_command(&vector.command).ok();
        let here = jvm.and_then(|jvm| java::here(jvm).ok());
        let is_here = |here: &JavaHere| machine_name(&here.machine).as_deref() == Some(machine);
        if let Some(here) = here.filter(is_here) {
            return self.of_java(here.jvm, std::slice::from_ref(vector)).map(Some);
        }
        let run = yamba_session::java::stored(&self.store.choice(), machine)?;
        Ok(run.map(|run| self.of_stored(run, &[])))
    }

    /// Where a vector was traced, as seen from this machine.
    pub(super) fn origin(
        &mut self,
        vector: &Vector,
        named: Option<&str>,
    ) -> Result<Traced, Failure> {
        let here = machine_name(&yamba_session::machine(&host()));
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
                Some(run) => Traced::There(Box::new(Costs::of_run(&run))),
                None => Traced::Unknown,
            },
        })
    }

    fn names(&self) -> Vec<&str> {
        self.primitives.iter().map(String::as_str).collect()
    }

    fn stored(&self, machine: &str) -> Result<Option<Run>, Failure> {
        costs::stored(&self.store.choice(), machine, &self.names())
    }

    /// Measures the costs of all primitives.
    fn measure_all(&mut self, known: &mut Known) -> Result<(), Failure> {
        let terminal = Terminal::default();
        let prepared = costs::prepared(own_arguments(), &terminal)?;
        let stop = Stop::on_signals().map_err(system_failure)?;
        let time_s = prepared.dry_run(&stop)?.time_s;
        output::note(&format!(
            "measuring the costs of all primitives for about {time_s:.0} s, for later predictions, too\n"
        ));
        known.measure_all(prepared, &stop, &self.store.choice(), &terminal)?;
        self.is_stopped = stop.requested();
        Ok(())
    }

    /// A run of the machine where the vector was traced, or the reason for its absence.
    pub(super) fn of_trace(
        &mut self,
        vector: &Vector,
        named: Option<&str>,
        systems: &[System],
    ) -> Result<Result<System, String>, Failure> {
        if let Some(reference) = named {
            let named = self.named(reference)?;
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
        let of_java = match vector.platform() {
            Platform::ClassLibrary => self.of_java_trace(vector, machine)?,
            Platform::Kernel => None,
        };
        if let Some(system) = of_java {
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
            Some(run) => Ok(self.of_stored(run, systems)),
            None => Err(format!(
                "no stored run has the costs of the machine where it was traced: {machine}"
            )),
        })
    }

    /// A stored run as a system. Its name is that of the system with the same run, else its id.
    fn of_stored(&self, run: Run, systems: &[System]) -> System {
        let same = systems.iter().find(|system| system.run.id == run.id);
        let name = match same {
            Some(system) => system.name.clone(),
            None => run_ref::short(&run.id, &[]).to_owned(),
        };
        System::new(&name, run)
    }
}

/// The command line as runs record it. Its first word is the command, which marks runs that no user
/// requested.
fn own_arguments() -> Vec<String> {
    let mut all = arguments();
    let command = all.iter().position(|word| word == "predict");
    if let Some(place) = command {
        all[..=place].rotate_right(1);
    }
    all
}

/// The plan of a measurement. `None`: nothing is measured.
fn planned(wanted: &Wanted) -> Option<String> {
    let names: Vec<&str> = wanted.benchmarks().collect();
    let count = output::counted(names.len(), "benchmark", "benchmarks");
    (!names.is_empty()).then(|| {
        format!(
            "the prediction needs costs that no stored run of this machine has well enough: measuring {count} for at most {} s in all, for later predictions, too; those that decide the most come first: {}\n",
            costs::TIME.as_secs(),
            listed(&names, NAMED)
        )
    })
}

/// The gain of a longer measurement, as text. Empty: no gain.
fn more(wanted: &Wanted, needs: &Needs) -> String {
    let mut text = String::new();
    let names: Vec<&str> = wanted.unmeasured.iter().map(String::as_str).collect();
    if !names.is_empty() {
        let was = output::counted(names.len(), "benchmark was", "benchmarks were");
        text += &format!(
            "{was} not measured in this time: {}; the next `yamba predict` goes on with them, and `--thorough` measures all for some minutes\n",
            listed(&names, NAMED)
        );
    }
    let wide: Vec<&str> = needs.imprecise().iter().map(|need| need.primitive.as_str()).collect();
    if !wide.is_empty() {
        text += &format!(
            "the costs alone make an interval of {:.1} % to each side, most of it by {}: `--thorough` measures longer\n",
            100.0 * needs.half_width(),
            listed(&wide, NAMED)
        );
    }
    text
}
