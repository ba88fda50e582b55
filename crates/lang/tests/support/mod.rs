//! A small library for the tests of resolution, independent of the real one.

use std::collections::BTreeMap;

use yamba_lang::{Analysis, Files, Input};

const LIBRARY: &[(&str, &str)] = &[
    (
        "Benchmark",
        "/// What every benchmark has.
yamba abstract Benchmark extends nothing
{
    void prepare() {}
    void setup() {}
    void before_pass() {}
    void benchmark();                         /// what is timed
    void benchmark(iter_t iterations);        /// what is timed, looping itself
    void benchmark_dummy() {}
    void benchmark_dummy(iter_t iterations) {}
    void after_pass() {}
    uint64_t operations() { return 1; }
}",
    ),
    ("Latency", "yamba abstract Latency extends Benchmark {}"),
    ("Part", "yamba abstract Part extends nothing {}"),
    (
        "InstructionSet",
        "yamba abstract InstructionSet extends Part { bitstring no_operation(unsigned int bytes); }",
    ),
    ("OperatingSystem", "yamba abstract OperatingSystem extends Part {}"),
    (
        "x86_64",
        "yamba x86_64 extends InstructionSet on x86_64
{
    bitstring no_operation(unsigned int bytes) = 0x90;
    bitstring imm32(int64_t value) { le(value, 32) }
    size_t page_size = 4096;
}",
    ),
    (
        "aarch64",
        "yamba aarch64 extends InstructionSet on aarch64 { bitstring no_operation(unsigned int bytes) = 0x1F2003D5; }",
    ),
    ("linux", "yamba linux extends OperatingSystem on linux {}"),
    ("darwin", "yamba darwin extends OperatingSystem on darwin {}"),
    (
        "compiler",
        "yamba abstract compiler extends Part { bitstring prologue_standard; bitstring epilogue_standard; }",
    ),
    (
        "compiler_x86_64",
        "yamba compiler_x86_64 ports compiler on x86_64
{
    bitstring prologue_standard = 0x55;
    bitstring epilogue_standard = 0x5DC3;
}",
    ),
];

/// Source texts by path. A path without a folder is in the folder of the requested file.
#[derive(Default)]
pub struct Shelf {
    files: BTreeMap<String, String>,
}

impl Shelf {
    /// The small library only.
    pub fn new() -> Shelf {
        let library = LIBRARY
            .iter()
            .map(|(name, text)| (format!("library/{name}.yamba"), (*text).to_owned()));
        Shelf { files: library.collect() }
    }

    /// Adds a file.
    #[allow(dead_code)] // not every test binary adds files
    pub fn with(mut self, path: &str, text: &str) -> Shelf {
        self.files.insert(path.to_owned(), text.to_owned());
        self
    }

    /// Analyses one requested file.
    pub fn analyse(&self, path: &str, text: &str) -> Analysis {
        yamba_lang::analyse(vec![Input { path: path.to_owned(), text: text.to_owned() }], self)
    }

    fn folder(path: &str) -> &str {
        path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }
}

impl Files for Shelf {
    fn find(&self, from: &str, name: &str) -> Option<Input> {
        let wanted = format!("{name}.yamba");
        let mut places = [Shelf::folder(from), "library"].into_iter();
        places.find_map(|folder| {
            let path =
                if folder.is_empty() { wanted.clone() } else { format!("{folder}/{wanted}") };
            self.files.get(&path).map(|text| Input { path: path.clone(), text: text.clone() })
        })
    }

    fn around(&self, from: &str) -> Vec<Input> {
        let near = |path: &str| {
            matches!(Shelf::folder(path), "library") || Shelf::folder(path) == Shelf::folder(from)
        };
        let found = self.files.iter().filter(|(path, _)| near(path));
        found.map(|(path, text)| Input { path: path.clone(), text: text.clone() }).collect()
    }
}
