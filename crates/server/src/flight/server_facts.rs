//! What the server tells of itself: its names, what it can, and the types that it has.

use arrow_array::RecordBatch;
use arrow_flight::error::FlightError;
use arrow_flight::sql::metadata::{
    SqlInfoData, SqlInfoDataBuilder, XdbcTypeInfo, XdbcTypeInfoData, XdbcTypeInfoDataBuilder,
};
use arrow_flight::sql::{
    CommandGetSqlInfo, CommandGetXdbcTypeInfo, Nullable, Searchable, SqlInfo,
    SqlSupportedCaseSensitivity, SqlSupportedTransaction, XdbcDataType, XdbcDatetimeSubcode,
};
use arrow_schema::SchemaRef;
use stdx::sync::OnceLock;

/// The version of Arrow that rows are written in.
const ARROW_VERSION: &str = "59";
/// Names that are not quoted are in small letters.
const LOWER: i32 = SqlSupportedCaseSensitivity::SqlCaseSensitivityLowercase as i32;
const EXACT: i32 = SqlSupportedCaseSensitivity::SqlCaseSensitivityCaseInsensitive as i32;

fn all_info() -> &'static SqlInfoData {
    static INFO: OnceLock<SqlInfoData> = OnceLock::new();
    INFO.get_or_init(|| {
        let mut info = SqlInfoDataBuilder::new();
        info.append(SqlInfo::FlightSqlServerName, "Nodewise");
        info.append(SqlInfo::FlightSqlServerVersion, env!("CARGO_PKG_VERSION"));
        info.append(SqlInfo::FlightSqlServerArrowVersion, ARROW_VERSION);
        info.append(SqlInfo::FlightSqlServerReadOnly, false);
        info.append(SqlInfo::FlightSqlServerSql, true);
        info.append(SqlInfo::FlightSqlServerSubstrait, false);
        let transactions = SqlSupportedTransaction::Savepoint as i32;
        info.append(SqlInfo::FlightSqlServerTransaction, transactions);
        info.append(SqlInfo::FlightSqlServerCancel, true);
        info.append(SqlInfo::FlightSqlServerBulkIngestion, true);
        info.append(SqlInfo::FlightSqlServerIngestTransactionsSupported, true);
        info.append(SqlInfo::FlightSqlServerStatementTimeout, 0);
        info.append(SqlInfo::FlightSqlServerTransactionTimeout, 0);
        info.append(SqlInfo::SqlDdlCatalog, false);
        info.append(SqlInfo::SqlDdlSchema, true);
        info.append(SqlInfo::SqlDdlTable, true);
        info.append(SqlInfo::SqlIdentifierCase, LOWER);
        info.append(SqlInfo::SqlQuotedIdentifierCase, EXACT);
        info.append(SqlInfo::SqlIdentifierQuoteChar, "\"");
        info.append(SqlInfo::SqlAllTablesAreSelectable, true);
        info.append(SqlInfo::SqlTransactionsSupported, true);
        info.append(SqlInfo::SqlDataDefinitionsInTransactionsIgnored, false);
        info.append(SqlInfo::SqlSavepointsSupported, true);
        info.append(SqlInfo::SqlBatchUpdatesSupported, true);
        info.append(SqlInfo::SqlNamedParametersSupported, false);
        info.append(SqlInfo::SqlCorrelatedSubqueriesSupported, true);
        info.build().expect("invariant: what the server tells of itself fits its schema")
    })
}

fn all_types() -> &'static XdbcTypeInfoData {
    static TYPES: OnceLock<XdbcTypeInfoData> = OnceLock::new();
    TYPES.get_or_init(|| {
        let mut types = XdbcTypeInfoDataBuilder::new();
        for (name, code, size, subcode) in TYPES_OF_SQL {
            let quote = quote_of(code).map(str::to_owned);
            types.append(XdbcTypeInfo {
                type_name: name.to_owned(),
                data_type: code,
                column_size: size,
                literal_prefix: quote.clone(),
                literal_suffix: quote,
                nullable: Nullable::NullabilityNullable,
                case_sensitive: code == XdbcDataType::XdbcVarchar,
                searchable: Searchable::Full,
                unsigned_attribute: Some(false),
                local_type_name: Some(name.to_owned()),
                sql_data_type: if subcode.is_some() { XdbcDataType::XdbcDatetime } else { code },
                datetime_subcode: subcode,
                num_prec_radix: quote_of(code).is_none().then_some(10),
                ..Default::default()
            });
        }
        types.build().expect("invariant: the types of the server fit their schema")
    })
}

/// Types by name, with the code and the size that ODBC gives them.
const TYPES_OF_SQL: [(&str, XdbcDataType, Option<i32>, Option<XdbcDatetimeSubcode>); 13] = {
    use XdbcDataType as Code;
    use XdbcDatetimeSubcode as Sub;
    // ODBC's code 1 is that of dates as well.
    [
        ("boolean", Code::XdbcBit, Some(1), None),
        ("smallint", Code::XdbcSmallint, Some(5), None),
        ("integer", Code::XdbcInteger, Some(10), None),
        ("bigint", Code::XdbcBigint, Some(19), None),
        ("real", Code::XdbcReal, Some(7), None),
        ("double precision", Code::XdbcDouble, Some(15), None),
        ("numeric", Code::XdbcNumeric, Some(38), None),
        ("date", Code::XdbcDate, Some(10), Some(Sub::XdbcSubcodeYear)),
        ("time", Code::XdbcTime, Some(15), Some(Sub::XdbcSubcodeTime)),
        ("timestamp", Code::XdbcTimestamp, Some(26), Some(Sub::XdbcSubcodeTimestamp)),
        (
            "timestamp with time zone",
            Code::XdbcTimestamp,
            Some(32),
            Some(Sub::XdbcSubcodeTimestamp),
        ),
        ("text", Code::XdbcVarchar, None, None),
        ("bytea", Code::XdbcVarbinary, None, None),
    ]
};

/// What stands around a literal of a type.
fn quote_of(code: XdbcDataType) -> Option<&'static str> {
    use XdbcDataType as Code;
    let is_plain = matches!(
        code,
        Code::XdbcBit
            | Code::XdbcSmallint
            | Code::XdbcInteger
            | Code::XdbcBigint
            | Code::XdbcReal
            | Code::XdbcDouble
            | Code::XdbcNumeric
    );
    (!is_plain).then_some("'")
}

pub fn info_schema() -> SchemaRef {
    all_info().schema()
}

pub fn types_schema() -> SchemaRef {
    all_types().schema()
}

/// What was asked of the server's facts.
pub fn info(asked: CommandGetSqlInfo) -> Result<RecordBatch, FlightError> {
    asked.into_builder(all_info()).build()
}

/// The types of a code; all where none is asked.
pub fn types(asked: CommandGetXdbcTypeInfo) -> Result<RecordBatch, FlightError> {
    asked.into_builder(all_types()).build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_fit_what_clients_expect() {
        let all = info(CommandGetSqlInfo { info: Vec::new() }).unwrap();
        assert!(all.num_rows() > 20);
        let one = info(CommandGetSqlInfo { info: vec![SqlInfo::FlightSqlServerName as u32] });
        assert_eq!(one.unwrap().num_rows(), 1);
        assert_eq!(types(CommandGetXdbcTypeInfo { data_type: None }).unwrap().num_rows(), 13);
        let times = Some(XdbcDataType::XdbcTimestamp as i32);
        assert_eq!(types(CommandGetXdbcTypeInfo { data_type: times }).unwrap().num_rows(), 2);
    }
}
