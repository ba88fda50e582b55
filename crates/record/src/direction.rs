//! Characters that reverse or embed the direction of text. In a name that anyone may have written
//! they change how the text around it reads, digits included.

/// Whether the character embeds, overrides or isolates a direction of text.
/// <https://www.unicode.org/reports/tr9/#Directional_Formatting_Characters>
pub fn changes_direction(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text without such characters.
pub fn without_directions(text: &str) -> String {
    text.replace(changes_direction, "")
}
