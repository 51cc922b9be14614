//! What is asked of the catalog. Each row begins with the number of what it belongs to, and of itself where others belong to it.
//!
//! Filters: `$1` schemas, `$2` tables, `$3` kinds of tables between commas, `$4` columns; NULL is all.

use nodewise::text::Cells;
use nodewise::{Session, SqlError, SqlResult, SqlState, Value};

use super::client::{ask, whole};

/// Schemas: number, name.
pub const SCHEMAS: &str = "SELECT n.oid::bigint, n.nspname::text FROM pg_catalog.pg_namespace n \
    WHERE n.nspname NOT IN ('pg_catalog', 'information_schema') \
    AND ($1::text IS NULL OR n.nspname LIKE $1) ORDER BY n.nspname";

/// Tables: number of the schema, number, name, kind.
pub const TABLES: &str = "SELECT * FROM (SELECT n.oid::bigint AS schema, c.oid::bigint, c.relname::text AS name, \
    CASE c.relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' \
    ELSE CASE c.relpersistence WHEN 't' THEN 'LOCAL TEMPORARY' ELSE 'TABLE' END END AS kind \
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
    WHERE c.relkind IN ('r', 'p', 'v', 'm') AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'nodewise') \
    AND ($1::text IS NULL OR n.nspname LIKE $1) AND ($2::text IS NULL OR c.relname LIKE $2)) t \
    WHERE $3::text IS NULL OR kind = ANY (string_to_array($3, ',')) ORDER BY name";

/// Columns: number of the table, and the columns of ADBC. Codes and sizes are ODBC's.
pub const COLUMNS: &str = "SELECT a.attrelid::bigint, a.attname::text, a.attnum::int, \
    pg_catalog.col_description(a.attrelid, a.attnum::int), x.code::smallint, \
    pg_catalog.format_type(a.atttypid, a.atttypmod), \
    CASE WHEN a.atttypmod < 4 THEN x.size WHEN t.typname = 'numeric' THEN ((a.atttypmod - 4) >> 16) & 65535 \
    WHEN t.typname IN ('varchar', 'bpchar') THEN a.atttypmod - 4 ELSE x.size END::int, \
    CASE WHEN t.typname = 'numeric' AND a.atttypmod >= 4 THEN (a.atttypmod - 4) & 65535 ELSE x.digits END::smallint, \
    x.radix::smallint, CASE WHEN a.attnotnull THEN 0 ELSE 1 END::smallint, \
    pg_catalog.pg_get_expr(d.adbin, d.adrelid), \
    CASE WHEN x.sub IS NULL THEN x.code ELSE 9 END::smallint, x.sub::smallint, \
    CASE WHEN t.typname IN ('varchar', 'bpchar') AND a.atttypmod >= 4 THEN (a.atttypmod - 4) * 4 END::int, \
    CASE WHEN a.attnotnull THEN 'NO' ELSE 'YES' END, NULL::text, NULL::text, NULL::text, \
    a.attidentity <> '' OR coalesce(pg_catalog.pg_get_expr(d.adbin, d.adrelid) LIKE 'nextval(%', false), \
    a.attgenerated <> '' \
    FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid \
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
    JOIN pg_catalog.pg_type t ON t.oid = a.atttypid \
    LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum \
    LEFT JOIN (VALUES ('bool', -7, 1, NULL::int, NULL::int, NULL::int), ('int2', 5, 5, 0, 10, NULL), \
    ('int4', 4, 10, 0, 10, NULL), ('int8', -5, 19, 0, 10, NULL), ('float4', 7, 24, NULL, 2, NULL), \
    ('float8', 8, 53, NULL, 2, NULL), ('numeric', 2, NULL, NULL, 10, NULL), ('bpchar', 1, NULL, NULL, NULL, NULL), \
    ('varchar', 12, NULL, NULL, NULL, NULL), ('text', 12, NULL, NULL, NULL, NULL), ('bytea', -3, NULL, NULL, NULL, NULL), \
    ('uuid', -11, 16, NULL, NULL, NULL), ('date', 91, 10, NULL, NULL, 1), ('time', 92, 15, 6, NULL, 2), \
    ('timestamp', 93, 26, 6, NULL, 3), ('timestamptz', 93, 32, 6, NULL, 3)) \
    AS x (name, code, size, digits, radix, sub) ON x.name = t.typname \
    WHERE a.attnum > 0 AND NOT a.attisdropped AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'nodewise') \
    AND ($1::text IS NULL OR n.nspname LIKE $1) AND ($2::text IS NULL OR c.relname LIKE $2) \
    AND ($3::text IS NULL OR a.attname LIKE $3) ORDER BY a.attrelid, a.attnum";

/// Constraints: number of the table, number, name, kind.
pub const CONSTRAINTS: &str = "SELECT k.conrelid::bigint, k.oid::bigint, k.conname::text, \
    CASE k.contype WHEN 'p' THEN 'PRIMARY KEY' WHEN 'u' THEN 'UNIQUE' WHEN 'f' THEN 'FOREIGN KEY' ELSE 'CHECK' END \
    FROM pg_catalog.pg_constraint k WHERE k.contype IN ('p', 'u', 'f', 'c') ORDER BY k.conname";

/// The columns of constraints: number of the constraint, name.
pub const KEYS: &str = "SELECT k.oid::bigint, a.attname::text FROM pg_catalog.pg_constraint k \
    JOIN pg_catalog.pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = ANY (k.conkey) \
    WHERE k.contype IN ('p', 'u', 'f', 'c') ORDER BY array_position(k.conkey, a.attnum)";

/// What foreign keys refer to: number of the constraint, catalog, schema, table, column.
pub const REFERENCES: &str = "SELECT k.oid::bigint, pg_catalog.current_database()::text, n.nspname::text, \
    c.relname::text, a.attname::text FROM pg_catalog.pg_constraint k \
    JOIN pg_catalog.pg_class c ON c.oid = k.confrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
    JOIN pg_catalog.pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = ANY (k.confkey) \
    WHERE k.contype = 'f' ORDER BY array_position(k.confkey, a.attnum)";

/// The database, where its name is asked for by `$1`.
pub const CATALOG: &str = "SELECT pg_catalog.current_database()::text AS name \
    WHERE $1::text IS NULL OR pg_catalog.current_database() LIKE $1";

/// The first value of what a query gives, as a text.
pub fn first(session: &mut Session, sql: &str, values: &[Value]) -> SqlResult<Option<String>> {
    let rows = whole(&ask(session, sql, values)?)?;
    Ok(if rows.num_rows() == 0 { None } else { Cells::new(rows.column(0)).text(0) })
}

/// What the database is called: its one catalog.
pub fn catalog(session: &mut Session) -> SqlResult<String> {
    first(session, "SELECT pg_catalog.current_database()", &[]).map(Option::unwrap_or_default)
}

/// An error where a catalog is named that is not the database.
pub fn check_catalog(session: &mut Session, named: Option<&str>) -> SqlResult<()> {
    let Some(named) = named.filter(|it| !it.is_empty()) else { return Ok(()) };
    match catalog(session)? == named {
        true => Ok(()),
        false => Err(SqlError::unsupported(format!("there is no other catalog, as {named:?}"))),
    }
}

/// The schema in which tables are made.
pub fn current_schema(session: &mut Session) -> SqlResult<String> {
    let found = first(session, "SELECT pg_catalog.current_schema()", &[])?;
    found.ok_or_else(|| {
        let message = "no schema has been selected to create in";
        SqlError::new(SqlState::UNDEFINED_SCHEMA, message)
    })
}
