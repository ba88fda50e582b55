//! `yamba gc`

mod characterise;
mod document;
mod page;
mod predict;
mod profile;
mod table;

use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser;
use clap::{Args, Subcommand};
use yamba_jvm::gc::Collector;
use yamba_jvm::gc::costs::Costs;
use yamba_jvm::run::{Effort, Jvm, Progress, SHORT_TIME, Step, Wanted, costs_path};
use yamba_toolchain::embedded::cache_root;

use super::output::StatusLine;
use super::{Failure, of_system, output};

/// What does garbage collection cost with another collector or heap?
///
/// `characterise` measures what each collector of a JDK costs on this machine. `profile` runs a
/// Java application many times and records its demand: how much it allocates, and how long objects
/// live. `predict` simulates each collector and gives the number of collections, their processor
/// time and their pauses.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba gc profile -o app.gc -- java -jar app.jar       up to 31 runs of the application
  yamba gc predict app.gc                               all collectors, five heap sizes
  yamba gc predict app.gc --heap 128M --heap 512M --collector g1
  yamba gc predict app.gc --heap 256M --measure         runs the application, too, and prints the errors
  yamba gc predict app.gc -o page.html                  curves over the heap size
  yamba gc characterise --collector serial --json       the costs of one collector")]
pub(super) struct GcCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    Characterise(characterise::Characterise),
    Profile(profile::Profile),
    Predict(predict::Predict),
}

impl GcCommand {
    pub(super) fn run(self) -> Result<(), Failure> {
        match self.action {
            Action::Characterise(c) => c.run(),
            Action::Profile(c) => c.run(),
            Action::Predict(c) => c.run(),
        }
    }
}

/// The option that selects collectors.
#[derive(Args)]
struct CollectorOption {
    /// Only this collector; may be repeated [default: all]
    #[arg(long = "collector", value_name = "NAME", value_parser = collector())]
    collectors: Vec<Collector>,
}

impl CollectorOption {
    fn chosen(&self) -> Vec<Collector> {
        if self.collectors.is_empty() { Collector::ALL.to_vec() } else { self.collectors.clone() }
    }
}

fn collector() -> impl TypedValueParser<Value = Collector> {
    let names = PossibleValuesParser::new(Collector::ALL.map(Collector::name));
    names.map(|name| Collector::named(&name).expect("the parser knows the names"))
}

/// The option that selects a JDK.
#[derive(Args)]
struct JdkOption {
    /// Folder of the JDK [default: JAVA_HOME, or that of `java` on the PATH]
    #[arg(long, value_name = "FOLDER")]
    jdk: Option<PathBuf>,
}

impl JdkOption {
    fn find(&self) -> Result<Jvm, Failure> {
        jvm(self.jdk.as_deref())
    }
}

fn jvm(home: Option<&Path>) -> Result<Jvm, Failure> {
    Jvm::find(home).map_err(|reason| {
        Failure::new(format!("skipped: {reason}"))
            .help("install a JDK, or name its folder with --jdk")
    })
}

/// The costs of collectors with a JDK; measures those that are missing.
fn costs(jvm: &Jvm, wanted: Wanted<'_>) -> Result<Costs, Failure> {
    let folder = cache_root().map_err(of_system)?.join("gc");
    let path = costs_path(&folder, jvm);
    let mut shown = ShownProgress { jvm, effort: wanted.effort, line: None };
    yamba_jvm::run::characterise(jvm, wanted, &path, &mut shown)
        .map_err(|e| Failure::new(e).help("set YAMBA_CACHE to a folder that can be written"))
}

/// The costs that a prediction or a profile needs.
fn needed(collectors: &[Collector]) -> Wanted<'_> {
    Wanted { collectors, effort: Effort::Short, is_forced: false }
}

/// Says how long a measurement of costs takes, and shows its runs.
struct ShownProgress<'a> {
    jvm: &'a Jvm,
    effort: Effort,
    line: Option<StatusLine>,
}

impl Progress for ShownProgress<'_> {
    fn plan(&mut self, collectors: &[Collector]) {
        if !collectors.is_empty() {
            let version = &self.jvm.version;
            output::note(&plan(version, self.effort, collectors));
            self.line = Some(StatusLine::new("compiling the benchmarks"));
        }
    }

    fn run(&mut self, collector: Collector, step: Step) {
        if let Some(line) = &self.line {
            let rest = step.expected();
            let rest = rest.map(|time| format!(", about {} s left", time.as_secs() + 1));
            line.show(&format!(
                "costs of {}: run {} of {}{}",
                collector.name(),
                step.number,
                step.count,
                rest.unwrap_or_default()
            ));
        }
    }
}

/// The collectors to measure, and how long that takes.
fn plan(version: &str, effort: Effort, collectors: &[Collector]) -> String {
    let names: Vec<&str> = collectors.iter().map(|c| c.name()).collect();
    let each = SHORT_TIME.as_secs();
    let time = match (effort, collectors.len()) {
        (Effort::Short, 1) => format!("about {each} s"),
        (Effort::Short, count) => {
            let minutes = (each * count as u64).div_ceil(60);
            format!("about {each} s each, {minutes} min in all")
        }
        (Effort::Thorough, _) => "all benchmarks three times, without a limit of time".to_owned(),
    };
    let names = names.join(", ");
    format!("measuring the costs of {names} with JDK {version}, once: {time}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plan_says_how_long_it_takes() {
        let text = |collectors: &[Collector], effort| plan("17", effort, collectors);
        let two = [Collector::Serial, Collector::Z];
        let expected =
            "measuring the costs of serial, z with JDK 17, once: about 60 s each, 2 min in all\n";
        assert_eq!(text(&two, Effort::Short), expected);
        assert!(text(&two[..1], Effort::Short).ends_with("once: about 60 s\n"));
        assert!(text(&two, Effort::Thorough).contains("without a limit"));
    }
}
