//! Parts of a text by the places of their first and last characters, from 1; those below zero count from the end.

use arrow_array::ArrayRef;
use types::SqlResult;

use crate::call::Call;

/// Parts of texts.
pub(super) fn slice(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (texts, firsts, lasts) = (call.texts(0)?, call.integers(1)?, call.integers(2)?);
    call.map_texts(|row, out| out.push(part(texts.value(row), firsts.at(row), lasts.at(row))))
}

fn part(text: &str, first: i64, last: i64) -> &str {
    let length = text.chars().count() as i64;
    let from_begin = |it: i64| if it < 0 { it.saturating_add(length + 1) } else { it };
    let (first, last) = (from_begin(first).max(1), from_begin(last).min(length));
    if first > last {
        return "";
    }
    let place = |it: i64| {
        let nth = usize::try_from(it).ok().and_then(|it| text.char_indices().nth(it));
        nth.map_or(text.len(), |it| it.0)
    };
    &text[place(first - 1)..place(last)]
}

#[cfg(test)]
mod tests {
    use super::part;

    #[test]
    fn parts_are_cut_by_characters() {
        for (first, last, found) in [
            (1, 1, "a"),
            (2, 3, "\u{e9}c"),
            (-2, i64::MAX, "cd"),
            (i64::MIN, 2, "a\u{e9}"),
            (0, 0, ""),
            (-9, -9, ""),
            (0, 2, "a\u{e9}"),
            (3, 2, ""),
            (9, 9, ""),
        ] {
            assert_eq!(part("a\u{e9}cd", first, last), found, "{first}:{last}");
        }
    }
}
