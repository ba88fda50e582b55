//! Builds programs from text and returns what they compose or print.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use yamba_lang::{Analysis, Diagnostic, Input, Target};
use yamba_toolchain::build::{self, BuildError, BuildOptions, Built};
use yamba_toolchain::disasm::Code;
use yamba_toolchain::embedded::Home;
use yamba_toolchain::files::Disk;

/// Instruction sets, each with the compiler that its tests need.
pub const ISAS: [(&str, &str); 4] = [
    ("x86_64", "g++"),
    ("x86_32", "i686-linux-gnu-g++"),
    ("aarch64", "aarch64-linux-gnu-g++"),
    ("riscv64", "riscv64-linux-gnu-g++"),
];

/// The root of the checkout.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the checkout")
}

/// The runtime and library of this checkout, with a separate cache for these tests.
fn home() -> Home {
    static SET: OnceLock<()> = OnceLock::new();
    SET.get_or_init(|| {
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs");
        // SAFETY: once, before any thread of these tests reads the environment through us.
        unsafe {
            std::env::set_var("YAMBA_HOME", root());
            std::env::set_var("YAMBA_CACHE", cache);
        }
    });
    yamba_toolchain::embedded::home().expect("the checkout")
}

/// Analyses a program as if its text were in the file `test.yamba`.
pub fn analyse(text: &str) -> Analysis {
    let disk = Disk::new(Vec::new(), &home()).expect("folders");
    let analysis = yamba_lang::analyse(
        vec![Input { path: "test.yamba".to_owned(), text: text.to_owned() }],
        &disk,
    );
    let shown =
        yamba_toolchain::render::diagnostics(&analysis.sources, &analysis.diagnostics, false);
    assert!(!analysis.has_errors(), "{shown}");
    analysis
}

fn target(isa: &str) -> Target {
    Target { isa: isa.to_owned(), system: "linux".to_owned() }
}

/// Warnings are errors.
fn options() -> BuildOptions {
    BuildOptions { flags: vec!["-Werror".to_owned()], ..BuildOptions::default() }
}

/// Precompiles the common header for the instruction set that most of these programs are for.
/// Building two programs at once does that.
fn precompile() {
    static DONE: OnceLock<()> = OnceLock::new();
    DONE.get_or_init(|| {
        let analysis =
            analyse("yamba one { void benchmark() {} } yamba two { void benchmark() {} }");
        let classes = ["one", "two"].map(|name| analysis.find_class(name).expect("the class"));
        let built = build::build_all(&analysis, &classes, &target("x86_64"), &options(), |_| {});
        assert!(built.iter().all(Result::is_ok), "{built:?}");
    });
}

/// Builds the class `name` of a program.
pub fn try_build(text: &str, name: &str, isa: &str) -> (Analysis, Result<Built, BuildError>) {
    if isa == "x86_64" {
        precompile();
    }
    let analysis = analyse(text);
    let class = analysis.find_class(name).expect("the class");
    let built = build::build(&analysis, class, &target(isa), &options());
    (analysis, built)
}

/// The built program of class `name` on `isa`.
pub fn build(text: &str, name: &str, isa: &str) -> Built {
    let (analysis, built) = try_build(text, name, isa);
    match built {
        Ok(built) => built,
        Err(BuildError::Diagnostics(found)) => {
            panic!("{}", yamba_toolchain::render::diagnostics(&analysis.sources, &found, false))
        }
        Err(e) => panic!("{e}"),
    }
}

/// The diagnostics of a failed build, and their rendered text.
pub fn build_faults(text: &str, name: &str, isa: &str) -> (Vec<Diagnostic>, String) {
    let (analysis, built) = try_build(text, name, isa);
    match built {
        Err(BuildError::Diagnostics(found)) => {
            let shown = yamba_toolchain::render::diagnostics(&analysis.sources, &found, false);
            (found, shown)
        }
        Err(e) => panic!("{e}"),
        Ok(_) => panic!("it builds"),
    }
}

/// Runs a built program.
pub fn run(built: &Built, arguments: &[&str]) -> Output {
    let mut words = built.runner.iter().map(PathBuf::from).chain([built.program.clone()]);
    let mut command = Command::new(words.next().expect("a program"));
    command.args(words).args(arguments).output().expect("it starts")
}

/// Composes a bitstring of a built program.
pub fn compose(built: &Built, member: &str, arguments: &[&str]) -> Code {
    let all: Vec<&str> =
        ["--compose", member].into_iter().chain(arguments.iter().copied()).collect();
    let output = run(built, &all);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    serde_json::from_str(&text)
        .unwrap_or_else(|e| panic!("{e}: {text}{}", String::from_utf8_lossy(&output.stderr)))
}

/// The bytes of a bitstring, in hexadecimal.
pub fn hex(built: &Built, member: &str, arguments: &[&str]) -> String {
    compose(built, member, arguments).bytes.iter().map(|b| format!("{b:02X}")).collect()
}

/// The error that composing ends with, as the program reports it.
pub fn compose_fault(built: &Built, member: &str, arguments: &[&str]) -> serde_json::Value {
    let all: Vec<&str> =
        ["--compose", member].into_iter().chain(arguments.iter().copied()).collect();
    let output = run(built, &all);
    assert_eq!(
        output.status.code(),
        Some(3),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).expect("one record")
}
