//! The CPUID instructions with which the C library begins each program.
//!
//! In a virtual machine each of them goes to the hypervisor: on an Emerald Rapids, the 68 of a
//! start took 0.45 ms, two thirds of the user time of `sort` (docs/notes/prediction.md). Their time
//! has nothing to do with that of other instructions, so it is carried by a cost of its own.

use super::pair::{Pair, Systems};
use crate::costs::Cost;
use crate::vector::{Use, count_of};

/// The CPUID instructions of the start of a program.
pub(crate) const START: &str = "user(start)";

/// The number of programs with GNU's C library that an application starts for each unit of its
/// work. At its start, this library calls `set_robust_list` once. Threads and copies of a process
/// may call it, too.
pub(crate) fn starts(uses: &[Use]) -> f64 {
    count_of(uses, &["execve", "execveat"]).min(count_of(uses, &["set_robust_list"]))
}

/// The costs of the starts: here of those that were traced, there of those that a change has left.
/// `None`: a machine does not have the cost.
pub(crate) fn costs_of(starts: Pair<f64>, systems: Systems) -> Option<Pair<Cost>> {
    let each = systems.map(|costs| costs.at_knot(START, None)).both()?;
    Some(each.zip(starts).map(|(cost, count)| cost.times(count)))
}

/// Whether programs are started whose instructions may cost something else than others, and no cost
/// says how much. Only x86 has this instruction.
pub(crate) fn lack_a_cost(starts: Pair<f64>, systems: Systems) -> bool {
    let is_x86 = systems.from.isa.starts_with("x86") || systems.to.isa.starts_with("x86");
    is_x86 && starts.from + starts.to > 0.0 && costs_of(starts, systems).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::used;

    #[test]
    fn starts_are_programs_of_this_library() {
        let uses = [
            used("execve", None, 1.0),
            used("execve(vfork)", None, 10.0),
            used("execve(failed)", None, 4.0),
            used("set_robust_list", None, 8.0),
        ];
        assert_eq!(starts(&uses), 8.0);
        // With threads.
        assert_eq!(starts(&[used("execve", None, 1.0), used("set_robust_list", None, 5.0)]), 1.0);
        assert_eq!(starts(&[used("execve", None, 1.0)]), 0.0);
    }
}
