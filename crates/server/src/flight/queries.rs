//! What gives rows: statements, and what Flight SQL knows of a database beside them.

use arrow_flight::FlightData;
use arrow_flight::sql::Command;
use arrow_schema::SchemaRef;
use bytes::Bytes;
use futures_util::stream;
use nodewise::{Session, SqlResult};
use stdx::sync::Arc;
use tonic::Status;

use super::access::Caller;
use super::commands::command_of_ticket;
use super::metadata;
use super::rows::{Messages, Rows, whole};
use super::seats::Door;
use super::statements::{Held, columns};
use super::status::status;

/// The columns of the rows of a command, as far as they are known before it runs.
pub async fn schema(door: &Door, caller: &Caller, command: &Command) -> Result<SchemaRef, Status> {
    let of = |session: &mut Session, held: &Held| -> SqlResult<SchemaRef> {
        Ok(columns(session.describe(&held.prepared)?.as_ref()))
    };
    match command {
        Command::CommandStatementQuery(query) => {
            let seat = door.seat_of(caller, query.transaction_id.as_ref())?;
            let _turn = seat.turn().await;
            let text = query.query.clone();
            let described = move |session: &mut Session| {
                let held = Held::prepare(session, &text)?;
                of(session, &held)
            };
            seat.run(door.shared(), described).await
        }
        Command::CommandPreparedStatementQuery(query) => {
            let (seat, held) = door.held(caller, &query.prepared_statement_handle)?;
            let _turn = seat.turn().await;
            seat.run(door.shared(), move |session| of(session, &held)).await
        }
        other => metadata::schema(other),
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
            let rows = seat.run(door.shared(), begin).await?;
            (seat, rows)
        }
        Command::CommandPreparedStatementQuery(query) => {
            let (seat, held) = door.held(caller, &query.prepared_statement_handle)?;
            let _turn = seat.turn().await;
            let rows = seat.run(door.shared(), move |session| Rows::begin(session, &held)).await?;
            (seat, rows)
        }
        command => {
            let seat = door.seat(caller)?;
            let _turn = seat.turn().await;
            let table =
                seat.run(door.shared(), move |session| metadata::rows(session, command)).await?;
            let messages = whole(&table).map_err(|it| status(&it))?;
            return Ok(Box::pin(stream::iter(messages.into_iter().map(Ok))));
        }
    };
    Ok(rows.sent(Arc::clone(door.shared()), seat, ticket))
}
