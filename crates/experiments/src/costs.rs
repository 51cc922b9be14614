//! What our own operators cost, per row, wherever the papers do not say.

/// Cycles of a range predicate per packed value. Willhalm et al., ADMS 2013: 8 G values/s on a core with 256-bit vectors;
/// the papers' machines have 128 bits: 4 G values/s at about 2.6 GHz.
pub const SCAN_CYCLES: f64 = 0.65;

/// Cycles of an output row: unpack its code, look its value up, store it. `nodewise bench scans` on one core of the
/// machine of docs/design/07-measured-costs.md, selectivity 10 % against 0.001 %.
pub const OUTPUT_CYCLES: f64 = 12.0;

/// Lines that a loop over output rows has under way: the reorder buffer of 168 entries (Intel optimization reference
/// manual, Sandy Bridge and later) over about 20 instructions per row.
pub const OUTPUT_LINES: u32 = 8;

/// Bytes of an output value and of a dictionary entry: integers.
pub const VALUE_BYTES: f64 = 4.0;

/// Bytes of a position in an inverted index.
pub const POSITION_BYTES: f64 = 4.0;

/// Cycles to follow one value id to its run of positions, and to copy one position: a dependent cache miss hidden by the
/// next, and a store.
pub const INDEX_CYCLES: (f64, f64) = (20.0, 4.0);

/// Cycles of building a table anew for each of its bytes, by one worker (docs/design/07-measured-costs.md, "building tables anew").
pub const REBUILD_CYCLES: f64 = 15.0;

/// Nanoseconds of parsing, binding and planning a statement (docs/design/05-sql-and-planning.md, "the frontend").
pub const STATEMENT_NANOS: f64 = 450_000.0;

// Handing out a task or a morsel is the simulator's: eight cache lines at the mean latency between the sockets for each
// step (`simulator::timed`, counted in the scheduler's code; 4 microseconds on 32 sockets). That is more than what was
// measured on one socket (docs/scheduling.md): 50 ns for an empty morsel, 0.8 microseconds for one of a hundred empty tasks.
// Waiting for a line that many want at once, and wake-ups (81 microseconds and back, docs/design/07), are not in it.
