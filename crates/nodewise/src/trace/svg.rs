//! The timeline as a picture: what P-HYPER figure 13 shows.

use std::collections::BTreeMap;
use std::fmt::Write;

use scheduler::{TraceEvent, WorkerId};
use stdx::Nanos;
use stdx::xml::escaped;

use super::record::Trace;

const LEFT: f64 = 90.0;
const TOP: f64 = 44.0;
const WIDTH: f64 = 1100.0;
const ROW: f64 = 24.0;
const LEGEND_ROW: f64 = 18.0;
/// Blocks closer than this, in pixels, become one.
const NEAR: f64 = 0.25;
/// Statements that the legend lists.
const LEGEND_MAX: usize = 24;
/// Statements whose start and end are marked.
const MARKED_MAX: usize = 8;
const TEXT_CHARS: usize = 110;

/// A run of morsels of one pipeline.
struct Block {
    x: f64,
    width: f64,
    color: String,
    stolen: bool,
    title: String,
}

pub(super) fn write(trace: &Trace) -> String {
    let statements = trace.statements();
    let mut rows: BTreeMap<WorkerId, Vec<&TraceEvent>> = BTreeMap::new();
    for event in &trace.events {
        rows.entry(event.worker).or_default().push(event);
    }
    let bottom = TOP + rows.len() as f64 * ROW;
    let height = bottom + 40.0 + statements.len().min(LEGEND_MAX) as f64 * LEGEND_ROW + 24.0;
    let (total, scale) = (LEFT + WIDTH + 20.0, Scale::new(trace));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{total:.0}\" height=\"{height:.0}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    let numbers: BTreeMap<u64, usize> =
        statements.keys().enumerate().map(|(at, &it)| (it, at)).collect();
    axis(&mut out, &scale, bottom);
    for (at, (worker, events)) in rows.iter().enumerate() {
        let y = TOP + at as f64 * ROW;
        let name = escaped(&trace.name_of(*worker));
        let _ = writeln!(
            out,
            "<text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"end\">{name}</text>",
            LEFT - 8.0,
            y + ROW * 0.65
        );
        for block in blocks(events, &scale, &numbers) {
            draw(&mut out, &block, y);
        }
    }
    marks(&mut out, &scale, &statements, bottom);
    legend(&mut out, trace, &statements, &numbers, bottom + 40.0);
    out.push_str("</svg>\n");
    out
}

/// From time to pixels.
struct Scale {
    begin: Nanos,
    span: f64,
}

impl Scale {
    fn new(trace: &Trace) -> Self {
        let span = (trace.end() - trace.begin()).0.max(1) as f64;
        Self { begin: trace.begin(), span }
    }

    fn x(&self, at: Nanos) -> f64 {
        LEFT + (at - self.begin).0 as f64 / self.span * WIDTH
    }
}

/// The blocks of a worker: morsels of one pipeline that touch become one where they are too small to see.
fn blocks(events: &[&TraceEvent], scale: &Scale, numbers: &BTreeMap<u64, usize>) -> Vec<Block> {
    let key = |it: &TraceEvent| (it.statement, it.pipeline, it.finishing, it.stolen);
    let mut blocks: Vec<Block> = Vec::new();
    let mut last = None;
    for event in events {
        let (x, end) = (scale.x(event.start), scale.x(event.end));
        if last == Some(key(event))
            && let Some(block) = blocks.last_mut()
            && x - (block.x + block.width) < NEAR
            && (end - x < 2.0 || block.width < 2.0)
        {
            block.width = end - block.x;
            continue;
        }
        last = Some(key(event));
        let title = format!(
            "query {} pipeline {}{}{}",
            event.statement,
            event.pipeline,
            if event.finishing { ", finish" } else { "" },
            if event.stolen { ", stolen" } else { "" },
        );
        let color = color(numbers[&event.statement], event.pipeline, event.finishing);
        blocks.push(Block { x, width: end - x, color, stolen: event.stolen, title });
    }
    blocks
}

/// Hues differ by query, lightness by pipeline.
fn color(query: usize, pipeline: u32, finishing: bool) -> String {
    // The golden angle: neighbours in number are far apart in hue.
    let hue = (205.0 + query as f64 * 137.5) % 360.0;
    let lightness = 34 + (pipeline * 11) % 38;
    let saturation = if finishing { 30 } else { 70 };
    format!("hsl({hue:.0},{saturation}%,{lightness}%)")
}

fn draw(out: &mut String, block: &Block, y: f64) {
    // A gap between blocks shows where one morsel ends, as long as there is room for it.
    let gap = if block.width > 3.0 { 0.6 } else { 0.0 };
    let edge = if block.stolen { " stroke=\"black\" stroke-width=\"0.8\"" } else { "" };
    let _ = writeln!(
        out,
        "<rect x=\"{:.2}\" y=\"{:.1}\" width=\"{:.2}\" height=\"{:.1}\" fill=\"{}\"{edge}>\
         <title>{}</title></rect>",
        block.x,
        y + 3.0,
        (block.width - gap).max(0.3),
        ROW - 6.0,
        block.color,
        block.title,
    );
}

/// A line per round time, some eight of them.
fn axis(out: &mut String, scale: &Scale, bottom: f64) {
    let raw = scale.span / 8.0;
    let power = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].iter().map(|it| it * power).find(|it| *it >= raw);
    let step = step.unwrap_or(raw).max(1.0);
    let mut at = 0.0;
    while at <= scale.span {
        let x = LEFT + at / scale.span * WIDTH;
        let _ = writeln!(
            out,
            "<line x1=\"{x:.1}\" y1=\"{TOP:.0}\" x2=\"{x:.1}\" y2=\"{bottom:.0}\" stroke=\"#ddd\"/>\
             <text x=\"{x:.1}\" y=\"{:.0}\" text-anchor=\"middle\" fill=\"#555\">{}</text>",
            bottom + 16.0,
            Nanos(at as u64),
        );
        at += step;
    }
}

/// Dashed lines where statements start and finish.
fn marks(out: &mut String, scale: &Scale, statements: &BTreeMap<u64, (Nanos, Nanos)>, bottom: f64) {
    if statements.len() > MARKED_MAX {
        return;
    }
    for (at, (statement, (start, end))) in statements.iter().enumerate() {
        let y = 12.0 + (at % 3) as f64 * 12.0;
        for (x, what, anchor) in
            [(scale.x(*start), "start", "start"), (scale.x(*end), "finish", "end")]
        {
            let _ = writeln!(
                out,
                "<line x1=\"{x:.1}\" y1=\"{y:.0}\" x2=\"{x:.1}\" y2=\"{bottom:.0}\" stroke=\"black\" \
                 stroke-dasharray=\"3 3\"/><text x=\"{x:.1}\" y=\"{y:.0}\" \
                 text-anchor=\"{anchor}\">{statement} {what}</text>",
            );
        }
    }
}

fn legend(
    out: &mut String,
    trace: &Trace,
    statements: &BTreeMap<u64, (Nanos, Nanos)>,
    numbers: &BTreeMap<u64, usize>,
    top: f64,
) {
    for (at, (statement, (start, end))) in statements.iter().take(LEGEND_MAX).enumerate() {
        let y = top + at as f64 * LEGEND_ROW;
        let whole = trace.text_of(*statement);
        let mut text: String = whole.chars().take(TEXT_CHARS).collect();
        if text.len() < whole.len() {
            text.push_str(" ..");
        }
        let label = format!("query {statement}, {}: {text}", *end - *start);
        let _ = writeln!(
            out,
            "<rect x=\"{LEFT:.0}\" y=\"{y:.0}\" width=\"12\" height=\"12\" fill=\"{}\"/>\
             <text x=\"{:.0}\" y=\"{:.0}\">{}</text>",
            color(numbers[statement], 1, false),
            LEFT + 18.0,
            y + 11.0,
            escaped(&label),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::sample;
    use super::*;

    #[test]
    fn a_row_per_worker_and_a_block_per_morsel() {
        let svg = write(&sample());
        for name in ["worker 0", "worker 3", "callers", "7 start", "8 finish"] {
            assert!(svg.contains(name), "{name} in {svg}");
        }
        assert_eq!(svg.matches("<title>").count(), 4);
        assert_eq!(svg.matches("stroke-width=\"0.8\"").count(), 1, "one was stolen");
        assert!(svg.contains("a&lt;b") && !svg.contains("a<b"));
    }

    #[test]
    fn morsels_too_small_to_see_are_drawn_as_one() {
        let mut trace = sample();
        let first = trace.events[0];
        trace.events = (0..10_000)
            .map(|it| TraceEvent { start: Nanos(it * 10), end: Nanos(it * 10 + 10), ..first })
            .collect();
        let blocks = write(&trace).matches("<title>").count();
        assert!((1..1200).contains(&blocks), "{blocks}");
        trace.events.clear();
        assert!(write(&trace).ends_with("</svg>\n"), "nothing at all is a picture too");
    }
}
