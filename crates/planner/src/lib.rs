//! SQL to pipelines: parse, bind, order joins, cut into pipelines.
//!
//! Key decision: DataFusion's logical crates parse, and bind what is not plain (module [`frontend`], the only one that
//! knows them);
//! everything that decides speed works on our own relations ([`logical`]), in the order
//! `rewrite` (filters first, joins flattened into regions, group keys cut) -> `order` (dynamic programming on exact
//! statistics) -> `lower` (pipelines, transfers).
//!
//! - Invariant: only `frontend` and `statement` name a type of DataFusion or its parser.
//! - Invariant: a query that cannot be planned rightly is an error with a SQLSTATE, never a plan with a wrong answer.
//! - Invariant: planning depends on the query and the catalog alone, so equal inputs give equal plans.
#![forbid(unsafe_code)]

pub mod design;
pub mod estimate;
pub mod frontend;
pub mod logical;
pub mod lower;
pub mod rewrite;
pub mod statement;

pub use design::{
    DesignClause, NodeClause, NodeDemand, NodeRange, NodeWay, PartitionClause, PlacedItem,
    TableChange,
};
pub use statement::{
    Arguments, ColumnDefinition, ExplainFormat, KeyDefinition, ParsedQuery, Statement,
};

use plan::Plan;
use types::{CatalogView, DataType, SqlError, SqlResult, Value};

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
        frontend::parse::parse(sql)
    }

    /// The files that a query names as tables (`FROM 'f.parquet'`), each once. The caller loads them and offers them in
    /// the catalog under exactly these names.
    pub fn files_in(&self, query: &ParsedQuery) -> Vec<String> {
        frontend::parse::files_in(query)
    }

    /// The file, when a query is no more than all columns and rows of one: such a file can be loaded as it is.
    pub fn whole_file(&self, query: &ParsedQuery) -> Option<String> {
        frontend::parse::whole_file(query)
    }

    /// Plans a query on a picture of the tables.
    pub fn plan_query(&self, query: &ParsedQuery, catalog: &dyn CatalogView) -> SqlResult<Plan> {
        Ok(self.plan_with_parameters(query, &[], catalog)?.plan)
    }

    /// How many parameters a statement has: the greatest number that it names.
    pub fn parameters_in(&self, statement: &Statement) -> SqlResult<usize> {
        frontend::parameters::count(statement)
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
        frontend::parameters::substitute(query, values)
    }

    /// Plans a query whose parameters have these types; they stay in the plan as [`plan::ExprKind::Parameter`].
    pub fn plan_with_parameters(
        &self,
        query: &ParsedQuery,
        parameters: &[Option<DataType>],
        catalog: &dyn CatalogView,
    ) -> SqlResult<Planned> {
        let frontend::Bound { query: mut bound, is_stable } =
            self.frontend.bind(&query.0, parameters, catalog)?;
        rewrite::optimise(&mut bound)?;
        let plan = lower::lower(&bound)?;
        if cfg!(debug_assertions) {
            plan::validate(&plan)
                .map_err(|it| SqlError::internal(format!("invalid plan: {it}")))?;
        }
        Ok(Planned { plan, is_stable })
    }
}
