//! Reasons that the system gives for a failed call, in the form in which all of Yamba's messages
//! have them.

use std::io;
use std::path::Path;

/// The system's reason without its number: `no such file or directory`, not `No such file or
/// directory (os error 2)`. Returns the text of any other error unchanged.
///
/// An error of a temporary file has the system's reason within its text, and behind it the path of
/// the temporary file. Of this path, only the folder says something to a reader: `permission denied
/// in /folder`.
pub fn reason(e: &io::Error) -> String {
    let text = e.to_string();
    let Some((short, rest)) = text.split_once(" (os error ") else {
        return text;
    };
    let temporary = rest.split_once(") at path ").map(|(_, path)| path);
    if e.raw_os_error().is_none() && temporary.is_none() {
        return text;
    }
    let mut chars = short.chars();
    let first = chars.next().into_iter().flat_map(char::to_lowercase);
    let reason: String = first.chain(chars).collect();
    match temporary.and_then(|path| Path::new(path.trim_matches('"')).parent()) {
        Some(folder) => format!("{reason} in {}", folder.display()),
        None => reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_error_loses_number_and_capital() {
        assert_eq!(reason(&io::Error::from_raw_os_error(2)), "no such file or directory");
    }

    #[test]
    fn error_of_a_temporary_file_keeps_its_folder() {
        let text = "Permission denied (os error 13) at path \"/locked/.tmp1\"";
        let found = reason(&io::Error::other(text));
        assert_eq!(found, "permission denied in /locked");
    }

    #[test]
    fn other_error_keeps_its_text() {
        assert_eq!(reason(&io::Error::other("No route")), "No route");
        let composed = "Loading: Denied (os error 1): line 7";
        assert_eq!(reason(&io::Error::other(composed)), composed);
    }
}
