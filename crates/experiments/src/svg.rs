//! A figure as an SVG chart: a line per series over the points.

use std::fmt::Write;

use stdx::xml::escaped;

use crate::figure::Figure;
use crate::text::number;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 420.0;
/// Left, top, right and bottom of the plot.
const PLOT: (f64, f64, f64, f64) = (90.0, 50.0, 590.0, 360.0);
pub(crate) const COLOURS: [&str; 7] =
    ["#1f6fb4", "#d9622b", "#2f9e5f", "#8a4fb0", "#a08a1c", "#c23a6b", "#5b6770"];

/// The chart of the first measure shown.
pub fn chart(figure: &Figure) -> String {
    let it = &figure.experiment;
    let measure = &it.show[0];
    let unit = crate::outcome::MEASURES.iter().find(|it| it.0 == measure).map_or("", |it| it.1);
    let values = figure.outcomes.iter().flatten().filter_map(|it| it.get(measure));
    let top = ceiling(values.fold(0.0, f64::max));
    let (left, upper, right, lower) = PLOT;
    let x = |point: usize| {
        let steps = (it.points.len() - 1).max(1) as f64;
        left + 20.0 + (right - left - 40.0) * point as f64 / steps
    };
    let y = |value: f64| lower - (lower - upper) * value / top;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n\
         <text x=\"{left}\" y=\"22\" font-size=\"15\">{}</text>\n\
         <text x=\"{left}\" y=\"39\" fill=\"#666\">{}: {measure} in {unit}, simulated</text>\n",
        escaped(&it.title),
        escaped(&it.figure),
    );
    for step in 0..=4 {
        let value = top * f64::from(step) / 4.0;
        let at = y(value);
        let _ = writeln!(
            svg,
            "<line x1=\"{left}\" y1=\"{at:.1}\" x2=\"{right}\" y2=\"{at:.1}\" stroke=\"#ddd\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            left - 8.0,
            at + 4.0,
            number(value)
        );
    }
    for (point, name) in it.points.iter().enumerate() {
        let (at, below) = (x(point), lower + 18.0);
        let name = escaped(name);
        let _ =
            writeln!(svg, "<text x=\"{at:.1}\" y=\"{below}\" text-anchor=\"middle\">{name}</text>");
    }
    let (middle, below) = ((left + right) / 2.0, lower + 40.0);
    let axis = escaped(&it.axis);
    let _ =
        writeln!(svg, "<text x=\"{middle}\" y=\"{below}\" text-anchor=\"middle\">{axis}</text>");
    for (series, name) in it.series.iter().enumerate() {
        let colour = COLOURS[series % COLOURS.len()];
        let points: Vec<(f64, f64)> = (0..it.points.len())
            .map(|point| (x(point), y(figure.value(series, point, measure))))
            .collect();
        let line: Vec<String> =
            points.iter().map(|it| format!("{:.1},{:.1}", it.0, it.1)).collect();
        let line = line.join(" ");
        let _ = writeln!(
            svg,
            "<polyline points=\"{line}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>"
        );
        for (cx, cy) in points {
            let _ =
                writeln!(svg, "<circle cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"3\" fill=\"{colour}\"/>");
        }
        legend(&mut svg, series, name, colour);
    }
    svg.push_str("</svg>\n");
    svg
}

/// The name of a series beside the plot.
pub(crate) fn legend(svg: &mut String, series: usize, name: &str, colour: &str) {
    let (_, upper, right, _) = PLOT;
    let at = upper + 10.0 + 18.0 * series as f64;
    let _ = writeln!(
        svg,
        "<rect x=\"{}\" y=\"{}\" width=\"12\" height=\"4\" fill=\"{colour}\"/>\
         <text x=\"{}\" y=\"{}\">{}</text>",
        right + 14.0,
        at - 6.0,
        right + 32.0,
        at,
        escaped(name)
    );
}

/// A round number not below `value`.
pub(crate) fn ceiling(value: f64) -> f64 {
    if value <= 0.0 {
        return 1.0;
    }
    let unit = 10_f64.powf(value.log10().floor());
    [1.0, 1.2, 1.6, 2.0, 2.4, 3.2, 4.0, 5.0, 6.0, 8.0, 10.0]
        .into_iter()
        .map(|it| it * unit)
        .find(|it| *it >= value)
        .unwrap_or(10.0 * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_at_round_numbers() {
        assert_eq!(
            [0.0, 0.7, 1.0, 1.1, 93.0, 62_249.0].map(ceiling),
            [1.0, 0.8, 1.0, 1.2, 100.0, 80_000.0]
        );
    }
}
