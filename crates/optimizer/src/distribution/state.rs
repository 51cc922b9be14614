//! The steps that a query becomes, and the state of cutting it.

use std::collections::{BTreeMap, BTreeSet};

use plan::Expr;
use plan::properties::is_fallible;
use plan::relation::{Attr, AttrSet, Attribute, Output, Query, Rel, ScalarQuery};
use types::{
    ColumnId, ColumnInfo, ColumnStatistics, DataType, Interrupt, TableId, TableInfo, Value,
};

use super::place::{Place, Placed, about};

/// The tables that shards have: of some each has the rows whose key it is given, of others each has all rows.
#[derive(Clone, Debug, Default)]
pub struct Sharding {
    tables: BTreeMap<TableId, Option<ColumnId>>,
}

/// Who runs a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum At {
    /// All shards; the rows are those of all of them, one after the other.
    AllShards,
    /// One of them, whichever.
    OneShard,
    /// The coordinator, on rows of steps before.
    Coordinator,
}

/// What the rows of a step are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gives {
    /// The answer.
    Answer,
    /// The value of a scalar subquery in all steps after it: of one row, NULL of none, an error of several.
    Scalar(usize),
    /// What coordinators' steps after it read as an entry of [`Query::shared`]: a table whose first column is an attribute, and
    /// the others those that follow.
    Rows(usize, Attr),
}

/// A step.
#[derive(Clone, Debug)]
pub struct Step {
    /// Who runs it.
    pub at: At,
    /// What its rows are.
    pub gives: Gives,
    /// What it runs. Its scalars are values of steps before; of its shared relations those that the coordinator has are
    /// empty.
    pub query: Query,
}

/// The state of cutting a query.
pub(super) struct Splitter<'a> {
    pub attributes: Vec<Attribute>,
    pub sharding: &'a Sharding,
    pub interrupt: &'a Interrupt,
    pub steps: Vec<Step>,
    scalars: Vec<ScalarQuery>,
    shared: Vec<Shared>,
}

/// Rows that several may read.
struct Shared {
    /// What shards compute; nothing where the coordinator has the rows.
    rel: Rel,
    place: Place,
    /// Where the coordinator has the rows, what attributes of its table attributes of the relation are.
    columns: BTreeMap<Attr, Attr>,
}

impl Step {
    /// The names of the tables of the shards that it reads, each once.
    pub fn tables(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        let read = read_by(&self.query.root, &|id| &self.query.shared[id]);
        for rel in read.iter().map(|id| &self.query.shared[*id]).chain([&self.query.root]) {
            rel.visit(&mut |it| {
                if let Rel::Scan(scan) = it {
                    names.push(&scan.table.name);
                }
            });
        }
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Whether its rows are groups.
    pub fn is_grouped(&self) -> bool {
        matches!(self.query.root, Rel::Aggregate { .. })
    }
}

impl Sharding {
    /// Adds a table that is whole in each shard.
    pub fn add_whole(&mut self, table: TableId) {
        self.tables.insert(table, None);
    }

    /// Adds a table that is cut by a column of whole numbers, none of them NULL.
    pub fn add_cut(&mut self, table: TableId, key: ColumnId) {
        self.tables.insert(table, Some(key));
    }

    /// The key of a table, if it is cut; nothing for a table that shards do not have.
    pub(super) fn key(&self, table: TableId) -> Option<Option<ColumnId>> {
        self.tables.get(&table).copied()
    }
}

impl<'a> Splitter<'a> {
    pub fn new(query: &mut Query, sharding: &'a Sharding, interrupt: &'a Interrupt) -> Self {
        let attributes = std::mem::take(&mut query.attributes);
        let scalars = std::mem::take(&mut query.scalars);
        let unplaced = |rel| Shared { rel, place: Place::Here, columns: BTreeMap::new() };
        let shared = std::mem::take(&mut query.shared).into_iter().map(unplaced).collect();
        Self { attributes, sharding, interrupt, steps: Vec::new(), scalars, shared }
    }

    /// A new attribute.
    pub fn attribute(&mut self, data_type: DataType) -> Attr {
        self.attributes.push(Attribute { data_type, nullable: true });
        self.attributes.len() - 1
    }

    /// An attribute as an expression.
    pub fn column(&self, attr: Attr) -> Expr {
        Expr::column(attr, self.attributes[attr].data_type)
    }

    /// A scalar subquery, to be placed.
    pub fn scalar(&mut self, number: usize) -> ScalarQuery {
        let ScalarQuery { rel, attr } = &mut self.scalars[number];
        ScalarQuery { rel: rel.take(), attr: *attr }
    }

    /// A shared relation, to be placed.
    pub fn shared(&mut self, id: usize) -> Rel {
        self.shared[id].rel.take()
    }

    /// Shards compute a shared relation.
    pub fn keep_shared(&mut self, id: usize, placed: Placed) {
        let Placed { rel, place } = placed;
        self.shared[id] = Shared { rel, place, columns: BTreeMap::new() };
    }

    /// The coordinator computes a shared relation, once.
    pub fn keep_here(&mut self, id: usize, rel: Rel, mut attrs: AttrSet) {
        let rel = self.with_a_column(rel, &mut attrs);
        let columns = self.columns(&attrs);
        self.step(At::Coordinator, (id, &columns), rel);
        let columns = columns.into_iter().collect();
        self.shared[id] = Shared { rel: nothing(), place: Place::Here, columns };
    }

    /// Rows count even when nobody wants anything of them: they get a column when they have none.
    fn with_a_column(&mut self, rel: Rel, attrs: &mut AttrSet) -> Rel {
        if !attrs.is_empty() {
            return rel;
        }
        let one = self.attribute(DataType::Integer);
        attrs.insert(one);
        let exprs = vec![(one, Expr::literal(Value::Integer(1), DataType::Integer))];
        Rel::Map { input: Box::new(rel), exprs }
    }

    /// Attributes that follow one another for the columns of a table.
    fn columns(&mut self, attrs: &AttrSet) -> Vec<(Attr, Attr)> {
        let attrs: Vec<Attr> = attrs.iter().collect();
        let of = |attr: Attr| (attr, self.attribute(self.attributes[attr].data_type));
        attrs.into_iter().map(of).collect()
    }

    /// A reader of a shared relation, and where its rows are.
    pub fn reader(&self, id: usize, mut output: Vec<(Attr, Attr)>) -> Placed {
        let shared = &self.shared[id];
        let place = match &shared.place {
            Place::Parts(keys) => Place::Parts(
                output.iter().filter(|it| keys.contains(it.1)).map(|it| it.0).collect(),
            ),
            Place::Here => {
                output.iter_mut().for_each(|it| it.1 = shared.columns[&it.1]);
                Place::Here
            }
            other => other.clone(),
        };
        Placed { rel: Rel::shared(id, output), place }
    }

    /// Adds a step whose rows the coordinator's later steps read.
    fn step(&mut self, at: At, (id, columns): (usize, &[(Attr, Attr)]), root: Rel) {
        let output = columns.iter().map(|it| Output::unnamed(it.0)).collect();
        let first = columns.first().map_or(0, |it| it.1);
        self.push(at, Gives::Rows(id, first), root, output);
    }

    /// Adds the step that ends with a relation.
    pub fn last(&mut self, placed: Placed, gives: Gives, output: Vec<Output>) {
        let rel = match placed.place {
            Place::Everywhere | Place::Anywhere => {
                return self.push(At::OneShard, gives, placed.rel, output);
            }
            Place::Parts(_) => {
                let wanted = output.iter().map(|it| it.attr).collect();
                fetch(self, placed, &wanted, &[])
            }
            Place::Here => placed.rel,
        };
        self.push(At::Coordinator, gives, rel, output);
    }

    fn push(&mut self, at: At, gives: Gives, root: Rel, output: Vec<Output>) {
        let read = read_by(&root, &|id| &self.shared[id].rel);
        let of_shards = |(id, it): (usize, &Shared)| match read.contains(&id) {
            true => it.rel.clone(),
            false => nothing(),
        };
        let shared = self.shared.iter().enumerate().map(of_shards).collect();
        let (attributes, scalars) = (self.attributes.clone(), Vec::new());
        let recursions = Vec::new();
        let query = Query { attributes, scalars, shared, root, output, recursions };
        self.steps.push(Step { at, gives, query });
    }
}

/// The rows of a relation for the coordinator, and of their attributes what is wanted. Rows for which conditions do not hold
/// that are tested later stay where they are.
pub(super) fn fetch(
    this: &mut Splitter<'_>,
    placed: Placed,
    wanted: &AttrSet,
    pending: &[Expr],
) -> Rel {
    let Placed { mut rel, place } = placed;
    let at = match place {
        Place::Here => return rel,
        Place::Parts(_) => At::AllShards,
        Place::Everywhere | Place::Anywhere => At::OneShard,
    };
    let offered = rel.attrs();
    let mut tested = about(pending, &offered);
    tested.retain(|it| !is_fallible(it));
    rel = rel.filtered(tested);
    let mut attrs: AttrSet = offered.iter().filter(|it| wanted.contains(*it)).collect();
    rel = this.with_a_column(rel, &mut attrs);
    let columns = this.columns(&attrs);
    let id = this.shared.len();
    this.step(at, (id, &columns), rel);
    this.shared.push(Shared { rel: nothing(), place: Place::Here, columns: BTreeMap::new() });
    Rel::shared(id, columns)
}

/// The shared relations that one reads, and those that these read.
fn read_by<'a>(rel: &'a Rel, shared: &dyn Fn(usize) -> &'a Rel) -> BTreeSet<usize> {
    let (mut found, mut left) = (BTreeSet::new(), vec![rel]);
    while let Some(rel) = left.pop() {
        rel.visit(&mut |it| {
            if let Rel::Shared { id, .. } = it
                && found.insert(*id)
            {
                left.push(shared(*id));
            }
        });
    }
    found
}

/// A relation in the place of one that is computed elsewhere.
fn nothing() -> Rel {
    Rel::Values { output: Vec::new(), rows: Vec::new() }
}

/// A table of which nothing is known but its columns.
pub(super) fn unknown(table: &TableInfo) -> TableInfo {
    let column = |it: &ColumnInfo| ColumnInfo {
        statistics: ColumnStatistics::default(),
        scan_bytes: 0,
        numbers_rows: false,
        index: None,
        ..it.clone()
    };
    TableInfo { columns: table.columns.iter().map(column).collect(), rows: 0, ..table.clone() }
}
