//! Formats names and texts of stored runs for the terminal.

use super::store_option::writable;
use super::{Failure, StoreOption, output};
use chrono::{DateTime, SecondsFormat, Utc};
use yamba_record::Run;
use yamba_report::RunLocation;
use yamba_store::Detail;

pub(super) use yamba_session::run_ref::{Runs, choose, find, is_path, means, short, unknown};

/// Loads a run. Names on standard error what it lacks of a file of another program.
pub(super) fn load(runs: &mut Runs, reference: &str, detail: Detail) -> Result<Run, Failure> {
    let run = runs.load(reference, detail)?;
    if is_path(reference) {
        output::note(&missing(reference, &run, run.left_out()));
    }
    Ok(run)
}

/// Loads a run for a page or for tables. These name commands for raw batches, which not every
/// document has.
pub(super) fn load_for_page(
    runs: &mut Runs,
    reference: &str,
    detail: Detail,
) -> Result<Run, Failure> {
    let detail = if is_path(reference) { Detail::Batches } else { detail };
    load(runs, reference, detail)
}

/// A note about the parts of a file that are not in the run.
pub(super) fn missing(file: &str, run: &Run, left_out: &[String]) -> String {
    if left_out.is_empty() {
        return String::new();
    }
    let why = if run.producer.imported.is_some() {
        "no known figure, and left out"
    } else {
        "not in the capture"
    };
    let mut text = format!("note: {file}: {why}:\n");
    for place in left_out {
        text.push_str(&format!("  {}\n", plain(place)));
    }
    text
}

/// The source of a run as a copyable command names it, valid from any folder at any time.
pub(super) fn place(store: &StoreOption, reference: Option<&str>) -> Result<RunLocation, Failure> {
    let Some(reference) = reference.filter(|r| is_path(r)) else {
        return store.place();
    };
    let path = std::fs::canonicalize(reference).unwrap_or_else(|_| reference.into());
    Ok(RunLocation::File(writable(path, "document")?))
}

/// The time as a calendar date; `None` if unknown or out of range.
pub(super) fn moment(unix_s: Option<f64>) -> Option<DateTime<Utc>> {
    DateTime::from_timestamp_millis((unix_s? * 1e3).round() as i64)
}

/// Formats as RFC 3339 in UTC.
pub(super) fn rfc3339(moment: DateTime<Utc>) -> String {
    moment.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// Removes control characters, so that untrusted text cannot control the terminal.
pub(super) fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_formatted_in_utc() {
        let formatted = |s| moment(Some(s)).map(rfc3339);
        assert_eq!(formatted(1.7e9), Some("2023-11-14T22:13:20.000Z".to_owned()));
        assert_eq!(formatted(0.25), Some("1970-01-01T00:00:00.250Z".to_owned()));
        assert_eq!(formatted(1e300), None);
        assert_eq!(moment(None), None);
    }
}
