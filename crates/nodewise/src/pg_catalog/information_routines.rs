//! The views `routines` and `parameters` of `information_schema`: the functions that users made.

use ::types::{SqlResult, names};
use arrow_array::RecordBatch;

use super::made_functions::{Made, Parameter, all};
use super::shared::{none, number};
use super::standard_types::{catalog, said};
use super::system_views::columns_of;
use crate::Session;
use crate::views::{Cell, ViewBuilder};

/// The columns of `routines`, each with the letter of its type, which are those of PostgreSQL.
const ROUTINES: &str = "specific_catalog:d specific_schema:d specific_name:d routine_catalog:d routine_schema:d routine_name:d routine_type:t module_catalog:d module_schema:d module_name:d udt_catalog:d udt_schema:d udt_name:d data_type:t character_maximum_length:4 character_octet_length:4 character_set_catalog:d character_set_schema:d character_set_name:d collation_catalog:d collation_schema:d collation_name:d numeric_precision:4 numeric_precision_radix:4 numeric_scale:4 datetime_precision:4 interval_type:t interval_precision:4 type_udt_catalog:d type_udt_schema:d type_udt_name:d scope_catalog:d scope_schema:d scope_name:d maximum_cardinality:4 dtd_identifier:d routine_body:t routine_definition:t external_name:t external_language:t parameter_style:t is_deterministic:t sql_data_access:t is_null_call:t sql_path:t schema_level_routine:t max_dynamic_result_sets:4 is_user_defined_cast:t is_implicitly_invocable:t security_type:t to_sql_specific_catalog:d to_sql_specific_schema:d to_sql_specific_name:d as_locator:t created:m last_altered:m new_savepoint_level:t is_udt_dependent:t result_cast_from_data_type:t result_cast_as_locator:t result_cast_char_max_length:4 result_cast_char_octet_length:4 result_cast_char_set_catalog:d result_cast_char_set_schema:d result_cast_char_set_name:d result_cast_collation_catalog:d result_cast_collation_schema:d result_cast_collation_name:d result_cast_numeric_precision:4 result_cast_numeric_precision_radix:4 result_cast_numeric_scale:4 result_cast_datetime_precision:4 result_cast_interval_type:t result_cast_interval_precision:4 result_cast_type_udt_catalog:d result_cast_type_udt_schema:d result_cast_type_udt_name:d result_cast_scope_catalog:d result_cast_scope_schema:d result_cast_scope_name:d result_cast_maximum_cardinality:4 result_cast_dtd_identifier:d";

/// The same of `parameters`.
const PARAMETERS: &str = "specific_catalog:d specific_schema:d specific_name:d ordinal_position:4 parameter_mode:t is_result:t as_locator:t parameter_name:d data_type:t character_maximum_length:4 character_octet_length:4 character_set_catalog:d character_set_schema:d character_set_name:d collation_catalog:d collation_schema:d collation_name:d numeric_precision:4 numeric_precision_radix:4 numeric_scale:4 datetime_precision:4 interval_type:t interval_precision:4 udt_catalog:d udt_schema:d udt_name:d scope_catalog:d scope_schema:d scope_name:d maximum_cardinality:4 dtd_identifier:d parameter_default:t";

/// A row of some columns: what is said of these by name, and nothing of the others.
fn row(view: &mut ViewBuilder, columns: &[(&str, char)], said: Vec<(&str, Cell)>) {
    let mut said = said;
    let cells =
        columns.iter().map(|(name, letter)| match said.iter().position(|it| it.0 == *name) {
            Some(place) => said.swap_remove(place).1,
            None if matches!(letter, '4') => Cell::Integer(None),
            None if matches!(letter, 'm') => Cell::Moment(None),
            None => none(),
        });
    view.row(cells);
}

/// What names a function uniquely in its schema.
fn specific_name(it: &Made) -> String {
    format!("{}_{}", it.name, it.oid)
}

pub(super) fn routines(session: &Session) -> SqlResult<RecordBatch> {
    let columns = columns_of(ROUTINES);
    let mut view = ViewBuilder::new(&columns);
    for it in all(session) {
        let schema = names::schema_of(&it.full);
        let (udt_schema, udt_name) = it.result_type.udt.clone();
        let own = vec![
            ("specific_catalog", catalog(session)),
            ("specific_schema", schema.as_str().into()),
            ("specific_name", specific_name(&it).into()),
            ("routine_catalog", catalog(session)),
            ("routine_schema", schema.into()),
            ("routine_name", it.name.into()),
            ("routine_type", "FUNCTION".into()),
            ("data_type", it.result_type.standard.into()),
            ("type_udt_catalog", catalog(session)),
            ("type_udt_schema", udt_schema.into()),
            ("type_udt_name", udt_name.into()),
            ("dtd_identifier", "0".into()),
            ("routine_body", "SQL".into()),
            ("routine_definition", it.body.into()),
            ("external_language", "SQL".into()),
            ("parameter_style", "GENERAL".into()),
            ("is_deterministic", said(false)),
            ("sql_data_access", "MODIFIES".into()),
            ("is_null_call", said(it.is_strict)),
            ("schema_level_routine", said(true)),
            ("max_dynamic_result_sets", number(0)),
            ("security_type", "INVOKER".into()),
            ("as_locator", said(false)),
            ("is_udt_dependent", said(false)),
        ];
        row(&mut view, &columns, own);
    }
    view.finish()
}

pub(super) fn parameters(session: &Session) -> SqlResult<RecordBatch> {
    let columns = columns_of(PARAMETERS);
    let mut view = ViewBuilder::new(&columns);
    for it in all(session) {
        let inner = it.parameters.iter().map(|it| ("IN", it));
        let both = inner.chain(it.columns.iter().map(|it| ("OUT", it)));
        for (place, (mode, parameter)) in (1_i64..).zip(both) {
            let Parameter { name, of, default } = parameter;
            let name = Some(name.clone()).filter(|it| !it.is_empty());
            let (udt_schema, udt_name) = of.udt.clone();
            let own = vec![
                ("specific_catalog", catalog(session)),
                ("specific_schema", names::schema_of(&it.full).into()),
                ("specific_name", specific_name(&it).into()),
                ("ordinal_position", number(place)),
                ("parameter_mode", mode.into()),
                ("is_result", said(false)),
                ("as_locator", said(false)),
                ("parameter_name", name.into()),
                ("data_type", of.standard.as_str().into()),
                ("udt_catalog", catalog(session)),
                ("udt_schema", udt_schema.into()),
                ("udt_name", udt_name.into()),
                ("dtd_identifier", place.to_string().into()),
                ("parameter_default", default.clone().into()),
            ];
            row(&mut view, &columns, own);
        }
    }
    view.finish()
}
