//! The caches of this machine, inferred from curves that benchmark programs record, and remembered
//! for later runs.

pub(crate) mod inferred;
mod levels;
pub(crate) mod measured;
mod points;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use yamba_record::event::Curve;
use yamba_record::{Event, Note};

use crate::child::{self, Limits};
use crate::choice;
use crate::crash;
use crate::job::Program;
use crate::options::Options;
use crate::scratch::Scratch;
use crate::stop::Stop;

pub(crate) use levels::{Caches, caches};
pub(crate) use points::points;

/// The curve of load latencies on this machine, measured by `program` in buffers of up to `limit`
/// bytes. It takes at most two seconds and a fifth of the free memory. `crate::caches` infers the
/// caches from it. `whole_buffers` are the known entries of reorder buffers, by processor.
///
/// # Errors
/// The reason, if the program wrote no curve.
pub fn cache_curve(
    program: &Program,
    options: &Options,
    stop: &Stop,
    limit: Option<u64>,
    whole_buffers: &BTreeMap<u64, u64>,
) -> Result<Curve, String> {
    let scratch = Scratch::new();
    let limits = Limits::new(options, stop, &scratch);
    let mut arguments = vec!["--cache-curve".to_owned()];
    arguments.extend(limit.map(|bytes| bytes.to_string()));
    arguments.extend(choice::whole_buffers(whole_buffers));
    let output = child::run(program, &arguments, &scratch.folder("cache-curve"), &limits);
    if let Some(reasons) = crash::reasons("--cache-curve", &output, &|_, _| None) {
        let reasons: Vec<String> = reasons.iter().map(Note::to_string).collect();
        return Err(reasons.join("\n"));
    }
    let curve = output.events.into_iter().find_map(|event| match event {
        Event::Curve(curve) => Some(curve),
        _ => None,
    });
    curve.ok_or_else(|| "the program wrote no curve".to_owned())
}
