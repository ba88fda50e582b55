//! Latencies that processors' makers and independent measurers have published, in core cycles.

use yamba_record::Machine;

/// A benchmark whose answer is documented for this processor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Known {
    /// The benchmark.
    pub class: &'static str,
    /// Its answer.
    pub cycles: f64,
    /// Who says so.
    pub source: &'static str,
}

const ADD: Known = Known {
    class: "lat_integer_add",
    cycles: 1.0,
    source: "every processor with an adder of its own stage",
};

/// AMD's optimisation guides for families 17h, 19h and 1Ah: 3, 64 bits wide too. Older AMD and Intel's small cores take longer.
const MULTIPLY_ZEN: Known = Known {
    class: "lat_integer_multiply",
    cycles: 3.0,
    source: "AMD's optimisation guides for families 17h, 19h and 1Ah",
};

/// AMD's optimisation guides for families 17h, 19h and 1Ah: integer loads from the first cache.
const LOAD_ZEN: Known = Known {
    class: "lat_l1_load",
    cycles: 4.0,
    source: "AMD's optimisation guides for families 17h, 19h and 1Ah",
};

/// What is documented for the processor that this is.
pub(super) fn documented(machine: &Machine) -> Vec<Known> {
    let mut known = vec![ADD];
    if is_zen(machine) {
        known.extend([MULTIPLY_ZEN, LOAD_ZEN]);
    }
    known
}

/// AMD's families 17h, 19h and 1Ah.
fn is_zen(machine: &Machine) -> bool {
    let Some(details) = &machine.details else {
        return false;
    };
    let processor = &details.processor;
    let family = processor.signature.as_deref().and_then(family);
    processor.vendor.as_deref() == Some("AuthenticAMD") && matches!(family, Some(23 | 25 | 26))
}

/// The number after `family`.
fn family(signature: &str) -> Option<u64> {
    let mut words = signature.split_whitespace();
    words.find(|w| *w == "family")?;
    words.next()?.trim_end_matches(',').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_family_is_read_from_the_signature() {
        assert_eq!(family("family 25 model 17 stepping 1"), Some(25));
        assert_eq!(family("family 6, model 85"), Some(6));
        assert_eq!(family("implementer 0x41 part 0xd0c"), None);
    }

    #[test]
    fn an_unknown_processor_still_adds_in_one_cycle() {
        let machine = Machine {
            isa: "riscv64".to_owned(),
            ..Machine::default()
        };
        assert_eq!(documented(&machine), [ADD]);
        let mut zen = Machine::default();
        let mut details = yamba_record::machine::Details::default();
        details.processor.vendor = Some("AuthenticAMD".to_owned());
        details.processor.signature = Some("family 25 model 17 stepping 1".to_owned());
        zen.details = Some(Box::new(details));
        assert_eq!(documented(&zen), [ADD, MULTIPLY_ZEN, LOAD_ZEN]);
    }
}
