//! `avg` with the digits that Postgres gives: DataFusion keeps four more than the argument has, too few for small means.

use datafusion_common::arrow::datatypes::DataType;
use datafusion_common::{Result, not_impl_err};
use datafusion_expr::function::AccumulatorArgs;
use datafusion_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, Signature};
use stdx::sync::Arc;

/// Digits after the point that the mean of exact numbers has at least, as long as 38 digits leave room for them.
const SCALE_MIN: i8 = 16;
const DIGITS_MAX: i8 = 38;

/// Digits after the point of the mean of decimals.
fn scale_of_mean(precision: u8, scale: i8) -> i8 {
    let whole = i8::try_from(precision).unwrap_or(DIGITS_MAX) - scale;
    SCALE_MIN.min(DIGITS_MAX - whole).max(scale)
}

/// The type of the mean of decimals.
pub(super) fn mean_of(precision: u8, scale: u8) -> types::DataType {
    let scale = scale_of_mean(precision, scale as i8) as u8;
    types::DataType::Decimal { precision: DIGITS_MAX as u8, scale }
}

/// DataFusion's `avg` but for the type of the mean of exact numbers.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Average {
    library: Arc<AggregateUDF>,
}

/// `avg`, made from the library's.
pub fn average(library: Arc<AggregateUDF>) -> AggregateUDF {
    AggregateUDF::new_from_impl(Average { library })
}

impl AggregateUDFImpl for Average {
    fn name(&self) -> &str {
        self.library.name()
    }

    fn aliases(&self) -> &[String] {
        self.library.aliases()
    }

    fn signature(&self) -> &Signature {
        self.library.signature()
    }

    fn coerce_types(&self, arguments: &[DataType]) -> Result<Vec<DataType>> {
        self.library.coerce_types(arguments)
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        match arguments {
            [DataType::Decimal128(precision, scale)] => {
                Ok(DataType::Decimal128(DIGITS_MAX as u8, scale_of_mean(*precision, *scale)))
            }
            _ => self.library.return_type(arguments),
        }
    }

    fn accumulator(&self, _: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        not_impl_err!("means are computed by execution")
    }
}
