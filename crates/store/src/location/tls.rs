//! Encryption of a connection, with libpq's parameters `sslmode`, `sslrootcert`, `sslcert` and
//! `sslkey`.

mod fault;
mod files;
mod verifier;

use std::env;
use std::path::PathBuf;
use std::sync::Arc;

use postgres::config::{Host, SslMode};
use postgres::{Client, Config, NoTls};
use rustls::ClientConfig;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::{StoreError, StoreFault};
use fault::HAS_NO_TLS;
use verifier::Verifier;

/// How much encryption a connection must have. Later modes protect more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Mode {
    Disable,
    Allow,
    Prefer,
    Require,
    VerifyCa,
    VerifyFull,
}

/// The modes by name.
const MODES: [(&str, Mode); 6] = [
    ("disable", Mode::Disable),
    ("allow", Mode::Allow),
    ("prefer", Mode::Prefer),
    ("require", Mode::Require),
    ("verify-ca", Mode::VerifyCa),
    ("verify-full", Mode::VerifyFull),
];

const MODE: &str = "sslmode";
const ROOTS: &str = "sslrootcert";
const CERTIFICATE: &str = "sslcert";
const KEY: &str = "sslkey";

/// The value of `sslrootcert` for the certificates that the system trusts.
const SYSTEM: &str = "system";

/// The parameters of encryption that were given.
#[derive(Clone, Debug, Default)]
pub(super) struct Encryption {
    mode: Option<Mode>,
    roots: Option<PathBuf>,
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
}

impl Encryption {
    /// Whether this is the name of a parameter of encryption.
    pub fn has(name: &str) -> bool {
        [MODE, ROOTS, CERTIFICATE, KEY].contains(&name)
    }

    /// Sets a parameter, if it has no value yet.
    ///
    /// # Errors
    /// If the mode is unknown.
    pub fn add(&mut self, name: &str, value: &str) -> Result<(), StoreError> {
        let path = || std::path::absolute(value).unwrap_or_else(|_| PathBuf::from(value));
        match name {
            MODE => {
                let mode = mode(value)?;
                self.mode.get_or_insert(mode);
            }
            ROOTS if value == SYSTEM => {
                self.roots.get_or_insert(PathBuf::from(SYSTEM));
            }
            ROOTS => _ = self.roots.get_or_insert_with(path),
            CERTIFICATE => _ = self.certificate.get_or_insert_with(path),
            _ => _ = self.key.get_or_insert_with(path),
        }
        Ok(())
    }

    /// Adds the parameters of the environment that have no value yet, and checks the combination.
    ///
    /// # Errors
    /// If the mode of the environment is unknown, or weaker than the certificates of the system
    /// allow.
    pub fn complete(&mut self) -> Result<(), StoreError> {
        for name in [MODE, ROOTS, CERTIFICATE, KEY] {
            let variable = format!("PG{}", name.to_ascii_uppercase());
            let value = env::var(variable).ok().filter(|value| !value.is_empty());
            value.map_or(Ok(()), |value| self.add(name, &value))?;
        }
        if self.is_of_system() && self.mode() != Mode::VerifyFull {
            return Err(StoreError::new(
                "the store's sslmode is weaker than its sslrootcert=system: a public authority certifies any server",
            )
            .help("write sslmode=verify-full, or leave sslmode out"));
        }
        Ok(())
    }

    fn is_of_system(&self) -> bool {
        self.roots.as_deref() == Some(SYSTEM.as_ref())
    }

    fn mode(&self) -> Mode {
        let usual = if self.is_of_system() { Mode::VerifyFull } else { Mode::Prefer };
        self.mode.unwrap_or(usual)
    }

    /// The given parameters, as a URL has them.
    pub fn parameters(&self) -> Vec<(&'static str, String)> {
        let mode = MODES.iter().find(|(_, mode)| Some(*mode) == self.mode);
        let paths = [(ROOTS, &self.roots), (CERTIFICATE, &self.certificate), (KEY, &self.key)];
        let path = |(name, path): (&'static str, &Option<PathBuf>)| {
            Some((name, path.as_ref()?.to_string_lossy().into_owned()))
        };
        let mode = mode.map(|(name, _)| (MODE, (*name).to_owned()));
        mode.into_iter().chain(paths.into_iter().filter_map(path)).collect()
    }

    /// Connects. A Unix socket is never encrypted.
    pub fn connect(&self, config: &Config) -> Result<Client, StoreFault> {
        let is_socket = |host: &Host| matches!(host, Host::Unix(_));
        let hosts = config.get_hosts();
        if !hosts.is_empty() && hosts.iter().all(is_socket) {
            return plain(config);
        }
        match self.mode() {
            Mode::Disable => plain(config),
            Mode::Allow => self.after_plain(config),
            Mode::Prefer => before_plain(config, self.client()?),
            Mode::Require | Mode::VerifyCa | Mode::VerifyFull => {
                encrypted(config, SslMode::Require, self.client()?)
            }
        }
    }

    /// Connects without TLS; with TLS if the server refuses that.
    fn after_plain(&self, config: &Config) -> Result<Client, StoreFault> {
        let first = match plain(config) {
            Err(fault) if is_refusal(&fault) => fault,
            done => return done,
        };
        match encrypted(config, SslMode::Require, self.client()?) {
            Err(StoreFault::Refused(e)) if e.fault == HAS_NO_TLS => Err(first),
            done => done,
        }
    }

    /// The settings of rustls. Reads the files of certificates.
    fn client(&self) -> Result<ClientConfig, StoreError> {
        let roots = if self.is_of_system() {
            Some(files::roots_of_system()?)
        } else {
            files::roots(self.roots.as_deref(), self.mode() >= Mode::VerifyCa)?
        };
        let own = files::own(self.certificate.as_deref(), self.key.as_deref())?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let checks_name = self.mode() == Mode::VerifyFull;
        let verifier = Verifier::new(roots, checks_name, &provider);
        let faulty = |e: rustls::Error| StoreError::new(format!("TLS: {e}"));
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(faulty)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier));
        match own {
            None => Ok(builder.with_no_client_auth()),
            Some((chain, key)) => builder.with_client_auth_cert(chain, key).map_err(|e| {
                faulty(e).help("sslkey must name the key of the certificate of sslcert")
            }),
        }
    }
}

fn mode(name: &str) -> Result<Mode, StoreError> {
    let found = MODES.iter().find(|(known, _)| *known == name);
    found.map(|(_, mode)| *mode).ok_or_else(|| {
        let known = MODES.map(|(name, _)| name).join(", ");
        StoreError::new("the sslmode of the store is unknown").help(format!("it is one of {known}"))
    })
}

fn plain(config: &Config) -> Result<Client, StoreFault> {
    let mut config = config.clone();
    config.ssl_mode(SslMode::Disable);
    Ok(config.connect(NoTls)?)
}

/// Connects with TLS if the server has it; without if that fails.
fn before_plain(config: &Config, client: ClientConfig) -> Result<Client, StoreFault> {
    match encrypted(config, SslMode::Prefer, client) {
        Err(fault) if is_refusal(&fault) || matches!(fault, StoreFault::Refused(_)) => {
            plain(config).map_err(|_| fault)
        }
        done => done,
    }
}

/// Connects with TLS; with `SslMode::Prefer` without it if the server has none. A fault of TLS is
/// `StoreFault::Refused`.
fn encrypted(config: &Config, mode: SslMode, client: ClientConfig) -> Result<Client, StoreFault> {
    let mut config = config.clone();
    config.ssl_mode(mode);
    if config.get_hosts().is_empty() {
        // A server that is named by its address must have a certificate for the address.
        for address in config.get_hostaddrs().to_vec() {
            config.host(&address.to_string());
        }
    }
    config.connect(MakeRustlsConnect::new(client)).map_err(|error| fault::explained(error, &config))
}

/// Whether the server refused the login, which it may allow with other encryption.
fn is_refusal(fault: &StoreFault) -> bool {
    let StoreFault::Postgresql(error) = fault else {
        return false;
    };
    error.code().is_some_and(|c| c.code().starts_with("28"))
}
