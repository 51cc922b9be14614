//! SIMILAR TO: patterns of the SQL standard as regular expressions of PostgreSQL's kind.

/// The regular expression that matches what a pattern matches: all of a text. `None` where the pattern has the separators
/// (an escaped double quote) that only SUBSTRING knows.
pub(super) fn expression(pattern: &str, escape: Option<char>) -> Option<String> {
    let mut out = String::from("^(?:");
    let mut rest = pattern.chars().peekable();
    // Inside of brackets: how many characters stand in them already, a leading ^ not counted.
    let mut class: Option<usize> = None;
    while let Some(it) = rest.next() {
        if Some(it) == escape {
            match rest.next() {
                Some('"') => return None,
                Some(escaped) => out.extend(['\\', escaped]),
                None => {}
            }
            class = class.map(|it| it + 1);
            continue;
        }
        let Some(length) = class else {
            match it {
                '%' => out.push_str(".*"),
                '_' => out.push('.'),
                // Groups are there to group alone.
                '(' => out.push_str("(?:"),
                '\\' | '.' | '^' | '$' => out.extend(['\\', it]),
                '[' => {
                    out.push(it);
                    out.extend(rest.next_if_eq(&'^'));
                    class = Some(0);
                }
                other => out.push(other),
            }
            continue;
        };
        match (it, rest.peek().copied()) {
            // A named class, which has brackets of its own.
            ('[', Some(kind @ (':' | '.' | '='))) => {
                out.push(it);
                out.extend(rest.next());
                let mut last = None;
                for it in rest.by_ref() {
                    out.push(it);
                    if last == Some(kind) && it == ']' {
                        break;
                    }
                    last = Some(it);
                }
            }
            ('\\', _) => out.push_str("\\\\"),
            (other, _) => out.push(other),
        }
        class = (it != ']' || length == 0).then_some(length + 1);
    }
    out.push_str(")$");
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_become_regular_expressions() {
        for (pattern, wanted) in [
            ("%(b|d)_", "^(?:.*(?:b|d).)$"),
            ("a.c^$", "^(?:a\\.c\\^\\$)$"),
            ("\\%\\d", "^(?:\\%\\d)$"),
            ("[%_.]%", "^(?:[%_.].*)$"),
            ("[]]x[^]]", "^(?:[]]x[^]])$"),
            ("[[:alpha:]_]%", "^(?:[[:alpha:]_].*)$"),
        ] {
            assert_eq!(expression(pattern, Some('\\')).as_deref(), Some(wanted), "{pattern}");
        }
        assert_eq!(expression("a\\", None).as_deref(), Some("^(?:a\\\\)$"));
        assert_eq!(expression("[\\]", None).as_deref(), Some("^(?:[\\\\])$"));
        assert_eq!(expression("#%#\"", Some('#')), None);
    }
}
