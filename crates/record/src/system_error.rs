//! Reasons that the system gives for a failed call, in the form in which all of Yamba's messages have them.

use std::io;

/// The system's reason without its number: `no such file or directory`, not `No such file or directory (os error 2)`.
/// Returns the text of any other error unchanged.
pub fn reason(e: &io::Error) -> String {
    let text = e.to_string();
    if e.raw_os_error().is_none() {
        return text;
    }
    let short = text.split(" (os error").next().unwrap_or(&text);
    let mut chars = short.chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_error_loses_number_and_capital() {
        assert_eq!(
            reason(&io::Error::from_raw_os_error(2)),
            "no such file or directory"
        );
    }

    #[test]
    fn other_error_keeps_its_text() {
        assert_eq!(reason(&io::Error::other("No route")), "No route");
    }
}
