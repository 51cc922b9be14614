//! date_format: formats of `%` and a letter, as C's strftime has them.

use arrow_array::ArrayRef;
use types::SqlResult;

use crate::calendar::{day_of_year, iso_week, iso_weekday};
use crate::call::Call;
use crate::error::invalid;
use crate::template::{DAYS, MONTHS};
use crate::texts::Texts;
use crate::to_char::Moment;

/// Texts by formats.
pub(crate) fn date_format(call: &Call<'_>) -> SqlResult<ArrayRef> {
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
        let text = text.ok_or_else(|| invalid(format!("invalid date format \"{format}\"")))?;
        out.push(&text)?;
    }
    Ok(())
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

pub(crate) fn part(moment: &Moment, letter: char, plain: bool) -> Option<String> {
    let number = |value: i64, width: usize| {
        let width = if plain { 0 } else { width };
        format!("{value:0width$}")
    };
    let (year, month, day) = (moment.year, moment.month, i64::from(moment.day));
    let twelve = (moment.hour + 11) % 12 + 1;
    let weekday = iso_weekday(moment.days);
    let meridiem = if moment.hour >= 12 { "PM" } else { "AM" };
    let parts = |letters: &str| -> Option<String> {
        let mut text = String::new();
        for letter in letters.chars() {
            if letter.is_ascii_alphabetic() {
                text.push_str(&part(moment, letter, false)?);
            } else {
                text.push(letter);
            }
        }
        Some(text)
    };
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
