//! The lines of each pipeline: its source, its operators, its sink, with the names of the columns on their way.

use types::names;

use super::expression::{aggregate, column, expr, list, sort_key, window};
use super::names::{Labels, Layout, Name, distinct, identifier};
use crate::{
    AggregateFunction, Expr, ExprKind, Join, JoinKind, Operator, Pipeline, Plan, Scan, Sink, Source,
};

/// The lines of each pipeline of a plan.
pub(super) fn of(plan: &Plan) -> Vec<Vec<String>> {
    let mut lines = Lines { plan, states: Vec::new(), labels: Labels::default() };
    plan.pipelines.iter().map(|it| lines.pipeline(it)).collect()
}

struct Lines<'a> {
    plan: &'a Plan,
    /// What each pipeline so far has left: the columns of its rows, or the payload of its hash table.
    states: Vec<Layout>,
    labels: Labels,
}

impl Lines<'_> {
    fn pipeline(&mut self, pipeline: &Pipeline) -> Vec<String> {
        let (mut lines, mut layout) = self.source(&pipeline.source);
        for (place, operator) in pipeline.operators.iter().enumerate() {
            let names = distinct(&layout);
            lines.push(match operator {
                Operator::Filter(it) => format!("filter {}", expr(it, &names)),
                Operator::Project(exprs) => {
                    let is_last = pipeline.sink == Sink::Result
                        && place + 1 == pipeline.operators.len()
                        && exprs.len() == self.plan.output.len();
                    let (made, shown) = match is_last {
                        true => self.results(exprs, &layout),
                        false => self.values(exprs, &layout),
                    };
                    layout = made;
                    format!("project [{}]", shown.join(", "))
                }
                Operator::Join(it) => self.join(it, &mut layout),
                Operator::Repeat { count, numbered, kept, items } => {
                    layout = pick(&layout, kept);
                    layout.extend(numbered.then(|| Name::of_value("number")));
                    layout.extend(items.iter().map(|_| Name::of_value("item")));
                    let mut said = if *numbered { ", numbered" } else { "" }.to_owned();
                    let arrays: Vec<_> = items.iter().map(|it| column(*it, &names)).collect();
                    if !arrays.is_empty() {
                        said.push_str(&format!(", with the items of {}", arrays.join(", ")));
                    }
                    format!("repeat each row {} times{said}", column(*count, &names))
                }
                Operator::Fetch(it) => {
                    let stored = self.state(it.build.index());
                    let fetched = pick(&stored, &it.payload);
                    let (build, row) = (it.build.index(), column(it.row, &names));
                    let shown = distinct(&fetched).join(", ");
                    layout.extend(fetched);
                    format!("fetch [{shown}] of pipeline {build} by {row}")
                }
            });
        }
        lines.push(self.sink(&pipeline.sink, layout));
        lines
    }

    fn state(&self, pipeline: usize) -> Layout {
        self.states.get(pipeline).cloned().unwrap_or_default()
    }

    fn source(&self, source: &Source) -> (Vec<String>, Layout) {
        match source {
            Source::Scan(scan) => scan_lines(scan),
            Source::Read(from) => {
                let layout = from.first().map(|it| self.state(it.index())).unwrap_or_default();
                let from: Vec<String> = from.iter().map(|it| it.index().to_string()).collect();
                (vec![format!("read pipeline {}", from.join(", "))], layout)
            }
            Source::BuildRows { build, matched } => {
                let which = if *matched { "with" } else { "without" };
                let line = format!("rows of pipeline {} {which} partner", build.index());
                (vec![line], self.state(build.index()))
            }
            Source::Values { rows, types } => {
                let name = |number| Name::of_value(format!("column{number}"));
                let line = match &rows[..] {
                    [row] => format!("row ({})", list(row, &[])),
                    rows => format!("{} constant rows", rows.len()),
                };
                (vec![line], (1..=types.len()).map(name).collect())
            }
        }
    }

    /// Values over a layout: what they are called from here on, and how they stand here.
    fn values(&mut self, exprs: &[Expr], layout: &Layout) -> (Layout, Vec<String>) {
        let names = distinct(layout);
        exprs.iter().map(|it| self.value(it, layout, &names)).unzip()
    }

    fn value(&mut self, it: &Expr, layout: &Layout, names: &[String]) -> (Name, String) {
        match it.kind {
            ExprKind::Column(place) if place < layout.len() => {
                (layout[place].clone(), names[place].clone())
            }
            _ if crate::properties::is_volatile(it) => self.labels.label(expr(it, names)),
            _ => self.labels.name(expr(it, names)),
        }
    }

    /// The values of the result, which have the names that the query gives them.
    fn results(&self, exprs: &[Expr], layout: &Layout) -> (Layout, Vec<String>) {
        let names = distinct(layout);
        let value = |(it, output): (&Expr, &crate::OutputColumn)| {
            let text = expr(it, &names);
            // Nobody has named what PostgreSQL calls so.
            let shown = match text == output.name || output.name == "?column?" {
                true => text,
                false => format!("{text} as {}", identifier(&output.name)),
            };
            (Name::of_value(output.name.clone()), shown)
        };
        exprs.iter().zip(&self.plan.output).map(value).unzip()
    }

    fn join(&self, join: &Join, layout: &mut Layout) -> String {
        let kind = match join.kind {
            JoinKind::Inner => "inner",
            JoinKind::Left => "left",
            JoinKind::Semi => "semi",
            JoinKind::Anti => "anti",
            JoinKind::AntiNullAware => "anti (NULL-aware)",
            JoinKind::Mark { null_aware: false } => "mark",
            JoinKind::Mark { null_aware: true } => "mark (NULL-aware)",
            JoinKind::MarkBuild => "marking",
        };
        let keys = list(&join.keys, &distinct(layout));
        let build = join.build.index();
        let mut both = layout.clone();
        both.extend(self.state(build));
        let residual = join.residual.as_ref();
        let residual = residual.map(|it| format!(" and {}", expr(it, &distinct(&both))));
        if let JoinKind::Mark { .. } = join.kind {
            both.truncate(layout.len());
            both.push(Name::of_value(format!("mark of pipeline {build}")));
        }
        *layout = pick(&both, &join.output);
        let output = distinct(layout).join(", ");
        if join.numbers {
            layout.push(Name::of_value(format!("row of pipeline {build}")));
        }
        // Without a key each row meets all rows of the table.
        let way = if join.keys.is_empty() { "nested loop " } else { "" };
        let tracking = if join.track_matches { ", tracks matches" } else { "" };
        let numbers = if join.numbers { " and the partner's number" } else { "" };
        let residual = residual.unwrap_or_default();
        format!(
            "{way}{kind} join pipeline {build} on [{keys}]{residual} output [{output}]{numbers}{tracking}"
        )
    }

    /// The line of a sink. What it leaves goes into the states.
    fn sink(&mut self, sink: &Sink, layout: Layout) -> String {
        let names = distinct(&layout);
        let (line, state) = match sink {
            Sink::HashBuild(it) => {
                let (payload, shown) = self.values(&it.payload, &layout);
                let line = format!(
                    "-> hash table on [{}] of [{}]{}{}",
                    list(&it.keys, &names),
                    shown.join(", "),
                    if it.unique { ", unique" } else { "" },
                    if it.keep_null_keys { ", keeps NULL keys" } else { "" }
                );
                (line, payload)
            }
            Sink::Aggregate { keys, aggregates, estimated_groups } => {
                let (mut state, keys) = self.values(keys, &layout);
                let mut all = Vec::with_capacity(aggregates.len());
                for it in aggregates {
                    let text = aggregate(it, &names);
                    let (name, shown) = match (it.function, &it.argument) {
                        // What all rows of a group share keeps its name.
                        (AggregateFunction::AnyValue, Some(of)) => {
                            let (shared, shown) = self.value(of, &layout, &names);
                            (shared, format!("any({shown})"))
                        }
                        _ => self.labels.name(text),
                    };
                    state.push(name);
                    all.push(shown);
                }
                let (keys, all) = (keys.join(", "), all.join(", "));
                let groups = rounded(*estimated_groups);
                (format!("-> groups by [{keys}] of [{all}], about {groups}"), state)
            }
            Sink::Sort { keys, partition, offset, limit } => {
                let keys: Vec<String> = keys.iter().map(|it| sort_key(it, &names)).collect();
                let each = match partition {
                    0 => String::new(),
                    count => format!(" for each [{}]", keys[..*count].join(", ")),
                };
                let range = range(*offset, *limit);
                (format!("-> sort by [{}]{range}{each}", keys.join(", ")), layout)
            }
            Sink::Window { keys, partition, functions, first } => {
                let keys: Vec<String> = keys.iter().map(|it| sort_key(it, &names)).collect();
                let each = match partition {
                    0 => String::new(),
                    count => format!(" for each [{}]", keys[..*count].join(", ")),
                };
                let mut state = layout;
                let mut all = Vec::with_capacity(functions.len());
                for it in functions {
                    let (name, shown) = self.labels.name(window(it, &names));
                    state.push(name);
                    all.push(shown);
                }
                let order = keys[*partition..].join(", ");
                let first = first.map_or(String::new(), |it| format!(", the first {it}"));
                let all = all.join(", ");
                (format!("-> windows of [{all}] in order of [{order}]{each}{first}"), state)
            }
            Sink::Materialize { offset, limit } => {
                (format!("-> rows{}", range(*offset, *limit)), layout)
            }
            Sink::Result => ("-> result".to_owned(), layout),
        };
        self.states.push(state);
        line
    }
}

fn scan_lines(scan: &Scan) -> (Vec<String>, Layout) {
    let all: Layout =
        scan.column_names.iter().map(|it| Name::of_table(&scan.name, names::shown(it))).collect();
    let names = distinct(&all);
    let layout = pick(&all, &scan.output);
    let how = match &scan.index {
        Some(index) => format!("index scan {} using {}", scan.name, index.name),
        None => format!("scan {}", scan.name),
    };
    let output = distinct(&layout).join(", ");
    let mut lines = vec![format!("{how} columns [{}] output [{output}]", names.join(", "))];
    lines.extend(scan.filters.iter().map(|it| format!("  where {}", expr(it, &names))));
    for it in &scan.transfers {
        let build = it.build.index();
        lines.push(format!("  where {} in pipeline {build}", column(it.column, &names)));
    }
    (lines, layout)
}

/// Some columns of a layout. A plan that is not sound may name one that is not there.
fn pick(layout: &Layout, places: &[usize]) -> Layout {
    let of = |place: &usize| {
        let known = layout.get(*place).cloned();
        known.unwrap_or_else(|| Name::of_value(column(*place, &[])))
    };
    places.iter().map(of).collect()
}

fn range(offset: u64, limit: Option<u64>) -> String {
    let limit = limit.map(|it| format!(" limit {it}")).unwrap_or_default();
    let offset = if offset == 0 { String::new() } else { format!(" offset {offset}") };
    limit + &offset
}

/// Expected rows as a whole number.
pub(super) fn rounded(rows: f64) -> u64 {
    rows.round().max(0.0) as u64
}
