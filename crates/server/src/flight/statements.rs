//! Statements: asked once, held by a handle, or done for how many rows they change.

use arrow_schema::{DataType as ArrowType, Field, Schema, SchemaRef};
use nodewise::arrow::shown_field;
use nodewise::{
    Answer, Described, Prepared, Session, SqlError, SqlResult, SqlState, Started, Value,
};
use stdx::sync::Arc;

/// A statement that is held for a client, with the rows of values that it has bound.
pub struct Held {
    pub text: Arc<str>,
    pub prepared: Prepared,
    pub values: Vec<Vec<Value>>,
}

impl Held {
    /// Prepares a statement. A text of several is refused.
    pub fn prepare(session: &mut Session, text: &str) -> SqlResult<Self> {
        let prepared = session.prepare_typed(text, &[])?;
        Ok(Self { text: text.into(), prepared, values: Vec::new() })
    }

    /// The rows of values with which it runs: without parameters one row of none.
    pub fn runs(&self) -> SqlResult<Vec<Vec<Value>>> {
        let wanted = self.prepared.parameters().len();
        match (wanted, self.values.is_empty()) {
            (0, _) => Ok(vec![Vec::new()]),
            (_, false) => Ok(self.values.clone()),
            (_, true) => {
                let message =
                    format!("the statement has {wanted} parameters and no values are bound");
                Err(SqlError::new(SqlState("07002"), message))
            }
        }
    }

    /// Its parameters as columns.
    pub fn parameters(&self) -> Schema {
        let field = |(place, of): (usize, &Option<nodewise::DataType>)| {
            let name = format!("${}", place + 1);
            match of {
                Some(of) => shown_field(&name, *of),
                None => Field::new(name, ArrowType::Null, true),
            }
        };
        Schema::new(self.prepared.parameters().iter().enumerate().map(field).collect::<Vec<_>>())
    }
}

/// The columns of what a statement gives; none of one without rows.
pub fn columns(rows: Option<&Described>) -> SchemaRef {
    rows.map_or_else(|| Arc::new(Schema::empty()), Described::with_lists)
}

/// Runs a statement to its end for each row of values; tells how many rows it has changed or given: none where it counts none, as drivers
/// take other numbers for rows that are to come. Several are one transaction.
pub fn run(session: &mut Session, held: &Held) -> SqlResult<i64> {
    let runs = held.runs()?;
    let several = runs.len() > 1;
    let mut count = 0;
    let mut each = || {
        for values in &runs {
            if several {
                session.begin_implicit();
            }
            count += changed(&session.execute_prepared(&held.prepared, values)?);
        }
        Ok(())
    };
    let done = each();
    if done.is_err() {
        session.fail_transaction();
    }
    let ended = session.end_implicit();
    done.and(ended).map(|()| count)
}

/// Runs a statement whose rows nobody wants.
pub fn execute(session: &mut Session, text: &str) -> SqlResult<()> {
    let prepared = session.prepare_typed(text, &[])?;
    session.execute_prepared(&prepared, &[]).map(|_| ())
}

/// Why COPY of a client is not for this door; the statement is ended.
pub fn refuse_copy(session: &mut Session, started: Started) -> SqlError {
    let of = |way: &str| {
        SqlError::unsupported(format!("COPY {way} needs a client of the wire"))
            .with_hint("over Flight SQL, query for rows out, and ingest rows in")
    };
    match started {
        Started::CopyOut(copy) => session.fail(copy.cursor, of("TO STDOUT")),
        Started::CopyIn(copy) => session.copy_failed(*copy, of("FROM STDIN")),
        Started::Done(_) | Started::Rows(_) => SqlError::internal("this is no COPY"),
    }
}

/// The rows that a statement has changed: the last word of what it is told by.
fn changed(answer: &Answer) -> i64 {
    answer.tag.rsplit(' ').next().and_then(|it| it.parse().ok()).unwrap_or(0)
}
