//! Figures as a report in Markdown: a summary, then each with its claims, its tables, and why it differs where it does.

use std::fmt::Write;

use crate::claim::{Class, Expected};
use crate::experiment::names;
use crate::figure::{Figure, Finding};
use crate::listing::section;
use crate::text::{describe, number, published, ratio};

/// Measures of a figure that the report shows as tables.
const TABLES: usize = 2;

/// The report. With a folder for `charts`, as it is seen from the report, each figure shows the chart of its name there.
pub fn report(figures: &[Figure], charts: Option<&str>) -> String {
    let mut text = String::from("# The papers' experiments on modelled machines\n\n");
    text.push_str(
        "Made by `nodewise simulate all --report docs/experiments.md --svg docs/images`; the same program and seed make the\n\
         same files. Each run is the real scheduler, with the real placement, on a machine that is modelled from data sheets\n\
         and published latency and bandwidth tables alone (see [simulator.md](simulator.md)); what a row costs is stated in\n\
         `crates/experiments/src/costs.rs`. No number was changed to make a figure come out.\n\n\
         *Published* is what the text of the paper says, with its section; nothing was read off a chart. Claims in bold are the\n\
         point of their figure, which comes out when none of them fails. All times are virtual.\n\n",
    );
    count(&mut text, figures);
    let holding = figures.iter().filter(|it| it.holds()).count();
    let _ = writeln!(text, "The point of {holding} of {} figures comes out.\n", figures.len());
    text.push_str("| Experiment | Figure | Ratio | Published | Simulated | Outcome |\n");
    text.push_str("|---|---|---|---:|---:|---|\n");
    figures.iter().for_each(|it| summarise(&mut text, it));
    if figures.len() == names().count() {
        let _ = write!(text, "\n{}", section());
    }
    figures.iter().for_each(|it| tell(&mut text, it, charts));
    text
}

/// How many claims became what: all of them, main or not.
fn count(text: &mut String, figures: &[Figure]) {
    let all = || figures.iter().flat_map(|it| &it.findings);
    let papers = all().filter(|it| !it.claim.ours).count();
    let _ = writeln!(text, "**What became of all {papers} claims:**\n");
    text.push_str("| Outcome | Claims | What it means |\n|---|---:|---|\n");
    for class in Class::ALL {
        let count = all().filter(|it| !it.claim.ours && it.class == class).count();
        let _ = writeln!(text, "| {} | {count} | {} |", class.name(), meaning(class));
    }
    let ours = || all().filter(|it| it.claim.ours);
    let held = ours().filter(|it| it.class != Class::Fails).count();
    let _ = writeln!(
        text,
        "\nNot counted: {} claims about our own adaptive strategy, which no paper has; {held} come out.\n",
        ours().count()
    );
}

fn meaning(class: Class) -> &'static str {
    match class {
        Class::Within10 => {
            "the paper gives a ratio, and it came out within a tenth, above or below"
        }
        Class::Within25 => "within a quarter",
        Class::Direction => {
            "the paper gives no ratio, and what it says came out; or a published change came out at less than half its size"
        }
        Class::Arithmetic => {
            "it came out within a quarter, but follows from what the model was given, so it proves nothing"
        }
        Class::Fails => {
            "another ratio, too large or too small by more than a quarter, or the opposite of what the paper says"
        }
    }
}

/// A line for a figure: the main claim that fails, else the first with a number, else the first.
fn summarise(text: &mut String, figure: &Figure) {
    let it = &figure.experiment;
    let main = || figure.findings.iter().filter(|it| it.claim.main);
    let wrong = main().find(|it| it.class == Class::Fails);
    let with_number = || main().find(|it| matches!(it.claim.expected, Expected::Published(..)));
    let Some(shown) = wrong.or_else(with_number).or_else(|| main().next()) else { return };
    let (published, ratio, outcome) = (published(shown), ratio(shown.ratio), outcome(shown));
    let (name, what, says) = (&it.name, &it.figure, &shown.claim.says);
    let _ = writeln!(
        text,
        "| [{name}](#{name}) | {what} | {says} | {published} | {ratio} | {outcome} |"
    );
}

fn outcome(finding: &Finding) -> String {
    match finding.class {
        Class::Fails => format!("**{}**", Class::Fails.name()),
        class => class.name().to_owned(),
    }
}

fn tell(text: &mut String, figure: &Figure, charts: Option<&str>) {
    let it = &figure.experiment;
    let _ = writeln!(text, "\n## {}\n\n{}: {}.", it.name, it.figure, it.title);
    if !it.changed.is_empty() {
        let _ = writeln!(text, "Changed against the paper: {}.", it.changed.join(", "));
    }
    text.push_str(
        "\n| Claim | Measure | Published | Simulated | Of published | Outcome | Source |\n",
    );
    text.push_str("|---|---|---:|---:|---:|---|---|\n");
    for finding in &figure.findings {
        let claim = &finding.claim;
        let says = if claim.main { format!("**{}**", claim.says) } else { claim.says.clone() };
        let (published, ratio) = (published(finding), ratio(finding.ratio));
        let (measure, source, outcome) = (&claim.measure, &claim.source, outcome(finding));
        let share = size(finding).map_or(String::new(), |it| format!("{it:.2}"));
        let _ = writeln!(
            text,
            "| {says} | {measure} | {published} | {ratio} | {share} | {outcome} | {source} |"
        );
    }
    for finding in figure.findings.iter().filter(|it| !it.claim.arithmetic.is_empty()) {
        let (says, from) = (&finding.claim.says, &finding.claim.arithmetic);
        let _ = writeln!(text, "\n*{says}* follows from what was put in: {from}.");
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
    match finding.claim.expected {
        Expected::Published(low, high) => Some(2.0 * finding.ratio / (low + high)),
        Expected::Direction(..) => None,
    }
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
