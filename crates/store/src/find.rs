//! Resolves a run reference of the user, such as `latest~1`, to a run.

use crate::StoreError;

/// Number of ids or tags that an error message lists.
const NAMED: usize = 3;

/// The reference of the latest vector.
const LATEST_VECTOR: &str = "latest-vector";

/// The N of `latest~N`, where `latest` is `latest~0`. `None` for any other reference.
pub(crate) fn back(reference: &str) -> Option<usize> {
    back_from("latest", reference)
}

/// The N of `latest-vector~N`.
pub(crate) fn back_of_vector(reference: &str) -> Option<usize> {
    back_from(LATEST_VECTOR, reference)
}

fn back_from(latest: &str, reference: &str) -> Option<usize> {
    match reference.strip_prefix(latest)? {
        "" => Some(0),
        rest => rest.strip_prefix('~')?.parse().ok(),
    }
}

/// The N-th latest id. `ids` are the runs that the user requested, latest first.
pub(crate) fn nth(ids: &[String], reference: &str, back: usize) -> Result<String, StoreError> {
    if let Some(id) = ids.get(back) {
        return Ok(id.clone());
    }
    let lists = "`yamba runs` lists all";
    Err(match ids.len() {
        0 => {
            StoreError::new(format!("no run {reference}: no run was requested yet")).help(format!(
                "`yamba run` stores what it measures; {lists}, those of `compare` and `selftest` too"
            ))
        }
        n => StoreError::new(format!("no run {reference}: the first of {n} is latest~{}", n - 1))
            .help(lists),
    })
}

/// Resolves an id, the beginning of an id, or a tag (to its latest run). `runs` are ids with their
/// tags, latest first.
pub(crate) fn named(runs: &[(String, Vec<String>)], reference: &str) -> Result<String, StoreError> {
    if runs.is_empty() {
        return Err(StoreError::new(format!("no run {reference}: nothing is stored yet"))
            .help("`yamba run` stores what it measures"));
    }
    if let Some((id, _)) = runs.iter().find(|(id, _)| id == reference) {
        return Ok(id.clone());
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

/// Resolves a reference among the runs that hold vectors. `vectors` are their ids with tags and
/// applications, the one that was stored last first.
pub(crate) fn vector(
    vectors: &[(String, Vec<String>)],
    reference: &str,
) -> Result<String, StoreError> {
    if vectors.is_empty() {
        return Err(StoreError::new(format!("no vector {reference}: no vector is stored yet"))
            .help("`yamba trace` stores what it counts; a file is named by its path"));
    }
    let Some(back) = back_of_vector(reference) else {
        return named(vectors, reference);
    };
    let found = vectors.get(back).map(|(id, _)| id.clone());
    found.ok_or_else(|| {
        let last = vectors.len() - 1;
        StoreError::new(format!("no vector {reference}: the first is {LATEST_VECTOR}~{last}"))
            .help("`yamba runs` lists all")
    })
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
        vec![run("cc01", &[]), run("bb02", &["base"]), run("bb01", &["base", "cc01"])]
    }

    #[test]
    fn references_resolve_to_ids() {
        for (reference, id) in [("cc01", "cc01"), ("bb01", "bb01"), ("c", "cc01"), ("base", "bb02")]
        {
            assert_eq!(named(&runs(), reference).unwrap(), id, "{reference}");
        }
    }

    #[test]
    fn latest_counts_back_from_newest() {
        let ids = ["cc01", "bb02"].map(str::to_owned);
        let found = |reference| nth(&ids, reference, back(reference).unwrap());
        assert_eq!(found("latest").unwrap(), "cc01");
        assert_eq!(found("latest~1").unwrap(), "bb02");
        let error = found("latest~2").unwrap_err().to_string();
        assert!(error.contains("the first of 2 is latest~1"), "{error}");
        let error = nth(&[], "latest", 0).unwrap_err();
        assert!(error.to_string().contains("no run was requested"), "{error}");
        assert_eq!(back("latest~x"), None);
    }

    #[test]
    fn vector_is_found_by_application_tag_or_age() {
        let find = |reference| vector(&runs(), reference);
        for (reference, id) in [
            ("latest-vector", "cc01"),
            ("latest-vector~2", "bb01"),
            ("base", "bb02"),
            ("bb01", "bb01"),
        ] {
            assert_eq!(find(reference).unwrap(), id, "{reference}");
        }
        let error = find("latest-vector~3").unwrap_err().to_string();
        assert!(error.contains("the first is latest-vector~2"), "{error}");
        let error = vector(&[], "nginx").unwrap_err();
        assert!(error.to_string().contains("no vector is stored"), "{error}");
        assert_eq!(back("latest-vector"), None);
    }

    #[test]
    fn unresolvable_reference_is_error() {
        for (reference, said) in [
            ("bb", "2 runs begin with bb: bb02, bb01"),
            ("latest~x", "no run latest~x: there are cc01, bb02, bb01; tags: base, cc01"),
            ("", "there are cc01"),
        ] {
            let error = named(&runs(), reference).unwrap_err();
            assert!(error.to_string().contains(said), "{error}");
            assert!(error.help_text().unwrap().contains("yamba runs"), "{error}");
        }
        let error = named(&[], "base").unwrap_err().to_string();
        assert!(error.contains("nothing is stored"), "{error}");
    }
}
