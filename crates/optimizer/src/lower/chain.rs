//! Joins. Along the probe side, joins and filters form a chain; all hash tables beside the chain are built before it.

use std::collections::HashMap;

use plan::{Expr, HashBuild, Join, JoinKind, Operator, PipelineId, Sink, Source};
use types::{DataType, SqlError, SqlResult};

use super::stream::Stream;
use super::{Lowering, Reducer};
use crate::estimate;
use crate::facts::{Facts, equal_is_same, equality_chains, unique_keys};
use crate::tuning::{WHOLE_TABLE_DELAY, WHOLE_TABLE_SHARE};
use plan::build::{cast, null};
use plan::relation::{Attr, AttrSet, JoinRel, Rel, RelJoin, bare};

/// A step of a chain, from the probe side's end upwards.
enum Step<'a> {
    Join { join: &'a JoinRel, table: Option<Table> },
    Filter(&'a [Expr]),
}

/// A built hash table.
struct Table {
    build: PipelineId,
    keys: Vec<Expr>,
    payload: Vec<Attr>,
    /// What its rows satisfy.
    reducers: Vec<Reducer>,
}

fn integer_like(data_type: DataType) -> bool {
    data_type.is_integer() || data_type == DataType::Date
}

/// The keys of both sides in one type.
fn unified_keys(join: &JoinRel) -> (Vec<Expr>, Vec<Expr>) {
    let mut keys = (Vec::new(), Vec::new());
    for (left, right) in &join.keys {
        let (l, r) = (left.data_type, right.data_type);
        let common = match (l, r) {
            _ if l == r || (l.is_text() && r.is_text()) => None,
            _ if l.is_integer() && r.is_integer() => Some(DataType::BigInt),
            _ if l.is_float() || r.is_float() => Some(DataType::Double),
            _ if l.is_numeric() && r.is_numeric() => {
                Some(DataType::Decimal { precision: 38, scale: l.scale().max(r.scale()) })
            }
            _ => None,
        };
        let convert = |it: &Expr| match common {
            Some(common) => cast(it.clone(), common),
            None => it.clone(),
        };
        keys.0.push(convert(left));
        keys.1.push(convert(right));
    }
    keys
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
        // What each step must leave, from the top down.
        let mut demands = Vec::with_capacity(steps.len() + 1);
        let mut demand = required.clone();
        for step in &steps {
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
            known.extend(self.reducer(join, built.build));
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
                    self.probe(&mut stream, join, &table, &demand, false)?;
                }
            }
        }
        Ok(stream)
    }

    /// Builds the hash table on the right of a join.
    fn table(
        &mut self,
        join: &JoinRel,
        demand: &AttrSet,
        reducers: &[Reducer],
    ) -> SqlResult<Table> {
        let stored = matches!(join.kind, RelJoin::Inner | RelJoin::Left | RelJoin::Full);
        let mut payload_set = AttrSet::default();
        join.residual.iter().for_each(|it| payload_set.add_expr(it));
        if stored {
            payload_set.union_with(demand);
        }
        let right = join.right.attrs();
        let equal = |attr: Attr| {
            join.keys.iter().any(|(l, r)| same_key(join, l, r) == Some(attr) && bare(l).is_some())
        };
        let payload: Vec<Attr> =
            payload_set.iter().filter(|it| right.contains(*it) && !equal(*it)).collect();
        let keys = unified_keys(join).1;
        let on = bare_keys(join, &keys);
        // A NULL key that is dropped would change what a NULL-aware join answers.
        let passed = if join.null_aware || join.kind == RelJoin::Full { &[] } else { reducers };
        let keep_null_keys = join.kind == RelJoin::Full;
        self.build(&join.right, (keys, &on), payload, passed, keep_null_keys, true)
    }

    fn build(
        &mut self,
        rel: &Rel,
        (keys, unique_on): (Vec<Expr>, &AttrSet),
        payload: Vec<Attr>,
        reducers: &[Reducer],
        keep_null_keys: bool,
        shared: bool,
    ) -> SqlResult<Table> {
        let mut required: AttrSet = payload.iter().copied().collect();
        keys.iter().for_each(|it| required.add_expr(it));
        let stream = self.stream(rel, &required, reducers)?;
        let mut placed = Vec::with_capacity(keys.len());
        for key in &keys {
            placed.push(self.place(key, &stream)?);
        }
        let mut stored = Vec::with_capacity(payload.len());
        for attr in &payload {
            let column = Expr::column(*attr, self.attributes[*attr].data_type);
            stored.push(self.place(&column, &stream)?);
        }
        let reducers = stream.reducers.clone();
        let unique = unique_keys(rel).iter().any(|it| it.is_subset(unique_on));
        let sink =
            Sink::HashBuild(HashBuild { keys: placed, payload: stored, unique, keep_null_keys });
        let build =
            match self.same_build(&stream, &sink).filter(|_| shared && self.options.rewrites) {
                Some(same) => same,
                None => self.finish(stream, sink),
            };
        if !shared {
            self.marked.push(build);
        }
        Ok(Table { build, keys, payload, reducers })
    }

    /// The reducer that a table is, when each row of the result has a partner in it.
    fn reducer(&self, join: &JoinRel, build: PipelineId) -> Option<Reducer> {
        let [(left, right)] = join.keys.as_slice() else { return None };
        let usable = matches!(join.kind, RelJoin::Inner | RelJoin::Semi)
            && left.data_type == right.data_type
            && integer_like(left.data_type);
        if !usable {
            return None;
        }
        let (left, right) = (bare(left)?, bare(right)?);
        let kept = estimate::distinct(&join.right, right);
        let share = kept / estimate::domain(&join.left, left);
        Some(Reducer { attrs: [left, right].into_iter().collect(), build, share })
    }

    /// Adds a lookup to a stream.
    fn probe(
        &self,
        stream: &mut Stream,
        join: &JoinRel,
        table: &Table,
        demand: &AttrSet,
        track_matches: bool,
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
            track_matches,
            numbers: false,
        }));
        Ok(())
    }

    fn residual(
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

    /// A semi or anti join with the hash table on the left: the right marks partners, then the table is read.
    fn marked(
        &mut self,
        join: &JoinRel,
        required: &AttrSet,
        reducers: &[Reducer],
    ) -> SqlResult<Stream> {
        let mut demand = required.clone();
        join.residual.iter().for_each(|it| demand.add_expr(it));
        let left_attrs = join.left.attrs();
        let payload: Vec<Attr> = demand.iter().filter(|it| left_attrs.contains(*it)).collect();
        let (left_keys, right_keys) = unified_keys(join);
        let facts = Facts::new(self.attributes);
        // A row with a NULL key has no partner, so an anti join keeps it.
        let keep_null_keys = join.kind == RelJoin::Anti
            && left_keys.iter().any(|it| facts.nullable_expr(&join.left, it));
        let on = bare_keys(join, &left_keys);
        let keys = (left_keys, &on);
        let table = self.build(&join.left, keys, payload, reducers, keep_null_keys, false)?;
        self.mark_pass(join, &table, &right_keys, JoinKind::MarkBuild, &[])?;
        let matched = join.kind == RelJoin::Semi;
        let source = Source::BuildRows { build: table.build, matched };
        let reducers = table.reducers;
        Ok(Stream { reducers, ..Stream::new(source, table.payload, join.rows) })
    }

    /// Sends the right side of a join past a table of its left side; the rows that come out are materialised.
    fn mark_pass(
        &mut self,
        join: &JoinRel,
        table: &Table,
        right_keys: &[Expr],
        kind: JoinKind,
        output: &[Attr],
    ) -> SqlResult<PipelineId> {
        let right_attrs = join.right.attrs();
        let mut below: AttrSet =
            output.iter().copied().filter(|it| right_attrs.contains(*it)).collect();
        right_keys.iter().for_each(|it| below.add_expr(it));
        for attr in join.residual.iter().flat_map(|it| AttrSet::of(it).iter().collect::<Vec<_>>()) {
            if right_attrs.contains(attr) {
                below.insert(attr);
            }
        }
        // A row of the right without partner on the left has no effect here.
        let reducer = match join.keys.as_slice() {
            [(l, r)] if l.data_type == r.data_type && integer_like(l.data_type) => {
                bare(l).zip(bare(r)).map(|(l, r)| {
                    let share =
                        estimate::distinct(&join.left, l) / estimate::domain(&join.right, r);
                    Reducer { attrs: [l, r].into_iter().collect(), build: table.build, share }
                })
            }
            _ => None,
        };
        let reducers: Vec<Reducer> = reducer.into_iter().collect();
        let mut stream = self.stream(&join.right, &below, &reducers)?;
        let mut keys = Vec::new();
        for key in right_keys {
            keys.push(self.place(key, &stream)?);
        }
        let width = stream.layout.len();
        let stored = |attr: Attr| table.payload.iter().position(|it| *it == attr);
        let place = |attr: Attr| match stored(attr) {
            Some(place) => Some(place + width),
            None => stream.position(attr),
        };
        let residual = self.residual(join, place)?;
        let places = output.iter().map(|it| {
            place(*it).ok_or_else(|| SqlError::internal("a column of a join is lost on the way"))
        });
        let places = places.collect::<SqlResult<Vec<usize>>>()?;
        stream.operators.push(Operator::Join(Join {
            build: table.build,
            kind,
            keys,
            residual,
            output: places,
            track_matches: true,
            numbers: false,
        }));
        stream.layout = output.to_vec();
        stream.rows = join.rows;
        Ok(self.finish(stream, Sink::Materialize { offset: 0, limit: None }))
    }

    /// Left joins with the table on the left, and full joins: the pairs, then the rows of the table without partner,
    /// extended by NULL.
    fn null_extended(
        &mut self,
        join: &JoinRel,
        required: &AttrSet,
        kind: JoinKind,
        reducers: &[Reducer],
    ) -> SqlResult<Stream> {
        let full = join.kind == RelJoin::Full;
        let mut demand = required.clone();
        join.residual.iter().for_each(|it| demand.add_expr(it));
        // In both cases the table is on the side whose rows without partner come afterwards.
        let turned;
        let join = if full {
            turned = JoinRel {
                left: join.right.clone(),
                right: join.left.clone(),
                keys: join.keys.iter().map(|(l, r)| (r.clone(), l.clone())).collect(),
                ..join.clone()
            };
            &turned
        } else {
            join
        };
        let table_attrs = join.left.attrs();
        let all = [join.left.attrs(), join.right.attrs()];
        let output: Vec<Attr> =
            required.iter().filter(|it| all.iter().any(|side| side.contains(*it))).collect();
        let payload: Vec<Attr> = demand.iter().filter(|it| table_attrs.contains(*it)).collect();
        let (table_keys, other_keys) = unified_keys(join);
        let on = bare_keys(join, &table_keys);
        let table = self.build(&join.left, (table_keys, &on), payload, reducers, true, false)?;
        let pairs = match full {
            true => self.full_pass(join, &table, &other_keys, &output)?,
            false => self.mark_pass(join, &table, &other_keys, kind, &output)?,
        };
        let source = Source::BuildRows { build: table.build, matched: false };
        let mut rest = Stream::new(source, table.payload, 1.0);
        let extended = output
            .iter()
            .map(|it| {
                let data_type = self.attributes[*it].data_type;
                match rest.position(*it) {
                    Some(place) => Expr::column(place, data_type),
                    None => null(data_type),
                }
            })
            .collect();
        rest.operators.push(Operator::Project(extended));
        rest.layout.clone_from(&output);
        let rest = self.finish(rest, Sink::Materialize { offset: 0, limit: None });
        Ok(Stream::new(Source::Read(vec![pairs, rest]), output, join.rows))
    }

    /// The probe of a full join. Its scan must not be reduced: rows without partner are part of the answer.
    fn full_pass(
        &mut self,
        join: &JoinRel,
        table: &Table,
        keys: &[Expr],
        output: &[Attr],
    ) -> SqlResult<PipelineId> {
        let unreduced = JoinRel { keys: Vec::new(), ..join.clone() };
        self.mark_pass(&unreduced, table, keys, JoinKind::Left, output)
    }
}

/// Keys of one side that are attributes and compare with the other side's as they do with each other, so that what is
/// unique there has one partner at most.
fn bare_keys(join: &JoinRel, keys: &[Expr]) -> AttrSet {
    let chains = |it: &(Expr, Expr)| equality_chains(it.0.data_type, it.1.data_type);
    let own = keys.iter().zip(&join.keys).filter(|it| chains(it.1));
    own.filter_map(|it| bare(it.0)).collect()
}

/// The right key when both are bare and of one type, so that the left one can stand for it. Only an inner join makes
/// them equal, and equal floats need not be the same.
fn same_key(join: &JoinRel, left: &Expr, right: &Expr) -> Option<Attr> {
    let same = join.kind == RelJoin::Inner
        && left.data_type == right.data_type
        && equal_is_same(left.data_type);
    bare(left).filter(|_| same).and_then(|_| bare(right))
}

/// Roughly the rows that building reads: scans and small results first, groups over whole tables last.
fn build_weight(join: &JoinRel) -> f64 {
    fn heavy(rel: &Rel) -> f64 {
        match rel {
            Rel::Aggregate { input, .. } => input.rows() + heavy(input),
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
struct Equals(HashMap<Attr, Vec<Attr>>);

impl Equals {
    fn of(steps: &[Step<'_>]) -> Self {
        let mut equals: HashMap<Attr, Vec<Attr>> = HashMap::new();
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
