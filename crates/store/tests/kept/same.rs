//! Tests for every kind of store.

use super::TestStore;
use super::sample::{entry, run};
use serde_json::json;
use yamba_record::run::FleetMember;
use yamba_record::{Machine, Records, Run};
use yamba_store::Detail;

/// Serialises a run, to tell `-0.0` from `0.0`, which compare as equal.
fn text(run: &Run) -> String {
    serde_json::to_string(run).unwrap()
}

pub fn run_is_read_back_bit_for_bit(place: &TestStore) {
    let mut written = run("0a", 5.0);
    written.tags = vec!["z".to_owned(), "a".to_owned()];
    place.open().add(&written).unwrap();
    let mut store = place.open();
    assert_eq!(text(&store.run("0a", Detail::Batches).unwrap()), text(&written));

    for entry in &mut written.benchmarks {
        entry.records = Records::default();
    }
    assert_eq!(text(&store.run("0a", Detail::Samples).unwrap()), text(&written));
    for entry in &mut written.benchmarks {
        entry.details.samples.clear();
    }
    assert_eq!(text(&store.run("0a", Detail::Figures).unwrap()), text(&written));
}

pub fn unfinished_run_is_readable(place: &TestStore) {
    let (mut writer, mut reader) = (place.open(), place.open());
    let mut head = run("0a", 5.0);
    head.benchmarks.clear();
    writer.begin(&head).unwrap();
    writer.put("0a", 1, &entry("late", 2)).unwrap();
    writer.put("0a", 0, &entry("early", 2)).unwrap();
    writer.put("0a", 0, &entry("early", 4)).unwrap();
    let listed = reader.runs().unwrap().remove(0);
    assert!(!listed.complete);
    assert_eq!(listed.is_running, cfg!(target_os = "linux").then_some(true));
    let seen = reader.run("0a", Detail::Batches).unwrap();
    assert_eq!(seen.benchmarks, [entry("early", 4), entry("late", 2)]);

    reader.tag("0a", "meanwhile", true).unwrap();
    head.finished_unix_s = Some(6.0);
    head.benchmarks = vec![entry("early", 4), entry("late", 2)];
    writer.finish(&head).unwrap();
    let listed = reader.runs().unwrap().remove(0);
    assert!(listed.complete);
    assert_eq!(listed.is_running, Some(false));
    assert_eq!(listed.head.tags, ["meanwhile"]);
    assert_eq!(listed.head.finished_unix_s, Some(6.0));

    head.interrupted = true;
    writer.finish(&head).unwrap();
    assert!(!reader.runs().unwrap()[0].complete);
}

pub fn list_is_latest_first_with_distinct_names(place: &TestStore) {
    let mut store = place.open();
    for (id, started) in [("0a", 5.0), ("0b", 9.0), ("0c", 7.0)] {
        store.add(&run(id, started)).unwrap();
    }
    let all = store.runs().unwrap();
    let ids: Vec<&str> = all.iter().map(|r| r.id.as_str()).collect();
    assert_eq!(ids, ["0b", "0c", "0a"]);
    assert_eq!(all[0].benchmarks, ["lat_a", "lat_b"]);
    assert_eq!(all[0].entries, [3, 2]);
    assert_eq!(store.listed("0c").unwrap().unwrap(), all[1]);
    assert_eq!(store.listed("0d").unwrap(), None);
    assert_eq!(store.find("latest~1").unwrap(), "0c");
    let mut again = run("0d", 10.0);
    again.producer.arguments = vec!["compare".to_owned()];
    store.add(&again).unwrap();
    assert_eq!(store.find("latest").unwrap(), "0b");
    assert_eq!(store.find("0d").unwrap(), "0d");
    store.remove("0d").unwrap();
    let error = store.find("x").unwrap_err().to_string();
    assert!(error.contains(": no run x: there are 0b, 0c, 0a"), "{error}");
}

/// The documents are read in batches.
pub fn requested_run_is_found_among_many_others(place: &TestStore) {
    let mut store = place.open();
    let short = |at: usize, command: &str| {
        let mut short = run(&format!("{at:04x}"), 1.0 + at as f64);
        short.benchmarks.truncate(1);
        short.producer.arguments = vec![command.to_owned()];
        short
    };
    let asked = [0, 20, 21, 69];
    // Earlier versions had a command `noise`.
    let commands = ["selftest", "compare", "predict", "noise"];
    let command = |at: usize| if asked.contains(&at) { "run" } else { commands[at % 4] };
    let all: Vec<Run> = (0..90).map(|at| short(at, command(at))).collect();
    store.add_all(&all.iter().collect::<Vec<_>>()).unwrap();
    for (reference, at) in [("latest", 69), ("latest~1", 21), ("latest~2", 20), ("latest~3", 0)] {
        assert_eq!(store.find(reference).unwrap(), format!("{at:04x}"));
    }
    for far in [4, usize::MAX] {
        let error = store.find(&format!("latest~{far}")).unwrap_err();
        let said = "the first of 4 is latest~3";
        assert!(error.to_string().contains(said), "{error}");
    }
}

pub fn tags_are_added_and_removed(place: &TestStore) {
    let mut store = place.open();
    store.add(&run("0a", 1.0)).unwrap();
    store.add(&run("0b", 2.0)).unwrap();
    for id in ["0a", "0b", "0b"] {
        store.tag(id, "base", true).unwrap();
    }
    assert_eq!(store.runs().unwrap()[0].head.tags, ["base"]);
    assert_eq!(store.find("base").unwrap(), "0b");
    store.tag("0b", "base", false).unwrap();
    assert_eq!(store.find("base").unwrap(), "0a");
    assert!(store.tag("0b", "base", false).is_err());
    assert!(store.tag("0x", "base", true).is_err());
}

pub fn removal_keeps_data_of_other_runs(place: &TestStore) {
    let mut store = place.open();
    let remaining = run("0a", 1.0);
    store.add(&remaining).unwrap();
    let mut removed = run("0b", 2.0);
    // The same hash with a different text, as an imported document may have it.
    removed.sources.insert("h1".to_owned(), "class C;".to_owned());
    store.add(&removed).unwrap();
    assert_eq!(text(&store.run("0b", Detail::Batches).unwrap()), text(&removed));
    store.remove("0b").unwrap();
    assert!(store.remove("0b").is_err());
    assert!(store.run("0b", Detail::Figures).is_err());
    assert_eq!(text(&store.run("0a", Detail::Batches).unwrap()), text(&remaining));
    let error = store.put("0b", 0, &entry("late", 1)).unwrap_err();
    assert!(error.to_string().contains("not there any more"), "{error}");
}

pub fn duplicate_id_is_rejected(place: &TestStore) {
    let mut store = place.open();
    store.add(&run("0a", 1.0)).unwrap();
    let error = store.add(&run("0a", 2.0)).unwrap_err();
    assert!(error.to_string().contains("run 0a is there already"), "{error}");
    assert!(store.add(&run("", 2.0)).is_err());
    assert_eq!(store.runs().unwrap().len(), 1);
}

/// The second of three runs is at fault; the first is rolled back.
pub fn several_runs_are_added_and_removed_atomically(place: &TestStore) {
    let mut store = place.open();
    store.add(&run("0a", 1.0)).unwrap();
    let [new, known] = [run("0b", 2.0), run("0a", 1.0)];
    let error = store.add_all(&[&new, &known, &run("0c", 3.0)]).unwrap_err();
    assert!(error.to_string().contains("run 0a is there already"), "{error}");
    assert!(store.add_all(&[&new, &new]).is_err());
    assert_eq!(store.runs().unwrap().len(), 1);
    store.add_all(&[&new, &run("0c", 3.0)]).unwrap();
    store.remove_all(&["0a", "nosuch", "0b"]).unwrap_err();
    assert_eq!(store.runs().unwrap().len(), 3);
    assert_eq!(store.run("0b", Detail::Batches).unwrap(), new);
    store.remove_all(&["0a", "0b"]).unwrap();
    assert_eq!(store.runs().unwrap().len(), 1);
}

/// Two threads with a connection each, which SQLite treats like processes.
pub fn concurrent_writers_all_succeed(place: &TestStore) {
    let begin = std::sync::Barrier::new(4);
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let begin = &begin;
            scope.spawn(move || {
                begin.wait();
                let mut store = place.open();
                let mut head = run(&format!("{writer}"), f64::from(writer));
                head.benchmarks.clear();
                store.begin(&head).unwrap();
                for place in 0..25 {
                    store.put(&head.id, place, &entry("lat_a", 20)).unwrap();
                }
                head.benchmarks = vec![entry("lat_a", 20); 25];
                store.finish(&head).unwrap();
            });
        }
    });
    let all = place.open().runs().unwrap();
    assert_eq!(all.len(), 4);
    assert!(all.iter().all(|r| r.complete && r.entries == [25, 25]));
}

pub fn runs_of_fleet_are_found_by_its_name(place: &TestStore) {
    let of = |id: &str, started, fleet: &str, rank| {
        let mut run = run(id, started);
        run.fleet = Some(FleetMember {
            name: fleet.to_owned(),
            node: format!("node{rank}"),
            job: Some("17_3".to_owned()),
            rank: Some(rank),
        });
        run
    };
    let mut store = place.open();
    let (first, second) = (of("0a", 1.0, "june", 0), of("0b", 2.0, "june", 1));
    store.add_all(&[&first, &second]).unwrap();
    let mut measured_here = of("0c", 3.0, "july", 0);
    measured_here.benchmarks.clear();
    store.begin(&measured_here).unwrap();
    store.finish(&measured_here).unwrap();
    store.add(&run("0d", 4.0)).unwrap();

    let mut store = place.open();
    let found = store.fleet("june").unwrap();
    let members: Vec<_> = found.iter().map(|run| run.fleet.clone()).collect();
    assert_eq!(members, [second.head.fleet, first.fleet.clone()]);
    assert_eq!(store.fleet("july").unwrap()[0].id, "0c");
    assert_eq!(store.fleet("august").unwrap(), []);
    assert_eq!(store.fleets().unwrap(), ["july", "june"]);
    assert_eq!(store.run("0a", Detail::Batches).unwrap().fleet, first.fleet);
}

pub fn vector_is_found_by_its_application_and_is_no_latest_run(place: &TestStore) {
    let of = |id: &str, started, application: &str| {
        let vector = json!({"application": application, "kernel_ns": 0.1});
        let mut run = Run::with_vector(Machine::default(), vector);
        (run.id, run.started_unix_s) = (id.to_owned(), Some(started));
        run
    };
    let mut store = place.open();
    assert!(store.find_vector("latest-vector").is_err());
    store.add(&run("0a", 1.0)).unwrap();
    let vectors = [of("0b", 2.0, "nginx"), of("0c", 3.0, "nginx"), of("0d", 4.0, "gcc")];
    for vector in &vectors {
        store.add(vector).unwrap();
    }
    store.tag("0b", "before", true).unwrap();

    let mut store = place.open();
    for (reference, id) in [
        ("nginx", "0c"),
        ("before", "0b"),
        ("gcc", "0d"),
        ("latest-vector", "0d"),
        ("latest-vector~2", "0b"),
    ] {
        assert_eq!(store.find_vector(reference).unwrap(), id, "{reference}");
    }
    assert_eq!(store.find("latest").unwrap(), "0a");
    assert_eq!(store.find("latest-vector~1").unwrap(), "0c");
    assert!(store.find_vector("0a").is_err());
    let read: Run = store.run("0b", Detail::Batches).unwrap();
    assert_eq!(read.vector, vectors[0].vector);
    assert!(store.runs().unwrap().iter().all(|run| run.complete));
}
