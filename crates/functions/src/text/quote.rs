//! Texts and names as SQL spells them, and digests.

use std::borrow::Cow;

use arrow_array::{Array, ArrayRef};
use plan::Function;
use types::SqlResult;

use crate::call::Call;
use crate::texts::Texts;

/// A text between single quotes, as an escape string where it has a backslash.
pub(super) fn literal(text: &str) -> String {
    let quoted = text.replace('\'', "''");
    match quoted.contains('\\') {
        true => format!("E'{}'", quoted.replace('\\', "\\\\")),
        false => format!("'{quoted}'"),
    }
}

/// Words that cannot be names without quotes, sorted.
const RESERVED: [&str; 99] = [
    "all",
    "analyse",
    "analyze",
    "and",
    "any",
    "array",
    "as",
    "asc",
    "asymmetric",
    "authorization",
    "between",
    "bigint",
    "binary",
    "bit",
    "boolean",
    "both",
    "case",
    "cast",
    "char",
    "character",
    "check",
    "coalesce",
    "collate",
    "collation",
    "column",
    "concurrently",
    "constraint",
    "create",
    "cross",
    "current_catalog",
    "current_date",
    "current_role",
    "current_schema",
    "current_time",
    "current_timestamp",
    "current_user",
    "dec",
    "decimal",
    "default",
    "deferrable",
    "desc",
    "distinct",
    "do",
    "else",
    "end",
    "except",
    "exists",
    "extract",
    "false",
    "fetch",
    "float",
    "for",
    "foreign",
    "freeze",
    "from",
    "full",
    "grant",
    "greatest",
    "group",
    "grouping",
    "having",
    "ilike",
    "in",
    "initially",
    "inner",
    "inout",
    "int",
    "integer",
    "intersect",
    "interval",
    "into",
    "is",
    "isnull",
    "join",
    "lateral",
    "leading",
    "least",
    "left",
    "like",
    "limit",
    "localtime",
    "localtimestamp",
    "natural",
    "nchar",
    "none",
    "normalize",
    "not",
    "notnull",
    "null",
    "nullif",
    "numeric",
    "offset",
    "on",
    "only",
    "or",
    "order",
    "out",
    "outer",
    "overlaps",
];

/// The rest of them.
const RESERVED_TOO: [&str; 57] = [
    "overlay",
    "placing",
    "position",
    "precision",
    "primary",
    "real",
    "references",
    "returning",
    "right",
    "row",
    "select",
    "session_user",
    "setof",
    "similar",
    "smallint",
    "some",
    "substring",
    "symmetric",
    "system_user",
    "table",
    "tablesample",
    "then",
    "time",
    "timestamp",
    "to",
    "trailing",
    "treat",
    "trim",
    "true",
    "union",
    "unique",
    "user",
    "using",
    "values",
    "varchar",
    "variadic",
    "verbose",
    "when",
    "where",
    "window",
    "with",
    "xmlattributes",
    "xmlconcat",
    "xmlelement",
    "xmlexists",
    "xmlforest",
    "xmlnamespaces",
    "xmlparse",
    "xmlpi",
    "xmlroot",
    "xmlserialize",
    "xmltable",
    "merge_action",
    "json",
    "json_array",
    "json_object",
    "json_value",
];

/// A name, between double quotes where it must be.
pub(super) fn identifier(name: &str) -> Cow<'_, str> {
    let starts = |it: char| it.is_ascii_lowercase() || it == '_';
    let plain = name.starts_with(starts)
        && name.chars().all(|it| starts(it) || it.is_ascii_digit())
        && !RESERVED.contains(&name)
        && !RESERVED_TOO.contains(&name);
    match plain {
        true => Cow::Borrowed(name),
        false => Cow::Owned(format!("\"{}\"", name.replace('"', "\"\""))),
    }
}

/// quote_ident, quote_literal and quote_nullable.
pub(crate) fn quote(call: &Call<'_>) -> SqlResult<ArrayRef> {
    if call.function == Function::QuoteNullable {
        let null = call.argument(0)?.data_type() == &arrow_schema::DataType::Null;
        let texts = if null { None } else { Some(call.texts(0)?) };
        let mut out = Texts::with_capacity(call.rows);
        for row in 0..call.rows {
            match texts.filter(|it| it.is_valid(row)) {
                Some(texts) => out.push(&literal(texts.value(row)))?,
                None => out.push("NULL")?,
            }
            out.end();
        }
        return Ok(out.finish());
    }
    let texts = call.texts(0)?;
    call.map_texts(|row, out| match call.function {
        Function::QuoteIdent => out.push(&identifier(texts.value(row))),
        _ => out.push(&literal(texts.value(row))),
    })
}
