//! Sizes of caches and memory that a program takes instead of those that the system reports.

use super::options::Options;

/// Environment variable with the sizes, for every program of a run: `NAME=BYTES ...`, of which a later one replaces an earlier one.
pub(super) const SIZES: &str = "YAMBA_SIZES";

/// The value of [`SIZES`]: what the run has time for, then the sizes of the user's environment.
pub(super) fn variable(options: &Options) -> String {
    let room = options.buffer_room().map(|r| format!("buffer_room={r}"));
    let given = std::env::var(SIZES).ok();
    let both: Vec<String> = room.into_iter().chain(given).collect();
    both.join(" ")
}
