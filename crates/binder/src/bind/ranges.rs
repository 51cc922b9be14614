//! Ranges and sets of them: operators on them, their constructors, and functions of texts and aggregates that are of ranges, too.

use plan::build::null;
use plan::{Expr, Function};
use sqlparser::ast;
use types::{DataType, Range, SqlResult};

use super::Binder;
use super::coercion::fold_cast;
use super::comparison::no_operator;
use super::errors::at;

fn is_range(expr: &Expr) -> bool {
    expr.data_type.range().is_some()
}

/// The functions of operators that tell a truth, and whether the second operand is the first argument.
fn test_of(sign: &str) -> Option<(Function, bool)> {
    Some(match sign {
        "@>" => (Function::RangeContains, false),
        "<@" => (Function::RangeContains, true),
        "&&" => (Function::RangeOverlaps, false),
        "<<" => (Function::RangeBefore, false),
        ">>" => (Function::RangeBefore, true),
        "&<" => (Function::RangeOverleft, false),
        "&>" => (Function::RangeOverright, false),
        "-|-" => (Function::RangeAdjacent, false),
        _ => return None,
    })
}

/// The functions of operators that make a range, or a set.
fn maker_of(sign: &str) -> Option<Function> {
    Some(match sign {
        "+" => Function::RangeUnion,
        "-" => Function::RangeMinus,
        "*" => Function::RangeIntersect,
        _ => return None,
    })
}

impl<'a> Binder<'a> {
    /// An operator on addresses or ranges; `None` where neither operand is one.
    ///
    /// Errors: 42883 for an operator that there is not.
    pub(super) fn own_operator(
        &mut self,
        sign: &str,
        left: &Expr,
        right: &Expr,
        whole: &'a ast::Expr,
    ) -> SqlResult<Option<Expr>> {
        match is_range(left) || is_range(right) {
            true => self.with_ranges(sign, left, right, whole).map(Some),
            false => self.with_networks(sign, left, right, whole),
        }
    }

    /// An operator of which an operand is a range or a set; a constant of unknown type is of the type of the other.
    fn with_ranges(
        &mut self,
        sign: &str,
        left: &Expr,
        right: &Expr,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let (a, b) = (left.data_type, right.data_type);
        let mut known = |it: &Expr, other: DataType| match it.data_type {
            DataType::Null => self.coerce_unknown(it.clone(), other).map_err(|it| at(it, whole)),
            _ => Ok(it.clone()),
        };
        let (left, right) = (known(left, b)?, known(right, a)?);
        let none = || no_operator(sign, a, b, whole);
        if let Some(function) = maker_of(sign) {
            return match left.data_type == right.data_type {
                true => self.invoke(function, vec![left, right], whole),
                false => Err(none()),
            };
        }
        let (function, turned) = test_of(sign).ok_or_else(none)?;
        let (one, other) = if turned { (right, left) } else { (left, right) };
        let of = one.data_type.range();
        match (of, other.data_type) {
            (Some(of), item) if function == Function::RangeContains && is_of(of, item) => {
                let item = fold_cast(other, of.bound());
                self.invoke(Function::RangeContainsItem, vec![one, item], whole)
            }
            (Some(_), _) if of == other.data_type.range() => {
                self.invoke(function, vec![one, other], whole)
            }
            _ => Err(none()),
        }
    }

    /// A call that makes or looks at ranges, by the name of a function that others have, too; `None` of any other.
    pub(super) fn range_call(
        &mut self,
        name: &str,
        bound: &[Expr],
        whole: &'a ast::Expr,
    ) -> Option<SqlResult<Expr>> {
        match (name, bound) {
            ("lower", [of]) if is_range(of) => {
                Some(self.invoke(Function::RangeLower, bound.to_vec(), whole))
            }
            ("upper", [of]) if is_range(of) => {
                Some(self.invoke(Function::RangeUpper, bound.to_vec(), whole))
            }
            ("multirange", [of]) => match of.data_type {
                DataType::Range(it) => Some(Ok(fold_cast(of.clone(), DataType::Multirange(it)))),
                _ => None,
            },
            (_, [_, _] | [_, _, _]) if let Some(of) = Range::by_name(name) => {
                let range = DataType::Range(of);
                let arguments = [&[null(range)], bound].concat();
                // The error is of the name that is said.
                let types: Vec<DataType> = arguments.iter().map(|it| it.data_type).collect();
                match functions::resolve(Function::RangeOf, &types) {
                    Ok(_) => Some(self.invoke(Function::RangeOf, arguments, whole)),
                    Err(_) => Some(Err(self.no_function(name, bound, whole))),
                }
            }
            _ => {
                let of = Range::by_set_name(name)?;
                // The name of the type before a constant reads it.
                let is_read = matches!(bound, [one] if one.data_type == DataType::Null
                    || one.data_type.is_text() || is_set(one));
                (!is_read).then(|| self.set_of(of, name, bound, whole))
            }
        }
    }

    /// The set of some ranges.
    fn set_of(
        &mut self,
        of: Range,
        name: &str,
        bound: &[Expr],
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let (range, set) = (DataType::Range(of), DataType::Multirange(of));
        if bound.iter().any(|it| it.data_type != range && it.data_type != DataType::Null) {
            return Err(self.no_function(name, bound, whole));
        }
        let ranges = bound.iter().map(|it| self.converted(it.clone(), range));
        let ranges = ranges.collect::<SqlResult<Vec<_>>>().map_err(|it| at(it, whole))?;
        match &ranges[..] {
            [one] => Ok(fold_cast(one.clone(), set)),
            [] => {
                let none = types::Value::Text(types::ranges::EMPTY.into());
                Ok(Expr::literal(none, set))
            }
            _ => {
                let list = self.invoke(Function::ArrayOf, ranges, whole)?;
                self.invoke(Function::RangesOf, vec![list], whole)
            }
        }
    }

    /// `int4multirange(VARIADIC array)`; `None` of the name of another function.
    pub(super) fn set_of_array(
        &mut self,
        name: &str,
        array: &Expr,
        whole: &'a ast::Expr,
    ) -> Option<SqlResult<Expr>> {
        let of = Range::by_set_name(name)?;
        let list = DataType::Range(of).array()?;
        Some(match array.data_type {
            // A constant of unknown type is read as the set, as PostgreSQL does it.
            DataType::Null => self.converted(array.clone(), DataType::Multirange(of)),
            own if own == list => self.invoke(Function::RangesOf, vec![array.clone()], whole),
            _ => Err(self.no_function(name, std::slice::from_ref(array), whole)),
        })
    }

    /// The ranges of a set as an array, of which rows are made; other values as they are.
    pub(super) fn ranges_in(&mut self, value: Expr) -> SqlResult<Expr> {
        match value.data_type {
            DataType::Multirange(of) => match DataType::Range(of).array() {
                Some(list) => self.fold_call(Function::RangeItems, vec![value], list),
                None => Ok(value),
            },
            _ => Ok(value),
        }
    }

    /// What an aggregate of ranges makes of the array of them; the array itself of any other aggregate.
    pub(super) fn ranges_of_aggregate(&mut self, name: &str, array: Expr) -> SqlResult<Expr> {
        let element = array.data_type.element();
        let Some((element, of)) = element.and_then(|it| Some((it, it.range()?))) else {
            return Ok(array);
        };
        match name {
            "range_agg" => {
                self.fold_call(Function::RangesOf, vec![array], DataType::Multirange(of))
            }
            "range_intersect_agg" => {
                self.fold_call(Function::RangesIntersect, vec![array], element)
            }
            _ => Ok(array),
        }
    }
}

fn is_set(expr: &Expr) -> bool {
    matches!(expr.data_type, DataType::Multirange(_))
}

/// Whether values of a type are what lies between the bounds of ranges: nothing becomes it unasked, but for numbers of a scale.
fn is_of(range: Range, item: DataType) -> bool {
    item == range.bound() || range == Range::Num && matches!(item, DataType::Decimal { .. })
}
