//! JSON_EXISTS, JSON_QUERY and JSON_VALUE: calls with words in them.
//!
//! Key decision: before parsing, the words become arguments of a call of a name that no user can write, in a fixed order: the
//! JSON, the path, its variables, a NULL of the type that is wanted, words about wrappers and quotes, and for nothing and for errors
//! a word and a value each. Binding knows what they mean.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};
use types::{SqlError, SqlResult, SqlState};

use crate::from_end;
use crate::own_names::JSON_QUERIES;
use crate::steering::is_word;

/// Words that end what stands before them, at the level of the call.
const CLAUSES: [&str; 13] = [
    "passing",
    "returning",
    "with",
    "without",
    "keep",
    "omit",
    "error",
    "null",
    "default",
    "true",
    "false",
    "unknown",
    "empty",
];

/// Whether a statement with such a token may have such a call.
pub(crate) fn is_about(token: &Token) -> bool {
    is_word(token, "json_table") || JSON_QUERIES.iter().any(|it| is_word(token, it.0))
}

/// Brings these calls to what the parser knows; the tokens have no blanks.
pub(crate) fn known_words(tokens: &mut Vec<TokenWithSpan>) -> SqlResult<()> {
    from_end::rewrite(tokens, |_, rest| {
        let call = JSON_QUERIES.iter().find(|it| is_word(&rest[0].token, it.0));
        let Some((_, name)) = call else { return Ok(None) };
        if rest.get(1).is_none_or(|it| it.token != Token::LParen) {
            return Ok(None);
        }
        let Some(end) = closing(rest, 1) else { return Ok(None) };
        let call = Reader { tokens: &rest[2..end], at: 0, span: rest[0].span }.call(name)?;
        Ok(Some((end + 1, call)))
    })
}

/// The bracket that closes the one at a place.
pub(crate) fn closing(tokens: &[TokenWithSpan], open: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (place, it) in tokens.iter().enumerate().skip(open) {
        match it.token {
            Token::LParen | Token::LBracket | Token::LBrace => depth += 1,
            Token::RParen | Token::RBracket | Token::RBrace => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(place);
                }
            }
            _ => {}
        }
    }
    None
}

pub(crate) fn name(value: &str) -> Token {
    let keyword = Keyword::NoKeyword;
    Token::Word(Word { value: value.to_owned(), quote_style: Some('"'), keyword })
}

/// What stands for nothing, or for an error.
#[derive(Default)]
struct Behaviour {
    word: Option<&'static str>,
    value: Vec<TokenWithSpan>,
}

/// The tokens of a call, read one behind the other.
pub(crate) struct Reader<'t> {
    pub(crate) tokens: &'t [TokenWithSpan],
    pub(crate) at: usize,
    /// Where the call stands.
    pub(crate) span: sqlparser::tokenizer::Span,
}

impl Reader<'_> {
    pub(crate) fn is(&self, word: &str) -> bool {
        self.tokens.get(self.at).is_some_and(|it| is_word(&it.token, word))
    }

    pub(crate) fn takes(&mut self, word: &str) -> bool {
        let is_there = self.is(word);
        self.at += usize::from(is_there);
        is_there
    }

    pub(crate) fn wrong(&self) -> SqlError {
        let token = self
            .tokens
            .get(self.at)
            .map_or("the end of the call".to_owned(), |it| format!("\"{}\"", it.token));
        let message = format!("syntax error at or near {token}");
        let span = self.tokens.get(self.at).map_or(self.span, |it| it.span);
        SqlError::new(SqlState::SYNTAX, message)
            .at(span.start.line as u32, span.start.column as u32)
    }

    pub(crate) fn expect(&mut self, word: &str) -> SqlResult<()> {
        if self.takes(word) { Ok(()) } else { Err(self.wrong()) }
    }

    /// Tokens up to a comma or one of some words outside of brackets.
    fn up_to(&mut self, words: &[&str]) -> SqlResult<Vec<TokenWithSpan>> {
        let start = self.at;
        let mut depth = 0usize;
        while let Some(it) = self.tokens.get(self.at) {
            match &it.token {
                Token::LParen | Token::LBracket | Token::LBrace => depth += 1,
                Token::RParen | Token::RBracket | Token::RBrace => depth = depth.saturating_sub(1),
                Token::Comma if depth == 0 => break,
                token
                    if depth == 0
                        && self.at > start
                        && words.iter().any(|it| is_word(token, it)) =>
                {
                    break;
                }
                _ => {}
            }
            self.at += 1;
        }
        if self.at == start {
            return Err(self.wrong());
        }
        Ok(self.tokens[start..self.at].to_vec())
    }

    fn call(mut self, of: &str) -> SqlResult<Vec<TokenWithSpan>> {
        let json = self.up_to(&["format"])?;
        if self.takes("format") {
            self.expect("json")?;
        }
        if self.tokens.get(self.at).is_none_or(|it| it.token != Token::Comma) {
            return Err(self.wrong());
        }
        self.at += 1;
        let path = self.up_to(&CLAUSES)?;
        let variables = self.variables()?;
        let returning = self.returning()?;
        let (wrapper, omits_quotes) = self.wrapper_and_quotes(of)?;
        let [on_empty, on_error] = self.behaviours(of)?;
        if self.at < self.tokens.len() {
            return Err(self.wrong());
        }
        let quotes = if omits_quotes { "omit" } else { "keep" };
        let mut out = self.tokens_of(vec![name(of), Token::LParen]);
        out.extend(json);
        out.push(self.token(Token::Comma));
        out.extend(path);
        out.push(self.token(Token::Comma));
        out.extend(variables);
        out.push(self.token(Token::Comma));
        out.extend(returning);
        for text in [wrapper, quotes] {
            out.push(self.token(Token::Comma));
            out.push(self.text(text));
        }
        for behaviour in [on_empty, on_error] {
            out.push(self.token(Token::Comma));
            out.push(self.text(behaviour.word.unwrap_or("")));
            out.push(self.token(Token::Comma));
            match behaviour.value.is_empty() {
                true => out.push(self.token(word("NULL", Keyword::NULL))),
                false => out.extend(behaviour.value),
            }
        }
        out.push(self.token(Token::RParen));
        Ok(out)
    }

    pub(crate) fn token(&self, token: Token) -> TokenWithSpan {
        TokenWithSpan { token, span: self.span }
    }

    pub(crate) fn text(&self, text: &str) -> TokenWithSpan {
        self.token(Token::SingleQuotedString(text.to_owned()))
    }

    pub(crate) fn tokens_of(&self, tokens: Vec<Token>) -> Vec<TokenWithSpan> {
        tokens.into_iter().map(|it| self.token(it)).collect()
    }

    /// `PASSING value AS name, ..` as a call that builds the object of them.
    fn variables(&mut self) -> SqlResult<Vec<TokenWithSpan>> {
        let mut out = self.tokens_of(vec![name("jsonb_build_object"), Token::LParen]);
        if self.takes("passing") {
            loop {
                let value = self.up_to(&["as"])?;
                self.expect("as")?;
                let Some(Token::Word(of)) = self.tokens.get(self.at).map(|it| &it.token) else {
                    return Err(self.wrong());
                };
                let key = match of.quote_style {
                    Some(_) => of.value.clone(),
                    None => of.value.to_lowercase(),
                };
                self.at += 1;
                if out.len() > 2 {
                    out.push(self.token(Token::Comma));
                }
                out.push(self.text(&key));
                out.push(self.token(Token::Comma));
                out.extend(value);
                if self.tokens.get(self.at).is_none_or(|it| it.token != Token::Comma) {
                    break;
                }
                self.at += 1;
            }
        }
        out.push(self.token(Token::RParen));
        Ok(out)
    }

    /// `RETURNING type` as a NULL of the type.
    fn returning(&mut self) -> SqlResult<Vec<TokenWithSpan>> {
        if !self.takes("returning") {
            return Ok(vec![self.token(word("NULL", Keyword::NULL))]);
        }
        let words = [&CLAUSES[..], &["format"]].concat();
        let data_type = self.up_to(&words)?;
        if self.takes("format") {
            self.expect("json")?;
        }
        Ok(self.null_of(data_type))
    }

    /// A NULL of a type.
    pub(crate) fn null_of(&self, data_type: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
        let mut out = self.tokens_of(vec![
            word("CAST", Keyword::CAST),
            Token::LParen,
            word("NULL", Keyword::NULL),
            word("AS", Keyword::AS),
        ]);
        out.extend(data_type);
        out.push(self.token(Token::RParen));
        out
    }

    fn wrapper_and_quotes(&mut self, of: &str) -> SqlResult<(&'static str, bool)> {
        if of != "json\nquery" {
            return Ok(("value", false));
        }
        let mut wrapper = "query";
        if self.takes("without") {
            self.takes("array");
            self.expect("wrapper")?;
        } else if self.takes("with") {
            wrapper = match self.takes("conditional") {
                true => "perhaps",
                false => {
                    self.takes("unconditional");
                    "wrapped"
                }
            };
            self.takes("array");
            self.expect("wrapper")?;
        }
        let omits = self.is("omit");
        if omits || self.is("keep") {
            self.at += 1;
            self.expect("quotes")?;
            if self.takes("on") {
                self.expect("scalar")?;
                self.expect("string")?;
            }
            if omits && wrapper != "query" {
                let message =
                    "SQL/JSON QUOTES behavior must not be specified when WITH WRAPPER is used";
                return Err(SqlError::new(SqlState::SYNTAX, message));
            }
        }
        Ok((wrapper, omits))
    }

    /// What is said for nothing and for errors, in this order.
    fn behaviours(&mut self, of: &str) -> SqlResult<[Behaviour; 2]> {
        let mut both = [Behaviour::default(), Behaviour::default()];
        let mut known = 0;
        while self.at < self.tokens.len() {
            let mut said = Behaviour::default();
            said.word = Some(match () {
                () if self.takes("error") => "error",
                () if self.takes("null") => "null",
                () if of == "json\nexists" && self.takes("true") => "true",
                () if of == "json\nexists" && self.takes("false") => "false",
                () if of == "json\nexists" && self.takes("unknown") => "null",
                () if of == "json\nquery" && self.takes("empty") => match self.takes("object") {
                    true => "object",
                    false => {
                        self.takes("array");
                        "array"
                    }
                },
                () if of != "json\nexists" && self.takes("default") => {
                    said.value = self.up_to(&["on"])?;
                    "default"
                }
                () => return Err(self.wrong()),
            });
            self.expect("on")?;
            let place = match () {
                () if of != "json\nexists" && known == 0 && self.takes("empty") => 0,
                () if self.takes("error") => 1,
                () => return Err(self.wrong()),
            };
            both[place] = said;
            known = place + 1;
            if known == 2 {
                break;
            }
        }
        Ok(both)
    }
}

pub(crate) fn word(value: &str, keyword: Keyword) -> Token {
    Token::Word(Word { value: value.to_owned(), quote_style: None, keyword })
}

/// The object of what stands behind PASSING.
pub(crate) fn variables_of(
    passing: &[TokenWithSpan],
    span: sqlparser::tokenizer::Span,
) -> SqlResult<Vec<TokenWithSpan>> {
    Reader { tokens: passing, at: 0, span }.variables()
}
