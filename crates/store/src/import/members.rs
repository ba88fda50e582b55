//! Objects in JSON of other programs: any member may be missing, have another type or stand twice.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// Maximum number of members. Each takes about ten times the memory of its shortest text.
const MOST_MEMBERS: usize = 10_000;

/// The members of an object in the order of the file.
/// Unlike a map, it keeps both of two members with one name.
#[derive(Clone, Debug, Default)]
pub(super) struct Members(Vec<(String, Member)>);

#[derive(Clone, Debug)]
enum Member {
    /// A text, a number, a truth value or `null`.
    Scalar(Value),
    /// A number beyond the range of numbers here, such as 1e400.
    TooLarge(String),
    /// A list or an object, which may be large and is read only on request.
    Nested(Box<RawValue>),
}

/// Why a member has no value of the expected type.
type MemberFault = String;

impl Members {
    /// The members of an object. `None`: the text is another value, or has too many members.
    pub(super) fn read(text: &str) -> Option<Members> {
        serde_json::from_str(text).ok()
    }

    /// The members that are texts.
    pub(super) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().filter_map(|(name, member)| match member {
            Member::Scalar(Value::String(text)) => Some((name.as_str(), text.as_str())),
            _ => None,
        })
    }

    /// The members that are numbers beyond the range, as the file writes them.
    pub(super) fn too_large(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().filter_map(|(name, member)| match member {
            Member::TooLarge(number) => Some((name.as_str(), number.as_str())),
            _ => None,
        })
    }

    /// The names of all members, in the order of the file.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(n, _)| n == name)
    }

    /// The member of a name. `None` without one, and for `null`.
    ///
    /// # Errors
    /// If two members have the name.
    fn get(&self, name: &str) -> Result<Option<&Member>, MemberFault> {
        let mut named = self.0.iter().filter(|(n, _)| n == name);
        let first = named.next().map(|(_, member)| member);
        match named.next() {
            None => Ok(first.filter(|m| !matches!(m, Member::Scalar(Value::Null)))),
            Some(_) => Err(format!("{name} stands twice")),
        }
    }

    /// The value of a member that may be a list or an object.
    pub(super) fn value(&self, name: &str) -> Result<Option<Value>, MemberFault> {
        match self.get(name)? {
            None => Ok(None),
            Some(Member::Scalar(value)) => Ok(Some(value.clone())),
            Some(Member::TooLarge(number)) => Err(too_large(name, number)),
            Some(Member::Nested(raw)) => serde_json::from_str(raw.get())
                .map(Some)
                .map_err(|_| format!("{name} is nested too deeply")),
        }
    }

    /// The member that is an object.
    pub(super) fn object(&self, name: &str) -> Result<Option<Members>, MemberFault> {
        match self.get(name)? {
            None => Ok(None),
            Some(Member::Nested(raw)) => Members::read(raw.get())
                .map(Some)
                .ok_or_else(|| format!("{name} is a list, or has too many members")),
            Some(Member::Scalar(value)) => Err(format!("{name} is {}", shown(value))),
            Some(Member::TooLarge(number)) => Err(too_large(name, number)),
        }
    }

    /// The elements of a member that is a list, as text.
    fn elements(&self, name: &str) -> Result<Option<Vec<&RawValue>>, MemberFault> {
        match self.get(name)? {
            None => Ok(None),
            Some(Member::Nested(raw)) => {
                serde_json::from_str(raw.get()).map(Some).map_err(|_| format!("{name} is no list"))
            }
            Some(_) => Err(format!("{name} is no list")),
        }
    }

    /// The objects of a list.
    pub(super) fn objects(&self, name: &str) -> Result<Option<Vec<Members>>, MemberFault> {
        let Some(elements) = self.elements(name)? else {
            return Ok(None);
        };
        let objects: Option<Vec<Members>> =
            elements.iter().map(|element| Members::read(element.get())).collect();
        objects.map(Some).ok_or_else(|| format!("an element of {name} is no object"))
    }

    /// The numbers of a list, all of them finite.
    pub(super) fn numbers(&self, name: &str) -> Result<Option<Vec<f64>>, MemberFault> {
        let Some(elements) = self.elements(name)? else {
            return Ok(None);
        };
        let numbers: Option<Vec<f64>> =
            elements.iter().map(|element| serde_json::from_str(element.get()).ok()).collect();
        numbers.map(Some).ok_or_else(|| format!("one of its {name} is no number, or too large"))
    }

    fn scalar<'a, T>(
        &'a self,
        name: &str,
        convert: impl Fn(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, MemberFault> {
        match self.get(name)? {
            None => Ok(None),
            Some(Member::Scalar(value)) => match convert(value) {
                Some(converted) => Ok(Some(converted)),
                None => Err(format!("{name} is {}", shown(value))),
            },
            Some(Member::TooLarge(number)) => Err(too_large(name, number)),
            Some(Member::Nested(_)) => Err(format!("{name} is a list or an object")),
        }
    }

    /// A finite number.
    pub(super) fn number(&self, name: &str) -> Result<Option<f64>, MemberFault> {
        self.scalar(name, Value::as_f64)
    }

    pub(super) fn count(&self, name: &str) -> Result<Option<u64>, MemberFault> {
        self.scalar(name, Value::as_u64)
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<&str>, MemberFault> {
        self.scalar(name, Value::as_str)
    }

    pub(super) fn flag(&self, name: &str) -> Result<Option<bool>, MemberFault> {
        self.scalar(name, Value::as_bool)
    }
}

fn too_large(name: &str, number: &str) -> MemberFault {
    format!("{name} is {number}, which is too large")
}

/// The beginning of a value, for messages.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) if text.parse().is_ok_and(f64::is_finite) => {
            format!("the text {text:?} instead of a number")
        }
        Value::String(text) => text.chars().take(60).collect(),
        other => other.to_string(),
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Members, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut all = Vec::new();
                while let Some((name, raw)) = map.next_entry::<String, Box<RawValue>>()? {
                    if all.len() == MOST_MEMBERS {
                        return Err(Error::custom("too many members"));
                    }
                    all.push((name, member(raw).map_err(Error::custom)?));
                }
                Ok(Members(all))
            }
        }
        deserializer.deserialize_map(Pairs)
    }
}

fn member(raw: Box<RawValue>) -> serde_json::Result<Member> {
    let text = raw.get();
    if text.starts_with(['[', '{']) {
        return Ok(Member::Nested(raw));
    }
    match serde_json::from_str(text) {
        Ok(value) => Ok(Member::Scalar(value)),
        // The text is JSON already, so that a number can only be too large.
        Err(_) if text.starts_with(|c: char| c == '-' || c.is_ascii_digit()) => {
            Ok(Member::TooLarge(text.chars().take(60).collect()))
        }
        Err(e) => Err(e),
    }
}

/// JSON in which `NaN`, `Infinity` and their like, which are no JSON, are texts.
pub(super) fn with_quoted_non_numbers(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut copied = 0;
    for token in bare_words(text) {
        if is_non_number(&text[token.clone()]) {
            out.push_str(&text[copied..token.start]);
            out.push('"');
            out.push_str(&text[token.clone()]);
            out.push('"');
            copied = token.end;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// Whether a word is `NaN`, `-inf` or the like.
pub(super) fn is_non_number(word: &str) -> bool {
    let word = word.trim_start_matches(['-', '+']);
    ["nan", "inf", "infinity"].iter().any(|name| word.eq_ignore_ascii_case(name))
}

/// The places of words and numbers outside of texts.
fn bare_words(text: &str) -> impl Iterator<Item = std::ops::Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = 0;
    let is_word = |b: &u8| b.is_ascii_alphanumeric() || b"+-.".contains(b);
    std::iter::from_fn(move || {
        while at < bytes.len() {
            if bytes[at] == b'"' {
                at = end_of_text(bytes, at);
            } else if is_word(&bytes[at]) {
                let start = at;
                at += bytes[at..].iter().take_while(|b| is_word(b)).count();
                return Some(start..at);
            } else {
                at += 1;
            }
        }
        None
    })
}

/// The place after the text that begins at `start`.
fn end_of_text(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_bare_non_numbers_are_quoted() {
        let text = r#"{"NaN": NaN, "a": [-Infinity,inf], "b": "\"NaN", "c": null}"#;
        let quoted = r#"{"NaN": "NaN", "a": ["-Infinity","inf"], "b": "\"NaN", "c": null}"#;
        assert_eq!(with_quoted_non_numbers(text), quoted);
        for same in [quoted, "\"a\\", "\"a", "", "é NaN1"] {
            assert_eq!(with_quoted_non_numbers(same), same);
        }
    }

    #[test]
    fn member_of_another_type_or_twice_is_a_fault() {
        let of = |text: &str| Members::read(text).unwrap();
        let members = of(r#"{"a": 1, "b": "x", "b": "y", "c": null, "d": "NaN"}"#);
        assert_eq!(members.number("a"), Ok(Some(1.0)));
        assert_eq!(members.text("c"), Ok(None));
        assert_eq!(members.text("e"), Ok(None));
        assert_eq!(members.text("b"), Err("b stands twice".to_owned()));
        assert_eq!(members.number("d"), Err("d is NaN".to_owned()));
        assert!(Members::read("[]").is_none());
        let deep = format!("{{\"a\": {}{}}}", "[".repeat(9999), "]".repeat(9999));
        let fault = of(&deep).value("a").unwrap_err();
        assert_eq!(fault, "a is nested too deeply");
        assert_eq!(of(&deep).number("b"), Ok(None));
    }
}
