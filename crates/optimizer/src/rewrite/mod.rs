//! Rewrites of relations: predicates as far down as they go, joins flattened into regions and ordered, group keys cut;
//! then columns of the first rows of an order fetched late, joins that do nothing left out, and pairs that nobody counts.
//!
//! What all rewrites keep to:
//! - Volatile expressions ([`plan::properties::is_volatile`]) stay where they are: a predicate is tested once for each
//!   row of the filter or join it stands in, and what is computed is neither copied nor dropped from keys.
//! - Fallible predicates ([`is_fallible`]) are tested after all that is below them: an inner filter's conjuncts come
//!   first, and a derived table's joins are made before what may fail looks at its rows.
//! - Attributes may be repeated in keys and outputs; repeated keys are made one before anything else looks at them.

mod conditional;
mod eager;
mod elimination;
mod extremes;
pub mod grouping;
pub mod joins;
mod late;
mod nearest;
pub mod origin;
pub mod predicates;
mod readers;
pub mod region;
mod repetitions;
mod state;
mod statistics;
mod sums;
#[cfg(test)]
mod tests;
mod whole_groups;
pub(crate) mod windows;

use plan::properties::{is_fallible, is_volatile};
use plan::{Aggregate, AggregateFunction, Expr, ExprKind, SortKey};
use types::{Interrupt, SqlError, SqlResult};

use crate::estimate;
use crate::facts::{Dependencies, Facts};
use crate::options::Options;
use elimination::Wanted;
use plan::relation::{Attr, AttrSet, Part, Query, Rel, ScanRel, bare, substitute};
use state::{Expected, Optimiser};

/// Optimises the answer of a query and all parts that it needs, unless `interrupt` ends that.
pub fn optimise(query: &mut Query, options: Options, interrupt: &Interrupt) -> SqlResult<()> {
    if options.rewrites {
        readers::ask_shared(query);
    }
    let mut read = vec![AttrSet::default(); query.shared.len()];
    let scalars = query.scalars.iter().map(|it| &it.rel);
    for rel in query.shared.iter().chain(scalars).chain([&query.root]) {
        rel.visit(&mut |it| {
            if let Rel::Shared { id, output, .. } = it {
                output.iter().for_each(|it| read[*id].insert(it.1));
            }
        });
    }
    let counted = repetitions::counted(query);
    let mut shared = vec![Expected::default(); query.shared.len()];
    for part in query.parts() {
        let rel = query.part_mut(part).take();
        let (attrs, counts) = match part {
            Part::Scalar(it) => ([query.scalars[it].attr].into_iter().collect(), true),
            Part::Shared(it) => (read[it].clone(), counted[it]),
        };
        let attributes = &mut query.attributes;
        let mut this = Optimiser { attributes, shared: &shared, options, interrupt };
        let mut rel = this.rel(rel, Vec::new())?;
        if options.rewrites {
            let wanted = Wanted { attrs, counts };
            elimination::drop_idle_joins(&mut rel, &wanted, &mut query.attributes);
        }
        if let Part::Shared(it) = part {
            let distinct =
                read[it].iter().map(|attr| (attr, estimate::distinct(&rel, attr))).collect();
            shared[it] = Expected { rows: rel.rows(), distinct };
        }
        *query.part_mut(part) = rel;
    }
    let root = query.root.take();
    let attributes = &mut query.attributes;
    let mut this = Optimiser { attributes, shared: &shared, options, interrupt };
    query.root = this.rel(root, Vec::new())?;
    if !options.rewrites {
        return Ok(());
    }
    late::fetch_late(query);
    let attrs = query.output.iter().map(|it| it.attr).collect();
    let wanted = Wanted { attrs, counts: true };
    elimination::drop_idle_joins(&mut query.root, &wanted, &mut query.attributes);
    Ok(())
}

/// Takes out the predicates that can fail.
fn take_fallible(predicates: &mut Vec<Expr>) -> Vec<Expr> {
    let (fallible, rest) = std::mem::take(predicates).into_iter().partition(is_fallible);
    *predicates = rest;
    fallible
}

/// Group keys without repetitions, and what the attributes of repeated ones are. An attribute that is repeated under
/// its own name needs no second column; expressions that are volatile are equal to none.
fn distinct_keys(keys: grouping::Keys) -> (grouping::Keys, Vec<(Attr, Expr)>) {
    let mut kept: grouping::Keys = Vec::with_capacity(keys.len());
    let mut repeated = Vec::new();
    for (attr, expr) in keys {
        match kept.iter().find(|it| it.0 == attr || it.1 == expr) {
            None => kept.push((attr, expr)),
            Some((same, _)) if *same == attr => {}
            Some((same, _)) => repeated.push((attr, Expr::column(*same, expr.data_type))),
        }
    }
    (kept, repeated)
}

impl Optimiser<'_> {
    /// Optimises a relation under conjuncts that its consumer demands, none of them volatile.
    pub(crate) fn rel(&mut self, rel: Rel, mut demanded: Vec<Expr>) -> SqlResult<Rel> {
        self.interrupt.check()?;
        let passes = self.options.rewrites
            || matches!(rel, Rel::Scan(_) | Rel::Filter { .. } | Rel::Map { .. } | Rel::Join(_));
        if !passes && !demanded.is_empty() {
            return Ok(self.rel(rel, Vec::new())?.filtered(demanded));
        }
        match rel {
            Rel::Scan(mut scan) => {
                scan.filters.extend(predicates::simplify(demanded));
                // Conditions are tested in this order but for those that cannot fail.
                scan.filters.sort_by_key(is_fallible);
                self.drop_certain(&mut scan);
                scan.rows = estimate::scan_rows(&scan);
                Ok(Rel::Scan(scan))
            }
            Rel::Filter { input, predicates } => {
                let own = predicates::simplify(predicates);
                let (volatile, mut below): (Vec<_>, Vec<_>) =
                    own.into_iter().partition(is_volatile);
                let fallible =
                    if volatile.is_empty() { Vec::new() } else { take_fallible(&mut demanded) };
                below.append(&mut demanded);
                Ok(self.rel(*input, below)?.filtered(volatile).filtered(fallible))
            }
            Rel::Map { .. } | Rel::Join(_) => self.region(rel, demanded),
            Rel::Aggregate { input, keys, aggregates, .. } => {
                self.aggregate(*input, keys, aggregates, demanded)
            }
            Rel::Sort { input, partition, keys, offset, limit } => {
                self.sort(*input, (partition, keys), (offset, limit), demanded)
            }
            Rel::Window { input, partition, keys, functions } => {
                self.window(*input, partition, (keys, functions), demanded)
            }
            Rel::Limit { input, offset, limit } => {
                let input = Box::new(self.rel(*input, Vec::new())?);
                Ok(Rel::Limit { input, offset, limit }.filtered(demanded))
            }
            Rel::Union { inputs, output } => self.union(inputs, output, &demanded),
            Rel::Repeat { input, count, number, items } => {
                let made: Vec<Attr> =
                    number.into_iter().chain(items.iter().map(|it| it.0)).collect();
                let of_made = |it: &Expr| {
                    let used = AttrSet::of(it);
                    made.iter().any(|it| used.contains(*it))
                };
                let (above, below) = demanded.into_iter().partition(of_made);
                let input = Box::new(self.rel(*input, below)?);
                Ok(Rel::Repeat { input, count, number, items }.filtered(above))
            }
            Rel::Shared { id, output, .. } => {
                let Expected { rows, distinct } = &self.shared[id];
                let of = |it: &(Attr, Attr)| distinct.get(&it.1).copied().unwrap_or(*rows);
                let distinct = output.iter().map(of).collect();
                Ok(Rel::Shared { id, output, rows: *rows, distinct }.filtered(demanded))
            }
            values @ Rel::Values { .. } => Ok(values.filtered(demanded)),
            Rel::Apply(_) => Err(SqlError::internal("a dependent join was left in the query")),
        }
    }

    fn sort(
        &mut self,
        input: Rel,
        (partition, keys): (Vec<Attr>, Vec<SortKey>),
        (offset, limit): (u64, Option<u64>),
        demanded: Vec<Expr>,
    ) -> SqlResult<Rel> {
        let (inner, outer) = match (offset, limit) {
            (0, None) => (demanded, Vec::new()),
            _ => (Vec::new(), demanded),
        };
        let mut input = self.rel(input, inner)?;
        if self.options.rewrites && (offset, limit) == (0, Some(1)) {
            input = self.nearest(input, &partition, &keys);
        }
        let keys = self.sort_keys(&input, keys);
        let input = Box::new(input);
        Ok(Rel::Sort { input, partition, keys, offset, limit }.filtered(outer))
    }

    fn window(
        &mut self,
        input: Rel,
        partition: Vec<Attr>,
        (keys, functions): (Vec<SortKey>, Vec<(Attr, plan::WindowCall)>),
        demanded: Vec<Expr>,
    ) -> SqlResult<Rel> {
        // A condition on what makes a partition keeps or drops partitions as a whole; any other would change what
        // the functions see.
        let own: AttrSet = partition.iter().copied().collect();
        let (below, above): (Vec<_>, Vec<_>) = demanded.into_iter().partition(|it| {
            let attrs = AttrSet::of(it);
            !attrs.is_empty() && attrs.is_subset(&own) && !is_fallible(it)
        });
        let mut input = self.rel(input, below)?;
        if self.options.rewrites && partition.is_empty() {
            input = windows::first_rows(input, &keys, &functions, &above);
        }
        let input = Box::new(input);
        Ok(Rel::Window { input, partition, keys, functions }.filtered(above))
    }

    /// What is demanded of all rows is demanded of those of each input.
    fn union(
        &mut self,
        inputs: Vec<(Rel, Vec<Attr>)>,
        output: Vec<Attr>,
        demanded: &[Expr],
    ) -> SqlResult<Rel> {
        let mut done = Vec::with_capacity(inputs.len());
        for (input, attrs) in inputs {
            let map: Vec<(Attr, Expr)> = output
                .iter()
                .zip(&attrs)
                .map(|(to, from)| (*to, Expr::column(*from, self.attributes[*from].data_type)))
                .collect();
            let mut own = demanded.to_vec();
            own.iter_mut().for_each(|it| substitute(it, &map));
            done.push((self.rel(input, own)?, attrs));
        }
        Ok(Rel::Union { inputs: done, output })
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
        if !self.options.rewrites {
            return keys;
        }
        let facts = Facts::new(self.attributes);
        let dependencies = Dependencies::of(input, facts);
        let mut known = AttrSet::default();
        let mut kept = Vec::with_capacity(keys.len());
        for key in keys {
            let own = AttrSet::of(&key.expr);
            // What can fail is computed for each row, whether it decides or not.
            let follows =
                !own.is_empty() && facts.follows_from_columns(&key.expr) && !is_fallible(&key.expr);
            if follows && own.is_subset(&dependencies.closure(&known)) {
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
        let (keys, repeated) = distinct_keys(keys);
        if !repeated.is_empty() {
            let mut demanded = demanded;
            demanded.iter_mut().for_each(|it| substitute(it, &repeated));
            let rel = self.aggregate(input, keys, aggregates, demanded)?;
            return Ok(Rel::Map { input: Box::new(rel), exprs: repeated });
        }
        if self.options.rewrites
            && let Some((left, made)) = self.unmoved_sums(&aggregates)
        {
            let (above, below) = demanded
                .into_iter()
                .partition(|it| made.iter().any(|(attr, _)| AttrSet::of(it).contains(*attr)));
            let rel = Box::new(self.aggregate(input, keys, left, below)?);
            return Ok(Rel::Map { input: rel, exprs: made }.filtered(above));
        }
        // A predicate on group keys alone keeps or drops whole groups.
        let plain = keys.iter().filter(|it| !is_volatile(&it.1));
        let key_set: AttrSet = plain.map(|it| it.0).collect();
        let (below, above): (Vec<_>, Vec<_>) = demanded.into_iter().partition(|it| {
            let attrs = AttrSet::of(it);
            !attrs.is_empty() && attrs.is_subset(&key_set) && !is_fallible(it)
        });
        let mut below = below;
        below.iter_mut().for_each(|it| substitute(it, &keys));
        let mut input = self.rel(input, below)?;
        if keys.is_empty()
            && self.options.rewrites
            && let Some(row) = statistics::known_row(&input, &aggregates)
        {
            return Ok(row.filtered(above));
        }
        let (keys, more) = self.cut_keys(&input, keys);
        let mut aggregates = aggregates;
        aggregates.extend(more);
        if self.options.rewrites
            && let Some(joined) = self.group_below_left_join(&mut input, &keys, &aggregates)
        {
            return Ok(joined.filtered(above));
        }
        if self.options.rewrites
            && let Some(joined) = self.group_whole_before_join(&mut input, &keys, &aggregates)
        {
            return Ok(joined.filtered(above));
        }
        if self.options.rewrites {
            aggregates = self.group_before_join(&mut input, &keys, aggregates);
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
        if keys.len() < 2 || !self.options.rewrites {
            return (keys, Vec::new());
        }
        let facts = Facts::new(self.attributes);
        let dependencies = Dependencies::of(input, facts);
        // Wide keys go first; of two that determine each other the integer stays.
        let width = |expr: &Expr| match expr.data_type.plain() {
            it if it.stored().is_text() => 3,
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
            let follows = facts.follows_from_columns(&keys[place].1);
            kept[place] = last || !follows || !own.is_subset(&dependencies.closure(&others));
        }
        let (mut left, mut cut) = (Vec::new(), Vec::new());
        for (keep, (attr, expr)) in kept.into_iter().zip(keys) {
            if keep {
                left.push((attr, expr));
                continue;
            }
            let data_type = expr.data_type;
            let aggregate = Aggregate::of(AggregateFunction::AnyValue, Some(expr), data_type);
            cut.push((attr, aggregate));
        }
        (left, cut)
    }
}
