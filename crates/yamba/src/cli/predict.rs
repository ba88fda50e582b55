//! `yamba predict`

mod measure;
mod table;

use std::path::{Path, PathBuf};

use clap::Args;
use yamba_predict::change::{CostChange, Replacement};
use yamba_predict::document::Predictions;
use yamba_predict::ratio::ratio;
use yamba_predict::{Costs, Prediction, Vector, predict, ranked};
use yamba_store::Detail;

use super::{Failure, StoreOption, output, run_ref};

/// What would an application cost on a machine?
///
/// An application vector says how often the application uses each primitive of the platform for one unit of its work. A run has the cost of each primitive whose benchmark it
/// measured. The sum of the products is the kernel time of a unit, with an interval. User time is not predicted.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba run --only-tag primitive                       measures the costs of the primitives
  yamba predict server.vector                          counts, costs, shares, sum, coverage
  yamba predict server.vector --on latest --on other.json   ranks systems
  yamba predict new.vector --against old.vector        the ratio of two versions
  yamba predict server.vector --cost 'connect(tcp)=0.5x'     what if a primitive cost less?
  yamba predict server.vector --replace 'read(file)@4K*16=read(file)@64K'   what if the program changed?
  yamba predict server.vector --measure                runs the application here, and prints the error

A run is named by its id or the beginning of one, a tag, `latest`, `latest~N`, or the file of its document.")]
pub(super) struct Predict {
    /// Documents of applications, `yamba-vector/1`
    #[arg(value_name = "VECTOR", required = true)]
    vectors: Vec<PathBuf>,
    /// The run that measured the costs; several are ranked
    #[arg(long, value_name = "RUN", default_value = "latest")]
    on: Vec<String>,
    /// The version that ratios are taken to
    #[arg(long, value_name = "VECTOR")]
    against: Option<PathBuf>,
    /// Another cost of a primitive: NAME=FACTORx
    #[arg(long, value_name = "CHANGE", value_parser = CostChange::read)]
    cost: Vec<CostChange>,
    /// Other calls: NAME@SIZE*COUNT=NAME@SIZE*COUNT
    #[arg(long, value_name = "CHANGE", value_parser = Replacement::read)]
    replace: Vec<Replacement>,
    /// Run the application here, too, for 10 s of processor time, and print its measured kernel time
    #[arg(long, conflicts_with_all = ["cost", "replace"])]
    measure: bool,
    /// One JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreOption,
}

impl Predict {
    pub(super) fn run(self) -> Result<(), Failure> {
        let mut vectors = Vec::new();
        for path in &self.vectors {
            vectors.push(self.changed(read(path)?)?);
        }
        let against = self.against.as_deref().map(read).transpose()?;
        let systems = self.systems()?;
        let mut found = Predictions::default();
        for vector in &vectors {
            let start = found.predictions.len();
            let measured = self
                .measure
                .then(|| measure::measured(vector))
                .transpose()?;
            for (system, costs) in &systems {
                let mut of_version = prediction(vector, system, costs)?;
                if let Some(measured) = &measured {
                    of_version.compare_with(
                        measured.kernel_ns_each(),
                        measured.interval_ns(),
                        measured.user_ns / measured.units,
                    );
                }
                if let Some(against) = &against {
                    let base = prediction(against, system, costs)?;
                    found.ratios.push(ratio(&of_version, &base));
                }
                found.predictions.push(of_version);
            }
            if systems.len() > 1 {
                let of_vector: Vec<&Prediction> = found.predictions[start..].iter().collect();
                found.ranking.extend(ranked(&of_vector));
            }
        }
        output::json_or_text(self.json, &found, |found| {
            table::text(found, output::width())
        })
    }

    fn changed(&self, mut vector: Vector) -> Result<Vector, Failure> {
        for replacement in &self.replace {
            let applied = replacement.apply(&mut vector);
            applied.map_err(|e| Failure::new(format!("--replace: {e}")).help(SPELLING))?;
        }
        Ok(vector)
    }

    /// The systems by the words that name them, with their costs.
    fn systems(&self) -> Result<Vec<(&str, Costs)>, Failure> {
        let mut runs = run_ref::Runs::new(self.store.choice());
        let mut systems = Vec::new();
        for reference in &self.on {
            let run = runs.load(reference, Detail::Figures)?;
            if run.interrupted {
                output::note(&format!(
                    "warning: {reference} was stopped before it was done\n"
                ));
            }
            if self.measure {
                measure::is_of_this_machine(reference, &run)?;
            }
            let mut costs = Costs::of_run(&run);
            for change in &self.cost {
                let applied = change.apply(&mut costs);
                applied.map_err(|e| {
                    Failure::new(format!("--cost, on {reference}: {e}")).help(SPELLING)
                })?;
            }
            systems.push((reference.as_str(), costs));
        }
        Ok(systems)
    }
}

const SPELLING: &str = "a primitive is written as there, with its size after `@` if it has one";

fn read(path: &Path) -> Result<Vector, Failure> {
    let place = path.display();
    let text = std::fs::read_to_string(path).map_err(|e| {
        Failure::new(format!("{place}: {e}")).help("name the file of an application's vector")
    })?;
    Vector::read(&text).map_err(|e| {
        Failure::new(format!("{place}: {e}"))
            .help("docs/prediction.md describes the document `yamba-vector/1`")
    })
}

fn prediction(vector: &Vector, system: &str, costs: &Costs) -> Result<Prediction, Failure> {
    predict(vector, system, costs).map_err(|e| {
        Failure::new(format!("{}: {e}", vector.application))
            .help("`yamba run --only-tag primitive` measures the costs of the primitives; without a cost of `null`, each use needs its own")
    })
}
