//! `strftime`: points of time by formats of `%` and a letter, as DuckDB has them.

use arrow_array::ArrayRef;
use types::SqlResult;

use crate::call::Call;
use crate::error::invalid;
use crate::strftime::{begun, by_formats, part, parts};
use crate::to_char::Moment;

/// Texts by formats.
pub(super) fn strftime(call: &Call<'_>) -> SqlResult<ArrayRef> {
    by_formats(call, |moment, characters, _| {
        let (plain, letter) = begun(characters);
        let wrong = || {
            let found = letter.map_or(String::new(), String::from);
            invalid(format!("the format of strftime has \"%{found}\", which means nothing"))
        };
        letter.and_then(|it| own(moment, it, plain)).ok_or_else(wrong)
    })
}

/// What DuckDB writes for a letter.
fn own(moment: &Moment, letter: char, plain: bool) -> Option<String> {
    match letter {
        'f' => Some(format!("{:06}", moment.micro)),
        'g' => Some(format!("{:03}", moment.micro / 1_000)),
        'n' => Some(format!("{:09}", moment.micro * 1_000)),
        'z' => Some("+00".to_owned()),
        'Z' => Some(String::new()),
        'c' => parts(moment, "Y-m-d H:M:S"),
        'x' => parts(moment, "Y-m-d"),
        'X' => parts(moment, "H:M:S"),
        'Y' => Some(format!("{:04}", moment.year)),
        'a' | 'A' | 'b' | 'B' | 'd' | 'G' | 'H' | 'I' | 'j' | 'm' | 'M' | 'p' | 'S' | 'u' | 'U'
        | 'V' | 'w' | 'W' | 'y' | '%' | 'h' => part(moment, letter, plain),
        _ => None,
    }
}
