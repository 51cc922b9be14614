//! Rows that come several times, numbered, with what functions make of each: the values of several functions stand side by
//! side, and where one has no more, NULL.

use plan::build::unary;
use plan::relation::{Attr, Rel};
use plan::{BinaryOperator, Expr, ExprKind, Function, UnaryOperator};
use types::{DataType, SqlError, SqlResult};

use super::coercion::fold_cast;
use super::series::integer;
use super::series_parts::{Part, Rule};
use super::{Binder, mapped};

impl Binder<'_> {
    /// The rows of all parts, and the attribute that numbers them from 1 on.
    pub(super) fn side_by_side(&mut self, input: Rel, parts: &[Part]) -> SqlResult<(Rel, Attr)> {
        let lengths: Vec<Expr> = parts.iter().map(|it| it.length.clone()).collect();
        let (input, lengths) = self.named_values(lengths, input);
        let count = match &lengths[..] {
            [one] => one.clone(),
            several => self.fold_call(Function::Greatest, several.to_vec(), DataType::BigInt)?,
        };
        let mut items: Vec<(Attr, Attr)> = Vec::new();
        let of_items = parts.iter().filter_map(|it| match it.rule {
            Rule::Items(array) => Some((it.value, array)),
            Rule::Made { array, item, .. } | Rule::Placed { array, item, .. } => {
                Some((item, array))
            }
            _ => None,
        });
        for pair in of_items {
            if !items.contains(&pair) {
                items.push(pair);
            }
        }
        let (rel, number) = self.repeated(input, count, items);
        let mut made = Vec::new();
        for (part, length) in parts.iter().zip(lengths) {
            let Some(value) = self.value_of(&part.rule, number)? else { continue };
            let data_type = value.data_type;
            let value = match parts.len() {
                1 => value,
                _ => {
                    let own = Expr::column(number, DataType::BigInt);
                    let there = plan::build::compare(BinaryOperator::LessEqual, own, length);
                    let kind = ExprKind::Case { branches: vec![(there, value)], otherwise: None };
                    Expr { kind, data_type }
                }
            };
            made.push((part.value, value));
        }
        Ok((mapped(rel, made), number))
    }

    /// The value of a number; `None` of items, which come with the row.
    fn value_of(&mut self, rule: &Rule, number: Attr) -> SqlResult<Option<Expr>> {
        let no_operator = || Err(SqlError::internal("numbers of a series do not add up"));
        Ok(match rule.clone() {
            Rule::Items(_) => None,
            Rule::Made { value, .. } | Rule::Once(value) => Some(value),
            Rule::Placed { item, row, .. } => {
                let place = Expr::column(number, DataType::BigInt);
                let fields = vec![self.column_expr(item), fold_cast(place, DataType::Integer)];
                Some(self.fold_call(Function::StructOf, fields, DataType::Struct(row))?)
            }
            Rule::Numbers { first, step, data_type } => {
                let on = self.minus_one(number)?;
                let way = self.calculate(BinaryOperator::Multiply, on, step);
                let way = way.unwrap_or_else(no_operator)?;
                let value = self.calculate(BinaryOperator::Add, first, way);
                Some(fold_cast(value.unwrap_or_else(no_operator)?, data_type))
            }
            Rule::Moments { first, step, zone, data_type } => {
                let on = self.minus_one(number)?;
                let arguments = [first, on, step].into_iter().chain(zone).collect();
                Some(self.fold_call(Function::SeriesMoment, arguments, data_type)?)
            }
        })
    }

    /// Values that are computed once.
    pub(super) fn named_values(&mut self, values: Vec<Expr>, input: Rel) -> (Rel, Vec<Expr>) {
        let mut made = Vec::with_capacity(values.len());
        let mut named = Vec::with_capacity(values.len());
        for value in values {
            let data_type = value.data_type;
            let attr = self.attribute(data_type, true);
            made.push((attr, value));
            named.push(Expr::column(attr, data_type));
        }
        (mapped(input, made), named)
    }

    /// A row that comes as often as a length says, never where that is NULL.
    fn repeated(&mut self, input: Rel, length: Expr, items: Vec<(Attr, Attr)>) -> (Rel, Attr) {
        let (known, count) =
            (self.attribute(DataType::BigInt, true), self.attribute(DataType::BigInt, false));
        let number = self.attribute(DataType::BigInt, false);
        let input = mapped(input, vec![(known, length)]);
        let own = Expr::column(known, DataType::BigInt);
        let branches = vec![(unary(UnaryOperator::IsNotNull, own.clone()), own)];
        let otherwise = Some(Box::new(integer(0)));
        let often =
            Expr { kind: ExprKind::Case { branches, otherwise }, data_type: DataType::BigInt };
        let input = Box::new(mapped(input, vec![(count, often)]));
        (Rel::Repeat { input, count, number: Some(number), items }, number)
    }

    fn minus_one(&mut self, number: Attr) -> SqlResult<Expr> {
        let number = Expr::column(number, DataType::BigInt);
        let less = self.calculate(BinaryOperator::Subtract, number, integer(1));
        less.unwrap_or_else(|| Err(SqlError::internal("numbers of a series do not add up")))
    }
}
