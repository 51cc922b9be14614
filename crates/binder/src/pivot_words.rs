//! PIVOT and UNPIVOT as statements, and what DuckDB says within them, which the parser does not know: `PIVOT t ON a [IN (..)] USING sum(b)
//! GROUP BY c`, `FROM t PIVOT (sum(b) FOR a IN (1) c IN (2) GROUP BY d)`, `UNPIVOT t ON a, b INTO NAME n VALUE v`.
//!
//! Key decision: each becomes a PIVOT or UNPIVOT in FROM, whose parts stand in calls of names that no user can write
//! ([`crate::own_names`]). So one place binds all forms.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Span, Token, TokenWithSpan, Word};
use types::{SqlError, SqlResult, SqlState};

use crate::from_first::begins_query;
use crate::joined_relations::source_end;
use crate::own_names::{PIVOT_ALIAS, PIVOT_KEYS, PIVOT_OPEN, PIVOT_USING, PIVOT_VALUES};
use crate::sql_json_words::{Reader, closing, name};
use crate::steering::{is_any, is_word};

/// The most of them in a text.
const PIVOTS_MAX: usize = 100;

const PIVOT: [&str; 2] = ["pivot", "pivot_wider"];
const UNPIVOT: [&str; 2] = ["unpivot", "pivot_longer"];

type Tokens = Vec<TokenWithSpan>;

/// Brings all of them to what the parser knows; the tokens have no blanks.
///
/// Errors: 42601, and 54001 for very many of them.
pub(crate) fn known_words(tokens: &mut Tokens) -> SqlResult<()> {
    let is_about = |it: &&TokenWithSpan| is_any(&it.token, &PIVOT) || is_any(&it.token, &UNPIVOT);
    let count = tokens.iter().filter(is_about).count();
    if count > PIVOTS_MAX {
        let message = format!("a statement may have {PIVOTS_MAX} PIVOT and UNPIVOT");
        return Err(SqlError::new(SqlState::STATEMENT_TOO_COMPLEX, message));
    }
    if count == 0 {
        return Ok(());
    }
    // Those inside of others come behind them.
    for at in (0..tokens.len()).rev() {
        let is_pivot = is_any(&tokens[at].token, &PIVOT);
        if !is_pivot && !is_any(&tokens[at].token, &UNPIVOT) {
            continue;
        }
        if in_from(tokens, at) {
            if is_pivot {
                parts_in_from(tokens, at)?;
            }
        } else if may_begin(tokens, at)
            && let Some(source) = source_end(tokens, at + 1)
        {
            let mut statement = Pivot {
                reader: Reader { tokens, at: source, span: tokens[at].span },
                source: &tokens[at + 1..source],
            };
            let made = if is_pivot { statement.pivot()? } else { statement.unpivot()? };
            let end = statement.reader.at;
            tokens.splice(at..end, made);
        }
    }
    Ok(())
}

/// Whether it stands behind a relation: with parentheses in which there is FOR.
fn in_from(tokens: &[TokenWithSpan], at: usize) -> bool {
    let mut open = at + 1;
    if tokens.get(open + 1).is_some_and(|it| is_word(&it.token, "nulls")) {
        open += 2;
    }
    let is_open = tokens.get(open).is_some_and(|it| it.token == Token::LParen);
    is_open && for_within(tokens, open).is_some()
}

/// The place of the FOR in parentheses.
fn for_within(tokens: &[TokenWithSpan], open: usize) -> Option<usize> {
    let mut at = open + 1;
    loop {
        match &tokens.get(at)?.token {
            Token::LParen | Token::LBracket | Token::LBrace => at = closing(tokens, at)?,
            Token::RParen => return None,
            it if is_word(it, "for") => return Some(at),
            _ => {}
        }
        at += 1;
    }
}

/// Whether a statement or a query can begin at a place.
fn may_begin(tokens: &[TokenWithSpan], at: usize) -> bool {
    let begins = |words: &[&str]| tokens.first().is_some_and(|it| is_any(&it.token, words));
    let of_macro =
        at > 1 && is_word(&tokens[at - 1].token, "table") && is_word(&tokens[at - 2].token, "as");
    begins_query(tokens, at)
        || of_macro
        || (tokens[at - 1].token == Token::RParen && begins(&["with", "insert"]))
        || (matches!(tokens[at - 1].token, Token::Word(_)) && begins(&["insert"]))
}

/// Words that end a list of a statement.
const ENDS: [&str; 10] =
    ["using", "group", "order", "limit", "offset", "fetch", "union", "except", "intersect", "into"];

/// A statement, behind its relation.
struct Pivot<'t> {
    reader: Reader<'t>,
    source: &'t [TokenWithSpan],
}

impl<'t> Pivot<'t> {
    fn pivot(&mut self) -> SqlResult<Tokens> {
        let on = if self.reader.takes("on") { self.list(&ENDS)? } else { Vec::new() };
        let using = if self.reader.takes("using") { self.list(&ENDS)? } else { Vec::new() };
        let keys = match self.reader.takes("group") {
            true => {
                self.reader.expect("by")?;
                Some(self.list(&ENDS)?)
            }
            false => None,
        };
        let span = self.reader.span;
        let mut out = Out { tokens: Vec::new(), span };
        if on.is_empty() {
            // Nothing becomes columns: it is a query with groups.
            let keys = keys.unwrap_or_default();
            out.words("SELECT");
            out.list(keys.iter().chain(&using).map(|it| it.to_vec()));
            out.words("FROM");
            out.tokens.extend_from_slice(self.source);
            if !keys.is_empty() {
                out.words("GROUP BY");
                out.list(keys.iter().map(|it| it.to_vec()));
            }
            return Ok(out.tokens);
        }
        self.begin(&mut out, "PIVOT");
        out.push(Token::LParen);
        let calls = match using.is_empty() {
            true => vec![count_all(span)],
            false => using.iter().map(|it| aliased(it, span)).collect(),
        };
        out.call(PIVOT_USING, calls);
        if let Some(keys) = keys {
            out.push(Token::Comma);
            out.call(PIVOT_KEYS, keys.iter().map(|it| it.to_vec()));
        }
        out.columns(on.iter().map(|it| column(it, span)));
        out.push(Token::RParen);
        Ok(out.tokens)
    }

    fn unpivot(&mut self) -> SqlResult<Tokens> {
        self.reader.expect("on")?;
        let on = self.list(&ENDS)?;
        let span = self.reader.span;
        let (mut name, mut values) = (vec![word("name", span)], vec![vec![word("value", span)]]);
        if self.reader.takes("into") {
            self.reader.expect("name")?;
            name = self.list(&["value"])?.concat();
            self.reader.expect("value")?;
            values = self.list(&ENDS)?.into_iter().map(<[_]>::to_vec).collect();
        }
        let mut out = Out { tokens: Vec::new(), span };
        self.begin(&mut out, "UNPIVOT");
        out.push(Token::LParen);
        match &values[..] {
            [value] => out.tokens.extend_from_slice(value),
            _ => out.group(values),
        }
        out.words("FOR");
        out.tokens.extend(name);
        out.words("IN");
        out.group(on.iter().map(|it| match it.first() {
            // All columns, or all but some.
            Some(first) if first.token == Token::Mul => {
                let mut all = vec![word("columns", span), at(Token::LParen, span)];
                all.extend_from_slice(it);
                all.push(at(Token::RParen, span));
                all
            }
            _ => it.to_vec(),
        }));
        out.push(Token::RParen);
        Ok(out.tokens)
    }

    /// `SELECT * FROM source PIVOT`. A PIVOT is of one relation.
    fn begin(&self, out: &mut Out, kind: &str) {
        out.words("SELECT");
        out.push(Token::Mul);
        out.words("FROM");
        let is_joined = self.source.iter().any(|it| is_word(&it.token, "join"));
        if is_joined {
            out.push(Token::LParen);
            out.words("SELECT");
            out.push(Token::Mul);
            out.words("FROM");
        }
        out.tokens.extend_from_slice(self.source);
        if is_joined {
            out.push(Token::RParen);
        }
        out.words(kind);
    }

    /// What is parted by commas up to a word or the end of the query; at least one.
    fn list(&mut self, ends: &[&str]) -> SqlResult<Vec<&'t [TokenWithSpan]>> {
        let tokens = self.reader.tokens;
        let mut list = Vec::new();
        loop {
            let start = self.reader.at;
            while let Some(it) = tokens.get(self.reader.at) {
                match &it.token {
                    Token::LParen | Token::LBracket | Token::LBrace => {
                        let end = closing(tokens, self.reader.at);
                        self.reader.at = end.ok_or_else(|| self.reader.wrong())?;
                    }
                    Token::Comma | Token::RParen => break,
                    it if is_any(it, ends) => break,
                    _ => {}
                }
                self.reader.at += 1;
            }
            if self.reader.at == start {
                return Err(self.reader.wrong());
            }
            list.push(&tokens[start..self.reader.at]);
            if tokens.get(self.reader.at).is_none_or(|it| it.token != Token::Comma) {
                return Ok(list);
            }
            self.reader.at += 1;
        }
    }
}

/// Several columns, and groups, of a PIVOT in FROM: what is of one column alone the parser knows.
fn parts_in_from(tokens: &mut Tokens, at: usize) -> SqlResult<()> {
    let Some(from) = for_within(tokens, at + 1) else { return Ok(()) };
    let span = tokens[at].span;
    let mut reader = Reader { tokens, at: from + 1, span };
    let mut columns = Vec::new();
    let mut keys = None;
    loop {
        let start = reader.at;
        while reader.tokens.get(reader.at).is_some_and(|it| !is_any(&it.token, &["in", "group"])) {
            match reader.tokens[reader.at].token {
                Token::LParen => match closing(reader.tokens, reader.at) {
                    Some(end) => reader.at = end,
                    None => return Err(reader.wrong()),
                },
                Token::RParen => break,
                _ => {}
            }
            reader.at += 1;
        }
        if reader.at > start {
            reader.expect("in")?;
            let is_open = reader.tokens.get(reader.at).is_some_and(|it| it.token == Token::LParen);
            let end = closing(reader.tokens, reader.at).filter(|_| is_open);
            reader.at = end.ok_or_else(|| reader.wrong())? + 1;
            columns.push(start..reader.at);
            continue;
        }
        if reader.takes("group") {
            reader.expect("by")?;
            let mut rest = Pivot { reader: Reader { ..reader }, source: &[] };
            let list = rest.list(&[])?;
            keys = Some(list.iter().map(|it| it.to_vec()).collect::<Vec<_>>());
            reader = rest.reader;
        }
        break;
    }
    let end = reader.at;
    if (columns.len() < 2 && keys.is_none())
        || tokens.get(end).is_none_or(|it| it.token != Token::RParen)
    {
        // One column, which the parser knows, or what it tells that it does not.
        return Ok(());
    }
    let mut out = Out { tokens: Vec::new(), span };
    if let Some(keys) = keys {
        out.push(Token::Comma);
        out.call(PIVOT_KEYS, keys);
    }
    out.columns(columns.into_iter().map(|it| column(&tokens[it], span)));
    tokens.splice(from..end, out.tokens);
    Ok(())
}

/// A column whose values become columns: with those that it says.
fn column(tokens: &[TokenWithSpan], span: Span) -> Tokens {
    let mut out = Out { tokens: Vec::new(), span };
    match values_at(tokens) {
        Some(place) => {
            let (of, values) = (&tokens[..place], &tokens[place + 2..tokens.len() - 1]);
            let is_query = values.first().is_some_and(|it| is_any(&it.token, &["select", "with"]));
            match is_query {
                true => out.call(PIVOT_OPEN, [of.to_vec(), tokens[place + 1..].to_vec()]),
                false => {
                    let values = parted(values).into_iter().map(|it| aliased(it, span));
                    out.call(PIVOT_VALUES, std::iter::once(of.to_vec()).chain(values));
                }
            }
        }
        None => out.call(PIVOT_OPEN, [tokens.to_vec()]),
    }
    out.tokens
}

/// The place of the IN whose list ends the tokens.
fn values_at(tokens: &[TokenWithSpan]) -> Option<usize> {
    let mut at = 1;
    while at + 1 < tokens.len() {
        match &tokens[at].token {
            Token::LParen | Token::LBracket | Token::LBrace => at = closing(tokens, at)?,
            it if is_word(it, "in") && !is_word(&tokens[at - 1].token, "not") => {
                let is_open = tokens[at + 1].token == Token::LParen;
                let is_last = is_open && closing(tokens, at + 1)? + 1 == tokens.len();
                return is_last.then_some(at);
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// What commas part.
fn parted(tokens: &[TokenWithSpan]) -> Vec<&[TokenWithSpan]> {
    let (mut parts, mut start, mut at) = (Vec::new(), 0, 0);
    while let Some(it) = tokens.get(at) {
        match it.token {
            Token::LParen | Token::LBracket | Token::LBrace => {
                at = closing(tokens, at).unwrap_or(at);
            }
            Token::Comma => {
                parts.push(&tokens[start..at]);
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    parts.push(&tokens[start..]);
    parts
}

/// A value or an aggregate, in a call with its alias if it has one.
fn aliased(tokens: &[TokenWithSpan], span: Span) -> Tokens {
    let (value, alias) = match tokens {
        [value @ .., words, alias] if is_word(&words.token, "as") => (value, alias),
        // Two words or a call and a word: the second is its name.
        [value @ .., alias] if is_alias(value.last(), alias) => (value, alias),
        _ => return tokens.to_vec(),
    };
    let Token::Word(alias) = &alias.token else { return tokens.to_vec() };
    let text = match alias.quote_style {
        Some(_) => alias.value.clone(),
        None => alias.value.to_lowercase(),
    };
    let mut out = Out { tokens: Vec::new(), span };
    out.call(PIVOT_ALIAS, [value.to_vec(), vec![at(Token::SingleQuotedString(text), span)]]);
    out.tokens
}

fn is_alias(before: Option<&TokenWithSpan>, alias: &TokenWithSpan) -> bool {
    let is_value = before.is_some_and(|it| {
        matches!(it.token, Token::RParen | Token::Number(..) | Token::SingleQuotedString(_))
    });
    let is_name = matches!(&alias.token, Token::Word(it)
        if it.quote_style.is_some() || it.keyword == Keyword::NoKeyword);
    is_value && is_name
}

fn at(token: Token, span: Span) -> TokenWithSpan {
    TokenWithSpan { token, span }
}

fn word(value: &str, span: Span) -> TokenWithSpan {
    let keyword = Keyword::NoKeyword;
    at(Token::Word(Word { value: value.to_owned(), quote_style: None, keyword }), span)
}

/// `count(*)`.
fn count_all(span: Span) -> Tokens {
    let tokens = [Token::LParen, Token::Mul, Token::RParen].map(|it| at(it, span));
    std::iter::once(word("count", span)).chain(tokens).collect()
}

/// What is made.
struct Out {
    tokens: Tokens,
    span: Span,
}

impl Out {
    fn push(&mut self, token: Token) {
        self.tokens.push(at(token, self.span));
    }

    fn words(&mut self, words: &str) {
        for it in words.split(' ') {
            self.push(Token::make_keyword(it));
        }
    }

    fn list(&mut self, items: impl IntoIterator<Item = Tokens>) {
        for (place, mut item) in items.into_iter().enumerate() {
            if place > 0 {
                self.push(Token::Comma);
            }
            self.tokens.append(&mut item);
        }
    }

    fn group(&mut self, items: impl IntoIterator<Item = Tokens>) {
        self.push(Token::LParen);
        self.list(items);
        self.push(Token::RParen);
    }

    fn call(&mut self, of: &str, items: impl IntoIterator<Item = Tokens>) {
        self.push(name(of));
        self.group(items);
    }

    /// `FOR (columns) IN (ANY)`: the values stand in the columns.
    fn columns(&mut self, columns: impl IntoIterator<Item = Tokens>) {
        self.words("FOR");
        self.group(columns);
        self.words("IN");
        self.push(Token::LParen);
        self.words("ANY");
        self.push(Token::RParen);
    }
}
