//! Groupjoin (Moerkotte and Neumann 2011; Fent, Birler and Neumann 2023): where groups follow from the partner that rows
//! found in a hash table, the partner's number is the group. Numbers are dense and small, whatever the keys are (texts,
//! wide or scattered numbers, several columns), so groups are found through an array; and what the table has stored
//! of a partner is fetched once for each group, not carried with each row.
//!
//! Key decision: a grouping of its own kind is not needed. The join hands on numbers, any grouping groups by them, and a
//! fetch adds the stored columns. Where several partners may make one group (keys of the table that repeat, or keys that
//! are coarser than its rows), the groups of the partners are grouped once more.

use std::collections::BTreeSet;

use plan::{
    Aggregate, AggregateFunction, Expr, ExprKind, Fetch, HashBuild, JoinKind, Operator, PipelineId,
    Sink, Source,
};
use types::DataType;

use super::state::Lowering;
use super::stream::Stream;
use crate::rewrite::origin;
use crate::tuning::{ARRAY_KEY_BITS, ROWS_PER_PARTNER_MIN, SMALL_ROWS, WIDE_KEY_BITS};
use plan::relation::{Attr, Rel, bare};

/// A grouping over the layout of a stream.
pub(super) struct Grouping<'a> {
    /// The keys as attributes of the input.
    pub attrs: &'a [(Attr, Expr)],
    pub keys: &'a [Expr],
    /// The aggregates and the attributes that they are.
    pub aggregates: Vec<(Attr, Aggregate)>,
    /// Expected groups.
    pub groups: f64,
}

/// What a hash table has of a partner.
#[derive(Clone, Copy, PartialEq)]
enum Stored {
    Payload(usize),
    /// A key that it was built on; not among the payload, since the probe side has it.
    Key(usize),
}

/// How a stream's pairs are grouped by the partner.
pub(super) struct ByPartner {
    /// The join among the stream's operators.
    join: usize,
    /// What each key is.
    keys: Vec<Stored>,
    /// What each aggregate is, if it is not computed.
    aggregates: Vec<Option<Stored>>,
    /// Whether each partner makes a group of its own.
    one_each: bool,
}

impl Lowering<'_> {
    /// Whether the groups of a stream over `input` follow from the partners of its last join, and it pays to find
    /// them so.
    pub(super) fn by_partner(
        &self,
        input: &Rel,
        stream: &Stream,
        grouping: &Grouping<'_>,
    ) -> Option<ByPartner> {
        let is_filter = |it: &Operator| matches!(it, Operator::Filter(_));
        let place = stream.operators.iter().rposition(|it| !is_filter(it))?;
        let Operator::Join(join) = &stream.operators[place] else { return None };
        if join.kind != JoinKind::Inner || join.track_matches || grouping.keys.is_empty() {
            return None;
        }
        let built = &self.pipelines[join.build.index()];
        let Sink::HashBuild(build) = &built.sink else { return None };
        let stored = |expr: &Expr| {
            let ExprKind::Column(column) = expr.kind else { return None };
            let column = *join.output.get(column)?;
            if let Some(payload) = column.checked_sub(stream.before_join) {
                return Some(Stored::Payload(payload));
            }
            let is_it = |key: &Expr| key.kind == ExprKind::Column(column);
            let key = join.keys.iter().position(is_it)?;
            // Zeros of two signs are equal and still two.
            let same = build.keys[key].data_type == expr.data_type && !expr.data_type.is_float();
            same.then_some(Stored::Key(key))
        };
        let keys: Vec<Stored> = grouping.keys.iter().map(stored).collect::<Option<_>>()?;
        let any =
            |it: &Aggregate| it.function == AggregateFunction::AnyValue && it.filter.is_none();
        let aggregates: Vec<Option<Stored>> = grouping
            .aggregates
            .iter()
            .map(|(_, it)| it.argument.as_ref().filter(|_| any(it)).and_then(stored))
            .collect();
        let covered = |key: usize| {
            let of = |it: &Stored| match *it {
                Stored::Key(own) => own == key,
                Stored::Payload(place) => build.payload[place] == build.keys[key],
            };
            keys.iter().any(of)
        };
        let one_each = build.unique && (0..build.keys.len()).all(covered);
        let computed = grouping.aggregates.iter().zip(&aggregates).filter(|it| it.1.is_none());
        let mergeable = computed.map(|it| &it.0.1).all(|it| it.of_parts().is_some());
        let pays = stream.rows >= SMALL_ROWS
            && stream.rows >= ROWS_PER_PARTNER_MIN * built.estimated_rows
            && key_bits(input, grouping.attrs) > ARRAY_KEY_BITS;
        let able = (one_each || mergeable) && pays;
        able.then_some(ByPartner { join: place, keys, aggregates, one_each })
    }

    /// Groups a stream by the partner. The layout is the attributes of keys and aggregates, in some order.
    pub(super) fn group_by_partner(
        &mut self,
        mut stream: Stream,
        how: &ByPartner,
        grouping: Grouping<'_>,
    ) -> Stream {
        let computed = grouping.aggregates.iter().zip(&how.aggregates);
        let (layout, mut aggregates): (Vec<Attr>, Vec<Aggregate>) =
            computed.filter(|it| it.1.is_none()).map(|it| it.0.clone()).unzip();
        let (build, number) = hand_on_numbers(&mut stream.operators[how.join..], &mut aggregates);
        let mut fetch = Fetch { build, row: 0, payload: Vec::new() };
        let mut fetched: Vec<Attr> = Vec::new();
        let names = grouping.attrs.iter().map(|it| it.0).zip(how.keys.iter().map(|it| Some(*it)));
        let names = names
            .chain(grouping.aggregates.iter().map(|it| it.0).zip(how.aggregates.iter().copied()));
        for (attr, stored) in names {
            if let Some(stored) = stored {
                fetch.payload.push(self.payload_of(build, stored));
                fetched.push(attr);
            }
        }
        let estimated_groups = grouping.groups.min(self.pipelines[build.index()].estimated_rows);
        let keys = vec![Expr::column(number, DataType::BigInt)];
        let id = self.group(stream, keys, aggregates, estimated_groups);
        // Nobody asks for the number by a name.
        let nobody = self.attributes.len();
        let layout = [nobody].into_iter().chain(layout).chain(fetched).collect();
        let mut partners = Stream::new(Source::Read(vec![id]), layout, estimated_groups);
        partners.operators.push(Operator::Fetch(fetch));
        if how.one_each { partners } else { self.group_partners(partners, grouping) }
    }

    /// The place of what a table stores; a key is stored from now on.
    fn payload_of(&mut self, build: PipelineId, stored: Stored) -> usize {
        let key = match stored {
            Stored::Payload(place) => return place,
            Stored::Key(key) => key,
        };
        let sink = &mut self.pipelines[build.index()].sink;
        let Sink::HashBuild(HashBuild { keys, payload, .. }) = sink else {
            unreachable!("invariant: a join looks up what was built");
        };
        payload.iter().position(|it| *it == keys[key]).unwrap_or_else(|| {
            payload.push(keys[key].clone());
            payload.len() - 1
        })
    }

    /// Groups the groups of partners by the keys.
    fn group_partners(&mut self, partners: Stream, grouping: Grouping<'_>) -> Stream {
        let Grouping { attrs, aggregates, groups, .. } = grouping;
        let column = |attr: Attr, data_type: DataType| {
            let place = partners.layout.iter().position(|it| *it == attr);
            Expr::column(place.expect("invariant: each key and aggregate is there"), data_type)
        };
        let keys = attrs.iter().map(|(attr, it)| column(*attr, it.data_type)).collect();
        let whole = |(attr, part): &(Attr, Aggregate)| {
            let function = part.of_parts().unwrap_or(AggregateFunction::AnyValue);
            Aggregate::of(function, Some(column(*attr, part.data_type)), part.data_type)
        };
        let whole = aggregates.iter().map(whole).collect();
        let sink = Sink::Aggregate { keys, aggregates: whole, estimated_groups: groups };
        let layout = attrs.iter().map(|it| it.0).chain(aggregates.iter().map(|it| it.0)).collect();
        let id = self.finish(partners, sink);
        Stream::new(Source::Read(vec![id]), layout, groups)
    }
}

/// Lets the join that operators begin with hand on numbers, and no columns but those that the filters behind it and
/// `aggregates` use; both are told where these are now. Gives the table and the column of the numbers.
fn hand_on_numbers(
    operators: &mut [Operator],
    aggregates: &mut [Aggregate],
) -> (PipelineId, usize) {
    let [Operator::Join(join), filters @ ..] = operators else {
        unreachable!("invariant: that is where the join was found");
    };
    let conditions = filters.iter_mut().filter_map(|it| match it {
        Operator::Filter(condition) => Some(condition),
        _ => None,
    });
    let arguments = aggregates.iter_mut().flat_map(|it| it.expressions_mut());
    let mut exprs: Vec<&mut Expr> = conditions.chain(arguments).collect();
    let mut used = BTreeSet::new();
    exprs.iter().for_each(|it| it.collect_columns(&mut used));
    let used: Vec<usize> = used.into_iter().collect();
    for expr in &mut exprs {
        expr.map_columns(&mut |column| used.partition_point(|&it| it < column));
    }
    join.output = used.iter().map(|&it| join.output[it]).collect();
    join.numbers = true;
    (join.build, used.len())
}

/// About how many bits tell the keys apart as they are stored.
fn key_bits(input: &Rel, keys: &[(Attr, Expr)]) -> f64 {
    let bits = |expr: &Expr| {
        let (scan, of) = origin::of(input, bare(expr)?)?;
        let (_, column) = crate::estimate::column(scan, of)?;
        let statistics = &column.statistics;
        if column.data_type.stored().is_text() {
            // Near-unique texts have no codes.
            let coded = statistics.distinct * 2 <= scan.table.rows;
            return coded.then(|| (statistics.distinct.max(1) as f64).log2());
        }
        let ends = statistics.min.as_ref()?.as_i128().zip(statistics.max.as_ref()?.as_i128());
        ends.map(|(min, max)| (max as f64 - min as f64 + 1.0).log2())
    };
    keys.iter().map(|it| bits(&it.1).unwrap_or(WIDE_KEY_BITS)).sum()
}
