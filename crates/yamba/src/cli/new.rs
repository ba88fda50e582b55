//! `yamba new`

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use yamba_lang::Severity;

use super::{Failure, output};
use yamba_session::select;

/// The name of the class in the templates.
const PLACEHOLDER: &str = "NAME";

/// Write a benchmark to start from
///
/// The file is a complete, commented benchmark that runs as it stands. No file is ever overwritten.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba new parse_text                              a latency, in parse_text.yamba
  yamba new send_block --kind bandwidth
  yamba new ring_bell --kind ping-pong -o mine/ring_bell.yamba")]
pub(super) struct New {
    /// The name of the benchmark: letters, digits and _
    #[arg(value_name = "NAME")]
    name: String,
    /// The kind of figure
    #[arg(long, value_name = "KIND", default_value = "latency")]
    kind: Kind,
    /// Write to this file, which must not exist [default: NAME.yamba]
    #[arg(short, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Kind {
    /// The time of one operation
    Latency,
    /// The bytes that are moved in a second
    Bandwidth,
    /// The time of a round trip between two processes
    PingPong,
    /// Another value with a unit
    Quantity,
}

impl Kind {
    fn template(self) -> &'static str {
        match self {
            Kind::Latency => include_str!("new/latency.yamba"),
            Kind::Bandwidth => include_str!("new/bandwidth.yamba"),
            Kind::PingPong => include_str!("new/ping_pong.yamba"),
            Kind::Quantity => include_str!("new/quantity.yamba"),
        }
    }
}

impl New {
    pub(super) fn run(self) -> Result<(), Failure> {
        let name = &self.name;
        let path = self.output.unwrap_or_else(|| format!("{name}.yamba").into());
        let shown = path.display();
        if path.extension().is_none_or(|e| e != "yamba") {
            return Err(Failure::new(format!("{shown}: a benchmark's file ends in .yamba"))
                .help("name it so with -o"));
        }
        let text = self.kind.template().replace(PLACEHOLDER, name);
        check(name, &text)?;
        output::new_file(&path, &text)?;
        output::note(&format!(
            "{shown}: `yamba run {shown}` measures it; then replace what it measures by your own\n"
        ));
        Ok(())
    }
}

/// Rejects a name that no class can have, and that of an existing class.
fn check(name: &str, text: &str) -> Result<(), Failure> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !name.chars().all(is_allowed) || !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return Err(Failure::new(format!("{name:?} cannot be the name of a benchmark"))
            .help("a name is made of letters, digits and _, and begins with a letter"));
    }
    let analysis = select::analyse_text(&format!("{name}.yamba"), text)?;
    let mut errors = analysis.diagnostics.iter();
    if let Some(error) = errors.find(|d| d.severity == Severity::Error) {
        return Err(Failure::new(format!(
            "{name} cannot be the name of a benchmark: {}",
            error.message
        ))
        .help("choose another name"));
    }
    if select::names(&[])?.iter().any(|known| known == name) {
        return Err(Failure::new(format!("there is a class {name} already"))
            .help(format!("choose another name; `yamba list {name}` shows that class")));
    }
    Ok(())
}
