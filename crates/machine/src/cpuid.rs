//! Facts from the CPUID instruction: look-aside buffers, rate of the counter, names of the
//! processor and the hypervisor.

use raw_cpuid::{
    Associativity, CACHE_INFO_TABLE, CacheInfo, CacheInfoType, CpuId, CpuIdReader, DatInfo,
    DatType, Hypervisor,
};
use yamba_record::machine::details::Tlb;

const KIB_4: u64 = 4 << 10;
const MIB_2: u64 = 2 << 20;
const MIB_4: u64 = 4 << 20;
const GIB_1: u64 = 1 << 30;

/// The look-aside buffers, ordered by level and kind.
pub(super) fn tlbs<R: CpuIdReader>(reader: &R) -> Vec<Tlb> {
    let cpuid = CpuId::with_cpuid_reader(reader.clone());
    let mut all = amd(&cpuid, second_level_unit(&cpuid, reader));
    if all.is_empty() {
        all = intel(&cpuid);
    }
    if all.is_empty() {
        all = intel_in_words(&cpuid, reader);
    }
    all.sort_by(|a, b| (a.level, &a.kind, &a.pages).cmp(&(b.level, &b.kind, &b.pages)));
    all
}

/// AMD: leaves 0x8000_0005, 0x8000_0006 and 0x8000_0019. Their 12 bits are too few for the second
/// level of Zen 5, which counts in units of 32 entries there.
fn amd<R: CpuIdReader>(cpuid: &CpuId<R>, unit: u64) -> Vec<Tlb> {
    let mut all = Vec::new();
    let mut add = |level: u64, kind: &str, page: u64, entries: u64, ways: Associativity| {
        if entries > 0 && !matches!(ways, Associativity::Disabled) {
            all.push(Tlb {
                level: Some(level),
                kind: kind.to_owned(),
                pages: vec![page],
                entries: Some(entries),
                ways: number_of_ways(ways, entries),
                description: None,
            });
        }
    };
    if let Some(l1) = cpuid.get_l1_cache_and_tlb_info() {
        let (data, code) = (l1.dtlb_4k_size().into(), l1.itlb_4k_size().into());
        add(1, "data", KIB_4, data, l1.dtlb_4k_associativity());
        add(1, "instruction", KIB_4, code, l1.itlb_4k_associativity());
        let (data, code) = (l1.dtlb_2m_4m_size().into(), l1.itlb_2m_4m_size().into());
        add(1, "data", MIB_2, data, l1.dtlb_2m_4m_associativity());
        add(1, "instruction", MIB_2, code, l1.itlb_2m_4m_associativity());
    }
    if let Some(l2) = cpuid.get_l2_l3_cache_and_tlb_info() {
        let scaled = |data: u16, code: u16| (unit * u64::from(data), unit * u64::from(code));
        let (data, code) = scaled(l2.dtlb_4k_size(), l2.itlb_4k_size());
        add(2, "data", KIB_4, data, l2.dtlb_4k_associativity());
        add(2, "instruction", KIB_4, code, l2.itlb_4k_associativity());
        let (data, code) = scaled(l2.dtlb_2m_4m_size(), l2.itlb_2m_4m_size());
        add(2, "data", MIB_2, data, l2.dtlb_2m_4m_associativity());
        add(2, "instruction", MIB_2, code, l2.itlb_2m_4m_associativity());
    }
    if let Some(huge) = cpuid.get_tlb_1gb_page_info() {
        let (data, code) = (huge.dtlb_l1_1gb_size().into(), huge.itlb_l1_1gb_size().into());
        add(1, "data", GIB_1, data, huge.dtlb_l1_1gb_associativity());
        add(1, "instruction", GIB_1, code, huge.itlb_l1_1gb_associativity());
        let (data, code) = (huge.dtlb_l2_1gb_size().into(), huge.itlb_l2_1gb_size().into());
        add(2, "data", GIB_1, data, huge.dtlb_l2_1gb_associativity());
        add(2, "instruction", GIB_1, code, huge.itlb_l2_1gb_associativity());
    }
    all
}

/// The unit in which AMD counts the entries of the second level: 32 if bit 14 of EAX of leaf
/// 0x8000_0021 says so (L2TlbSizeX32). Hypervisors hide the bit but pass the counts through. All
/// processors of family 26, the first with the bit, have it.
fn second_level_unit<R: CpuIdReader>(cpuid: &CpuId<R>, reader: &R) -> u64 {
    const LEAF: u32 = 0x8000_0021;
    let is_known = reader.cpuid1(0x8000_0000).eax >= LEAF;
    let has_bit = is_known && reader.cpuid1(LEAF).eax & 1 << 14 != 0;
    let is_first = cpuid.get_feature_info().is_some_and(|f| f.family_id() == 26);
    if has_bit || is_first { 32 } else { 1 }
}

fn number_of_ways(ways: Associativity, entries: u64) -> Option<u64> {
    match ways {
        Associativity::DirectMapped => Some(1),
        Associativity::NWay(n) => Some(n.into()),
        Associativity::FullyAssociative => Some(entries),
        Associativity::Disabled | Associativity::Unknown => None,
    }
}

/// Intel: leaf 0x18.
fn intel<R: CpuIdReader>(cpuid: &CpuId<R>) -> Vec<Tlb> {
    let buffers = cpuid.get_deterministic_address_translation_info();
    buffers.into_iter().flatten().filter_map(|b| one(&b)).collect()
}

fn one(buffer: &DatInfo) -> Option<Tlb> {
    let kind = match buffer.cache_type() {
        DatType::DataTLB => "data",
        DatType::InstructionTLB => "instruction",
        DatType::UnifiedTLB => "unified",
        DatType::LoadOnly => "load",
        DatType::StoreOnly => "store",
        DatType::Null | DatType::Unknown => return None,
    };
    let sizes = [
        (KIB_4, buffer.has_4k_entries()),
        (MIB_2, buffer.has_2mb_entries()),
        (MIB_4, buffer.has_4mb_entries()),
        (GIB_1, buffer.has_1gb_entries()),
    ];
    let ways = u64::from(buffer.ways());
    Some(Tlb {
        level: Some(buffer.cache_level().into()),
        kind: kind.to_owned(),
        pages: sizes.iter().filter(|(_, has)| *has).map(|(size, _)| *size).collect(),
        entries: Some(ways * u64::from(buffer.sets())),
        ways: Some(ways),
        description: None,
    })
}

/// Older Intel: leaf 2 has a number for each buffer, which the manual describes in words.
fn intel_in_words<R: CpuIdReader>(cpuid: &CpuId<R>, reader: &R) -> Vec<Tlb> {
    if cpuid.get_cache_info().is_none() {
        return Vec::new();
    }
    descriptors(reader).filter_map(in_words).collect()
}

/// The descriptors of leaf 2. The lowest byte is no descriptor, and a register with its highest bit
/// set has none. The iterator of `raw_cpuid` ends at the first number that its table lacks.
fn descriptors<R: CpuIdReader>(reader: &R) -> impl Iterator<Item = u8> {
    let leaf = reader.cpuid1(2);
    let registers = [leaf.eax & !0xff, leaf.ebx, leaf.ecx, leaf.edx];
    let valid = registers.into_iter().filter(|register| register >> 31 == 0);
    valid.flat_map(u32::to_le_bytes).filter(|number| *number != 0)
}

/// The buffer of a descriptor. `None` for a cache, and for a reference to another leaf.
fn in_words(number: u8) -> Option<Tlb> {
    // Not in the table of `raw_cpuid`: Intel 64 and IA-32 Architectures Software Developer's
    // Manual, volume 2A, table 3-12.
    const SHARED: &str = "Shared 2nd-Level TLB: 4 KByte/2 MByte pages, 6-way set associative, 1536 entries; also 1 GByte pages, 4-way, 16 entries";
    let known = CACHE_INFO_TABLE.iter().find(|info| info.num == number);
    let (kind, words) = match known {
        _ if number == 0xc3 => ("unified", SHARED.to_owned()),
        None => ("unknown", format!("descriptor {number:#04x} of CPUID leaf 2")),
        Some(info) => (kind(info)?, info.desc().to_owned()),
    };
    Some(Tlb { kind: kind.to_owned(), description: Some(words), ..Tlb::default() })
}

fn kind(info: &CacheInfo) -> Option<&'static str> {
    match info.typ {
        CacheInfoType::TLB if info.desc().starts_with("Instruction") => Some("instruction"),
        CacheInfoType::TLB if info.desc().starts_with("Data") => Some("data"),
        CacheInfoType::TLB | CacheInfoType::STLB => Some("unified"),
        CacheInfoType::DTLB => Some("data"),
        _ => None,
    }
}

/// The rate of the time stamp counter in hertz, as the processor or else the hypervisor reports it.
pub(super) fn counter_hz<R: CpuIdReader + Clone>(cpuid: &CpuId<R>) -> Option<u64> {
    let own = cpuid.get_tsc_info().and_then(|tsc| tsc.tsc_frequency());
    own.or_else(|| {
        let host = cpuid.get_hypervisor_info()?;
        // Hyper-V uses that leaf for something else.
        if host.identify() == Hypervisor::HyperV {
            return None;
        }
        let khz = u64::from(host.tsc_frequency()?);
        (khz > 0).then_some(khz * 1000)
    })
}

/// The name of the hypervisor: a known name, or else its signature.
pub(super) fn hypervisor<R: CpuIdReader + Clone>(cpuid: &CpuId<R>) -> Option<String> {
    let name = match cpuid.get_hypervisor_info()?.identify() {
        Hypervisor::Xen => "xen",
        Hypervisor::VMware => "vmware",
        Hypervisor::HyperV => "hyper-v",
        Hypervisor::KVM => "kvm",
        Hypervisor::QEMU => "qemu-tcg",
        Hypervisor::Bhyve => "bhyve",
        Hypervisor::QNX => "qnx",
        Hypervisor::ACRN => "acrn",
        Hypervisor::Unknown(b, c, d) => return letters(&[b, c, d]),
    };
    Some(name.to_owned())
}

fn letters(registers: &[u32]) -> Option<String> {
    let bytes = registers.iter().flat_map(|r| r.to_le_bytes());
    let name: String = bytes.map(char::from).filter(char::is_ascii_graphic).collect();
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use raw_cpuid::CpuIdResult;

    /// Saved CPUID leaves: leaf, subleaf, registers.
    #[derive(Clone)]
    struct Saved(&'static [(u32, u32, [u32; 4])]);

    impl CpuIdReader for Saved {
        fn cpuid2(&self, leaf: u32, subleaf: u32) -> CpuIdResult {
            let found = self.0.iter().find(|(l, s, _)| (*l, *s) == (leaf, subleaf));
            let [eax, ebx, ecx, edx] = found.map_or([0; 4], |(_, _, r)| *r);
            CpuIdResult { eax, ebx, ecx, edx }
        }
    }

    const AMD: [u32; 4] = [0x10, 0x6874_7541, 0x444d_4163, 0x6974_6e65];
    const INTEL: [u32; 4] = [0x20, 0x756e_6547, 0x6c65_746e, 0x4965_6e69];

    /// The registers with these letters.
    const fn letters_of(text: &[u8; 16]) -> [u32; 4] {
        let mut registers = [0; 4];
        let mut at = 0;
        while at < 16 {
            registers[at / 4] |= (text[at] as u32) << (at % 4 * 8);
            at += 1;
        }
        registers
    }

    /// A Zen 4 under KVM.
    const ZEN: &[(u32, u32, [u32; 4])] = &[
        (0, 0, AMD),
        (1, 0, [0x00a1_0f11, 0, 0x8000_0000, 0]),
        (0x4000_0000, 0, [0x4000_0010, 0x4b4d_564b, 0x564b_4d56, 0x4d]),
        (0x4000_0010, 0, [2_596_132, 0, 0, 0]),
        (0x8000_0000, 0, [0x8000_0028, 0, 0, 0]),
        (0x8000_0002, 0, letters_of(b"AMD EPYC 9R14   ")),
        (0x8000_0003, 0, letters_of(b"                ")),
        (0x8000_0004, 0, letters_of(b"                ")),
        (0x8000_0005, 0, [0xff48_ff40, 0xff48_ff40, 0, 0]),
        (0x8000_0006, 0, [0x5c00_2200, 0x6c00_4200, 0, 0]),
        (0x8000_0019, 0, [0xf048_f040, 0, 0, 0]),
    ];

    /// Leaf 0x18 as on an Alder Lake: the first subleaf is not a buffer.
    const LAKE: &[(u32, u32, [u32; 4])] = &[
        (0, 0, INTEL),
        (0x15, 0, [2, 200, 24_000_000, 0]),
        (0x18, 0, [4, 0, 0, 0]),
        (0x18, 1, [0, 0x0008_0001, 0x20, 0x22]),
        (0x18, 2, [0, 0x0010_0001, 1, 0x0124]),
    ];

    #[test]
    fn amd_buffers_have_page_sizes() {
        let tlbs = tlbs(&Saved(ZEN));
        let find = |level, kind: &str, page| {
            let found =
                tlbs.iter().find(|t| t.level == Some(level) && t.kind == kind && t.pages == [page]);
            found.map(|t| (t.entries, t.ways))
        };
        assert_eq!(find(1, "data", KIB_4), Some((Some(72), Some(72))));
        assert_eq!(find(1, "instruction", KIB_4), Some((Some(64), Some(64))));
        assert_eq!(find(2, "data", KIB_4), Some((Some(3072), Some(8))));
        assert_eq!(find(1, "data", GIB_1), Some((Some(72), Some(72))));
        assert_eq!(find(2, "data", GIB_1), None);
    }

    /// A Zen 5 under a hypervisor, which hides a bit of leaf 0x8000_0021.
    const ZEN_5: &[(u32, u32, [u32; 4])] = &[
        (0, 0, AMD),
        (1, 0, [0x00b0_0f21, 0, 0x8000_0000, 0]),
        (0x8000_0000, 0, [0x8000_0021, 0x6874_7541, 0x444d_4163, 0x6974_6e65]),
        (0x8000_0005, 0, [0xff60_ff40, 0xff60_ff40, 0x300c_0140, 0x2008_0140]),
        (0x8000_0006, 0, [0x4080_2040, 0x6080_4040, 0x0400_8140, 0x0c00_9140]),
        (0x8000_0021, 0, [0x204, 0, 0, 0x86]),
    ];

    /// A later family with the bit, and one without.
    const LATER: &[(u32, u32, [u32; 4])] = &[
        (0, 0, AMD),
        (1, 0, [0x00c0_0f21, 0, 0, 0]),
        (0x8000_0000, 0, [0x8000_0021, 0, 0, 0]),
        (0x8000_0006, 0, [0x4080_2040, 0x6080_4040, 0, 0]),
        (0x8000_0021, 0, [0x4204, 0, 0, 0]),
    ];
    const WITHOUT: &[(u32, u32, [u32; 4])] = &[LATER[0], LATER[1], LATER[2], LATER[3]];

    #[test]
    fn second_levels_of_amd_count_in_their_unit() {
        let second_levels = |leaves| {
            let tlbs = tlbs(&Saved(leaves));
            let second = tlbs.iter().filter(|t| t.level == Some(2));
            second.map(|t| (t.kind.clone(), t.pages[0], t.entries.unwrap())).collect::<Vec<_>>()
        };
        let named = |data: u64, code: u64| {
            vec![
                ("data".to_owned(), KIB_4, data),
                ("data".to_owned(), MIB_2, data),
                ("instruction".to_owned(), KIB_4, code),
                ("instruction".to_owned(), MIB_2, code),
            ]
        };
        assert_eq!(second_levels(ZEN_5), named(4096, 2048));
        assert_eq!(second_levels(LATER), named(4096, 2048));
        assert_eq!(second_levels(WITHOUT), named(128, 64));
    }

    #[test]
    fn intel_buffers_are_listed() {
        let tlbs = tlbs(&Saved(LAKE));
        assert_eq!(tlbs.len(), 2);
        let (load, code) = (
            tlbs.iter().find(|t| t.kind == "load").unwrap(),
            tlbs.iter().find(|t| t.kind == "instruction").unwrap(),
        );
        assert_eq!((code.entries, code.ways), (Some(256), Some(8)));
        assert_eq!((load.entries, load.ways), (Some(16), Some(16)));
        assert_eq!(load.pages, [KIB_4]);
    }

    #[test]
    fn old_intel_buffers_have_descriptions() {
        const OLD: &[(u32, u32, [u32; 4])] = &[(0, 0, INTEL), (2, 0, [0x0000_5501, 0, 0, 0])];
        let tlbs = tlbs(&Saved(OLD));
        assert_eq!(tlbs.len(), 1, "{tlbs:?}");
        assert_eq!(tlbs[0].kind, "instruction");
        assert!(tlbs[0].description.as_ref().unwrap().contains("7 entries"));
    }

    /// Leaf 2 of an Intel processor under a hypervisor: 76, 03, 63, b5 and c3 are buffers, ff and
    /// f0 are not.
    #[test]
    fn all_descriptors_of_leaf_2_are_read() {
        const LEAF_2: (u32, u32, [u32; 4]) = (2, 0, [0x7603_6301, 0x00f0_b5ff, 0, 0x00c3_0000]);
        let found = tlbs(&Saved(&[(0, 0, INTEL), LEAF_2]));
        let of = |kind: &str| {
            let own = found.iter().filter(|tlb| tlb.kind == kind);
            own.map(|tlb| tlb.description.as_deref().unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(found.len(), 5, "{found:?}");
        assert!(of("unified").len() == 1 && of("unified")[0].contains("1536 entries"));
        let (data, code) = (of("data").join("; "), of("instruction").join("; "));
        assert!(data.contains("64 entries") && data.contains("1 GByte pages"), "{data}");
        assert!(code.contains("2M/4M pages, fully associative, 8 entries"), "{code}");
        const UNKNOWN: (u32, u32, [u32; 4]) = (2, 0, [0x8000_0001, 0xdf, 0, 0]);
        let found = tlbs(&Saved(&[(0, 0, INTEL), UNKNOWN]));
        assert_eq!((found.len(), found[0].kind.as_str()), (1, "unknown"));
        assert!(found[0].description.as_deref().unwrap().contains("0xdf"));
    }

    #[test]
    fn counter_rate_is_from_processor_or_hypervisor() {
        let lake = CpuId::with_cpuid_reader(Saved(LAKE));
        assert_eq!(counter_hz(&lake), Some(2_400_000_000));
        assert_eq!(hypervisor(&lake), None);
        let zen = CpuId::with_cpuid_reader(Saved(ZEN));
        assert_eq!(counter_hz(&zen), Some(2_596_132_000));
        assert_eq!(hypervisor(&zen).as_deref(), Some("kvm"));
        let silent = Saved(&[(0, 0, INTEL)]);
        assert_eq!(counter_hz(&CpuId::with_cpuid_reader(silent.clone())), None);
        assert!(super::tlbs(&silent).is_empty());
    }

    #[test]
    fn unknown_hypervisor_has_its_signature() {
        let name = letters(&[0x7263_694d, 0x766d_5600, 0]);
        assert_eq!(name.as_deref(), Some("MicrVmv"));
        assert_eq!(letters(&[0, 0, 0]), None);
    }
}
