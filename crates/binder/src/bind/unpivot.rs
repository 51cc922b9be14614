//! UNPIVOT: columns become rows of their names and values.

use plan::build::unary;
use plan::relation::{AttrSet, JoinRel, Rel, RelJoin};
use plan::{BinaryOperator, Expr, ExprKind, UnaryOperator};
use sqlparser::ast::{Expr as Ast, ExprWithAlias, Ident, NullInclusion, TableFactor};
use types::{DataType, SqlError, SqlResult, SqlState, Value};

use super::errors::{at, unsupported};
use super::level::{Clause, Level};
use super::scope::Frame;
use super::{Answer, Binder, OutputColumn, mapped};
use crate::syntax::ident;

/// What becomes a row: a name, and a value for each column of values.
struct Entry {
    name: String,
    values: Vec<Expr>,
}

impl<'a> Binder<'a> {
    /// A table of which some columns have become rows of their name and value, or of a name and several values.
    pub(super) fn unpivot(&mut self, factor: &'a TableFactor) -> SqlResult<(Rel, Frame)> {
        let TableFactor::Unpivot { table, value, name, columns, null_inclusion, alias } = factor
        else {
            return Err(SqlError::internal("no unpivot"));
        };
        let names = value_names(value)?;
        let (rel, frame) = self.factor(table)?;
        let all = frame.all();
        let level = Level::new(frame, rel, Clause::From);
        let (mut entries, level) = self.in_level(level, |this| {
            let mut entries = Vec::with_capacity(columns.len());
            for it in columns {
                this.entries(it, names.len(), &mut entries)?;
            }
            Ok(entries)
        })?;
        let mut used = AttrSet::default();
        entries.iter().flat_map(|it| &it.values).for_each(|it| used.add_expr(it));
        let (place, name_attr) =
            (self.attribute(DataType::Integer, false), self.attribute(DataType::Text, false));
        let number = |it: usize| Expr::literal(Value::Integer(it as i64), DataType::Integer);
        let text = |it: &str| Expr::literal(Value::Text(it.into()), DataType::Text);
        let rows = entries.iter().enumerate();
        let rows = rows.map(|(at, it)| vec![number(at), text(&it.name)]).collect();
        let pairs = Rel::Values { output: vec![place, name_attr], rows };
        let pairs = Rel::Join(Box::new(JoinRel::new(RelJoin::Inner, level.input, pairs)));
        let mut chosen = Vec::with_capacity(names.len());
        for _ in &names {
            let mut values: Vec<Expr> = entries.iter_mut().map(|it| it.values.remove(0)).collect();
            let data_type = self.unify(&mut values, "UNPIVOT").map_err(|it| at(it, factor))?;
            let branches = values.into_iter().enumerate().map(|(at, value)| {
                let own = Expr::column(place, DataType::Integer);
                (Expr::predicate(BinaryOperator::Equal, own, number(at)), value)
            });
            let kind = ExprKind::Case { branches: branches.collect(), otherwise: None };
            chosen.push((self.attribute(data_type, true), Expr { kind, data_type }));
        }
        let values: Vec<_> = chosen.iter().map(|it| (it.0, it.1.data_type)).collect();
        let mut rel = mapped(pairs, chosen);
        if *null_inclusion != Some(NullInclusion::IncludeNulls) {
            let known =
                |&(attr, data_type)| unary(UnaryOperator::IsNotNull, Expr::column(attr, data_type));
            // A row stays only with all of its values, as in DuckDB.
            rel = rel.filtered(values.iter().map(known).collect());
        }
        let rest = all.into_iter().filter(|it| !used.contains(it.attr));
        let mut output: Vec<OutputColumn> = rest.map(OutputColumn::from).collect();
        output.push(OutputColumn::made(ident(name), name_attr));
        let of_values = names.iter().zip(values);
        output.extend(of_values.map(|(name, it)| OutputColumn::made(ident(name), it.0)));
        self.derived(Answer { rel, columns: output }, alias.as_ref())
    }

    /// What a column, several in parentheses, or COLUMNS(..) comes to.
    fn entries(
        &mut self,
        column: &'a ExprWithAlias,
        count: usize,
        entries: &mut Vec<Entry>,
    ) -> SqlResult<()> {
        if !matches!(column.expr, Ast::Tuple(_))
            && let Some(each) = self.each_meant(&column.expr)?
        {
            check_count(1, count, &column.expr)?;
            let alias = column.alias.as_ref().map(ident);
            let name = |own| alias.clone().unwrap_or(own);
            entries.extend(
                each.into_iter().map(|(own, value)| Entry { name: name(own), values: vec![value] }),
            );
            return Ok(());
        }
        let parts = match &column.expr {
            Ast::Tuple(parts) => &parts[..],
            one => std::slice::from_ref(one),
        };
        check_count(parts.len(), count, &column.expr)?;
        let values = parts.iter().map(|it| self.expr(it)).collect::<SqlResult<_>>()?;
        let name = match &column.alias {
            Some(alias) => ident(alias),
            None => parts.iter().map(super::names::of_expression).collect::<Vec<_>>().join("_"),
        };
        entries.push(Entry { name, values });
        Ok(())
    }
}

/// The names of the columns of values.
fn value_names(value: &Ast) -> SqlResult<Vec<&Ident>> {
    match value {
        Ast::Tuple(names) => names.iter().map(value_name).collect(),
        Ast::Nested(one) => Ok(vec![value_name(one)?]),
        one => Ok(vec![value_name(one)?]),
    }
}

fn value_name(value: &Ast) -> SqlResult<&Ident> {
    match value {
        Ast::Identifier(name) => Ok(name),
        other => Err(unsupported("UNPIVOT into what is no name", other)),
    }
}

fn check_count(found: usize, wanted: usize, whole: &Ast) -> SqlResult<()> {
    if found == wanted {
        return Ok(());
    }
    let message = format!("UNPIVOT has names for {wanted} values, and an entry with {found}");
    Err(at(SqlError::new(SqlState::SYNTAX, message), whole))
}
