//! What comes with rows or changes them: statements that are run for what they change, values that are bound, rows that are ingested.

use arrow_flight::FlightData;
use arrow_flight::sql::{Command, DoPutPreparedStatementResult, DoPutUpdateResult};
use bytes::Bytes;
use nodewise::arrow::{parameter_types, parameter_values};
use nodewise::{DataType, Session, SqlError, SqlResult, SqlState, Value};
use prost::Message;
use stdx::sync::Arc;
use tonic::{Status, Streaming};

use super::caller::Caller;
use super::commands::command_of;
use super::door::Door;
use super::incoming::Incoming;
use super::ingest;
use super::seats::{Seat, parts};
use super::statements::{Held, run};

/// Does what a call of DoPut asks; the answer is what became of it, as Flight SQL writes it.
pub async fn put(
    door: &Door,
    caller: &Caller,
    mut messages: Streaming<FlightData>,
) -> Result<Bytes, Status> {
    let missing = || Status::invalid_argument("the first message says no command");
    let mut first = messages.message().await?.ok_or_else(missing)?;
    let descriptor = first.flight_descriptor.take().ok_or_else(missing)?;
    let incoming = Incoming::new(first, messages);
    match command_of(&descriptor.cmd)? {
        Command::CommandStatementUpdate(update) => {
            let seat = door.seat_of(caller, update.transaction_id.as_ref())?;
            let _turn = seat.turn().await;
            let change = move |session: &mut Session| {
                let held = Held::prepare(session, &update.query)?;
                run(session, &held)
            };
            seat.run(door.way(caller), change).await.map(counted)
        }
        Command::CommandPreparedStatementUpdate(update) => {
            let (seat, held) =
                bound(door, caller, &update.prepared_statement_handle, incoming).await?;
            let _turn = seat.turn().await;
            seat.run(door.way(caller), move |session| run(session, &held)).await.map(counted)
        }
        Command::CommandPreparedStatementQuery(query) => {
            let handle = query.prepared_statement_handle;
            bound(door, caller, &handle, incoming).await?;
            let result = DoPutPreparedStatementResult { prepared_statement_handle: Some(handle) };
            Ok(result.encode_to_vec().into())
        }
        Command::CommandStatementIngest(ingest) => {
            ingest::ingest(door, caller, ingest, incoming).await.map(counted)
        }
        other => Err(Status::unimplemented(format!("{} with rows", other.type_url()))),
    }
}

fn counted(rows: i64) -> Bytes {
    DoPutUpdateResult { record_count: rows }.encode_to_vec().into()
}

/// A held statement with the values that a call brings for its parameters, if it brings any.
async fn bound(
    door: &Door,
    caller: &Caller,
    handle: &[u8],
    mut incoming: Incoming,
) -> Result<(Arc<Seat>, Arc<Held>), Status> {
    let (seat, held) = door.held(caller, handle)?;
    let batches = incoming.few(door.shared().options.limits.message_bytes).await?;
    if batches.iter().all(|it| it.num_columns() == 0) {
        return Ok((seat, held));
    }
    {
        let _turn = seat.turn().await;
        let bind = move |session: &mut Session| {
            let mut values = Vec::new();
            for batch in &batches {
                values.extend(parameter_values(batch)?);
            }
            let types = batches.first().map(parameter_types).transpose()?.unwrap_or_default();
            bind(session, &held, types, values)
        };
        let bound = seat.run(door.way(caller), bind).await?;
        seat.hold_instead(parts(handle)?.1, bound);
    }
    door.held(caller, handle)
}

/// A statement with values. Parameters of which it does not tell what they are, are what the values are.
fn bind(
    session: &mut Session,
    held: &Held,
    types: Vec<Option<DataType>>,
    values: Vec<Vec<Value>>,
) -> SqlResult<Held> {
    let known = held.prepared.parameters();
    if known.len() != types.len() {
        let message = format!("{} values are bound to {} parameters", types.len(), known.len());
        return Err(SqlError::new(SqlState("08P01"), message));
    }
    // Those it told before may have come from other values.
    let plain = session.prepare_typed(&held.text, &[])?;
    let told = plain.parameters().iter().zip(types);
    let declared: Vec<Option<DataType>> =
        told.map(|(known, bound)| if known.is_none() { bound } else { None }).collect();
    let prepared = match declared.iter().any(Option::is_some) {
        true => session.prepare_typed(&held.text, &declared)?,
        false => plain,
    };
    Ok(Held { text: held.text.clone(), prepared, values })
}
