//! The functions whose calls are rows, by their names.

use plan::Function;

/// The function of `information_schema` that tells the items of an array with their places, by its whole name: with one part it
/// is none. In FROM it is a query ([`crate::catalog_tables`]).
pub(super) const EXPAND_ARRAY: &str = "information_schema._pg_expandarray";

/// Whether a name is that of a function that makes rows.
pub(super) fn is_series(name: &str) -> bool {
    matches!(
        name,
        "generate_series"
            | "range"
            | "generate_subscripts"
            | "unnest"
            | "string_to_table"
            | "regexp_split_to_table"
            | "regexp_matches"
            | "pg_listening_channels"
            | EXPAND_ARRAY
    )
}

/// The arrays that a function makes rows of, with the names of its columns; a name of nothing is that of the function.
pub(super) fn columns_of(name: &str) -> Option<&'static [(Function, &'static str)]> {
    let rest = name.strip_prefix("jsonb_").or_else(|| name.strip_prefix("json_"))?;
    Some(match rest {
        "array_elements" => &[(Function::JsonElements, "value")],
        "array_elements_text" => &[(Function::JsonElementsText, "value")],
        "object_keys" => &[(Function::JsonKeys, "")],
        "path_query" | "path_query_tz" if name.starts_with("jsonb") => {
            &[(Function::JsonPathItems, "")]
        }
        "each" => &[(Function::JsonKeys, "key"), (Function::JsonValues, "value")],
        "each_text" => &[(Function::JsonKeys, "key"), (Function::JsonValuesText, "value")],
        _ => return None,
    })
}

/// Whether a name is that of a function that makes rows of JSON.
pub(super) fn makes_rows(name: &str) -> bool {
    columns_of(name).is_some()
}
