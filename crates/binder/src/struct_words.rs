//! The types of structs and maps as DuckDB writes them: `STRUCT(a INT, b TEXT)`, `ROW(a INT)` and `MAP(TEXT, INT)`. The parser knows
//! `STRUCT<a INT, b TEXT>`; a map is a struct whose two fields have names that no text can spell.
//!
//! Key decision: before parsing, by what stands around: behind `STRUCT (` a type has a name and another word, a list of columns
//! or of arguments has not; `MAP (` begins a type behind `::`, in a CAST and behind the name of a column.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

/// The names of what a map has.
pub(crate) const KEY: &str = "\0key";
pub(crate) const VALUE: &str = "\0value";

/// The name of all fields, in `(s).*`.
pub(crate) const ALL: &str = "\0all";

/// Brings the types of structs and maps to what the parser knows, and `(s).*`; the tokens have no blanks.
pub(crate) fn known_words(tokens: &mut Vec<TokenWithSpan>) {
    for at in 2..tokens.len() {
        if tokens[at].token == Token::Mul
            && tokens[at - 1].token == Token::Period
            && matches!(tokens[at - 2].token, Token::RParen | Token::RBracket)
        {
            tokens[at] = name(ALL, &tokens[at]);
        }
    }
    let begins = |it: &TokenWithSpan| ["map", "row", "struct"].iter().any(|word| is_word(it, word));
    if tokens.iter().any(begins) {
        let defines = matches!(keyword(tokens.first()), Some(Keyword::CREATE | Keyword::ALTER));
        *tokens = rewritten(tokens, defines);
    }
}

fn is_word(token: &TokenWithSpan, wanted: &str) -> bool {
    matches!(&token.token, Token::Word(it)
        if it.quote_style.is_none() && it.value.eq_ignore_ascii_case(wanted))
}

fn keyword(token: Option<&TokenWithSpan>) -> Option<Keyword> {
    match &token?.token {
        Token::Word(it) if it.quote_style.is_none() => Some(it.keyword),
        _ => None,
    }
}

/// The tokens with types that the parser knows. `defines`: whether a word before `MAP (` is the name of a column or field.
fn rewritten(tokens: &[TokenWithSpan], defines: bool) -> Vec<TokenWithSpan> {
    let mut out = Vec::with_capacity(tokens.len() + 2);
    let mut at = 0;
    // Whether each open parenthesis is that of a CAST.
    let mut casts = Vec::new();
    while at < tokens.len() {
        let token = &tokens[at];
        let before = at.checked_sub(1).map(|it| &tokens[it]);
        if let Some(end) = closing(tokens, at + 1) {
            let inner = &tokens[at + 2..end];
            let in_cast = casts.last().copied().unwrap_or(false);
            let is_alias = keyword(before) == Some(Keyword::AS) && !in_cast;
            if is_word(token, "struct") && is_fields(inner, before)
                || is_word(token, "row") && is_fields(inner, before) && !is_alias
            {
                put(token, &rewritten(inner, true), &tokens[end], &mut out);
                at = end + 1;
                continue;
            }
            if is_word(token, "map")
                && begins_type(before, defines, in_cast)
                && let Some(comma) = only_comma(inner)
            {
                let mut entry = vec![name(KEY, token)];
                entry.extend(rewritten(&inner[..comma], true));
                entry.extend([inner[comma].clone(), name(VALUE, token)]);
                entry.extend(rewritten(&inner[comma + 1..], true));
                put(token, &entry, &tokens[end], &mut out);
                at = end + 1;
                continue;
            }
        }
        match token.token {
            Token::LParen => casts.push(matches!(
                keyword(before),
                Some(Keyword::CAST | Keyword::TRY_CAST | Keyword::SAFE_CAST)
            )),
            Token::RParen => {
                casts.pop();
            }
            _ => {}
        }
        out.push(token.clone());
        at += 1;
    }
    out
}

/// The parenthesis that closes the one at a place, if one opens there.
fn closing(tokens: &[TokenWithSpan], open: usize) -> Option<usize> {
    if tokens.get(open)?.token != Token::LParen {
        return None;
    }
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.token {
            Token::LParen => depth += 1,
            Token::RParen => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// Whether a name and another word stand first, and no table is given that name.
fn is_fields(inner: &[TokenWithSpan], before: Option<&TokenWithSpan>) -> bool {
    let words = |it: &TokenWithSpan| matches!(it.token, Token::Word(_));
    let of_table = matches!(keyword(before), Some(Keyword::TABLE | Keyword::EXISTS))
        || before.is_some_and(|it| it.token == Token::Period);
    inner.len() > 1 && inner[..2].iter().all(words) && !of_table && !is_expression(inner)
}

/// Whether two words begin an expression: `CASE WHEN ..`, `a IS NULL`.
fn is_expression(inner: &[TokenWithSpan]) -> bool {
    let first = ["case", "not"];
    let second = [
        "is", "in", "and", "or", "not", "between", "like", "ilike", "similar", "collate", "at",
        "isnull", "notnull", "over", "filter", "operator", "glob",
    ];
    let is_any = |it: &TokenWithSpan, words: &[&str]| words.iter().any(|word| is_word(it, word));
    is_any(&inner[0], &first) || is_any(&inner[1], &second)
}

fn begins_type(before: Option<&TokenWithSpan>, defines: bool, in_cast: bool) -> bool {
    match (before.map(|it| &it.token), keyword(before)) {
        (None, _) => defines,
        (Some(Token::DoubleColon), _) => true,
        (_, Some(Keyword::AS)) => in_cast,
        (_, Some(Keyword::TABLE | Keyword::EXISTS | Keyword::SELECT | Keyword::BY)) => false,
        (Some(Token::Word(_)), _) => defines,
        _ => false,
    }
}

/// The place of the comma that is the only one outside of parentheses.
fn only_comma(inner: &[TokenWithSpan]) -> Option<usize> {
    let mut depth = 0usize;
    let mut commas = inner.iter().enumerate().filter(|(_, it)| {
        match it.token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && it.token == Token::Comma
    });
    let first = commas.next()?.0;
    commas.next().is_none().then_some(first)
}

fn name(value: &str, like: &TokenWithSpan) -> TokenWithSpan {
    let word = Word { value: value.into(), quote_style: Some('"'), keyword: Keyword::NoKeyword };
    TokenWithSpan { token: Token::Word(word), span: like.span }
}

/// Appends a struct of fields.
fn put(
    first: &TokenWithSpan,
    fields: &[TokenWithSpan],
    last: &TokenWithSpan,
    out: &mut Vec<TokenWithSpan>,
) {
    let word = Word { value: "STRUCT".into(), quote_style: None, keyword: Keyword::STRUCT };
    let token = |token, like: &TokenWithSpan| TokenWithSpan { token, span: like.span };
    out.push(token(Token::Word(word), first));
    out.push(token(Token::Lt, first));
    out.extend_from_slice(fields);
    out.push(token(Token::Gt, last));
}
