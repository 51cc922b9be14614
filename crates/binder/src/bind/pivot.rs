//! PIVOT and UNPIVOT: values of a column become columns of aggregates, and columns become rows of names and values.

use plan::build::unary;
use plan::relation::{Attr, AttrSet, JoinRel, Rel, RelJoin};
use plan::{BinaryOperator, Expr, ExprKind, UnaryOperator};
use sqlparser::ast::{self, ExprWithAlias, Ident, NullInclusion, PivotValueSource, TableFactor};
use types::{DataType, SqlError, SqlResult, SqlState, Value};

use super::errors::{at, unsupported};
use super::level::{Clause, Level};
use super::scope::Frame;
use super::{Answer, Binder, OutputColumn, constant, mapped};
use crate::syntax::ident;

impl<'a> Binder<'a> {
    /// A table whose values of a column have become columns: groups by all columns that nothing here names.
    pub(super) fn pivot(&mut self, factor: &'a TableFactor) -> SqlResult<(Rel, Frame)> {
        let TableFactor::Pivot {
            table,
            aggregate_functions,
            value_column,
            value_source,
            default_on_null,
            alias,
        } = factor
        else {
            return Err(SqlError::internal("no pivot"));
        };
        let (PivotValueSource::List(values), [column], None) =
            (value_source, &value_column[..], default_on_null)
        else {
            return Err(unsupported("PIVOT but by a list of values of one column", factor));
        };
        let (rel, frame) = self.factor(table)?;
        let all = frame.all();
        let level = Level::new(frame, rel, Clause::Select);
        let ((column, made), level) = self.in_level(level, |this| {
            let column = this.expr(column)?;
            let mut made = Vec::new();
            for value in values {
                this.pivoted(&column, value, aggregate_functions, &mut made)?;
            }
            Ok((column, made))
        })?;
        if !level.pending.is_empty() || !level.windows.is_empty() || level.series.is_some() {
            return Err(unsupported("a subquery, a window or a series in PIVOT", factor));
        }
        let mut used = AttrSet::of(&column);
        level.calls.iter().flat_map(|it| it.1.expressions()).for_each(|it| used.add_expr(it));
        let mut columns = Vec::new();
        let mut keys: Vec<(Attr, Expr)> = Vec::new();
        for key in all.into_iter().filter(|it| !used.contains(it.attr)) {
            let expr = self.named_column(key.attr)?;
            if expr.data_type == DataType::Bpchar {
                return Err(unsupported("PIVOT beside CHAR of no one length", factor));
            }
            if keys.iter().all(|it| it.0 != key.attr) {
                keys.push((key.attr, expr));
            }
            columns.push(OutputColumn { name: key.name, attr: key.attr });
        }
        let (input, aggregates) = (Box::new(level.input), level.calls);
        let rel = Rel::Aggregate { input, keys, aggregates, rows: 0.0 };
        let mut exprs = Vec::with_capacity(made.len());
        for (name, expr) in made {
            let attr = self.attribute(expr.data_type, true);
            exprs.push((attr, expr));
            columns.push(OutputColumn { name, attr });
        }
        self.derived(Answer { rel: mapped(rel, exprs), columns }, alias.as_ref())
    }

    /// The columns of a value: each aggregate of the rows that have it.
    fn pivoted(
        &mut self,
        column: &Expr,
        value: &'a ExprWithAlias,
        aggregates: &'a [ExprWithAlias],
        made: &mut Vec<(String, Expr)>,
    ) -> SqlResult<()> {
        let bound = self.expr(&value.expr)?;
        let Some(known) = constant(&bound).cloned() else {
            return Err(unsupported("a value of PIVOT that is no constant", &value.expr));
        };
        let name = match (&value.alias, &known) {
            (Some(alias), _) => ident(alias),
            (None, Value::Text(text)) => text.to_string(),
            (None, _) => value.expr.to_string(),
        };
        let own = column.clone();
        let condition = match &known {
            Value::Null => unary(UnaryOperator::IsNull, own),
            _ => self.compare(BinaryOperator::Equal, own, bound, &value.expr)?,
        };
        for aggregate in aggregates {
            let known = self.level().calls.len();
            let expr = self.expr(&aggregate.expr)?;
            let calls = &mut self.level().calls[known..];
            if calls.is_empty() {
                let message = "PIVOT takes aggregate functions";
                return Err(at(SqlError::new(SqlState::GROUPING_ERROR, message), &aggregate.expr));
            }
            for (_, call) in calls {
                let both = |a, b| Expr::predicate(BinaryOperator::And, a, b);
                call.filter = [Some(condition.clone()), call.filter.take()]
                    .into_iter()
                    .flatten()
                    .reduce(both);
            }
            let suffix = match (&aggregate.alias, aggregates.len()) {
                (Some(alias), _) => format!("_{}", ident(alias)),
                (None, 1) => String::new(),
                (None, _) => format!("_{}", aggregate.expr),
            };
            made.push((format!("{name}{suffix}"), expr));
        }
        Ok(())
    }

    /// A table of which some columns have become rows of their name and value.
    pub(super) fn unpivot(&mut self, factor: &'a TableFactor) -> SqlResult<(Rel, Frame)> {
        let TableFactor::Unpivot { table, value, name, columns, null_inclusion, alias } = factor
        else {
            return Err(SqlError::internal("no unpivot"));
        };
        let ast::Expr::Identifier(value) = value else {
            return Err(unsupported("UNPIVOT into several columns", factor));
        };
        let (rel, frame) = self.factor(table)?;
        let all = frame.all();
        let level = Level::new(frame, rel, Clause::From);
        let (mut values, level) = self.in_level(level, |this| {
            columns.iter().map(|it| this.expr(&it.expr)).collect::<SqlResult<Vec<_>>>()
        })?;
        let mut used = AttrSet::default();
        values.iter().for_each(|it| used.add_expr(it));
        let data_type = self.unify(&mut values, "UNPIVOT").map_err(|it| at(it, factor))?;
        let name_attr = self.attribute(DataType::Text, false);
        let text = |it: String| Expr::literal(Value::Text(it.into()), DataType::Text);
        let (mut rows, mut branches) = (Vec::new(), Vec::new());
        for (column, value) in columns.iter().zip(values) {
            let own = match (&column.alias, &column.expr) {
                (Some(alias), _) => ident(alias),
                (None, other) => super::names::of_expression(other),
            };
            let is_it = Expr::predicate(
                BinaryOperator::Equal,
                Expr::column(name_attr, DataType::Text),
                text(own.clone()),
            );
            rows.push(vec![text(own)]);
            branches.push((is_it, value));
        }
        let names = Rel::Values { output: vec![name_attr], rows };
        let pairs = Rel::Join(Box::new(JoinRel::new(RelJoin::Inner, level.input, names)));
        let attr = self.attribute(data_type, true);
        let chosen = Expr { kind: ExprKind::Case { branches, otherwise: None }, data_type };
        let mut rel = mapped(pairs, vec![(attr, chosen)]);
        if *null_inclusion != Some(NullInclusion::IncludeNulls) {
            let known = unary(UnaryOperator::IsNotNull, Expr::column(attr, data_type));
            rel = rel.filtered(vec![known]);
        }
        let rest = all.into_iter().filter(|it| !used.contains(it.attr));
        let mut output: Vec<OutputColumn> =
            rest.map(|it| OutputColumn { name: it.name, attr: it.attr }).collect();
        let made = |name: &Ident, attr| OutputColumn { name: ident(name), attr };
        output.extend([made(name, name_attr), made(value, attr)]);
        self.derived(Answer { rel, columns: output }, alias.as_ref())
    }
}
