//! DataFusion's logical plan as our relations.

use datafusion_common::{DFSchema, DataFusionError, JoinType, NullEquality};
use datafusion_expr::{
    Expr as DfExpr, ExprSchemable, FetchType, LogicalPlan, SkipType, SortExpr, logical_plan as df,
};
use plan::{Aggregate, AggregateFunction, BinaryOperator, Expr, SortKey};
use stdx::sync::Arc;
use types::{SqlError, SqlResult, Value};

use super::catalog::{Context, Source};
use super::expressions::Scope;
use super::types::from_arrow;
use plan::build::{cast, compare, strip_integer_cast};
use plan::relation::{
    Attr, Attribute, JoinRel, Query, Rel, RelJoin, ScalarQuery, ScanRel, bare, split_conjunction,
};

/// The state of one translation.
pub struct Translator<'a> {
    /// Tables and functions.
    pub context: &'a Context<'a>,
    /// Attributes made so far.
    pub attributes: Vec<Attribute>,
    /// Scalar subqueries met so far.
    pub scalars: Vec<ScalarQuery>,
}

/// A relation and the attribute of each field of the plan it was made from.
type Translated = (Rel, Vec<Attr>);

impl<'a> Translator<'a> {
    /// Translates a whole plan.
    pub fn query(context: &'a Context<'a>, plan: &LogicalPlan) -> SqlResult<Query> {
        let mut this = Self { context, attributes: Vec::new(), scalars: Vec::new() };
        let (root, attrs) = this.rel(plan)?;
        let names = plan.schema().fields().iter().map(|it| it.name().clone());
        let output = names.zip(attrs).collect();
        Ok(Query {
            attributes: this.attributes,
            scalars: this.scalars,
            shared: Vec::new(),
            root,
            output,
        })
    }

    /// An error of DataFusion as one of ours.
    pub fn convert(&self, error: DataFusionError) -> SqlError {
        super::errors::convert(error, self.context.catalog, self.context.library)
    }

    fn attribute(&mut self, data_type: types::DataType, nullable: bool) -> Attr {
        self.attributes.push(Attribute { data_type, nullable });
        self.attributes.len() - 1
    }

    /// The attribute of an expression: its own when it is bare, else a new one.
    fn name_expr(&mut self, expr: &Expr, nullable: bool) -> Attr {
        bare(expr).unwrap_or_else(|| self.attribute(expr.data_type, nullable))
    }

    /// Translates a plan.
    pub fn rel(&mut self, plan: &LogicalPlan) -> SqlResult<Translated> {
        match plan {
            LogicalPlan::Projection(it) => self.projection(it),
            LogicalPlan::Filter(it) => {
                let (input, attrs) = self.rel(&it.input)?;
                let scope = Scope { schema: it.input.schema(), attrs: &attrs };
                let mut predicates = Vec::new();
                split_conjunction(self.expr(&it.predicate, scope)?, &mut predicates);
                Ok((input.filtered(predicates), attrs))
            }
            LogicalPlan::Aggregate(it) => self.aggregate(it),
            LogicalPlan::Sort(it) => {
                let (input, attrs) = self.rel(&it.input)?;
                let scope = Scope { schema: it.input.schema(), attrs: &attrs };
                let keys = self.sort_keys(&it.expr, scope)?;
                let limit = it.fetch.map(|it| it as u64);
                let (input, partition) = (Box::new(input), Vec::new());
                Ok((Rel::Sort { input, partition, keys, offset: 0, limit }, attrs))
            }
            LogicalPlan::Join(it) => self.join(it),
            LogicalPlan::Union(it) => self.union(it),
            LogicalPlan::TableScan(it) => self.scan(it),
            LogicalPlan::EmptyRelation(it) => {
                let fields = it.schema.fields();
                let output = fields
                    .iter()
                    .map(|it| Ok(self.attribute(from_arrow(it.data_type())?, true)))
                    .collect::<SqlResult<Vec<_>>>()?;
                let rows = if it.produce_one_row { vec![vec![]] } else { vec![] };
                Ok((Rel::Values { output: output.clone(), rows }, output))
            }
            LogicalPlan::Subquery(it) => {
                if !it.outer_ref_columns.is_empty() {
                    return Err(SqlError::unsupported("this LATERAL subquery is not supported")
                        .with_hint("rewrite it as a join"));
                }
                self.rel(&it.subquery)
            }
            LogicalPlan::SubqueryAlias(it) => self.rel(&it.input),
            LogicalPlan::Limit(it) => self.limit(it),
            LogicalPlan::Values(it) => self.values(it),
            LogicalPlan::Distinct(df::Distinct::All(input)) => {
                let (input, attrs) = self.rel(input)?;
                let columns = attrs.iter();
                let keys =
                    columns.map(|it| (*it, Expr::column(*it, self.attributes[*it].data_type)));
                let keys = keys.collect();
                Ok((aggregate(input, keys, Vec::new()), attrs))
            }
            LogicalPlan::Distinct(df::Distinct::On(_)) => {
                Err(SqlError::unsupported("DISTINCT ON is not supported"))
            }
            LogicalPlan::Window(_) => {
                Err(SqlError::unsupported("window functions (OVER) are not supported"))
            }
            LogicalPlan::RecursiveQuery(_) => {
                Err(SqlError::unsupported("WITH RECURSIVE is not supported"))
            }
            other => Err(SqlError::unsupported(format!(
                "this is not supported in a query: {}",
                other.display()
            ))),
        }
    }

    fn projection(&mut self, it: &df::Projection) -> SqlResult<Translated> {
        let (input, attrs) = self.rel(&it.input)?;
        let scope = Scope { schema: it.input.schema(), attrs: &attrs };
        let mut made: Vec<(Attr, Expr)> = Vec::new();
        let mut output = Vec::with_capacity(it.expr.len());
        for (expr, field) in it.expr.iter().zip(it.schema.fields()) {
            let expr = self.expr(expr, scope)?;
            if let Some((attr, _)) = made.iter().find(|it| it.1 == expr) {
                output.push(*attr);
                continue;
            }
            let attr = self.name_expr(&expr, field.is_nullable());
            output.push(attr);
            if bare(&expr).is_none() {
                made.push((attr, expr));
            }
        }
        let rel = match made.is_empty() {
            true => input,
            false => Rel::Map { input: Box::new(input), exprs: made },
        };
        Ok((rel, output))
    }

    fn sort_keys(&mut self, exprs: &[SortExpr], scope: Scope<'_>) -> SqlResult<Vec<SortKey>> {
        let key = |it: &SortExpr| {
            let expr = self.expr(&it.expr, scope)?;
            Ok(SortKey { expr, descending: !it.asc, nulls_first: it.nulls_first })
        };
        exprs.iter().map(key).collect()
    }

    fn aggregate(&mut self, it: &df::Aggregate) -> SqlResult<Translated> {
        let (input, attrs) = self.rel(&it.input)?;
        let scope = Scope { schema: it.input.schema(), attrs: &attrs };
        let mut keys: Vec<(Attr, Expr)> = Vec::new();
        let mut output = Vec::new();
        for expr in &it.group_expr {
            if matches!(expr, DfExpr::GroupingSet(_)) {
                return Err(SqlError::unsupported(
                    "GROUPING SETS, CUBE and ROLLUP are not supported",
                ));
            }
            let expr = self.expr(expr, scope)?;
            let known = keys.iter().find(|it| it.1 == expr).map(|it| it.0);
            let attr = known.unwrap_or_else(|| self.name_expr(&expr, true));
            output.push(attr);
            if known.is_none() {
                keys.push((attr, expr));
            }
        }
        let mut aggregates: Vec<(Attr, Aggregate)> = Vec::new();
        let fields = it.schema.fields().iter().skip(it.group_expr.len());
        for (expr, field) in it.aggr_expr.iter().zip(fields) {
            let call = self.call_aggregate(expr, field.data_type(), scope)?;
            let known = aggregates.iter().find(|it| it.1 == call).map(|it| it.0);
            let attr = known.unwrap_or_else(|| self.attribute(call.data_type, field.is_nullable()));
            output.push(attr);
            if known.is_none() {
                aggregates.push((attr, call));
            }
        }
        Ok((aggregate(input, keys, aggregates), output))
    }

    fn call_aggregate(
        &mut self,
        expr: &DfExpr,
        arrow: &datafusion_common::arrow::datatypes::DataType,
        scope: Scope<'_>,
    ) -> SqlResult<Aggregate> {
        let call = match expr {
            DfExpr::Alias(alias) => return self.call_aggregate(&alias.expr, arrow, scope),
            DfExpr::AggregateFunction(call) => call,
            other => return Err(SqlError::internal(format!("{other} is not an aggregate"))),
        };
        let function = match call.func.name() {
            "count" => AggregateFunction::Count,
            "sum" => AggregateFunction::Sum,
            "avg" => AggregateFunction::Average,
            "min" | "bool_and" => AggregateFunction::Min,
            "max" | "bool_or" => AggregateFunction::Max,
            "any_value" => AggregateFunction::Min,
            name => {
                return Err(SqlError::unsupported(format!(
                    "the aggregate function {name} is not supported"
                ))
                .with_hint(
                    "there are count, sum, avg, min, max, bool_and, bool_or and any_value",
                ));
            }
        };
        let params = &call.params;
        let argument = match params.args.as_slice() {
            [] => None,
            [argument] => Some(self.expr(argument, scope)?),
            _ => {
                return Err(SqlError::unsupported(format!(
                    "{} of several arguments is not supported",
                    call.func.name()
                )));
            }
        };
        // count(1) and count(*) are one thing; count of what is never NULL here (after outer joins) as well.
        let counted = |it: &DfExpr| match it {
            DfExpr::Literal(scalar, _) => !scalar.is_null(),
            DfExpr::Column(_) => !it.nullable(scope.schema).unwrap_or(true),
            _ => false,
        };
        let all_rows = function == AggregateFunction::Count
            && !params.distinct
            && params.args.iter().all(counted);
        let argument = argument.filter(|_| !all_rows);
        let filter = params.filter.as_ref().map(|it| self.expr(it, scope)).transpose()?;
        let data_type = match (&argument, function) {
            (Some(it), AggregateFunction::Min | AggregateFunction::Max) => it.data_type,
            _ => from_arrow(arrow)?,
        };
        // An exact sum widens by itself; a float of 4 bytes is summed as DataFusion decided.
        let argument = argument.map(|it| match function {
            AggregateFunction::Sum | AggregateFunction::Average if data_type.is_float() => {
                if it.data_type.is_numeric() && !it.data_type.is_float() {
                    cast(it, data_type)
                } else {
                    it
                }
            }
            AggregateFunction::Sum => strip_integer_cast(it),
            _ => it,
        });
        let distinct =
            params.distinct && !matches!(function, AggregateFunction::Min | AggregateFunction::Max);
        Ok(Aggregate { function, argument, distinct, filter, data_type })
    }

    fn join(&mut self, it: &df::Join) -> SqlResult<Translated> {
        let (mut left, mut left_attrs) = self.rel(&it.left)?;
        let (mut right, mut right_attrs) = self.rel(&it.right)?;
        let mut residual = Vec::new();
        let nulls_equal = it.null_equality == NullEquality::NullEqualsNull;
        for (l, r) in &it.on {
            let l = self.expr(l, Scope { schema: it.left.schema(), attrs: &left_attrs })?;
            let r = self.expr(r, Scope { schema: it.right.schema(), attrs: &right_attrs })?;
            let operator = match nulls_equal {
                true => BinaryOperator::IsNotDistinctFrom,
                false => BinaryOperator::Equal,
            };
            residual.push(compare(operator, l, r));
        }
        if let Some(filter) = &it.filter {
            let both: DFSchema =
                it.left.schema().join(it.right.schema()).map_err(|it| self.convert(it))?;
            let attrs: Vec<Attr> = left_attrs.iter().chain(&right_attrs).copied().collect();
            let filter = self.expr(filter, Scope { schema: &both, attrs: &attrs })?;
            split_conjunction(filter, &mut residual);
        }
        residual.retain(|it| it.kind != plan::ExprKind::Literal(Value::Boolean(true)));
        let (kind, swap) = match it.join_type {
            JoinType::Inner => (RelJoin::Inner, false),
            JoinType::Left => (RelJoin::Left, false),
            JoinType::Right => (RelJoin::Left, true),
            JoinType::Full => (RelJoin::Full, false),
            JoinType::LeftSemi => (RelJoin::Semi, false),
            JoinType::RightSemi => (RelJoin::Semi, true),
            JoinType::LeftAnti => (RelJoin::Anti, false),
            JoinType::RightAnti => (RelJoin::Anti, true),
            JoinType::LeftMark => (RelJoin::Mark, false),
            JoinType::RightMark => (RelJoin::Mark, true),
        };
        if swap {
            std::mem::swap(&mut left, &mut right);
            std::mem::swap(&mut left_attrs, &mut right_attrs);
        }
        let mark = (kind == RelJoin::Mark)
            .then(|| self.attribute(types::DataType::Boolean, it.null_aware));
        let output = match kind {
            RelJoin::Semi | RelJoin::Anti => left_attrs,
            RelJoin::Mark => left_attrs.into_iter().chain(mark).collect(),
            _ if swap => right_attrs.iter().chain(&left_attrs).copied().collect(),
            _ => left_attrs.iter().chain(&right_attrs).copied().collect(),
        };
        let null_aware = it.null_aware;
        let join = JoinRel { null_aware, mark, residual, ..JoinRel::new(kind, left, right) };
        Ok((Rel::Join(Box::new(join)), output))
    }

    fn union(&mut self, it: &df::Union) -> SqlResult<Translated> {
        let mut types = Vec::new();
        for field in it.schema.fields() {
            types.push((from_arrow(field.data_type())?, field.is_nullable()));
        }
        let mut inputs = Vec::new();
        for input in &it.inputs {
            let (rel, attrs) = self.rel(input)?;
            let mut made = Vec::new();
            let mut output = Vec::new();
            for (attr, (data_type, nullable)) in attrs.into_iter().zip(&types) {
                let column = Expr::column(attr, self.attributes[attr].data_type);
                let converted = cast(column, *data_type);
                let attr = self.name_expr(&converted, *nullable);
                output.push(attr);
                if bare(&converted).is_none() {
                    made.push((attr, converted));
                }
            }
            let rel = match made.is_empty() {
                true => rel,
                false => Rel::Map { input: Box::new(rel), exprs: made },
            };
            inputs.push((rel, output));
        }
        let output: Vec<Attr> = types.iter().map(|it| self.attribute(it.0, it.1)).collect();
        Ok((Rel::Union { inputs, output: output.clone() }, output))
    }

    fn scan(&mut self, it: &df::TableScan) -> SqlResult<Translated> {
        let source = Arc::clone(&it.source);
        let Some(source) = source.downcast_ref::<Source>() else {
            return Err(SqlError::internal("a table of unknown origin"));
        };
        let table = Arc::clone(&source.table);
        let base = self.attributes.len();
        let rows = table.rows;
        for column in &table.columns {
            let nullable = column.nullable && (column.statistics.nulls > 0 || rows == 0);
            self.attribute(column.data_type, nullable);
        }
        let all: Vec<Attr> = (base..self.attributes.len()).collect();
        let shown: Vec<Attr> = match &source.columns {
            Some(places) => places.iter().map(|it| all[*it]).collect(),
            None => all,
        };
        let attrs: Vec<Attr> = match &it.projection {
            Some(places) => places.iter().map(|it| shown[*it]).collect(),
            None => shown,
        };
        let mut filters = Vec::new();
        for filter in &it.filters {
            let scope = Scope { schema: &it.projected_schema, attrs: &attrs };
            split_conjunction(self.expr(filter, scope)?, &mut filters);
        }
        let rel = Rel::Scan(ScanRel { table, base, filters, rows: rows as f64 });
        let limited = match it.fetch {
            Some(limit) => {
                Rel::Limit { input: Box::new(rel), offset: 0, limit: Some(limit as u64) }
            }
            None => rel,
        };
        Ok((limited, attrs))
    }

    fn limit(&mut self, it: &df::Limit) -> SqlResult<Translated> {
        let unsupported = || SqlError::unsupported("LIMIT and OFFSET must be constants");
        let offset = match it.get_skip_type().map_err(|it| self.convert(it))? {
            SkipType::Literal(rows) => rows as u64,
            SkipType::UnsupportedExpr => return Err(unsupported()),
        };
        let limit = match it.get_fetch_type().map_err(|it| self.convert(it))? {
            FetchType::Literal(rows) => rows.map(|it| it as u64),
            FetchType::UnsupportedExpr => return Err(unsupported()),
        };
        let (input, attrs) = self.rel(&it.input)?;
        Ok(match input {
            Rel::Sort { input, partition, keys, offset: 0, limit: None } => {
                (Rel::Sort { input, partition, keys, offset, limit }, attrs)
            }
            input => (Rel::Limit { input: Box::new(input), offset, limit }, attrs),
        })
    }

    fn values(&mut self, it: &df::Values) -> SqlResult<Translated> {
        let mut output = Vec::new();
        for field in it.schema.fields() {
            output.push(self.attribute(from_arrow(field.data_type())?, true));
        }
        let empty = DFSchema::empty();
        let mut rows = Vec::with_capacity(it.values.len());
        for row in &it.values {
            let mut values = Vec::with_capacity(row.len());
            for (expr, attr) in row.iter().zip(&output) {
                let expr = self.expr(expr, Scope { schema: &empty, attrs: &[] })?;
                values.push(cast(expr, self.attributes[*attr].data_type));
            }
            rows.push(values);
        }
        Ok((Rel::Values { output: output.clone(), rows }, output))
    }
}

fn aggregate(input: Rel, keys: Vec<(Attr, Expr)>, aggregates: Vec<(Attr, Aggregate)>) -> Rel {
    Rel::Aggregate { input: Box::new(input), keys, aggregates, rows: 0.0 }
}
