//! The `yamba` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    yamba::cli::main()
}
