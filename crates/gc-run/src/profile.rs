//! Profiles the demand of an application: one run with Serial, whose young collections copy all live objects each few megabytes.

use yamba_gc::Collector;
use yamba_gc::costs::CollectorCosts;
use yamba_gc::demand::{AGES, Census, Demand, SCHEMA};
use yamba_gc::log::Kind;
use yamba_java::JavaCommand;

use crate::classes::Classes;
use crate::jvm::Finished;
use crate::{Jvm, Limits};

/// Size of the young generation, in MB. A third is one survivor space, and bounds the live set.
const YOUNG_MB: u64 = 3072;
const OLD_MB: u64 = 256;

/// Runs an application once, with `serial` as the costs of Serial, and with at least `step_bytes` allocated between two censuses.
pub fn profile(
    jvm: &Jvm,
    serial: &CollectorCosts,
    command: &JavaCommand,
    step_bytes: u64,
    limits: Limits,
) -> Result<Demand, String> {
    profile_with(
        &Classes::compile(jvm)?,
        jvm,
        serial,
        command,
        step_bytes,
        limits,
    )
}

/// Runs an application as `profile` does, with compiled classes.
pub(crate) fn profile_with(
    classes: &Classes,
    jvm: &Jvm,
    serial: &CollectorCosts,
    command: &JavaCommand,
    step_bytes: u64,
    limits: Limits,
) -> Result<Demand, String> {
    let jar = classes.jar();
    let mut arguments: Vec<String> = [
        "-XX:SurvivorRatio=1",
        "-XX:MaxTenuringThreshold=16",
        "-XX:TargetSurvivorRatio=100",
        // Eden is large, and by default a thread's allocation buffer grows with it. A whole buffer counts as allocated.
        "-XX:TLABSize=64k",
        "-XX:-ResizeTLAB",
        "-XX:MetaspaceSize=1g",
        "-XX:+DisableExplicitGC",
        "-XX:+UnlockDiagnosticVMOptions",
        "-XX:+WhiteBoxAPI",
        "-XX:-DisplayVMOutput",
    ]
    .map(str::to_owned)
    .into();
    arguments.push(format!("-Xmn{YOUNG_MB}m"));
    arguments.push(format!("-Xms{}m", YOUNG_MB + OLD_MB));
    arguments.push(format!("-Xmx{}m", YOUNG_MB + OLD_MB));
    arguments.push(format!("-Xbootclasspath/a:{}", jar.display()));
    let times = jar.with_file_name("times");
    arguments.push(format!(
        "-javaagent:{}={step_bytes},{}",
        jar.display(),
        times.display()
    ));
    arguments.extend(command.arguments());
    let finished = jvm.run(Collector::Serial, &arguments, "gc*,gc+age=trace", limits)?;
    let times = std::fs::read_to_string(&times).map_err(|e| e.to_string())?;
    let times: Vec<f64> = times.lines().filter_map(|l| l.parse().ok()).collect();
    demand(jvm, serial, command, &finished, &times)
}

/// `times` has the processor time of each collection, in ns.
fn demand(
    jvm: &Jvm,
    serial: &CollectorCosts,
    command: &JavaCommand,
    finished: &Finished,
    times: &[f64],
) -> Result<Demand, String> {
    let mut censuses: Vec<Census> = Vec::new();
    let mut allocated_bytes = 0.0;
    let mut pauses_ns = 0.0;
    for (i, collection) in finished.collections().into_iter().enumerate() {
        pauses_ns += collection.pauses_ns.iter().sum::<f64>();
        if collection.kind != Some(Kind::Young) {
            return Err(
                "the application has more live data than the profile allows: 1 GB".to_owned(),
            );
        }
        allocated_bytes += collection.eden_bytes;
        let mut ages = collection.bytes_by_age.clone();
        ages.resize(AGES, 0.0);
        ages[AGES - 1] += collection.old_bytes.1;
        censuses.push(Census {
            allocated_bytes,
            live_bytes_by_age: ages,
            copy_ns: times.get(i).copied(),
            metaspace_bytes: collection.metaspace_bytes,
        });
    }
    if censuses.is_empty() {
        return Err(
            "the application allocates too little for a profile: try a smaller --step".to_owned(),
        );
    }
    Ok(Demand {
        schema: SCHEMA.to_owned(),
        application: command.name(),
        command: command.arguments(),
        jvm: jvm.version.clone(),
        allocated_bytes: allocated_bytes + rest_of_eden(&finished.log),
        mutator_ns: finished.elapsed_ns - pauses_ns,
        gc_cpu_ns: finished.gc_cpu_ns,
        serial: serial.clone(),
        censuses,
        not_measured: [
            "reference stores and loads: the cost of barriers is not predicted",
            "references from old to young objects",
            "sizes of single objects: the costs of copies stand for them",
            "calls of System.gc(), which are ignored",
        ]
        .map(str::to_owned)
        .into(),
    })
}

/// Bytes in Eden at the end: `eden space 34944K, 2% used [0xBOTTOM, 0xTOP, 0xEND)`.
fn rest_of_eden(log: &str) -> f64 {
    let line = log.lines().rev().find(|l| l.contains("eden space"));
    let Some((_, addresses)) = line.and_then(|l| l.rsplit_once('[')) else {
        return 0.0;
    };
    let number = |text: &str| u64::from_str_radix(text.trim().trim_start_matches("0x"), 16).ok();
    let parts: Vec<Option<u64>> = addresses.split(',').map(number).collect();
    match parts[..] {
        [Some(bottom), Some(top), ..] => top.saturating_sub(bottom) as f64,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rest_of_eden_is_the_distance_of_its_addresses() {
        let log = "[0.5s][info][gc,exit ]   eden space 34944K,   2% used [0x00000000f8000000, 0x00000000f80aebf0, 0x00000000fa220000)";
        assert_eq!(rest_of_eden(log), f64::from(0xaebf0));
        assert_eq!(rest_of_eden(""), 0.0);
    }
}
