//! `yamba load fit`

use std::path::PathBuf;

use clap::Args;
use yamba_load::model::{FEWEST_REQUESTS, Options, Unfit, fit};
use yamba_record::number::counted;

use super::source::LogSource;
use crate::cli::{Failure, output, quantity};
use crate::views::load::model;

/// Make a model of an access log
///
/// For popularity, sizes, times between requests, requests of a session and think times, families
/// of distributions are fitted by maximum likelihood. The test of Kolmogorov and Smirnov compares
/// each with the log; its p-value accounts for the fitted parameters. A family of times must also
/// have nearly the mean of the log, which decides rates. Where no family passes at 1 %, the model
/// keeps the values of the log themselves.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba load fit access.log -o site.load
  cat access.log.*.gz | yamba load fit - -o site.load
  yamba load fit access.log --latency-field 3=us              Apache's %D after the agent is the latency
  yamba load fit access.log --without-paths -o public.load    nothing names what was asked for")]
pub(super) struct Fit {
    #[command(flatten)]
    log: LogSource,
    /// Write the model to this file
    #[arg(short, long, value_name = "MODEL")]
    output: Option<PathBuf>,
    /// Leave the paths of the objects out of the model: they are then /1, /2 and so on, in the
    /// order of popularity
    #[arg(long)]
    without_paths: bool,
    /// Do not draw the distributions
    #[arg(long)]
    no_plot: bool,
    /// Seed of the random numbers in the fit
    #[arg(long, value_name = "N", default_value = "1", value_parser = quantity::count(0..=u64::MAX))]
    seed: u64,
    /// Print the model instead of tables
    #[arg(long)]
    json: bool,
}

impl Fit {
    fn refused(&self, unfit: Unfit) -> Failure {
        let why = match unfit {
            Unfit::TooFewRequests(count) => {
                let requests = counted(count, "request", "requests");
                format!("{requests} with GET or HEAD are too few for a model")
            }
            Unfit::SameTime(count) => {
                format!("all {count} requests with GET or HEAD have the same time")
            }
        };
        Failure::new(format!("{}: {why}", self.log.path.display())).help(format!(
            "give it a longer log: it needs {FEWEST_REQUESTS} such requests, not all at the same time"
        ))
    }

    pub(super) fn run(self) -> Result<(), Failure> {
        let log = self.log.read()?;
        let options = Options { names_paths: !self.without_paths, seed: self.seed };
        let fitted = fit(&log, options).map_err(|unfit| self.refused(unfit))?;
        if let Some(path) = &self.output {
            let text = serde_json::to_string(&fitted.model).map_err(Failure::ours)?;
            output::whole(path, |out| writeln!(out, "{text}"))?;
        }
        if self.json {
            return output::json(&fitted.model);
        }
        let mut view = model::view(&log, &fitted.model);
        if !self.no_plot {
            view.sections.push(model::charts(&fitted.curves));
        }
        output::result(&output::text(&view))
    }
}
