//! Records of JSON: `json_to_record`, `json_to_recordset`, and `json_populate_record` and its kin, whose columns are those of
//! a struct.

use plan::relation::Rel;
use plan::{Expr, Function};
use sqlparser::ast::{self, Spanned, TableAlias};
use types::structs::StructType;
use types::{DataType, Element, SqlError, SqlResult, SqlState};

use super::coercion::{fold_cast, name_of};
use super::errors::at;
use super::from::Source;
use super::json::word;
use super::level::{Clause, Level, one_row};
use super::scope::{Frame, Named};
use super::{Binder, mapped};
use crate::syntax::ident;

/// Whether a function gives records in FROM.
pub(super) fn makes_records(name: &str) -> bool {
    let rest = name.strip_prefix("jsonb_").or_else(|| name.strip_prefix("json_"));
    matches!(rest, Some("to_record" | "to_recordset" | "populate_record" | "populate_recordset"))
}

/// A column of a record.
struct Column {
    name: String,
    data_type: DataType,
    /// What it is where the JSON does not say.
    otherwise: Option<Expr>,
}

impl<'a> Binder<'a> {
    /// A function of records in FROM.
    pub(super) fn record_source(
        &mut self,
        name: &str,
        arguments: &[&'a ast::Expr],
        with_ordinality: bool,
        (alias, node): (Option<&'a TableAlias>, &impl Spanned),
    ) -> SqlResult<Source> {
        let level = Level::new(Frame::default(), one_row(), Clause::From);
        let (bound, level) = self.in_level(level, |this| {
            arguments.iter().map(|it| this.expr(it)).collect::<SqlResult<Vec<_>>>()
        })?;
        let populates = name.contains("populate");
        let kind = if name.starts_with("jsonb") { DataType::Jsonb } else { DataType::Json };
        let shown: Vec<String> = bound.iter().map(|it| name_of(it.data_type)).collect();
        let none = || {
            let message = format!("function {name}({}) does not exist", shown.join(", "));
            at(SqlError::new(SqlState::UNDEFINED_FUNCTION, message), node)
        };
        let (base, json) = match &bound[..] {
            [json] if !populates => (None, json),
            [base, json] if populates => (Some(base), json),
            _ => return Err(none()),
        };
        let json = match json.data_type {
            DataType::Null => self.coerce_unknown(json.clone(), kind)?,
            own if own == kind => json.clone(),
            _ => return Err(none()),
        };
        let (input, columns) = match base {
            None => (level.input, self.told_columns(name, alias, node)?),
            Some(base) => {
                let DataType::Struct(of) = base.data_type else { return Err(none()) };
                let (input, own) = self.named_values(vec![base.clone()], level.input);
                let own = own.into_iter().next().ok_or_else(none)?;
                (input, self.columns_of_base(&own, of)?)
            }
        };
        let (rel, value, number) = match name.ends_with("set") {
            true => self.each_object(name, json, input, node)?,
            false => {
                let object = self.object_of(name, json)?;
                let (rel, own) = self.named_values(vec![object], input);
                (rel, own.into_iter().next().ok_or_else(none)?, None)
            }
        };
        self.columns_of_records((rel, value, number), columns, with_ordinality, (name, alias))
    }

    /// The columns of the objects of a relation.
    fn columns_of_records(
        &mut self,
        (rel, value, number): (Rel, Expr, Option<usize>),
        columns: Vec<Column>,
        with_ordinality: bool,
        (name, alias): (&str, Option<&'a TableAlias>),
    ) -> SqlResult<Source> {
        let (mut made, mut named) = (Vec::new(), Vec::new());
        for column in columns {
            let member = self.member_as(&value, &column)?;
            let attr = self.attribute(column.data_type, true);
            made.push((attr, member));
            named.push(Named::made(column.name, attr));
        }
        if with_ordinality {
            let attr = match number {
                Some(number) => number,
                None => {
                    let attr = self.attribute(DataType::BigInt, false);
                    let one = fold_cast(super::series::integer(1), DataType::BigInt);
                    made.push((attr, one));
                    attr
                }
            };
            named.push(Named::made("ordinality", attr));
        }
        let rel = mapped(rel, made);
        match alias {
            // Its columns are those that were told.
            Some(alias) if !name.contains("populate") => {
                Ok((rel, Frame::of_made(ident(&alias.name), named)))
            }
            Some(alias) => self.renamed(rel, named, alias),
            None => Ok((rel, Frame::of_made(name.to_owned(), named))),
        }
    }

    /// The columns of a list behind an alias.
    fn told_columns(
        &mut self,
        name: &str,
        alias: Option<&'a TableAlias>,
        node: &impl Spanned,
    ) -> SqlResult<Vec<Column>> {
        let columns = alias.map_or(&[][..], |it| &it.columns);
        if columns.is_empty() || columns.iter().any(|it| it.data_type.is_none()) {
            let message = "a column definition list is required for functions returning \"record\"";
            let hint = format!("{name}(..) AS t (a INTEGER, b TEXT)");
            return Err(at(SqlError::new(SqlState::SYNTAX, message).with_hint(hint), node));
        }
        let mut told = Vec::with_capacity(columns.len());
        for column in columns {
            let Some(said) = &column.data_type else { continue };
            let data_type = self.type_named(said).map_err(|it| at(it, node))?;
            told.push(Column { name: ident(&column.name), data_type, otherwise: None });
        }
        Ok(told)
    }

    /// The columns of a struct, whose values count where the JSON says nothing.
    fn columns_of_base(&mut self, base: &Expr, of: StructType) -> SqlResult<Vec<Column>> {
        let mut columns = Vec::with_capacity(of.fields().len());
        for (place, field) in of.fields().iter().enumerate() {
            let otherwise = self.field_at(base.clone(), of, place)?;
            let name = match field.name.is_empty() {
                true => format!("f{}", place + 1),
                false => field.name.to_string(),
            };
            columns.push(Column { name, data_type: field.data_type, otherwise: Some(otherwise) });
        }
        Ok(columns)
    }

    /// A JSON that has to be an object.
    fn object_of(&mut self, name: &str, json: Expr) -> SqlResult<Expr> {
        let kind = json.data_type;
        self.fold_call(Function::JsonObjectOf, vec![json, word(name)], kind)
    }

    /// A row for each object of an array of objects.
    fn each_object(
        &mut self,
        name: &str,
        json: Expr,
        input: Rel,
        node: &impl Spanned,
    ) -> SqlResult<(Rel, Expr, Option<usize>)> {
        let none = || at(SqlError::internal("an array without items"), node);
        let list = json.data_type.array().ok_or_else(none)?;
        let array = self.fold_call(Function::JsonElements, vec![json, word(name)], list)?;
        let (input, part) = self.items_of(array, input).ok_or_else(none)??;
        let value = self.column_expr(part.value);
        let (rel, number) = self.side_by_side(input, &[part])?;
        let object = self.object_of(name, value)?;
        let (rel, own) = self.named_values(vec![object], rel);
        Ok((rel, own.into_iter().next().ok_or_else(none)?, Some(number)))
    }

    /// The member of an object as a value of a type.
    fn member_as(&mut self, object: &Expr, column: &Column) -> SqlResult<Expr> {
        let key = word(&column.name);
        let kind = object.data_type;
        let member = self.fold_call(Function::JsonGet, vec![object.clone(), key.clone()], kind)?;
        let value = self.json_as_type(member, column.data_type)?;
        let Some(otherwise) = column.otherwise.clone() else { return Ok(value) };
        // What is not there stays; `null` does not.
        let there = plan::build::unary(
            plan::UnaryOperator::IsNotNull,
            self.fold_call(Function::JsonGet, vec![object.clone(), key], kind)?,
        );
        let (branches, data_type) = (vec![(there, value)], column.data_type);
        let otherwise = Some(Box::new(otherwise));
        Ok(Expr { kind: plan::ExprKind::Case { branches, otherwise }, data_type })
    }

    /// A JSON as a value of a type: a string by its characters, an array by its elements, an object by its members.
    pub(super) fn json_as_type(&mut self, json: Expr, to: DataType) -> SqlResult<Expr> {
        let kind = json.data_type;
        match to {
            DataType::Json | DataType::Jsonb => {
                let not_null = self.fold_call(Function::JsonNotNull, vec![json], kind)?;
                Ok(fold_cast(not_null, to))
            }
            DataType::Array(element) if !types::structs::is_nested(to) => {
                let texts = DataType::Array(Element::Text);
                let json_items = matches!(element.data_type(), DataType::Json | DataType::Jsonb);
                let list = super::series::boolean(json_items);
                let array = self.fold_call(Function::JsonArrayItems, vec![json, list], texts)?;
                Ok(fold_cast(array, to))
            }
            DataType::Struct(of) => {
                let object = self.object_of("json_populate_record", json)?;
                let mut values = Vec::with_capacity(of.fields().len());
                for field in of.fields() {
                    let name = word(&field.name);
                    let member =
                        self.fold_call(Function::JsonGet, vec![object.clone(), name], kind)?;
                    values.push(self.json_as_type(member, field.data_type)?);
                }
                let made = self.fold_call(Function::StructOf, values, to)?;
                let there = plan::build::unary(plan::UnaryOperator::IsNotNull, object);
                let kind = plan::ExprKind::Case { branches: vec![(there, made)], otherwise: None };
                Ok(Expr { kind, data_type: to })
            }
            _ => {
                let text = self.fold_call(Function::JsonScalarText, vec![json], DataType::Text)?;
                self.stored_as(fold_cast(text, to), to)
            }
        }
    }
}
