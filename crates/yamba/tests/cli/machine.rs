//! `yamba machine`, on any machine.

use serde_json::Value;

use crate::support::Yamba;

#[test]
fn machine_prints_facts_and_disturbances() {
    let answer = Yamba::new().run("machine").ok().says(&[
        "Processor\n",
        "Memory\n",
        "Storage of scratch files",
        "Disturbances of a measurement\n",
        "Not measurable here\n",
    ]);
    assert!(!answer.out.contains('\x1b'), "no colours into a pipe");
    assert_eq!(answer.err, "");
}

#[test]
fn machine_json_is_that_of_every_run() {
    let answer = Yamba::new().run("machine --json").ok();
    let machine: Value = serde_json::from_str(&answer.out).unwrap();
    assert!(machine["cpus"].as_u64() >= Some(1));
    let details = &machine["details"];
    assert_eq!(details["version"], 1);
    for disturbance in details["disturbances"].as_array().unwrap() {
        let fix = disturbance["fix"].as_object().unwrap();
        assert!(fix.contains_key("command") || fix.contains_key("advice"));
    }
}

#[test]
fn scratch_files_follow_tmpdir_without_naming_it() {
    let yamba = Yamba::new();
    let folder = yamba.folder.path().to_string_lossy().into_owned();
    let answer = yamba.env("TMPDIR", &folder).run("machine --json").ok();
    let machine: Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!(machine["details"]["storage"]["folder"], "$TMPDIR");
    assert!(!answer.out.contains(&folder), "a path may name its owner");
}

#[test]
fn machine_rejects_wrong_usage() {
    Yamba::new().run("machine loud").refused(&["loud"]);
}
