//! Who owns what, and what was given of it, as cells.

use ::types::{Grant, ObjectKind, Privileges, Rights, RoleId, SqlResult, array};

use super::system_views::SystemRelation;
use crate::Session;
use crate::roles::{acl, is_secret};
use crate::views::Cell;

/// The number of a role.
pub(super) fn oid(role: RoleId) -> i64 {
    i64::from(role.0)
}

/// Who owns an object, and what was given of it.
#[derive(Clone)]
pub(super) struct Shown(Rights);

impl Shown {
    pub(super) fn of(session: &Session, kind: ObjectKind, name: &str) -> Self {
        Self(session.rights_snapshot().rights(kind, name))
    }

    /// Of a relation of the system: all may read it, but for those with what checks passwords.
    pub(super) fn of_system(it: &SystemRelation) -> Self {
        let owner = RoleId::BOOTSTRAP;
        let given = |to, rights| Grant { to, by: owner, rights, options: Privileges::NONE };
        let mut grants = vec![given(owner, ObjectKind::Relation.all())];
        if !is_secret(it.schema, it.name) {
            grants.push(given(RoleId::PUBLIC, Privileges::SELECT));
        }
        Self(Rights { grants: Some(grants), ..Rights::of(owner) })
    }

    /// Of a relation, whichever kind it is of.
    pub(super) fn of_relation(session: &Session, name: &str) -> Self {
        let kind = match session.snapshot().sequence(name) {
            Some(_) => ObjectKind::Sequence,
            None => ObjectKind::Relation,
        };
        Self::of(session, kind, name)
    }

    pub(super) fn owner(&self) -> Cell {
        self.owner_number().into()
    }

    pub(super) fn owner_number(&self) -> i64 {
        oid(self.0.owner)
    }

    pub(super) fn owner_name(&self, session: &Session) -> Cell {
        session.name_of_role(self.0.owner).into()
    }

    /// What somebody has said of it; of `public`, what PostgreSQL says of it at first.
    pub(super) fn acl(&self, session: &Session, is_public: bool) -> SqlResult<Cell> {
        let given = match (&self.0.grants, is_public) {
            (None, false) => return Ok(Cell::Text(None)),
            (None, true) => self.0.given(ObjectKind::Schema, true).into_owned(),
            (Some(grants), _) => grants.clone(),
        };
        list(session, &given)
    }

    /// What somebody has said of a column.
    pub(super) fn column_acl(&self, session: &Session, column: &str) -> SqlResult<Cell> {
        match self.0.columns.get(column) {
            Some(grants) => list(session, grants),
            None => Ok(Cell::Text(None)),
        }
    }
}

fn list(session: &Session, grants: &[Grant]) -> SqlResult<Cell> {
    let texts = acl(grants, |it| session.name_of_role(it));
    let mut held = String::new();
    texts.iter().for_each(|it| array::push_text(&mut held, it));
    array::close_list(&mut held, 0, texts.len())?;
    Ok(held.into())
}
