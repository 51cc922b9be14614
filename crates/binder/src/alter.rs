//! ALTER TABLE, as far as it is about what a table asks of its rows; [`crate::numa`] reads what is about parts and nodes.

use sqlparser::ast::{self, AlterColumnOperation, AlterTableOperation};
use types::SqlResult;

use crate::constraint::Constraints;
use crate::design::{RuleChange, TableChange};
use crate::keys;
use crate::statement::Statement;
use crate::syntax::{ident, name, unsupported};

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
    if if_exists {
        return Err(unsupported("ALTER TABLE IF EXISTS"));
    }
    if location.is_some() || on_cluster.is_some() || table_type.is_some() {
        return Err(unsupported("a clause of ALTER TABLE"));
    }
    let changes = operations.into_iter().map(rule_change).collect::<SqlResult<_>>()?;
    Ok(Statement::AlterTable { table: name(&table), change: TableChange::Rules(changes) })
}

fn rule_change(operation: AlterTableOperation) -> SqlResult<RuleChange> {
    match operation {
        AlterTableOperation::AddConstraint { constraint, not_valid: false } => {
            let mut all = Constraints::default();
            keys::of_table(&constraint, &mut all)?;
            Ok(RuleChange::Add(all))
        }
        AlterTableOperation::DropConstraint { if_exists, name, drop_behavior } => {
            let cascade = matches!(drop_behavior, Some(ast::DropBehavior::Cascade));
            Ok(RuleChange::Drop { name: ident(&name), if_exists, cascade })
        }
        AlterTableOperation::AlterColumn { column_name, op } => {
            let column = ident(&column_name);
            match op {
                AlterColumnOperation::SetDefault { value } => {
                    Ok(RuleChange::Default { column, default: Some(value.to_string()) })
                }
                AlterColumnOperation::DropDefault => {
                    Ok(RuleChange::Default { column, default: None })
                }
                other => Err(unsupported(format!("ALTER COLUMN .. {other}"))),
            }
        }
        other => Err(unsupported(format!("ALTER TABLE .. {other}")).with_hint(
            "ALTER TABLE adds and drops constraints, sets defaults, places and partitions",
        )),
    }
}
