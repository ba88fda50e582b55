//! `yamba java`

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use yamba_jvm::library::Jvm;
use yamba_jvm::library::jmh::{self, Effort};
use yamba_record::number::counted;
use yamba_session::java::{JavaHere, failure, used};
use yamba_session::vectors;

use super::{Failure, StoreOption, Terminal, arguments, output};

/// Measure the costs of Java's class library
///
/// Benchmarks of JMH measure what calls of the class library cost in a Java virtual machine. `yamba
/// trace --java` counts these calls in a program, and `yamba predict` multiplies.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba java measure --quick                                 all costs, in about six minutes
  yamba java measure --for app.vector                        what this program calls
  yamba java measure --jvm 'java -XX:TieredStopAtLevel=1'    with the first compiler alone
  yamba java list                                            the methods with a benchmark
  yamba trace --java -o app.vector -- java -jar app.jar
  yamba predict app.vector --jvm /opt/jdk-25/bin/java")]
pub(super) struct JavaCommand {
    #[command(subcommand)]
    command: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Measure costs and store them as a run
    Measure(Measure),
    /// List the methods that benchmarks measure
    List(List),
}

#[derive(Args)]
struct List {
    /// The virtual machine
    #[arg(long, value_name = "COMMAND", default_value = "java", value_parser = jvm)]
    jvm: Jvm,
    /// A JSON list: each method with its benchmark, and the operand whose size decides the cost
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct Measure {
    /// The virtual machine with its options
    #[arg(long, value_name = "COMMAND", default_value = "java", value_parser = jvm)]
    jvm: Jvm,
    /// Only what this vector uses, a file or a stored one; may be repeated
    #[arg(long = "for", value_name = "VECTOR")]
    vectors: Vec<PathBuf>,
    /// Two short forks instead of six: intervals do not cover other runs
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    store: StoreOption,
}

impl JavaCommand {
    pub(super) fn run(self) -> Result<(), Failure> {
        match self.command {
            Action::Measure(measure) => measure.run(),
            Action::List(list) => list.run(),
        }
    }
}

impl Measure {
    fn run(self) -> Result<(), Failure> {
        let here = JavaHere::probe(self.jvm)?;
        let mut primitives = BTreeSet::new();
        for path in &self.vectors {
            primitives.extend(used(&vectors::load(path, &self.store.choice())?));
        }
        let wanted = (!self.vectors.is_empty()).then_some(&primitives);
        let benchmarks = here.lacking(None, wanted)?;
        let effort = if self.quick { Effort::Quick } else { Effort::Full };
        self.store.choice().check()?;
        output::note(&measuring(&here, benchmarks.len()));
        let run = here.measure(&benchmarks, effort, arguments())?;
        if self.store.choice().keep(&run, &Terminal::default())? {
            output::result(&format!("{}\n", run.id))?;
        }
        Ok(())
    }
}

/// The line that says how many benchmarks are measured, and in which virtual machine.
pub(super) fn measuring(here: &JavaHere, benchmarks: usize) -> String {
    let java = here.machine.java.as_ref();
    format!(
        "measuring {} in {}\n",
        counted(benchmarks, "benchmark", "benchmarks"),
        java.map_or(String::new(), |java| java.describe())
    )
}

pub(super) fn jvm(text: &str) -> Result<Jvm, String> {
    Jvm::from_text(text).ok_or_else(|| "name the program `java`".to_owned())
}

impl List {
    fn run(self) -> Result<(), Failure> {
        let here = JavaHere::probe(self.jvm)?;
        let all = jmh::primitives(&here.jvm, &here.jars).map_err(failure)?;
        output::json_or_text(self.json, &all, |all| {
            let rows: Vec<Vec<String>> =
                all.iter().map(|of| vec![of.name.clone(), of.benchmark.clone()]).collect();
            output::columns(&rows)
        })
    }
}
