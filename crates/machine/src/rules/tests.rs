//! Tests each rule with facts that trigger it, and with similar facts that do not.

use yamba_record::Machine;
use yamba_record::machine::Details;
use yamba_record::machine::details::{CoreKind, Fix, IdleState, Limit, Node, Tracer};

use super::*;

/// The disturbances of a quiet machine after `change`.
fn found(change: impl Fn(&mut Machine, &mut Details)) -> Vec<Disturbance> {
    disturbances(&machine(change))
}

/// A quiet machine after `change`.
fn machine(change: impl Fn(&mut Machine, &mut Details)) -> Machine {
    let mut machine = Machine {
        isa: "x86_64".to_owned(),
        kernel: "6.8.0".to_owned(),
        cpus: 4,
        root: true,
        ..Machine::default()
    };
    let mut details = Details::default();
    change(&mut machine, &mut details);
    machine.details = Some(Box::new(details));
    machine
}

fn names(change: impl Fn(&mut Machine, &mut Details)) -> Vec<String> {
    found(change).into_iter().map(|d| d.name).collect()
}

/// The command of the only disturbance.
fn command_of(change: impl Fn(&mut Machine, &mut Details)) -> String {
    let all = found(change);
    match all.as_slice() {
        [Disturbance { fix: Fix::Command(command), .. }] => command.clone(),
        other => panic!("{other:?}"),
    }
}

fn text(word: &str) -> Option<String> {
    Some(word.to_owned())
}

#[test]
fn machine_without_facts_has_no_disturbances() {
    assert_eq!(names(|_, _| {}), [""; 0]);
}

#[test]
fn other_running_threads_disturb() {
    assert_eq!(names(|_, d| d.load.running = Some(1)), ["load"]);
    assert_eq!(names(|_, d| d.load.running = Some(0)), [""; 0]);
    assert_eq!(names(|_, d| d.load.average = Some([1.1, 0.0, 0.0])), ["load"]);
    assert_eq!(names(|_, d| d.load.average = Some([0.9, 9.0, 9.0])), [""; 0]);
    assert_eq!(names(|_, d| d.load.cpu_pressure = Some(5.0)), ["load"]);
    assert_eq!(names(|_, d| d.load.cpu_pressure = Some(0.5)), [""; 0]);
    assert_eq!(names(|_, d| d.load.io_pressure = Some(5.0)), ["disk_busy"]);
    assert_eq!(names(|_, d| d.load.io_pressure = Some(0.1)), [""; 0]);
}

#[test]
fn programs_at_trace_points_disturb() {
    let tracer = Tracer {
        process: 7,
        name: text("agent"),
        points: vec!["sys_enter".to_owned(), "sys_exit".to_owned()],
    };
    let all = found(|_, d| d.load.tracers = vec![tracer.clone()]);
    assert_eq!(all[0].name, "traced");
    assert!(all[0].text.contains("`agent` (process 7) at sys_enter, sys_exit"), "{}", all[0].text);
}

#[test]
fn single_processor_disturbs() {
    let advised = found(|m, _| m.cpus = 1);
    assert!(matches!(advised[0].fix, Fix::Advice(_)));
    let allowed = |m: &mut Machine, d: &mut Details| {
        m.cpus = 1;
        d.processor.online = text("0-3");
    };
    assert_eq!(command_of(allowed), "taskset -cp 0-3 $$");
}

#[test]
fn stolen_time_and_quota_disturb() {
    assert_eq!(names(|_, d| d.virtualisation.stolen = Some(0.002)), ["stolen"]);
    assert_eq!(names(|_, d| d.virtualisation.stolen = Some(0.0)), [""; 0]);
    assert_eq!(names(|_, d| d.virtualisation.cpu_quota = Some(1.5)), ["quota"]);
    assert_eq!(names(|_, d| d.virtualisation.cpu_quota = Some(4.0)), [""; 0]);
    assert_eq!(names(|_, d| d.virtualisation.hypervisor = text("qemu-tcg")), ["emulated"]);
    assert_eq!(names(|_, d| d.virtualisation.hypervisor = text("kvm")), [""; 0]);
}

#[test]
fn smt_fix_depends_on_kernel_switch() {
    let on = |_: &mut Machine, d: &mut Details| {
        d.processor.smt = Some(true);
        d.processor.smt_control = text("on");
    };
    assert!(command_of(on).contains("smt/control"));
    let unable = found(|_, d| d.processor.smt = Some(true));
    assert!(matches!(unable[0].fix, Fix::Advice(_)));
    assert_eq!(names(|_, d| d.processor.smt = Some(false)), [""; 0]);
}

#[test]
fn low_memory_and_swap_disturb() {
    let left = |available| {
        move |_: &mut Machine, d: &mut Details| {
            d.memory.total = Some(100 << 30);
            d.memory.available = Some(available);
        }
    };
    assert_eq!(names(left(4 << 30)), ["little_memory"]);
    assert_eq!(names(left(6 << 30)), [""; 0]);
    assert_eq!(names(|_, d| d.memory.swap_used = Some(4096)), ["swap"]);
    assert_eq!(names(|_, d| d.memory.swap_used = Some(0)), [""; 0]);
    assert_eq!(names(|_, d| d.memory.merging = Some(true)), ["merging"]);
    assert_eq!(names(|_, d| d.memory.merging = Some(false)), [""; 0]);
    let always = |d: &mut Details| d.memory.transparent_huge_pages = text("always");
    assert_eq!(names(|_, d| always(d)), ["huge_pages"]);
    assert_eq!(names(|_, d| d.memory.transparent_huge_pages = text("madvise")), [""; 0]);
}

#[test]
fn node_balancing_disturbs_only_with_several_nodes() {
    let nodes = |count: usize| {
        move |_: &mut Machine, d: &mut Details| {
            d.memory.node_balancing = Some(true);
            d.memory.nodes = vec![Node::default(); count];
        }
    };
    assert_eq!(names(nodes(2)), ["node_balancing"]);
    assert_eq!(names(nodes(1)), [""; 0]);
}

#[test]
fn governor_that_changes_frequency_disturbs() {
    let governed = |governors: &'static [&str], high| {
        move |_: &mut Machine, d: &mut Details| {
            d.frequency.governors = governors.iter().map(|g| (*g).to_owned()).collect();
            d.frequency.lowest_allowed = Some(2);
            d.frequency.highest_allowed = Some(high);
        }
    };
    assert_eq!(names(governed(&["performance", "powersave"], 3)), ["governor"]);
    assert_eq!(names(governed(&["performance"], 3)), [""; 0]);
    assert_eq!(names(governed(&["powersave"], 2)), [""; 0], "one frequency only");
}

#[test]
fn each_turbo_switch_has_its_own_fix() {
    let turbo = |on, switch: &'static str| {
        move |_: &mut Machine, d: &mut Details| {
            d.frequency.turbo = Some(on);
            d.frequency.turbo_switch = text(switch);
        }
    };
    assert_eq!(command_of(turbo(true, "/x/no_turbo")), "echo 1 | sudo tee /x/no_turbo");
    assert_eq!(command_of(turbo(true, "/x/boost")), "echo 0 | sudo tee /x/boost");
    assert_eq!(names(turbo(false, "/x/boost")), [""; 0]);
}

#[test]
fn energy_saving_disturbs() {
    assert_eq!(names(|_, d| d.frequency.profile = text("low-power")), ["profile"]);
    assert_eq!(names(|_, d| d.frequency.profile = text("balanced")), [""; 0]);
    assert_eq!(names(|_, d| d.frequency.on_battery = Some(true)), ["battery"]);
    assert_eq!(names(|_, d| d.frequency.on_battery = Some(false)), [""; 0]);
    assert_eq!(
        command_of(|_, d| d.kernel.laptop_mode = Some(true)),
        "sudo sysctl vm.laptop_mode=0"
    );
    assert_eq!(names(|_, d| d.processor.throttled = Some(3)), ["heat"]);
    assert_eq!(names(|_, d| d.processor.throttled = Some(0)), [""; 0]);
    let sleeping = |us| {
        move |_: &mut Machine, d: &mut Details| {
            d.idle.states = vec![IdleState { name: "C6".to_owned(), wake_us: Some(us) }];
        }
    };
    assert_eq!(names(sleeping(170)), ["deep_sleep"]);
    assert_eq!(names(sleeping(2)), [""; 0]);
}

#[test]
fn slow_clock_source_disturbs() {
    let source = |name: &'static str, others: &'static [&str]| {
        move |_: &mut Machine, d: &mut Details| {
            d.timers.source = text(name);
            d.timers.available = others.iter().map(|o| (*o).to_owned()).collect();
        }
    };
    assert!(command_of(source("kvm-clock", &["kvm-clock", "tsc"])).starts_with("echo tsc"));
    let hidden = found(source("hpet", &["hpet"]));
    assert!(hidden[0].text.contains("system call") && matches!(hidden[0].fix, Fix::Advice(_)));
    assert_eq!(names(source("tsc", &["tsc", "hpet"])), [""; 0]);
    let elsewhere = |m: &mut Machine, d: &mut Details| {
        m.isa = "aarch64".to_owned();
        d.timers.source = text("arch_sys_counter");
    };
    assert_eq!(names(elsewhere), [""; 0]);
    assert_eq!(names(|_, d| d.timers.counter_invariant = Some(false)), ["counter"]);
    assert_eq!(names(|_, d| d.timers.counter_invariant = Some(true)), [""; 0]);
}

#[test]
fn watchdog_disturbs_only_with_counters() {
    let counting = |counts| {
        move |_: &mut Machine, d: &mut Details| {
            d.kernel.watchdog = Some(true);
            d.privileges.counters = Some(counts);
        }
    };
    assert_eq!(names(counting(true)), ["watchdog"]);
    assert_eq!(names(counting(false)), [""; 0]);
}

#[test]
fn missing_layout_randomisation_disturbs() {
    assert_eq!(names(|_, d| d.kernel.layout_randomisation = Some(0)), ["one_layout"]);
    assert_eq!(names(|_, d| d.kernel.layout_randomisation = Some(2)), [""; 0]);
}

#[test]
fn missing_privileges_disturb() {
    let plain = |_: &mut Machine, d: &mut Details| {
        d.privileges.realtime = Some(false);
        d.limits.realtime_priority = Some(Limit::At(0));
    };
    assert!(command_of(plain).contains("--rtprio"));
    let filtered = found(|_, d| {
        d.privileges.realtime = Some(false);
        d.privileges.capabilities = vec!["sys_nice".to_owned()];
    });
    assert!(matches!(filtered[0].fix, Fix::Advice(_)));
    assert_eq!(names(|_, d| d.privileges.realtime = Some(true)), [""; 0]);
    let locked = |may| {
        move |_: &mut Machine, d: &mut Details| {
            d.privileges.lock_memory = Some(may);
            d.limits.locked_memory = Some(Limit::At(65536));
        }
    };
    assert!(found(locked(false))[0].text.contains("only 64 KiB"));
    assert_eq!(names(locked(true)), [""; 0]);
}

#[test]
fn realtime_limit_fix_depends_on_kernel_version() {
    let share = |run, kernel: &'static str| {
        move |m: &mut Machine, d: &mut Details| {
            m.kernel = kernel.to_owned();
            d.privileges.realtime = Some(true);
            d.kernel.realtime_runtime_us = Some(run);
            d.kernel.realtime_period_us = Some(1_000_000);
        }
    };
    assert!(command_of(share(950_000, "6.1.0-13-amd64")).contains("sched_rt_runtime_us=-1"));
    assert!(command_of(share(950_000, "6.12.1")).contains("fair_server"));
    assert!(command_of(share(950_000, "7.0")).contains("fair_server"));
    assert!(found(share(950_000, "6.1"))[0].text.contains("5 % of each second, 50 ms"));
    assert_eq!(names(share(-1, "6.1")), [""; 0]);
    assert_eq!(names(share(1_000_000, "6.1")), [""; 0]);
}

#[test]
fn scratch_disk_disturbances() {
    let disk = |memory, read_ahead| {
        move |_: &mut Machine, d: &mut Details| {
            d.storage.is_memory = Some(memory);
            d.storage.read_ahead = Some(read_ahead);
            d.storage.device = text("sda");
        }
    };
    assert_eq!(names(disk(true, 0)), ["scratch_in_memory"]);
    assert_eq!(
        command_of(disk(false, 4096)),
        "echo 0 | sudo tee /sys/block/sda/queue/read_ahead_kb"
    );
    let own = command_of(|m, d| {
        disk(false, 4096)(m, d);
        d.storage.read_ahead_file = text("/sys/class/bdi/btrfs-1/read_ahead_kb");
    });
    assert_eq!(own, "echo 0 | sudo tee /sys/class/bdi/btrfs-1/read_ahead_kb");
    assert_eq!(names(disk(false, 0)), [""; 0]);
}

fn cannot_with(change: impl Fn(&mut Machine, &mut Details)) -> Vec<Unmeasurable> {
    cannot(&machine(change))
}

#[test]
fn untried_privileges_are_not_reported() {
    assert_eq!(cannot_with(|_, _| {}), []);
    let all = |d: &mut Details| {
        d.privileges.counters = Some(true);
        d.privileges.realtime = Some(true);
        d.privileges.guests = Some(true);
        d.privileges.network_file_systems = Some(vec!["nfs".to_owned()]);
        d.processor.kinds = vec![CoreKind::default()];
    };
    assert_eq!(cannot_with(|_, d| all(d)), []);
}

#[test]
fn refused_counters_have_reason() {
    let why = |error: &'static str, guest, paranoid| {
        let all = cannot_with(move |m, d| {
            m.virtual_machine = Some(guest);
            d.privileges.counters = Some(false);
            d.privileges.counters_error = text(error);
            d.kernel.perf_event_paranoid = Some(paranoid);
        });
        assert_eq!(all.len(), 1);
        all[0].clone()
    };
    assert!(why("ENOENT", true, 2).why.contains("host gives the guest none"));
    assert!(why("ENOENT", false, 2).why.contains("kernel finds none"));
    assert!(why("ENOSYS", false, 2).why.contains("kernel lacks it"));
    assert!(why("zero", true, 2).why.contains("stays at zero"));
    assert!(why("EACCES", false, 4).why.contains("perf_event_paranoid is 4"));
    assert!(matches!(why("EACCES", false, 4).fix, Fix::Command(_)));
    assert!(why("EPERM", false, 2).why.contains("filter"));
}

#[test]
fn other_missing_capabilities_are_reported() {
    let whats = |change: fn(&mut Machine, &mut Details)| {
        let all = cannot_with(change);
        all.into_iter().map(|c| c.what).collect::<Vec<_>>().join(";")
    };
    assert!(whats(|_, d| d.privileges.realtime = Some(false)).contains("two priorities"));
    assert!(whats(|m, _| m.cpus = 1).contains("grows with processors"));
    assert!(whats(|m, _| m.root = false).contains("read-ahead"));
    assert!(whats(|_, d| d.privileges.guests = Some(false)).contains("hypervisor"));
    assert!(whats(|_, d| d.privileges.network_file_systems = Some(vec![])).contains("network"));
    let fixed = cannot_with(|_, d| {
        d.privileges.network_file_systems = Some(vec![]);
        d.kernel.modules = Some(false);
    });
    assert!(matches!(fixed[0].fix, Fix::Advice(_)));
}
