//! `yamba load`

mod drive;
mod fit;
mod origin;
mod replay;
mod run;
mod source;

use clap::{Args, Subcommand};

use super::{Answer, Failure};

/// Measure an HTTP server under the load of its log
///
/// `fit` makes a model of an access log: popularity and sizes of the objects, times between
/// requests, sessions. `run` sends the load of a model to a server, at any rate or with any number
/// of users, and keeps throughput and latencies as a run. `replay` sends the log itself, for
/// comparison. `serve-origin` is a server for a proxy that is to be measured.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba load fit access.log -o site.load                          a model of the log, with its goodness of fit
  yamba load run site.load http://127.0.0.1:8080 --rate 2000 --for 30s   2000 requests a second
  yamba load run site.load http://127.0.0.1:8080 --users 500      users who think between their requests
  yamba load run site.load http://127.0.0.1:8080 --users 64 --no-think   as fast as the server answers
  yamba load replay access.log http://127.0.0.1:8080 --speed 60   an hour of the log in a minute
  yamba load serve-origin site.load --port 9000                   an origin for a proxy
  yamba show latest                                               the figures of the last load

Exit status: 0 measured; 1 the server failed or did not keep up; 2 nothing was measured.")]
pub(super) struct LoadCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    Fit(fit::Fit),
    Run(run::RunModel),
    Replay(replay::Replay),
    ServeOrigin(origin::ServeOrigin),
}

impl LoadCommand {
    pub(super) fn run(self) -> Result<Answer, Failure> {
        match self.action {
            Action::Fit(fit) => fit.run().map(|()| Answer::Done),
            Action::Run(run) => run.run(),
            Action::Replay(replay) => replay.run(),
            Action::ServeOrigin(origin) => origin.run().map(|()| Answer::Done),
        }
    }
}
