//! The numbers of what is in the catalog.

use ::types::{IndexMethod, TableId, names};

pub const CATALOG: i64 = 11;
pub const PUBLIC: i64 = 2200;
pub const INFORMATION: i64 = 13_000;
pub const NODEWISE: i64 = 13_001;
/// The one role.
pub const OWNER: i64 = 10;
/// The one database.
pub const DATABASE: i64 = 5;
/// How tables are kept, and how keys are found.
pub const COLUMNS: i64 = 2;
pub const BTREE: i64 = 403;
/// What functions are written in.
pub const INTERNAL: i64 = 12;
/// Orders of values have numbers from here on, by type.
pub const CLASSES: i64 = 10_000;
/// The order of texts.
pub const COLLATION: i64 = 950;

/// Where the numbers of what users make begin.
const FIRST: i64 = 16_384;
/// Views have numbers below, in order.
const VIEWS: i64 = 14_000;
/// The types of the rows of tables and views have numbers from here on.
const ROW_TYPES: i64 = 1 << 29;
/// What has no number of its own has one by its name, from here on.
const NAMED: i64 = 1 << 30;

/// How an index is kept.
pub fn method(it: IndexMethod) -> i64 {
    match it {
        IndexMethod::BTree => BTREE,
        IndexMethod::Hash => 405,
        IndexMethod::Inverted => 13_403,
    }
}

/// A table.
pub fn table(id: TableId) -> i64 {
    FIRST + i64::from(id.0)
}

/// The type of the rows of a table or a view, and that of arrays of them.
pub fn row_type(id: TableId) -> (i64, i64) {
    let own = ROW_TYPES + 2 * i64::from(id.0);
    (own, own + 1)
}

/// A view, by its place among all.
pub fn view(place: usize) -> i64 {
    VIEWS + place as i64
}

/// A schema.
pub fn schema(name: &str) -> i64 {
    match name {
        names::CATALOG => CATALOG,
        names::INFORMATION => INFORMATION,
        names::PUBLIC => PUBLIC,
        names::NODEWISE => NODEWISE,
        other => of_name("schema", other),
    }
}

/// The schema of a relation.
pub fn schema_of(full: &str) -> i64 {
    schema(&names::schema_of(full))
}

/// A sequence, or a function.
pub fn of_name(kind: &str, name: &str) -> i64 {
    hashed(&format!("{kind}\0{name}"))
}

/// A part of a table with a name: an index, a constraint, a default.
pub fn named(kind: &str, table: TableId, name: &str) -> i64 {
    hashed(&format!("{kind}\0{}\0{name}", table.0))
}

fn hashed(text: &str) -> i64 {
    // FNV-1a.
    let hash = text
        .bytes()
        .fold(0x811c_9dc5_u32, |hash, it| (hash ^ u32::from(it)).wrapping_mul(0x0100_0193));
    NAMED + i64::from(hash & 0x3fff_ffff)
}
