//! Rights on objects as plain data: who owns an object, and what others may do with it (the ACL of PostgreSQL).
//!
//! Key decision: who has given a right stands with it, so that what rests on a right that is taken away goes, too.
//!
//! - Invariant: each right leads back to the owner by those who have given it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::{BitAnd, BitOr, BitOrAssign, Not};

use serde::{Deserialize, Serialize};

use crate::{RoleId, SqlError, SqlState};

/// A set of rights. The bits are those of PostgreSQL, and are kept in folders.
#[derive(Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Privileges(pub u16);

impl Privileges {
    /// No right.
    pub const NONE: Self = Self(0);
    /// New rows.
    pub const INSERT: Self = Self(1);
    /// To read.
    pub const SELECT: Self = Self(1 << 1);
    /// Other values.
    pub const UPDATE: Self = Self(1 << 2);
    /// Rows go.
    pub const DELETE: Self = Self(1 << 3);
    /// All rows go.
    pub const TRUNCATE: Self = Self(1 << 4);
    /// Foreign keys refer to it.
    pub const REFERENCES: Self = Self(1 << 5);
    /// Kept and shown: there are no triggers.
    pub const TRIGGER: Self = Self(1 << 6);
    /// To find what is in a schema, to ask a sequence for numbers.
    pub const USAGE: Self = Self(1 << 8);
    /// To make something in it.
    pub const CREATE: Self = Self(1 << 9);
    /// To make temporary relations.
    pub const TEMPORARY: Self = Self(1 << 10);
    /// To come in.
    pub const CONNECT: Self = Self(1 << 11);
    /// To refresh, to lock.
    pub const MAINTAIN: Self = Self(1 << 14);
    /// All that there may be a right to on a single column.
    pub const ON_COLUMNS: Self =
        Self(Self::INSERT.0 | Self::SELECT.0 | Self::UPDATE.0 | Self::REFERENCES.0);

    /// All rights with their names and letters, in the order in which they are shown.
    pub const ALL: [(Self, &str, char); 12] = [
        (Self::INSERT, "INSERT", 'a'),
        (Self::SELECT, "SELECT", 'r'),
        (Self::UPDATE, "UPDATE", 'w'),
        (Self::DELETE, "DELETE", 'd'),
        (Self::TRUNCATE, "TRUNCATE", 'D'),
        (Self::REFERENCES, "REFERENCES", 'x'),
        (Self::TRIGGER, "TRIGGER", 't'),
        (Self::USAGE, "USAGE", 'U'),
        (Self::CREATE, "CREATE", 'C'),
        (Self::TEMPORARY, "TEMPORARY", 'T'),
        (Self::CONNECT, "CONNECT", 'c'),
        (Self::MAINTAIN, "MAINTAIN", 'm'),
    ];

    /// The right of a name, in any case.
    pub fn named(name: &str) -> Option<Self> {
        if name.eq_ignore_ascii_case("temp") {
            return Some(Self::TEMPORARY);
        }
        Self::ALL.iter().find(|it| it.1.eq_ignore_ascii_case(name)).map(|it| it.0)
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether all of some are among them.
    pub fn has(self, all: Self) -> bool {
        self & all == all
    }

    /// Whether one of some is among them.
    pub fn has_any(self, some: Self) -> bool {
        !(self & some).is_empty()
    }

    /// Each by itself, with its name and letter.
    pub fn each(self) -> impl Iterator<Item = &'static (Self, &'static str, char)> {
        const { &Self::ALL }.iter().filter(move |it| self.has(it.0))
    }
}

impl BitOr for Privileges {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Privileges {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl BitAnd for Privileges {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl Not for Privileges {
    type Output = Self;

    fn not(self) -> Self {
        Self(!self.0)
    }
}

impl fmt::Debug for Privileges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.each().map(|it| it.1).collect();
        f.write_str(&names.join(", "))
    }
}

/// Kinds of objects with rights.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum ObjectKind {
    /// A table, a view, a materialized view.
    Relation,
    /// A sequence.
    Sequence,
    /// A schema.
    Schema,
    /// The database.
    Database,
}

impl ObjectKind {
    /// All that there may be a right to.
    pub fn all(self) -> Privileges {
        type P = Privileges;
        match self {
            Self::Relation => {
                P::SELECT
                    | P::INSERT
                    | P::UPDATE
                    | P::DELETE
                    | P::TRUNCATE
                    | P::REFERENCES
                    | P::TRIGGER
                    | P::MAINTAIN
            }
            Self::Sequence => P::USAGE | P::SELECT | P::UPDATE,
            Self::Schema => P::USAGE | P::CREATE,
            Self::Database => P::CONNECT | P::CREATE | P::TEMPORARY,
        }
    }

    /// In words.
    pub fn word(self) -> &'static str {
        match self {
            Self::Relation => "table",
            Self::Sequence => "sequence",
            Self::Schema => "schema",
            Self::Database => "database",
        }
    }
}

/// Rights that a role has given to another, or to everybody.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Grant {
    /// Who has them.
    pub to: RoleId,
    /// Who has given them.
    pub by: RoleId,
    /// The rights.
    pub rights: Privileges,
    /// Those of them that may be given on.
    pub options: Privileges,
}

/// Who owns an object, and what others may do with it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Rights {
    /// The owner.
    pub owner: RoleId,
    /// What was given; `None` where nobody has said anything.
    pub grants: Option<Vec<Grant>>,
    /// What was given on single columns, by their names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub columns: BTreeMap<String, Vec<Grant>>,
}

/// Why rights cannot be given or taken away.
const GRANT_OPERATION: SqlState = SqlState("0LP01");

impl Rights {
    /// Those of an object of which nobody has said anything.
    pub fn of(owner: RoleId) -> Self {
        Self { owner, grants: None, columns: BTreeMap::new() }
    }

    /// What was given, or is where nobody has said anything. `is_public`: of the schema of that name.
    pub fn given(&self, kind: ObjectKind, is_public: bool) -> Cow<'_, [Grant]> {
        if let Some(grants) = &self.grants {
            return Cow::Borrowed(grants);
        }
        let by = self.owner;
        let options = Privileges::NONE;
        let everybody = match kind {
            ObjectKind::Database => Privileges::CONNECT | Privileges::TEMPORARY,
            ObjectKind::Schema if is_public => Privileges::USAGE,
            _ => Privileges::NONE,
        };
        let own = Grant { to: by, by, rights: kind.all(), options };
        let all = Grant { to: RoleId::PUBLIC, by, rights: everybody, options };
        // In the order in which PostgreSQL shows them.
        let both = if kind == ObjectKind::Schema { [own, all] } else { [all, own] };
        Cow::Owned(both.into_iter().filter(|it| !it.rights.is_empty()).collect())
    }

    /// Gives rights.
    ///
    /// Errors: 0LP01 where the option to give them on would come back to who has given it.
    pub fn grant(&mut self, of: (ObjectKind, bool), new: Grant) -> Result<(), SqlError> {
        let mut grants = self.given(of.0, of.1).into_owned();
        if !new.options.is_empty() && new.by != self.owner && self.rests_on(&grants, new) {
            let message = "grant options cannot be granted back to your own grantor";
            return Err(SqlError::new(GRANT_OPERATION, message));
        }
        add(&mut grants, new);
        self.grants = Some(grants);
        Ok(())
    }

    /// Whether who gives has its options from who is to have them.
    fn rests_on(&self, grants: &[Grant], new: Grant) -> bool {
        let mut left: Vec<Grant> = grants.to_vec();
        let options = new.options;
        take_options(&mut left, new.to, options);
        left.retain(|it| it.to != new.to);
        !options_of(self.owner, &left, new.by).has(options)
    }

    /// Takes rights away that `by` has given to `to`, or only the option to give them on; what rests on them goes too, or all is
    /// refused.
    ///
    /// Errors: 2BP01.
    pub fn revoke(
        &mut self,
        of: (ObjectKind, bool),
        taken: Grant,
        only_option: bool,
        cascade: bool,
    ) -> Result<(), SqlError> {
        let mut grants = self.given(of.0, of.1).into_owned();
        let lost = take(&mut grants, taken, only_option);
        let before = grants.clone();
        if !lost.is_empty() && taken.to != self.owner {
            self.prune(&mut grants, &[]);
        }
        let is_pruned = grants != before;
        self.grants = Some(grants);
        // Who loses a right to the table loses it to each of its columns.
        for column in self.columns.values_mut() {
            take(column, taken, only_option);
        }
        self.columns.retain(|_, it| !it.is_empty());
        let before = self.columns.clone();
        self.prune_columns();
        match is_pruned || before != self.columns {
            true if !cascade => Err(dependent()),
            _ => Ok(()),
        }
    }

    /// Takes away what was given by who may not give it any more. `beside`: what was given of the table, where these are on a column.
    fn prune(&self, grants: &mut Vec<Grant>, beside: &[Grant]) {
        loop {
            let before = grants.clone();
            for grant in grants.iter_mut().filter(|it| it.by != self.owner) {
                let may = options_of(self.owner, &before, grant.by)
                    | options_of(self.owner, beside, grant.by);
                grant.rights = grant.rights & may;
                grant.options = grant.options & may;
            }
            grants.retain(|it| !it.rights.is_empty());
            if *grants == before {
                return;
            }
        }
    }

    fn prune_columns(&mut self) {
        let mut columns = std::mem::take(&mut self.columns);
        let beside = self.grants.clone().unwrap_or_default();
        columns.values_mut().for_each(|it| self.prune(it, &beside));
        columns.retain(|_, it| !it.is_empty());
        self.columns = columns;
    }

    /// Gives rights on a column.
    ///
    /// Errors: as [`Rights::grant`].
    pub fn grant_on_column(&mut self, column: &str, new: Grant) -> Result<(), SqlError> {
        let own = self.columns.get(column).into_iter().flatten();
        let all: Vec<Grant> = self.grants.iter().flatten().chain(own).copied().collect();
        if !new.options.is_empty() && new.by != self.owner && self.rests_on(&all, new) {
            let message = "grant options cannot be granted back to your own grantor";
            return Err(SqlError::new(GRANT_OPERATION, message));
        }
        add(self.columns.entry(column.to_owned()).or_default(), new);
        Ok(())
    }

    /// Takes away rights on a column, as [`Rights::revoke`] does.
    ///
    /// Errors: 2BP01.
    pub fn revoke_on_column(
        &mut self,
        column: &str,
        taken: Grant,
        only_option: bool,
        cascade: bool,
    ) -> Result<(), SqlError> {
        let Some(grants) = self.columns.get_mut(column) else { return Ok(()) };
        take(grants, taken, only_option);
        self.columns.retain(|_, it| !it.is_empty());
        let before = self.columns.clone();
        self.prune_columns();
        match before == self.columns || cascade {
            true => Ok(()),
            false => Err(dependent()),
        }
    }

    /// A column has another name, or has gone; whether anything was said of it.
    pub fn move_column(&mut self, from: &str, to: Option<&str>) -> bool {
        let Some(grants) = self.columns.remove(from) else { return false };
        if let Some(to) = to {
            self.columns.insert(to.to_owned(), grants);
        }
        true
    }

    /// Gives the object to another: what the old owner had and gave is now of the new one.
    pub fn pass_to(&mut self, owner: RoleId) {
        let old = std::mem::replace(&mut self.owner, owner);
        for grants in self.grants.iter_mut().chain(self.columns.values_mut()) {
            let before = std::mem::take(grants);
            for mut grant in before {
                for role in [&mut grant.to, &mut grant.by] {
                    if *role == old {
                        *role = owner;
                    }
                }
                add(grants, grant);
            }
        }
    }

    /// Whether a role owns the object, or has given or been given something.
    pub fn names(&self, role: RoleId) -> bool {
        let mut grants = self.grants.iter().chain(self.columns.values()).flatten();
        self.owner == role || grants.any(|it| it.to == role || it.by == role)
    }

    /// Takes away all that a role was given or has given.
    pub fn forget(&mut self, role: RoleId) {
        let owner = self.owner;
        let is_left = |it: &Grant| it.to != role || it.to == owner;
        if let Some(mut grants) = self.grants.take() {
            grants.retain(is_left);
            self.prune(&mut grants, &[]);
            grants.retain(|it| it.by != role || it.by == owner);
            self.grants = Some(grants);
        }
        self.columns.values_mut().for_each(|it| it.retain(is_left));
        self.prune_columns();
        self.columns.values_mut().for_each(|it| it.retain(|it| it.by != role || it.by == owner));
        self.columns.retain(|_, it| !it.is_empty());
    }
}

fn dependent() -> SqlError {
    SqlError::new(SqlState::DEPENDENT_OBJECTS, "dependent privileges exist")
        .with_hint("Use CASCADE to revoke them too.")
}

/// Adds rights to those that somebody has from the same.
fn add(grants: &mut Vec<Grant>, new: Grant) {
    match grants.iter_mut().find(|it| (it.to, it.by) == (new.to, new.by)) {
        Some(known) => {
            known.rights |= new.rights;
            known.options |= new.options;
        }
        None => grants.push(new),
    }
}

/// Takes rights away, or only the option to give them on; which options are lost.
fn take(grants: &mut Vec<Grant>, taken: Grant, only_option: bool) -> Privileges {
    let Some(known) = grants.iter_mut().find(|it| (it.to, it.by) == (taken.to, taken.by)) else {
        return Privileges::NONE;
    };
    let lost = known.options & taken.rights;
    known.options = known.options & !taken.rights;
    if !only_option {
        known.rights = known.rights & !taken.rights;
    }
    grants.retain(|it| !it.rights.is_empty());
    lost
}

/// What a role may give on by what it was given itself.
pub fn options_of(owner: RoleId, grants: &[Grant], role: RoleId) -> Privileges {
    if role == owner {
        return Privileges(u16::MAX);
    }
    let own = grants.iter().filter(|it| it.to == role);
    own.fold(Privileges::NONE, |all, it| all | it.options)
}

/// Takes options away from a role, and what rests on them.
fn take_options(grants: &mut Vec<Grant>, from: RoleId, options: Privileges) {
    for grant in grants.iter_mut().filter(|it| it.to == from) {
        grant.options = grant.options & !options;
    }
    // What it has given goes; whoever had it from there alone gives nothing on, either.
    let given: Vec<RoleId> = grants
        .iter()
        .filter(|it| it.by == from && it.to != from && it.options.has_any(options))
        .map(|it| it.to)
        .collect();
    grants.retain(|it| it.by != from || it.to == from);
    for to in given {
        if !grants.iter().any(|it| it.to == to && it.options.has_any(options)) {
            take_options(grants, to, options);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OF: (ObjectKind, bool) = (ObjectKind::Relation, false);
    const SELECT: Privileges = Privileges::SELECT;
    const NONE: Privileges = Privileges::NONE;

    fn role(number: u32) -> RoleId {
        RoleId(RoleId::FIRST.0 + number)
    }

    fn given(to: u32, by: u32, options: Privileges) -> Grant {
        Grant { to: role(to), by: role(by), rights: SELECT, options }
    }

    fn held(rights: &Rights, by: u32) -> bool {
        rights.grants.iter().flatten().any(|it| it.to == role(by) && it.rights.has(SELECT))
    }

    #[test]
    fn what_rests_on_a_right_goes_with_it() {
        let mut rights = Rights::of(role(0));
        rights.grant(OF, given(1, 0, SELECT)).unwrap();
        rights.grant(OF, given(2, 1, SELECT)).unwrap();
        rights.grant(OF, given(3, 2, NONE)).unwrap();
        let taken = given(1, 0, NONE);
        let error = rights.clone().revoke(OF, taken, false, false).unwrap_err();
        assert_eq!(error.state, SqlState::DEPENDENT_OBJECTS);
        assert!(held(&rights, 3));
        rights.revoke(OF, taken, false, true).unwrap();
        assert!(!held(&rights, 1) && !held(&rights, 2) && !held(&rights, 3));
        assert_eq!(rights.grants.unwrap().len(), 1, "what the owner has");
    }

    #[test]
    fn who_has_a_right_from_two_keeps_it() {
        let mut rights = Rights::of(role(0));
        for to in [1, 2] {
            rights.grant(OF, given(to, 0, SELECT)).unwrap();
            rights.grant(OF, given(3, to, NONE)).unwrap();
        }
        rights.revoke(OF, given(1, 0, NONE), true, true).unwrap();
        assert!(held(&rights, 1) && held(&rights, 3), "only the option has gone");
        let back = rights.grant(OF, given(1, 2, SELECT));
        assert!(back.is_ok(), "it has nothing to do with whom it was from");
    }

    #[test]
    fn no_option_comes_back_to_who_gave_it() {
        let mut rights = Rights::of(role(0));
        rights.grant(OF, given(1, 0, SELECT)).unwrap();
        rights.grant(OF, given(2, 1, SELECT)).unwrap();
        assert_eq!(rights.grant(OF, given(1, 2, SELECT)).unwrap_err().state.0, "0LP01");
        rights.grant(OF, given(1, 2, NONE)).unwrap();
        rights.grant(OF, given(2, 0, SELECT)).unwrap();
        rights.grant(OF, given(1, 2, SELECT)).unwrap();
    }

    #[test]
    fn an_object_passes_with_what_was_given() {
        let mut rights = Rights::of(role(0));
        rights.grant(OF, given(1, 0, NONE)).unwrap();
        rights.pass_to(role(2));
        let grants = rights.grants.clone().unwrap();
        assert!(grants.iter().all(|it| it.by == role(2)) && held(&rights, 1) && held(&rights, 2));
        assert!(rights.names(role(1)) && !rights.names(role(0)));
        rights.forget(role(1));
        assert!(!held(&rights, 1) && held(&rights, 2));
    }

    #[test]
    fn rights_on_columns_rest_on_those_of_the_table() {
        let mut rights = Rights::of(role(0));
        rights.grant(OF, given(1, 0, SELECT)).unwrap();
        rights.grant_on_column("a", given(2, 1, SELECT)).unwrap();
        rights.grant_on_column("a", given(3, 2, NONE)).unwrap();
        rights.grant_on_column("b", given(3, 0, NONE)).unwrap();
        let taken = given(1, 0, NONE);
        assert!(rights.clone().revoke(OF, taken, false, false).is_err());
        let mut cut = rights.clone();
        cut.revoke(OF, taken, false, true).unwrap();
        assert!(!cut.columns.contains_key("a") && cut.columns["b"].len() == 1);
        // Who loses the right to the table loses it to its columns.
        rights.revoke(OF, given(3, 0, NONE), false, false).unwrap();
        assert!(!rights.columns.contains_key("b") && rights.columns["a"].len() == 2);
        assert!(rights.clone().revoke_on_column("a", given(2, 1, NONE), true, false).is_err());
        assert!(rights.names(role(3)) && rights.move_column("a", Some("c")));
        rights.forget(role(2));
        assert!(!rights.names(role(3)) && !rights.names(role(2)) && rights.columns.is_empty());
    }

    #[test]
    fn rights_have_names() {
        assert_eq!(Privileges::named("select"), Some(SELECT));
        assert_eq!(Privileges::named("Temp"), Some(Privileges::TEMPORARY));
        assert_eq!(Privileges::named("x"), None);
        let all: String = ObjectKind::Relation.all().each().map(|it| it.2).collect();
        assert_eq!(all, "arwdDxtm");
    }
}
