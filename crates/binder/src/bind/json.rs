//! JSON: operators, subscripts, `IS JSON`, and functions of single values. Aggregates and functions that make rows are in
//! `json_rows`.
//!
//! Key decision: a value becomes JSON by its text, and the type says what it is the text of; so functions of JSON take texts
//! and JSON alone.

use functions::kind_of;
use plan::build::null;
use plan::{Expr, ExprKind, Function};
use sqlparser::ast::{self, AccessExpr, Subscript};
use types::{DataType, Element, SqlError, SqlResult, SqlState, Value};

use super::Binder;
use super::coercion::{fold_cast, name_of, plain, with_blanks};
use super::comparison::no_operator;
use super::errors::{at, suggested, unsupported};
use crate::json_words::IS_JSON;

/// The functions of JSON that have one name for both kinds, and what comes behind `json` or `jsonb` in it.
const OF_BOTH: [(&str, Function); 3] = [
    ("_typeof", Function::JsonTypeof),
    ("_array_length", Function::JsonArrayLength),
    ("_strip_nulls", Function::JsonStripNulls),
];

/// The names of all functions of JSON that are no aggregates.
const NAMES: [&str; 42] = [
    "to_json",
    "to_jsonb",
    "row_to_json",
    "array_to_json",
    "json_build_array",
    "jsonb_build_array",
    "json_build_object",
    "jsonb_build_object",
    "json_object",
    "jsonb_object",
    "json_typeof",
    "jsonb_typeof",
    "json_array_length",
    "jsonb_array_length",
    "json_strip_nulls",
    "jsonb_strip_nulls",
    "json_extract_path",
    "jsonb_extract_path",
    "json_extract_path_text",
    "jsonb_extract_path_text",
    "json_array_elements",
    "jsonb_array_elements",
    "json_array_elements_text",
    "jsonb_array_elements_text",
    "json_object_keys",
    "jsonb_object_keys",
    "json_each",
    "jsonb_each",
    "json_each_text",
    "jsonb_each_text",
    "jsonb_set",
    "jsonb_insert",
    "jsonb_delete",
    "jsonb_delete_path",
    "jsonb_pretty",
    "jsonb_exists",
    "jsonb_exists_any",
    "jsonb_exists_all",
    "jsonb_contains",
    "jsonb_contained",
    "jsonb_set_lax",
    "json_scalar",
];

/// The names of the functions of JSON that are no aggregates.
pub fn names() -> impl Iterator<Item = &'static str> {
    NAMES.into_iter()
}

/// The function that an operator of JSONB is, by its name as one of two arguments.
fn of_jsonb(name: &str) -> Option<Function> {
    Some(match name {
        "jsonb_exists" => Function::JsonHasKey,
        "jsonb_exists_any" => Function::JsonHasAnyKey,
        "jsonb_exists_all" => Function::JsonHasAllKeys,
        "jsonb_contains" => Function::JsonContains,
        "jsonb_delete_path" => Function::JsonDeletePath,
        _ => return None,
    })
}

/// A text as a constant.
pub(super) fn word(text: &str) -> Expr {
    Expr::literal(Value::Text(text.into()), DataType::Text)
}

/// The function of an operator that JSON alone has.
pub(super) fn function_of(operator: &ast::BinaryOperator) -> Option<Function> {
    use ast::BinaryOperator as Sign;
    Some(match operator {
        Sign::Arrow => Function::JsonGet,
        Sign::LongArrow => Function::JsonGetText,
        Sign::HashArrow => Function::JsonPath,
        Sign::HashLongArrow => Function::JsonPathText,
        Sign::HashMinus => Function::JsonDeletePath,
        Sign::Question => Function::JsonHasKey,
        Sign::AtQuestion => Function::JsonPathExists,
        Sign::AtAt => Function::JsonPathMatch,
        Sign::QuestionPipe => Function::JsonHasAnyKey,
        Sign::QuestionAnd => Function::JsonHasAllKeys,
        _ => return None,
    })
}

/// 42883 where values of a type cannot be told apart or put in order: JSON has texts for one value that differ.
pub(super) fn check_equality(data_type: DataType) -> SqlResult<()> {
    check_operator(data_type, "an equality")
}

/// As [`check_equality`], of what is put in order.
pub(super) fn check_ordering(data_type: DataType) -> SqlResult<()> {
    check_operator(data_type, "an ordering")
}

/// As [`check_ordering`], of GREATEST and LEAST, which compare what is held: for arrays of what has keys that is not their order.
pub(super) fn check_extreme(data_type: DataType, name: &str) -> SqlResult<()> {
    check_operator(data_type, "a comparison")?;
    match data_type.element() {
        Some(of) if super::coercion::has_key(of) && !types::structs::is_nested(data_type) => {
            let of = name_of(of);
            Err(SqlError::unsupported(format!("{name} of arrays of {of} is not supported")))
        }
        _ if types::structs::is_nested(data_type) && super::coercion::has_key(data_type) => {
            let of = name_of(data_type);
            Err(SqlError::unsupported(format!("{name} of {of} is not supported")))
        }
        _ => Ok(()),
    }
}

fn check_operator(data_type: DataType, what: &str) -> SqlResult<()> {
    if !types::structs::has_json(data_type) {
        return Ok(());
    }
    let message = format!("could not identify {what} operator for type {}", name_of(data_type));
    let error = SqlError::new(SqlState::UNDEFINED_FUNCTION, message);
    Err(error.with_hint("JSONB can be compared"))
}

impl<'a> Binder<'a> {
    /// A value as JSON of either kind.
    pub(super) fn as_json(&mut self, value: Expr, to: DataType) -> SqlResult<Expr> {
        let value = plain(value);
        let from = value.data_type;
        match from {
            DataType::Null if super::constant(&value).is_some_and(Value::is_null) => Ok(null(to)),
            DataType::Null => {
                let text = self.coerce_unknown(value, DataType::Text)?;
                self.as_json(text, to)
            }
            DataType::Json | DataType::Jsonb => Ok(fold_cast(value, to)),
            _ if types::structs::is_nested(from) || self.is_styled(from) => {
                self.fold_call(Function::NestedJson, vec![value], to)
            }
            DataType::Array(_) => self.array_as_json(value, ",", to),
            _ => {
                let text = match with_blanks(value) {
                    it if it.data_type.is_text() => it,
                    it => fold_cast(it, DataType::Text),
                };
                self.fold_call(Function::JsonOfText, vec![text, word(kind_of(from))], to)
            }
        }
    }

    /// Whether values of a type are written otherwise than a cast to a text makes them: by the session, or always, as addresses are.
    pub(super) fn is_styled(&self, of: DataType) -> bool {
        matches!(of.element().unwrap_or(of), DataType::Network(_))
            || self.environment.session.zone().styles().shows(of)
    }

    /// An array as JSON, with something between its elements.
    pub(super) fn array_as_json(
        &mut self,
        array: Expr,
        separator: &str,
        to: DataType,
    ) -> SqlResult<Expr> {
        if types::structs::is_nested(array.data_type) || self.is_styled(array.data_type) {
            return self.fold_call(Function::NestedJson, vec![array], to);
        }
        let kind = kind_of(array.data_type.element().unwrap_or(DataType::Text));
        let items = match kind {
            "json" => array,
            _ => fold_cast(array, DataType::Array(Element::Text)),
        };
        self.fold_call(Function::JsonOfArray, vec![items, word(kind), word(separator)], to)
    }

    /// `->`, `->>`, `#>`, `#>>`, `?`, `?|`, `?&` and `#-`.
    pub(super) fn json_operator(
        &mut self,
        function: Function,
        (left, right): (&'a ast::Expr, &'a ast::Expr),
        sign: &str,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let (left, right) = (self.expr(left)?, self.expr(right)?);
        if (left.data_type, right.data_type) == (DataType::Null, DataType::Null) {
            let message = format!("operator is not unique: unknown {sign} unknown");
            let error = SqlError::new(SqlState("42725"), message);
            return Err(at(error.with_hint("cast the first operand to JSON or JSONB"), whole));
        }
        self.json_pair(function, left, right, sign, whole)
    }

    /// An operator of JSON and another value.
    pub(super) fn json_pair(
        &mut self,
        function: Function,
        left: Expr,
        right: Expr,
        sign: &str,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let (a, b) = (left.data_type, right.data_type);
        if functions::resolve(function, &[a, b]).is_err() {
            return Err(no_operator(sign, a, b, whole));
        }
        let mut arguments = vec![left, right];
        if function == Function::JsonGetText && a == DataType::Jsonb && b.is_integer() {
            let item = self.invoke(Function::JsonGet, arguments, whole)?;
            return self.invoke(Function::JsonScalarText, vec![item], whole);
        }
        // Operators of paths have no variables, and an error of theirs is NULL.
        if matches!(function, Function::JsonPathExists | Function::JsonPathMatch) {
            arguments.push(Expr::literal(Value::Text("{}".into()), DataType::Jsonb));
            arguments.push(Expr::literal(Value::Boolean(true), DataType::Boolean));
        }
        self.invoke(function, arguments, whole)
    }

    /// `||`, `-`, `@>` and `<@` where a side is JSONB; `None` where none is, or where they are none of JSON's.
    pub(super) fn jsonb_operator(
        &mut self,
        left: &Expr,
        right: &Expr,
        sign: &str,
        whole: &'a ast::Expr,
    ) -> Option<SqlResult<Expr>> {
        let is_jsonb = |it: &Expr| it.data_type == DataType::Jsonb;
        if !is_jsonb(left) && !is_jsonb(right) {
            return None;
        }
        let function = match sign {
            "@>" | "<@" => Function::JsonContains,
            "||" if right.data_type.is_text() || left.data_type.is_text() => return None,
            "||" => Function::JsonConcat,
            "-" if right.data_type.is_text() || right.data_type == DataType::Null => {
                Function::JsonDeleteKey
            }
            "-" => Function::JsonDelete,
            _ => return None,
        };
        let (left, right) = (left.clone(), right.clone());
        Some(match sign {
            "<@" => self.json_pair(function, right, left, sign, whole),
            _ => self.json_pair(function, left, right, sign, whole),
        })
    }

    /// `j['a'][0]` of JSONB.
    pub(super) fn json_subscripted(
        &mut self,
        json: Expr,
        chain: &'a [AccessExpr],
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let mut steps = Vec::with_capacity(chain.len());
        for access in chain {
            let AccessExpr::Subscript(Subscript::Index { index }) = access else {
                let message = "jsonb subscript does not support slices";
                return Err(at(SqlError::new(SqlState::DATATYPE_MISMATCH, message), whole));
            };
            steps.push(self.json_subscript(index)?.0);
        }
        self.json_at(json, steps, false)
    }

    /// A subscript of JSONB as a text, and whether it is a number.
    fn json_subscript(&mut self, index: &'a ast::Expr) -> SqlResult<(Expr, bool)> {
        let step = self.expr(index)?;
        let is_number = step.data_type.is_integer();
        let step = match step.data_type {
            DataType::Null => self.coerce_unknown(step, DataType::Text)?,
            it if it.is_text() || it.is_integer() && it != DataType::BigInt => {
                fold_cast(step, DataType::Text)
            }
            it => {
                let message = format!("subscript type {} is not supported", name_of(it));
                let error = SqlError::new(SqlState::DATATYPE_MISMATCH, message);
                let hint = "jsonb subscript must be coercible to either integer or text";
                return Err(at(error.with_hint(hint), index));
            }
        };
        Ok((step, is_number))
    }

    /// A JSONB with another value at the end of subscripts.
    pub(super) fn with_json_item(
        &mut self,
        json: Expr,
        item: Expr,
        subscripts: &[&'a ast::Expr],
    ) -> SqlResult<Expr> {
        let (mut steps, mut first) = (Vec::with_capacity(subscripts.len()), None);
        for subscript in subscripts {
            let (step, is_number) = self.json_subscript(subscript)?;
            first.get_or_insert(is_number);
            steps.push(step);
        }
        let path = self.fold_call(Function::ArrayOf, steps, DataType::Array(Element::Text))?;
        let is_number = Value::Boolean(first.unwrap_or(false));
        let is_number = Expr::literal(is_number, DataType::Boolean);
        let arguments = vec![json, path, item, is_number];
        self.fold_call(Function::JsonSetItem, arguments, DataType::Jsonb)
    }

    /// What stands at the end of a path of texts.
    fn json_at(&mut self, json: Expr, steps: Vec<Expr>, as_text: bool) -> SqlResult<Expr> {
        let texts = DataType::Array(Element::Text);
        let path = match steps.is_empty() {
            true => Expr::literal(Value::Text("".into()), texts),
            false => self.fold_call(Function::ArrayOf, steps, texts)?,
        };
        let (function, result) = match as_text {
            true => (Function::JsonPathText, DataType::Text),
            false => (Function::JsonPath, json.data_type),
        };
        self.fold_call(function, vec![json, path], result)
    }

    /// A call of a function of JSON by name; `None` of any other.
    pub(super) fn json_call(
        &mut self,
        name: &str,
        bound: &[Expr],
        whole: &'a ast::Expr,
    ) -> Option<SqlResult<Expr>> {
        let is_jsonb = name.starts_with("jsonb_") || name == "to_jsonb";
        let kind = if is_jsonb { DataType::Jsonb } else { DataType::Json };
        let made = self.json_by_path(name, bound, whole);
        if let Some(made) = made.or_else(|| self.row_in_lines(name, bound, whole)) {
            return Some(made);
        }
        Some(match (name.trim_start_matches("jsonb").trim_start_matches("json"), bound) {
            (IS_JSON, [value, ..]) => self.is_json(value, bound, whole),
            ("to_json" | "to_jsonb", [value]) => self.json_of(value, kind, whole),
            ("row_to_json" | "_scalar", [value])
                if name == "json_scalar"
                    || name == "row_to_json" && matches!(value.data_type, DataType::Struct(_)) =>
            {
                self.as_json(value.clone(), DataType::Json)
            }
            ("array_to_json", [array, ..]) if array.data_type.element().is_some() => {
                self.array_to_json(bound, whole)
            }
            ("_build_array", _) if name != "_build_array" => self.build_array(bound, kind),
            ("_build_object", _) if name != "_build_object" => {
                self.build_object(name, bound, kind).map_err(|it| at(it, whole))
            }
            ("_object", [_] | [_, _]) if name != "_object" => {
                self.json_function(Function::JsonObject, bound, kind, whole)
            }
            ("_extract_path" | "_extract_path_text", [json, steps @ ..])
                if name.starts_with("json") =>
            {
                self.extract_path(name, json, steps, kind, whole)
            }
            ("_set", [_, _, _, ..]) if name == "jsonb_set" => {
                self.invoke(Function::JsonSet, bound.to_vec(), whole)
            }
            ("_insert", [_, _, _, ..]) if name == "jsonb_insert" => {
                self.invoke(Function::JsonInsert, bound.to_vec(), whole)
            }
            ("_pretty", [_]) if name == "jsonb_pretty" => {
                self.invoke(Function::JsonPretty, bound.to_vec(), whole)
            }
            ("_set_lax", [_, _, _, ..]) if name == "jsonb_set_lax" => {
                super::json_set_lax::bound(self, bound, whole)
            }
            ("_delete", [json, key]) if name == "jsonb_delete" => {
                return self.jsonb_operator(json, key, "-", whole);
            }
            ("_contained", [a, b]) if name == "jsonb_contained" => {
                self.invoke(Function::JsonContains, vec![b.clone(), a.clone()], whole)
            }
            (_, [_, _]) if let Some(function) = of_jsonb(name) => {
                self.invoke(function, bound.to_vec(), whole)
            }
            (rest, [_, ..]) if name.starts_with("json") => {
                let function = OF_BOTH.iter().find(|it| it.0 == rest)?.1;
                self.json_function(function, bound, kind, whole)
            }
            _ => return None,
        })
    }

    /// `IS JSON`.
    fn is_json(&mut self, value: &Expr, bound: &[Expr], whole: &'a ast::Expr) -> SqlResult<Expr> {
        let own = value.data_type;
        if own.is_json() || own.is_text() || own == DataType::Null {
            return self.invoke(Function::IsJson, bound.to_vec(), whole);
        }
        let message = format!("cannot use type {} in IS JSON predicate", name_of(own));
        Err(at(SqlError::new(SqlState::DATATYPE_MISMATCH, message), whole))
    }

    /// A call of a function that has both kinds: a constant of unknown type is of the kind of the name.
    fn json_function(
        &mut self,
        function: Function,
        bound: &[Expr],
        kind: DataType,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let mut arguments = bound.to_vec();
        if function == Function::JsonObject {
            let mut texts = Vec::with_capacity(arguments.len());
            for it in arguments {
                let is_texts = it.data_type.element().is_some_and(DataType::is_text);
                if !is_texts && it.data_type != DataType::Null {
                    let types: Vec<_> = bound.iter().map(|it| it.data_type).collect();
                    return Err(self.none_of_json("json_object", &types, whole));
                }
                texts.push(self.converted(it, DataType::Array(Element::Text))?);
            }
            return self.fold_call(function, texts, kind);
        }
        if let Some(first) = arguments.first_mut() {
            *first = self.of_kind(first.clone(), kind, whole)?;
        }
        self.invoke(function, arguments, whole)
    }

    /// An argument that must be JSON of a kind.
    pub(super) fn of_kind(
        &mut self,
        value: Expr,
        kind: DataType,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        match value.data_type {
            DataType::Null => self.coerce_unknown(value, kind).map_err(|it| at(it, whole)),
            own if own == kind => Ok(value),
            own => Err(self.none_of_json("this function of json", &[own], whole)),
        }
    }

    fn none_of_json(&self, name: &str, types: &[DataType], whole: &'a ast::Expr) -> SqlError {
        let types: Vec<String> = types.iter().map(|it| name_of(*it)).collect();
        let message = format!("function {name}({}) does not exist", types.join(", "));
        suggested(at(SqlError::new(SqlState::UNDEFINED_FUNCTION, message), whole), name, names())
    }

    fn json_of(&mut self, value: &Expr, kind: DataType, whole: &'a ast::Expr) -> SqlResult<Expr> {
        if value.data_type == DataType::Null {
            let message = "could not determine polymorphic type because input has type unknown";
            return Err(at(SqlError::new(SqlState::DATATYPE_MISMATCH, message), whole));
        }
        self.as_json(value.clone(), kind)
    }

    /// `array_to_json(array [, whether lines])`.
    fn array_to_json(&mut self, bound: &[Expr], whole: &'a ast::Expr) -> SqlResult<Expr> {
        let array = bound[0].clone();
        let lines = match bound {
            [_] => return self.array_as_json(array, ",", DataType::Json),
            [_, lines] if lines.data_type == DataType::Boolean => lines.clone(),
            [_, lines] if lines.data_type == DataType::Null => {
                self.coerce_unknown(lines.clone(), DataType::Boolean).map_err(|it| at(it, whole))?
            }
            _ => {
                let types: Vec<_> = bound.iter().map(|it| it.data_type).collect();
                return Err(self.none_of_json("array_to_json", &types, whole));
            }
        };
        if let Some(separator) = between(&lines) {
            return self.array_as_json(array, separator, DataType::Json);
        }
        let again = [self.copy(&array)?, self.copy(&lines)?];
        let [other, not] = again;
        let in_lines = self.array_as_json(array, ",\n ", DataType::Json)?;
        let in_one = self.array_as_json(other, ",", DataType::Json)?;
        let not = plan::build::unary(plan::UnaryOperator::Not, not);
        let branches = vec![(lines, in_lines), (not, in_one)];
        Ok(Expr { kind: ExprKind::Case { branches, otherwise: None }, data_type: DataType::Json })
    }

    fn build_array(&mut self, bound: &[Expr], kind: DataType) -> SqlResult<Expr> {
        let parts = bound.iter().map(|it| self.as_json(it.clone(), DataType::Json));
        let parts = parts.collect::<SqlResult<Vec<_>>>()?;
        match parts.is_empty() {
            true => Ok(Expr::literal(Value::Text("[]".into()), kind)),
            false => self.fold_call(Function::JsonBuildArray, parts, kind),
        }
    }

    /// The text of a key.
    pub(super) fn json_key(&mut self, key: &Expr) -> SqlResult<Expr> {
        match key.data_type {
            DataType::Null => self.coerce_unknown(key.clone(), DataType::Text),
            // What is NULL is told first.
            _ if super::constant(key).is_some_and(Value::is_null) => Ok(null(DataType::Text)),
            it if it.is_json() || it.has_parts() => {
                let message = "key value must be scalar, not array, composite, or json";
                Err(SqlError::new(SqlState::INVALID_PARAMETER, message))
            }
            _ => {
                let shown = self.as_shown(key.clone())?;
                Ok(fold_cast(shown, DataType::Text))
            }
        }
    }

    fn build_object(&mut self, name: &str, bound: &[Expr], kind: DataType) -> SqlResult<Expr> {
        if bound.is_empty() {
            return Ok(Expr::literal(Value::Text("{}".into()), kind));
        }
        if !bound.len().is_multiple_of(2) {
            let message = "argument list must have even number of elements";
            let hint =
                format!("The arguments of {name}() must consist of alternating keys and values.");
            return Err(SqlError::new(SqlState::INVALID_PARAMETER, message).with_hint(hint));
        }
        let mut parts = vec![word(" : "), word(", ")];
        for pair in bound.chunks_exact(2) {
            parts.push(self.json_key(&pair[0])?);
            parts.push(self.as_json(pair[1].clone(), DataType::Json)?);
        }
        self.fold_call(Function::JsonBuildObject, parts, kind)
    }

    /// `row_to_json(t)` and `to_json(t)` of the name of a relation; `None` of any other call.
    pub(super) fn json_of_row(
        &mut self,
        name: &str,
        arguments: &[&'a ast::Expr],
        whole: &'a ast::Expr,
    ) -> Option<SqlResult<Expr>> {
        let kind = match name {
            "row_to_json" | "to_json" => DataType::Json,
            "to_jsonb" => DataType::Jsonb,
            _ => return None,
        };
        match arguments {
            [ast::Expr::Identifier(row)] if self.is_relation(row) => {
                Some(self.row_as_json(row, (",", kind), whole))
            }
            [ast::Expr::Identifier(row), lines]
                if name == "row_to_json" && self.is_relation(row) =>
            {
                Some(self.separator(lines, whole).and_then(|it| match it {
                    Some(separator) => self.row_as_json(row, (separator, kind), whole),
                    None => Ok(null(kind)),
                }))
            }
            _ => None,
        }
    }

    /// What stands between the fields of a row, by whether each has a line; `None` of NULL.
    fn separator(
        &mut self,
        lines: &'a ast::Expr,
        whole: &'a ast::Expr,
    ) -> SqlResult<Option<&'static str>> {
        let lines = self.expr(lines)?;
        match super::constant(&lines) {
            Some(value) if value.is_null() => Ok(None),
            _ => match between(&lines) {
                Some(separator) => Ok(Some(separator)),
                None => Err(unsupported("whether there are lines, of no constant,", whole)),
            },
        }
    }

    /// `row_to_json(row, whether lines)` of a value; `None` of any other call.
    fn row_in_lines(
        &mut self,
        name: &str,
        bound: &[Expr],
        whole: &'a ast::Expr,
    ) -> Option<SqlResult<Expr>> {
        match (name, bound) {
            ("row_to_json", [row, lines]) => match row.data_type {
                DataType::Struct(of) => Some(self.fields_in_lines(row, of, lines, whole)),
                _ => None,
            },
            _ => None,
        }
    }

    fn fields_in_lines(
        &mut self,
        row: &Expr,
        of: types::structs::StructType,
        lines: &Expr,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let Some(separator) = between(lines) else {
            return Err(unsupported("whether there are lines, of no constant,", whole));
        };
        let mut parts = vec![word(":"), word(separator)];
        for (place, field) in of.fields().iter().enumerate() {
            let name = if of.is_row() { format!("f{}", place + 1) } else { field.name.to_string() };
            let value = self.copy(row)?;
            let value = self.field_at(value, of, place)?;
            parts.push(word(&name));
            parts.push(self.as_json(value, DataType::Json)?);
        }
        let made = self.fold_call(Function::JsonBuildObject, parts, DataType::Json)?;
        let there = plan::build::unary(plan::UnaryOperator::IsNotNull, row.clone());
        let kind = ExprKind::Case { branches: vec![(there, made)], otherwise: None };
        Ok(Expr { kind, data_type: DataType::Json })
    }

    /// The row of a relation as an object; NULL where an outer join has none.
    pub(super) fn row_as_json(
        &mut self,
        row: &ast::Ident,
        (separator, kind): (&str, DataType),
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let object = self.of_row(row, |this, columns| {
            let mut parts = vec![word(":"), word(separator)];
            for (name, value) in columns {
                parts.push(word(&name));
                parts.push(this.as_json(value, DataType::Json)?);
            }
            this.fold_call(Function::JsonBuildObject, parts, kind)
        });
        object.map_err(|it| at(it, whole))
    }

    fn extract_path(
        &mut self,
        name: &str,
        json: &Expr,
        steps: &[Expr],
        kind: DataType,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let json = self.of_kind(json.clone(), kind, whole)?;
        let mut texts = Vec::with_capacity(steps.len());
        for step in steps {
            if step.data_type != DataType::Null && !step.data_type.is_text() {
                let types: Vec<_> =
                    [kind].into_iter().chain(steps.iter().map(|it| it.data_type)).collect();
                return Err(self.none_of_json(name, &types, whole));
            }
            texts.push(self.converted(step.clone(), DataType::Text)?);
        }
        self.json_at(json, texts, name.ends_with("_text"))
    }
}

/// What stands between items, by a constant that says whether each has a line.
fn between(lines: &Expr) -> Option<&'static str> {
    match super::constant(lines) {
        Some(Value::Boolean(lines)) => Some(if *lines { ",\n " } else { "," }),
        _ => None,
    }
}
