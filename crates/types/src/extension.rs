//! Extensions: names under which PostgreSQL makes functions that are built in here.

use serde::{Deserialize, Serialize};

/// An extension that was made.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Extension {
    /// Its name.
    pub name: String,
    /// The schema that its functions are in beside the catalog's.
    pub schema: String,
}

/// An extension that may be made.
#[derive(Debug)]
pub struct KnownExtension {
    /// Its name.
    pub name: &'static str,
    /// The version of PostgreSQL's.
    pub version: &'static str,
    /// What it is for.
    pub comment: &'static str,
    /// Those of its functions that are built in.
    pub functions: &'static [&'static str],
}

/// The one that is always there, in the schema of the catalog.
pub const PLPGSQL: &str = "plpgsql";

/// All of them.
pub const KNOWN: [KnownExtension; 3] = [
    KnownExtension {
        name: "pgcrypto",
        version: "1.3",
        comment: "cryptographic functions",
        functions: &["gen_random_uuid"],
    },
    KnownExtension {
        name: PLPGSQL,
        version: "1.0",
        comment: "PL/pgSQL procedural language",
        functions: &[],
    },
    KnownExtension {
        name: "uuid-ossp",
        version: "1.1",
        comment: "generate universally unique identifiers (UUIDs)",
        functions: &["uuid_generate_v4"],
    },
];

/// What is known of an extension by its name.
pub fn known(name: &str) -> Option<&'static KnownExtension> {
    KNOWN.iter().find(|it| it.name == name)
}

impl Extension {
    /// Whether it has a function.
    pub fn has(&self, function: &str) -> bool {
        known(&self.name).is_some_and(|it| it.functions.contains(&function))
    }
}
