//! Rebuilds the crate when a file appears in a folder that is embedded: `include_dir!` alone notices only changed files.

fn main() {
    for folder in ["runtime", "library", "suite", "studies"] {
        println!("cargo::rerun-if-changed=../../{folder}");
    }
}
