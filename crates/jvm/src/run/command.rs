//! The options of a Java application that a prediction varies.

use crate::library::JavaCommand;

/// Removes the sizes of the heap, the collector and logs from a command, and returns them.
pub fn remove_varied(command: &mut JavaCommand) -> Vec<String> {
    command.options.extract_if(.., |option| varies(option)).collect()
}

fn varies(option: &str) -> bool {
    let sizes = [
        "-Xms",
        "-Xmx",
        "-Xmn",
        "-Xlog",
        "-XX:MaxHeap",
        "-XX:InitialHeap",
        "-XX:NewSize",
        "-XX:MaxNewSize",
        "-XX:MaxRAM",
        "-XX:InitialRAM",
    ];
    let is_collector = (option.starts_with("-XX:+Use") || option.starts_with("-XX:-Use"))
        && option.ends_with("GC");
    // Whether Z has generations is part of the collector.
    is_collector || option.ends_with("ZGenerational") || sizes.iter().any(|s| option.starts_with(s))
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
}
