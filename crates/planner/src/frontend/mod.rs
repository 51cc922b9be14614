//! The door to DataFusion: names, types, functions and subqueries are resolved here, and nothing of it leaves.
//!
//! Key decision (DESIGN 7): DataFusion parses. Plain statements, those of TPC-H among them, are then bound to
//! [`plan::relation`] by `binder`. For all others DataFusion binds, coerces, folds constants and takes subqueries apart,
//! and the result is translated at once. Replacing this module replaces DataFusion.

mod average;
mod binder;
pub mod catalog;
mod constants;
pub mod errors;
mod expressions;
mod functions;
mod mentioned;
mod names;
pub mod parameters;
mod simple;
mod subqueries;
mod translate;
mod types;

use std::collections::HashSet;

use datafusion_common::DataFusionError;
use datafusion_common::arrow::datatypes::Field;
use datafusion_common::tree_node::{Transformed, TreeNode};
use datafusion_expr::{InvariantLevel, LogicalPlan};
use datafusion_optimizer::analyzer::AnalyzerRule;
use datafusion_optimizer::analyzer::type_coercion::TypeCoercion;
use datafusion_optimizer::decorrelate_lateral_join::DecorrelateLateralJoin;
use datafusion_optimizer::decorrelate_predicate_subquery::DecorrelatePredicateSubquery;
use datafusion_optimizer::replace_distinct_aggregate::ReplaceDistinctWithAggregate;
use datafusion_optimizer::rewrite_set_comparison::RewriteSetComparison;
use datafusion_optimizer::scalar_subquery_to_join::ScalarSubqueryToJoin;
use datafusion_optimizer::simplify_expressions::SimplifyExpressions;
use datafusion_optimizer::{ApplyOrder, OptimizerContext, OptimizerRule};
use datafusion_sql::planner::{ParserOptions, PlannerContext, SqlToRel};
use datafusion_sql::sqlparser::ast;
use stdx::sync::Arc;

use ::types::{CatalogView, DataType, SqlResult};
use catalog::{Context, Library};
use subqueries::Needs;

use plan::relation::Query;

/// A bound query.
pub struct Bound {
    /// The query.
    pub query: Query,
    /// Whether it would be bound to the same thing at any other time: it calls no now() and the like, which binding
    /// replaces by their values.
    pub is_stable: bool,
}

/// What binding needs and queries share.
pub struct Frontend {
    library: Library,
    coercion: TypeCoercion,
    rules: Vec<Rule>,
}

/// A rewrite of DataFusion.
struct Rule {
    rule: Box<dyn OptimizerRule + Send + Sync>,
    /// Whether a plan with these needs is in need of it.
    is_needed: fn(Needs) -> bool,
    /// Whether it may change a node, as far as a look at the node alone tells.
    concerns: fn(&LogicalPlan) -> bool,
}

impl Rule {
    fn new(
        rule: impl OptimizerRule + Send + Sync + 'static,
        is_needed: fn(Needs) -> bool,
        concerns: fn(&LogicalPlan) -> bool,
    ) -> Self {
        Self { rule: Box::new(rule), is_needed, concerns }
    }
}

impl Default for Frontend {
    fn default() -> Self {
        Self::new()
    }
}

impl Frontend {
    /// With all functions of the library.
    pub fn new() -> Self {
        let any = |_: &LogicalPlan| true;
        let rules = vec![
            Rule::new(RewriteSetComparison::new(), |it| it.comparisons, any),
            Rule::new(SimplifyExpressions::new(), |_| true, simple::may_become_simpler),
            Rule::new(ReplaceDistinctWithAggregate::new(), |it| it.distinct, any),
            // What compares with ANY or ALL has become EXISTS by now.
            Rule::new(
                DecorrelatePredicateSubquery::new(),
                |it| it.predicates || it.comparisons,
                any,
            ),
            Rule::new(ScalarSubqueryToJoin::new(), |it| it.scalars, any),
            Rule::new(DecorrelateLateralJoin::new(), |it| it.lateral, any),
        ];
        Self { library: Library::new(), coercion: TypeCoercion::new(), rules }
    }

    /// Binds a query. `parameters` are the types of those that have one.
    pub fn bind(
        &self,
        query: &ast::Query,
        parameters: &[Option<DataType>],
        catalog: &dyn CatalogView,
    ) -> SqlResult<Bound> {
        if parameters.is_empty()
            && let Some(own) = binder::bind(query, catalog)
        {
            let own = Bound { query: own, is_stable: true };
            if cfg!(debug_assertions) {
                self.compare(&own, query, catalog);
            }
            return Ok(own);
        }
        self.bind_by_library(query, parameters, catalog)
    }

    /// Panics where the library refuses what was bound without it, or finds other columns in it.
    fn compare(&self, own: &Bound, query: &ast::Query, catalog: &dyn CatalogView) {
        let columns = |it: &Bound| -> Vec<DataType> {
            let output = it.query.output.iter();
            output.map(|column| it.query.attributes[column.1].data_type).collect()
        };
        let library = self.bind_by_library(query, &[], catalog);
        let library = library.unwrap_or_else(|it| panic!("the library refuses {query}: {it}"));
        assert_eq!(columns(own), columns(&library), "the columns of {query}");
        assert_eq!(own.is_stable, library.is_stable, "whether the plan of {query} can be kept");
    }

    /// Binds a query as the library understands it.
    fn bind_by_library(
        &self,
        query: &ast::Query,
        parameters: &[Option<DataType>],
        catalog: &dyn CatalogView,
    ) -> SqlResult<Bound> {
        let wanted = mentioned::names_in(query);
        let partly = wanted.is_some();
        let bound = self.bind_shown(query, parameters, catalog, wanted);
        match bound {
            // What is wrong, and what was meant, is said with all columns in view.
            Err(_) if partly => self.bind_shown(query, parameters, catalog, None),
            bound => bound,
        }
    }

    fn bind_shown(
        &self,
        query: &ast::Query,
        parameters: &[Option<DataType>],
        catalog: &dyn CatalogView,
        wanted: Option<HashSet<String>>,
    ) -> SqlResult<Bound> {
        let context = Context::new(catalog, &self.library, wanted);
        let (plan, names) = self.logical_plan(query, parameters, &context).map_err(|it| {
            let missing = errors::missing_relation(&it, &mentioned::relations_in(query));
            missing.unwrap_or_else(|| errors::convert(it, catalog, &self.library))
        })?;
        let mut query = translate::Translator::query(&context, &plan)?;
        if names.len() == query.output.len() {
            query.output.iter_mut().zip(names).for_each(|(it, name)| it.0 = name);
        }
        Ok(Bound { query, is_stable: context.is_stable() })
    }

    /// The types that the parameters of a query take from their surroundings, where they are not declared.
    pub fn parameter_types(
        &self,
        query: &ast::Query,
        declared: &[Option<DataType>],
        catalog: &dyn CatalogView,
    ) -> SqlResult<Vec<Option<DataType>>> {
        let context = Context::new(catalog, &self.library, None);
        let convert = |it| errors::convert(it, catalog, &self.library);
        let plan = self.bound_plan(query, declared, &context).map_err(convert)?;
        let mut types = declared.to_vec();
        parameters::types_in(&plan, &mut types).map_err(convert)?;
        Ok(types)
    }

    /// The plan as the binder makes it.
    fn bound_plan(
        &self,
        query: &ast::Query,
        parameters: &[Option<DataType>],
        context: &Context<'_>,
    ) -> Result<LogicalPlan, DataFusionError> {
        let options = ParserOptions::new().with_parse_float_as_decimal(true);
        let binder = SqlToRel::new_with_options(context, options);
        let field = |it: DataType| Arc::new(Field::new("", types::to_arrow(it), true));
        let fields = parameters.iter().map(|it| it.map(field)).collect();
        let mut known = PlannerContext::new().with_prepare_param_data_types(fields);
        let statement = ast::Statement::Query(Box::new(query.clone()));
        binder.sql_statement_to_plan_with_context(statement, &mut known)
    }

    fn logical_plan(
        &self,
        query: &ast::Query,
        parameters: &[Option<DataType>],
        context: &Context<'_>,
    ) -> Result<(LogicalPlan, Vec<String>), DataFusionError> {
        let plan = self.bound_plan(query, parameters, context)?;
        let names = names::of_output(&plan);
        let plan = self.coercion.analyze(plan, &self.library.options)?;
        let needs = subqueries::check(&plan);
        if !matches!(&needs, Ok(it) if !it.unnesting()) {
            // Subqueries where none may be; this error says more than ours.
            plan.check_invariants(InvariantLevel::Executable)?;
        }
        let needs = needs?;
        let plan = match self.library.scalar("round") {
            Some(round) if needs.rounding => constants::round_before_integers(plan, &round)?,
            _ => plan,
        };
        let config = OptimizerContext::new_with_config_options(Arc::clone(&self.library.options));
        Ok((self.rewritten(plan, needs, &config)?, names))
    }

    /// Applies the rules that a plan is in need of, once each. DataFusion's own driver of rules would hash the whole plan
    /// and check it again before and after, a quarter of the time of planning.
    fn rewritten(
        &self,
        mut plan: LogicalPlan,
        needs: Needs,
        config: &OptimizerContext,
    ) -> Result<LogicalPlan, DataFusionError> {
        let unnesting = needs.unnesting();
        for Rule { rule, concerns, .. } in self.rules.iter().filter(|it| (it.is_needed)(needs)) {
            let rewrite = |node| match concerns(&node) {
                true => rule.rewrite(node, config),
                false => Ok(Transformed::no(node)),
            };
            let rewritten = match (rule.apply_order(), unnesting) {
                (None, _) => rewrite(plan)?,
                (Some(ApplyOrder::TopDown), true) => {
                    plan.transform_down_with_subqueries(rewrite)?
                }
                (Some(ApplyOrder::TopDown), false) => plan.transform_down(rewrite)?,
                (Some(ApplyOrder::BottomUp), true) => plan.transform_up_with_subqueries(rewrite)?,
                (Some(ApplyOrder::BottomUp), false) => plan.transform_up(rewrite)?,
            };
            plan = rewritten.data;
        }
        Ok(plan)
    }
}
