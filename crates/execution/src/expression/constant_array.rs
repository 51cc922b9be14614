//! Where a value stands in an array that is a constant, and what stands at a place of one: the array is taken apart once, so that
//! both cost the same however long it is. What the catalog tells of a number or a name is looked up by these.

use std::collections::HashMap;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int16Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, Int32Array, StringArray, UInt32Array};
use arrow_select::take::take;
use foldhash::quality::FixedState;
use plan::Function;
use stdx::sync::Arc;
use types::array::{self, Items};
use types::{DataType, SqlError, SqlResult, Value};

use super::node::{Facts, Kernel, Node};
use crate::arrow::{from_arrow, to_arrow};
use crate::{Batch, ColumnShape, Vector};

/// What stands behind the items of an array of one dimension whose first subscript is 1.
const LIST: &str = "\u{2}";

/// Compiles `array_position` and subscripts of a constant; gives the operands back where it is neither.
pub(super) fn of_constant(
    function: Function,
    mut arguments: Vec<Node>,
    data_type: DataType,
) -> Result<Node, Vec<Node>> {
    let is_position = match function {
        Function::ArrayPosition => true,
        Function::ArrayItem => false,
        _ => return Err(arguments),
    };
    let [of, with] = &arguments[..] else { return Err(arguments) };
    let items = list_of(of).filter(|_| !with.is_null());
    let node = match items {
        Some(items) if is_position && has_items(with.shape.data_type) => {
            let mut places = HashMap::with_capacity_and_hasher(items.len(), FixedState::default());
            for (place, item) in (1..).zip(items) {
                places.entry(item).or_insert(place);
            }
            Some(Lookup::Places(places))
        }
        Some(items) if !is_position => column_of(&items, data_type).map(Lookup::Items),
        _ => None,
    };
    let Some(lookup) = node else { return Err(arguments) };
    let operand = arguments.swap_remove(1);
    let facts = Facts { nullable: true, ..Facts::of([&operand]) };
    let shape = ColumnShape::computed(data_type, true);
    Ok(Node::new(shape.clone(), facts, ConstantArray { lookup, operand, shape }))
}

/// The items of a constant array with one dimension, as they are held.
fn list_of(node: &Node) -> Option<Vec<String>> {
    let Some(Value::Text(held)) = node.as_constant() else { return None };
    let mut items = Items::new(held);
    let all: Vec<String> = items.by_ref().map(str::to_owned).collect();
    (items.rest() == LIST).then_some(all)
}

fn has_items(data_type: DataType) -> bool {
    data_type.is_text() && !data_type.is_blank_padded() || data_type.is_integer()
}

/// Items as a column of their type; `None` of types that are not looked up so.
fn column_of(items: &[String], data_type: DataType) -> Option<ArrayRef> {
    let there = || items.iter().map(|it| Some(it).filter(|it| !array::is_null(it)));
    let numbers = || there().map(|it| it.map(|it| array::integer_of(it)));
    Some(match data_type {
        DataType::Text => {
            Arc::new(there().map(|it| it.map(|it| array::text_of(it))).collect::<StringArray>())
        }
        DataType::Integer => {
            Arc::new(numbers().map(|it| it.map(|it| it as i32)).collect::<Int32Array>())
        }
        DataType::BigInt => {
            let numbers = numbers().map(|it| it.map(|it| it as i64));
            Arc::new(numbers.collect::<arrow_array::Int64Array>())
        }
        _ => return None,
    })
}

#[derive(Debug)]
enum Lookup {
    /// The first place of each item.
    Places(HashMap<String, i32, FixedState>),
    Items(ArrayRef),
}

#[derive(Debug)]
struct ConstantArray {
    lookup: Lookup,
    operand: Node,
    shape: ColumnShape,
}

impl Kernel for ConstantArray {
    fn evaluate(&self, batch: &Batch) -> SqlResult<Vector> {
        let operand = to_arrow(&*self.operand.evaluate(batch)?, &self.operand.shape);
        let found = match &self.lookup {
            Lookup::Places(places) => places_of(places, &operand)?,
            Lookup::Items(items) => {
                let length = items.len() as i64;
                let within = |it: i64| (1..=length).contains(&it).then(|| it - 1);
                let place = |it: i64| within(it).and_then(|it| u32::try_from(it).ok());
                let places = integers(&operand)?.into_iter().map(|it| it.and_then(place));
                let taken = take(items, &places.collect::<UInt32Array>(), None);
                taken.map_err(|error| SqlError::internal(error.to_string()))?
            }
        };
        from_arrow(&found, &self.shape)
    }
}

fn places_of(places: &HashMap<String, i32, FixedState>, operand: &ArrayRef) -> SqlResult<ArrayRef> {
    let mut item = String::new();
    let mut find = |push: &dyn Fn(&mut String)| {
        item.clear();
        push(&mut item);
        places.get(&item).copied()
    };
    let null = |out: &mut String| out.push_str(array::NULL_ITEM);
    let found: Int32Array = match operand.as_string_opt::<i32>() {
        Some(texts) => texts
            .iter()
            .map(|it| match it {
                Some(it) => find(&|out| array::push_text(out, it)),
                None => find(&null),
            })
            .collect(),
        None => integers(operand)?
            .into_iter()
            .map(|it| match it {
                Some(it) => find(&|out| array::push_integer(out, it.into())),
                None => find(&null),
            })
            .collect(),
    };
    Ok(Arc::new(found))
}

fn integers(array: &ArrayRef) -> SqlResult<Vec<Option<i64>>> {
    if let Some(it) = array.as_primitive_opt::<Int64Type>() {
        return Ok(it.iter().collect());
    }
    if let Some(it) = array.as_primitive_opt::<Int32Type>() {
        return Ok(it.iter().map(|it| it.map(i64::from)).collect());
    }
    let small = array.as_primitive_opt::<Int16Type>();
    let small = small.ok_or_else(|| SqlError::internal("a place that is no number"))?;
    Ok(small.iter().map(|it| it.map(i64::from)).collect())
}
