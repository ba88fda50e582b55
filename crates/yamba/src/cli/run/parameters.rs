//! Values of parameters on the command line.

use std::collections::BTreeSet;

use yamba_session::Failure;

/// Reads `NAME=VALUE`.
pub(in crate::cli) fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write NAME=VALUE".to_owned()),
    }
}

/// Reads `NAME=A,B,C`.
pub(super) fn sweep(text: &str) -> Result<(String, Vec<String>), String> {
    let (name, values) = assignment(text).map_err(|_| "write NAME=A,B,C".to_owned())?;
    let values: Vec<String> = values.split(',').map(|v| v.trim().to_owned()).collect();
    if values.iter().any(String::is_empty) {
        return Err("write NAME=A,B,C: a value is empty".to_owned());
    }
    if let Some(again) = twice(values.iter().map(String::as_str)) {
        return Err(format!("write NAME=A,B,C: the value {again} is there twice"));
    }
    Ok((name, values))
}

/// Refuses a parameter that has values twice, since one of them would not count.
pub(in crate::cli) fn each_once(
    set: &[(String, String)],
    sweep: &[(String, Vec<String>)],
) -> Result<(), Failure> {
    let names = set.iter().map(|(name, _)| name).chain(sweep.iter().map(|(name, _)| name));
    match twice(names.map(String::as_str)) {
        None => Ok(()),
        Some(name) => Err(Failure::new(format!("the parameter {name} has values twice"))
            .help(format!("leave out one; `--sweep {name}=A,B` measures at both values"))),
    }
}

/// The first text that is there again.
fn twice<'a>(mut all: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut seen = BTreeSet::new();
    all.find(|one| !seen.insert(*one))
}
