//! Chooses the instruction sequences for an instruction. Gathers and scatters need special sequences.

use iced_x86::Instruction;

use super::chain::Chain;
use super::copies::Copies;
use super::{chain, copies, vsib};

/// The dependency chain for the latency, or the reason for its absence.
pub(super) fn dependency_chain(given: &Instruction) -> Result<Chain, String> {
    if given.is_vsib() {
        vsib::chain(given)
    } else {
        chain::chain(given)
    }
}

/// The independent copies for the throughput, or the reason for their absence.
pub(super) fn independent_copies(given: &Instruction) -> Result<Copies, String> {
    if given.is_vsib() {
        vsib::copies(given)
    } else {
        copies::copies(given)
    }
}
