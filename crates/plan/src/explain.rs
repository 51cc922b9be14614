//! Plans as text and as JSON (EXPLAIN), with what happened beside what was expected (EXPLAIN ANALYZE).

use std::fmt::Write as _;

use crate::{
    Aggregate, AggregateFunction, Expr, ExprKind, Join, JoinKind, Operator, Pipeline, PipelineId,
    Plan, Sink, SortKey, Source, UnaryOperator,
};

/// What happened in one pipeline.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PipelineActuals {
    /// Rows that reached the sink.
    pub rows: u64,
    /// Time from its first task to its end, in nanoseconds.
    pub nanos: u64,
    /// Morsels.
    pub morsels: u64,
    /// Morsels that a worker of another node took.
    pub stolen: u64,
    /// Bytes of columns that scans read on the node that ran the morsel; tables of joins, groups and sorts are not counted.
    pub local_bytes: u64,
    /// The same on other nodes.
    pub remote_bytes: u64,
    /// What the source learned, a line; empty when it has nothing to say.
    pub source: String,
    /// Where the time went, step by step.
    pub steps: Vec<StepActuals>,
}

/// What one step of a pipeline took, all workers together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepActuals {
    /// What it does.
    pub name: String,
    /// Time, in nanoseconds.
    pub nanos: u64,
    /// Rows that it was given.
    pub rows: u64,
    /// Rows that it handed on, where they are counted.
    pub rows_out: Option<u64>,
    /// Bytes of columns that it read.
    pub bytes: u64,
    /// Clock cycles, counted or estimated.
    pub cycles: Option<f64>,
    /// Bytes a nanosecond as a share of what the machine can read, where that is known.
    pub bandwidth: Option<f64>,
}

/// The plan as text, one block per pipeline. `actuals` gives what happened in a pipeline that has run.
pub fn text(plan: &Plan, actuals: &dyn Fn(PipelineId) -> Option<PipelineActuals>) -> String {
    let mut out = String::new();
    for pipeline in &plan.pipelines {
        let id = pipeline.id.index();
        let _ = writeln!(out, "pipeline {id} (about {} rows)", rounded(pipeline.estimated_rows));
        for line in lines(pipeline) {
            let _ = writeln!(out, "  {line}");
        }
        if let Some(it) = actuals(pipeline.id) {
            let _ = writeln!(
                out,
                "  actual: {} rows, {:.3} ms, {} morsels, {} stolen, {} bytes local, {} remote by scans",
                it.rows,
                it.nanos as f64 / 1e6,
                it.morsels,
                it.stolen,
                it.local_bytes,
                it.remote_bytes
            );
            if !it.source.is_empty() {
                let _ = writeln!(out, "  source: {}", it.source);
            }
            steps_table(&it.steps).lines().for_each(|line| {
                let _ = writeln!(out, "  {line}");
            });
        }
    }
    out
}

/// Steps as a table; empty when there are none.
pub fn steps_table(steps: &[StepActuals]) -> String {
    let mut out = String::new();
    if steps.is_empty() {
        return out;
    }
    let all: u64 = steps.iter().map(|it| it.nanos).sum();
    let width = steps.iter().map(|it| it.name.len()).max().unwrap_or(0).max(4);
    let _ = writeln!(
        out,
        "{:width$} {:>10} {:>6} {:>11} {:>11} {:>8} {:>10} {:>7} {:>9}",
        "step", "time ms", "share", "rows", "rows out", "ns/row", "cycles/row", "GB/s", "bandwidth"
    );
    for it in steps {
        let per_row = |value: f64| match it.rows {
            0 => "-".to_owned(),
            rows => format!("{:.2}", value / rows as f64),
        };
        let speed = match (it.bytes, it.nanos) {
            (0, _) | (_, 0) => "-".to_owned(),
            (bytes, nanos) => format!("{:.1}", bytes as f64 / nanos as f64),
        };
        let _ = writeln!(
            out,
            "{:width$} {:>10.3} {:>6} {:>11} {:>11} {:>8} {:>10} {speed:>7} {:>9}",
            it.name,
            it.nanos as f64 / 1e6,
            percent(it.nanos as f64 / all.max(1) as f64),
            it.rows,
            it.rows_out.map_or_else(|| "-".to_owned(), |it| it.to_string()),
            per_row(it.nanos as f64),
            it.cycles.map_or_else(|| "-".to_owned(), per_row),
            it.bandwidth.map_or_else(|| "-".to_owned(), percent),
        );
    }
    out
}

fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

fn steps_json(steps: &[StepActuals]) -> String {
    let number = |it: Option<f64>| it.map_or_else(|| "null".to_owned(), |it| format!("{it:.4}"));
    let step = |it: &StepActuals| {
        let rows_out = it.rows_out.map_or_else(|| "null".to_owned(), |it| it.to_string());
        format!(
            "{{\"step\": {}, \"nanos\": {}, \"rows\": {}, \"rows_out\": {rows_out}, \"bytes\": {}, \
             \"cycles\": {}, \"bandwidth\": {}}}",
            quoted(&it.name),
            it.nanos,
            it.rows,
            it.bytes,
            number(it.cycles),
            number(it.bandwidth)
        )
    };
    steps.iter().map(step).collect::<Vec<_>>().join(", ")
}

/// The plan as a JSON document with the same content.
pub fn json(plan: &Plan, actuals: &dyn Fn(PipelineId) -> Option<PipelineActuals>) -> String {
    let mut out = String::from("{\"pipelines\": [");
    for (place, pipeline) in plan.pipelines.iter().enumerate() {
        let separator = if place == 0 { "\n" } else { ",\n" };
        let inputs = pipeline.inputs();
        let mut inputs: Vec<usize> = inputs.iter().map(|it| it.index()).collect();
        inputs.sort_unstable();
        inputs.dedup();
        let steps: Vec<String> = lines(pipeline).iter().map(|it| quoted(it)).collect();
        let _ = write!(
            out,
            "{separator}  {{\"id\": {}, \"inputs\": {inputs:?}, \"estimated_rows\": {}, \"steps\": [{}]",
            pipeline.id.index(),
            rounded(pipeline.estimated_rows),
            steps.join(", ")
        );
        if let Some(it) = actuals(pipeline.id) {
            let _ = write!(
                out,
                ", \"actual\": {{\"rows\": {}, \"nanos\": {}, \"morsels\": {}, \"stolen\": {}, \
                 \"local_bytes\": {}, \"remote_bytes\": {}, \"bytes_of\": \"scans\", \"source\": {}, \"steps\": [{}]}}",
                it.rows,
                it.nanos,
                it.morsels,
                it.stolen,
                it.local_bytes,
                it.remote_bytes,
                quoted(&it.source),
                steps_json(&it.steps)
            );
        }
        out.push('}');
    }
    let columns: Vec<String> = plan
        .output
        .iter()
        .map(|it| {
            let (name, data_type) = (quoted(&it.name), quoted(&it.data_type.to_string()));
            format!("{{\"name\": {name}, \"type\": {data_type}}}")
        })
        .collect();
    let _ = write!(out, "\n], \"output\": [{}]}}", columns.join(", "));
    out
}

fn rounded(rows: f64) -> u64 {
    rows.round().max(0.0) as u64
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for it in text.chars() {
        match it {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            it if u32::from(it) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", u32::from(it));
            }
            it => out.push(it),
        }
    }
    out.push('"');
    out
}

fn list(exprs: &[Expr]) -> String {
    exprs.iter().map(expr).collect::<Vec<_>>().join(", ")
}

fn lines(pipeline: &Pipeline) -> Vec<String> {
    let mut lines = source(&pipeline.source);
    for operator in &pipeline.operators {
        lines.push(match operator {
            Operator::Filter(it) => format!("filter {}", expr(it)),
            Operator::Project(it) => format!("project [{}]", list(it)),
            Operator::Join(it) => join(it),
            Operator::Repeat(count) => format!("repeat each row #{count} times"),
            Operator::Fetch(it) => {
                format!("fetch {:?} of pipeline {} by [#{}]", it.payload, it.build.index(), it.row)
            }
        });
    }
    lines.push(sink(&pipeline.sink));
    lines
}

fn source(source: &Source) -> Vec<String> {
    match source {
        Source::Scan(scan) => {
            let columns: Vec<String> =
                scan.columns.iter().map(|it| it.index().to_string()).collect();
            let how = match &scan.index {
                Some(index) => format!("index scan {} using {}", scan.name, index.name),
                None => format!("scan {}", scan.name),
            };
            let mut lines =
                vec![format!("{how} columns [{}] output {:?}", columns.join(", "), scan.output)];
            lines.extend(scan.filters.iter().map(|it| format!("  where {}", expr(it))));
            for it in &scan.transfers {
                lines.push(format!("  where #{} in pipeline {}", it.column, it.build.index()));
            }
            lines
        }
        Source::Read(from) => {
            let from: Vec<String> = from.iter().map(|it| it.index().to_string()).collect();
            vec![format!("read pipeline {}", from.join(", "))]
        }
        Source::BuildRows { build, matched } => {
            let which = if *matched { "with" } else { "without" };
            vec![format!("rows of pipeline {} {which} partner", build.index())]
        }
        Source::Values { rows, .. } if rows.len() == 1 => vec![format!("row ({})", list(&rows[0]))],
        Source::Values { rows, .. } => vec![format!("{} constant rows", rows.len())],
    }
}

fn join(join: &Join) -> String {
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
    let residual = join.residual.as_ref().map(|it| format!(" and {}", expr(it)));
    // Without a key each row meets all rows of the table.
    let way = if join.keys.is_empty() { "nested loop " } else { "" };
    let tracking = if join.track_matches { ", tracks matches" } else { "" };
    let numbers = if join.numbers { " and the partner's number" } else { "" };
    format!(
        "{way}{kind} join pipeline {} on [{}]{} output {:?}{numbers}{tracking}",
        join.build.index(),
        list(&join.keys),
        residual.unwrap_or_default(),
        join.output
    )
}

fn sink(sink: &Sink) -> String {
    let range = |offset: u64, limit: Option<u64>| {
        let limit = limit.map(|it| format!(" limit {it}")).unwrap_or_default();
        let offset = if offset == 0 { String::new() } else { format!(" offset {offset}") };
        limit + &offset
    };
    match sink {
        Sink::HashBuild(it) => format!(
            "-> hash table on [{}] of [{}]{}{}",
            list(&it.keys),
            list(&it.payload),
            if it.unique { ", unique" } else { "" },
            if it.keep_null_keys { ", keeps NULL keys" } else { "" }
        ),
        Sink::Aggregate { keys, aggregates, estimated_groups } => {
            let all: Vec<String> = aggregates.iter().map(aggregate).collect();
            format!(
                "-> groups by [{}] of [{}], about {}",
                list(keys),
                all.join(", "),
                rounded(*estimated_groups)
            )
        }
        Sink::Sort { keys, partition, offset, limit } => {
            let keys: Vec<String> = keys.iter().map(sort_key).collect();
            let each = match partition {
                0 => String::new(),
                count => format!(" for each [{}]", keys[..*count].join(", ")),
            };
            format!("-> sort by [{}]{}{each}", keys.join(", "), range(*offset, *limit))
        }
        Sink::Materialize { offset, limit } => format!("-> rows{}", range(*offset, *limit)),
        Sink::Result => "-> result".to_owned(),
    }
}

fn sort_key(key: &SortKey) -> String {
    // Postgres: NULL counts as greater than all values, so only the other way is said.
    let nulls = match (key.descending, key.nulls_first) {
        (false, true) => " nulls first",
        (true, false) => " nulls last",
        _ => "",
    };
    format!("{}{}{nulls}", expr(&key.expr), if key.descending { " desc" } else { "" })
}

fn aggregate(it: &Aggregate) -> String {
    let name = match it.function {
        AggregateFunction::Count => "count",
        AggregateFunction::Sum => "sum",
        AggregateFunction::Average => "avg",
        AggregateFunction::Min => "min",
        AggregateFunction::Max => "max",
        AggregateFunction::AnyValue => "any",
    };
    let argument = it.argument.as_ref().map_or_else(|| "*".to_owned(), expr);
    let filter = it.filter.as_ref().map(|it| format!(" filter {}", expr(it))).unwrap_or_default();
    format!("{name}({}{argument}){filter}", if it.distinct { "distinct " } else { "" })
}

/// An expression as text; `#n` is the n-th column.
pub fn expr(it: &Expr) -> String {
    let not = |negated: &bool| if *negated { "not " } else { "" };
    match &it.kind {
        ExprKind::Column(place) => format!("#{place}"),
        ExprKind::Literal(value) => value.to_string(),
        ExprKind::Parameter(number) => format!("${}", number + 1),
        ExprKind::Scalar(id) => format!("value of pipeline {}", id.index()),
        ExprKind::Binary { operator, left, right } => {
            format!("({} {} {})", expr(left), operator.sql().to_lowercase(), expr(right))
        }
        ExprKind::Unary { operator, operand } => {
            let operand = expr(operand);
            match operator {
                UnaryOperator::Not => format!("not {operand}"),
                UnaryOperator::Negate => format!("-{operand}"),
                UnaryOperator::IsNull => format!("{operand} is null"),
                UnaryOperator::IsNotNull => format!("{operand} is not null"),
                UnaryOperator::IsTrue => format!("{operand} is true"),
                UnaryOperator::IsFalse => format!("{operand} is false"),
                UnaryOperator::IsNotTrue => format!("{operand} is not true"),
                UnaryOperator::IsNotFalse => format!("{operand} is not false"),
            }
        }
        ExprKind::Case { branches, otherwise } => {
            let mut out = String::from("case");
            for (condition, result) in branches {
                let _ = write!(out, " when {} then {}", expr(condition), expr(result));
            }
            if let Some(otherwise) = otherwise {
                let _ = write!(out, " else {}", expr(otherwise));
            }
            out + " end"
        }
        ExprKind::InList { operand, list, negated } => {
            let values: Vec<String> = list.iter().map(ToString::to_string).collect();
            format!("{} {}in ({})", expr(operand), not(negated), values.join(", "))
        }
        ExprKind::Like { operand, pattern, case_insensitive, negated, .. } => {
            let name = if *case_insensitive { "ilike" } else { "like" };
            let pattern = pattern.replace('\'', "''");
            format!("{} {}{name} '{pattern}'", expr(operand), not(negated))
        }
        ExprKind::Cast(inner) => format!("cast({} as {})", expr(inner), it.data_type),
        ExprKind::Extract { field, operand } => {
            format!("extract({} from {})", format!("{field:?}").to_lowercase(), expr(operand))
        }
        ExprKind::Substring { operand, start, length } => {
            let length = length.map(|it| format!(", {it}")).unwrap_or_default();
            format!("substring({}, {start}{length})", expr(operand))
        }
        ExprKind::Call { function, arguments } => {
            format!("{}({})", function.name(), list(arguments))
        }
    }
}
