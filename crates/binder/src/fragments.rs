//! Pieces of SQL that were kept as text, as trees.

use sqlparser::parser::{Parser, ParserError};
use types::SqlResult;

use crate::dialect::Postgres;
use crate::syntax::{NESTED_MAX, syntax};

/// Reads a piece, such as an expression or a query.
pub(crate) fn read<T>(
    text: &str,
    parse: impl FnOnce(&mut Parser<'_>) -> Result<T, ParserError>,
) -> SqlResult<T> {
    let dialect = Postgres::of(text.len());
    let parser = Parser::new(&dialect).with_recursion_limit(NESTED_MAX);
    parser.try_with_sql(text).and_then(|mut it| parse(&mut it)).map_err(|it| syntax(&it))
}
