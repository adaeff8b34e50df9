//! Certificates and keys: whom the bridge trusts as an upstream, and as whom it serves.
//!
//! Errors come at start-up and name the file; nothing of a key is ever shown. Knows no sockets. Tests:
//! `tests/tests/forward/` and `tests/tests/listen.rs`, with certificates made there.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::crypto::ring::default_provider;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use rustls_pki_types::pem::{Error as PemError, PemObject};
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

/// The protocols that are offered in a hand-shake, best first.
const ALPN: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// Which certificates prove an upstream.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Trust {
    /// Those of the public authorities, as Mozilla lists them.
    #[default]
    Public,
    /// Those of the authorities in a PEM file, and no other.
    PemFile(PathBuf),
}

/// As whom a listener serves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TlsFiles {
    /// PEM: the server's certificate first, then those between it and the authority.
    pub certificates: PathBuf,
    /// PEM: its private key (PKCS #8, PKCS #1 or SEC 1), not encrypted.
    pub key: PathBuf,
}

/// A certificate or key that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file is not PEM.
    #[error("{} is not a PEM file: {why}", path.display())]
    NotPem {
        /// Which.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// A file holds no certificate.
    #[error("{} holds no certificate (a PEM block that begins with -----BEGIN CERTIFICATE-----)", .0.display())]
    NoCertificate(PathBuf),
    /// A file holds no key.
    #[error("{} holds no private key that can be read (PKCS #8, PKCS #1 or SEC 1, not encrypted)", .0.display())]
    NoKey(PathBuf),
    /// An authority's certificate cannot be used.
    #[error("certificate {number} in {} is none that an authority can have: {source}", path.display())]
    Authority {
        /// Which file.
        path: PathBuf,
        /// Which of its certificates, from 1.
        number: usize,
        /// Why.
        source: rustls::Error,
    },
    /// Certificate and key do not fit.
    #[error("the certificate in {} and the key in {} cannot be used together: {source}", certificates.display(), key.display())]
    Pair {
        /// The certificates' file.
        certificates: PathBuf,
        /// The key's file.
        key: PathBuf,
        /// Why.
        source: rustls::Error,
    },
    /// The library offers no protocol version.
    #[error("TLS cannot be set up: {0}")]
    Library(rustls::Error),
}

impl Trust {
    pub(super) fn client_config(&self) -> Result<ClientConfig, TlsError> {
        let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()));
        let builder = builder.with_safe_default_protocol_versions().map_err(TlsError::Library)?;
        Ok(builder.with_root_certificates(self.roots()?).with_no_client_auth())
    }

    fn roots(&self) -> Result<RootCertStore, TlsError> {
        let path = match self {
            Self::Public => return Ok(webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect()),
            Self::PemFile(path) => path,
        };
        let mut roots = RootCertStore::empty();
        for (index, certificate) in certificates(path)?.into_iter().enumerate() {
            let number = index.saturating_add(1);
            roots.add(certificate).map_err(|source| TlsError::Authority { path: path.clone(), number, source })?;
        }
        Ok(roots)
    }
}

impl TlsFiles {
    /// Whether a listener could serve with them.
    ///
    /// # Errors
    /// One of them cannot be read or used, or they do not belong together.
    pub fn check(&self) -> Result<(), TlsError> {
        self.server_config().map(drop)
    }

    pub(super) fn server_config(&self) -> Result<Arc<ServerConfig>, TlsError> {
        let chain = certificates(&self.certificates)?;
        let key = private_key(&self.key)?;
        let builder = ServerConfig::builder_with_provider(Arc::new(default_provider()));
        let builder = builder.with_safe_default_protocol_versions().map_err(TlsError::Library)?;
        let pair = |source| TlsError::Pair { certificates: self.certificates.clone(), key: self.key.clone(), source };
        let mut config = builder.with_no_client_auth().with_single_cert(chain, key).map_err(pair)?;
        config.alpn_protocols = ALPN.map(<[u8]>::to_vec).to_vec();
        Ok(Arc::new(config))
    }
}

fn read(path: &Path) -> Result<Vec<u8>, TlsError> {
    std::fs::read(path).map_err(|source| TlsError::Read { path: path.to_owned(), source })
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let pem = read(path)?;
    let found: Result<Vec<_>, PemError> = CertificateDer::pem_slice_iter(&pem).collect();
    let found = found.map_err(|error| TlsError::NotPem { path: path.to_owned(), why: error.to_string() })?;
    if found.is_empty() { Err(TlsError::NoCertificate(path.to_owned())) } else { Ok(found) }
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    // The error could quote a line of the key: it is dropped.
    PrivateKeyDer::from_pem_slice(&read(path)?).map_err(|_| TlsError::NoKey(path.to_owned()))
}
