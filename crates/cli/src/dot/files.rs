//! Commands that read, write and repeat.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use nodewise::text::relation_name;
use stdx::Nanos;

use super::outcome::{Done, Outcome, Refusal};
use super::words::{literal, words};
use crate::console::Console;
use crate::interrupt::Interrupt;
use crate::output::{Format, Look, OutputOptions, write_answer};

/// Seconds between two runs of a statement that is watched.
const WATCH_SECONDS: f64 = 2.0;
const NANOS: f64 = 1e9;

/// The file that a command was given: the whole rest of the line, in quotes or not.
fn file(argument: &str) -> Option<PathBuf> {
    let name = argument.trim_matches(['\'', '"']);
    (!name.is_empty()).then(|| PathBuf::from(name))
}

pub(super) fn read(_: &mut Console, argument: &str) -> Done {
    file(argument).map(Outcome::Read).ok_or(Refusal::Usage)
}

pub(super) fn output(console: &mut Console, argument: &str) -> Done {
    match file(argument) {
        Some(path) => console.out.open_file(&path, false)?,
        None => console.out.close_file()?,
    }
    Ok(Outcome::Continue)
}

pub(super) fn once(console: &mut Console, argument: &str) -> Done {
    let path = file(argument).ok_or(Refusal::Usage)?;
    console.out.open_file(&path, true)?;
    Ok(Outcome::Continue)
}

pub(super) fn cd(_: &mut Console, argument: &str) -> Done {
    let path = file(argument).ok_or(Refusal::Usage)?;
    std::env::set_current_dir(&path)
        .map_err(|error| Refusal::because(format!("cannot go to {}: {error}", path.display())))?;
    Ok(Outcome::Continue)
}

pub(super) fn shell(console: &mut Console, argument: &str) -> Done {
    if argument.is_empty() {
        return Err(Refusal::Usage);
    }
    console.out.flush()?;
    let status = Command::new("sh").args(["-c", argument]).status()?;
    match status.success() {
        true => Ok(Outcome::Continue),
        false => Err(Refusal::because(format!("the command ended with {status}"))),
    }
}

pub(super) fn print(console: &mut Console, argument: &str) -> Done {
    writeln!(console.out, "{}", words(argument).join(" "))?;
    Ok(Outcome::Continue)
}

pub(super) fn watch(_: &mut Console, argument: &str) -> Done {
    let seconds = match argument {
        "" => WATCH_SECONDS,
        text => text.parse().map_err(|_| Refusal::Usage)?,
    };
    if !(0.01..=86_400.0).contains(&seconds) {
        return Err(Refusal::Usage);
    }
    Ok(Outcome::Watch(Nanos((seconds * NANOS) as u64)))
}

pub(super) fn copy(_: &mut Console, argument: &str) -> Done {
    // Shell and database are one program, so a file of the one is a file of the other.
    Ok(Outcome::Run(format!("COPY {argument}")))
}

pub(super) fn import(console: &mut Console, argument: &str) -> Done {
    let words = words(argument);
    let [path, table] = &words[..] else { return Err(Refusal::Usage) };
    if !Path::new(path).exists() {
        return Err(Refusal::because(format!("there is no file {path}")));
    }
    let is_there = console.session.definitions().iter().any(|it| it.name == *table);
    let (name, path) = (relation_name(table), literal(path));
    Ok(Outcome::Run(match is_there {
        true => format!("COPY {name} FROM {path}"),
        false => format!("CREATE TABLE {name} AS SELECT * FROM {path}"),
    }))
}

pub(super) fn dump(console: &mut Console, argument: &str) -> Done {
    let wanted = file(argument);
    let wanted = wanted.as_ref().map(|it| it.display().to_string());
    let mut definitions = console.session.definitions();
    definitions.retain(|it| wanted.as_ref().is_none_or(|name| it.name == *name));
    if let (Some(name), []) = (&wanted, &definitions[..]) {
        return Err(Refusal::because(format!("there is no table {name}; .tables lists them")));
    }
    let sequences = wanted.is_none().then(|| console.session.sequence_definitions());
    let (create, positions) = sequences.map(|it| (it.create, it.positions)).unwrap_or_default();
    let schemas = match wanted {
        None => console.session.schema_definitions(),
        Some(_) => String::new(),
    };
    write!(console.out, "BEGIN;\n{schemas}{create}")?;
    definitions.iter().try_for_each(|it| write!(console.out, "{}", it.create))?;
    for it in &definitions {
        let answer = console.session.query(&it.rows)?;
        let (table, overriding) = (it.name.clone(), it.gives_numbers);
        let look = Look { table, overriding, ..Look::new(Format::Insert) };
        let options = OutputOptions::plain(look);
        write_answer(&mut console.out, &answer, &options, &Interrupt::default())?;
        write!(console.out, "{}", it.after_load)?;
    }
    definitions.iter().try_for_each(|it| write!(console.out, "{}", it.references))?;
    if wanted.is_none() {
        let views = console.session.view_definitions();
        views.iter().try_for_each(|it| write!(console.out, "{}", it.create))?;
        write!(console.out, "{}", console.session.macro_definitions())?;
    }
    writeln!(console.out, "{positions}COMMIT;")?;
    Ok(Outcome::Continue)
}
