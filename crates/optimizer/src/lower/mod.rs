//! Relations to pipelines. The probe side of a chain of joins is one pipeline; the hash tables beside it are built
//! first, the most selective ones earliest, and reduce every later scan that they can (predicate transfer).

mod access;
mod breakers;
mod chain;
mod distinct;
mod groupjoin;
mod sharing;
mod stream;

use plan::{Expr, ExprKind, OutputColumn, Pipeline, PipelineId, Plan, Sink, Source};
use types::{SqlError, SqlResult};

use plan::relation::{Attr, AttrSet, Attribute, Query, Rel};
use stream::Stream;

/// A hash table of which every row of the result has a partner: scans may drop rows without one.
#[derive(Clone, Debug)]
pub(crate) struct Reducer {
    /// The attributes equal to its key.
    attrs: AttrSet,
    /// The pipeline that builds it.
    build: PipelineId,
    /// The share of the key's domain that it keeps.
    share: f64,
}

/// The state of lowering.
pub(crate) struct Lowering<'a> {
    attributes: &'a [Attribute],
    pipelines: Vec<Pipeline>,
    /// The pipelines of the scalar subqueries.
    scalars: Vec<PipelineId>,
    /// Groups computed so far that nothing reduced.
    shared: Vec<sharing::Shared>,
    /// The groupings with keys, for totals that they can give.
    groupings: Vec<sharing::Grouping<'a>>,
    /// Hash tables that keep marks of partners: each serves one join, and its rows are read as they were stored.
    marked: Vec<PipelineId>,
    /// Whether some table occurs twice, so that sharing is worth a look.
    repeats: bool,
}

/// Cuts a query into pipelines.
pub fn lower(query: &Query) -> SqlResult<Plan> {
    let mut tables = Vec::new();
    query.scalars.iter().map(|it| &it.rel).chain([&query.root]).for_each(|it| {
        tables_in(it, &mut tables);
    });
    let count = tables.len();
    tables.sort_unstable();
    tables.dedup();
    let mut this = Lowering {
        attributes: &query.attributes,
        pipelines: Vec::new(),
        scalars: Vec::new(),
        shared: Vec::new(),
        groupings: Vec::new(),
        marked: Vec::new(),
        repeats: tables.len() < count,
    };
    if this.repeats {
        let rels = query.scalars.iter().map(|it| &it.rel).chain([&query.root]);
        rels.for_each(|it| sharing::groupings(it, &mut this.groupings));
    }
    for scalar in &query.scalars {
        let required: AttrSet = [scalar.attr].into_iter().collect();
        let mut stream = this.stream(&scalar.rel, &required, &[])?;
        stream.shape(&[scalar.attr], this.attributes)?;
        let id = this.finish(stream, Sink::Materialize { offset: 0, limit: None });
        this.scalars.push(id);
    }
    let attrs: Vec<Attr> = query.output.iter().map(|it| it.1).collect();
    let required: AttrSet = attrs.iter().copied().collect();
    let mut stream = this.stream(&query.root, &required, &[])?;
    stream.shape(&attrs, this.attributes)?;
    this.finish(stream, Sink::Result);
    let output = query
        .output
        .iter()
        .map(|(name, attr)| OutputColumn {
            name: name.clone(),
            data_type: query.attributes[*attr].data_type,
        })
        .collect();
    Ok(Plan { pipelines: this.pipelines, output })
}

fn tables_in(rel: &Rel, tables: &mut Vec<u32>) {
    rel.visit(&mut |it| {
        if let Rel::Scan(scan) = it {
            tables.push(scan.table.id.0);
        }
    });
}

impl Lowering<'_> {
    /// Ends a stream in a sink.
    fn finish(&mut self, stream: Stream, sink: Sink) -> PipelineId {
        let id = PipelineId(self.pipelines.len() as u32);
        self.pipelines.push(Pipeline {
            id,
            source: stream.source,
            operators: stream.operators,
            sink,
            estimated_rows: stream.rows,
        });
        id
    }

    /// An expression over a stream's layout.
    fn place(&self, expr: &Expr, stream: &Stream) -> SqlResult<Expr> {
        let mut placed = expr.clone();
        self.place_in(&mut placed, &|attr| stream.position(attr))?;
        Ok(placed)
    }

    /// Turns attributes into places and scalar subqueries into their pipelines.
    fn place_in(&self, expr: &mut Expr, place: &dyn Fn(Attr) -> Option<usize>) -> SqlResult<()> {
        match &mut expr.kind {
            ExprKind::Column(attr) => {
                *attr = place(*attr).ok_or_else(|| {
                    SqlError::unsupported(
                        "a subquery uses a column that is not visible where the subquery runs",
                    )
                    .with_hint("rewrite the subquery as a join")
                })?;
            }
            ExprKind::Scalar(scalar) => *scalar = self.scalars[scalar.index()],
            _ => {}
        }
        expr.children_mut().into_iter().try_for_each(|it| self.place_in(it, place))
    }

    /// The rows of a relation with at least the required attributes.
    fn stream(&mut self, rel: &Rel, required: &AttrSet, reducers: &[Reducer]) -> SqlResult<Stream> {
        match rel {
            Rel::Scan(scan) => self.scan(scan, required, reducers),
            Rel::Filter { input, predicates } => {
                let mut below = required.clone();
                predicates.iter().for_each(|it| below.add_expr(it));
                let mut stream = self.stream(input, &below, reducers)?;
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
            Rel::Sort { partition, .. } if !partition.is_empty() => {
                Err(SqlError::unsupported("a limit for each group cannot run yet"))
            }
            Rel::Sort { input, keys, offset, limit, .. } => {
                let mut below = required.clone();
                keys.iter().for_each(|it| below.add_expr(&it.expr));
                let passed = if limit.is_none() && *offset == 0 { reducers } else { &[] };
                let mut stream = self.stream(input, &below, passed)?;
                let mut placed = Vec::with_capacity(keys.len());
                for key in keys {
                    let expr = self.place(&key.expr, &stream)?;
                    placed.push(plan::SortKey { expr, ..*key });
                }
                // What the order does not need is fetched for the rows that are wanted alone.
                let later =
                    limit.and_then(|_| stream.fetch_later(placed.iter().map(|it| &it.expr)));
                let sink = Sink::Sort { keys: placed, offset: *offset, limit: *limit };
                let mut sorted = self.read_back(stream, sink, rel.rows());
                if let Some((fetch, attrs)) = later {
                    sorted.operators.push(fetch);
                    sorted.layout.extend(attrs);
                }
                Ok(sorted)
            }
            Rel::Limit { input, offset, limit } => {
                let stream = self.stream(input, required, &[])?;
                let sink = Sink::Materialize { offset: *offset, limit: *limit };
                Ok(self.read_back(stream, sink, rel.rows()))
            }
            Rel::Union { inputs, output } => self.union(inputs, output, required),
            Rel::Values { output, rows } => self.values(output, rows),
            Rel::Repeat { .. } | Rel::Shared { .. } => {
                Err(SqlError::unsupported("rows that are read several times cannot run yet"))
            }
            Rel::Apply(_) => Err(SqlError::internal("a dependent join was left in the query")),
        }
    }

    /// Ends a stream in a state with the same layout and reads it again.
    fn read_back(&mut self, stream: Stream, sink: Sink, rows: f64) -> Stream {
        let (layout, aliases) = (stream.layout.clone(), stream.aliases.clone());
        let reducers = stream.reducers.clone();
        let id = self.finish(stream, sink);
        Stream { aliases, reducers, ..Stream::new(Source::Read(vec![id]), layout, rows) }
    }
}
