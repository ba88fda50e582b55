//! The remarks of `yamba trace --java`.

use yamba_jvm::library::vector::{Counted, Sampled};
use yamba_predict::Vector;
use yamba_record::number::{self, number};

pub(super) fn remarks(counted: &Counted, sampled: &Sampled, vector: &Vector) -> String {
    let calls: f64 = vector.primitives.iter().map(|used| used.count).sum();
    let share = |ns: f64| number(100.0 * ns / sampled.all_ns());
    let mut text = format!(
        "{} calls of the class library each {}\n{} samples in {}: {} % in the class library, {} % in the program, {} % in other threads\n",
        number(calls),
        vector.unit,
        sampled.samples,
        number::counted(sampled.runs, "run", "runs"),
        share(sampled.in_library_ns()),
        share(sampled.program_ns),
        share(sampled.others_ns),
    );
    if let Some(failure) = &counted.failure {
        text += &format!("error: {failure}: the counts are those of a command that failed\n");
    }
    if counted.left_out_classes > 0 {
        let classes = number::counted(counted.left_out_classes, "class", "classes");
        text += &format!(
            "warning: the calls of {classes} were not counted: they cannot be rewritten\n"
        );
    }
    if sampled.samples < 300 {
        text += "warning: few samples, so the times are uncertain: let the program work longer\n";
    }
    text
}
