//! Who may ask: those who may connect by the wire, with the same passwords, and no page of another server on their behalf.
//!
//! A browser sends what it knows of a user with every request, whoever made it. So requests of other origins are refused by
//! what browsers say of them. Without TLS, which tells a browser whom it speaks with, so are names that somebody else may have
//! made to mean this address.

use std::net::IpAddr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, ORIGIN};
use hyper::http::request::Parts;
use tokio::task::spawn_blocking;

use stdx::sync::Arc;

use crate::scram::Verifier;
use crate::shared::Shared;
use crate::stream::Origin;

/// Who somebody is that nobody asks.
const TRUSTED: &str = "nodewise";

/// The user that a request is of; `None` when it is nobody who may come in.
pub async fn user(shared: &Arc<Shared>, origin: Origin, headers: &HeaderMap) -> Option<String> {
    let given = credentials(headers);
    if shared.trusts(origin) {
        return Some(given.map_or_else(|| TRUSTED.to_owned(), |it| it.0));
    }
    let (user, password) = given?;
    let known = shared.verifier(&user);
    let is_known = known.is_some();
    let verifier = known.unwrap_or_else(|| Verifier::of_nobody(&user, &shared.secret));
    // Thousands of rounds: they keep no other client waiting, and only so many are checked at a time.
    let place = shared.gate.enter(false).await;
    let checked = spawn_blocking(move || {
        let _place = place;
        verifier.is_of(&password)
    });
    (checked.await.ok()? && is_known).then_some(user)
}

/// The user that a request says it is of.
pub fn said(headers: &HeaderMap) -> Option<String> {
    credentials(headers).map(|it| it.0)
}

/// User and password as RFC 7617 has them.
fn credentials(headers: &HeaderMap) -> Option<(String, String)> {
    let text = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = text.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let text = String::from_utf8(STANDARD.decode(token.trim()).ok()?).ok()?;
    let (user, password) = text.split_once(':')?;
    Some((user.to_owned(), password.to_owned()))
}

/// Whether a request is one of our own page, or of no page at all.
pub fn check_origin(head: &Parts, encrypted: bool) -> Result<(), &'static str> {
    let field = |it: &str| head.headers.get(it).map(|it| it.to_str().unwrap_or("?"));
    if field("sec-fetch-site").is_some_and(|it| !matches!(it, "same-origin" | "none")) {
        return Err("requests of other pages are refused");
    }
    let host = head.headers.get(HOST).and_then(|it| it.to_str().ok()).unwrap_or_default();
    if let Some(origin) = field(ORIGIN.as_str())
        && origin.split_once("://").map(|it| it.1) != Some(host)
    {
        return Err("requests of other pages are refused");
    }
    match encrypted || is_own(host) {
        true => Ok(()),
        false => Err("without TLS this server goes by its address, or by localhost"),
    }
}

/// Whether a name can be only ours: an address, or localhost.
fn is_own(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|it| it.is_ascii_digit()) => name,
        _ => host,
    };
    let address = name.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(name);
    address.parse::<IpAddr>().is_ok() || name.eq_ignore_ascii_case("localhost")
}

/// Whether what is sent is JSON: no form of another page can say so.
pub fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok()).unwrap_or_default();
    kind.split(';').next().is_some_and(|it| it.trim().eq_ignore_ascii_case("application/json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_and_own_names_are_ours() {
        for host in ["127.0.0.1:7070", "[::1]:7070", "localhost", "LOCALHOST:1", "10.0.0.7"] {
            assert!(is_own(host), "{host}");
        }
        for host in ["", "evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.x"]
        {
            assert!(!is_own(host), "{host}");
        }
    }

    #[test]
    fn credentials_are_read_as_the_standard_has_them() {
        let of = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(AUTHORIZATION, text.parse().unwrap());
            credentials(&headers)
        };
        let token = STANDARD.encode("ada:a:b");
        assert_eq!(of(&format!("basic {token}")), Some(("ada".into(), "a:b".into())));
        for wrong in
            ["", "Basic", "Basic !", "Bearer x", &format!("Basic {}", STANDARD.encode("x"))]
        {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }
}
