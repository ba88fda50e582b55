//! pyperf, a library of Python: <https://pyperf.readthedocs.io>.

use super::super::adapter::{Adapter, LAYOUT, Launch, Program, Start};

pub(super) struct Pyperf;

impl Adapter for Pyperf {
    fn name(&self) -> &'static str {
        "pyperf"
    }

    fn is_it(&self, program: &Program) -> bool {
        program.helps_with(&["--inherit-environ", "--min-time"])
    }

    /// pyperf starts a process of its own for each run and for its calibration. One such process
    /// is the observation.
    fn start(&self, program: &Program, launch: &Launch<'_>) -> Start {
        let results = launch.folder.join("results.json");
        let arguments = [
            "--processes=1".to_owned(),
            "--values=3".to_owned(),
            "--warmups=1".to_owned(),
            format!("--min-time={}", launch.seconds()),
            "--quiet".to_owned(),
            // The length of this variable varies the place of the stack.
            format!("--inherit-environ={LAYOUT}"),
            "--output".to_owned(),
            results.display().to_string(),
        ];
        Start { words: program.with(arguments), results, ..Start::default() }
    }
}
