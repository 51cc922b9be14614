//! DO: reads blocks of statements, IF, EXCEPTION, RAISE, PERFORM and EXECUTE.

use sqlparser::tokenizer::{Location, Token, TokenWithSpan};
use types::{SqlError, SqlResult, SqlState};

use crate::block::{Block, BlockStep, Handler, Raise, RaiseLevel};
use crate::conditions::{self, Condition};
use crate::cursor::Cursor;
use crate::statement::Statement;
use crate::syntax::unsupported;
use crate::tokenizing::tokenized;

/// What a step is that is a statement of SQL.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Query,
    TableOfQuery,
    Transaction,
    Other,
}

/// Reads a text of SQL, to know whether it can be read, and what it is.
pub(crate) type Read<'r> = &'r dyn Fn(&str) -> SqlResult<Kind>;

/// DO, if the tokens are it.
pub(crate) fn recognise(tokens: &[TokenWithSpan], read: Read<'_>) -> SqlResult<Option<Statement>> {
    let mut cursor = Cursor::new(tokens);
    if !cursor.take("DO") {
        return Ok(None);
    }
    let (mut language, mut body) = (None, None);
    while !cursor.is_at_end() {
        if cursor.take("LANGUAGE") {
            language = Some(match cursor.peek() {
                Some(Token::SingleQuotedString(name)) => {
                    cursor.advance();
                    name.to_lowercase()
                }
                _ => cursor.name("the name of a language")?,
            });
            continue;
        }
        let Some(Token::SingleQuotedString(text)) = cursor.peek() else {
            return Err(cursor.expected("a block in quotes"));
        };
        cursor.advance();
        if body.replace(text).is_some() {
            let message = "conflicting or redundant options";
            return Err(SqlError::new(SqlState::SYNTAX, message));
        }
    }
    if let Some(language) = language.filter(|it| it != "plpgsql") {
        return Err(unsupported(format!("DO in language \"{language}\"")));
    }
    let body = body.ok_or_else(|| SqlError::new(SqlState::SYNTAX, "no inline code specified"))?;
    Ok(Some(Statement::Do(block(body, read)?)))
}

/// The block that a text is. Errors: 42601, and 0A000 for what blocks have not here.
fn block(text: &str, read: Read<'_>) -> SqlResult<Block> {
    let mut tokens = tokenized(text)?;
    tokens.retain(|it| !matches!(it.token, Token::Whitespace(_)));
    let offsets = offsets(text, &tokens);
    let mut reader = Reader { text, offsets, cursor: Cursor::new(&tokens), depth: 0, read };
    let block = reader.block()?;
    reader.cursor.take_sign(&Token::SemiColon);
    reader.cursor.expect_end()?;
    Ok(block)
}

/// Blocks and IFs in one another, at most.
const DEPTH_MAX: usize = 100;

/// SQL of a handler with what `sqlerrm` and `sqlstate` mean there: the message and the state of the error.
pub fn with_caught(text: &str, caught: Option<&SqlError>) -> SqlResult<String> {
    let Some(caught) = caught else { return Ok(text.to_owned()) };
    let tokens = tokenized(text)?;
    let offsets = offsets(text, &tokens);
    let (mut out, mut from) = (String::with_capacity(text.len()), 0);
    for (token, at) in tokens.iter().zip(offsets) {
        let values = [("sqlerrm", &*caught.message), ("sqlstate", caught.state.0)];
        let Some((word, value)) = values.iter().find(|it| is_word(&token.token, it.0)) else {
            continue;
        };
        out.push_str(&text[from..at]);
        out.push_str(&format!("'{}'", value.replace('\'', "''")));
        from = at + word.len();
    }
    out.push_str(&text[from..]);
    Ok(out)
}

struct Reader<'a> {
    text: &'a str,
    /// Where the tokens begin.
    offsets: Vec<usize>,
    cursor: Cursor<'a>,
    depth: usize,
    read: Read<'a>,
}

impl Reader<'_> {
    /// `[DECLARE] BEGIN .. END`, without the semicolon.
    fn block(&mut self) -> SqlResult<Block> {
        if self.cursor.sees(&["DECLARE"]) {
            return Err(no_variables("DECLARE"));
        }
        self.cursor.expect("BEGIN")?;
        let steps = self.steps()?;
        let mut handlers = Vec::new();
        if self.cursor.take("EXCEPTION") {
            while self.cursor.take("WHEN") {
                handlers.push(self.handler()?);
            }
            if handlers.is_empty() {
                return Err(self.cursor.expected("WHEN"));
            }
        }
        self.cursor.expect("END")?;
        Ok(Block { steps, handlers })
    }

    fn handler(&mut self) -> SqlResult<Handler> {
        let mut conditions = Vec::new();
        loop {
            let name = self.cursor.name("the name of a condition")?;
            conditions.push(match &*name {
                "others" => Condition::Others,
                name => self.condition_of(name)?,
            });
            if !self.cursor.take("OR") {
                break;
            }
        }
        self.cursor.expect("THEN")?;
        Ok(Handler { conditions, steps: self.steps()? })
    }

    /// The condition of a name, or of the state behind the word SQLSTATE.
    fn condition_of(&mut self, name: &str) -> SqlResult<Condition> {
        match name {
            "sqlstate" => conditions::of_state(&self.constant()?),
            name => conditions::named(name),
        }
    }

    /// Steps up to a word that ends them.
    fn steps(&mut self) -> SqlResult<Vec<BlockStep>> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            let message = "blocks stand in one another too deeply";
            return Err(SqlError::new(SqlState::STATEMENT_TOO_COMPLEX, message));
        }
        let mut steps = Vec::new();
        loop {
            let ends = ["END", "EXCEPTION", "WHEN", "ELSE", "ELSIF", "ELSEIF"];
            if self.cursor.is_at_end() || ends.iter().any(|it| self.cursor.sees(&[it])) {
                self.depth -= 1;
                return Ok(steps);
            }
            steps.extend(self.step()?);
        }
    }

    fn step(&mut self) -> SqlResult<Option<BlockStep>> {
        if self.cursor.sees(&["BEGIN"]) || self.cursor.sees(&["DECLARE"]) {
            let block = self.block()?;
            self.end_of_step()?;
            return Ok(Some(BlockStep::Block(block)));
        }
        if self.cursor.take("IF") {
            return self.condition().map(Some);
        }
        if self.cursor.take("RAISE") {
            return self.raise().map(Some);
        }
        if self.cursor.take("NULL") {
            self.end_of_step()?;
            return Ok(None);
        }
        if self.cursor.take("RETURN") {
            self.end_of_step()?;
            return Ok(Some(BlockStep::Return));
        }
        if self.cursor.take("PERFORM") {
            let query = format!("SELECT {}", self.up_to_end()?);
            (self.read)(&query)?;
            return Ok(Some(BlockStep::Perform(query)));
        }
        if self.cursor.take("EXECUTE") {
            let (text, inside) = self.piece(&|it| *it == Token::SemiColon)?;
            self.end_of_step()?;
            if ["INTO", "USING"].iter().any(|it| inside.iter().any(|token| is_word(token, it))) {
                return Err(no_variables("EXECUTE .. INTO and USING"));
            }
            (self.read)(&format!("SELECT ({text})"))?;
            return Ok(Some(BlockStep::Execute(text)));
        }
        self.statement().map(Some)
    }

    /// A statement of SQL.
    fn statement(&mut self) -> SqlResult<BlockStep> {
        const STEERING: [&str; 9] =
            ["FOR", "FOREACH", "WHILE", "LOOP", "CASE", "EXIT", "CONTINUE", "GET", "ASSERT"];
        if let Some(word) = STEERING.iter().find(|it| self.cursor.sees(&[it])) {
            return Err(no_variables(word));
        }
        // Blocks in texts of blocks would be read within one another.
        if self.cursor.sees(&["DO"]) {
            return Err(unsupported("DO in a block"));
        }
        if self.cursor.peek() == Some(&Token::ShiftLeft) {
            return Err(no_variables("a label"));
        }
        let mut ahead = self.cursor;
        ahead.advance();
        if matches!(ahead.peek(), Some(Token::Assignment | Token::Eq)) {
            return Err(no_variables("an assignment"));
        }
        let is_query = ["SELECT", "WITH", "VALUES", "TABLE", "FROM"];
        let is_query = is_query.iter().any(|it| self.cursor.sees(&[it]));
        let text = self.up_to_end()?;
        match (self.read)(&text)? {
            Kind::TableOfQuery if is_query => Err(no_variables("SELECT .. INTO")),
            Kind::Transaction => Err(unsupported("a statement about transactions in a block")),
            Kind::Query => {
                let message = "query has no destination for result data";
                Err(SqlError::new(SqlState::SYNTAX, message).with_hint(
                    "If you want to discard the results of a SELECT, use PERFORM instead.",
                ))
            }
            Kind::TableOfQuery | Kind::Other => Ok(BlockStep::Statement(text)),
        }
    }

    /// What stands behind IF.
    fn condition(&mut self) -> SqlResult<BlockStep> {
        let (mut branches, mut otherwise) = (Vec::new(), Vec::new());
        loop {
            let (condition, _) = self.piece(&|it| is_word(it, "THEN"))?;
            (self.read)(&format!("SELECT ({condition})"))?;
            self.cursor.expect("THEN")?;
            branches.push((condition, self.steps()?));
            if self.cursor.take("ELSIF") || self.cursor.take("ELSEIF") {
                continue;
            }
            if self.cursor.take("ELSE") {
                otherwise = self.steps()?;
            }
            self.cursor.expect("END")?;
            self.cursor.expect("IF")?;
            self.end_of_step()?;
            return Ok(BlockStep::If { branches, otherwise });
        }
    }

    /// What stands behind RAISE.
    fn raise(&mut self) -> SqlResult<BlockStep> {
        let levels = [
            ("DEBUG", RaiseLevel::Quiet),
            ("LOG", RaiseLevel::Quiet),
            ("INFO", RaiseLevel::Info),
            ("NOTICE", RaiseLevel::Notice),
            ("WARNING", RaiseLevel::Warning),
            ("EXCEPTION", RaiseLevel::Error),
        ];
        let level = levels.iter().find(|it| self.cursor.take(it.0)).map(|it| it.1);
        let mut raise = Raise {
            level: level.unwrap_or(RaiseLevel::Error),
            message: None,
            arguments: Vec::new(),
            state: None,
            detail: None,
            hint: None,
        };
        match self.cursor.peek() {
            Some(Token::SingleQuotedString(text)) => {
                raise.message = Some(text.clone());
                self.cursor.advance();
                while self.cursor.take_sign(&Token::Comma) {
                    raise.arguments.push(self.argument()?);
                }
            }
            Some(Token::Word(_)) if !self.cursor.sees(&["USING"]) => {
                let name = self.cursor.name("the name of a condition")?;
                raise.state = self.condition_of(&name)?.state();
                let code = raise.state.filter(|_| name == "sqlstate").map(|it| it.0.to_owned());
                raise.message = Some(code.unwrap_or(name));
            }
            _ => {}
        }
        if self.cursor.take("USING") {
            self.using(&mut raise)?;
        }
        self.end_of_step()?;
        check_arguments(&raise)?;
        if raise.message.is_none() && level.is_some() {
            return Err(SqlError::new(SqlState::SYNTAX, "syntax error: RAISE without a message"));
        }
        Ok(BlockStep::Raise(raise))
    }

    fn using(&mut self, raise: &mut Raise) -> SqlResult<()> {
        loop {
            let option = self.cursor.name("an option of RAISE")?;
            if !self.cursor.take_sign(&Token::Eq) {
                self.cursor.expect_sign(&Token::Assignment)?;
            }
            match &*option {
                "errcode" => {
                    let said = self.constant()?;
                    raise.state = conditions::said(&said)?.state();
                    // Without another message.
                    raise.message.get_or_insert(said);
                }
                "message" => {
                    raise.message = Some("%".to_owned());
                    raise.arguments = vec![self.argument()?];
                }
                "detail" => raise.detail = Some(self.argument()?),
                "hint" => raise.hint = Some(self.argument()?),
                other => return Err(unsupported(format!("RAISE .. USING {other}"))),
            }
            if !self.cursor.take_sign(&Token::Comma) {
                return Ok(());
            }
        }
    }

    /// An expression up to a comma, USING or the end of the step.
    fn argument(&mut self) -> SqlResult<String> {
        let ends =
            |it: &Token| matches!(it, Token::SemiColon | Token::Comma) || is_word(it, "USING");
        let (text, _) = self.piece(&ends)?;
        (self.read)(&format!("SELECT ({text})"))?;
        Ok(text)
    }

    /// A constant in quotes.
    fn constant(&mut self) -> SqlResult<String> {
        let Some(Token::SingleQuotedString(text)) = self.cursor.peek() else {
            return Err(self.cursor.expected("a constant in quotes"));
        };
        self.cursor.advance();
        Ok(text.clone())
    }

    fn end_of_step(&mut self) -> SqlResult<()> {
        self.cursor.expect_sign(&Token::SemiColon)
    }

    fn up_to_end(&mut self) -> SqlResult<String> {
        let (text, _) = self.piece(&|it| *it == Token::SemiColon)?;
        self.end_of_step()?;
        Ok(text)
    }

    /// The text up to a token that ends it, outside of parentheses and CASE, and the tokens there that stand in none.
    fn piece(&mut self, ends: &dyn Fn(&Token) -> bool) -> SqlResult<(String, Vec<Token>)> {
        let first = self.cursor.at();
        let (mut open, mut cases, mut outside) = (0_usize, 0_usize, Vec::new());
        while let Some(token) = self.cursor.peek() {
            if open == 0 && cases == 0 && ends(token) {
                break;
            }
            match token {
                Token::LParen | Token::LBracket => open += 1,
                Token::RParen | Token::RBracket => open = open.saturating_sub(1),
                it if is_word(it, "CASE") => cases += 1,
                it if is_word(it, "END") => cases = cases.saturating_sub(1),
                it if open == 0 => outside.push(it.clone()),
                _ => {}
            }
            self.cursor.advance();
        }
        let (last, Some(_)) = (self.cursor.at(), self.cursor.peek()) else {
            return Err(self.cursor.expected("the end of a step"));
        };
        if first == last {
            return Err(self.cursor.expected("a step"));
        }
        let text = &self.text[self.offsets[first]..self.offsets[last]];
        Ok((text.trim_end().to_owned(), outside))
    }
}

/// Refuses a message with more or fewer `%` than arguments.
fn check_arguments(raise: &Raise) -> SqlResult<()> {
    let Some(message) = &raise.message else { return Ok(()) };
    let wanted = message.replace("%%", "").matches('%').count();
    let what = match wanted.cmp(&raise.arguments.len()) {
        std::cmp::Ordering::Equal => return Ok(()),
        std::cmp::Ordering::Less => "too many parameters specified for RAISE",
        std::cmp::Ordering::Greater => "too few parameters specified for RAISE",
    };
    Err(SqlError::new(SqlState::SYNTAX, what))
}

fn no_variables(what: &str) -> SqlError {
    unsupported(format!("{what} in a block")).with_hint(
        "blocks have statements, IF, EXCEPTION, RAISE, PERFORM and EXECUTE, and no variables",
    )
}

fn is_word(token: &Token, word: &str) -> bool {
    matches!(token, Token::Word(it)
        if it.quote_style.is_none() && it.value.eq_ignore_ascii_case(word))
}

/// The bytes of a text at which tokens begin.
fn offsets(text: &str, tokens: &[TokenWithSpan]) -> Vec<usize> {
    let (mut line, mut column, mut chars) = (1, 1, text.char_indices().peekable());
    let begin = |it: &TokenWithSpan| {
        let Location { line: of_line, column: of_column } = it.span.start;
        while (line, column) < (of_line, of_column) {
            match chars.next() {
                Some((_, '\n')) => (line, column) = (line + 1, 1),
                Some(_) => column += 1,
                None => break,
            }
        }
        chars.peek().map_or(text.len(), |it| it.0)
    };
    tokens.iter().map(begin).collect()
}
