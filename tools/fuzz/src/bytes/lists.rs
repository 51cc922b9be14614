//! Elements of lists, many times beside one another: what is joined to rows for each of them becomes as deep as the list is long.

use std::ops::Range;

use crate::draw::Draw;

/// What may stand between elements.
const BETWEEN: [&str; 6] = [", ", ", ", ", ", " AND ", " || ", " + "];
/// Words that begin or end a list.
const WORDS: [&str; 12] = [
    "SELECT",
    "FROM",
    "WHERE",
    "VALUES",
    "BY",
    "SET",
    "ON",
    "RETURNING",
    "HAVING",
    "GROUP",
    "ORDER",
    "LIMIT",
];

/// Repeats the element of a list in which a piece stands, up to so many bytes.
pub fn repeat(pieces: &mut Vec<String>, at: usize, longest: usize, draw: &mut Draw) {
    let range = element(pieces, at);
    let inner = pieces[range.clone()].concat();
    if inner.trim().is_empty() {
        return;
    }
    let between = *draw.pick(&BETWEEN);
    let most = 1 + longest / (inner.len() + between.len());
    let times = (*draw.pick(&[20, 300, 3000])).min(most);
    let repeated = vec![inner.as_str(); times].join(between);
    pieces.splice(range, [format!(" {repeated} ")]);
}

/// The pieces around one of them, up to a comma, a bracket or a word of a query on either side.
fn element(pieces: &[String], at: usize) -> Range<usize> {
    let depth_of = |it: &str| match it {
        "(" | "[" | "{" => 1,
        ")" | "]" | "}" => -1,
        _ => 0_i32,
    };
    let is_word = |it: &str| WORDS.iter().any(|word| word.eq_ignore_ascii_case(it));
    let (mut depth, mut from) = (0, at);
    while let Some(before) = from.checked_sub(1).map(|it| &*pieces[it]) {
        depth -= depth_of(before);
        if depth < 0 || (depth == 0 && (before == "," || is_word(before))) {
            break;
        }
        from -= 1;
    }
    let (mut depth, mut to) = (0, at);
    while let Some(it) = pieces.get(to) {
        depth += depth_of(it);
        if to > at && (depth < 0 || (depth == 0 && (it == "," || is_word(it)))) {
            break;
        }
        to += 1;
    }
    from..to
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_element_around_a_piece_is_repeated_whole() {
        let pieces: Vec<String> =
            ["SELECT", " ", "a", ",", " ", "f", "(", "b", ",", "c", ")", " ", "FROM", " ", "t"]
                .map(String::from)
                .to_vec();
        assert_eq!(pieces[element(&pieces, 2)].concat(), " a");
        assert_eq!(pieces[element(&pieces, 5)].concat(), " f(b,c) ");
        assert_eq!(pieces[element(&pieces, 9)].concat(), "c");
        let mut wide = pieces.clone();
        repeat(&mut wide, 5, 1000, &mut Draw::new(1, 1));
        assert!(wide.concat().matches("f(b,c)").count() >= 20);
    }
}
