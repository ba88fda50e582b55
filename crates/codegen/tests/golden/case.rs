//! One program of the folder: what it says of itself, and the text that is generated for it.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use yamba_codegen::asm::{AsmBlock, AssembledBlock, Field, FieldBits, Listing, Syntax, asm_blocks};
use yamba_codegen::generate;
use yamba_lang::{Analysis, Files, Input, Program, Target};

use crate::excerpt::excerpt;

/// A program with its directives.
pub struct Case {
    /// Its class, and the name of its file.
    pub name: String,
    text: String,
    targets: Vec<Target>,
    shown: Vec<String>,
    blocks: Vec<String>,
}

pub fn programs(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder of programs");
    let mut paths: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == "yamba"));
    paths.sort();
    paths
}

fn stem(path: &Path) -> String {
    path.file_stem().expect("a name").to_string_lossy().into_owned()
}

impl Case {
    pub fn read(path: &Path) -> Case {
        let text = fs::read_to_string(path).expect("the program");
        let directives = |key: &str| -> Vec<String> {
            let prefix = format!("// {key}: ");
            let values = text.lines().filter_map(|l| l.strip_prefix(&prefix));
            values.map(|v| v.trim().to_owned()).collect()
        };
        let target = |word: &str| {
            let (isa, system) = word.split_once('-').expect("ISA-SYSTEM");
            Target { isa: isa.to_owned(), system: system.to_owned() }
        };
        let words = directives("target").join(" ");
        let case = Case {
            name: stem(path),
            targets: words.split_whitespace().map(target).collect(),
            shown: directives("show"),
            blocks: directives("block"),
            text,
        };
        let is_whole = !case.targets.is_empty() && !case.shown.is_empty();
        assert!(is_whole, "{}: it needs `target` and `show`", case.name);
        case
    }

    fn analyse(&self) -> Analysis {
        let input = Input { path: format!("{}.yamba", self.name), text: self.text.clone() };
        let analysis = yamba_lang::analyse(vec![input], &Library);
        let messages: Vec<&str> = analysis.diagnostics.iter().map(|d| d.message.as_str()).collect();
        assert!(messages.is_empty(), "{}: {messages:?}", self.name);
        analysis
    }

    fn program(&self, analysis: &Analysis, target: &Target) -> Program {
        let class = analysis.find_class(&self.name);
        analysis.program(class.expect("the class is called like its file"), target)
    }

    /// The C++ for each target that the program names.
    pub fn generated(&self) -> Vec<(Target, String)> {
        self.for_each(&self.targets)
    }

    /// The C++ for each target of the library.
    pub fn generated_for_all(&self) -> Vec<(Target, String)> {
        self.for_each(&self.analyse().targets())
    }

    fn for_each(&self, targets: &[Target]) -> Vec<(Target, String)> {
        let analysis = self.analyse();
        let text =
            |target: &Target| generate(&analysis, &self.program(&analysis, target), &[], &[]);
        targets.iter().map(|t| (t.clone(), text(t))).collect()
    }

    /// The parts that the program is about, for each target.
    pub fn shown(&self) -> String {
        let analysis = self.analyse();
        let mut out = String::new();
        for target in &self.targets {
            let program = self.program(&analysis, target);
            let blocks = asm_blocks(&analysis, &program);
            let cpp = generate(&analysis, &program, &self.assembled(&blocks), &[]);
            let syntax = Syntax::for_isa(&analysis, &target.isa);
            for wanted in &self.shown {
                let part = match wanted.as_str() {
                    "assembler" => Listing::full(&syntax, &blocks, Default::default()).text,
                    _ => excerpt(&cpp, &self.name, wanted).unwrap_or_else(|| {
                        panic!("{} on {target} has no `{wanted}`:\n{cpp}", self.name)
                    }),
                };
                let _ = write!(out, "==== {target}: {wanted}\n{part}\n");
            }
        }
        out
    }

    /// The assembler's answers as the program gives them; none if it gives none.
    fn assembled(&self, blocks: &[AsmBlock]) -> Vec<AssembledBlock> {
        if self.blocks.is_empty() {
            return Vec::new();
        }
        assert_eq!(blocks.len(), self.blocks.len(), "{}: `block` lines", self.name);
        let pairs = blocks.iter().zip(&self.blocks);
        pairs.map(|(block, answer)| assembled(block, answer)).collect()
    }
}

fn assembled(block: &AsmBlock, answer: &str) -> AssembledBlock {
    let mut parts = answer.split(';').map(str::trim);
    let bytes = parts.next().unwrap_or_default().split_whitespace();
    let byte = |text: &str| u8::from_str_radix(text, 16).expect("a byte");
    let assembled = AssembledBlock {
        span: block.span,
        bytes: bytes.map(byte).collect(),
        fields: parts.map(field).collect(),
    };
    assert_eq!(assembled.fields.len(), block.holes(), "fields of {answer}");
    assembled
}

fn field(text: &str) -> Field {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [_, min, max, multiple, bias, bits @ ..] = &words[..] else {
        panic!("field MIN MAX MULTIPLE BIAS VALUE:BLOCK:COUNT..., not {text}");
    };
    let bits_of = |word: &&str| {
        let numbers: Vec<u32> = word.split(':').map(|n| n.parse().expect("a bit")).collect();
        FieldBits { value_bit: numbers[0], block_bit: numbers[1], count: numbers[2] }
    };
    Field {
        min: min.parse().expect("a minimum"),
        max: max.parse().expect("a maximum"),
        multiple: multiple.parse().expect("a multiple"),
        bias: bias.parse().expect("a bias"),
        bits: bits.iter().map(bits_of).collect(),
    }
}

/// The small library, under names that are the same on every machine.
struct Library;

fn library() -> Vec<Input> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/library");
    let input = |path: &PathBuf| Input {
        path: format!("library/{}.yamba", stem(path)),
        text: fs::read_to_string(path).expect("a class of the library"),
    };
    programs(&folder).iter().map(input).collect()
}

impl Files for Library {
    fn find(&self, _: &str, name: &str) -> Option<Input> {
        let path = format!("library/{name}.yamba");
        library().into_iter().find(|input| input.path == path)
    }

    fn around(&self, _: &str) -> Vec<Input> {
        library()
    }
}
