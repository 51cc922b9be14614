//! Where data, tasks and intermediates are, and how it follows the work.

mod adaptive_placement;
mod adaptive_remakes;
#[path = "../common/mod.rs"]
mod common;
mod exchange;
mod groupjoin;
mod intermediates;
mod item_traffic;
mod loads;
mod local_scans;
mod materialization;
mod other_traffic;
mod part_wise_joins;
mod placement;
mod placement_load;
mod placement_walk;
mod scheduling;
mod shards;
mod tpch_placements;
mod workers;
