//! Tables of Markdown, HTML and LaTeX, to be put into a text.

use std::io::{self, Write};

use nodewise::Answer;

use super::cells::{Cell, for_rows};
use super::look::Look;
use crate::interrupt::Interrupt;

/// A table of Markdown (GitHub's), numbers to the right.
pub fn write_markdown(
    out: &mut dyn Write,
    answer: &Answer,
    look: &Look,
    interrupt: &Interrupt,
) -> io::Result<()> {
    let escaped = |it: &str| it.replace('|', "\\|").replace(['\n', '\r'], " ");
    let names: Vec<String> = names(answer).map(escaped).collect();
    writeln!(out, "| {} |", names.join(" | "))?;
    let rules: Vec<&str> =
        numeric(answer).map(|right| if right { "---:" } else { "---" }).collect();
    writeln!(out, "| {} |", rules.join(" | "))?;
    for_rows(answer, null(look), usize::MAX, interrupt, |row| {
        let cells: Vec<String> = row.iter().map(|it| escaped(&it.text)).collect();
        writeln!(out, "| {} |", cells.join(" | "))
    })
}

/// A table of HTML.
pub fn write_html(
    out: &mut dyn Write,
    answer: &Answer,
    look: &Look,
    interrupt: &Interrupt,
) -> io::Result<()> {
    let escaped = |it: &str| it.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    writeln!(out, "<table>")?;
    if look.headers {
        let names: String = names(answer).map(|it| format!("<th>{}</th>", escaped(it))).collect();
        writeln!(out, "<tr>{names}</tr>")?;
    }
    let right: Vec<bool> = numeric(answer).collect();
    for_rows(answer, null(look), usize::MAX, interrupt, |row| {
        let cell = |(cell, right): (&Cell, &bool)| {
            let style = if *right { " style=\"text-align: right\"" } else { "" };
            format!("<td{style}>{}</td>", escaped(&cell.text))
        };
        let cells: String = row.iter().zip(&right).map(cell).collect();
        writeln!(out, "<tr>{cells}</tr>")
    })?;
    writeln!(out, "</table>")
}

/// A tabular of LaTeX, numbers to the right.
pub fn write_latex(
    out: &mut dyn Write,
    answer: &Answer,
    look: &Look,
    interrupt: &Interrupt,
) -> io::Result<()> {
    let places: String = numeric(answer).map(|right| if right { 'r' } else { 'l' }).collect();
    writeln!(out, "\\begin{{tabular}}{{{places}}}\n\\hline")?;
    if look.headers {
        let names: Vec<String> = names(answer).map(latex).collect();
        writeln!(out, "{} \\\\\n\\hline", names.join(" & "))?;
    }
    for_rows(answer, null(look), usize::MAX, interrupt, |row| {
        let cells: Vec<String> = row.iter().map(|it| latex(&it.text)).collect();
        writeln!(out, "{} \\\\", cells.join(" & "))
    })?;
    writeln!(out, "\\hline\n\\end{{tabular}}")
}

fn null(look: &Look) -> &str {
    look.null.as_deref().unwrap_or("")
}

fn names(answer: &Answer) -> impl Iterator<Item = &str> {
    answer.schema.fields().iter().map(|it| it.name().as_str())
}

/// Which columns hold numbers.
fn numeric(answer: &Answer) -> impl Iterator<Item = bool> {
    answer.schema.fields().iter().map(|it| it.data_type().is_numeric())
}

/// A text in which nothing is a command of LaTeX.
fn latex(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\\' => out.push_str("\\textbackslash{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', letter]),
            other => out.push(other),
        }
    }
    out
}
