//! A source as words and signs, enough to find paths and declarations.

/// A word or a sign, and the line (from 1) it stands in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token<'a> {
    /// A whole word, `::`, or one other character.
    pub text: &'a str,
    /// Where it stands.
    pub line: usize,
}

impl Token<'_> {
    /// Whether it is a name or a keyword.
    pub fn is_word(&self) -> bool {
        self.text.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
    }
}

/// The tokens of code without comments and literals (`code_of`); lifetimes and numbers are left out.
pub fn tokens_of(code: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    for (number, line) in code.lines().enumerate() {
        let mut rest = line.trim_start();
        while let Some(first) = rest.chars().next() {
            let mut length = first.len_utf8();
            let word = |text: &str| {
                text.find(|it: char| !it.is_ascii_alphanumeric() && it != '_').unwrap_or(text.len())
            };
            let mut kept = true;
            if first == '\'' {
                (length, kept) = (1 + word(&rest[1..]), false);
            } else if first.is_ascii_digit() {
                (length, kept) = (word(rest), false);
            } else if first.is_ascii_alphabetic() || first == '_' {
                length = word(rest);
            } else if rest.starts_with("::") {
                length = 2;
            }
            if kept {
                tokens.push(Token { text: &rest[..length], line: number + 1 });
            }
            rest = rest[length..].trim_start();
        }
    }
    tokens
}

/// The place after the bracket that closes the one at `open`.
pub fn after_closing(tokens: &[Token<'_>], open: usize) -> usize {
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_signs_and_their_lines() {
        let tokens = tokens_of("use a::b;\nfn f<'a>(x: &'a u8) { 17u8 }");
        let texts: Vec<&str> = tokens.iter().map(|it| it.text).collect();
        assert_eq!(texts[..5], ["use", "a", "::", "b", ";"]);
        assert!(!texts.contains(&"17u8") && !texts.contains(&"'"));
        assert_eq!((tokens[4].line, tokens[5].line), (1, 2));
        assert_eq!(after_closing(&tokens_of("{ a { b } } c"), 0), 6);
    }
}
