//! Runs the benchmarks of primitives with JMH.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde::Serialize;

use crate::library::{Fault, Jars, Jvm};

/// How exactly costs are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Six forks: intervals cover other runs.
    Full,
    /// Two short forks of three iterations: an interval covers these forks alone. It takes six
    /// values, of which the range holds the median in 95 % of cases.
    Quick,
}

impl Effort {
    fn options(self) -> &'static [&'static str] {
        match self {
            Effort::Full => &[],
            Effort::Quick => &["-f", "2", "-wi", "3", "-w", "100ms", "-i", "3", "-r", "100ms"],
        }
    }
}

/// The list of primitives as the agent reads it: name, operand with the size, benchmark.
///
/// # Errors
/// If the machine does not start.
pub fn lines(jvm: &Jvm, jars: &Jars) -> Result<String, Fault> {
    let list = Path::new("--primitives");
    let output = jvm.output(&[], &jars.benchmarks, Some(list))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() || text.is_empty() {
        let reason = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(Fault::new(
            format!("{}: {reason}", jvm.program),
            "a JDK of version 17 or later runs the benchmarks",
        ));
    }
    Ok(text)
}

/// A method of the class library whose cost a benchmark measures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Primitive {
    /// Its name, with the class that declares it and its parameters.
    pub name: String,
    /// The operand whose size decides the cost: `this`, or the number of an argument, from 1.
    /// `None`: no size matters.
    pub size: Option<String>,
    /// The benchmark, with its class.
    pub benchmark: String,
}

/// The primitives in the order of their names.
///
/// # Errors
/// Those of [`lines`].
pub fn primitives(jvm: &Jvm, jars: &Jars) -> Result<Vec<Primitive>, Fault> {
    let text = lines(jvm, jars)?;
    let mut by_name = BTreeMap::new();
    for line in text.lines() {
        let found = primitive(line).ok_or_else(|| {
            Fault::new(
                format!(
                    "the list of benchmarks: {line:?} is no method with its size and benchmark"
                ),
                "`make java` builds the jars of this version",
            )
        })?;
        by_name.insert(found.name.clone(), found);
    }
    Ok(by_name.into_values().collect())
}

fn primitive(line: &str) -> Option<Primitive> {
    let [name, size, benchmark] = line.split('\t').collect::<Vec<_>>().try_into().ok()?;
    Some(Primitive {
        name: yamba_predict::canonical(name),
        size: (!size.is_empty()).then(|| size.to_owned()),
        benchmark: benchmark.to_owned(),
    })
}

/// Runs benchmarks and writes the JSON of JMH to `result`. A benchmark that crashes or hangs is
/// missing there.
///
/// # Errors
/// If the machine does not start, or no benchmark has a result.
pub fn measure(
    jvm: &Jvm,
    jars: &Jars,
    names: &[&str],
    effort: Effort,
    result: &Path,
) -> Result<(), Fault> {
    let mut command = Command::new(&jvm.program);
    // The lock of JMH is a file that another user may have left.
    command.arg("-Djmh.ignoreLock=true").args(&jvm.options);
    command.arg("-jar").arg(&jars.benchmarks);
    for name in names {
        command.arg(format!("^{}$", name.replace('.', "\\.")));
    }
    command.args(effort.options());
    command.args(["-to", "60s", "-v", "SILENT", "-rf", "json", "-rff"]);
    command.arg(result).stdout(Stdio::null());
    let started = command.status();
    let status = started.map_err(|e| Fault::program_failed(&jvm.program, &e))?;
    let text = fs::read_to_string(result).unwrap_or_default();
    if text.contains("jmhVersion") {
        return Ok(());
    }
    Err(Fault::new(
        format!("{}: no benchmark has a result: {status}", jvm.program),
        "its messages are above",
    ))
}
