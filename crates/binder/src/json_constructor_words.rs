//! The constructors of SQL/JSON: JSON_OBJECT, JSON_ARRAY, JSON_OBJECTAGG, JSON_ARRAYAGG, JSON_SERIALIZE, and JSON with UNIQUE.
//!
//! Key decision: as with other calls that have words in them ([`crate::sql_json_words`]), these become calls of names that no user
//! can write: a NULL of the type that is wanted, the form of it, a word about NULL and keys, and the values. An aggregate becomes a
//! call of aggregates that are there: how many rows there are, and the array or object of them.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};
use types::{SqlError, SqlResult, SqlState};

use crate::from_end;
use crate::own_names::{ARRAY_ROWS, FORMATTED, JSON_AGGREGATES, UNIQUE};
use crate::sql_json_words::{Reader, closing, name, word};
use crate::steering::is_word;

/// What stands for the constructors.
const CALLS: [(&str, &str); 6] = [
    ("json_object", "json\nobject"),
    ("json_array", "json\narray"),
    ("json_objectagg", "json\nobjectagg"),
    ("json_arrayagg", "json\narrayagg"),
    ("json_serialize", "json\nserialize"),
    ("json", "json"),
];

type Tokens = Vec<TokenWithSpan>;

/// Brings these calls to what the parser knows; the tokens have no blanks.
pub(crate) fn known_words(tokens: &mut Tokens) -> SqlResult<()> {
    let is_about = |it: &TokenWithSpan| CALLS.iter().any(|of| is_word(&it.token, of.0));
    match tokens.iter().any(is_about) {
        true => from_end::rewrite(tokens, call_of),
        false => Ok(()),
    }
}

/// The call of a constructor that begins these tokens, and how many they are.
fn call_of(
    before: &[TokenWithSpan],
    tokens: &[TokenWithSpan],
) -> SqlResult<Option<(usize, Tokens)>> {
    let Some(of) = CALLS.iter().find(|it| is_word(&tokens[0].token, it.0)) else {
        return Ok(None);
    };
    // Behind these a name is that of a relation, with its columns.
    let names_relation = |it: &TokenWithSpan| {
        let words = ["table", "into", "view", "exists", "with", "recursive"];
        words.iter().any(|word| is_word(&it.token, word))
    };
    if tokens.get(1).is_none_or(|it| it.token != Token::LParen)
        || before.last().is_some_and(names_relation)
    {
        return Ok(None);
    }
    let Some(mut end) = closing(tokens, 1) else { return Ok(None) };
    let inner = &tokens[2..end];
    if !is_constructor(of.0, inner) {
        return Ok(None);
    }
    let mut behind = Behind::default();
    if of.0.ends_with("agg") {
        (behind, end) = Behind::read(tokens, end);
    }
    let reader = Reader { tokens: inner, at: 0, span: tokens[0].span };
    let call = Constructor { reader, name: of.1, behind }.call(of.0)?;
    Ok(Some((end + 1, call)))
}

/// Whether there is a word or a sign outside of brackets by which a call is no plain one.
fn is_constructor(name: &str, inner: &[TokenWithSpan]) -> bool {
    let mut depth = 0usize;
    let mut has = |signs: &dyn Fn(usize, &Token) -> bool| {
        inner.iter().enumerate().any(|(place, it)| {
            match it.token {
                Token::LParen | Token::LBracket | Token::LBrace => depth += 1,
                Token::RParen | Token::RBracket | Token::RBrace => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0 && signs(place, &it.token)
        })
    };
    match name {
        "json_object" => {
            inner.is_empty()
                || has(&|place, it| {
                    *it == Token::Colon
                        || is_word(it, "returning")
                        || place > 0 && is_word(it, "value")
                })
        }
        "json" => has(&|place, it| place > 0 && (is_word(it, "unique") || is_word(it, "format"))),
        _ => true,
    }
}

/// FILTER and OVER behind the call of an aggregate.
#[derive(Default)]
struct Behind {
    condition: Tokens,
    over: Tokens,
}

impl Behind {
    /// With the place of the last token of all.
    fn read(tokens: &[TokenWithSpan], call_end: usize) -> (Self, usize) {
        let (mut it, mut end) = (Self::default(), call_end);
        let opens = |at: usize| tokens.get(at).is_some_and(|it| it.token == Token::LParen);
        let is = |at: usize, word: &str| tokens.get(at).is_some_and(|it| is_word(&it.token, word));
        if is(end + 1, "filter")
            && opens(end + 2)
            && is(end + 3, "where")
            && let Some(close) = closing(tokens, end + 2)
        {
            it.condition = tokens[end + 4..close].to_vec();
            end = close;
        }
        if is(end + 1, "over") {
            let close = match opens(end + 2) {
                true => closing(tokens, end + 2),
                false => Some(end + 2).filter(|it| *it < tokens.len()),
            };
            if let Some(close) = close {
                it.over = tokens[end + 1..=close].to_vec();
                end = close;
            }
        }
        (it, end)
    }
}

struct Constructor<'t> {
    reader: Reader<'t>,
    name: &'static str,
    behind: Behind,
}

/// What the clauses at the end of a call say.
struct Clauses {
    /// Whether values that are NULL are left out.
    absent: bool,
    unique: bool,
    data_type: Tokens,
    form: String,
}

impl Clauses {
    fn word(&self) -> &'static str {
        match (self.absent, self.unique) {
            (false, false) => "",
            (false, true) => "u",
            (true, false) => "a",
            (true, true) => "au",
        }
    }
}

impl Constructor<'_> {
    fn call(mut self, of: &str) -> SqlResult<Tokens> {
        match of {
            "json_object" => self.object(),
            "json_array" => self.array(),
            "json_objectagg" => self.object_of_rows(),
            "json_arrayagg" => self.array_of_rows(),
            "json_serialize" => self.serialized(),
            _ => self.parsed(),
        }
    }

    fn object(&mut self) -> SqlResult<Tokens> {
        let mut members = Vec::new();
        while !self.is_at_clauses() {
            let (key, value) = self.member()?;
            members.extend([key, value]);
            if !self.takes_comma() {
                break;
            }
        }
        let clauses = self.clauses(false)?;
        self.made(&clauses, members)
    }

    fn array(&mut self) -> SqlResult<Tokens> {
        if self.reader.is("select") || self.reader.is("with") || self.reader.is("values") {
            return self.array_of_query();
        }
        let mut items = Vec::new();
        while !self.is_at_clauses() {
            items.push(self.value()?);
            if !self.takes_comma() {
                break;
            }
        }
        let clauses = self.clauses(true)?;
        self.made(&clauses, items)
    }

    /// `JSON_ARRAY(query)`: the array of its rows, which has one column.
    fn array_of_query(&mut self) -> SqlResult<Tokens> {
        let query = self.up_to(&|reader| reader.is("returning") || reader.is("format"))?;
        // The form of what comes out of the query is none that could be said.
        let clauses = self.clauses(true)?;
        let mut out = self.reader.tokens_of(vec![Token::LParen, word("SELECT", Keyword::SELECT)]);
        self.behind = Behind::default();
        self.name = "json\narrayagg";
        let item = self.reader.tokens_of(vec![name("the item")]);
        let call = self.rows_made(&clauses, &item, &[], Vec::new())?;
        out.extend(call);
        out.extend(self.reader.tokens_of(vec![word("FROM", Keyword::FROM), Token::LParen]));
        out.extend(query);
        out.extend(self.reader.tokens_of(vec![
            Token::RParen,
            word("AS", Keyword::AS),
            name(ARRAY_ROWS),
            Token::LParen,
            name("the item"),
            Token::RParen,
            Token::RParen,
        ]));
        Ok(out)
    }

    fn array_of_rows(&mut self) -> SqlResult<Tokens> {
        let value = self.value()?;
        let order = match self.reader.is("order") {
            true => self.up_to(&is_clause)?,
            false => Vec::new(),
        };
        let clauses = self.clauses(true)?;
        self.rows_made(&clauses, &value, &order, Vec::new())
    }

    fn object_of_rows(&mut self) -> SqlResult<Tokens> {
        let (key, value) = self.member()?;
        let clauses = self.clauses(false)?;
        self.rows_made(&clauses, &value, &[], key)
    }

    /// The call of aggregates: of a key and a value, or of a value alone.
    fn rows_made(
        &mut self,
        clauses: &Clauses,
        value: &[TokenWithSpan],
        order: &[TokenWithSpan],
        key: Tokens,
    ) -> SqlResult<Tokens> {
        let (own, of_json, _) = JSON_AGGREGATES[usize::from(!key.is_empty())];
        // The type that is said is what JSON becomes.
        let own = if clauses.data_type.len() > 1 { of_json } else { own };
        let aggregate = |this: &Self, of: &str, absent: bool| {
            let mut out = this.reader.tokens_of(vec![name(of), Token::LParen]);
            if !key.is_empty() {
                out.extend(key.clone());
                out.push(this.reader.token(Token::Comma));
            }
            out.extend(value.to_vec());
            out.extend(order.to_vec());
            out.push(this.reader.token(Token::RParen));
            out.extend(this.filter(absent.then_some(value)));
            out.extend(this.behind.over.clone());
            out
        };
        let mut count =
            self.reader.tokens_of(vec![name("count"), Token::LParen, Token::Mul, Token::RParen]);
        count.extend(self.filter(None));
        count.extend(self.behind.over.clone());
        let all = match clauses.unique {
            // Keys of values that are left out are asked, too; JSONB would have each once.
            true => aggregate(self, of_json, false),
            false => self.reader.tokens_of(vec![word("NULL", Keyword::NULL)]),
        };
        let parts = vec![count, aggregate(self, own, clauses.absent), all];
        self.made(clauses, parts)
    }

    /// The condition of the rows of an aggregate, and that a value is not NULL.
    fn filter(&self, known: Option<&[TokenWithSpan]>) -> Tokens {
        if known.is_none() && self.behind.condition.is_empty() {
            return Vec::new();
        }
        let mut out = self.reader.tokens_of(vec![
            word("FILTER", Keyword::FILTER),
            Token::LParen,
            word("WHERE", Keyword::WHERE),
        ]);
        if let Some(value) = known {
            out.extend(self.reader.tokens_of(vec![name("num_nonnulls"), Token::LParen]));
            out.extend(value.to_vec());
            let one = Token::Number("1".to_owned(), false);
            out.extend(self.reader.tokens_of(vec![Token::RParen, Token::Eq, one]));
        }
        if !self.behind.condition.is_empty() {
            if known.is_some() {
                out.push(self.reader.token(word("AND", Keyword::AND)));
            }
            out.push(self.reader.token(Token::LParen));
            out.extend(self.behind.condition.clone());
            out.push(self.reader.token(Token::RParen));
        }
        out.push(self.reader.token(Token::RParen));
        out
    }

    fn serialized(&mut self) -> SqlResult<Tokens> {
        let value = self.value()?;
        let mut clauses = self.clauses(false)?;
        if clauses.data_type.len() == 1 {
            clauses.data_type =
                self.reader.null_of(vec![self.reader.token(word("TEXT", Keyword::TEXT))]);
        }
        self.made(&clauses, vec![value])
    }

    /// `JSON(text WITH UNIQUE)`.
    fn parsed(&mut self) -> SqlResult<Tokens> {
        let value = self.value()?;
        let unique = self.unique()?;
        self.ends()?;
        let mut out = self.reader.tokens_of(vec![name(UNIQUE), Token::LParen]);
        out.extend(value);
        out.push(self.reader.token(Token::Comma));
        out.push(self.reader.text(if unique { "u" } else { "" }));
        out.push(self.reader.token(Token::RParen));
        Ok(out)
    }

    /// The call of the type that is wanted, its form, the word about NULL and keys, and values.
    fn made(&self, clauses: &Clauses, values: Vec<Tokens>) -> SqlResult<Tokens> {
        let mut out = self.reader.tokens_of(vec![name(self.name), Token::LParen]);
        out.extend(clauses.data_type.clone());
        for text in [&*clauses.form, clauses.word()] {
            out.push(self.reader.token(Token::Comma));
            out.push(self.reader.text(text));
        }
        for value in values {
            out.push(self.reader.token(Token::Comma));
            out.extend(value);
        }
        out.push(self.reader.token(Token::RParen));
        Ok(out)
    }

    /// `key: value` or `key VALUE value`.
    fn member(&mut self) -> SqlResult<(Tokens, Tokens)> {
        let is_sign = |it: &Reader<'_>| {
            it.is("value") || it.tokens.get(it.at).is_some_and(|it| it.token == Token::Colon)
        };
        let key = self.up_to(&is_sign)?;
        if !is_sign(&self.reader) {
            return Err(self.reader.wrong());
        }
        self.reader.at += 1;
        Ok((key, self.value()?))
    }

    /// A value, which may be said to be the text of JSON.
    fn value(&mut self) -> SqlResult<Tokens> {
        let value = self.up_to(&|it| it.is("order") || it.is("format") || is_clause(it))?;
        if !self.reader.takes("format") {
            return Ok(value);
        }
        self.reader.expect("json")?;
        let encoding = self.encoding()?;
        let mut out = self.reader.tokens_of(vec![name(FORMATTED), Token::LParen]);
        out.extend(value);
        out.push(self.reader.token(Token::Comma));
        out.push(self.reader.text(&encoding));
        out.push(self.reader.token(Token::RParen));
        Ok(out)
    }

    /// `ENCODING name`, in small letters; nothing where it is not said.
    fn encoding(&mut self) -> SqlResult<String> {
        if !self.reader.takes("encoding") {
            return Ok(String::new());
        }
        let Some(Token::Word(of)) = self.reader.tokens.get(self.reader.at).map(|it| &it.token)
        else {
            return Err(self.reader.wrong());
        };
        let encoding = of.value.to_lowercase();
        self.reader.at += 1;
        match &*encoding {
            "utf8" | "utf16" | "utf32" => Ok(encoding),
            _ => {
                let message = format!("unrecognized JSON encoding: {encoding}");
                Err(SqlError::new(SqlState::INVALID_PARAMETER, message))
            }
        }
    }

    /// `NULL ON NULL` or `ABSENT ON NULL`, `WITH UNIQUE KEYS`, `RETURNING type FORMAT JSON`, and nothing behind them.
    fn clauses(&mut self, absent: bool) -> SqlResult<Clauses> {
        let mut absent = absent;
        if self.is_followed(&["null", "absent"], "on") {
            absent = self.reader.is("absent");
            self.reader.at += 2;
            self.reader.expect("null")?;
        }
        let unique = self.unique()?;
        let mut form = String::new();
        let mut data_type = vec![self.reader.token(word("NULL", Keyword::NULL))];
        if self.reader.takes("returning") {
            let said = self.up_to(&|it| it.is("format"))?;
            data_type = self.reader.null_of(said);
            if self.reader.takes("format") {
                self.reader.expect("json")?;
                form = format!("json {}", self.encoding()?);
            }
        }
        self.ends()?;
        Ok(Clauses { absent, unique, data_type, form })
    }

    fn unique(&mut self) -> SqlResult<bool> {
        if !self.is_followed(&["with", "without"], "unique") {
            return Ok(false);
        }
        let unique = self.reader.is("with");
        self.reader.at += 2;
        self.reader.takes("keys");
        Ok(unique)
    }

    fn ends(&self) -> SqlResult<()> {
        if self.reader.at < self.reader.tokens.len() { Err(self.reader.wrong()) } else { Ok(()) }
    }

    fn is_followed(&self, words: &[&str], by: &str) -> bool {
        is_followed(&self.reader, words, by)
    }

    fn is_at_clauses(&self) -> bool {
        self.reader.at >= self.reader.tokens.len() || is_clause(&self.reader)
    }

    fn takes_comma(&mut self) -> bool {
        let tokens = self.reader.tokens;
        let is_there = tokens.get(self.reader.at).is_some_and(|it| it.token == Token::Comma);
        self.reader.at += usize::from(is_there);
        is_there
    }

    /// Tokens up to a comma or an end outside of brackets; at least one.
    fn up_to(&mut self, ends: &dyn Fn(&Reader<'_>) -> bool) -> SqlResult<Tokens> {
        let (tokens, start) = (self.reader.tokens, self.reader.at);
        while let Some(it) = tokens.get(self.reader.at) {
            match it.token {
                Token::LParen | Token::LBracket | Token::LBrace => {
                    match closing(tokens, self.reader.at) {
                        Some(end) => self.reader.at = end,
                        None => return Err(self.reader.wrong()),
                    }
                }
                Token::Comma => break,
                _ if self.reader.at > start && ends(&self.reader) => break,
                _ => {}
            }
            self.reader.at += 1;
        }
        match self.reader.at > start {
            true => Ok(tokens[start..self.reader.at].to_vec()),
            false => Err(self.reader.wrong()),
        }
    }
}

fn is_followed(reader: &Reader<'_>, words: &[&str], by: &str) -> bool {
    words.iter().any(|it| reader.is(it))
        && reader.tokens.get(reader.at + 1).is_some_and(|it| is_word(&it.token, by))
}

/// Whether a clause about the whole begins.
fn is_clause(reader: &Reader<'_>) -> bool {
    reader.is("returning")
        || is_followed(reader, &["null", "absent"], "on")
        || is_followed(reader, &["with", "without"], "unique")
}
