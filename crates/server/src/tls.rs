//! TLS: by what the server shows who it is.

use std::path::Path;

use stdx::sync::Arc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// What clients of PostgreSQL say that they speak inside of TLS.
const PROTOCOL: &[u8] = b"postgresql";
/// What browsers say.
const WEB_PROTOCOL: &[u8] = b"http/1.1";
/// What clients of Flight say.
const FLIGHT_PROTOCOL: &[u8] = b"h2";

/// A certificate and its key, ready for use.
#[derive(Clone)]
pub struct Certificate {
    wire: Arc<ServerConfig>,
    web: Arc<ServerConfig>,
    flight: Arc<ServerConfig>,
}

impl std::fmt::Debug for Certificate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Certificate")
    }
}

impl Certificate {
    /// Reads the certificates, the server's own first, and the key of PEM files. Errors are sentences.
    pub fn read(certificates: &Path, key: &Path) -> Result<Self, String> {
        let failed = |path: &Path, error: &dyn std::fmt::Display| {
            format!("cannot read {}: {error}", path.display())
        };
        let chain = CertificateDer::pem_file_iter(certificates)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| failed(certificates, &error))?;
        let private = PrivateKeyDer::from_pem_file(key).map_err(|error| failed(key, &error))?;
        let config = ServerConfig::builder_with_provider(default_provider().into())
            .with_safe_default_protocol_versions()
            .and_then(|it| it.with_no_client_auth().with_single_cert(chain, private));
        let mut config = config.map_err(|error| failed(certificates, &error))?;
        let (mut web, mut flight) = (config.clone(), config.clone());
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        web.alpn_protocols = vec![WEB_PROTOCOL.to_vec()];
        flight.alpn_protocols = vec![FLIGHT_PROTOCOL.to_vec()];
        let [wire, web, flight] = [config, web, flight].map(Arc::new);
        Ok(Self { wire, web, flight })
    }

    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(self.wire.clone())
    }

    /// For those who look by HTTP.
    pub(crate) fn web_acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(self.web.clone())
    }

    /// For clients of Flight SQL.
    pub(crate) fn flight_acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(self.flight.clone())
    }
}
