//! A page of labelled lines, wrapped to the terminal's width. Commands stay unbroken so that they
//! can be copied.

use yamba_record::number::number;

use crate::cli::output;
use yamba_report::wrap;

/// Maximum width. Longer lines are harder to read, even on a wider terminal.
const WIDTH: usize = 96;

/// Minimum width. A narrower terminal wraps the lines itself.
const LEAST_WIDTH: usize = 24;

/// Below this width, each value follows below its label.
const BESIDE: usize = 60;

const LABEL: usize = 16;

const BOLD: &str = "1";
const YELLOW: &str = "33";
const CYAN: &str = "36";

/// The page written so far.
pub(in crate::cli::machine) struct Page {
    pub text: String,
    colour: bool,
    width: usize,
}

impl Page {
    /// `width` is the terminal's width, `None` without a terminal.
    pub fn new(colour: bool, width: Option<usize>) -> Page {
        Page {
            text: String::new(),
            colour,
            width: width.unwrap_or(WIDTH).clamp(LEAST_WIDTH, WIDTH),
        }
    }

    pub fn section(&mut self, title: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        let title = output::painted(title, BOLD, self.colour);
        self.text.push_str(&format!("{title}\n"));
    }

    /// Adds a label and its value. An empty value means that the system does not report it.
    pub fn line(&mut self, label: &str, value: &str) {
        let value = if value.is_empty() { "not reported" } else { value };
        self.labelled(label, "", value);
    }

    /// Adds a label and the known parts of its value.
    pub fn parts(&mut self, label: &str, parts: impl IntoIterator<Item = Option<String>>) {
        let known: Vec<String> = parts.into_iter().flatten().collect();
        self.line(label, &known.join(", "));
    }

    pub fn warn(&mut self, label: &str, value: &str) {
        let label_colour = if self.colour { YELLOW } else { "" };
        self.labelled(label, label_colour, value);
    }

    /// Adds an entry without a label.
    pub fn item(&mut self, text: &str) {
        for (i, line) in wrap(text, self.width - 4, "").iter().enumerate() {
            let indent = if i == 0 { "  " } else { "    " };
            self.text.push_str(&format!("{indent}{line}\n"));
        }
    }

    pub fn command(&mut self, command: &str) {
        let command = output::painted(command, CYAN, self.colour);
        self.text.push_str(&format!("    $ {command}\n"));
    }

    pub fn advice(&mut self, text: &str) {
        for line in wrap(text, self.width - 6, "") {
            self.text.push_str(&format!("      {line}\n"));
        }
    }

    /// Adds a label in this colour, if one is given, and its value.
    fn labelled(&mut self, label: &str, code: &str, value: &str) {
        if self.width < BESIDE {
            if !label.is_empty() {
                let label = output::painted(label, code, !code.is_empty());
                self.text.push_str(&format!("  {label}\n"));
            }
            for line in wrap(value, self.width - 4, "") {
                self.text.push_str(&format!("    {line}\n"));
            }
            return;
        }
        let lines = wrap(value, self.width - LABEL - 4, "");
        let padded = format!("{label:LABEL$}");
        let blank = &padded[label.len()..];
        let label = output::painted(label, code, !code.is_empty());
        for (i, line) in lines.iter().enumerate() {
            let first = format!("{label}{blank}");
            let margin = if i == 0 { first } else { " ".repeat(LABEL) };
            self.text.push_str(&format!("  {margin}  {line}\n"));
        }
    }
}

/// Formats a frequency: `2.6 GHz`, `24 MHz`.
pub(in crate::cli::machine) fn hertz(rate: u64) -> String {
    let rate = rate as f64;
    let units = [(1e9, "GHz"), (1e6, "MHz"), (1e3, "kHz")];
    let unit = units.into_iter().find(|(size, _)| rate >= *size);
    let (size, unit) = unit.unwrap_or((1.0, "Hz"));
    format!("{} {unit}", number(rate / size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_short() {
        assert_eq!(hertz(24_000_000), "24 MHz");
        assert_eq!(hertz(2_596_132_000), "2.596 GHz");
        assert_eq!(hertz(4_000_000_000), "4 GHz");
        assert_eq!(hertz(250), "250 Hz");
    }

    #[test]
    fn lines_are_wrapped_and_commands_are_not() {
        for (width, longest) in [(None, 96), (Some(200), 96), (Some(70), 70), (Some(60), 60)] {
            let mut page = Page::new(false, width);
            page.section("Group");
            page.line("label", &"word ".repeat(40));
            page.command(&"x".repeat(120));
            let lines: Vec<&str> = page.text.lines().collect();
            assert_eq!(lines[0], "Group");
            assert!(lines[1].starts_with("  label             word word"));
            let (command, others) = lines.split_last().unwrap();
            let found = others.iter().map(|l| l.len()).max().unwrap();
            assert!((longest - 5..=longest).contains(&found), "{lines:?}");
            assert_eq!(command.len(), 126);
            page.line("gone", "");
            assert!(page.text.ends_with("not reported\n"));
        }
    }

    #[test]
    fn narrow_page_has_values_below_labels() {
        let mut page = Page::new(false, Some(40));
        page.line("model", &"word ".repeat(12));
        let long = "    word word word word word word word\n";
        let rest = "    word word word word word\n";
        assert_eq!(page.text, format!("  model\n{long}{rest}"));
    }

    #[test]
    fn colours_are_for_terminals() {
        let mut page = Page::new(true, None);
        page.warn("load", "high");
        assert_eq!(page.text, format!("  \x1b[33mload\x1b[0m{}high\n", " ".repeat(14)));
    }
}
