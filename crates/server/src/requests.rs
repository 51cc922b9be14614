//! Messages of the client, read strictly.
//!
//! Key decision: they are not read by `pgwire`, whose readers take a message that is cut short for granted (they panic), read
//! on into the next message where a zero is missing, and replace bytes that are no UTF-8. Here each message is a frame of its
//! own, and whatever it holds is a message or an error.

use std::borrow::Cow;

use bytes::{Buf, Bytes, BytesMut};
use nodewise::{SqlError, SqlState};
use types::Charset;

/// A message of the client.
#[derive(Debug, PartialEq)]
pub enum Request {
    /// Statements as text, answered in text.
    Query(String),
    /// A statement to be prepared.
    Parse { name: String, text: String, types: Vec<u32> },
    /// Values for a statement, which make a portal.
    Bind(Bind),
    /// What a statement or a portal gives.
    Describe(Target),
    /// Rows of a portal, at most so many unless it is zero.
    Execute { portal: String, rows: usize },
    /// The end of a statement or a portal.
    Close(Target),
    /// What there is shall be sent.
    Flush,
    /// The end of what belongs together.
    Sync,
    /// Bytes of COPY.
    CopyData(Bytes),
    /// The end of them.
    CopyDone,
    /// The end of them, as they are wrong.
    CopyFail(String),
    /// A password, or a step of SASL.
    Password(Bytes),
    /// Goodbye.
    Terminate,
    /// A message whose frame is whole and whose contents are not. Whether it is one of those that Sync ends.
    Malformed { error: SqlError, extended: bool },
}

/// A statement or a portal, by name.
#[derive(Debug, PartialEq, Eq)]
pub enum Target {
    Statement(String),
    Portal(String),
}

/// Values for a statement.
#[derive(Debug, PartialEq)]
pub struct Bind {
    pub portal: String,
    pub statement: String,
    pub formats: Vec<i16>,
    pub values: Vec<Option<Bytes>>,
    pub result_formats: Vec<i16>,
}

impl Request {
    /// Whether the client waits for an answer to it, and to what came before.
    pub fn is_awaited(&self) -> bool {
        match self {
            Self::Parse { .. } | Self::Bind(_) | Self::Describe(_) => false,
            Self::Execute { .. } | Self::Close(_) => false,
            // Many of them are read at once; the end of them is awaited.
            Self::CopyData(_) => false,
            Self::Malformed { extended, .. } => !extended,
            _ => true,
        }
    }
}

/// Takes the next message out of what has come; `None` where more has to come. Errors end the connection.
pub fn next(
    input: &mut BytesMut,
    bytes_max: usize,
    charset: Charset,
) -> Result<Option<Request>, SqlError> {
    if input.len() < 5 {
        return Ok(None);
    }
    let kind = input[0];
    if !b"QPBDECHSdcfpXF".contains(&kind) {
        return Err(violation(format!("invalid frontend message type {kind}")));
    }
    let length = i32::from_be_bytes([input[1], input[2], input[3], input[4]]);
    let Some(length) = usize::try_from(length).ok().filter(|it| *it >= 4) else {
        return Err(violation("invalid message length"));
    };
    if length > bytes_max {
        let message = format!("a message of {length} bytes is longer than the {bytes_max} allowed");
        return Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message));
    }
    if input.len() < length + 1 {
        return Ok(None);
    }
    let mut frame = input.split_to(length + 1).freeze();
    frame.advance(5);
    let extended = b"PBDECH".contains(&kind);
    let read = read(kind, &mut Body(frame, charset));
    Ok(Some(read.unwrap_or_else(|error| Request::Malformed { error, extended })))
}

/// Bytes that the message at the head of what has come is short of, if its length is known.
pub fn missing(input: &BytesMut) -> usize {
    match input.get(1..5) {
        Some(&[a, b, c, d]) => {
            let length = usize::try_from(i32::from_be_bytes([a, b, c, d])).unwrap_or(0);
            (length + 1).saturating_sub(input.len())
        }
        _ => 0,
    }
}

fn read(kind: u8, body: &mut Body) -> Result<Request, SqlError> {
    let request = match kind {
        b'Q' => Request::Query(body.text()?),
        b'P' => {
            let (name, text) = (body.text()?, body.text()?);
            let count = body.short()?;
            let types = (0..count).map(|_| body.long().map(i32::cast_unsigned));
            Request::Parse { name, text, types: types.collect::<Result<_, _>>()? }
        }
        b'B' => {
            let (portal, statement) = (body.text()?, body.text()?);
            let formats = body.shorts()?;
            let count = body.short()?;
            let values = (0..count).map(|_| body.value()).collect::<Result<_, _>>()?;
            let result_formats = body.shorts()?;
            Request::Bind(Bind { portal, statement, formats, values, result_formats })
        }
        b'D' => Request::Describe(body.target()?),
        b'E' => {
            let (portal, rows) = (body.text()?, body.long()?);
            Request::Execute { portal, rows: usize::try_from(rows).unwrap_or(0) }
        }
        b'C' => Request::Close(body.target()?),
        b'H' => Request::Flush,
        b'S' => Request::Sync,
        b'd' => Request::CopyData(body.rest()),
        b'c' => Request::CopyDone,
        b'f' => Request::CopyFail(body.text()?),
        b'p' => Request::Password(body.rest()),
        b'X' => Request::Terminate,
        _ => return Err(SqlError::unsupported("calls of functions by the protocol are not there")),
    };
    match body.0.is_empty() {
        true => Ok(request),
        false => Err(violation("invalid message format")),
    }
}

/// What is left of a message, and the character set of its texts.
pub struct Body(pub Bytes, pub Charset);

impl Body {
    /// A text that a zero ends.
    pub fn text(&mut self) -> Result<String, SqlError> {
        let Some(end) = self.0.iter().position(|it| *it == 0) else {
            return Err(violation("invalid string in message"));
        };
        let text = self.0.split_to(end);
        self.0.advance(1);
        self.1.decode(&text).map(Cow::into_owned)
    }

    fn need(&self, bytes: usize) -> Result<(), SqlError> {
        match self.0.len() >= bytes {
            true => Ok(()),
            false => Err(violation("insufficient data left in message")),
        }
    }

    fn short(&mut self) -> Result<u16, SqlError> {
        self.need(2)?;
        Ok(self.0.get_u16())
    }

    /// A number of four bytes.
    pub fn long(&mut self) -> Result<i32, SqlError> {
        self.need(4)?;
        Ok(self.0.get_i32())
    }

    fn shorts(&mut self) -> Result<Vec<i16>, SqlError> {
        let count = self.short()?;
        self.need(2 * usize::from(count))?;
        Ok((0..count).map(|_| self.0.get_i16()).collect())
    }

    /// Bytes behind their number; `None` behind -1.
    pub fn value(&mut self) -> Result<Option<Bytes>, SqlError> {
        let length = self.long()?;
        if length == -1 {
            return Ok(None);
        }
        let length = usize::try_from(length).map_err(|_| violation("invalid message format"))?;
        self.need(length)?;
        Ok(Some(self.0.split_to(length)))
    }

    fn target(&mut self) -> Result<Target, SqlError> {
        self.need(1)?;
        match self.0.get_u8() {
            b'S' => self.text().map(Target::Statement),
            b'P' => self.text().map(Target::Portal),
            other => Err(violation(format!("invalid message subtype {other}"))),
        }
    }

    /// All that is left.
    pub fn rest(&mut self) -> Bytes {
        std::mem::take(&mut self.0)
    }
}

/// A client that does not keep to the protocol.
pub fn violation(message: impl Into<String>) -> SqlError {
    SqlError::new(SqlState("08P01"), message)
}

#[cfg(test)]
mod tests {
    use bytes::BufMut;
    use stdx::prng::Prng;

    use super::*;

    fn frame(kind: u8, body: &[u8]) -> BytesMut {
        let mut out = BytesMut::new();
        out.put_u8(kind);
        out.put_i32(body.len() as i32 + 4);
        out.put_slice(body);
        out
    }

    #[test]
    fn messages_are_read_as_they_are_meant() {
        let mut input = frame(b'Q', b"SELECT 1\0");
        input.extend_from_slice(&frame(
            b'B',
            b"p\0s\0\0\x01\0\x01\0\x02\xff\xff\xff\xff\0\0\0\x01x\0\0",
        ));
        input.extend_from_slice(b"S\0\0");
        let all = 1 << 20;
        assert_eq!(
            next(&mut input, all, Charset::UTF8),
            Ok(Some(Request::Query("SELECT 1".into())))
        );
        let bind = Bind {
            portal: "p".into(),
            statement: "s".into(),
            formats: vec![1],
            values: vec![None, Some(Bytes::from_static(b"x"))],
            result_formats: vec![],
        };
        assert_eq!(next(&mut input, all, Charset::UTF8), Ok(Some(Request::Bind(bind))));
        assert_eq!(next(&mut input, all, Charset::UTF8), Ok(None), "the last is not whole");
    }

    #[test]
    fn what_is_wrong_in_a_frame_is_an_error_of_that_message_alone() {
        for (kind, body) in [
            (b'Q', &b"no end"[..]),
            (b'Q', b"SELECT \xff\0"),
            (b'P', b"s\0SELECT 1\0\0\x02\0\0\0\x17"),
            (b'B', b"\0\0\0\0\0\x01\0\0\0\x09short\0\0"),
            (b'D', b"Zx\0"),
            (b'S', b"more"),
            (b'F', b"1234"),
        ] {
            let mut input = frame(kind, body);
            input.extend_from_slice(&frame(b'S', b""));
            let first = next(&mut input, 1 << 20, Charset::UTF8).unwrap().unwrap();
            assert!(matches!(first, Request::Malformed { .. }), "{first:?}");
            assert_eq!(next(&mut input, 1 << 20, Charset::UTF8), Ok(Some(Request::Sync)));
        }
    }

    #[test]
    fn lengths_and_kinds_that_cannot_be_end_the_connection() {
        for head in
            [&b"Q\0\0\0\x03"[..], b"Q\xff\xff\xff\xff", b"Q\x7f\xff\xff\xff", b"z\0\0\0\x04"]
        {
            assert!(next(&mut BytesMut::from(head), 1 << 20, Charset::UTF8).is_err(), "{head:?}");
        }
    }

    /// Whatever bytes come, each is read once, and nothing panics.
    #[test]
    fn any_bytes_are_messages_or_errors() {
        let mut prng = Prng::new(7);
        for _ in 0..200_000 {
            let length = prng.below(40) as usize;
            let mut body: Vec<u8> = (0..length).map(|_| prng.below(256) as u8 % 5).collect();
            if prng.below(2) == 0 {
                body.iter_mut().for_each(|it| *it = it.wrapping_mul(prng.below(256) as u8));
            }
            let kind = b"QPBDECHSdcfpXF"[prng.below(14) as usize];
            let mut input = frame(kind, &body);
            assert!(next(&mut input, 1 << 20, Charset::UTF8).unwrap().is_some());
            assert!(input.is_empty());
        }
    }
}
