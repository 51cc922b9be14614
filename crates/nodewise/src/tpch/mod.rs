//! TPC-H: its data, its 22 queries, and whether an answer is right.
//!
//! The demo, the benchmark and the tests all take them from here, so that they speak of the same work.
//! Reading order: `queries`, `generate`, [`answers`].

pub mod answers;
mod columns;
mod generate;
mod queries;

use arrow_array::RecordBatch;

pub use generate::{data, generate, generate_on};
pub use queries::queries;

/// The eight tables; a file of each is called `NAME.parquet`.
pub const TABLES: [&str; 8] =
    ["region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem"];

/// Whether reference answers are built in for a scale.
pub fn has_reference(scale: f64) -> bool {
    answers::reference(scale, 1).is_some()
}

/// Compares the rows of a query (`q01` to `q22`) with its reference answer; the error says where they differ.
pub fn check(name: &str, scale: f64, batches: &[RecordBatch]) -> Result<(), String> {
    let number = name.strip_prefix('q').and_then(|it| it.parse().ok());
    let number: usize = number.ok_or_else(|| format!("there is no query {name}"))?;
    let reference = answers::reference(scale, number)
        .ok_or_else(|| format!("no answer of {name} is stored for scale {scale}"))?;
    reference.check_batches(batches)
}

#[cfg(test)]
mod tests {
    use arrow_array::{ArrayRef, Decimal128Array};
    use stdx::sync::Arc;

    use super::*;

    fn revenue(unscaled: i128) -> RecordBatch {
        let array = Decimal128Array::from(vec![unscaled]).with_precision_and_scale(38, 4).unwrap();
        RecordBatch::try_from_iter([("revenue", Arc::new(array) as ArrayRef)]).unwrap()
    }

    #[test]
    fn an_answer_is_right_only_with_the_stored_value() {
        let stored = &answers::reference(0.01, 6).unwrap().rows[0][0];
        let unscaled: i128 = stored.replace('.', "").parse().unwrap();
        assert_eq!(check("q06", 0.01, &[revenue(unscaled)]), Ok(()));
        // Exact numbers may differ by a billionth, so that sums in floats of other systems can be the reference.
        assert!(check("q06", 0.01, &[revenue(unscaled + unscaled / 100_000_000)]).is_err());
        assert!(check("q06", 0.01, &[]).unwrap_err().contains("0 rows"));
        assert!(check("q06", 3.0, &[revenue(unscaled)]).unwrap_err().contains("scale 3"));
        assert!(check("six", 0.01, &[]).is_err());
        assert!(has_reference(1.0) && !has_reference(10.0));
    }
}
