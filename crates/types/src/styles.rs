//! How a session wants values written: dates, times and intervals (`DateStyle`, `IntervalStyle`), bytes (`bytea_output`) and floats
//! (`extra_float_digits`); and how it reads dates that are numbers alone.
//!
//! Key decision: they go with the time zone of the session ([`crate::Zone::styles`]), as they decide the same texts.

use crate::DataType;

/// What a session has said of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Styles {
    /// The form of dates and timestamps.
    pub dates: DateForm,
    /// The order of year, month and day where they are numbers alone.
    pub order: DateOrder,
    /// The form of intervals.
    pub intervals: IntervalForm,
    /// The form of strings of bytes.
    pub bytes: BytesForm,
    /// The form of floats.
    pub floats: FloatForm,
}

/// The form of strings of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum BytesForm {
    /// `\x6162`.
    #[default]
    Hex,
    /// `ab\000`.
    Escape,
}

/// The form of floats.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum FloatForm {
    /// As few digits as mean the number.
    #[default]
    Shortest,
    /// 15 digits, or 6 of REAL, less so many.
    Fewer(u8),
}

/// The form of dates and timestamps.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum DateForm {
    /// `1997-12-17 07:37:16-08`.
    #[default]
    Iso,
    /// `12/17/1997 07:37:16 PST`.
    Sql,
    /// `Wed Dec 17 07:37:16 1997 PST`.
    Postgres,
    /// `17.12.1997 07:37:16 PST`.
    German,
}

/// The order of year, month and day where they are numbers alone.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum DateOrder {
    /// Month, day, year.
    #[default]
    Mdy,
    /// Day, month, year.
    Dmy,
    /// Year, month, day.
    Ymd,
}

/// The form of intervals.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum IntervalForm {
    /// `1 year 2 mons -3 days 04:05:06`.
    #[default]
    Postgres,
    /// `@ 1 year 2 mons -3 days 4 hours 5 mins 6 secs`.
    Verbose,
    /// `+1-2 -3 +4:05:06`.
    Standard,
    /// `P1Y2M-3DT4H5M6S`.
    Iso,
}

impl Styles {
    /// With a `DateStyle`: words with commas between, for a form, an order or both; what is not said stays. `None` for other words,
    /// and where two are for the same.
    pub fn with_dates(self, text: &str) -> Option<Self> {
        let (mut form, mut order) = (None, None);
        let put_form = |place: &mut Option<DateForm>, it| match place.replace(it) {
            Some(before) => before == it,
            None => true,
        };
        let put_order = |place: &mut Option<DateOrder>, it| match place.replace(it) {
            Some(before) => before == it,
            None => true,
        };
        for word in text.split(',') {
            let word = word.trim().to_ascii_uppercase();
            let fits = match word.as_str() {
                "ISO" => put_form(&mut form, DateForm::Iso),
                "GERMAN" => put_form(&mut form, DateForm::German),
                "YMD" => put_order(&mut order, DateOrder::Ymd),
                "DMY" => put_order(&mut order, DateOrder::Dmy),
                "MDY" | "US" => put_order(&mut order, DateOrder::Mdy),
                "DEFAULT" => {
                    let usual = Self::default();
                    form.get_or_insert(usual.dates);
                    order.get_or_insert(usual.order);
                    true
                }
                it if it.starts_with("SQL") => put_form(&mut form, DateForm::Sql),
                it if it.starts_with("POSTGRES") => put_form(&mut form, DateForm::Postgres),
                it if it.starts_with("EURO") => put_order(&mut order, DateOrder::Dmy),
                it if it.starts_with("NONEURO") => put_order(&mut order, DateOrder::Mdy),
                _ => false,
            };
            if !fits {
                return None;
            }
        }
        // German dates begin with the day, if nothing else is said.
        let german = form.filter(|it| *it == DateForm::German).map(|_| DateOrder::Dmy);
        let (dates, order) = (form.unwrap_or(self.dates), order.or(german).unwrap_or(self.order));
        Some(Self { dates, order, ..self })
    }

    /// With an `IntervalStyle`; `None` for a word that is none.
    pub fn with_intervals(self, text: &str) -> Option<Self> {
        use IntervalForm::{Iso, Postgres, Standard, Verbose};
        let all = [Postgres, Verbose, Standard, Iso];
        let found = all.into_iter().find(|it| it.name().eq_ignore_ascii_case(text.trim()));
        Some(Self { intervals: found?, ..self })
    }

    /// With a `bytea_output`; `None` for a word that is none.
    pub fn with_bytes(self, text: &str) -> Option<Self> {
        let bytes = match text.trim() {
            it if it.eq_ignore_ascii_case("hex") => BytesForm::Hex,
            it if it.eq_ignore_ascii_case("escape") => BytesForm::Escape,
            _ => return None,
        };
        Some(Self { bytes, ..self })
    }

    /// With so many digits more than floats surely keep, `extra_float_digits`: from 1 on, as many as it takes.
    pub fn with_float_digits(self, extra: i64) -> Self {
        let floats = match extra {
            ..=0 => FloatForm::Fewer(extra.unsigned_abs().min(u8::MAX.into()) as u8),
            _ => FloatForm::Shortest,
        };
        Self { floats, ..self }
    }

    /// As `DateStyle` is shown.
    pub fn dates_name(self) -> String {
        let form = match self.dates {
            DateForm::Iso => "ISO",
            DateForm::Sql => "SQL",
            DateForm::Postgres => "Postgres",
            DateForm::German => "German",
        };
        let order = match self.order {
            DateOrder::Mdy => "MDY",
            DateOrder::Dmy => "DMY",
            DateOrder::Ymd => "YMD",
        };
        format!("{form}, {order}")
    }

    /// Whether nothing but the usual was said.
    pub fn is_usual(self) -> bool {
        self == Self::default()
    }

    /// Whether they decide what text a value is, or what value a text.
    pub fn decide(from: DataType, to: DataType) -> bool {
        from.is_text() && has_styles(to) || to.is_text() && has_styles(from)
    }

    /// Whether what text a value is depends on the session in any way: beside what [`Styles::decide`] asks for, on the forms of
    /// bytes and floats, which PostgreSQL's rules for what is immutable do not see.
    pub fn decide_texts(from: DataType, to: DataType) -> bool {
        Self::decide(from, to) || to.is_text() && has_forms(from)
    }

    /// Whether values of a type, or parts of them, are written otherwise than usual.
    pub fn shows(self, of: DataType) -> bool {
        match of {
            DataType::Date | DataType::Timestamp | DataType::TimestampTz => {
                self.dates != DateForm::Iso
            }
            DataType::Interval => self.intervals != IntervalForm::Postgres,
            DataType::Bytea => self.bytes != BytesForm::Hex,
            DataType::Real | DataType::Double => self.floats != FloatForm::Shortest,
            DataType::Range(it) | DataType::Multirange(it) => self.shows(it.bound()),
            DataType::Array(it) => self.shows(it.data_type()),
            DataType::Struct(it) | DataType::Map(it) => {
                it.fields().iter().any(|it| self.shows(it.data_type))
            }
            _ => false,
        }
    }

    /// Whether a text may be read as another value of a type than usual.
    pub fn reads(self, to: DataType) -> bool {
        match to {
            DataType::Date | DataType::Timestamp | DataType::TimestampTz | DataType::TimeTz => {
                self.order != DateOrder::Mdy
            }
            DataType::Interval => self.intervals == IntervalForm::Standard,
            DataType::Range(it) | DataType::Multirange(it) => self.reads(it.bound()),
            DataType::Array(it) => self.reads(it.data_type()),
            DataType::Struct(it) | DataType::Map(it) => {
                it.fields().iter().any(|it| self.reads(it.data_type))
            }
            _ => false,
        }
    }
}

impl IntervalForm {
    /// As `IntervalStyle` is shown.
    pub fn name(self) -> &'static str {
        match self {
            Self::Postgres => "postgres",
            Self::Verbose => "postgres_verbose",
            Self::Standard => "sql_standard",
            Self::Iso => "iso_8601",
        }
    }
}

/// Whether a type, or a part of it, is one whose texts a style decides.
fn has_styles(of: DataType) -> bool {
    match of {
        DataType::Date | DataType::Timestamp | DataType::TimestampTz | DataType::Interval => true,
        DataType::Range(it) | DataType::Multirange(it) => has_styles(it.bound()),
        DataType::Array(it) => has_styles(it.data_type()),
        DataType::Struct(it) | DataType::Map(it) => {
            it.fields().iter().any(|it| has_styles(it.data_type))
        }
        _ => false,
    }
}

/// Whether a type, or a part of it, is one of bytes or floats.
fn has_forms(of: DataType) -> bool {
    match of {
        DataType::Bytea | DataType::Real | DataType::Double => true,
        DataType::Array(it) => has_forms(it.data_type()),
        DataType::Struct(it) | DataType::Map(it) => {
            it.fields().iter().any(|it| has_forms(it.data_type))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_say_forms_and_orders() {
        let shown = |text: &str| Styles::default().with_dates(text).map(Styles::dates_name);
        for (text, expected) in [
            ("iso", "ISO, MDY"),
            ("German", "German, DMY"),
            ("german, mdy", "German, MDY"),
            ("SQL,DMY", "SQL, DMY"),
            ("Postgres", "Postgres, MDY"),
            ("ymd", "ISO, YMD"),
            ("ISO, European", "ISO, DMY"),
            ("US", "ISO, MDY"),
            ("default", "ISO, MDY"),
        ] {
            assert_eq!(shown(text).as_deref(), Some(expected), "{text}");
        }
        for wrong in ["", "Swiss", "iso, german", "mdy, dmy", "iso,,mdy"] {
            assert_eq!(shown(wrong), None, "{wrong}");
        }
        let german = Styles::default().with_dates("german").unwrap();
        assert_eq!(german.with_dates("iso").map(Styles::dates_name).as_deref(), Some("ISO, DMY"));
        let verbose = german.with_intervals("Postgres_Verbose").unwrap();
        assert_eq!((verbose.intervals, verbose.dates), (IntervalForm::Verbose, DateForm::German));
        assert_eq!(german.with_intervals("verbose"), None);
    }
}
