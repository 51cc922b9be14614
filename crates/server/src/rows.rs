//! The rows of an answer on their way to the client: as much at a time as a buffer takes.

use bytes::BytesMut;
use nodewise::{Answer, CopyOut, Cursor, Described, Fetched, Session, SqlError, SqlResult};

use crate::encoding::{Encoded, Encoding, put_copy_data};
use crate::replies::{self, Format};
use types::Charset;

/// Bytes of rows that are put together before they are handed on.
pub const CHUNK_BYTES: usize = 256 << 10;

/// Bytes of rows that are made at a time: enough to keep workers busy, so few that many clients may be slow.
const FETCH_BYTES: u64 = 1 << 20;

/// What the binary format of COPY begins with: a signature, no flags, no extension.
pub const BINARY_HEAD: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
/// What it ends with.
const BINARY_END: &[u8] = &[0xff, 0xff];

/// The rows of an answer that have not been sent, and what became of its statement.
pub struct Rows {
    cursor: Option<Cursor>,
    encoding: Encoding,
    /// In which the client reads texts.
    charset: Charset,
    /// What was made and is not sent.
    made: Option<Fetched<Encoded>>,
    /// The first batch of it, and the first row of that, that is not sent.
    place: (usize, usize),
    /// What is put before the first row of COPY.
    head: &'static [u8],
    tag: Tag,
    /// Rows sent since the client asked last.
    sent: usize,
}

/// How rows are told that were sent.
enum Tag {
    /// In these words.
    Words(String),
    /// `SELECT` and how many were sent.
    Select,
    /// `COPY` and how many were sent.
    Copy,
}

/// Where sending has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// All rows are sent.
    All,
    /// As many as were asked for.
    AsAsked,
    /// As many as there is room for now.
    Chunk,
}

impl Rows {
    fn new(cursor: Option<Cursor>, encoding: Encoding, tag: Tag, session: &Session) -> Self {
        let charset = session.client_charset();
        Self { cursor, encoding, charset, made: None, place: (0, 0), head: &[], tag, sent: 0 }
    }

    /// Those of a statement that has ended. Errors: 22P05.
    pub fn of_answer(answer: Answer, formats: Vec<Format>, session: &Session) -> SqlResult<Self> {
        let (zone, charset) = (session.styled_zone(), session.client_charset());
        let encoding = Encoding::Rows(formats, answer.types.clone(), zone);
        let items: Vec<Encoded> =
            answer.batches.iter().map(|it| encoding.encode(it, charset)).collect();
        if let Some(error) = items.iter().find_map(Encoded::failed) {
            return Err(error.clone());
        }
        // CREATE TABLE AS says SELECT, too.
        let tag = match answer.has_rows() && answer.tag.starts_with("SELECT ") {
            true => Tag::Select,
            false => Tag::Words(answer.tag),
        };
        Ok(Self { made: Some(Fetched::of(items)), ..Self::new(None, encoding, tag, session) })
    }

    /// Those of a query that are made while they are sent.
    pub fn of_cursor(cursor: Cursor, formats: Vec<Format>, session: &Session) -> Self {
        let (types, zone) = (cursor.described().types, session.styled_zone());
        Self::new(Some(cursor), Encoding::Rows(formats, types, zone), Tag::Select, session)
    }

    /// Those of COPY .. TO STDOUT, of which the client is told.
    pub fn of_copy(copy: CopyOut, session: &Session, out: &mut BytesMut) -> Self {
        let Described { schema, types, .. } = copy.cursor.described();
        let is_binary = matches!(*copy.format, nodewise::CopyFormat::Binary);
        replies::copy_out(is_binary, schema.fields().len(), out);
        if let nodewise::CopyFormat::Lines(style) = &*copy.format {
            let header = style.header(&schema);
            if !header.is_empty() {
                put_copy_data(&session.client_charset().encode_nearly(&header), out);
            }
        }
        let head = if is_binary { BINARY_HEAD } else { &[] };
        let encoding = Encoding::Copy(copy.format, types, session.styled_zone());
        let rows = Self::new(Some(copy.cursor), encoding, Tag::Copy, session);
        Self { head, ..rows }
    }

    /// Whether the answer is that of a query, whose rows may be asked for again in vain.
    pub fn is_query(&self) -> bool {
        matches!(self.tag, Tag::Select)
    }

    /// Whether its statement has not ended, so that it may fail.
    pub fn is_open(&self) -> bool {
        self.cursor.is_some()
    }

    /// The client asks for rows.
    pub fn begin(&mut self) {
        self.sent = 0;
    }

    /// The client does not ask for rows for a while.
    pub fn pause(&mut self, session: &Session) {
        if let Some(cursor) = &mut self.cursor {
            session.pause_cursor(cursor);
        }
    }

    /// Nobody wants what is left.
    pub fn close(mut self, session: &mut Session) -> SqlResult<()> {
        self.made = None;
        self.cursor.take().map_or(Ok(()), |it| session.close(it))
    }

    /// The statement fails.
    pub fn fail(mut self, session: &mut Session, error: SqlError) -> SqlError {
        self.made = None;
        match self.cursor.take() {
            Some(cursor) => session.fail(cursor, error),
            None => error,
        }
    }

    /// Appends what became of the statement, in the words of PostgreSQL: of a query, as many rows as were sent since the client
    /// asked.
    pub fn complete(&self, out: &mut BytesMut) {
        let tag = match &self.tag {
            Tag::Words(it) => it.clone(),
            Tag::Select => format!("SELECT {}", self.sent),
            Tag::Copy => format!("COPY {}", self.sent),
        };
        if let Tag::Copy = self.tag {
            replies::copy_done(out);
        }
        replies::complete(&tag, out);
    }

    /// Appends rows, at most `most` since the client asked unless that is zero.
    pub fn send(
        &mut self,
        session: &mut Session,
        most: usize,
        out: &mut BytesMut,
    ) -> SqlResult<Sent> {
        loop {
            let asked = if most > 0 { most - self.sent.min(most) } else { usize::MAX };
            if asked == 0 {
                // As PostgreSQL has it: who got as many as were asked for has to ask whether there are more.
                return Ok(Sent::AsAsked);
            }
            if out.len() >= CHUNK_BYTES {
                return Ok(Sent::Chunk);
            }
            if self.put_made(asked, out) {
                continue;
            }
            if self.cursor.is_none() {
                self.put_end(out);
                return Ok(Sent::All);
            }
            self.make(session)?;
        }
    }

    /// Makes the next rows. An error has ended the statement.
    pub fn make(&mut self, session: &mut Session) -> SqlResult<()> {
        self.made = None;
        let Some(mut cursor) = self.cursor.take() else { return Ok(()) };
        let (encoding, charset) = (&self.encoding, self.charset);
        let made = session.fetch(&mut cursor, FETCH_BYTES, &|it| encoding.encode(&it, charset))?;
        if let Some(error) = made.items().iter().find_map(Encoded::failed).cloned() {
            return Err(if made.is_last { error } else { session.fail(cursor, error) });
        }
        if !made.is_last {
            self.cursor = Some(cursor);
        }
        (self.made, self.place) = (Some(made), (0, 0));
        Ok(())
    }

    /// Appends rows that are made, as far as there is room; false where there are none.
    fn put_made(&mut self, asked: usize, out: &mut BytesMut) -> bool {
        let Some(made) = &self.made else { return false };
        let (mut batch, mut row) = self.place;
        while made.items().get(batch).is_some_and(|it| row == it.rows()) {
            (batch, row) = (batch + 1, 0);
        }
        self.place = (batch, row);
        let Some(encoded) = made.items().get(batch) else { return false };
        let room = CHUNK_BYTES.saturating_sub(out.len());
        let mut to = encoded.fitting(row, room).min(row.saturating_add(asked));
        if !self.head.is_empty() {
            // It is one message with the first row.
            to = row + 1;
            let message = encoded.of_rows(row, to);
            let body = message.get(5..).unwrap_or_default();
            put_copy_data(&[std::mem::take(&mut self.head), body].concat(), out);
        } else {
            out.extend_from_slice(encoded.of_rows(row, to));
        }
        self.sent += to - row;
        self.place = (batch, to);
        true
    }

    /// Appends what comes behind the last row.
    fn put_end(&mut self, out: &mut BytesMut) {
        let Encoding::Copy(format, ..) = &self.encoding else { return };
        if matches!(**format, nodewise::CopyFormat::Binary) {
            put_copy_data(&[std::mem::take(&mut self.head), BINARY_END].concat(), out);
        }
    }
}
