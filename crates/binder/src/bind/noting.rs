//! Notes of what names mean, for queries that are kept ([`crate::resolved`]).

use plan::relation::Attr;
use sqlparser::ast::{self, Ident};
use types::{DataType, SqlError, SqlResult, names};

use super::Binder;
use super::scope::{Frame, Named};
use crate::resolved::{Qualified, place};
use crate::syntax::ident;

impl Binder<'_> {
    /// Notes that a column is named.
    pub(super) fn note_named(&mut self, attr: Attr) {
        if let Some(resolved) = &mut self.resolved {
            resolved.named.insert(attr);
        }
    }

    /// Notes a relation of the catalog, with its columns.
    pub(super) fn note_used(&mut self, name: &str, columns: impl Iterator<Item = (String, Attr)>) {
        if let Some(resolved) = &mut self.resolved {
            resolved.used.push((name.to_owned(), columns.collect()));
        }
    }

    /// Notes the schema of a table or a view, whose frame this is.
    pub(super) fn note_schema<T>(&mut self, node: &T, frame: &Frame) {
        let Some(resolved) = &mut self.resolved else { return };
        let schema = frame.relations().first().and_then(|it| it.schema.clone());
        if let Some(schema) = schema {
            resolved.relations.insert(place(node), schema);
        }
    }

    /// Whether a name is that of the database.
    pub(super) fn is_own_database(&self, name: &Ident) -> bool {
        let own = self.environment.catalog.database();
        !own.is_empty() && ident(name) == own
    }

    /// Notes that the first part of a column's name is that of the database.
    pub(super) fn note_database(&mut self, name: &Ident) {
        if let Some(resolved) = &mut self.resolved {
            resolved.databases.insert(place(name));
        }
    }

    /// Notes the relation of a bare column that a level offers, if that cannot be mistaken for another.
    pub(super) fn note_bare(&mut self, name: &Ident, level: usize, attr: Attr) {
        let Some(resolved) = &mut self.resolved else { return };
        let Some(relation) = self.levels[level].frame.relation_of(name, attr) else { return };
        let quoted = Ident::with_quote('"', relation);
        let is_hidden = |it: &Frame| it.relation(None, &quoted).is_some();
        if !self.levels[level + 1..].iter().any(|it| is_hidden(&it.frame)) {
            resolved.columns.insert(place(name), relation.to_owned());
        }
    }

    /// The type that a node names, noted where users made it.
    pub(super) fn type_named(&mut self, node: &ast::DataType) -> SqlResult<DataType> {
        if let Some(meant) = self.polymorphic_named(node) {
            return meant;
        }
        let said = crate::type_names::said(node);
        if said.is_empty() {
            return crate::data_types::data_type(node);
        }
        let find = |name: &str| -> SqlResult<_> {
            let (schema, bare) = names::said(name, self.environment.catalog.database())?;
            Ok(self.environment.catalog.user_type(schema.as_deref(), &bare))
        };
        if let Some(resolved) = &mut self.resolved {
            for (node, name) in said {
                if let Some(found) = find(&name)? {
                    resolved.types.insert(place(node), found.name.clone());
                }
            }
        }
        let find = |name: &str| match find(name)? {
            Some(it) if it.domain.is_some() => {
                let message = "arrays, structs and maps of a domain are not supported";
                Err(SqlError::unsupported(message).with_hint("take the type of the domain"))
            }
            found => Ok(found.map(|it| it.data_type)),
        };
        crate::data_types::data_type_with(node, &find)
    }

    /// Notes the full name of a type that users made.
    pub(super) fn note_type(&mut self, node: &ast::DataType, full: &str) {
        if let Some(resolved) = &mut self.resolved {
            resolved.types.insert(place(node), full.to_owned());
        }
    }

    /// Whether names are noted: a text is being resolved.
    pub(super) fn is_resolving(&self) -> bool {
        self.resolved.is_some()
    }

    /// Notes what a `*` stands for.
    pub(super) fn note_star<T>(&mut self, node: &T, columns: &[Named], relation: Option<&str>) {
        let Some(resolved) = &mut self.resolved else { return };
        let level = self.levels.last().map(|it| &it.frame);
        let column = |it: &Named| {
            let quoted = Ident::with_quote('"', it.name.clone());
            let own = relation.or_else(|| level.and_then(|of| of.relation_of(&quoted, it.attr)));
            Qualified { relation: own.map(str::to_owned), column: it.name.clone() }
        };
        resolved.stars.insert(place(node), columns.iter().map(column).collect());
    }
}
