//! The words of MERGE that PostgreSQL has and the parser has not: `DO NOTHING` and `INSERT DEFAULT VALUES`, as an UPDATE or an
//! INSERT of names that no text can spell.

use sqlparser::ast;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

/// A row with which nothing happens.
const NOTHING: &str = "\0nothing";

/// A row of defaults.
const DEFAULTS: &str = "\0defaults";

/// Brings a MERGE to what the parser knows; the tokens have no blanks.
pub(crate) fn known_words(tokens: &mut Vec<TokenWithSpan>) {
    use Keyword::{BY, DEFAULT, DO, INSERT, MATCHED, MERGE, NOT, NOTHING as WORD, SOURCE, THEN};
    if !tokens.iter().any(|it| keyword(it) == Some(MERGE)) {
        return;
    }
    // Whether the WHEN that was met last is of rows of the table.
    let (mut of_table, mut at) = (false, 0);
    while at < tokens.len() {
        let next = |ahead: usize| tokens.get(at + ahead).and_then(keyword);
        let before = at.checked_sub(1).and_then(|it| keyword(&tokens[it]));
        let is_defaults =
            before == Some(THEN) && next(0) == Some(INSERT) && next(1) == Some(DEFAULT);
        match next(0) {
            Some(MATCHED) => {
                of_table = before != Some(NOT) || next(1) == Some(BY) && next(2) == Some(SOURCE);
            }
            Some(DO) if before == Some(THEN) && next(1) == Some(WORD) => {
                replace(tokens, at, 2, of_table, NOTHING);
            }
            Some(INSERT) if is_defaults && next(2) == Some(Keyword::VALUES) => {
                replace(tokens, at, 3, false, DEFAULTS);
            }
            _ => {}
        }
        at += 1;
    }
}

/// Puts an UPDATE or an INSERT of a name in the place of some tokens.
fn replace(tokens: &mut Vec<TokenWithSpan>, at: usize, count: usize, update: bool, name: &str) {
    let span = tokens[at].span;
    let word = |value: &str, keyword| {
        let quote_style = (keyword == Keyword::NoKeyword).then_some('"');
        Token::Word(Word { value: value.to_owned(), quote_style, keyword })
    };
    let name = word(name, Keyword::NoKeyword);
    let new = match update {
        true => vec![
            word("UPDATE", Keyword::UPDATE),
            word("SET", Keyword::SET),
            name,
            Token::Eq,
            word("NULL", Keyword::NULL),
        ],
        false => vec![
            word("INSERT", Keyword::INSERT),
            word("VALUES", Keyword::VALUES),
            Token::LParen,
            name,
            Token::RParen,
        ],
    };
    tokens.splice(at..at + count, new.into_iter().map(|token| TokenWithSpan { token, span }));
}

fn keyword(token: &TokenWithSpan) -> Option<Keyword> {
    match &token.token {
        Token::Word(it) if it.quote_style.is_none() => Some(it.keyword),
        _ => None,
    }
}

/// Whether an action of MERGE leaves its row as it is.
pub(crate) fn is_nothing(action: &ast::MergeAction) -> bool {
    match action {
        ast::MergeAction::Update(it) => match it.assignments.first().map(|it| &it.target) {
            Some(ast::AssignmentTarget::ColumnName(name)) => is_named(name, NOTHING),
            _ => false,
        },
        ast::MergeAction::Insert(it) => only_value(it) == Some(NOTHING),
        ast::MergeAction::Delete { .. } => false,
    }
}

/// Whether all columns of a new row are defaults.
pub(crate) fn is_defaults(insert: &ast::MergeInsertExpr) -> bool {
    only_value(insert) == Some(DEFAULTS)
}

fn only_value(insert: &ast::MergeInsertExpr) -> Option<&str> {
    let ast::MergeInsertKind::Values(values) = &insert.kind else { return None };
    match values.rows.first().map(|it| &it.content[..]) {
        Some([ast::Expr::Identifier(it)]) => Some(&it.value),
        _ => None,
    }
}

fn is_named(name: &ast::ObjectName, wanted: &str) -> bool {
    name.0.last().and_then(|it| it.as_ident()).is_some_and(|it| it.value == wanted)
}
