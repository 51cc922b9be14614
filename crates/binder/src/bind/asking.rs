//! Notes of the rights that a statement needs ([`super::asked`]).

use plan::relation::{Attr, AttrSet, Rel};
use stdx::sync::Arc;
use types::{Privileges, TableId, TableInfo, names};

use super::Binder;
use super::asked::{Asked, AskedColumns, AskedRelation, AskedScan, AskedTarget};
use super::scope::Named;

/// Where the notes of a view begin, and what was named around it.
pub(super) struct AroundView {
    view: Option<String>,
    named: AttrSet,
    scans: Vec<AskedScan>,
}

impl Binder<'_> {
    /// A table that has just been bound is read.
    pub(super) fn ask_to_scan(&mut self, rel: &Rel) {
        if let Rel::Scan(scan) = rel {
            self.ask_of_scan((&scan.table, scan.base), Privileges::SELECT);
        }
    }

    /// A table needs rights, whose columns begin with an attribute.
    pub(super) fn ask_of_scan(
        &mut self,
        (table, base): (&Arc<TableInfo>, Attr),
        rights: Privileges,
    ) {
        let relation = self.ask(table.id, &table.name, rights);
        self.asking.scans.push(AskedScan::of_table(relation, table, base));
    }

    /// A view is read; what its columns are is told by [`Binder::ask_of_view`].
    pub(super) fn ask_to_read(&mut self, id: TableId, name: &str) -> usize {
        self.ask(id, name, Privileges::SELECT)
    }

    /// The columns of a view.
    pub(super) fn ask_of_view(&mut self, relation: usize, columns: &[Named]) {
        let columns = columns.iter().map(|it| (it.attr, it.name.clone())).collect();
        self.asking.scans.push(AskedScan::of_view(relation, columns));
    }

    /// The place of a relation among those that are asked for.
    fn ask(&mut self, id: TableId, name: &str, rights: Privileges) -> usize {
        let (name, view) = (name.to_owned(), self.asking.view.clone());
        let columns = AskedColumns::default();
        let relations = &mut self.asking.asked.relations;
        relations.push(AskedRelation { id, name, rights, view, columns });
        relations.len() - 1
    }

    /// The query of a view is bound: what it names is named on behalf of its owner.
    pub(super) fn begin_view(&mut self, name: &str) -> AroundView {
        AroundView {
            view: self.asking.view.replace(name.to_owned()),
            named: std::mem::take(&mut self.asking.named),
            scans: std::mem::take(&mut self.asking.scans),
        }
    }

    /// It is bound.
    pub(super) fn end_view(&mut self, around: AroundView) {
        self.resolve_columns();
        self.asking.view = around.view;
        self.asking.named = around.named;
        self.asking.scans = around.scans;
    }

    fn resolve_columns(&mut self) {
        let asking = &mut self.asking;
        for scan in std::mem::take(&mut asking.scans) {
            scan.resolve(&asking.named, &mut asking.asked.relations);
        }
    }

    /// The statement says a schema.
    pub(super) fn ask_schema(&mut self, schema: Option<&str>) {
        let Some(schema) = schema else { return };
        if self.asking.view.is_none() && !names::SYSTEM.contains(&schema) {
            self.asking.asked.schemas.push(schema.to_owned());
        }
    }

    /// A table is changed whose columns begin with an attribute; who names one of them reads it.
    pub(super) fn ask_target(&mut self, table: &Arc<TableInfo>, base: Attr) {
        // One that was noted before is another whose rows are locked, unless it is the same once more.
        let known = self.asking.target.take().filter(|it| it.id == table.id);
        let mut target = known.unwrap_or_else(|| AskedTarget {
            id: table.id,
            table: table.clone(),
            columns: AskedColumns::default(),
            places: Default::default(),
        });
        target.places.extend((0..table.columns.len()).map(|it| (base + it, it)));
        self.asking.target = Some(target);
    }

    /// Other attributes that are its columns, in their order.
    pub(super) fn ask_columns(&mut self, columns: impl Iterator<Item = Attr>) {
        if let Some(target) = &mut self.asking.target {
            target.places.extend(columns.enumerate().map(|(place, attr)| (attr, place)));
        }
    }

    /// The table that is changed needs rights.
    pub(super) fn ask_of_target(&mut self, rights: Privileges) {
        self.asking.rights |= rights;
    }

    /// A column of it is given to new rows, set, or read without being named.
    pub(super) fn ask_of_column(&mut self, right: Privileges, place: usize) {
        let Some(AskedTarget { table, columns, .. }) = &mut self.asking.target else { return };
        let Some(column) = table.columns.get(place) else { return };
        let list = match right {
            Privileges::INSERT => &mut columns.inserted,
            Privileges::UPDATE => &mut columns.updated,
            _ => &mut columns.selected,
        };
        AskedColumns::note(list, &column.name);
    }

    /// A column is named.
    pub(super) fn ask_column(&mut self, attr: Attr) {
        if self.asking.in_rules {
            return;
        }
        self.asking.named.insert(attr);
        let Some(target) = &self.asking.target else { return };
        let places = target.places.range((attr, 0)..=(attr, usize::MAX));
        let places: Vec<usize> = places.map(|it| it.1).collect();
        for place in places {
            self.asking.rights |= Privileges::SELECT;
            self.ask_of_column(Privileges::SELECT, place);
        }
    }

    /// Binds rules of the table that is changed, for which nobody needs a right.
    pub(super) fn within_rules<T>(&mut self, bind: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.asking.in_rules, true);
        let bound = bind(self);
        self.asking.in_rules = before;
        bound
    }

    /// All that was asked.
    pub(super) fn all_asked(&mut self) -> Asked {
        self.resolve_columns();
        let (target, rights) = (self.asking.target.take(), self.asking.rights);
        if let Some(AskedTarget { id, table, columns, .. }) = target
            && !rights.is_empty()
        {
            // It is told of first, as in PostgreSQL.
            let name = table.name.clone();
            let first = AskedRelation { id, name, rights, view: None, columns };
            self.asking.asked.relations.insert(0, first);
        }
        std::mem::take(&mut self.asking.asked)
    }
}
