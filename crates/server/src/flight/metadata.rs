//! What Flight SQL asks of a database beside its rows: schemas, tables, keys. It is asked of the catalog by SQL, as anybody could.

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_cast::cast;
use arrow_flight::error::FlightError;
use arrow_flight::sql::{
    Command, CommandGetCatalogs, CommandGetCrossReference, CommandGetDbSchemas,
    CommandGetTableTypes, CommandGetTables,
};
use arrow_schema::{ArrowError, DataType as ArrowType, Field, Schema, SchemaRef};
use nodewise::text::{Cells, quoted_name};
use nodewise::{Answer, Session, SqlError, SqlResult, Value};
use stdx::sync::Arc;
use tonic::Status;

use super::server_facts;
use super::statements::columns;

/// What tables are called, and as what PostgreSQL knows them.
const TABLE_TYPES: [&str; 4] = ["LOCAL TEMPORARY", "MATERIALIZED VIEW", "TABLE", "VIEW"];

const TABLES: &str = "SELECT n.nspname, c.relname, CASE c.relkind WHEN 'v' THEN 'VIEW' \
    WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE CASE c.relpersistence WHEN 't' THEN 'LOCAL TEMPORARY' ELSE 'TABLE' END END \
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
    WHERE c.relkind IN ('r', 'v', 'm') AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'nodewise') ORDER BY 1, 2";

const SCHEMAS: &str = "SELECT nspname FROM pg_catalog.pg_namespace ORDER BY 1";

const PRIMARY_KEYS: &str = "SELECT current_database(), n.nspname, c.relname, a.attname, \
    array_position(k.conkey, a.attnum), k.conname \
    FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_class c ON c.oid = k.conrelid \
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
    JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY(k.conkey) \
    WHERE k.contype = 'p' AND ($1::text IS NULL OR n.nspname = $1) AND c.relname = $2 ORDER BY 5";

/// Keys that refer to others, with both ends; what is chosen of them stands behind.
const REFERENCES: &str = "SELECT current_database(), pn.nspname, p.relname, pa.attname, \
    current_database(), n.nspname, c.relname, a.attname, array_position(k.conkey, a.attnum), \
    k.conname, pk.conname, position(k.confupdtype IN 'crnad') - 1, position(k.confdeltype IN 'crnad') - 1 \
    FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_class c ON c.oid = k.conrelid \
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
    JOIN pg_catalog.pg_class p ON p.oid = k.confrelid \
    JOIN pg_catalog.pg_namespace pn ON pn.oid = p.relnamespace \
    JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY(k.conkey) \
    JOIN pg_catalog.pg_attribute pa ON pa.attrelid = p.oid \
    AND array_position(k.confkey, pa.attnum) = array_position(k.conkey, a.attnum) \
    LEFT JOIN pg_catalog.pg_constraint pk ON pk.conrelid = p.oid AND pk.conindid = k.conindid \
    AND pk.contype IN ('p', 'u') WHERE k.contype = 'f'";

/// The columns of what a command asks.
pub fn schema(command: &Command) -> Result<SchemaRef, Status> {
    Ok(match command {
        Command::CommandGetCatalogs(it) => it.into_builder().schema(),
        Command::CommandGetDbSchemas(it) => it.clone().into_builder().schema(),
        Command::CommandGetTables(it) => it.clone().into_builder().schema(),
        Command::CommandGetTableTypes(it) => it.into_builder().schema(),
        Command::CommandGetPrimaryKeys(_) => primary_keys_schema(),
        Command::CommandGetImportedKeys(_)
        | Command::CommandGetExportedKeys(_)
        | Command::CommandGetCrossReference(_) => references_schema(),
        Command::CommandGetSqlInfo(_) => server_facts::info_schema(),
        Command::CommandGetXdbcTypeInfo(_) => server_facts::types_schema(),
        other => return Err(Status::unimplemented(format!("rows of {}", other.type_url()))),
    })
}

/// The rows of what a command asks.
pub fn rows(session: &mut Session, command: Command) -> SqlResult<RecordBatch> {
    match command {
        Command::CommandGetCatalogs(it) => catalogs(session, it),
        Command::CommandGetDbSchemas(it) => schemas(session, it),
        Command::CommandGetTables(it) => tables(session, it),
        Command::CommandGetTableTypes(it) => table_types(it),
        Command::CommandGetPrimaryKeys(it) => {
            let values = [text(it.db_schema), text(Some(it.table))];
            fitted(&ask(session, PRIMARY_KEYS, &values)?, primary_keys_schema())
        }
        Command::CommandGetImportedKeys(it) => {
            let chosen =
                "AND ($1::text IS NULL OR n.nspname = $1) AND c.relname = $2 ORDER BY 2, 3, 11, 9";
            references(session, chosen, &[text(it.db_schema), text(Some(it.table))])
        }
        Command::CommandGetExportedKeys(it) => {
            let chosen =
                "AND ($1::text IS NULL OR pn.nspname = $1) AND p.relname = $2 ORDER BY 6, 7, 10, 9";
            references(session, chosen, &[text(it.db_schema), text(Some(it.table))])
        }
        Command::CommandGetCrossReference(it) => cross(session, it),
        Command::CommandGetSqlInfo(it) => server_facts::info(it).map_err(|it| failed(&it)),
        Command::CommandGetXdbcTypeInfo(it) => server_facts::types(it).map_err(|it| failed(&it)),
        other => Err(SqlError::unsupported(format!("rows of {}", other.type_url()))),
    }
}

fn failed(error: &FlightError) -> SqlError {
    SqlError::internal(format!("what is known of the database: {error}"))
}

fn text(value: Option<String>) -> Value {
    value.map_or(Value::Null, |it| Value::Text(it.into()))
}

fn ask(session: &mut Session, sql: &str, values: &[Value]) -> SqlResult<Answer> {
    let prepared = session.prepare_typed(sql, &[])?;
    session.execute_prepared(&prepared, values)
}

/// The rows of an answer as texts; nothing of NULL.
fn texts(answer: &Answer) -> Vec<Vec<Option<String>>> {
    let mut rows = Vec::new();
    for batch in &answer.batches {
        let columns: Vec<Cells<'_>> = batch.columns().iter().map(Cells::new).collect();
        rows.extend(
            (0..batch.num_rows())
                .map(|row| columns.iter().map(|it| it.text(row)).collect::<Vec<_>>()),
        );
    }
    rows
}

/// The first columns of each row.
fn names<const N: usize>(answer: &Answer) -> Vec<[String; N]> {
    let row = |row: Vec<Option<String>>| {
        let mut row = row.into_iter().map(Option::unwrap_or_default);
        std::array::from_fn(|_| row.next().unwrap_or_default())
    };
    texts(answer).into_iter().map(row).collect()
}

fn database(session: &mut Session) -> SqlResult<String> {
    let found = names::<1>(&ask(session, "SELECT current_database()", &[])?);
    let name = found.into_iter().next().map(|[it]| it);
    name.ok_or_else(|| SqlError::internal("the database has no name"))
}

fn catalogs(session: &mut Session, asked: CommandGetCatalogs) -> SqlResult<RecordBatch> {
    let mut all = asked.into_builder();
    all.append(database(session)?);
    all.build().map_err(|it| failed(&it))
}

fn schemas(session: &mut Session, asked: CommandGetDbSchemas) -> SqlResult<RecordBatch> {
    let database = database(session)?;
    let mut all = asked.into_builder();
    names::<1>(&ask(session, SCHEMAS, &[])?).iter().for_each(|[it]| all.append(&database, it));
    all.build().map_err(|it| failed(&it))
}

fn tables(session: &mut Session, asked: CommandGetTables) -> SqlResult<RecordBatch> {
    let database = database(session)?;
    let with_columns = asked.include_schema;
    let mut all = asked.into_builder();
    for [schema, name, kind] in names::<3>(&ask(session, TABLES, &[])?) {
        let of = match with_columns {
            false => columns(None),
            true => {
                let query =
                    format!("SELECT * FROM {}.{}", quoted_name(&schema), quoted_name(&name));
                let prepared = session.prepare_typed(&query, &[])?;
                columns(session.describe(&prepared)?.as_ref())
            }
        };
        all.append(&database, schema, name, kind, &of).map_err(|it| failed(&it))?;
    }
    all.build().map_err(|it| failed(&it))
}

fn table_types(asked: CommandGetTableTypes) -> SqlResult<RecordBatch> {
    let mut all = asked.into_builder();
    TABLE_TYPES.iter().for_each(|it| all.append(it));
    all.build().map_err(|it| failed(&it))
}

fn cross(session: &mut Session, asked: CommandGetCrossReference) -> SqlResult<RecordBatch> {
    let chosen = "AND ($1::text IS NULL OR pn.nspname = $1) AND p.relname = $2 \
        AND ($3::text IS NULL OR n.nspname = $3) AND c.relname = $4 ORDER BY 6, 7, 10, 9";
    let values = [
        text(asked.pk_db_schema),
        text(Some(asked.pk_table)),
        text(asked.fk_db_schema),
        text(Some(asked.fk_table)),
    ];
    references(session, chosen, &values)
}

fn references(session: &mut Session, chosen: &str, values: &[Value]) -> SqlResult<RecordBatch> {
    fitted(&ask(session, &format!("{REFERENCES} {chosen}"), values)?, references_schema())
}

/// The rows of an answer with the columns that Flight SQL has for them.
fn fitted(answer: &Answer, schema: SchemaRef) -> SqlResult<RecordBatch> {
    let unfit = |error: ArrowError| failed(&error.into());
    let mut all = Vec::new();
    for batch in &answer.batches {
        let fields = batch.columns().iter().zip(schema.fields());
        let columns = fields.map(|(array, field)| cast(array, field.data_type()));
        let columns = columns.collect::<Result<Vec<_>, _>>().map_err(unfit)?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let fit = RecordBatch::try_new_with_options(schema.clone(), columns, &options);
        all.push(fit.map_err(unfit)?);
    }
    arrow_select::concat::concat_batches(&schema, &all).map_err(unfit)
}

fn field(name: &str) -> Field {
    Field::new(name, ArrowType::Utf8, true)
}

fn required(name: &str, of: ArrowType) -> Field {
    Field::new(name, of, false)
}

fn primary_keys_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        field("catalog_name"),
        field("db_schema_name"),
        required("table_name", ArrowType::Utf8),
        required("column_name", ArrowType::Utf8),
        required("key_sequence", ArrowType::Int32),
        field("key_name"),
    ]))
}

fn references_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        field("pk_catalog_name"),
        field("pk_db_schema_name"),
        required("pk_table_name", ArrowType::Utf8),
        required("pk_column_name", ArrowType::Utf8),
        field("fk_catalog_name"),
        field("fk_db_schema_name"),
        required("fk_table_name", ArrowType::Utf8),
        required("fk_column_name", ArrowType::Utf8),
        required("key_sequence", ArrowType::Int32),
        field("fk_key_name"),
        field("pk_key_name"),
        required("update_rule", ArrowType::UInt8),
        required("delete_rule", ArrowType::UInt8),
    ]))
}
