//! From a parsed query to a plan: binding, then optimising.

use binder::ParsedQuery;
use binder::bind::{Asked, Bound, BoundChange, Environment, ParameterTypes};
use plan::Plan;
use stdx::sync::{Arc, OnceLock};
use types::{CatalogView, DataType, SqlError, SqlResult, SqlState, TableId};

use crate::planned_change::{PlannedChange, kept_columns};
use crate::reads::TablesRead;
use crate::result::held_schema_of;
use crate::statement_catalog::StatementCatalog;

/// A plan, and what binding found out beside it.
pub(crate) struct Planned {
    /// The plan.
    pub plan: Plan,
    /// The tables of which its scans do not tell all that is read.
    pub unknown: Vec<TableId>,
    /// Whether planning at another time gives the same plan as long as the tables do not change.
    pub is_stable: bool,
    /// The types of the parameters.
    pub parameters: ParameterTypes,
    /// The rights that it needs.
    pub asked: Arc<Asked>,
}

/// Plans a statement that changes rows and that nobody gives parameters to.
pub(crate) fn plan_plain_change(
    statement: &ParsedQuery,
    catalog: &StatementCatalog<'_>,
) -> SqlResult<PlannedChange> {
    let planned = plan_change(statement, (&[], None), catalog)?;
    no_parameters(&planned.parameters.types)?;
    Ok(planned)
}

/// Plans a statement that changes rows. Parameters stay in the plan; so does the time of the statement, as parameters from
/// `moments` on, where that is said.
pub(crate) fn plan_change(
    statement: &ParsedQuery,
    (parameters, moments): (&[Option<DataType>], Option<usize>),
    catalog: &StatementCatalog<'_>,
) -> SqlResult<PlannedChange> {
    let interrupt = catalog.interrupt();
    let check = || interrupt.check();
    let now = catalog.began();
    let environment = Environment { catalog, session: catalog, now, moments, check: &check };
    let bound = catalog.noted("bind", || {
        catalog.planned(binder::bind::bind_change(&statement.0, parameters, &environment))
    });
    let BoundChange {
        kind,
        table,
        query,
        returning,
        checks,
        keys,
        locks,
        is_stable,
        parameters,
        asked,
    } = bound?;
    catalog.check_asked(&asked)?;
    let asked = Arc::new(asked);
    let read = TablesRead::of(&query);
    let plan =
        catalog.noted("plan", || optimizer::plan_unless(query, catalog.planning(), interrupt))?;
    let unknown = read.unknown(&plan);
    let kept = kept_columns(kind, &plan);
    let (held, stored) = (held_schema_of(&plan.output), OnceLock::new());
    Ok(PlannedChange {
        kind,
        table,
        kept,
        held,
        stored,
        plan,
        unknown,
        returning,
        checks,
        keys,
        locks,
        is_stable,
        parameters,
        asked,
    })
}

/// Binds a query that nobody gives parameters to and that only reads.
pub(crate) fn bound_plain(
    query: &ParsedQuery,
    catalog: &StatementCatalog<'_>,
) -> SqlResult<plan::relation::Query> {
    if query.locks_rows() {
        return Err(SqlError::unsupported("FOR UPDATE over shards"));
    }
    let Bound { query, parameters, .. } = bound(query, &[], catalog)?;
    no_parameters(&parameters.types)?;
    Ok(query)
}

/// Binds a query, and sees to it that the session has the rights that it needs.
fn bound(
    query: &ParsedQuery,
    parameters: &[Option<DataType>],
    catalog: &StatementCatalog<'_>,
) -> SqlResult<Bound> {
    let interrupt = catalog.interrupt();
    let check = || interrupt.check();
    let (now, moments) = (catalog.began(), None);
    let environment = Environment { catalog, session: catalog, now, moments, check: &check };
    let bound = catalog.noted("bind", || {
        catalog.planned(binder::bind::bind(&query.0, parameters, &environment))
    })?;
    catalog.check_asked(&bound.asked)?;
    Ok(bound)
}

/// Plans a query that nobody gives parameters to.
pub(crate) fn plan_plain(
    query: &ParsedQuery,
    catalog: &StatementCatalog<'_>,
) -> SqlResult<Planned> {
    let planned = plan_query(query, &[], catalog)?;
    no_parameters(&planned.parameters.types)?;
    Ok(planned)
}

fn no_parameters(parameters: &[Option<DataType>]) -> SqlResult<()> {
    match parameters.len() {
        0 => Ok(()),
        number => {
            let message = format!("there is no parameter ${number}");
            let hint = "only PREPARE and prepared statements have parameters";
            Err(SqlError::new(SqlState::UNDEFINED_PARAMETER, message).with_hint(hint))
        }
    }
}

/// Plans a query on a picture of the tables. Parameters stay in the plan as [`plan::ExprKind::Parameter`].
pub(crate) fn plan_query(
    query: &ParsedQuery,
    parameters: &[Option<DataType>],
    catalog: &StatementCatalog<'_>,
) -> SqlResult<Planned> {
    let Bound { query, is_stable, parameters, asked } = bound(query, parameters, catalog)?;
    let asked = Arc::new(asked);
    let read = TablesRead::of(&query);
    let interrupt = catalog.interrupt();
    let plan =
        catalog.noted("plan", || optimizer::plan_unless(query, catalog.planning(), interrupt))?;
    let unknown = read.unknown(&plan);
    Ok(Planned { plan, unknown, is_stable, parameters, asked })
}
