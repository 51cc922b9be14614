//! Late materialisation: where only the first rows of an order are wanted, columns that the order does not need are
//! fetched for those rows alone, by the key of their table (docs/design/05-sql-and-planning.md, "late
//! materialisation").
//!
//! Key decision: fetching is a join with the whole table, which finds its rows by a dense key, so execution looks the
//! rows up where they are stored. Joins below that were there for those columns alone go (`elimination`).

use plan::Expr;

use super::origin;
use crate::tuning::{CARRIED_COLUMNS_MAX, FETCH_CHOICE_MIN, SMALL_ROWS};
use plan::relation::{
    Attr, AttrSet, Attribute, JoinRel, Query, Rel, RelJoin, ScanRel, bare, substitute,
};

/// A table whose columns are fetched later, once more under attributes of its own.
struct Fetch {
    /// The table as it is in the query.
    scan: ScanRel,
    /// The attribute of its first column when it is fetched.
    base: Attr,
    /// An attribute of the chosen rows, and the key of the table that equals it.
    on: (Attr, Attr),
}

/// Fetches late what the first rows of an ordered answer are made of.
pub(super) fn fetch_late(query: &mut Query) {
    let mut wanted: AttrSet = query.output.iter().map(|it| it.attr).collect();
    let mut top = &mut query.root;
    while let Rel::Map { input, exprs } = top {
        exprs.iter().for_each(|it| wanted.remove(it.0));
        exprs.iter().for_each(|it| wanted.add_expr(&it.1));
        top = input;
    }
    let Rel::Sort { input, partition, keys, limit: Some(limit), .. } = &*top else { return };
    if !partition.is_empty() {
        return;
    }
    let choice = input.rows();
    if choice < SMALL_ROWS || choice < FETCH_CHOICE_MIN * *limit as f64 {
        return;
    }
    let chosen = top.rows();
    keys.iter().for_each(|it| AttrSet::of(&it.expr).iter().for_each(|it| wanted.remove(it)));
    let mut fetching = Fetching::new(input, &wanted, query.attributes.len());
    fetching.find();
    let Fetching { fetches, columns, .. } = fetching;
    let mut replaced: Vec<(Attr, Expr)> = Vec::new();
    for Fetch { scan, base, on } in fetches {
        for column in &scan.table.columns {
            let (data_type, nullable) = (column.data_type, column.nullable);
            query.attributes.push(Attribute { data_type, nullable });
        }
        let column = |attr: Attr| Expr::column(attr, query.attributes[attr].data_type);
        let later = |attr: Attr| column(attr - scan.base + base);
        let own = columns.iter().filter(|it| it.1 == scan.base);
        replaced.extend(own.map(|it| (it.0, later(it.2))));
        let keys = vec![(column(on.0), later(on.1))];
        let rows = scan.table.rows as f64;
        let right = Rel::Scan(ScanRel { base, filters: Vec::new(), rows, ..scan });
        let join = JoinRel::new(RelJoin::Inner, top.take(), right);
        let join = JoinRel { keys, rows: chosen, ..join };
        *top = Rel::Join(Box::new(join));
    }
    let mut above = &mut query.root;
    while let Rel::Map { input, exprs } = above {
        exprs.iter_mut().for_each(|it| substitute(&mut it.1, &replaced));
        above = input;
    }
    for output in &mut query.output {
        let later = replaced.iter().find(|it| it.0 == output.attr);
        output.attr = later.and_then(|it| bare(&it.1)).unwrap_or(output.attr);
    }
}

/// The search for what can be fetched.
struct Fetching<'a> {
    /// What is ordered.
    input: &'a Rel,
    /// Attributes that are wanted afterwards only, with the first attribute of their scan and what they are there.
    columns: Vec<(Attr, Attr, Attr)>,
    /// Attributes by which something may be fetched, and what they are in their scan: first those that are there anyway.
    there: Vec<(Attr, Attr)>,
    /// Pairs that inner joins make equal.
    equal: Vec<(Attr, Attr)>,
    fetches: Vec<Fetch>,
    /// The first attribute that is free.
    free: Attr,
}

impl<'a> Fetching<'a> {
    fn new(input: &'a Rel, wanted: &AttrSet, free: Attr) -> Self {
        let origin = |attr: Attr| Some((attr, origin::of(input, attr)?));
        let columns = wanted.iter().filter_map(origin).map(|(it, (scan, of))| (it, scan.base, of));
        let there = carried(input).into_iter().chain(wanted.iter());
        let there = there.filter_map(origin).map(|(it, (_, of))| (it, of));
        let mut equal = Vec::new();
        equalities(input, &mut equal);
        let (columns, there) = (columns.collect(), there.collect());
        Self { input, columns, there, equal, fetches: Vec::new(), free }
    }

    /// Fetches what it can, at first by what is there, then by what was fetched.
    fn find(&mut self) {
        let mut bases: Vec<Attr> = self.columns.iter().map(|it| it.1).collect();
        bases.sort_unstable();
        bases.dedup();
        while let Some(place) = bases.iter().position(|it| self.fetch(*it)) {
            bases.remove(place);
        }
    }

    fn fetch(&mut self, base: Attr) -> bool {
        let mut own = self.columns.iter().filter(|it| it.1 == base).peekable();
        let Some((scan, _)) = own.peek().and_then(|it| origin::of(self.input, it.0)) else {
            return false;
        };
        let columns = &scan.table.columns;
        let texts = own.clone().any(|it| columns[it.2 - base].data_type.stored().is_text());
        if !texts && own.count() <= CARRIED_COLUMNS_MAX {
            return false;
        }
        let by = (base..base + columns.len())
            .filter(|it| origin::is_row_number(scan, *it))
            .find_map(|key| Some((self.equal_to(key)?, key)));
        let Some(on) = by else { return false };
        let (scan, base) = (scan.clone(), self.free);
        self.free += columns.len();
        self.fetches.push(Fetch { scan, base, on });
        true
    }

    /// An attribute of the rows so far that equals a key.
    fn equal_to(&self, key: Attr) -> Option<Attr> {
        let mut class = vec![key];
        let mut at = 0;
        while at < class.len() {
            for (a, b) in &self.equal {
                for (from, to) in [(a, b), (b, a)] {
                    if *from == class[at] && !class.contains(to) {
                        class.push(*to);
                    }
                }
            }
            at += 1;
        }
        let there = self.there.iter().find(|it| class.contains(&it.1)).map(|it| it.0);
        let fetched = |it: &Fetch| {
            let mut own = (0..it.scan.table.columns.len()).map(|place| it.scan.base + place);
            own.find(|attr| class.contains(attr)).map(|attr| attr - it.scan.base + it.base)
        };
        there.or_else(|| self.fetches.iter().find_map(fetched))
    }
}

/// The attributes that order or groups carry anyway.
fn carried(rel: &Rel) -> Vec<Attr> {
    match rel {
        Rel::Aggregate { keys, .. } => keys.iter().map(|it| it.0).collect(),
        Rel::Filter { input, .. } => carried(input),
        _ => rel.attrs().iter().collect(),
    }
}

/// What inner joins make equal, values of one type.
fn equalities(rel: &Rel, into: &mut Vec<(Attr, Attr)>) {
    match rel {
        Rel::Union { .. } => return,
        Rel::Join(join) if join.kind == RelJoin::Inner => {
            let same = |it: &&(Expr, Expr)| it.0.data_type == it.1.data_type;
            let bare = |it: &(Expr, Expr)| bare(&it.0).zip(bare(&it.1));
            into.extend(join.keys.iter().filter(same).filter_map(bare));
        }
        _ => {}
    }
    rel.inputs().into_iter().for_each(|it| equalities(it, into));
}
