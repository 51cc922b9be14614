//! CALL: what is done or asked beside SQL.

use arrow_array::RecordBatch;
use memory::Misplaced;
use stdx::sync::Arc;
use storage::Table;
use types::{SqlError, SqlResult, SqlState, names};

use crate::answer::done;
use crate::reshape::Reshape;
use crate::views::ViewBuilder;
use crate::views::placement::placed;
use crate::{Answer, CancelToken, Session, views};

/// Asks the machine about every page of tables.
const VERIFY_PLACEMENT: &str = "verify_placement";
/// Does what was DEFERRED.
const APPLY_PLACEMENT: &str = "apply_placement";
/// Puts tables together anew whose rows have changed.
const MERGE: &str = "merge";
/// Tells what the placer would do.
const ADVISE_PLACEMENT: &str = "advise_placement";

impl Session {
    /// CALL.
    pub(crate) fn call(
        &mut self,
        procedure: &str,
        arguments: &[String],
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        let schema = format!("{}.", views::SCHEMA);
        match procedure.strip_prefix(&schema).unwrap_or(procedure) {
            VERIFY_PLACEMENT => self.verify_placement(&self.named(arguments)?, cancel),
            APPLY_PLACEMENT => {
                for table in self.named(arguments)? {
                    self.change_table(&table.name, cancel, |_| Ok(vec![Reshape::FollowDeferred]))?;
                }
                Ok(done("CALL"))
            }
            MERGE => {
                for table in self.named(arguments)?.iter().filter(|it| it.has_changed()) {
                    self.change_table(&table.name, cancel, |_| Ok(vec![Reshape::Merge]))?;
                }
                Ok(done("CALL"))
            }
            ADVISE_PLACEMENT => {
                if let Some(extra) = arguments.first() {
                    let message = format!("{schema}{ADVISE_PLACEMENT} takes no argument, not '{extra}'");
                    return Err(SqlError::new(SqlState::UNDEFINED_FUNCTION, message)
                        .with_hint("it looks at all tables"));
                }
                rows_of_call(views::placer::advice(&self.database)?)
            }
            _ => Err(SqlError::new(
                SqlState::UNDEFINED_FUNCTION,
                format!("there is no procedure {procedure}"),
            )
            .with_hint(format!(
                "the procedures are {schema}{VERIFY_PLACEMENT}, {schema}{APPLY_PLACEMENT}, {schema}{MERGE} and \
                 {schema}{ADVISE_PLACEMENT}"
            ))),
        }
    }

    /// The tables that arguments name; all without arguments.
    fn named(&self, arguments: &[String]) -> SqlResult<Vec<Arc<Table>>> {
        if arguments.is_empty() {
            return Ok(self.snapshot().tables());
        }
        arguments.iter().map(|it| self.existing(&self.existing_name(it, false)?)).collect()
    }

    /// A row per component: how many of its pages are where its map says, by the answer of the machine.
    fn verify_placement(&self, tables: &[Arc<Table>], cancel: &CancelToken) -> SqlResult<Answer> {
        let mut view = ViewBuilder::new(&[
            ("table_name", 't'),
            ("column_name", 't'),
            ("part", 'i'),
            ("component", 't'),
            ("copy", 'i'),
            ("pages", 'i'),
            ("right", 'i'),
            ("wrong", 'i'),
            ("first_wrong", 't'),
            ("recorded_node", 'i'),
            ("found_node", 'i'),
        ]);
        for table in tables {
            for component in placed(table) {
                if cancel.is_cancelled() {
                    let message = "the statement was cancelled";
                    return Err(SqlError::new(SqlState::QUERY_CANCELED, message));
                }
                let segment = component.segment;
                let misplaced =
                    segment.verify().map_err(|it| crate::database::machine_error(&it))?;
                let page_bytes = segment.page_map().page_bytes();
                let start = segment.address();
                let pages = (start + segment.bytes()).div_ceil(page_bytes) - start / page_bytes;
                let wrong: usize = misplaced.iter().map(|it| it.pages).sum();
                let first = misplaced.first();
                let node = |of: fn(&Misplaced) -> Option<hardware::NodeId>| {
                    first.and_then(of).map(|it| u64::from(it.0))
                };
                view.row([
                    table.name.as_str().into(),
                    names::shown(&table.column(component.column).name).into(),
                    component.part.map(|it| it as u64).into(),
                    component.name.into(),
                    component.replica.map(|it| it as u64).into(),
                    (pages as u64).into(),
                    ((pages - wrong) as u64).into(),
                    (wrong as u64).into(),
                    first.map(|it| format!("{:#x}", it.base)).into(),
                    node(|it| it.recorded).into(),
                    node(|it| it.found).into(),
                ]);
            }
        }
        rows_of_call(view.finish()?)
    }
}

/// Rows as the answer to CALL.
fn rows_of_call(batch: RecordBatch) -> SqlResult<Answer> {
    let fields = batch.schema();
    let types = fields.fields().iter().map(|it| storage::schema::sql_type(it, "CALL"));
    let types = types.collect::<SqlResult<_>>()?;
    Ok(Answer { types, schema: batch.schema(), batches: vec![batch], ..done("CALL") })
}
