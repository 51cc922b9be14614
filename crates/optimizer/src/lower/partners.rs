//! Joins with the hash table on the side whose rows they answer with: the other side passes it and leaves marks, then the
//! table is read.

use plan::build::null;
use plan::relation::{Attr, AttrSet, JoinRel, RelJoin};
use plan::{Expr, Join, JoinKind, Operator, PipelineId, Sink, Source};
use types::{SqlError, SqlResult};

use super::keys::{bare_keys, unified_keys};
use super::state::Lowering;
use super::stream::{Reducer, Stream};
use super::table::{Table, reducers_of};
use crate::facts::Facts;

impl Lowering<'_> {
    /// A semi or anti join with the hash table on the left: the right marks partners, then the table is read.
    pub(super) fn marked(
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
        let keys: Vec<(&Expr, &Expr)> = join.keys.iter().map(|(l, r)| (l, r)).collect();
        let reducers = reducers_of(&keys, (&join.left, &join.right), table.build);
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
    pub(super) fn null_extended(
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
