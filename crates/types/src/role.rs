//! Roles as plain data: who there is, and who is a member of whom.
//!
//! Key decision: the roles that a role is a member of stand with the member, so that whoever makes, changes or drops a role changes
//! one thing.

use serde::{Deserialize, Serialize};

stdx::id! {
    /// A role; never used again while the database is open. It is its number in the catalog, too.
    #[derive(serde::Serialize, serde::Deserialize)]
    RoleId(u32)
}

impl RoleId {
    /// Everybody: no role, but what rights are given to.
    pub const PUBLIC: Self = Self(0);
    /// The superuser that is always there, and owns all that nobody else does.
    pub const BOOTSTRAP: Self = Self(10);
    /// Whoever owns the database.
    pub const DATABASE_OWNER: Self = Self(6171);
    /// May see what is going on, with the texts of others' statements.
    pub const MONITOR: Self = Self(3373);
    /// May see the texts of others' statements.
    pub const READ_ALL_STATS: Self = Self(3375);
    /// May end the statements of others.
    pub const SIGNAL_BACKEND: Self = Self(4200);
    /// May make checkpoints.
    pub const CHECKPOINT: Self = Self(4544);
    /// May read files of the server.
    pub const READ_SERVER_FILES: Self = Self(4569);
    /// May write files of the server.
    pub const WRITE_SERVER_FILES: Self = Self(4570);
    /// May read all tables.
    pub const READ_ALL_DATA: Self = Self(6181);
    /// May change the rows of all tables.
    pub const WRITE_ALL_DATA: Self = Self(6182);
    /// The first number of roles that users make.
    pub const FIRST: Self = Self(16_384);

    /// Whether the system made it.
    pub fn is_of_system(self) -> bool {
        self < Self::FIRST
    }
}

/// Roles that are always there, with their names.
pub const PREDEFINED: [(RoleId, &str); 10] = [
    (RoleId::BOOTSTRAP, "nodewise"),
    (RoleId::DATABASE_OWNER, "pg_database_owner"),
    (RoleId::MONITOR, "pg_monitor"),
    (RoleId::READ_ALL_STATS, "pg_read_all_stats"),
    (RoleId::SIGNAL_BACKEND, "pg_signal_backend"),
    (RoleId::CHECKPOINT, "pg_checkpoint"),
    (RoleId::READ_SERVER_FILES, "pg_read_server_files"),
    (RoleId::WRITE_SERVER_FILES, "pg_write_server_files"),
    (RoleId::READ_ALL_DATA, "pg_read_all_data"),
    (RoleId::WRITE_ALL_DATA, "pg_write_all_data"),
];

/// A role.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Role {
    /// Its id.
    pub id: RoleId,
    /// Its name.
    pub name: String,
    /// Whether it may do everything.
    pub is_superuser: bool,
    /// Whether a client may come in as it.
    pub can_login: bool,
    /// Whether it may make roles, and change those that it administers.
    pub creates_roles: bool,
    /// Kept and shown: there is one database.
    pub creates_databases: bool,
    /// Whether it has the rights of roles that it becomes a member of, where that is not said.
    pub inherits: bool,
    /// Kept and shown: there is no replication.
    pub replicates: bool,
    /// Kept and shown: there are no policies of rows.
    pub bypasses_policies: bool,
    /// How many sessions may be its at once; `None` for any number.
    pub sessions_max: Option<u32>,
    /// What checks its password, as `pg_authid` has it.
    pub verifier: Option<String>,
    /// When its password ends, in microseconds from 1970-01-01, UTC.
    pub valid_until: Option<i64>,
    /// The roles that it is a member of.
    pub memberships: Vec<Membership>,
}

/// That a role is a member of another.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Membership {
    /// The other.
    pub of: RoleId,
    /// Who has made it a member.
    pub grantor: RoleId,
    /// Whether it may make others members.
    pub admin: bool,
    /// Whether it has the rights of the other.
    pub inherit: bool,
    /// Whether it may become the other by SET ROLE.
    pub set: bool,
}

impl Role {
    /// A role that may do nothing.
    pub fn new(id: RoleId, name: impl Into<String>) -> Self {
        Self {
            id,
            name: name.into(),
            is_superuser: false,
            can_login: false,
            creates_roles: false,
            creates_databases: false,
            inherits: true,
            replicates: false,
            bypasses_policies: false,
            sessions_max: None,
            verifier: None,
            valid_until: None,
            memberships: Vec::new(),
        }
    }

    /// A role that is always there, as it is where nobody has changed it.
    pub fn predefined(id: RoleId) -> Option<Self> {
        let (_, name) = PREDEFINED.iter().find(|it| it.0 == id)?;
        let mut role = Self::new(id, *name);
        if id == RoleId::BOOTSTRAP {
            role.is_superuser = true;
            role.can_login = true;
            role.creates_roles = true;
            role.creates_databases = true;
            role.replicates = true;
            role.bypasses_policies = true;
        }
        if id == RoleId::MONITOR {
            let (admin, inherit, set) = (false, true, true);
            let grantor = RoleId::BOOTSTRAP;
            role.memberships =
                vec![Membership { of: RoleId::READ_ALL_STATS, grantor, admin, inherit, set }];
        }
        Some(role)
    }
}
