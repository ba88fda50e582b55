//! How a launch chooses its processor: the program probes the processors and measures on the
//! quietest. Pure.

use std::collections::BTreeMap;

/// The choice of one launch.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Choice {
    /// Selects the processors to probe if there are many.
    pub seed: u64,
    /// The processor of earlier launches. The launch stays there if no other one is clearly
    /// quieter.
    pub home: Option<u64>,
    /// The known quiet widths by processor, in cycles of 10 000 instructions.
    pub widths: BTreeMap<u64, f64>,
    /// The tested cores, as `--cores` has them.
    pub cores: Option<String>,
    /// Whether the launch takes longer if many of its batches are contended.
    pub until_quiet: bool,
}

impl Choice {
    /// The program's command-line arguments.
    pub fn arguments(&self) -> Vec<String> {
        let mut arguments = vec!["--choose".to_owned(), self.seed.to_string()];
        if let Some(home) = self.home {
            arguments.extend(["--home".to_owned(), home.to_string()]);
        }
        arguments.extend(by_processor("--quiet-widths", &self.widths));
        if let Some(cores) = &self.cores {
            arguments.extend(["--cores".to_owned(), cores.clone()]);
        }
        if self.until_quiet {
            arguments.push("--until-quiet".to_owned());
        }
        arguments
    }

    /// The quiet width of a launch that chose this processor.
    pub fn quiet_width(&self, cpu: u64) -> Option<f64> {
        let width = self.widths.get(&cpu).filter(|_| self.until_quiet);
        width.copied()
    }
}

/// The arguments by which a program knows the reorder buffers of processors, in entries.
pub(super) fn whole_buffers(known: &BTreeMap<u64, u64>) -> Vec<String> {
    let known = known.iter().map(|(cpu, entries)| (*cpu, *entries as f64));
    by_processor("--whole-buffers", &known.collect())
}

/// An option with a whole number for each processor; nothing without any.
fn by_processor(option: &str, values: &BTreeMap<u64, f64>) -> Vec<String> {
    let each = values.iter().map(|(cpu, value)| format!("{cpu}={}", value.round()));
    let list = each.collect::<Vec<String>>().join(",");
    if list.is_empty() { Vec::new() } else { vec![option.to_owned(), list] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_name_what_is_known() {
        let first = Choice {
            seed: 7,
            home: None,
            widths: BTreeMap::new(),
            cores: None,
            until_quiet: false,
        };
        assert_eq!(first.arguments(), ["--choose", "7"]);
        let later = Choice {
            home: Some(1),
            widths: BTreeMap::from([(0, 1701.6), (12, 1690.0)]),
            cores: Some("0+12".to_owned()),
            until_quiet: true,
            ..first
        };
        assert_eq!(
            later.arguments().join(" "),
            "--choose 7 --home 1 --quiet-widths 0=1702,12=1690 --cores 0+12 --until-quiet"
        );
        assert_eq!(whole_buffers(&BTreeMap::from([(0, 385), (16, 215)]))[1], "0=385,16=215");
        assert!(whole_buffers(&BTreeMap::new()).is_empty());
        assert_eq!(later.quiet_width(12), Some(1690.0));
        assert_eq!(later.quiet_width(1), None);
    }
}
