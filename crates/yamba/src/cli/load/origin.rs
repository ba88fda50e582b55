//! `yamba load serve-origin`

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use yamba_harness::Stop;
use yamba_load::drive::{Origin, OriginError};
use yamba_record::number::counted;

use super::source;
use crate::cli::{Failure, output, quantity, system_failure};

/// Serve objects with the sizes and statuses of a model
///
/// Responses take as long as in the log, if the log has these times (see `yamba load fit
/// --latency-field`). Otherwise they are sent at once, or after --latency. Caches may keep the
/// objects for a day.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba load serve-origin site.load --port 9000
  yamba load serve-origin site.load --port 9000 --latency 50ms
  yamba load run site.load http://127.0.0.1:3128 --rate 500     through a proxy in front of it")]
pub(super) struct ServeOrigin {
    /// The file that `yamba load fit -o` wrote
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// The port; 0 is a free one
    #[arg(long, value_name = "P", default_value = "0")]
    port: u16,
    /// The address to listen at
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    address: IpAddr,
    /// Time before each response, instead of the model's; in steps of a millisecond
    #[arg(long, value_name = "TIME", value_parser = quantity::time)]
    latency: Option<Duration>,
    /// Seed of the times
    #[arg(long, value_name = "N", default_value = "1", value_parser = quantity::count(0..=u64::MAX))]
    seed: u64,
}

impl ServeOrigin {
    pub(super) fn run(self) -> Result<(), Failure> {
        let model = source::model(&self.model)?;
        let address = SocketAddr::new(self.address, self.port);
        let origin = Origin::open(&model, address, self.latency, self.seed);
        let origin = origin.map_err(|OriginError(e)| {
            Failure::new(format!("cannot serve at {address}: {e}"))
                .help("choose another --port; 0 is a free one")
        })?;
        let stop = Stop::on_signals().map_err(system_failure)?;
        let at = origin.address().map_err(system_failure)?;
        output::result(&format!(
            "serving {} at http://{at} until Ctrl-C\n",
            counted(model.popularity.objects(), "object", "objects")
        ))?;
        let served = origin.serve(&|| stop.requested());
        output::note(&format!("{}\n", counted(served, "response", "responses")));
        Ok(())
    }
}
