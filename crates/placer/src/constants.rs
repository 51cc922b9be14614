//! The numbers that the placer goes by, each with its reason. None depends on a machine: bandwidths come from the probe.

use stdx::Nanos;

/// Between two windows. Short against the 30 s in which a new load shall have been followed, on eight sockets by seven
/// splits of three windows and a rest each; long against a morsel (some 100 us), so that counters are not ragged.
pub const WINDOW: Nanos = Nanos(500_000_000);
/// The weight of the last window in smoothed loads: an outlier is halved, and after three windows, when a decision may
/// fall, seven eighths of what is seen are new.
pub const SMOOTHING: f64 = 0.5;
/// Windows out of balance in a row before anything is done: one may be a single query, two may be its two halves.
pub const STEADY_WINDOWS: u32 = 3;
/// What differs by less than so many standard errors may be chance: in an hour 7,200 windows of any two nodes are
/// compared, and five errors happen once in a million.
pub const CERTAIN: f64 = 5.0;
/// The most windows of which a mean is taken: twenty seconds, so that a new load is seen in a part of the thirty.
pub const STREAK_WINDOWS: u32 = 40;
/// Windows over which the error of loads is learned: two horizons, of which a sudden change of load is a small part.
pub const ERROR_WINDOWS: u32 = 240;
/// The error of a window's load before any was seen, for as long as a quarter of [`STREAK_WINDOWS`]: a tenth.
pub const ERROR_UNKNOWN: f64 = 0.1;
/// Windows after the copies of a round before loads count again: one is cut by the copy, the other shows statements that
/// began before it.
pub const SETTLE_WINDOWS: u64 = 2;
/// Load from which a node is contended. From 60 % of its bandwidth on tasks are bound by memory (P-HANA 6.2.4); but eight
/// sockets with broadcast coherence together give no more than 62 % of theirs (docs/simulator.md, "Checks"), so that the
/// hottest of them is not much above that when they differ little.
pub const CONTENDED: f64 = 0.5;
/// Part of the hottest node's load by which the mean of all is below it when nodes are out of balance: in balance all would
/// be done sooner by that. Half of the twentieth of the best that may be lost, as a round seldom brings all that it
/// promises; that no copy is made for chance is what [`CERTAIN`] sees to.
pub const LOSS: f64 = 0.025;
/// Part of the hottest node's load by which the coldest is below it when a round that has begun ends: their mean lies
/// between, so that the next does not begin.
pub const BALANCED: f64 = 0.025;
/// Part of the hottest node's load from which an item dominates it. Two equal items are at a half each and are taken
/// apart by a move; beyond that the greater one would make its new node the hottest.
pub const DOMINANT: f64 = 0.6;
/// By how much of the greatest load a round must lower it: as much as makes it begin.
pub const ROUND_RELIEF: f64 = LOSS;
/// Within this time an action must have gained more than it costs.
pub const HORIZON: Nanos = Nanos(60_000_000_000);
/// The share of the bandwidth between two nodes that copies take, so that queries keep three quarters.
pub const COPY_SHARE: f64 = 0.25;
/// The longest copy of a round: a tenth of the horizon, so that what was seen is still true at its end.
pub const ROUND_COPY: Nanos = Nanos(6_000_000_000);
/// The most actions of a round: what moves is then looked at again. Forty columns a node are P-HANA's skewed load (6.2).
pub const ROUND_ACTIONS: usize = 64;
/// Actions on an item that are taken without knowing how long its load lasts.
pub const TRIAL_ACTIONS: u32 = 2;
/// How long the demand for an item must have lasted for more than [`TRIAL_ACTIONS`] within [`VOLATILE_REST`]: loads that
/// come and go faster therefore act on each item twice at most.
pub const PERSISTENT: Nanos = Nanos(10_000_000_000);
/// The demand for an item has not lasted when it falls to this part of what it was at its last action.
pub const FALLEN: f64 = 0.5;
/// For how long actions on an item are counted, and how long one is left alone that could not be moved: ten horizons.
pub const VOLATILE_REST: Nanos = Nanos(600_000_000_000);
/// How long nobody must have read an item that was split before it shrinks back: ten horizons, so that work that comes
/// every few minutes finds it as it was.
pub const COLD_AFTER: Nanos = Nanos(600_000_000_000);
/// The part of the bytes read of an item from which on its dictionary is read "alike" its rows and they are not "mostly"
/// scanned (P-HANA 7): lines that are looked up take a worker about three times as long as those that stream, so that a
/// quarter of the bytes is half of the time. IVP leaves the dictionary dealt round the nodes.
pub const ALIKE: f64 = 0.25;
/// For how long nobody may have changed the rows of what is copied or cut: a table that is built anew meanwhile would be
/// built in vain, and copies would fall behind.
pub const UNCHANGED: Nanos = PERSISTENT;
/// What a copy takes of the memory of each node at most: some hundred such copies are half of it.
pub const COPY_MEMORY: f64 = 1.0 / 256.0;
/// Bytes that move when a table is built anew, for each of its own: values are written and read once as they are in
/// batches (docs/design/07-measured-costs.md, "building tables anew").
pub const REBUILD_COST: f64 = 10.0;
/// A node is short of memory when less than this part of it is free: statements take what they sort, join and group of it.
pub const SHORT: f64 = 0.1;
/// What must stay free where an item comes back to: twice [`SHORT`], so that it is not the next to go.
pub const ROOMY: f64 = 0.2;
/// Local bandwidth of a node where neither a probe nor the firmware tells it, in MB/s: as the scheduler assumes.
pub const ASSUMED_MB_S: u64 = 40_000;
