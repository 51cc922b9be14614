//! Tokens that PostgreSQL reads as other ones, brought to what the parser knows: constants in quotes on lines of their own
//! that are one, `integer ARRAY`, `TABLE t`, `substring(a SIMILAR b ..)`, `ORDER BY a USING >` and `CREATE TABLE t (a, b) AS ..`.
//!
//! Key decision: before parsing, because the parser takes a second constant for an alias, and forgets line breaks.

use sqlparser::ast::{self, DollarQuotedString};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Span, Token, TokenWithSpan, Whitespace, Word};
use types::{SqlError, SqlResult, SqlState};

/// The type of a column that has only a name; no text can spell it.
const NO_TYPE: &str = "\0";

/// Makes one constant of those that only line breaks part; those on one line are an error. What was between dollars or had
/// escapes is from here on a constant as any other.
pub(crate) fn join_texts(tokens: &mut Vec<TokenWithSpan>) -> SqlResult<()> {
    let mut last: Option<(usize, bool)> = None;
    let mut gone = Vec::new();
    for at in 0..tokens.len() {
        match &tokens[at].token {
            Token::Whitespace(blank) => {
                if let Some((_, broken)) = &mut last {
                    let line =
                        matches!(blank, Whitespace::Newline | Whitespace::SingleLineComment { .. });
                    *broken |= line;
                }
            }
            Token::SingleQuotedString(text) => {
                let (text, span) = (text.clone(), tokens[at].span);
                let Some((first, broken)) = last else {
                    last = Some((at, false));
                    continue;
                };
                match &mut tokens[first].token {
                    Token::SingleQuotedString(it) if broken => it.push_str(&text),
                    Token::EscapedStringLiteral(it) if broken && !text.contains('\\') => {
                        it.push_str(&text)
                    }
                    Token::DollarQuotedString(_) => return Err(follows_another(span)),
                    _ if broken => {
                        return Err(SqlError::unsupported(
                            "a constant with escapes on several lines is not supported",
                        ));
                    }
                    _ => return Err(follows_another(span)),
                }
                gone.push(at);
                last = Some((first, false));
            }
            Token::DollarQuotedString(_)
            | Token::EscapedStringLiteral(_)
            | Token::UnicodeStringLiteral(_)
            | Token::NationalStringLiteral(_) => {
                if last.is_some() {
                    return Err(follows_another(tokens[at].span));
                }
                last = Some((at, false));
            }
            _ => last = None,
        }
    }
    for it in tokens.iter_mut() {
        let (Token::EscapedStringLiteral(text)
        | Token::DollarQuotedString(DollarQuotedString { value: text, .. })) = &mut it.token
        else {
            continue;
        };
        it.token = Token::SingleQuotedString(std::mem::take(text));
    }
    if !gone.is_empty() {
        let mut at = 0;
        tokens.retain(|_| {
            at += 1;
            gone.binary_search(&(at - 1)).is_err()
        });
    }
    Ok(())
}

fn follows_another(span: Span) -> SqlError {
    let message = "syntax error: a constant in quotes follows another";
    SqlError::new(SqlState::SYNTAX, message).at(span.start.line as u32, span.start.column as u32)
}

fn keyword(token: Option<&TokenWithSpan>) -> Option<Keyword> {
    match &token?.token {
        Token::Word(word) => Some(word.keyword),
        _ => None,
    }
}

fn word(value: &str, quote_style: Option<char>, keyword: Keyword) -> Token {
    Token::Word(Word { value: value.to_owned(), quote_style, keyword })
}

/// `integer ARRAY` and `integer ARRAY[3]`, as the standard has types of arrays, are `integer[]` and `integer[3]`; the tokens
/// have no blanks.
pub(crate) fn array_types(tokens: &mut Vec<TokenWithSpan>) {
    let is_array = |it: &TokenWithSpan| keyword(Some(it)) == Some(Keyword::ARRAY);
    if !tokens.iter().any(is_array) {
        return;
    }
    let mut out: Vec<TokenWithSpan> = Vec::with_capacity(tokens.len() + 1);
    for at in 0..tokens.len() {
        let it = &tokens[at];
        let next = tokens.get(at + 1).map(|it| &it.token);
        match (is_array(it) && ends_type(&out), next) {
            (true, Some(Token::LBracket)) => {}
            (true, _) => {
                out.push(TokenWithSpan { token: Token::LBracket, span: it.span });
                out.push(TokenWithSpan { token: Token::RBracket, span: it.span });
            }
            (false, _) => out.push(it.clone()),
        }
    }
    *tokens = out;
}

/// Whether the last of some tokens ends a type: its name, or the parentheses behind the name of one that takes them. A name in
/// quotes is that of a type where nothing but one may stand before ARRAY.
fn ends_type(tokens: &[TokenWithSpan]) -> bool {
    let is_type = |it: &Word| {
        let is_named = || TYPES.iter().any(|name| it.value.eq_ignore_ascii_case(name));
        it.quote_style.is_some() || is_named()
    };
    let name = match tokens.last().map(|it| &it.token) {
        Some(Token::RParen) => tokens.iter().rposition(|it| it.token == Token::LParen),
        _ => Some(tokens.len()),
    };
    let Some(name) = name.and_then(|it| it.checked_sub(1)) else { return false };
    // `IS [NOT] JSON ARRAY` asks something of a value.
    let before = name.checked_sub(1).and_then(|it| keyword(tokens.get(it)));
    if matches!(before, Some(Keyword::IS | Keyword::NOT)) {
        return false;
    }
    matches!(&tokens[name].token, Token::Word(it) if is_type(it))
}

/// The last words of the names of types.
const TYPES: [&str; 41] = [
    "bigint",
    "bit",
    "bool",
    "boolean",
    "bpchar",
    "bytea",
    "char",
    "character",
    "cidr",
    "date",
    "dec",
    "decimal",
    "double",
    "float",
    "float4",
    "float8",
    "inet",
    "int",
    "int2",
    "int4",
    "int8",
    "integer",
    "interval",
    "json",
    "jsonb",
    "name",
    "numeric",
    "oid",
    "precision",
    "real",
    "smallint",
    "string",
    "text",
    "time",
    "timestamp",
    "timestamptz",
    "timetz",
    "uuid",
    "varchar",
    "varying",
    "zone",
];

/// ABORT as ROLLBACK.
pub(crate) fn abort(tokens: &mut [TokenWithSpan]) {
    if let Some(first) = tokens.first_mut()
        && let Token::Word(it) = &first.token
        && it.quote_style.is_none()
        && it.value.eq_ignore_ascii_case("abort")
    {
        first.token = word("ROLLBACK", None, Keyword::ROLLBACK);
    }
}

/// `RESET TIME ZONE` and `SHOW TIME ZONE` as statements about the setting; the tokens have no blanks.
pub(crate) fn time_zones(tokens: &mut Vec<TokenWithSpan>) {
    let said = [keyword(tokens.get(1)), keyword(tokens.get(2))];
    let is_about = matches!(keyword(tokens.first()), Some(Keyword::RESET | Keyword::SHOW));
    if is_about && tokens.len() == 3 && said == [Some(Keyword::TIME), Some(Keyword::ZONE)] {
        tokens[1].token = word("timezone", None, Keyword::TIMEZONE);
        tokens.truncate(2);
    }
    local_zones(tokens);
}

/// `AT LOCAL` is AT TIME ZONE with the session's.
fn local_zones(tokens: &mut Vec<TokenWithSpan>) {
    let mut at = 0;
    while at + 1 < tokens.len() {
        let is_local = |it: &TokenWithSpan| matches!(&it.token, Token::Word(it) if it.quote_style.is_none() && it.value.eq_ignore_ascii_case("local"));
        at += 1;
        if keyword(tokens.get(at - 1)) != Some(Keyword::AT) || !is_local(&tokens[at]) {
            continue;
        }
        let span = tokens[at].span;
        let zone = [
            word("TIME", None, Keyword::TIME),
            word("ZONE", None, Keyword::ZONE),
            word("current_setting", None, Keyword::NoKeyword),
            Token::LParen,
            Token::SingleQuotedString("timezone".to_owned()),
            Token::RParen,
        ];
        tokens.splice(at..=at, zone.map(|token| TokenWithSpan { token, span }));
    }
}

/// `trim(BOTH FROM a)` and `trim(FROM a)` say which characters they take off: blanks.
pub(crate) fn trims(tokens: &mut Vec<TokenWithSpan>) {
    let mut at = 0;
    while let Some(next) = tokens
        .get(at..)
        .and_then(|rest| rest.iter().position(|it| keyword(Some(it)) == Some(Keyword::TRIM)))
    {
        at += next + 1;
        if tokens.get(at).is_none_or(|it| it.token != Token::LParen) {
            continue;
        }
        let side = keyword(tokens.get(at + 1));
        let is_said = matches!(side, Some(Keyword::BOTH | Keyword::LEADING | Keyword::TRAILING));
        let from = at + 1 + usize::from(is_said);
        if keyword(tokens.get(from)) != Some(Keyword::FROM) {
            continue;
        }
        let spelt = |token| TokenWithSpan { token, span: tokens[from].span };
        let both = (!is_said).then(|| spelt(word("BOTH", None, Keyword::BOTH)));
        let blank = spelt(Token::SingleQuotedString(" ".to_owned()));
        let new: Vec<_> = both.into_iter().chain([blank]).collect();
        tokens.splice(from..from, new);
    }
}

/// DROP INDEX CONCURRENTLY as DROP INDEX, which waits for nobody here.
pub(crate) fn concurrent_drops(tokens: &mut Vec<TokenWithSpan>) {
    let said = [0, 1, 2].map(|it| keyword(tokens.get(it)));
    if said == [Some(Keyword::DROP), Some(Keyword::INDEX), Some(Keyword::CONCURRENTLY)] {
        tokens.remove(2);
    }
}

/// SELECT of nothing and from nothing, as PostgreSQL has it, as one from a row; the tokens have no blanks.
pub(crate) fn empty_selects(tokens: &mut Vec<TokenWithSpan>) {
    // The arguments of a procedure are no queries.
    if keyword(tokens.first()) == Some(Keyword::CALL) {
        return;
    }
    let mut at = 0;
    while at < tokens.len() {
        let is_select = keyword(tokens.get(at)) == Some(Keyword::SELECT);
        at += 1;
        if !is_select || !ends_select(tokens.get(at)) {
            continue;
        }
        let span = tokens[at - 1].span;
        let row = [
            word("FROM", None, Keyword::FROM),
            Token::LParen,
            word("VALUES", None, Keyword::VALUES),
            Token::LParen,
            Token::Number("1".to_owned(), false),
            Token::RParen,
            Token::RParen,
            word("AS", None, Keyword::AS),
            word("nothing", Some('"'), Keyword::NoKeyword),
        ];
        tokens.splice(at..at, row.map(|token| TokenWithSpan { token, span }));
    }
}

/// Whether a SELECT has nothing before it to select.
fn ends_select(next: Option<&TokenWithSpan>) -> bool {
    use Keyword::{
        EXCEPT, FETCH, FOR, GROUP, HAVING, INTERSECT, LIMIT, OFFSET, ORDER, UNION, WHERE, WINDOW,
    };
    match next.map(|it| &it.token) {
        None | Some(Token::RParen) => true,
        Some(Token::Word(it)) => {
            let words = [
                EXCEPT, FETCH, FOR, GROUP, HAVING, INTERSECT, LIMIT, OFFSET, ORDER, UNION, WHERE,
                WINDOW,
            ];
            words.contains(&it.keyword)
        }
        _ => false,
    }
}

/// DuckDB's `PRAGMA name = value` as `SET name = value`, `PRAGMA show_tables` as SHOW TABLES and `PRAGMA table_info('t')` as a query; the
/// tokens have no blanks.
pub(crate) fn pragmas(tokens: &mut Vec<TokenWithSpan>) {
    if keyword(tokens.first()) != Some(Keyword::PRAGMA) {
        return;
    }
    let named = |wanted: &str| matches!(tokens.get(1).map(|it| &it.token), Some(Token::Word(it)) if it.value.eq_ignore_ascii_case(wanted));
    let (shows, tells) = (named("show_tables"), named("table_info"));
    match &mut tokens[..] {
        [pragma, _, sign, ..] if sign.token == Token::Eq => {
            pragma.token = word("SET", None, Keyword::SET);
        }
        [pragma, name] if shows => {
            pragma.token = word("SHOW", None, Keyword::SHOW);
            name.token = word("TABLES", None, Keyword::TABLES);
        }
        [pragma, name, open, table, close]
            if tells && open.token == Token::LParen && close.token == Token::RParen =>
        {
            let span = pragma.span;
            name.token = word("pragma_table_info", None, Keyword::NoKeyword);
            // A name means the text of it.
            if let Token::Word(it) = &table.token {
                table.token = Token::SingleQuotedString(it.value.clone());
            }
            let all = [
                word("SELECT", None, Keyword::SELECT),
                Token::Mul,
                word("FROM", None, Keyword::FROM),
            ];
            tokens.splice(0..1, all.map(|token| TokenWithSpan { token, span }));
        }
        _ => {}
    }
}

/// `ONLY t` and `ONLY (t)` as `t`, as no table has others below it; the tokens have no blanks.
fn only(tokens: &mut Vec<TokenWithSpan>) {
    use Keyword::{EXISTS, FROM, INTO, JOIN, ONLY, TABLE, TRUNCATE, UPDATE};
    let mut at = 1;
    while at + 1 < tokens.len() {
        let begins = [EXISTS, FROM, INTO, JOIN, TABLE, TRUNCATE, UPDATE];
        let begins = keyword(tokens.get(at - 1)).is_some_and(|it| begins.contains(&it));
        if begins && keyword(tokens.get(at)) == Some(ONLY) {
            match tokens[at + 1].token {
                Token::Word(_) => _ = tokens.remove(at),
                Token::LParen => {
                    let is_name =
                        |it: &&TokenWithSpan| matches!(it.token, Token::Word(_) | Token::Period);
                    let end = at + 2 + tokens[at + 2..].iter().take_while(is_name).count();
                    if tokens.get(end).is_some_and(|it| it.token == Token::RParen) {
                        tokens.remove(end);
                        tokens.drain(at..at + 2);
                    }
                }
                _ => {}
            }
        }
        at += 1;
    }
}

/// `ONLY t` as `t`, and `TABLE t` as a query of it; the tokens have no blanks.
pub(crate) fn tables(tokens: &mut Vec<TokenWithSpan>) {
    only(tokens);
    table_commands(tokens);
}

/// `TABLE t` as `SELECT * FROM t`; the tokens have no blanks.
fn table_commands(tokens: &mut Vec<TokenWithSpan>) {
    use Keyword::{
        ALL, ANALYZE, AS, DISTINCT, EXCEPT, EXPLAIN, INSERT, INTERSECT, NoKeyword, TABLE, UNION,
    };
    let is_insert = keyword(tokens.first()) == Some(INSERT);
    let mut at = tokens.len();
    while at > 0 {
        at -= 1;
        let next = keyword(tokens.get(at + 1));
        if keyword(tokens.get(at)) != Some(TABLE) || next.is_none() {
            continue;
        }
        let before = at.checked_sub(1).map(|it| &tokens[it]);
        let begins = match before.map(|it| &it.token) {
            None | Some(Token::LParen) => true,
            Some(Token::Word(it)) => match it.keyword {
                // After AS, it may be a name.
                AS => next == Some(NoKeyword),
                UNION | EXCEPT | INTERSECT | ALL | DISTINCT | EXPLAIN | ANALYZE => true,
                _ => is_insert,
            },
            Some(Token::RParen) => is_insert || keyword(tokens.first()) == Some(Keyword::WITH),
            _ => false,
        };
        if begins {
            let span = tokens[at].span;
            let new = [
                word("SELECT", None, Keyword::SELECT),
                Token::Mul,
                word("FROM", None, Keyword::FROM),
            ];
            tokens.splice(at..=at, new.map(|token| TokenWithSpan { token, span }));
        }
    }
}

/// `substring(a SIMILAR b ESCAPE c)` as `substring(a FROM b FOR c)`; the tokens have no blanks.
pub(crate) fn similar_substrings(tokens: &mut [TokenWithSpan]) {
    use Keyword::{ESCAPE, FOR, FROM, SIMILAR, SUBSTRING, TO};
    // The parentheses that are open, and whether they are those of such a call whose SIMILAR was met.
    let mut open: Vec<Option<bool>> = Vec::new();
    for at in 0..tokens.len() {
        match &tokens[at].token {
            Token::LParen => {
                let before = at.checked_sub(1).and_then(|it| keyword(tokens.get(it)));
                open.push((before == Some(SUBSTRING)).then_some(false));
            }
            Token::RParen => _ = open.pop(),
            Token::Word(it) if it.quote_style.is_none() => {
                let next = keyword(tokens.get(at + 1));
                match (it.keyword, open.last_mut()) {
                    (SIMILAR, Some(Some(met))) if next != Some(TO) => {
                        *met = true;
                        tokens[at].token = word("FROM", None, FROM);
                    }
                    (ESCAPE, Some(Some(true))) => tokens[at].token = word("FOR", None, FOR),
                    _ => {}
                }
            }
            _ => {}
        }
    }
}

/// DuckDB's `a == b` as `a = b`.
pub(crate) fn equal_signs(tokens: &mut [TokenWithSpan]) {
    let both = tokens.iter_mut().filter(|it| it.token == Token::DoubleEq);
    both.for_each(|it| it.token = Token::Eq);
}

/// `a LIKE ANY (..)` as `a ~~ ANY (..)`, of which the parser knows all forms; the tokens have no blanks.
pub(crate) fn pattern_operators(tokens: &mut Vec<TokenWithSpan>) {
    use Keyword::{ALL, ANY, ILIKE, LIKE, NOT, SOME};
    let mut at = 0;
    while at + 2 < tokens.len() {
        let word = keyword(tokens.get(at));
        let next = keyword(tokens.get(at + 1));
        if matches!(word, Some(LIKE | ILIKE))
            && matches!(next, Some(ANY | ALL | SOME))
            && tokens[at + 2].token == Token::LParen
        {
            let before = at.checked_sub(1).and_then(|it| keyword(tokens.get(it)));
            let negated = before == Some(NOT);
            tokens[at].token = match (word == Some(LIKE), negated) {
                (true, false) => Token::DoubleTilde,
                (true, true) => Token::ExclamationMarkDoubleTilde,
                (false, false) => Token::DoubleTildeAsterisk,
                (false, true) => Token::ExclamationMarkDoubleTildeAsterisk,
            };
            if negated {
                tokens.remove(at - 1);
            }
        }
        at += 1;
    }
}

/// `ORDER BY a USING >` as `ORDER BY a DESC`, and `USING <` as ASC; the tokens have no blanks.
pub(crate) fn order_operators(tokens: &mut Vec<TokenWithSpan>) {
    let mut at = 0;
    while at + 1 < tokens.len() {
        let order = match (keyword(tokens.get(at)), &tokens[at + 1].token) {
            (Some(Keyword::USING), Token::Lt) => Some(word("ASC", None, Keyword::ASC)),
            (Some(Keyword::USING), Token::Gt) => Some(word("DESC", None, Keyword::DESC)),
            _ => None,
        };
        if let Some(order) = order {
            tokens[at].token = order;
            tokens.remove(at + 1);
        }
        at += 1;
    }
}

/// Whether a column has the type that says that it has none.
pub(crate) fn has_no_type(column: &ast::ColumnDef) -> bool {
    column.data_type.to_string().trim_matches('"') == NO_TYPE
}

/// Gives DuckDB's `a AS (b * 2)`, a generated column without a type, that type; the tokens have no blanks.
pub(crate) fn untyped_generated(tokens: &mut Vec<TokenWithSpan>) {
    use Keyword::{ALWAYS, AS, GENERATED};
    let Some(open) = column_list(tokens) else { return };
    let (mut depth, mut names) = (0_usize, Vec::new());
    for at in open..tokens.len() {
        match tokens[at].token {
            Token::LParen => depth += 1,
            Token::RParen if depth == 1 => break,
            Token::RParen => depth -= 1,
            _ => {}
        }
        let begins = depth == 1 && matches!(tokens[at].token, Token::LParen | Token::Comma);
        if begins && matches!(tokens.get(at + 1).map(|it| &it.token), Some(Token::Word(_))) {
            let word = |place: usize| keyword(tokens.get(at + place));
            let is_short = word(2) == Some(AS);
            if is_short || word(2) == Some(GENERATED) && word(3) == Some(ALWAYS) {
                names.push(at + 1);
            }
        }
    }
    for at in names.into_iter().rev() {
        put_no_type(tokens, at);
    }
}

/// Where the columns of a CREATE TABLE begin: the parenthesis right after the name of the table.
fn column_list(tokens: &[TokenWithSpan]) -> Option<usize> {
    use Keyword::{CREATE, EXISTS, TABLE};
    if keyword(tokens.first()) != Some(CREATE) {
        return None;
    }
    let open = tokens.iter().take_while(|it| it.token != Token::LParen).count();
    let before = open.checked_sub(2).and_then(|it| tokens.get(it));
    let is_named = matches!(keyword(before), Some(TABLE | EXISTS))
        || before.is_some_and(|it| it.token == Token::Period);
    let is_table = tokens[..open].iter().any(|it| keyword(Some(it)) == Some(TABLE));
    (is_named && is_table).then_some(open)
}

/// Puts the type that says that there is none behind a name.
fn put_no_type(tokens: &mut Vec<TokenWithSpan>, name: usize) {
    let span = tokens[name].span;
    let token = word(NO_TYPE, Some('"'), Keyword::NoKeyword);
    tokens.insert(name + 1, TokenWithSpan { token, span });
}

/// Gives the columns of `CREATE TABLE t (a, b) AS` the type that says that they have none; the tokens have no blanks.
pub(crate) fn untyped_columns(tokens: &mut Vec<TokenWithSpan>) {
    let Some(open) = column_list(tokens) else { return };
    let mut names = Vec::new();
    let mut at = open + 1;
    loop {
        let Some([Token::Word(_), after]) =
            tokens.get(at..at + 2).map(|it| [&it[0].token, &it[1].token])
        else {
            return;
        };
        names.push(at);
        match after {
            Token::Comma => at += 2,
            Token::RParen => break,
            _ => return,
        }
    }
    for at in names.into_iter().rev() {
        put_no_type(tokens, at);
    }
}
