//! Commands that say how results look.

use std::io::Write;

use clap::ValueEnum;

use super::outcome::{Done, Outcome, Refusal};
use super::words::words;
use crate::console::Console;
use crate::output::{Format, Look};

pub(super) const MODE_HELP: &str =
    "how results look: box, table, line, csv, tsv, json, jsonl, markdown, html, latex, insert";

/// The formats, for completion.
pub(super) const FORMATS: &[&str] =
    &["box", "table", "line", "csv", "tsv", "json", "jsonl", "markdown", "html", "latex", "insert"];

/// The word of `\x` without an argument.
const LINE_OR_BACK: &str = "line-or-back";

pub(super) fn mode(console: &mut Console, argument: &str) -> Done {
    let words = words(argument);
    let (name, table) = match &words[..] {
        [name] => (name, None),
        [name, table] => (name, Some(table)),
        _ => return Err(Refusal::Usage),
    };
    let before = console.look.format;
    console.look.format = match name.as_str() {
        LINE_OR_BACK if before == Format::Line => console.before_lines.unwrap_or(Format::Box),
        LINE_OR_BACK => Format::Line,
        name => Format::from_str(name, true)
            .map_err(|_| Refusal::because(format!("usage: .mode {}", FORMATS.join("|"))))?,
    };
    if before != Format::Line {
        console.before_lines = Some(before);
    }
    if let Some(table) = table {
        console.look.table.clone_from(table);
    }
    Ok(Outcome::Continue)
}

pub(super) fn max_rows(console: &mut Console, argument: &str) -> Done {
    let rows: usize = argument.parse().map_err(|_| Refusal::Usage)?;
    console.rows_max = (rows > 0).then_some(rows);
    Ok(Outcome::Continue)
}

pub(super) fn width(console: &mut Console, argument: &str) -> Done {
    let columns: usize = argument.parse().map_err(|_| Refusal::Usage)?;
    console.width = (columns > 0).then_some(columns);
    Ok(Outcome::Continue)
}

pub(super) fn null_value(console: &mut Console, argument: &str) -> Done {
    let mut words = words(argument);
    if words.len() > 1 {
        return Err(Refusal::Usage);
    }
    console.look.null = words.pop();
    Ok(Outcome::Continue)
}

pub(super) fn headers(console: &mut Console, argument: &str) -> Done {
    console.look.headers = switched(console.look.headers, argument)?;
    Ok(Outcome::Continue)
}

pub(super) fn timer(console: &mut Console, argument: &str) -> Done {
    console.timer = switched(console.timer, argument)?;
    Ok(Outcome::Continue)
}

pub(super) fn pager(console: &mut Console, argument: &str) -> Done {
    console.pager = switched(console.pager, argument)?;
    Ok(Outcome::Continue)
}

/// What a switch is after a command.
fn switched(before: bool, argument: &str) -> Result<bool, Refusal> {
    match argument {
        "on" => Ok(true),
        "off" => Ok(false),
        "toggle" => Ok(!before),
        _ => Err(Refusal::Usage),
    }
}

pub(super) fn show(console: &mut Console, _: &str) -> Done {
    let Look { format, null, headers, table, .. } = &console.look;
    let format = format.to_possible_value();
    let format = format.as_ref().map_or("", |it| it.get_name());
    let on_off = |on: bool| if on { "on" } else { "off" };
    let number = |it: Option<usize>, none: &str| it.map_or(none.to_owned(), |it| it.to_string());
    let workers = console.session.database().workers();
    let rows = [
        ("workers", workers.to_string()),
        ("mode", format.to_owned()),
        ("insert into", table.clone()),
        ("nullvalue", null.clone().unwrap_or_else(|| "(of the mode)".to_owned())),
        ("headers", on_off(*headers).to_owned()),
        ("maxrows", number(console.rows_max, "all")),
        ("width", number(console.width, "of the terminal")),
        ("timer", on_off(console.timer).to_owned()),
        ("pager", on_off(console.pager).to_owned()),
    ];
    for (name, value) in rows {
        writeln!(console.out, "{name:>12}: {value}")?;
    }
    Ok(Outcome::Continue)
}
