//! Tables in a box. Widths are measured in a first pass, rows written in a second, so nothing is kept of either.

use std::borrow::Cow;
use std::io::{self, Write};

const HORIZONTAL: &str = "\u{2500}";
const VERTICAL: &str = "\u{2502}";
const TOP: [&str; 3] = ["\u{250c}", "\u{252c}", "\u{2510}"];
const MIDDLE: [&str; 3] = ["\u{251c}", "\u{253c}", "\u{2524}"];
const BOTTOM: [&str; 3] = ["\u{2514}", "\u{2534}", "\u{2518}"];
const ELLIPSIS: &str = "\u{2026}";

/// A column is not made narrower than this before others are left out.
const WIDTH_MIN: usize = 12;

/// A table in the making.
pub struct BoxTable {
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
        Self { columns, shown }
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

    /// Writes what stands above the rows.
    pub fn write_head(&self, out: &mut dyn Write) -> io::Result<()> {
        self.write_line(out, TOP)?;
        let names: Vec<&str> = self.columns.iter().map(|it| it.name.as_str()).collect();
        self.write_row(out, &names)?;
        self.write_line(out, MIDDLE)
    }

    /// Writes a row.
    pub fn write_row(&self, out: &mut dyn Write, cells: &[impl AsRef<str>]) -> io::Result<()> {
        for &at in &self.shown {
            let width = self.width_at(at);
            let (text, right) = match at {
                Some(at) => (printable(cells[at].as_ref()), self.columns[at].right),
                None => (Cow::Borrowed(ELLIPSIS), false),
            };
            let text = cut(&text, width);
            let blank = width - width_of(&text);
            let (before, after) = if right { (blank, 0) } else { (0, blank) };
            write!(out, "{VERTICAL} {:before$}{text}{:after$} ", "", "")?;
        }
        writeln!(out, "{VERTICAL}")
    }

    /// Writes what stands below the rows.
    pub fn write_foot(&self, out: &mut dyn Write) -> io::Result<()> {
        self.write_line(out, BOTTOM)
    }

    fn write_line(&self, out: &mut dyn Write, [left, cross, right]: [&str; 3]) -> io::Result<()> {
        for (index, &at) in self.shown.iter().enumerate() {
            let corner = if index == 0 { left } else { cross };
            write!(out, "{corner}{}", HORIZONTAL.repeat(self.width_at(at) + 2))?;
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
pub(crate) fn width_of(text: &str) -> usize {
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
