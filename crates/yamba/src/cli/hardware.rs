//! `yamba hardware`

use clap::Args;
use serde::Serialize;
use yamba_harness::Stop;
use yamba_record::hardware::HardwareParameter;
use yamba_session::hardware::{Request, hardware};

use super::{Failure, Libraries, StoreOption, Terminal, arguments, output, system_failure};
use crate::views;

/// Find what this processor really has
///
/// Measures caches, translations, the core, branches and memory, without privileges or counters,
/// and shows what was found beside what the processor and the system claim. A parameter that the
/// measurements do not show has its reason. The run is stored.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba hardware                       all parameters, in about 90 s
  yamba hardware --quick               in about 30 s, with wider intervals
  yamba hardware 'l1d.*' rob.entries   some of them
  yamba hardware --json | jq '.parameters[] | select(.found)'")]
pub(super) struct Hardware {
    /// Names or patterns of parameters [default: all]
    #[arg(value_name = "PARAMETER")]
    parameters: Vec<String>,
    /// Less time for each benchmark: about 30 s in all
    #[arg(long)]
    quick: bool,
    /// One JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    lib: Libraries,
    #[command(flatten)]
    store: StoreOption,
}

/// The `--json` output.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    parameters: &'a [HardwareParameter],
}

impl Hardware {
    pub(super) fn run(self) -> Result<(), Failure> {
        let stop = Stop::on_signals().map_err(system_failure)?;
        let request = Request {
            libraries: self.lib.dirs,
            parameters: self.parameters,
            is_quick: self.quick,
            arguments: arguments(),
        };
        let parameters = hardware(&request, &stop, &self.store.choice(), &Terminal::default())?;
        let document = Document { schema: "yamba-hardware/1", parameters: &parameters };
        output::json_or_view(self.json, &document, |d| views::hardware::view(d.parameters))
    }
}
