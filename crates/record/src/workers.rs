//! The number of concurrent executions of a benchmark.

use std::fmt;

use serde::Serialize;

/// How often a benchmark runs at the same time: in several processes, or in several threads of one
/// process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Workers {
    /// Number of processes.
    pub processes: u64,
    /// Number of threads of each process.
    pub threads: u64,
}

impl Workers {
    /// One process with one thread.
    pub const ONE: Workers = Workers { processes: 1, threads: 1 };

    /// This number of processes, each with one thread.
    pub fn processes(processes: u64) -> Workers {
        Workers { processes, ..Workers::ONE }
    }

    /// One process with this number of threads.
    pub fn threads(threads: u64) -> Workers {
        Workers { threads, ..Workers::ONE }
    }

    /// The number of threads of all processes.
    pub fn count(self) -> u64 {
        self.processes.saturating_mul(self.threads)
    }

    /// Whether several run at the same time.
    pub fn are_several(self) -> bool {
        self.count() > 1
    }

    /// The name of one of them: `process` or `thread`.
    pub fn kind(self) -> &'static str {
        if self.threads > 1 { "thread" } else { "process" }
    }

    /// The name of several of them: `processes` or `threads`.
    pub fn kinds(self) -> &'static str {
        if self.threads > 1 { "threads" } else { "processes" }
    }
}

/// The numbers that distinguish the entries of a run: of processes, of threads, both or none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkersShown {
    processes: bool,
    threads: bool,
}

impl WorkersShown {
    /// The numbers that are not 1 in every entry.
    pub fn new(all: impl IntoIterator<Item = Workers>) -> WorkersShown {
        let mut shown = WorkersShown::default();
        for workers in all {
            shown.add(workers);
        }
        shown
    }

    /// Shows the numbers of another entry that are not 1.
    pub fn add(&mut self, workers: Workers) {
        self.processes |= workers.processes != 1;
        self.threads |= workers.threads != 1;
    }

    /// The shown numbers of one entry, each as a word: `P=4`, `T=4`.
    pub fn words(self, workers: Workers) -> impl Iterator<Item = String> {
        let processes = self.processes.then(|| format!("P={}", workers.processes));
        let threads = self.threads.then(|| format!("T={}", workers.threads));
        processes.into_iter().chain(threads)
    }

    /// These words as one text, with a space between them; empty if no number is shown.
    pub fn text(self, workers: Workers) -> String {
        self.words(workers).collect::<Vec<String>>().join(" ")
    }
}

impl Default for Workers {
    fn default() -> Workers {
        Workers::ONE
    }
}

/// `P=4` or `T=4`; `P=1` for one process with one thread.
impl fmt::Display for Workers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Workers { processes, threads } = self;
        match threads {
            1 => write!(f, "P={processes}"),
            _ if *processes == 1 => write!(f, "T={threads}"),
            _ => write!(f, "P={processes} T={threads}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_always_one_are_not_shown() {
        let shown = |all: &[Workers]| WorkersShown::new(all.iter().copied()).text(all[0]);
        assert_eq!(shown(&[Workers::ONE]), "");
        assert_eq!(shown(&[Workers::ONE, Workers::threads(4)]), "T=1");
        assert_eq!(shown(&[Workers::processes(2), Workers::ONE]), "P=2");
        let both = [Workers::processes(2), Workers::threads(4)];
        assert_eq!(shown(&both), "P=2 T=1");
    }

    #[test]
    fn text_and_count() {
        for (workers, text, count) in [
            (Workers::ONE, "P=1", 1),
            (Workers::processes(4), "P=4", 4),
            (Workers::threads(4), "T=4", 4),
        ] {
            assert_eq!((workers.to_string().as_str(), workers.count()), (text, count));
            assert_eq!(workers.are_several(), count > 1);
        }
    }
}
