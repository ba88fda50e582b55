//! The instruction sequences that are timed for an instruction. Gathers and scatters have sequences of their own.

use iced_x86::Instruction;

use super::chain::Chain;
use super::copies::Copies;
use super::{chain, copies, vsib};

/// Returns the dependency chain that measures the latency, or the reason why there is none.
pub(super) fn dependency_chain(given: &Instruction) -> Result<Chain, String> {
    if given.is_vsib() {
        vsib::chain(given)
    } else {
        chain::chain(given)
    }
}

/// Returns the independent copies that measure the throughput, or the reason why there are none.
pub(super) fn independent_copies(given: &Instruction) -> Result<Copies, String> {
    if given.is_vsib() {
        vsib::copies(given)
    } else {
        copies::copies(given)
    }
}
