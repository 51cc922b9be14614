//! What rights a statement needs, noted while it is bound (docs/design/13-roles.md).
//!
//! Key decision: binding knows which relations are meant and through which view, and nothing of roles. Whoever runs the statement asks
//! what is noted here at each run, so that a plan that is kept lets nobody through.

use std::collections::BTreeSet;

use plan::relation::{Attr, AttrSet};
use stdx::sync::Arc;
use types::{Privileges, TableId, TableInfo};

/// What a statement needs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Asked {
    /// Of relations.
    pub relations: Vec<AskedRelation>,
    /// The schemas that it says, in which it must be allowed to look.
    pub schemas: Vec<String>,
}

/// What a statement needs of a relation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AskedRelation {
    /// Its id.
    pub id: TableId,
    /// Its name.
    pub name: String,
    /// The rights.
    pub rights: Privileges,
    /// The view on behalf of whose owner it is used.
    pub view: Option<String>,
    /// The columns that they are needed on, of who has no right to the whole.
    pub columns: AskedColumns,
}

/// Columns that rights are needed on; where there are none, the right on any column is enough.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AskedColumns {
    /// Those that are read.
    pub selected: Vec<String>,
    /// Those that new rows are given.
    pub inserted: Vec<String>,
    /// Those that are set.
    pub updated: Vec<String>,
}

impl AskedColumns {
    /// Notes a column once.
    pub(super) fn note(columns: &mut Vec<String>, name: &str) {
        if !columns.iter().any(|it| it == name) {
            columns.push(name.to_owned());
        }
    }
}

/// A relation whose columns may be named.
#[derive(Debug)]
pub(super) struct AskedScan {
    /// Its place among the relations that are asked for.
    relation: usize,
    columns: ScanColumns,
}

#[derive(Debug)]
enum ScanColumns {
    /// Those of a table, the first being this attribute.
    Table(Arc<TableInfo>, Attr),
    /// Those of a view; an attribute may stand there twice.
    View(Vec<(Attr, String)>),
}

impl AskedScan {
    pub(super) fn of_table(relation: usize, table: &Arc<TableInfo>, base: Attr) -> Self {
        Self { relation, columns: ScanColumns::Table(table.clone(), base) }
    }

    pub(super) fn of_view(relation: usize, columns: Vec<(Attr, String)>) -> Self {
        Self { relation, columns: ScanColumns::View(columns) }
    }

    /// Tells its relation which of its columns are named.
    pub(super) fn resolve(&self, named: &AttrSet, relations: &mut [AskedRelation]) {
        let Some(relation) = relations.get_mut(self.relation) else { return };
        let selected = &mut relation.columns.selected;
        match &self.columns {
            ScanColumns::Table(table, base) => {
                let columns = table.columns.iter().enumerate();
                let found = columns.filter(|it| named.contains(base + it.0));
                selected.extend(found.map(|it| it.1.name.clone()));
            }
            ScanColumns::View(columns) => {
                let found = columns.iter().filter(|it| named.contains(it.0));
                found.for_each(|it| AskedColumns::note(selected, &it.1));
            }
        }
    }
}

/// The table that is changed.
#[derive(Debug)]
pub(super) struct AskedTarget {
    pub(super) id: TableId,
    pub(super) name: String,
    /// What its columns are called, by their places in the table, and behind them those that a view computes; empty where they are
    /// not seen.
    pub(super) names: Vec<String>,
    pub(super) columns: AskedColumns,
    /// The relations that are changed through it, if it is a view.
    pub(super) below: Vec<AskedBelow>,
    /// The attributes that stand for columns, with the places of these; one may stand for several.
    pub(super) places: BTreeSet<(Attr, usize)>,
}

/// A relation that is changed through a view, on behalf of whose owner.
#[derive(Clone, Debug)]
pub(super) struct AskedBelow {
    pub(super) id: TableId,
    pub(super) name: String,
    pub(super) view: String,
    /// What its columns are called, by their places in the table.
    pub(super) names: Vec<String>,
    /// Its columns that the view names.
    pub(super) used: Vec<String>,
}

/// What binding keeps for it.
#[derive(Debug, Default)]
pub(super) struct Asking {
    pub(super) asked: Asked,
    /// The view that is bound.
    pub(super) view: Option<String>,
    /// The relations whose columns may be named.
    pub(super) scans: Vec<AskedScan>,
    /// What is named.
    pub(super) named: AttrSet,
    /// The table that is changed.
    pub(super) target: Option<AskedTarget>,
    /// What is done to its rows.
    pub(super) rights: Privileges,
    /// Whether rules of the table are bound, which need no right.
    pub(super) in_rules: bool,
}
