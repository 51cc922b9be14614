//! Notes of the rights that a statement needs ([`super::asked`]).

use plan::relation::{Attr, Rel};
use types::{Privileges, TableId, names};

use super::Binder;
use super::asked::{Asked, AskedRelation};

impl Binder<'_> {
    /// A relation is read.
    pub(super) fn ask_to_read(&mut self, id: TableId, name: &str) {
        self.ask(id, name, Privileges::SELECT);
    }

    /// [`Binder::ask_to_read`] of a table that has just been bound.
    pub(super) fn ask_to_scan(&mut self, rel: &Rel) {
        if let Rel::Scan(scan) = rel {
            self.ask(scan.table.id, &scan.table.name, Privileges::SELECT);
        }
    }

    pub(super) fn ask(&mut self, id: TableId, name: &str, rights: Privileges) {
        let (name, view) = (name.to_owned(), self.asking.view.clone());
        self.asking.asked.relations.push(AskedRelation { id, name, rights, view });
    }

    /// The statement says a schema.
    pub(super) fn ask_schema(&mut self, schema: Option<&str>) {
        let Some(schema) = schema else { return };
        if self.asking.view.is_none() && !names::SYSTEM.contains(&schema) {
            self.asking.asked.schemas.push(schema.to_owned());
        }
    }

    /// A table is changed whose columns begin with an attribute; who names one of them reads it.
    pub(super) fn ask_target(&mut self, id: TableId, name: &str, columns: std::ops::Range<Attr>) {
        self.asking.target = Some((id, name.to_owned()));
        columns.for_each(|it| self.asking.readable.insert(it));
    }

    /// Other attributes that are its columns.
    pub(super) fn ask_columns(&mut self, columns: impl Iterator<Item = Attr>) {
        columns.for_each(|it| self.asking.readable.insert(it));
    }

    /// The table that is changed needs rights.
    pub(super) fn ask_of_target(&mut self, rights: Privileges) {
        self.asking.rights |= rights;
    }

    /// A column is named.
    pub(super) fn ask_column(&mut self, attr: Attr) {
        if !self.asking.in_rules && self.asking.readable.contains(attr) {
            self.asking.rights |= Privileges::SELECT;
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
        let (target, rights) = (self.asking.target.take(), self.asking.rights);
        if let Some((id, name)) = target.filter(|_| !rights.is_empty()) {
            // It is told of first, as in PostgreSQL.
            let first = AskedRelation { id, name, rights, view: None };
            self.asking.asked.relations.insert(0, first);
        }
        std::mem::take(&mut self.asking.asked)
    }
}
