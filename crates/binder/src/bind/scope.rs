//! Names in view: what a FROM clause offers, under which names.
//!
//! Key decision: a column is an attribute; names exist only here, so equal names are legal and are told apart, or found
//! ambiguous, where they are used.

use std::borrow::Cow;

use sqlparser::ast::Ident;
use stdx::sync::Arc;
use types::{TableInfo, names};

use plan::ColumnOrigin;
use plan::relation::{Attr, AttrSet};

use crate::sql_functions::PARAMETERS;

/// What a FROM clause, or a part of it, offers.
#[derive(Clone, Debug, Default)]
pub(super) struct Frame {
    relations: Vec<Relation>,
    /// Columns that USING or NATURAL made of two.
    merged: Vec<Named>,
    /// What `*` stands for, in order.
    order: Vec<Segment>,
    /// Attributes that a merged column has taken the place of.
    hidden: AttrSet,
    /// Relations that only a name before the column means: `old` and `new` in RETURNING.
    aside: Vec<Relation>,
    /// Functions in FROM whose rows are single values: their names mean those, where they mean no column; and columns of files by
    /// their names without capitals.
    values: Vec<Named>,
}

#[derive(Clone, Copy, Debug)]
enum Segment {
    Merged(usize),
    Relation(usize),
}

/// A column under the name that it has here.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub name: String,
    pub attr: Attr,
    /// Where it comes from, if it is a column of a relation as it is.
    pub origin: Option<ColumnOrigin>,
}

/// A relation under the name that the query gives it.
#[derive(Clone, Debug)]
pub(super) struct Relation {
    /// `None` for a subquery without alias: its columns are known by their own names alone.
    pub name: Option<String>,
    /// The schema of a table or a view under its own name.
    pub schema: Option<String>,
    pub columns: Columns,
    /// All attributes that its rows have, also those that are no columns of it; none where these are all.
    pub rows: AttrSet,
}

#[derive(Clone, Debug)]
pub(super) enum Columns {
    /// Those of a table, the first being this attribute; with its number, if it has one.
    Table(Arc<TableInfo>, Attr, Option<u32>),
    /// Those of a subquery, or under other names.
    Made(Vec<Named>),
}

/// What a name means in one frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Meaning {
    Column(Attr),
    Nothing,
    Several,
}

/// Whether a name in a query is this name: as it stands when quoted, else in lower case.
pub(super) fn is_named(ident: &Ident, name: &str) -> bool {
    match ident.quote_style {
        Some(_) => ident.value == name,
        None if ident.value.is_ascii() => {
            ident.value.len() == name.len()
                && ident.value.bytes().zip(name.bytes()).all(|(a, b)| a.to_ascii_lowercase() == b)
        }
        None => ident.value.to_lowercase() == name,
    }
}

impl Named {
    /// A column that comes from no relation.
    pub fn made(name: impl Into<String>, attr: Attr) -> Self {
        Self { name: name.into(), attr, origin: None }
    }

    /// A column of a relation with a number, if it has one, by its place there.
    pub fn stored(name: String, attr: Attr, relation: Option<u32>, place: usize) -> Self {
        Self { name, attr, origin: relation.and_then(|it| origin_of(it, place)) }
    }
}

/// The column of a relation that is at a place; none at one that has no number of a column.
fn origin_of(relation: u32, place: usize) -> Option<ColumnOrigin> {
    let column = u16::try_from(place + 1).ok()?;
    Some(ColumnOrigin { relation, column })
}

impl Columns {
    /// The columns with their names, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Attr)> {
        self.each().map(|it| (it.0, it.1))
    }

    /// The same on their own.
    pub fn named(&self) -> impl Iterator<Item = Named> {
        self.each().map(|(name, attr, origin)| Named { name: name.to_owned(), attr, origin })
    }

    fn each(&self) -> impl Iterator<Item = (&str, Attr, Option<ColumnOrigin>)> {
        let (table, made) = match self {
            Self::Table(table, base, number) => (Some((table, *base, *number)), None),
            Self::Made(columns) => (None, Some(columns)),
        };
        let stored = table.into_iter().flat_map(|(table, base, number)| {
            let shown = table.columns.iter().enumerate().filter(|it| !names::is_hidden(&it.1.name));
            shown.map(move |(place, it)| {
                let origin = number.and_then(|number| origin_of(number, place));
                (it.name.as_str(), base + place, origin)
            })
        });
        let made = made.into_iter().flatten();
        stored.chain(made.map(|it| (it.name.as_str(), it.attr, it.origin)))
    }

    /// The column of a name that is not hidden.
    fn find(&self, name: &str, hidden: &AttrSet) -> Meaning {
        let mut found = Meaning::Nothing;
        let mut meet = |known: &str, attr: Attr| {
            if known == name && !hidden.contains(attr) {
                found = found.and(Meaning::Column(attr));
            }
        };
        match self {
            Self::Table(table, base, _) => {
                for (place, column) in table.columns.iter().enumerate() {
                    meet(&column.name, base + place);
                }
            }
            Self::Made(columns) => columns.iter().for_each(|it| meet(&it.name, it.attr)),
        }
        found
    }
}

impl Relation {
    /// One without a name, or with one that no schema has.
    pub fn of(name: Option<String>, columns: Columns) -> Self {
        Self { name, schema: None, columns, rows: AttrSet::default() }
    }

    /// The attributes that its rows have: where all of them are, there are its rows and no others.
    pub fn all_attrs(&self) -> AttrSet {
        match self.rows.is_empty() {
            true => self.columns.iter().map(|it| it.1).collect(),
            false => self.rows.clone(),
        }
    }

    /// Whether `schema.name` or `name` means it.
    fn is_called(&self, schema: Option<&Ident>, name: &Ident) -> bool {
        let own = self.name.as_deref().is_some_and(|it| is_named(name, it));
        let same = |wanted: &Ident| self.schema.as_deref().is_some_and(|it| is_named(wanted, it));
        own && schema.is_none_or(same)
    }
}

impl Frame {
    /// Of some columns under a name.
    pub fn of_made(name: String, columns: Vec<Named>) -> Self {
        let columns = Columns::Made(columns);
        Self::of(Relation::of(Some(name), columns))
    }
}

impl Meaning {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (it, Self::Nothing) | (Self::Nothing, it) => it,
            _ => Self::Several,
        }
    }
}

/// A name of a query as names are kept: as it stands when quoted, else in lower case.
fn folded(name: &Ident) -> Cow<'_, str> {
    match name.quote_style {
        Some(_) => Cow::Borrowed(&name.value),
        None if name.value.bytes().any(|it| it.is_ascii_uppercase()) || !name.value.is_ascii() => {
            Cow::Owned(name.value.to_lowercase())
        }
        None => Cow::Borrowed(&name.value),
    }
}

impl Frame {
    /// The frame of one relation.
    pub fn of(relation: Relation) -> Self {
        Self { relations: vec![relation], order: vec![Segment::Relation(0)], ..Self::default() }
    }

    /// Two frames side by side.
    pub fn beside(mut self, other: Self) -> Self {
        let (relations, merged) = (self.relations.len(), self.merged.len());
        self.relations.extend(other.relations);
        self.merged.extend(other.merged);
        self.order.extend(other.order.into_iter().map(|it| match it {
            Segment::Merged(place) => Segment::Merged(place + merged),
            Segment::Relation(place) => Segment::Relation(place + relations),
        }));
        self.hidden.union_with(&other.hidden);
        self.values.extend(other.values);
        self
    }

    /// Whether nothing is in view.
    pub fn is_empty(&self) -> bool {
        self.relations.is_empty() && self.values.is_empty()
    }

    /// Adds a relation whose columns only its name means, unless another one has the name.
    pub fn add_aside(&mut self, relation: Relation) {
        self.aside.push(relation);
    }

    /// Gives the first relation other columns.
    pub fn replace_first(&mut self, columns: Columns) {
        self.relations[0].columns = columns;
    }

    /// Puts a column that USING made in front; the attributes it was made of are hidden from `*` and bare names.
    pub fn merge(&mut self, columns: Vec<(Named, [Attr; 2])>) {
        let mut order = Vec::with_capacity(self.order.len() + columns.len());
        for (column, parts) in columns {
            let gone = |it: &Segment, merged: &[Named]| match it {
                Segment::Merged(place) => parts.contains(&merged[*place].attr),
                Segment::Relation(_) => false,
            };
            self.order.retain(|it| !gone(it, &self.merged));
            parts.into_iter().for_each(|it| self.hidden.insert(it));
            order.push(Segment::Merged(self.merged.len()));
            self.merged.push(column);
        }
        order.append(&mut self.order);
        self.order = order;
    }

    /// The merged columns still in view.
    fn merged(&self) -> impl Iterator<Item = &Named> {
        self.order.iter().filter_map(|it| match it {
            Segment::Merged(place) => Some(&self.merged[*place]),
            Segment::Relation(_) => None,
        })
    }

    /// What a bare name means.
    pub fn find(&self, name: &Ident) -> Meaning {
        let name = folded(name);
        let merged = self.merged().filter(|it| it.name == name);
        let merged = merged.map(|it| Meaning::Column(it.attr));
        let own = self.relations.iter().map(|it| it.columns.find(&name, &self.hidden));
        match merged.chain(own).fold(Meaning::Nothing, Meaning::and) {
            Meaning::Nothing => {
                let values = self.values.iter().filter(|it| it.name == name);
                values.map(|it| Meaning::Column(it.attr)).fold(Meaning::Nothing, Meaning::and)
            }
            known => known,
        }
    }

    /// Lets the columns of a file, which keep the case in which they are written, be meant by names without capitals, too.
    pub fn with_lower_names(mut self) -> Self {
        let lower = |it: Named| {
            let name = it.name.to_lowercase();
            (name != it.name).then_some(Named { name, ..it })
        };
        self.values.extend(self.all().into_iter().filter_map(lower));
        self
    }

    /// Lets the name of the only relation, of one column, mean its values.
    pub fn with_value(mut self) -> Self {
        if let [relation] = &self.relations[..]
            && let Some(name) = &relation.name
            && let Columns::Made(columns) = &relation.columns
            && let [column] = &columns[..]
        {
            self.values.push(Named::made(name, column.attr));
        }
        self
    }

    /// What `relation.name` means; `Err` where there is no such relation.
    pub fn find_in(
        &self,
        schema: Option<&Ident>,
        relation: &Ident,
        name: &Ident,
    ) -> Result<Meaning, ()> {
        let found = self.relation(schema, relation).ok_or(())?;
        if self.called(schema, relation) > 1 {
            return Ok(Meaning::Several);
        }
        let name = folded(name);
        Ok(match found.columns.find(&name, &AttrSet::default()) {
            Meaning::Nothing => {
                let is_own = |it: &&Named| found.columns.iter().any(|own| own.1 == it.attr);
                let lower = self.values.iter().filter(|it| it.name == name).filter(is_own);
                lower.map(|it| Meaning::Column(it.attr)).fold(Meaning::Nothing, Meaning::and)
            }
            known => known,
        })
    }

    /// How many relations have a name: tables of one name may be in several schemas.
    pub fn called(&self, schema: Option<&Ident>, name: &Ident) -> usize {
        self.relations.iter().filter(|it| it.is_called(schema, name)).count()
    }

    /// Its relations, in the order of FROM.
    pub fn relations(&self) -> &[Relation] {
        &self.relations
    }

    /// The relation of a name.
    pub fn relation(&self, schema: Option<&Ident>, name: &Ident) -> Option<&Relation> {
        let all = self.relations.iter().chain(&self.aside);
        all.into_iter().find(|it| it.is_called(schema, name))
    }

    /// The name of the relation whose column a bare name means.
    pub fn relation_of(&self, name: &Ident, attr: Attr) -> Option<&str> {
        let name = folded(name);
        let has = |it: &&Relation| it.columns.find(&name, &self.hidden) == Meaning::Column(attr);
        self.relations.iter().find(has)?.name.as_deref()
    }

    /// The first name that two relations share.
    pub fn repeated_name(&self) -> Option<&str> {
        let repeated = self.relations.iter().enumerate().find(|(place, relation)| {
            let before = &self.relations[..*place];
            let is_same = |it: &Relation| it.name == relation.name && it.schema == relation.schema;
            relation.name.is_some() && before.iter().any(is_same)
        });
        repeated.and_then(|it| it.1.name.as_deref())
    }

    /// The columns that `*` stands for.
    pub fn all(&self) -> Vec<Named> {
        let mut all = Vec::new();
        for segment in &self.order {
            match segment {
                Segment::Merged(place) => all.push(self.merged[*place].clone()),
                Segment::Relation(place) => {
                    let columns = self.relations[*place].columns.named();
                    all.extend(columns.filter(|it| !self.hidden.contains(it.attr)));
                }
            }
        }
        all
    }

    /// Where the column comes from that a name means, with that of a relation before it or without; it is this attribute.
    pub fn origin(&self, name: &Ident, is_qualified: bool, attr: Attr) -> Option<ColumnOrigin> {
        let name = folded(name);
        let merged = self.merged().find(|it| !is_qualified && it.name == name && it.attr == attr);
        if let Some(merged) = merged {
            return merged.origin;
        }
        let all = self.relations.iter().chain(&self.aside).flat_map(|it| it.columns.each());
        all.into_iter().find(|it| it.1 == attr && it.0 == name)?.2
    }

    /// Whether an attribute is a column of this frame.
    pub fn contains(&self, attr: Attr) -> bool {
        self.merged.iter().any(|it| it.attr == attr)
            || self.relations.iter().chain(&self.aside).any(|it| match &it.columns {
                Columns::Table(table, base, _) => {
                    (*base..base + table.columns.len()).contains(&attr)
                }
                Columns::Made(columns) => columns.iter().any(|it| it.attr == attr),
            })
    }

    /// Whether its columns are the arguments of a call of a function that users wrote in SQL.
    pub fn has_parameters(&self) -> bool {
        self.relations.iter().any(|it| match &it.columns {
            Columns::Made(columns) => columns.iter().any(|it| it.name == PARAMETERS),
            Columns::Table(..) => false,
        })
    }

    /// An attribute as an error names it.
    pub fn describe(&self, attr: Attr) -> Option<String> {
        if let Some(merged) = self.merged.iter().find(|it| it.attr == attr) {
            return Some(merged.name.clone());
        }
        self.relations.iter().find_map(|relation| {
            let (name, _) = relation.columns.iter().find(|it| it.1 == attr)?;
            Some(match &relation.name {
                Some(of) => format!("{of}.{name}"),
                None => name.to_owned(),
            })
        })
    }

    /// The names of all relations and columns, for suggestions.
    pub fn names(&self) -> (Vec<&str>, Vec<&str>) {
        let relations = self.relations.iter().filter_map(|it| it.name.as_deref()).collect();
        let columns = self.relations.iter().flat_map(|it| it.columns.iter().map(|it| it.0));
        (relations, columns.chain(self.merged.iter().map(|it| it.name.as_str())).collect())
    }
}
