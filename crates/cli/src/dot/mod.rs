//! Commands of the shell that are not SQL. They begin with a dot, or with a backslash as in psql, and take one line.
//!
//! Reading order: `synonyms` (what people know from other shells), `COMMANDS`, then a file per kind of command.

mod files;
mod look;
mod outcome;
mod synonyms;
mod tables;
mod words;

use std::io::Write;

use crate::console::Console;
use crate::failure::Failure;
use crate::mistyped::is_near;

use outcome::{Done, Refusal};

pub use outcome::Outcome;
pub use synonyms::command;

/// What a command takes, for completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Nothing that could be completed.
    Nothing,
    /// One of these words.
    Words(&'static [&'static str]),
    /// The name of a table.
    Table,
    /// A file.
    File,
}

/// A command.
pub struct Command {
    /// Its name, with the dot.
    pub name: &'static str,
    /// What it takes, as the help has it.
    usage: &'static str,
    /// What it does, as the help has it.
    help: &'static str,
    /// What it takes.
    pub takes: Takes,
    run: fn(&mut Console, &str) -> Done,
}

const ON_OFF: Takes = Takes::Words(&["on", "off"]);

/// All commands, in the order of the help.
#[rustfmt::skip]
pub const COMMANDS: &[Command] = &[
    Command { name: ".help", usage: "", help: "this list", takes: Takes::Nothing, run: help },
    Command { name: ".quit", usage: "", help: "leave; so does Ctrl-D", takes: Takes::Nothing, run: quit },
    Command { name: ".tables", usage: "", help: "the tables and their sizes", takes: Takes::Nothing, run: tables::tables },
    Command { name: ".describe", usage: "TABLE", help: "columns, indexes and constraints of a table", takes: Takes::Table, run: tables::describe },
    Command { name: ".schema", usage: "[TABLE]", help: "the statements that would make the tables", takes: Takes::Table, run: tables::schema },
    Command { name: ".indexes", usage: "[TABLE]", help: "the indexes", takes: Takes::Table, run: tables::indexes },
    Command { name: ".functions", usage: "[PART]", help: "the functions whose names have this part", takes: Takes::Nothing, run: tables::functions },
    Command { name: ".settings", usage: "[PART]", help: "the settings whose names have this part", takes: Takes::Nothing, run: tables::settings },
    Command { name: ".placement", usage: "TABLE", help: "on which nodes a table lies, column by column", takes: Takes::Table, run: tables::placement },
    Command { name: ".dump", usage: "[TABLE]", help: "tables with their rows as SQL", takes: Takes::Table, run: files::dump },
    Command { name: ".read", usage: "FILE", help: "run the SQL of a file", takes: Takes::File, run: files::read },
    Command { name: ".import", usage: "FILE TABLE", help: "the rows of a file into a table, which is made if it is not there", takes: Takes::File, run: files::import },
    Command { name: ".copy", usage: "..", help: "COPY, as a command of one line", takes: Takes::Table, run: files::copy },
    Command { name: ".output", usage: "[FILE]", help: "results go to a file; to the screen again", takes: Takes::File, run: files::output },
    Command { name: ".once", usage: "FILE", help: "the next result goes to a file", takes: Takes::File, run: files::once },
    Command { name: ".cd", usage: "FOLDER", help: "look for files in another folder", takes: Takes::File, run: files::cd },
    Command { name: ".shell", usage: "COMMAND", help: "run a command of the system", takes: Takes::Nothing, run: files::shell },
    Command { name: ".print", usage: "TEXT", help: "write a text", takes: Takes::Nothing, run: files::print },
    Command { name: ".watch", usage: "[SECONDS]", help: "run the last statement every two, or so many, seconds until Ctrl-C", takes: Takes::Nothing, run: files::watch },
    Command { name: ".mode", usage: "FORMAT [TABLE]", help: look::MODE_HELP, takes: Takes::Words(look::FORMATS), run: look::mode },
    Command { name: ".maxrows", usage: "N", help: "rows of a result that are shown; 0 shows all", takes: Takes::Nothing, run: look::max_rows },
    Command { name: ".width", usage: "N", help: "columns of the terminal; 0 asks it", takes: Takes::Nothing, run: look::width },
    Command { name: ".nullvalue", usage: "[TEXT]", help: "what stands for NULL", takes: Takes::Nothing, run: look::null_value },
    Command { name: ".headers", usage: "on|off", help: "names of columns above the rows", takes: ON_OFF, run: look::headers },
    Command { name: ".timer", usage: "on|off", help: "tell the time of each statement", takes: ON_OFF, run: look::timer },
    Command { name: ".pager", usage: "on|off", help: "long results page by page (PAGER, or less)", takes: ON_OFF, run: look::pager },
    Command { name: ".show", usage: "", help: "what these are now", takes: Takes::Nothing, run: look::show },
];

const HELP_END: &str = "\
exit, quit, help, SHOW TABLES, DESCRIBE TABLE and psql's \\q \\? \\d \\dt \\di \\df \\x \\i \\o \\timing \\copy \\watch \\echo \\cd \\! \\pset null
do what they do elsewhere. Everything else is SQL and ends with a semicolon. Tab completes. Ctrl-C stops a running
statement; pressed three times it leaves, after a question when there are tables to lose.
The database shows itself in the views of schema nodewise: SELECT * FROM nodewise.tables, columns, parts, queries, ..
";

/// Runs a dot command.
pub fn run(console: &mut Console, line: &str) -> Result<Outcome, Failure> {
    let (name, argument) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let name = name.trim_end_matches(';');
    let argument = argument.trim().trim_end_matches(';').trim_end();
    match COMMANDS.iter().find(|it| it.name == name) {
        Some(command) => (command.run)(console, argument).map_err(|refusal| match refusal {
            Refusal::Usage => Failure::Other(format!("usage: {name} {}", command.usage)),
            Refusal::Failure(failure) => failure,
        }),
        None => Err(Failure::Other(unknown(name))),
    }
}

fn unknown(name: &str) -> String {
    let near = COMMANDS.iter().find(|it| is_near(name, it.name));
    match near {
        Some(near) => format!("there is no command {name}; perhaps {} is meant", near.name),
        None => format!("there is no command {name}; .help lists them"),
    }
}

fn quit(_: &mut Console, _: &str) -> Done {
    Ok(Outcome::Quit)
}

fn help(console: &mut Console, _: &str) -> Done {
    for Command { name, usage, help, .. } in COMMANDS {
        writeln!(console.out, "{:22}{help}", format!("{name} {usage}"))?;
    }
    write!(console.out, "{HELP_END}")?;
    Ok(Outcome::Continue)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_name_is_told_the_near_one() {
        assert!(unknown(".tabels").contains(".tables"));
        assert!(unknown(".nothing").contains(".help"));
    }
}
