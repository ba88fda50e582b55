//! Measures a program that follows the protocol of docs/protocol.md, in any language.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use yamba_harness::{CommandOutput, Job, Options, Program, ProgramRunner, ProgramStart, Stop};
use yamba_lang::Target;
use yamba_record::program::{Program as Description, SCHEMA};
use yamba_record::run::{Producer, Provenance};
use yamba_store::without_password;

use super::measure::{Measured, measured};
use super::{Failure, Observer, StoreChoice, temporary_folder};

/// How long a program may take to describe itself.
const PATIENCE: Duration = Duration::from_secs(10);

/// A program that has described itself.
pub struct ProtocolProgram {
    words: Vec<String>,
    class: String,
}

/// Asks a program for its description. `None`: it does not follow the protocol.
///
/// # Errors
/// If its description is not complete.
pub fn ask(words: &[String], stop: &Stop) -> Result<Option<ProtocolProgram>, Failure> {
    let folder = temporary_folder("yamba-describe-")?;
    let output = folder.path().join("description");
    let mut all = words.to_vec();
    all.push("--describe".to_owned());
    let file = CommandOutput::File(output.clone());
    let start = ProgramStart { words: all, output: file, ..ProgramStart::default() };
    let (ended, messages) = ProgramRunner::new(stop, Some(PATIENCE)).run(&start);
    let text = fs::read_to_string(output).unwrap_or_default();
    if !text.contains(SCHEMA) {
        return Ok(None);
    }
    let program = words.join(" ");
    if !ended.end.is_success() {
        let end = ended.end;
        return Err(Failure::new(format!("`{program} --describe` {end}: {messages}"))
            .help("docs/protocol.md describes what it must print"));
    }
    let description: Description = serde_json::from_str(&text).map_err(|e| {
        Failure::new(format!("`{program} --describe`: {e}"))
            .help("docs/protocol.md describes what it must print")
    })?;
    Ok(Some(ProtocolProgram { words: words.to_vec(), class: description.class }))
}

impl ProtocolProgram {
    /// Measures the program as `yamba run` measures a benchmark of its own, and stores the run.
    ///
    /// # Errors
    /// If a parameter is wrong, or the named store cannot be opened.
    pub fn measure(
        &self,
        mut options: Options,
        arguments: &[String],
        target: &Target,
        stop: &Stop,
        store: &StoreChoice,
        observer: &dyn Observer,
    ) -> Result<Measured, Failure> {
        options.origin.producer = Producer {
            version: concat!("yamba ", env!("CARGO_PKG_VERSION")).to_owned(),
            arguments: arguments.iter().map(|a| without_password(a)).collect(),
            ..Producer::default()
        };
        let (last, runner) = self.words.split_last().ok_or_else(|| {
            Failure::new("--program: there is no program").help("write a program")
        })?;
        let job = Job {
            class: self.class.clone(),
            program: Ok(Program {
                path: PathBuf::from(last),
                runner: runner.to_vec(),
                emulated: false,
            }),
            // The program may depend on libraries, data or an interpreter that are not known here.
            provenance: Provenance::default(),
            texts: Default::default(),
        };
        measured(&[job], &options, target, stop, store, observer)
    }
}
