//! Text in XML.

/// A text as XML has it. What XML cannot hold becomes a question mark, an end of a line a blank.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for it in text.chars() {
        match it {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\r' | '\t' => escaped.push(' '),
            it if it.is_control() => escaped.push('?'),
            it => escaped.push(it),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_reserves_or_lacks_is_replaced() {
        assert_eq!(
            escaped("a < b & \"c\"\nd\u{1}> \u{e9}"),
            "a &lt; b &amp; &quot;c&quot; d?&gt; \u{e9}"
        );
    }
}
