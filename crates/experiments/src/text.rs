//! Figures as text: tables for the terminal.

use std::fmt::Write;

use crate::claim::Expected;
use crate::figure::{Figure, Finding};
use crate::outcome::MEASURES;

/// The tables of a figure, then the paper's claims beside the simulated ratios.
pub fn tables(figure: &Figure) -> String {
    let it = &figure.experiment;
    let mut text = format!("{}: {}\n{}\n", it.name, it.title, it.figure);
    if !it.changed.is_empty() {
        let changed = it.changed.join(", ");
        let _ = writeln!(text, "Changed: {changed}. What was published is about another set-up.");
    }
    for measure in &it.show {
        let (unit, meaning) = describe(measure);
        let _ = writeln!(text, "\n{measure} ({unit}): {meaning}");
        let mut rows = vec![vec![it.axis.clone()]];
        rows[0].extend(it.series.iter().cloned());
        for (point, name) in it.points.iter().enumerate() {
            let value = |series| number(figure.value(series, point, measure));
            let mut row = vec![name.clone()];
            row.extend((0..it.series.len()).map(value));
            rows.push(row);
        }
        text.push_str(&columns(&rows));
    }
    text.push('\n');
    let head = ["", "ratio of", "published", "simulated", "outcome"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for finding in &figure.findings {
        let main = if finding.claim.main { "*" } else { "" };
        let cells = [main, &finding.claim.measure, &published(finding), &ratio(finding.ratio)];
        let mut row: Vec<String> = cells.map(str::to_owned).to_vec();
        row.push(format!("{}  {}", finding.class.name(), finding.claim.says));
        rows.push(row);
    }
    text.push_str(&columns(&rows));
    let holds = if figure.holds() { "comes out" } else { "does not come out" };
    let _ = writeln!(text, "\nThe point of the figure (claims with *) {holds}.");
    for finding in figure.drifted() {
        let (says, recorded) = (&finding.claim.says, finding.claim.recorded.name());
        let _ = writeln!(text, "Written down was another outcome: {says}: {recorded}.");
    }
    for finding in figure.findings.iter().filter(|it| !it.claim.arithmetic.is_empty()) {
        let _ =
            writeln!(text, "{}: follows from {}.", finding.claim.says, finding.claim.arithmetic);
    }
    for finding in figure.findings.iter().filter(|it| !it.claim.why.is_empty()) {
        let _ = writeln!(text, "{}: {}", finding.claim.says, finding.claim.why);
    }
    for note in &it.notes {
        let _ = writeln!(text, "Note: {note}");
    }
    text
}

pub(crate) fn describe(measure: &str) -> (&'static str, &'static str) {
    MEASURES.iter().find(|it| it.0 == measure).map_or(("", ""), |it| (it.1, it.2))
}

pub(crate) fn published(finding: &Finding) -> String {
    match finding.claim.expected {
        Expected::Direction(..) => String::new(),
        Expected::Published(low, high) if low == high => ratio(low),
        Expected::Published(low, high) => format!("{} to {}", ratio(low), ratio(high)),
    }
}

pub(crate) fn ratio(value: f64) -> String {
    if value >= 100.0 { ">100".to_owned() } else { format!("{value:.2}") }
}

/// A number with three digits or so.
pub(crate) fn number(value: f64) -> String {
    match value {
        it if it >= 100.0 => format!("{it:.0}"),
        it if it >= 10.0 => format!("{it:.1}"),
        it => format!("{it:.2}"),
    }
}

/// Rows as aligned columns: the first and the last to the left, numbers to the right.
fn columns(rows: &[Vec<String>]) -> String {
    let count = rows[0].len();
    let width = |column: usize| rows.iter().map(|it| it[column].len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let width = widths[column];
            let _ = match column {
                0 => write!(line, "{cell:width$}"),
                _ => write!(line, "  {cell:>width$}"),
            };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
