//! `yamba bare`: how `yamba trace` counts clock readings and the page faults that fault-around avoids.

use std::path::PathBuf;

use clap::Args;
use yamba_trace::live::run_bare;

use crate::cli::{Failure, of_system};

/// Run a program whose clock readings are system calls
#[derive(Args)]
pub(in crate::cli) struct Bare {
    /// Let each page fault map one page of a file only; write the reason to this file if that fails
    #[arg(long, value_name = "FILE")]
    no_fault_around: Option<PathBuf>,
    /// The program and its arguments
    #[arg(value_name = "COMMAND", last = true, required = true)]
    command: Vec<String>,
}

impl Bare {
    /// Returns the exit status of the program.
    pub(in crate::cli) fn run(&self) -> Result<u8, Failure> {
        run_bare(&self.command, self.no_fault_around.as_deref()).map_err(|e| {
            Failure::new(format!("{}: {e}", self.command[0]))
                .help("after `--`, name a program and its arguments")
        })
    }
}

/// The words before the options and a command that run it in this way.
pub(super) fn words() -> Result<Vec<String>, Failure> {
    let program = std::env::current_exe().map_err(of_system)?;
    let program = program.into_os_string().into_string();
    let words = program.map(|program| vec![program, "bare".to_owned()]);
    // A path that is not UTF-8 cannot be started by the words of a command.
    Ok(words.unwrap_or_default())
}
