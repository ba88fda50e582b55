//! The sizes of the spaces of the heap, before and after a collection.

use super::Collection;
use super::line::{bytes, change, number};
use crate::gc::Collector;

/// A space with its line of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Space {
    Young,
    Old,
    Metaspace,
    EdenRegions,
    SurvivorRegions,
    OldRegions,
}

/// A part of a line.
struct Part<'a> {
    name: &'a str,
    /// Used bytes before and after.
    used: (f64, f64),
    /// Bytes of the space before and after.
    capacity: (f64, f64),
}

/// Rounding of sizes to whole kibibytes, in bytes: a sum of two is smaller by one of these.
const ROUNDING: f64 = 1024.0;

impl Space {
    /// The space of a line that begins with this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "DefNew" | "PSYoungGen" => Self::Young,
            "Tenured" | "ParOldGen" => Self::Old,
            "Metaspace" => Self::Metaspace,
            "Eden regions" => Self::EdenRegions,
            "Survivor regions" => Self::SurvivorRegions,
            "Old regions" => Self::OldRegions,
            _ => return None,
        })
    }

    /// The spaces that the log has for each young or full collection.
    pub(super) fn needed(collector: Collector) -> &'static [Self] {
        match collector {
            Collector::Serial | Collector::Parallel => &[Self::Young, Self::Old, Self::Metaspace],
            Collector::G1 => {
                &[Self::EdenRegions, Self::SurvivorRegions, Self::OldRegions, Self::Metaspace]
            }
            Collector::Shenandoah | Collector::Z => &[],
        }
    }

    /// Adds the sizes of a message to a collection. `None`: the message has another form.
    pub(super) fn add(self, to: &mut Collection, message: &str, region_bytes: f64) -> Option<()> {
        match self {
            Self::Young => young(to, message)?,
            Self::Old => {
                let [old] = &parts(message)?[..] else {
                    return None;
                };
                to.old_bytes = old.used;
            }
            Self::Metaspace => to.metaspace_bytes = metaspace(message)?,
            Self::EdenRegions => to.eden_bytes = regions(message)?.0 * region_bytes,
            // Each worker leaves its last region partly empty: about one region in all.
            Self::SurvivorRegions => {
                to.survivor_bytes = (regions(message)?.1 - 1.0).max(0.0) * region_bytes;
            }
            Self::OldRegions => {
                let (before, after) = old_regions(message)?;
                to.old_bytes = (before * region_bytes, after * region_bytes);
            }
        }
        Some(())
    }
}

/// `DefNew: 1K(9K)->0K(9K) Eden: 1K(8K)->0K(8K) From: 0K(1K)->0K(1K)`
fn young(to: &mut Collection, message: &str) -> Option<()> {
    let [all, eden, from] = &parts(message)?[..] else {
        return None;
    };
    // The JVM makes no survivor space larger than Eden.
    let is_order = eden.name == "Eden"
        && from.name == "From"
        && from.capacity.0 <= eden.capacity.0
        && from.capacity.1 <= eden.capacity.1;
    (is_order && is_sum(all, eden, from)).then_some(())?;
    to.young_bytes = all.used;
    to.eden_bytes = eden.used.0;
    to.survivor_bytes = from.used.1;
    Some(())
}

/// `Metaspace: 3K(9K)->3K(9K) NonClass: 2K(8K)->2K(8K) Class: 1K(1K)->1K(1K)`, the last two only
/// with compressed class pointers. Returns the bytes before.
fn metaspace(message: &str) -> Option<f64> {
    let parts = parts(message)?;
    let is_right = match &parts[..] {
        [_] => true,
        [all, others, classes] => {
            others.name == "NonClass" && classes.name == "Class" && is_sum(all, others, classes)
        }
        _ => false,
    };
    is_right.then(|| parts[0].used.0)
}

/// Whether two parts make up the whole, before and after.
fn is_sum(all: &Part<'_>, one: &Part<'_>, two: &Part<'_>) -> bool {
    let is_sum = |all: f64, one: f64, two: f64| (0.0..=ROUNDING).contains(&(all - one - two));
    is_sum(all.used.0, one.used.0, two.used.0) && is_sum(all.used.1, one.used.1, two.used.1)
}

/// The parts of a line, each `NAME: 1K(8K)->0K(8K)`.
fn parts(message: &str) -> Option<Vec<Part<'_>>> {
    let words: Vec<&str> = message.split(' ').collect();
    let pairs = words.chunks(2).map(|pair| {
        let [name, sizes] = pair else { return None };
        let (before, after) = sizes.split_once("->")?;
        let (before, after) = (used_and_capacity(before)?, used_and_capacity(after)?);
        Some(Part {
            name: name.strip_suffix(':')?,
            used: (before.0, after.0),
            capacity: (before.1, after.1),
        })
    });
    pairs.collect()
}

/// The used bytes of `1K(8K)` and all bytes.
fn used_and_capacity(text: &str) -> Option<(f64, f64)> {
    let (used, capacity) = text.strip_suffix(')')?.split_once('(')?;
    let (used, capacity) = (bytes(used)?, bytes(capacity)?);
    (used <= capacity).then_some((used, capacity))
}

/// `Eden regions: 24->0(20)`
fn regions(message: &str) -> Option<(f64, f64)> {
    change(message.split_once(": ")?.1, number)
}

/// `Old regions: 61->72`
fn old_regions(message: &str) -> Option<(f64, f64)> {
    let (before, after) = message.split_once(": ")?.1.split_once("->")?;
    Some((number(before)?, number(after)?))
}
