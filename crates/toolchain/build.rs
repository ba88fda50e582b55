//! Rebuilds the crate when a file is added to an embedded folder. `include_dir!` alone notices only
//! changed files.

fn main() {
    for folder in ["runtime", "library", "suite", "studies"] {
        println!("cargo::rerun-if-changed=../../{folder}");
    }
}
