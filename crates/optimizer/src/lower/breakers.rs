//! Scans, computed columns, groups, unions and constant rows.

use plan::{Aggregate, Expr, IndexHint, PipelineId, Scan, Sink, Source, Transfer};
use types::{ColumnId, SqlError, SqlResult};

use super::correspondence::Correspondence;
use super::distinct::two_levels;
use super::groupjoin::Grouping;
use super::inline::inline_once;
use super::state::{Computed, Lowering};
use super::stream::{Reducer, Stream};
use crate::tuning::TRANSFER_SHARE_MAX;
use plan::properties::has_effect;
use plan::relation::{Attr, AttrSet, Rel, ScanRel, bare};

impl Lowering<'_> {
    pub(super) fn scan(
        &mut self,
        scan: &ScanRel,
        required: &AttrSet,
        reducers: &[Reducer],
    ) -> SqlResult<Stream> {
        let count = scan.table.columns.len();
        let own = scan.base..scan.base + count;
        let mut used: AttrSet = required.iter().filter(|it| own.contains(it)).collect();
        scan.filters.iter().for_each(|it| used.add_expr(it));
        let reducers = if self.options.rewrites { reducers } else { &[] };
        let mut tested: Vec<(Attr, &Reducer)> = Vec::new();
        let mut rows = scan.rows;
        for reducer in reducers.iter().filter(|it| it.share <= TRANSFER_SHARE_MAX) {
            let attr = own.clone().find(|it| {
                reducer.attrs.contains(*it)
                    && super::keys::integer_like(self.attributes[*it].data_type)
            });
            // One test of a column is enough: the table that keeps least, of equals the one built last.
            let Some(attr) = attr else { continue };
            match tested.iter_mut().find(|it| it.0 == attr) {
                Some(known) if reducer.share <= known.1.share => known.1 = reducer,
                Some(_) => {}
                None => tested.push((attr, reducer)),
            }
        }
        for (attr, reducer) in &tested {
            used.insert(*attr);
            rows = (rows * reducer.share).max(1.0);
        }
        let attrs: Vec<Attr> = used.iter().collect();
        if attrs.iter().any(|it| !own.contains(it)) {
            return Err(SqlError::internal("a filter of a table uses a column of another one"));
        }
        let place = |attr: Attr| attrs.iter().position(|it| *it == attr);
        let mut filters = scan.filters.clone();
        for filter in &mut filters {
            self.place_in(filter, &place)?;
        }
        let transfers = tested
            .iter()
            .filter_map(|(attr, it)| {
                Some(Transfer { column: place(*attr)?, build: it.build, key: it.key })
            })
            .collect();
        let layout: Vec<Attr> = attrs.iter().copied().filter(|it| required.contains(*it)).collect();
        let source = Source::Scan(Scan {
            table: scan.table.id,
            name: scan.table.name.clone(),
            column_names: attrs
                .iter()
                .map(|it| scan.table.columns[it - scan.base].name.clone())
                .collect(),
            columns: attrs.iter().map(|it| ColumnId((it - scan.base) as u16)).collect(),
            filters,
            transfers,
            output: layout.iter().filter_map(|it| place(*it)).collect(),
            index: super::access::index_for(scan)
                .filter(|_| self.options.rewrites)
                .and_then(|(name, attr)| Some(IndexHint { name, column: place(attr)? })),
        });
        Ok(Stream::new(source, layout, rows))
    }

    pub(super) fn map(
        &mut self,
        input: &Rel,
        exprs: &[(Attr, Expr)],
        required: &AttrSet,
        reducers: &[Reducer],
    ) -> SqlResult<Stream> {
        let needed: Vec<&(Attr, Expr)> =
            exprs.iter().filter(|it| required.contains(it.0) || has_effect(&it.1)).collect();
        let mut below = required.clone();
        exprs.iter().for_each(|it| below.remove(it.0));
        let kept: Vec<Attr> = below.iter().collect();
        needed.iter().for_each(|it| below.add_expr(&it.1));
        let mut stream = self.stream(input, &below, reducers)?;
        if needed.iter().all(|it| bare(&it.1).is_some()) {
            let names = needed.iter().filter_map(|it| Some((it.0, bare(&it.1)?)));
            stream.aliases.extend(names);
            return Ok(stream);
        }
        let (mut layout, mut projected) = (Vec::new(), Vec::new());
        for attr in kept {
            // Some required attributes belong to other inputs of the consumer.
            if let Some(place) = stream.position(attr) {
                layout.push(attr);
                projected.push(Expr::column(place, self.attributes[attr].data_type));
            }
        }
        for (attr, expr) in needed {
            projected.push(self.place(expr, &stream)?);
            layout.push(*attr);
        }
        stream.project(projected, layout);
        Ok(stream)
    }

    pub(super) fn aggregate(
        &mut self,
        input: &Rel,
        keys: &[(Attr, Expr)],
        aggregates: &[(Attr, Aggregate)],
        groups: f64,
        required: &AttrSet,
        reducers: &[Reducer],
    ) -> SqlResult<Stream> {
        let mut keys = keys.to_vec();
        let mut aggregates: Vec<(Attr, Aggregate)> =
            aggregates.iter().filter(|it| required.contains(it.0)).cloned().collect();
        let input = inline_once(input, &mut keys, &mut aggregates);
        // Groups are kept or dropped as a whole by what reduces their key.
        let mut passed = Vec::new();
        for reducer in reducers {
            for (attr, expr) in &keys {
                if let (true, Some(inner)) = (reducer.attrs.contains(*attr), bare(expr)) {
                    let mut reducer = reducer.clone();
                    reducer.attrs.insert(inner);
                    passed.push(reducer);
                }
            }
        }
        if self.repeats {
            if let Some(stream) = self.shared(&input, &keys, &aggregates, groups) {
                return Ok(stream);
            }
            if keys.is_empty()
                && let Some(stream) = self.of_groups(&input, &aggregates)?
            {
                return Ok(stream);
            }
        }
        let mut below = AttrSet::default();
        keys.iter().for_each(|it| below.add_expr(&it.1));
        for (_, aggregate) in &aggregates {
            aggregate.expressions().for_each(|it| below.add_expr(it));
        }
        let stream = self.stream(&input, &below, &passed)?;
        let exported = reducers_of_groups(&stream, &keys);
        let placed_keys =
            keys.iter().map(|it| self.place(&it.1, &stream)).collect::<SqlResult<Vec<_>>>()?;
        let placed = self.place_all(&aggregates, &stream)?;
        let layout: Vec<Attr> =
            keys.iter().map(|it| it.0).chain(aggregates.iter().map(|it| it.0)).collect();
        // Groups that may be shared with another occurrence of their tables are found in the usual way.
        if !self.repeats && self.options.rewrites {
            let own = aggregates.iter().map(|it| it.0).zip(placed.iter().cloned()).collect();
            let grouping = Grouping { attrs: &keys, keys: &placed_keys, aggregates: own, groups };
            if let Some(how) = self.by_partner(&input, &stream, &grouping) {
                let stream = self.group_by_partner(stream, &how, grouping);
                return Ok(Stream { reducers: exported, ..stream });
            }
        }
        let id = self.group(stream, placed_keys, placed, groups);
        if self.repeats
            && passed.iter().all(|it| it.share > TRANSFER_SHARE_MAX)
            && Correspondence::is_possible(&input)
        {
            let input = input.into_owned();
            self.shared.push(Computed { input, keys, aggregates, pipeline: id });
        }
        Ok(Stream { reducers: exported, ..Stream::new(Source::Read(vec![id]), layout, groups) })
    }

    /// Aggregates over a stream's layout.
    fn place_all(
        &self,
        aggregates: &[(Attr, Aggregate)],
        stream: &Stream,
    ) -> SqlResult<Vec<Aggregate>> {
        let mut placed: Vec<Aggregate> = aggregates.iter().map(|it| it.1.clone()).collect();
        for aggregate in &mut placed {
            for expr in aggregate.expressions_mut() {
                *expr = self.place(expr, stream)?;
            }
        }
        Ok(placed)
    }

    /// Ends a stream in groups.
    pub(super) fn group(
        &mut self,
        stream: Stream,
        keys: Vec<Expr>,
        aggregates: Vec<Aggregate>,
        groups: f64,
    ) -> PipelineId {
        let rows = stream.rows;
        let levels = self.options.rewrites.then(|| two_levels(&keys, &aggregates, rows, groups));
        let Some((by_value, by_key)) = levels.flatten() else {
            let sink = Sink::Aggregate { keys, aggregates, estimated_groups: groups };
            return self.finish(stream, sink);
        };
        let values = self.finish(stream, by_value);
        let read = Stream::new(Source::Read(vec![values]), Vec::new(), rows);
        self.finish(read, by_key)
    }

    pub(super) fn union(
        &mut self,
        inputs: &[(Rel, Vec<Attr>)],
        output: &[Attr],
        required: &AttrSet,
        reducers: &[Reducer],
    ) -> SqlResult<Stream> {
        let wanted: Vec<usize> =
            (0..output.len()).filter(|it| required.contains(output[*it])).collect();
        let (mut states, mut rows) = (Vec::new(), 0.0);
        for (input, attrs) in inputs {
            let passed = reducers_of_input(reducers, output, attrs);
            let attrs: Vec<Attr> = wanted.iter().map(|it| attrs[*it]).collect();
            let mut stream = self.stream(input, &attrs.iter().copied().collect(), &passed)?;
            stream.shape(&attrs, self.attributes)?;
            rows += stream.rows;
            states.push(self.finish(stream, Sink::Materialize { offset: 0, limit: None }));
        }
        let layout = wanted.iter().map(|it| output[*it]).collect();
        let source = Source::Read(states);
        Ok(Stream::new(source, layout, rows))
    }

    pub(super) fn values(&mut self, output: &[Attr], rows: &[Vec<Expr>]) -> SqlResult<Stream> {
        let types = output.iter().map(|it| self.attributes[*it].data_type).collect();
        let mut placed = rows.to_vec();
        for expr in placed.iter_mut().flatten() {
            self.place_in(expr, &|_| None)?;
        }
        let source = Source::Values { types, rows: placed };
        Ok(Stream::new(source, output.to_vec(), rows.len() as f64))
    }

    /// Adds an operator that needs no new columns.
    pub(super) fn filter(&self, stream: &mut Stream, predicate: &Expr) -> SqlResult<()> {
        let placed = self.place(predicate, stream)?;
        stream.filter(placed);
        Ok(())
    }
}

/// What reduces the rows of a union reduces those of an input.
fn reducers_of_input(reducers: &[Reducer], output: &[Attr], input: &[Attr]) -> Vec<Reducer> {
    let of_input = |it: &Reducer| {
        let pairs = output.iter().zip(input).filter(|pair| it.attrs.contains(*pair.0));
        let attrs: AttrSet = pairs.map(|pair| *pair.1).collect();
        (!attrs.is_empty()).then_some(Reducer { attrs, ..it.clone() })
    };
    reducers.iter().filter_map(of_input).collect()
}

/// What reduced the input by a key reduces the groups.
fn reducers_of_groups(stream: &Stream, keys: &[(Attr, Expr)]) -> Vec<Reducer> {
    let mut reducers = stream.reducers.clone();
    for reducer in &mut reducers {
        for (attr, expr) in keys {
            if bare(expr).is_some_and(|it| reducer.attrs.contains(it)) {
                reducer.attrs.insert(*attr);
            }
        }
    }
    reducers
}
