//! Tokens rewritten from the last to the first, so that what stands within something is done before it.
//!
//! Key decision: what is done stands behind room for more. So putting something in the place of its first tokens moves those alone, and a
//! long text with very many such places takes no longer than its tokens.

use sqlparser::tokenizer::{Token, TokenWithSpan};
use types::SqlResult;

type Tokens = Vec<TokenWithSpan>;

/// Goes through all tokens. `put` is shown those before one, and it with those behind it, which are done; it says how many of these go,
/// and what comes in their place.
pub(crate) fn rewrite(
    tokens: &mut Tokens,
    mut put: impl FnMut(&[TokenWithSpan], &[TokenWithSpan]) -> SqlResult<Option<(usize, Tokens)>>,
) -> SqlResult<()> {
    let mut before = std::mem::take(tokens);
    let mut done = Done { tokens: Vec::new(), begin: 0 };
    done.make_room(before.len() + 1);
    while let Some(token) = before.pop() {
        done.push(token);
        if let Some((count, made)) = put(&before, &done.tokens[done.begin..])? {
            done.begin += count;
            made.into_iter().rev().for_each(|it| done.push(it));
        }
    }
    *tokens = done.tokens.split_off(done.begin);
    Ok(())
}

/// Tokens behind room for more.
struct Done {
    tokens: Tokens,
    begin: usize,
}

impl Done {
    fn push(&mut self, token: TokenWithSpan) {
        if self.begin == 0 {
            self.make_room(self.tokens.len().max(16));
        }
        self.begin -= 1;
        self.tokens[self.begin] = token;
    }

    fn make_room(&mut self, count: usize) {
        let mut roomier = vec![TokenWithSpan::wrap(Token::EOF); count];
        roomier.append(&mut self.tokens);
        (self.tokens, self.begin) = (roomier, self.begin + count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Tokens {
        text.split(' ').map(|it| TokenWithSpan::wrap(Token::make_word(it, None))).collect()
    }

    #[test]
    fn inner_ones_are_done_before_those_around() {
        let mut tokens = words("a x b x c d");
        // An x goes with what is behind it, which comes twice.
        let put = |_: &[TokenWithSpan], rest: &[TokenWithSpan]| {
            let is_it = rest[0] == words("x")[0];
            Ok(is_it.then(|| (rest.len(), [&rest[1..], &rest[1..]].concat())))
        };
        rewrite(&mut tokens, put).unwrap();
        assert_eq!(tokens, words("a b c d c d b c d c d"));
        let mut none = Vec::new();
        rewrite(&mut none, |_, _| Ok(None)).unwrap();
        assert!(none.is_empty());
    }

    #[test]
    fn what_stands_before_is_shown() {
        let mut tokens = words("a b a");
        let put = |before: &[TokenWithSpan], rest: &[TokenWithSpan]| {
            Ok((before.len() == 2).then(|| (1, [rest, rest].concat())))
        };
        rewrite(&mut tokens, put).unwrap();
        assert_eq!(tokens, words("a b a a"));
    }
}
