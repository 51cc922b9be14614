//! `FOR NO KEY UPDATE`, `FOR KEY SHARE` and `OF a, b`, which the parser does not know: read as one clause for each table, whose
//! name has a part more that no text can spell. And LOCK TABLE.

use sqlparser::ast::{self, LockTableMode};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};
use types::{LockMode, LockWait};

use crate::statement::Statement;
use crate::steering::{is_any, is_word};
use crate::syntax::name;

const NO_KEY_UPDATE: &str = "\0no key update";
const KEY_SHARE: &str = "\0key share";

/// Brings the lock clauses of a query to what the parser knows; the tokens have no blanks.
pub(crate) fn known_words(tokens: &mut Vec<TokenWithSpan>) {
    limits_first(tokens);
    let mut from = 0;
    while let Some(at) = tokens[from..].iter().position(|it| is_word(&it.token, "for")) {
        let at = from + at;
        from = match clause(&tokens[at..]) {
            Some((length, new)) => {
                let end = at + new.len();
                tokens.splice(at..at + length, new);
                end
            }
            None => at + 1,
        };
    }
}

/// Brings LIMIT, OFFSET and FETCH that stand behind lock clauses before them.
fn limits_first(tokens: &mut [TokenWithSpan]) {
    let mut from = 0;
    while let Some(at) = tokens[from..].iter().position(|it| is_word(&it.token, "for")) {
        let at = from + at;
        from = at + 1;
        if !tokens
            .get(at + 1)
            .is_some_and(|it| is_any(&it.token, &["no", "key", "update", "share"]))
        {
            continue;
        }
        let in_clause = |it: &&TokenWithSpan| {
            matches!(it.token, Token::Word(_) | Token::Period | Token::Comma)
                && !is_any(&it.token, &["limit", "offset", "fetch"])
        };
        let limit = at + tokens[at..].iter().take_while(in_clause).count();
        if !tokens.get(limit).is_some_and(|it| is_any(&it.token, &["limit", "offset", "fetch"])) {
            continue;
        }
        let mut depth = 0;
        let ends = |it: &TokenWithSpan| {
            match it.token {
                Token::LParen => depth += 1,
                Token::RParen => depth -= 1,
                _ => {}
            }
            depth < 0 || it.token == Token::SemiColon
        };
        let end = tokens[limit..].iter().position(ends).map_or(tokens.len(), |it| limit + it);
        tokens[at..end].rotate_left(limit - at);
        from = end;
    }
}

/// A clause that the parser does not read as it is: how many tokens it has, and what it reads.
fn clause(tokens: &[TokenWithSpan]) -> Option<(usize, Vec<TokenWithSpan>)> {
    let says = |at: usize, words: &[&str]| {
        let found = tokens.get(at..at + words.len());
        found.is_some_and(|it| it.iter().zip(words).all(|it| is_word(&it.0.token, it.1)))
    };
    let (mut length, word, mark) = match () {
        () if says(1, &["no", "key", "update"]) => (4, "update", Some(NO_KEY_UPDATE)),
        () if says(1, &["key", "share"]) => (3, "share", Some(KEY_SHARE)),
        () if says(1, &["update"]) => (2, "update", None),
        () if says(1, &["share"]) => (2, "share", None),
        () => return None,
    };
    let mut tables: Vec<&[TokenWithSpan]> = Vec::new();
    if says(length, &["of"]) {
        length += 1;
        loop {
            let part = |it: &&TokenWithSpan| {
                matches!(it.token, Token::Word(_) | Token::Period)
                    && !["nowait", "skip", "for"].iter().any(|word| is_word(&it.token, word))
            };
            let count = tokens[length..].iter().take_while(part).count();
            tables.push(&tokens[length..length + count]);
            length += count;
            if count == 0 || tokens.get(length).is_none_or(|it| it.token != Token::Comma) {
                break;
            }
            length += 1;
        }
    }
    if mark.is_none() && tables.len() < 2 {
        return None;
    }
    let waits = match () {
        () if says(length, &["nowait"]) => 1,
        () if says(length, &["skip", "locked"]) => 2,
        () => 0,
    };
    let waits = &tokens[length..length + waits];
    if tables.is_empty() {
        tables.push(&[]);
    }
    let span = tokens[0].span;
    let spelt = |token| TokenWithSpan { token, span };
    let keyword = |it: &str| spelt(Token::make_word(it, None));
    let mut new = Vec::new();
    for table in tables {
        new.extend([keyword("for"), keyword(word), keyword("of")]);
        if let Some(mark) = mark {
            let (value, quote_style, keyword) = (mark.to_owned(), Some('"'), Keyword::NoKeyword);
            new.push(spelt(Token::Word(Word { value, quote_style, keyword })));
            new.extend((!table.is_empty()).then(|| spelt(Token::Period)));
        }
        new.extend_from_slice(table);
        new.extend_from_slice(waits);
    }
    Some((length + waits.len(), new))
}

/// What a clause says: how strong the locks are, of which table if not of all, and what is done about those of others.
pub(crate) fn said(
    clause: &ast::LockClause,
) -> (LockMode, Option<&[ast::ObjectNamePart]>, LockWait) {
    let parts = clause.of.as_ref().map(|it| &it.0[..]);
    let mark = parts.and_then(|it| Some(it.first()?.as_ident()?.value.as_str()));
    let (mode, marked) = match (mark, &clause.lock_type) {
        (Some(NO_KEY_UPDATE), _) => (LockMode::ForNoKeyUpdate, 1),
        (Some(KEY_SHARE), _) => (LockMode::ForKeyShare, 1),
        (_, ast::LockType::Update) => (LockMode::ForUpdate, 0),
        (_, ast::LockType::Share) => (LockMode::ForShare, 0),
    };
    let of = parts.map(|it| &it[marked..]).filter(|it| !it.is_empty());
    let wait = match clause.nonblock {
        None => LockWait::Wait,
        Some(ast::NonBlock::Nowait) => LockWait::NoWait,
        Some(ast::NonBlock::SkipLocked) => LockWait::Skip,
    };
    (mode, of, wait)
}

/// LOCK TABLE.
pub(crate) fn lock_table(lock: &ast::Lock) -> Statement {
    let ast::Lock { tables, lock_mode, nowait } = lock;
    let mode = match lock_mode {
        Some(LockTableMode::AccessShare) => LockMode::AccessShare,
        Some(LockTableMode::RowShare) => LockMode::RowShare,
        Some(LockTableMode::RowExclusive) => LockMode::RowExclusive,
        Some(LockTableMode::ShareUpdateExclusive) => LockMode::ShareUpdateExclusive,
        Some(LockTableMode::Share) => LockMode::Share,
        Some(LockTableMode::ShareRowExclusive) => LockMode::ShareRowExclusive,
        Some(LockTableMode::Exclusive) => LockMode::Exclusive,
        Some(LockTableMode::AccessExclusive) | None => LockMode::AccessExclusive,
    };
    let names = tables.iter().map(|it| name(&it.name)).collect();
    let wait = if *nowait { LockWait::NoWait } else { LockWait::Wait };
    Statement::LockTables { names, mode, wait }
}
