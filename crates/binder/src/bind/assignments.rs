//! `SET a = value` of UPDATE and its kin, and `SET a.b = value`: a column with another value in one of its fields.

use plan::{Expr, Function};
use sqlparser::ast::{self, AssignmentTarget, Ident};
use types::{DataType, Privileges, SqlError, SqlResult, SqlState};

use super::Binder;
use super::change::{Given, Target, assigned_twice};
use super::coercion::{fold_cast, name_of, nested_call};
use super::comparison::assigned_row;
use super::errors::{Name, at};
use crate::syntax::ident;
use crate::values::is_default;

impl<'a> Binder<'a> {
    /// The values of an UPDATE by column; `None` for those that it leaves as they are.
    pub(super) fn assignments(
        &mut self,
        assignments: &'a [ast::Assignment],
        target: &Target,
    ) -> SqlResult<Vec<Option<Expr>>> {
        let mut values: Vec<Option<Expr>> = vec![None; target.table.columns.len()];
        let mut by_field = Vec::new();
        for assignment in assignments {
            let columns = match &assignment.target {
                AssignmentTarget::ColumnName(column) => std::slice::from_ref(column),
                AssignmentTarget::Tuple(columns) => &columns[..],
            };
            let whole = &assignment.value;
            let row: Vec<Given<'a>> = match (&assignment.target, whole) {
                (AssignmentTarget::ColumnName(_), value) => vec![Given::Written(value)],
                (AssignmentTarget::Tuple(_), ast::Expr::Subquery(query)) => {
                    self.row_subquery(query)?.into_iter().map(Given::Bound).collect()
                }
                (AssignmentTarget::Tuple(_), row) => {
                    assigned_row(row)?.into_iter().map(Given::Written).collect()
                }
            };
            if row.len() != columns.len() {
                let message = "number of columns does not match number of values";
                return Err(at(SqlError::new(SqlState::SYNTAX, message), whole));
            }
            for (column, value) in columns.iter().zip(row) {
                let of_field = column.0.len() > 1;
                let place = match of_field {
                    true => target.place(&ast::ObjectName(column.0[..1].to_vec()))?,
                    false => target.place(column)?,
                };
                self.ask_of_column(Privileges::UPDATE, place);
                if values[place].is_some() && !(of_field && by_field.contains(&place)) {
                    return Err(assigned_twice(SqlState::SYNTAX, target, place, column));
                }
                if of_field {
                    by_field.push(place);
                    let known = values[place].take();
                    self.rules.check_set(&target.table.columns[place].name, place, whole)?;
                    values[place] =
                        Some(self.assign_field(column, value, target, (place, known))?);
                    continue;
                }
                let info = &target.table.columns[place];
                let written = if let Given::Written(it) = &value { *it } else { whole };
                self.rules.check_set(&info.name, place, written)?;
                values[place] = Some(match value {
                    Given::Written(value) => self.assigned_to(value, target, place, false)?,
                    Given::Bound(value) => {
                        self.assigned_in(value, target, place, false).map_err(|it| at(it, whole))?
                    }
                });
            }
        }
        Ok(values)
    }

    /// A column whose field at a path gets a value.
    pub(super) fn with_field_assigned(
        &mut self,
        (current, column): (Expr, &str),
        path: &[&'a Ident],
        value: Given<'a>,
    ) -> SqlResult<Expr> {
        let Some((name, inner)) = path.split_first() else {
            return Err(SqlError::internal("a field without a name is assigned to"));
        };
        let field = ident(name);
        let wrong = |state: SqlState, why: String| {
            let message =
                format!("cannot assign to field \"{field}\" of column \"{column}\" because {why}");
            at(SqlError::new(state, message), &Name(name))
        };
        let own = name_of(current.data_type);
        let DataType::Struct(of) = current.data_type else {
            let why = format!("its type {own} is not a composite type");
            return Err(wrong(SqlState::DATATYPE_MISMATCH, why));
        };
        let place = of.find(&field).ok_or_else(|| {
            let why = format!("there is no such column in data type {own}");
            wrong(SqlState::UNDEFINED_COLUMN, why)
        })?;
        let mut values = Vec::with_capacity(of.fields().len());
        for other in 0..of.fields().len() {
            let copy = self.copy(&current)?;
            values.push(self.field_at(copy, of, other)?);
        }
        let before = values[place].clone();
        values[place] = match inner.is_empty() {
            true => self.value_of_field(value, &field, of.fields()[place].data_type, name)?,
            false => self.with_field_assigned((before, &field), inner, value)?,
        };
        self.fold_call(Function::StructOf, values, DataType::Struct(of))
    }

    /// A value as one of a field.
    fn value_of_field(
        &mut self,
        value: Given<'a>,
        field: &str,
        to: DataType,
        node: &'a Ident,
    ) -> SqlResult<Expr> {
        let bound = match value {
            Given::Written(it) if is_default(it) => {
                let error = SqlError::unsupported("cannot set a subfield to DEFAULT");
                return Err(at(error, &Name(node)));
            }
            Given::Written(it) => self.declared(it)?,
            Given::Bound(it) => it,
        };
        let from = name_of(bound.data_type);
        let assigned = self.assigned(bound, field, to, false).map_err(|error| {
            if error.state != SqlState::DATATYPE_MISMATCH {
                return at(error, &Name(node));
            }
            let own = name_of(to);
            let message =
                format!("subfield \"{field}\" is of type {own} but expression is of type {from}");
            let hint = "You will need to rewrite or cast the expression.";
            at(SqlError::new(error.state, message).with_hint(hint), &Name(node))
        })?;
        Ok(match to {
            it if it == assigned.data_type => assigned,
            // A text that is too long is refused, where a cast would cut it.
            _ if to.said_length().is_some() => {
                nested_call(Function::NestedFit, fold_cast(assigned, DataType::Text), to)
            }
            _ => fold_cast(assigned, to),
        })
    }

    /// The columns of a statement that are assigned to by their fields: the first part of a name is that of the column.
    pub(super) fn assign_field(
        &mut self,
        column: &'a ast::ObjectName,
        value: Given<'a>,
        target: &Target,
        (place, known): (usize, Option<Expr>),
    ) -> SqlResult<Expr> {
        let parts: Option<Vec<&Ident>> = column.0.iter().map(|it| it.as_ident()).collect();
        let Some([_, path @ ..]) = parts.as_deref() else {
            return Err(super::errors::unsupported("this as what is assigned to", column));
        };
        let current = known.unwrap_or_else(|| self.column_expr(target.base + place));
        let name = target.table.columns[place].name.clone();
        self.with_field_assigned((current, &name), path, value)
    }
}
