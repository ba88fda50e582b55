//! The cycles that LLVM's model of this processor predicts for the measured steps.
//! <https://llvm.org/docs/CommandGuide/llvm-mca.html>

use std::io::Write;
use std::process::{Command, Stdio};

use iced_x86::Instruction;

use super::code::show;

/// Iterations of the shorter simulation; the longer one has twice as many, so that the filling and
/// draining of the pipeline cancel.
const ITERATIONS: u64 = 100;

/// The program, which knows this processor.
#[derive(Clone, Debug)]
pub(in super::super) struct Model {
    program: String,
    /// As `LLVM 19.1.7, znver5`.
    name: String,
}

impl Model {
    /// Asks the program for its version and its name of this processor. Errors are sentences.
    pub(in super::super) fn find(program: &str) -> Result<Model, String> {
        let output = Command::new(program).arg("--version").output();
        let output = output.map_err(|e| {
            format!("--against: cannot run `{program}`: {e}; install LLVM's llvm-mca, or name another, as llvm-mca-19")
        })?;
        let text = String::from_utf8_lossy(&output.stdout);
        let after = |label: &str| {
            let mut lines = text.lines().filter_map(|line| line.split_once(label));
            lines.next().map(|(_, rest)| rest.trim().to_owned())
        };
        let (Some(version), Some(processor)) = (after("LLVM version "), after("Host CPU:")) else {
            return Err(format!("--against: `{program} --version` names no LLVM and no host CPU"));
        };
        // LLVM would silently take the model of another processor.
        if processor.starts_with('(')
            || processor.contains("generic")
            || processor.starts_with("x86-64")
        {
            return Err(format!(
                "--against: `{program}` (LLVM {version}) does not know this processor; a newer LLVM may"
            ));
        }
        Ok(Model { program: program.to_owned(), name: format!("LLVM {version}, {processor}") })
    }

    /// Cycles per step, or the reason for their absence. With `may_alias`, loads wait for earlier
    /// stores.
    pub(super) fn cycles(&self, steps: &[Vec<Instruction>], may_alias: bool) -> Prediction {
        let lines: Vec<String> = steps.iter().flatten().map(show).collect();
        let text = format!(".intel_syntax noprefix\n{}\n", lines.join("\n"));
        let total = |iterations| self.total_cycles(&text, iterations, may_alias);
        let difference = total(ITERATIONS).and_then(|short| Ok(total(2 * ITERATIONS)? - short));
        let cycles = difference.map(|all| all / (ITERATIONS as f64 * steps.len() as f64));
        Prediction { cycles, name: self.name.clone() }
    }

    fn total_cycles(&self, text: &str, iterations: u64, may_alias: bool) -> Result<f64, String> {
        let mut command = Command::new(&self.program);
        command.args(["-mtriple=x86_64", "-mcpu=native", "-json"]);
        command.arg(format!("-iterations={iterations}")).arg(format!("-noalias={}", !may_alias));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|e| e.to_string())?;
        let written = child.stdin.take().map(|mut pipe| pipe.write_all(text.as_bytes()));
        let output = child.wait_with_output().map_err(|e| e.to_string())?;
        if !output.status.success() || !matches!(written, Some(Ok(()))) {
            let error = String::from_utf8_lossy(&output.stderr);
            return Err(error.lines().next().unwrap_or("it failed without a message").to_owned());
        }
        let document: serde_json::Value =
            serde_json::from_slice(&output.stdout).map_err(|e| e.to_string())?;
        let cycles = &document["CodeRegions"][0]["SummaryView"]["TotalCycles"];
        cycles.as_f64().ok_or_else(|| "its answer has no `TotalCycles`".to_owned())
    }
}

/// A model's answer for the steps of a figure.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) struct Prediction {
    cycles: Result<f64, String>,
    name: String,
}

/// A model differs only by more than this share of the figure: it counts whole cycles of each unit,
/// so that small differences mean nothing.
const DIFFERENCE: f64 = 0.05;

impl Prediction {
    /// The note for a figure. `measured` is its median and interval in cycles.
    pub(in super::super) fn note(&self, measured: Option<(f64, [f64; 2])>) -> String {
        let name = &self.name;
        let cycles = match &self.cycles {
            Ok(cycles) => *cycles,
            Err(why) => return format!("llvm-mca ({name}) has no figure: {why}"),
        };
        let shown = yamba_record::number::number(cycles);
        let Some((median, [low, high])) = measured.filter(|(median, _)| *median > 0.0) else {
            return format!("llvm-mca ({name}): {shown} cycles");
        };
        let ratio = cycles / median;
        let is_outside = !(low..=high).contains(&cycles);
        if is_outside && (ratio - 1.0).abs() > DIFFERENCE {
            let ratio = yamba_record::number::number(ratio);
            return format!(
                "llvm-mca ({name}): {shown} cycles, {ratio} times the measured: the model differs"
            );
        }
        format!("llvm-mca ({name}): {shown} cycles, as measured")
    }
}
