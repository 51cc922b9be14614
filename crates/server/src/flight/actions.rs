//! Calls of DoAction: statements that are held, transactions, and ending what runs.

use arrow_flight::sql::{
    ActionBeginSavepointRequest, ActionBeginSavepointResult, ActionBeginTransactionResult,
    ActionCancelQueryRequest, ActionCancelQueryResult, ActionClosePreparedStatementRequest,
    ActionCreatePreparedStatementRequest, ActionCreatePreparedStatementResult,
    ActionEndSavepointRequest, ActionEndTransactionRequest, Any, EndTransaction, ProstMessageExt,
};
use arrow_flight::{
    Action, CancelFlightInfoRequest, CancelFlightInfoResult, CancelStatus, FlightInfo,
};
use bytes::Bytes;
use nodewise::{Session, SqlError, SqlState};
use prost::Message;
use stdx::sync::Arc;
use tonic::Status;

use super::caller::Caller;
use super::commands::written;
use super::door::Door;
use super::seats::Seat;
use super::statements::{Held, columns, execute};
use super::status::status;

const PREPARE: &str = "CreatePreparedStatement";
const CLOSE: &str = "ClosePreparedStatement";
const BEGIN: &str = "BeginTransaction";
const END: &str = "EndTransaction";
const BEGIN_SAVEPOINT: &str = "BeginSavepoint";
const END_SAVEPOINT: &str = "EndSavepoint";
const CANCEL_QUERY: &str = "CancelQuery";
const CANCEL_FLIGHT: &str = "CancelFlightInfo";

/// The actions that there are, and what they do.
pub const NAMES: [(&str, &str); 8] = [
    (PREPARE, "holds a statement under a handle"),
    (CLOSE, "forgets a statement that is held"),
    (BEGIN, "begins a transaction"),
    (END, "ends a transaction"),
    (BEGIN_SAVEPOINT, "names a place in a transaction"),
    (END_SAVEPOINT, "goes back to a place in a transaction, or forgets it"),
    (CANCEL_QUERY, "ends what gives rows"),
    (CANCEL_FLIGHT, "ends what gives rows"),
];

/// Going back, as the end of a savepoint has it; the other way is to forget it.
const ROLL_BACK: i32 = 2;
/// What ending what gives rows has come to.
const CANCELLED: i32 = 1;
const NOT_CANCELLABLE: i32 = 3;

/// Does what an action says; what it gives, if it gives anything.
pub async fn act(
    door: &Door,
    caller: &Caller,
    action: Action,
) -> Result<std::option::IntoIter<Bytes>, Status> {
    let body = &action.body;
    let result = match action.r#type.as_str() {
        PREPARE => Some(prepare(door, caller, of(body)?).await?),
        CLOSE => {
            let it: ActionClosePreparedStatementRequest = of(body)?;
            door.release(caller, &it.prepared_statement_handle)?;
            None
        }
        BEGIN => {
            let seat = door.seat_of(caller, None)?;
            let _turn = seat.turn().await;
            say(door, caller, &seat, "BEGIN".to_owned()).await?;
            let transaction_id = door.begun(&seat)?;
            Some(ActionBeginTransactionResult { transaction_id }.as_any())
        }
        END => {
            end(door, caller, of(body)?).await?;
            None
        }
        BEGIN_SAVEPOINT => {
            let it: ActionBeginSavepointRequest = of(body)?;
            let seat = door.seat_of(caller, Some(&it.transaction_id))?;
            let _turn = seat.turn().await;
            let (savepoint_id, name) = seat.savepoint()?;
            say(door, caller, &seat, format!("SAVEPOINT \"{name}\"")).await?;
            Some(ActionBeginSavepointResult { savepoint_id }.as_any())
        }
        END_SAVEPOINT => {
            let it: ActionEndSavepointRequest = of(body)?;
            let (seat, name) = door.savepoint(caller, &it.savepoint_id)?;
            let _turn = seat.turn().await;
            let way = if it.action == ROLL_BACK { "ROLLBACK TO" } else { "RELEASE" };
            say(door, caller, &seat, format!("{way} SAVEPOINT \"{name}\"")).await?;
            None
        }
        CANCEL_QUERY => {
            let it: ActionCancelQueryRequest = of(body)?;
            let info = FlightInfo::decode(it.info).map_err(|_| malformed())?;
            let result = if cancel(door, caller, &info) { CANCELLED } else { NOT_CANCELLABLE };
            Some(ActionCancelQueryResult { result }.as_any())
        }
        CANCEL_FLIGHT => {
            let it = CancelFlightInfoRequest::decode(&**body).map_err(|_| malformed())?;
            let status = match cancel(door, caller, &it.info.ok_or_else(malformed)?) {
                true => CancelStatus::Cancelled,
                false => CancelStatus::NotCancellable,
            };
            let result = CancelFlightInfoResult { status: status.into() };
            return Ok(Some(result.encode_to_vec().into()).into_iter());
        }
        other => {
            return Err(Status::unimplemented(format!("there is no action {other}")));
        }
    };
    Ok(result.map(|it| it.encode_to_vec().into()).into_iter())
}

fn malformed() -> Status {
    Status::invalid_argument("the body of the action is malformed")
}

fn of<T: ProstMessageExt>(body: &[u8]) -> Result<T, Status> {
    let any = Any::decode(body).map_err(|_| malformed())?;
    any.unpack().ok().flatten().ok_or_else(malformed)
}

/// Runs a statement that ends at once.
async fn say(door: &Door, caller: &Caller, seat: &Arc<Seat>, text: String) -> Result<(), Status> {
    seat.run(door.way(caller), move |session| execute(session, &text)).await
}

async fn prepare(
    door: &Door,
    caller: &Caller,
    asked: ActionCreatePreparedStatementRequest,
) -> Result<Any, Status> {
    let seat = door.seat_of(caller, asked.transaction_id.as_ref())?;
    let _turn = seat.turn().await;
    let described = move |session: &mut Session| {
        let held = Held::prepare(session, &asked.query)?;
        let rows = columns(session.describe(&held.prepared)?.as_ref());
        Ok((held, rows))
    };
    let (held, rows) = seat.run(door.way(caller), described).await?;
    let parameter_schema = written(&Arc::new(held.parameters()))?;
    let dataset_schema = written(&rows)?;
    let prepared_statement_handle = door.hold(&seat, held)?;
    let result = ActionCreatePreparedStatementResult {
        prepared_statement_handle,
        dataset_schema,
        parameter_schema,
    };
    Ok(result.as_any())
}

/// Ends a transaction. One that has failed cannot be committed: it is rolled back, and the call fails.
async fn end(
    door: &Door,
    caller: &Caller,
    asked: ActionEndTransactionRequest,
) -> Result<(), Status> {
    let commits = match EndTransaction::try_from(asked.action) {
        Ok(EndTransaction::Commit) => true,
        Ok(EndTransaction::Rollback) => false,
        _ => return Err(Status::invalid_argument("a transaction is committed or rolled back")),
    };
    let seat = door.seat_of(caller, Some(&asked.transaction_id))?;
    let _turn = seat.turn().await;
    let failed = seat.run(door.way(caller), |session| Ok(session.open_transaction() == Some(true)));
    let failed = failed.await?;
    let said =
        say(door, caller, &seat, if commits { "COMMIT" } else { "ROLLBACK" }.to_owned()).await;
    door.ended(caller, &seat);
    said?;
    match commits && failed {
        false => Ok(()),
        true => {
            let message = "the transaction had failed, and is rolled back";
            Err(status(&SqlError::new(SqlState("25P02"), message)))
        }
    }
}

/// Ends what gives the rows of tickets.
fn cancel(door: &Door, caller: &Caller, info: &FlightInfo) -> bool {
    let tickets = info.endpoint.iter().filter_map(|it| it.ticket.as_ref());
    let mut any = false;
    for it in tickets {
        any |= door.shared().flight.cancel(&caller.user, &it.ticket);
    }
    any
}
