//! Commands of the shell that are not SQL. They begin with a dot and take one line.

use std::io::Write;
use std::path::PathBuf;

use clap::ValueEnum;
use stdx::Bytes;

use crate::console::Console;
use crate::failure::Failure;
use crate::output::Format;
use crate::output::box_table::BoxTable;
use crate::picture;

const HELP: &str = "\
.help              this list
.mode FORMAT       how results look: box, csv, json, or line, a line for each value
.placement TABLE   on which nodes a table lies, column by column
.quit              leave; so does Ctrl-D
.read FILE         run the SQL of a file
.schema [TABLE]    the statements that would make the tables
.tables            the tables and their sizes
.timer on|off      tell the time of each statement
exit, quit, help, SHOW TABLES, DESCRIBE TABLE, \\q, \\?, \\d [TABLE], \\dt, \\x and \\i FILE do what they do elsewhere.
Everything else is SQL and ends with a semicolon. Ctrl-C stops a running statement;
pressed three times it leaves, after a question when there are tables to lose.
Views of the database itself: SELECT * FROM nodewise.tables, columns, parts, column_placement, page_ranges,
placement_demands, nodes, cpus, workers, thread_groups, watchdog, jobs, queries, trace, traffic,
item_traffic, placer_log, settings.
";

/// The dot command that a line is, where a statement may begin: itself, or what people know from other shells.
pub fn command(line: &str) -> Option<String> {
    let line = line.trim();
    if line.starts_with('.') {
        return Some(line.to_owned());
    }
    let words = line.trim_end_matches(';').trim_end();
    let (name, argument) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
    let argument = argument.trim();
    Some(match (name.to_ascii_lowercase().as_str(), argument) {
        ("exit" | "quit" | "\\q", "") => ".quit".to_owned(),
        ("help" | "\\?" | "\\h", "") => ".help".to_owned(),
        ("\\d" | "\\dt", "") => ".tables".to_owned(),
        ("show", tables) if tables.eq_ignore_ascii_case("tables") => ".tables".to_owned(),
        ("describe" | "desc", table) if table.is_empty() || table.contains(' ') => return None,
        ("\\d" | "describe" | "desc", table) => format!(".schema {}", table.trim_matches('"')),
        ("\\x", "") => ".mode line".to_owned(),
        ("\\i", file) => format!(".read {file}"),
        // No statement begins so: the name is told to be unknown.
        (name, _) if name.starts_with('\\') => line.to_owned(),
        _ => return None,
    })
}

/// What is to be done after a dot command.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// To go on.
    Continue,
    /// To leave.
    Quit,
    /// To run a file.
    Read(PathBuf),
}

/// Runs a dot command.
pub fn run(console: &mut Console, line: &str) -> Result<Outcome, Failure> {
    let (name, argument) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let argument = argument.trim().trim_end_matches(';').trim_end();
    match (name.trim_end_matches(';'), argument) {
        (".quit" | ".exit", "") => return Ok(Outcome::Quit),
        (".help", _) => write!(console.out, "{HELP}")?,
        (".timer", "on") => console.timer = true,
        (".timer", "off") => console.timer = false,
        (".timer", _) => return Err(usage(".timer on|off")),
        (".mode", mode) => {
            console.format =
                Format::from_str(mode, true).map_err(|_| usage(".mode box|csv|json|line"))?;
        }
        (".read", "") => return Err(usage(".read FILE")),
        (".read", file) => {
            return Ok(Outcome::Read(PathBuf::from(file.trim_matches(['\'', '"']))));
        }
        (".placement", "") => return Err(usage(".placement TABLE")),
        (".placement", table) => {
            let picture = picture::show(&console.session, table.trim_matches('"'), false)?;
            write!(console.out, "{picture}")?;
        }
        (".tables", _) => tables(console)?,
        (".schema", table) => schema(console, table)?,
        (other, _) => {
            return Err(Failure::Other(format!("there is no command {other}; .help lists them")));
        }
    }
    Ok(Outcome::Continue)
}

fn usage(text: &str) -> Failure {
    Failure::Other(format!("usage: {text}"))
}

fn tables(console: &mut Console) -> Result<(), Failure> {
    let tables = console.session.database().tables();
    if tables.is_empty() {
        writeln!(console.out, "There are no tables yet.")?;
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
    shown.write_head(&mut console.out)?;
    for row in &rows {
        shown.write_row(&mut console.out, row)?;
    }
    shown.write_foot(&mut console.out)?;
    Ok(())
}

fn schema(console: &mut Console, wanted: &str) -> Result<(), Failure> {
    let tables = console.session.database().tables();
    let mut found = wanted.is_empty();
    for table in tables {
        if !wanted.is_empty() && !table.name.eq_ignore_ascii_case(wanted) {
            continue;
        }
        found = true;
        writeln!(console.out, "CREATE TABLE {} (", quoted(&table.name))?;
        for (index, column) in table.columns.iter().enumerate() {
            let null = if column.nullable { "" } else { " NOT NULL" };
            let comma = if index + 1 < table.columns.len() { "," } else { "" };
            let name = quoted(&column.name);
            writeln!(console.out, "    {name} {}{null}{comma}", column.data_type)?;
        }
        writeln!(console.out, ");")?;
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
    fn commands_of_other_shells_are_known() {
        let is = |line: &str| command(line).unwrap_or_default();
        for (line, known) in [
            (" .tables ", ".tables"),
            ("\\q", ".quit"),
            ("exit;", ".quit"),
            ("QUIT", ".quit"),
            ("help", ".help"),
            ("\\?", ".help"),
            ("\\d", ".tables"),
            ("\\dt", ".tables"),
            ("\\d  \"Order Key\";", ".schema Order Key"),
            ("\\i a b.sql", ".read a b.sql"),
            ("\\x", ".mode line"),
            ("\\y", "\\y"),
            ("SHOW TABLES;", ".tables"),
            ("describe t;", ".schema t"),
        ] {
            assert_eq!(is(line), known, "{line}");
        }
        for sql in [
            "select 1;",
            "exit from t",
            "help me",
            "",
            "-- exit",
            "quit_smoking",
            "show workers;",
            "desc",
            "describe select 1",
        ] {
            assert_eq!(command(sql), None, "{sql}");
        }
    }

    #[test]
    fn names_are_quoted_where_sql_needs_it() {
        assert_eq!(quoted("l_orderkey"), "l_orderkey");
        assert_eq!(quoted("Order Key"), "\"Order Key\"");
        assert_eq!(quoted("1a"), "\"1a\"");
        assert_eq!(quoted("a\"b"), "\"a\"\"b\"");
        assert_eq!(quoted(""), "\"\"");
    }
}
