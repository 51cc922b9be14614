//! SQL from a prompt, from `-c`, from a file, or from a pipe.

use std::borrow::Cow;
use std::io::{self, BufRead, IsTerminal};
use std::path::{Path, PathBuf};

use nodewise::{Database, Session};
use reedline::{
    FileBackedHistory, Prompt, PromptEditMode, PromptHistorySearch, Reedline, Signal,
    ValidationResult, Validator,
};

use crate::arguments::ShellArguments;
use crate::dot;
use crate::failure::Failure;
use crate::highlight::SqlHighlighter;
use crate::opening::{open_database_on, open_folder, open_session};
use crate::output::Format;
use crate::runner::{Flow, Runner};
use crate::splitter::StatementSplitter;

/// Statements that the history keeps.
const HISTORY_MAX: usize = 10_000;

/// Whether a person sits at both ends.
pub fn is_interactive() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// `nodewise` without a command.
pub fn run(arguments: &ShellArguments) -> Result<bool, Failure> {
    let database = match &arguments.folder {
        Some(folder) => open_folder(folder, &arguments.pool, arguments.load)?,
        None => open_database_on(&arguments.machine, &arguments.pool)?,
    };
    let session = open_session(&database);
    drop(database);
    if !arguments.execute.is_empty() {
        let mut runner = Runner::new(session, arguments.format, false);
        for text in &arguments.execute {
            if runner.run_text(text)? == Flow::Quit {
                break;
            }
        }
    } else if let Some(file) = arguments.file.as_deref().filter(|it| *it != Path::new("-")) {
        Runner::new(session, arguments.format, false).run_file(file)?;
    } else if is_interactive() && arguments.file.is_none() {
        return converse(session, arguments.format);
    } else {
        let mut runner = Runner::new(session, arguments.format, false);
        runner.run_lines(io::stdin().lock().lines())?;
    }
    Ok(true)
}

/// The interactive shell.
pub fn converse(session: Session, format: Format) -> Result<bool, Failure> {
    greet(session.database());
    let mut runner = Runner::new(session, format, true);
    let mut editor = Reedline::create()
        .with_validator(Box::new(WholeStatement))
        .with_highlighter(Box::new(SqlHighlighter));
    if let Some(file) = history_file() {
        match FileBackedHistory::with_file(HISTORY_MAX, file) {
            Ok(history) => editor = editor.with_history(Box::new(history)),
            Err(error) => eprintln!("note: no history is kept: {error}"),
        }
    }
    loop {
        runner.forget_interrupt();
        match editor.read_line(&ShellPrompt) {
            Ok(Signal::Success(text)) => {
                // At once, so that the history survives whatever the statement does.
                let _ = editor.sync_history();
                runner.forget_interrupt();
                match runner.run_text(&text) {
                    Ok(Flow::Continue) => {}
                    Ok(Flow::Quit) => return Ok(true),
                    Err(failure) if failure.is_closed_pipe() => return Err(failure),
                    Err(failure) => {
                        io::Write::flush(&mut runner.console.out)?;
                        failure.print();
                    }
                }
            }
            Ok(Signal::CtrlD) => return Ok(true),
            Ok(_) => {}
            Err(error) => return Err(Failure::Other(format!("the terminal is gone: {error}"))),
        }
    }
}

fn greet(database: &Database) {
    let machine = database.machine();
    let nodes = machine.topology().memory_nodes().len();
    let (workers, version) = (database.workers(), env!("CARGO_PKG_VERSION"));
    println!(
        "Nodewise {version}: {workers} worker{}, {nodes} node{}. .help lists the commands, Ctrl-D leaves.",
        if workers == 1 { "" } else { "s" },
        if nodes == 1 { "" } else { "s" },
    );
    for restriction in machine.restrictions() {
        eprintln!("note: {} is refused here: {}", restriction.call, restriction.consequence);
    }
}

/// The history, in the folder where programs keep their state.
fn history_file() -> Option<PathBuf> {
    let absolute =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|it| it.is_absolute());
    let state = absolute("XDG_STATE_HOME")
        .or_else(|| absolute("HOME").map(|it| it.join(".local").join("state")))?;
    Some(state.join("nodewise").join("history"))
}

/// Enter ends the input only where a statement or a dot command is whole.
struct WholeStatement;

impl Validator for WholeStatement {
    fn validate(&self, text: &str) -> ValidationResult {
        let mut splitter = StatementSplitter::default();
        for line in text.lines() {
            if splitter.is_blank() && dot::command(line).is_some() {
                continue;
            }
            splitter.push_line(line);
            while splitter.next_statement().is_some() {}
        }
        if splitter.is_blank() { ValidationResult::Complete } else { ValidationResult::Incomplete }
    }
}

struct ShellPrompt;

impl Prompt for ShellPrompt {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        "nodewise".into()
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        "".into()
    }

    fn render_prompt_indicator(&self, _: PromptEditMode) -> Cow<'_, str> {
        "> ".into()
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        "      ..> ".into()
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        format!(" (search: {}) ", search.term).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enter_ends_whole_statements_only() {
        let whole = |text| matches!(WholeStatement.validate(text), ValidationResult::Complete);
        assert!(whole("select 1;") && whole("") && whole(".tables") && whole("-- a remark"));
        assert!(whole("select 1; select 2;") && whole("select 1;\n.tables"));
        assert!(!whole("select 1") && !whole("select ';") && !whole("select 1; select"));
        assert!(!whole("select\n.5"));
        assert!(whole("\\q") && whole("exit") && whole("help") && whole("\\d t"));
        assert!(!whole("exits") && !whole("select\nexit"));
    }
}
