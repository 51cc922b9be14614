//! The picture as a file that any browser shows, on light and on dark pages.

use std::fmt::{self, Write};

use nodewise::picture::{ColumnPicture, NodePicture, TablePicture};
use stdx::Bytes;
use stdx::sync::Arc;
use stdx::xml::escaped;

use super::{summary, totals};

/// Colours of nodes, of about equal lightness, apart on white and on black.
const COLOURS: [&str; 8] =
    ["#4c8df5", "#ef8e3b", "#2bb091", "#b36fdc", "#e2587c", "#93a838", "#35b2d4", "#bd8a5e"];

const STYLE: &str = "\
.card{fill:#ffffff;stroke:#d8dee6}.ink{fill:#1c2430}.soft{fill:#66727f}.rule{stroke:#e3e8ee}.track{fill:#eef1f5}\
@media (prefers-color-scheme:dark){.card{fill:#12171e;stroke:#2a323d}.ink{fill:#e7ecf2}.soft{fill:#93a0ae}\
.rule{stroke:#262e38}.track{fill:#1d242d}}\
text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;font-size:12px}\
.title{font-size:20px;font-weight:650}.name{font-size:13px}.head{font-size:13px;font-weight:600}\
.small{font-size:11px}.right{text-anchor:end}";

const MARGIN: f64 = 28.0;
const ROW: f64 = 28.0;
const HEAD: f64 = 132.0;
const FOOT: f64 = 52.0;
/// From one line of the legend to the next.
const FOOT_LINE: f64 = 18.0;
/// What the legend needs to stand on one line.
const FOOT_WIDTH: f64 = 900.0;
const SIZE: f64 = 84.0;
const STRIP: f64 = 216.0;
const GAP: f64 = 18.0;
const BAR: f64 = 12.0;

/// The lengths that follow from what is drawn.
struct Layout {
    name: f64,
    /// Width of a node's panel without the gap.
    panel: f64,
    /// Whether sizes stand behind bars.
    sizes: bool,
    width: f64,
    height: f64,
}

impl Layout {
    fn of(picture: &TablePicture) -> Self {
        let longest = picture.columns.iter().map(|it| it.name.chars().count()).max().unwrap_or(6);
        let name = (longest as f64 * 7.6 + 12.0).clamp(90.0, 260.0);
        let nodes = picture.nodes.len() as f64;
        let (panel, sizes) = match picture.nodes.len() {
            0..=4 => (168.0, true),
            5..=8 => (136.0, true),
            9..=16 => (72.0, false),
            _ => (54.0, false),
        };
        let width = MARGIN * 2.0 + name + SIZE + GAP + STRIP + nodes * (panel + GAP);
        let lines = if width < FOOT_WIDTH { 2.0 } else { 1.0 };
        let height = HEAD + ROW * picture.columns.len() as f64 + FOOT + (lines - 1.0) * FOOT_LINE;
        Self { name, panel, sizes, width, height }
    }

    fn strip(&self) -> f64 {
        MARGIN + self.name + SIZE + GAP
    }

    fn panel(&self, node: usize) -> f64 {
        self.strip() + STRIP + GAP + node as f64 * (self.panel + GAP)
    }

    /// How long a full bar is.
    fn bar(&self) -> f64 {
        if self.sizes { self.panel - 62.0 } else { self.panel }
    }
}

/// Draws a table.
pub fn svg(picture: &TablePicture) -> String {
    let mut text = String::new();
    // Writing to a text cannot fail.
    let _ = write_svg(&mut text, picture);
    text
}

fn write_svg(out: &mut String, picture: &TablePicture) -> fmt::Result {
    let layout = Layout::of(picture);
    let (width, height) = (layout.width, layout.height);
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\">"
    )?;
    writeln!(
        out,
        "<title>Placement of {}</title>\n<style>{STYLE}</style>",
        escaped(&picture.table)
    )?;
    patterns(out, picture)?;
    writeln!(
        out,
        "<rect class=\"card\" x=\"0.5\" y=\"0.5\" width=\"{:.0}\" height=\"{:.0}\" rx=\"12\"/>",
        width - 1.0,
        height - 1.0
    )?;
    label(out, "ink title", MARGIN, 42.0, &picture.table)?;
    label(out, "soft", MARGIN, 63.0, &summary(picture))?;
    head(out, picture, &layout)?;
    for (index, column) in picture.columns.iter().enumerate() {
        let y = HEAD + index as f64 * ROW;
        row(out, picture, column, &layout, y)?;
    }
    foot(out, &layout)?;
    writeln!(out, "</svg>")
}

/// Stripes for pages that are dealt round nodes, one pattern for each set of nodes.
fn patterns(out: &mut String, picture: &TablePicture) -> fmt::Result {
    let mut seen: Vec<String> = Vec::new();
    writeln!(out, "<defs>")?;
    for stretch in picture.columns.iter().flat_map(|it| &it.stretches) {
        let name = pattern(stretch.nodes.iter().map(|it| it.0));
        if stretch.nodes.len() < 2 || seen.contains(&name) {
            continue;
        }
        let stripe = 4;
        let whole = stripe * stretch.nodes.len();
        write!(
            out,
            "<pattern id=\"{name}\" width=\"{whole}\" height=\"8\" patternUnits=\"userSpaceOnUse\" \
             patternTransform=\"skewX(-20)\">"
        )?;
        for (index, node) in stretch.nodes.iter().enumerate() {
            let (x, fill) = (index * stripe, colour(usize::from(node.0)));
            write!(out, "<rect x=\"{x}\" width=\"{stripe}\" height=\"8\" fill=\"{fill}\"/>")?;
        }
        writeln!(out, "</pattern>")?;
        seen.push(name);
    }
    writeln!(out, "</defs>")
}

fn pattern(nodes: impl Iterator<Item = u16>) -> String {
    nodes.fold("nodes".to_owned(), |name, node| format!("{name}-{node}"))
}

fn head(out: &mut String, picture: &TablePicture, layout: &Layout) -> fmt::Result {
    label(out, "soft small", MARGIN, HEAD - 16.0, "column")?;
    label(out, "soft small right", MARGIN + layout.name + SIZE, HEAD - 16.0, "bytes")?;
    label(out, "soft small", layout.strip(), HEAD - 16.0, "rows, from the first to the last")?;
    let all: Vec<u64> = totals(picture);
    for (index, (node, bytes)) in picture.nodes.iter().zip(all).enumerate() {
        let x = layout.panel(index);
        let y = HEAD - 54.0;
        let fill = colour(usize::from(node.node.0));
        writeln!(
            out,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"5\" fill=\"{fill}\"/>",
            x + 5.0,
            y - 4.0
        )?;
        let name =
            if !layout.sizes { node.node.to_string() } else { format!("node {}", node.node) };
        label(out, "ink head", x + 16.0, y, &name)?;
        if layout.sizes {
            label(out, "soft small", x, y + 18.0, &what(node))?;
        }
        let size = if bytes == 0 { "-".to_owned() } else { Bytes(bytes).to_string() };
        label(out, if layout.sizes { "ink small" } else { "soft small" }, x, HEAD - 16.0, &size)?;
    }
    rule(out, HEAD - 6.0, layout)
}

fn what(node: &NodePicture) -> String {
    match node.cpus {
        0 => "memory alone".to_owned(),
        cpus => format!("socket {}, {cpus} CPU{}", node.socket, if cpus == 1 { "" } else { "s" }),
    }
}

fn row(
    out: &mut String,
    picture: &TablePicture,
    column: &ColumnPicture,
    layout: &Layout,
    y: f64,
) -> fmt::Result {
    let base = y + 18.5;
    label(out, "ink name", MARGIN, base, &column.name)?;
    label(out, "soft right", MARGIN + layout.name + SIZE, base, &Bytes(column.bytes).to_string())?;
    strip(out, column, layout.strip(), y + 7.0)?;
    for (index, (node, share)) in picture.nodes.iter().zip(&column.shares).enumerate() {
        let (x, top) = (layout.panel(index), y + 8.0);
        let fill = colour(usize::from(node.node.0));
        bar(out, "class=\"track\"", x, top, layout.bar())?;
        let length = |bytes: u64| layout.bar() * bytes as f64 / column.bytes.max(1) as f64;
        let mut at = 0;
        for (bytes, opacity) in [(share.rows, 1.0), (share.lookup, 0.6), (share.copies, 0.32)] {
            if bytes > 0 {
                let paint = format!("fill=\"{fill}\" fill-opacity=\"{opacity}\"");
                bar(out, &paint, x + length(at), top, length(bytes).max(1.5))?;
            }
            at += bytes;
        }
        if layout.sizes && share.total() > 0 {
            let size = Bytes(share.total()).to_string();
            label(out, "soft small", x + layout.bar() + 8.0, base, &size)?;
        }
    }
    rule(out, y + ROW - 0.5, layout)
}

/// The nodes of the rows from the first to the last, with a gap between parts.
fn strip(out: &mut String, column: &ColumnPicture, x: f64, y: f64) -> fmt::Result {
    let pages: usize = column.stretches.iter().map(|it| it.pages).sum();
    let parts = column.stretches.last().map_or(0, |it| it.part);
    let gap = if parts > 0 { (STRIP / (parts as f64 * 8.0)).min(2.0) } else { 0.0 };
    let scale = (STRIP - gap * parts as f64) / pages.max(1) as f64;
    if pages == 0 {
        return bar(out, "class=\"track\"", x, y + 1.0, STRIP);
    }
    let mut at = x;
    let mut part = column.stretches[0].part;
    for stretch in &column.stretches {
        at += gap * (stretch.part - part) as f64;
        part = stretch.part;
        let length = stretch.pages as f64 * scale;
        let fill = match stretch.nodes.as_slice() {
            [node] => colour(usize::from(node.0)),
            nodes => Arc::from(format!("url(#{})", pattern(nodes.iter().map(|it| it.0)))),
        };
        writeln!(
            out,
            "<rect x=\"{at:.2}\" y=\"{y:.1}\" width=\"{length:.2}\" height=\"14\" fill=\"{fill}\"/>"
        )?;
        at += length;
    }
    Ok(())
}

fn foot(out: &mut String, layout: &Layout) -> fmt::Result {
    let wraps = layout.width < FOOT_WIDTH;
    let y = layout.height - 20.0 - if wraps { FOOT_LINE } else { 0.0 };
    let mut x = MARGIN;
    let signs = [
        (1.0, "rows: codes and texts", 164.0),
        (0.6, "dictionary, index, zone map", 200.0),
        (0.32, "copies", 80.0),
    ];
    for (opacity, text, width) in signs {
        let paint = format!("fill=\"{}\" fill-opacity=\"{opacity}\"", COLOURS[0]);
        bar(out, &paint, x, y - 10.0, 18.0)?;
        label(out, "soft small", x + 25.0, y, text)?;
        x += width;
    }
    let (x, y) = if wraps { (MARGIN, y + FOOT_LINE) } else { (x, y) };
    label(
        out,
        "soft small",
        x,
        y,
        "a full bar is the whole column; stripes are pages dealt round nodes",
    )
}

fn bar(out: &mut String, paint: &str, x: f64, y: f64, length: f64) -> fmt::Result {
    writeln!(
        out,
        "<rect x=\"{x:.2}\" y=\"{y:.1}\" width=\"{length:.2}\" height=\"{BAR}\" rx=\"2\" {paint}/>"
    )
}

fn rule(out: &mut String, y: f64, layout: &Layout) -> fmt::Result {
    let end = layout.width - MARGIN;
    writeln!(
        out,
        "<line class=\"rule\" x1=\"{MARGIN}\" x2=\"{end:.0}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>"
    )
}

fn label(out: &mut String, class: &str, x: f64, y: f64, text: &str) -> fmt::Result {
    writeln!(out, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escaped(text))
}

/// A colour for a node: from the palette, then by turning the wheel.
fn colour(node: usize) -> Arc<str> {
    match COLOURS.get(node) {
        Some(it) => Arc::from(*it),
        None => Arc::from(format!("hsl({},52%,55%)", node * 137 % 360)),
    }
}
