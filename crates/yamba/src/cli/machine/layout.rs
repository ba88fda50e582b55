//! A page of labelled lines, wrapped to the terminal's width. Commands stay unbroken so that they can be copied.

use crate::wrap::wrap;

/// Maximum width. Longer lines are harder to read, even on a wider terminal.
const WIDTH: usize = 96;

/// Minimum width. A narrower terminal has no room for values beside their labels.
const LEAST_WIDTH: usize = 60;

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
        let title = self.paint(title, BOLD);
        self.text.push_str(&title);
        self.text.push('\n');
    }

    /// Adds a label and its value. An empty value means that the system does not report it.
    pub fn line(&mut self, label: &str, value: &str) {
        let value = if value.is_empty() { "not told" } else { value };
        self.labelled(label, None, value);
    }

    pub fn warn(&mut self, label: &str, value: &str) {
        self.labelled(label, Some(YELLOW), value);
    }

    /// Adds an entry without a label.
    pub fn item(&mut self, text: &str) {
        for (i, line) in wrap(text, self.width - 4, "").iter().enumerate() {
            let indent = if i == 0 { "  " } else { "    " };
            self.text.push_str(&format!("{indent}{line}\n"));
        }
    }

    pub fn command(&mut self, command: &str) {
        let command = self.paint(command, CYAN);
        self.text.push_str(&format!("    $ {command}\n"));
    }

    pub fn advice(&mut self, text: &str) {
        for line in wrap(text, self.width - 6, "") {
            self.text.push_str(&format!("      {line}\n"));
        }
    }

    fn labelled(&mut self, label: &str, code: Option<&str>, value: &str) {
        for (i, line) in wrap(value, self.width - LABEL - 4, "").iter().enumerate() {
            let label = if i == 0 { label } else { "" };
            let blank = " ".repeat(LABEL.saturating_sub(label.chars().count()));
            let shown = match code {
                Some(code) if i == 0 => self.paint(label, code),
                _ => label.to_owned(),
            };
            self.text.push_str(&format!("  {shown}{blank}  {line}\n"));
        }
    }

    fn paint(&self, text: &str, code: &str) -> String {
        match self.colour {
            true => format!("\x1b[{code}m{text}\x1b[0m"),
            false => text.to_owned(),
        }
    }
}

/// Formats a frequency: `2.6 GHz`, `24 MHz`.
pub(in crate::cli::machine) fn hertz(number: u64) -> String {
    let units = ["Hz", "kHz", "MHz", "GHz"];
    let (mut value, mut unit) = (number as f64, 0);
    while value >= 1000.0 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    let digits = if unit == 3 { 3 } else { 1 };
    let text = format!("{value:.digits$}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text} {}", units[unit])
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
        for (width, longest) in [(None, 96), (Some(200), 96), (Some(70), 70), (Some(9), 60)] {
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
            assert!(page.text.ends_with("not told\n"));
        }
    }

    #[test]
    fn colours_are_for_terminals() {
        let mut page = Page::new(true, None);
        page.warn("load", "high");
        assert_eq!(
            page.text,
            format!("  \x1b[33mload\x1b[0m{}high\n", " ".repeat(14))
        );
    }
}
