//! JSON_EXISTS, JSON_QUERY and JSON_VALUE, whose words are arguments in a fixed order by now ([`crate::sql_json_words`]).

use plan::build::{null, unary};
use plan::{BinaryOperator, Expr, ExprKind, Function, UnaryOperator};
use sqlparser::ast;
use types::{DataType, SqlError, SqlResult, SqlState, Value};

use super::Binder;
use super::coercion::fold_cast;
use super::errors::at;
use super::json::word;

/// The JSON, the path, its variables, and which value is taken.
struct Asked {
    json: Expr,
    path: Expr,
    variables: Expr,
    mode: String,
}

impl<'a> Binder<'a> {
    /// A call of one of these; `None` of any other name.
    pub(super) fn sql_json_call(
        &mut self,
        name: &str,
        arguments: &[&'a ast::Expr],
        whole: &'a ast::Expr,
    ) -> Option<SqlResult<Expr>> {
        if let Some(made) = self.json_constructor(name, arguments, whole) {
            return Some(made.map_err(|it| at(it, whole)));
        }
        let (kind, _) = crate::own_names::JSON_QUERIES.iter().find(|it| it.1 == name)?;
        Some(self.sql_json(kind, arguments, whole).map_err(|it| at(it, whole)))
    }

    fn sql_json(
        &mut self,
        kind: &str,
        arguments: &[&'a ast::Expr],
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let [json, path, variables, data_type, wrapper, quotes, words @ ..] = arguments else {
            return Err(SqlError::internal("a call of SQL/JSON without its words"));
        };
        let [empty, of_empty, error, of_error] = words else {
            return Err(SqlError::internal("a call of SQL/JSON without its words"));
        };
        let json = self.expr(json)?;
        let json = match json.data_type {
            DataType::Null => self.coerce_unknown(json, DataType::Jsonb)?,
            _ => self.as_type(super::failing::Failing::Raises, json, DataType::Jsonb)?,
        };
        let path = self.expr(path)?;
        if path.data_type != DataType::Null && !path.data_type.is_text() {
            let message = format!(
                "JSON path expression must be of type jsonpath, not of type {}",
                super::coercion::name_of(path.data_type)
            );
            return Err(at(SqlError::new(SqlState::DATATYPE_MISMATCH, message), whole));
        }
        let path = self.converted(path, DataType::Text)?;
        let variables = self.expr(variables)?;
        let mode = self.said(wrapper)?;
        let asked = Asked { json, path, variables, mode };
        let on_error = self.said(error)?;
        if kind == "json_exists" {
            return self.json_exists(&asked, &on_error, whole);
        }
        let to = self.declared(data_type)?.data_type;
        let to = match (to, kind) {
            (DataType::Null, "json_value") => DataType::Text,
            (DataType::Null, _) => DataType::Jsonb,
            (known, _) => known,
        };
        let is_value = kind == "json_value";
        let quotes = (is_value || self.said(quotes)? == "omit", is_value);
        let raises = on_error == "error";
        let state = self.single_state(&asked)?;
        let again = self.copy(&state)?;
        let item = self.single(&asked, raises, false)?;
        let on_empty = match &*self.said(empty)? {
            "error" => {
                self.single(&asked, true, true).and_then(|it| self.item_as(it, to, quotes, true))?
            }
            said => self.instead(said, of_empty, to)?,
        };
        let on_error = self.instead(&on_error, of_error, to)?;
        let value = match raises {
            true => self.item_as(item, to, quotes, true)?,
            false => {
                let other = self.copy(&on_error)?;
                self.item_or(item, to, quotes, other)?
            }
        };
        let is = |state: Expr, code: i64| {
            let code = Expr::literal(Value::Integer(code), DataType::Integer);
            plan::build::compare(BinaryOperator::Equal, state, code)
        };
        let mut branches = vec![(is(state, 0), on_empty)];
        if !raises {
            branches.push((is(again, -1), on_error));
        }
        let otherwise = Some(Box::new(value));
        Ok(Expr { kind: ExprKind::Case { branches, otherwise }, data_type: to })
    }

    /// A word of the call.
    pub(super) fn said(&mut self, word: &'a ast::Expr) -> SqlResult<String> {
        let word = self.expr(word)?;
        match super::constant(&word) {
            Some(Value::Text(word)) => Ok(word.to_string()),
            _ => Err(SqlError::internal("a word of SQL/JSON is no constant")),
        }
    }

    fn json_exists(
        &mut self,
        asked: &Asked,
        on_error: &str,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let silent = Expr::literal(Value::Boolean(on_error != "error"), DataType::Boolean);
        let arguments =
            vec![asked.json.clone(), asked.path.clone(), asked.variables.clone(), silent];
        let exists = self.invoke(Function::JsonPathExists, arguments, whole)?;
        if matches!(on_error, "error" | "null") {
            return Ok(exists);
        }
        let known = unary(UnaryOperator::IsNotNull, self.copy(&exists)?);
        let there = unary(UnaryOperator::IsNotNull, self.copy(&asked.json)?);
        let truth = Expr::literal(Value::Boolean(on_error == "true"), DataType::Boolean);
        let branches = vec![(known, exists), (there, truth)];
        let kind = ExprKind::Case { branches, otherwise: None };
        Ok(Expr { kind, data_type: DataType::Boolean })
    }

    fn single(&mut self, asked: &Asked, raises: bool, empty_raises: bool) -> SqlResult<Expr> {
        let mode = if empty_raises { format!("{}!", asked.mode) } else { asked.mode.clone() };
        let arguments = self.arguments_of(asked, !raises, &mode)?;
        self.fold_call(Function::JsonSingle, arguments, DataType::Jsonb)
    }

    fn single_state(&mut self, asked: &Asked) -> SqlResult<Expr> {
        let arguments = self.arguments_of(asked, true, &asked.mode)?;
        self.fold_call(Function::JsonSingleState, arguments, DataType::Integer)
    }

    fn arguments_of(&mut self, asked: &Asked, silent: bool, mode: &str) -> SqlResult<Vec<Expr>> {
        let silent = Expr::literal(Value::Boolean(silent), DataType::Boolean);
        let parts = [&asked.json, &asked.path, &asked.variables];
        let parts = parts.into_iter().map(|it| self.copy(it)).collect::<SqlResult<Vec<_>>>()?;
        Ok(parts.into_iter().chain([silent, word(mode)]).collect())
    }

    /// What stands in the place of nothing, or of an error.
    fn instead(&mut self, said: &str, value: &'a ast::Expr, to: DataType) -> SqlResult<Expr> {
        let json = |text: &str| Expr::literal(Value::Text(text.into()), DataType::Jsonb);
        match said {
            "default" => {
                let value = self.expr(value)?;
                let value = self.as_type(super::failing::Failing::Raises, value, to)?;
                Ok(fold_cast(value, to))
            }
            "array" => Ok(fold_cast(json("[]"), to)),
            "object" => Ok(fold_cast(json("{}"), to)),
            _ => Ok(null(to)),
        }
    }

    /// An item as a value of a type; a string by its characters where that is said.
    fn item_as(
        &mut self,
        item: Expr,
        to: DataType,
        (as_text, is_value): (bool, bool),
        raises: bool,
    ) -> SqlResult<Expr> {
        if !as_text {
            return match to {
                _ if to.is_json() || to.is_text() => Ok(fold_cast(item, to)),
                _ => self.json_as_type(item, to),
            };
        }
        // What JSON_VALUE finds stays what it is in JSON.
        if to.is_json() && is_value {
            return Ok(fold_cast(item, to));
        }
        if to.is_json() && raises {
            return self.json_as_type(item, to);
        }
        // JSON_VALUE writes truths as SQL does.
        let written = fold_cast(self.copy(&item)?, DataType::Text);
        let mut text = self.fold_call(Function::JsonScalarText, vec![item], DataType::Text)?;
        if to.is_text() && is_value {
            let mut branches = Vec::with_capacity(2);
            for (truth, letter) in [("true", "t"), ("false", "f")] {
                let written = self.copy(&written)?;
                let is = plan::build::compare(BinaryOperator::Equal, written, word(truth));
                branches.push((is, word(letter)));
            }
            let kind = ExprKind::Case { branches, otherwise: Some(Box::new(text)) };
            text = Expr { kind, data_type: DataType::Text };
        }
        if let Some(length) = to.said_length()
            && !raises
        {
            return self.within(text, to, length);
        }
        match raises || to.is_text() {
            true if to.said_length().is_some() => self.stored_as(text, to),
            true => self.as_type(super::failing::Failing::Raises, text, to),
            false => self.tried(text, to),
        }
    }

    /// A text of a type with a length; NULL where it is longer.
    fn within(&mut self, text: Expr, to: DataType, length: u32) -> SqlResult<Expr> {
        let again = self.copy(&text)?;
        let count = self.fold_call(Function::CharacterLength, vec![again], DataType::Integer)?;
        let most = Expr::literal(Value::Integer(length.into()), DataType::Integer);
        let fits = plan::build::compare(BinaryOperator::LessEqual, count, most);
        let branches = vec![(fits, fold_cast(text, to))];
        Ok(Expr { kind: ExprKind::Case { branches, otherwise: None }, data_type: to })
    }

    /// An item as a value of a type, or another value where it is none.
    fn item_or(
        &mut self,
        item: Expr,
        to: DataType,
        quotes: (bool, bool),
        other: Expr,
    ) -> SqlResult<Expr> {
        if !quotes.0 || matches!(to, DataType::Text) {
            return self.item_as(item, to, quotes, false);
        }
        let again = self.copy(&item)?;
        let value = self.item_as(item, to, quotes, false)?;
        let nothing = self.fold_call(Function::JsonNotNull, vec![again], DataType::Jsonb)?;
        let known = unary(UnaryOperator::IsNotNull, self.copy(&value)?);
        let there = unary(UnaryOperator::IsNotNull, nothing);
        let kind =
            ExprKind::Case { branches: vec![(known, value), (there, other)], otherwise: None };
        Ok(Expr { kind, data_type: to })
    }
}
