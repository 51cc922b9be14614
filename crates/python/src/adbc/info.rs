//! What the driver tells of itself and of the database.

use std::collections::HashSet;

use adbc_core::constants::ADBC_VERSION_1_1_0;
use adbc_core::error::{Error, Result};
use adbc_core::options::InfoCode;
use adbc_core::schemas::{GET_INFO_SCHEMA, GET_TABLE_TYPES_SCHEMA};
use arrow_array::{
    ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray, UInt32Array, UnionArray,
    new_empty_array,
};
use arrow_schema::{ArrowError, DataType as ArrowType};
use stdx::sync::Arc;

use super::rows::{Reader, whole};

/// What tables are called, in the order of their names.
const TABLE_TYPES: [&str; 4] = ["LOCAL TEMPORARY", "MATERIALIZED VIEW", "TABLE", "VIEW"];
/// The version of Arrow that rows are in.
const ARROW_VERSION: &str = "v59";

/// A fact, in the member of the union that its type has.
enum Fact {
    Text(&'static str),
    Flag(bool),
    Number(i64),
}

impl Fact {
    fn member(&self) -> i8 {
        match self {
            Self::Text(_) => 0,
            Self::Flag(_) => 1,
            Self::Number(_) => 2,
        }
    }
}

fn all() -> Vec<(InfoCode, Fact)> {
    let version = Fact::Text(env!("CARGO_PKG_VERSION"));
    vec![
        (InfoCode::VendorName, Fact::Text("Nodewise")),
        (InfoCode::VendorVersion, version),
        (InfoCode::VendorArrowVersion, Fact::Text(ARROW_VERSION)),
        (InfoCode::VendorSql, Fact::Flag(true)),
        (InfoCode::VendorSubstrait, Fact::Flag(false)),
        (InfoCode::DriverName, Fact::Text("ADBC Driver of Nodewise")),
        (InfoCode::DriverVersion, Fact::Text(env!("CARGO_PKG_VERSION"))),
        (InfoCode::DriverArrowVersion, Fact::Text(ARROW_VERSION)),
        (InfoCode::DriverAdbcVersion, Fact::Number(ADBC_VERSION_1_1_0.into())),
    ]
}

/// The facts of some codes; all where none are asked. A code that is not known has no row.
pub fn facts(codes: Option<&HashSet<InfoCode>>) -> Result<Reader> {
    let mut facts = all();
    facts.retain(|(code, _)| codes.is_none_or(|it| it.contains(code)));
    rows(&facts).map_err(Error::from)
}

fn rows(facts: &[(InfoCode, Fact)]) -> std::result::Result<Reader, ArrowError> {
    let (mut texts, mut flags, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
    let (mut members, mut places) = (Vec::new(), Vec::new());
    for (_, fact) in facts {
        members.push(fact.member());
        places.push(match fact {
            Fact::Text(it) => push(&mut texts, *it),
            Fact::Flag(it) => push(&mut flags, *it),
            Fact::Number(it) => push(&mut numbers, *it),
        });
    }
    let schema = GET_INFO_SCHEMA.clone();
    let ArrowType::Union(fields, _) = schema.field(1).data_type() else {
        return Err(ArrowError::SchemaError("facts are a union".to_owned()));
    };
    let told: [ArrayRef; 3] = [
        Arc::new(StringArray::from(texts)),
        Arc::new(BooleanArray::from(flags)),
        Arc::new(Int64Array::from(numbers)),
    ];
    let others = fields.iter().skip(told.len()).map(|(_, it)| new_empty_array(it.data_type()));
    let children = told.into_iter().chain(others).collect();
    let values =
        UnionArray::try_new(fields.clone(), members.into(), Some(places.into()), children)?;
    let codes = UInt32Array::from_iter_values(facts.iter().map(|(code, _)| u32::from(code)));
    let batch = RecordBatch::try_new(schema.clone(), vec![Arc::new(codes), Arc::new(values)])?;
    Ok(whole(vec![batch], schema))
}

/// Appends a value; its place.
fn push<T>(values: &mut Vec<T>, value: T) -> i32 {
    values.push(value);
    values.len() as i32 - 1
}

/// The kinds of tables.
pub fn table_types() -> Result<Reader> {
    let schema = GET_TABLE_TYPES_SCHEMA.clone();
    let names: ArrayRef = Arc::new(StringArray::from(TABLE_TYPES.to_vec()));
    let batch = RecordBatch::try_new(schema.clone(), vec![names])?;
    Ok(whole(vec![batch], schema))
}
