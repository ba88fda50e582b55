//! Compares the machines of two runs by three kinds of facts. Pure.
//!
//! Only facts that both sides report can differ. A fact of the first kind that one side lacks
//! counts as one of the second kind, since it is then unknown whether the machines are alike.

use std::collections::BTreeMap;

use serde::Serialize;
use yamba_record::RunHead;
use yamba_record::machine::details::CoreKind;
use yamba_record::machine::{Details, Java};

/// A fact that differs between the two sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Difference {
    /// The name of the fact: `cpu`, `kernel`, `mitigation meltdown`.
    pub name: String,
    /// Its value on side a; none if unknown.
    pub a: Option<String>,
    /// Its value on side b; none if unknown.
    pub b: Option<String>,
}

impl Difference {
    /// `kernel is 6.1 in A, 6.2 in B`, for the sides `in A` and `in B`.
    pub fn describe(&self, first: &str, second: &str) -> String {
        let said = |value: &Option<String>| value.clone().unwrap_or_else(|| "not known".to_owned());
        format!("{} is {} {first}, {} {second}", self.name, said(&self.a), said(&self.b))
    }
}

/// Differences between the machines of two runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Differences {
    /// Facts that show another machine: the processor's model, the instruction set, the kinds of
    /// core, the system.
    pub identity: Vec<Difference>,
    /// Facts that show another state of the machine, which figures may depend on: kernel,
    /// microcode, mitigations, governor, compiler and the like.
    pub state: Vec<Difference>,
    /// Further facts for information.
    pub informative: Vec<Difference>,
}

/// The name of a fact, and its value if it is known.
pub type Fact = (String, Option<String>);

/// The facts of one machine that divide the machines of a fleet into classes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fingerprint {
    /// Another value is another machine.
    pub identity: Vec<Fact>,
    /// Settings, software and equipment that figures may depend on.
    pub state: Vec<Fact>,
}

/// The fingerprint of the machine of a run, with the version and mode of the measurement. Memory is
/// rounded to GiB, since firmware takes some of it.
pub fn fingerprint(run: &RunHead) -> Fingerprint {
    let all = details(run);
    let gib = |bytes: u64| format!("{:.0} GiB", bytes as f64 / (1_u64 << 30) as f64);
    let mut state = state_facts(run);
    state.extend([
        fact("cpus", (run.machine.cpus > 0).then_some(run.machine.cpus)),
        fact("memory", run.machine.memory.map(gib)),
        fact("clock source", all.timers.source),
        fact("huge pages", all.memory.transparent_huge_pages),
        fact("measured by", text(&run.producer.version)),
    ]);
    Fingerprint { identity: identity_facts(run), state }
}

/// Compares the machines of two runs.
pub fn differences(a: &RunHead, b: &RunHead) -> Differences {
    let identity = differing(identity_facts(a), identity_facts(b));
    let (unknown, identity): (Vec<_>, Vec<_>) = identity.into_iter().partition(is_one_sided);
    let state = differing(state_facts(a), state_facts(b));
    let (untold, state): (Vec<_>, Vec<_>) = state.into_iter().partition(is_one_sided);
    let mut informative = differing(informative(a), informative(b));
    informative.extend(untold);
    Differences { identity, state: unknown.into_iter().chain(state).collect(), informative }
}

fn is_one_sided(difference: &Difference) -> bool {
    difference.a.is_none() || difference.b.is_none()
}

/// The facts that differ, or that only one list has. They keep their order.
fn differing(a: Vec<Fact>, b: Vec<Fact>) -> Vec<Difference> {
    let others: BTreeMap<String, Option<String>> = b.iter().cloned().collect();
    let known: Vec<String> = a.iter().map(|(name, _)| name.clone()).collect();
    let of_a = a.into_iter().map(|(name, value)| {
        let other = others.get(&name).cloned().flatten();
        (name, value, other)
    });
    let only_of_b = b.into_iter().filter(|(name, _)| !known.contains(name));
    let all = of_a.chain(only_of_b.map(|(name, value)| (name, None, value)));
    all.filter(|(_, a, b)| a != b).map(|(name, a, b)| Difference { name, a, b }).collect()
}

fn fact(name: &str, value: Option<impl ToString>) -> Fact {
    (name.to_owned(), value.map(|v| v.to_string()))
}

/// `None` for an empty text.
fn text(value: &str) -> Option<&str> {
    (!value.is_empty()).then_some(value)
}

fn list(values: &[String]) -> Option<String> {
    (!values.is_empty()).then(|| values.join(", "))
}

fn details(run: &RunHead) -> Details {
    run.machine.details.as_deref().cloned().unwrap_or_default()
}

fn identity_facts(run: &RunHead) -> Vec<Fact> {
    let processor = details(run).processor;
    vec![
        fact("isa", text(&run.machine.isa)),
        fact("system", text(&run.machine.system)),
        fact("cpu", run.machine.cpu.as_deref()),
        fact("cpu signature", processor.signature),
        fact("kinds of core", core_kinds(&processor.kinds)),
        fact("java", run.machine.java.as_ref().map(Java::describe)),
    ]
}

/// The kinds of core by name, or by capacity if they have no name. The number of online cores does
/// not matter here.
fn core_kinds(kinds: &[CoreKind]) -> Option<String> {
    let of = |kind: &CoreKind| match (&kind.name, kind.capacity) {
        (Some(name), _) => name.clone(),
        (None, Some(capacity)) => format!("capacity {capacity}"),
        (None, None) => "unnamed".to_owned(),
    };
    let mut names: Vec<String> = kinds.iter().map(of).collect();
    names.sort();
    names.dedup();
    // Every machine with equal cores reports one unnamed kind, whether or not its kernel knows
    // capacities.
    if kinds.len() == 1 && kinds[0].name.is_none() {
        names = vec!["all alike".to_owned()];
    }
    list(&names)
}

fn state_facts(run: &RunHead) -> Vec<Fact> {
    let all = details(run);
    let is_ours = run.producer.imported.is_none();
    let beside_neighbours = if run.plan.counts_neighbours { "counted" } else { "discarded" };
    let mut facts = vec![
        fact("kernel", text(&run.machine.kernel)),
        fact("page size", (run.machine.page_size > 0).then_some(run.machine.page_size)),
        fact("microcode", all.processor.microcode),
        fact("smt", all.processor.smt),
        fact("frequency driver", all.frequency.driver),
        fact("governor", list(&all.frequency.governors)),
        fact("energy preference", list(&all.frequency.preferences)),
        fact("turbo", all.frequency.turbo),
        fact("virtual machine", run.machine.virtual_machine),
        fact("hypervisor", all.virtualisation.hypervisor),
        fact("compiler", run.producer.compiler.as_deref()),
        fact("batches beside neighbours", is_ours.then_some(beside_neighbours)),
    ];
    let mitigations = all.kernel.mitigations.into_iter();
    facts.extend(mitigations.map(|m| (format!("mitigation {}", m.name), Some(m.state))));
    facts
}

fn informative(run: &RunHead) -> Vec<Fact> {
    let all = details(run);
    let is_ours = run.producer.imported.is_none();
    vec![
        fact("cpus", (run.machine.cpus > 0).then_some(run.machine.cpus)),
        fact("memory", run.machine.memory),
        fact("root", is_ours.then_some(run.machine.root)),
        fact("highest frequency", all.frequency.max),
        fact("counter rate", all.timers.counter_hz),
        fact("clock source", all.timers.source),
        fact("huge pages", all.memory.transparent_huge_pages),
        fact("container", all.virtualisation.container),
        fact("file system", all.storage.file_system),
        fact("disk", all.storage.model),
        fact("load", all.load.average.map(|[minute, ..]| minute)),
        fact("yamba", text(&run.producer.version)),
    ]
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use yamba_record::Run;

    use super::*;

    type Change = fn(&mut Value);

    fn document() -> Value {
        json!({
            "schema": "yamba-run/1", "benchmarks": [],
            "machine": {
                "isa": "x86_64", "system": "linux", "kernel": "6.1.0", "cpu": "AMD EPYC 9354", "cpus": 2,
                "memory": 1000, "page_size": 4096, "root": true, "virtual_machine": true, "scratch": null,
                "details": {
                    "processor": {"signature": "family 25 model 17 stepping 1", "microcode": "0x1", "throttled": 0,
                                  "kinds": [{"name": null, "cpus": "0-1", "capacity": 1024}]},
                    "frequency": {"governors": ["performance"], "max": 3_000_000_000u64},
                    "kernel": {"mitigations": [{"name": "meltdown", "state": "Not affected"}]},
                    "virtualisation": {"hypervisor": "KVM"},
                    "timers": {"counter_hz": 2_000_000_000u64},
                    "load": {"average": [0.1, 0.1, 0.1]},
                }
            },
            "producer": {"version": "yamba 0.1.0", "arguments": [], "compiler": "g++ 14"},
        })
    }

    fn run(change: impl FnOnce(&mut Value)) -> Run {
        let mut document = document();
        change(&mut document);
        serde_json::from_value(document).unwrap()
    }

    fn names(differences: &[Difference]) -> Vec<&str> {
        differences.iter().map(|d| d.name.as_str()).collect()
    }

    #[test]
    fn reboot_clock_estimate_and_address_do_not_change_machine_identity() {
        let after = run(|d| {
            d["started_unix_s"] = json!(2e9);
            let machine = &mut d["machine"];
            for (name, value) in [
                ("hostname", json!("other")),
                ("address", json!("10.0.0.7")),
                ("mhz", json!(2394.1)),
                ("bogomips", json!(4799.7)),
                ("memory", json!(998)),
            ] {
                machine[name] = value;
            }
            let details = &mut machine["details"];
            details["frequency"]["max"] = json!(3_000_017_000u64);
            details["frequency"]["highest_allowed"] = json!(2_900_000_000u64);
            details["timers"]["counter_hz"] = json!(2_000_000_311u64);
            details["processor"]["throttled"] = json!(12);
            details["memory"] = json!({"available": 5, "swap_used": 9});
            details["virtualisation"]["stolen"] = json!(0.25);
            details["storage"] = json!({"folder": "$TMPDIR", "free": 17});
            details["load"] = json!({"average": [3.0, 2.0, 1.0], "running": 4});
            details["disturbances"] =
                json!([{"name": "load", "text": "x", "fix": {"advice": "y"}}]);
        });
        let found = differences(&run(|_| ()), &after);
        assert_eq!((&found.identity, &found.state), (&vec![], &vec![]));
        for name in ["memory", "highest frequency", "counter rate", "load"] {
            assert!(names(&found.informative).contains(&name), "{found:?}");
        }
        assert_eq!(differences(&after, &after), Differences::default());
    }

    #[test]
    fn each_identity_fact_distinguishes_machines() {
        let same = run(|_| ());
        let changes: [(&str, Change); 5] = [
            ("isa", |d| d["machine"]["isa"] = json!("aarch64")),
            ("system", |d| d["machine"]["system"] = json!("freebsd")),
            ("cpu", |d| d["machine"]["cpu"] = json!("AMD EPYC 7763")),
            ("cpu signature", |d| {
                d["machine"]["details"]["processor"]["signature"] = json!("family 26");
            }),
            ("kinds of core", |d| {
                d["machine"]["details"]["processor"]["kinds"] = json!([
                    {"name": "performance", "cpus": "0"}, {"name": "efficiency", "cpus": "1"}]);
            }),
        ];
        for (name, change) in changes {
            let found = differences(&same, &run(change));
            assert_eq!(names(&found.identity), [name]);
            assert!(found.state.is_empty(), "{found:?}");
        }
        let found = differences(&same, &run(|d| d["machine"]["cpu"] = json!("Z")));
        let [cpu] = &found.identity[..] else { panic!() };
        assert_eq!(cpu.a.as_deref(), Some("AMD EPYC 9354"));
        assert_eq!(cpu.b.as_deref(), Some("Z"));
    }

    #[test]
    fn changed_machine_state_is_listed_by_name() {
        let mut other = run(|d| {
            d["machine"]["kernel"] = json!("6.2.0");
            d["producer"]["compiler"] = json!("g++ 15");
            let details = &mut d["machine"]["details"];
            details["processor"]["microcode"] = json!("0x2");
            details["frequency"]["governors"] = json!(["powersave"]);
            details["virtualisation"]["hypervisor"] = json!("Xen");
            details["kernel"]["mitigations"] =
                json!([{"name": "meltdown", "state": "Mitigation: PTI"}]);
        });
        other.plan.counts_neighbours = true;
        let found = differences(&run(|_| ()), &other);
        assert!(found.identity.is_empty());
        assert_eq!(
            names(&found.state),
            [
                "kernel",
                "microcode",
                "governor",
                "hypervisor",
                "compiler",
                "batches beside neighbours",
                "mitigation meltdown"
            ]
        );
    }

    /// An old document has no details. A run of cached programs does not know its compiler.
    #[test]
    fn fact_missing_on_one_side_is_no_identity_difference() {
        let before = run(|d| {
            d["machine"]["details"] = Value::Null;
            d["producer"] = json!({"version": "", "arguments": []});
        });
        let found = differences(&run(|_| ()), &before);
        assert!(found.identity.is_empty());
        assert_eq!(names(&found.state), ["cpu signature", "kinds of core"]);
        assert!(names(&found.informative).contains(&"compiler"));
        // A newer kernel that reports capacities makes no new machine.
        let capacity = |d: &mut Value| {
            d["machine"]["details"]["processor"]["kinds"] = json!([{"name": null, "cpus": "0"}]);
        };
        assert_eq!(differences(&run(|_| ()), &run(capacity)), Differences::default());
    }
}
