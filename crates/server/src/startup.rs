//! The first messages of a client: whether it wants TLS, who it is, or what it wants to end.

use std::collections::BTreeMap;
use std::io;

use bytes::{Buf, BytesMut};
use nodewise::{SqlError, SqlState};
use tokio::io::{AsyncRead, AsyncWriteExt};
use types::Charset;

use crate::requests::{Body, violation};
use crate::stream::{Bytes, read_some};
use crate::tls::Certificate;

/// Bytes of a first message.
const BYTES_MAX: usize = 10_000;
const VERSION_MAJOR: u16 = 3;
/// The minor versions that there are: 0 and 2.
pub const VERSION_MINOR: u16 = 2;
const CANCEL: i32 = 80_877_102;
const TLS: i32 = 80_877_103;
const GSS: i32 = 80_877_104;

/// What a client wants.
pub enum First {
    /// A session.
    Session(Startup),
    /// The end of what another connection runs.
    Cancel { number: i32, key: Vec<u8> },
    /// Nothing: it has gone.
    Gone,
}

/// What a client says of itself.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Startup {
    pub minor: u16,
    /// What it asks of the protocol, and we do not have.
    pub unknown: Vec<String>,
    pub user: String,
    pub database: String,
    /// Settings, in order.
    pub settings: Vec<(String, String)>,
}

/// Why there is no session.
pub enum Refused {
    /// What the client is told.
    Told(SqlError),
    /// The connection is broken.
    Broken,
}

impl From<io::Error> for Refused {
    fn from(_: io::Error) -> Self {
        Self::Broken
    }
}

impl From<SqlError> for Refused {
    fn from(error: SqlError) -> Self {
        Self::Told(error)
    }
}

/// Reads what a client wants, and changes over to TLS where it asks for that. What it sends behind stays in `input`. Tells
/// whether the connection is encrypted.
pub async fn first(
    mut stream: Box<dyn Bytes>,
    certificate: Option<&Certificate>,
    input: &mut BytesMut,
) -> (Box<dyn Bytes>, Result<First, Refused>) {
    let mut encrypted = false;
    loop {
        let message = match message(&mut *stream, input).await {
            Ok(Some(message)) => message,
            Ok(None) => return (stream, Ok(First::Gone)),
            Err(refused) => return (stream, Err(refused)),
        };
        match code(&message) {
            TLS | GSS if !input.is_empty() => {
                let message = "received unencrypted data after a request for encryption";
                return (stream, Err(violation(message).into()));
            }
            TLS if !encrypted && certificate.is_some() => {
                let Some(certificate) = certificate else { continue };
                let sent = stream.write_all(b"S").await.and(stream.flush().await);
                if let Err(error) = sent {
                    return (stream, Err(error.into()));
                }
                match certificate.acceptor().accept(stream).await {
                    Ok(inside) => stream = Box::new(inside),
                    // Nobody is left who could be told.
                    Err(_) => return (Box::new(tokio::io::duplex(1).0), Err(Refused::Broken)),
                }
                encrypted = true;
            }
            TLS | GSS => {
                let sent = stream.write_all(b"N").await.and(stream.flush().await);
                if let Err(error) = sent {
                    return (stream, Err(error.into()));
                }
            }
            _ => return (stream, read(message).map_err(Refused::from)),
        }
    }
}

/// The next message without a kind; `None` when the client has gone.
async fn message(
    stream: &mut (impl AsyncRead + Unpin + ?Sized),
    input: &mut BytesMut,
) -> Result<Option<bytes::Bytes>, Refused> {
    loop {
        if let Some(&[a, b, c, d]) = input.get(..4) {
            let length = usize::try_from(i32::from_be_bytes([a, b, c, d])).unwrap_or(0);
            if !(8..=BYTES_MAX).contains(&length) {
                return Err(violation("invalid length of startup packet").into());
            }
            if input.len() >= length {
                let mut message = input.split_to(length).freeze();
                message.advance(4);
                return Ok(Some(message));
            }
        }
        if !read_some(stream, input).await? {
            return Ok(None);
        }
    }
}

fn code(message: &[u8]) -> i32 {
    message.first_chunk().map_or(0, |it| i32::from_be_bytes(*it))
}

fn read(message: bytes::Bytes) -> Result<First, SqlError> {
    let mut body = Body(message, Charset::UTF8);
    let version = body.long()?;
    if version == CANCEL {
        let number = body.long()?;
        return Ok(First::Cancel { number, key: body.rest().to_vec() });
    }
    let (major, minor) = ((version >> 16) as u16, version as u16);
    if major != VERSION_MAJOR {
        let message = format!(
            "unsupported frontend protocol {major}.{minor}: server supports 3.0 to 3.{VERSION_MINOR}"
        );
        return Err(SqlError::unsupported(message));
    }
    let mut said = BTreeMap::new();
    let mut order = Vec::new();
    loop {
        let name = body.text()?;
        if name.is_empty() {
            break;
        }
        let value = body.text()?;
        order.push(name.clone());
        said.insert(name, value);
    }
    if !body.0.is_empty() {
        return Err(violation("invalid startup packet layout: expected terminator as last byte"));
    }
    startup(minor, said, &order).map(First::Session)
}

fn startup(
    minor: u16,
    mut said: BTreeMap<String, String>,
    order: &[String],
) -> Result<Startup, SqlError> {
    let user = said.remove("user").filter(|it| !it.is_empty()).ok_or_else(|| {
        let message = "no PostgreSQL user name specified in startup packet";
        SqlError::new(SqlState("28000"), message)
    })?;
    let database = said.remove("database").filter(|it| !it.is_empty());
    let database = database.unwrap_or_else(|| user.clone());
    if said.remove("replication").is_some_and(|it| !matches!(&*it, "false" | "off" | "no" | "0")) {
        return Err(SqlError::unsupported("there is no replication by the protocol"));
    }
    let options = said.remove("options").unwrap_or_default();
    let mut settings = settings_of(&options)?;
    let unknown: Vec<String> = said.keys().filter(|it| it.starts_with("_pq_.")).cloned().collect();
    for name in order.iter().filter(|it| !it.starts_with("_pq_.")) {
        settings.extend(said.remove(name).map(|value| (name.clone(), value)));
    }
    Ok(Startup { minor, unknown, user, database, settings })
}

/// The settings of `options`, as `-c name=value` or `--name=value`; a backslash keeps what follows it.
fn settings_of(options: &str) -> Result<Vec<(String, String)>, SqlError> {
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = options.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => word.get_or_insert_default().extend(letters.next()),
            it if it.is_ascii_whitespace() => words.extend(word.take()),
            it => word.get_or_insert_default().push(it),
        }
    }
    words.extend(word);
    let mut words = words.into_iter();
    let mut settings = Vec::new();
    while let Some(word) = words.next() {
        let said = match word.strip_prefix("--") {
            Some(it) => Some(it.to_owned()),
            None if word == "-c" => words.next(),
            None => word.strip_prefix("-c").map(str::to_owned),
        };
        let setting = said.as_deref().and_then(|it| it.split_once('='));
        let (name, value) = setting.ok_or_else(|| {
            let message = format!("invalid command-line argument for server process: {word}");
            SqlError::new(SqlState::SYNTAX, message)
        })?;
        settings.push((name.replace('-', "_"), value.to_owned()));
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(version: i32, rest: &[u8]) -> bytes::Bytes {
        [&version.to_be_bytes()[..], rest].concat().into()
    }

    #[test]
    fn a_start_is_read() {
        let rest = b"user\0ada\0options\0-c work_mem=1 --search-path=a\\ b\0application_name\0x\0_pq_.y\0z\0\0";
        let Ok(First::Session(startup)) = read(packet(3 << 16, rest)) else { panic!("a session") };
        let setting = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let settings = vec![
            setting("work_mem", "1"),
            setting("search_path", "a b"),
            setting("application_name", "x"),
        ];
        let (user, database) = ("ada".to_owned(), "ada".to_owned());
        let unknown = vec!["_pq_.y".to_owned()];
        assert_eq!(startup, Startup { minor: 0, unknown, user, database, settings });
        let cancel = read(packet(CANCEL, &[0, 0, 0, 7, 1, 2, 3, 4]));
        assert!(matches!(cancel, Ok(First::Cancel { number: 7, key }) if key == [1, 2, 3, 4]));
    }

    #[test]
    fn what_is_no_start_is_refused() {
        for (version, rest, state) in [
            (2 << 16, &b"user\0a\0\0"[..], "0A000"),
            (3 << 16, b"\0", "28000"),
            (3 << 16, b"user\0a", "08P01"),
            (3 << 16, b"user\0a\0\0more", "08P01"),
            (3 << 16, b"user\0\xff\0\0", "22021"),
            (3 << 16, b"user\0a\0replication\0true\0\0", "0A000"),
            (3 << 16, b"user\0a\0options\0-x\0\0", "42601"),
            (CANCEL, b"\0", "08P01"),
        ] {
            let error = read(packet(version, rest)).err().unwrap();
            assert_eq!(error.state.0, state, "{rest:?}");
        }
    }
}
