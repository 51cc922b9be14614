//! Small forms of DuckDB, brought to what the parser knows: `a // b`, `a ** b`, a comma behind the last of a list, `FROM VALUES (1)`, parameters
//! `?`, `GROUP BY *`, and `INSERT INTO t FROM s`.
//!
//! Key decision: one pass tells whether there is any of them, as nearly all statements have none.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

/// Brings all of them to what the parser knows; the tokens have no blanks.
pub(crate) fn known_words(tokens: &mut Vec<TokenWithSpan>) {
    let mut at = 0;
    let mut parameters = 0;
    // Places of tokens that go; none comes or goes before them.
    let mut gone = Vec::new();
    while at < tokens.len() {
        match &tokens[at].token {
            // What is done to a table is no list.
            Token::Comma if closes(tokens.get(at + 1)) && !ends_actions(tokens, at) => {
                gone.push(at);
            }
            // Of whole numbers it is what one sign means.
            Token::Div if is(tokens.get(at + 1), &Token::Div) => {
                gone.push(at);
                at += 1;
            }
            // Two signs of a product, beside each other, are one of a power.
            Token::Mul if is(tokens.get(at + 1), &Token::Mul) => {
                tokens[at].token = Token::Caret;
                at += 1;
                gone.push(at);
            }
            Token::Question if begins_operand(at.checked_sub(1).map(|it| &tokens[it].token)) => {
                parameters += 1;
                // A number behind it says which one it is.
                let said = match tokens.get(at + 1).map(|it| &it.token) {
                    Some(Token::Number(number, false)) => Some(number.clone()),
                    _ => None,
                };
                let is_said = said.is_some();
                let number = said.unwrap_or_else(|| parameters.to_string());
                tokens[at].token = Token::Placeholder(format!("${number}"));
                if is_said {
                    at += 1;
                    gone.push(at);
                }
            }
            Token::Word(word) if word.quote_style.is_none() => match word.keyword {
                Keyword::BY if is(tokens.get(at + 1), &Token::Mul) => {
                    tokens[at + 1].token = keyword("ALL", Keyword::ALL);
                }
                Keyword::FROM if is_word(tokens.get(at + 1), Keyword::VALUES) => {
                    in_brackets(tokens, at + 1);
                }
                Keyword::VALUES if at > 3 && stands_alone(tokens, at) => {
                    tokens.pop();
                    tokens.remove(at - 1);
                }
                Keyword::FROM if at > 2 && inserts(&tokens[..at]) => select_all(tokens, at),
                _ => {}
            },
            _ => {}
        }
        at += 1;
    }
    if !gone.is_empty() {
        let mut place = 0;
        tokens.retain(|_| {
            place += 1;
            gone.binary_search(&(place - 1)).is_err()
        });
    }
}

fn is(token: Option<&TokenWithSpan>, wanted: &Token) -> bool {
    token.is_some_and(|it| it.token == *wanted)
}

fn is_word(token: Option<&TokenWithSpan>, wanted: Keyword) -> bool {
    matches!(token.map(|it| &it.token), Some(Token::Word(it)) if it.keyword == wanted && it.quote_style.is_none())
}

fn keyword(value: &str, keyword: Keyword) -> Token {
    Token::Word(Word { value: value.to_owned(), quote_style: None, keyword })
}

/// Whether a comma stands behind the last action of an ALTER.
fn ends_actions(tokens: &[TokenWithSpan], at: usize) -> bool {
    at + 1 == tokens.len() && is_word(tokens.first(), Keyword::ALTER)
}

/// Whether a list ends here, so that a comma before it parts nothing.
fn closes(token: Option<&TokenWithSpan>) -> bool {
    use Keyword::{FROM, GROUP, HAVING, LIMIT, ORDER, WHERE};
    match token.map(|it| &it.token) {
        None | Some(Token::RParen | Token::RBracket) => true,
        Some(Token::Word(it)) => {
            it.quote_style.is_none()
                && matches!(it.keyword, FROM | GROUP | HAVING | LIMIT | ORDER | WHERE)
        }
        _ => false,
    }
}

/// Whether an operand stands behind a token, and no operator.
pub(crate) fn begins_operand(before: Option<&Token>) -> bool {
    match before {
        None => true,
        Some(Token::Word(it)) => it.quote_style.is_none() && begins_by(it.keyword),
        Some(
            Token::Number(..)
            | Token::SingleQuotedString(_)
            | Token::Placeholder(_)
            | Token::RParen
            | Token::RBracket,
        ) => false,
        Some(_) => true,
    }
}

/// Whether an operand stands behind a word.
fn begins_by(word: Keyword) -> bool {
    use Keyword::{
        ALL, AND, BETWEEN, BY, CASE, DISTINCT, ELSE, HAVING, ILIKE, IN, LIKE, LIMIT, NOT, OFFSET,
        ON, OR, RETURNING, SELECT, SET, THEN, WHEN, WHERE,
    };
    matches!(
        word,
        ALL | AND
            | BETWEEN
            | BY
            | CASE
            | DISTINCT
            | ELSE
            | HAVING
            | ILIKE
            | IN
            | LIKE
            | LIMIT
            | NOT
            | OFFSET
            | ON
            | OR
            | RETURNING
            | SELECT
            | SET
            | THEN
            | WHEN
            | WHERE
    )
}

/// Puts the VALUES at a place and their rows into brackets.
fn in_brackets(tokens: &mut Vec<TokenWithSpan>, place: usize) {
    let mut end = place + 1;
    loop {
        let Some(length) = closing(&tokens[end..]) else { return };
        end += length;
        let goes_on = is(tokens.get(end), &Token::Comma) && is(tokens.get(end + 1), &Token::LParen);
        if !goes_on {
            break;
        }
        end += 1;
    }
    let span = tokens[place].span;
    tokens.insert(end, TokenWithSpan { token: Token::RParen, span });
    tokens.insert(place, TokenWithSpan { token: Token::LParen, span });
}

/// How many tokens there are up to the bracket that closes the first.
pub(crate) fn closing(tokens: &[TokenWithSpan]) -> Option<usize> {
    if !is(tokens.first(), &Token::LParen) {
        return None;
    }
    let mut depth = 0_usize;
    let end = tokens.iter().position(|it| {
        match it.token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    });
    end.map(|it| it + 1)
}

/// Whether the tokens are `INSERT INTO` and a table, perhaps with columns, so that a query comes.
fn inserts(tokens: &[TokenWithSpan]) -> bool {
    let begins = is_word(tokens.first(), Keyword::INSERT) && is_word(tokens.get(1), Keyword::INTO);
    let (true, Some(last)) = (begins, tokens.last()) else { return false };
    let mut depth = 0_usize;
    for token in &tokens[2..] {
        match &token.token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            Token::Word(it)
                if depth == 0
                    && it.quote_style.is_none()
                    && matches!(it.keyword, Keyword::SELECT | Keyword::VALUES) =>
            {
                return false;
            }
            _ => {}
        }
    }
    let is_name = matches!(&last.token, Token::Word(it)
        if it.keyword == Keyword::NoKeyword || it.quote_style.is_some());
    depth == 0 && (is_name || last.token == Token::RParen)
}

/// Whether the VALUES at a place stands in brackets, and is all that an INSERT inserts.
fn stands_alone(tokens: &[TokenWithSpan], place: usize) -> bool {
    is(tokens.get(place - 1), &Token::LParen)
        && inserts(&tokens[..place - 1])
        && closing(&tokens[place - 1..]) == Some(tokens.len() - place + 1)
}

/// Puts `SELECT *` before the FROM at a place, unless a SELECT comes behind it.
fn select_all(tokens: &mut Vec<TokenWithSpan>, place: usize) {
    let mut depth = 0_usize;
    for token in &tokens[place..] {
        match &token.token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            Token::Word(it) if depth == 0 && it.keyword == Keyword::SELECT => return,
            _ => {}
        }
    }
    let span = tokens[place].span;
    let all = [keyword("SELECT", Keyword::SELECT), Token::Mul];
    tokens.splice(place..place, all.map(|token| TokenWithSpan { token, span }));
}
