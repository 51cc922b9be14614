//! The statements of the scan workload: a range of one column each, told by their number.

use stdx::Prng;

use super::options::{Asked, ScanOptions};

/// The bitcases that columns take in turn (P-HANA 6).
pub const BITCASES: (u32, u32) = (17, 26);

pub(super) const TABLE: &str = "scans";

/// A statement, and the ends of its range.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Statement {
    /// Its text.
    pub sql: String,
    /// The least value that qualifies.
    pub low: i64,
    /// The greatest.
    pub high: i64,
}

impl Statement {
    /// The statement with a number.
    pub fn numbered(number: usize, options: &ScanOptions) -> Self {
        let mut prng = Prng::new(options.seed.wrapping_mul(31) ^ (number as u64 + 1) << 24);
        let column = pick(options, &mut prng);
        Self::on(column, options, &mut prng)
    }

    /// A statement on a column.
    pub(super) fn on(column: usize, options: &ScanOptions, prng: &mut Prng) -> Self {
        let bound = 1_u64 << bits(column);
        let width = ((bound as f64 * options.selectivity) as u64).clamp(1, bound);
        let low = prng.below(bound - width + 1) as i64;
        let high = low + width as i64 - 1;
        let asked = match options.asked {
            Asked::Rows => format!("c{column}"),
            Asked::Sums => format!("count(*), sum(c{column})"),
        };
        let sql =
            format!("SELECT {asked} FROM {TABLE} WHERE c{column} >= {low} AND c{column} <= {high}");
        Self { sql, low, high }
    }
}

/// Bits of a column's values.
pub(super) fn bits(column: usize) -> u32 {
    BITCASES.0 + column as u32 % (BITCASES.1 - BITCASES.0 + 1)
}

/// A column by chance.
fn pick(options: &ScanOptions, prng: &mut Prng) -> usize {
    let half = options.columns / 2;
    if options.skewed && half > 0 {
        let hot = prng.below(5) > 0;
        let (start, width) = if hot { (half, options.columns - half) } else { (0, half) };
        return start + prng.below(width as u64) as usize;
    }
    prng.below(options.columns as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> ScanOptions {
        ScanOptions {
            rows: 1000,
            columns: 10,
            selectivity: 0.01,
            asked: Asked::Rows,
            skewed: false,
            indexes: false,
            parallel: true,
            shared: true,
            statements: 1,
            seed: 7,
        }
    }

    #[test]
    fn skew_prefers_the_second_half() {
        let mut prng = Prng::new(1);
        let skewed = ScanOptions { skewed: true, ..options() };
        let hot = (0..1000).filter(|_| pick(&skewed, &mut prng) >= 5).count();
        assert!((760..840).contains(&hot), "{hot}");
    }

    #[test]
    fn a_number_means_one_range_whatever_is_asked_of_it() {
        let sums = ScanOptions { asked: Asked::Sums, ..options() };
        for number in 0..200 {
            let (rows, sums) =
                (Statement::numbered(number, &options()), Statement::numbered(number, &sums));
            assert_eq!((rows.low, rows.high), (sums.low, sums.high));
            assert!(rows.sql.starts_with("SELECT c") && sums.sql.starts_with("SELECT count"));
            assert_eq!(rows, Statement::numbered(number, &options()));
            assert!(rows.low >= 0 && rows.high < 1 << BITCASES.1 && rows.low <= rows.high);
        }
    }
}
