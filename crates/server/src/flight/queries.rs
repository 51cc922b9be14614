//! What gives rows: statements, and what Flight SQL knows of a database beside them.

use arrow_flight::FlightData;
use arrow_flight::sql::Command;
use arrow_schema::SchemaRef;
use bytes::Bytes;
use futures_util::stream;
use nodewise::{Session, SqlResult};
use stdx::sync::Arc;
use tonic::Status;

use super::caller::Caller;
use super::commands::command_of_ticket;
use super::door::Door;
use super::metadata;
use super::rows::{Messages, Rows, whole};
use super::statements::{Held, columns, run};
use super::status::status;

/// What a command comes to before anybody takes its rows.
pub enum Told {
    /// It gives rows of these columns, when they are taken.
    Rows(SchemaRef),
    /// It is one without rows, and has run: it has changed so many rows.
    Done(i64),
}

/// What a command gives. One without rows is run here if it `runs`, as many clients take nothing of what has no columns, and none of them
/// before they go on.
pub async fn told(
    door: &Door,
    caller: &Caller,
    command: &Command,
    runs: bool,
) -> Result<Told, Status> {
    let of = move |session: &mut Session, held: &Held| -> SqlResult<Told> {
        let schema = columns(session.describe(&held.prepared)?.as_ref());
        match schema.fields().is_empty() && runs {
            true => run(session, held).map(Told::Done),
            false => Ok(Told::Rows(schema)),
        }
    };
    match command {
        Command::CommandStatementQuery(query) => {
            let seat = door.seat_of(caller, query.transaction_id.as_ref())?;
            let _turn = seat.turn().await;
            let text = query.query.clone();
            let told = move |session: &mut Session| {
                let held = Held::prepare(session, &text)?;
                of(session, &held)
            };
            seat.run(door.way(caller), told).await
        }
        Command::CommandPreparedStatementQuery(query) => {
            let (seat, held) = door.held(caller, &query.prepared_statement_handle)?;
            let _turn = seat.turn().await;
            seat.run(door.way(caller), move |session| of(session, &held)).await
        }
        other => metadata::schema(other).map(Told::Rows),
    }
}

/// The rows of a ticket.
pub async fn rows(
    door: &Door,
    caller: &Caller,
    ticket: Bytes,
) -> Result<Messages<FlightData>, Status> {
    let (seat, rows) = match command_of_ticket(&ticket)? {
        Command::CommandStatementQuery(query) => {
            let seat = door.seat_of(caller, query.transaction_id.as_ref())?;
            let _turn = seat.turn().await;
            let begin = move |session: &mut Session| {
                let held = Held::prepare(session, &query.query)?;
                Rows::begin(session, &held)
            };
            let rows = seat.run(door.way(caller), begin).await?;
            (seat, rows)
        }
        Command::CommandPreparedStatementQuery(query) => {
            let (seat, held) = door.held(caller, &query.prepared_statement_handle)?;
            let _turn = seat.turn().await;
            let rows =
                seat.run(door.way(caller), move |session| Rows::begin(session, &held)).await?;
            (seat, rows)
        }
        command => {
            let seat = door.seat(caller)?;
            let _turn = seat.turn().await;
            let table =
                seat.run(door.way(caller), move |session| metadata::rows(session, command)).await?;
            let messages = whole(&table).map_err(|it| status(&it))?;
            return Ok(Box::pin(stream::iter(messages.into_iter().map(Ok))));
        }
    };
    Ok(rows.sent(Arc::clone(door.shared()), seat, (ticket, caller.parent)))
}
