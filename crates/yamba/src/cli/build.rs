//! `yamba build`

use std::path::{Path, PathBuf};
use std::{fs, io};

use clap::Args;
use serde::Serialize;
use yamba_lang::{Analysis, ClassId, Target};

use super::code::CodeOptions;
use super::{Failure, Names, Selection, TargetOption, Terminal, output, select};
use yamba_session::jobs::build_failure;
use yamba_toolchain::build::{self, BuildError, BuildOptions, Built};

/// Compile benchmarks, for this machine or another
///
/// Prints where each program lies. A program measures when it is started, and writes its records to
/// standard output.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba build pagefault
  yamba build pagefault --print               the C++ and the command that compiles it by hand
  yamba build pagefault --target riscv64-linux -o pagefault.riscv64
  yamba build 'lat_*' -o programs/            several, into a folder
  yamba build 'lat_*' --json | jq -r '.[].program'")]
pub(super) struct Build {
    #[command(flatten)]
    names: Names,
    #[command(flatten)]
    target: TargetOption,
    /// Print the command that compiles the generated C++ by hand
    #[arg(long)]
    print: bool,
    /// An array of {class, target, program, source, command}
    #[arg(long, conflicts_with = "print")]
    json: bool,
    /// Copy the program to this file, or into this folder
    #[arg(short, value_name = "FILE|DIR")]
    output: Option<PathBuf>,
    #[command(flatten)]
    code: CodeOptions,
}

/// One built program in the `--json` output.
#[derive(Serialize)]
struct Program {
    class: String,
    target: String,
    /// Path of the executable.
    program: String,
    /// Path of the generated C++.
    source: String,
    /// The command that compiles it by hand.
    command: String,
}

impl Build {
    pub(super) fn run(self) -> Result<(), Failure> {
        let selection = select::select(&self.names)?;
        let target = self.target.resolve(&selection.analysis)?;
        let classes = selection.benchmarks()?;
        let mut programs = Vec::new();
        let analysis = &selection.analysis;
        let all = self.buildable(&selection, &classes, &target)?;
        let options = self.code.build_options(analysis, &target)?;
        let outcomes = build::build_all(analysis, &all, &target, &options, |_| {});
        for (class, outcome) in all.into_iter().zip(outcomes) {
            let mut built = shown(analysis, outcome)?;
            let name = analysis.class(class).name();
            if let Some(to) = &self.output {
                built.program = copy(&built.program, to, name, classes.len())?;
            }
            programs.push(Program {
                class: name.to_owned(),
                target: target.to_string(),
                program: built.program.display().to_string(),
                source: built.source.display().to_string(),
                command: built.command,
            });
        }
        output::json_or_text(self.json, &programs, |programs| {
            let line = |p: &Program| {
                if self.print {
                    format!("# {}\n{}\n", p.source, p.command)
                } else {
                    format!("{}\n", p.program)
                }
            };
            programs.iter().map(line).collect()
        })
    }

    /// With several classes, those that exist on the target. A single class is passed on, since its
    /// build reports why it is missing.
    fn buildable(
        &self,
        selection: &Selection,
        classes: &[ClassId],
        target: &Target,
    ) -> Result<Vec<ClassId>, Failure> {
        let exists = |c: &&ClassId| !selection.analysis.program(**c, target).variants.is_empty();
        let found: Vec<ClassId> = classes.iter().filter(exists).copied().collect();
        match (classes, found.len()) {
            ([class], 0) => Ok(vec![*class]),
            (_, 0) => Err(Failure::new(format!("none of them exists on {target}"))
                .help("`yamba list --platforms` shows on which platforms each does")),
            _ => Ok(found),
        }
    }
}

fn copy(program: &Path, to: &Path, name: &str, count: usize) -> Result<PathBuf, Failure> {
    let is_folder = to.is_dir() || to.as_os_str().as_encoded_bytes().ends_with(b"/");
    if count > 1 && !is_folder {
        return Err(Failure::new(format!("{} is one file, for {count} programs", to.display()))
            .help("name a folder, with / at its end"));
    }
    let cannot = |e| output::cannot_write(to, &e).help("name another file or folder with -o");
    let mut place = to.to_path_buf();
    if is_folder {
        fs::create_dir_all(to).map_err(cannot)?;
        place.push(name);
    }
    output::whole(&place, |out| io::copy(&mut fs::File::open(program)?, out).map(drop))?;
    let rights = fs::metadata(program).map_err(cannot)?.permissions();
    fs::set_permissions(&place, rights).map_err(cannot)?;
    Ok(place)
}

/// Builds one class and shows compiler warnings and errors about the author's C++.
pub(super) fn compile(
    analysis: &Analysis,
    class: ClassId,
    target: &Target,
    options: &BuildOptions,
) -> Result<Built, Failure> {
    let outcome = build::build(analysis, class, target, options);
    shown(analysis, outcome)
}

fn shown(analysis: &Analysis, outcome: Result<Built, BuildError>) -> Result<Built, Failure> {
    let built = outcome.map_err(|e| build_failure(&Terminal::default(), analysis, e))?;
    select::show(analysis, &built.warnings)?;
    Ok(built)
}
