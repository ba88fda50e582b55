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
        if !self.widths.is_empty() {
            let each = self.widths.iter();
            let each = each.map(|(cpu, width)| format!("{cpu}={}", width.round()));
            let list = each.collect::<Vec<String>>().join(",");
            arguments.extend(["--quiet-widths".to_owned(), list]);
        }
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
        assert_eq!(later.quiet_width(12), Some(1690.0));
        assert_eq!(later.quiet_width(1), None);
    }
}
