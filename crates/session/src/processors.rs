//! Finds the processors that benchmarks can be pinned to.

use super::{Failure, system_failure};
use yamba_harness::Placement;

/// Pins benchmarks to the processor with this number.
///
/// # Errors
/// If this process may not run on it.
pub fn placement_on(cpu: u64) -> Result<Placement, Failure> {
    let allowed = yamba_machine::allowed_processors().map_err(system_failure)?;
    if !allowed.contains(&cpu) {
        let all: Vec<String> = allowed.iter().map(u64::to_string).collect();
        return Err(Failure::new(format!("--cpu {cpu}: no such processor may be used"))
            .help(format!("there are {}", all.join(", "))));
    }
    Ok(Placement::On(cpu))
}
