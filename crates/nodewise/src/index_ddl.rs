//! CREATE INDEX and DROP INDEX.

use binder::design::RuleChange;
use stdx::sync::Arc;
use storage::{IndexKind, IndexedRelation, Rules, Table, TableDesign, TableIndex};
use types::{ColumnId, DataType, IndexOrder, SqlError, SqlResult, SqlState, names};

use crate::answer::done;
use crate::durability::Operation;
use crate::index_text::{Said, names_of, told_of};
use crate::parallel::LoadProgress;
use crate::{Answer, CancelToken, Session};

/// CREATE INDEX as parsed.
pub(crate) struct NewIndex {
    pub name: Option<String>,
    pub table: String,
    pub said: Said,
    pub unique: bool,
    pub if_not_exists: bool,
}

impl Session {
    pub(crate) fn create_index(&self, index: &NewIndex, cancel: &CancelToken) -> SqlResult<Answer> {
        self.write_alone(cancel)?;
        let of = self.existing_indexed(&index.table)?;
        let old = &of.table;
        let wished = index.name.as_deref().map(own_name).transpose()?;
        let wished = wished.as_deref();
        let is_there = |it: &&str| self.is_relation(&of.index_name(it));
        if let Some(there) = wished.filter(is_there).filter(|_| index.if_not_exists) {
            self.skip_existing(there);
            return Ok(done("CREATE INDEX"));
        }
        let own = names::bare(&of.name);
        let suggested = distinct_names(&names_of(&index.said)?).join("_");
        let suggested = format!("{own}_{suggested}_idx");
        let name = self.index_name(&of.name, wished, &suggested, old.rules())?;
        let kind = if index.unique { IndexKind::UniqueIndex } else { IndexKind::Index };
        let Said { items, orders, method, predicate, nulls_equal, included } = &index.said;
        let columns = self.index_columns(&old.name, items, predicate.as_deref(), cancel)?;
        let old = self.existing(&old.name)?;
        let column = |it: &String| column_of(&old, it);
        let included = included.iter().map(column).collect::<SqlResult<_>>()?;
        let (nulls_equal, method) = (*nulls_equal, *method);
        let is_usual = orders.iter().all(|it| *it == IndexOrder::default());
        let orders = if is_usual { Vec::new() } else { orders.clone() };
        let mut rules = Rules::clone(old.rules());
        let new = TableIndex::new(name, columns, kind);
        let new = TableIndex { nulls_equal, included, orders, method, ..new };
        rules.indexes.push(new);
        let applied = self.apply_rules(&old, rules, cancel);
        applied.map_err(|it| told_of(it, &old.name, &of.name))?;
        Ok(done("CREATE INDEX"))
    }

    pub(crate) fn drop_indexes(
        &mut self,
        names: &[String],
        if_exists: bool,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        self.write_alone(cancel)?;
        // All or none: what is wrong is found before any index is gone.
        for name in names {
            match self.snapshot().relation_of_index(name) {
                Some((of, index)) if index.kind.is_constraint() => {
                    let message = format!(
                        "index \"{name}\" is the {} of table \"{}\"",
                        index.kind.name(),
                        of.name
                    );
                    return Err(SqlError::new(SqlState("2BP01"), message)
                        .with_hint("ALTER TABLE .. DROP CONSTRAINT drops it"));
                }
                Some(_) => {}
                None if if_exists => {}
                None => {
                    let message = format!("index \"{name}\" does not exist");
                    return Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message)
                        .with_hint("SELECT * FROM nodewise.indexes lists them"));
                }
            }
        }
        for name in names {
            let Some((of, _)) = self.snapshot().relation_of_index(name) else {
                self.skip_missing("index", name);
                continue;
            };
            let table = of.table;
            let mut rules = Rules::clone(table.rules());
            let own = names::bare(name);
            self.move_comment(["index", &of.name, &own], None)?;
            rules.indexes.retain(|it| !it.name.eq_ignore_ascii_case(&own));
            let dropped = format!("index {name}");
            self.release_keys(&table, &rules, (&dropped, &dropped), false, cancel)?;
            self.apply_rules(&table, rules, cancel)?;
            self.drop_unused_hidden(&table.name, cancel)?;
        }
        Ok(done("DROP INDEX"))
    }

    /// ALTER INDEX .. RENAME TO: a constraint that the index keeps is renamed with it.
    pub(crate) fn rename_index(
        &mut self,
        name: &str,
        to: &str,
        if_exists: bool,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        self.write_alone(cancel)?;
        let Some((of, index)) = self.snapshot().relation_of_index(name) else {
            if !if_exists {
                let message = format!("relation \"{}\" does not exist", names::bare(name));
                return Err(SqlError::new(SqlState::UNDEFINED_TABLE, message));
            }
            self.skip_missing("relation", name);
            return Ok(done("ALTER INDEX"));
        };
        let own = names::bare(name);
        let table = of.table;
        let mut rules = Rules::clone(table.rules());
        self.index_name(&of.name, Some(to), to, &rules)?;
        self.move_comment(["index", &of.name, &own], Some(["index", &of.name, to]))?;
        if index.kind.is_constraint() {
            let change = RuleChange::RenameConstraint { name: own, to: to.to_owned() };
            self.change_rules(&table.name, &[change], cancel)?;
            return Ok(done("ALTER INDEX"));
        }
        let found = rules.indexes.iter_mut().find(|it| *it.name == *own);
        let missing = || SqlError::internal("an index is in no rules");
        found.ok_or_else(missing)?.name = to.into();
        self.apply_rules(&table, rules, cancel)?;
        Ok(done("ALTER INDEX"))
    }

    /// Gives a table other rules, which its rows must keep as far as keys go.
    pub(crate) fn apply_rules(
        &self,
        old: &Arc<Table>,
        rules: Rules,
        cancel: &CancelToken,
    ) -> SqlResult<Arc<Table>> {
        let team = self.load_team(cancel);
        let progress = LoadProgress::new(&*self.progress, &old.name);
        let stop = || execution::is_ended(cancel);
        let plain = TableDesign::default();
        let context = self.build_context(&team, &progress, &stop, &plain);
        let rules = Arc::new(rules);
        let new = self.cancelled_or(cancel, old.ruled(rules.clone(), &context))?;
        let new = self.catalog().replace(old, new)?;
        self.note(|| Operation::rules(&old.name, &rules))?;
        Ok(new)
    }

    /// A relation that indexes may be of. Errors: 42809 and 42P01.
    pub(crate) fn existing_indexed(&self, name: &str) -> SqlResult<IndexedRelation> {
        let snapshot = self.snapshot();
        let own = names::bare(name);
        snapshot.indexed_relation(name).ok_or_else(|| match snapshot.kind_of(name) {
            Some(kind) => {
                let message = format!("cannot create index on relation \"{own}\"");
                SqlError::new(SqlState::WRONG_OBJECT_TYPE, message)
                    .with_detail(format!("This operation is not supported for {kind}s."))
            }
            None => {
                let message = format!("relation \"{own}\" does not exist");
                SqlError::new(SqlState::UNDEFINED_TABLE, message)
            }
        })
    }

    /// Whether there is a relation of a name, be it an index.
    pub(crate) fn is_relation(&self, name: &str) -> bool {
        let snapshot = self.snapshot();
        snapshot.kind_of(name).is_some() || snapshot.relation_of_index(name).is_some()
    }

    /// A name that no relation of the schema of a relation has, for an index: the one wished for, or one made from a suggestion.
    pub(crate) fn index_name(
        &self,
        relation: &str,
        wished: Option<&str>,
        suggested: &str,
        own: &Rules,
    ) -> SqlResult<String> {
        let schema = names::schema_of(relation);
        let taken =
            |name: &str| own.get(name).is_some() || self.is_relation(&names::joined(&schema, name));
        match wished {
            Some(name) if taken(name) => {
                let message = format!("relation \"{name}\" already exists");
                Err(SqlError::new(SqlState::DUPLICATE_TABLE, message)
                    .with_hint("drop it first, or choose another name"))
            }
            Some(name) => Ok(name.to_owned()),
            None => {
                let numbered = (1..).map(|it| format!("{suggested}{it}"));
                let mut names = std::iter::once(suggested.to_owned()).chain(numbered);
                names.find(|it| !taken(it)).ok_or_else(|| SqlError::internal("no name is free"))
            }
        }
    }
}

/// The name of a new index, which lies in the schema of its table. Errors: 42601 where another is said.
fn own_name(said: &str) -> SqlResult<String> {
    match names::said(said, "")? {
        (None, name) => Ok(name),
        (Some(_), name) => {
            let message = format!("the name of the index \"{name}\" has a schema before it");
            Err(SqlError::new(SqlState::SYNTAX, message).with_hint("it gets that of its table"))
        }
    }
}

/// The columns of an index as its name calls them: what stands there again has a number.
pub(crate) fn distinct_names(columns: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(columns.len());
    for column in columns {
        let mut name = column.clone();
        let mut number = 0;
        while names.contains(&name) {
            number += 1;
            name = format!("{column}{number}");
        }
        names.push(name);
    }
    names
}

pub(crate) fn column_of(table: &Table, name: &str) -> SqlResult<ColumnId> {
    let place = table.columns.iter().position(|it| it.name.eq_ignore_ascii_case(name));
    let place = place.ok_or_else(|| {
        SqlError::new(
            SqlState::UNDEFINED_COLUMN,
            format!("table \"{}\" has no column \"{name}\"", table.name),
        )
    })?;
    Ok(ColumnId(place as u16))
}

/// A column of a key or an index, whose values must be comparable. Errors: 42703, and 42704 for JSON.
pub(crate) fn key_column_of(table: &Table, name: &str) -> SqlResult<ColumnId> {
    let column = column_of(table, name)?;
    check_key_type(table.columns[column.index()].data_type)?;
    Ok(column)
}

/// Refuses types whose values are not comparable. Errors: 42704 for JSON.
pub(crate) fn check_key_type(data_type: DataType) -> SqlResult<()> {
    if types::structs::has_json(data_type) {
        let message = "data type json has no default operator class for access method \"btree\"";
        return Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message)
            .with_hint("keys and indexes may have columns of JSONB"));
    }
    Ok(())
}
