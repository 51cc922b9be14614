//! Hash tables: what they store of their rows, and which later scans they reduce.

use plan::relation::{Attr, AttrSet, JoinRel, Rel, RelJoin, bare};
use plan::{Expr, HashBuild, PipelineId, Sink};
use types::SqlResult;

use super::keys::{bare_keys, integer_like, same_key, unified_keys};
use super::state::Lowering;
use super::stream::Reducer;
use crate::estimate;
use crate::facts::unique_keys;
use crate::tuning::PARTIAL_TRANSFER_SHARE_MAX;

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

    /// The reducer that a table on the right is, when each row of the result has a partner in it.
    pub(super) fn reducer(&self, join: &JoinRel, build: PipelineId) -> Option<Reducer> {
        let usable = matches!(join.kind, RelJoin::Inner | RelJoin::Semi);
        let keys = join.keys.iter().map(|(left, right)| (right, left));
        let keys = keys.collect::<Vec<_>>();
        usable.then(|| reducer_of(&keys, (&join.right, &join.left), build)).flatten()
    }
}

/// The reducer of rows that a table is: of several keys the one that keeps the least share of them, as a look at one costs
/// little and the join looks at all. Keys stand with that of the table first, and so do the relations.
pub(super) fn reducer_of(
    keys: &[(&Expr, &Expr)],
    (table, rows): (&Rel, &Rel),
    build: PipelineId,
) -> Option<Reducer> {
    let several = keys.len() > 1;
    let of_key = |(key, (own, other)): (usize, &(&Expr, &Expr))| {
        let fits = own.data_type == other.data_type && integer_like(own.data_type);
        let (own, other) = bare(own).zip(bare(other)).filter(|_| fits)?;
        let share = estimate::distinct(table, own) / estimate::domain(rows, other);
        let worth_it = !several || share <= PARTIAL_TRANSFER_SHARE_MAX;
        let attrs = [own, other].into_iter().collect();
        worth_it.then_some(Reducer { attrs, build, key, share })
    };
    let all = keys.iter().enumerate().filter_map(of_key);
    all.min_by(|a, b| a.share.total_cmp(&b.share))
}
