//! Values of changed rows that are made of others: of columns that are generated, and arrays with another item.

use plan::relation::{Attr, Rel};
use plan::{Expr, Function};
use sqlparser::ast;
use types::{DataType, SqlError, SqlResult, SqlState, Value};

use super::change::Target;
use super::change_rules::check_plain;
use super::coercion::{fold_cast, name_of};
use super::errors::at;
use super::level::{Clause, Level};
use super::{Binder, mapped};
use crate::item_assignment::{SetItem, item_that_is_set};

impl<'a> Binder<'a> {
    /// Rows with the columns that are generated of others, as these are read back.
    pub(super) fn generated(
        &mut self,
        rel: Rel,
        target: &Target,
        row: &mut [Attr],
    ) -> SqlResult<Rel> {
        let rules = self.rules;
        if rules.generations().next().is_none() {
            return Ok(rel);
        }
        let (mut rel, shown) = self.as_stored(rel, target, row);
        let mut made = Vec::new();
        for (place, expression) in rules.generations() {
            check_plain(expression, "column generation expression")?;
            let frame = target.own_frame(|place| shown[place]);
            let level = Level::new(frame, rel, Clause::Generation);
            let (value, level) = self.in_level(level, |this| {
                let bound = this.expr(expression)?;
                this.assigned_in(bound, target, place, false)
            })?;
            rel = level.input;
            row[place] = self.attribute(value.data_type, true);
            made.push((row[place], value));
        }
        Ok(mapped(rel, made))
    }

    /// An array or JSON with another item, or an array with another slice.
    pub(super) fn with_item(
        &mut self,
        set: SetItem<'a>,
        target: &Target,
        place: usize,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let (column, data_type) =
            (&target.table.columns[place].name, target.table.columns[place].data_type);
        let [before, item, subscripts @ ..] = &set.arguments[..] else {
            return Err(SqlError::internal("an item that is set has no subscript"));
        };
        if data_type == DataType::Jsonb && set.is_slice {
            let message = "jsonb subscript does not support slices";
            return Err(at(SqlError::new(SqlState::DATATYPE_MISMATCH, message), whole));
        }
        if data_type == DataType::Jsonb {
            let before = self.before_item(before, target, place, whole)?;
            let item = self.expr(item)?;
            let item = self.assigned(item, column, DataType::Jsonb, false);
            let item = fold_cast(item.map_err(|it| at(it, whole))?, DataType::Jsonb);
            return self.with_json_item(before, item, subscripts);
        }
        let Some(element) = data_type.element() else {
            let message = format!(
                "cannot subscript type {} because it does not support subscripting",
                name_of(data_type)
            );
            return Err(at(SqlError::new(SqlState::DATATYPE_MISMATCH, message), whole));
        };
        let before = self.before_item(before, target, place, whole)?;
        let item = self.expr(item)?;
        let to = if set.is_slice { data_type } else { element };
        let item = self.assigned(item, column, to, false).map_err(|it| at(it, whole))?;
        let mut bound = vec![before, fold_cast(item, to)];
        for (number, subscript) in subscripts.iter().enumerate() {
            if set.is_slice && number % 3 == 2 {
                let said = self.said(subscript)?;
                let flags = i64::from(said.contains('l')) + 2 * i64::from(said.contains('u'));
                bound.push(Expr::literal(Value::Integer(flags), DataType::BigInt));
                continue;
            }
            let number = self.expr(subscript)?;
            let number = match number.data_type {
                DataType::Null => self.coerce_unknown(number, DataType::Integer)?,
                it if it.is_integer() => number,
                _ => {
                    let message = "array subscript must have type integer";
                    let error = SqlError::new(SqlState::DATATYPE_MISMATCH, message);
                    return Err(at(error, *subscript));
                }
            };
            bound.push(fold_cast(number, DataType::BigInt));
        }
        let function = if set.is_slice { Function::ArraySetSlice } else { Function::ArraySetItem };
        self.fold_call(function, bound, data_type)
    }

    /// What a column is before an item of it is set: with others that are set before it.
    fn before_item(
        &mut self,
        before: &'a ast::Expr,
        target: &Target,
        place: usize,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        match item_that_is_set(before) {
            Some(inner) => self.with_item(inner, target, place, whole),
            None => Ok(self.column_expr(target.base + place)),
        }
    }
}
