//! What unnesting knows while it walks a query, and what it wants of a dependent join.

use plan::Expr;
use plan::relation::{Apply, Around, Attr, AttrSet, Attribute, Rel, ScalarQuery};
use types::{DataType, Interrupt, TableId};

use crate::Outsides;

/// What becomes of the rows of the right side of a dependent join.
pub(super) enum Use {
    /// As the dependent join says.
    Apply(Apply),
    /// Left rows for which [`Apply::Any`]'s condition is TRUE for a row.
    Semi(Expr),
    /// Left rows for which it is FALSE for all rows.
    Anti(Expr),
}

/// The state of unnesting.
pub(super) struct Unnesting {
    pub attributes: Vec<Attribute>,
    pub scalars: Vec<ScalarQuery>,
    pub shared: Vec<Rel>,
    /// How many of them the query had before.
    pub bound: usize,
    /// The attributes that say whether a left row asks for the value of a dependent join.
    pub guards: AttrSet,
    /// What recursive queries depend on.
    pub outsides: Wanted,
    pub interrupt: Interrupt,
}

impl Unnesting {
    /// A new attribute.
    pub fn attribute(&mut self, data_type: DataType, nullable: bool) -> Attr {
        self.attributes.push(Attribute { data_type, nullable });
        self.attributes.len() - 1
    }

    /// An attribute as an expression.
    pub fn column(&self, attr: Attr) -> Expr {
        Expr::column(attr, self.attributes[attr].data_type)
    }

    /// Makes a relation one that can be read several times.
    pub fn share(&mut self, rel: Rel) -> usize {
        match rel {
            Rel::Shared { id, ref output, .. } if output.iter().all(|it| it.0 == it.1) => id,
            other => {
                self.shared.push(other);
                self.shared.len() - 1
            }
        }
    }
}

/// What recursive queries that are read depend on.
pub(super) struct Wanted {
    pub of: Vec<(TableId, Around)>,
    /// The tables of values that were found, each with relations and what is of them the values.
    pub found: Vec<(TableId, Rel, Vec<Expr>)>,
}

impl Wanted {
    pub fn of(outsides: &Outsides) -> Self {
        Self { of: outsides.all(), found: Vec::new() }
    }
}
