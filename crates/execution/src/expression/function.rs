//! Scalar functions, on Arrow arrays.

use functions::Volatility;
use plan::Function;
use types::{DataType, SqlResult};

use super::node::{Facts, Kernel, Node};
use crate::arrow::{from_arrow, to_arrow};
use crate::{Batch, ColumnShape, Vector};

#[derive(Debug)]
struct Call {
    function: Function,
    arguments: Vec<Node>,
    shape: ColumnShape,
}

/// Compiles a call.
pub(super) fn function(function: Function, arguments: Vec<Node>, data_type: DataType) -> Node {
    let mut facts = Facts::of(&arguments).or_fallible(true);
    facts.volatile |= functions::volatility(function) == Volatility::Volatile;
    // What a function makes of NULL, and where it yields one, is its own affair.
    let shape = ColumnShape::computed(data_type, true);
    facts.nullable = true;
    Node::new(shape.clone(), facts, Call { function, arguments, shape })
}

impl Kernel for Call {
    fn evaluate(&self, batch: &Batch) -> SqlResult<Vector> {
        let arguments = (self.arguments.iter())
            .map(|it| Ok(to_arrow(&*it.evaluate(batch)?, &it.shape)))
            .collect::<SqlResult<Vec<_>>>()?;
        let result =
            functions::invoke(self.function, &arguments, batch.rows, self.shape.data_type)?;
        from_arrow(&result, &self.shape)
    }
}
