//! `--placement`: the processors that a benchmark may use.

use clap::ValueEnum;
use yamba_harness::Placement;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum HowPlaced {
    /// On one processor that is chosen, with all its own threads; several processes or threads on
    /// one each
    Pinned,
    /// Wherever the system puts it
    Free,
}

impl HowPlaced {
    /// The placement of a run. Without the option, a benchmark whose own threads run while it is
    /// timed is free.
    pub(super) fn placement(how: Option<HowPlaced>) -> Placement {
        match how {
            None => Placement::Automatic,
            Some(HowPlaced::Pinned) => Placement::Pinned,
            Some(HowPlaced::Free) => Placement::Free,
        }
    }
}
