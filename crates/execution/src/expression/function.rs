//! Functions of a library, on Arrow arrays.

use plan::ArrowFunction;
use stdx::sync::Arc;
use types::{DataType, SqlResult};

use super::node::{Facts, Kernel, Node};
use crate::arrow::{from_arrow, to_arrow};
use crate::{Batch, ColumnShape, Vector};

#[derive(Debug)]
struct Function {
    function: Arc<dyn ArrowFunction>,
    arguments: Vec<Node>,
    shape: ColumnShape,
}

/// Compiles a call.
pub(super) fn function(
    function: Arc<dyn ArrowFunction>,
    arguments: Vec<Node>,
    data_type: DataType,
) -> Node {
    let mut facts = Facts::of(&arguments).or_fallible(true);
    facts.volatile |= !function.is_immutable();
    // What a function makes of NULL, and where it yields one, is its own affair.
    let shape = ColumnShape::computed(data_type, true);
    facts.nullable = true;
    Node::new(shape.clone(), facts, Function { function, arguments, shape })
}

impl Kernel for Function {
    fn evaluate(&self, batch: &Batch) -> SqlResult<Vector> {
        let arguments = (self.arguments.iter())
            .map(|it| Ok(to_arrow(&*it.evaluate(batch)?, &it.shape)))
            .collect::<SqlResult<Vec<_>>>()?;
        let result = self.function.invoke(&arguments, batch.rows)?;
        from_arrow(&result, &self.shape)
    }
}
