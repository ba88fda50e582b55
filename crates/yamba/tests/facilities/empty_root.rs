//! A bundle in an empty root, as a user who can write nothing.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::Missing;
use crate::pages::is_root;
use crate::support::Yamba;

pub fn bundle_measures_in_an_empty_root() -> Result<(), Missing> {
    if !is_root() {
        return Err(Missing::new("chroot needs root"));
    }
    let mut yamba = Yamba::new();
    yamba.run("bundle lat_integer_add lat_pipe lat_fork_exit --quick -o measure").ok();
    let root = yamba.folder.path().join("root");
    fs::create_dir(&root).unwrap();
    fs::copy(yamba.folder.path().join("measure"), root.join("measure")).unwrap();
    let mut command = Command::new("chroot");
    command.arg("--userspec=65534:65534").arg(&root).arg("/measure");
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let names: Vec<_> = fs::read_dir(&root).unwrap().flatten().map(|e| e.file_name()).collect();
    assert_eq!(names, ["measure"]);
    let mut yamba = yamba.file("capture.json", output.stdout);
    let id = yamba.run("import capture.json").ok().out;
    let shown = yamba.run(&format!("show {} --json", id.trim())).ok().out;
    let run: Value = serde_json::from_str(&shown).unwrap();
    for entry in run["benchmarks"].as_array().unwrap() {
        assert!(entry["median"].as_f64().is_some_and(|m| m > 0.0), "{entry}");
    }
    Ok(())
}
