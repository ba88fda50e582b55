//! `yamba disasm`

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::process::{Command, Output, Stdio};

use clap::Args;
use serde_json::json;
use yamba_lang::ast::MemberKind;
use yamba_lang::model::MemberRef;
use yamba_lang::{Analysis, ClassId, Target};
use yamba_record::Event;
use yamba_record::program::Program;

use super::build::compile;
use super::code::CodeOptions;
use super::{Failure, Libraries, TargetOption, did_you_mean, output, select};
use yamba_record::system_error::reason;
use yamba_toolchain::build::Built;
use yamba_toolchain::disasm::{self, Code};

/// Show composed machine code with the member of each instruction
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba disasm pagefault touch_all 5
  yamba disasm pagefault touch 3 --target aarch64-linux
  yamba disasm mine.yamba steps 4 --set length=10
  yamba disasm pagefault touch 3 --json | jq -r '.lines[].text | select(.)'")]
pub(super) struct Disasm {
    /// The class, by name or file
    #[arg(value_name = "CLASS")]
    class: String,
    /// One of its bitstrings
    #[arg(value_name = "FUNCTION")]
    function: String,
    /// The bitstring's arguments: numbers, true or false
    #[arg(value_name = "ARGS", allow_negative_numbers = true)]
    args: Vec<String>,
    /// Give a parameter this value; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// One JSON document: {isa, lines}
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    target: TargetOption,
    #[command(flatten)]
    lib: Libraries,
    #[command(flatten)]
    code: CodeOptions,
}

/// The help for a bitstring that does not exist.
fn existing(function: &str, known: &[String]) -> String {
    if known.is_empty() {
        return "it has no bitstrings: all its code is C++".to_owned();
    }
    let similar = did_you_mean(function, known);
    let similar = similar.map_or_else(String::new, |similar| format!("{similar} "));
    format!("{similar}it has {}", known.join(", "))
}

impl Disasm {
    pub(super) fn run(self) -> Result<(), Failure> {
        let (selection, named) = select::one(&self.class, self.lib.clone())?;
        let target = self.target.resolve(&selection.analysis)?;
        let analysis = &selection.analysis;
        let class = whole(analysis, named);
        may_apply(analysis, named, &target)?;
        let options = self.code.build_options(analysis, &target)?;
        let built = compile(analysis, class, &target, &options)?;
        applies(analysis, named, &built)?;
        let known = bitstrings(analysis, class, &target);
        let code = self.compose(&built).map_err(|failure| {
            if known.contains(&self.function) {
                return failure;
            }
            failure.help(existing(&self.function, &known))
        })?;
        let lines = disasm::listing(&code);
        let document = json!({"isa": code.isa, "lines": lines});
        output::json_or_text(self.json, &document, |_| disasm::render(&lines, None, None))
    }

    /// Runs the program to compose the code. The program itself reports invalid names and values.
    fn compose(&self, built: &Built) -> Result<Code, Failure> {
        let mut arguments = vec!["--compose", &self.function];
        arguments.extend(self.args.iter().map(String::as_str));
        arguments.extend(self.set.iter().flat_map(|value| ["--set", value]));
        let answer = answer(built, &arguments)?;
        if !answer.status.success() {
            return Err(refusal(&answer));
        }
        output::note(&String::from_utf8_lossy(&answer.stderr));
        serde_json::from_slice(&answer.stdout)
            .map_err(|e| Failure::ours(format!("the program's answer cannot be read: {e}")))
    }
}

/// Runs the program with these arguments.
fn answer(built: &Built, arguments: &[&str]) -> Result<Output, Failure> {
    let runner = built.runner.iter().map(OsString::from);
    let words: Vec<OsString> = runner.chain([built.program.clone().into()]).collect();
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).args(arguments);
    command.stdin(Stdio::null()).output().map_err(|e| {
        Failure::new(format!("cannot run {}: {}", words[0].display(), reason(&e))).help(
            "programs are kept in the folder of YAMBA_CACHE, where they must be allowed to run",
        )
    })
}

/// Fails if the class is a port that no machine of the target uses.
fn may_apply(analysis: &Analysis, port: ClassId, target: &Target) -> Result<(), Failure> {
    let class = whole(analysis, port);
    let is_used_on = |target: &Target| {
        let variants = analysis.program(class, target).variants;
        variants.iter().any(|v| v.ports.contains(&port))
    };
    if class == port || is_used_on(target) {
        return Ok(());
    }
    let name = analysis.class(port).name();
    let condition = analysis.condition_text(port);
    let class = analysis.class(class).name();
    let mut targets = analysis.targets();
    targets.sort_by_key(|other| other.system != target.system);
    let help = match targets.into_iter().find(is_used_on) {
        Some(other) => format!("--target {other} shows its code"),
        None => format!("`yamba list {class} --platforms` shows what is missing"),
    };
    Err(Failure::new(format!(
        "the port {name} does not apply on {target}: its condition is `{condition}`"
    ))
    .help(help))
}

/// Fails if the class is a port that the built program does not use on the machine that runs it.
fn applies(analysis: &Analysis, port: ClassId, built: &Built) -> Result<(), Failure> {
    let name = analysis.class(port).name();
    if !analysis.class(port).is_port {
        return Ok(());
    }
    let answer = answer(built, &["--describe"])?;
    // A program that does not describe itself does not compose either, and then says why.
    let Ok(program) = serde_json::from_slice::<Program>(&answer.stdout) else {
        return Ok(());
    };
    if program.ports.iter().any(|used| used == name) {
        return Ok(());
    }
    let place = match built.runner.first() {
        Some(emulator) => format!("under {emulator}"),
        None => "on this machine".to_owned(),
    };
    let condition = analysis.condition_text(port);
    Err(Failure::new(format!(
        "the port {name} does not apply {place}: its condition is `{condition}`"
    ))
    .help(format!(
        "composing its code needs no such machine: in a copy of its file, let the condition be `on {}`",
        program.isa
    )))
}

/// The class in which a class's members are composed. For a port that is the ported class.
fn whole(analysis: &Analysis, class: ClassId) -> ClassId {
    match analysis.class(class) {
        c if c.is_port => c.parent.map_or(class, |parent| whole(analysis, parent)),
        _ => class,
    }
}

/// The names of the bitstrings that the class can compose.
fn bitstrings(analysis: &Analysis, class: ClassId, target: &Target) -> Vec<String> {
    let program = analysis.program(class, target);
    let members = program.variants.iter().flat_map(|c| &c.members);
    let is_bitstring = |m: &MemberRef| matches!(analysis.member(*m).kind, MemberKind::Bitstring(_));
    let named = members.filter(|(_, m)| is_bitstring(m));
    let all: BTreeSet<String> = named.map(|(name, _)| name.to_string()).collect();
    all.into_iter().collect()
}

/// Help text for invalid values.
const GIVEN: &str = "give the function other arguments, or a parameter another value with --set; `yamba list NAME` shows them";

/// Converts the program's error output to a failure. Invalid values are reported as a record on
/// standard output, invalid names on standard error.
fn refusal(answer: &Output) -> Failure {
    let mut lines = answer.stdout.split(|&b| b == b'\n');
    let message = match lines.find_map(|line| serde_json::from_slice(line).ok()) {
        Some(Event::Error(failure)) => match (failure.file, failure.line) {
            (Some(file), Some(line)) => format!("{} ({file}:{line})", failure.text),
            _ => failure.text,
        },
        Some(Event::Crash(crash)) => {
            format!("the program was ended by {} while it composed", crash.signal)
        }
        _ => match String::from_utf8_lossy(&answer.stderr).trim() {
            "" => format!("the program could not compose: {}", answer.status),
            text => text.to_owned(),
        },
    };
    Failure::new(message).help(GIVEN)
}
