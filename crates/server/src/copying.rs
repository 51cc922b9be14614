//! COPY .. FROM STDIN under way: what the client sends becomes rows.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};
use nodewise::{Answer, CopyIn, Session, SqlError, SqlResult, SqlState};

use types::{Charset, CharsetReader};

use crate::binary_rows::BinaryRows;
use crate::replies;
use crate::requests::{Request, violation};

/// COPY .. FROM STDIN under way.
pub struct Copying {
    copy: CopyIn,
    /// Present for the binary format.
    binary: Option<BinaryRows>,
    /// Present where texts come in another character set than they are held in.
    reader: Option<CharsetReader>,
}

/// What a message of the client has done to a COPY.
pub enum Copied {
    /// It waits for more.
    More(Box<Copying>),
    /// It has ended.
    Done(Answer),
    /// The client has said goodbye.
    Gone,
}

impl Copying {
    /// Tells the client that its data are awaited.
    pub fn begin(copy: CopyIn, charset: Charset, out: &mut BytesMut) -> Self {
        let columns = copy.columns();
        replies::copy_in(copy.is_binary(), columns.len(), out);
        let binary = copy.is_binary().then(|| BinaryRows::new(copy.table(), &columns, charset));
        let reader = (binary.is_none() && !charset.is_held()).then(|| charset.reader());
        Self { copy, binary, reader }
    }

    /// Takes the next message; `None` where none has come. An error has ended the statement.
    pub fn take(
        mut self: Box<Self>,
        session: &mut Session,
        input: &mut VecDeque<Request>,
    ) -> SqlResult<Copied> {
        let Some(request) = input.pop_front() else { return Ok(Copied::More(self)) };
        match request {
            Request::CopyData(bytes) => {
                self.data(session, &bytes, false)?;
                Ok(Copied::More(self))
            }
            // Some clients send them before they know what they have begun.
            Request::Sync | Request::Flush => Ok(Copied::More(self)),
            Request::CopyDone => {
                if self.reader.is_some() {
                    self.data(session, &Bytes::new(), true)?;
                }
                let Self { mut copy, binary, .. } = *self;
                if let Some(binary) = binary {
                    match binary.finish() {
                        Ok(rows) => session.copy_rows(&mut copy, rows)?,
                        Err(error) => return Err(session.copy_failed(copy, error)),
                    }
                }
                session.copy_end(copy).map(Copied::Done)
            }
            Request::CopyFail(message) => {
                let message = format!("COPY from stdin failed: {message}");
                Err(self.fail(session, SqlError::new(SqlState::QUERY_CANCELED, message)))
            }
            Request::Terminate => {
                self.fail(session, violation("unexpected EOF on client connection"));
                Ok(Copied::Gone)
            }
            Request::Malformed { error, .. } => Err(self.fail(session, error)),
            _ => {
                let error = violation("unexpected message type during COPY from stdin");
                Err(self.fail(session, error))
            }
        }
    }

    fn data(&mut self, session: &mut Session, bytes: &Bytes, is_last: bool) -> SqlResult<()> {
        if let Some(reader) = &mut self.reader {
            return match reader.read(bytes, is_last) {
                Ok(text) => session.copy_data(&mut self.copy, text.as_bytes()),
                Err(error) => Err(session.fail_copy(&mut self.copy, error)),
            };
        }
        let Some(binary) = &mut self.binary else {
            return session.copy_data(&mut self.copy, bytes);
        };
        match binary.push(bytes) {
            Ok(None) => Ok(()),
            Ok(Some(rows)) => session.copy_rows(&mut self.copy, rows),
            Err(error) => Err(session.fail_copy(&mut self.copy, error)),
        }
    }

    /// The statement fails by an error, which is given back.
    pub fn fail(self, session: &mut Session, error: SqlError) -> SqlError {
        session.copy_failed(self.copy, error)
    }
}
