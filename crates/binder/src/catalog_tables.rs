//! DuckDB's functions in FROM that tell what there is (`duckdb_tables()`, `pragma_table_info('t')`), `repeat`, and PostgreSQL's
//! `pg_input_error_info`, `pg_get_keywords`, `pg_available_extensions`, `pg_sequence_parameters` and `_pg_expandarray`: each is a
//! query, over PostgreSQL's catalog and our own, which stands in the place of the call.
//!
//! What DuckDB knows and we do not (tags, sizes of types, where a database lies) is NULL.

use crate::key_words;

/// The function that tells why a text is no value of a type, by a name that no user can write.
pub(crate) const INPUT_ERRORS: &str = "pg_input\nerror";

/// The function of `information_schema` that tells the items of an array with their places.
pub(crate) const EXPAND_ARRAY: &str = "_pg_expandarray";

/// The query of a function; `None` where there is no such function, or where it takes other arguments. Arguments are SQL.
pub(crate) fn query_of(name: &str, arguments: &[String]) -> Option<String> {
    match (name, arguments) {
        // Of a text it is PostgreSQL's function of one value.
        ("repeat", [value, count]) if is_no_text(value) => Some(format!(
            "SELECT {value} AS \"{}\" FROM generate_series(1, {count})",
            value.trim_matches('\'').replace('"', "\"\"")
        )),
        ("pg_input_error_info", [text, of]) => Some(format!(
            "SELECT \"the input\"[1] AS message, \"the input\"[2] AS detail, \"the input\"[3] AS hint, \
             \"the input\"[4] AS sql_error_code FROM (SELECT \"{INPUT_ERRORS}\"({text}, {of}) AS \"the input\") \
             AS \"the inputs\""
        )),
        ("pragma_table_info", [table]) => Some(TABLE_INFO.replace("{1}", table)),
        ("pg_get_keywords", []) => Some(key_words::query()),
        ("pg_sequence_parameters", [of]) => Some(SEQUENCE.replace("{1}", of)),
        (EXPAND_ARRAY, [array]) => Some(EXPANDED.replace("{1}", array)),
        (_, []) => without_arguments(name),
        _ => None,
    }
}

/// Whether an argument is a constant of another type than a text.
fn is_no_text(value: &str) -> bool {
    let words = ["TRUE", "FALSE", "DATE ", "TIME ", "TIMESTAMP ", "INTERVAL ", "UUID ", "ARRAY["];
    let upper = value.to_uppercase();
    value.starts_with(|it: char| it.is_ascii_digit() || "-[{".contains(it))
        || words.iter().any(|it| upper.starts_with(it))
}

/// Whether there is a function of a name.
pub(crate) fn is_known(name: &str) -> bool {
    matches!(
        name,
        "repeat"
            | "pg_input_error_info"
            | "pragma_table_info"
            | "pg_get_keywords"
            | "pg_sequence_parameters"
            | EXPAND_ARRAY
    ) || without_arguments(name).is_some()
}

fn without_arguments(name: &str) -> Option<String> {
    let text = match name {
        "duckdb_columns" => COLUMNS,
        "duckdb_constraints" => CONSTRAINTS,
        "duckdb_databases" => DATABASES,
        "duckdb_functions" => FUNCTIONS,
        "duckdb_indexes" => INDEXES,
        "duckdb_prepared_statements" => PREPARED,
        "duckdb_schemas" => SCHEMAS,
        "duckdb_sequences" => SEQUENCES,
        "duckdb_settings" => SETTINGS,
        "duckdb_tables" => TABLES,
        "duckdb_types" => TYPES,
        "duckdb_views" => VIEWS,
        "pg_available_extensions" => AVAILABLE_EXTENSIONS,
        _ => return None,
    };
    Some(text.replace("{database}", DATABASE).replace("{type}", TYPE).replace("{names}", NAMES))
}

/// The columns of a relation `c` in a schema `n` that come first. What is temporary is in a database of its own there.
const DATABASE: &str = "CASE WHEN n.nspname LIKE 'pg\\_temp%' THEN 'temp' ELSE current_database() END \
    AS database_name, CASE WHEN n.nspname LIKE 'pg\\_temp%' THEN 0 \
    ELSE (SELECT oid FROM pg_catalog.pg_database) END AS database_oid, n.nspname AS schema_name, n.oid AS schema_oid";

/// Of what is from the beginning.
const NAMES: &str = "n.nspname IN ('pg_catalog', 'information_schema', 'nodewise')";

/// DuckDB's name of a type of which `t` is PostgreSQL's.
const TYPE: &str = "upper(regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(\
    regexp_replace(regexp_replace(t, '^(text|character varying|character)(\\(\\d+\\))?', 'varchar'), \
    '^double precision', 'double'), '^real', 'float'), '^bytea', 'blob'), '^numeric', 'decimal'), \
    '^(time|timestamp) without time zone', '\\1'), '^\"char\"', 'varchar'))";

const AVAILABLE_EXTENSIONS: &str =
    "SELECT name, default_version, comment FROM pg_catalog.pg_available_extensions";

const DATABASES: &str = "SELECT datname AS database_name, oid AS database_oid, CAST(NULL AS TEXT) AS path, \
    CAST(NULL AS TEXT) AS comment, CAST(NULL AS TEXT) AS tags, false AS internal, 'nodewise' AS type, \
    false AS readonly FROM pg_catalog.pg_database";

const SCHEMAS: &str = "SELECT n.oid, current_database() AS database_name, \
    (SELECT oid FROM pg_catalog.pg_database) AS database_oid, n.nspname AS schema_name, \
    d.description AS comment, CAST(NULL AS TEXT) AS tags, {names} AS internal, CAST(NULL AS TEXT) AS sql \
    FROM pg_catalog.pg_namespace n LEFT JOIN pg_catalog.pg_description d \
    ON d.objoid = n.oid AND d.objsubid = 0";

const TABLES: &str = "SELECT {database}, c.relname AS table_name, c.oid AS table_oid, \
    d.description AS comment, CAST(NULL AS TEXT) AS tags, {names} AS internal, \
    c.relpersistence = 't' AS temporary, \
    EXISTS (SELECT 1 FROM pg_catalog.pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'p') \
    AS has_primary_key, CAST(c.reltuples AS BIGINT) AS estimated_size, c.relnatts AS column_count, \
    (SELECT count(*) FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid) AS index_count, \
    c.relchecks AS check_constraint_count, CAST(NULL AS TEXT) AS sql \
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
    LEFT JOIN pg_catalog.pg_description d ON d.objoid = c.oid AND d.objsubid = 0 \
    WHERE c.relkind = 'r' AND NOT {names}";

const VIEWS: &str = "SELECT {database}, c.relname AS view_name, c.oid AS view_oid, \
    d.description AS comment, CAST(NULL AS TEXT) AS tags, {names} AS internal, \
    c.relpersistence = 't' AS temporary, c.relnatts AS column_count, \
    'CREATE VIEW ' || quote_ident(c.relname) || ' AS ' || v.definition AS sql \
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
    JOIN pg_catalog.pg_views v ON v.schemaname = n.nspname AND v.viewname = c.relname \
    LEFT JOIN pg_catalog.pg_description d ON d.objoid = c.oid AND d.objsubid = 0 \
    WHERE NOT {names}";

const COLUMNS: &str = "SELECT {database}, i.table_name, c.oid AS table_oid, i.column_name, \
    i.ordinal_position AS column_index, d.description AS comment, {names} AS internal, \
    i.column_default, i.is_nullable = 'YES' AS is_nullable, i.data_type, \
    CAST(NULL AS BIGINT) AS data_type_id, i.character_maximum_length, i.numeric_precision, \
    CASE WHEN i.numeric_precision IS NOT NULL THEN CASE WHEN i.data_type LIKE 'DECIMAL%' THEN 10 ELSE 2 END \
    END AS numeric_precision_radix, i.numeric_scale, CAST(NULL AS TEXT) AS tags, \
    i.is_generated = 'ALWAYS' AS is_generated, i.generation_expression \
    FROM (SELECT table_schema, table_name, column_name, ordinal_position, column_default, is_nullable, \
    {type} AS data_type, character_maximum_length, numeric_precision, numeric_scale, is_generated, \
    generation_expression FROM (SELECT *, CASE data_type \
    WHEN 'ARRAY' THEN CASE substring(udt_name FROM 2) WHEN 'int4' THEN 'integer' WHEN 'int8' THEN 'bigint' \
    WHEN 'int2' THEN 'smallint' WHEN 'float8' THEN 'double' WHEN 'float4' THEN 'real' WHEN 'bool' THEN 'boolean' \
    WHEN 'timestamptz' THEN 'timestamp with time zone' ELSE substring(udt_name FROM 2) END || '[]' \
    WHEN 'numeric' THEN coalesce('decimal(' || numeric_precision || ',' || numeric_scale || ')', 'numeric') \
    ELSE data_type END AS t FROM information_schema.columns) x) i \
    JOIN pg_catalog.pg_namespace n ON n.nspname = i.table_schema \
    JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = i.table_name \
    LEFT JOIN pg_catalog.pg_description d ON d.objoid = c.oid AND d.objsubid = i.ordinal_position \
    WHERE NOT {names}";

const CONSTRAINTS: &str = "SELECT {database}, c.relname AS table_name, c.oid AS table_oid, \
    row_number() OVER (PARTITION BY c.oid ORDER BY k.oid) - 1 AS constraint_index, \
    CASE k.contype WHEN 'p' THEN 'PRIMARY KEY' WHEN 'u' THEN 'UNIQUE' WHEN 'c' THEN 'CHECK' \
    WHEN 'f' THEN 'FOREIGN KEY' WHEN 'n' THEN 'NOT NULL' END AS constraint_type, \
    pg_get_constraintdef(k.oid) AS constraint_text, k.conname AS constraint_name \
    FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_class c ON c.oid = k.conrelid \
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace";

const INDEXES: &str = "SELECT {database}, x.relname AS index_name, x.oid AS index_oid, \
    c.relname AS table_name, c.oid AS table_oid, d.description AS comment, CAST(NULL AS TEXT) AS tags, \
    i.indisunique AS is_unique, i.indisprimary AS is_primary, pg_get_indexdef(i.indexrelid) AS sql \
    FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid \
    JOIN pg_catalog.pg_class c ON c.oid = i.indrelid \
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
    LEFT JOIN pg_catalog.pg_description d ON d.objoid = x.oid AND d.objsubid = 0 \
    WHERE NOT EXISTS (SELECT 1 FROM pg_catalog.pg_constraint k \
    WHERE k.conrelid = c.oid AND k.conname = x.relname)";

const SEQUENCES: &str = "SELECT {database}, c.relname AS sequence_name, c.oid AS sequence_oid, \
    d.description AS comment, CAST(NULL AS TEXT) AS tags, c.relpersistence = 't' AS temporary, \
    s.seqstart AS start_value, s.seqmin AS min_value, s.seqmax AS max_value, \
    s.seqincrement AS increment_by, s.seqcycle AS cycle, \
    (SELECT q.last_value FROM nodewise.sequences q WHERE q.sequence_name = c.relname \
    OR q.sequence_name = n.nspname || '.' || c.relname) AS last_value \
    FROM pg_catalog.pg_sequence s JOIN pg_catalog.pg_class c ON c.oid = s.seqrelid \
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
    LEFT JOIN pg_catalog.pg_description d ON d.objoid = c.oid AND d.objsubid = 0";

const TYPES: &str = "SELECT {database}, y.oid AS type_oid, y.typname AS type_name, \
    y.typlen AS type_size, {type} AS logical_type, y.typcategory AS type_category, {names} AS internal \
    FROM (SELECT *, format_type(oid, NULL) AS t FROM pg_catalog.pg_type) y \
    JOIN pg_catalog.pg_namespace n ON n.oid = y.typnamespace \
    WHERE NOT EXISTS (SELECT 1 FROM pg_catalog.pg_class c WHERE c.relkind <> 'c' AND c.reltype <> 0 \
    AND c.reltype IN (y.oid, y.typelem))";

const FUNCTIONS: &str = "SELECT {database}, p.proname AS function_name, \
    CASE p.prokind WHEN 'a' THEN 'aggregate' WHEN 'w' THEN 'window' ELSE 'scalar' END AS function_type, \
    true AS internal, p.oid AS function_oid FROM pg_catalog.pg_proc p \
    JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace";

const SETTINGS: &str = "SELECT name, setting AS value, short_desc AS description, \
    'VARCHAR' AS input_type, 'LOCAL' AS scope FROM pg_catalog.pg_settings";

const PREPARED: &str = "SELECT name, statement, parameter_types, result_types \
    FROM pg_catalog.pg_prepared_statements";

/// The columns of a table or a view; `{1}` is its name, a text.
const TABLE_INFO: &str = "SELECT column_index - 1 AS cid, column_name AS name, data_type AS type, \
    NOT is_nullable AS notnull, column_default AS dflt_value, \
    EXISTS (SELECT 1 FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_attribute a ON a.attrelid = k.conrelid \
    WHERE k.conrelid = table_oid AND k.contype = 'p' AND a.attname = column_name AND a.attnum = ANY (k.conkey)) \
    AS pk FROM duckdb_columns() WHERE table_oid = CAST({1} AS regclass) ORDER BY column_index";

/// What a sequence is like; `{1}` is its number or its name.
const SEQUENCE: &str = "SELECT seqstart AS start_value, seqmin AS minimum_value, seqmax AS maximum_value, \
    seqincrement AS increment, seqcycle AS cycle_option, seqcache AS cache_size, seqtypid AS data_type \
    FROM pg_catalog.pg_sequence WHERE seqrelid = CAST({1} AS regclass)";

/// The items of an array, each with its place from 1 on.
const EXPANDED: &str =
    "SELECT x, CAST(n AS INTEGER) AS n FROM unnest({1}) WITH ORDINALITY AS \"the items\" (x, n)";
