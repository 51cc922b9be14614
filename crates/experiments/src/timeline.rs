//! What the placer made of a load as an SVG chart: statements by second, beside those of placements that lie still, and its acts
//! on the hot column with the nodes that this lay on afterwards.

use std::fmt::Write;

use placer::{Action, Decision};
use stdx::xml::escaped;

use crate::svg::{COLOURS, ceiling, legend};
use crate::text::number;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 420.0;
/// Left, top, right and bottom of the plot.
const PLOT: (f64, f64, f64, f64) = (90.0, 70.0, 590.0, 360.0);

/// A run with the placer, and rates of placements that lie still.
pub struct Timeline<'a> {
    /// What is shown.
    pub title: &'a str,
    /// On which machine, under which load.
    pub setting: &'a str,
    /// Statements that ended in each second.
    pub per_second: &'a [u64],
    /// The placer's acts on the hot column.
    pub acts: &'a [Decision],
    /// Placements that lie still, and statements a second under them.
    pub still: &'a [(&'a str, f64)],
}

impl Timeline<'_> {
    /// The chart.
    pub fn svg(&self) -> String {
        let (left, upper, right, lower) = PLOT;
        let seconds = self.per_second.len().max(1) as f64;
        let rates = self.per_second.iter().map(|it| *it as f64);
        let top = ceiling(rates.chain(self.still.iter().map(|it| it.1)).fold(0.0, f64::max));
        let x = |second: f64| left + (right - left) * second / seconds;
        let y = |rate: f64| lower - (lower - upper) * rate / top;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             font-family=\"sans-serif\" font-size=\"12\">\n\
             <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n\
             <text x=\"{left}\" y=\"22\" font-size=\"15\">{}</text>\n\
             <text x=\"{left}\" y=\"39\" fill=\"#666\">{}: statements a second, simulated</text>\n",
            escaped(self.title),
            escaped(self.setting),
        );
        for step in 0..=4 {
            let value = top * f64::from(step) / 4.0;
            let (at, end) = (y(value), left - 8.0);
            let _ = writeln!(
                svg,
                "<line x1=\"{left}\" y1=\"{at:.1}\" x2=\"{right}\" y2=\"{at:.1}\" stroke=\"#ddd\"/>\
                 <text x=\"{end}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                at + 4.0,
                number(value)
            );
        }
        for second in (0..=self.per_second.len()).step_by(10) {
            let (at, below) = (x(second as f64), lower + 18.0);
            let _ = writeln!(
                svg,
                "<text x=\"{at:.1}\" y=\"{below}\" text-anchor=\"middle\">{second} s</text>"
            );
        }
        self.still.iter().enumerate().for_each(|(place, it)| still(&mut svg, place, it, &y));
        let point = |(second, rate): (usize, &u64)| {
            format!("{:.1},{:.1}", x(second as f64 + 0.5), y(*rate as f64))
        };
        let line: Vec<String> = self.per_second.iter().enumerate().map(point).collect();
        let (line, colour) = (line.join(" "), COLOURS[0]);
        let _ = writeln!(
            svg,
            "<polyline points=\"{line}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>"
        );
        legend(&mut svg, 0, "with the placer", colour);
        self.acts.iter().enumerate().for_each(|(place, it)| act(&mut svg, place, it, &x));
        svg.push_str("</svg>\n");
        svg
    }
}

/// The rate under a placement that lies still.
fn still(svg: &mut String, place: usize, (name, rate): &(&str, f64), y: &dyn Fn(f64) -> f64) {
    let (left, _, right, _) = PLOT;
    let (at, colour) = (y(*rate), COLOURS[(place + 1) % COLOURS.len()]);
    let _ = writeln!(
        svg,
        "<line x1=\"{left}\" y1=\"{at:.1}\" x2=\"{right}\" y2=\"{at:.1}\" stroke=\"{colour}\" \
         stroke-dasharray=\"5 4\"/>"
    );
    legend(svg, place + 1, &format!("{name}: {}", number(*rate)), colour);
}

/// The mark of an act: when it was decided, what, and the nodes afterwards. Marks stand beside each other.
fn act(svg: &mut String, place: usize, decision: &Decision, x: &dyn Fn(f64) -> f64) {
    let (_, upper, right, lower) = PLOT;
    let at = x(decision.at.0 as f64 / 1e9);
    let nodes: Vec<String> = decision.to.iter().map(|it| it.0.to_string()).collect();
    let what = match decision.action {
        Action::Replicate => format!("copies on nodes {}", nodes.join(" ")),
        action => format!("{}: nodes {}", action.name(), nodes.join(" ")),
    };
    let number = place + 1;
    let (legend_x, legend_y) = (right + 14.0, upper + 110.0 + 18.0 * place as f64);
    let _ = writeln!(
        svg,
        "<line x1=\"{at:.1}\" y1=\"{upper}\" x2=\"{at:.1}\" y2=\"{lower}\" stroke=\"#999\" \
         stroke-dasharray=\"2 3\"/>\
         <text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#444\">{number}</text>\
         <text x=\"{legend_x}\" y=\"{legend_y}\" fill=\"#444\">{number} {}</text>",
        upper - 6.0,
        escaped(&what)
    );
}
