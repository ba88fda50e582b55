//! Resolves the target platform that a user names.

use yamba_lang::{Analysis, Target};

use super::Failure;
use super::select::did_you_mean;
use yamba_toolchain::build::host;

/// The target with this name, an instruction set with or without an operating system; without a
/// name, this machine's target.
pub fn target(named: Option<&str>, analysis: &Analysis) -> Result<Target, Failure> {
    let known = analysis.targets();
    let Some(text) = named else {
        return Ok(host());
    };
    // An instruction set alone implies this machine's operating system.
    let full =
        if text.contains('-') { text.to_owned() } else { format!("{text}-{}", host().system) };
    let names: Vec<String> = known.iter().map(Target::to_string).collect();
    match known.into_iter().find(|t| t.to_string() == full) {
        Some(target) => Ok(target),
        None => Err(Failure::new(format!("no target {text}")).help(
            did_you_mean(&full, &names).unwrap_or(format!("the library has {}", names.join(", "))),
        )),
    }
}
