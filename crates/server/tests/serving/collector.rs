//! A collector of OpenTelemetry that keeps what comes. It reads the fields that tests look at, by their numbers in OTLP 1.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::time::{Duration, Instant};

use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use prost::{Message, Oneof};
use stdx::sync::{Arc, Mutex, thread};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tonic::server::{Grpc, UnaryService};
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;

/// How long spans may be on their way, with others that use the machine.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// Kinds of spans.
pub const INTERNAL: i32 = 1;
pub const SERVER: i32 = 2;

const EXPORT: &str = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";

#[derive(Clone, PartialEq, Message)]
pub struct Exported {
    #[prost(message, repeated, tag = "1")]
    pub resources: Vec<Resources>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Resources {
    #[prost(message, optional, tag = "1")]
    pub resource: Option<Facts>,
    #[prost(message, repeated, tag = "2")]
    pub scopes: Vec<Scopes>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Facts {
    #[prost(message, repeated, tag = "1")]
    pub attributes: Vec<Fact>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Scopes {
    #[prost(message, repeated, tag = "2")]
    pub spans: Vec<Span>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Span {
    #[prost(bytes = "vec", tag = "1")]
    pub trace_id: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    pub span_id: Vec<u8>,
    #[prost(bytes = "vec", tag = "4")]
    pub parent_span_id: Vec<u8>,
    #[prost(string, tag = "5")]
    pub name: String,
    #[prost(int32, tag = "6")]
    pub kind: i32,
    #[prost(fixed64, tag = "7")]
    pub start_time_unix_nano: u64,
    #[prost(fixed64, tag = "8")]
    pub end_time_unix_nano: u64,
    #[prost(message, repeated, tag = "9")]
    pub attributes: Vec<Fact>,
    #[prost(message, optional, tag = "15")]
    pub status: Option<Ended>,
    #[prost(fixed32, tag = "16")]
    pub flags: u32,
}

#[derive(Clone, PartialEq, Message)]
pub struct Ended {
    #[prost(string, tag = "2")]
    pub message: String,
    #[prost(int32, tag = "3")]
    pub code: i32,
}

#[derive(Clone, PartialEq, Message)]
pub struct Fact {
    #[prost(string, tag = "1")]
    pub key: String,
    #[prost(message, optional, tag = "2")]
    pub value: Option<Value>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Value {
    #[prost(oneof = "Of", tags = "1, 3")]
    pub of: Option<Of>,
}

#[derive(Clone, PartialEq, Oneof)]
pub enum Of {
    #[prost(string, tag = "1")]
    Text(String),
    #[prost(int64, tag = "3")]
    Number(i64),
}

/// An answer that says nothing.
#[derive(Clone, PartialEq, Message)]
pub struct Taken {}

/// An attribute as a text; empty where there is none.
pub fn fact(facts: &[Fact], key: &str) -> String {
    let value = facts.iter().find(|it| it.key == key).and_then(|it| it.value.as_ref()?.of.clone());
    value.map_or(String::new(), |it| match it {
        Of::Text(it) => it,
        Of::Number(it) => it.to_string(),
    })
}

/// A collector that keeps what comes.
#[derive(Clone, Default)]
pub struct Kept(Arc<Mutex<Vec<Exported>>>);

impl UnaryService<Exported> for Kept {
    type Response = Taken;
    type Future = std::future::Ready<Result<Response<Taken>, Status>>;

    fn call(&mut self, request: Request<Exported>) -> Self::Future {
        self.0.lock().push(request.into_inner());
        std::future::ready(Ok(Response::new(Taken {})))
    }
}

impl Kept {
    /// One that listens until the program ends.
    pub fn start() -> (Self, SocketAddr) {
        Self::with(None)
    }

    /// The same by TLS, with the certificate of the tests.
    pub fn start_with_tls() -> (Self, SocketAddr) {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");
        let chain = CertificateDer::pem_file_iter(format!("{folder}/certificate.pem")).unwrap();
        let key = PrivateKeyDer::from_pem_file(format!("{folder}/key.pem")).unwrap();
        let config = ServerConfig::builder_with_provider(default_provider().into());
        let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        let mut config = config.with_single_cert(chain.map(Result::unwrap).collect(), key).unwrap();
        config.alpn_protocols = vec![b"h2".to_vec()];
        Self::with(Some(TlsAcceptor::from(std::sync::Arc::new(config))))
    }

    fn with(tls: Option<TlsAcceptor>) -> (Self, SocketAddr) {
        let kept = Self::default();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        listener.set_nonblocking(true).unwrap();
        let keeps = kept.clone();
        thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                loop {
                    let stream = listener.accept().await.unwrap().0;
                    let (keeps, tls) = (keeps.clone(), tls.clone());
                    tokio::spawn(async move {
                        match tls {
                            None => keeps.serve(stream).await,
                            Some(tls) => keeps.serve(tls.accept(stream).await.unwrap()).await,
                        }
                    });
                }
            });
        });
        (kept, address)
    }

    async fn serve(self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let service = service_fn(move |request| {
            let kept = self.clone();
            async move {
                let request: hyper::Request<hyper::body::Incoming> = request;
                assert_eq!(request.uri().path(), EXPORT);
                let mut grpc = Grpc::new(ProstCodec::<Taken, Exported>::default());
                Ok::<_, Infallible>(grpc.unary(kept, request).await)
            }
        });
        let server = http2::Builder::new(TokioExecutor::new());
        // Who hangs up is no matter of the collector.
        let _ = server.serve_connection(TokioIo::new(stream), service).await;
    }

    pub fn requests(&self) -> Vec<Exported> {
        self.0.lock().clone()
    }

    /// All spans that have come.
    pub fn spans(&self) -> Vec<Span> {
        let requests = self.requests();
        let scopes = requests.iter().flat_map(|it| &it.resources).flat_map(|it| &it.scopes);
        scopes.flat_map(|it| it.spans.clone()).collect()
    }

    /// Waits for the span of a statement, with those below it.
    pub fn wait_for(&self, what: &str, is_it: impl Fn(&Span) -> bool) -> (Span, Vec<Span>) {
        let began = Instant::now();
        loop {
            let spans = self.spans();
            let is_server = |it: &&Span| it.kind == SERVER;
            if let Some(found) = spans.iter().filter(is_server).find(|it| is_it(it)) {
                let is_below = |it: &&Span| it.parent_span_id == found.span_id;
                return (found.clone(), spans.iter().filter(is_below).cloned().collect());
            }
            assert!(began.elapsed() < PATIENCE, "no span {what}: {spans:?}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// The same by the text of the statement.
    pub fn wait_for_text(&self, text: &str) -> (Span, Vec<Span>) {
        self.wait_for(text, |it| fact(&it.attributes, "db.query.text") == text)
    }
}
