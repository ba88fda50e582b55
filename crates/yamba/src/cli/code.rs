//! `-I`, `-D`, `-O`, `--march`, `--std`, `-l`, `--pkg-config`: how the user's own code is compiled
//! and linked.

use clap::Args;
use yamba_lang::compile::CompileKey;
use yamba_lang::{Analysis, Target};
use yamba_session::jobs::build_failure;
use yamba_toolchain::build::{self, BuildOptions};

use super::{Failure, Terminal};

/// The options that every command shares that compiles code of the user.
#[derive(Args, Clone, Default)]
#[command(next_help_heading = "Your own code")]
pub(super) struct CodeOptions {
    /// Search for headers in this folder; may be repeated
    #[arg(short = 'I', long, value_name = "DIR")]
    include_dir: Vec<String>,
    /// Define a macro; may be repeated
    #[arg(short = 'D', long, value_name = "NAME[=VALUE]", hide_short_help = true)]
    define: Vec<String>,
    /// Optimisation level of the program [default: 2]
    ///
    /// 0, 1, 2, 3, s, z, g or fast.
    #[arg(short = 'O', long, value_name = "LEVEL")]
    optimise: Option<String>,
    /// The processor to compile for, as after the compiler's -march=
    #[arg(long, value_name = "CPU", hide_short_help = true)]
    march: Option<String>,
    /// The C++ standard [default: c++17]
    #[arg(long = "std", value_name = "STANDARD", hide_short_help = true)]
    standard: Option<String>,
    /// Link an archive, a shared object or a library; may be repeated
    ///
    /// A name is that after the compiler's -l.
    #[arg(short = 'l', long, value_name = "FILE|NAME")]
    link: Vec<String>,
    /// Compile and link with a package that pkg-config knows; may be repeated
    #[arg(long, value_name = "PACKAGE", hide_short_help = true)]
    pkg_config: Vec<String>,
    /// Give the compiler this option, such as -fopenmp; may be repeated
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true, hide_short_help = true)]
    flag: Vec<String>,
}

impl CodeOptions {
    /// The settings, libraries before the packages that they may need.
    pub(super) fn settings(&self) -> Vec<(CompileKey, String)> {
        let of = |key: CompileKey, values: &[String]| {
            let each = values.iter().map(|value| (key, value.clone()));
            each.collect::<Vec<_>>()
        };
        [
            of(CompileKey::IncludeDir, &self.include_dir),
            of(CompileKey::Define, &self.define),
            of(CompileKey::Optimise, self.optimise.as_slice()),
            of(CompileKey::March, self.march.as_slice()),
            of(CompileKey::Std, self.standard.as_slice()),
            of(CompileKey::Link, &self.link),
            of(CompileKey::PkgConfig, &self.pkg_config),
            of(CompileKey::Flag, &self.flag),
        ]
        .concat()
    }

    /// The options of a build for `target`.
    pub(super) fn build_options(
        &self,
        analysis: &Analysis,
        target: &Target,
    ) -> Result<BuildOptions, Failure> {
        let flags = build::command_line_flags(&self.settings(), analysis, target);
        let flags = flags.map_err(|e| build_failure(&Terminal::default(), analysis, e))?;
        Ok(BuildOptions { command_line: flags, ..BuildOptions::default() })
    }
}
