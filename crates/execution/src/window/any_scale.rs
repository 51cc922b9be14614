//! Frames by distances of an order key where the key or a distance is a number of any scale.

use std::cmp::Reverse;

use types::numeric::Arithmetic;
use types::numeric::number::{self, Number};
use types::{SqlError, SqlResult, Value};

use super::reach::{NumberCode, Reach};
use crate::sort::CompiledSortKey;
use crate::{ColumnShape, Vector};

/// Above what holds any finite number, and below what holds infinity.
const BEYOND_FINITE: &str = "D~";
/// Below what holds any finite number, and above what holds minus infinity.
const BELOW_FINITE: &str = "B";

/// How far frames reach from values of the order key.
pub(super) struct NumberOrder {
    descending: bool,
    nulls_first: bool,
    shape: ColumnShape,
    /// The distances at the start and the end, and whether they go back.
    distances: [Option<(Number, bool)>; 2],
}

impl NumberOrder {
    pub(super) fn new(key: &CompiledSortKey, distances: [Option<(Number, bool)>; 2]) -> Self {
        let (descending, nulls_first) = (key.descending, key.nulls_first);
        Self { descending, nulls_first, shape: key.key.shape().clone(), distances }
    }

    /// The values of an order key, and how far frames reach from each.
    pub(super) fn reach(&self, keys: &Vector) -> SqlResult<Reach<NumberCode>> {
        let mut reach = Reach { codes: Vec::new(), starts: Vec::new(), ends: Vec::new() };
        for row in 0..keys.values.len() {
            let value = number_of(&keys.value(&self.shape, row))?;
            reach.codes.push(self.code(value.as_ref())?);
            let edges = [(&mut reach.starts, false), (&mut reach.ends, true)];
            for ((edges, at_end), distance) in edges.into_iter().zip(&self.distances) {
                let Some((by, back)) = distance else { continue };
                edges.push(match &value {
                    Some(it) => self.edge(it, (by, *back), at_end)?,
                    None => self.code(None)?,
                });
            }
        }
        Ok(reach)
    }

    fn code(&self, value: Option<&Number>) -> SqlResult<NumberCode> {
        Ok(match value {
            Some(it) => self.placed(number::key_of(&it.held()?)),
            None if self.nulls_first => NumberCode::First,
            None => NumberCode::Last,
        })
    }

    fn placed(&self, key: &str) -> NumberCode {
        match self.descending {
            true => NumberCode::Falling(Reverse(key.into())),
            false => NumberCode::Rising(key.into()),
        }
    }

    fn edge(
        &self,
        value: &Number,
        (by, back): (&Number, bool),
        at_end: bool,
    ) -> SqlResult<NumberCode> {
        // What is before in falling order is greater.
        let up = back == self.descending;
        let op = if up { Arithmetic::Add } else { Arithmetic::Subtract };
        let edge = match value.arithmetic(op, by)? {
            // An infinity from itself an infinity away: all that is a number is in range.
            Number::NaN if !value.is_nan() => {
                Number::Infinite { negative: at_end == self.descending }
            }
            edge => edge,
        };
        Ok(match edge.held() {
            Ok(held) => self.placed(number::key_of(&held)),
            // More digits than any number has.
            Err(_) => self.placed(if up { BEYOND_FINITE } else { BELOW_FINITE }),
        })
    }
}

/// The number that an exact value is; `None` of NULL.
pub(super) fn number_of(value: &Value) -> SqlResult<Option<Number>> {
    Ok(Some(match value {
        Value::Null => return Ok(None),
        Value::Integer(it) => Number::of_exact((*it).into(), 0),
        Value::Decimal { unscaled, scale } => Number::of_exact(*unscaled, *scale),
        Value::Text(held) => number::of_held(held)?,
        _ => return Err(SqlError::internal("a distance of what is no number")),
    }))
}
