//! `SET a[1] = x`, which the parser does not know: read as `a = item(a, x, 1)`, where the function has a name that no text can
//! spell. Several items of one column are set one after the other. A slice, `SET a[1:2] = x`, has both bounds of each subscript, and
//! a word that tells which of them are said.

use sqlparser::ast;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Span, Token, TokenWithSpan, Word};
use types::SqlResult;

/// The name of the function: the array, the new item, its subscripts.
const SET_ITEM: &str = "\0set item";
/// The same of a slice: the array, the new items, and of each subscript both bounds and a word.
const SET_SLICE: &str = "\0set slice";

/// An assignment: the column, the subscripts of its item if there are any, and the value.
struct Assignment {
    column: Vec<TokenWithSpan>,
    subscripts: Vec<Vec<TokenWithSpan>>,
    value: Vec<TokenWithSpan>,
}

/// Brings items that are assigned to what the parser knows; the tokens have no blanks.
pub(crate) fn known_words(tokens: &mut Vec<TokenWithSpan>) -> SqlResult<()> {
    use Keyword::{INSERT, MERGE, UPDATE, WITH};
    let begins = tokens.first().and_then(keyword);
    if !matches!(begins, Some(INSERT | MERGE | UPDATE | WITH))
        || !tokens.iter().any(|it| it.token == Token::LBracket)
    {
        return Ok(());
    }
    let mut at = 0;
    while at < tokens.len() {
        at += 1;
        if keyword(&tokens[at - 1]) == Some(Keyword::SET)
            && let Some((all, end)) = assignments(tokens, at)
            && all.iter().any(|it| !it.subscripts.is_empty())
        {
            let new = rewritten(all)?;
            let behind = at + new.len();
            tokens.splice(at..end, new);
            at = behind;
        }
    }
    Ok(())
}

fn keyword(token: &TokenWithSpan) -> Option<Keyword> {
    match &token.token {
        Token::Word(it) if it.quote_style.is_none() => Some(it.keyword),
        _ => None,
    }
}

/// The assignments that begin at a place, and where they end; nothing where something else stands there.
fn assignments(tokens: &[TokenWithSpan], from: usize) -> Option<(Vec<Assignment>, usize)> {
    let mut all = Vec::new();
    let mut at = from;
    loop {
        let equals = at + end_of(&tokens[at..], |it| it.token == Token::Eq);
        if tokens.get(equals)?.token != Token::Eq {
            return None;
        }
        let (column, subscripts) = target(&tokens[at..equals])?;
        let end = equals + 1 + end_of(&tokens[equals + 1..], ends_value);
        all.push(Assignment { column, subscripts, value: tokens[equals + 1..end].to_vec() });
        if tokens.get(end).is_none_or(|it| it.token != Token::Comma) {
            return Some((all, end));
        }
        at = end + 1;
    }
}

/// How many tokens stand before the first outside of parentheses and CASE that ends them.
fn end_of(tokens: &[TokenWithSpan], ends: impl Fn(&TokenWithSpan) -> bool) -> usize {
    let (mut depth, mut cases) = (0usize, 0usize);
    for (at, token) in tokens.iter().enumerate() {
        let is_distinct_from = keyword(token) == Some(Keyword::FROM)
            && at > 0
            && keyword(&tokens[at - 1]) == Some(Keyword::DISTINCT);
        if depth == 0 && cases == 0 && !is_distinct_from && ends(token) {
            return at;
        }
        match &token.token {
            Token::LParen | Token::LBracket => depth += 1,
            Token::RParen | Token::RBracket if depth == 0 => return at,
            Token::RParen | Token::RBracket => depth -= 1,
            _ => match keyword(token) {
                Some(Keyword::CASE) => cases += 1,
                Some(Keyword::END) => cases = cases.saturating_sub(1),
                _ => {}
            },
        }
    }
    tokens.len()
}

fn ends_value(token: &TokenWithSpan) -> bool {
    use Keyword::{FROM, RETURNING, WHEN, WHERE};
    token.token == Token::Comma || matches!(keyword(token), Some(FROM | RETURNING | WHEN | WHERE))
}

/// What is assigned to: a column, and the subscripts of an item.
fn target(tokens: &[TokenWithSpan]) -> Option<(Vec<TokenWithSpan>, Vec<Vec<TokenWithSpan>>)> {
    let open = tokens.iter().position(|it| it.token == Token::LBracket).unwrap_or(tokens.len());
    let (column, mut rest) = tokens.split_at(open);
    if column.is_empty() {
        return None;
    }
    if open < tokens.len() && !matches!(column, [TokenWithSpan { token: Token::Word(_), .. }]) {
        return None;
    }
    let mut subscripts = Vec::new();
    while let [TokenWithSpan { token: Token::LBracket, .. }, inner @ ..] = rest {
        let end = end_of(inner, |_| false);
        subscripts.push(inner[..end].to_vec());
        rest = inner.get(end + 1..)?;
    }
    rest.is_empty().then(|| (column.to_vec(), subscripts))
}

/// The place of the colon of a subscript that is a slice.
fn colon(subscript: &[TokenWithSpan]) -> Option<usize> {
    let place = end_of(subscript, |it| it.token == Token::Colon);
    subscript.get(place).is_some_and(|it| it.token == Token::Colon).then_some(place)
}

/// Both bounds of a subscript of a slice, and a word that tells which are said. One without a colon is the upper one.
fn bounds(subscript: &[TokenWithSpan], span: Span) -> [Vec<TokenWithSpan>; 3] {
    let placed = |token| vec![TokenWithSpan { token, span }];
    let keyword = Keyword::NULL;
    let null =
        || placed(Token::Word(Word { value: "NULL".to_owned(), quote_style: None, keyword }));
    let word = |it: &str| placed(Token::SingleQuotedString(it.to_owned()));
    let Some(place) = colon(subscript) else {
        let one = placed(Token::Number("1".to_owned(), false));
        return [one, subscript.to_vec(), word("lu")];
    };
    let (lower, upper) = (&subscript[..place], &subscript[place + 1..]);
    let said = format!(
        "{}{}",
        if lower.is_empty() { "" } else { "l" },
        if upper.is_empty() { "" } else { "u" }
    );
    let bound = |it: &[TokenWithSpan]| if it.is_empty() { null() } else { it.to_vec() };
    [bound(lower), bound(upper), word(&said)]
}

fn rewritten(all: Vec<Assignment>) -> SqlResult<Vec<TokenWithSpan>> {
    // Each column once, with all its items.
    let mut columns: Vec<(Vec<TokenWithSpan>, Vec<TokenWithSpan>, bool)> = Vec::new();
    for Assignment { column, subscripts, value } in all {
        let span = column[0].span;
        let placed = |token| TokenWithSpan { token, span };
        if subscripts.is_empty() {
            columns.push((column, value, false));
            continue;
        }
        let is_slice = subscripts.iter().any(|it| colon(it).is_some());
        let same = |it: &[TokenWithSpan]| {
            it.iter().map(|it| &it.token).eq(column.iter().map(|it| &it.token))
        };
        let known = columns.iter().position(|it| it.2 && same(&it.0));
        let before = match known {
            Some(place) => columns.remove(place).1,
            None => column.clone(),
        };
        let name = Word {
            value: if is_slice { SET_SLICE } else { SET_ITEM }.to_owned(),
            quote_style: Some('"'),
            keyword: Keyword::NoKeyword,
        };
        let mut call = vec![placed(Token::Word(name)), placed(Token::LParen)];
        call.extend(before);
        let subscripts: Vec<_> = match is_slice {
            true => subscripts.iter().flat_map(|it| bounds(it, span)).collect(),
            false => subscripts,
        };
        for argument in std::iter::once(value).chain(subscripts) {
            call.push(placed(Token::Comma));
            call.extend(argument);
        }
        call.push(placed(Token::RParen));
        columns.push((column, call, true));
    }
    let mut tokens = Vec::new();
    for (column, value, _) in columns {
        let span = column[0].span;
        let placed = |token| TokenWithSpan { token, span };
        if !tokens.is_empty() {
            tokens.push(placed(Token::Comma));
        }
        tokens.extend(column);
        tokens.push(placed(Token::Eq));
        tokens.extend(value);
    }
    Ok(tokens)
}

/// What is set of an array, or of JSON.
pub(crate) struct SetItem<'a> {
    /// Whether it is a slice.
    pub(crate) is_slice: bool,
    /// The arguments of the function that stands for it.
    pub(crate) arguments: Vec<&'a ast::Expr>,
}

/// The item or the slice that a value sets.
pub(crate) fn item_that_is_set(value: &ast::Expr) -> Option<SetItem<'_>> {
    let ast::Expr::Function(call) = value else { return None };
    let name = &call.name.0.last()?.as_ident()?.value;
    let ast::FunctionArguments::List(list) = &call.args else { return None };
    let argument = |it| match it {
        &ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(ref it)) => Some(it),
        _ => None,
    };
    if name != SET_ITEM && name != SET_SLICE {
        return None;
    }
    let arguments = list.args.iter().map(argument).collect::<Option<Vec<_>>>()?;
    Some(SetItem { is_slice: name == SET_SLICE, arguments })
}
