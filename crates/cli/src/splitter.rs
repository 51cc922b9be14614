//! Cuts text into statements at semicolons that are no part of a string, a name or a comment.

/// Takes lines, gives statements.
#[derive(Debug, Default)]
pub struct StatementSplitter {
    buffer: String,
    /// What comes before has been looked at.
    at: usize,
    state: State,
    /// Whether the statement has more than blanks and comments.
    meaningful: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Plain,
    /// In quotes that end with this byte; whether a backslash takes the next byte with it.
    Quoted(u8, bool),
    LineComment,
    /// Block comments nest.
    BlockComment(u32),
    /// In a string that ends with this tag.
    Dollar(String),
}

impl StatementSplitter {
    /// Adds a line. The line feed that ends it is not part of `line`.
    pub fn push_line(&mut self, line: &str) {
        self.buffer.push_str(line);
        self.buffer.push('\n');
    }

    /// Whether the next line begins something new.
    pub fn is_blank(&self) -> bool {
        !self.meaningful && self.state == State::Plain
    }

    /// The next whole statement, without its semicolon.
    pub fn next_statement(&mut self) -> Option<String> {
        while self.at < self.buffer.len() {
            if !self.step() {
                continue;
            }
            let rest = self.buffer.split_off(self.at + 1);
            let mut statement = std::mem::replace(&mut self.buffer, rest);
            statement.truncate(self.at);
            self.at = 0;
            if std::mem::take(&mut self.meaningful) {
                return Some(statement);
            }
        }
        if self.is_blank() {
            self.buffer.clear();
            self.at = 0;
        }
        None
    }

    /// What is left at the end of the text; nothing when it is only blanks and comments. A comment that does not end may
    /// have swallowed statements: it is left, and no statement.
    pub fn finish(&mut self) -> Option<String> {
        let Self { buffer, meaningful, state, .. } = std::mem::take(self);
        (meaningful || matches!(state, State::BlockComment(_))).then_some(buffer)
    }

    /// Looks at one token; whether it is the semicolon that ends the statement.
    fn step(&mut self) -> bool {
        let bytes = self.buffer.as_bytes();
        let (byte, next) = (bytes[self.at], bytes.get(self.at + 1).copied());
        let mut length = 1;
        match &mut self.state {
            State::Plain => match (byte, next) {
                (b';', _) => return true,
                (b'-', Some(b'-')) => self.state = State::LineComment,
                (b'/', Some(b'*')) => (self.state, length) = (State::BlockComment(1), 2),
                _ => {
                    self.meaningful |= !byte.is_ascii_whitespace();
                    if let Some((state, taken)) = opening(&bytes[..self.at], &bytes[self.at..]) {
                        (self.state, length) = (state, taken);
                    }
                }
            },
            State::Quoted(_, true) if byte == b'\\' => length = 2,
            State::Quoted(quote, _) if byte == *quote => match next {
                Some(next) if next == byte => length = 2,
                _ => self.state = State::Plain,
            },
            State::Quoted(..) => {}
            State::LineComment if byte == b'\n' => self.state = State::Plain,
            State::LineComment => {}
            State::BlockComment(depth) => match (byte, next) {
                (b'/', Some(b'*')) => (*depth, length) = (*depth + 1, 2),
                (b'*', Some(b'/')) => {
                    (*depth, length) = (*depth - 1, 2);
                    if *depth == 0 {
                        self.state = State::Plain;
                    }
                }
                _ => {}
            },
            State::Dollar(tag) if bytes[self.at..].starts_with(tag.as_bytes()) => {
                length = tag.len();
                self.state = State::Plain;
            }
            State::Dollar(_) => {}
        }
        self.at += length;
        false
    }
}

/// The state that a quote leads to, and the length of its opening.
fn opening(before: &[u8], rest: &[u8]) -> Option<(State, usize)> {
    let is_name = |it: u8| it.is_ascii_alphanumeric() || it == b'_' || it >= 0x80;
    match rest[0] {
        b'\'' => {
            let escapes = match before {
                [.., name, b'E' | b'e'] => !is_name(*name),
                [b'E' | b'e'] => true,
                _ => false,
            };
            Some((State::Quoted(b'\'', escapes), 1))
        }
        b'"' => Some((State::Quoted(b'"', false), 1)),
        b'$' if !before.last().is_some_and(|&it| is_name(it)) => {
            let name = rest[1..].iter().take_while(|&&it| is_name(it)).count();
            let tag = rest.get(..name + 2)?;
            let named = name > 0 && tag[1].is_ascii_digit();
            if tag[name + 1] != b'$' || named {
                return None;
            }
            Some((State::Dollar(String::from_utf8_lossy(tag).into_owned()), tag.len()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The statements of a text, what is left last, if anything.
    fn split(text: &str) -> Vec<String> {
        let mut splitter = StatementSplitter::default();
        let mut statements = Vec::new();
        for line in text.lines() {
            splitter.push_line(line);
            statements.extend(std::iter::from_fn(|| splitter.next_statement()));
        }
        statements.extend(splitter.finish());
        statements.iter().map(|it| it.trim().to_owned()).collect()
    }

    #[test]
    fn semicolons_end_statements() {
        assert_eq!(split("select 1; select\n2;select 3"), ["select 1", "select\n2", "select 3"]);
        assert!(split("").is_empty());
        assert!(split(" ;;\n ; -- nothing; at all\n/* nor; here */;").is_empty());
    }

    #[test]
    fn quotes_hide_semicolons() {
        let whole = |text: &str| assert_eq!(split(&format!("{text}; x")), [text, "x"], "{text}");
        whole("select 'a;b'");
        whole("select 'it''s; here'");
        whole("select 'back\\'");
        whole("select e'it\\'s; here'");
        whole("select E'\\\\'");
        whole("select some'\\'");
        whole("select \"a;b\" from \"c\"\"d;\"");
        whole("select 'two\nlines;'");
        whole("select 'gr\u{fc}n;'");
    }

    #[test]
    fn comments_hide_semicolons_and_quotes() {
        assert_eq!(split("select 1 -- it's; so\n+ 2; x"), ["select 1 -- it's; so\n+ 2", "x"]);
        assert_eq!(
            split("select /* a; /* b; */ ' c; */ 1; x"),
            ["select /* a; /* b; */ ' c; */ 1", "x"]
        );
        assert_eq!(split("select 1 - 2 / 3 * 4; x"), ["select 1 - 2 / 3 * 4", "x"]);
        assert_eq!(split("-- first\nselect 1; -- last"), ["select 1"]);
    }

    #[test]
    fn dollar_quotes_hide_everything() {
        assert_eq!(split("select $$a;'b$$; x"), ["select $$a;'b$$", "x"]);
        assert_eq!(split("select $t$a;$$;$u$;$t$; x"), ["select $t$a;$$;$u$;$t$", "x"]);
        assert_eq!(split("select a$b; select $1; x"), ["select a$b", "select $1", "x"]);
    }

    #[test]
    fn what_is_open_waits_for_more() {
        let mut splitter = StatementSplitter::default();
        assert!(splitter.is_blank());
        for (line, blank) in [("-- c", true), ("/* open", false), ("*/", true), ("select '", false)]
        {
            splitter.push_line(line);
            assert_eq!(splitter.next_statement(), None);
            assert_eq!(splitter.is_blank(), blank, "{line}");
        }
        splitter.push_line("';");
        assert_eq!(splitter.next_statement().as_deref(), Some("select '\n'"));
        assert_eq!(splitter.next_statement(), None);
        assert!(splitter.is_blank());
        splitter.push_line("select 'never closed");
        assert_eq!(splitter.next_statement(), None);
        assert_eq!(splitter.finish().as_deref(), Some("select 'never closed\n"));
        assert_eq!(
            split("select 1; /* never closed; select 2"),
            ["select 1", "/* never closed; select 2"]
        );
        assert_eq!(split("select 1; -- closed by the end"), ["select 1"]);
    }
}
