//! Which run a person means.

use crate::StoreError;

/// So many runs are named where none was meant.
const NAMED: usize = 3;

/// An id or the beginning of one, a tag (its latest run), `latest`, or `latest~N`, the N-th before it. `runs` are ids with their tags, the latest first.
pub(crate) fn find(runs: &[(String, Vec<String>)], reference: &str) -> Result<String, StoreError> {
    if runs.is_empty() {
        return Err(
            StoreError::new(format!("no run {reference}: nothing is stored yet"))
                .help("`yamba run` stores what it measures"),
        );
    }
    if let Some((id, _)) = runs.iter().find(|(id, _)| id == reference) {
        return Ok(id.clone());
    }
    if let Some(back) = back(reference) {
        return runs.get(back).map(|(id, _)| id.clone()).ok_or_else(|| {
            StoreError::new(format!(
                "no run {reference}: the first of {} is latest~{}",
                runs.len(),
                runs.len() - 1
            ))
            .help("`yamba runs` lists them")
        });
    }
    let tagged = |tags: &[String]| tags.iter().any(|t| t == reference);
    if let Some((id, _)) = runs.iter().find(|(_, tags)| tagged(tags)) {
        return Ok(id.clone());
    }
    let begins = |id: &&String| !reference.is_empty() && id.starts_with(reference);
    let found: Vec<&String> = runs.iter().map(|(id, _)| id).filter(begins).collect();
    match found[..] {
        [id] => Ok(id.clone()),
        [] => Err(none(runs, reference)),
        _ => Err(StoreError::new(format!(
            "{} runs begin with {reference}: {}",
            found.len(),
            some(&found)
        ))
        .help("write more digits; `yamba runs` lists all")),
    }
}

fn back(reference: &str) -> Option<usize> {
    match reference.strip_prefix("latest")? {
        "" => Some(0),
        rest => rest.strip_prefix('~')?.parse().ok(),
    }
}

fn none(runs: &[(String, Vec<String>)], reference: &str) -> StoreError {
    let ids: Vec<&String> = runs.iter().map(|(id, _)| id).collect();
    let mut tags: Vec<&String> = runs.iter().flat_map(|(_, tags)| tags).collect();
    tags.sort();
    tags.dedup();
    let mut text = format!("no run {reference}: there are {}", some(&ids));
    if !tags.is_empty() {
        text.push_str(&format!("; tags: {}", some(&tags)));
    }
    StoreError::new(text)
        .help("write an id or its beginning, a tag, latest or latest~1; `yamba runs` lists all")
}

fn some(all: &[&String]) -> String {
    let first: Vec<&str> = all.iter().take(NAMED).map(|s| s.as_str()).collect();
    match all.len().saturating_sub(NAMED) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs() -> Vec<(String, Vec<String>)> {
        let run = |id: &str, tags: &[&str]| {
            let tags = tags.iter().map(|t| (*t).to_owned());
            (id.to_owned(), tags.collect())
        };
        vec![
            run("cc01", &[]),
            run("bb02", &["base"]),
            run("bb01", &["base", "cc01"]),
        ]
    }

    #[test]
    fn what_a_person_means() {
        for (reference, id) in [
            ("cc01", "cc01"),
            ("bb01", "bb01"),
            ("c", "cc01"),
            ("base", "bb02"),
            ("latest", "cc01"),
            ("latest~2", "bb01"),
        ] {
            assert_eq!(find(&runs(), reference).unwrap(), id, "{reference}");
        }
    }

    #[test]
    fn what_nobody_can_mean() {
        for (reference, said) in [
            ("bb", "2 runs begin with bb: bb02, bb01"),
            ("latest~3", "the first of 3 is latest~2"),
            (
                "latest~x",
                "no run latest~x: there are cc01, bb02, bb01; tags: base, cc01",
            ),
            ("", "there are cc01"),
        ] {
            let error = find(&runs(), reference).unwrap_err();
            assert!(error.to_string().contains(said), "{error}");
            assert!(error.mend().unwrap().contains("yamba runs"), "{error}");
        }
        assert!(
            find(&[], "latest")
                .unwrap_err()
                .to_string()
                .contains("nothing")
        );
    }
}
