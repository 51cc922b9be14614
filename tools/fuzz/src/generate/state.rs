//! What a generator knows, and what an expression's place may name.

use crate::ast::{Expr, Form};
use crate::draw::Draw;
use crate::kind::{Class, Kind};
use crate::world::World;

/// Makes queries over a world.
pub struct Generator<'a> {
    pub draw: Draw,
    pub world: &'a World,
    /// Types that casts may name.
    pub kinds: &'a [Kind],
    /// Queries of WITH that can be read where the generator stands.
    pub with: Vec<Relation>,
    /// Subqueries that this query may still get.
    pub subqueries: usize,
    aliases: usize,
}

/// Something with columns that FROM can name.
#[derive(Clone, Debug)]
pub struct Relation {
    pub name: String,
    pub columns: Vec<(String, Kind)>,
}

/// What an expression may name.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// Columns; in a grouped query, the keys.
    pub leaves: Vec<Expr>,
    /// In a grouped query, the columns that arguments of aggregates may name.
    pub rows: Option<Vec<Expr>>,
    /// Columns of the queries around.
    pub outer: Vec<Expr>,
}

impl Scope {
    /// What arguments of aggregates may name.
    pub fn of_rows(&self) -> Self {
        let leaves = self.rows.clone().unwrap_or_default();
        Self { leaves, rows: None, outer: self.outer.clone() }
    }

    /// The columns that a subquery at this place may name of the queries around it.
    pub fn for_subquery(&self) -> Vec<Expr> {
        let plain = |it: &&Expr| matches!(it.form, Form::Column { from: Some(_), .. });
        let mut outer: Vec<Expr> = self.leaves.iter().filter(plain).cloned().collect();
        outer.extend(self.outer.iter().cloned());
        outer
    }

    /// Leaves of a class.
    pub fn of_class(&self, class: Class) -> Vec<Expr> {
        self.leaves.iter().filter(|it| it.kind.class() == class).cloned().collect()
    }
}

impl<'a> Generator<'a> {
    /// A generator whose queries follow from `draw`.
    pub fn new(draw: Draw, world: &'a World, kinds: &'a [Kind]) -> Self {
        Self { draw, world, kinds, with: Vec::new(), subqueries: 4, aliases: 0 }
    }

    /// An alias that nobody has. Its first letter tells a table (`x`) from what is computed.
    pub fn alias(&mut self, letter: char) -> String {
        self.aliases += 1;
        format!("{letter}{}", self.aliases)
    }

    /// A type of a class that casts may name.
    pub fn kind_of(&mut self, class: Class) -> Kind {
        let kinds: Vec<Kind> =
            class.kinds().iter().filter(|it| self.kinds.contains(it)).copied().collect();
        if kinds.is_empty() { class.kind() } else { *self.draw.pick(&kinds) }
    }
}
