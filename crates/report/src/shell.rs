//! Commands to be copied into a shell.

/// Words as a shell takes them: what means something to it is quoted. No shell takes a word with a zero byte: it is a question mark.
pub fn command_line<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let each = words.into_iter();
    let quoted = each.map(|w| shlex::try_quote(w).unwrap_or_else(|_| "?".into()));
    quoted.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_word_means_anything_to_a_shell() {
        assert_eq!(
            command_line(["yamba", "a;b", "n=$(x)", "c'd", "e f"]),
            "yamba 'a;b' 'n=$(x)' \"c'd\" 'e f'"
        );
        assert_eq!(command_line(["a\0b"]), "?");
    }
}
