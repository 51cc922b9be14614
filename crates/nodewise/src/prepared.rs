//! A prepared statement, and what is kept of planning it.

use arrow_schema::SchemaRef;
use binder::bind::{Asked, ParameterTypes};
use binder::{CursorStatement, Statement, TransactionStatement};
use optimizer::Options;
use plan::{OutputColumn, Plan};
use stdx::stack::Deep;
use stdx::sync::{Arc, Mutex, OnceLock};
use types::{DataType, Styles, TableId, Value};

use crate::answer::Described;
use crate::basis::Basis;
use crate::planned_change::PlannedChange;

/// A prepared statement; may be shared by sessions of its database.
#[derive(Clone, Debug)]
pub struct Prepared(pub(crate) Arc<Deep<Inner>>);

#[derive(Debug)]
pub(crate) struct Inner {
    /// None of a text without one.
    pub(crate) statement: Option<Statement>,
    /// The statement before its PIVOTs had the values that were there; they must be the same when it runs.
    pub(crate) over: Option<Statement>,
    /// What its session is said to run.
    pub(crate) text: Arc<str>,
    /// When it was prepared: microseconds from 1970-01-01.
    pub(crate) made: i64,
    /// The styles in which its constants are read.
    pub(crate) styles: Styles,
    /// Whether PREPARE did it.
    pub(crate) from_sql: bool,
    pub(crate) declared: Vec<Option<DataType>>,
    pub(crate) parameters: ParameterTypes,
    pub(crate) generic: Mutex<Option<Arc<Generic>>>,
}

/// What planning for any values came to, on some tables.
#[derive(Debug)]
pub(crate) struct Generic {
    pub(crate) basis: Arc<Basis>,
    pub(crate) options: Options,
    /// The number of the first parameter that stands for the time of the statement, if one does.
    pub(crate) moments: Option<usize>,
    pub(crate) plan: GenericPlan,
    /// The plan as it ran last, for its next values.
    pub(crate) filled: Mutex<Option<Box<Plan>>>,
    pub(crate) parameters: ParameterTypes,
    /// The rights that it needs, asked at each run.
    pub(crate) asked: Arc<Asked>,
    /// The columns of its rows, empty for none; `None` where they are known when it runs.
    pub(crate) output: Option<Vec<OutputColumn>>,
    /// The same for a client, once one has asked.
    pub(crate) described: OnceLock<Described>,
}

/// Bytes of a text that is not kept in a plan.
const LONG_TEXT: usize = 1024;

impl Generic {
    /// Of a plan that rests on something, as it was made under some options; with the types of its parameters, the columns of its
    /// rows, and what its rights are asked for.
    pub(crate) fn new(
        (basis, options): (Arc<Basis>, Options),
        moments: Option<usize>,
        plan: GenericPlan,
        (parameters, output, asked): (ParameterTypes, Option<Vec<OutputColumn>>, Arc<Asked>),
    ) -> Self {
        let (filled, described) = (Mutex::default(), OnceLock::new());
        Self { basis, options, moments, plan, filled, parameters, output, asked, described }
    }

    /// The rows that it gives, as far as that is known before it runs; nothing of one without rows.
    pub(crate) fn described(&self) -> Option<Described> {
        let output = self.output.as_ref().filter(|it| !it.is_empty())?;
        Some(self.described.get_or_init(|| Described::of(output)).clone())
    }

    /// Runs something with a plan for some values.
    pub(crate) fn with_values<T>(
        &self,
        plan: &Plan,
        values: &[Value],
        run: impl FnOnce(&Plan) -> T,
    ) -> T {
        let filled = self.filled.lock().take();
        let plan = match filled {
            Some(mut filled) => {
                plan.fill_again(&mut filled, values);
                filled
            }
            None => Box::new(plan.with_parameters(values)),
        };
        let done = run(&plan);
        let is_long = |it: &Value| matches!(it, Value::Text(it) if it.len() > LONG_TEXT);
        if !values.iter().any(is_long) {
            *self.filled.lock() = Some(plan);
        }
        done
    }
}

/// A plan for any values.
#[derive(Clone, Debug)]
pub(crate) enum GenericPlan {
    /// It has to be planned for the values.
    None,
    /// With the tables of which its scans do not tell all that is read.
    Query(Arc<Plan>, SchemaRef, Vec<TableId>),
    Change(Arc<PlannedChange>),
}

impl Prepared {
    /// The types of its parameters, in order, when it was prepared; `None` for one that takes a value of any type.
    pub fn parameters(&self) -> &[Option<DataType>] {
        &self.0.parameters.types
    }

    /// The domain that told the type of a parameter, with its schema ([`types::names`]), if one did.
    pub fn parameter_domain(&self, index: usize) -> Option<&str> {
        self.0.parameters.domains.get(&index).map(|it| &**it)
    }

    /// Whether it is a query or a change of rows, whose columns are known when it is prepared.
    pub fn is_planned(&self) -> bool {
        self.0.statement.as_ref().is_some_and(is_planned)
    }

    /// Whether it is a text without a statement.
    pub fn is_empty(&self) -> bool {
        self.0.statement.is_none()
    }

    /// Whether it is the same one, and not another of the same text.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether it is BEGIN, COMMIT or the like.
    pub fn is_transaction(&self) -> bool {
        matches!(self.0.statement, Some(Statement::Transaction(_)))
    }

    /// Whether it ends a transaction, and is thus allowed in one that failed.
    pub fn ends_transaction(&self) -> bool {
        self.0.statement.as_ref().is_some_and(ends_transaction)
    }
}

/// Whether a statement is planned for any values.
pub(crate) fn is_planned(statement: &Statement) -> bool {
    matches!(
        statement,
        Statement::Query { .. }
            | Statement::Change { .. }
            | Statement::InSteps { .. }
            | Statement::Cursor(CursorStatement::Declare { .. })
    )
}

/// Whether a statement ends a transaction, or goes back in it.
fn ends_transaction(statement: &Statement) -> bool {
    use TransactionStatement::{Commit, Rollback, RollbackTo};
    matches!(statement, Statement::Transaction(Commit { .. } | Rollback { .. } | RollbackTo { .. }))
}
