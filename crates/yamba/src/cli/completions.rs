//! `yamba completions`, and the answer to a shell that completes a word.

mod offered;

use super::{Failure, output};
use clap::{Args, ValueEnum};
use clap_complete::CompleteEnv;
use clap_complete::env::{self, EnvCompleter};

/// Print the completion script of a shell
///
/// It completes commands, options, benchmarks, tags, studies and stored runs. The shell then asks
/// `yamba` itself at each press of Tab. Stored runs are those of the file that YAMBA_STORE names,
/// else of the usual one; no server is asked.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba completions bash > ~/.local/share/bash-completion/completions/yamba
  yamba completions zsh > ~/.zfunc/_yamba       with fpath+=~/.zfunc before compinit in ~/.zshrc
  yamba completions fish > ~/.config/fish/completions/yamba.fish")]
pub(super) struct Completions {
    /// The shell
    shell: Shell,
}

#[derive(Clone, Copy, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
}

/// The environment variable that names the requesting shell.
const ASKING: &str = "YAMBA_COMPLETE";

const PROGRAM: &str = "yamba";

/// Starts the first completion in zsh. When Tab is first pressed, zsh loads the file `_yamba` as a
/// function of that name. The file defines the completing function and must also run it that first
/// time.
const AT_FIRST: &str = r#"[[ $funcstack[1] != _yamba ]] || _clap_dynamic_completer_yamba "$@"
"#;

impl Completions {
    pub(super) fn run(self) -> Result<(), Failure> {
        let shell: &dyn EnvCompleter = match self.shell {
            Shell::Bash => &env::Bash,
            Shell::Zsh => &env::Zsh,
            Shell::Fish => &env::Fish,
        };
        let mut script = Vec::new();
        shell
            .write_registration(ASKING, PROGRAM, PROGRAM, PROGRAM, &mut script)
            .map_err(Failure::ours)?;
        if matches!(self.shell, Shell::Zsh) {
            script.extend_from_slice(AT_FIRST.as_bytes());
        }
        output::result(&String::from_utf8_lossy(&script))
    }
}

/// If a shell requests completions, prints them and ends the process.
pub(super) fn answer() {
    CompleteEnv::with_factory(offered::command).var(ASKING).bin(PROGRAM).complete();
}
