//! `yamba build`

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use yamba_lang::{Analysis, ClassId, Target};

use super::Answer;
use super::failure::Failure;
use super::output;
use super::select::{self, Names, Selection};
use super::target::TargetOption;
use crate::build::{self, BuildError, BuildOptions, Built};

/// Compile benchmarks, for this machine or another
///
/// Prints where each program lies. A program measures when it is started, and writes its records to standard output.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba build pagefault
  yamba build pagefault --print               the C++ and the command that compiles it by hand
  yamba build pagefault --target riscv64-linux -o pagefault.riscv64
  yamba build 'lat_*' -o programs/            several, into a folder")]
pub(super) struct Build {
    #[command(flatten)]
    names: Names,
    #[command(flatten)]
    target: TargetOption,
    /// Print the command that compiles the generated C++ by hand
    #[arg(long)]
    print: bool,
    /// Copy the program to this file, or into this folder
    #[arg(short, value_name = "FILE|DIR")]
    output: Option<PathBuf>,
}

impl Build {
    pub(super) fn run(self) -> Result<Answer, Failure> {
        let selection = select::select(&self.names)?;
        let target = self.target.resolve(&selection.analysis)?;
        let classes = selection.benchmarks()?;
        let mut text = String::new();
        let analysis = &selection.analysis;
        let all = self.buildable(&selection, &classes, &target)?;
        let options = BuildOptions::default();
        let outcomes = build::build_all(analysis, &all, &target, &options, |_| {});
        for (class, outcome) in all.into_iter().zip(outcomes) {
            let built = shown(analysis, outcome)?;
            text.push_str(&self.deliver(&selection.analysis, class, &built, classes.len())?);
        }
        output::result(&text)?;
        Ok(Answer::Done)
    }

    /// Of several, those that exist on the target; one alone is refused by the build itself, with the reason.
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
            (_, 0) => Err(Failure::new(format!("none of them exists on {target}"))),
            _ => Ok(found),
        }
    }

    /// What is printed for one program, which goes where `-o` says.
    fn deliver(
        &self,
        analysis: &Analysis,
        class: ClassId,
        built: &Built,
        count: usize,
    ) -> Result<String, Failure> {
        let name = analysis.class(class).name();
        let place = match &self.output {
            Some(to) => copy(&built.program, to, name, count)?,
            None => built.program.clone(),
        };
        Ok(match self.print {
            true => format!("# {}\n{}\n", built.source.display(), built.command),
            false => format!("{}\n", place.display()),
        })
    }
}

fn copy(program: &Path, to: &Path, name: &str, count: usize) -> Result<PathBuf, Failure> {
    let is_folder = to.is_dir() || to.as_os_str().as_encoded_bytes().ends_with(b"/");
    if count > 1 && !is_folder {
        return Err(Failure::new(format!(
            "{} is one file, for {count} programs",
            to.display()
        ))
        .help("name a folder, with / at its end"));
    }
    let cannot = |e| {
        Failure::new(format!(
            "cannot write {}: {}",
            to.display(),
            crate::files::plain(&e)
        ))
    };
    let place = if is_folder {
        to.join(name)
    } else {
        to.to_path_buf()
    };
    if is_folder {
        fs::create_dir_all(to).map_err(cannot)?;
    }
    fs::copy(program, &place).map_err(cannot)?;
    Ok(place)
}

/// Builds one class and shows what the compiler says about its author's C++.
pub(super) fn compile(
    analysis: &Analysis,
    class: ClassId,
    target: &Target,
) -> Result<Built, Failure> {
    let outcome = build::build(analysis, class, target, &BuildOptions::default());
    shown(analysis, outcome)
}

fn shown(analysis: &Analysis, outcome: Result<Built, BuildError>) -> Result<Built, Failure> {
    let built = outcome.map_err(|e| failure(analysis, e))?;
    select::show(analysis, &built.warnings)?;
    Ok(built)
}

/// What stands in the way of a build, said as any other failure.
pub(super) fn failure(analysis: &Analysis, error: BuildError) -> Failure {
    match error {
        BuildError::Diagnostics(all) => match select::show(analysis, &all) {
            Err(failure) => failure,
            Ok(()) => Failure::new("the program was not built"),
        },
        BuildError::MissingCompiler { ref help, .. } => {
            Failure::new(error.to_string()).help(help.clone())
        }
        BuildError::Io(e) => Failure::from(e),
        other => Failure::new(other.to_string()),
    }
}
