//! Error messages for faults of TLS.

use std::error::Error;
use std::io;

use postgres::Config;
use postgres::config::Host;
use rustls::{AlertDescription, CertificateError};

use crate::error::{StoreError, StoreFault};

/// The fault of a server without TLS.
pub(super) const HAS_NO_TLS: &str = "the server has no TLS";

/// The error text of tokio-postgres for a server without TLS.
const WITHOUT_TLS: &str = "server does not support TLS";

/// Names the fault of TLS, if it is one. Any other error stays as it is.
pub(super) fn explained(error: postgres::Error, config: &Config) -> StoreFault {
    if error.source().is_some_and(|e| e.to_string() == WITHOUT_TLS) {
        let help = "set `ssl = on` on the server; sslmode=prefer goes on without TLS, for a network that you trust";
        return StoreError::new(HAS_NO_TLS).help(help).into();
    }
    let names = config.get_hosts().iter().filter_map(|host| match host {
        Host::Tcp(name) => Some(name.as_str()),
        Host::Unix(_) => None,
    });
    let names = names.collect::<Vec<_>>().join(", ");
    match tls_error(&error) {
        Some(fault) => described(fault, &names).into(),
        None => error.into(),
    }
}

/// The error of rustls within an error of the connection.
fn tls_error(error: &postgres::Error) -> Option<&rustls::Error> {
    let cause = error.source()?.downcast_ref::<io::Error>()?;
    cause.get_ref()?.downcast_ref()
}

fn described(fault: &rustls::Error, names: &str) -> StoreError {
    match fault {
        rustls::Error::InvalidCertificate(fault) => certificate_error(fault, names),
        rustls::Error::AlertReceived(alert) => alert_error(*alert),
        other => StoreError::new(format!("TLS: {other}"))
            .help("the server must speak TLS 1.2 or 1.3; its log may say more"),
    }
}

/// A fault of the server's certificate.
fn certificate_error(fault: &CertificateError, names: &str) -> StoreError {
    match fault {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            StoreError::new("no certificate of sslrootcert has signed the server's certificate")
                .help("let sslrootcert name the certificate of the authority that signed it")
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            StoreError::new(format!("the server's certificate is not for the name {names}"))
                .help("write the host as the certificate names it, with hostaddr=ADDRESS if that name has no address; sslmode=verify-ca does not check the name")
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            StoreError::new("the server's certificate has expired").help("renew it on the server")
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            StoreError::new("the server's certificate is not valid yet")
                .help("check the clocks of both machines")
        }
        other => StoreError::new(format!("the server's certificate: {other}"))
            .help("it must have version 3 of X.509, with a subjectAltName"),
    }
}

/// The server's refusal of this side's certificate, or of the handshake.
fn alert_error(alert: AlertDescription) -> StoreError {
    StoreError::new(format!("the server refused TLS: {alert:?}"))
        .help("its authority (ssl_ca_file) must have signed the certificate of sslcert; its log may say more")
}
