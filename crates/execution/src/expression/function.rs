//! Scalar functions, on Arrow arrays.

use arrow_array::new_null_array;
use functions::{Sequences, Volatility};
use plan::Function;
use stdx::sync::Arc;
use types::{DataType, SqlError, SqlResult};

use super::node::{Facts, Kernel, Node};
use crate::arrow::{arrow_type, from_arrow, to_arrow};
use crate::{Batch, ColumnShape, Vector};

#[derive(Debug)]
struct Call {
    function: Function,
    arguments: Vec<Node>,
    shape: ColumnShape,
    /// What a function about sequences, or the session, asks.
    sequences: Option<Arc<dyn Sequences>>,
}

/// Compiles a call.
pub(super) fn function(
    function: Function,
    arguments: Vec<Node>,
    data_type: DataType,
    sequences: Option<Arc<dyn Sequences>>,
) -> Node {
    let sequences = sequences.filter(|_| function.is_of_sequences() || function.is_of_sessions());
    let mut facts = Facts::of(&arguments).or_fallible(true);
    facts.volatile |= functions::volatility(function) == Volatility::Volatile;
    // What a function makes of NULL, and where it yields one, is its own affair.
    let shape = ColumnShape::computed(data_type, true);
    facts.nullable = true;
    Node::new(shape.clone(), facts, Call { function, arguments, shape, sequences })
}

/// A value that cannot be had, and why.
#[derive(Debug)]
struct Raised {
    error: SqlError,
    shape: ColumnShape,
}

/// What fails for each row that asks for it.
pub(super) fn raised(error: SqlError, data_type: DataType) -> Node {
    let shape = ColumnShape::computed(data_type, true);
    let mut facts = Facts::of(&[]).or_fallible(true);
    facts.nullable = true;
    Node::new(shape.clone(), facts, Raised { error, shape })
}

impl Kernel for Raised {
    fn evaluate(&self, batch: &Batch) -> SqlResult<Vector> {
        match batch.rows {
            0 => from_arrow(&new_null_array(&arrow_type(self.shape.data_type), 0), &self.shape),
            _ => Err(self.error.clone()),
        }
    }
}

impl Kernel for Call {
    fn evaluate(&self, batch: &Batch) -> SqlResult<Vector> {
        let arguments = (self.arguments.iter())
            .map(|it| Ok(to_arrow(&*it.evaluate(batch)?, &it.shape)))
            .collect::<SqlResult<Vec<_>>>()?;
        let result = match &self.sequences {
            Some(it) => functions::count(self.function, &arguments, batch.rows, &**it)?,
            None => functions::invoke(self.function, &arguments, batch.rows, self.shape.data_type)?,
        };
        from_arrow(&result, &self.shape)
    }
}
