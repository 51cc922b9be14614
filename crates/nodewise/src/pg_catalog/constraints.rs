//! Keys, CHECK constraints and foreign keys of tables, and the constraints of domains.

use std::collections::HashMap;

use ::types::names::quoted;
use ::types::{
    ColumnId, Deferral, DomainCheck, ForeignKey, ReferentialAction, SqlResult, UserType, names,
};
use arrow_array::RecordBatch;
use stdx::sync::Arc;
use storage::{IndexKind, Table, TableIndex};

use super::oids;
use super::relations::{all, full_name, index_oid, numbers};
use super::shapes;
use super::shared::{none, number};
use crate::Session;
use crate::constraints::columns_named;
use crate::index_text::{nulls_clause, told_of_expression};
use crate::pg_types::made_type;
use crate::views::ViewBuilder;

/// Columns as their numbers.
fn places(columns: &[ColumnId]) -> impl Iterator<Item = i64> {
    columns.iter().map(|it| it.index() as i64 + 1)
}

/// A constraint, with what the catalog says of it.
struct Constraint {
    oid: i64,
    name: String,
    kind: &'static str,
    columns: Vec<ColumnId>,
    index: Option<i64>,
    parent: Option<(i64, Vec<ColumnId>, &'static str, &'static str)>,
    definition: String,
    deferral: Deferral,
    /// Of a foreign key.
    rule: Option<ForeignKey>,
    /// Of a CHECK, whose columns are those that it names.
    condition: Option<Arc<str>>,
    is_validated: bool,
}

/// The letter of an action.
fn letter(action: ReferentialAction) -> &'static str {
    match action {
        ReferentialAction::NoAction => "a",
        ReferentialAction::Restrict => "r",
        ReferentialAction::Cascade => "c",
        ReferentialAction::SetNull => "n",
        ReferentialAction::SetDefault => "d",
    }
}

fn columns_of(table: &Table, columns: &[ColumnId]) -> String {
    let each: Vec<String> = columns.iter().map(|it| quoted(&table.column(*it).name)).collect();
    each.join(", ")
}

/// What stands behind a constraint that is known of new rows only.
fn open_clause(is_validated: bool) -> &'static str {
    if is_validated { "" } else { " NOT VALID" }
}

/// CHECK as it is told: with the parentheses of its operators beside its own, or as it was written for people.
fn check_clause(condition: &str, is_pretty: bool) -> String {
    match is_pretty {
        true => format!("CHECK ({condition})"),
        false => format!("CHECK ({})", told_of_expression(condition)),
    }
}

fn constraints_of(
    table: &Table,
    tables: &HashMap<&str, &Arc<Table>>,
    is_pretty: bool,
) -> Vec<Constraint> {
    let oid = |name: &str| oids::named("constraint", table.id, name);
    let rules = table.rules();
    let keys = rules.indexes.iter().filter(|it| it.kind.is_constraint()).map(|it| {
        let primary = it.kind == IndexKind::PrimaryKey;
        let words = if primary { "PRIMARY KEY" } else { "UNIQUE" };
        Constraint {
            oid: oid(&it.name),
            name: it.name.to_string(),
            kind: if primary { "p" } else { "u" },
            columns: it.columns.to_vec(),
            index: Some(index_oid(table.id, it)),
            parent: None,
            rule: None,
            condition: None,
            is_validated: true,
            definition: format!(
                "{words}{} ({}){}",
                nulls_clause(it),
                columns_of(table, &it.columns),
                it.deferral.clause()
            ),
            deferral: it.deferral,
        }
    });
    let checks = rules.rows.checks.iter().map(|it| Constraint {
        oid: oid(&it.name),
        name: it.name.to_string(),
        kind: "c",
        columns: Vec::new(),
        index: None,
        parent: None,
        deferral: Deferral::None,
        rule: None,
        condition: Some(it.condition.clone()),
        is_validated: it.is_validated,
        definition: check_clause(&it.condition, is_pretty) + open_clause(it.is_validated),
    });
    let references = rules.references.iter().map(|it| reference(table, it, tables));
    keys.chain(checks).chain(references).collect()
}

/// Tables by their names.
pub(super) fn by_name(tables: &[Arc<Table>]) -> HashMap<&str, &Arc<Table>> {
    tables.iter().map(|it| (it.name.as_str(), it)).collect()
}

/// The columns of its parent that a rule refers to.
pub(super) fn referred(rule: &ForeignKey, parent: &Table) -> Vec<ColumnId> {
    let place = |name: &Arc<str>| parent.columns.iter().position(|it| *it.name == **name);
    rule.parent_columns.iter().filter_map(place).map(|it| ColumnId(it as u16)).collect()
}

/// The key of some columns that rules which refer to them rest on.
pub(super) fn parent_key<'t>(parent: &'t Table, columns: &[ColumnId]) -> Option<&'t TableIndex> {
    parent.rules().indexes.iter().find(|it| {
        it.kind.is_constraint()
            && it.columns.len() == columns.len()
            && it.columns.iter().all(|column| columns.contains(column))
    })
}

/// A rule that refers to another table, with the key there that it rests on.
fn reference(table: &Table, rule: &ForeignKey, tables: &HashMap<&str, &Arc<Table>>) -> Constraint {
    let ForeignKey { name, columns, parent, parent_columns, on_delete, on_update, .. } = rule;
    let (mut found, mut index) = (None, None);
    if let Some(parent) = tables.get(&**parent) {
        let referred = referred(rule, parent);
        index = parent_key(parent, &referred).map(|it| index_oid(parent.id, it));
        found = Some((oids::table(parent.id), referred, letter(*on_update), letter(*on_delete)));
    }
    let parent_names: Vec<String> = parent_columns.iter().map(|it| quoted(it)).collect();
    let mut definition = format!(
        "FOREIGN KEY ({}) REFERENCES {}({}){}",
        columns_of(table, columns),
        full_name(parent, names::PUBLIC),
        parent_names.join(", "),
        rule.match_clause()
    );
    for (event, action) in [("UPDATE", on_update), ("DELETE", on_delete)] {
        if *action != ReferentialAction::NoAction {
            definition.push_str(&format!(" ON {event} {}", action.name()));
        }
    }
    definition.push_str(&rule.last_clauses());
    Constraint {
        oid: oids::named("constraint", table.id, name),
        name: name.to_string(),
        kind: "f",
        columns: columns.to_vec(),
        index,
        parent: found,
        definition,
        deferral: rule.deferral,
        rule: Some(rule.clone()),
        condition: None,
        is_validated: rule.is_validated,
    }
}

pub(super) fn constraints(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(shapes::PG_CONSTRAINT);
    let tables = all(session);
    let by_name = by_name(&tables);
    for table in &tables {
        for it in constraints_of(table, &by_name, false) {
            let array = |columns: &[ColumnId]| {
                let array = (!columns.is_empty()).then(|| numbers(places(columns), 1));
                array.transpose()
            };
            let (parent, keys, on_update, on_delete) =
                it.parent.clone().unwrap_or((0, Vec::new(), " ", " "));
            let deferral = it.deferral;
            let columns = match &it.condition {
                Some(condition) => columns_named(table, condition)?,
                None => it.columns,
            };
            view.row([
                number(it.oid),
                it.name.into(),
                number(oids::schema_of(&table.name)),
                it.kind.into(),
                (deferral != Deferral::None).into(),
                (deferral == Deferral::Deferred).into(),
                true.into(),
                it.is_validated.into(),
                number(oids::table(table.id)),
                number(0),
                number(it.index.unwrap_or(0)),
                number(0),
                number(parent),
                on_update.into(),
                on_delete.into(),
                it.rule.as_ref().map_or(" ", |it| if it.is_full { "f" } else { "s" }).into(),
                true.into(),
                number(0),
                it.condition.is_none().into(),
                array(&columns)?.into(),
                array(&keys)?.into(),
                it.condition.as_deref().map(told_of_expression).into(),
                false.into(),
                none(),
                none(),
                none(),
            ]);
        }
    }
    domain_checks(session).iter().for_each(|(own, it)| domain_constraint(&mut view, own, it));
    view.finish()
}

fn domain_constraint(view: &mut ViewBuilder, own: &UserType, it: &DomainCheck) {
    view.row([
        number(domain_check_oid(&own.name, &it.name)),
        it.name.clone().into(),
        number(oids::schema_of(&own.name)),
        "c".into(),
        false.into(),
        false.into(),
        true.into(),
        it.is_validated.into(),
        number(0),
        number(made_type(&own.name).into()),
        number(0),
        number(0),
        number(0),
        " ".into(),
        " ".into(),
        " ".into(),
        true.into(),
        number(0),
        false.into(),
        none(),
        none(),
        told_of_expression(&it.condition).into(),
        false.into(),
        none(),
        none(),
        none(),
    ]);
}

/// The constraints of domains.
pub(super) fn domain_checks(session: &Session) -> Vec<(Arc<UserType>, DomainCheck)> {
    let of = |it: &Arc<UserType>| {
        let checks = it.domain.iter().flat_map(|it| it.checks.clone());
        checks.map(|check| (it.clone(), check)).collect::<Vec<_>>()
    };
    session.snapshot().user_types().flat_map(of).collect()
}

fn domain_check_oid(domain: &str, name: &str) -> i64 {
    oids::of_name("domain constraint", &format!("{domain}\0{name}"))
}

/// The definitions of constraints by their numbers, those of CHECK for people without what only makes their order plain.
pub(super) fn constraint_definitions(session: &Session, is_pretty: bool) -> Vec<(i64, String)> {
    let tables = all(session);
    let by_name = by_name(&tables);
    let each = tables.iter().flat_map(|it| constraints_of(it, &by_name, is_pretty));
    let of_domains = domain_checks(session).into_iter().map(|(own, it)| {
        let clause = check_clause(&it.condition, is_pretty) + open_clause(it.is_validated);
        (domain_check_oid(&own.name, &it.name), clause)
    });
    each.map(|it| (it.oid, it.definition)).chain(of_domains).collect()
}
