//! The parameters of the processor that runs found, and drawings of some of their curves.

mod curves;
mod parameters;

use yamba_record::Run;
use yamba_record::hardware::HardwareParameter;

pub(crate) use curves::is_drawn;
pub use parameters::{parts, value};

use crate::view::Section;

/// The section of the parameters. `None` if no run has any.
pub fn section(runs: &[Run]) -> Option<Section> {
    let found: Vec<Vec<HardwareParameter>> = runs.iter().map(parameters::found_in).collect();
    if found.iter().all(Vec::is_empty) {
        return None;
    }
    let tables = match &found[..] {
        [one] => parts(one),
        several => parameters::side_by_side(several),
    };
    let parts = tables.into_iter().chain(curves::parts(runs)).collect();
    Some(Section { title: "Hardware".to_owned(), parts })
}
