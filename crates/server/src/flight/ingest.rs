//! Rows of a client into a table: as many at a time as memory is meant for, all of them or none.

use arrow_array::RecordBatch;
use arrow_flight::sql::{CommandStatementIngest, TableDefinitionOptions};
use arrow_flight::sql::{TableExistsOption, TableNotExistOption};
use arrow_schema::SchemaRef;
use nodewise::{Session, SqlError, SqlResult, SqlState};
use tonic::Status;

use super::caller::Caller;
use super::door::Door;
use super::incoming::Incoming;
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
    mut incoming: Incoming,
) -> Result<i64, Status> {
    let transaction = asked.transaction_id.clone().filter(|it| !it.is_empty());
    let seat = door.seat_of(caller, transaction.as_ref())?;
    // Nothing else may come between the parts.
    let _turn = seat.turn().await;
    let is_own = transaction.is_none();
    let mut target = Target::of(&asked).map_err(|it| status(&it))?;
    let mut count = 0;
    let mut ended = false;
    let done: Result<i64, Status> = async {
        while !ended {
            let part = part(&mut incoming).await?;
            let schema = incoming.schema().cloned();
            let schema = schema.ok_or_else(|| Status::invalid_argument("there are no columns"))?;
            ended = part.is_empty();
            if ended && target.is_there {
                break;
            }
            count += part.iter().map(RecordBatch::num_rows).sum::<usize>() as i64;
            let mut into = target.clone();
            let put = move |session: &mut Session| {
                if is_own {
                    session.begin_implicit();
                }
                into.put(session, &schema, part)?;
                Ok(into)
            };
            target = seat.run(&door.shared().gate, put).await?;
        }
        Ok(count)
    }
    .await;
    if !is_own {
        return done;
    }
    let failed = done.is_err();
    let end = move |session: &mut Session| {
        if failed {
            session.fail_transaction();
        }
        session.end_implicit()
    };
    let committed = seat.run(&door.shared().gate, end).await;
    done.and_then(|count| committed.map(|()| count))
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
#[derive(Clone)]
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
            Some(schema) => format!("{}.{}", quoted(schema), quoted(&asked.table)),
            None => quoted(&asked.table),
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
                    schema.fields().iter().map(|it| quoted(it.name())).collect();
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

/// A name as SQL writes it, whatever is in it.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
