//! TLS: certificates from files, and self-signed certificates for networks without any.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use rcgen::{CertificateParams, DnType, KeyPair};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use x509_cert::certificate::{CertificateInner, Raw};
use x509_cert::der::Decode;
use x509_cert::time::Time;

use crate::platform::db::file::german::in_german;
use crate::rules::day::Instant;

/// Reads a certificate (followed by its intermediate certificates) and its key, both PEM.
pub fn acceptor(certificate: &Path, key: &Path) -> Result<TlsAcceptor, String> {
    let chain = chain(certificate)?;
    let secret = PrivateKeyDer::from_pem_slice(&read(key)?)
        .map_err(|_| format!("{} enthält keinen privaten Schlüssel (PEM)", key.display()))?;
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|config| config.with_no_client_auth().with_single_cert(chain, secret));
    let config = config.map_err(|error| {
        format!("{} und {} passen nicht zusammen ({error})", certificate.display(), key.display())
    })?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

pub fn validity(certificate: &Path) -> Result<(Instant, Instant), String> {
    let mut valid = (i64::MIN, i64::MAX);
    for der in chain(certificate)? {
        let read = CertificateInner::<Raw>::from_der(&der)
            .map_err(|error| format!("{} ist kein Zertifikat ({error})", certificate.display()))?;
        let of_this = read.tbs_certificate().validity();
        let millis = |time: Time| i64::try_from(time.to_unix_duration().as_millis()).unwrap_or(i64::MAX);
        valid = (valid.0.max(millis(of_this.not_before)), valid.1.min(millis(of_this.not_after)));
    }
    Ok((Instant::from_millis(valid.0), Instant::from_millis(valid.1)))
}

fn chain(certificate: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let chain = CertificateDer::pem_slice_iter(&read(certificate)?).collect::<Result<Vec<_>, _>>();
    let chain = chain.unwrap_or_default();
    if chain.is_empty() {
        return Err(format!("{} enthält kein Zertifikat (PEM)", certificate.display()));
    }
    Ok(chain)
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("{} ist nicht zu lesen: {}", path.display(), in_german(&error)))
}

pub struct SelfSigned {
    pub certificate: String,
    pub key: String,
}

/// Creates a certificate for names and addresses, valid from this year on for ten years.
pub fn self_signed(names: Vec<String>, year: i32) -> Result<SelfSigned, rcgen::Error> {
    let mut params = CertificateParams::new(names)?;
    params.distinguished_name.push(DnType::CommonName, "partnerd");
    params.not_before = rcgen::date_time_ymd(year, 1, 1);
    params.not_after = rcgen::date_time_ymd(year + 10, 12, 31);
    let key = KeyPair::generate()?;
    let certificate = params.self_signed(&key)?;
    Ok(SelfSigned { certificate: certificate.pem(), key: key.serialize_pem() })
}
