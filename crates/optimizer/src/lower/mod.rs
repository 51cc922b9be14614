//! Relations to pipelines. The probe side of a chain of joins is one pipeline; the hash tables beside it are built
//! first, the most selective ones earliest, and reduce every later scan that they can (predicate transfer).

mod access;
mod breakers;
mod chain;
mod correspondence;
mod distinct;
mod groupjoin;
mod inline;
mod keys;
mod partitions;
mod partners;
mod sharing;
mod state;
mod stream;
mod table;
mod window;

use plan::{Expr, Operator, OutputColumn, Plan, Sink, Source};
use types::{Interrupt, SqlError, SqlResult};

use crate::options::Options;
use plan::relation::{Attr, AttrSet, Part, Query, Rel};
use state::Lowering;
use stream::{Reducer, Stream};

/// Cuts a query into pipelines, unless `interrupt` ends that.
pub fn lower(query: &Query, options: Options, interrupt: &Interrupt) -> SqlResult<Plan> {
    let mut tables = Vec::new();
    let rels: Vec<&Rel> =
        query.parts().into_iter().map(|it| query.part(it)).chain([&query.root]).collect();
    rels.iter().for_each(|it| tables_in(it, &mut tables));
    let count = tables.len();
    tables.sort_unstable();
    tables.dedup();
    let repeats = options.rewrites && tables.len() < count;
    let mut this = Lowering::new(query, options, interrupt, repeats);
    if this.repeats {
        rels.into_iter().for_each(|it| this.add_groupings(it));
    }
    this.parts(query)?;
    let attrs: Vec<Attr> = query.output.iter().map(|it| it.attr).collect();
    let required: AttrSet = attrs.iter().copied().collect();
    let mut stream = this.stream(&query.root, &required, &[])?;
    stream.shape(&attrs, this.attributes)?;
    this.finish(stream, Sink::Result);
    let output = query
        .output
        .iter()
        .map(|it| OutputColumn {
            name: it.name.clone(),
            data_type: query.attributes[it.attr].data_type,
            origin: it.origin,
        })
        .collect();
    Ok(Plan { pipelines: this.pipelines, output, recursions: Vec::new() })
}

fn tables_in(rel: &Rel, tables: &mut Vec<u32>) {
    rel.visit(&mut |it| {
        if let Rel::Scan(scan) = it {
            tables.push(scan.table.id.0);
        }
    });
}

/// The attributes of a shared relation that its readers use.
fn readers_of(query: &Query, shared: usize) -> AttrSet {
    let mut read = AttrSet::default();
    for rel in query.parts().into_iter().map(|it| query.part(it)).chain([&query.root]) {
        rel.visit(&mut |it| match it {
            Rel::Shared { id, output, .. } if *id == shared => {
                output.iter().for_each(|it| read.insert(it.1));
            }
            _ => {}
        });
    }
    read
}

impl Lowering<'_> {
    /// The rows of a relation with at least the required attributes.
    fn stream(&mut self, rel: &Rel, required: &AttrSet, reducers: &[Reducer]) -> SqlResult<Stream> {
        self.interrupt.check()?;
        match rel {
            Rel::Scan(scan) => self.scan(scan, required, reducers),
            Rel::Filter { input, predicates } => {
                let mut below = required.clone();
                predicates.iter().for_each(|it| below.add_expr(it));
                let mut stream = match &**input {
                    Rel::Window { input, partition, keys, functions } => {
                        self.window(input, (partition, keys), functions, &below, predicates)?
                    }
                    input => self.stream(input, &below, reducers)?,
                };
                for predicate in predicates {
                    let placed = self.place(predicate, &stream)?;
                    stream.filter(placed);
                }
                stream.rows = rel.rows();
                Ok(stream)
            }
            Rel::Map { input, exprs } => self.map(input, exprs, required, reducers),
            Rel::Join(join) => self.join(join, required, reducers),
            Rel::Aggregate { input, keys, aggregates, rows } => {
                self.aggregate(input, keys, aggregates, *rows, required, reducers)
            }
            Rel::Sort { input, partition, keys, offset, limit } => {
                self.sort(input, (partition, keys), (*offset, *limit), required, reducers)
            }
            Rel::Window { input, partition, keys, functions } => {
                self.window(input, (partition, keys), functions, required, &[])
            }
            Rel::Limit { input, offset, limit } => {
                let stream = self.stream(input, required, &[])?;
                let sink = Sink::Materialize { offset: *offset, limit: *limit };
                Ok(self.read_back(stream, sink, rel.rows()))
            }
            Rel::Union { inputs, output } => self.union(inputs, output, required, reducers),
            Rel::Values { output, rows } => self.values(output, rows),
            Rel::Repeat { input, count, number, items } => {
                let mut below = required.clone();
                number.iter().for_each(|it| below.remove(*it));
                items.iter().for_each(|it| below.remove(it.0));
                below.insert(*count);
                items.iter().for_each(|it| below.insert(it.1));
                let mut stream = self.stream(input, &below, reducers)?;
                let place = stream
                    .position(*count)
                    .ok_or_else(|| SqlError::internal("the count of a row is lost on the way"))?;
                let lost = || SqlError::internal("an array is lost on the way");
                let array = |it: &(Attr, Attr)| stream.position(it.1).ok_or_else(lost);
                let arrays = items.iter().map(array).collect::<SqlResult<Vec<_>>>()?;
                let numbered = number.is_some();
                let mut kept: Vec<usize> =
                    required.iter().filter_map(|it| stream.position(it)).collect();
                kept.sort_unstable();
                kept.dedup();
                stream.layout = kept.iter().map(|it| stream.layout[*it]).collect();
                let operator = Operator::Repeat { count: place, numbered, kept, items: arrays };
                stream.operators.push(operator);
                stream.layout.extend(*number);
                stream.layout.extend(items.iter().map(|it| it.0));
                Ok(stream)
            }
            Rel::Shared { id, output, rows, .. } => self.read_shared(*id, output, *rows, required),
            Rel::Apply(_) => Err(SqlError::internal("a dependent join was left in the query")),
        }
    }

    /// Rows in order.
    fn sort(
        &mut self,
        input: &Rel,
        (partition, keys): (&[Attr], &[plan::SortKey]),
        (offset, limit): (u64, Option<u64>),
        required: &AttrSet,
        reducers: &[Reducer],
    ) -> SqlResult<Stream> {
        let rows = limit.map_or(f64::INFINITY, |it| it as f64).min(input.rows());
        let mut below = required.clone();
        partition.iter().for_each(|it| below.insert(*it));
        keys.iter().for_each(|it| below.add_expr(&it.expr));
        let passed = if limit.is_none() && offset == 0 { reducers } else { &[] };
        let mut stream = self.stream(input, &below, passed)?;
        let mut placed = Vec::with_capacity(partition.len() + keys.len());
        for attr in partition {
            let column = Expr::column(*attr, self.attributes[*attr].data_type);
            let expr = self.place(&column, &stream)?;
            placed.push(plan::SortKey { expr, descending: false, nulls_first: false });
        }
        for key in keys {
            let expr = self.place(&key.expr, &stream)?;
            placed.push(plan::SortKey { expr, ..*key });
        }
        // What the order does not need is fetched for the rows that are wanted alone.
        let later = limit.and_then(|_| stream.fetch_later(placed.iter().map(|it| &it.expr)));
        let partition = partition.len();
        let sink = Sink::Sort { keys: placed, partition, offset, limit };
        let mut sorted = self.read_back(stream, sink, rows);
        if let Some((fetch, attrs)) = later {
            sorted.operators.push(fetch);
            sorted.layout.extend(attrs);
        }
        Ok(sorted)
    }

    /// The rows of a shared relation, computed before.
    fn read_shared(
        &self,
        id: usize,
        output: &[(Attr, Attr)],
        rows: f64,
        required: &AttrSet,
    ) -> SqlResult<Stream> {
        let state = self
            .shared_rows
            .get(&id)
            .ok_or_else(|| SqlError::internal("a shared relation is read before it is computed"))?;
        let mut stream = Stream::new(Source::Read(vec![state.0]), state.1.clone(), rows);
        let wanted: Vec<(Attr, Attr)> =
            output.iter().copied().filter(|it| required.contains(it.0)).collect();
        let there: Vec<Attr> = wanted.iter().map(|it| it.1).collect();
        stream.shape(&there, self.attributes)?;
        stream.layout = wanted.into_iter().map(|it| it.0).collect();
        Ok(stream)
    }

    /// Computes the shared relations and the scalar subqueries that the query uses, each after what it uses.
    fn parts(&mut self, query: &Query) -> SqlResult<()> {
        for part in query.parts() {
            let attrs: Vec<Attr> = match part {
                Part::Scalar(it) => vec![query.scalars[it].attr],
                Part::Shared(it) => query.shared[it].attrs().iter().collect(),
            };
            let rel = query.part(part);
            let wanted = match part {
                Part::Scalar(_) => attrs,
                Part::Shared(it) => {
                    let read = readers_of(query, it);
                    attrs.into_iter().filter(|it| read.contains(*it)).collect()
                }
            };
            let mut stream = self.stream(rel, &wanted.iter().copied().collect(), &[])?;
            if let (Part::Shared(it), Some(state)) = (part, stream.state(&wanted)) {
                self.shared_rows.insert(it, (state, stream.layout));
                continue;
            }
            stream.shape(&wanted, self.attributes)?;
            let id = self.finish(stream, Sink::Materialize { offset: 0, limit: None });
            match part {
                Part::Scalar(it) => {
                    self.scalars.insert(it, id);
                }
                Part::Shared(it) => {
                    self.shared_rows.insert(it, (id, wanted));
                }
            }
        }
        Ok(())
    }
}
