//! Window functions: the rows of a stream are sorted by partition and order, and come back with a column for each function;
//! but for those of whole partitions (`partitions`).

use plan::relation::{Attr, AttrSet, Rel};
use plan::{Expr, Sink, SortKey, Source, WindowCall};
use types::SqlResult;

use super::state::Lowering;
use super::stream::Stream;
use crate::rewrite::windows;

impl Lowering<'_> {
    pub(super) fn window(
        &mut self,
        input: &Rel,
        (partition, keys): (&[Attr], &[SortKey]),
        functions: &[(Attr, WindowCall)],
        required: &AttrSet,
        conditions: &[Expr],
    ) -> SqlResult<Stream> {
        let wanted: Vec<&(Attr, WindowCall)> =
            functions.iter().filter(|it| required.contains(it.0)).collect();
        if wanted.is_empty() {
            return self.stream(input, required, &[]);
        }
        if let Some(stream) = self.grouped_window(input, partition, &wanted, required)? {
            return Ok(stream);
        }
        let mut below = required.clone();
        functions.iter().for_each(|it| below.remove(it.0));
        partition.iter().for_each(|it| below.insert(*it));
        keys.iter().for_each(|it| below.add_expr(&it.expr));
        wanted.iter().flat_map(|it| it.1.expressions()).for_each(|it| below.add_expr(it));
        let stream = self.stream(input, &below, &[])?;
        let mut placed = Vec::with_capacity(partition.len() + keys.len());
        for attr in partition {
            let column = Expr::column(*attr, self.attributes[*attr].data_type);
            let expr = self.place(&column, &stream)?;
            placed.push(SortKey { expr, descending: false, nulls_first: false });
        }
        for key in keys {
            placed.push(SortKey { expr: self.place(&key.expr, &stream)?, ..*key });
        }
        let mut calls = Vec::with_capacity(wanted.len());
        for (_, call) in &wanted {
            let mut call = call.clone();
            for expr in call.expressions_mut() {
                *expr = self.place(expr, &stream)?;
            }
            calls.push(call);
        }
        let (rows, aliases) = (stream.rows, stream.aliases.clone());
        let mut layout = stream.layout.clone();
        layout.extend(wanted.iter().map(|it| it.0));
        let first = match self.options.rewrites {
            true => windows::first_of_each((partition, keys), &wanted, conditions),
            false => None,
        };
        let partition = partition.len();
        let sink = Sink::Window { keys: placed, partition, functions: calls, first };
        let id = self.finish(stream, sink);
        Ok(Stream { aliases, ..Stream::new(Source::Read(vec![id]), layout, rows) })
    }
}
