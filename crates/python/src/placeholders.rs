//! Places for parameters as the DB-API has them, to PostgreSQL's: `?` in order and `$name` become `$1`, `$2`, ..
//!
//! What stands in quotes, in dollar quotes and in comments is left as it is.

/// What a text takes.
#[derive(Debug, PartialEq, Eq)]
pub enum Places {
    /// Parameters in order: `$1`, or `?`, which were so many.
    Ordered(Option<usize>),
    /// These names, in the order of their numbers.
    Named(Vec<String>),
}

/// The text with PostgreSQL's places, and what it takes. Named places are looked for only where names are given, and `?` only
/// where there is no `$1`.
pub fn numbered(sql: &str, named: bool) -> (String, Places) {
    let pieces = pieces(sql);
    let has_numbers = pieces
        .iter()
        .any(|it| matches!(it, Piece::Dollar(name) if name.bytes().all(|it| it.is_ascii_digit())));
    let (mut out, mut count, mut names) = (String::with_capacity(sql.len() + 8), 0, Vec::new());
    for piece in pieces {
        match piece {
            Piece::Question if !named && !has_numbers => {
                count += 1;
                out.push_str(&format!("${count}"));
            }
            Piece::Question => out.push('?'),
            Piece::Dollar(name) if named => {
                let known = names.iter().position(|it| it == name);
                let place = known.unwrap_or_else(|| {
                    names.push(name.to_owned());
                    names.len() - 1
                });
                out.push_str(&format!("${}", place + 1));
            }
            Piece::Dollar(name) => {
                out.push('$');
                out.push_str(name);
            }
            Piece::Plain(text) => out.push_str(text),
        }
    }
    match named {
        true => (out, Places::Named(names)),
        false => (out, Places::Ordered((!has_numbers).then_some(count))),
    }
}

enum Piece<'a> {
    Plain(&'a str),
    Question,
    /// A name, or a number, after `$`.
    Dollar(&'a str),
}

fn pieces(sql: &str) -> Vec<Piece<'_>> {
    let bytes = sql.as_bytes();
    let (mut pieces, mut begin, mut at) = (Vec::new(), 0, 0);
    while at < bytes.len() {
        let rest = &sql[at..];
        let word = || rest[1..].bytes().take_while(|it| is_word(*it)).count();
        let inside_word = at > 0 && is_word(bytes[at - 1]);
        let (length, piece) = match bytes[at] {
            b'\'' => (quoted(rest, '\'', at > 0 && matches!(bytes[at - 1], b'e' | b'E')), None),
            b'"' => (quoted(rest, '"', false), None),
            b'-' if rest.starts_with("--") => (rest.find('\n').unwrap_or(rest.len()), None),
            b'/' if rest.starts_with("/*") => (comment(rest), None),
            b'?' => (1, Some(Piece::Question)),
            b'$' if !inside_word && rest[1 + word()..].starts_with('$') && !digit_follows(rest) => {
                let mark = &rest[..word() + 2];
                let end = rest[mark.len()..].find(mark).map(|it| it + 2 * mark.len());
                (end.unwrap_or(rest.len()), None)
            }
            b'$' if !inside_word && word() > 0 => {
                (1 + word(), Some(Piece::Dollar(&rest[1..1 + word()])))
            }
            _ => (rest.chars().next().map_or(1, char::len_utf8), None),
        };
        if let Some(piece) = piece {
            pieces.extend([Piece::Plain(&sql[begin..at]), piece]);
            begin = at + length;
        }
        at += length;
    }
    pieces.push(Piece::Plain(&sql[begin..]));
    pieces
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn digit_follows(rest: &str) -> bool {
    rest[1..].starts_with(|it: char| it.is_ascii_digit())
}

/// The length of what stands in quotes at the beginning of a text.
fn quoted(rest: &str, quote: char, escapes: bool) -> usize {
    let mut letters = rest.char_indices().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        if letter == '\\' && escapes {
            letters.next();
        } else if letter == quote && letters.next_if(|it| it.1 == quote).is_none() {
            return at + 1;
        }
    }
    rest.len()
}

/// The length of a comment, in which others may be.
fn comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        match &rest.as_bytes()[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}
