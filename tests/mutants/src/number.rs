//! Other spellings of numbers.

use std::ops::Range;

use fastrand::Rng;

use crate::Change;

/// The places of decimal numbers in a text. Digits within a word, such as `x86`, count too.
pub(crate) fn numbers(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !is_digit(at) {
            at += 1;
            continue;
        }
        let start = at;
        while is_digit(at) || (bytes.get(at) == Some(&b'.') && is_digit(at + 1)) {
            at += 1;
        }
        found.push(start..at);
    }
    found
}

/// A number in another spelling, with the change that this is. `None` if the chosen change does not
/// apply to this number.
pub(crate) fn respelled(number: &str, rng: &mut Rng) -> Option<(Change, String)> {
    Some(match rng.u8(..6) {
        0 => (Change::DecimalComma, decimal_comma(number)?),
        1 => (Change::Grouped, grouped(number)?),
        2 => (Change::Exponent, exponent(number)?),
        3 => (Change::NotANumber, choice(rng, &["NaN", "nan", "-nan", "-NaN"]).to_owned()),
        4 => (Change::Infinite, choice(rng, &["Infinity", "-Infinity", "inf", "-inf"]).to_owned()),
        _ => (Change::Negative, format!("-{number}")),
    })
}

fn choice<'a>(rng: &mut Rng, texts: &[&'a str]) -> &'a str {
    texts[rng.usize(..texts.len())]
}

fn decimal_comma(number: &str) -> Option<String> {
    let is_decimal = number.matches('.').count() == 1;
    is_decimal.then(|| number.replace('.', ","))
}

fn grouped(number: &str) -> Option<String> {
    let whole = number.split('.').next()?;
    let first = whole.len() % 3;
    if whole.len() < 4 {
        return None;
    }
    let mut text = whole[..first].to_owned();
    for at in (first..whole.len()).step_by(3) {
        if !text.is_empty() {
            text.push(',');
        }
        text.push_str(&whole[at..at + 3]);
    }
    Some(text + &number[whole.len()..])
}

/// The number with one digit before the point, such as `1.588e3`. Exact, since the digits stay.
fn exponent(number: &str) -> Option<String> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.starts_with('0') || fraction.contains('.') {
        return None;
    }
    let (first, rest) = whole.split_at(1);
    Some(format!("{first}.{rest}{fraction}e{}", rest.len()).replace(".e", "e"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_a_line() {
        let line = "10.0.0.1 [03/May] 200 0.001";
        let texts: Vec<&str> = numbers(line).into_iter().map(|r| &line[r]).collect();
        assert_eq!(texts, ["10.0.0.1", "03", "200", "0.001"]);
    }

    #[test]
    fn other_spellings() {
        assert_eq!(decimal_comma("4.440").as_deref(), Some("4,440"));
        assert_eq!(decimal_comma("10.0.0.1"), None);
        assert_eq!(grouped("1588500.5").as_deref(), Some("1,588,500.5"));
        assert_eq!(grouped("200"), None);
        assert_eq!(exponent("1588.5").as_deref(), Some("1.5885e3"));
        assert_eq!(exponent("7").as_deref(), Some("7e0"));
        let value: f64 = exponent("1588.5").unwrap().parse().unwrap();
        assert_eq!(value, 1588.5);
    }
}
