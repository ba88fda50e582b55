//! A fuzzer that runs with a stable compiler: changes the project's programs at random, for a while.
//!
//! `cargo run --release -- parse|analyse SECONDS [SEED]` prints a line for each kind of fault, with the text cut to
//! what is needed, and exits with 1 if there was any. A text on which reading hangs or the process dies is found again
//! with `yamba-fuzz parse|analyse only ITERATION SEED`; the last iteration begun is in the file that it names.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use yamba_fuzz::mutate::{self, Random};
use yamba_fuzz::{Library, analyse, parse};

/// A text that takes longer counts as a hang.
const LONGEST: Duration = Duration::from_secs(5);

struct Run {
    target: String,
    library: Library,
    seed: u64,
}

impl Run {
    fn text(&self, iteration: u64) -> String {
        let mut random = Random::new(self.seed, iteration);
        mutate::text(&mut random, &self.library.texts())
    }

    /// The message of the panic that `text` causes, if it does.
    fn fault(&self, text: &str) -> Option<String> {
        let place = Arc::new(Mutex::new(String::new()));
        let seen = Arc::clone(&place);
        panic::set_hook(Box::new(move |info| {
            *seen.lock().expect("no panic while noting one") = info.to_string();
        }));
        let result = panic::catch_unwind(AssertUnwindSafe(|| match self.target.as_str() {
            "parse" => parse(text),
            _ => analyse(text, &self.library),
        }));
        let _ = panic::take_hook();
        let message = place.lock().expect("no panic while noting one").clone();
        result.is_err().then_some(message)
    }

    /// The shortest text found by leaving out lines, then characters, that still panics at the same place.
    fn shorten(&self, text: &str, place: &str) -> String {
        let mut text: Vec<char> = text.chars().collect();
        let mut part = text.len() / 2;
        while part > 0 {
            let mut at = 0;
            while at + part <= text.len() {
                let mut shorter = text.clone();
                shorter.drain(at..at + part);
                let fault = self.fault(&shorter.iter().collect::<String>());
                match fault.is_some_and(|f| line_of(&f) == place) {
                    true => text = shorter,
                    false => at += part,
                }
            }
            part /= 2;
        }
        text.into_iter().collect()
    }
}

/// The part of a panic's message that tells one fault from another: where it was.
fn line_of(fault: &str) -> &str {
    fault.lines().next().unwrap_or("")
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at).and_then(|a| a.parse::<u64>().ok());
    let Some(target) = arguments
        .first()
        .filter(|t| matches!(t.as_str(), "parse" | "analyse"))
    else {
        eprintln!(
            "usage: yamba-fuzz parse|analyse SECONDS [SEED]\n       yamba-fuzz parse|analyse only ITERATION SEED"
        );
        return ExitCode::from(2);
    };
    let is_only = arguments.get(1).is_some_and(|a| a == "only");
    let seed = number(if is_only { 3 } else { 2 }).unwrap_or(1);
    let run = Run {
        target: target.clone(),
        library: Library::read(),
        seed,
    };
    match (is_only, number(1), number(2)) {
        (true, _, Some(iteration)) => {
            let text = run.text(iteration);
            println!("{text}");
            println!("{:?}", run.fault(&text));
            ExitCode::SUCCESS
        }
        (false, Some(seconds), _) => search(&run, Duration::from_secs(seconds)),
        _ => ExitCode::from(2),
    }
}

fn search(run: &Run, time: Duration) -> ExitCode {
    let notes =
        std::env::temp_dir().join(format!("yamba-fuzz-{}-{}", run.target, std::process::id()));
    let file = File::create(&notes).expect("a temporary file");
    println!("seed {}, iteration in {}", run.seed, notes.display());
    let start = Instant::now();
    let mut faults: BTreeMap<String, String> = BTreeMap::new();
    let mut iteration = 0u64;
    let mut slowest = (Duration::ZERO, 0);
    while start.elapsed() < time {
        file.write_at(format!("{iteration:020}\n").as_bytes(), 0)
            .expect("the temporary file");
        let text = run.text(iteration);
        let begun = Instant::now();
        let fault = run.fault(&text);
        slowest = slowest.max((begun.elapsed(), iteration));
        if begun.elapsed() > LONGEST {
            faults.insert(
                format!("slow: {:?} in iteration {iteration}", begun.elapsed()),
                String::new(),
            );
        }
        if let Some(fault) = fault.filter(|f| !faults.contains_key(line_of(f))) {
            println!("iteration {iteration}: {fault}");
            let place = line_of(&fault).to_owned();
            let short = run.shorten(&text, &place);
            println!("{short:?}");
            faults.insert(place, short);
        }
        iteration += 1;
    }
    let _ = fs::remove_file(&notes);
    println!(
        "{iteration} texts, {} faults, slowest {:?} (iteration {})",
        faults.len(),
        slowest.0,
        slowest.1
    );
    println!("{}", peak_memory());
    ExitCode::from(u8::from(!faults.is_empty()))
}

fn peak_memory() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("VmHWM"));
    line.unwrap_or("peak memory unknown").to_owned()
}
