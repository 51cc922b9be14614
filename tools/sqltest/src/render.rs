//! Values as PostgreSQL prints them.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::DataType;
use nodewise::{SqlError, SqlResult};

/// All rows as text: NULL as `NULL`, an empty text as `(empty)`, truth as `t` and `f`.
pub fn rows(batches: &[RecordBatch]) -> SqlResult<Vec<Vec<String>>> {
    let mut all = Vec::new();
    for batch in batches {
        let columns: Vec<Vec<String>> =
            batch.columns().iter().map(texts).collect::<SqlResult<_>>()?;
        for row in 0..batch.num_rows() {
            all.push(columns.iter().map(|column| column[row].clone()).collect());
        }
    }
    Ok(all)
}

fn texts(column: &ArrayRef) -> SqlResult<Vec<String>> {
    // Arrow writes these in other ways.
    if matches!(
        column.data_type(),
        DataType::Timestamp(_, Some(_))
            | DataType::Time64(_)
            | DataType::Interval(_)
            | DataType::FixedSizeBinary(_)
            | DataType::Binary
    ) {
        let cells = nodewise::text::Cells::new(column);
        let text = |row| cells.text(row).unwrap_or_else(|| "NULL".to_owned());
        return Ok((0..column.len()).map(text).collect());
    }
    let options = FormatOptions::new()
        .with_timestamp_format(Some("%Y-%m-%d %H:%M:%S%.f"))
        .with_datetime_format(Some("%Y-%m-%d %H:%M:%S%.f"));
    let unprintable = |error| SqlError::internal(format!("a value cannot be printed: {error}"));
    let formatter = ArrayFormatter::try_new(column, &options).map_err(unprintable)?;
    let text = |row: usize| {
        if column.is_null(row) {
            return Ok("NULL".to_owned());
        }
        if *column.data_type() == DataType::Boolean {
            return Ok(if column.as_boolean().value(row) { "t" } else { "f" }.to_owned());
        }
        let text = formatter.value(row).try_to_string().map_err(unprintable)?;
        Ok(if text.is_empty() { "(empty)".to_owned() } else { text })
    };
    (0..column.len()).map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{BooleanArray, Decimal128Array, StringArray, TimestampMicrosecondArray};
    use std::sync::Arc;

    #[test]
    fn values_look_as_postgres_prints_them() {
        let decimals = Decimal128Array::from(vec![Some(150), Some(-5)]);
        let decimals = decimals.with_precision_and_scale(10, 2).unwrap();
        let batch = RecordBatch::try_from_iter([
            ("b", Arc::new(BooleanArray::from(vec![Some(true), None])) as _),
            ("t", Arc::new(StringArray::from(vec!["", "two words"])) as _),
            ("d", Arc::new(decimals) as _),
            ("m", Arc::new(TimestampMicrosecondArray::from(vec![0, 1_500_000])) as _),
        ]);
        assert_eq!(
            rows(&[batch.unwrap()]).unwrap(),
            [
                ["t", "(empty)", "1.50", "1970-01-01 00:00:00"],
                ["NULL", "two words", "-0.05", "1970-01-01 00:00:01.500"],
            ]
        );
    }
}
