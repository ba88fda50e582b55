//! The names of runs side by side.

use yamba_record::Run;

/// The letter of a run: A to Z, then numbers.
pub fn letter(number: usize) -> String {
    match u8::try_from(number) {
        Ok(n) if n < 26 => char::from(b'A' + n).to_string(),
        _ => (number + 1).to_string(),
    }
}

/// The name of a curve, with the letter of its run if there are several.
pub fn run_letter(runs: &[Run], number: usize, name: &str) -> String {
    match runs.len() {
        1 => name.to_owned(),
        _ => format!("{} {name}", letter(number)).trim_end().to_owned(),
    }
}
