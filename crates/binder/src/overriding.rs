//! `OVERRIDING SYSTEM VALUE` and `OVERRIDING USER VALUE` of INSERT, which the parser does not know: read as one more column of
//! a name that no text can spell, and noted in the parsed statement where other databases have hints.

use sqlparser::ast::{Insert, OptimizerHint, OptimizerHintStyle};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

use crate::steering::is_word;

/// Whose value an identity column takes, where INSERT says so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Overriding {
    /// The one that is given, even of a column that is GENERATED ALWAYS.
    System,
    /// The next number, whatever is given.
    User,
}

const SYSTEM: &str = "\0overriding system value";
const USER: &str = "\0overriding user value";

/// Brings the words of an INSERT to what the parser knows; the tokens have no blanks.
pub(crate) fn known_words(tokens: &mut Vec<TokenWithSpan>) {
    let said = |it: &[TokenWithSpan], whose| {
        let words = ["overriding", whose, "value"];
        it.iter().zip(words).all(|(token, word)| is_word(&token.token, word))
    };
    let found = |whose| tokens.windows(3).position(|it| said(it, whose));
    let (at, name) = match (found("system"), found("user")) {
        (Some(at), _) => (at, SYSTEM),
        (None, Some(at)) => (at, USER),
        (None, None) => return,
    };
    let span = tokens[at].span;
    let word = |value: &str| {
        let (value, quote_style, keyword) = (value.to_owned(), Some('"'), Keyword::NoKeyword);
        Token::Word(Word { value, quote_style, keyword })
    };
    let has_columns = at.checked_sub(1).is_some_and(|it| tokens[it].token == Token::RParen);
    let (from, new) = match has_columns {
        true => (at - 1, vec![Token::Comma, word(name), Token::RParen]),
        false => (at, vec![Token::LParen, word(name), Token::RParen]),
    };
    tokens.splice(from..at + 3, new.into_iter().map(|token| TokenWithSpan { token, span }));
}

/// What stands for the columns of `INSERT INTO t BY NAME`, as DuckDB has it.
const BY_NAME: &str = "\0by name";

/// Makes `BY NAME` behind the table of an INSERT a column of a name that no text can spell; the tokens have no blanks.
pub(crate) fn by_name(tokens: &mut Vec<TokenWithSpan>) {
    if !tokens.first().is_some_and(|it| is_word(&it.token, "insert")) {
        return;
    }
    let is_said = |it: &[TokenWithSpan]| {
        is_word(&it[0].token, "by")
            && is_word(&it[1].token, "name")
            && ["select", "from", "with", "values"].iter().any(|word| is_word(&it[2].token, word))
    };
    let near = tokens.len().min(12);
    let Some(at) = tokens[..near].windows(3).position(is_said) else { return };
    let span = tokens[at].span;
    let column =
        Word { value: BY_NAME.to_owned(), quote_style: Some('"'), keyword: Keyword::NoKeyword };
    let new = [Token::LParen, Token::Word(column), Token::RParen];
    tokens.splice(at..at + 2, new.map(|token| TokenWithSpan { token, span }));
}

/// Whether the columns of an INSERT are those of the names that its rows have.
pub(crate) fn is_by_name(columns: &[sqlparser::ast::ObjectName]) -> bool {
    let name = |it: &sqlparser::ast::ObjectName| {
        it.0.last().and_then(|it| it.as_ident()).is_some_and(|it| it.value == BY_NAME)
    };
    matches!(columns, [one] if name(one))
}

/// Takes the column of [`known_words`] for what it says.
pub(crate) fn note(insert: &mut Insert) {
    let last = insert.columns.last().and_then(|it| it.0.last()?.as_ident());
    let Some(text) = last.map(|it| it.value.clone()).filter(|it| it == SYSTEM || it == USER) else {
        return;
    };
    insert.columns.pop();
    let style = OptimizerHintStyle::MultiLine;
    insert.optimizer_hints.push(OptimizerHint { prefix: String::new(), text, style });
}

/// What an INSERT says.
pub(crate) fn of(insert: &Insert) -> Option<Overriding> {
    insert.optimizer_hints.iter().find_map(|it| match it.text.as_str() {
        SYSTEM => Some(Overriding::System),
        USER => Some(Overriding::User),
        _ => None,
    })
}
