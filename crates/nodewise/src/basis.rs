//! The tables that a plan was made on: it is right as long as they are the same, or what it rests on is still true of them.
//!
//! Key decision: a plan of one scan rests on the facts that planning knew of its table: bounds, keys, where no NULL is. A table
//! whose rows have changed within them gives the same rows by the same plan, so that a statement that finds rows by a key is
//! planned once, and not after each change. Other plans are kept for tables as they were.

use std::cmp::Ordering;

use plan::{Operator, Plan, Source};
use stdx::sync::{Arc, Weak};
use storage::{CatalogSnapshot, Column, Rules, Table};
use types::{ColumnId, ColumnInfo, TableId, TableInfo, Value, ViewDefinition};

use crate::search_path::SearchPath;

/// A table has grown out of the estimates of a plan when it has so many times the rows, or one of so many.
const GROWTH_MAX: u64 = 4;

/// Tables as planning saw them. It keeps their names in memory, and none of their rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Basis {
    /// The version of the catalog.
    version: u64,
    /// Tables of whose rows something is known to the plan.
    whole: Vec<(TableId, Weak<Table>)>,
    /// Views that the plan was made through.
    views: Vec<(TableId, Weak<ViewDefinition>)>,
    /// Where names were looked for that say no schema, and names that nothing had there.
    path: Option<SearchPath>,
    absent: Vec<String>,
    /// A table of which the plan knows facts only.
    facts: Option<Facts>,
    /// A table of which the plan knows its columns and what it asks of its rows.
    shape: Option<Shape>,
}

#[derive(Clone, Debug)]
struct Facts {
    table: Weak<Table>,
    info: Arc<TableInfo>,
    rules: Weak<Rules>,
}

#[derive(Clone, Debug)]
struct Shape {
    table: Weak<Table>,
    columns: Arc<TableInfo>,
    rules: Weak<Rules>,
}

impl Basis {
    /// Tables of a catalog that planning asked for.
    pub fn new(tables: &CatalogSnapshot, asked: &[TableId]) -> Self {
        let mut asked = asked.to_vec();
        asked.sort_unstable();
        asked.dedup();
        let of = |id: &TableId| Some((*id, Arc::downgrade(tables.by_id(*id)?)));
        let whole = asked.iter().filter_map(of).collect();
        let of = |id: &TableId| Some((*id, Arc::downgrade(tables.view_by_id(*id)?)));
        let views = asked.iter().filter_map(of).collect();
        Self { version: tables.version(), whole, views, ..Self::default() }
    }

    /// The same, found in these schemas, in which these names were not.
    pub fn found_by(mut self, path: &SearchPath, absent: Vec<String>) -> Self {
        self.path = Some(path.clone());
        self.absent = absent;
        self
    }

    /// The same for a plan that is one scan of the only table that was asked for, and tells all that is read of it; of which
    /// planning has known this.
    pub fn of_scan(
        mut self,
        tables: &CatalogSnapshot,
        known: impl Fn(TableId) -> Option<Arc<TableInfo>>,
        plan: &Plan,
        unknown: &[TableId],
    ) -> Self {
        let ([(id, _)], [pipeline], []) = (&self.whole[..], &plan.pipelines[..], unknown) else {
            return self;
        };
        let maps = |it: &Operator| {
            matches!(it, Operator::Filter(_) | Operator::Project(_) | Operator::Repeat { .. })
        };
        let scans = matches!(&pipeline.source, Source::Scan(it) if it.table == *id);
        if let (true, Some(info), Some(table)) = (
            plan.recursions.is_empty() && scans && pipeline.operators.iter().all(maps),
            known(*id),
            tables.by_id(*id),
        ) {
            let rules = Arc::downgrade(table.rules());
            self.facts = Some(Facts { table: Arc::downgrade(table), info, rules });
            self.whole.clear();
        }
        self
    }

    /// The same for a plan of new rows for a table, which may change as long as it asks for the same rows, if the plan does
    /// not read it.
    pub fn into_table(mut self, tables: &CatalogSnapshot, table: &Arc<Table>, plan: &Plan) -> Self {
        let Some(columns) = tables.info(table.id) else { return self };
        if plan.scans().iter().any(|it| it.table == table.id) {
            return self;
        }
        self.whole.retain(|it| it.0 != table.id);
        let (columns, rules) = (columns.clone(), Arc::downgrade(table.rules()));
        self.shape = Some(Shape { table: Arc::downgrade(table), columns, rules });
        self
    }

    /// The tables that it is about.
    pub fn tables(&self) -> impl Iterator<Item = TableId> {
        let facts = self.facts.iter().map(|it| it.info.id);
        let shape = self.shape.iter().map(|it| it.columns.id);
        self.whole.iter().map(|it| it.0).chain(facts).chain(shape)
    }

    /// Whether they are there, and names mean the same.
    pub fn holds(&self, tables: &CatalogSnapshot, path: &SearchPath) -> bool {
        if self.path.as_ref().is_some_and(|it| it != path) {
            return false;
        }
        let is_same = |(id, known): &(TableId, Weak<Table>)| {
            tables.by_id(*id).is_some_and(|it| std::ptr::eq(Arc::as_ptr(it), known.as_ptr()))
        };
        let is_view = |(id, known): &(TableId, Weak<ViewDefinition>)| {
            tables.view_by_id(*id).is_some_and(|it| std::ptr::eq(Arc::as_ptr(it), known.as_ptr()))
        };
        let is_alike =
            |it: &Shape| tables.by_id(it.columns.id).is_some_and(|table| it.is_of(table));
        tables.version() == self.version
            || self.absent.iter().all(|it| tables.kind_of(it).is_none())
                && self.whole.iter().all(is_same)
                && self.views.iter().all(is_view)
                && self.shape.iter().all(is_alike)
                && self.facts.iter().all(|it| it.are_true(tables))
    }
}

impl Shape {
    fn is_of(&self, table: &Arc<Table>) -> bool {
        let is_same = || {
            let columns = self.columns.columns.iter().zip(&table.columns);
            self.columns.columns.len() == table.columns.len()
                && self.columns.name == table.name
                && columns.into_iter().all(|(known, it)| {
                    known.data_type == it.data_type
                        && known.nullable == it.nullable
                        && known.name == it.name
                })
        };
        std::ptr::eq(Arc::as_ptr(table.rules()), self.rules.as_ptr())
            && (std::ptr::eq(Arc::as_ptr(table), self.table.as_ptr()) || is_same())
    }
}

impl Facts {
    /// Whether all that was known of the table is true of it as it is.
    fn are_true(&self, tables: &CatalogSnapshot) -> bool {
        let known = &*self.info;
        let Some(table) = tables.by_id(known.id) else { return false };
        if std::ptr::eq(Arc::as_ptr(table), self.table.as_ptr()) {
            return true;
        }
        let (few, many) = (known.rows.min(table.rows()), known.rows.max(table.rows()));
        let is_true = |(place, known): (usize, &ColumnInfo)| {
            let id = ColumnId(place as u16);
            is_implied(known, table.column(id))
                && (!known.numbers_rows || table.dense_key(id).is_some())
                && (!self.info.is_unique(id) || table.is_key(id))
        };
        // What is indexed is among the rules.
        std::ptr::eq(Arc::as_ptr(table.rules()), self.rules.as_ptr())
            && known.name == table.name
            && known.columns.len() == table.columns.len()
            && few > 0
            && many / GROWTH_MAX <= few
            && known.columns.iter().enumerate().all(is_true)
    }
}

/// Whether what was known of a column follows from what is known of it now, and may be planned alike.
fn is_implied(known: &ColumnInfo, now: &Column) -> bool {
    let (old, new) = (&known.statistics, &now.statistics);
    let within = |old: &Option<Value>, new: &Option<Value>, wrong: Ordering| match (old, new) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(old), Some(new)) => new.compare(old).is_some_and(|it| it != wrong),
    };
    known.data_type == now.data_type
        && known.nullable == now.nullable
        && known.name == now.name
        && (old.nulls > 0 || new.nulls == 0)
        && (!old.sorted || new.sorted)
        && within(&old.min, &new.min, Ordering::Less)
        && within(&old.max, &new.max, Ordering::Greater)
}
