//! ALTER TABLE, as far as it is about columns and what a table asks of its rows; [`crate::numa`] reads what is about parts and nodes.

use sqlparser::ast::{
    self, AlterColumnOperation, AlterTableOperation, ObjectNamePart, RenameTableNameKind,
};
use types::{SqlError, SqlResult, SqlState, names};

use crate::column::column;
use crate::constraint::Constraints;
use crate::data_types::without_fields;
use crate::design::{ColumnAlteration, RuleChange, TableChange};
use crate::interval_fields::fields_of_type;
use crate::keys;
use crate::statement::Statement;
use crate::syntax::{ident, name, unsupported};
use crate::user_types::TypeName;

pub(crate) fn alter_table(change: ast::AlterTable) -> SqlResult<Statement> {
    let ast::AlterTable {
        name: table,
        if_exists,
        // There is no inheritance.
        only: _,
        operations,
        location,
        on_cluster,
        table_type,
        end_token: _,
    } = change;
    if location.is_some() || on_cluster.is_some() || table_type.is_some() {
        return Err(unsupported("a clause of ALTER TABLE"));
    }
    let table = name(&table);
    if let [AlterTableOperation::RenameTable { table_name }] = &operations[..] {
        let RenameTableNameKind::To(to) = table_name else {
            return Err(unsupported("ALTER TABLE .. RENAME AS"));
        };
        let [ObjectNamePart::Identifier(to)] = &to.0[..] else {
            let message = format!("syntax error: {to} is more than the new name of a table");
            return Err(SqlError::new(SqlState::SYNTAX, message));
        };
        let change = TableChange::Rename(names::written(&[ident(to)]));
        return Ok(Statement::AlterTable { table, change, if_exists });
    }
    let changes = operations.into_iter().map(rule_changes).collect::<SqlResult<Vec<_>>>()?;
    let change = TableChange::Rules(changes.concat());
    Ok(Statement::AlterTable { table, change, if_exists })
}

fn rule_changes(operation: AlterTableOperation) -> SqlResult<Vec<RuleChange>> {
    match operation {
        AlterTableOperation::DropColumn {
            has_column_keyword: _,
            column_names,
            if_exists,
            drop_behavior,
        } => {
            let cascade = matches!(drop_behavior, Some(ast::DropBehavior::Cascade));
            let drop = |it| ColumnAlteration::Drop { column: ident(it), if_exists, cascade };
            Ok(column_names.iter().map(drop).map(RuleChange::Column).collect())
        }
        other => rule_change(other).map(|it| vec![it]),
    }
}

fn rule_change(operation: AlterTableOperation) -> SqlResult<RuleChange> {
    match operation {
        AlterTableOperation::AddConstraint { constraint, not_valid } => {
            let mut all = Constraints::default();
            keys::of_table(&constraint, &mut all)?;
            if not_valid && !all.keys.is_empty() {
                let kind = if all.keys[0].primary { "PRIMARY KEY" } else { "UNIQUE" };
                let message = format!("{kind} constraints cannot be marked NOT VALID");
                return Err(unsupported(message));
            }
            all.references.iter_mut().for_each(|it| it.not_valid = not_valid);
            all.checks.iter_mut().for_each(|it| it.not_valid = not_valid);
            Ok(RuleChange::Add(all))
        }
        AlterTableOperation::ValidateConstraint { name } => {
            Ok(RuleChange::Validate { name: ident(&name) })
        }
        AlterTableOperation::DropConstraint { if_exists, name, drop_behavior } => {
            let cascade = matches!(drop_behavior, Some(ast::DropBehavior::Cascade));
            Ok(RuleChange::Drop { name: ident(&name), if_exists, cascade })
        }
        AlterTableOperation::RenameConstraint { old_name, new_name } => {
            Ok(RuleChange::RenameConstraint { name: ident(&old_name), to: ident(&new_name) })
        }
        AlterTableOperation::AddColumn {
            column_keyword: _,
            if_not_exists,
            column_def,
            column_position: None,
        } => {
            let column = Box::new(column(&column_def)?);
            let constraints = keys::of_added(&column_def)?;
            let add = ColumnAlteration::Add { column, constraints, if_not_exists };
            Ok(RuleChange::Column(add))
        }
        AlterTableOperation::RenameColumn { old_column_name, new_column_name } => {
            let (column, to) = (ident(&old_column_name), ident(&new_column_name));
            Ok(RuleChange::Column(ColumnAlteration::Rename { column, to }))
        }
        AlterTableOperation::AlterColumn { column_name, op } => column_change(ident(&column_name), op),
        other => Err(unsupported(format!("ALTER TABLE .. {other}")).with_hint(
            "ALTER TABLE changes columns, adds and drops constraints, renames, places and partitions",
        )),
    }
}

fn column_change(column: String, change: AlterColumnOperation) -> SqlResult<RuleChange> {
    Ok(match change {
        AlterColumnOperation::SetDefault { value } => {
            RuleChange::Default { column, default: Some(crate::written::written(&value)) }
        }
        AlterColumnOperation::DropDefault => RuleChange::Default { column, default: None },
        AlterColumnOperation::SetNotNull => {
            RuleChange::Column(ColumnAlteration::Nullable { column, nullable: false })
        }
        AlterColumnOperation::DropNotNull => {
            RuleChange::Column(ColumnAlteration::Nullable { column, nullable: true })
        }
        AlterColumnOperation::SetDataType { data_type, using, had_set: _ } => {
            let fields = fields_of_type(&data_type);
            let (data_type, type_name) = match fields {
                Some(_) => (without_fields(&data_type)?, None),
                None => TypeName::read(&data_type)?,
            };
            let using = using.map(|it| crate::written::written(&it));
            RuleChange::Column(ColumnAlteration::Type {
                column,
                data_type,
                type_name,
                domain: None,
                fields,
                using,
            })
        }
        other => return Err(unsupported(format!("ALTER COLUMN .. {other}"))),
    })
}
