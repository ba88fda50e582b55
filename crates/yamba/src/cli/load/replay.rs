//! `yamba load replay`

use std::time::Duration;

use clap::Args;
use serde_json::json;
use yamba_load::drive::{log_at_full_speed, log_at_its_times};
use yamba_load::model::{mix, repeated, replayed};
use yamba_record::number::counted;
use yamba_session::load::is_success;

use super::drive::{DriveOptions, Load};
use super::run::rate;
use super::source::LogSource;
use crate::cli::{Answer, Failure, output, quantity};

/// Send the requests of a log to a server
///
/// Each is sent at its own time. Requests with other methods than GET and HEAD are left out. Those
/// of the same second are spread over it.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba load replay access.log http://127.0.0.1:8080
  yamba load replay access.log http://127.0.0.1:8080 --speed 60    an hour of the log in a minute
  yamba load replay access.log http://127.0.0.1:8080 --users 64    in order, as fast as the server answers")]
pub(super) struct Replay {
    #[command(flatten)]
    log: LogSource,
    /// The server: http://HOST:PORT, with a path if the objects are below one
    #[arg(value_name = "URL")]
    url: String,
    /// How often as fast as in the log
    #[arg(long, value_name = "X", default_value = "1", value_parser = rate, conflicts_with = "users")]
    speed: f64,
    /// Send by this number of users instead, each of whom sends the next request of the log as soon
    /// as the last one is answered
    #[arg(long, value_name = "N", value_parser = quantity::count(1..=60_000))]
    users: Option<u64>,
    /// Send the log this often, one pass after the other
    #[arg(long, value_name = "N", default_value = "1", value_parser = quantity::count(1..=100_000))]
    repeat: u64,
    /// Stop after this time [default: the end of the log]
    #[arg(long = "for", value_name = "TIME", value_parser = quantity::time)]
    length: Option<Duration>,
    #[command(flatten)]
    options: DriveOptions,
}

impl Replay {
    pub(super) fn run(self) -> Result<Answer, Failure> {
        let log = self.log.read()?;
        let requests = replayed(&log, self.options.seed);
        let others = log.entries.len() - requests.len();
        if requests.is_empty() {
            let place = self.log.path.display();
            return Err(Failure::new(format!("{place}: it has no request with GET or HEAD"))
                .help("give it another log: no other methods are sent"));
        }
        if others > 0 {
            output::note(&format!(
                "note: left out: {} with other methods than GET and HEAD\n",
                counted(others, "request", "requests")
            ));
        }
        let unsuccessful = mix(&log).share(|status| !is_success(status));
        let requests = repeated(requests, self.repeat);
        let name = self.log.path.file_stem().unwrap_or_default().to_string_lossy();
        let mut parameters = vec![("log", json!(name))];
        let pace = match self.users {
            None => {
                parameters.push(("speed", json!(self.speed)));
                log_at_its_times(requests, self.speed)
            }
            Some(users) => {
                parameters.push(("users", json!(users)));
                log_at_full_speed(requests, users as usize)
            }
        };
        self.options.measure(Load {
            url: &self.url,
            paths: log.paths,
            pace,
            rate: None,
            unsuccessful,
            length: self.length,
            parameters,
        })
    }
}
