//! How a user wants batches beside a neighbour to be treated, by the environment variable
//! `YAMBA_NEIGHBOURS`, and what is known of neighbours.

use yamba_harness::{Neighbours, add_kept_widths, kept_caches, kept_core_pairs, kept_hardware};
use yamba_lang::Target;
use yamba_record::Machine;
use yamba_toolchain::embedded;

use super::Failure;

const VARIABLE: &str = "YAMBA_NEIGHBOURS";
const COUNT: &str = "count";
const DISCARD: &str = "discard";

/// Checks the value of `YAMBA_NEIGHBOURS`.
///
/// # Errors
/// If the value is unknown.
pub fn check_neighbours() -> Result<(), Failure> {
    let value = std::env::var_os(VARIABLE).unwrap_or_default();
    if value.is_empty() || value == COUNT || value == DISCARD {
        return Ok(());
    }
    let value = value.to_string_lossy();
    Err(Failure::new(format!("{VARIABLE} is {value}"))
        .help(format!("it must be {COUNT} or {DISCARD}")))
}

/// Batches beside a neighbour are discarded, unless the user wants them to count. The quiet widths
/// are kept in the cache folder; without such a folder, each run finds its own.
pub(super) fn neighbours() -> Neighbours {
    if std::env::var_os(VARIABLE).is_some_and(|value| value == COUNT) {
        return Neighbours::Count;
    }
    Neighbours::Discard(embedded::cache_root().ok())
}

/// Describes this machine, for programs of `target`, with the contention that the latest run found,
/// and the cores and caches that runs measured.
pub fn machine(target: &Target) -> Machine {
    let mut machine = yamba_machine::probe(&target.isa, &target.system);
    if let Ok(folder) = embedded::cache_root() {
        add_kept_widths(&mut machine, &folder);
        machine.core_pairs = kept_core_pairs(&folder, &machine);
        machine.measured_caches = kept_caches(&folder, &machine);
        machine.hardware = kept_hardware(&folder, &machine);
    }
    machine
}

/// This machine with the findings of earlier runs. `None` if runs do not use them now.
pub(super) fn machine_of_run(target: &Target) -> Option<Machine> {
    matches!(neighbours(), Neighbours::Discard(_)).then(|| machine(target))
}
