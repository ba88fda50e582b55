//! The runs that a prediction uses: those of the systems, and that of the machine where a vector was traced.

use yamba_harness::Stop;
use yamba_predict::{Costs, Vector, machine_name};
use yamba_record::Run;
use yamba_session::{StoreChoice, costs};
use yamba_store::Detail;
use yamba_toolchain::build::host;

use crate::cli::{Failure, Terminal, arguments, of_system, output, run_ref};

/// The default system.
const HERE: &str = "this machine";

/// The latest stored run, if the machine cannot be recognised.
const LATEST: &str = "latest";

/// A system: the run that measured its costs.
#[derive(Clone)]
pub(super) struct System {
    /// The words that name it.
    pub(super) name: String,
    pub(super) run: Run,
    pub(super) costs: Costs,
}

/// Finds runs.
pub(super) struct Systems {
    store: StoreChoice,
    named: run_ref::Runs,
    /// The primitives of the applications.
    primitives: Vec<String>,
}

impl System {
    fn new(name: &str, run: Run) -> System {
        System {
            name: name.to_owned(),
            costs: Costs::of_run(&run),
            run,
        }
    }
}

impl Systems {
    pub(super) fn new(store: StoreChoice, primitives: Vec<String>) -> Systems {
        Systems {
            named: run_ref::Runs::new(store.clone()),
            store,
            primitives,
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
        Ok(System::new(reference, run))
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
        Ok(System::new(HERE, run))
    }

    fn stored(&self, machine: &str) -> Result<Option<costs::StoredCosts>, Failure> {
        let primitives: Vec<&str> = self.primitives.iter().map(String::as_str).collect();
        costs::stored(&self.store, machine, &primitives)
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
        costs::measured(prepared, &stop, &self.store, &terminal)
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
        let is_it =
            |system: &&System| machine_name(&system.run.machine).as_deref() == Some(machine);
        let stored = self.stored(machine)?.map(|stored| stored.run);
        Ok(match (stored, systems.iter().find(is_it)) {
            (Some(run), _) => Ok(of_stored(run, systems)),
            (None, Some(system)) => Ok(System::new(&system.name, system.run.clone())),
            (None, None) => Err(format!(
                "no stored run has the costs of the machine where it was traced: {machine}"
            )),
        })
    }
}

/// A stored run has the name of the system that it is, else its id.
fn of_stored(run: Run, systems: &[System]) -> System {
    let same = systems.iter().find(|system| system.run.id == run.id);
    let name = match same {
        Some(system) => system.name.clone(),
        None => run_ref::short(&run.id, &[]).to_owned(),
    };
    System::new(&name, run)
}
