//! The second door, for those who look: a page, statements as JSON, metrics, and whether the server lives.
//!
//! Key decision: the page asks by SQL what everybody can ask (the views of schema `nodewise`), so there is one way to look at
//! a database and one set of rights. A request is a session of its own, run on a thread of the pool as steps of connections are.
//!
//! - Invariant: who asks is known before anything of the database is told; `/livez` and `/readyz` tell nothing of it.

pub mod access;
mod metrics;
mod query;
mod reply;

use std::convert::Infallible;

use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::header::{CACHE_CONTROL, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use stdx::sync::Arc;
use tokio::net::TcpStream;
use tokio::pin;
use tokio::sync::watch;
use tokio::time::timeout;

use self::reply::{Reply, TEXT, reply};
use crate::shared::Shared;
use crate::stream::{Bytes, Origin};
use crate::traces::Parent;

/// Bytes of a request with statements.
const REQUEST_BYTES: usize = 16 << 20;
/// Fields of the head of a request.
const FIELDS_MAX: usize = 64;

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// The page, by path: nothing of it comes from elsewhere.
const PAGE: [(&str, &str, &str); 5] = [
    ("/", HTML, include_str!("page/page.html")),
    ("/page.css", CSS, include_str!("page/page.css")),
    ("/page.js", SCRIPT, include_str!("page/page.js")),
    ("/views.js", SCRIPT, include_str!("page/views.js")),
    ("/timeline.js", SCRIPT, include_str!("page/timeline.js")),
];

/// What a browser may do with the page: load what this server has, and be shown by no other page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Serves the requests of a connection until one side ends it.
pub async fn serve(
    shared: Arc<Shared>,
    stream: TcpStream,
    origin: Origin,
    mut stopping: watch::Receiver<bool>,
) {
    let limit = shared.options.limits.startup;
    let stream: Box<dyn Bytes> = Box::new(stream);
    let stream = match &shared.options.certificate {
        None => stream,
        Some(certificate) => {
            match timeout(limit, certificate.web_acceptor().accept(stream)).await {
                Ok(Ok(inside)) => Box::new(inside),
                // Nobody is left who could be told.
                _ => return,
            }
        }
    };
    let ready = stopping.clone();
    let service = service_fn(move |request| {
        let (shared, ready) = (shared.clone(), ready.clone());
        async move { Ok::<_, Infallible>(answer(shared, origin, request, &ready).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limit)
        .max_headers(FIELDS_MAX)
        .serve_connection(TokioIo::new(stream), service);
    pin!(connection);
    let mut ending = false;
    loop {
        tokio::select! {
            _ = connection.as_mut() => return,
            Ok(()) = stopping.changed(), if !ending => {
                ending = true;
                connection.as_mut().graceful_shutdown();
            }
        }
    }
}

/// The answer to a request, with what browsers shall hold to.
async fn answer(
    shared: Arc<Shared>,
    origin: Origin,
    request: Request<Incoming>,
    stopping: &watch::Receiver<bool>,
) -> Reply {
    let mut reply = routed(shared, origin, request, stopping).await;
    let headers = reply.headers_mut();
    let fixed = [
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
    ];
    for (name, value) in fixed {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    reply
}

async fn routed(
    shared: Arc<Shared>,
    origin: Origin,
    request: Request<Incoming>,
    stopping: &watch::Receiver<bool>,
) -> Reply {
    let (head, body) = request.into_parts();
    let path = head.uri.path().to_owned();
    let reads = head.method == Method::GET || head.method == Method::HEAD;
    match (&*path, reads) {
        ("/livez", true) => return reply(StatusCode::OK, TEXT, "live\n"),
        ("/readyz", true) => return readiness(&shared, *stopping.borrow()),
        _ => {}
    }
    if let Err(message) = access::check_origin(&head, shared.options.certificate.is_some()) {
        return reply(StatusCode::FORBIDDEN, TEXT, format!("{message}\n"));
    }
    let Some(user) = access::user(&shared, origin, &head.headers).await else {
        let mut refused =
            reply(StatusCode::UNAUTHORIZED, TEXT, "a user and a password are needed\n");
        let asked = HeaderValue::from_static("Basic realm=\"nodewise\", charset=\"UTF-8\"");
        refused.headers_mut().insert(WWW_AUTHENTICATE, asked);
        return refused;
    };
    let page = PAGE.iter().find(|it| it.0 == path);
    match (&*path, page, reads) {
        (_, Some((_, kind, text)), true) => reply(StatusCode::OK, kind, *text),
        ("/metrics", _, true) => metrics::answer(shared).await,
        ("/query", ..) if head.method == Method::POST => {
            if !access::is_json(&head.headers) {
                let message = "statements are sent as application/json\n";
                return reply(StatusCode::UNSUPPORTED_MEDIA_TYPE, TEXT, message);
            }
            match Limited::new(body, REQUEST_BYTES).collect().await {
                Ok(body) => {
                    let parent =
                        shared.traces.as_ref().and_then(|_| Parent::of_fields(&head.headers));
                    query::answer(shared, origin, (user, parent), body.to_bytes()).await
                }
                Err(error) => {
                    let message = format!("the request cannot be read: {error}\n");
                    reply(StatusCode::BAD_REQUEST, TEXT, message)
                }
            }
        }
        ("/metrics" | "/query", ..) | (_, Some(_), _) => {
            reply(StatusCode::METHOD_NOT_ALLOWED, TEXT, "there is another method for this\n")
        }
        _ => reply(StatusCode::NOT_FOUND, TEXT, "there is nothing here\n"),
    }
}

/// Whether statements would be taken: not when the server is to stop, nor when nothing can be written any more.
fn readiness(shared: &Shared, stopping: bool) -> Reply {
    if stopping {
        return reply(StatusCode::SERVICE_UNAVAILABLE, TEXT, "stopping\n");
    }
    match shared.database.is_writable() {
        true => reply(StatusCode::OK, TEXT, "ready\n"),
        false => reply(StatusCode::SERVICE_UNAVAILABLE, TEXT, "the log has failed: read-only\n"),
    }
}
