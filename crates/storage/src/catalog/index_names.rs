//! Relations that have indexes, and indexes by their names, which are among those of the relations of a schema; which names are free.

use stdx::sync::Arc;
use types::{Materialized, SqlError, SqlResult, SqlState, TableId, ViewDefinition, names};

use super::CatalogSnapshot;
use crate::rules::TableIndex;
use crate::table::Table;

/// A relation that may have indexes: a table, or a materialized view.
#[derive(Clone, Debug)]
pub struct IndexedRelation {
    /// Its id.
    pub id: TableId,
    /// Its name with its schema, which is that of its indexes too.
    pub name: String,
    /// The table that has its rows.
    pub table: Arc<Table>,
}

impl IndexedRelation {
    /// The name of an index of it, with the schema.
    pub fn index_name(&self, index: &str) -> String {
        names::joined(&names::schema_of(&self.name), index)
    }
}

impl CatalogSnapshot {
    /// The table or materialized view of a name; also by that of the table which keeps the rows of one.
    pub fn indexed_relation(&self, name: &str) -> Option<IndexedRelation> {
        match self.view(name) {
            Some(view) => self.shown_as(self.get(&view.materialized.as_ref()?.table)?),
            None => self.shown_as(self.get(name)?),
        }
    }

    /// All tables and materialized views.
    pub fn indexed_relations(&self) -> Vec<IndexedRelation> {
        self.each_table().filter_map(|it| self.shown_as(it)).collect()
    }

    /// The relation that has an index of this name, which is in its schema, and the index.
    pub fn relation_of_index(&self, name: &str) -> Option<(IndexedRelation, TableIndex)> {
        let (schema, own) = names::split(name);
        let mut all = self.each_table().filter_map(|it| Some((it, it.rules().get(&own)?)));
        all.find_map(|(table, index)| {
            let relation = self.shown_as(table)?;
            (names::schema_of(&relation.name) == schema).then(|| (relation, index.clone()))
        })
    }

    /// The relation whose rows a table has.
    fn shown_as(&self, table: &Arc<Table>) -> Option<IndexedRelation> {
        let (id, name) = match names::schema_of(&table.name) == names::MATERIALIZED {
            false => (table.id, table.name.clone()),
            true => {
                let has_rows = |it: &Materialized| it.table == table.name;
                let is_of =
                    |it: &&Arc<ViewDefinition>| it.materialized.as_ref().is_some_and(has_rows);
                self.views_by_name().find(is_of).map(|it| (it.id, it.name.clone()))?
            }
        };
        Some(IndexedRelation { id, name, table: table.clone() })
    }

    /// [`Self::check_free`] of what shares its names with indexes, which are relations as well.
    pub fn check_free_name(&self, name: &str) -> SqlResult<()> {
        self.check_free(name)?;
        match self.relation_of_index(name) {
            None => Ok(()),
            Some(_) => {
                let message = format!("relation \"{}\" already exists", names::bare(name));
                Err(SqlError::new(SqlState::DUPLICATE_TABLE, message)
                    .with_hint("it is an index; choose another name"))
            }
        }
    }

    /// [`Self::check_free_name`] of a table or a view, of whose rows there is a type of its name (42710).
    pub fn check_free_relation(&self, name: &str) -> SqlResult<()> {
        self.check_free_name(name)?;
        match self.user_type(name) {
            None => Ok(()),
            Some(_) => {
                let message = format!("type \"{}\" already exists", names::bare(name));
                let hint = "A relation has an associated type of the same name, so you must use a name that doesn't \
                            conflict with any existing type.";
                Err(SqlError::new(SqlState::DUPLICATE_OBJECT, message).with_hint(hint))
            }
        }
    }
}
