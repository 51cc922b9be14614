//! Join ordering: exhaustive dynamic programming for few relations, greedy for many. Semi, anti, mark and left joins are
//! vertices too: they join alone, as the right side, once what their condition needs is there.
//!
//! Reading order: `graph` (what connects relations), `partial` (joined sets and their rows), `cost`, then the
//! enumerations `exhaustive` and `greedy`, and `build`, which makes a relation of the plan that won.
//!
//! - Invariant: in each partial plan all attributes of an equality class that it holds are equal, so one key per class
//!   is enough for a join. Equalities that cannot be chained ([`crate::facts::equality_chains`]) make no class.
//! - Invariant: a left, semi, anti or mark join commutes with the inner joins around it, because its condition is evaluated
//!   with all relations that it uses, and no condition of another join uses what it has not extended or marked yet.
//! - Volatile conditions never come here as conjuncts; in the condition of a dependent vertex they are no keys.
//! - Fallible conjuncts name the vertices that they wait for.

mod build;
mod cost;
mod dependent;
mod exhaustive;
mod graph;
mod greedy;
mod partial;
mod set;
mod vertex;

pub use graph::{Conjunct, classes, split_keys};
pub use set::VertexSet;
pub use vertex::Vertex;

use plan::relation::{Attribute, Rel};
use types::{Interrupt, SqlResult};

use graph::JoinGraph;

/// Orders the joins of a region; without `reorder` as the query names them.
pub fn order(
    vertices: Vec<Vertex>,
    conjuncts: Vec<Conjunct>,
    attributes: &mut Vec<Attribute>,
    (reorder, interrupt): (bool, &Interrupt),
) -> SqlResult<Rel> {
    let graph = JoinGraph::new(vertices, conjuncts, attributes);
    if !reorder {
        let (plans, plan) = greedy::given(&graph, interrupt)?;
        return Ok(build::build(graph, &plans, plan));
    }
    let mut found = exhaustive::order(&graph, false, interrupt)?;
    if found.is_none() && !graph.others.is_empty() {
        found = exhaustive::order(&graph, true, interrupt)?;
    }
    let (plans, plan) = match found {
        Some(found) => found,
        None => greedy::order(&graph, interrupt)?,
    };
    Ok(build::build(graph, &plans, plan))
}
