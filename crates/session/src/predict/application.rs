//! One application: its vector, the machine where it was traced, and its prediction on a system.

use std::path::Path;

use yamba_predict::prediction::Origin;
use yamba_predict::prediction::total::Total;
use yamba_predict::vector::Platform;
use yamba_predict::{Context, Prediction, Vector, predict, predict_in_context, user_scale};
use yamba_record::number::counted;

use super::systems::System;
use crate::Failure;

/// An application with the origin of its times.
pub(super) struct Application {
    /// The vector, with its replacements.
    pub(super) vector: Vector,
    /// The vector without them.
    traced: Vector,
    /// A run of the machine where the vector was traced, or the reason for its absence.
    traced_on: Result<System, String>,
    /// The traced times, or the reason why the prediction is from benchmarks alone.
    context: Result<Context, String>,
}

impl Application {
    /// `traced` is the vector as it was traced, `vector` the one with replacements. `removed_ns` is
    /// the kernel time per unit that `traced` lacks.
    pub(super) fn new(
        traced: &Vector,
        vector: Vector,
        traced_on: Result<System, String>,
        removed_ns: f64,
    ) -> Application {
        let context =
            context(traced, &traced_on).map(|context| context.with_removed(removed_ns, traced));
        Application { vector, traced: traced.clone(), traced_on, context }
    }

    /// Lets the calls take as long as those of another application, whose vector was read from
    /// `path`.
    pub(super) fn take_context(&mut self, other: &Vector, path: &Path) -> Result<(), Failure> {
        let refused = |fault: String| {
            Failure::new(format!("--context {}: {fault}", path.display())).help(
                "trace the other application on the same machine: `yamba trace` writes its times; `--traced-on RUN` names a run with the costs of that machine",
            )
        };
        if other.platform() != self.vector.platform() {
            let name = &self.vector.application;
            return Err(refused(format!(
                "one of it and {name} is a trace of Java, and the other is not"
            )));
        }
        let [here, there] = [&self.vector, other].map(traced_machine);
        if let (Some(here), Some(there)) = (here, there)
            && here != there
        {
            let name = &self.vector.application;
            return Err(refused(format!("it was traced on {there}, but {name} on {here}")));
        }
        let theirs = context(other, &self.traced_on).map_err(refused)?;
        let own = self.context.as_ref().ok();
        let name = path.display().to_string();
        self.context = Ok(theirs.applied_to(&self.vector, &name, own));
        Ok(())
    }

    /// Whether the prediction is from benchmarks alone.
    pub(super) fn has_no_times(&self) -> bool {
        self.context.is_err()
    }

    /// Predicts the application on a system. `scale` names the benchmark whose figure scales user
    /// time.
    pub(super) fn on(&self, system: &System, scale: Option<&str>) -> Result<Prediction, Failure> {
        let (name, costs) = (&system.name, &system.costs);
        let found = match self.context_on(system) {
            Ok(context) => predict_in_context(&self.vector, context, name, costs),
            Err(reason) => predict(&self.vector, name, costs).map(|mut found| {
                found.origin = Origin::Benchmarks { no_context: Some(reason) };
                found
            }),
        };
        let mut found = found.map_err(|e| self.fault(&e, system))?;
        self.add_user_time(&mut found, system, scale)?;
        Ok(found)
    }

    /// Predicts the application on a system as [`Self::on`] does, with the total of elapsed and
    /// processor time.
    pub(super) fn with_total(
        &self,
        system: &System,
        scale: Option<&str>,
    ) -> Result<Prediction, Failure> {
        let mut found = self.on(system, scale)?;
        let context = self.context_on(system).ok();
        let total = Total::new(&found, &self.vector, &self.traced, context, &system.costs);
        found.total = Some(total);
        Ok(found)
    }

    /// The traced times, or the reason why the prediction on this system is from benchmarks alone.
    fn context_on(&self, system: &System) -> Result<&Context, String> {
        let context = self.context.as_ref().map_err(String::clone)?;
        context.lacking_costs(&system.costs).map_or(Ok(context), Err)
    }

    fn fault(&self, text: &str, system: &System) -> Failure {
        let name = &self.vector.application;
        let failure = Failure::new(format!("{name}: {text}"));
        let Some(first) = system.costs.left_out.first() else {
            return failure.help("`yamba run --only-tag primitive` measures the costs of the primitives; without a cost of `null`, each use needs its own");
        };
        let figures = counted(system.costs.left_out.len(), "figure", "figures");
        failure.help(format!(
            "{figures} of the run could not be used, the first is {first}; `yamba run --only-tag primitive` measures again"
        ))
    }

    /// Sets the user time: on the machine of the trace the traced time, elsewhere that time scaled
    /// by the figure that `scale` names, or by the counted work of the vector.
    fn add_user_time(
        &self,
        found: &mut Prediction,
        system: &System,
        scale: Option<&str>,
    ) -> Result<(), Failure> {
        if self.vector.platform() == Platform::ClassLibrary && scale.is_none() {
            // The program's own code is taken to need its traced time on every machine: the better
            // of two rules (docs/notes/java.md).
            found.set_user_time(self.vector.user_ns);
            return Ok(());
        }
        let traced_on = match (&self.traced_on, scale) {
            (Ok(traced_on), _) => traced_on,
            (Err(reason), None) => {
                if self.vector.user_work.is_some() {
                    found.user.remark = Some(format!("user time is not predicted: {reason}"));
                }
                return Ok(());
            }
            (Err(reason), Some(_)) => {
                let fault = format!("--user-scale: {}: {reason}", self.vector.application);
                return Err(Failure::new(fault).help(
                    "`--traced-on RUN` names a run of the machine where the vector was traced",
                ));
            }
        };
        let scale = scale.map(|benchmark| {
            let found = user_scale(benchmark, &traced_on.run, &system.run).map_err(|e| {
                let (from, to) = (&traced_on.name, &system.name);
                Failure::new(format!("--user-scale, from {from} to {to}: {e}"))
                    .help("name a benchmark that both runs measured: `yamba show RUN` lists them")
            });
            found.map(|found| (benchmark, found))
        });
        match scale.transpose()? {
            _ if traced_on.costs.is_from_same_run(&system.costs) => {
                found.set_user_time(self.vector.user_ns);
            }
            Some((benchmark, scale)) => {
                let costs = [&traced_on.costs, &system.costs];
                found.set_scaled_user_time(&self.vector, scale, benchmark, costs);
                found.caveats.is_within_launches |= scale.is_within_launches;
            }
            None => {
                let (from, to) = (&traced_on.costs, &system.costs);
                found.set_user_time_by_work(&self.vector, &self.traced, from, to);
            }
        }
        Ok(())
    }
}

/// The times of a vector beside the costs of the machine where it was traced. The error is the
/// reason for their absence.
fn context(traced: &Vector, traced_on: &Result<System, String>) -> Result<Context, String> {
    let has_times = traced.primitives.iter().any(|used| used.time_ns.is_some());
    match traced_on {
        _ if !has_times => Err("the vector has no times".to_owned()),
        Ok(system) => Context::new(traced, &system.name, &system.costs),
        Err(reason) => Err(reason.clone()),
    }
}

fn traced_machine(vector: &Vector) -> Option<&str> {
    vector.traced.as_ref()?.machine.as_deref()
}

/// Predicts all applications without traced times if one of them has none, since a ratio needs
/// predictions of the same kind.
pub(super) fn use_common_basis(applications: &mut [Application], systems: &[System]) {
    let lacking = applications.iter().find_map(|a| {
        let reason = systems.iter().find_map(|system| a.context_on(system).err())?;
        Some(format!("{}: {reason}", a.vector.application))
    });
    if let Some(reason) = lacking {
        for application in applications {
            application.context = Err(reason.clone());
        }
    }
}
