//! Passwords from the file of PostgreSQL's own programs: `PGPASSFILE`, or `.pgpass` in the home
//! folder.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use postgres::Config;
use postgres::config::Host;

/// The host of a socket in a file of passwords.
const LOCAL: &str = "localhost";

/// The password for this connection. `None` if there is no line for it, or if others can read the
/// file.
pub(super) fn password(config: &Config, usual_port: u16) -> Option<String> {
    let path = file().filter(|path| !is_open(path))?;
    let text = fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&text);
    let user = config.get_user().map(str::to_owned);
    let user = user.or_else(|| env::var("USER").ok())?;
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        _ => LOCAL.to_owned(),
    };
    let port = config.get_ports().first().unwrap_or(&usual_port).to_string();
    let database = config.get_dbname().unwrap_or(&user);
    found(&text, [&host, &port, database, &user])
}

/// The file of passwords, if it is ignored because others can read it.
pub(super) fn ignored() -> Option<PathBuf> {
    file().filter(|path| is_open(path))
}

/// Whether the file exists and other users have any right to it.
fn is_open(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| file.permissions().mode() & 0o077 != 0)
}

fn file() -> Option<PathBuf> {
    let named = env::var_os("PGPASSFILE").filter(|name| !name.is_empty());
    let home = || Some(PathBuf::from(env::var_os("HOME")?).join(".pgpass"));
    named.map(PathBuf::from).or_else(home)
}

/// The password of the first line whose four fields match: host, port, database and user.
fn found(text: &str, wanted: [&str; 4]) -> Option<String> {
    let text = text.trim_start_matches('\u{feff}');
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(fields).find_map(|fields| {
        let is_it = |(field, wanted): (&String, &str)| field == "*" || field == wanted;
        let matches = fields.len() == 5 && fields.iter().zip(wanted).all(is_it);
        matches.then(|| fields[4].clone())
    })
}

/// The fields of a line. A backslash quotes `:` and itself.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        let last = fields.len() - 1;
        match c {
            ':' if fields.len() < 5 => fields.push(String::new()),
            '\\' => fields[last].extend(characters.next()),
            c => fields[last].push(c),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
# host:port:database:user:password
h:5432:d:bob:wrong
h:5433:*:ann:by port
h:*:d:ann:se\\:cr\\\\et
*:*:*:ann:any host
short:line
";

    #[test]
    fn first_matching_line_has_the_password() {
        let of = |host, port, user| found(TEXT, [host, port, "d", user]);
        assert_eq!(of("h", "5432", "ann").as_deref(), Some("se:cr\\et"));
        assert_eq!(of("h", "5433", "ann").as_deref(), Some("by port"));
        assert_eq!(of("other", "1", "ann").as_deref(), Some("any host"));
        assert_eq!(of("h", "5432", "eve"), None);
    }

    #[test]
    fn byte_order_mark_and_carriage_returns_are_no_part_of_a_line() {
        let text = "\u{feff}h:*:d:ann:secret\r\nh:*:d:bob:other\r\n";
        let of = |user| found(text, ["h", "5432", "d", user]);
        assert_eq!(of("ann").as_deref(), Some("secret"));
        assert_eq!(of("bob").as_deref(), Some("other"));
    }
}
