//! Lines with details: ages, and the tables and cards of G1.

use super::line::{decimal, number};

/// A row of G1's tables, `Dirty Cards: Min: 1, Avg:  1.5, Max: 2, Diff: 1, Sum: 3, Workers: 2`.
pub(super) enum Row {
    CopiedBytes(f64),
    DirtyCards(f64),
    /// A row of which nothing is read.
    Other,
}

/// Reads a row. `None`: a row to read has another form.
pub(super) fn row(message: &str) -> Option<Row> {
    let words: Vec<&str> = message.split_whitespace().collect();
    match words[..] {
        ["Copied", "Bytes" | "Bytes:", ref rest @ ..] => Some(Row::CopiedBytes(sum(rest)?)),
        ["Dirty", "Cards:", ref rest @ ..] => Some(Row::DirtyCards(sum(rest)?)),
        _ => {
            let has = |word: &str| words.contains(&word);
            let is_row = has("Sum:") || has("Workers:") || has("skipped");
            let is_cut = matches!(words[..], ["Bytes" | "Bytes:" | "Cards:", ..]);
            let is_changed = is_row && (is_cut || has("Copied") || has("Dirty"));
            (!is_changed).then_some(Row::Other)
        }
    }
}

/// The sum over the workers. The other columns must agree with it. A row is `skipped` if no worker
/// had this work.
fn sum(words: &[&str]) -> Option<f64> {
    if words == ["skipped"] {
        return Some(0.0);
    }
    let ["Min:", min, "Avg:", avg, "Max:", max, "Diff:", diff, "Sum:", sum, "Workers:", workers] =
        words
    else {
        return None;
    };
    let count = |text: &str| number(text.strip_suffix(',')?);
    let (min, max, diff, sum) = (count(min)?, count(max)?, count(diff)?, count(sum)?);
    let (avg, workers) = (decimal(avg.strip_suffix(',')?)?, number(workers)?);
    // The average has one digit after its point.
    let is_right = max - min == diff && (avg - sum / workers).abs() < 0.1;
    is_right.then_some(sum)
}

/// The refined cards of `Mutator refinement: 0.60ms, refined: 768, precleaned: 0, dirtied: 4383`.
pub(super) fn refined(message: &str) -> Option<f64> {
    let words: Vec<&str> = message.split(' ').collect();
    let [_, "refinement:", time, "refined:", refined, "precleaned:", cleaned, "dirtied:", dirtied] =
        words[..]
    else {
        return None;
    };
    decimal(time.strip_suffix("ms,")?)?;
    number(cleaned.strip_suffix(',')?).and(number(dirtied))?;
    number(refined.strip_suffix(',')?)
}

/// Survivors of one age: `- age   1:    4800000 bytes,    4800000 total`. Returns the age, its
/// bytes and the total so far.
pub(super) fn age(message: &str) -> Option<(usize, f64, f64)> {
    let words: Vec<&str> = message.split_whitespace().collect();
    let ["-", "age", age, size, "bytes,", total, "total"] = words[..] else {
        return None;
    };
    let age = number(age.strip_suffix(':')?)? as usize;
    (1..=15).contains(&age).then_some(())?;
    Some((age, number(size)?, number(total)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: &str = "Dirty Cards:      Min: 10036, Avg: 10910.5, Max: 11785, Diff: 1749, Sum: 21821, Workers: 2";

    #[test]
    fn columns_of_a_row_agree() {
        let cards = |text: &str| match row(text) {
            Some(Row::DirtyCards(cards)) => Some(cards),
            _ => None,
        };
        assert_eq!(cards(ROW), Some(21821.0));
        assert_eq!(cards("Dirty Cards: skipped"), Some(0.0));
        for (from, to) in [
            ("21821", "21822"),
            ("21821", "2.1821e4"),
            ("10036", "11785"),
            ("Sum: ", ""),
            ("10910.5", "10910,5"),
        ] {
            assert_eq!(cards(&ROW.replace(from, to)), None, "{from} {to}");
        }
        for changed in ["Dirty ", "Cards: "] {
            assert!(row(&ROW.replace(changed, "")).is_none(), "{changed}");
        }
        assert!(matches!(row("Skipped Cards: Min: 0, Avg:  0.0"), Some(Row::Other)));
    }

    #[test]
    fn refined_cards_and_ages() {
        let text = "Mutator refinement: 0.60ms, refined: 768, precleaned: 0, dirtied: 4383";
        assert_eq!(refined(text), Some(768.0));
        assert_eq!(refined(&text.replace("0.60", "0,60")), None);
        let text = "- age   1:    4800000 bytes,    4800000 total";
        assert_eq!(age(text), Some((1, 4.8e6, 4.8e6)));
        assert_eq!(age(&text.replace("1:", "16:")), None);
        assert_eq!(age(&text.replace(" 4800000 bytes", " bytes")), None);
    }
}
