//! Statements over PIVOTs whose columns are the values that are in tables ([`binder::pivots`]).

use binder::Statement;
use types::{SqlError, SqlResult};

use crate::answer::done;
use crate::prepared::Inner;
use crate::starting::Begun;
use crate::text::Cells;
use crate::{CancelToken, Session};

impl Session {
    /// The statement with the values that are there now as the columns of its PIVOTs. They are asked for by a statement before it.
    ///
    /// # Errors
    /// Those of the queries for them.
    pub(crate) fn with_pivots(&mut self, text: &str, of: Statement) -> SqlResult<Statement> {
        let mut filled = None;
        self.start(text, |session, cancel| {
            filled = Some(session.filled_pivots(of, cancel)?);
            Ok(Begun::Answer(done("")))
        })?;
        filled.ok_or_else(|| SqlError::internal("a statement without its PIVOTs"))
    }

    /// [`Session::with_pivots`] within a statement.
    pub(crate) fn filled_pivots(
        &mut self,
        mut statement: Statement,
        cancel: &CancelToken,
    ) -> SqlResult<Statement> {
        self.refresh()?;
        while let Some(query) = binder::pivots::next(&mut statement)? {
            let values = self.listed(Statement::Query { query }, cancel)?;
            binder::pivots::fill(&mut statement, &values);
        }
        Ok(statement)
    }

    /// Checks that a prepared statement has the columns that its PIVOTs would have now.
    ///
    /// # Errors
    /// 0A000, upon which drivers prepare anew.
    pub(crate) fn check_pivots(&mut self, of: &Inner, cancel: &CancelToken) -> SqlResult<()> {
        match &of.over {
            Some(over) if Some(self.filled_pivots(over.clone(), cancel)?) != of.statement => {
                Err(SqlError::unsupported("cached plan must not change result type"))
            }
            _ => Ok(()),
        }
    }

    /// The texts of the first column of a query.
    fn listed(&mut self, query: Statement, cancel: &CancelToken) -> SqlResult<Vec<String>> {
        let answer = self.run_within(query, cancel)?;
        let of_batch = answer.batches.iter().flat_map(|batch| {
            let cells = Cells::new(batch.column(0));
            (0..batch.num_rows()).filter_map(move |row| cells.text(row))
        });
        Ok(of_batch.collect())
    }
}
