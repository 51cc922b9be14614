//! SQL from a prompt, from `-c`, from a file, or from a pipe.

mod completion;
mod highlight;
mod keywords;
mod prompt;

use std::io::{self, BufRead, IsTerminal};
use std::path::{Path, PathBuf};

use nodewise::{Database, Session};
use reedline::{
    ColumnarMenu, DefaultHinter, Emacs, FileBackedHistory, KeyCode, KeyModifiers, MenuBuilder,
    Reedline, ReedlineEvent, ReedlineMenu, Signal, default_emacs_keybindings,
};

use self::completion::SqlCompleter;
use self::highlight::SqlHighlighter;
use self::prompt::{ShellPrompt, WholeStatement};
use crate::arguments::ShellArguments;
use crate::failure::Failure;
use crate::opening::{open_database_on, open_folder, open_session};
use crate::output::Format;
use crate::runner::{Flow, Runner};

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
    let done = talk(open_session(&database), arguments);
    database.close();
    done
}

/// Statements of the arguments, a file, a person or another program.
fn talk(session: Session, arguments: &ShellArguments) -> Result<bool, Failure> {
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
        let settings = if arguments.no_settings { None } else { settings_file() };
        return converse(session, arguments.format, settings.as_deref());
    } else {
        let mut runner = Runner::new(session, arguments.format, false);
        runner.run_lines(io::stdin().lock().lines())?;
    }
    Ok(true)
}

/// The interactive shell. What a file of settings says comes first.
pub fn converse(
    session: Session,
    format: Format,
    settings: Option<&Path>,
) -> Result<bool, Failure> {
    greet(session.database());
    let mut editor = editor(&session);
    let mut runner = Runner::new(session, format, true);
    if let Some(file) = settings.filter(|it| it.exists())
        && let Err(failure) = runner.run_file(file)
    {
        eprintln!("note: of {}:", file.display());
        failure.print();
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

/// The line editor: colours, history with a hint of what was typed before, completion by Tab.
fn editor(session: &Session) -> Reedline {
    const MENU: &str = "completion";
    let mut keys = default_emacs_keybindings();
    let complete = vec![ReedlineEvent::Menu(MENU.to_owned()), ReedlineEvent::MenuNext];
    keys.add_binding(KeyModifiers::NONE, KeyCode::Tab, ReedlineEvent::UntilFound(complete));
    keys.add_binding(KeyModifiers::SHIFT, KeyCode::BackTab, ReedlineEvent::MenuPrevious);
    let menu = ColumnarMenu::default().with_name(MENU);
    let mut editor = Reedline::create()
        .with_validator(Box::new(WholeStatement))
        .with_highlighter(Box::new(SqlHighlighter))
        .with_completer(Box::new(SqlCompleter::new(session.database())))
        .with_quick_completions(true)
        .with_partial_completions(true)
        .with_menu(ReedlineMenu::EngineCompleter(Box::new(menu)))
        .with_edit_mode(Box::new(Emacs::new(keys)));
    if let Some(file) = history_file() {
        match FileBackedHistory::with_file(HISTORY_MAX, file) {
            Ok(history) => {
                editor = editor.with_history(Box::new(history));
                editor = editor.with_hinter(Box::new(DefaultHinter::default()));
            }
            Err(error) => eprintln!("note: no history is kept: {error}"),
        }
    }
    editor
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
    own_file("XDG_STATE_HOME", ".local/state", "history")
}

/// What the interactive shell runs first, in the folder where programs keep their settings.
fn settings_file() -> Option<PathBuf> {
    own_file("XDG_CONFIG_HOME", ".config", "shellrc")
}

/// A file of ours in a folder that the environment may name, else in one of the home folder.
fn own_file(variable: &str, in_home: &str, name: &str) -> Option<PathBuf> {
    let absolute =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|it| it.is_absolute());
    let folder = absolute(variable).or_else(|| absolute("HOME").map(|it| it.join(in_home)))?;
    Some(folder.join("nodewise").join(name))
}
