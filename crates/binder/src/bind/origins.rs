//! From which columns of the catalog's relations the columns of a result come, as clients are told.
//!
//! Key decision: a text tells it, as in PostgreSQL. An entry of a select list has the origin of the column that it names, if it names
//! one and does nothing to it; what an expression comes to once it is bound says less, since casts and calls may come to their
//! argument. So origins stand beside names ([`Named`], [`OutputColumn`]), and go with them through subqueries and WITH queries.

use plan::relation::{Attr, Output, bare};
use plan::{ColumnOrigin, Expr};
use sqlparser::ast::{self, Ident};
use types::{DataType, TableId};

use super::from::Kind;
use super::scope::{Frame, Named};
use super::{Binder, OutputColumn};

impl Binder<'_> {
    /// The number of a table or a view, if the catalog shows it.
    pub(super) fn number_of(&self, id: TableId, name: &str) -> Option<u32> {
        self.environment.session.number_of(id, name)
    }

    /// Where an entry of a select list comes from, by its text and by what it is bound to.
    pub(super) fn origin(&self, node: &ast::Expr, bound: &Expr) -> Option<ColumnOrigin> {
        let attr = self.unchanged(bound)?;
        let (name, is_qualified) = column_named(node, bound.data_type)?;
        let mut frames = self.levels.iter().rev().map(|it| &it.frame);
        frames.find(|it| it.contains(attr))?.origin(name, is_qualified, attr)
    }

    /// Where a column of USING comes from: of the sides that its value may be taken from, the first that is a column as it is. Of a
    /// side its value, its attribute, and what is in view there.
    pub(super) fn merged_origin(
        &self,
        name: &Ident,
        kind: Kind,
        sides: [(&Expr, Attr, &Frame); 2],
    ) -> Option<ColumnOrigin> {
        let taken = match kind {
            Kind::Inner => &sides[..],
            Kind::Left | Kind::Semi | Kind::Anti => &sides[..1],
            Kind::Right => &sides[1..],
            Kind::Full => &[],
        };
        let (_, attr, frame) = taken.iter().find(|it| self.unchanged(it.0) == Some(it.1))?;
        frame.origin(name, false, *attr)
    }

    /// The attribute that an expression is, in its own type.
    fn unchanged(&self, expr: &Expr) -> Option<Attr> {
        bare(expr).filter(|it| self.attributes[*it].data_type == expr.data_type)
    }
}

/// The name of the column of a type that an expression names and does nothing to, and whether that of its relation stands before it.
/// A cast to the type that it has does nothing.
fn column_named(node: &ast::Expr, own: DataType) -> Option<(&Ident, bool)> {
    match node {
        ast::Expr::Identifier(name) => Some((name, false)),
        ast::Expr::CompoundIdentifier(parts) => Some((parts.last()?, true)),
        ast::Expr::Nested(inner) => column_named(inner, own),
        ast::Expr::Cast { expr: inner, data_type, .. } => {
            let to = crate::data_types::data_type(data_type).ok()?;
            column_named(inner, own).filter(|_| to == own)
        }
        _ => None,
    }
}

impl OutputColumn {
    /// A column that comes from no relation.
    pub(super) fn made(name: impl Into<String>, attr: Attr) -> Self {
        Self { name: name.into(), attr, origin: None }
    }
}

impl From<Named> for OutputColumn {
    fn from(it: Named) -> Self {
        Self { name: it.name, attr: it.attr, origin: it.origin }
    }
}

impl From<OutputColumn> for Named {
    fn from(it: OutputColumn) -> Self {
        Self { name: it.name, attr: it.attr, origin: it.origin }
    }
}

impl From<OutputColumn> for Output {
    fn from(it: OutputColumn) -> Self {
        Self { name: it.name, attr: it.attr, origin: it.origin }
    }
}
