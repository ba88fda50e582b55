//! `yamba trace --java`: calls of Java's class library.

use yamba_jvm::library::live::Program;
use yamba_jvm::library::vector::{Counted, Names, Sampled, vector};
use yamba_jvm::library::{JavaCommand, Jvm};
use yamba_predict::{Vector, machine_name};
use yamba_record::Machine;
use yamba_record::number::number;
use yamba_session::java::failure;

use super::TraceCommand;
use crate::cli::{Failure, java, output};

/// Runs the program once to count its calls, then without counting to sample it.
pub(super) fn trace(options: &TraceCommand) -> Result<(Vector, Machine), Failure> {
    let jvm = Jvm::from_command(&options.command).map_err(failure)?;
    let command = JavaCommand::parse(&options.command).map_err(failure)?;
    let here = java::here(jvm)?;
    let program =
        Program { command: options.command.clone(), hides_output: options.output.is_none() };
    let counted = program.count(&here.jvm, &here.jars).map_err(failure)?;
    let sampled = program.sample(&here.jvm, &here.jars).map_err(failure)?;
    let names = Names {
        application: options.application.clone().unwrap_or_else(|| command.name()),
        unit: options.unit.clone(),
        units: options.units,
        command: options.command.clone(),
        machine: machine_name(&here.machine),
    };
    let vector = vector(&counted, &sampled, names);
    output::note(&remarks(&counted, &sampled, &vector));
    Ok((vector, here.machine))
}

fn remarks(counted: &Counted, sampled: &Sampled, vector: &Vector) -> String {
    let calls: f64 = vector.primitives.iter().map(|used| used.count).sum();
    let share = |ns: f64| number(100.0 * ns / sampled.all_ns());
    let mut text = format!(
        "{} calls of the class library each {}\n{} samples in {}: {} % in the class library, {} % in the program, {} % in other threads\n",
        number(calls),
        vector.unit,
        sampled.samples,
        output::counted(sampled.runs as usize, "run", "runs"),
        share(sampled.in_library_ns()),
        share(sampled.program_ns),
        share(sampled.others_ns),
    );
    if let Some(failure) = &counted.failure {
        text += &format!("error: {failure}: the counts are those of a command that failed\n");
    }
    if counted.left_out_classes > 0 {
        let classes = output::counted(counted.left_out_classes as usize, "class", "classes");
        text += &format!(
            "warning: the calls of {classes} were not counted: they cannot be rewritten\n"
        );
    }
    if sampled.samples < 300 {
        text += "warning: few samples, so the times are uncertain: let the program work longer\n";
    }
    text
}
