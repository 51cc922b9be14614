//! Costs and thresholds of planning, each with what it was measured on. None of them changes an answer.
//!
//! Costs are nanoseconds for a row on one core of the machine that the project is measured on, as far as they were
//! measured by themselves; the others were fitted so that of the 22 queries of TPC-H at scales 1 and 10 the faster of two
//! plans is the one that is estimated lower.

/// The most relations that are ordered exhaustively: beyond, planning would take longer than small queries run
/// (3^10 pairs of sets are 60,000, of about 20 ns each).
pub const EXHAUSTIVE_RELATIONS_MAX: usize = 10;
/// Disconnected parts up to which all pairs are tried for a cross product; of more the two smallest are taken.
pub const CROSS_PARTS_MAX: usize = 32;

/// The share of rows that a condition of unknown selectivity keeps, as other systems take it.
pub const UNKNOWN_SHARE: f64 = 0.3;
/// The share of left rows that an anti join keeps at least: estimates of what is not there err most.
pub const ANTI_SHARE_MIN: f64 = 0.1;

/// A lookup in a table of up to [`SMALL_TABLE_ROWS`] rows: an array or a table in the first caches.
pub const PROBE_SMALL: f64 = 0.4;
/// A lookup in a table of up to [`CACHED_TABLE_ROWS`] rows: about 6 MB of cache belong to one core.
pub const PROBE_CACHED: f64 = 0.6;
/// A lookup in a larger table: 1.9 to 3.0 ns in an array beyond the cache, less where keys are clustered.
pub const PROBE_LARGE: f64 = 1.5;
/// Rows up to which a table is small.
pub const SMALL_TABLE_ROWS: f64 = 1e4;
/// Rows up to which a table stays in the cache.
pub const CACHED_TABLE_ROWS: f64 = 1e6;
/// What a probe by a scan costs of another one: the scan tests the key before it reads anything else.
pub const PROBE_BY_SCAN: f64 = 0.5;

/// Storing a row by a key that no two rows share: into an array.
pub const BUILD_UNIQUE: f64 = 2.0;
/// Storing a row by a key that repeats.
pub const BUILD_REPEATED: f64 = 4.0;
/// What storing costs more in a table beyond the cache.
pub const BUILD_LARGE: f64 = 1.5;
/// How far the count of distinct keys may be off for a key that counts as unique.
pub const UNIQUE_TOLERANCE: f64 = 1.01;

/// A pair that a condition looks at (TPC-H Q21, as pairs 76 ms and as extremes 8.4 ms).
pub const PAIR: f64 = 4.0;
/// A pair of a left join with the table on the left, which is materialised.
pub const MATERIALIZED_PAIR: f64 = 4.0;
/// A row that widens the extremes of its key.
pub const EXTREMES: f64 = 16.0;
/// Grouping a row by a key that rises from row to row: runs, no lookup.
pub const GROUP_RISING: f64 = 6.0;
/// Grouping a row by any other key (1.4 ns with 1,000 groups, 13 ns with 1.5 million).
pub const GROUP_ANY: f64 = 8.0;
/// Writing a group.
pub const GROUP_OUTPUT: f64 = 2.0;
/// A row of a large table that is read key by key, where keys do not rise from row to row (about 9 ns for a packed
/// value out of order).
pub const SCATTERED: f64 = 10.0;
/// Rows from which on reading out of order leaves the cache.
pub const SCATTERED_ROWS_MIN: f64 = 1e5;

/// A reducer that keeps more than this share of the keys is not worth testing.
pub const TRANSFER_SHARE_MAX: f64 = 0.8;
/// The same of one key of several: it is less sure, as what it keeps need not join.
pub const PARTIAL_TRANSFER_SHARE_MAX: f64 = 0.3;
/// Rows of a scan for each row of a table from which that of the table's several keys is tested by which the scan is in order,
/// whatever is expected of it.
pub const ROWS_PER_PARTIAL_TRANSFER: f64 = 256.0;
/// The share of a table from which on building from it is not taken to reduce anything.
pub const WHOLE_TABLE_SHARE: f64 = 0.9;
/// How much later than its rows say a whole table is built: after those that may reduce its own building.
pub const WHOLE_TABLE_DELAY: f64 = 100.0;
/// The share of the rows up to which an index is worth a look: twice what execution takes it for, because estimates err.
pub const INDEX_SHARE_MAX: f64 = 0.02;

/// Bits of all keys up to which execution finds groups through an array by itself.
pub const ARRAY_KEY_BITS: f64 = 18.0;
/// Bits of a key that is no number and no code.
pub const WIDE_KEY_BITS: f64 = 64.0;
/// Rows for each partner from which on groups by partner pay.
pub const ROWS_PER_PARTNER_MIN: f64 = 2.0;
/// Rows below which any way of grouping or fetching is good.
pub const SMALL_ROWS: f64 = 4096.0;

/// Rows to choose from for each one wanted, from which on late fetching pays: a fetch costs about as much as some
/// thousand rows carried.
pub const FETCH_CHOICE_MIN: f64 = 16.0;
/// Columns without text that are carried rather than fetched.
pub const CARRIED_COLUMNS_MAX: usize = 3;
/// Rows of the right side for each of its keys from which on groups below a left join pay.
pub const ROWS_PER_KEY_MIN: f64 = 2.0;
