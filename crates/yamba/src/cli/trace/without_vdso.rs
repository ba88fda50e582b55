//! `yamba without-vdso`: how `yamba trace` counts clock readings.

use clap::Args;
use yamba_trace::live::run_without_vdso;

use crate::cli::{Failure, of_system};

/// Run a program whose clock readings are system calls
#[derive(Args)]
pub(in crate::cli) struct WithoutVdso {
    /// The program and its arguments
    #[arg(value_name = "COMMAND", last = true, required = true)]
    command: Vec<String>,
}

impl WithoutVdso {
    /// Returns the exit status of the program.
    pub(in crate::cli) fn run(&self) -> Result<u8, Failure> {
        run_without_vdso(&self.command).map_err(|e| {
            Failure::new(format!("{}: {e}", self.command[0]))
                .help("after `--`, name a program and its arguments")
        })
    }
}

/// The words before a command that run it in this way.
pub(super) fn command() -> Result<Vec<String>, Failure> {
    let program = std::env::current_exe().map_err(of_system)?;
    let program = program.into_os_string().into_string();
    let words = program.map(|program| vec![program, "without-vdso".to_owned(), "--".to_owned()]);
    // A path that is not UTF-8 cannot be started by the words of a command.
    Ok(words.unwrap_or_default())
}
