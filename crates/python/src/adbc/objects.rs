//! Catalogs, schemas, tables, columns and constraints, each in the list of what it belongs to.

use adbc_core::options::ObjectDepth;
use adbc_core::schemas::{
    CONSTRAINT_SCHEMA, GET_OBJECTS_SCHEMA, OBJECTS_DB_SCHEMA_SCHEMA, TABLE_SCHEMA,
};
use arrow_array::{ArrayRef, RecordBatch, new_null_array};
use arrow_schema::{ArrowError, DataType as ArrowType};
use nodewise::{Session, SqlError, SqlResult, Value};

use super::catalog::{CATALOG, COLUMNS, CONSTRAINTS, KEYS, REFERENCES, SCHEMAS, TABLES};
use super::client::{ask, whole};
use super::nested::{Children, nest, numbers};
use super::rows::{self, Reader};

/// What is asked for: how deep, and patterns of names.
pub struct Asked<'a> {
    /// What is the innermost.
    pub depth: ObjectDepth,
    /// The pattern of the database.
    pub catalog: Option<&'a str>,
    /// The pattern of schemas.
    pub schema: Option<&'a str>,
    /// The pattern of tables.
    pub table: Option<&'a str>,
    /// Kinds of tables, between commas.
    pub table_types: Option<String>,
    /// The pattern of columns.
    pub column: Option<&'a str>,
}

/// The number of the one catalog, for those who belong to it.
const DATABASE: i64 = 0;

/// The objects of a database.
pub fn objects(session: &mut Session, asked: &Asked<'_>) -> SqlResult<Reader> {
    let catalogs = rows_of(session, CATALOG, &[asked.catalog])?;
    let parents = vec![DATABASE; catalogs.num_rows()];
    let schema = GET_OBJECTS_SCHEMA.clone();
    let list = schema.field(1).data_type();
    let schemas = match asked.depth {
        ObjectDepth::Catalogs => new_null_array(list, parents.len()),
        _ => {
            let schemas = schemas(session, asked)?;
            nest(list, &parents, &schemas, false).map_err(malformed)?
        }
    };
    let columns = vec![catalogs.column(0).clone(), schemas];
    let batch = RecordBatch::try_new(schema.clone(), columns).map_err(malformed)?;
    Ok(rows::whole(vec![batch], schema))
}

fn schemas(session: &mut Session, asked: &Asked<'_>) -> SqlResult<Children> {
    let found = rows_of(session, SCHEMAS, &[asked.schema])?;
    let parents = numbers(found.column(0));
    let list = list_of(&OBJECTS_DB_SCHEMA_SCHEMA, 1)?;
    let tables = match asked.depth {
        ObjectDepth::Schemas => new_null_array(list, parents.len()),
        _ => {
            let tables = tables(session, asked)?;
            nest(list, &parents, &tables, false).map_err(malformed)?
        }
    };
    let of = vec![DATABASE; parents.len()];
    Ok(Children { of, columns: vec![found.column(1).clone(), tables] })
}

fn tables(session: &mut Session, asked: &Asked<'_>) -> SqlResult<Children> {
    let filters = [asked.schema, asked.table, asked.table_types.as_deref()];
    let found = rows_of(session, TABLES, &filters)?;
    let parents = numbers(found.column(1));
    let (columns, constraints) = (list_of(&TABLE_SCHEMA, 2)?, list_of(&TABLE_SCHEMA, 3)?);
    let (columns, constraints) = match asked.depth {
        ObjectDepth::Tables => {
            (new_null_array(columns, parents.len()), new_null_array(constraints, parents.len()))
        }
        _ => {
            let filters = [asked.schema, asked.table, asked.column];
            let found = Children::of(&rows_of(session, COLUMNS, &filters)?);
            let columns = nest(columns, &parents, &found, false).map_err(malformed)?;
            let found = self::constraints(session)?;
            (columns, nest(constraints, &parents, &found, false).map_err(malformed)?)
        }
    };
    let columns = vec![found.column(2).clone(), found.column(3).clone(), columns, constraints];
    Ok(Children { of: numbers(found.column(0)), columns })
}

fn constraints(session: &mut Session) -> SqlResult<Children> {
    let found = rows_of(session, CONSTRAINTS, &[])?;
    let parents = numbers(found.column(1));
    let mut lists = |place, sql, none_is_null| -> SqlResult<ArrayRef> {
        let children = Children::of(&rows_of(session, sql, &[])?);
        let list = list_of(&CONSTRAINT_SCHEMA, place)?;
        nest(list, &parents, &children, none_is_null).map_err(malformed)
    };
    let (keys, references) = (lists(2, KEYS, false)?, lists(3, REFERENCES, true)?);
    let columns = vec![found.column(2).clone(), found.column(3).clone(), keys, references];
    Ok(Children { of: numbers(found.column(0)), columns })
}

/// The rows of a query with patterns for its parameters.
fn rows_of(session: &mut Session, sql: &str, filters: &[Option<&str>]) -> SqlResult<RecordBatch> {
    let value = |it: &Option<&str>| it.map_or(Value::Null, |it| Value::Text(it.into()));
    let values: Vec<Value> = filters.iter().map(value).collect();
    whole(&ask(session, sql, &values)?)
}

/// The type of a field of a struct.
fn list_of(of: &ArrowType, place: usize) -> SqlResult<&ArrowType> {
    match of {
        ArrowType::Struct(fields) => Ok(fields[place].data_type()),
        other => Err(SqlError::internal(format!("{other} has no fields"))),
    }
}

fn malformed(error: ArrowError) -> SqlError {
    SqlError::internal(format!("objects of the database: {error}"))
}
