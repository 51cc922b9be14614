//! Who calls, and of which session.
//!
//! Users and passwords are those of the other doors. Handshake gives a token for them, which is the user's name and a session's number
//! under a seal that only this process can make; so nothing is kept of tokens, and they end with the server. What checks the password
//! is sealed with them: they end with the password, too.

use arrow_flight::HandshakeResponse;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hyper::header::{AUTHORIZATION, COOKIE};
use ring::hmac::{HMAC_SHA256, Key, sign, verify};
use tonic::metadata::{AsciiMetadataValue, MetadataMap};
use tonic::{Response, Status};

use super::caller::{Caller, ID_BYTES, Id, new_id};
use super::door::Door;
use crate::http::access;
use crate::shared::Shared;
use crate::traces::Parent;

/// The cookie that names a session.
const SESSION: &str = "arrow_flight_session_id";
const SEAL_BYTES: usize = 32;

impl Door {
    /// Who a call is of.
    pub async fn caller(&self, fields: &MetadataMap) -> Result<Caller, Status> {
        let given = fields.get(AUTHORIZATION.as_str()).map(AsciiMetadataValue::as_bytes);
        let parent = self.shared().traces.as_ref().and_then(|_| Parent::of_fields(fields.as_ref()));
        if let Some(token) = given.and_then(|it| token_of(it)) {
            let (user, session) = opened(self.shared(), token)
                .ok_or_else(|| Status::unauthenticated("the token is none of this server"))?;
            return Ok(Caller { user, session: Some(session), parent });
        }
        let session = fields.get(COOKIE.as_str()).and_then(|it| session_of(it.to_str().ok()?));
        if let Some(user) = self.known(given) {
            return Ok(Caller { user, session, parent });
        }
        let headers = fields.clone().into_headers();
        // Asked before it is checked: a password that changes meanwhile is asked for again.
        let checked_by = access::said(&headers).and_then(|it| self.shared().database.verifier(&it));
        let user = access::user(self.shared(), self.origin(), &headers).await;
        let user =
            user.ok_or_else(|| Status::unauthenticated("a user and a password are needed"))?;
        self.remember(given, &user, checked_by);
        Ok(Caller { user, session, parent })
    }

    /// The answer to Handshake: a token of a new session.
    pub async fn handshake(
        &self,
        fields: &MetadataMap,
    ) -> Result<Response<HandshakeResponse>, Status> {
        let caller = self.caller(fields).await?;
        let token = token(self.shared(), &caller.user, &new_id()?);
        let payload = token.clone().into_bytes().into();
        let mut response = Response::new(HandshakeResponse { protocol_version: 0, payload });
        let field = format!("Bearer {token}").parse();
        let field = field.map_err(|_| Status::internal("a token that is no text"))?;
        response.metadata_mut().insert(AUTHORIZATION.as_str(), field);
        Ok(response)
    }
}

/// What is told to a client whose call named no session: clients that keep cookies name this one next time.
pub fn cookie(id: &Id) -> String {
    let digits: String = id.iter().map(|it| format!("{it:02x}")).collect();
    format!("{SESSION}={digits}; HttpOnly; SameSite=Strict")
}

/// The session that cookies name.
fn session_of(cookies: &str) -> Option<Id> {
    let named = |it: &str| {
        let (name, value) = it.trim().split_once('=')?;
        let digits = value.trim_matches('"');
        (name == SESSION && digits.len() == 2 * ID_BYTES).then(|| {
            let mut id = Id::default();
            for (place, byte) in id.iter_mut().enumerate() {
                *byte = u8::from_str_radix(digits.get(2 * place..2 * place + 2)?, 16).ok()?;
            }
            Some(id)
        })?
    };
    cookies.split(';').find_map(named)
}

fn token_of(field: &[u8]) -> Option<&str> {
    let (scheme, token) = std::str::from_utf8(field).ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

fn key(shared: &Shared) -> Key {
    Key::new(HMAC_SHA256, &shared.secret)
}

/// What the seal is of: what a token tells, and what checks its user's password.
fn sealed(shared: &Shared, told: &[u8], user: &str) -> Vec<u8> {
    let checked_by = shared.database.verifier(user).unwrap_or_default();
    let length = (told.len() as u64).to_be_bytes();
    [&length, told, checked_by.as_bytes()].concat()
}

fn token(shared: &Shared, user: &str, id: &Id) -> String {
    let told = [id.as_slice(), user.as_bytes()].concat();
    let seal = sign(&key(shared), &sealed(shared, &told, user));
    URL_SAFE_NO_PAD.encode([seal.as_ref(), &told].concat())
}

/// The user and the session of a token that has our seal.
fn opened(shared: &Shared, token: &str) -> Option<(String, Id)> {
    let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
    let (seal, told) = bytes.split_at_checked(SEAL_BYTES)?;
    let (id, user) = told.split_first_chunk::<ID_BYTES>()?;
    let user = std::str::from_utf8(user).ok()?;
    verify(&key(shared), &sealed(shared, told, user), seal).ok()?;
    Some((user.to_owned(), *id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_name_sessions() {
        let id: Id = std::array::from_fn(|it| it as u8 * 16);
        let told = cookie(&id);
        let pair = told.split(';').next().unwrap();
        assert_eq!(session_of(&format!("a=b; {pair}")), Some(id));
        for wrong in ["", "arrow_flight_session_id", "arrow_flight_session_id=00", &pair[1..]] {
            assert_eq!(session_of(wrong), None, "{wrong}");
        }
        let odd = format!("{SESSION}={}", "\u{e9}".repeat(ID_BYTES));
        assert_eq!(session_of(&odd), None);
    }

    #[test]
    fn tokens_are_behind_their_scheme() {
        assert_eq!(token_of(b"bearer  x "), Some("x"));
        assert_eq!(token_of(b"Basic x"), None);
        assert_eq!(token_of(b"Bearer"), None);
    }
}
