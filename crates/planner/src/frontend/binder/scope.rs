//! Names in view: the relations of a FROM clause, and those of the query around it.

use datafusion_sql::sqlparser::ast::Ident;
use stdx::sync::Arc;
use types::TableInfo;

use plan::relation::{Attr, Attribute};

/// The relations that a SELECT reads, and those of the query around it.
pub(super) struct Scope<'s> {
    pub relations: Vec<Relation>,
    pub outer: Option<&'s Scope<'s>>,
}

/// A relation under the name that the query gives it.
pub(super) struct Relation {
    pub name: String,
    pub columns: Columns,
    /// Whether an outer join may put NULL in place of its rows.
    pub is_extended: bool,
}

pub(super) enum Columns {
    /// Those of a table, the first being this attribute.
    Table(Arc<TableInfo>, Attr),
    /// Those of a subquery, or under other names.
    Made(Vec<MadeColumn>),
}

pub(super) struct MadeColumn {
    /// `None` when it cannot be named.
    pub name: Option<String>,
    pub attr: Attr,
    pub nullable: bool,
}

/// What a name means.
pub(super) enum Meaning {
    Column(Attr),
    Nothing,
    Several,
}

/// Whether a name in a query is this name: as it stands when quoted, else in lower case.
pub(super) fn is_named(ident: &Ident, name: &str) -> bool {
    match ident.quote_style {
        Some(_) => ident.value == name,
        None => {
            ident.value.len() == name.len()
                && ident.value.bytes().zip(name.bytes()).all(|(a, b)| a.to_ascii_lowercase() == b)
        }
    }
}

/// A name as the catalog knows it.
pub(super) fn normal(ident: &Ident) -> String {
    match ident.quote_style {
        Some(_) => ident.value.clone(),
        None => ident.value.to_ascii_lowercase(),
    }
}

impl Relation {
    /// The attributes with their names, in order.
    pub fn columns(&self) -> impl Iterator<Item = (Option<&str>, Attr)> {
        let (table, made) = match &self.columns {
            Columns::Table(table, base) => (Some((table, *base)), None),
            Columns::Made(columns) => (None, Some(columns)),
        };
        let stored = table.into_iter().flat_map(|(table, base)| {
            table.columns.iter().enumerate().map(move |it| (Some(it.1.name.as_str()), base + it.0))
        });
        let made = made.into_iter().flatten().map(|it| (it.name.as_deref(), it.attr));
        stored.chain(made)
    }

    fn find(&self, name: &Ident) -> Meaning {
        let mut found = Meaning::Nothing;
        for (known, attr) in self.columns() {
            if known.is_some_and(|it| is_named(name, it)) {
                found = match found {
                    Meaning::Nothing => Meaning::Column(attr),
                    _ => return Meaning::Several,
                };
            }
        }
        found
    }

    fn contains(&self, attr: Attr) -> bool {
        match &self.columns {
            Columns::Table(table, base) => (*base..base + table.columns.len()).contains(&attr),
            Columns::Made(columns) => columns.iter().any(|it| it.attr == attr),
        }
    }

    fn nullable(&self, attr: Attr, attributes: &[Attribute]) -> bool {
        let own = match &self.columns {
            Columns::Table(..) => attributes[attr].nullable,
            Columns::Made(columns) => columns.iter().any(|it| it.attr == attr && it.nullable),
        };
        own || self.is_extended
    }
}

impl Scope<'_> {
    /// What a name means here, leaving aside the query around.
    pub fn find(&self, relation: Option<&Ident>, name: &Ident) -> Meaning {
        let mut found = Meaning::Nothing;
        for it in &self.relations {
            if relation.is_some_and(|wanted| !is_named(wanted, &it.name)) {
                continue;
            }
            found = match (found, it.find(name)) {
                (found, Meaning::Nothing) => found,
                (Meaning::Nothing, other) => other,
                _ => return Meaning::Several,
            };
        }
        found
    }

    /// Whether the attribute is of this SELECT's own relations.
    pub fn contains(&self, attr: Attr) -> bool {
        self.relations.iter().any(|it| it.contains(attr))
    }

    /// Whether an attribute may be NULL here.
    pub fn nullable(&self, attr: Attr, attributes: &[Attribute]) -> bool {
        match (self.relations.iter().find(|it| it.contains(attr)), self.outer) {
            (Some(relation), _) => relation.nullable(attr, attributes),
            (None, Some(outer)) => outer.nullable(attr, attributes),
            // An aggregate, or the value of a subquery.
            (None, None) => attributes[attr].nullable,
        }
    }
}
