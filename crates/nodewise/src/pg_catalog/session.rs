//! What functions of the catalog tell: of the session, and of what has a number.

use ::types::{Charset, DataType, Element, SqlResult, Value, names, numeric};

use super::constraints;
use super::descriptions;
use super::indexes;
use super::oids;
use super::relations;
use super::shared::{schemas, unquoted, version};
use crate::Session;

/// The value of a function that the session tells; `None` of one that it does not know.
pub(crate) fn session_value(
    session: &Session,
    name: &str,
    arguments: &[Value],
) -> Option<SqlResult<(Value, DataType)>> {
    let text = |it: &str| (Value::Text(it.into()), DataType::Text);
    let named = |it: &str| (Value::Text(it.into()), DataType::Name);
    Some(Ok(match (name, arguments) {
        ("version", []) => text(&version()),
        ("current_schema", []) => {
            let path = session.search_path(&session.snapshot());
            path.creates_in().map_or((Value::Null, DataType::Name), named)
        }
        ("current_database" | "current_catalog", []) => named(&session.client.database),
        ("system_user", []) => {
            text(&session.name_of_role(super::roles::role_called(session, name)))
        }
        ("current_user" | "user" | "current_role" | "session_user", []) => {
            named(&session.name_of_role(super::roles::role_called(session, name)))
        }
        ("current_schemas", [Value::Boolean(implicit)]) => {
            let path = session.search_path(&session.snapshot());
            let mut all: Vec<&str> = path.schemas().iter().map(String::as_str).collect();
            match implicit {
                true if !all.contains(&super::CATALOG) => {
                    let at = all.iter().take_while(|it| it.starts_with(names::TEMPORARY)).count();
                    all.insert(at, super::CATALOG);
                }
                true => {}
                false => all.retain(|it| !it.starts_with(names::TEMPORARY)),
            }
            return Some(names_as_array(&all));
        }
        ("pg_listening_channels", []) => {
            let all = session.channels.heard();
            let all: Vec<&str> = all.iter().map(String::as_str).collect();
            let texts = DataType::Array(Element::Text);
            return Some(names_as_array(&all).map(|it| (it.0, texts)));
        }
        ("pg_indexes_size", [_]) => (Value::Integer(0), DataType::BigInt),
        ("pg_database_size" | "pg_tablespace_size", [_]) => {
            let tables = relations::sizes(session);
            let bytes = tables.iter().filter_map(|it| it.1.parse::<i64>().ok()).sum();
            (Value::Integer(bytes), DataType::BigInt)
        }
        ("pg_backend_pid", []) => (Value::Integer(session.number as i64), DataType::Integer),
        ("pg_is_in_recovery", []) => (Value::Boolean(false), DataType::Boolean),
        ("pg_my_temp_schema", []) => {
            let (snapshot, own) = (session.snapshot(), session.temporary_schema());
            let number = if snapshot.has_schema(&own) { oids::schema(&own) } else { 0 };
            (Value::Integer(number), DataType::BigInt)
        }
        ("current_setting", [Value::Text(name)]) => {
            return Some(session.setting(name).map(|it| text(&it)));
        }
        ("current_setting", [Value::Text(name), Value::Boolean(missing)]) => {
            match session.setting(name) {
                Ok(value) => text(&value),
                Err(_) if *missing => (Value::Null, DataType::Text),
                Err(error) => return Some(Err(error)),
            }
        }
        (name, arguments) if name.starts_with("has_") || name == "pg_has_role" => {
            return super::privileges::asked(session, name, arguments);
        }
        _ => return of_charset(session, name, arguments).map(Ok),
    }))
}

/// What is asked of character sets.
fn of_charset(session: &Session, name: &str, arguments: &[Value]) -> Option<(Value, DataType)> {
    let named = |it: &str| (Value::Text(it.into()), DataType::Name);
    Some(match (name, arguments) {
        ("pg_encoding_to_char", [Value::Integer(number)]) => {
            named(Charset::numbered(*number).map_or("", Charset::name))
        }
        // All databases have the same.
        ("pg_encoding_to_char", [_]) => named("UTF8"),
        ("getdatabaseencoding", []) => named("UTF8"),
        ("pg_client_encoding", []) => named(session.settings.client.charset().name()),
        ("pg_char_to_encoding", [Value::Text(name)]) => {
            let number = Charset::named(name).map_or(-1, Charset::number);
            (Value::Integer(number.into()), DataType::Integer)
        }
        _ => return None,
    })
}

/// Names as an array.
fn names_as_array(names: &[&str]) -> SqlResult<(Value, DataType)> {
    let quoted = |it: &&str| format!("\"{}\"", it.replace('\\', "\\\\").replace('"', "\\\""));
    let all: Vec<String> = names.iter().map(quoted).collect();
    let literal = Value::Text(format!("{{{}}}", all.join(",")).into());
    let held = numeric::cast(&literal, DataType::Text, DataType::Array(Element::Text))?;
    Ok((held, DataType::Array(Element::Name)))
}

/// Texts by number, and by a modifier where there is one: what a function tells of each number; `None` of one that it does not
/// know.
pub(crate) fn catalog_texts(
    session: &Session,
    function: &str,
) -> Option<Vec<(i64, Option<i64>, String)>> {
    let plain = |all: Vec<(i64, String)>| all.into_iter().map(|it| (it.0, None, it.1)).collect();
    Some(match function {
        "format_type" => relations::type_names(session),
        "pg_get_constraintdef" => plain(constraints::constraint_definitions(session, false)),
        "pg_get_constraintdef pretty" => plain(constraints::constraint_definitions(session, true)),
        "pg_get_viewdef" => plain(relations::view_definitions(session)),
        "pg_get_indexdef" => plain(indexes::index_definitions(session)),
        "pg_get_indexdef columns" => indexes::column_definitions(session),
        "regclass" => plain(relations::names(session)),
        "regclass names" => plain(relations::all_names(session)),
        "regproc" => plain(super::functions::names_of(session, false)),
        "regproc names" => plain(super::functions::known_names(session, false)),
        "regprocedure" => plain(super::functions::names_of(session, true)),
        "regprocedure names" => plain(super::functions::known_names(session, true)),
        "pg_function_is_visible" => plain(super::made_functions::hidden(session)),
        "pg_sequence_last_value" => plain(relations::last_values(session)),
        "pg_table_size" => plain(relations::sizes(session)),
        "pg_get_function_result" => plain(super::functions::results(session)),
        "pg_get_function_arguments" => plain(super::made_functions::arguments(session, true)),
        "pg_get_function_identity_arguments" => {
            plain(super::made_functions::arguments(session, false))
        }
        "pg_get_functiondef" => plain(super::functions::definitions(session)),
        "regnamespace" => schemas(session).into_iter().map(|it| (it.1, None, it.0)).collect(),
        "col_description" => {
            let of_columns = descriptions::described(session).into_iter();
            let of_columns = of_columns.filter(|it| it.class == "pg_class" && it.part > 0);
            of_columns.map(|it| (it.object, Some(it.part), it.text.to_string())).collect()
        }
        _ if function.starts_with("obj_description") => {
            let class = function["obj_description".len()..].trim();
            let all = descriptions::described(session).into_iter();
            let all = all.filter(|it| it.part == 0 && (class.is_empty() || it.class == class));
            all.map(|it| (it.object, None, it.text.to_string())).collect()
        }
        "pg_table_is_visible" => plain(relations::hidden(session)),
        "regrole" | "pg_get_userbyid" => super::roles::names(session),
        "regtype" => super::types::all_names(session),
        "regtype names" => plain(super::types::known_names(session)),
        other => return super::privileges::numbers(session, other),
    })
}

/// The number of a relation, or of a type, by its name.
pub(crate) fn relation_number(session: &Session, kind: &str, name: &str) -> Option<i64> {
    let name = name.trim();
    if kind == "regnamespace" {
        let wanted = unquoted(name);
        return schemas(session).into_iter().find(|it| it.0 == wanted).map(|it| it.1);
    }
    if matches!(kind, "regproc" | "regprocedure") {
        return super::functions::number_called(session, name);
    }
    if kind == "regrole" {
        let role = session.rights_snapshot().role(&unquoted(name))?;
        return Some(super::owners::oid(role.id));
    }
    if kind == "regtype" {
        return super::types::number_of(session, name);
    }
    let (schema, name) = binder::sequence_names::relation_in(name).ok()?;
    if let Some(own) = relations::number_of(session, schema.as_deref(), &name) {
        return Some(own);
    }
    let schema = schema.as_deref().unwrap_or(super::CATALOG);
    super::system_views::numbered_views().find(|it| it.1 == schema && it.2 == name).map(|it| it.0)
}
