//! Figures as a report in Markdown: a summary, then each with its claims, its tables, and why it differs where it does.

use std::fmt::Write;

use crate::figure::{Figure, Finding};
use crate::text::{describe, number, published, ratio, verdict};

/// Measures of a figure that the report shows as tables.
const TABLES: usize = 2;

/// From how many times the published ratio on, or below its inverse, a size is another.
const FAR: f64 = 1.5;

/// The report. With a folder for `charts`, as it is seen from the report, each figure shows the chart of its name there.
pub fn report(figures: &[Figure], charts: Option<&str>) -> String {
    let holding = figures.iter().filter(|it| it.holds()).count();
    let mut text = String::from("# The papers' experiments on modelled machines\n\n");
    text.push_str(
        "Made by `nodewise simulate all --report docs/experiments.md --svg docs/images`; the same program and seed make the\n\
         same files. Each run is the real scheduler, with the real placement, on a machine that is modelled from data sheets\n\
         and published latency and bandwidth tables alone (see [simulator.md](simulator.md)); what a row costs is stated in\n\
         `crates/experiments/src/costs.rs`. No number was changed to make a figure come out.\n\n\
         *Published* is what the text of the paper says, with its section; nothing was read off a chart. A claim without a\n\
         published number is a direction. Claims in bold are the point of their figure: its direction holds when all of\n\
         them do. All times are virtual.\n\n",
    );
    let count = figures.len();
    let _ = writeln!(text, "**The direction of {holding} of {count} figures holds.**\n");
    text.push_str("| Experiment | Figure | Ratio | Published | Simulated | Direction |\n");
    text.push_str("|---|---|---|---:|---:|---|\n");
    figures.iter().for_each(|it| summarise(&mut text, it));
    figures.iter().for_each(|it| tell(&mut text, it, charts));
    text
}

/// A line for a figure: the main claim that does not hold, else the first with a number, else the first.
fn summarise(text: &mut String, figure: &Figure) {
    let it = &figure.experiment;
    let main = || figure.findings.iter().filter(|it| it.claim.main);
    let wrong = main().find(|it| !it.holds);
    let with_number = || main().find(|it| it.claim.published.is_some());
    let Some(shown) = wrong.or_else(with_number).or_else(|| main().next()) else { return };
    let far = size(shown).is_some_and(|it| !(1.0 / FAR..FAR).contains(&it));
    let verdict = match (figure.holds(), far) {
        (false, _) => "**does not hold**",
        (true, true) => "holds, by another size",
        (true, false) => "holds",
    };
    let (published, ratio) = (published(shown), ratio(shown.ratio));
    let (name, what, says) = (&it.name, &it.figure, &shown.claim.says);
    let _ = writeln!(
        text,
        "| [{name}](#{name}) | {what} | {says} | {published} | {ratio} | {verdict} |"
    );
}

fn tell(text: &mut String, figure: &Figure, charts: Option<&str>) {
    let it = &figure.experiment;
    let _ = writeln!(text, "\n## {}\n\n{}: {}.", it.name, it.figure, it.title);
    if !it.changed.is_empty() {
        let _ = writeln!(text, "Changed against the paper: {}.", it.changed.join(", "));
    }
    text.push_str(
        "\n| Claim | Measure | Published | Simulated | Of published | Direction | Source |\n",
    );
    text.push_str("|---|---|---:|---:|---:|---|---|\n");
    for finding in &figure.findings {
        let claim = &finding.claim;
        let says = if claim.main { format!("**{}**", claim.says) } else { claim.says.clone() };
        let (published, ratio) = (published(finding), ratio(finding.ratio));
        let (measure, source, verdict) = (&claim.measure, &claim.source, verdict(finding));
        let share = size(finding).map_or(String::new(), |it| format!("{it:.2}"));
        let _ = writeln!(
            text,
            "| {says} | {measure} | {published} | {ratio} | {share} | {verdict} | {source} |"
        );
    }
    for finding in figure.findings.iter().filter(|it| !it.claim.why.is_empty()) {
        let _ = writeln!(text, "\n*{}*: {}", finding.claim.says, finding.claim.why);
    }
    for note in &it.notes {
        let _ = writeln!(text, "\n{note}");
    }
    if let Some(folder) = charts {
        let _ = writeln!(text, "\n![{}]({folder}/{}.svg)", it.title, it.name);
    }
    it.show.iter().take(TABLES).for_each(|measure| table(text, figure, measure));
}

/// Simulated over published, where that is a number.
fn size(finding: &Finding) -> Option<f64> {
    finding.claim.published.map(|(low, high)| 2.0 * finding.ratio / (low + high))
}

fn table(text: &mut String, figure: &Figure, measure: &str) {
    let it = &figure.experiment;
    let (unit, meaning) = describe(measure);
    let _ = writeln!(text, "\n{measure}, simulated, {unit} ({meaning}):\n");
    let _ = writeln!(text, "| {} | {} |", it.axis, it.series.join(" | "));
    let _ = writeln!(text, "|---{}|", "|---:".repeat(it.series.len()));
    for (point, name) in it.points.iter().enumerate() {
        let value = |series| number(figure.value(series, point, measure));
        let values: Vec<String> = (0..it.series.len()).map(value).collect();
        let _ = writeln!(text, "| {name} | {} |", values.join(" | "));
    }
}
