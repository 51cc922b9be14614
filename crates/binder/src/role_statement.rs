//! Statements about roles and rights, as data.

use types::{ObjectKind, Privileges};

/// A role that a statement names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NamedRole {
    /// By its name.
    Name(String),
    /// Who runs the statement.
    Current,
    /// Who the session is of.
    Session,
    /// Everybody; only rights are given to it.
    Public,
}

/// What CREATE and ALTER ROLE say of a role; `None` where nothing is.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RoleOptions {
    /// SUPERUSER.
    pub superuser: Option<bool>,
    /// CREATEDB.
    pub create_database: Option<bool>,
    /// CREATEROLE.
    pub create_role: Option<bool>,
    /// INHERIT.
    pub inherit: Option<bool>,
    /// LOGIN.
    pub login: Option<bool>,
    /// REPLICATION.
    pub replication: Option<bool>,
    /// BYPASSRLS.
    pub bypass_policies: Option<bool>,
    /// CONNECTION LIMIT, -1 for none.
    pub connections: Option<i64>,
    /// PASSWORD, `Some(None)` for NULL.
    pub password: Option<Option<String>>,
    /// VALID UNTIL.
    pub valid_until: Option<String>,
    /// IN ROLE.
    pub in_roles: Vec<String>,
    /// ROLE and USER: its first members.
    pub members: Vec<NamedRole>,
    /// ADMIN: its first members who may make others members.
    pub admins: Vec<NamedRole>,
}

/// Options of a membership that are said.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MembershipOptions {
    /// Whether the member may make others members.
    pub admin: Option<bool>,
    /// Whether it has the rights of the role.
    pub inherit: Option<bool>,
    /// Whether it may become the role.
    pub set: Option<bool>,
}

/// The objects that rights are given to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RightsOn {
    /// Relations, or sequences, by name; without a word before them they may be either.
    Relations {
        /// Whether the word was SEQUENCE.
        sequences: bool,
        /// Their names.
        names: Vec<String>,
    },
    /// All relations, or sequences, of schemas.
    AllIn {
        /// Whether sequences are meant.
        sequences: bool,
        /// The schemas.
        schemas: Vec<String>,
    },
    /// Schemas.
    Schemas(Vec<String>),
    /// Databases, under any name.
    Databases(Vec<String>),
}

/// What has an owner.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Owned {
    /// A relation, of a kind in words.
    Relation {
        /// `table`, `view`, `materialized view` or `sequence`.
        kind: &'static str,
        /// Its name.
        name: String,
        /// Whether a missing one is no error.
        if_exists: bool,
    },
    /// A schema.
    Schema(String),
    /// A type that users made.
    Type {
        /// Its name.
        name: String,
        /// Whether it is called a domain.
        is_domain: bool,
    },
    /// The database.
    Database,
}

/// A statement about roles and rights.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RoleStatement {
    /// CREATE ROLE.
    Create {
        /// Its name.
        name: String,
        /// What is said of it.
        options: Box<RoleOptions>,
    },
    /// ALTER ROLE.
    Alter {
        /// The role.
        role: NamedRole,
        /// What is said of it.
        options: Box<RoleOptions>,
    },
    /// ALTER ROLE .. RENAME TO.
    Rename {
        /// Its name.
        name: String,
        /// Its new name.
        to: String,
    },
    /// DROP ROLE.
    Drop {
        /// The roles.
        names: Vec<String>,
        /// Whether a missing one is no error.
        if_exists: bool,
    },
    /// GRANT and REVOKE of roles.
    Member {
        /// Whether they are given, or taken away.
        grant: bool,
        /// The roles.
        roles: Vec<String>,
        /// Those who become members, or are so no longer.
        members: Vec<NamedRole>,
        /// What is said of the memberships; of REVOKE, what alone is taken away.
        options: MembershipOptions,
        /// GRANTED BY.
        by: Option<NamedRole>,
        /// Whether what rests on a membership goes, too.
        cascade: bool,
    },
    /// GRANT and REVOKE of rights.
    Rights {
        /// Whether they are given, or taken away.
        grant: bool,
        /// The rights, `None` for all.
        rights: Option<Privileges>,
        /// Those on single columns, `None` for all that there are, and the columns.
        columns: Vec<(Option<Privileges>, Vec<String>)>,
        /// The objects.
        on: RightsOn,
        /// Who has them, or not any more.
        roles: Vec<NamedRole>,
        /// WITH GRANT OPTION; of REVOKE, whether the option alone is taken away.
        option: bool,
        /// GRANTED BY.
        by: Option<NamedRole>,
        /// Whether what rests on a right goes, too.
        cascade: bool,
    },
    /// ALTER .. OWNER TO.
    Owner {
        /// What is given away.
        of: Owned,
        /// Its new owner.
        to: NamedRole,
    },
    /// REASSIGN OWNED.
    Reassign {
        /// Whose things are given away.
        from: Vec<NamedRole>,
        /// Who has them then.
        to: NamedRole,
    },
    /// DROP OWNED: only what was given, since what is owned is dropped by name.
    DropOwned {
        /// Whose.
        by: Vec<NamedRole>,
        /// Whether what depends on it goes, too.
        cascade: bool,
    },
    /// SET ROLE; `None` for NONE and RESET ROLE.
    SetRole {
        /// The role.
        role: Option<String>,
        /// Whether RESET was said.
        is_reset: bool,
        /// SET LOCAL.
        local: bool,
    },
    /// SET SESSION AUTHORIZATION; `None` for DEFAULT.
    SetSession {
        /// The role.
        role: Option<String>,
        /// Whether RESET was said.
        is_reset: bool,
        /// SET LOCAL.
        local: bool,
    },
}

impl RightsOn {
    /// The kind of objects; of relations that nobody has said a word of, tables.
    pub fn kind(&self) -> ObjectKind {
        match self {
            Self::Relations { sequences: true, .. } | Self::AllIn { sequences: true, .. } => {
                ObjectKind::Sequence
            }
            Self::Relations { .. } | Self::AllIn { .. } => ObjectKind::Relation,
            Self::Schemas(_) => ObjectKind::Schema,
            Self::Databases(_) => ObjectKind::Database,
        }
    }
}
