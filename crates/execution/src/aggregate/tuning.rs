//! Thresholds of aggregation: what each decides, and the measurement that it comes from
//! (docs/design/07-measured-costs.md). Where none is named, the number follows from the size of a cache or a type, or was
//! chosen and not measured.
//!
//! How many groups are added up under masks is `crate::leveled::FEW_GROUPS`: as many as sums stay in registers.

// Choice of an index (`index`).

/// Bits of a key up to which groups are found through an array from the start, without trying whether the input is
/// sorted. Not measured.
pub(super) const SMALL_ARRAY_BITS_MAX: u32 = 10;
/// Bits of a key up to which an array is always worth it: 2^18 entries of 4 bytes stay in the L2 cache ("groups": 1.1 ns
/// a row by array, 1.7 by hashing at 100,000 groups).
pub(super) const ARRAY_BITS_MAX: u32 = 18;
/// Bits of a key up to which an array of all possible keys is worth its memory if it is well filled: beyond the caches,
/// but without a search, a branch, or a second pass over the groups ("groups": 2.7 ns a row at 1.5 million groups, 13.2
/// by hashing, 6.1 in partitions).
pub(super) const DENSE_BITS_MAX: u32 = 21;
/// What "well filled" means ("groups": no more than four places per row).
pub(super) const DENSE_SLOTS_PER_GROUP_MAX: f64 = 4.0;
/// Places of such an array for each row of a worker up to which it is worth to be zeroed, looked through and put together with
/// those of the other workers, of whom each has its own ("groups": 2 million places cost 6 ms a worker).
pub(super) const DENSE_SLOTS_PER_ROW_MAX: f64 = 1.0;
/// The same for an array that stays in the L2 cache. Not measured.
pub(super) const CACHED_SLOTS_PER_ROW_MAX: f64 = 8.0;
/// Groups from which on an array of all possible keys is worth its memory. Not measured.
pub(super) const DENSE_GROUPS_MIN: usize = 4096;
/// Rows per group below which pre-aggregation is bypassed: a search costs more than it saves. Not measured.
pub(super) const ROWS_PER_GROUP_MIN: usize = 2;
/// Tables that are filled without a search before looking again whether keys repeat. Not measured.
pub(super) const BYPASS_TABLES: u32 = 16;

// When a worker flushes its groups (`table`).

/// Groups that an unsorted table may hold before it is flushed: about what the L2 cache holds ("groups": 6.1 ns a row in
/// partitions against 13.2 in one table).
pub(super) const UNSORTED_GROUPS_MAX: usize = 1 << 15;
/// Groups with rising keys that a table may hold: they are only appended to, and should not be copied as it grows. Not
/// measured.
pub(super) const SORTED_GROUPS_MAX: usize = 1 << 16;
/// Bytes of keys that a table may hold; far below the 4 GiB that it could address.
pub(super) const KEY_BYTES_MAX: usize = 256 << 20;

// The merge (`merge`).

/// Partitions are 2^this when there are many groups ("groups": 64 to 256 of them).
pub(super) const PARTITION_BITS: u32 = 6;
/// Groups up to which one task merges everything. Not measured.
pub(super) const SERIAL_GROUPS_MAX: usize = 4096;
/// Batches of sorted groups that one task makes. Not measured.
pub(super) const BATCHES_PER_TASK: usize = 8;

// Sums (`accumulator`).

/// Groups up to which sums are kept in copies, because adding to one place again and again waits for the last store.
pub(super) const COPIED_GROUPS: usize = 32;
/// Copies of sums of integers and of counts ("one query in many styles": eight 12.3 ms, four 14.0, two 19.5, one 36.4).
pub(super) const INTEGER_COPIES: usize = 8;
/// Copies of sums of floats. Not measured.
pub(super) const FLOAT_COPIES: usize = 4;
/// Floats of a single group that are added before it is asked whether two floats held everything. Not measured.
pub(super) const FLOAT_STEP: usize = 256;

// Aggregation of packed blocks (`packed`).

/// Bits of keys up to which packed rows are grouped under masks: those of a byte.
pub(super) const MASK_KEY_BITS_MAX: u32 = 8;
/// Greatest magnitude of a value whose sum over a block of rows is still far from leaving 64 bits.
pub(super) const PACKED_MAGNITUDE_MAX: u64 = 1 << 44;
/// A row that passed costs as much by way of a batch as so many columns and sums of packed rows. Not measured on its own.
pub(super) const BATCH_ROW_COST: usize = 128;
/// Rows of a column that are unpacked at once: they stay in the L1 cache.
pub(super) const UNPACK_ROWS: usize = 4096;
