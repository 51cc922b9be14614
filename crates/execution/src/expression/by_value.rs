//! Conversions done value by value, by the rules for single values: of types that are held as others. Also what depends on the
//! type of structs and maps, which their held form does not tell, and why a text is no value.

use plan::Function;
use types::numeric::{self, depends_on_zone};
use types::{DataType, Element, SqlError, SqlResult, Value, Zone, array, structs};

use super::node::{Facts, Kernel, Node};
use super::vectors::vector_of;
use crate::{Batch, ColumnShape, Vector};

#[derive(Debug)]
struct Converted {
    operand: Node,
    shape: ColumnShape,
    zone: Zone,
    /// Whether NULL takes the place of what does not convert.
    tries: bool,
}

/// Compiles a conversion; `zone` is that of the session, where it may count.
pub(super) fn converted(operand: Node, to: DataType, zone: Option<&Zone>) -> SqlResult<Node> {
    conversion(operand, to, zone, false)
}

/// Compiles a conversion to a type of several values, in which what does not convert is NULL.
pub(super) fn tried(operand: Node, to: DataType, zone: &Zone) -> SqlResult<Node> {
    conversion(operand, to, Some(zone), true)
}

fn conversion(operand: Node, to: DataType, zone: Option<&Zone>, tries: bool) -> SqlResult<Node> {
    let from = operand.shape.data_type;
    if from != DataType::Null && !numeric::is_castable(from, to) {
        return Err(numeric::errors::cannot_cast(from, to));
    }
    let zone = match zone {
        Some(zone) => zone.clone(),
        None if depends_on_zone(from, to) => {
            return Err(SqlError::internal(format!("{from} becomes {to} in no time zone")));
        }
        None => Zone::utc(),
    };
    let facts = Facts::of([&operand]).or_fallible(true);
    // An infinite point of time is at no time of a day.
    let may_have_none =
        matches!(to, DataType::Time | DataType::TimeTz) && from.stored() == DataType::Timestamp;
    let shape = ColumnShape::computed(to, facts.nullable || tries || may_have_none);
    Ok(Node::new(shape.clone(), facts, Converted { operand, shape, zone, tries }))
}

impl Kernel for Converted {
    fn evaluate(&self, batch: &Batch) -> SqlResult<Vector> {
        let vector = self.operand.evaluate(batch)?;
        let (held, to) = (&self.operand.shape, self.shape.data_type);
        let cast = if self.tries { numeric::try_cast_in } else { numeric::cast_in };
        let value = |row| cast(&vector.value(held, row), held.data_type, to, &self.zone);
        let values = (0..batch.rows).map(value).collect::<SqlResult<Vec<_>>>()?;
        Ok(vector_of(&values, &self.shape))
    }
}

#[derive(Debug)]
struct OfNested {
    function: Function,
    operand: Node,
    shape: ColumnShape,
    zone: Zone,
}

/// Compiles what structs, maps and arrays of them are compared by, are as JSON or as a column stores them.
pub(super) fn of_nested(function: Function, operand: Node, to: DataType, zone: &Zone) -> Node {
    if operand.is_null() {
        return Node::null(to);
    }
    let facts = Facts::of([&operand]).or_fallible(true);
    let shape = ColumnShape::computed(to, facts.nullable);
    Node::new(shape.clone(), facts, OfNested { function, operand, shape, zone: zone.clone() })
}

impl Kernel for OfNested {
    fn evaluate(&self, batch: &Batch) -> SqlResult<Vector> {
        let vector = self.operand.evaluate(batch)?;
        let (held, to) = (&self.operand.shape, self.shape.data_type);
        let value = |row| match (self.function, vector.value(held, row)) {
            (Function::NestedKey, value) => structs::key(&value, held.data_type),
            (Function::NestedFit, value) => numeric::assign(&value, held.data_type, to, ""),
            (_, value) => functions::json_of(&value, (held.data_type, to), &self.zone),
        };
        let values = (0..batch.rows).map(value).collect::<SqlResult<Vec<_>>>()?;
        Ok(vector_of(&values, &self.shape))
    }
}

#[derive(Debug)]
struct InputErrors {
    operand: Node,
    /// The type that texts are read as.
    of: DataType,
    shape: ColumnShape,
    zone: Zone,
}

/// Compiles why texts are no values of a type.
pub(super) fn input_error(operand: Node, of: DataType, zone: &Zone) -> Node {
    let to = DataType::Array(Element::Text);
    if operand.is_null() {
        return Node::null(to);
    }
    let facts = Facts::of([&operand]).or_fallible(true);
    let shape = ColumnShape::computed(to, facts.nullable);
    Node::new(shape.clone(), facts, InputErrors { operand, of, shape, zone: zone.clone() })
}

impl Kernel for InputErrors {
    fn evaluate(&self, batch: &Batch) -> SqlResult<Vector> {
        let vector = self.operand.evaluate(batch)?;
        let reason = |row| {
            let text = vector.value(&self.operand.shape, row);
            if text.is_null() {
                return Ok(Value::Null);
            }
            // A text that is too long is none, where a cast would cut it.
            let read = match self.of.is_text() || matches!(self.of, DataType::Bits(_)) {
                true => numeric::assign(&text, DataType::Null, self.of, ""),
                false => numeric::cast_in(&text, DataType::Text, self.of, &self.zone),
            };
            let text = |it: Option<&str>| it.map_or(Value::Null, |it| Value::Text(it.into()));
            match read {
                Ok(_) => array::list(&[const { Value::Null }; 4]),
                Err(error) if error.state.is_data_exception() => array::list(&[
                    text(Some(&error.message)),
                    text(error.detail()),
                    Value::Null,
                    text(Some(error.state.0)),
                ]),
                Err(error) => Err(error),
            }
        };
        let values = (0..batch.rows).map(reason).collect::<SqlResult<Vec<_>>>()?;
        Ok(vector_of(&values, &self.shape))
    }
}
