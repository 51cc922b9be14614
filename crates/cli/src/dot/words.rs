//! The arguments of a command.

/// Words between blanks; what is in quotes is one word, and quotes in quotes are doubled.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut letters = text.chars().peekable();
    loop {
        while letters.next_if(|it| it.is_whitespace()).is_some() {}
        let Some(&first) = letters.peek() else { return words };
        let mut word = String::new();
        if matches!(first, '\'' | '"') {
            letters.next();
            while let Some(letter) = letters.next() {
                if letter == first && letters.next_if_eq(&first).is_none() {
                    break;
                }
                word.push(letter);
            }
        } else {
            while let Some(letter) = letters.next_if(|it| !it.is_whitespace()) {
                word.push(letter);
            }
        }
        words.push(word);
    }
}

/// A text of SQL in quotes.
pub(super) fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_hold_words_together() {
        assert_eq!(words("a  'b c' \"d\"\"e\" 'it''s'"), ["a", "b c", "d\"e", "it's"]);
        assert_eq!(words("'open"), ["open"]);
        assert_eq!(words("''"), [""]);
        assert!(words("  ").is_empty());
    }
}
