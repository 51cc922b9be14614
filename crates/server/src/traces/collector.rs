//! The collector: its address, and how spans are handed over.

use std::path::Path;
use std::time::Duration;

use hyper::Uri;
use hyper::http::uri::PathAndQuery;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tonic::client::Grpc;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};
use tonic::{Request, Status};
use tonic_prost::ProstCodec;

use super::messages::{ExportRequest, ExportResponse};

/// The port of collectors for OTLP over gRPC.
const PORT: u16 = 4317;
/// How long it may take to reach the collector, and to be answered.
const CONNECT: Duration = Duration::from_secs(5);
const ANSWER: Duration = Duration::from_secs(10);

/// The call that takes spans.
const EXPORT: &str = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";

/// Who takes spans.
#[derive(Clone, Debug)]
pub struct Collector {
    /// As it was said.
    url: String,
    endpoint: Endpoint,
}

impl Collector {
    /// Reads an address, as `http://127.0.0.1:4317`; for `https://` with the file of authorities (PEM) that are believed. Errors are
    /// sentences.
    pub fn parse(url: &str, authorities: Option<&Path>) -> Result<Self, String> {
        let (base, encrypted) = base_of(url)?;
        let endpoint = Endpoint::from_shared(base).map_err(|it| wrong(&it.to_string()))?;
        let endpoint = endpoint.connect_timeout(CONNECT).timeout(ANSWER);
        let endpoint = match (encrypted, authorities) {
            (false, None) => endpoint,
            (false, Some(_)) => return Err(wrong("authorities are for https:// alone")),
            (true, None) => {
                return Err(wrong("for https:// name the authorities that are believed"));
            }
            (true, Some(file)) => {
                let config = ClientTlsConfig::new().ca_certificate(read(file)?);
                endpoint.tls_config(config).map_err(|it| wrong(&it.to_string()))?
            }
        };
        Ok(Self { url: url.to_owned(), endpoint })
    }

    /// Whether a text is an address, as far as it tells. Errors are sentences.
    pub fn check(url: &str) -> Result<(), String> {
        base_of(url).map(|_| ())
    }

    /// As it was said.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// A connection that is made when it is needed, and made again. On a runtime only.
    pub(super) fn connection(&self) -> Connection {
        Connection(Grpc::new(self.endpoint.connect_lazy()))
    }
}

fn wrong(what: &str) -> String {
    format!("traces go to an address as http://127.0.0.1:{PORT}: {what}")
}

/// An address with its port, and whether what goes there is encrypted.
fn base_of(url: &str) -> Result<(String, bool), String> {
    let uri: Uri = url.parse().map_err(|it| wrong(&format!("\"{url}\" is none, {it}")))?;
    let scheme = uri.scheme_str().unwrap_or_default();
    if !matches!(scheme, "http" | "https") {
        return Err(wrong(&format!("\"{url}\" begins with neither http:// nor https://")));
    }
    let host = uri.host().unwrap_or_default();
    let named = uri.authority().map_or("", |it| it.as_str());
    let port = match named.strip_prefix(host) {
        Some("") => Some(PORT),
        Some(_) => uri.port_u16().filter(|it| *it > 0),
        None => None,
    };
    let Some(port) = port.filter(|_| !host.is_empty()) else {
        return Err(wrong(&format!("\"{url}\" is no host and port")));
    };
    if !matches!(uri.path(), "" | "/") || uri.query().is_some() {
        return Err(wrong(&format!("spans go by gRPC, so there is no path in \"{url}\"")));
    }
    Ok((format!("{scheme}://{host}:{port}"), scheme == "https"))
}

fn read(file: &Path) -> Result<Certificate, String> {
    let failed = |what: String| format!("cannot read {}: {what}", file.display());
    let certificates = CertificateDer::pem_file_iter(file)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|it| failed(it.to_string()))?;
    if certificates.is_empty() {
        return Err(failed("there is no certificate in it".to_owned()));
    }
    std::fs::read(file).map(Certificate::from_pem).map_err(|it| failed(it.to_string()))
}

/// The way to the collector.
pub(super) struct Connection(Grpc<Channel>);

impl Connection {
    /// Hands over spans; tells how many of them were refused.
    pub async fn send(&mut self, request: ExportRequest) -> Result<u64, Status> {
        let ready = self.0.ready().await;
        ready.map_err(|it| Status::unavailable(it.to_string()))?;
        let codec = ProstCodec::<ExportRequest, ExportResponse>::default();
        let path = PathAndQuery::from_static(EXPORT);
        let answer = self.0.unary(Request::new(request), path, codec).await?.into_inner();
        let rejected = answer.partial_success.map_or(0, |it| it.rejected_spans);
        Ok(u64::try_from(rejected).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_others_refused_with_the_reason() {
        for right in ["http://127.0.0.1:4317", "http://collector", "http://[::1]:9/"] {
            assert_eq!(Collector::parse(right, None).unwrap().url(), right);
        }
        for (wrong, reason) in [
            ("", "is none"),
            ("collector:4317", "neither"),
            ("127.0.0.1:4317", "neither"),
            ("ftp://collector", "neither"),
            ("http://", "is none"),
            ("http://ada:secret@collector", "no host and port"),
            ("http://collector:4318/v1/traces", "no path"),
            ("http://collector:99999", "no host and port"),
            ("http://collector:0", "no host and port"),
            ("https://collector", "authorities"),
        ] {
            let error = Collector::parse(wrong, None).expect_err(wrong);
            assert!(error.contains(reason), "{wrong}: {error}");
        }
        let certificate =
            Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/certificate.pem"));
        assert!(Collector::parse("https://localhost", Some(certificate)).is_ok());
        assert!(Collector::parse("http://localhost", Some(certificate)).is_err());
        let none = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
        assert!(Collector::parse("https://localhost", Some(none)).is_err());
    }
}
