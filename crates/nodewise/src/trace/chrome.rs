//! Chrome's trace event format: an array of complete events, times in microseconds.

use std::collections::BTreeMap;
use std::fmt::Write;

use scheduler::TraceEvent;

use super::record::Trace;

pub(super) fn write(trace: &Trace) -> String {
    let begin = trace.begin();
    let mut lines: Vec<String> = Vec::with_capacity(trace.events.len() + 16);
    let mut seats = BTreeMap::new();
    for event in &trace.events {
        seats.insert((event.node, event.worker), ());
    }
    for &(node, worker) in seats.keys() {
        let name = quoted(&trace.name_of(worker));
        lines.push(format!(
            r#"{{"name":"process_name","ph":"M","pid":{node},"tid":{worker},"args":{{"name":"node {node}"}}}}"#
        ));
        lines.push(format!(
            r#"{{"name":"thread_name","ph":"M","pid":{node},"tid":{worker},"args":{{"name":{name}}}}}"#
        ));
    }
    lines.extend(trace.events.iter().map(|it| line(it, begin.0, &trace.text_of(it.statement))));
    format!("{{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n{}\n]}}\n", lines.join(",\n"))
}

fn line(event: &TraceEvent, begin: u64, text: &str) -> String {
    let TraceEvent { statement, pipeline, node, worker, .. } = event;
    let micros = |nanos: u64| format!("{}.{:03}", nanos / 1000, nanos % 1000);
    let mut line = format!(
        r#"{{"name":"query {statement} pipeline {pipeline}{}","cat":"{}","ph":"X","#,
        if event.finishing { " finish" } else { "" },
        if event.stolen { "stolen" } else { "home" },
    );
    let (start, span) = (micros(event.start.0 - begin), micros((event.end - event.start).0));
    let _ = write!(line, r#""ts":{start},"dur":{span},"pid":{node},"tid":{worker},"args":{{"#);
    let _ = write!(
        line,
        r#""query":{statement},"job":{},"rows":{},"bytes_local":{},"bytes_remote":{},"stolen":{},"text":{}}}}}"#,
        event.job,
        event.rows,
        event.bytes_local,
        event.bytes_remote,
        event.stolen,
        quoted(text),
    );
    line
}

/// Text as a JSON string.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for it in text.chars() {
        match it {
            '"' | '\\' => {
                out.push('\\');
                out.push(it);
            }
            it if u32::from(it) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", u32::from(it));
            }
            it => out.push(it),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::super::tests::sample;
    use super::*;

    #[test]
    fn events_are_relative_to_the_first_and_texts_are_escaped() {
        let json = write(&sample());
        assert!(json.contains(r#""name":"query 7 pipeline 1","cat":"home","ph":"X","ts":0.000,"dur":1.500,"pid":0,"tid":0"#), "{json}");
        assert!(json.contains(r#""name":"query 8 pipeline 1","cat":"stolen","ph":"X","ts":1.500"#));
        assert!(json.contains(r#"pipeline 1 finish""#));
        assert!(json.contains(r#""text":"SELECT \"a<b\" FROM t\\u"}}"#));
        assert!(json.contains(r#""args":{"name":"callers"}"#));
        assert_eq!(json.matches(r#""ph":"X""#).count(), 4);
        assert_eq!(quoted("a\u{1}\"b\\"), "\"a\\u0001\\\"b\\\\\"");
    }
}
