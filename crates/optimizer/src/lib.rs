//! Relations to pipelines: predicates as far down as they go, joins ordered, the result cut into pipelines.
//!
//! Key decision: everything that decides speed works on our own relations ([`plan::relation`]), in the order `rewrite`
//! (filters first, joins flattened into regions, group keys cut) -> `rewrite::joins` (dynamic programming on exact
//! statistics) -> `lower` (pipelines, transfers). Before all of them, `unnest` takes dependent joins out. For engines that
//! have a shard each, `distribution` cuts a query before it is planned.
//!
//! - Invariant: a query that cannot be planned rightly is an error with a SQLSTATE, never a plan with a wrong answer.
//! - Invariant: planning depends on the query and the catalog alone, so equal inputs give equal plans.
#![forbid(unsafe_code)]

pub mod distribution;
pub mod estimate;
pub mod facts;
pub mod lower;
mod options;
mod reach;
mod recursion;
pub mod rewrite;
mod tuning;
pub mod unnest;

pub use options::Options;
pub use recursion::Outsides;

use plan::relation::{Query, RecursiveQuery};
use plan::{Plan, Recursion};
use types::{Interrupt, SqlError, SqlResult};

/// Plans a bound query with all that the optimizer can do, when nobody can end that.
pub fn plan(query: Query) -> SqlResult<Plan> {
    plan_unless(query, Options::default(), &types::interrupt::NEVER)
}

/// Plans a bound query. `interrupt` is asked for each relation and each round of the search for an order of joins.
pub fn plan_unless(mut query: Query, options: Options, interrupt: &Interrupt) -> SqlResult<Plan> {
    let enough: Vec<_> =
        query.recursions.iter().map(|it| recursion::enough(&query, it.table.id)).collect();
    let mut recursions = std::mem::take(&mut query.recursions);
    let mut outsides = Outsides::of(&recursions);
    unnest::unnest(&mut query, &mut outsides, interrupt)?;
    for it in &mut recursions {
        outsides.enter(it.table.id);
        unnest::unnest(&mut it.first, &mut outsides, interrupt)?;
        unnest::unnest(&mut it.step, &mut outsides, interrupt)?;
    }
    let part = |it| plan_unnested(it, options, interrupt);
    let recursive = |(it, enough): (RecursiveQuery, Option<u64>)| {
        let RecursiveQuery { table, seen, first, step, around: _ } = it;
        let (name, table, first, step) = (table.name.clone(), table.id, part(first)?, part(step)?);
        Ok(Recursion { table, name, seen, first, step, enough })
    };
    let recursions = recursions.into_iter().zip(enough).collect();
    let recursions = recursion::in_order(recursions, outsides)?.into_iter();
    let recursions = recursions.map(recursive).collect::<SqlResult<_>>()?;
    Ok(Plan { recursions, ..plan_unnested(query, options, interrupt)? })
}

/// Plans a query without dependent joins.
fn plan_unnested(mut query: Query, options: Options, interrupt: &Interrupt) -> SqlResult<Plan> {
    rewrite::optimise(&mut query, options, interrupt)?;
    let plan = lower::lower(&query, options, interrupt)?;
    if cfg!(debug_assertions) {
        plan::validate(&plan).map_err(|it| SqlError::internal(format!("invalid plan: {it}")))?;
    }
    Ok(plan)
}
