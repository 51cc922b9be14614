//! Names of relations as SQL reads them back.

use binder::quoted_name as quoted;
use types::names;

/// The name of a relation as SQL reads it, with its schema unless that is `public`.
pub fn sql_name(full: &str) -> String {
    match names::split(full) {
        (schema, name) if schema == names::PUBLIC => quoted(&name),
        (schema, name) => format!("{}.{}", quoted(&schema), quoted(&name)),
    }
}

/// The name of a relation with its schema: it means the same wherever the statement looks for names.
pub fn sql_path(full: &str) -> String {
    match names::split(full) {
        (schema, name) if schema == names::PUBLIC => format!("public.{}", quoted(&name)),
        (schema, name) => format!("{}.{}", quoted(&schema), quoted(&name)),
    }
}
