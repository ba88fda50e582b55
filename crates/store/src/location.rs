//! The location of a store, as the user writes it.

mod password_file;
mod service;
mod tls;

use std::error::Error;
use std::ffi::OsStr;
use std::fmt;
use std::net::ToSocketAddrs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use postgres::Config;
use postgres::config::{Host, TargetSessionAttrs};

use crate::error::{StoreError, StoreFault};
use tls::Encryption;

/// The location of a store. Its `Display` text has no password.
#[derive(Clone, Debug)]
pub enum Location {
    /// A SQLite file.
    File(PathBuf),
    /// A database of a PostgreSQL server.
    Server(Address),
}

/// URL schemes of a PostgreSQL server.
const SCHEMES: [&str; 2] = ["postgresql://", "postgres://"];

impl Location {
    /// Parses a URL of a server, or else the path of a file.
    ///
    /// # Errors
    /// If the text is empty, or the URL is invalid or asks for something unsupported, or the text
    /// resembles a URL. The message does not repeat it, since it may contain a password.
    pub fn parse(text: &OsStr) -> Result<Location, StoreError> {
        if text.is_empty() {
            return Err(StoreError::new("the place of the store is an empty text").help(
                "name a file or postgresql://USER@HOST/DATABASE; without --store it is YAMBA_STORE, else the usual file",
            ));
        }
        match text.to_str().filter(|t| is_url(t)) {
            Some(url) => Address::parse(url).map(Location::Server),
            None if is_almost_url(&text.to_string_lossy()) => Err(StoreError::new(
                "the place of the store is no URL of PostgreSQL, and too like one to be a file",
            )
            .help(FORM)),
            None => Ok(Location::File(PathBuf::from(text))),
        }
    }

    /// A warning before the store is opened: a file of passwords is ignored.
    pub fn warning(&self) -> Option<StoreError> {
        match self {
            Location::File(_) => None,
            Location::Server(address) => address.warning(),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::File(path) => path.display().fmt(f),
            Location::Server(address) => address.fmt(f),
        }
    }
}

fn is_url(text: &str) -> bool {
    SCHEMES.iter().any(|scheme| text.starts_with(scheme))
}

/// Whether the user may have meant a server: a URL with a misspelled scheme, or the form `host=...
/// password=...`.
fn is_almost_url(text: &str) -> bool {
    let small = text.to_ascii_lowercase();
    let name = small.strip_prefix("postgresql").or(small.strip_prefix("postgres"));
    small.contains("://")
        || small.contains(PASSWORD)
        || name.is_some_and(|rest| rest.starts_with(':') || rest.starts_with("//"))
}

/// The key before a password in libpq's `key=value` form.
const PASSWORD: &str = "password=";

/// A command-line argument as it may be recorded: without the password of a URL, and without any
/// text that may be one.
pub fn without_password(word: &str) -> String {
    let option = "--store=";
    let (before, url) = match word.strip_prefix(option) {
        Some(url) => (option, url),
        None => ("", word),
    };
    if is_url(url) {
        return match Address::parse(url) {
            Ok(address) => format!("{before}{address}"),
            Err(_) => format!("{before}{}...", SCHEMES[0]),
        };
    }
    match secret(url) {
        Some(from) => format!("{before}{}...", &url[..from]),
        None => word.to_owned(),
    }
}

/// The position from which an argument may contain a password.
fn secret(word: &str) -> Option<usize> {
    let small = word.to_ascii_lowercase();
    let after = |mark: &str| small.find(mark).map(|place| place + mark.len());
    let url = after("://").filter(|from| small[*from..].contains(['@', '?', '=']));
    let first = url.into_iter().chain(after(PASSWORD)).min();
    first.or((is_almost_url(word) && !small.contains("://")).then_some(0))
}

/// The connection parameters of a database.
#[derive(Clone, Debug)]
pub struct Address {
    config: Box<Config>,
    encryption: Encryption,
}

/// The environment variable with a password.
const PASSWORD_VARIABLE: &str = "PGPASSWORD";

/// Timeout for connecting to a server and for unacknowledged data.
const PATIENCE: Duration = Duration::from_secs(20);

/// The folder of the server's socket if a URL names no host.
const SOCKETS: &str = "/var/run/postgresql";

/// The port if a URL names none.
const USUAL: u16 = 5432;

const FORM: &str =
    "write postgresql://USER@HOST:PORT/DATABASE; in a part of it, @ is %40 and / is %2F";

impl Address {
    fn parse(url: &str) -> Result<Address, StoreError> {
        let new = |text: &str| StoreError::new(format!("the URL of the store: {text}"));
        let (url, own) = without_own_parameters(url);
        let mut config: Config =
            url.parse().map_err(|e: postgres::Error| new(&why(&e)).help(FORM))?;
        let mut encryption = Encryption::default();
        let is_service = |(name, _): &&(String, String)| name == SERVICE;
        for (name, value) in own.iter().filter(|pair| !is_service(pair)) {
            encryption.add(name, value)?;
        }
        let named = own.iter().find(is_service).map(|(_, name)| name.clone());
        let usual = || std::env::var("PGSERVICE").ok().filter(|name| !name.is_empty());
        if let Some(service) = named.or_else(usual) {
            add_service(&mut config, &mut encryption, &service)?;
        }
        encryption.complete()?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            if Path::new(SOCKETS).is_dir() {
                config.host_path(SOCKETS)
            } else {
                config.host("localhost")
            };
        }
        let is_doubtful = |host: &Host| matches!(host, Host::Tcp(name) if name.contains('@'));
        if config.get_hosts().iter().any(is_doubtful) {
            return Err(new("it has several @").help(FORM));
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(PATIENCE);
        }
        config.tcp_user_timeout(PATIENCE);
        config.application_name("yamba");
        Ok(Address { config: Box::new(config), encryption })
    }

    /// Connects. The password comes from the URL or its service, else from `PGPASSWORD`, else from
    /// the file of passwords, as for PostgreSQL's own programs.
    pub(crate) fn connect(&self) -> Result<postgres::Client, StoreFault> {
        let mut config = self.config.clone();
        if config.get_password().is_none() {
            if let Some(password) = std::env::var_os(PASSWORD_VARIABLE) {
                config.password(password.as_encoded_bytes());
            } else if let Some(password) = password_file::password(&config, USUAL) {
                config.password(password);
            }
        }
        let limit = longest_connect(&config);
        let encryption = self.encryption.clone();
        within(limit, move || encryption.connect(&config))
    }

    /// Like libpq, warns only if no other place has a password.
    fn warning(&self) -> Option<StoreError> {
        let is_given = self.config.get_password().is_some();
        if is_given || std::env::var_os(PASSWORD_VARIABLE).is_some() {
            return None;
        }
        let path = password_file::ignored()?;
        let path = path.display();
        let fault = format!("{path} is ignored: other users have rights to this file of passwords");
        Some(StoreError::new(fault).help(format!("chmod 600 {path}")))
    }
}

/// The longest time of a whole connection, with its encryption and login: the limit of the user
/// for each address of each host.
fn longest_connect(config: &Config) -> Duration {
    let port = |host: usize| {
        let ports = config.get_ports();
        ports.get(host).or(ports.first()).copied().unwrap_or(USUAL)
    };
    let addresses = |(i, host): (usize, &Host)| match host {
        Host::Tcp(name) => (name.as_str(), port(i)).to_socket_addrs().map_or(1, Iterator::count),
        Host::Unix(_) => 1,
    };
    let count = match config.get_hostaddrs().len() {
        0 => config.get_hosts().iter().enumerate().map(addresses).sum(),
        count => count,
    };
    let each = config.get_connect_timeout().copied().unwrap_or(PATIENCE);
    each.saturating_mul(u32::try_from(count).unwrap_or(u32::MAX).max(1))
}

/// Connects by `connect` in a thread of its own: the library limits only the time until a server
/// accepts, and would wait for ever for one that accepts and then stays silent. The thread then
/// waits until the program ends.
fn within<T: Send + 'static>(
    limit: Duration,
    connect: impl FnOnce() -> Result<T, StoreFault> + Send + 'static,
) -> Result<T, StoreFault> {
    let (sender, receiver) = mpsc::channel();
    // Sending fails if the time is over.
    thread::spawn(move || drop(sender.send(connect())));
    receiver.recv_timeout(limit).unwrap_or_else(|_| {
        let seconds = limit.as_secs();
        Err(StoreFault::Refused(
            StoreError::new(format!("the server did not complete a connection in {seconds} s"))
                .help("check that PostgreSQL is at this host and port; connect_timeout=SECONDS in the URL sets the limit"),
        ))
    })
}

/// The parameter that names a service.
const SERVICE: &str = "service";

/// The URL without the parameters that tokio-postgres does not know, and these, decoded.
fn without_own_parameters(url: &str) -> (String, Vec<(String, String)>) {
    let Some((before, query)) = url.split_once('?') else {
        return (url.to_owned(), Vec::new());
    };
    let decoded = |part: &str| percent_decode_str(part).decode_utf8_lossy().into_owned();
    let pair = |part: &str| {
        let (name, value) = part.split_once('=')?;
        let name = decoded(name);
        (name == SERVICE || Encryption::has(&name)).then(|| (name, decoded(value)))
    };
    let is_other = |part: &&str| pair(part).is_none();
    let others: Vec<&str> = query.split('&').filter(is_other).collect();
    let rest = if others.is_empty() {
        before.to_owned()
    } else {
        format!("{before}?{}", others.join("&"))
    };
    (rest, query.split('&').filter_map(pair).collect())
}

/// Adds the parameters of a service that the URL does not give.
fn add_service(
    config: &mut Config,
    encryption: &mut Encryption,
    service: &str,
) -> Result<(), StoreError> {
    let help = "write it in ~/.pg_service.conf, or in the file that PGSERVICEFILE names";
    let new = |text: &str| StoreError::new(format!("the service {service:?}: {text}")).help(help);
    let parameters = service::parameters(service).ok_or_else(|| new("no file has it"))?;
    let has_host = !config.get_hosts().is_empty();
    for (name, value) in &parameters {
        match name.as_str() {
            "host" if !has_host && value.starts_with('/') => config.host_path(value),
            "host" if !has_host => config.host(value),
            "port" if config.get_ports().is_empty() => {
                config.port(value.parse().map_err(|_| new("its port is no number"))?)
            }
            "user" if config.get_user().is_none() => config.user(value),
            "dbname" if config.get_dbname().is_none() => config.dbname(value),
            "password" if config.get_password().is_none() => config.password(value),
            "host" | "port" | "user" | "dbname" | "password" | "application_name"
            | "connect_timeout" => &mut *config,
            name if Encryption::has(name) => {
                encryption.add(name, value)?;
                &mut *config
            }
            _ => return Err(new("it has a parameter that is not known")),
        };
    }
    Ok(())
}

/// The fault of a URL. The name of an unknown parameter is not repeated: it may be the rest of a
/// password that contains `&`.
fn why(error: &postgres::Error) -> String {
    let text = match error.source() {
        Some(source) => source.to_string(),
        None => error.to_string(),
    };
    if text.starts_with("unknown option") {
        "it has a parameter that is not known".to_owned()
    } else {
        text
    }
}

/// Percent-encodes a part of a URL, so that the printed URL can be entered again.
fn coded(part: &[u8]) -> String {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~".contains(&b);
    part.iter()
        .map(|b| if is_plain(*b) { char::from(*b).to_string() } else { format!("%{b:02X}") })
        .collect()
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(SCHEMES[0])?;
        if let Some(user) = self.config.get_user() {
            write!(f, "{}@", coded(user.as_bytes()))?;
        }
        for (i, host) in self.config.get_hosts().iter().enumerate() {
            f.write_str(if i > 0 { "," } else { "" })?;
            match host {
                Host::Tcp(name) if name.contains(':') => write!(f, "[{name}]")?,
                Host::Tcp(name) => f.write_str(&coded(name.as_bytes()))?,
                Host::Unix(path) => f.write_str(&coded(path.as_os_str().as_bytes()))?,
            }
            let ports = self.config.get_ports();
            match ports.get(i).or(ports.first()) {
                None | Some(&USUAL) => {}
                Some(port) => write!(f, ":{port}")?,
            }
        }
        if let Some(name) = self.config.get_dbname() {
            write!(f, "/{}", coded(name.as_bytes()))?;
        }
        let encryption = self.encryption.parameters();
        let encryption =
            encryption.into_iter().map(|(name, value)| (name, coded(value.as_bytes())));
        for (i, (name, value)) in self.query().into_iter().chain(encryption).enumerate() {
            write!(f, "{}{name}={value}", if i > 0 { '&' } else { '?' })?;
        }
        Ok(())
    }
}

impl Address {
    /// The query parameters that select the database and appear in no other part of the URL.
    fn query(&self) -> Vec<(&'static str, String)> {
        let joined = |all: &mut dyn Iterator<Item = String>| all.collect::<Vec<_>>().join(",");
        let config = &self.config;
        let mut query = Vec::new();
        let places = config.get_hostaddrs();
        if !places.is_empty() {
            let each = &mut places.iter().map(|ip| coded(ip.to_string().as_bytes()));
            query.push(("hostaddr", joined(each)));
        }
        // If hosts are named, the ports are printed with them.
        let ports = config.get_ports();
        if config.get_hosts().is_empty() && ports.iter().any(|port| *port != USUAL) {
            query.push(("port", joined(&mut ports.iter().map(u16::to_string))));
        }
        if let Some(options) = config.get_options() {
            query.push(("options", coded(options.as_bytes())));
        }
        let wanted = match config.get_target_session_attrs() {
            TargetSessionAttrs::ReadWrite => Some("read-write"),
            TargetSessionAttrs::ReadOnly => Some("read-only"),
            _ => None,
        };
        query.extend(wanted.map(|wanted| ("target_session_attrs", wanted.to_owned())));
        query
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        Location::parse(OsStr::new(text)).unwrap().to_string()
    }

    #[test]
    fn location_is_file_or_url() {
        assert_eq!(shown("a/b.sqlite"), "a/b.sqlite");
        assert_eq!(shown("postgres/b.sqlite"), "postgres/b.sqlite");
        assert_eq!(shown("postgresql.sqlite"), "postgresql.sqlite");
        assert_eq!(shown("postgres://h/d"), "postgresql://h/d");
        let socket = "postgresql://u@%2Ftmp%2Fs:5433/d";
        assert_eq!(shown(socket), socket);
        assert_eq!(shown("postgresql:///d?host=/tmp/s&user=u"), "postgresql://u@%2Ftmp%2Fs/d");
        for url in [
            "postgresql://ann%40home@[::1]:5433/a%2Fb%3Fc",
            "postgresql://h1:5433,h2/d",
            "postgresql:///d?hostaddr=10.0.0.5",
            "postgresql://u@/d?hostaddr=10.0.0.5,%3A%3A1&port=5433,5432",
            "postgresql://h:5433/d?hostaddr=10.0.0.5",
            "postgresql://h/d?options=-c%20search_path%3Da%2Cb%26c",
            "postgresql://h1,h2/d?target_session_attrs=read-write",
            "postgresql://h?options=-c%20search_path%3Da",
            "postgresql://h/d?sslmode=verify-ca&sslrootcert=%2Fa%20b%2Fca.crt",
            "postgresql://h/d?sslrootcert=system&sslcert=%2Fc&sslkey=%2Fk",
        ] {
            assert_eq!(shown(url), url);
        }
    }

    #[test]
    fn silent_server_is_given_up() {
        let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = server.local_addr().unwrap();
        let url = format!("postgresql://u@{address}/d?sslmode=disable&connect_timeout=1");
        let Location::Server(address) = Location::parse(OsStr::new(&url)).unwrap() else {
            panic!("{url}");
        };
        let Err(StoreFault::Refused(error)) = address.connect() else {
            panic!("a silent server is no store");
        };
        assert_eq!(error.to_string(), "the server did not complete a connection in 1 s");
    }

    #[test]
    fn password_is_never_printed() {
        for url in [
            "postgresql://u:secret@h/d",
            "postgresql://u:secr%65t@h:5432/d?connect_timeout=3",
            "postgresql://h/d?user=u&password=secret",
            "postgresql://u:secret@h/d?pass%77ord=secret",
            "postgresql://u:x@secret@h/d",
            "postgresql://u:secret@h:port/d",
            "postgresql://u:secret@h/d?sslmode=require",
            "postgresql://u:secret@h/d?secret",
            "postgresql://h/d?user=u&password=x&secret=x",
            "postgre://u:secret@h/d",
            "POSTGRESQL://u:secret@h/d",
            "Postgres:u:secret@h/d",
            "postgresql//u:secret@h/d",
            "postgresql:/u:secret@h/d",
            "mysql://h/d?pass%77ord=secret",
            "host=h user=u password=secret",
            "host=h Password=secret",
            "host=h password=secret://@",
        ] {
            let said = match Location::parse(OsStr::new(url)) {
                Ok(location) => format!("{location} {location:?}"),
                Err(error) => format!("{error} {error:?}"),
            };
            let recorded = without_password(url) + &without_password(&format!("--store={url}"));
            assert!(!said.contains("secret"), "{said}");
            assert!(!recorded.contains("secret"), "{recorded}");
        }
        let masked = without_password("--store=postgres://u:secret@h/d");
        assert_eq!(masked, "--store=postgresql://u@h/d");
        for word in ["lat_*", "postgres/runs.sqlite", "at=http://host/file"] {
            assert_eq!(without_password(word), word);
        }
        assert_eq!(without_password("--at=ssh://u:secret@h"), "--at=ssh://...");
    }

    #[test]
    fn unsupported_url_parameters_are_rejected() {
        for (url, said) in [
            ("postgresql://h/d?sslmode=full", "unknown"),
            ("postgresql://h/d?sslmode=require&sslrootcert=system", "weaker"),
            ("postgresql://h:x/d", "port"),
            ("postgresql://h/d?service=nowhere", "no file has it"),
            ("postgresql://h/d?colour=red", "not known"),
            ("postgre://h/d", "no URL"),
            ("POSTGRES://h/d", "no URL"),
            ("postgresql:h", "no URL"),
            ("", "empty"),
        ] {
            let error = Location::parse(OsStr::new(url)).unwrap_err();
            assert!(error.to_string().contains(said), "{error}");
            assert!(error.help_text().is_some());
        }
    }
}
