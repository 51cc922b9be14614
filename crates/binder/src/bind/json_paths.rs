//! Paths of JSON: DuckDB's functions, which take paths and read texts as JSON, and those of SQL/JSON that go by the clocks of the
//! session.

use plan::{Expr, Function};
use sqlparser::ast;
use types::{DataType, SqlResult, Value};

use super::Binder;
use super::coercion::fold_cast;
use super::errors::at;
use super::named_arguments::default_of;

impl<'a> Binder<'a> {
    /// A call of such a function; `None` of any other name.
    pub(super) fn json_by_path(
        &mut self,
        name: &str,
        bound: &[Expr],
        whole: &'a ast::Expr,
    ) -> Option<SqlResult<Expr>> {
        let (function, of_json): (_, &[usize]) = match (name, bound.len()) {
            ("json_extract", 2) => (Function::JsonExtract, &[0]),
            ("json_extract_string", 2) => (Function::JsonExtractString, &[0]),
            ("json_type", 1 | 2) => (Function::JsonKind, &[0]),
            ("json_keys", 1 | 2) => (Function::JsonKeysAt, &[0]),
            ("json_array_length", 2) => (Function::JsonLengthAt, &[0]),
            ("json_set", 3) => (Function::JsonPut, &[0, 2]),
            ("json_insert", 3) => (Function::JsonPutNew, &[0, 2]),
            ("json_replace", 3) => (Function::JsonPutOld, &[0, 2]),
            ("json_remove", 2) => (Function::JsonRemove, &[0]),
            ("json_merge_patch", 2) => (Function::JsonMergePatch, &[0, 1]),
            ("json_deep_merge", 2) => (Function::JsonDeepMerge, &[0, 1]),
            ("json_merge_patch_diff", 2) => (Function::JsonPatchBetween, &[0, 1]),
            ("json_contains", 2) => (Function::JsonHolds, &[0, 1]),
            ("json_normalize", 1) => (Function::JsonNormal, &[0]),
            ("json_structure", 1) => (Function::JsonStructure, &[0]),
            _ => return None,
        };
        Some(self.with_paths(function, of_json, bound, whole))
    }

    /// The arguments of a function, with the zone of the session and the day of its clocks behind them where it goes by these.
    pub(super) fn with_clocks(&mut self, name: &str, mut bound: Vec<Expr>) -> Vec<Expr> {
        if !name.starts_with("jsonb_path_") || !name.ends_with("_tz") || bound.len() < 2 {
            return bound;
        }
        for place in bound.len()..4 {
            bound.extend(default_of(name, place));
        }
        bound.push(self.session_zone());
        let today = self.environment.session.zone().today();
        let today = i32::try_from(today).unwrap_or_default();
        bound.push(Expr::literal(Value::Date(today), DataType::Date));
        bound
    }

    fn with_paths(
        &mut self,
        function: Function,
        of_json: &[usize],
        bound: &[Expr],
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let mut arguments = Vec::with_capacity(bound.len());
        for (place, argument) in bound.iter().enumerate() {
            let argument = argument.clone();
            arguments.push(match argument.data_type {
                own if of_json.contains(&place) => match own {
                    DataType::Null => {
                        self.coerce_unknown(argument, DataType::Json).map_err(|it| at(it, whole))?
                    }
                    DataType::Json => argument,
                    DataType::Jsonb => fold_cast(argument, DataType::Json),
                    own if own.is_text() => fold_cast(argument, DataType::Json),
                    _ => argument,
                },
                // A number is a place in an array.
                own if own.is_integer() => match super::constant(&argument) {
                    Some(Value::Integer(number)) => {
                        let path = Value::Text(format!("$[{number}]").into());
                        Expr::literal(path, DataType::Text)
                    }
                    _ => argument,
                },
                _ => argument,
            });
        }
        self.invoke(function, arguments, whole)
    }
}
