//! `yamba completions`

use clap::{Args, CommandFactory, ValueEnum};
use clap_complete::generate;
use clap_complete::shells;

use super::failure::Failure;
use super::{Answer, Cli, output};

/// Print what makes a shell complete commands and options
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

impl Completions {
    pub(super) fn run(self) -> Result<Answer, Failure> {
        let mut cli = Cli::command();
        let mut script = Vec::new();
        match self.shell {
            Shell::Bash => generate(shells::Bash, &mut cli, "yamba", &mut script),
            Shell::Zsh => generate(shells::Zsh, &mut cli, "yamba", &mut script),
            Shell::Fish => generate(shells::Fish, &mut cli, "yamba", &mut script),
        }
        output::result(&String::from_utf8_lossy(&script))?;
        Ok(Answer::Done)
    }
}
