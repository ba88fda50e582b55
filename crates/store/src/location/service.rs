//! Connection parameters by the name of a service, from the files of PostgreSQL's own programs.

use std::env;
use std::fs;
use std::path::PathBuf;

/// The parameters of a service: names and values, in the order of the file. `None` if no file has
/// it.
pub(super) fn parameters(service: &str) -> Option<Vec<(String, String)>> {
    files()
        .into_iter()
        .find_map(|path| section(&String::from_utf8_lossy(&fs::read(path).ok()?), service))
}

/// `PGSERVICEFILE`, or `.pg_service.conf` in the home folder; then the file of the system.
fn files() -> Vec<PathBuf> {
    let variable = |name| env::var_os(name).filter(|value| !value.is_empty());
    let home = || Some(PathBuf::from(variable("HOME")?).join(".pg_service.conf"));
    let own = variable("PGSERVICEFILE").map(PathBuf::from).or_else(home);
    let system = variable("PGSYSCONFDIR").map(PathBuf::from);
    let debian = || PathBuf::from("/etc/postgresql-common");
    let system = system.unwrap_or_else(debian).join("pg_service.conf");
    own.into_iter().chain([system]).collect()
}

/// The lines of `[service]`.
fn section(text: &str, service: &str) -> Option<Vec<(String, String)>> {
    let text = text.trim_start_matches('\u{feff}');
    let mut lines = text.lines().map(str::trim);
    lines.find(|line| {
        let name = line.strip_prefix('[').and_then(|l| l.strip_suffix(']'));
        name == Some(service)
    })?;
    let own = lines.take_while(|line| !line.starts_with('['));
    let given = own.filter(|line| !line.starts_with('#'));
    let pairs = given.filter_map(|line| line.split_once('='));
    let trimmed = |(name, value): (&str, &str)| (name.trim().to_owned(), value.trim().to_owned());
    Some(pairs.map(trimmed).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn service_has_the_lines_of_its_section() {
        let text = "[other]\nhost=x\n# note\n[mine]\nhost=h\n#port=1\ndbname = d=e\n\n[last]\n";
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let mine = vec![pair("host", "h"), pair("dbname", "d=e")];
        assert_eq!(section(text, "mine"), Some(mine));
        assert_eq!(section(text, "last"), Some(Vec::new()));
        assert_eq!(section(text, "none"), None);
        let other_ends = format!("\u{feff}{}", text.replace('\n', "\r\n"));
        assert_eq!(section(&other_ends, "mine"), section(text, "mine"));
    }
}
