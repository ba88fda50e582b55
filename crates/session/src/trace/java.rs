//! Counts the calls of Java's class library.

use yamba_harness::Stop;
use yamba_jvm::Input;
use yamba_jvm::library::live::Program;
use yamba_jvm::library::vector::{Names, vector};
use yamba_jvm::library::{JavaCommand, Jvm};
use yamba_predict::{Vector, machine_name};
use yamba_record::Machine;

use super::{Event, Observer, Request};
use crate::java::{JavaHere, failure};
use crate::{Failure, system_failure};

/// Runs the program once to count its calls, then without counting to sample it.
pub(super) fn trace(
    request: &Request,
    words: &[String],
    stop: &Stop,
    observer: Observer<'_>,
) -> Result<(Vector, Machine), Failure> {
    let jvm = Jvm::from_command(words).map_err(failure)?;
    let command = JavaCommand::parse(words).map_err(failure)?;
    let here = JavaHere::probe(jvm)?;
    let program = Program {
        command: words.to_vec(),
        hides_output: request.hides_output,
        input: Input::of_process().map_err(system_failure)?,
        stop: stop.flag().into(),
    };
    let counted = program.count(&here.jvm, &here.jars).map_err(failure)?;
    let sampled = program.sample(&here.jvm, &here.jars).map_err(failure)?;
    sampled.check_work(&counted).map_err(failure)?;
    let names = Names {
        application: request.application.clone().unwrap_or_else(|| command.name()),
        unit: request.unit.clone(),
        units: request.units,
        command: words.to_vec(),
        machine: machine_name(&here.machine),
    };
    let vector = vector(&counted, &sampled, names);
    observer(Event::JavaCounted { counted: &counted, sampled: &sampled, vector: &vector });
    Ok((vector, here.machine))
}
