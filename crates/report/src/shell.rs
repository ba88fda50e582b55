//! Shell commands that the reader can copy.

/// Joins words to a shell command with quoting. A word with a zero byte, which no shell accepts,
/// becomes a question mark.
pub fn command_line<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let quoted = words.into_iter().map(|w| shlex::try_quote(w).unwrap_or_else(|_| "?".into()));
    quoted.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shell_words_are_quoted() {
        assert_eq!(
            command_line(["yamba", "a;b", "n=$(x)", "c'd", "e f"]),
            "yamba 'a;b' 'n=$(x)' \"c'd\" 'e f'"
        );
        assert_eq!(command_line(["a\0b"]), "?");
    }
}
