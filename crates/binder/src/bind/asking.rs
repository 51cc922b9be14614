//! Notes of the rights that a statement needs ([`super::asked`]).

use plan::relation::{Attr, AttrSet, Rel};
use stdx::sync::Arc;
use types::{Privileges, TableId, TableInfo, names};

use super::Binder;
use super::asked::{Asked, AskedBelow, AskedColumns, AskedRelation, AskedScan, AskedTarget};
use super::changed_view::{ChangedView, places_in_table};
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

    /// A table is changed whose columns begin with an attribute, or a view of it; who names one of them reads it.
    pub(super) fn ask_target(&mut self, table: &Arc<TableInfo>, base: Attr, is_view: bool) {
        let views = if is_view { &self.rules.views[..] } else { &[] };
        let first = views.first().map(|it| &it.view);
        let id = first.map_or(table.id, |it| it.id);
        // One that was noted before is another whose rows are locked, unless it is the same once more.
        let known = self.asking.target.take().filter(|it| it.id == id);
        let mut target = known.unwrap_or_else(|| AskedTarget {
            id,
            name: first.map_or_else(|| table.name.clone(), |it| it.name.clone()),
            names: names_by_place(views, table),
            columns: AskedColumns::default(),
            places: Default::default(),
            below: below(views, table),
        });
        target.places.extend((0..table.columns.len()).map(|it| (base + it, it)));
        self.asking.target = Some(target);
    }

    /// Columns that a view computes stand for themselves.
    pub(super) fn ask_computed(&mut self, columns: &[Named], computed: Vec<Attr>) {
        let Some(target) = &mut self.asking.target else { return };
        for column in columns.iter().filter(|it| computed.contains(&it.attr)) {
            let known = target.names.iter().position(|it| *it == column.name);
            let place = known.unwrap_or_else(|| {
                target.names.push(column.name.clone());
                target.names.len() - 1
            });
            target.places.insert((column.attr, place));
        }
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
        let Some(AskedTarget { names, columns, .. }) = &mut self.asking.target else { return };
        let Some(name) = names.get(place).filter(|it| !it.is_empty()) else { return };
        let list = match right {
            Privileges::INSERT => &mut columns.inserted,
            Privileges::UPDATE => &mut columns.updated,
            _ => &mut columns.selected,
        };
        AskedColumns::note(list, name);
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
        if let Some(target) = target
            && !rights.is_empty()
        {
            let through = target.below.iter().map(|it| it.asked(&target, rights));
            self.asking.asked.relations.extend(through);
            let AskedTarget { id, name, columns, .. } = target;
            // It is told of first, as in PostgreSQL.
            let first = AskedRelation { id, name, rights, view: None, columns };
            self.asking.asked.relations.insert(0, first);
        }
        std::mem::take(&mut self.asking.asked)
    }
}

/// What the columns of a table are called by a statement that changes it through views.
fn names_by_place(views: &[ChangedView], table: &TableInfo) -> Vec<String> {
    if views.is_empty() {
        return table.columns.iter().map(|it| it.name.clone()).collect();
    }
    let mut names = vec![String::new(); table.columns.len()];
    for (name, place) in places_in_table(views) {
        if let Some(own) = place.and_then(|it| names.get_mut(it)).filter(|it| it.is_empty()) {
            *own = name;
        }
    }
    names
}

/// What is changed through views.
fn below(views: &[ChangedView], table: &TableInfo) -> Vec<AskedBelow> {
    let each = |(number, it): (usize, &ChangedView)| {
        let rest = &views[number + 1..];
        let next = rest.first().map(|it| &it.view);
        let name = next.map_or(&table.name, |it| &it.name);
        let used = it.view.uses.iter().find(|it| it.name == *name);
        AskedBelow {
            id: next.map_or(table.id, |it| it.id),
            name: name.clone(),
            view: it.view.name.clone(),
            names: names_by_place(rest, table),
            used: used.map_or_else(Vec::new, |it| it.columns.clone()),
        }
    };
    views.iter().enumerate().map(each).collect()
}

impl AskedBelow {
    /// The rights that the owner of the view needs: those that are asked of the target, and to read all that the view names.
    fn asked(&self, target: &AskedTarget, rights: Privileges) -> AskedRelation {
        let place = |name: &String| target.names.iter().position(|it| it == name);
        let own = |list: &[String]| {
            let names = list.iter().filter_map(place).filter_map(|it| self.names.get(it));
            names.filter(|it| !it.is_empty()).cloned().collect()
        };
        let columns = AskedColumns {
            selected: self.used.clone(),
            inserted: own(&target.columns.inserted),
            updated: own(&target.columns.updated),
        };
        let (id, name, view) = (self.id, self.name.clone(), Some(self.view.clone()));
        AskedRelation { id, name, rights, view, columns }
    }
}
