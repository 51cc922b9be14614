//! date_format: formats of `%` and a letter, as C's strftime has them.

use std::str::Chars;

use arrow_array::ArrayRef;
use types::SqlResult;

use crate::calendar::{day_of_year, iso_week, iso_weekday};
use crate::call::Call;
use crate::error::invalid;
use crate::template::{DAYS, MONTHS};
use crate::to_char::Moment;

/// Texts by formats.
pub(crate) fn date_format(call: &Call<'_>) -> SqlResult<ArrayRef> {
    by_formats(call, |moment, characters, format| {
        let (plain, mut letter) = begun(characters);
        let dot = letter == Some('.');
        if dot {
            letter = characters.next();
        }
        let digits = letter.and_then(|it| it.to_digit(10)).filter(|it| matches!(it, 3 | 6 | 9));
        if digits.is_some() {
            letter = characters.next();
        }
        let text = match letter {
            Some('f') => Some(fraction(moment.micro, dot, digits)),
            Some(_) if dot || digits.is_some() => None,
            Some(letter) => part(moment, letter, plain),
            None => None,
        };
        text.ok_or_else(|| invalid(format!("invalid date format \"{format}\"")))
    })
}

/// Texts by formats, of which `written` reads what stands behind a `%` and makes its text; it gets the whole format, too.
pub(crate) fn by_formats(
    call: &Call<'_>,
    written: impl Fn(&Moment, &mut Chars<'_>, &str) -> SqlResult<String>,
) -> SqlResult<ArrayRef> {
    let (moments, formats) = (call.any_moments(0)?, call.texts(1)?);
    call.map_texts(|row, out| {
        if let Some(it) = moments.infinite(row) {
            return out.push(if it < 0 { "-infinity" } else { "infinity" });
        }
        let (days, micros) = moments.at(row);
        let (moment, format) = (Moment::new(days, micros), formats.value(row));
        let mut characters = format.chars();
        while let Some(it) = characters.next() {
            match it {
                '%' => out.push(&written(&moment, &mut characters, format)?)?,
                other => out.push_char(other)?,
            }
        }
        Ok(())
    })
}

/// Whether a minus says that nothing is filled up, and the letter behind it.
pub(crate) fn begun(characters: &mut Chars<'_>) -> (bool, Option<char>) {
    match characters.next() {
        Some('-') => (true, characters.next()),
        letter => (false, letter),
    }
}

/// The fraction of a second in nanoseconds, or behind a dot as short as it is.
fn fraction(micro: i64, dot: bool, digits: Option<u32>) -> String {
    let nanos = format!("{:09}", micro * 1_000);
    let shown = match digits {
        Some(digits) => &nanos[..digits as usize],
        None if dot && micro == 0 => return String::new(),
        None if dot && micro % 1_000 == 0 => &nanos[..3],
        None if dot => &nanos[..6],
        None => &nanos,
    };
    if dot { format!(".{shown}") } else { shown.to_owned() }
}

/// What letters stand for, with all else between them as it is.
pub(crate) fn parts(moment: &Moment, letters: &str) -> Option<String> {
    let text = letters.chars().map(|it| match it.is_ascii_alphabetic() {
        true => part(moment, it, false),
        false => Some(it.to_string()),
    });
    text.collect()
}

/// What a letter stands for; `plain` numbers are not filled up.
pub(crate) fn part(moment: &Moment, letter: char, plain: bool) -> Option<String> {
    let number = |value: i64, width: usize| {
        let width = if plain { 0 } else { width };
        format!("{value:0width$}")
    };
    let (year, month, day) = (moment.year, moment.month, i64::from(moment.day));
    let twelve = (moment.hour + 11) % 12 + 1;
    let weekday = iso_weekday(moment.days);
    let meridiem = if moment.hour >= 12 { "PM" } else { "AM" };
    let parts = |letters: &str| parts(moment, letters);
    Some(match letter {
        'Y' => number(year, 4),
        'C' => number(year.div_euclid(100), 2),
        'y' => number(year.rem_euclid(100), 2),
        'm' => number(i64::from(month), 2),
        'b' | 'h' => MONTHS[month as usize - 1][..3].to_owned(),
        'B' => MONTHS[month as usize - 1].to_owned(),
        'd' => number(day, 2),
        'e' => format!("{day:2}"),
        'a' => DAYS[weekday as usize - 1][..3].to_owned(),
        'A' => DAYS[weekday as usize - 1].to_owned(),
        'w' => number(weekday % 7, 0),
        'u' => number(weekday, 0),
        'U' => number((day_of_year(moment.days) + 6 - weekday % 7) / 7, 2),
        'W' => number((day_of_year(moment.days) + 7 - weekday) / 7, 2),
        'G' => number(iso_week(moment.days).0, 4),
        'V' => number(iso_week(moment.days).1, 2),
        'j' => number(day_of_year(moment.days), 3),
        'H' => number(moment.hour, 2),
        'k' => format!("{:2}", moment.hour),
        'I' => number(twelve, 2),
        'l' => format!("{twelve:2}"),
        'M' => number(moment.minute, 2),
        'S' => number(moment.second, 2),
        'p' => meridiem.to_owned(),
        'P' => meridiem.to_lowercase(),
        'D' => return parts("m/d/y"),
        'F' => return parts("Y-m-d"),
        'R' => return parts("H:M"),
        'T' => return parts("H:M:S"),
        'n' => "\n".to_owned(),
        't' => "\t".to_owned(),
        '%' => "%".to_owned(),
        _ => return None,
    })
}
