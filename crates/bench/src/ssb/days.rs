//! The table of days, 1992 to 1998, and the days that lines are ordered on.

use std::fmt::Write;

use jiff::ToSpan;
use jiff::civil::{Date, date};

use super::layout::{Column, Columns};

/// The first day.
const FIRST: Date = date(1992, 1, 1);
/// How many there are: seven years, two of them leap years.
pub const DAYS: u64 = 2_557;
/// On how many of them, from the first on, something is ordered: until 2 August 1998.
pub const ORDER_DAYS: u64 = 2_406;

/// Month and day of those on which nobody works.
const HOLIDAYS: [(i8, i8); 6] = [(1, 1), (2, 20), (5, 20), (7, 4), (11, 20), (12, 25)];

/// The day of a number, counted from 0 on.
pub fn day(number: u64) -> Date {
    FIRST.saturating_add((number as i64).days())
}

/// Year, month and day as one number: 19920101.
pub fn key(day: Date) -> i32 {
    month_key(day) * 100 + i32::from(day.day())
}

fn month_key(day: Date) -> i32 {
    i32::from(day.year()) * 100 + i32::from(day.month())
}

/// Writes a day in a form of `strftime`.
fn form(day: Date, form: &str, out: &mut String) {
    let _ = write!(out, "{}", day.strftime(form));
}

/// From 1 on; a week begins with the day of the week with which the year did.
fn week(day: Date) -> i32 {
    (i32::from(day.day_of_year()) - 1) / 7 + 1
}

fn season(day: Date) -> &'static str {
    match day.month() {
        11 | 12 => "Christmas",
        9 | 10 => "Fall",
        6..=8 => "Summer",
        3..=5 => "Spring",
        _ => "Winter",
    }
}

fn flag(is: bool, out: &mut String) {
    out.push(if is { '1' } else { '0' });
}

/// Days from Sunday, which has 0.
fn weekday(day: Date) -> usize {
    usize::from(day.weekday().to_sunday_zero_offset().unsigned_abs())
}

/// The columns of `date_dim`.
pub const COLUMNS: Columns<Date> = &[
    ("d_datekey", Column::Number(|it| key(*it))),
    ("d_date", Column::Text(|it, out| form(*it, "%B %-d, %Y", out))),
    ("d_dayofweek", Column::Text(|it, out| form(*it, "%A", out))),
    ("d_month", Column::Text(|it, out| form(*it, "%B", out))),
    ("d_year", Column::Number(|it| i32::from(it.year()))),
    ("d_yearmonthnum", Column::Number(|it| month_key(*it))),
    ("d_yearmonth", Column::Text(|it, out| form(*it, "%b%Y", out))),
    ("d_daynuminweek", Column::Number(|it| weekday(*it) as i32 + 1)),
    ("d_daynuminmonth", Column::Number(|it| i32::from(it.day()))),
    ("d_daynuminyear", Column::Number(|it| i32::from(it.day_of_year()))),
    ("d_monthnuminyear", Column::Number(|it| i32::from(it.month()))),
    ("d_weeknuminyear", Column::Number(|it| week(*it))),
    ("d_sellingseason", Column::Text(|it, out| out.push_str(season(*it)))),
    ("d_lastdayinweekfl", Column::Text(|it, out| flag(weekday(*it) == 6, out))),
    ("d_lastdayinmonthfl", Column::Text(|it, out| flag(it.day() == it.days_in_month(), out))),
    ("d_holidayfl", Column::Text(|it, out| flag(HOLIDAYS.contains(&(it.month(), it.day())), out))),
    ("d_weekdayfl", Column::Text(|it, out| flag((1..6).contains(&weekday(*it)), out))),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        assert_eq!(key(day(0)), 19_920_101);
        assert_eq!(key(day(59)), 19_920_229);
        assert_eq!(key(day(ORDER_DAYS - 1)), 19_980_802);
        assert_eq!(key(day(DAYS - 1)), 19_981_231);
        assert_eq!((weekday(day(0)), week(day(0)), week(day(7))), (3, 1, 2));
        let leap = day(59);
        assert_eq!((season(leap), leap.days_in_month()), ("Winter", 29));
        let mut text = String::new();
        form(leap, "%A, %B %-d, %Y", &mut text);
        assert_eq!(text, "Saturday, February 29, 1992");
    }
}
