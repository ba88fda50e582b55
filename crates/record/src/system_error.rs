//! Reasons that the system gives for a failed call, in the form in which all of Yamba's messages have them.

use std::io;

/// The system's reason without its number: `no such file or directory`, not `No such file or directory (os error 2)`.
/// Returns the text of any other error unchanged.
///
/// An error of a temporary file has the system's reason within its text, and behind it the path of the temporary file, which says nothing to a reader.
pub fn reason(e: &io::Error) -> String {
    let text = e.to_string();
    let Some((short, _)) = text.split_once(" (os error ") else {
        return text;
    };
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
    fn error_of_a_temporary_file_loses_its_path() {
        let text = "Permission denied (os error 13) at path \"/locked/.tmp1\"";
        assert_eq!(reason(&io::Error::other(text)), "permission denied");
    }

    #[test]
    fn other_error_keeps_its_text() {
        assert_eq!(reason(&io::Error::other("No route")), "No route");
    }
}
