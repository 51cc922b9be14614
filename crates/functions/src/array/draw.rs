//! Items of arrays in an order that is drawn: `array_shuffle` and `array_sample`.

use arrow_array::{Array as _, ArrayRef};
use plan::Function;
use types::SqlResult;
use types::array;

use super::build;
use super::held::Array;
use crate::call::Call;
use crate::error::invalid;
use crate::random::generator;

/// The rows of the first dimension in a drawn order, or so many of them.
pub(super) fn drawn(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (arrays, counts) = (call.texts(0)?, call.optional_integers(1)?);
    let mut prng = generator();
    build::each(call, |row, out| {
        if call.is_null(row) || arrays.is_null(row) {
            return Ok(false);
        }
        let array = Array::read(arrays.value(row));
        let mut rows: Vec<&[&str]> = array.rows().collect();
        let wanted = match counts {
            Some(counts) => usize::try_from(counts.at(row)).ok().filter(|it| *it <= rows.len()),
            None => Some(rows.len()),
        };
        let Some(wanted) = wanted else {
            let message = format!("sample size must be between 0 and {}", rows.len());
            return Err(invalid(message));
        };
        for place in 0..wanted {
            let left = (rows.len() - place) as u64;
            rows.swap(place, place + prng.below(left) as usize);
        }
        rows[..wanted].iter().flat_map(|it| it.iter()).for_each(|it| out.push_str(it));
        let mut shape = array.dimensions.clone();
        if let Some(first) = shape.first_mut() {
            first.length = wanted as i32;
            if call.function == Function::ArraySample {
                first.lower = 1;
            }
        }
        if wanted == 0 {
            shape.clear();
        }
        array::close(out, 0, &shape).map(|()| true)
    })
}
