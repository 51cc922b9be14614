//! Rewrites of relations: predicates as far down as they go, joins flattened into regions and ordered, group keys cut;
//! then columns of the first rows of an order fetched late, and joins that do nothing left out.

pub mod dependencies;
mod elimination;
mod extremes;
pub mod grouping;
mod late;
pub mod order;
pub mod origin;
pub mod predicates;
pub mod region;
mod statistics;

use plan::{Aggregate, AggregateFunction, Expr, ExprKind, SortKey};
use types::{SqlError, SqlResult};

use crate::estimate;
use plan::relation::{Attr, AttrSet, Attribute, Query, Rel, ScanRel, bare, substitute};

/// Optimises the query and its scalar subqueries.
pub fn optimise(query: &mut Query) -> SqlResult<()> {
    let mut scalars = std::mem::take(&mut query.scalars);
    for scalar in &mut scalars {
        let rel = take(&mut scalar.rel);
        scalar.rel = Optimiser { attributes: &mut query.attributes }.rel(rel, Vec::new())?;
        elimination::drop_idle_joins(&mut scalar.rel, &[scalar.attr].into_iter().collect());
    }
    query.scalars = scalars;
    let root = take(&mut query.root);
    query.root = Optimiser { attributes: &mut query.attributes }.rel(root, Vec::new())?;
    late::fetch_late(query);
    let output: AttrSet = query.output.iter().map(|it| it.1).collect();
    elimination::drop_idle_joins(&mut query.root, &output);
    Ok(())
}

/// Takes a relation out of its place.
pub(crate) fn take(rel: &mut Rel) -> Rel {
    rel.take()
}

/// The state of the rewrites.
pub(crate) struct Optimiser<'a> {
    pub(crate) attributes: &'a mut Vec<Attribute>,
}

impl Optimiser<'_> {
    /// Optimises a relation under conjuncts that its consumer demands.
    pub(crate) fn rel(&mut self, rel: Rel, mut demanded: Vec<Expr>) -> SqlResult<Rel> {
        match rel {
            Rel::Scan(mut scan) => {
                scan.filters.extend(predicates::simplify(demanded));
                self.drop_certain(&mut scan);
                scan.rows = estimate::scan_rows(&scan);
                Ok(Rel::Scan(scan))
            }
            Rel::Filter { input, predicates } => {
                demanded.extend(predicates::simplify(predicates));
                self.rel(*input, demanded)
            }
            Rel::Map { .. } | Rel::Join(_) => self.region(rel, demanded),
            Rel::Aggregate { input, keys, aggregates, .. } => {
                self.aggregate(*input, keys, aggregates, demanded)
            }
            Rel::Sort { input, partition, keys, offset, limit } => {
                let (inner, outer) = match (offset, limit) {
                    (0, None) => (demanded, Vec::new()),
                    _ => (Vec::new(), demanded),
                };
                let input = Box::new(self.rel(*input, inner)?);
                let keys = self.sort_keys(&input, keys);
                Ok(Rel::Sort { input, partition, keys, offset, limit }.filtered(outer))
            }
            Rel::Limit { input, offset, limit } => {
                let input = Box::new(self.rel(*input, Vec::new())?);
                Ok(Rel::Limit { input, offset, limit }.filtered(demanded))
            }
            Rel::Union { inputs, output } => {
                let mut done = Vec::with_capacity(inputs.len());
                for (input, attrs) in inputs {
                    let map: Vec<(Attr, Expr)> = output
                        .iter()
                        .zip(&attrs)
                        .map(|(to, from)| {
                            (*to, Expr::column(*from, self.attributes[*from].data_type))
                        })
                        .collect();
                    let mut own = demanded.clone();
                    own.iter_mut().for_each(|it| substitute(it, &map));
                    done.push((self.rel(input, own)?, attrs));
                }
                Ok(Rel::Union { inputs: done, output })
            }
            Rel::Repeat { input, count } => {
                let input = Box::new(self.rel(*input, demanded)?);
                Ok(Rel::Repeat { input, count })
            }
            leaf @ (Rel::Values { .. } | Rel::Shared { .. }) => Ok(leaf.filtered(demanded)),
            Rel::Apply(_) => Err(SqlError::internal("a dependent join was left in the query")),
        }
    }

    /// Leaves out what the statistics prove: IS NOT NULL of a column without NULL.
    fn drop_certain(&self, scan: &mut ScanRel) {
        scan.filters.retain(|it| match &it.kind {
            ExprKind::Unary { operator: plan::UnaryOperator::IsNotNull, operand } => {
                bare(operand).is_none_or(|it| self.attributes[it].nullable)
            }
            ExprKind::Literal(types::Value::Boolean(true)) => false,
            _ => true,
        });
    }

    /// Sort keys without those that earlier ones determine.
    fn sort_keys(&self, input: &Rel, keys: Vec<SortKey>) -> Vec<SortKey> {
        let facts = dependencies::Dependencies::of(input);
        let mut known = AttrSet::default();
        let mut kept = Vec::with_capacity(keys.len());
        for key in keys {
            let own = AttrSet::of(&key.expr);
            if !own.is_empty() && own.is_subset(&facts.closure(&known)) {
                continue;
            }
            if let Some(attr) = bare(&key.expr) {
                known.insert(attr);
            }
            kept.push(key);
        }
        kept
    }

    fn aggregate(
        &mut self,
        input: Rel,
        keys: Vec<(Attr, Expr)>,
        aggregates: Vec<(Attr, Aggregate)>,
        demanded: Vec<Expr>,
    ) -> SqlResult<Rel> {
        // A predicate on group keys alone keeps or drops whole groups.
        let key_set: AttrSet = keys.iter().map(|it| it.0).collect();
        let (below, above): (Vec<_>, Vec<_>) = demanded.into_iter().partition(|it| {
            let attrs = AttrSet::of(it);
            !attrs.is_empty() && attrs.is_subset(&key_set)
        });
        let mut below = below;
        below.iter_mut().for_each(|it| substitute(it, &keys));
        let mut input = self.rel(input, below)?;
        if keys.is_empty()
            && let Some(row) = statistics::known_row(&input, &aggregates)
        {
            return Ok(row.filtered(above));
        }
        let (keys, more) = self.cut_keys(&input, keys);
        let mut aggregates = aggregates;
        aggregates.extend(more);
        if let Some(joined) = self.group_below_left_join(&mut input, &keys, &aggregates) {
            return Ok(joined.filtered(above));
        }
        let rows = match keys.is_empty() {
            true => 1.0,
            false => estimate::groups(&input, &keys),
        };
        let rel = Rel::Aggregate { input: Box::new(input), keys, aggregates, rows };
        Ok(rel.filtered(above))
    }

    /// Turns group keys that other group keys determine into [`AggregateFunction::AnyValue`].
    fn cut_keys(
        &self,
        input: &Rel,
        keys: grouping::Keys,
    ) -> (grouping::Keys, grouping::Aggregates) {
        if keys.len() < 2 {
            return (keys, Vec::new());
        }
        let facts = dependencies::Dependencies::of(input);
        // Wide keys go first; of two that determine each other the integer stays.
        let width = |expr: &Expr| match expr.data_type {
            it if it.is_text() => 3,
            types::DataType::Decimal { .. } => 2,
            it if it.is_integer() => 0,
            _ => 1,
        };
        let mut places: Vec<usize> = (0..keys.len()).collect();
        places.sort_by_key(|it| std::cmp::Reverse(width(&keys[*it].1)));
        let mut kept: Vec<bool> = vec![true; keys.len()];
        for place in places {
            let others: AttrSet = (0..keys.len())
                .filter(|it| *it != place && kept[*it])
                .filter_map(|it| bare(&keys[it].1))
                .collect();
            let own = AttrSet::of(&keys[place].1);
            // A constant key groups nothing, but the last key stays: no key at all would mean one group of no rows.
            let last = kept.iter().filter(|it| **it).count() == 1;
            kept[place] = last || !own.is_subset(&facts.closure(&others));
        }
        let (mut left, mut cut) = (Vec::new(), Vec::new());
        for (keep, (attr, expr)) in kept.into_iter().zip(keys) {
            if keep {
                left.push((attr, expr));
                continue;
            }
            let data_type = expr.data_type;
            let aggregate = Aggregate {
                function: AggregateFunction::AnyValue,
                argument: Some(expr),
                distinct: false,
                filter: None,
                data_type,
            };
            cut.push((attr, aggregate));
        }
        (left, cut)
    }
}
