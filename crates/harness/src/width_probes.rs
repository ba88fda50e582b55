//! Probes the width of the core before the first figure of a first run. Every program built by
//! Yamba can do that.

use std::time::Duration;

use yamba_record::Event;
use yamba_record::event::ProcessorProbes;

use super::child::{self, Limits};
use super::crash;
use super::job::Program;
use super::options::{Options, Placement};
use super::scratch::Scratch;
use super::stop::Stop;
use super::units::whole_ns;

/// Duration of the probing. Beside busy neighbours, quiet moments come many times in a second.
const PROBING: Duration = Duration::from_secs(1);

/// The processors on which programs may measure with these options, and the readings of their cores
/// during a second: widths in cycles of 10 000 instructions, and parts of the reorder buffer in
/// entries. Empty if the program has no fixed processor or no probe.
pub(super) fn width_probes(
    program: &Program,
    options: &Options,
    seed: u64,
    stop: &Stop,
) -> Vec<ProcessorProbes> {
    let scratch = Scratch::new();
    let limits = Limits::new(options, stop, &scratch);
    let mut arguments = vec!["--width-probes".to_owned(), whole_ns(PROBING).to_string()];
    match options.placement {
        Placement::Automatic | Placement::Pinned => {
            arguments.extend(["--choose".to_owned(), seed.to_string()]);
        }
        Placement::On(_) => {}
        Placement::Free => return Vec::new(),
    }
    arguments.extend(options.placement.arguments());
    let output = child::run(program, &arguments, &scratch.folder("width-probes"), &limits);
    if crash::reasons("--width-probes", &output, &|_, _| None).is_some() {
        return Vec::new();
    }
    let events = output.events.into_iter();
    let each = events.filter_map(|event| match event {
        Event::Probes { cpu, widths, windows } => {
            Some(ProcessorProbes { cpu: cpu?, widths, windows, ..ProcessorProbes::default() })
        }
        _ => None,
    });
    each.collect()
}
