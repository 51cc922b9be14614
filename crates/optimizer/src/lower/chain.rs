//! Joins. Along the probe side, joins and filters form a chain; all hash tables beside the chain are built before it.

use std::collections::BTreeMap;

use plan::{Expr, Join, JoinKind, Operator};
use types::{SqlError, SqlResult};

use super::keys::{same_key, unified_keys};
use super::state::Lowering;
use super::stream::{Reducer, Stream};
use super::table::Table;
use crate::tuning::{WHOLE_TABLE_DELAY, WHOLE_TABLE_SHARE};
use plan::relation::{Attr, AttrSet, JoinRel, Rel, RelJoin, bare};

/// A step of a chain, from the probe side's end upwards.
enum Step<'a> {
    Join { join: &'a JoinRel, table: Option<Table> },
    Filter(&'a [Expr]),
}

impl Lowering<'_> {
    pub(super) fn join(
        &mut self,
        join: &JoinRel,
        required: &AttrSet,
        reducers: &[Reducer],
    ) -> SqlResult<Stream> {
        if join.kind == RelJoin::Full {
            return self.null_extended(join, required, JoinKind::Left, &[]);
        }
        if join.build_left {
            return match join.kind {
                RelJoin::Left => self.null_extended(join, required, JoinKind::Inner, reducers),
                _ => self.marked(join, required, reducers),
            };
        }
        let mut steps = vec![Step::Join { join, table: None }];
        let mut end = &join.left;
        loop {
            match end {
                Rel::Join(next) if next.kind != RelJoin::Full && !next.build_left => {
                    steps.push(Step::Join { join: next, table: None });
                    end = &next.left;
                }
                Rel::Filter { input, predicates } if matches!(**input, Rel::Join(_)) => {
                    steps.push(Step::Filter(predicates));
                    end = input;
                }
                _ => break,
            }
        }
        self.chain(steps, end, required, reducers)
    }

    /// Builds the tables of a chain, then runs it. `steps` stand from the top down.
    fn chain(
        &mut self,
        mut steps: Vec<Step<'_>>,
        end: &Rel,
        required: &AttrSet,
        reducers: &[Reducer],
    ) -> SqlResult<Stream> {
        let (demands, demand) = demands(&steps, required);
        let mut order: Vec<usize> = (0..steps.len()).collect();
        // Selective and small tables first, so that they reduce the building of the others.
        let weight = |it: usize| match &steps[it] {
            Step::Join { join, .. } => build_weight(join),
            Step::Filter(_) => 0.0,
        };
        order.sort_by(|a, b| weight(*a).total_cmp(&weight(*b)));
        let equals = Equals::of(&steps);
        let mut known = reducers.to_vec();
        equals.close(&mut known);
        for place in order {
            let Step::Join { join, .. } = &steps[place] else { continue };
            let join: &JoinRel = join;
            let built = self.table(join, &demands[place], &known)?;
            let closed = known.len();
            known.extend(self.reducers(join, built.build));
            if matches!(join.kind, RelJoin::Inner | RelJoin::Semi) {
                known.extend(built.reducers.iter().cloned());
            }
            equals.close(&mut known[closed..]);
            if let Step::Join { table, .. } = &mut steps[place] {
                *table = Some(built);
            }
        }
        let mut stream = self.stream(end, &demand, &known)?;
        stream.reducers.extend(known.split_off(reducers.len()));
        equals.close(&mut stream.reducers);
        for (step, demand) in steps.into_iter().zip(demands).rev() {
            match step {
                Step::Filter(predicates) => {
                    for predicate in predicates {
                        self.filter(&mut stream, predicate)?;
                    }
                }
                Step::Join { join, table } => {
                    let table = table.expect("invariant: all tables of a chain are built");
                    stream.before_join = stream.layout.len();
                    self.probe(&mut stream, join, &table, &demand)?;
                }
            }
        }
        Ok(stream)
    }

    /// Adds a lookup to a stream.
    fn probe(
        &self,
        stream: &mut Stream,
        join: &JoinRel,
        table: &Table,
        demand: &AttrSet,
    ) -> SqlResult<()> {
        let null_aware = join.null_aware;
        if null_aware && (table.keys.len() != 1 || !join.residual.is_empty()) {
            return Err(SqlError::unsupported(
                "NOT IN with a correlated subquery over columns that may be NULL is not supported",
            )
            .with_hint("use NOT EXISTS, or filter NULLs out"));
        }
        let kind = match join.kind {
            RelJoin::Inner => JoinKind::Inner,
            RelJoin::Left | RelJoin::Full => JoinKind::Left,
            RelJoin::Semi => JoinKind::Semi,
            RelJoin::Anti if null_aware => JoinKind::AntiNullAware,
            RelJoin::Anti => JoinKind::Anti,
            RelJoin::Mark => JoinKind::Mark { null_aware },
        };
        for (left, right) in &join.keys {
            if let (Some(l), Some(r)) = (bare(left), same_key(join, left, right)) {
                stream.aliases.push((r, l));
            }
        }
        let mut keys = Vec::new();
        for key in unified_keys(join).0 {
            keys.push(self.place(&key, stream)?);
        }
        let width = stream.layout.len();
        let residual = self.residual(join, |attr| {
            let stored = table.payload.iter().position(|it| *it == attr).map(|it| it + width);
            stored.or_else(|| stream.position(attr))
        })?;
        let mut all: Vec<Attr> = stream.layout.clone();
        match kind {
            JoinKind::Inner | JoinKind::Left => all.extend(&table.payload),
            JoinKind::Mark { .. } => all.extend(join.mark),
            _ => {}
        }
        // What is kept: demanded attributes, and those that stand for a demanded one.
        let (mut kept, there) = (AttrSet::default(), all.iter().copied().collect::<AttrSet>());
        for attr in demand.iter() {
            match there.contains(attr) {
                true => kept.insert(attr),
                false => {
                    if let Some(place) = stream.position(attr) {
                        kept.insert(stream.layout[place]);
                    }
                }
            }
        }
        let output: Vec<usize> = (0..all.len()).filter(|it| kept.contains(all[*it])).collect();
        stream.layout = output.iter().map(|it| all[*it]).collect();
        stream.rows = join.rows;
        let build = table.build;
        stream.operators.push(Operator::Join(Join {
            build,
            kind,
            keys,
            residual,
            output,
            track_matches: false,
            numbers: false,
        }));
        Ok(())
    }

    /// The conditions of a join that are no keys, as one.
    pub(super) fn residual(
        &self,
        join: &JoinRel,
        place: impl Fn(Attr) -> Option<usize>,
    ) -> SqlResult<Option<Expr>> {
        let all = join.residual.clone();
        let mut expr = plan::relation::combine(plan::BinaryOperator::And, all);
        if let Some(expr) = &mut expr {
            self.place_in(expr, &place)?;
        }
        Ok(expr)
    }
}

/// What each step must leave and what their end must give, where `required` is wanted of the topmost.
fn demands(steps: &[Step<'_>], required: &AttrSet) -> (Vec<AttrSet>, AttrSet) {
    let mut demands = Vec::with_capacity(steps.len());
    let mut demand = required.clone();
    for step in steps {
        demands.push(demand.clone());
        match step {
            Step::Filter(predicates) => predicates.iter().for_each(|it| demand.add_expr(it)),
            Step::Join { join, .. } => {
                for (left, right) in &join.keys {
                    // The build's key is the probe's key: no need to store it.
                    if let (Some(l), Some(r)) = (bare(left), same_key(join, left, right))
                        && demand.contains(r)
                    {
                        demand.insert(l);
                    }
                    demand.add_expr(left);
                }
                join.residual.iter().for_each(|it| demand.add_expr(it));
            }
        }
    }
    (demands, demand)
}

/// Roughly the rows that building reads: scans and small results first, groups over whole tables last.
fn build_weight(join: &JoinRel) -> f64 {
    fn heavy(rel: &Rel) -> f64 {
        match rel {
            Rel::Aggregate { input, .. } | Rel::Window { input, .. } => input.rows() + heavy(input),
            Rel::Filter { input, .. }
            | Rel::Map { input, .. }
            | Rel::Sort { input, .. }
            | Rel::Limit { input, .. } => heavy(input),
            Rel::Join(join) => heavy(&join.left) + heavy(&join.right),
            _ => 0.0,
        }
    }
    // A whole table reduces nothing: it comes after those that may reduce its own building.
    let whole = match &join.right {
        Rel::Scan(scan) if scan.rows >= WHOLE_TABLE_SHARE * scan.table.rows as f64 => {
            WHOLE_TABLE_DELAY
        }
        _ => 1.0,
    };
    join.right.rows() * whole + heavy(&join.right)
}

/// What the joins of a chain make equal to each attribute.
struct Equals(BTreeMap<Attr, Vec<Attr>>);

impl Equals {
    fn of(steps: &[Step<'_>]) -> Self {
        let mut equals: BTreeMap<Attr, Vec<Attr>> = BTreeMap::new();
        for step in steps {
            let Step::Join { join, .. } = step else { continue };
            for (left, right) in &join.keys {
                let (Some(l), Some(r)) = (bare(left), bare(right)) else { continue };
                if left.data_type != right.data_type {
                    continue;
                }
                equals.entry(l).or_default().push(r);
                if matches!(join.kind, RelJoin::Inner | RelJoin::Semi) {
                    equals.entry(r).or_default().push(l);
                }
            }
        }
        Self(equals)
    }

    /// Extends reducers by what equals their key.
    fn close(&self, reducers: &mut [Reducer]) {
        for reducer in reducers {
            let mut open: Vec<Attr> = reducer.attrs.iter().collect();
            while let Some(attr) = open.pop() {
                for equal in self.0.get(&attr).into_iter().flatten() {
                    if !reducer.attrs.contains(*equal) {
                        reducer.attrs.insert(*equal);
                        open.push(*equal);
                    }
                }
            }
        }
    }
}
