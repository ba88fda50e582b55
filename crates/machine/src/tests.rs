//! Tests that describe whole machines from saved files.

use yamba_record::machine::details::{Limit, Limits};

use super::sample::Sample;
use super::storage::Folder;
use super::*;

const LAPTOP: &str = include_str!("samples/x86_64_laptop.txt");
const BOARD: &str = include_str!("samples/aarch64_board.txt");
const GUEST: &str = include_str!("samples/riscv64_guest.txt");

/// System answers for a user without privileges.
fn user() -> Queried {
    let answers = Answers {
        release: "6.8.0-41-generic".to_owned(),
        build: "#41 SMP PREEMPT_DYNAMIC".to_owned(),
        cpus: 4,
        page_size: 4096,
        limits: Limits {
            locked_memory: Some(Limit::At(8 << 20)),
            realtime_priority: Some(Limit::At(0)),
            ..Limits::default()
        },
        resolution_ns: Some(1),
        tick_ns: Some(1_000_000),
        realtime: Some(false),
        counters: Some("EACCES".to_owned()),
        guests: Some(true),
        ..Answers::default()
    };
    Queried {
        answers,
        folder: Folder {
            name: "/var/tmp".to_owned(),
            path: "/var/tmp".to_owned(),
            total: Some(500 << 30),
            free: Some(100 << 30),
        },
        ..Queried::default()
    }
}

fn machine(files: &str, isa: &str, queried: &Queried) -> Machine {
    let mut machine = describe(&Sample::new(files), queried, isa, "linux");
    judge(&mut machine);
    machine
}

fn disturbances(machine: &Machine) -> Vec<&str> {
    let details = machine.details.as_deref().unwrap();
    details.disturbances.iter().map(|d| d.name.as_str()).collect()
}

fn cannot(machine: &Machine) -> Vec<&str> {
    let details = machine.details.as_deref().unwrap();
    details.unmeasurable.iter().map(|c| c.what.as_str()).collect()
}

#[test]
fn hybrid_laptop_on_battery_is_described() {
    let machine = machine(LAPTOP, "x86_64", &user());
    assert_eq!(machine.cpu.as_deref(), Some("12th Gen Intel(R) Core(TM) i7-1260P"));
    assert_eq!(machine.virtual_machine, Some(false));
    assert_eq!(machine.memory, Some(16_069_912 << 10));
    let details = machine.details.as_deref().unwrap();
    let p = &details.processor;
    assert_eq!(p.signature.as_deref(), Some("family 6 model 154 stepping 3"));
    assert_eq!((p.cores, p.packages, p.smt), (Some(3), Some(1), Some(true)));
    assert_eq!((p.isolated.as_ref(), p.tickless.as_ref()), (None, None));
    let kinds: Vec<_> = p.kinds.iter().map(|k| (k.name.as_deref(), k.cpus.as_str())).collect();
    assert_eq!(kinds, [(Some("performance"), "0-1"), (Some("efficiency"), "2-3")]);
    let first: Vec<_> = details
        .caches
        .iter()
        .filter(|c| c.level == 1 && c.kind == "data")
        .map(|c| c.bytes)
        .collect();
    assert_eq!(first, [Some(48 << 10), Some(32 << 10)], "of both kinds of core");
    assert_eq!(details.caches.iter().filter(|c| c.level == 3).count(), 1, "the shared one once");
    assert_eq!(details.frequency.max, Some(4_700_000_000));
    assert_eq!(details.frequency.governors, ["powersave"]);
    assert_eq!(details.idle.states.len(), 3, "one is disabled");
    assert_eq!(details.memory.swap_used, Some(1_048_576 << 10));
    assert_eq!(details.kernel.tick_hz, Some(1000));
    assert_eq!(details.virtualisation.stolen, Some(0.0));
    assert_eq!(details.storage.device.as_deref(), Some("nvme0n1"));
    assert_eq!(
        disturbances(&machine),
        [
            "load",
            "smt",
            "little_memory",
            "swap",
            "governor",
            "turbo",
            "profile",
            "battery",
            "heat",
            "deep_sleep",
            "clock_source",
            "huge_pages",
            "realtime",
            "locked_memory",
            "disk_busy",
            "read_ahead"
        ]
    );
    assert_eq!(cannot(&machine).len(), 4, "{:?}", cannot(&machine));
}

#[test]
fn board_with_two_kinds_of_core_is_described() {
    let mut root = Queried { counter_hz: Some(24_000_000), ..user() };
    root.answers = Answers {
        root: true,
        cpus: 2,
        realtime: Some(true),
        counters: Some(String::new()),
        ..root.answers
    };
    let machine = machine(BOARD, "aarch64", &root);
    assert_eq!(machine.cpu.as_deref(), Some("implementer 0x41 part 0xd05"));
    assert_eq!(machine.virtual_machine, None, "nothing tells");
    let details = machine.details.as_deref().unwrap();
    let kinds: Vec<_> = details
        .processor
        .kinds
        .iter()
        .map(|k| (k.name.as_deref(), k.cpus.as_str(), k.capacity))
        .collect();
    assert_eq!(
        kinds,
        [(Some("Cortex-A55"), "0-1", Some(530)), (Some("Cortex-A76"), "2-3", Some(1024))]
    );
    assert_eq!(details.processor.vendor.as_deref(), Some("Arm"));
    assert_eq!(details.processor.allowed.as_deref(), Some("2-3"));
    assert_eq!(details.timers.counter_hz, Some(24_000_000));
    assert_eq!(details.privileges.lock_memory, Some(true));
    assert_eq!(details.frequency.turbo, Some(false));
    assert!(details.tlbs.is_empty());
    assert_eq!(disturbances(&machine), ["governor", "scratch_in_memory"]);
    assert_eq!(cannot(&machine), [""; 0]);
}

#[test]
fn guest_with_few_facts_is_described() {
    let machine = machine(GUEST, "riscv64", &Queried::default());
    assert_eq!(machine.cpu.as_deref(), Some("sifive,u74-mc"));
    assert_eq!(machine.virtual_machine, Some(true));
    let details = machine.details.as_deref().unwrap();
    assert_eq!(details.timers.counter_hz, Some(10_000_000));
    assert_eq!(
        details.processor.signature.as_deref(),
        Some("marchid 0x8000000000000007 mimpid 0x4210427")
    );
    let code = details.caches.iter().find(|c| c.kind == "instruction").unwrap();
    assert_eq!((code.bytes, code.ways, code.sets), (None, None, None));
    assert_eq!(details.frequency, Default::default());
    assert_eq!(disturbances(&machine), [""; 0]);
}

#[test]
fn missing_facts_give_no_disturbances() {
    let machine = machine("", "vax", &Queried::default());
    let details = machine.details.as_deref().unwrap();
    let nothing = Details {
        version: VERSION,
        unmeasurable: details.unmeasurable.clone(),
        ..Details::default()
    };
    assert_eq!(*details, nothing);
    assert_eq!((machine.cpu, machine.memory, machine.virtual_machine), (None, None, None));
}

/// The test of the machine page of the command line uses these documents.
#[test]
fn saved_files_give_expected_documents() {
    for (name, files, isa) in [
        ("x86_64_laptop", LAPTOP, "x86_64"),
        ("aarch64_board", BOARD, "aarch64"),
        ("riscv64_guest", GUEST, "riscv64"),
        ("no_files", "", "vax"),
    ] {
        let path = format!("{}/src/samples/{name}.json", env!("CARGO_MANIFEST_DIR"));
        let text = serde_json::to_string_pretty(&machine(files, isa, &user())).unwrap() + "\n";
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "{path}");
    }
}

/// Probes the machine that runs the tests.
#[test]
fn probe_does_not_reveal_the_host_name() {
    let machine = probe(std::env::consts::ARCH, std::env::consts::OS);
    assert!(machine.cpus >= 1 && machine.page_size >= 1);
    let text = serde_json::to_string(&machine).unwrap();
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    // A short name may be a part of any word.
    assert!(host.len() < 4 || !text.contains(&format!("\"{host}\"")), "{text}");
    assert_eq!(serde_json::from_str::<Machine>(&text).unwrap(), machine);
}
