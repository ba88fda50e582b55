//! `yamba load run`

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::ArgPredicate;
use serde_json::json;
use yamba_load::drive::{model_at_rate, model_users};
use yamba_session::load::is_success;

use super::drive::{DriveOptions, Load};
use super::source;
use crate::cli::{Answer, Failure, quantity};

/// Send the load of a model to a server
///
/// With --rate, requests have their own times, whether or not the server has answered earlier ones,
/// and a latency counts from the time at which the request was due. With --users, each user waits
/// for the response, thinks as long as those of the log, and has one connection for each session.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba load run site.load http://127.0.0.1:8080 --rate 2000 --for 30s
  yamba load run site.load http://127.0.0.1:8080 --users 500
  yamba load run site.load http://127.0.0.1:8080 --users 64 --no-think --json")]
pub(super) struct RunModel {
    /// The file that `yamba load fit -o` wrote
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// The server: http://HOST:PORT, with a path if the objects are below one
    #[arg(value_name = "URL")]
    url: String,
    /// Mean number of requests a second
    #[arg(long, value_name = "R", required_unless_present = "users", conflicts_with = "users", value_parser = rate)]
    rate: Option<f64>,
    /// Number of users
    #[arg(long, value_name = "N", value_parser = quantity::count(1..=60_000))]
    users: Option<u64>,
    /// Users do not think: each sends its next request at once, over the same connection
    #[arg(long, requires = "users", conflicts_with = "rate")]
    no_think: bool,
    /// End after this number of requests
    #[arg(long, value_name = "N", value_parser = quantity::count(1..=u64::MAX))]
    requests: Option<u64>,
    /// How long to send
    #[arg(long = "for", value_name = "TIME", default_value = "10s", default_value_if("requests", ArgPredicate::IsPresent, "30min"), value_parser = quantity::time)]
    length: Duration,
    #[command(flatten)]
    options: DriveOptions,
}

/// The highest rate, far above what this program can send.
const HIGHEST_RATE: f64 = 1e7;

/// Parses a number of requests a second, or a factor of speed.
pub(super) fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if rate > 0.0 && rate <= HIGHEST_RATE => Ok(rate),
        Ok(rate) if rate > HIGHEST_RATE => Err(format!("write a number of at most {HIGHEST_RATE}")),
        _ => Err("write a number above 0, as 2000 or 0.5".to_owned()),
    }
}

impl RunModel {
    fn without_think_times(&self) -> Failure {
        let place = self.model.display();
        Failure::new(format!(
            "{place}: it has no think times, since too few clients of its log sent two requests in a session"
        ))
        .help("set --rate, or add --no-think for users who send the next request at once")
    }

    pub(super) fn run(self) -> Result<Answer, Failure> {
        let model = source::model(&self.model)?;
        let seed = self.options.seed;
        let most = self.requests.unwrap_or(u64::MAX);
        let name = self.model.file_stem().unwrap_or_default().to_string_lossy();
        let mut parameters = vec![("model", json!(name))];
        let pace = match (self.rate, self.users) {
            (Some(rate), _) => {
                parameters.push(("rate", json!(rate)));
                model_at_rate(&model, rate, most, seed)
            }
            (None, users) => {
                if !self.no_think && model.sessions.think_s.is_none() {
                    return Err(self.without_think_times());
                }
                let users = users.unwrap_or(1);
                parameters.push(("users", json!(users)));
                parameters.push(("think", json!(!self.no_think)));
                model_users(&model, users as usize, !self.no_think, most, seed)
            }
        };
        self.options.measure(Load {
            url: &self.url,
            paths: (0..model.popularity.objects()).map(|object| model.path(object)).collect(),
            pace,
            rate: self.rate,
            unsuccessful: model.mix.share(|status| !is_success(status)),
            length: Some(self.length),
            parameters,
        })
    }
}
