//! Hash tables: what they store of their rows, and which later scans they reduce.

use plan::relation::{Attr, AttrSet, JoinRel, Rel, RelJoin, bare};
use plan::{Expr, HashBuild, PipelineId, Sink};
use types::{DataType, SqlResult};

use super::keys::{bare_keys, integer_like, same_key, unified_keys};
use super::state::Lowering;
use super::stream::Reducer;
use crate::estimate;
use crate::facts::unique_keys;
use crate::reach;
use crate::rewrite::origin::rises_in;
use crate::tuning::{PARTIAL_TRANSFER_SHARE_MAX, ROWS_PER_PARTIAL_TRANSFER, TRANSFER_SHARE_MAX};

/// A built hash table.
pub(super) struct Table {
    pub build: PipelineId,
    pub keys: Vec<Expr>,
    pub payload: Vec<Attr>,
    /// What its rows satisfy.
    pub reducers: Vec<Reducer>,
}

impl Lowering<'_> {
    /// Builds the hash table on the right of a join.
    pub(super) fn table(
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

    /// Ends the rows of a relation in a hash table; `unique_on` are the attributes that its keys are. Only a `shared` one may
    /// serve several joins.
    pub(super) fn build(
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

    /// The reducers that a table on the right is, when each row of the result has a partner in it.
    pub(super) fn reducers(&self, join: &JoinRel, build: PipelineId) -> Vec<Reducer> {
        if !matches!(join.kind, RelJoin::Inner | RelJoin::Semi) {
            return Vec::new();
        }
        let keys: Vec<_> = join.keys.iter().map(|(left, right)| (right, left)).collect();
        reducers_of(&keys, (&join.right, &join.left), build)
    }
}

/// The reducers of rows that a table is: of several keys the one that keeps the least share of them, as a look at one costs
/// little and the join looks at all; and those by which the rows are in order, as they spare whole blocks. Keys stand with that
/// of the table first, and so do the relations.
pub(super) fn reducers_of(
    keys: &[(&Expr, &Expr)],
    (table, rows): (&Rel, &Rel),
    build: PipelineId,
) -> Vec<Reducer> {
    let of_key = |(key, (own, other)): (usize, &(&Expr, &Expr))| {
        let fits = own.data_type == other.data_type && integer_like(own.data_type);
        let (own, other) = bare(own).zip(bare(other)).filter(|_| fits)?;
        let share = kept_share((table, own), (rows, other));
        Some((other, Reducer { attrs: [own, other].into_iter().collect(), build, key, share }))
    };
    let all = keys.iter().enumerate().filter_map(of_key);
    if keys.len() == 1 {
        return all.map(|it| it.1).collect();
    }
    let mut all: Vec<(Attr, Reducer)> = all.collect();
    all.sort_by(|a, b| a.1.share.total_cmp(&b.1.share));
    let is_small = table.rows() * ROWS_PER_PARTIAL_TRANSFER <= rows.rows();
    let is_wanted = |place: usize, (other, reducer): &mut (Attr, Reducer)| {
        let is_best = place == 0 && reducer.share <= PARTIAL_TRANSFER_SHARE_MAX;
        let is_cheap = is_small && rises_in(rows, &Expr::column(*other, DataType::BigInt));
        // What is expected of several keys is often wrong: the scan finds out.
        reducer.share = reducer.share.min(TRANSFER_SHARE_MAX);
        is_best || is_cheap
    };
    let wanted = all.into_iter().enumerate();
    wanted.filter_map(|(place, mut it)| is_wanted(place, &mut it).then_some(it.1)).collect()
}

/// The share of the values of a key of rows that a table has. Values that the table could have and the rows could not are of no
/// account.
fn kept_share((table, own): (&Rel, Attr), (rows, other): (&Rel, Attr)) -> f64 {
    let (own_key, other_key) =
        (Expr::column(own, DataType::BigInt), Expr::column(other, DataType::BigInt));
    let spans = reach::span(table, &own_key).zip(reach::span(rows, &other_key));
    let within = spans.map(|(a, b)| (a.0.max(b.0), a.1.min(b.1)));
    let shares = within.and_then(|it| reach::shares(table, &own_key, it));
    let (reached, values) = shares.unwrap_or((1.0, 1.0));
    let possible = estimate::domain(table, own) * values;
    estimate::distinct(table, own) * reached / estimate::domain(rows, other).max(possible)
}
