//! SET VARIABLE: values of a session by names, which `getvariable('name')` asks for.

use binder::ParsedQuery;
use stdx::sync::Arc;
use types::{DataType, SqlError, SqlResult, SqlState, Value};

use crate::answer::done;
use crate::query::Finished;
use crate::{Answer, CancelToken, Session};

impl Session {
    pub(crate) fn set_variable(
        &mut self,
        name: &str,
        query: Option<&ParsedQuery>,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        let value = query.map(|it| self.only_value(it, cancel)).transpose()?;
        let all = Arc::make_mut(&mut self.settings.variables);
        match value {
            Some(value) => all.insert(name.to_lowercase(), value),
            None => all.remove(&name.to_lowercase()),
        };
        Ok(done(if query.is_some() { "SET" } else { "RESET" }))
    }

    /// The value of a query of one row and one column, with its type.
    fn only_value(
        &mut self,
        query: &ParsedQuery,
        cancel: &CancelToken,
    ) -> SqlResult<(Value, DataType)> {
        let Finished { executed, .. } = self.run_query(query, cancel)?;
        let rows = &executed.rows;
        let count: usize = rows.batches.iter().map(|it| it.rows()).sum();
        let batch = rows.batches.iter().find(|it| it.rows() == 1);
        let batch = batch.map(|it| it.batch()).transpose()?;
        let columns = batch.as_ref().map_or(&[][..], |it| &it.columns);
        match (columns, &rows.layout[..]) {
            ([column], [shape]) if count == 1 => Ok((column.value(shape, 0), shape.data_type)),
            _ => {
                let message = "a variable takes one value";
                Err(SqlError::new(SqlState::CARDINALITY_VIOLATION, message))
            }
        }
    }
}
