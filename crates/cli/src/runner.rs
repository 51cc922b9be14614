//! Runs text: statements and dot commands, from whichever source.

use std::io::Write;
use std::path::Path;

use nodewise::{Answer, Notice, Session, SqlError, SqlState};
use stdx::Nanos;

use crate::console::{Console, Out};
use crate::dot::{self, Outcome};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output::{Format, OutputOptions, write_answer};
use crate::pager;
use crate::splitter::StatementSplitter;

/// What may stand before the first character of a text.
const BYTE_ORDER_MARK: char = '\u{feff}';
/// How often who rests looks whether Ctrl-C was pressed.
const LOOK_EVERY: Nanos = Nanos(50_000_000);
/// Files that read files that read files.
const DEPTH_MAX: usize = 16;

/// Whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// More may come.
    Continue,
    /// The user has had enough.
    Quit,
}

/// Runs text on a console.
pub struct Runner {
    pub(crate) console: Console,
    /// Whether a person is at the other end.
    interactive: bool,
    interrupt: Interrupt,
    depth: usize,
}

impl Runner {
    /// A runner that writes to standard output.
    pub fn new(session: Session, format: Format, interactive: bool) -> Self {
        let interrupt = Interrupt::install(&session);
        let console = Console::new(session, format, interactive);
        Self { console, interactive, interrupt, depth: 0 }
    }

    /// Runs a whole text; the first failure ends it.
    pub fn run_text(&mut self, text: &str) -> Result<Flow, Failure> {
        self.run_lines(text.lines().map(|it| Ok(it.to_owned())))
    }

    /// Runs a file.
    pub fn run_file(&mut self, path: &Path) -> Result<Flow, Failure> {
        if self.depth == DEPTH_MAX {
            let message = format!("{} is read by files {DEPTH_MAX} deep", path.display());
            return Err(Failure::Other(message));
        }
        let text = std::fs::read_to_string(path)
            .map_err(|error| Failure::Other(format!("cannot read {}: {error}", path.display())))?;
        self.depth += 1;
        let flow = self.run_text(&text);
        self.depth -= 1;
        flow
    }

    /// Runs lines as they come, each statement as soon as it is whole.
    pub fn run_lines(
        &mut self,
        lines: impl Iterator<Item = std::io::Result<String>>,
    ) -> Result<Flow, Failure> {
        let mut splitter = StatementSplitter::default();
        let mut flow = Flow::Continue;
        for (number, line) in lines.enumerate() {
            let mut line = line?;
            // Some editors write a byte order mark.
            if number == 0 && line.starts_with(BYTE_ORDER_MARK) {
                line.remove(0);
            }
            if splitter.is_blank()
                && let Some(command) = dot::command(&line)
            {
                flow = self.run_command(&command)?;
            } else {
                splitter.push_line(&line);
                while let Some(statement) = splitter.next_statement() {
                    self.run_statement(&statement)?;
                }
            }
            self.console.out.flush()?;
            if flow == Flow::Quit {
                return Ok(flow);
            }
        }
        if let Some(statement) = splitter.finish() {
            self.run_statement(&statement)?;
            self.console.out.flush()?;
        }
        Ok(flow)
    }

    fn run_command(&mut self, command: &str) -> Result<Flow, Failure> {
        match dot::run(&mut self.console, command)? {
            Outcome::Continue => return Ok(Flow::Continue),
            Outcome::Quit => return Ok(Flow::Quit),
            Outcome::Read(file) => return self.run_file(&file),
            Outcome::Run(sql) => self.run_statement(&sql)?,
            Outcome::Watch(rest) => self.watch(rest)?,
        }
        Ok(Flow::Continue)
    }

    /// Runs the last statement again and again, until Ctrl-C or an error.
    fn watch(&mut self, rest: Nanos) -> Result<(), Failure> {
        let Some(sql) = self.console.last.clone() else {
            return Err(Failure::Other("there is no statement to watch yet".to_owned()));
        };
        let machine = self.console.session.database().machine().clone();
        loop {
            self.run_statement(&sql)?;
            self.console.out.flush()?;
            let began = machine.now();
            while machine.now() - began < rest {
                if self.interrupt.take() {
                    return Ok(());
                }
                machine.sleep((rest - (machine.now() - began)).min(LOOK_EVERY));
            }
        }
    }

    /// Forgets a Ctrl-C from before, once a question that it led to has its answer.
    pub fn forget_interrupt(&self) {
        self.interrupt.settle();
    }

    fn run_statement(&mut self, sql: &str) -> Result<(), Failure> {
        // Ctrl-C between two statements of a script must end the script.
        if self.interrupt.take() {
            return Err(canceled());
        }
        let machine = self.console.session.database().machine().clone();
        let started = machine.now();
        // Lines are counted from where the statement begins.
        let sql = sql.trim_start();
        let answers = self.console.session.execute(sql);
        for Notice { severity, message, detail, hint, .. } in self.console.session.take_notices() {
            eprintln!("{severity}: {message}");
            detail.iter().for_each(|it| eprintln!("DETAIL: {it}"));
            hint.iter().for_each(|it| eprintln!("HINT: {it}"));
        }
        let answers = answers.map_err(|error| Failure::Sql(error, Some(sql.into())))?;
        let time = machine.now() - started;
        for answer in &answers {
            self.show(answer)?;
        }
        self.console.last = Some(sql.to_owned());
        if self.console.timer {
            let planning: Nanos = answers.iter().map(|it| it.profile.planning).sum();
            let (time, planning) = (time.as_millis_f64(), planning.as_millis_f64());
            writeln!(self.console.out, "Time: {time:.3} ms (planning {planning:.3} ms)")?;
        }
        Ok(())
    }

    /// Shows an answer as the user has chosen.
    pub(crate) fn show(&mut self, answer: &Answer) -> Result<(), Failure> {
        if !answer.has_rows() {
            if self.interactive {
                writeln!(self.console.out, "{}", answer.tag)?;
            }
            return Ok(());
        }
        let console = &mut self.console;
        let is_styled = console.session.styled_zone().is_some();
        let styled = is_styled.then(|| console.session.in_style(answer.clone())).transpose()?;
        let answer = styled.as_ref().unwrap_or(answer);
        let mut options = OutputOptions::plain(console.look.clone());
        let mut lines_max = None;
        if self.interactive && console.out.is_screen() {
            let terminal = hardware_linux::terminal_size();
            options.rows_max = console.rows_max;
            options.width = console.width.or(terminal.map(|it| usize::from(it.columns)));
            options.footer = answer.tag.starts_with("SELECT");
            options.faint_null = true;
            lines_max = terminal.filter(|_| console.pager).map(|it| usize::from(it.lines));
        }
        let written = match lines_max {
            None => write_answer(&mut console.out, answer, &options, &self.interrupt),
            Some(lines) => {
                let mut text = Vec::new();
                options.width = console.width;
                let written = write_answer(&mut text, answer, &options, &self.interrupt);
                written.and_then(|()| paged(&text, lines, &mut console.out))
            }
        };
        if written.is_err() && self.interrupt.take() {
            return Err(canceled());
        }
        written?;
        Ok(console.out.end_result()?)
    }
}

/// Writes a text, in the pager when it has more lines than the screen.
fn paged(text: &[u8], lines: usize, out: &mut Out) -> std::io::Result<()> {
    if text.iter().filter(|it| **it == b'\n').count() < lines {
        return out.write_all(text);
    }
    out.flush()?;
    pager::show(text, out)
}

fn canceled() -> Failure {
    SqlError::new(SqlState::QUERY_CANCELED, "stopped by Ctrl-C").into()
}
