//! A case: a query over a world, drawn from a seed and a number.

use crate::ast::{Body, From, Item, Query};
use crate::draw::Draw;
use crate::generate::schema;
use crate::generate::state::Generator;
use crate::kind::Kind;
use crate::walk::{self, Node};
use crate::world::World;

/// Queries that share a world.
pub const PER_WORLD: u64 = 100;

/// A query over a world.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    pub world: World,
    pub query: Query,
}

/// The world that a query of this number reads.
pub fn world(seed: u64, number: u64, kinds: &[Kind]) -> World {
    let mut draw = Draw::new(seed ^ 0x5eed, number / PER_WORLD);
    schema::world(&mut draw, kinds)
}

/// The query of this number, made of parts that are nested so deep at most.
pub fn query(seed: u64, number: u64, world: &World, kinds: &[Kind], depth: usize) -> Query {
    let mut draw = Draw::new(seed, number);
    let depth = draw.between(0, depth);
    let star = draw.chance(5);
    let mut query = Generator::new(draw, world, kinds).statement(depth);
    if star
        && let Body::Select(select) = &mut query.body
        && select.group.is_empty()
        && select.having.is_none()
        && select.from.is_some()
        && query.order.is_empty()
        && query.limit.is_none()
        && query.offset.is_none()
    {
        select.items = vec![Item::Star];
    }
    query
}

/// A query of this number for the rules about conditions.
pub fn filtered(seed: u64, number: u64, world: &World, kinds: &[Kind], depth: usize) -> Query {
    let mut draw = Draw::new(seed ^ 0xf117, number);
    let depth = draw.between(0, depth);
    Generator::new(draw, world, kinds).filtered(depth)
}

/// A query of nothing but a table: what it holds must be what was put in.
pub fn contents(table: &str) -> Query {
    let select = crate::ast::Select {
        items: vec![Item::Star],
        from: Some(From::Table(table.to_owned(), "x".to_owned())),
        ..Default::default()
    };
    Query::of(select)
}

/// Whether a query's rows follow from the tables alone: every limit stands behind a total order.
pub fn is_determined(query: &Query) -> bool {
    let mut determined = true;
    walk::query(&mut query.clone(), &mut |node, _| {
        if let Node::Query(query) = node {
            let cuts = query.limit.is_some() || query.offset.is_some();
            determined &= !cuts || query.order_is_total();
        }
    });
    determined
}

/// Whether a query's rows come in one order.
pub fn is_ordered(query: &Query) -> bool {
    query.order_is_total()
}
