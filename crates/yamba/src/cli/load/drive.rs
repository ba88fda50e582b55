//! The common part of `yamba load run` and `yamba load replay`: options, measurement, output and
//! storage of the run.

use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};
use yamba_harness::Stop;
use yamba_load::drive::{Headers, Pace, Plan, Requests, Target};
use yamba_record::Parameters;
use yamba_record::number::counted;
use yamba_session::load::{self, Measured, Request, ending};
use yamba_toolchain::build::host;

use crate::cli::output::{self, StatusLine};
use crate::cli::{Answer, Failure, StoreOption, Terminal, arguments, quantity, system_failure};
use crate::views;

/// Options of every load.
#[derive(Args)]
pub(super) struct DriveOptions {
    /// How long a response may take; a server without any response in this time ends the load
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = quantity::time)]
    timeout: Duration,
    /// The most connections, where requests have their own times
    #[arg(long, value_name = "N", default_value = "256", value_parser = quantity::count(1..=60_000))]
    pub(super) connections: u64,
    /// Seed of the requests
    #[arg(long, value_name = "N", default_value = "1", value_parser = quantity::count(0..=u64::MAX))]
    pub(super) seed: u64,
    /// The value of the header Host, instead of the server's name in the URL
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
    /// Add a header to all requests; may be repeated. The run keeps it, as it keeps all arguments
    #[arg(long = "header", value_name = "NAME: VALUE")]
    headers: Vec<String>,
    /// Print the run as one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreOption,
}

/// The load that the command line asks for.
pub(super) struct Load<'a> {
    pub(super) url: &'a str,
    pub(super) paths: Vec<String>,
    pub(super) pace: Pace,
    pub(super) length: Option<Duration>,
    /// Requests per second that the user asks for.
    pub(super) rate: Option<f64>,
    /// Share of the log's requests without success.
    pub(super) unsuccessful: f64,
    pub(super) parameters: Vec<(&'static str, Value)>,
}

impl DriveOptions {
    pub(super) fn measure(&self, load: Load) -> Result<Answer, Failure> {
        let target = Target::resolve(load.url).map_err(|e| {
            Failure::new(e).help(
                "name the server as http://HOST:PORT, with a path if its objects are below one",
            )
        })?;
        let headers = Headers::parse(self.host.as_deref(), &self.headers).map_err(|e| {
            Failure::new(e).help("write --host shop.example.org and --header 'Accept: text/html'")
        })?;
        let requests = Requests::new(&target, &headers, load.paths.into_iter()).map_err(|e| {
            Failure::new(e).help("this path cannot be asked for: take it out of the model or log")
        })?;
        self.store.choice().check()?;
        let parameters = load
            .parameters
            .into_iter()
            .chain(self.host.iter().map(|host| ("host_header", json!(host))))
            .map(|(name, value)| (name.to_owned(), value));
        let request = Request {
            plan: Plan {
                target,
                requests,
                pace: load.pace,
                length: load.length,
                timeout: self.timeout,
                connections: self.connections as usize,
            },
            parameters: Parameters(parameters.collect()),
            rate: load.rate,
            unsuccessful: load.unsuccessful,
            seed: self.seed,
            arguments: arguments(),
        };
        let stop = Stop::on_signals().map_err(system_failure)?;
        let line = StatusLine::new("sending");
        let mut progress = |responses: u64| line.show(&counted(responses, "response", "responses"));
        let measured = load::measure(request, &host(), &stop, &mut progress)?;
        drop(line);
        self.finish(&measured)
    }

    /// Stores and prints what was measured.
    fn finish(&self, measured: &Measured) -> Result<Answer, Failure> {
        let Measured { run, outcome, .. } = measured;
        let is_valid = measured.is_valid();
        let is_stored = self.store.choice().keep(run, &Terminal::default())?;
        if self.json {
            output::document(&run.clone().summary())?;
        } else {
            output::result(&output::text(&views::load::view(measured)))?;
        }
        if let Some(why) = ending(outcome) {
            output::note(&format!("warning: {why}\n"));
        }
        if is_stored {
            output::note(&format!("run {} stored\n", run.id));
        }
        let is_whole = is_valid && !run.interrupted;
        Ok(if is_whole { Answer::Done } else { Answer::No })
    }
}
