//! Values of changed rows that are made of others: of columns that are generated, and arrays with another item.

use plan::relation::{Attr, Rel};
use plan::{Expr, Function};
use sqlparser::ast;
use types::{DataType, SqlError, SqlResult, SqlState};

use super::change::Target;
use super::change_rules::check_plain;
use super::coercion::{fold_cast, name_of};
use super::errors::at;
use super::level::{Clause, Level};
use super::{Binder, mapped};
use crate::item_assignment::item_that_is_set;

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

    /// An array with another item: the array, the item, its subscripts.
    pub(super) fn with_item(
        &mut self,
        arguments: Vec<&'a ast::Expr>,
        target: &Target,
        place: usize,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let (column, data_type) =
            (&target.table.columns[place].name, target.table.columns[place].data_type);
        let [before, item, subscripts @ ..] = &arguments[..] else {
            return Err(SqlError::internal("an item that is set has no subscript"));
        };
        let Some(element) = data_type.element() else {
            let message = format!(
                "cannot subscript type {} because it does not support subscripting",
                name_of(data_type)
            );
            return Err(at(SqlError::new(SqlState::DATATYPE_MISMATCH, message), whole));
        };
        let before = match item_that_is_set(before) {
            Some(inner) => self.with_item(inner, target, place, whole)?,
            None => self.column_expr(target.base + place),
        };
        let item = self.expr(item)?;
        let item = self.assigned(item, column, element, false).map_err(|it| at(it, whole))?;
        let mut bound = vec![before, fold_cast(item, element)];
        for subscript in subscripts {
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
        self.fold_call(Function::ArraySetItem, bound, data_type)
    }
}
