//! What EXPLAIN says of places: where the hash table or the groups of each pipeline of a plan will lie, and why.

use std::collections::HashMap;

use plan::{Pipeline, Plan, Sink};
use stdx::sync::Arc;
use storage::Table;
use types::TableId;

use crate::co_location::CoLocation;
use crate::exchange::{Exchanges, Surroundings, is_in_place};
use crate::join::SpillingJoins;

/// A line for each pipeline that leaves a hash table or groups; `None` for the others, and everywhere on a machine of one node.
pub fn placement_notes(
    plan: &Plan,
    tables: &HashMap<TableId, Arc<Table>>,
    around: &Surroundings<'_>,
) -> Vec<Option<String>> {
    if around.topology.nodes.len() < 2 {
        return vec![None; plan.pipelines.len()];
    }
    let found = CoLocation::of(plan, tables, around.workers);
    let waiting = SpillingJoins::of(plan);
    let exchanges = Exchanges::of(plan, tables, &found, &|it| waiting.may_spill(it), around);
    let note = |it: &Pipeline| {
        let note = match (&it.sink, found.is_in_parts(it.id)) {
            (Sink::HashBuild(_), true) => {
                "table: one for each part on its node, as both sides are hashed on the joined columns"
            }
            (Sink::HashBuild(_), false) if is_in_place(it, tables) => {
                "table: the stored one, where it is, as it finds its rows by their keys"
            }
            (Sink::HashBuild(_), false) => {
                let decision = exchanges.expected(it);
                let place = match decision.pays {
                    true => "one for each node, where rows of both sides go by their keys",
                    false => "dealt round the nodes",
                };
                return Some(format!("table: {place}, {}", decision.reason));
            }
            (Sink::Aggregate { keys, .. }, _) if keys.is_empty() => return None,
            (Sink::Aggregate { .. }, true) => {
                "groups: each part's on its node, as the keys tell the parts apart"
            }
            (Sink::Aggregate { .. }, false) => {
                "groups: on the nodes of their workers, then merged, as rows of a group may be on any of them"
            }
            _ => return None,
        };
        Some(note.to_owned())
    };
    plan.pipelines.iter().map(note).collect()
}
