//! What tables that are made row by row have in common: their division into parts, and columns of a value of each row.

use arrow_array::builder::StringViewBuilder;
use arrow_array::{ArrayRef, Int32Array};
use stdx::sync::Arc;

/// The first source of part N of M, counted from 1, and the one behind its last; sources are counted from 0.
pub fn sources_of_part(sources: u64, part: i32, parts: i32) -> (u64, u64) {
    let (part, parts) = (u64::from(part.unsigned_abs()), u64::from(parts.unsigned_abs()).max(1));
    let bound = |part: u64| (u128::from(sources) * u128::from(part) / u128::from(parts)) as u64;
    (bound(part.saturating_sub(1)), bound(part))
}

/// A whole number of each row.
pub fn numbers<R>(rows: &[R], value: impl Fn(&R) -> i32) -> ArrayRef {
    Arc::new(Int32Array::from_iter_values(rows.iter().map(value)))
}

/// A text of each row, which is written behind what the buffer holds.
pub fn texts<R>(rows: &[R], write: impl Fn(&R, &mut String)) -> ArrayRef {
    let mut builder = StringViewBuilder::with_capacity(rows.len());
    let mut buffer = String::new();
    for row in rows {
        buffer.clear();
        write(row, &mut buffer);
        builder.append_value(&buffer);
    }
    Arc::new(builder.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_every_source_once() {
        for (sources, parts) in [(10, 3), (1, 1), (2, 5), (7, 7), (0, 2)] {
            let mut next = 0;
            for part in 1..=parts {
                let (first, end) = sources_of_part(sources, part, parts);
                assert_eq!(first, next);
                next = end;
            }
            assert_eq!(next, sources);
        }
    }
}
