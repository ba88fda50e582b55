//! `yamba gc`

mod predict;
mod profile;

use std::cell::{Cell, RefCell};
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use profile::ProfileShown;
use yamba_harness::Stop;
use yamba_jvm::gc::Collector;
use yamba_jvm::run::{Effort, Jvm, Progress, SHORT_TIME, Step};
use yamba_session::gc::{CostsRequest, Event, Observer, characterise};

use super::output::StatusLine;
use super::{Answer, Failure, output, system_failure};
use crate::views;

/// Predict garbage collection with another collector or heap
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
    Characterise(Characterise),
    Profile(profile::Profile),
    Predict(predict::Predict),
}

impl GcCommand {
    pub(super) fn run(self) -> Result<Answer, Failure> {
        let stop = Stop::on_signals().map_err(system_failure)?;
        let done = match self.action {
            Action::Characterise(c) => c.run(&stop).map(Answer::from),
            Action::Profile(c) => c.run(&stop).map(Answer::from),
            Action::Predict(c) => c.run(&stop),
        };
        output::unless_stopped(done, &stop, Answer::INTERRUPTED)
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

/// Shows what a use case does.
#[derive(Default)]
struct Shown {
    line: RefCell<Option<StatusLine>>,
    profile: Cell<Option<ProfileShown>>,
}

impl Observer for Shown {
    fn costs(&self, jvm: &Jvm, effort: Effort) -> Box<dyn Progress> {
        Box::new(ShownProgress { version: jvm.version.clone(), effort, line: None })
    }

    fn event(&self, event: Event<'_>) {
        match event {
            Event::ReplacedOptions(options) => {
                output::note(&format!("replaced options: {}\n", options.join(" ")));
            }
            Event::ProfileBegins { application, jvm, others } => {
                output::note(&format!("{application} runs with JDK {jvm}\n"));
                self.profile.set(Some(ProfileShown::new(others)));
                let text = format!("{application}: counting live objects");
                *self.line.borrow_mut() = Some(StatusLine::new(&text));
            }
            Event::Profiling(stage) => {
                let text = self.profile.get().and_then(|profile| profile.text(stage));
                if let (Some(text), Some(line)) = (text, &*self.line.borrow()) {
                    line.show(&text);
                }
            }
            Event::Measuring { application, collector } => {
                let text = format!("running {application} with {}", collector.name());
                *self.line.borrow_mut() = Some(StatusLine::new(&text));
            }
            Event::RunsEnded => *self.line.borrow_mut() = None,
        }
    }
}

/// Says how long a measurement of costs takes, and shows its runs.
struct ShownProgress {
    version: String,
    effort: Effort,
    line: Option<StatusLine>,
}

impl Progress for ShownProgress {
    fn plan(&mut self, collectors: &[Collector]) {
        if !collectors.is_empty() {
            output::note(&plan(&self.version, self.effort, collectors));
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

/// Measure what the collectors of a JDK cost here
///
/// Small Java programs with known live objects (lists, trees, arrays, wide fan-in, blocks of bytes)
/// run with each collector. A fit gives the fixed cost of a collection, and the cost of each live
/// byte by shape. The costs are kept for later predictions. Half of the benchmarks run for 60 s
/// with each collector, as often as the time suffices; the deviation between their runs is part of
/// the intervals of predictions.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba gc characterise                       all collectors, 60 s each
  yamba gc characterise --collector serial --thorough
  yamba gc characterise --jdk /opt/jdk-25 --json")]
pub(super) struct Characterise {
    #[command(flatten)]
    collectors: CollectorOption,
    #[command(flatten)]
    jdk: JdkOption,
    /// All benchmarks, three times each, without a limit of time: narrower intervals
    #[arg(long)]
    thorough: bool,
    /// Measure again what was measured before
    #[arg(long)]
    force: bool,
    /// One JSON document, `yamba-gc-costs/1`
    #[arg(long)]
    json: bool,
}

impl Characterise {
    fn run(self, stop: &Stop) -> Result<(), Failure> {
        let request = CostsRequest {
            jdk: self.jdk.jdk,
            collectors: self.collectors.chosen(),
            is_thorough: self.thorough,
            is_forced: self.force,
        };
        let found = characterise(&request, stop, &Shown::default())?;
        output::json_or_view(self.json, &found, views::gc::costs::view)
    }
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
