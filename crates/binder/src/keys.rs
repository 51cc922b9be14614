//! Keys and indexes in parsed text.

use sqlparser::ast::{self, IndexColumn, TableConstraint};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use types::{Deferral, IndexOrder, ReferentialAction, SqlError, SqlResult, SqlState};

use crate::clauses;
use crate::constraint::{
    CheckDefinition, Constraints, IndexItem, KeyDefinition, ReferenceDefinition,
};
use crate::statement::Statement;
use crate::syntax::{bare, ident, name, unsupported};

/// What the columns and the constraints of a CREATE TABLE ask of its rows.
pub(crate) fn constraints(table: &ast::CreateTable) -> SqlResult<Constraints> {
    let mut all = Constraints::default();
    for column in &table.columns {
        for option in &column.options {
            of_column(column, option, &mut all)?;
        }
    }
    table.constraints.iter().try_for_each(|it| of_table(it, &mut all))?;
    Ok(all)
}

/// What stands behind a column that is added.
pub(crate) fn of_added(column: &ast::ColumnDef) -> SqlResult<Constraints> {
    let mut all = Constraints::default();
    column.options.iter().try_for_each(|it| of_column(column, it, &mut all))?;
    Ok(all)
}

/// What a column option asks.
fn of_column(
    column: &ast::ColumnDef,
    option: &ast::ColumnOptionDef,
    all: &mut Constraints,
) -> SqlResult<()> {
    let (own, name) = (ident(&column.name), option.name.as_ref().map(ident));
    let (primary, said, nulls) = match &option.option {
        ast::ColumnOption::PrimaryKey(key) => {
            clauses::primary_key(key)?;
            (true, &key.characteristics, &ast::NullsDistinctOption::None)
        }
        ast::ColumnOption::Unique(key) => {
            clauses::unique_key(key)?;
            (false, &key.characteristics, &key.nulls_distinct)
        }
        ast::ColumnOption::Check(check) => {
            let name = name.or(check.name.as_ref().map(ident));
            let condition = crate::written::written(&*check.expr);
            all.checks.push(CheckDefinition { name, condition, not_valid: false });
            return Ok(());
        }
        ast::ColumnOption::ForeignKey(key) => {
            let key = reference(key)?;
            let columns = vec![own];
            all.references.push(ReferenceDefinition { name: name.or(key.name), columns, ..key });
            return Ok(());
        }
        _ => return Ok(()),
    };
    let deferral = deferral(said.as_ref())?;
    let nulls_equal = matches!(nulls, ast::NullsDistinctOption::NotDistinct);
    all.keys.push(KeyDefinition { name, columns: vec![own], primary, deferral, nulls_equal });
    Ok(())
}

/// `UNIQUE NULLS [NOT] DISTINCT` behind a column, which the parser knows only of tables.
pub(crate) fn unique_of_nulls(
    parser: &mut Parser<'_>,
) -> Result<Option<ast::ColumnOption>, ParserError> {
    if !parser.parse_keywords(&[Keyword::UNIQUE, Keyword::NULLS]) {
        return Ok(None);
    }
    let nulls_distinct = match parser.parse_keyword(Keyword::NOT) {
        true => ast::NullsDistinctOption::NotDistinct,
        false => ast::NullsDistinctOption::Distinct,
    };
    parser.expect_keyword(Keyword::DISTINCT)?;
    let characteristics = parser.parse_constraint_characteristics()?;
    Ok(Some(ast::ColumnOption::Unique(ast::UniqueConstraint {
        name: None,
        index_name: None,
        index_type_display: ast::KeyOrIndexDisplay::None,
        index_type: None,
        columns: Vec::new(),
        index_options: Vec::new(),
        characteristics,
        nulls_distinct,
    })))
}

/// What a constraint of a table asks.
pub(crate) fn of_table(constraint: &TableConstraint, all: &mut Constraints) -> SqlResult<()> {
    let (named, columns, nulls, said) = match constraint {
        TableConstraint::PrimaryKey(it) => {
            clauses::primary_key(it)?;
            (&it.name, &it.columns, None, &it.characteristics)
        }
        TableConstraint::Unique(it) => {
            clauses::unique_key(it)?;
            (&it.name, &it.columns, Some(&it.nulls_distinct), &it.characteristics)
        }
        TableConstraint::Check(it) => {
            let name = it.name.as_ref().map(ident);
            let condition = crate::written::written(&*it.expr);
            all.checks.push(CheckDefinition { name, condition, not_valid: false });
            return Ok(());
        }
        TableConstraint::ForeignKey(it) => {
            all.references.push(reference(it)?);
            return Ok(());
        }
        other => return Err(unsupported(format!("the table constraint {other}"))),
    };
    let columns = columns.iter().map(column_name).collect::<SqlResult<_>>()?;
    let (name, deferral) = (named.as_ref().map(ident), deferral(said.as_ref())?);
    let nulls_equal = matches!(nulls, Some(ast::NullsDistinctOption::NotDistinct));
    let primary = nulls.is_none();
    all.keys.push(KeyDefinition { name, columns, primary, deferral, nulls_equal });
    Ok(())
}

fn reference(key: &ast::ForeignKeyConstraint) -> SqlResult<ReferenceDefinition> {
    clauses::foreign_key(key)?;
    let action = |it: Option<ast::ReferentialAction>| match it {
        None | Some(ast::ReferentialAction::NoAction) => ReferentialAction::NoAction,
        Some(ast::ReferentialAction::Restrict) => ReferentialAction::Restrict,
        Some(ast::ReferentialAction::Cascade) => ReferentialAction::Cascade,
        Some(ast::ReferentialAction::SetNull) => ReferentialAction::SetNull,
        Some(ast::ReferentialAction::SetDefault) => ReferentialAction::SetDefault,
    };
    Ok(ReferenceDefinition {
        name: key.name.as_ref().map(ident),
        columns: key.columns.iter().map(ident).collect(),
        parent: name(&key.foreign_table),
        parent_columns: key.referred_columns.iter().map(ident).collect(),
        on_delete: action(key.on_delete),
        on_update: action(key.on_update),
        is_full: key.match_kind == Some(ast::ConstraintReferenceMatchKind::Full),
        deferral: deferral(key.characteristics.as_ref())?,
        not_valid: false,
    })
}

fn deferral(said: Option<&ast::ConstraintCharacteristics>) -> SqlResult<Deferral> {
    let Some(said) = said else { return Ok(Deferral::None) };
    let ast::ConstraintCharacteristics { deferrable, initially, enforced: _ } = said;
    let is_deferred = *initially == Some(ast::DeferrableInitial::Deferred);
    match deferrable {
        Some(false) if is_deferred => {
            let message = "constraint declared INITIALLY DEFERRED must be DEFERRABLE";
            Err(SqlError::new(SqlState::SYNTAX, message))
        }
        _ if is_deferred => Ok(Deferral::Deferred),
        Some(true) => Ok(Deferral::Deferrable),
        _ => Ok(Deferral::None),
    }
}

fn column_name(column: &IndexColumn) -> SqlResult<String> {
    clauses::index_column(column)?;
    match &column.column.expr {
        ast::Expr::Identifier(it) => Ok(ident(it)),
        other => Err(unsupported(format!("an index on the expression {other}"))),
    }
}

fn item(column: &IndexColumn) -> SqlResult<IndexItem> {
    clauses::index_column(column)?;
    Ok(match bare(&column.column.expr) {
        ast::Expr::Identifier(it) => IndexItem::Column(ident(it)),
        other => IndexItem::Expression(crate::written::written(other)),
    })
}

/// The order of a column; what descends has NULL first where nothing is said.
fn order(column: &IndexColumn) -> IndexOrder {
    let said = &column.column.options;
    let descending = said.asc == Some(false);
    IndexOrder { descending, nulls_first: said.nulls_first.unwrap_or(descending) }
}

/// CREATE INDEX.
pub(crate) fn create_index(index: &ast::CreateIndex) -> SqlResult<Statement> {
    clauses::create_index(index)?;
    Ok(Statement::CreateIndex {
        name: index.name.as_ref().map(name),
        table: name(&index.table_name),
        items: index.columns.iter().map(item).collect::<SqlResult<_>>()?,
        orders: index.columns.iter().map(order).collect(),
        method: clauses::method(index)?,
        predicate: index.predicate.as_ref().map(ToString::to_string),
        unique: index.unique,
        nulls_equal: index.nulls_distinct == Some(false),
        included: index.include.iter().map(ident).collect(),
        if_not_exists: index.if_not_exists,
    })
}
