//! Maps: `MAP {'k': v}`, `m['k']`, and DuckDB's functions of them.

use plan::{Expr, Function};
use sqlparser::ast::{self, AccessExpr, Subscript};
use types::structs::StructType;
use types::{DataType, SqlError, SqlResult, SqlState, Value};

use super::Binder;
use super::coercion::{fold_cast, name_of};
use super::errors::{at, unsupported};

impl<'a> Binder<'a> {
    /// `MAP {'k': v}`.
    pub(super) fn map_literal(
        &mut self,
        entries: &'a [ast::MapEntry],
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let (mut keys, mut values) = (Vec::new(), Vec::new());
        for entry in entries {
            keys.push(self.expr(&entry.key)?);
            values.push(self.expr(&entry.value)?);
        }
        if keys.is_empty() {
            return self.empty_map();
        }
        let key = self.unify(&mut keys, "MAP").map_err(|it| at(it, whole))?;
        let value = self.unify(&mut values, "MAP").map_err(|it| at(it, whole))?;
        let of = StructType::entry(key, value).map_err(|it| at(it, whole))?;
        let pairs = keys.into_iter().zip(values).flat_map(|(key, value)| [key, value]);
        self.fold_call(Function::MapOf, pairs.collect(), DataType::Map(of))
    }

    /// A map without entries, whose types nothing tells yet.
    fn empty_map(&self) -> SqlResult<Expr> {
        let of = StructType::entry(DataType::Null, DataType::Null)?;
        Ok(Expr::literal(Value::Text("".into()), DataType::Map(of)))
    }

    /// The value that a map has for a subscript.
    pub(super) fn map_access(
        &mut self,
        map: Expr,
        access: &'a AccessExpr,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let AccessExpr::Subscript(Subscript::Index { index }) = access else {
            return Err(unsupported("this access to a part of a map", whole));
        };
        let key = self.expr(index)?;
        self.looked_up(Function::MapItem, map, key, whole)
    }

    /// What a map has for a key, which is brought to the type of its keys.
    fn looked_up(
        &mut self,
        function: Function,
        map: Expr,
        key: Expr,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let DataType::Map(of) = map.data_type else {
            return Err(SqlError::internal("a map that is none"));
        };
        let [own, value] = of.fields() else {
            return Err(SqlError::internal("a map without keys"));
        };
        let known = match own.data_type {
            DataType::Null => DataType::Text,
            known => known,
        };
        let meet = types::numeric::comparison_type(known, key.data_type);
        let Some(meet) = meet else {
            let message =
                format!("a key of {} is no {}", name_of(map.data_type), name_of(key.data_type));
            return Err(at(SqlError::new(SqlState::DATATYPE_MISMATCH, message), whole));
        };
        // The keys are looked for in the type in which both compare, so that no key is rounded to another.
        let (map, key) = match meet == known || known.is_text() && meet.is_text() {
            true => (map, self.converted(key, known).map_err(|it| at(it, whole))?),
            false => {
                let of = StructType::entry(meet, value.data_type)?;
                (fold_cast(map, DataType::Map(of)), self.converted(key, meet)?)
            }
        };
        let result = match function {
            Function::MapItem => value.data_type,
            Function::MapExtract => list_of(value.data_type, whole)?,
            _ => DataType::Boolean,
        };
        self.fold_call(function, vec![map, key], result)
    }

    /// A call of a function of maps; `None` of any other call.
    pub(super) fn map_call(
        &mut self,
        name: &str,
        bound: &[Expr],
        whole: &'a ast::Expr,
    ) -> Option<SqlResult<Expr>> {
        let entry = |it: &Expr| match it.data_type {
            DataType::Map(of) => Some(of),
            _ => None,
        };
        match (name, bound) {
            ("map", []) => Some(self.empty_map()),
            ("map", [keys, values]) => {
                let of_list = |it: &Expr| match it.data_type {
                    DataType::Null => Some(DataType::Null),
                    known => known.element(),
                };
                let (key, value) = (of_list(keys)?, of_list(values)?);
                Some(self.map_of_lists((keys, key), (values, value), whole))
            }
            ("map_from_entries", [list]) => {
                let DataType::Struct(of) = list.data_type.element()? else { return None };
                let [key, value] = of.fields() else { return None };
                let of = StructType::entry(key.data_type, value.data_type);
                Some(of.map(|of| fold_cast(list.clone(), DataType::Map(of))))
            }
            ("map_keys" | "map_values" | "map_entries" | "cardinality", [map]) => {
                let of = entry(map)?;
                Some(self.parts_of_map(name, map.clone(), of, whole))
            }
            ("map_extract" | "element_at", [map, key]) if entry(map).is_some() => {
                Some(self.looked_up(Function::MapExtract, map.clone(), key.clone(), whole))
            }
            ("map_extract_value", [map, key]) if entry(map).is_some() => {
                Some(self.looked_up(Function::MapItem, map.clone(), key.clone(), whole))
            }
            ("map_contains", [map, key]) if entry(map).is_some() => {
                Some(self.looked_up(Function::MapContains, map.clone(), key.clone(), whole))
            }
            ("map_concat", [_, _, ..]) if bound.iter().any(|it| entry(it).is_some()) => {
                let mut maps = bound.to_vec();
                let common = self.unify(&mut maps, "MAP").map_err(|it| at(it, whole));
                Some(common.and_then(|it| self.fold_call(Function::MapConcat, maps, it)))
            }
            _ => None,
        }
    }

    fn map_of_lists(
        &mut self,
        (keys, key): (&Expr, DataType),
        (values, value): (&Expr, DataType),
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let is_null = |it: &Expr| {
            it.data_type == DataType::Null && super::constant(it).is_none_or(Value::is_null)
        };
        let of = StructType::entry(key, value).map_err(|it| at(it, whole))?;
        if is_null(keys) || is_null(values) {
            self.leave_out([keys.clone(), values.clone()]);
            return Ok(plan::build::null(DataType::Map(of)));
        }
        // Brackets around nothing are a list of any type.
        let of = StructType::entry(decided(key), decided(value))?;
        let mut list = |it: &Expr, of| self.converted(it.clone(), list_of(of, whole)?);
        let lists = vec![list(keys, key)?, list(values, value)?];
        self.fold_call(Function::MapOfLists, lists, DataType::Map(of))
    }

    fn parts_of_map(
        &mut self,
        name: &str,
        map: Expr,
        of: StructType,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let [key, value] = of.fields() else {
            return Err(SqlError::internal("a map without keys"));
        };
        let entries = list_of(DataType::Struct(of), whole)?;
        match name {
            "map_keys" => {
                let result = list_of(key.data_type, whole)?;
                self.fold_call(Function::MapKeys, vec![map], result)
            }
            "map_values" => {
                let result = list_of(value.data_type, whole)?;
                self.fold_call(Function::MapValues, vec![map], result)
            }
            "map_entries" => Ok(fold_cast(map, entries)),
            _ => {
                let list = fold_cast(map, entries);
                self.fold_call(Function::Cardinality, vec![list], DataType::Integer)
            }
        }
    }
}

/// What is known of no other type is text.
fn decided(of: DataType) -> DataType {
    if of == DataType::Null { DataType::Text } else { of }
}

/// Lists of values of a type.
fn list_of(of: DataType, whole: &ast::Expr) -> SqlResult<DataType> {
    match of {
        DataType::Null => Ok(DataType::Array(types::Element::Text)),
        known => known.array().ok_or_else(|| unsupported("a list of lists", whole)),
    }
}
