//! Remarks for the reader of an entry. Documents and stores have their texts. No other module makes
//! or searches the text of a remark on which the program depends.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A remark for the reader of an entry. A document has its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(with = "String")]
#[serde(from = "String", into = "String")]
pub enum Note {
    /// The run was stopped before the first launch of the entry.
    NotStarted,
    /// A latency has no figure in core cycles, because the thread was blocked for most of the time,
    /// or the clock rate changed: the reason.
    NoCycles(String),
    /// The length of a core cycle is not known well enough for a figure: the reason.
    CyclesUnknown(String),
    /// Benchmark and dummy do not differ measurably: the reason.
    NothingMeasurable(String),
    /// An action or a report of a program.
    Program(ProgramNote),
    /// Any other remark.
    Text(String),
}

/// An action or a report of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramNote {
    /// The launch, from 1, and the number of launches. `None` if the note is about all launches.
    pub launch: Option<[usize; 2]>,
    /// The name of the program or of one of its classes.
    pub program: String,
    /// The action of the program, as the rest of a sentence, or the text of its report.
    pub text: String,
    /// Whether `text` is a report.
    pub is_report: bool,
    /// The signal that ended the program.
    pub signal: Option<FatalSignal>,
}

impl ProgramNote {
    /// The launch before the text. Empty for a note about all launches.
    fn launch_text(&self) -> String {
        self.launch.map_or_else(String::new, |[number, all]| format!("launch {number} of {all}: "))
    }
}

/// A signal that ended a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FatalSignal {
    /// The name of the signal: `SIGSEGV`.
    pub name: String,
    /// The memory address of the faulting access.
    pub address: Option<u64>,
}

const NOT_STARTED: &str = "stopped before it began";
const NO_CYCLES: &str = "no cycles: ";
const CYCLES_UNKNOWN: &str = "cycles are unknown: ";
const NOTHING_MEASURABLE: &str = "nothing measurable: ";

impl Note {
    /// A text that a program reported.
    pub fn report(program: &str, text: &str) -> Note {
        Note::Program(ProgramNote {
            launch: None,
            program: program.to_owned(),
            text: text.to_owned(),
            is_report: true,
            signal: None,
        })
    }

    /// The action of a program, as the rest of a sentence.
    pub fn action(program: &str, text: String, signal: Option<FatalSignal>) -> Note {
        let program = program.to_owned();
        Note::Program(ProgramNote { launch: None, program, text, is_report: false, signal })
    }

    /// Restricts the note to a launch: its number, from 1, and the number of launches.
    pub fn add_launch(&mut self, launch: [usize; 2]) {
        match self {
            Note::Program(note) => note.launch = Some(launch),
            note => *note = Note::Text(format!("launch {} of {}: {note}", launch[0], launch[1])),
        }
    }

    /// The reason why a latency has no figure in core cycles.
    pub fn without_cycles(&self) -> Option<&str> {
        match self {
            Note::NoCycles(why) | Note::CyclesUnknown(why) => Some(why),
            _ => None,
        }
    }

    /// The text, without the name of `program` before its own report.
    pub fn text_without(&self, program: &str) -> String {
        match self {
            Note::Program(note) if note.is_report && note.program == program => {
                note.launch_text() + &note.text
            }
            note => note.to_string(),
        }
    }

    /// The first line of the text.
    pub fn first_line(&self) -> String {
        self.to_string().lines().next().unwrap_or_default().to_owned()
    }

    /// Recognises the report of a program whose name begins the text.
    pub fn recognise_report(&mut self, program: &str) {
        if let Note::Text(text) = self
            && let Some(report) = text.strip_prefix(program).and_then(|t| t.strip_prefix(": "))
        {
            *self = Note::report(program, report);
        }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::NotStarted => f.write_str(NOT_STARTED),
            Note::NoCycles(why) => write!(f, "{NO_CYCLES}{why}"),
            Note::CyclesUnknown(why) => write!(f, "{CYCLES_UNKNOWN}{why}"),
            Note::NothingMeasurable(why) => write!(f, "{NOTHING_MEASURABLE}{why}"),
            Note::Program(note) => {
                let joint = if note.is_report { ": " } else { " " };
                write!(f, "{}{}{joint}{}", note.launch_text(), note.program, note.text)
            }
            Note::Text(text) => f.write_str(text),
        }
    }
}

impl From<Note> for String {
    fn from(note: Note) -> String {
        note.to_string()
    }
}

/// Recognises a remark by its text.
impl From<String> for Note {
    fn from(text: String) -> Note {
        let rest = |start| text.strip_prefix(start).map(str::to_owned);
        if text == NOT_STARTED {
            return Note::NotStarted;
        }
        let known = rest(NO_CYCLES).map(Note::NoCycles);
        let known = known.or_else(|| rest(CYCLES_UNKNOWN).map(Note::CyclesUnknown));
        known
            .or_else(|| rest(NOTHING_MEASURABLE).map(Note::NothingMeasurable))
            .unwrap_or(Note::Text(text))
    }
}

impl From<&str> for Note {
    fn from(text: &str) -> Note {
        text.to_owned().into()
    }
}

/// Compares the text.
impl PartialEq<str> for Note {
    fn eq(&self, text: &str) -> bool {
        let own = self.to_string();
        own == text
    }
}

/// Compares the text.
impl PartialEq<&str> for Note {
    fn eq(&self, text: &&str) -> bool {
        self == *text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn note_is_written_as_text_and_recognised_again() {
        for (note, text) in [
            (Note::NotStarted, "stopped before it began"),
            (Note::NoCycles("it slept".to_owned()), "no cycles: it slept"),
            (Note::CyclesUnknown("two chains".to_owned()), "cycles are unknown: two chains"),
            (Note::NothingMeasurable("it is".to_owned()), "nothing measurable: it is"),
            (Note::Text("no cycles".to_owned()), "no cycles"),
        ] {
            let written = serde_json::to_value(&note).unwrap();
            assert_eq!(written, text);
            assert_eq!(serde_json::from_value::<Note>(written).unwrap(), note);
        }
    }

    #[test]
    fn note_of_program_names_program_and_launch() {
        let signal = FatalSignal { name: "SIGBUS".to_owned(), address: None };
        let mut note = Note::action("lat_x", "was ended".to_owned(), Some(signal));
        assert_eq!(note, "lat_x was ended");
        if let Note::Program(note) = &mut note {
            note.launch = Some([2, 6]);
        }
        assert_eq!(note, "launch 2 of 6: lat_x was ended");
        assert_eq!(note.text_without("lat_x"), "launch 2 of 6: lat_x was ended");
    }

    #[test]
    fn report_of_program_is_recognised() {
        let mut note = Note::from("lat_x: needs root");
        note.recognise_report("lat_y");
        assert_eq!(note.text_without("lat_x"), "lat_x: needs root");
        note.recognise_report("lat_x");
        assert_eq!(note.text_without("lat_x"), "needs root");
        assert_eq!(note, "lat_x: needs root");
        note.add_launch([2, 6]);
        assert_eq!(note, "launch 2 of 6: lat_x: needs root");
        assert_eq!(note.text_without("lat_x"), "launch 2 of 6: needs root");
    }
}
