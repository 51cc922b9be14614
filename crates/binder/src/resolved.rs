//! What the names of a query were found to mean, by the place of its nodes in memory.
//!
//! Key decision: a query that is kept is written with all names resolved ([`crate::view_text`]), and only binding knows what they
//! mean. So binding notes it beside the tree, which does not move meanwhile.

use std::collections::{HashMap, HashSet};

use plan::relation::{Attr, AttrSet};
use types::UsedRelation;

/// What the names of a query mean.
#[derive(Debug, Default)]
pub(crate) struct Resolved {
    /// What `*` and `t.*` stand for: columns, with their relations where these have names.
    pub(crate) stars: HashMap<usize, Vec<Qualified>>,
    /// The relations of bare columns.
    pub(crate) columns: HashMap<usize, String>,
    /// The columns by which NATURAL joins.
    pub(crate) natural: HashMap<usize, Vec<String>>,
    /// The parts of columns' names that are the database's.
    pub(crate) databases: HashSet<usize>,
    /// The schemas of relations of the catalog.
    pub(crate) relations: HashMap<usize, String>,
    /// The full names of types that users made.
    pub(crate) types: HashMap<usize, String>,
    /// The functions that calls were found to mean, by their places among those that they may mean ([`crate::overloads`]).
    pub(crate) functions: HashMap<usize, usize>,
    /// What polymorphic types mean, as SQL.
    pub(crate) polymorphic: HashMap<usize, String>,
    /// The attributes that are named.
    pub(crate) named: AttrSet,
    /// The relations, with their columns.
    pub(crate) used: Vec<(String, Vec<(String, Attr)>)>,
}

/// A column, with its relation where that has a name.
#[derive(Clone, Debug)]
pub(crate) struct Qualified {
    pub(crate) relation: Option<String>,
    pub(crate) column: String,
}

/// By what a node is known.
pub(crate) fn place<T>(node: &T) -> usize {
    std::ptr::from_ref(node).addr()
}

impl Resolved {
    /// The relations, with those of their columns that are named.
    pub(crate) fn uses(&self) -> Vec<UsedRelation> {
        let mut uses: Vec<UsedRelation> = Vec::new();
        for (name, columns) in &self.used {
            let named = columns.iter().filter(|it| self.named.contains(it.1)).map(|it| &it.0);
            let place = uses.iter().position(|it| it.name == *name).unwrap_or_else(|| {
                uses.push(UsedRelation { name: name.clone(), columns: Vec::new() });
                uses.len() - 1
            });
            for column in named {
                if !uses[place].columns.contains(column) {
                    uses[place].columns.push(column.clone());
                }
            }
        }
        uses
    }
}
