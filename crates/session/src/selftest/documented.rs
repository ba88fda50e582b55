//! Instruction latencies published by processor vendors and independent measurers, in core cycles,
//! by processor.

/// A benchmark with a documented result on this processor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Known {
    /// The benchmark.
    pub class: &'static str,
    /// The documented latency in cycles.
    pub cycles: f64,
    /// The publisher of the latency.
    pub source: &'static str,
}

/// The identification of a processor.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Identity {
    pub isa: String,
    pub vendor: String,
    pub family: Option<u64>,
    pub model: Option<u64>,
    /// The feature flags of `/proc/cpuinfo`, without `hypervisor`.
    pub flags: Vec<String>,
    pub is_guest: bool,
}

/// The documented latencies of a processor, and why some are missing.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Documented {
    pub known: Vec<Known>,
    pub note: Option<String>,
}

const ADD: Known = Known {
    class: "lat_integer_add",
    cycles: 1.0,
    source: "every processor with an adder of its own stage",
};

const AMD_GUIDES: &str = "AMD's optimisation guides for families 17h, 19h and 1Ah";

const INTEL_GUIDES: &str = "Intel's optimisation manual";

/// Cycles of an integer multiplication on every listed core.
const MULTIPLY: f64 = 3.0;

/// A core with published latencies.
#[derive(Debug)]
struct Core {
    name: &'static str,
    vendor: &'static str,
    family: u64,
    /// The models with this core; empty: every model of the family.
    models: &'static [u64],
    /// Cycles of a load from the L1 data cache whose address is the result of another load.
    load: f64,
    /// Flags that no such core has. A hypervisor can hide flags, but cannot add any.
    lacks: &'static [&'static str],
    /// A flag that older cores lack, required in a virtual machine. Without it, the processor may
    /// be a newer one that reports this model.
    proof: Option<&'static str>,
    /// The file in `benches/data` with the published figures of many instructions, and the flag
    /// that only the cores of that file have.
    table: Option<(&'static str, &'static str)>,
}

const NO_AVX512: &[&str] = &["avx512f", "avx_vnni", "amx_tile"];
const NO_AMX: &[&str] = &["avx_vnni", "amx_tile"];

const CORES: &[Core] = &[
    amd("AMD Zen to Zen 2", 23, NO_AVX512),
    Core { table: Some(("zen4.tsv", "avx512f")), ..amd("AMD Zen 3 and 4", 25, NO_AMX) },
    amd("AMD Zen 5", 26, &["amx_tile"]),
    intel("Haswell or Broadwell", &[60, 61, 63, 69, 70, 71, 79, 86], 4.0, NO_AVX512),
    intel("Skylake client", &[78, 94, 142, 158, 165, 166], 4.0, NO_AVX512),
    intel("Skylake server", &[85], 4.0, &["avx512_vbmi", "avx_vnni", "amx_tile"]),
    intel("Sunny, Willow or Cypress Cove", &[106, 108, 125, 126, 140, 141, 167], 5.0, NO_AMX),
    intel("Golden, Raptor or Redwood Cove server", &[143, 173, 174, 207], 5.0, &[]),
];

/// A Zen core. All Zen cores load in 4 cycles, so the model that a virtual machine reports does not
/// matter.
const fn amd(name: &'static str, family: u64, lacks: &'static [&'static str]) -> Core {
    Core {
        name,
        vendor: "AuthenticAMD",
        family,
        models: &[],
        load: 4.0,
        lacks,
        proof: None,
        table: None,
    }
}

const fn intel(
    name: &'static str,
    models: &'static [u64],
    load: f64,
    lacks: &'static [&'static str],
) -> Core {
    Core {
        name,
        vendor: "GenuineIntel",
        family: 6,
        models,
        load,
        lacks,
        proof: Some("avx512_vbmi2"),
        table: None,
    }
}

impl Core {
    fn is_claimed(&self, identity: &Identity) -> bool {
        let model = identity.model.unwrap_or_default();
        self.vendor == identity.vendor
            && Some(self.family) == identity.family
            && (self.models.is_empty() || self.models.contains(&model))
    }

    /// Why the latencies of this core may not apply to a processor that reports its model.
    fn doubt(&self, identity: &Identity) -> Option<String> {
        let has = |flag: &str| identity.flags.iter().any(|f| f == flag);
        if let Some(flag) = self.lacks.iter().find(|flag| has(flag)) {
            return Some(format!(
                "family {} model {} is {}, which has no {flag}, but this processor has it",
                self.family,
                identity.model.unwrap_or_default(),
                self.name
            ));
        }
        let is_proven = self.proof.is_none_or(has);
        (identity.is_guest && !is_proven).then(|| {
            format!(
                "a virtual machine that calls itself {} may run on a newer processor",
                self.name
            )
        })
    }

    fn known(&self) -> [Known; 2] {
        let source = match self.vendor {
            "AuthenticAMD" => AMD_GUIDES,
            _ => INTEL_GUIDES,
        };
        let known = |class, cycles| Known { class, cycles, source };
        [known("lat_integer_multiply", MULTIPLY), known("lat_l1_load", self.load)]
    }
}

/// The core of this processor, or why it is unknown.
fn core(identity: &Identity) -> Result<&'static Core, String> {
    let core = CORES.iter().find(|core| core.is_claimed(identity));
    match core.map(|core| (core, core.doubt(identity))) {
        Some((core, None)) if identity.isa.starts_with("x86") => Ok(core),
        Some((_, Some(why))) => Err(why),
        _ => Err("this processor is not in the list".to_owned()),
    }
}

/// The documented latencies of this processor.
pub(super) fn documented(identity: &Identity) -> Documented {
    let mut known = vec![ADD];
    let note = match core(identity) {
        Ok(core) => {
            known.extend(core.known());
            None
        }
        Err(why) => Some(format!(
            "no documented latencies of loads and multiplications are compared: {why}"
        )),
    };
    Documented { known, note }
}

/// The file in `benches/data` with the published figures of this processor's instructions.
///
/// # Errors
/// If the core is unknown or has no such file, with the reason.
pub(super) fn table(identity: &Identity) -> Result<&'static str, String> {
    let core = core(identity)?;
    let own = core.table.filter(|(_, flag)| identity.flags.iter().any(|f| f == flag));
    own.map(|(file, _)| file)
        .ok_or_else(|| format!("there is no table of {} with these flags", core.name))
}

impl Identity {
    /// Reads the identity from the machine's facts and the text of `/proc/cpuinfo`.
    pub(super) fn new(machine: &yamba_record::Machine, cpuinfo: &str) -> Identity {
        let processor = machine.details.as_ref().map(|d| &d.processor);
        let signature = processor.and_then(|p| p.signature.as_deref());
        let number = |word| signature.and_then(|text| after(text, word));
        let line = cpuinfo.lines().find(|line| line.starts_with("flags"));
        let flags = line.and_then(|line| line.split_once(':'));
        let flags = flags.map_or("", |(_, flags)| flags).split_whitespace();
        let hypervisor = flags.clone().any(|flag| flag == "hypervisor");
        Identity {
            isa: machine.isa.clone(),
            vendor: processor.and_then(|p| p.vendor.clone()).unwrap_or_default(),
            family: number("family"),
            model: number("model"),
            is_guest: hypervisor || machine.virtual_machine == Some(true),
            flags: flags.filter(|f| *f != "hypervisor").map(str::to_owned).collect(),
        }
    }
}

/// The number that follows `word` in the signature.
fn after(signature: &str, word: &str) -> Option<u64> {
    let mut words = signature.split_whitespace();
    words.find(|w| *w == word)?;
    words.next()?.trim_end_matches(',').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(vendor: &str, family: u64, model: u64, flags: &str, is_guest: bool) -> Identity {
        Identity {
            isa: "x86_64".to_owned(),
            vendor: vendor.to_owned(),
            family: Some(family),
            model: Some(model),
            flags: flags.split_whitespace().map(str::to_owned).collect(),
            is_guest,
        }
    }

    /// The documented cycles of an L1 load; `None` if loads are not compared.
    fn load(identity: &Identity) -> Option<f64> {
        let documented = documented(identity);
        let load = documented.known.iter().find(|k| k.class == "lat_l1_load");
        assert_eq!(load.is_none(), documented.note.is_some(), "{documented:?}");
        assert!(documented.known.contains(&ADD));
        load.map(|k| k.cycles)
    }

    #[test]
    fn l1_load_latency_follows_from_the_core() {
        let server = "avx2 avx512f avx512_vbmi avx512_vbmi2";
        for (name, vendor, family, model, flags, is_guest, expected) in [
            ("Zen 2", "AuthenticAMD", 23, 49, "avx2", false, Some(4.0)),
            ("Zen 4 guest", "AuthenticAMD", 25, 17, server, true, Some(4.0)),
            ("Zen 5", "AuthenticAMD", 26, 2, "avx512f avx_vnni", false, Some(4.0)),
            ("Bulldozer", "AuthenticAMD", 21, 2, "avx", false, None),
            ("Skylake", "GenuineIntel", 6, 94, "avx2", false, Some(4.0)),
            ("Ice Lake server guest", "GenuineIntel", 6, 106, server, true, Some(5.0)),
            ("Rocket Lake", "GenuineIntel", 6, 167, server, false, Some(5.0)),
            (
                "Sapphire Rapids guest",
                "GenuineIntel",
                6,
                143,
                "avx512_vbmi2 amx_tile",
                true,
                Some(5.0),
            ),
            ("Granite Rapids", "GenuineIntel", 6, 173, "avx512_vbmi2 amx_tile", false, Some(5.0)),
            // The flags contradict the model.
            ("Rocket Lake with AMX", "GenuineIntel", 6, 167, "avx512_vbmi2 amx_tile", true, None),
            ("Skylake with VBMI", "GenuineIntel", 6, 85, "avx512_vbmi", false, None),
            ("Zen 2 with AVX-512", "AuthenticAMD", 23, 49, "avx512f", true, None),
            // A hypervisor may report an older model and hide the newer flags of its processor.
            ("Haswell guest", "GenuineIntel", 6, 60, "avx2", true, None),
            // Hybrid processor: a test may run on either of two kinds of core.
            ("Alder Lake", "GenuineIntel", 6, 151, "avx2 avx_vnni", false, None),
            ("unknown", "GenuineIntel", 6, 999, "", false, None),
            ("other maker", "CentaurHauls", 6, 94, "", false, None),
        ] {
            let claimed = identity(vendor, family, model, flags, is_guest);
            assert_eq!(load(&claimed), expected, "{name}");
        }
    }

    /// Instruction tables are of one core each.
    #[test]
    fn table_follows_from_the_core() {
        let amd = |family, model, flags| identity("AuthenticAMD", family, model, flags, true);
        let zen4 = "avx2 avx512f avx512_vbmi2";
        for model in [17, 97, 160] {
            assert_eq!(table(&amd(25, model, zen4)), Ok("zen4.tsv"));
        }
        let error = |identity| table(&identity).unwrap_err();
        let zen3 = error(amd(25, 33, "avx2"));
        assert_eq!(zen3, "there is no table of AMD Zen 3 and 4 with these flags");
        assert!(error(amd(25, 17, "avx512f amx_tile")).contains("amx_tile"));
        assert!(error(amd(26, 2, zen4)).contains("Zen 5"));
        // A virtual machine of the Granite Rapids class that claims to be a Rocket Lake.
        let granite_rapids = identity(
            "GenuineIntel",
            6,
            167,
            "avx2 avx512f avx512_vbmi avx512_vbmi2 avx_vnni amx_bf16 amx_tile amx_int8",
            true,
        );
        let why = error(granite_rapids);
        assert!(why.contains("model 167") && why.contains("avx_vnni"), "{why}");
        assert!(error(identity("GenuineIntel", 6, 999, "", false)).contains("not in the list"));
    }

    #[test]
    fn contradiction_of_model_and_flags_is_named() {
        let odd = identity("GenuineIntel", 6, 167, "amx_tile", true);
        let note = documented(&odd).note.unwrap();
        assert!(note.contains("model 167") && note.contains("amx_tile"), "{note}");
    }

    #[test]
    fn l1_load_takes_four_or_five_cycles_on_listed_cores() {
        for core in CORES {
            assert!(matches!(core.load, 4.0 | 5.0), "{}", core.name);
        }
    }

    #[test]
    fn identity_is_read_from_facts_and_cpuinfo() {
        let mut machine = yamba_record::Machine { isa: "x86_64".to_owned(), ..Default::default() };
        let mut details = yamba_record::machine::Details::default();
        details.processor.vendor = Some("GenuineIntel".to_owned());
        details.processor.signature = Some("family 6 model 167 stepping 1".to_owned());
        machine.details = Some(Box::new(details));
        let cpuinfo = "processor\t: 0\nflags\t\t: fpu avx2 hypervisor amx_tile\nbugs\t: x\n";
        let expected = identity("GenuineIntel", 6, 167, "fpu avx2 amx_tile", true);
        assert_eq!(Identity::new(&machine, cpuinfo), expected);
        assert_eq!(after("implementer 0x41 part 0xd0c", "family"), None);
    }

    #[test]
    fn addition_takes_one_cycle_on_unlisted_processor() {
        let other = Identity { isa: "riscv64".to_owned(), ..Identity::default() };
        assert_eq!(documented(&other).known, [ADD]);
    }
}
