//! Colours SQL while it is typed.

use reedline::{Color, Highlighter, StyledText};

use super::keywords::is_keyword;

/// Colours keywords, strings, numbers and comments.
pub struct SqlHighlighter;

impl Highlighter for SqlHighlighter {
    fn highlight(&self, line: &str, _cursor: usize) -> StyledText {
        let mut styled = StyledText::new();
        let mut rest = line;
        while let Some(first) = rest.chars().next() {
            let (length, kind) = token(rest, first);
            let (text, tail) = rest.split_at(length);
            let style = match kind {
                Kind::Keyword => Color::Blue.bold(),
                Kind::Text => Color::Green.normal(),
                Kind::Number => Color::Cyan.normal(),
                Kind::Comment => Color::DarkGray.normal(),
                Kind::Other => Color::Default.normal(),
            };
            styled.push((style, text.to_owned()));
            rest = tail;
        }
        styled
    }
}

/// What a token is.
enum Kind {
    Keyword,
    Text,
    Number,
    Comment,
    Other,
}

/// The length of the token that `rest` begins with, and what it is.
fn token(rest: &str, first: char) -> (usize, Kind) {
    let run = |inside: fn(char) -> bool| rest.find(|it| !inside(it)).unwrap_or(rest.len());
    let until = |end: &str, skip: usize| {
        rest.get(skip..).and_then(|it| it.find(end)).map_or(rest.len(), |at| skip + at + end.len())
    };
    if first == '\'' {
        (until("'", 1), Kind::Text)
    } else if first == '"' {
        (until("\"", 1), Kind::Other)
    } else if rest.starts_with("--") {
        (run(|it| it != '\n'), Kind::Comment)
    } else if rest.starts_with("/*") {
        (until("*/", 2), Kind::Comment)
    } else if first.is_ascii_digit() {
        (run(|it| it.is_ascii_alphanumeric() || it == '.'), Kind::Number)
    } else if first.is_alphabetic() || first == '_' {
        let length = run(|it| it.is_alphanumeric() || it == '_');
        let word = rest[..length].to_ascii_lowercase();
        (length, if is_keyword(&word) { Kind::Keyword } else { Kind::Other })
    } else {
        (first.len_utf8(), Kind::Other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_stays_the_same() {
        for text in ["select 'a''b', \"c\" -- d\nfrom t /* e", "'open", "x\u{fc}1.5;", ""] {
            let styled = SqlHighlighter.highlight(text, 0);
            let plain: String = styled.buffer.iter().map(|it| it.1.as_str()).collect();
            assert_eq!(plain, text);
        }
    }

    #[test]
    fn keywords_are_bold() {
        let styled = SqlHighlighter.highlight("SELECT selected", 0);
        let bold: Vec<&str> =
            styled.buffer.iter().filter(|it| it.0.is_bold).map(|it| it.1.as_str()).collect();
        assert_eq!(bold, ["SELECT"]);
    }
}
