//! Tables in a box. Widths are measured in a first pass, rows written in a second, so nothing is kept of either.

use std::borrow::Cow;
use std::io::{self, Write};

/// What a table is drawn with.
pub struct Frame {
    horizontal: &'static str,
    vertical: &'static str,
    /// The left end, the crossings and the right end of the lines above, below the names, and below the rows.
    lines: [[&'static str; 3]; 3],
}

/// Lines of a terminal.
pub static LINES: Frame = Frame {
    horizontal: "\u{2500}",
    vertical: "\u{2502}",
    lines: [
        ["\u{250c}", "\u{252c}", "\u{2510}"],
        ["\u{251c}", "\u{253c}", "\u{2524}"],
        ["\u{2514}", "\u{2534}", "\u{2518}"],
    ],
};

/// Letters that look like lines.
pub static ASCII: Frame = Frame { horizontal: "-", vertical: "|", lines: [["+", "+", "+"]; 3] };

/// Fainter than other text, and back, for terminals.
const FAINT: [&str; 2] = ["\x1b[2m", "\x1b[22m"];
const ELLIPSIS: &str = "\u{2026}";

/// A column is not made narrower than this before others are left out.
const WIDTH_MIN: usize = 12;

/// A table in the making.
pub struct BoxTable {
    frame: &'static Frame,
    columns: Vec<Column>,
    /// The columns in the box; `None` stands for those that are left out.
    shown: Vec<Option<usize>>,
}

struct Column {
    name: String,
    /// Numbers stand to the right.
    right: bool,
    width: usize,
}

impl BoxTable {
    /// A table with named columns, and whether they stand to the right.
    pub fn new<'a>(columns: impl Iterator<Item = (&'a str, bool)>) -> Self {
        let columns: Vec<Column> = columns
            .map(|(name, right)| {
                let name = printable(name).into_owned();
                Column { width: width_of(&name).max(1), name, right }
            })
            .collect();
        let shown = (0..columns.len()).map(Some).collect();
        Self { frame: &LINES, columns, shown }
    }

    /// The same table drawn with something else.
    pub fn framed(self, frame: &'static Frame) -> Self {
        Self { frame, ..self }
    }

    /// Makes columns wide enough for a row.
    pub fn measure(&mut self, cells: &[impl AsRef<str>]) {
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.width = column.width.max(width_of(&printable(cell.as_ref())));
        }
    }

    /// Makes the table no wider than a terminal: narrows wide columns, then leaves columns in the middle out.
    pub fn fit(&mut self, width: usize) {
        while self.width() > width {
            let excess = self.width() - width;
            let Some(widest) = self.columns.iter_mut().max_by_key(|it| it.width) else { return };
            if widest.width <= WIDTH_MIN {
                break;
            }
            widest.width = (widest.width - excess.min(8)).max(WIDTH_MIN);
        }
        while self.width() > width && self.shown.iter().flatten().count() > 2 {
            match self.shown.iter().position(Option::is_none) {
                None => self.shown[self.columns.len() / 2] = None,
                // The longer side gives, so that the gap stays in the middle.
                Some(gap) if gap > self.shown.len() / 2 => drop(self.shown.remove(gap - 1)),
                Some(gap) => drop(self.shown.remove(gap + 1)),
            }
        }
    }

    /// How many columns are shown, when not all are.
    pub fn columns_shown(&self) -> Option<usize> {
        self.shown.contains(&None).then(|| self.shown.iter().flatten().count())
    }

    fn width(&self) -> usize {
        1 + self.shown.iter().map(|&it| self.width_at(it) + 3).sum::<usize>()
    }

    fn width_at(&self, at: Option<usize>) -> usize {
        at.map_or(1, |it| self.columns[it].width)
    }

    /// Writes what stands above rows without names.
    pub fn write_top(&self, out: &mut dyn Write) -> io::Result<()> {
        self.write_line(out, 0)
    }

    /// Writes what stands above the rows.
    pub fn write_head(&self, out: &mut dyn Write) -> io::Result<()> {
        self.write_top(out)?;
        let names: Vec<&str> = self.columns.iter().map(|it| it.name.as_str()).collect();
        self.write_row(out, &names)?;
        self.write_line(out, 1)
    }

    /// Writes a row.
    pub fn write_row(&self, out: &mut dyn Write, cells: &[impl AsRef<str>]) -> io::Result<()> {
        self.write_row_with(out, cells, |_| false)
    }

    /// Writes a row in which some cells are fainter than others.
    pub fn write_row_with(
        &self,
        out: &mut dyn Write,
        cells: &[impl AsRef<str>],
        is_faint: impl Fn(usize) -> bool,
    ) -> io::Result<()> {
        let vertical = self.frame.vertical;
        for &at in &self.shown {
            let width = self.width_at(at);
            let (text, right) = match at {
                Some(at) => (printable(cells[at].as_ref()), self.columns[at].right),
                None => (Cow::Borrowed(ELLIPSIS), false),
            };
            let text = cut(&text, width);
            let blank = width - width_of(&text);
            let (before, after) = if right { (blank, 0) } else { (0, blank) };
            let [on, off] = if at.is_some_and(&is_faint) { FAINT } else { [""; 2] };
            write!(out, "{vertical} {:before$}{on}{text}{off}{:after$} ", "", "")?;
        }
        writeln!(out, "{vertical}")
    }

    /// Writes what stands below the rows.
    pub fn write_foot(&self, out: &mut dyn Write) -> io::Result<()> {
        self.write_line(out, 2)
    }

    /// One of the three lines of the frame.
    fn write_line(&self, out: &mut dyn Write, line: usize) -> io::Result<()> {
        let [left, cross, right] = self.frame.lines[line];
        for (index, &at) in self.shown.iter().enumerate() {
            let corner = if index == 0 { left } else { cross };
            write!(out, "{corner}{}", self.frame.horizontal.repeat(self.width_at(at) + 2))?;
        }
        writeln!(out, "{right}")
    }
}

/// Line feeds and the like would break the box, and could command the terminal.
fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(char::is_control) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        if letter.is_control() {
            out.extend(letter.escape_default());
        } else {
            out.push(letter);
        }
    }
    Cow::Owned(out)
}

fn cut(text: &str, width: usize) -> Cow<'_, str> {
    if width_of(text) <= width {
        return Cow::Borrowed(text);
    }
    let mut used = 0;
    let mut out = String::new();
    for letter in text.chars() {
        used += letter_width(letter);
        if used + 1 > width {
            break;
        }
        out.push(letter);
    }
    out.push_str(ELLIPSIS);
    Cow::Owned(out)
}

/// Terminal columns of a text.
pub fn width_of(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().map(letter_width).sum() }
}

/// Terminal columns of a letter, near enough: accents take none, East Asian letters and pictures two.
fn letter_width(letter: char) -> usize {
    match u32::from(letter) {
        0x0300..=0x036f | 0x200b..=0x200f | 0xfe00..=0xfe0f => 0,
        0x1100..=0x115f
        | 0x2e80..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1f64f
        | 0x1f900..=0x1f9ff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}
