//! Rebuilds the crate when a file is added to an embedded folder. `include_dir!` alone notices only
//! changed files. The folders are links to those of the checkout, which `cargo package` follows.

fn main() {
    for folder in ["runtime", "library", "suite", "studies"] {
        println!("cargo::rerun-if-changed=embedded/{folder}");
    }
}
