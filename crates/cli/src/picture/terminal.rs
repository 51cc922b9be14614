//! The picture in characters.

use std::fmt::Write;

use nodewise::picture::{ColumnPicture, Share, Stretch, TablePicture};
use stdx::Bytes;

use super::{summary, totals};

/// How a terminal wants it.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Characters in a line.
    pub width: usize,
    /// Whether there are colours.
    pub colours: bool,
    /// Whether there are characters beyond ASCII.
    pub unicode: bool,
}

/// A name longer than this is cut.
const NAME_MAX: usize = 18;
/// The widest size, `1023.9 MiB`.
const SIZE: usize = 10;
/// A cell from this width on has room for a size behind its bar.
const CELL_WITH_SIZE: usize = SIZE + 5;
const CELL_MAX: usize = 26;
/// Characters that show where rows are.
const STRIP: usize = 16;
/// Colours of nodes in the palette of 256, apart from each other on black and on white.
const COLOURS: [u8; 8] = [33, 208, 36, 134, 168, 106, 44, 137];

/// Draws a table: a line per column, a cell per node.
pub fn draw(picture: &TablePicture, style: &Style) -> String {
    let pen = Pen { style: *style, nodes: picture.nodes.len() };
    let longest = picture.columns.iter().map(|it| it.name.chars().count()).max().unwrap_or(0);
    let name = longest.clamp(6, NAME_MAX);
    let fixed = name + 1 + SIZE + 2 + STRIP;
    let free = style.width.saturating_sub(fixed + picture.nodes.len() * 2);
    let cell = (free / picture.nodes.len().max(1)).clamp(1, CELL_MAX);
    let mut text = format!("{}: {}\n\n", picture.table, summary(picture));
    text += &pen.head(picture, name, cell);
    for column in &picture.columns {
        let size = Bytes(column.bytes).to_string();
        let _ = write!(text, "{} {size:>SIZE$}  ", cut(&column.name, name));
        text += &pen.strip(column);
        for (node, share) in column.shares.iter().enumerate() {
            text += "  ";
            text += &pen.cell(node, share, column.bytes, cell);
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text += &pen.foot(picture, name, cell);
    text
}

/// Draws pieces in a style.
struct Pen {
    style: Style,
    nodes: usize,
}

impl Pen {
    fn head(&self, picture: &TablePicture, name: usize, cell: usize) -> String {
        let mut text = format!("{} {:>SIZE$}  {:STRIP$}", cut("column", name), "bytes", "rows");
        text.truncate(name + 1 + SIZE + 2 + STRIP);
        for (index, node) in picture.nodes.iter().enumerate() {
            let label = match cell {
                0..3 => node.node.to_string(),
                3..8 => format!("n{}", node.node),
                _ => format!("node {}", node.node),
            };
            text += "  ";
            text += &self.coloured(index, &cut(&label, cell));
        }
        text.truncate(text.trim_end().len());
        text + "\n"
    }

    fn foot(&self, picture: &TablePicture, name: usize, cell: usize) -> String {
        let mut text = String::new();
        if cell >= SIZE {
            let size = Bytes(picture.bytes).to_string();
            let _ = write!(text, "{} {size:>SIZE$}  {:STRIP$}", cut("all", name), "");
            for bytes in totals(picture) {
                let size = if bytes == 0 { "-".into() } else { Bytes(bytes).to_string() };
                let _ = write!(text, "  {size:<cell$}");
            }
            text.truncate(text.trim_end().len());
            text.push('\n');
        }
        let [rows, lookup, copies] = self.signs();
        let _ = writeln!(
            text,
            "\nA full bar is the whole column: {rows} codes and texts of rows, {lookup} dictionary, index and zone map, \
             {copies} copies.\nRows: the node of each stretch from the first row to the last, * for pages dealt round \
             several nodes."
        );
        text
    }

    /// The signs of rows, of what rows are looked up in, and of copies.
    fn signs(&self) -> [char; 3] {
        if self.style.unicode { ['\u{2588}', '\u{2592}', '\u{2591}'] } else { ['#', '+', '.'] }
    }

    /// What a node holds of a column: a full bar is all of the column; the bytes as a number where there is room.
    fn cell(&self, node: usize, share: &Share, all: u64, width: usize) -> String {
        if width < 5 {
            return self.shade(node, share, all, width);
        }
        let with_size = width >= CELL_WITH_SIZE;
        let bar_max = if with_size { width - SIZE - 1 } else { width };
        // Rounded up, so that what is there is seen.
        let length = |bytes: u64| {
            (bytes as u128 * bar_max as u128).div_ceil(u128::from(all.max(1))) as usize
        };
        let ends = [share.rows, share.rows + share.lookup, share.total()].map(length);
        let mut bar = String::new();
        let mut at = 0;
        for (sign, end) in self.signs().into_iter().zip(ends) {
            (at..end.min(bar_max)).for_each(|_| bar.push(sign));
            at = at.max(end);
        }
        let drawn = bar.chars().count();
        let mut text = self.coloured(node, &bar);
        (drawn..bar_max).for_each(|_| text.push(' '));
        if with_size {
            let total = share.total();
            let size = if total == 0 { "-".to_owned() } else { Bytes(total).to_string() };
            let _ = write!(text, " {size:<SIZE$}");
        }
        text
    }

    /// Where there is no room for a bar, a shade tells how much.
    fn shade(&self, node: usize, share: &Share, all: u64, width: usize) -> String {
        let signs: [char; 5] = if self.style.unicode {
            [' ', '\u{2591}', '\u{2592}', '\u{2593}', '\u{2588}']
        } else {
            [' ', '.', ':', '+', '#']
        };
        let shade = (share.total() as u128 * 4).div_ceil(u128::from(all.max(1))) as usize;
        let text: String = (0..width).map(|_| signs[shade.min(4)]).collect();
        self.coloured(node, &text)
    }

    /// The nodes of the rows from the first to the last.
    fn strip(&self, column: &ColumnPicture) -> String {
        let pages: usize = column.stretches.iter().map(|it| it.pages).sum();
        let mut text = String::new();
        for at in 0..STRIP {
            match stretch_at(&column.stretches, at * pages / STRIP) {
                None => text.push(' '),
                Some(Stretch { nodes, .. }) => match nodes.as_slice() {
                    // Numbers above 9 continue with letters, as in hexadecimal.
                    [node] => {
                        let digit = char::from_digit(u32::from(node.0) % 36, 36).unwrap_or('?');
                        text += &self.coloured(usize::from(node.0), &digit.to_string());
                    }
                    _ => text.push('*'),
                },
            }
        }
        text
    }

    fn coloured(&self, node: usize, text: &str) -> String {
        if !self.style.colours || self.nodes < 2 || text.trim().is_empty() {
            return text.to_owned();
        }
        format!("\u{1b}[38;5;{}m{text}\u{1b}[0m", COLOURS[node % COLOURS.len()])
    }
}

fn stretch_at(stretches: &[Stretch], page: usize) -> Option<&Stretch> {
    let mut end = 0;
    stretches.iter().find(|it| {
        end += it.pages;
        page < end
    })
}

/// A text of exactly so many characters.
fn cut(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return format!("{text:width$}");
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    if width < 3 { text.chars().take(width).collect() } else { format!("{kept}~") }
}
