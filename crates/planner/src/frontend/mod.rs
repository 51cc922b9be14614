//! The door to DataFusion: names, types, functions and subqueries are resolved here, and nothing of it leaves.
//!
//! Key decision (DESIGN 7): DataFusion binds, coerces, folds constants and takes subqueries apart; the result is
//! translated at once into [`crate::logical`]. Replacing this module replaces DataFusion.

mod average;
pub mod catalog;
mod constants;
pub mod errors;
mod expressions;
pub(crate) use expressions::{cast, null};
mod functions;
mod names;
pub mod parse;
mod subqueries;
mod translate;
mod types;

use datafusion_common::DataFusionError;
use datafusion_expr::LogicalPlan;
use datafusion_optimizer::analyzer::type_coercion::TypeCoercion;
use datafusion_optimizer::analyzer::{Analyzer, AnalyzerRule};
use datafusion_optimizer::decorrelate_lateral_join::DecorrelateLateralJoin;
use datafusion_optimizer::decorrelate_predicate_subquery::DecorrelatePredicateSubquery;
use datafusion_optimizer::replace_distinct_aggregate::ReplaceDistinctWithAggregate;
use datafusion_optimizer::rewrite_set_comparison::RewriteSetComparison;
use datafusion_optimizer::scalar_subquery_to_join::ScalarSubqueryToJoin;
use datafusion_optimizer::simplify_expressions::SimplifyExpressions;
use datafusion_optimizer::{Optimizer, OptimizerContext, OptimizerRule};
use datafusion_sql::planner::{ParserOptions, SqlToRel};
use datafusion_sql::sqlparser::ast;
use stdx::sync::Arc;

use ::types::{CatalogView, SqlResult};
use catalog::{Context, Library};

use crate::logical::Query;

/// What binding needs and queries share.
pub struct Frontend {
    library: Library,
    analyzer: Analyzer,
    optimizer: Optimizer,
}

impl Default for Frontend {
    fn default() -> Self {
        Self::new()
    }
}

impl Frontend {
    /// With all functions of the library.
    pub fn new() -> Self {
        let coercion: Vec<Arc<dyn AnalyzerRule + Send + Sync>> =
            vec![Arc::new(TypeCoercion::new())];
        let rules: Vec<Arc<dyn OptimizerRule + Send + Sync>> = vec![
            Arc::new(RewriteSetComparison::new()),
            Arc::new(SimplifyExpressions::new()),
            Arc::new(ReplaceDistinctWithAggregate::new()),
            Arc::new(DecorrelatePredicateSubquery::new()),
            Arc::new(ScalarSubqueryToJoin::new()),
            Arc::new(DecorrelateLateralJoin::new()),
        ];
        Self {
            library: Library::new(),
            analyzer: Analyzer::with_rules(coercion),
            optimizer: Optimizer::with_rules(rules),
        }
    }

    /// Binds a query.
    pub fn bind(&self, query: &ast::Query, catalog: &dyn CatalogView) -> SqlResult<Query> {
        let context = Context::new(catalog, &self.library);
        let (plan, names) = self
            .logical_plan(query, &context)
            .map_err(|it| errors::convert(it, catalog, &self.library))?;
        let mut bound = translate::Translator::query(&context, &plan)?;
        if names.len() == bound.output.len() {
            bound.output.iter_mut().zip(names).for_each(|(it, name)| it.0 = name);
        }
        Ok(bound)
    }

    fn logical_plan(
        &self,
        query: &ast::Query,
        context: &Context<'_>,
    ) -> Result<(LogicalPlan, Vec<String>), DataFusionError> {
        let options = ParserOptions::new().with_parse_float_as_decimal(true);
        let binder = SqlToRel::new_with_options(context, options);
        let statement = ast::Statement::Query(Box::new(query.clone()));
        let plan = binder.sql_statement_to_plan(statement)?;
        let names = names::of_output(&plan);
        let plan = self.analyzer.execute_and_check(plan, &self.library.options, |_, _| {})?;
        subqueries::check(&plan)?;
        let plan = match self.library.scalar("round") {
            Some(round) => constants::round_before_integers(plan, &round)?,
            None => plan,
        };
        let config = OptimizerContext::new_with_config_options(Arc::clone(&self.library.options));
        Ok((self.optimizer.optimize(plan, &config, |_, _| {})?, names))
    }
}
