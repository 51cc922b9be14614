//! Commands that look at tables, and at what else the database knows.

use std::io::Write;

use nodewise::text::{Cells, quoted_name};
use stdx::Bytes;

use super::outcome::{Done, Outcome, Refusal};
use super::words::{literal, words};
use crate::console::Console;
use crate::picture;
use nodewise::box_table::BoxTable;

pub(super) fn tables(console: &mut Console, _: &str) -> Done {
    let tables = console.session.database().tables();
    if tables.is_empty() {
        writeln!(console.out, "There are no tables yet.")?;
        return Ok(Outcome::Continue);
    }
    let names = [("table", false), ("rows", true), ("columns", true), ("bytes", true)];
    let rows: Vec<Vec<String>> = (tables.iter())
        .map(|it| {
            let bytes = Bytes(it.memory_bytes()).to_string();
            vec![it.name.clone(), it.rows().to_string(), it.columns.len().to_string(), bytes]
        })
        .collect();
    write_box(console, &names, &rows)?;
    Ok(Outcome::Continue)
}

pub(super) fn schema(console: &mut Console, argument: &str) -> Done {
    let wanted = one_name(argument)?;
    let definitions = console.session.definitions();
    let is_wanted = |name: &str| wanted.as_ref().is_none_or(|it| it == name);
    let mut found = wanted.is_none();
    for it in definitions.iter().filter(|it| is_wanted(&it.name)) {
        found = true;
        write!(console.out, "{}{}{}", it.create, it.after_load, it.references)?;
    }
    for it in console.session.view_definitions().iter().filter(|it| is_wanted(&it.name)) {
        found = true;
        write!(console.out, "{}", it.create)?;
    }
    if found { Ok(Outcome::Continue) } else { Err(no_table(&wanted.unwrap_or_default())) }
}

pub(super) fn describe(console: &mut Console, argument: &str) -> Done {
    let Some(name) = one_name(argument)? else { return Err(Refusal::Usage) };
    let own = literal(&name);
    let columns = rows(
        console,
        &format!(
            "SELECT column_name, data_type, CASE WHEN nullable THEN '' ELSE 'not null' END, encoding, nodes \
             FROM (SELECT column_name, data_type, nullable, encoding, node AS nodes, position \
             FROM nodewise.columns WHERE table_name = {own}) c ORDER BY position"
        ),
    )?;
    if columns.is_empty() {
        return Err(no_table(&name));
    }
    let names = [
        ("column", false),
        ("type", false),
        ("nullable", false),
        ("encoding", false),
        ("node", false),
    ];
    write_box(console, &names, &columns)?;
    for (title, view) in [("Indexes", "indexes"), ("Constraints", "constraints")] {
        let text = match view {
            "indexes" => format!(
                "SELECT index_name, columns FROM nodewise.indexes WHERE table_name = {own} ORDER BY 1"
            ),
            _ => format!(
                "SELECT constraint_name, definition FROM nodewise.constraints WHERE table_name = {own} ORDER BY 1"
            ),
        };
        let found = rows(console, &text)?;
        if !found.is_empty() {
            writeln!(console.out, "{title}:")?;
        }
        for row in found {
            writeln!(console.out, "    {} {}", quoted_name(&row[0]), row[1])?;
        }
    }
    Ok(Outcome::Continue)
}

pub(super) fn indexes(_: &mut Console, argument: &str) -> Done {
    let wanted = one_name(argument)?;
    let filter = wanted.map_or(String::new(), |it| format!("WHERE table_name = {}", literal(&it)));
    shown(&format!("SELECT * FROM nodewise.indexes {filter} ORDER BY 1, 2"))
}

pub(super) fn functions(_: &mut Console, argument: &str) -> Done {
    listed("functions", "function_name", argument)
}

pub(super) fn settings(_: &mut Console, argument: &str) -> Done {
    listed("settings", "name", argument)
}

/// The rows of a view whose names have a part.
fn listed(view: &str, column: &str, part: &str) -> Done {
    let part = literal(&part.to_lowercase());
    shown(&format!("SELECT * FROM nodewise.{view} WHERE strpos({column}, {part}) > 0 ORDER BY 1"))
}

fn shown(sql: &str) -> Done {
    Ok(Outcome::Run(sql.to_owned()))
}

pub(super) fn placement(console: &mut Console, argument: &str) -> Done {
    let Some(table) = one_name(argument)? else { return Err(Refusal::Usage) };
    let picture = picture::show(&console.session, &table, false)?;
    write!(console.out, "{picture}")?;
    Ok(Outcome::Continue)
}

/// The name that a command was given, if any. A name may have blanks without quotes, as it takes the whole line; without
/// quotes it is read in lower case, as SQL does, unless a table has just this one.
fn one_name(argument: &str) -> Result<Option<String>, Refusal> {
    if argument.is_empty() {
        return Ok(None);
    }
    if !argument.starts_with(['"', '\'']) {
        return Ok(Some(argument.to_lowercase()));
    }
    let mut words = words(argument);
    match (words.pop(), words.is_empty()) {
        (Some(word), true) => Ok(Some(word)),
        _ => Err(Refusal::Usage),
    }
}

fn no_table(name: &str) -> Refusal {
    Refusal::because(format!("there is no table {name}; .tables lists them"))
}

/// The rows of a query as texts, NULL as nothing.
fn rows(console: &mut Console, sql: &str) -> Result<Vec<Vec<String>>, Refusal> {
    let answer = console.session.query(sql)?;
    let mut rows = Vec::with_capacity(answer.rows());
    for batch in &answer.batches {
        let columns: Vec<Cells<'_>> = batch.columns().iter().map(Cells::new).collect();
        rows.extend((0..batch.num_rows()).map(|row| -> Vec<String> {
            columns.iter().map(|it| it.text(row).unwrap_or_default()).collect()
        }));
    }
    Ok(rows)
}

fn write_box(
    console: &mut Console,
    names: &[(&str, bool)],
    rows: &[Vec<String>],
) -> Result<(), Refusal> {
    let mut shown = BoxTable::new(names.iter().copied());
    rows.iter().for_each(|row| shown.measure(row));
    shown.write_head(&mut console.out)?;
    for row in rows {
        shown.write_row(&mut console.out, row)?;
    }
    Ok(shown.write_foot(&mut console.out)?)
}
