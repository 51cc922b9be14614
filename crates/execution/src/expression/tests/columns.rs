//! Text columns of storage for tests.

use arrow_array::{RecordBatch, StringArray};
use arrow_schema::{DataType as ArrowType, Field, Schema};
use hardware::samples;
use memory::Allocator;
use simulator::SimulatedMachine;
use stdx::sync::Arc;
use storage::{BuildContext, Column, ColumnSchema, TableBuilder};
use types::{ColumnId, DataType};

use crate::{Bitmap, ColumnShape, Representation, Values, Vector};

/// A column of texts; near-unique ones are held plain, others in a dictionary.
pub(super) fn column(texts: &[String], data_type: DataType) -> Arc<Column> {
    let schema = vec![ColumnSchema::new("t", data_type, true)];
    let field = Field::new("t", ArrowType::Utf8, true);
    let array = StringArray::from_iter_values(texts);
    let batch = RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![Arc::new(array)]);
    let builder = TableBuilder::new("t", schema);
    builder.push(0, batch.unwrap()).unwrap();
    let allocator = Allocator::new(SimulatedMachine::new(samples::laptop(), 1));
    let table = builder.finish(&BuildContext::serial(&allocator)).unwrap();
    table.column(ColumnId(0)).clone()
}

/// A vector of codes or positions, with NULL where there is none.
pub(super) fn coded(column: &Arc<Column>, codes: &[Option<u32>]) -> (ColumnShape, Arc<Vector>) {
    let nullable = codes.iter().any(Option::is_none);
    let shape = ColumnShape {
        data_type: column.data_type,
        representation: Representation::Codes(column.clone()),
        bounds: None,
        nullable,
    };
    let values = Values::Codes(codes.iter().map(|it| it.unwrap_or(0)).collect());
    let validity = nullable.then(|| Bitmap::from_bits(codes.iter().map(Option::is_some)));
    (shape, Arc::new(Vector { values, validity }))
}

/// Texts one after the other, several times.
pub(super) fn repeated(texts: &[String], times: usize) -> Vec<String> {
    texts.iter().cycle().take(texts.len() * times).cloned().collect()
}
