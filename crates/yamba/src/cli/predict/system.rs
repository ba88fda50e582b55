//! The runs that a prediction uses: those of the systems, and that of the machine where a vector was traced.

use yamba_harness::Stop;
use yamba_java::Jvm;
use yamba_java::jmh::Effort;
use yamba_predict::vector::Platform;
use yamba_predict::{Costs, Vector, machine_name};
use yamba_record::Run;
use yamba_session::costs;
use yamba_session::java::JavaHere;
use yamba_store::Detail;
use yamba_toolchain::build::host;

use crate::cli::{Failure, StoreOption, Terminal, arguments, java, of_system, output, run_ref};

/// The default system.
const HERE: &str = "this machine";

/// The latest stored run, if the machine cannot be recognised.
const LATEST: &str = "latest";

/// A system whose times are predicted, or where an application was traced: the run that measured its costs.
#[derive(Clone)]
pub(super) struct System {
    /// Its name in tables and messages.
    pub(super) name: String,
    pub(super) run: Run,
    pub(super) costs: Costs,
    /// Whether disturbed figures are costs.
    takes_disturbed: bool,
    /// The Java virtual machine here whose costs these are.
    pub(super) java: Option<JavaHere>,
}

/// Finds runs.
pub(super) struct Systems {
    store: StoreOption,
    named: run_ref::Runs,
    /// The primitives of the applications.
    primitives: Vec<String>,
    /// Whether disturbed figures are costs.
    takes_disturbed: bool,
}

impl System {
    fn new(name: &str, run: Run, takes_disturbed: bool) -> System {
        System {
            name: name.to_owned(),
            costs: Costs::of(&run, takes_disturbed),
            run,
            takes_disturbed,
            java: None,
        }
    }

    /// The end of a help about costs that are missing.
    pub(super) fn disturbed_help(&self) -> &'static str {
        if self.takes_disturbed {
            ""
        } else {
            "; `--with-disturbed` takes disturbed figures, too"
        }
    }
}

impl Systems {
    pub(super) fn new(
        store: StoreOption,
        primitives: Vec<String>,
        takes_disturbed: bool,
    ) -> Systems {
        Systems {
            named: run_ref::Runs::new(store.choice()),
            store,
            primitives,
            takes_disturbed,
        }
    }

    /// The run that the user names.
    pub(super) fn named(&mut self, reference: &str) -> Result<System, Failure> {
        let run = self.named.load(reference, Detail::Figures)?;
        if run.interrupted {
            output::note(&format!(
                "warning: {reference} was stopped before it was done\n"
            ));
        }
        Ok(System::new(reference, run, self.takes_disturbed))
    }

    /// The latest run of this machine with costs. They are measured if no run has them.
    pub(super) fn here(&mut self) -> Result<System, Failure> {
        let Some(machine) = machine_name(&yamba_session::machine(&host())) else {
            return self.named(LATEST);
        };
        let run = match self.stored(&machine)? {
            Some(stored) if stored.is_complete => stored.run,
            _ => self.measured()?,
        };
        Ok(System::new(HERE, run, self.takes_disturbed))
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
        let mut system = System::new(&name, run, self.takes_disturbed);
        system.java = Some(here);
        Ok(system)
    }

    /// The system where a vector of Java calls was traced. Missing costs are measured if it is a virtual machine here. `None`: no stored
    /// run has costs of another one.
    fn of_java_trace(&mut self, vector: &Vector, machine: &str) -> Result<Option<System>, Failure> {
        let jvm = Jvm::of_command(&vector.command).ok();
        let here = jvm.and_then(|jvm| java::here(jvm).ok());
        let is_here = |here: &JavaHere| machine_name(&here.machine).as_deref() == Some(machine);
        if let Some(here) = here.filter(is_here) {
            return self
                .of_java(here.jvm, std::slice::from_ref(vector))
                .map(Some);
        }
        let run = yamba_session::java::stored(&self.store.choice(), machine)?;
        Ok(run.map(|run| self.of_stored(run, &[])))
    }

    fn stored(&self, machine: &str) -> Result<Option<costs::StoredCosts>, Failure> {
        let primitives: Vec<&str> = self.primitives.iter().map(String::as_str).collect();
        costs::stored(
            &self.store.choice(),
            machine,
            &primitives,
            self.takes_disturbed,
        )
    }

    /// Measures the costs once.
    fn measured(&self) -> Result<Run, Failure> {
        output::note(
            "no stored run of this machine has the costs of these primitives: measuring them once, for later predictions, too\n",
        );
        let terminal = Terminal::default();
        let prepared = costs::prepared(arguments(), &terminal)?;
        let stop = Stop::on_signals().map_err(of_system)?;
        let time_s = prepared.dry_run(&stop)?.time_s;
        output::note(&format!("measuring for about {time_s:.0} s\n"));
        costs::measured(prepared, &stop, &self.store.choice(), &terminal)
    }

    /// A run of the machine where the vector was traced, or the reason for its absence.
    pub(super) fn of_trace(
        &mut self,
        vector: &Vector,
        named: Option<&str>,
        systems: &[System],
    ) -> Result<Result<System, String>, Failure> {
        if let Some(reference) = named {
            return self.named(reference).map(Ok);
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
            let run = system.run.clone();
            return Ok(Ok(System::new(&system.name, run, self.takes_disturbed)));
        }
        Ok(match self.stored(machine)? {
            Some(stored) => Ok(self.of_stored(stored.run, systems)),
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
        System::new(&name, run, self.takes_disturbed)
    }
}
