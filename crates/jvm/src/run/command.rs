//! The options of a Java application that a prediction varies.

use crate::library::JavaCommand;

/// Removes the options of the heap, the collector and logs from a command, and returns them: a
/// prediction simulates the defaults of all but the heap's size.
pub fn remove_varied(command: &mut JavaCommand) -> Vec<String> {
    command.options.extract_if(.., |option| varies(option)).collect()
}

/// Options that begin with one of these.
const SIZES_AND_LOGS: [&str; 5] = ["-Xms", "-Xmx", "-Xmn", "-Xlog", "-verbose:gc"];

/// Parts of the names of `-XX` options of collectors.
const PARTS: [&str; 12] = [
    "Adaptive",
    "GC",
    "NewRatio",
    "NewSize",
    "OldSize",
    "PLAB",
    "Pretenure",
    "SoftRef",
    "Survivor",
    "TLAB",
    "Tenur",
    "ParallelRef",
];

/// Beginnings of such names. All options that begin with Z are of the collector Z.
const BEGINS: [&str; 13] = [
    "AggressiveHeap",
    "G1",
    "InitialHeap",
    "InitialRAM",
    "InitiatingHeap",
    "MaxHeap",
    "MaxRAM",
    "MetaspaceSize",
    "MinHeap",
    "MinRAM",
    "Shenandoah",
    "SoftMaxHeap",
    "Z",
];

fn varies(option: &str) -> bool {
    if SIZES_AND_LOGS.iter().any(|begin| option.starts_with(begin)) {
        return true;
    }
    let Some(name) = option.strip_prefix("-XX:") else {
        return false;
    };
    let name = name.trim_start_matches(['+', '-']);
    PARTS.iter().any(|part| name.contains(part)) || BEGINS.iter().any(|b| name.starts_with(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_heap_and_collector_are_removed_only_before_the_program() {
        let text = "java -Xmx1g -XX:+UseZGC -Dx=-Xmx2g -cp a.jar Main -Xmx3g";
        let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        let mut command = JavaCommand::parse(&words).unwrap();
        assert_eq!(remove_varied(&mut command), ["-Xmx1g", "-XX:+UseZGC"]);
        let kept = "-Dx=-Xmx2g -cp a.jar Main -Xmx3g";
        assert_eq!(command.arguments().join(" "), kept);
    }

    /// Options with which a profile had other objects alive, or its ordinary runs other
    /// collections than the simulation.
    #[test]
    fn options_that_tune_a_collector_are_removed() {
        let tuning = [
            "-XX:MaxTenuringThreshold=1",
            "-XX:+AlwaysTenure",
            "-XX:NewRatio=1",
            "-XX:SurvivorRatio=4",
            "-XX:TLABSize=1m",
            "-XX:-ResizeTLAB",
            "-XX:MaxGCPauseMillis=50",
            "-XX:InitiatingHeapOccupancyPercent=20",
            "-XX:G1HeapRegionSize=4m",
            "-XX:-UseAdaptiveSizePolicy",
            "-XX:ParallelGCThreads=1",
            "-XX:+ZGenerational",
            "-XX:+DisableExplicitGC",
            "-verbose:gc",
            "-Xloggc:gc.log",
        ];
        for option in tuning {
            assert!(varies(option), "{option}");
        }
        let kept = [
            "-XX:+UseCompressedOops",
            "-XX:TieredStopAtLevel=1",
            "-XX:MaxMetaspaceSize=64m",
            "-XX:+HeapDumpOnOutOfMemoryError",
            "-Xss1m",
            "-verbose:class",
            "-Dx=-XX:NewRatio=1",
        ];
        for option in kept {
            assert!(!varies(option), "{option}");
        }
    }
}
