//! The keys and the indexes of a table, as they were asked for.

use stdx::sync::Arc;
use types::{
    ColumnId, Deferral, FieldsColumn, ForeignKey, Generated, Identity, IndexMethod, IndexOrder,
    OnCommit, RowRules,
};

/// Why there is an index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IndexKind {
    /// PRIMARY KEY: no two rows alike, and no NULL.
    PrimaryKey,
    /// UNIQUE, as a constraint: no two rows alike, NULL being unlike anything.
    UniqueKey,
    /// CREATE UNIQUE INDEX.
    UniqueIndex,
    /// CREATE INDEX.
    Index,
}

impl IndexKind {
    /// Whether no two rows may hold the same values.
    pub fn is_unique(self) -> bool {
        self != Self::Index
    }

    /// Whether it goes with its table only, not by DROP INDEX.
    pub fn is_constraint(self) -> bool {
        matches!(self, Self::PrimaryKey | Self::UniqueKey)
    }

    /// Its name in views.
    pub fn name(self) -> &'static str {
        match self {
            Self::PrimaryKey => "primary key",
            Self::UniqueKey => "unique key",
            Self::UniqueIndex => "unique index",
            Self::Index => "index",
        }
    }
}

/// The columns that no two rows may hold the same values in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key<'a> {
    pub(crate) columns: &'a [ColumnId],
    /// Whether NULL is like NULL; else a row with one has no key.
    pub(crate) nulls_equal: bool,
}

/// A key or an index of a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TableIndex {
    /// Its name, in lower case unless it was quoted.
    pub name: Arc<str>,
    /// Its columns.
    pub columns: Vec<ColumnId>,
    /// Why it is there.
    pub kind: IndexKind,
    /// Until when it may be broken.
    pub deferral: Deferral,
    /// NULLS NOT DISTINCT: in its key NULL is like NULL.
    pub nulls_equal: bool,
    /// INCLUDE: columns that it is not of, and which go only with it.
    pub included: Vec<ColumnId>,
    /// The orders of its columns, which change nothing and are told; none where all are the usual one.
    pub orders: Vec<IndexOrder>,
    /// How it is kept, as it was said.
    pub method: IndexMethod,
}

impl TableIndex {
    /// One that always holds and to which NULL is unlike anything.
    pub fn new(name: impl Into<Arc<str>>, columns: Vec<ColumnId>, kind: IndexKind) -> Self {
        let (name, deferral) = (name.into(), Deferral::None);
        let (included, orders) = (Vec::new(), Vec::new());
        let (nulls_equal, method) = (false, IndexMethod::default());
        Self { name, columns, kind, deferral, nulls_equal, included, orders, method }
    }

    /// The order of the column at a place.
    pub fn order(&self, place: usize) -> IndexOrder {
        self.orders.get(place).copied().unwrap_or_default()
    }

    /// Its key.
    pub(crate) fn key(&self) -> Key<'_> {
        Key { columns: &self.columns, nulls_equal: self.nulls_equal }
    }

    /// The columns of which an [`crate::InvertedIndex`] is kept: each of an index, so that a condition on any of them
    /// finds its rows; of a key of several columns none, as it is only checked. A column may stand twice.
    pub fn inverted_columns(&self) -> &[ColumnId] {
        match self.kind.is_constraint() && self.columns.len() > 1 {
            true => &[],
            false => &self.columns,
        }
    }
}

/// The keys and indexes of a table.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Rules {
    /// In the order in which they were made.
    pub indexes: Vec<TableIndex>,
    /// Defaults and CHECK constraints.
    pub rows: Arc<RowRules>,
    /// What its rows refer to.
    pub references: Vec<ForeignKey>,
    /// What a commit does to it; not of those that last.
    pub on_commit: OnCommit,
}

impl Rules {
    /// By name.
    pub fn get(&self, name: &str) -> Option<&TableIndex> {
        self.indexes.iter().find(|it| it.name.eq_ignore_ascii_case(name))
    }

    /// The same for a table without a column, which stands in none of them.
    pub(crate) fn without_column(&self, id: ColumnId) -> Self {
        let moved = |it: &[ColumnId]| it.iter().filter_map(|it| moved_up(*it, id)).collect();
        let mut rules = self.clone();
        for index in &mut rules.indexes {
            let mut stays = index.columns.iter().map(|it| *it != id);
            index.orders.retain(|_| stays.next().unwrap_or_default());
            index.columns = moved(&index.columns);
            index.included = moved(&index.included);
        }
        rules.references.iter_mut().for_each(|it| it.columns = moved(&it.columns));
        let rows = Arc::make_mut(&mut rules.rows);
        if id.index() < rows.defaults.len() {
            rows.defaults.remove(id.index());
        }
        let identity = |it: &Identity| Some(Identity { column: moved_up(it.column, id)?, ..*it });
        rows.identities = rows.identities.iter().filter_map(identity).collect();
        let generated =
            |it: &Generated| Some(Generated { column: moved_up(it.column, id)?, ..*it });
        rows.generated = rows.generated.iter().filter_map(generated).collect();
        let fields =
            |it: &FieldsColumn| Some(FieldsColumn { column: moved_up(it.column, id)?, ..*it });
        rows.fields = rows.fields.iter().filter_map(fields).collect();
        rows.domains.retain_mut(|it| match moved_up(it.column, id) {
            Some(column) => {
                it.column = column;
                true
            }
            None => false,
        });
        rules
    }

    /// Whether any of them needs the inverted index of a column; those that do share it.
    pub(crate) fn has_index(&self, column: usize) -> bool {
        let mut columns = self.indexes.iter().flat_map(TableIndex::inverted_columns);
        columns.any(|it| it.index() == column)
    }
}

/// The id of a column once another has gone; `None` if it is that one.
pub(crate) fn moved_up(column: ColumnId, gone: ColumnId) -> Option<ColumnId> {
    (column != gone).then(|| ColumnId(column.0 - u16::from(column > gone)))
}
