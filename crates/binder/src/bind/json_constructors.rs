//! The constructors of SQL/JSON, whose words are arguments in a fixed order by now ([`crate::json_constructor_words`]).

use plan::build::{compare, null};
use plan::{BinaryOperator, Expr, ExprKind, Function};
use sqlparser::ast;
use types::{DataType, SqlError, SqlResult, SqlState, Value};

use super::Binder;
use super::coercion::{fold_cast, nested_call};
use super::failing::Failing;
use super::json::word;
use crate::own_names::{FORMATTED, UNIQUE};

/// What the clauses of a call say.
struct Said {
    data_type: DataType,
    form: String,
    word: String,
}

impl Said {
    /// The kind of JSON that is made.
    fn kind(&self) -> DataType {
        if self.data_type == DataType::Jsonb { DataType::Jsonb } else { DataType::Json }
    }
}

impl<'a> Binder<'a> {
    /// A call of one of these; `None` of any other name.
    pub(super) fn json_constructor(
        &mut self,
        name: &str,
        arguments: &[&'a ast::Expr],
        whole: &'a ast::Expr,
    ) -> Option<SqlResult<Expr>> {
        Some(match (name, arguments) {
            (FORMATTED, [value, encoding]) => self.formatted(value, encoding),
            (UNIQUE, [value, word]) => self.unique_json(value, word, whole),
            (
                "json\nobject" | "json\narray" | "json\nobjectagg" | "json\narrayagg"
                | "json\nserialize",
                [data_type, form, word, values @ ..],
            ) => self.constructed(name, (*data_type, *form, *word), values, whole),
            _ => return None,
        })
    }

    fn constructed(
        &mut self,
        name: &str,
        (data_type, form, word): (&'a ast::Expr, &'a ast::Expr, &'a ast::Expr),
        values: &[&'a ast::Expr],
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let data_type = self.declared(data_type)?.data_type;
        let values = values.iter().map(|it| self.expr(it)).collect::<SqlResult<Vec<_>>>()?;
        let data_type = match data_type {
            // JSON of JSONB is JSONB, where nothing else is said.
            DataType::Null if values.iter().any(|it| it.data_type == DataType::Jsonb) => {
                DataType::Jsonb
            }
            DataType::Null => DataType::Json,
            known => known,
        };
        let said = Said { data_type, form: self.said(form)?, word: self.said(word)? };
        let made = match (name, values) {
            ("json\nobject", values) => self.object_of_members(&said, values)?,
            ("json\narray", values) => self.array_of_values(&said, values)?,
            ("json\nserialize", values) => match <[Expr; 1]>::try_from(values) {
                Ok([value]) => self.text_as_json(value, "implicit")?,
                Err(_) => return Err(no_words()),
            },
            (_, values) => match <[Expr; 3]>::try_from(values) {
                Ok([count, kept, all]) => {
                    self.of_aggregates(name, &said, (count, kept, all), whole)?
                }
                Err(_) => return Err(no_words()),
            },
        };
        self.returned(made, &said)
    }

    fn object_of_members(&mut self, said: &Said, values: Vec<Expr>) -> SqlResult<Expr> {
        let kind = said.kind();
        if values.is_empty() {
            return Ok(Expr::literal(Value::Text("{}".into()), kind));
        }
        let mut parts = vec![word(&said.word)];
        for pair in values.chunks_exact(2) {
            parts.push(self.json_key(&pair[0])?);
            parts.push(self.as_json(pair[1].clone(), DataType::Json)?);
        }
        self.fold_call(Function::JsonMembers, parts, kind)
    }

    fn array_of_values(&mut self, said: &Said, values: Vec<Expr>) -> SqlResult<Expr> {
        let kind = said.kind();
        if values.is_empty() {
            return Ok(Expr::literal(Value::Text("[]".into()), kind));
        }
        let mut parts = Vec::with_capacity(values.len());
        for value in values {
            parts.push(self.as_json(value, DataType::Json)?);
        }
        let function = match said.word.contains('a') {
            true => Function::JsonPresentItems,
            false => Function::JsonBuildArray,
        };
        self.fold_call(function, parts, kind)
    }

    /// What aggregates have come to: how many rows there were, and the JSON of those that count, and of all where keys are asked.
    fn of_aggregates(
        &mut self,
        name: &str,
        said: &Said,
        (count, kept, all): (Expr, Expr, Expr),
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let data_type = kept.data_type;
        let none = match (name, data_type) {
            ("json\narrayagg", _) => "[]",
            (_, DataType::Jsonb) => "{}",
            _ => "{ }",
        };
        let none = Expr::literal(Value::Text(none.into()), data_type);
        let there = self.coalesce(vec![kept, none], whole)?;
        let zero = Expr::literal(Value::Integer(0), count.data_type);
        let no_rows = compare(BinaryOperator::Equal, count, zero);
        let mut branches = vec![(no_rows, null(data_type))];
        if said.word.contains('u') {
            let outermost = Expr::literal(Value::Boolean(true), DataType::Boolean);
            let all =
                self.fold_call(Function::JsonUniqueKeys, vec![all, outermost], DataType::Json)?;
            let wrong = plan::build::unary(plan::UnaryOperator::IsNull, all);
            branches.push((wrong, null(data_type)));
        }
        let otherwise = Some(Box::new(there));
        Ok(Expr { kind: ExprKind::Case { branches, otherwise }, data_type })
    }

    /// A value of which is said that it is the text of JSON.
    fn formatted(&mut self, value: &'a ast::Expr, encoding: &'a ast::Expr) -> SqlResult<Expr> {
        let (value, encoding) = (self.expr(value)?, self.said(encoding)?);
        let mismatch = |message: &str| Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message));
        if value.data_type != DataType::Bytea && !encoding.is_empty() {
            return mismatch("JSON ENCODING clause is only allowed for bytea input type");
        }
        if !matches!(&*encoding, "" | "utf8") {
            return Err(SqlError::unsupported("unsupported JSON encoding"));
        }
        self.text_as_json(value, "explicit")
    }

    /// A text, bytes or JSON as JSON.
    fn text_as_json(&mut self, value: Expr, how: &str) -> SqlResult<Expr> {
        match value.data_type {
            it if it.is_json() => Ok(value),
            it if it == DataType::Null || it.is_text() => {
                self.as_type(Failing::Raises, value, DataType::Json)
            }
            DataType::Bytea => {
                let text = self.text_of_bytes(value)?;
                self.as_type(Failing::Raises, text, DataType::Json)
            }
            _ => Err(SqlError::new(
                SqlState::DATATYPE_MISMATCH,
                format!("cannot use non-string types with {how} FORMAT JSON clause"),
            )),
        }
    }

    /// `JSON(text WITH UNIQUE KEYS)`.
    fn unique_json(
        &mut self,
        value: &'a ast::Expr,
        word: &'a ast::Expr,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let (value, word) = (self.expr(value)?, self.said(word)?);
        let json = self.text_as_json(value, "explicit")?;
        let json = fold_cast(json, DataType::Json);
        if word.is_empty() {
            return Ok(json);
        }
        let outermost = Expr::literal(Value::Boolean(false), DataType::Boolean);
        self.invoke(Function::JsonUniqueKeys, vec![json, outermost], whole)
    }

    /// What has been made, as the type that is wanted.
    fn returned(&mut self, made: Expr, said: &Said) -> SqlResult<Expr> {
        let encoding = said.form.strip_prefix("json ").unwrap_or("");
        if !encoding.is_empty() && said.data_type != DataType::Bytea {
            let message = "cannot set JSON encoding for non-bytea output types";
            return Err(SqlError::unsupported(message));
        }
        if !matches!(encoding, "" | "utf8") {
            return Err(SqlError::unsupported("unsupported JSON encoding"));
        }
        match said.data_type {
            it if it == made.data_type => Ok(made),
            DataType::Bytea => {
                let text = fold_cast(made, DataType::Text);
                let encoding = super::json::word("UTF8");
                self.fold_call(Function::ConvertTo, vec![text, encoding], DataType::Bytea)
            }
            // A text that is too long is none, where a cast would cut it.
            to if to.said_length().is_some() => {
                let text = fold_cast(made, DataType::Text);
                Ok(nested_call(Function::NestedFit, text, to))
            }
            to => self.as_type(Failing::Raises, made, to),
        }
    }

    fn text_of_bytes(&mut self, bytes: Expr) -> SqlResult<Expr> {
        let encoding = super::json::word("UTF8");
        self.fold_call(Function::ConvertFrom, vec![bytes, encoding], DataType::Text)
    }
}

fn no_words() -> SqlError {
    SqlError::internal("a constructor of JSON without its words")
}
