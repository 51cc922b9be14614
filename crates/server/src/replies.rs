//! Messages to the client, put into a buffer.

use bytes::BytesMut;
use nodewise::{Described, Notice, Notification, SqlError, Subject};
use pgwire::messages::Message;
use pgwire::messages::copy::{CopyDone, CopyInResponse, CopyOutResponse};
use pgwire::messages::data::{FieldDescription, NoData, ParameterDescription, RowDescription};
use pgwire::messages::extendedquery::{
    BindComplete, CloseComplete, ParseComplete, PortalSuspended,
};
use pgwire::messages::response::{
    CommandComplete, EmptyQueryResponse, ErrorResponse, NoticeResponse, NotificationResponse,
    ReadyForQuery, TransactionStatus,
};
use pgwire::messages::startup::ParameterStatus;

use nodewise::pg_types::wire_type;
use types::names;

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// As PostgreSQL prints it.
    Text,
    /// As its send function writes it.
    Binary,
}

impl Format {
    /// By its number in the protocol.
    pub fn of(code: i16) -> Option<Self> {
        match code {
            0 => Some(Self::Text),
            1 => Some(Self::Binary),
            _ => None,
        }
    }
}

/// Longest part of a message that we repeat to a client.
const TEXT_MAX: usize = 20_000;

/// Appends a message. What is too long for the protocol is told in its place, so that a client is never left waiting.
pub fn put(message: &impl Message, out: &mut BytesMut) {
    let before = out.len();
    if let Err(error) = message.encode(out) {
        out.truncate(before);
        let error = SqlError::internal(format!("a message cannot be sent: {error}"));
        let fields = fields(&error, "ERROR", None);
        // Its own parts are cut, so it is short.
        let _ = ErrorResponse::new(fields).encode(out);
    }
}

/// Appends ReadyForQuery: whether a transaction is open, and has failed.
pub fn ready(transaction: Option<bool>, out: &mut BytesMut) {
    let status = match transaction {
        None => TransactionStatus::Idle,
        Some(false) => TransactionStatus::Transaction,
        Some(true) => TransactionStatus::Error,
    };
    put(&ReadyForQuery::new(status), out);
}

/// Appends what became of a statement.
pub fn complete(tag: &str, out: &mut BytesMut) {
    put(&CommandComplete::new(tag.to_owned()), out);
}

/// Appends the answer to a text without a statement.
pub fn empty(out: &mut BytesMut) {
    put(&EmptyQueryResponse::new(), out);
}

pub fn parse_complete(out: &mut BytesMut) {
    put(&ParseComplete::new(), out);
}

pub fn bind_complete(out: &mut BytesMut) {
    put(&BindComplete::new(), out);
}

pub fn close_complete(out: &mut BytesMut) {
    put(&CloseComplete::new(), out);
}

pub fn suspended(out: &mut BytesMut) {
    put(&PortalSuspended::new(), out);
}

pub fn no_data(out: &mut BytesMut) {
    put(&NoData::new(), out);
}

/// Appends that rows of COPY follow, each of so many columns.
pub fn copy_out(is_binary: bool, columns: usize, out: &mut BytesMut) {
    let (format, count, formats) = copy_formats(is_binary, columns);
    put(&CopyOutResponse::new(format, count, formats), out);
}

/// Appends that rows for COPY are awaited.
pub fn copy_in(is_binary: bool, columns: usize, out: &mut BytesMut) {
    let (format, count, formats) = copy_formats(is_binary, columns);
    put(&CopyInResponse::new(format, count, formats), out);
}

fn copy_formats(is_binary: bool, columns: usize) -> (i8, i16, Vec<i16>) {
    (is_binary.into(), columns as i16, vec![is_binary.into(); columns])
}

/// Appends that all rows of COPY were sent.
pub fn copy_done(out: &mut BytesMut) {
    put(&CopyDone::new(), out);
}

/// Appends the types of parameters.
pub fn parameters(oids: Vec<u32>, out: &mut BytesMut) {
    put(&ParameterDescription::new(oids), out);
}

/// Appends a setting of which clients are told.
pub fn setting(name: &str, value: String, out: &mut BytesMut) {
    put(&ParameterStatus::new(name.to_owned(), value), out);
}

/// Appends the names and types of rows, and of which tables their columns are.
pub fn columns(rows: &Described, format: impl Fn(usize) -> Format, out: &mut BytesMut) {
    let each = rows.schema.fields().iter().zip(&rows.types).enumerate();
    let fields = each.map(|(index, (field, data_type))| {
        let wire = wire_type(*data_type);
        // A zero would end the name.
        let name = field.name().replace('\0', "");
        let format = i16::from(format(index) == Format::Binary);
        let origin = rows.origins.get(index).copied().flatten();
        let (table, column) = origin.map_or((0, 0), |it| (it.relation, it.column));
        let column = column.cast_signed();
        FieldDescription::new(
            name,
            table as i32,
            column,
            wire.oid,
            wire.size,
            wire.modifier,
            format,
        )
    });
    put(&RowDescription::new(fields.collect()), out);
}

/// Appends an error that ends a statement. The text is where its position is counted.
pub fn error(error: &SqlError, text: Option<&str>, out: &mut BytesMut) {
    put(&ErrorResponse::new(fields(error, "ERROR", text)), out);
}

/// Appends an error that ends the connection.
pub fn fatal(error: &SqlError, out: &mut BytesMut) {
    put(&ErrorResponse::new(fields(error, "FATAL", None)), out);
}

/// Appends what a statement says beside its answer.
pub fn notice(notice: &Notice, out: &mut BytesMut) {
    let mut fields = vec![
        (b'S', notice.severity.to_owned()),
        (b'V', notice.severity.to_owned()),
        (b'C', notice.state.0.to_owned()),
        (b'M', plain(&notice.message)),
    ];
    fields.extend(notice.detail.iter().map(|it| (b'D', plain(it))));
    fields.extend(notice.hint.iter().map(|it| (b'H', plain(it))));
    put(&NoticeResponse::new(fields), out);
}

/// Appends what was said to a channel.
pub fn notification(it: &Notification, out: &mut BytesMut) {
    let (channel, payload) = (plain(&it.channel), plain(&it.payload));
    put(&NotificationResponse::new(backend_number(it.session), channel, payload), out);
}

/// The number of a session as clients know it: they take it for that of a process.
pub fn backend_number(session: u64) -> i32 {
    (session % i32::MAX as u64) as i32
}

fn fields(error: &SqlError, severity: &str, text: Option<&str>) -> Vec<(u8, String)> {
    let mut fields = vec![
        (b'S', severity.to_owned()),
        (b'V', severity.to_owned()),
        (b'C', error.state.0.to_owned()),
        (b'M', plain(&error.message)),
    ];
    fields.extend(error.detail().map(|it| (b'D', plain(it))));
    fields.extend(error.hint.as_deref().map(|it| (b'H', plain(it))));
    fields.extend(error.context.as_deref().map(|it| (b'W', plain(it))));
    let place = text.zip(error.position).and_then(|(text, place)| character_at(text, place));
    fields.extend(place.map(|it| (b'P', it.to_string())));
    fields.extend(error.subject.as_deref().into_iter().flat_map(subject_fields));
    fields
}

/// What an error is about, a field each.
fn subject_fields(it: &Subject) -> impl Iterator<Item = (u8, String)> {
    let split = |it: &String| names::split(it);
    let (table, data_type) = (it.table.as_ref().map(split), it.data_type.as_ref().map(split));
    let schema = table.as_ref().or(data_type.as_ref()).map(|it| it.0.clone());
    let fields = [
        (b's', schema),
        (b't', table.map(|it| it.1)),
        (b'c', it.column.clone()),
        (b'd', data_type.map(|it| it.1)),
        (b'n', it.constraint.clone()),
        (b'R', it.routine.map(str::to_owned)),
    ];
    fields.into_iter().filter_map(|(code, text)| Some((code, plain(&text?))))
}

/// A text as it may stand in a message: without zeros, which would end it, and not too long.
fn plain(text: &str) -> String {
    let cut = text.char_indices().map(|it| it.0).find(|it| *it >= TEXT_MAX);
    text[..cut.unwrap_or(text.len())].replace('\0', "")
}

/// The place of a line and a column, both counted from 1, in characters of the whole text, counted from 1.
fn character_at(text: &str, (line, column): (u32, u32)) -> Option<usize> {
    let before = text.split_inclusive('\n').take(line.checked_sub(1)? as usize);
    let before: usize = before.map(|it| it.chars().count()).sum();
    Some(before + column as usize).filter(|it| *it > 0 && *it <= text.chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use nodewise::SqlState;

    use super::*;

    #[test]
    fn places_are_counted_in_characters() {
        let text = "SELECT\n  \u{e4}\u{e4}, nope\nFROM t";
        assert_eq!(character_at(text, (1, 1)), Some(1));
        assert_eq!(character_at(text, (2, 7)), Some(14));
        assert_eq!(character_at(text, (0, 1)), None);
        assert_eq!(character_at("x", (9, 9)), None);
    }

    #[test]
    fn what_cannot_be_sent_is_told() {
        let mut out = BytesMut::new();
        complete(&"x".repeat(100_000), &mut out);
        assert_eq!(out[0], b'E');
        let mut out = BytesMut::new();
        error(&SqlError::new(SqlState::SYNTAX, "a\0b".repeat(50_000)), None, &mut out);
        assert_eq!(out[0], b'E');
        assert_eq!(out.len(), i32::from_be_bytes(out[1..5].try_into().unwrap()) as usize + 1);
    }
}
