//! DataFusion's errors as ours: a SQLSTATE, a sentence, a suggestion.

use std::collections::HashSet;

use datafusion_common::{DataFusionError, SchemaError};
use types::{CatalogView, SqlError, SqlState};

use super::catalog::{Library, NO_TABLE};

/// The innermost text of an error, without the words that DataFusion puts around it.
pub fn root_text(error: &DataFusionError) -> String {
    match error {
        DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => {
            root_text(inner)
        }
        DataFusionError::Shared(inner) => root_text(inner),
        DataFusionError::Collection(all) => all.first().map(root_text).unwrap_or_default(),
        DataFusionError::Plan(text)
        | DataFusionError::NotImplemented(text)
        | DataFusionError::Execution(text)
        | DataFusionError::Internal(text)
        | DataFusionError::Configuration(text) => first_line(text),
        DataFusionError::ArrowError(inner, _) => first_line(&inner.to_string()),
        other => first_line(&other.to_string()),
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().trim_end_matches('.').to_owned()
}

/// The candidate nearest to a misspelt name, if one is near.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    let limit = (name.chars().count() / 3).max(1) + 1;
    candidates
        .map(|it| (edit_distance(&name, &it.to_lowercase()), it))
        .filter(|it| it.0 <= limit)
        .min()
        .map(|it| it.1)
}

/// Insertions, deletions, replacements and swaps of neighbours that turn one text into the other.
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: [Vec<usize>; 3] = [vec![], vec![], (0..=b.len()).collect()];
    for i in 1..=a.len() {
        rows.rotate_left(1);
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (rows[1][j] + 1).min(row[j - 1] + 1).min(rows[1][j - 1] + change);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[0][j - 2] + 1);
            }
            row.push(best);
        }
        rows[2] = row;
    }
    rows[2][b.len()]
}

/// Turns a planning error into ours.
pub fn convert(error: DataFusionError, catalog: &dyn CatalogView, library: &Library) -> SqlError {
    match error {
        DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => {
            convert(*inner, catalog, library)
        }
        DataFusionError::Collection(all) => match all.into_iter().next() {
            Some(first) => convert(first, catalog, library),
            None => SqlError::internal("planning failed without saying why"),
        },
        DataFusionError::SchemaError(inner, _) => schema_error(&inner),
        DataFusionError::NotImplemented(text) => {
            SqlError::unsupported(format!("not supported: {}", first_line(&text)))
        }
        DataFusionError::Plan(text) => plan_error(&text, catalog, library),
        DataFusionError::Internal(text) => SqlError::internal(first_line(&text)),
        other => constant_error(root_text(&other)),
    }
}

/// The error of a column of a relation that the query does not read, under any of the names that it gives.
pub fn missing_relation(error: &DataFusionError, named: &HashSet<String>) -> Option<SqlError> {
    let field = match error {
        DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => {
            return missing_relation(inner, named);
        }
        DataFusionError::Collection(all) => return missing_relation(all.first()?, named),
        DataFusionError::SchemaError(inner, _) => match &**inner {
            SchemaError::FieldNotFound { field, .. } => field,
            _ => return None,
        },
        _ => return None,
    };
    let relation = field.relation.as_ref()?.table();
    if named.contains(&relation.to_lowercase()) {
        return None;
    }
    let message = format!("missing FROM-clause entry for table \"{relation}\"");
    let error = SqlError::new(SqlState::UNDEFINED_TABLE, message);
    // Of several names that are as near, always the same.
    let mut names: Vec<&str> = named.iter().map(String::as_str).collect();
    names.sort_unstable();
    Some(match nearest(relation, names.into_iter()) {
        Some(near) => error.with_hint(format!("did you mean \"{near}\"?")),
        None => error,
    })
}

/// Names of the library's types in a text as SQL's.
fn sql_types(text: &str) -> String {
    let name = |word: &str| match word {
        "Int8" | "Int16" | "UInt8" => Some("smallint"),
        "Int32" | "UInt16" => Some("integer"),
        "Int64" | "UInt32" | "UInt64" => Some("bigint"),
        "Float16" | "Float32" => Some("real"),
        "Float64" => Some("double precision"),
        "Decimal32" | "Decimal64" | "Decimal128" | "Decimal256" => Some("numeric"),
        "Utf8" | "LargeUtf8" | "Utf8View" => Some("text"),
        "Boolean" => Some("boolean"),
        "Date32" | "Date64" => Some("date"),
        "Time32" | "Time64" => Some("time"),
        "Timestamp" => Some("timestamp"),
        "Interval" | "Duration" => Some("interval"),
        "Null" => Some("unknown"),
        _ => None,
    };
    // The unit of a time means nothing to SQL, unlike the digits of a number.
    let has_unit =
        |word: &str| matches!(word, "Time32" | "Time64" | "Timestamp" | "Interval" | "Duration");
    let (mut out, mut rest) = (String::new(), text);
    while let Some(first) = rest.chars().next() {
        let length = rest.find(|it: char| !it.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let (word, after) = rest.split_at(length.max(first.len_utf8()));
        out.push_str(name(word).unwrap_or(word));
        rest = match after.strip_prefix('(').filter(|_| has_unit(word)) {
            Some(unit) => unit.split_once(')').map_or("", |it| it.1),
            None => after,
        };
    }
    out
}

/// What folding constants failed with, told by its words: the library has no codes.
fn constant_error(text: String) -> SqlError {
    let text =
        text.trim_start_matches("Cast error: ").trim_start_matches("Invalid argument error: ");
    let quoted = || text.split('\'').nth(1).unwrap_or_default();
    let target = text.rsplit("value of ").next().and_then(|it| it.split(' ').next()).unwrap_or("");
    if text.starts_with("Cannot cast string") && target.starts_with("Date") {
        let message = format!("\"{}\" is not a date", quoted());
        return SqlError::new(SqlState::DATETIME_OVERFLOW, message)
            .with_hint("dates are written YYYY-MM-DD and must exist in the calendar");
    }
    if text.starts_with("Cannot cast string") || text.starts_with("Error parsing timestamp") {
        let message = match quoted() {
            "" => text.to_owned(),
            value => format!("\"{value}\" does not spell a value of the wanted type"),
        };
        return SqlError::new(SqlState::INVALID_TEXT, message);
    }
    if text.starts_with("Can't cast value") || text.contains("too large to store in a Decimal") {
        return SqlError::new(SqlState::NUMERIC_OUT_OF_RANGE, format!("out of range: {text}"));
    }
    if text.contains("Overflow happened") || text.contains("overflow") {
        return SqlError::new(SqlState::NUMERIC_OUT_OF_RANGE, format!("out of range: {text}"));
    }
    if text.contains("Divide by zero") {
        return SqlError::new(SqlState::DIVISION_BY_ZERO, "division by zero");
    }
    SqlError::new(SqlState::DATATYPE_MISMATCH, sql_types(text))
}

fn schema_error(error: &SchemaError) -> SqlError {
    match error {
        SchemaError::AmbiguousReference { field } => SqlError::new(
            SqlState::AMBIGUOUS_COLUMN,
            format!("column \"{}\" could mean several columns", field.name),
        )
        .with_hint(format!("write the table before it: \"table.{}\"", field.name)),
        SchemaError::DuplicateQualifiedField { name, .. }
        | SchemaError::DuplicateUnqualifiedField { name } => SqlError::new(
            SqlState::DUPLICATE_COLUMN,
            format!("column \"{name}\" appears twice in one relation"),
        )
        .with_hint("give one of them another name with AS"),
        SchemaError::FieldNotFound { field, valid_fields } => {
            let error = SqlError::new(
                SqlState::UNDEFINED_COLUMN,
                match &field.relation {
                    Some(table) => format!("column \"{table}.{}\" does not exist", field.name),
                    None => format!("column \"{}\" does not exist", field.name),
                },
            );
            match nearest(&field.name, valid_fields.iter().map(|it| it.name.as_str())) {
                Some(name) => error.with_hint(format!("did you mean \"{name}\"?")),
                None => error,
            }
        }
    }
}

fn plan_error(text: &str, catalog: &dyn CatalogView, library: &Library) -> SqlError {
    let text = first_line(text);
    if let Some(name) = text.strip_prefix(NO_TABLE) {
        let name = name.trim_matches('"');
        let names = catalog.table_names();
        let error =
            SqlError::new(SqlState::UNDEFINED_TABLE, format!("table \"{name}\" does not exist"));
        return match nearest(name, names.iter().map(String::as_str)) {
            Some(near) => error.with_hint(format!("did you mean \"{near}\"?")),
            None => error.with_hint("CREATE TABLE name AS SELECT * FROM 'file.parquet' makes one"),
        };
    }
    if let Some(name) = text.strip_prefix("Invalid function '").and_then(|it| it.split('\'').next())
    {
        let error =
            SqlError::new(SqlState::UNDEFINED_FUNCTION, format!("function {name} does not exist"));
        return match nearest(name, library.function_names()) {
            Some(near) => error.with_hint(format!("did you mean \"{near}\"?")),
            None => error,
        };
    }
    if text.contains("must be in GROUP BY")
        || text.contains("must appear in the GROUP BY")
        || text.contains("could not be resolved from available columns")
    {
        let column = text.split('"').nth(1).unwrap_or("of the select list").to_owned();
        return SqlError::new(
            SqlState::GROUPING_ERROR,
            format!("column \"{column}\" must be in GROUP BY or inside an aggregate function"),
        );
    }
    if text.contains("candidate functions")
        || text.contains("No function matches")
        || text.contains("coerce arguments")
        || text.contains("does not support zero arguments")
        || text.contains("expects")
    {
        return SqlError::new(SqlState::UNDEFINED_FUNCTION, sql_types(&text))
            .with_hint("cast the arguments to types that the function takes");
    }
    if text.starts_with("Aggregate functions are not allowed in the WHERE") {
        let message = "an aggregate function cannot stand in WHERE";
        return SqlError::new(SqlState::GROUPING_ERROR, message).with_hint("use HAVING");
    }
    if text.starts_with("Cannot coerce arithmetic expression") {
        let types = text.trim_start_matches("Cannot coerce arithmetic expression ");
        let types = types.trim_end_matches(" to valid types");
        return SqlError::new(
            SqlState::UNDEFINED_FUNCTION,
            format!("operator does not exist: {}", sql_types(types)),
        )
        .with_hint("cast an operand");
    }
    if text.starts_with("Projections require unique expression names") {
        let message = "two columns of one SELECT have the same name";
        return SqlError::new(SqlState::DUPLICATE_COLUMN, message)
            .with_hint("give one of them another name with AS");
    }
    if text.starts_with("LIMIT must be") || text.starts_with("OFFSET must be") {
        return SqlError::new(SqlState("2201W"), text);
    }
    if text.contains("Correlated") || text.contains("correlated") {
        return SqlError::unsupported(format!("this correlated subquery is not supported: {text}"))
            .with_hint("rewrite it as a join");
    }
    SqlError::new(SqlState::DATATYPE_MISMATCH, sql_types(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_called_as_sql_calls_them() {
        for (library, sql) in [
            ("Int64 + Utf8", "bigint + text"),
            ("Timestamp(Microsecond, None) * Date32", "timestamp * date"),
            ("Decimal128(15, 2) - Boolean", "numeric(15, 2) - boolean"),
            ("Interval(MonthDayNano)", "interval"),
            ("Timestamp(", "timestamp"),
            ("My_Int64x \u{e4}Utf8", "My_Int64x \u{e4}text"),
            ("", ""),
        ] {
            assert_eq!(sql_types(library), sql);
        }
    }

    #[test]
    fn the_nearest_name_is_found() {
        let names = ["l_quantity", "l_orderkey", "l_partkey"];
        let find = |name| nearest(name, names.iter().copied());
        assert_eq!(find("l_quantty"), Some("l_quantity"));
        assert_eq!(find("L_QUANTIYT"), Some("l_quantity"));
        assert_eq!(find("partkey"), Some("l_partkey"));
        assert_eq!(find("zzz"), None);
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("ab", "ba"), 1);
    }
}
