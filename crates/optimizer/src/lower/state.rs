//! What lowering knows while it cuts a query: the pipelines so far, where parts of the query are computed, and what may
//! be shared.

use std::collections::BTreeMap;

use plan::relation::{Attr, Attribute, Query, Rel};
use plan::{Aggregate, Expr, ExprKind, Pipeline, PipelineId, Sink, Source};
use types::{Interrupt, SqlError, SqlResult};

use super::stream::Stream;
use crate::options::Options;

/// A grouping that is computed already.
pub(super) struct Computed {
    /// Its input.
    pub input: Rel,
    /// Its keys, in the order of its columns.
    pub keys: Vec<(Attr, Expr)>,
    /// Its aggregates, in the order of its columns.
    pub aggregates: Vec<(Attr, Aggregate)>,
    /// The pipeline that left it.
    pub pipeline: PipelineId,
}

/// A grouping of the query.
#[derive(Clone, Copy)]
pub(super) struct Grouping<'a> {
    /// What is grouped.
    pub input: &'a Rel,
    /// By what.
    pub keys: &'a [(Attr, Expr)],
    /// What is computed of each group.
    pub aggregates: &'a [(Attr, Aggregate)],
    /// Expected groups.
    pub rows: f64,
}

/// The state of lowering.
pub(super) struct Lowering<'a> {
    pub attributes: &'a [Attribute],
    pub interrupt: &'a Interrupt,
    pub pipelines: Vec<Pipeline>,
    /// The pipelines of the scalar subqueries.
    pub scalars: BTreeMap<usize, PipelineId>,
    /// The pipelines of the shared relations, and the attribute of each column.
    pub shared_rows: BTreeMap<usize, (PipelineId, Vec<Attr>)>,
    /// The number of the next relation that lowering itself shares: behind those of the query.
    pub shared_next: usize,
    /// Groups computed so far that nothing reduced.
    pub shared: Vec<Computed>,
    /// The groupings with keys, for totals that they can give.
    pub groupings: Vec<Grouping<'a>>,
    /// Hash tables that keep marks of partners: each serves one join, and its rows are read as they were stored.
    pub marked: Vec<PipelineId>,
    /// Whether some table occurs twice, so that sharing is worth a look.
    pub repeats: bool,
    pub options: Options,
}

impl<'a> Lowering<'a> {
    /// Of a query of which nothing is cut yet.
    pub fn new(
        query: &'a Query,
        options: Options,
        interrupt: &'a Interrupt,
        repeats: bool,
    ) -> Self {
        Self {
            attributes: &query.attributes,
            interrupt,
            pipelines: Vec::new(),
            scalars: BTreeMap::new(),
            shared_rows: BTreeMap::new(),
            shared_next: query.shared.len(),
            shared: Vec::new(),
            groupings: Vec::new(),
            marked: Vec::new(),
            repeats,
            options,
        }
    }

    /// Adds the groupings with keys in a relation.
    pub fn add_groupings(&mut self, rel: &'a Rel) {
        rel.visit(&mut |it| match it {
            Rel::Aggregate { input, keys, aggregates, rows } if !keys.is_empty() => {
                self.groupings.push(Grouping { input, keys, aggregates, rows: *rows });
            }
            _ => {}
        });
    }
}

impl Lowering<'_> {
    /// Ends a stream in a sink.
    pub fn finish(&mut self, stream: Stream, sink: Sink) -> PipelineId {
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
    pub fn place(&self, expr: &Expr, stream: &Stream) -> SqlResult<Expr> {
        let mut placed = expr.clone();
        self.place_in(&mut placed, &|attr| stream.position(attr))?;
        Ok(placed)
    }

    /// Turns attributes into places and scalar subqueries into their pipelines.
    pub fn place_in(
        &self,
        expr: &mut Expr,
        place: &dyn Fn(Attr) -> Option<usize>,
    ) -> SqlResult<()> {
        match &mut expr.kind {
            ExprKind::Column(attr) => {
                *attr = place(*attr).ok_or_else(|| {
                    SqlError::unsupported(
                        "a subquery uses a column that is not visible where the subquery runs",
                    )
                    .with_hint("rewrite the subquery as a join")
                })?;
            }
            ExprKind::Scalar(scalar) => {
                let id = self.scalars.get(&scalar.index());
                *scalar = *id.ok_or_else(|| {
                    SqlError::internal("a scalar subquery is used before it is computed")
                })?;
            }
            _ => {}
        }
        expr.children_mut().into_iter().try_for_each(|it| self.place_in(it, place))
    }

    /// Ends a stream in a state with the same layout and reads it again.
    pub fn read_back(&mut self, stream: Stream, sink: Sink, rows: f64) -> Stream {
        let (layout, aliases) = (stream.layout.clone(), stream.aliases.clone());
        let reducers = stream.reducers.clone();
        let id = self.finish(stream, sink);
        Stream { aliases, reducers, ..Stream::new(Source::Read(vec![id]), layout, rows) }
    }
}
