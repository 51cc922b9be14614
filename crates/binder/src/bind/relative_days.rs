//! Constants that say a day by where it is from today: `'today'`, `'yesterday 10:30'`, `'now'`.
//!
//! Key decision: as in PostgreSQL such a constant is what it says when its statement is read. So the word becomes the day, or the
//! moment, and the text is read as any other.

use types::numeric::format;
use types::numeric::time_tz::TimeTz;
use types::{DataType, Styles, Zone};

/// Microseconds of a day.
const DAY: i64 = 86_400_000_000;

/// A text in which such a word stands for the day that it means, at a moment (microseconds from 1970-01-01, UTC) in a zone;
/// `None` of a text without one.
pub(super) fn absolute(text: &str, to: DataType, moment: i64, zone: &Zone) -> Option<String> {
    let is_time = matches!(to, DataType::Time | DataType::TimeTz);
    if !is_time && !matches!(to, DataType::Date | DataType::Timestamp | DataType::TimestampTz) {
        return None;
    }
    let (from, end, away) = words(text).find_map(|(from, end)| {
        let word = text[from..end].to_ascii_lowercase();
        let away = match word.as_str() {
            "now" => None,
            "today" => Some(0),
            "tomorrow" => Some(1),
            "yesterday" => Some(-1),
            _ => return None,
        };
        Some((from, end, away))
    })?;
    let local = zone.local(moment)?;
    let mut said = String::new();
    match away {
        Some(_) if is_time => return None,
        Some(away) => {
            format::date(local.div_euclid(DAY) + away, Styles::default(), &mut said);
        }
        None if to == DataType::TimeTz => {
            TimeTz::new(local.rem_euclid(DAY), zone.ahead_at(moment)).ok()?.format(&mut said);
        }
        None if is_time => format::number(local.rem_euclid(DAY).into(), to, &mut said),
        // A moment is told with its distance to UTC, so that it is one also where clocks are put back.
        None if to == DataType::TimestampTz => format::moment(moment, &Zone::utc(), &mut said),
        None => format::timestamp(local, Styles::default(), &mut said),
    }
    // A day stands first.
    let parts = [&said, text[..from].trim(), text[end..].trim()];
    Some(parts.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join(" "))
}

/// Where words of letters begin and end.
fn words(text: &str) -> impl Iterator<Item = (usize, usize)> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let from = at + text[at..].find(|it: char| it.is_ascii_alphabetic())?;
        let rest = &text[from..];
        at = from + rest.find(|it: char| !it.is_ascii_alphanumeric()).unwrap_or(rest.len());
        Some((from, at))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_days() {
        // 2024-02-29 23:00 UTC.
        let moment = 1_709_247_600_000_000;
        let said = |text, to| absolute(text, to, moment, &Zone::utc());
        assert_eq!(said("Today", DataType::Date).as_deref(), Some("2024-02-29"));
        assert_eq!(
            said(" tomorrow 10:30", DataType::Timestamp).as_deref(),
            Some("2024-03-01 10:30")
        );
        assert_eq!(
            said("16:00 yesterday EST", DataType::TimestampTz).as_deref(),
            Some("2024-02-28 16:00 EST")
        );
        assert_eq!(said("now", DataType::Timestamp).as_deref(), Some("2024-02-29 23:00:00"));
        assert_eq!(said("now", DataType::TimestampTz).as_deref(), Some("2024-02-29 23:00:00+00"));
        assert_eq!(said("now", DataType::Time).as_deref(), Some("23:00:00"));
        assert_eq!(said("now", DataType::TimeTz).as_deref(), Some("23:00:00+00"));
        assert_eq!(said("today", DataType::Time), None);
        assert_eq!(said("today", DataType::Text), None);
        assert_eq!(said("todays", DataType::Date), None);
        assert_eq!(said("2024-01-01", DataType::Date), None);
        let tokyo = Zone::named("Asia/Tokyo").unwrap();
        assert_eq!(
            absolute("today", DataType::Date, moment, &tokyo).as_deref(),
            Some("2024-03-01")
        );
    }
}
