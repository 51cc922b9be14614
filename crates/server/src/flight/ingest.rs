//! Rows of a client into a table: as many at a time as memory is meant for, all of them or none.

use arrow_array::RecordBatch;
use arrow_flight::sql::{CommandStatementIngest, TableDefinitionOptions};
use arrow_flight::sql::{TableExistsOption, TableNotExistOption};
use arrow_schema::SchemaRef;
use nodewise::text::quoted_name;
use nodewise::{Session, SqlError, SqlResult, SqlState};
use stdx::sync::Arc;
use tonic::Status;

use super::caller::Caller;
use super::door::Door;
use super::incoming::Incoming;
use super::seats::{Seat, Way};
use super::statements::execute;
use super::status::status;

/// Bytes of rows that are put into the table at a time.
const PART_BYTES: usize = 64 << 20;
/// Under which name the statements that put them there find them.
const FRAME: &str = "flight ingested rows";

/// Puts rows into a table; tells how many.
pub async fn ingest(
    door: &Door,
    caller: &Caller,
    asked: CommandStatementIngest,
    incoming: Incoming,
) -> Result<i64, Status> {
    let transaction = asked.transaction_id.clone().filter(|it| !it.is_empty());
    let seat = door.seat_of(caller, transaction.as_ref())?;
    let target = Target::of(&asked).map_err(|it| status(&it))?;
    let (is_own, parent) = (transaction.is_none(), caller.parent);
    // A client that hangs up drops its call. What that has begun is ended by a task of its own, for which its rows end by an error.
    let (shared, ends) = (door.shared().clone(), Ends(seat.clone()));
    let task = tokio::spawn(async move {
        let way = (&shared.gate, parent);
        // Nothing else may come between the parts.
        let _turn = seat.turn().await;
        let put = put_all(&seat, way, target, incoming, is_own).await;
        match is_own {
            true => end(&seat, way, put).await,
            false => put,
        }
    });
    let done = task.await;
    std::mem::forget(ends);
    done.unwrap_or_else(|_| Err(status(&SqlError::internal("the call was lost"))))
}

/// Ends what a session runs for a call that nobody waits for any more.
struct Ends(Arc<Seat>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Puts rows into a table, part by part.
async fn put_all(
    seat: &Arc<Seat>,
    way: Way<'_>,
    mut target: Target,
    mut incoming: Incoming,
    is_own: bool,
) -> Result<i64, Status> {
    let mut count = 0;
    loop {
        let part = part(&mut incoming).await?;
        let schema = incoming.schema().cloned();
        let schema = schema.ok_or_else(|| Status::invalid_argument("there are no columns"))?;
        let is_last = part.is_empty();
        if is_last && target.is_there {
            return Ok(count);
        }
        count += part.iter().map(RecordBatch::num_rows).sum::<usize>() as i64;
        let put = move |session: &mut Session| {
            if is_own {
                session.begin_implicit();
            }
            target.put(session, &schema, part)?;
            Ok(target)
        };
        target = seat.run(way, put).await?;
        if is_last {
            return Ok(count);
        }
    }
}

/// Commits what was put, or takes it back.
async fn end(seat: &Arc<Seat>, way: Way<'_>, put: Result<i64, Status>) -> Result<i64, Status> {
    let failed = put.is_err();
    let ended = move |session: &mut Session| {
        if failed {
            session.fail_transaction();
        }
        session.end_implicit()
    };
    let committed = seat.run(way, ended).await;
    put.and_then(|count| committed.map(|()| count))
}

/// The next rows, as many as are put into the table at once; none when all have come.
async fn part(incoming: &mut Incoming) -> Result<Vec<RecordBatch>, Status> {
    let (mut part, mut bytes) = (Vec::new(), 0);
    while bytes < PART_BYTES
        && let Some(batch) = incoming.next().await?
    {
        bytes += batch.get_array_memory_size();
        part.push(batch);
    }
    Ok(part)
}

/// The table that rows go into.
struct Target {
    /// As SQL names it.
    name: String,
    temporary: bool,
    if_missing: TableNotExistOption,
    if_there: TableExistsOption,
    /// Whether rows can be put into it.
    is_there: bool,
}

impl Target {
    fn of(asked: &CommandStatementIngest) -> SqlResult<Self> {
        let CommandStatementIngest { table_definition_options: options, temporary, .. } = asked;
        let options = options.unwrap_or(TableDefinitionOptions::default());
        let schema = asked.schema.as_deref().filter(|it| !it.is_empty());
        if *temporary && schema.is_some() {
            let message = "cannot create temporary relation in non-temporary schema";
            return Err(SqlError::new(SqlState("42P16"), message));
        }
        let name = match schema {
            Some(schema) => format!("{}.{}", quoted_name(schema), quoted_name(&asked.table)),
            None => quoted_name(&asked.table),
        };
        Ok(Self {
            name,
            temporary: *temporary,
            if_missing: options.if_not_exist(),
            if_there: options.if_exists(),
            is_there: false,
        })
    }

    fn put(
        &mut self,
        session: &mut Session,
        schema: &SchemaRef,
        rows: Vec<RecordBatch>,
    ) -> SqlResult<()> {
        if !self.is_there {
            self.look(session)?;
        }
        session.register(FRAME, schema, rows)?;
        let text = match self.is_there {
            true => {
                let columns: Vec<String> =
                    schema.fields().iter().map(|it| quoted_name(it.name())).collect();
                let columns = columns.join(", ");
                format!("INSERT INTO {} ({columns}) SELECT * FROM \"{FRAME}\"", self.name)
            }
            false => {
                let kind = if self.temporary { "TEMPORARY TABLE" } else { "TABLE" };
                format!("CREATE {kind} {} AS SELECT * FROM \"{FRAME}\"", self.name)
            }
        };
        let put = execute(session, &text);
        session.unregister(FRAME);
        self.is_there = put.is_ok();
        put
    }

    /// Does what is asked where the table is there, and where it is not.
    fn look(&mut self, session: &mut Session) -> SqlResult<()> {
        let name = &self.name;
        let found = session.prepare_typed(&format!("SELECT 1 FROM {name}"), &[]);
        match found {
            Ok(_) => match self.if_there {
                TableExistsOption::Append => self.is_there = true,
                TableExistsOption::Replace => execute(session, &format!("DROP TABLE {name}"))?,
                TableExistsOption::Fail | TableExistsOption::Unspecified => {
                    let message = format!("relation {name} already exists");
                    return Err(SqlError::new(SqlState::DUPLICATE_TABLE, message));
                }
            },
            Err(error) if error.state == SqlState::UNDEFINED_TABLE => match self.if_missing {
                TableNotExistOption::Create | TableNotExistOption::Unspecified => {}
                TableNotExistOption::Fail => return Err(error),
            },
            Err(error) => return Err(error),
        }
        Ok(())
    }
}
