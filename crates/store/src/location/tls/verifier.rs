//! The check of a server's certificate, with the rules of libpq.

mod subject;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

/// Checks certificates. A signature of the handshake is always checked: channel binding relies on
/// it.
#[derive(Debug)]
pub(super) struct Verifier {
    /// `None`: any certificate is accepted.
    roots: Option<Roots>,
    checks_name: bool,
    algorithms: WebPkiSupportedAlgorithms,
}

#[derive(Debug)]
struct Roots {
    certificates: Vec<CertificateDer<'static>>,
    anchors: RootCertStore,
}

impl Verifier {
    pub fn new(
        roots: Option<Vec<CertificateDer<'static>>>,
        checks_name: bool,
        provider: &CryptoProvider,
    ) -> Verifier {
        let roots = roots.map(|certificates| {
            let mut anchors = RootCertStore::empty();
            anchors.add_parsable_certificates(certificates.iter().cloned());
            Roots { certificates, anchors }
        });
        Verifier { roots, checks_name, algorithms: provider.signature_verification_algorithms }
    }

    fn check_chain(
        &self,
        roots: &Roots,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<(), Error> {
        // webpki refuses the certificate of an authority as that of a server, which signs itself.
        if roots.certificates.iter().any(|known| known == certificate) {
            return subject::check_time(certificate, now);
        }
        let verified = verify_server_cert_signed_by_trust_anchor(
            &ParsedCertificate::try_from(certificate)?,
            &roots.anchors,
            intermediates,
            now,
            self.algorithms.all,
        );
        match verified {
            Err(Error::InvalidCertificate(CertificateError::Other(_)))
                if subject::signs_itself(certificate)? =>
            {
                Err(CertificateError::UnknownIssuer.into())
            }
            verified => verified,
        }
    }
}

/// The certificate's alternative names decide. Its common name counts if it has none of the kind of
/// `name`.
fn check_name(certificate: &CertificateDer<'_>, name: &ServerName<'_>) -> Result<(), Error> {
    let wrong = match verify_server_name(&ParsedCertificate::try_from(certificate)?, name) {
        Err(e) => e,
        Ok(()) => return Ok(()),
    };
    let is_of_name = matches!(
        wrong,
        Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. }
        )
    );
    if is_of_name && subject::has_common_name(certificate, name) { Ok(()) } else { Err(wrong) }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if let Some(roots) = &self.roots {
            self.check_chain(roots, certificate, intermediates, now)?;
        }
        if self.checks_name {
            check_name(certificate, name)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
