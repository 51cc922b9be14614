//! Commands of the shell that are not SQL. They begin with a dot and take one line.

use std::io::Write;
use std::path::Path;

use clap::ValueEnum;
use stdx::Bytes;

use crate::commands::placement;
use crate::failure::Failure;
use crate::output::Format;
use crate::output::box_table::BoxTable;
use crate::runner::{Flow, Runner};

const HELP: &str = "\
.help              this list
.mode box|csv|json how results look
.placement TABLE   on which nodes a table lies, column by column
.quit              leave; so does Ctrl-D
.read FILE         run the SQL of a file
.schema [TABLE]    the statements that would make the tables
.tables            the tables and their sizes
.timer on|off      tell the time of each statement
Everything else is SQL and ends with a semicolon. Ctrl-C stops a running statement
(three times: the program).
Views of the database itself: SELECT * FROM nodewise.tables, columns, parts, column_placement, page_ranges,
placement_demands, nodes, cpus, workers, thread_groups, watchdog, jobs, queries, trace, traffic, settings.
";

/// Runs a dot command.
pub fn run(runner: &mut Runner, line: &str) -> Result<Flow, Failure> {
    let (name, argument) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let argument = argument.trim().trim_end_matches(';').trim_end();
    match (name.trim_end_matches(';'), argument) {
        (".quit" | ".exit", "") => return Ok(Flow::Quit),
        (".help", _) => write!(runner.out, "{HELP}")?,
        (".timer", "on") => runner.timer = true,
        (".timer", "off") => runner.timer = false,
        (".timer", _) => return Err(usage(".timer on|off")),
        (".mode", mode) => {
            runner.format =
                Format::from_str(mode, true).map_err(|_| usage(".mode box|csv|json"))?;
        }
        (".read", "") => return Err(usage(".read FILE")),
        (".read", file) => return runner.run_file(Path::new(file.trim_matches(['\'', '"']))),
        (".placement", "") => return Err(usage(".placement TABLE")),
        (".placement", table) => {
            let picture = placement::show(&runner.session, table.trim_matches('"'), false)?;
            write!(runner.out, "{picture}")?;
        }
        (".tables", _) => tables(runner)?,
        (".schema", table) => schema(runner, table)?,
        (other, _) => {
            return Err(Failure::Other(format!("there is no command {other}; .help lists them")));
        }
    }
    Ok(Flow::Continue)
}

fn usage(text: &str) -> Failure {
    Failure::Other(format!("usage: {text}"))
}

fn tables(runner: &mut Runner) -> Result<(), Failure> {
    let tables = runner.session.database().tables();
    if tables.is_empty() {
        writeln!(runner.out, "There are no tables yet.")?;
        return Ok(());
    }
    let names = [("table", false), ("rows", true), ("columns", true), ("bytes", true)];
    let mut shown = BoxTable::new(names.into_iter());
    let rows: Vec<[String; 4]> = (tables.iter())
        .map(|it| {
            let bytes = Bytes(it.memory_bytes()).to_string();
            [it.name.clone(), it.rows().to_string(), it.columns.len().to_string(), bytes]
        })
        .collect();
    rows.iter().for_each(|row| shown.measure(row));
    shown.write_head(&mut runner.out)?;
    for row in &rows {
        shown.write_row(&mut runner.out, row)?;
    }
    shown.write_foot(&mut runner.out)?;
    Ok(())
}

fn schema(runner: &mut Runner, wanted: &str) -> Result<(), Failure> {
    let tables = runner.session.database().tables();
    let mut found = wanted.is_empty();
    for table in tables {
        if !wanted.is_empty() && !table.name.eq_ignore_ascii_case(wanted) {
            continue;
        }
        found = true;
        writeln!(runner.out, "CREATE TABLE {} (", quoted(&table.name))?;
        for (index, column) in table.columns.iter().enumerate() {
            let null = if column.nullable { "" } else { " NOT NULL" };
            let comma = if index + 1 < table.columns.len() { "," } else { "" };
            let name = quoted(&column.name);
            writeln!(runner.out, "    {name} {}{null}{comma}", column.data_type)?;
        }
        writeln!(runner.out, ");")?;
    }
    if found { Ok(()) } else { Err(Failure::Other(format!("there is no table {wanted}"))) }
}

/// A name as SQL reads it back.
fn quoted(name: &str) -> String {
    let plain = name.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'_')
        && name.bytes().next().is_some_and(|it| !it.is_ascii_digit());
    if plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_where_sql_needs_it() {
        assert_eq!(quoted("l_orderkey"), "l_orderkey");
        assert_eq!(quoted("Order Key"), "\"Order Key\"");
        assert_eq!(quoted("1a"), "\"1a\"");
        assert_eq!(quoted("a\"b"), "\"a\"\"b\"");
        assert_eq!(quoted(""), "\"\"");
    }
}
