//! Fields that types of rows lose: the type of one goes, and the field with it.
//!
//! Key decision: columns know the fields of their type, so that the values of all columns of it are written anew, without the field.

use binder::column_names::names_column;
use stdx::sync::Arc;
use storage::{ColumnChange, ColumnSchema, Table};
use types::structs::{StructType, has_part};
use types::{ColumnId, DataType, SqlError, SqlResult, UserType};

use crate::column_ddl::check_not_cut_by;
use crate::constraints::quoted;
use crate::{CancelToken, Session};

impl Session {
    /// Takes a field from a type of rows, and from all values of it.
    ///
    /// Errors: 0A000 where it is the only one, where views, conditions or expressions may name it, and where arrays have values of it.
    pub(crate) fn drop_field(&self, of: &str, field: &str, cancel: &CancelToken) -> SqlResult<()> {
        let DataType::Struct(old) = self.existing_type(of)?.data_type else {
            return Err(SqlError::internal("a field of a type that has none"));
        };
        let left = old.fields().iter().filter(|it| *it.name != *field).cloned().collect::<Vec<_>>();
        if left.is_empty() {
            let message = format!("type {of} would be left without fields, which is not supported");
            return Err(SqlError::unsupported(message));
        }
        let narrowing = Narrowing { old, new: StructType::named(of, left)? };
        let is_it = |it: DataType| it == DataType::Struct(old);
        let snapshot = self.snapshot();
        let view = snapshot.views().into_iter().find(|view| {
            let of_table =
                |it: &Arc<Table>| it.columns.iter().any(|it| has_part(it.data_type, &is_it));
            view.columns.iter().any(|it| has_part(it.1, &is_it))
                || view.uses.iter().filter_map(|it| snapshot.get(&it.name)).any(of_table)
        });
        if let Some(view) = view {
            return Err(resting(of, field, &format!("{} {}", view.kind(), view.name)));
        }
        for it in snapshot.user_types().filter(|it| has_part(it.data_type, &is_it)) {
            let data_type = narrowing.become_of(it.data_type)?;
            self.put_type(UserType { data_type, ..UserType::clone(it) })?;
        }
        for table in snapshot.tables() {
            for place in 0..table.columns.len() {
                let id = ColumnId(place as u16);
                if has_part(table.column(id).data_type, &is_it) {
                    let current = self.existing(&table.name)?;
                    self.narrow_column(&current, id, (&narrowing, field), cancel)?;
                }
            }
        }
        Ok(())
    }

    /// Writes the values of a column anew, without a field.
    fn narrow_column(
        &self,
        table: &Arc<Table>,
        id: ColumnId,
        (narrowing, field): (&Narrowing, &str),
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        check_not_cut_by(table, id, "take a field from")?;
        let old = table.column(id);
        let rows = &table.rules().rows;
        let texts = rows.checks.iter().map(|it| &it.condition);
        for text in texts.chain(rows.defaults.iter().flatten()) {
            if names_column(text, &old.name)? {
                let what = format!("an expression of table {}", table.name);
                return Err(resting(narrowing.old.name(), field, &what));
            }
        }
        let data_type = narrowing.become_of(old.data_type)?;
        let schema = ColumnSchema::new(old.name.clone(), data_type, old.nullable);
        let Some(value) = narrowing.value(&quoted(&old.name), old.data_type) else {
            let what = format!("arrays in column {} of table {}", old.name, table.name);
            return Err(resting(narrowing.old.name(), field, &what));
        };
        let values = self.values_of_expression(table, (&schema, None), &value, cancel)?;
        let change = ColumnChange::Retype(id, data_type);
        self.alter_column(table, &change, Some(values), cancel).map(|_| ())
    }
}

/// A field that cannot go because of something that may need it.
fn resting(of: &str, field: &str, what: &str) -> SqlError {
    let message = format!("field {field} of type {of} cannot be dropped: {what} may depend on it");
    SqlError::unsupported(message).with_hint("drop it first, and make it anew afterwards")
}

/// A type of rows that becomes one of fewer fields.
struct Narrowing {
    old: StructType,
    new: StructType,
}

impl Narrowing {
    /// What a type becomes of which the type is a part.
    fn become_of(&self, of: DataType) -> SqlResult<DataType> {
        let fields = |it: StructType| -> SqlResult<StructType> {
            let types = it.fields().iter().map(|it| self.become_of(it.data_type));
            let mut types = types.collect::<SqlResult<Vec<_>>>()?.into_iter();
            it.with_types(|own| types.next().unwrap_or(own))
        };
        Ok(match of {
            DataType::Struct(it) if it == self.old => DataType::Struct(self.new),
            DataType::Struct(it) => DataType::Struct(fields(it)?),
            DataType::Map(it) => DataType::Map(fields(it)?),
            DataType::Array(it) => self.become_of(it.data_type())?.array().unwrap_or(of),
            other => other,
        })
    }

    /// A value without the field, as SQL; `None` where that is within arrays.
    fn value(&self, value: &str, of: DataType) -> Option<String> {
        if !has_part(of, &|it| it == DataType::Struct(self.old)) {
            return Some(value.to_owned());
        }
        let DataType::Struct(row) = of else { return None };
        let is_left =
            |name: &str| row != self.old || self.new.fields().iter().any(|it| *it.name == *name);
        let left = row.fields().iter().filter(|it| is_left(&it.name));
        let each = left.map(|it| {
            let field = it.name.replace('\'', "''");
            self.value(&format!("{value}['{field}']"), it.data_type)
        });
        let each = each.collect::<Option<Vec<_>>>()?.join(", ");
        // A row of NULLs is none that is NULL.
        Some(format!(
            "(CASE WHEN {value} IS NOT DISTINCT FROM NULL THEN NULL ELSE ROW({each}) END)"
        ))
    }
}
