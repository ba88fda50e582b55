//! Names of Arm's numbers for makers and cores, as in `lscpu`.

/// The name of the maker.
pub(super) fn maker(implementer: &str) -> Option<&'static str> {
    Some(match implementer {
        "0x41" => "Arm",
        "0x42" => "Broadcom",
        "0x43" => "Cavium",
        "0x46" => "Fujitsu",
        "0x48" => "HiSilicon",
        "0x4e" => "NVIDIA",
        "0x50" => "APM",
        "0x51" => "Qualcomm",
        "0x53" => "Samsung",
        "0x61" => "Apple",
        "0x6d" => "Microsoft",
        "0x70" => "Phytium",
        "0xc0" => "Ampere",
        _ => return None,
    })
}

/// The name of a core.
pub(super) fn core(implementer: &str, part: &str) -> Option<&'static str> {
    Some(match (implementer, part) {
        ("0x41", "0xd03") => "Cortex-A53",
        ("0x41", "0xd04") => "Cortex-A35",
        ("0x41", "0xd05") => "Cortex-A55",
        ("0x41", "0xd07") => "Cortex-A57",
        ("0x41", "0xd08") => "Cortex-A72",
        ("0x41", "0xd09") => "Cortex-A73",
        ("0x41", "0xd0a") => "Cortex-A75",
        ("0x41", "0xd0b") => "Cortex-A76",
        ("0x41", "0xd0c") => "Neoverse-N1",
        ("0x41", "0xd0d") => "Cortex-A77",
        ("0x41", "0xd40") => "Neoverse-V1",
        ("0x41", "0xd41") => "Cortex-A78",
        ("0x41", "0xd44") => "Cortex-X1",
        ("0x41", "0xd46") => "Cortex-A510",
        ("0x41", "0xd47") => "Cortex-A710",
        ("0x41", "0xd48") => "Cortex-X2",
        ("0x41", "0xd49") => "Neoverse-N2",
        ("0x41", "0xd4b") => "Cortex-A78C",
        ("0x41", "0xd4d") => "Cortex-A715",
        ("0x41", "0xd4e") => "Cortex-X3",
        ("0x41", "0xd4f") => "Neoverse-V2",
        ("0x41", "0xd80") => "Cortex-A520",
        ("0x41", "0xd81") => "Cortex-A720",
        ("0x41", "0xd82") => "Cortex-X4",
        ("0x41", "0xd84") => "Neoverse-V3",
        ("0x41", "0xd85") => "Cortex-X925",
        ("0x41", "0xd87") => "Cortex-A725",
        ("0x41", "0xd8e") => "Neoverse-N3",
        ("0x43", "0x0af") => "ThunderX2-99xx",
        ("0x46", "0x001") => "A64FX",
        ("0x48", "0xd01") => "TaiShan-v110",
        ("0x51", "0x001") => "Oryon",
        ("0x61", "0x022") => "Icestorm-M1",
        ("0x61", "0x023") => "Firestorm-M1",
        ("0x61", "0x032") => "Blizzard-M2",
        ("0x61", "0x033") => "Avalanche-M2",
        ("0xc0", "0xac3") => "Ampere-1",
        ("0xc0", "0xac4") => "Ampere-1a",
        _ => return None,
    })
}
