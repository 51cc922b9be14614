//! `strftime`: points of time by formats of `%` and a letter, as DuckDB has them.

use arrow_array::ArrayRef;
use types::SqlResult;

use crate::call::Call;
use crate::error::invalid;
use crate::strftime::part;
use crate::texts::Texts;
use crate::to_char::Moment;

/// Texts by formats.
pub(super) fn strftime(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (moments, formats) = (call.moments(0)?, call.texts(1)?);
    call.map_texts(|row, out| {
        let (days, micros) = moments.at(row);
        push(&Moment::new(days, micros), formats.value(row), out)
    })
}

fn push(moment: &Moment, format: &str, out: &mut Texts) -> SqlResult<()> {
    let mut characters = format.chars();
    while let Some(it) = characters.next() {
        if it != '%' {
            out.push_char(it)?;
            continue;
        }
        let mut letter = characters.next();
        let plain = letter == Some('-');
        if plain {
            letter = characters.next();
        }
        let text = letter.and_then(|it| own(moment, it, plain));
        let wrong = || {
            let found = letter.map_or(String::new(), String::from);
            invalid(format!("the format of strftime has \"%{found}\", which means nothing"))
        };
        out.push(&text.ok_or_else(wrong)?)?;
    }
    Ok(())
}

/// What DuckDB writes for a letter.
fn own(moment: &Moment, letter: char, plain: bool) -> Option<String> {
    let all = |format: &str| {
        let letters = format.chars().map(|it| match it.is_ascii_alphabetic() {
            true => part(moment, it, false),
            false => Some(it.to_string()),
        });
        letters.collect::<Option<String>>()
    };
    match letter {
        'f' => Some(format!("{:06}", moment.micro)),
        'g' => Some(format!("{:03}", moment.micro / 1_000)),
        'n' => Some(format!("{:09}", moment.micro * 1_000)),
        'z' => Some("+00".to_owned()),
        'Z' => Some(String::new()),
        'c' => all("Y-m-d H:M:S"),
        'x' => all("Y-m-d"),
        'X' => all("H:M:S"),
        'Y' => Some(format!("{:04}", moment.year)),
        'a' | 'A' | 'b' | 'B' | 'd' | 'G' | 'H' | 'I' | 'j' | 'm' | 'M' | 'p' | 'S' | 'u' | 'U'
        | 'V' | 'w' | 'W' | 'y' | '%' | 'h' => part(moment, letter, plain),
        _ => None,
    }
}
