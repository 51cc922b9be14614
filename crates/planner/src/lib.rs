//! The door to DataFusion: queries to relations, and on to plans.
//!
//! - Invariant: only `frontend` names a type of DataFusion.
#![forbid(unsafe_code)]

pub mod frontend;

pub use binder::{
    Arguments, ColumnDefinition, DesignClause, ExplainFormat, KeyDefinition, NodeClause,
    NodeDemand, NodeRange, NodeWay, ParsedQuery, PartitionClause, PlacedItem, Statement,
    TableChange,
};

use plan::Plan;
use types::{CatalogView, DataType, SqlResult, Value};

/// A plan, and whether it may be used again.
pub struct Planned {
    /// The plan.
    pub plan: Plan,
    /// Whether planning at another time gives the same plan as long as the tables do not change.
    pub is_stable: bool,
}

/// Plans queries. Made once, used by all sessions.
pub struct Planner {
    frontend: frontend::Frontend,
}

impl Default for Planner {
    fn default() -> Self {
        Self::new()
    }
}

impl Planner {
    /// A planner with all functions of the library.
    pub fn new() -> Self {
        Self { frontend: frontend::Frontend::new() }
    }

    /// Parses statements separated by semicolons.
    pub fn parse(&self, sql: &str) -> SqlResult<Vec<Statement>> {
        binder::parse::parse(sql)
    }

    /// The files that a query names as tables (`FROM 'f.parquet'`), each once. The caller loads them and offers them in
    /// the catalog under exactly these names.
    pub fn files_in(&self, query: &ParsedQuery) -> Vec<String> {
        binder::parse::files_in(query)
    }

    /// The file, when a query is no more than all columns and rows of one: such a file can be loaded as it is.
    pub fn whole_file(&self, query: &ParsedQuery) -> Option<String> {
        binder::parse::whole_file(query)
    }

    /// Plans a query on a picture of the tables.
    pub fn plan_query(&self, query: &ParsedQuery, catalog: &dyn CatalogView) -> SqlResult<Plan> {
        Ok(self.plan_with_parameters(query, &[], catalog)?.plan)
    }

    /// How many parameters a statement has: the greatest number that it names.
    pub fn parameters_in(&self, statement: &Statement) -> SqlResult<usize> {
        binder::parameters::count(statement)
    }

    /// The types of the parameters of a query: those declared, and what the surroundings tell of the others.
    pub fn parameter_types(
        &self,
        query: &ParsedQuery,
        declared: &[Option<DataType>],
        catalog: &dyn CatalogView,
    ) -> SqlResult<Vec<Option<DataType>>> {
        self.frontend.parameter_types(&query.0, declared, catalog)
    }

    /// The query with values in the place of its parameters, converted where a type is given.
    pub fn substitute(
        &self,
        query: &ParsedQuery,
        values: &[(Value, Option<DataType>)],
    ) -> SqlResult<ParsedQuery> {
        binder::parameters::substitute(query, values)
    }

    /// Plans a query whose parameters have these types; they stay in the plan as [`plan::ExprKind::Parameter`].
    pub fn plan_with_parameters(
        &self,
        query: &ParsedQuery,
        parameters: &[Option<DataType>],
        catalog: &dyn CatalogView,
    ) -> SqlResult<Planned> {
        let frontend::Bound { query, is_stable } =
            self.frontend.bind(&query.0, parameters, catalog)?;
        let plan = optimizer::plan(query)?;
        Ok(Planned { plan, is_stable })
    }
}
