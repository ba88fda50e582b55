//! `yamba bare`: how `yamba trace` counts clock readings.

use std::path::PathBuf;

use clap::Args;
use yamba_trace::live::run_bare;

use crate::cli::{Failure, system_failure};

/// Run a program whose clock readings are system calls
#[derive(Args)]
pub(in crate::cli) struct Bare {
    /// Write the reason of a failure to this file
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// The program and its arguments
    #[arg(value_name = "COMMAND", last = true, required = true)]
    command: Vec<String>,
}

impl Bare {
    /// Returns the exit status of the program. If a signal ended the program, it ends this process,
    /// too.
    pub(in crate::cli) fn run(&self) -> Result<u8, Failure> {
        run_bare(&self.command).map_err(|e| {
            let text = format!("{}: {e}", self.command[0]);
            if let Some(report) = &self.report {
                // The message says the same.
                let _ = std::fs::write(report, &text);
            }
            Failure::new(text).help("after `--`, name a program and its arguments")
        })
    }
}

/// The beginning of a command line that runs a program in this way: options and the program follow.
pub(super) fn words() -> Result<Vec<String>, Failure> {
    let program = std::env::current_exe().map_err(system_failure)?;
    let program = program.into_os_string().into_string();
    let words = program.map(|program| vec![program, "bare".to_owned()]);
    // A path that is not UTF-8 cannot be started by the words of a command.
    Ok(words.unwrap_or_default())
}
