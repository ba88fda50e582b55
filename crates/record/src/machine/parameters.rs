//! The parameters of a machine's processor: as earlier runs found them, and as the system or the
//! processor claims them.

use super::Machine;
use super::details::{Cache, Details, Tlb};

impl Machine {
    /// The value of a parameter that an earlier run found on this machine.
    #[must_use]
    pub fn found(&self, name: &str) -> Option<f64> {
        self.hardware.iter().find(|kept| kept.parameter.name == name)?.parameter.found
    }

    /// The claim of the system or the processor for the parameter of this name.
    #[must_use]
    pub fn claimed(&self, name: &str) -> Option<f64> {
        let details = self.details.as_deref()?;
        let (place, what) = name.rsplit_once('.')?;
        let value = match (place, what) {
            ("l1d" | "l1i" | "l2" | "l3", _) => {
                let cache = cache(details, place)?;
                match what {
                    "size" => cache.bytes,
                    "ways" => cache.ways,
                    "line" => cache.line,
                    _ => None,
                }
            }
            ("tlb1", "entries") => tlb(details, 1)?.entries,
            ("tlb1", "ways") => tlb(details, 1)?.ways,
            ("tlb2", "entries") => tlb(details, 2)?.entries,
            ("readahead", _) => details.storage.read_ahead,
            _ => None,
        };
        value.map(|v| v as f64)
    }
}

fn cache<'a>(details: &'a Details, place: &str) -> Option<&'a Cache> {
    let level = u64::from(place.as_bytes()[1] - b'0');
    let is_code = place == "l1i";
    details.caches.iter().find(|c| c.level == level && (c.kind == "instruction") == is_code)
}

/// The translations of small pages for loads at this level.
fn tlb(details: &Details, level: u64) -> Option<&Tlb> {
    let serves = |tlb: &&Tlb| {
        tlb.level == Some(level)
            && tlb.kind != "instruction"
            && tlb.kind != "store"
            && tlb.pages.contains(&4096)
    };
    details.tlbs.iter().find(serves)
}
