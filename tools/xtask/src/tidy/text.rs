//! Just enough of Rust's grammar to tell code from comments and literals.

/// The source with comments and the insides of literals blanked; line breaks and byte positions stay.
pub fn code_of(source: &str) -> String {
    let bytes = source.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = match bytes[at] {
            b'/' if bytes.get(at + 1) == Some(&b'/') => line_end(bytes, at),
            b'/' if bytes.get(at + 1) == Some(&b'*') => block_comment_end(bytes, at),
            b'"' => string_end(bytes, at + 1),
            b'r' | b'b' if !in_word(bytes, at) => match prefixed_literal_end(bytes, at) {
                Some(end) => end,
                None => {
                    at += 1;
                    continue;
                }
            },
            b'\'' => match char_end(bytes, at) {
                Some(end) => end,
                None => {
                    at += 1;
                    continue;
                }
            },
            _ => {
                at += 1;
                continue;
            }
        };
        for byte in &mut out[at..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        at = end;
    }
    String::from_utf8(out).expect("invariant: whole literals are blanked, never half a character")
}

fn in_word(bytes: &[u8], at: usize) -> bool {
    at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_')
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |length| at + length)
}

/// Block comments nest.
fn block_comment_end(bytes: &[u8], at: usize) -> usize {
    let mut depth = 0usize;
    let mut next = at;
    while next + 1 < bytes.len() {
        match &bytes[next..next + 2] {
            b"/*" => {
                depth += 1;
                next += 2;
            }
            b"*/" => {
                depth -= 1;
                next += 2;
                if depth == 0 {
                    return next;
                }
            }
            _ => next += 1,
        }
    }
    bytes.len()
}

fn string_end(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// `r"..."`, `r#"..."#`, `b"..."`, `br#"..."#`; `None` for an ordinary word.
fn prefixed_literal_end(bytes: &[u8], at: usize) -> Option<usize> {
    let mut next = at;
    if bytes[next] == b'b' {
        next += 1;
        if bytes.get(next) == Some(&b'"') {
            return Some(string_end(bytes, next + 1));
        }
    }
    if bytes.get(next) != Some(&b'r') {
        return None;
    }
    next += 1;
    let hashes = bytes[next..].iter().take_while(|&&byte| byte == b'#').count();
    next += hashes;
    if bytes.get(next) != Some(&b'"') {
        return None;
    }
    let mut closing = vec![b'"'];
    closing.resize(hashes + 1, b'#');
    let body = &bytes[next + 1..];
    let length = body.windows(closing.len()).position(|window| window == closing);
    Some(length.map_or(bytes.len(), |length| next + 1 + length + closing.len()))
}

/// The end of a character literal, or `None` at a lifetime.
fn char_end(bytes: &[u8], at: usize) -> Option<usize> {
    let next = *bytes.get(at + 1)?;
    if next == b'\\' {
        let close = bytes.get(at + 3..)?.iter().position(|&byte| byte == b'\'')?;
        return Some(at + 4 + close);
    }
    // One character of up to four bytes, then the quote.
    let width = match next {
        0x00..=0x7f => 1,
        0x80..=0xdf => 2,
        0xe0..=0xef => 3,
        _ => 4,
    };
    (bytes.get(at + 1 + width) == Some(&b'\'')).then_some(at + 2 + width)
}

/// The number of the first line (from 0) that belongs to tests, or the number of lines.
pub fn first_test_line(code: &str) -> usize {
    let lines: Vec<&str> = code.lines().collect();
    let is_test =
        |line: &str| line.starts_with("#[cfg(test)]") || line.starts_with("#[cfg(all(test");
    (0..lines.len())
        .find(|&at| {
            let next = lines[at + 1..].iter().find(|line| !line.trim_start().starts_with("#["));
            // `mod tests;` names another file; only a module with a body starts the tests here.
            is_test(lines[at])
                && next.is_some_and(|next| next.contains("mod ") && !next.ends_with(';'))
        })
        .unwrap_or(lines.len())
}

/// True for files that hold only tests, examples or benchmarks.
pub fn is_test_file(path: &str) -> bool {
    let in_folder = |name: &str| path.split('/').rev().skip(1).any(|part| part == name);
    let file = path.rsplit('/').next().unwrap_or(path);
    in_folder("tests")
        || in_folder("examples")
        || in_folder("benches")
        || file == "tests.rs"
        || file.ends_with("_tests.rs")
        || file.ends_with("_test.rs")
}

/// Whether `word` stands in `line` as a whole word.
pub fn has_word(line: &str, word: &str) -> bool {
    let part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    line.match_indices(word).any(|(at, _)| {
        !line[..at].chars().next_back().is_some_and(part)
            && !line[at + word.len()..].chars().next().is_some_and(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_blanked_and_nothing_else() {
        let source = r####"let a = "unsafe { \" x"; // unsafe
/* unsafe /* nested */ still */ let b = 'x'; let c: &'static str = r#"un"safe"#;
let d = b"unsafe"; let e = '\''; let f = '"'; let g = br"x"; let r = bar;"####;
        let code = code_of(source);
        assert_eq!(code.len(), source.len());
        assert_eq!(code.lines().count(), 3);
        assert!(!code.contains("safe"), "{code}");
        assert!(!code.contains("still"));
        for kept in ["let a =", "let b =", "&'static str =", "let e =", "let f =", "let r = bar;"] {
            assert!(code.contains(kept), "{kept} in {code}");
        }
    }

    #[test]
    fn an_unclosed_literal_ends_with_the_file() {
        for source in ["\"open", "/* open", "r#\"open", "b\"open\\"] {
            assert_eq!(code_of(source).trim(), "", "{source}");
        }
    }

    #[test]
    fn tests_start_at_a_module_with_a_body() {
        assert_eq!(first_test_line("fn a() {}\n#[cfg(test)]\nmod tests {\n}\n"), 1);
        assert_eq!(first_test_line("#[cfg(test)]\n#[path = \"x.rs\"]\nmod tests;\nfn a() {}\n"), 4);
        assert_eq!(first_test_line("fn a() {}\n"), 1);
    }

    #[test]
    fn words_are_whole() {
        assert!(has_word("unsafe {", "unsafe"));
        assert!(!has_word("unsafe_code", "unsafe"));
        assert!(!has_word("not_unsafe", "unsafe"));
    }

    #[test]
    fn test_files_are_known_by_folder_or_name() {
        assert!(is_test_file("crates/a/tests/life.rs"));
        assert!(is_test_file("crates/a/src/loom_tests.rs"));
        assert!(!is_test_file("crates/a/src/latest.rs"));
    }
}
