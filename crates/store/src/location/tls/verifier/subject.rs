//! Fields of a certificate that webpki does not show: common name and time.

use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, Error};
use x509_cert::Certificate;
use x509_cert::der::Decode;
use x509_cert::der::oid::db::rfc4519::CN;
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;

/// Checks that the certificate is valid now.
pub(super) fn check_time(certificate: &CertificateDer<'_>, now: UnixTime) -> Result<(), Error> {
    let validity = parsed(certificate)?.tbs_certificate.validity;
    let now = now.as_secs();
    if now < validity.not_before.to_unix_duration().as_secs() {
        return Err(CertificateError::NotValidYet.into());
    }
    if now > validity.not_after.to_unix_duration().as_secs() {
        return Err(CertificateError::Expired.into());
    }
    Ok(())
}

/// Whether the certificate names itself as its issuer.
pub(super) fn signs_itself(certificate: &CertificateDer<'_>) -> Result<bool, Error> {
    let fields = parsed(certificate)?.tbs_certificate;
    Ok(fields.issuer == fields.subject)
}

/// Whether the common name is `name`, and no alternative name replaces it.
pub(super) fn has_common_name(certificate: &CertificateDer<'_>, name: &ServerName<'_>) -> bool {
    let Ok(certificate) = parsed(certificate) else {
        return false;
    };
    let name_text = name.to_str();
    !has_alternative(&certificate, name)
        && common_names(&certificate).any(|common| is_name(common, &name_text))
}

fn parsed(certificate: &CertificateDer<'_>) -> Result<Certificate, Error> {
    Certificate::from_der(certificate).map_err(|_| CertificateError::BadEncoding.into())
}

/// Whether the certificate has an alternative name of the same kind as `name`.
fn has_alternative(certificate: &Certificate, name: &ServerName<'_>) -> bool {
    let names = certificate.tbs_certificate.get::<SubjectAltName>();
    let Ok(names) = names else {
        return true;
    };
    let is_alike = |other: &GeneralName| match name {
        ServerName::IpAddress(_) => matches!(other, GeneralName::IpAddress(_)),
        _ => matches!(other, GeneralName::DnsName(_)),
    };
    names.is_some_and(|(_, names)| names.0.iter().any(is_alike))
}

fn common_names(certificate: &Certificate) -> impl Iterator<Item = &str> {
    let parts = certificate.tbs_certificate.subject.0.iter();
    let attributes = parts.flat_map(|part| part.0.iter());
    attributes
        .filter(|attribute| attribute.oid == CN)
        .filter_map(|attribute| std::str::from_utf8(attribute.value.value()).ok())
}

/// Whether the common name is the name, or `*.` and the name after its first part.
fn is_name(common: &str, name: &str) -> bool {
    let rest = common.strip_prefix("*.");
    let parent = name.split_once('.').map(|(_, parent)| parent);
    common.eq_ignore_ascii_case(name)
        || rest.zip(parent).is_some_and(|(rest, parent)| rest.eq_ignore_ascii_case(parent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn star_stands_for_one_part_of_a_name() {
        assert!(is_name("DB.example", "db.example"));
        assert!(is_name("*.example.org", "db.Example.org"));
        for (common, name) in [
            ("db.example", "other.example"),
            ("*.example.org", "example.org"),
            ("*.example.org", "a.b.example.org"),
            ("*", "db"),
            ("d*.example.org", "db.example.org"),
            ("", "db"),
        ] {
            assert!(!is_name(common, name), "{common} {name}");
        }
    }
}
