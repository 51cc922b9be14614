//! The views `routines` and `parameters` of `information_schema`: the functions that users made.

use ::types::{SqlResult, names};
use arrow_array::RecordBatch;

use super::made_functions::{Made, Parameter, all};
use super::shared::{none, number};
use super::standard_shapes;
use super::standard_types::{catalog, said};
use crate::Session;
use crate::views::{Cell, ViewBuilder, columns_of};

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
    let columns = columns_of(standard_shapes::ROUTINES);
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
    let columns = columns_of(standard_shapes::PARAMETERS);
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
