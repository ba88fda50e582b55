//! `yamba-fuzz SECONDS SEED FOLDER...`: mutates the programs in the folders and analyses the
//! results.
//!
//! Stops with status 1 at the first input that panics or takes longer than a second, and saves that
//! input in `fuzz-found.yamba`. To bound memory, run `ulimit -v 1048576` first: growth past 1 GiB
//! then aborts.

mod mutate;

use std::collections::BTreeMap;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{env, fs};

use mutate::Mutator;
use yamba_lang::{Analysis, Files, Input};

const SLOWEST: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let number = |text: Option<String>| text.and_then(|t| t.parse::<u64>().ok());
    let (Some(seconds), Some(seed)) = (number(arguments.next()), number(arguments.next())) else {
        eprintln!("usage: yamba-fuzz SECONDS SEED FOLDER...");
        return ExitCode::from(2);
    };
    let shelf = Shelf::read(arguments.map(PathBuf::from));
    if shelf.texts.is_empty() {
        eprintln!("yamba-fuzz: no .yamba file in the folders");
        return ExitCode::from(2);
    }
    run(&shelf, Duration::from_secs(seconds), seed)
}

fn run(shelf: &Shelf, time: Duration, seed: u64) -> ExitCode {
    let corpus: Vec<&str> = shelf.texts.values().map(String::as_str).collect();
    let mut mutator = Mutator::new(&corpus, seed);
    let (start, mut inputs, mut slowest) = (Instant::now(), 0u64, Duration::ZERO);
    while start.elapsed() < time {
        let text = mutator.next();
        let began = Instant::now();
        let result = catch_unwind(AssertUnwindSafe(|| exercise(shelf, &text)));
        let took = began.elapsed();
        slowest = slowest.max(took);
        inputs += 1;
        if result.is_err() || took > SLOWEST {
            let fault =
                if result.is_err() { "panics".to_owned() } else { format!("takes {took:?}") };
            let kept = fs::write("fuzz-found.yamba", &text).is_ok();
            println!("seed {seed}, input {inputs}: {fault}; kept in fuzz-found.yamba: {kept}");
            return ExitCode::FAILURE;
        }
    }
    println!("seed {seed}: {inputs} inputs in {:?}, the slowest took {slowest:?}", start.elapsed());
    ExitCode::SUCCESS
}

/// Runs every analysis that a command may run on a program.
fn exercise(shelf: &Shelf, text: &str) {
    let input = Input { path: "fuzzed.yamba".to_owned(), text: text.to_owned() };
    let analysis = yamba_lang::analyse(vec![input], shelf);
    for diagnostic in &analysis.diagnostics {
        let places = diagnostic.secondary.iter().chain([&diagnostic.primary]);
        for label in places {
            black_box((analysis.text(label.span), analysis.sources.line_column(label.span)));
        }
    }
    if !analysis.has_errors() {
        compose(&analysis);
    }
}

fn compose(analysis: &Analysis) {
    let targets = analysis.targets();
    for class in analysis.requested() {
        for target in &targets {
            analysis.program(class, target);
        }
    }
}

/// The files of the folders, which serve as the library of the mutated program.
struct Shelf {
    texts: BTreeMap<String, String>,
}

impl Shelf {
    fn read(folders: impl Iterator<Item = PathBuf>) -> Shelf {
        let mut texts = BTreeMap::new();
        folders.for_each(|folder| collect(&folder, &mut texts));
        Shelf { texts }
    }
}

fn collect(folder: &Path, texts: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, texts);
        } else if path.extension().is_some_and(|e| e == "yamba")
            && let Ok(text) = fs::read_to_string(&path)
        {
            texts.insert(path.display().to_string(), text);
        }
    }
}

impl Files for Shelf {
    fn find(&self, _: &str, name: &str) -> Option<Input> {
        let end = format!("library/{name}.yamba");
        let (path, text) = self.texts.iter().find(|(path, _)| path.ends_with(&end))?;
        Some(Input { path: path.clone(), text: text.clone() })
    }

    fn around(&self, _: &str) -> Vec<Input> {
        let library = self.texts.iter().filter(|(path, _)| path.contains("library/"));
        library.map(|(path, text)| Input { path: path.clone(), text: text.clone() }).collect()
    }
}
