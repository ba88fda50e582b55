//! Files of certificates and keys, in the form PEM.

use std::env;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::error::StoreError;

/// Certificates, each with its issuer after it, and the private key of the first.
type Own = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

/// The files in the home folder that libpq reads, too.
const USUAL_ROOTS: &str = ".postgresql/root.crt";
const USUAL_CERTIFICATE: &str = ".postgresql/postgresql.crt";
const USUAL_KEY: &str = ".postgresql/postgresql.key";

/// The certificates of authorities in the named file, or else in the usual one. `None` without such
/// a file; the server's certificate is not checked.
///
/// # Errors
/// If the named file cannot be read, or a required file is missing.
pub(super) fn roots(
    named: Option<&Path>,
    is_needed: bool,
) -> Result<Option<Vec<CertificateDer<'static>>>, StoreError> {
    match named.map(Path::to_owned).or_else(|| existing(USUAL_ROOTS)) {
        Some(path) => certificates(&path, "sslrootcert").map(Some),
        None if is_needed => Err(StoreError::new(format!(
            "there is no certificate of an authority to check the server's: ~/{USUAL_ROOTS} is missing"
        ))
        .help("name its file with sslrootcert=FILE, or the authorities that this system trusts with sslrootcert=system")),
        None => Ok(None),
    }
}

/// The certificates of the authorities that the system trusts.
///
/// # Errors
/// If the system has no certificates.
pub(super) fn roots_of_system() -> Result<Vec<CertificateDer<'static>>, StoreError> {
    let found = rustls_native_certs::load_native_certs();
    if found.certs.is_empty() {
        return Err(StoreError::new("sslrootcert=system: this system has no certificates of authorities")
            .help("install them (Debian: ca-certificates), or name a file with sslrootcert or SSL_CERT_FILE"));
    }
    Ok(found.certs)
}

/// The client's certificate and key from the named files, or else from the usual ones. `None`
/// without a certificate.
///
/// # Errors
/// If a file cannot be read, or others can read the key.
pub(super) fn own(
    certificate: Option<&Path>,
    key: Option<&Path>,
) -> Result<Option<Own>, StoreError> {
    let certificate = certificate.map(Path::to_owned);
    let Some(certificate) = certificate.or_else(|| existing(USUAL_CERTIFICATE)) else {
        return Ok(None);
    };
    let chain = certificates(&certificate, "sslcert")?;
    let key = key.map(Path::to_owned).or_else(|| in_home(USUAL_KEY));
    let key = key.ok_or_else(|| {
        StoreError::new("sslcert has no key").help("name the file of its key with sslkey")
    })?;
    Ok(Some((chain, private_key(&key)?)))
}

fn in_home(name: &str) -> Option<PathBuf> {
    let home = env::var_os("HOME").filter(|home| !home.is_empty())?;
    Some(Path::new(&home).join(name))
}

fn existing(name: &str) -> Option<PathBuf> {
    in_home(name).filter(|path| path.exists())
}

fn certificates(path: &Path, parameter: &str) -> Result<Vec<CertificateDer<'static>>, StoreError> {
    let text = read(path, parameter)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        _ => Err(StoreError::new(format!("{parameter}: {} has no certificate", path.display()))
            .help("it must have the form PEM: -----BEGIN CERTIFICATE-----")),
    }
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, StoreError> {
    let text = read(path, "sslkey")?;
    check_rights(path)?;
    PrivateKeyDer::from_pem_slice(&text).map_err(|_| {
        StoreError::new(format!("sslkey: {} has no private key", path.display())).help(
            "it must have the form PEM, without a passphrase: `openssl pkey -in FILE -out NEW` removes one",
        )
    })
}

/// libpq's rule: no other user may read a key, except a group that root gave the right to.
fn check_rights(path: &Path) -> Result<(), StoreError> {
    let of_others = match path.metadata() {
        Ok(file) if file.uid() == 0 => file.mode() & 0o037,
        Ok(file) => file.mode() & 0o077,
        Err(_) => 0,
    };
    if of_others == 0 {
        return Ok(());
    }
    let path = path.display();
    Err(StoreError::new(format!("sslkey: other users can use the key {path}"))
        .help(format!("chmod 600 {path}")))
}

fn read(path: &Path, parameter: &str) -> Result<Vec<u8>, StoreError> {
    fs::read(path).map_err(|e| {
        StoreError::new(format!("{parameter}: {}: {e}", path.display()))
            .help(format!("name a file that exists and that you may read with {parameter}"))
    })
}
