//! Figures as text: tables for the terminal, and the report in Markdown.

use std::fmt::Write;

use crate::figure::{Figure, Finding};
use crate::outcome::MEASURES;

/// The tables of a figure, then the paper's claims beside the simulated ratios.
pub fn tables(figure: &Figure) -> String {
    let it = &figure.experiment;
    let mut text = format!("{}: {}\n{}\n", it.name, it.title, it.figure);
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
    let head = ["", "ratio of", "published", "simulated", "direction"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for finding in &figure.findings {
        let main = if finding.claim.main { "*" } else { "" };
        let cells = [main, &finding.claim.measure, &published(finding), &ratio(finding.ratio)];
        let mut row: Vec<String> = cells.map(str::to_owned).to_vec();
        row.push(format!("{}  {}", verdict(finding), finding.claim.says));
        rows.push(row);
    }
    text.push_str(&columns(&rows));
    let holds = if figure.holds() { "holds" } else { "does not hold" };
    let _ = writeln!(text, "\nThe direction of the figure (claims with *) {holds}.");
    for note in &it.notes {
        let _ = writeln!(text, "Note: {note}");
    }
    text
}

/// The figures as a report: a summary, then each with its claims and notes.
pub fn report(figures: &[Figure]) -> String {
    let holding = figures.iter().filter(|it| it.holds()).count();
    let mut text = String::from("# The papers' experiments on modelled machines\n\n");
    text.push_str(
        "Made by `nodewise simulate all --report FILE`; the same program and seed make the same file. Each run is the\n\
         real scheduler, with the real placement, on a machine that is modelled from data sheets and published latency\n\
         and bandwidth tables alone (see simulator.md). The papers print their figures without numbers: what is\n\
         compared are the ratios that their text states. A claim without a published number is a direction.\n\n",
    );
    let count = figures.len();
    let _ = writeln!(text, "**The direction of {holding} of {count} figures holds.**\n");
    text.push_str("| Experiment | Figure | Main ratio | Published | Simulated | Direction |\n");
    text.push_str("|---|---|---|---|---|---|\n");
    for figure in figures {
        let it = &figure.experiment;
        let Some(first) = figure.findings.iter().find(|it| it.claim.main) else { continue };
        let holds = if figure.holds() { "holds" } else { "**does not hold**" };
        let (published, ratio) = (published(first), ratio(first.ratio));
        let (says, what) = (&first.claim.says, &it.figure);
        let name = &it.name;
        let _ = writeln!(text, "| {name} | {what} | {says} | {published} | {ratio} | {holds} |");
    }
    for figure in figures {
        let it = &figure.experiment;
        let _ = writeln!(text, "\n## {}: {}\n\n{}.\n", it.name, it.title, it.figure);
        text.push_str("| Claim | Measure | Published | Simulated | Direction | Source |\n");
        text.push_str("|---|---|---|---|---|---|\n");
        for finding in &figure.findings {
            let claim = &finding.claim;
            let says = if claim.main { format!("**{}**", claim.says) } else { claim.says.clone() };
            let (published, ratio) = (published(finding), ratio(finding.ratio));
            let (measure, source) = (&claim.measure, &claim.source);
            let verdict = verdict(finding);
            let _ = writeln!(
                text,
                "| {says} | {measure} | {published} | {ratio} | {verdict} | {source} |"
            );
        }
        let measure = &it.show[0];
        let _ = writeln!(text, "\n{measure}, {}:\n", describe(measure).0);
        let _ = writeln!(text, "| {} | {} |", it.axis, it.series.join(" | "));
        let _ = writeln!(text, "|---{}|", "|---:".repeat(it.series.len()));
        for (point, name) in it.points.iter().enumerate() {
            let value = |series| number(figure.value(series, point, measure));
            let values: Vec<String> = (0..it.series.len()).map(value).collect();
            let _ = writeln!(text, "| {name} | {} |", values.join(" | "));
        }
        for note in &it.notes {
            let _ = writeln!(text, "\n{note}");
        }
    }
    text
}

fn describe(measure: &str) -> (&'static str, &'static str) {
    MEASURES.iter().find(|it| it.0 == measure).map_or(("", ""), |it| (it.1, it.2))
}

fn verdict(finding: &Finding) -> &'static str {
    if finding.holds { "holds" } else { "differs" }
}

fn published(finding: &Finding) -> String {
    match finding.claim.published {
        None => String::new(),
        Some((low, high)) if low == high => ratio(low),
        Some((low, high)) => format!("{} to {}", ratio(low), ratio(high)),
    }
}

fn ratio(value: f64) -> String {
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
