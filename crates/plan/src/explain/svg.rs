//! The plan as a picture: a card for each pipeline, under the one that reads it, with bars for where the time went.

use std::fmt::Write as _;

use stdx::Bytes;
use stdx::xml::escaped;

use super::actuals::{PipelineActuals, Remarks, StepActuals};
use super::lines::{self, rounded};
use crate::{Pipeline, Plan};

const STYLE: &str = "\
.card{fill:#ffffff;stroke:#c9d1da}.ink{fill:#1c2430}.soft{fill:#5b6672}.link{stroke:#8a96a3;fill:none}\
.track{fill:#e8edf2}.bar{fill:#4c8df5}\
@media (prefers-color-scheme:dark){.card{fill:#12171e;stroke:#364150}.ink{fill:#e7ecf2}.soft{fill:#9aa6b3}\
.link{stroke:#66727f}.track{fill:#242c36}.bar{fill:#3f78d1}}\
text{font-family:ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;font-size:12px}\
.head{font-weight:600}.right{text-anchor:end}";

const MARGIN: f64 = 20.0;
const PADDING: f64 = 10.0;
const LINE: f64 = 17.0;
/// Between cards of one row, and between rows.
const GAP: f64 = 26.0;
const RISE: f64 = 34.0;
/// The width of a letter of the font.
const LETTER: f64 = 7.25;
/// Letters of a line; the whole line is shown when the mouse rests on it.
const LETTERS_MAX: usize = 68;
const BAR: f64 = 90.0;

/// A pipeline as it is drawn.
struct Card {
    title: String,
    lines: Vec<String>,
    /// Steps with their time in milliseconds and their share of the time of all steps of the plan.
    steps: Vec<(String, f64, f64)>,
    inputs: Vec<usize>,
    /// How far below the last pipeline it stands.
    row: usize,
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

impl Card {
    fn of(
        pipeline: &Pipeline,
        mut lines: Vec<String>,
        note: Option<String>,
        actuals: Option<&PipelineActuals>,
        all: u64,
    ) -> Self {
        let id = pipeline.id.index();
        let mut title = format!("{id}: about {} rows", rounded(pipeline.estimated_rows));
        lines.extend(note);
        let mut steps = Vec::new();
        if let Some(it) = actuals {
            let millis = it.nanos as f64 / 1e6;
            let _ = write!(title, ", {} came, {millis:.3} ms", it.rows);
            let local = Bytes(it.local_bytes + it.kept_local_bytes);
            let remote = Bytes(it.remote_bytes + it.kept_remote_bytes);
            lines.push(format!(
                "{local} local, {remote} remote, {} of memory",
                Bytes(it.memory_peak_bytes)
            ));
            let share = |nanos: u64| nanos as f64 / all.max(1) as f64;
            let step = |it: &StepActuals| (it.name.clone(), it.nanos as f64 / 1e6, share(it.nanos));
            steps = it.steps.iter().map(step).collect();
        }
        let letters = |it: &String| it.chars().count().min(LETTERS_MAX) as f64 * LETTER;
        let of_steps = steps.iter().map(|it| letters(&it.0) + BAR + 11.0 * LETTER);
        let widest = lines.iter().map(letters).chain([letters(&title)]).chain(of_steps);
        let width = widest.fold(60.0, f64::max) + 2.0 * PADDING;
        let height = (1 + lines.len() + steps.len()) as f64 * LINE + 2.0 * PADDING;
        let mut inputs: Vec<usize> = pipeline.inputs().iter().map(|it| it.index()).collect();
        inputs.sort_unstable();
        inputs.dedup();
        Self { title, lines, steps, inputs, row: 0, x: 0.0, y: 0.0, width, height }
    }

    fn draw(&self, out: &mut String) {
        let Self { x, y, width, height, .. } = self;
        let _ = writeln!(
            out,
            "<rect class=\"card\" x=\"{x:.0}\" y=\"{y:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" rx=\"6\"/>"
        );
        let (left, mut base) = (x + PADDING, y + PADDING + 12.0);
        text(out, "ink head", left, base, &self.title);
        for line in &self.lines {
            base += LINE;
            text(out, "ink", left, base, line);
        }
        for (name, millis, share) in &self.steps {
            base += LINE;
            text(out, "soft", left, base, name);
            let right = x + width - PADDING;
            let _ = writeln!(
                out,
                "<rect class=\"track\" x=\"{0:.0}\" y=\"{1:.0}\" width=\"{BAR}\" height=\"9\"/>\
                 <rect class=\"bar\" x=\"{0:.0}\" y=\"{1:.0}\" width=\"{2:.1}\" height=\"9\"/>\
                 <text class=\"soft right\" x=\"{3:.0}\" y=\"{base:.0}\">{millis:.3}</text>",
                right - BAR,
                base - 9.0,
                BAR * share,
                right - BAR - LETTER
            );
        }
    }
}

/// A line of text, cut when it is too long, with the whole behind it.
fn text(out: &mut String, class: &str, x: f64, y: f64, line: &str) {
    let mut shown: String = line.chars().take(LETTERS_MAX).collect();
    if shown.len() < line.len() {
        shown.pop();
        shown.push('\u{2026}');
    }
    let _ = writeln!(
        out,
        "<text class=\"{class}\" x=\"{x:.0}\" y=\"{y:.0}\" xml:space=\"preserve\">{}<title>{}</title></text>",
        escaped(&shown),
        escaped(line)
    );
}

/// The plan as an SVG document, readable on light and on dark pages. Parts of recursions stand above the rest, each under
/// its name.
pub fn svg(plan: &Plan, remarks: &dyn Remarks) -> String {
    let mut body = String::new();
    let (mut bottom, mut right) = (MARGIN, 0.0);
    for it in &plan.recursions {
        for (what, part) in [("first", &it.first), ("each other round", &it.step)] {
            text(&mut body, "ink head", MARGIN, bottom + 12.0, &format!("{}, {what}", it.name));
            bottom = section(&mut body, part, &(), bottom + LINE + 6.0, &mut right) + RISE;
        }
    }
    bottom = section(&mut body, plan, remarks, bottom, &mut right);
    let (width, height) = (right + MARGIN, bottom + MARGIN);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\">\n<title>Query plan</title>\n\
         <style>{STYLE}</style>\n{body}</svg>\n"
    )
}

/// Draws a plan from a height on; where it ends. `right` grows to the greatest place that it takes.
fn section(out: &mut String, plan: &Plan, remarks: &dyn Remarks, top: f64, right: &mut f64) -> f64 {
    let actuals: Vec<_> = plan.pipelines.iter().map(|it| remarks.actuals(it.id)).collect();
    let nanos = |it: &PipelineActuals| it.steps.iter().map(|it| it.nanos).sum::<u64>();
    let all = actuals.iter().flatten().map(nanos).sum();
    let mut cards: Vec<Card> = (plan.pipelines.iter().zip(lines::of(plan)).zip(&actuals))
        .map(|((it, lines), actual)| {
            Card::of(it, lines, remarks.placement(it.id), actual.as_ref(), all)
        })
        .collect();
    let bottom = lay_out(&mut cards, top, right);
    for card in &cards {
        for input in &card.inputs {
            let from = &cards[*input];
            let (x, y) = (from.x + from.width / 2.0, from.y);
            let (to_x, to_y) = (card.x + card.width / 2.0, card.y + card.height);
            let middle = (y + to_y) / 2.0;
            let _ = writeln!(
                out,
                "<path class=\"link\" d=\"M{x:.0} {y:.0}C{x:.0} {middle:.0} {to_x:.0} {middle:.0} {to_x:.0} {to_y:.0}\"/>"
            );
        }
    }
    cards.iter().for_each(|it| it.draw(out));
    bottom
}

/// Gives each card its place: below all that read it, rows in the middle of the widest; returns where the last row ends.
fn lay_out(cards: &mut [Card], top: f64, right: &mut f64) -> f64 {
    // Inputs stand before those that read them.
    for at in (0..cards.len()).rev() {
        let below = cards[at].row + 1;
        for input in cards[at].inputs.clone() {
            cards[input].row = cards[input].row.max(below);
        }
    }
    let rows = cards.iter().map(|it| it.row + 1).max().unwrap_or(0);
    let members = |row: usize, cards: &[Card]| -> Vec<usize> {
        (0..cards.len()).filter(|it| cards[*it].row == row).collect()
    };
    let width = |it: &[usize], cards: &[Card]| {
        it.iter().map(|at| cards[*at].width + GAP).sum::<f64>() - GAP
    };
    let widest = (0..rows).map(|it| width(&members(it, cards), cards)).fold(0.0, f64::max);
    let mut y = top;
    for row in 0..rows {
        let row = members(row, cards);
        let mut x = MARGIN + (widest - width(&row, cards)) / 2.0;
        let mut height: f64 = 0.0;
        for at in row {
            (cards[at].x, cards[at].y) = (x, y);
            x += cards[at].width + GAP;
            height = height.max(cards[at].height);
        }
        y += height + RISE;
    }
    *right = right.max(MARGIN + widest);
    y - RISE
}
