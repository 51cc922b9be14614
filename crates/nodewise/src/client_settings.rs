//! Settings by which clients of PostgreSQL say how they want values, and learn whom they talk to.
//!
//! Key decision: a value is taken only where what it asks for is what is done. What
//! tells nothing but a client's own name or wish is kept as it is said.

use std::borrow::Cow;
use std::collections::BTreeMap;

use binder::sequence_names::as_relation;
use stdx::sync::Arc;
use types::{Charset, SqlError, SqlResult, SqlState, Styles, Zone};

use crate::planner_settings::{Kind, PLANNER, Words};
use crate::setting::Setting;

/// The version of PostgreSQL whose dialect and catalog clients may expect.
pub const POSTGRES_VERSION: &str = "18.0";

/// What clients have said.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClientSettings(Arc<BTreeMap<Cow<'static, str>, String>>);

#[derive(Clone, Copy)]
struct Known {
    name: &'static str,
    usual: &'static str,
    takes: Takes,
    /// Whether clients are told of each change.
    reported: bool,
    description: &'static str,
}

/// Which values a setting takes.
#[derive(Clone, Copy)]
enum Takes {
    /// None: it tells how things are.
    Nothing,
    /// Any text.
    Text,
    /// These words; the first of a row is what it then is.
    Words(Words),
    /// A time zone.
    Zone,
    /// A form of dates, an order of their numbers, or both.
    Dates,
    /// A form of intervals.
    Intervals,
    /// Schemas, one behind the other.
    Schemas,
    /// A character set.
    Charset,
    /// A whole number within bounds.
    Number(i64, i64),
    /// A number of what has a unit, which may be said.
    Amount,
}

pub(crate) const READ_ONLY: &str = "default_transaction_read_only";
pub(crate) const DEFERRABLE: &str = "default_transaction_deferrable";
pub(crate) const SUPERUSER: &str = "is_superuser";
pub(crate) const SESSION_ROLE: &str = "session_authorization";
pub(crate) const ROLE: &str = "role";
/// Who asks for none, SQL_ASCII, gets texts as they are held.
const CLIENT_ENCODING: &str = "client_encoding";
pub(crate) const BODIES: &str = "check_function_bodies";
const BYTES: &str = "bytea_output";
const FLOATS: &str = "extra_float_digits";
const DATE_STYLE: &str = "DateStyle";
const INTERVAL_STYLE: &str = "IntervalStyle";
const ON: Takes = Takes::Words(&[&["on", "true", "yes", "1"]]);
const SWITCH: Takes = Takes::Words(&[&["on", "true", "yes", "1"], &["off", "false", "no", "0"]]);

/// In the order of their names without regard to case.
const KNOWN: &[Known] = &[
    known("application_name", "", Takes::Text, true, "what the client calls itself"),
    known("block_size", "8192", Takes::Nothing, false, "bytes; there are no blocks here"),
    known(BYTES, "hex", Takes::Words(&[&["hex"], &["escape"]]), false, "how bytes are written"),
    known("calendar", "gregorian", CALENDARS, false, "how days are counted"),
    known(BODIES, "on", SWITCH, false, "off: functions are made whose bodies cannot be bound"),
    known(CLIENT_ENCODING, "UTF8", Takes::Charset, true, "how texts come and go"),
    known("client_min_messages", "notice", Takes::Text, false, "kept, and of no effect"),
    known(DATE_STYLE, "ISO, MDY", Takes::Dates, true, "how dates are written and read"),
    known("deadlock_timeout", "1s", Takes::Text, false, "kept: deadlocks are found at once"),
    known("default_table_access_method", "columns", COLUMNS, false, "how tables are held"),
    known(DEFERRABLE, "off", SWITCH, false, "kept: what only reads is never refused"),
    known(READ_ONLY, "off", SWITCH, true, "on: transactions change nothing, if they do not say so"),
    known("escape_string_warning", "on", SWITCH, false, "kept, and of no effect"),
    known(FLOATS, "1", Takes::Number(-15, 3), false, "below 1: floats have 15 digits less so many"),
    known("in_hot_standby", "off", Takes::Nothing, true, "the server is no copy of another"),
    known("integer_datetimes", "on", Takes::Nothing, true, "times are whole microseconds"),
    known(INTERVAL_STYLE, "postgres", Takes::Intervals, true, "how intervals are written"),
    known(SUPERUSER, "on", Takes::Nothing, true, "whether the role may do everything"),
    known("jit", "off", SWITCH, false, "kept, and of no effect"),
    known("lc_collate", "C", Takes::Nothing, false, "texts are in the order of their bytes"),
    known("lc_ctype", "C.UTF-8", Takes::Nothing, false, "what letters are"),
    known("max_function_args", "100", Takes::Nothing, false, "of functions that clients call"),
    known("max_identifier_length", "63", Takes::Nothing, false, "of names that clients make"),
    known("max_index_keys", "32", Takes::Nothing, false, "columns that an index may have"),
    known("max_prepared_transactions", "0", Takes::Nothing, false, "there are none"),
    known("password_encryption", "scram-sha-256", SCRAM, false, "how passwords are kept"),
    known(ROLE, "none", Takes::Nothing, false, "who SET ROLE has made of the session"),
    known(
        "row_security",
        "on",
        SWITCH,
        false,
        "kept, and of no effect: there are no policies for rows",
    ),
    known(
        "search_path",
        USUAL_PATH,
        Takes::Schemas,
        true,
        "where names without a schema are found",
    ),
    known("server_encoding", "UTF8", Takes::Nothing, true, "how texts are held"),
    known("server_version", SERVER_VERSION, Takes::Nothing, true, "whose dialect it is"),
    known("server_version_num", "180000", Takes::Nothing, false, "whose dialect it is"),
    known(SESSION_ROLE, "nodewise", Takes::Nothing, true, "who the session is of"),
    known("standard_conforming_strings", "on", ON, true, "a backslash is no escape"),
    known("TimeZone", "UTC", Takes::Zone, true, "in which moments are read and shown"),
    known(
        "transaction_timeout",
        "0",
        Takes::Number(0, 0),
        false,
        "transactions have no end of their own",
    ),
];

/// Of memory and of time.
const UNITS: [&str; 10] = ["B", "kB", "MB", "GB", "TB", "us", "ms", "s", "min", "h"];
const USUAL_PATH: &str = "\"$user\", public";
const COLUMNS: Takes = Takes::Words(&[&["columns", "heap"]]);
const SCRAM: Takes = Takes::Words(&[&["scram-sha-256"]]);
const CALENDARS: Takes = Takes::Words(&[&["gregorian"]]);
const SERVER_VERSION: &str = concat!("18.0 (Nodewise ", env!("CARGO_PKG_VERSION"), ")");

const fn known(
    name: &'static str,
    usual: &'static str,
    takes: Takes,
    reported: bool,
    description: &'static str,
) -> Known {
    Known { name, usual, takes, reported, description }
}

/// The names of a list, as SQL reads them; what is no name is left out.
fn listed(text: &str) -> Vec<String> {
    let (mut all, mut name) = (Vec::new(), String::new());
    let (mut within, mut was_quoted) = (false, false);
    for letter in text.chars().chain([',']) {
        match letter {
            '"' => {
                // A quote that stands twice is one.
                if within || !was_quoted {
                    was_quoted = true;
                } else {
                    name.push('"');
                }
                within = !within;
            }
            ',' if !within => {
                let found = if was_quoted { name.clone() } else { name.trim().to_lowercase() };
                all.push(found);
                (name, was_quoted) = (String::new(), false);
            }
            it if within || !it.is_whitespace() => name.push(it),
            _ => {}
        }
    }
    all.retain(|it| !it.is_empty());
    all
}

/// Whether a name is one of a client's own: words with points between them.
fn is_own(name: &str) -> bool {
    let is_word = |it: &str| {
        let begins = it.starts_with(|it: char| it.is_alphabetic() || it == '_');
        begins && it.chars().all(|it| it.is_alphanumeric() || it == '_' || it == '$')
    };
    name.contains('.') && name.split('.').all(is_word)
}

/// All of them, in no order.
fn all() -> impl Iterator<Item = Known> {
    let takes = |it: &Kind| match it {
        Kind::Words(words) => Takes::Words(words),
        Kind::Text => Takes::Text,
        Kind::Amount => Takes::Amount,
    };
    let of_planner = PLANNER.iter();
    let of_planner = of_planner
        .map(move |(name, usual, kind, what)| known(name, usual, takes(kind), false, what));
    KNOWN.iter().copied().chain(of_planner)
}

fn find(name: &str) -> Option<Known> {
    all().find(|it| it.name.eq_ignore_ascii_case(name))
}

impl Known {
    /// The value that a text means, where some styles were said before.
    fn value(&self, text: &str, styles: Styles) -> SqlResult<String> {
        let invalid = |wanted: String| {
            let message = format!("invalid value for parameter \"{}\": \"{text}\"", self.name);
            SqlError::new(SqlState::INVALID_PARAMETER, message).with_hint(wanted)
        };
        match self.takes {
            Takes::Nothing => {
                let message = format!("parameter \"{}\" cannot be changed", self.name);
                Err(SqlError::new(SqlState("55P02"), message))
            }
            Takes::Text => Ok(text.to_owned()),
            Takes::Schemas => {
                let all: Vec<String> = listed(text).iter().map(|it| as_relation(it)).collect();
                Ok(if all.is_empty() { "\"\"".to_owned() } else { all.join(", ") })
            }
            Takes::Zone => match Zone::named(text) {
                Ok(zone) => Ok(zone.name().to_owned()),
                Err(_) => Err(invalid("it takes a zone like Europe/Berlin, or hours".to_owned())),
            },
            Takes::Dates => styles.with_dates(text).map(Styles::dates_name).ok_or_else(|| {
                invalid("it takes ISO, SQL, Postgres or German, and MDY, DMY or YMD".to_owned())
            }),
            Takes::Intervals => {
                let said = styles.with_intervals(text).map(|it| it.intervals.name().to_owned());
                let known = "it takes postgres, postgres_verbose, sql_standard or iso_8601";
                said.ok_or_else(|| invalid(known.to_owned()))
            }
            Takes::Words(rows) => {
                let means =
                    |row: &&[&'static str]| row.iter().any(|it| it.eq_ignore_ascii_case(text));
                let row = rows.iter().copied().find(means);
                row.map(|it| it[0].to_owned()).ok_or_else(|| {
                    let each: Vec<&str> = rows.iter().map(|it| it[0]).collect();
                    invalid(format!("it takes {}", each.join(" or ")))
                })
            }
            // asyncpg sends quotes.
            Takes::Charset => {
                let found = Charset::named(text.trim_matches('\''));
                found.map(|it| it.name().to_owned()).ok_or_else(|| {
                    invalid(
                        "it takes UTF8, LATIN1, WIN1252 and others by PostgreSQL's names"
                            .to_owned(),
                    )
                })
            }
            Takes::Number(least, most) => match text.trim().parse::<i64>() {
                Ok(number) if (least..=most).contains(&number) => Ok(number.to_string()),
                _ => Err(invalid(format!("it takes a number from {least} to {most}"))),
            },
            Takes::Amount => {
                let is_unit = |it: char| it.is_ascii_alphabetic();
                let (number, unit) =
                    text.trim().split_at(text.trim().trim_end_matches(is_unit).len());
                let is_number = number.trim().parse::<f64>().is_ok_and(f64::is_finite);
                match is_number && (unit.is_empty() || UNITS.contains(&unit)) {
                    true => Ok(text.trim().to_owned()),
                    false => Err(invalid(format!(
                        "it takes a number, and a unit of {}",
                        UNITS.join(", ")
                    ))),
                }
            }
        }
    }
}

impl ClientSettings {
    /// Whether a name, in any case, is one of theirs.
    pub(crate) fn knows(name: &str) -> bool {
        find(name).is_some() || is_own(name)
    }

    /// Changes a setting that is known; `None` gives it back its default.
    pub(crate) fn set(&mut self, name: &str, value: Option<&str>) -> SqlResult<()> {
        let (key, value) = match find(name) {
            Some(known) => {
                let styles = self.styles();
                let value = value.map(|it| known.value(it, styles)).transpose()?;
                (Cow::Borrowed(known.name), value)
            }
            None => (Cow::Owned(name.to_ascii_lowercase()), value.map(str::to_owned)),
        };
        let all = Arc::make_mut(&mut self.0);
        match value {
            Some(value) => all.insert(key, value),
            None => all.remove(&key),
        };
        Ok(())
    }

    /// Says what only the session itself does.
    pub(crate) fn tell(&mut self, name: &str, value: &str) {
        let Some(known) = find(name) else { return };
        if self.of(&known) != value {
            Arc::make_mut(&mut self.0).insert(Cow::Borrowed(known.name), value.to_owned());
        }
    }

    /// Whether bodies of functions are looked at when these are made.
    pub(crate) fn checks_function_bodies(&self) -> bool {
        self.0.get(BODIES).is_none_or(|it| it == "on")
    }

    /// Whether a switch is on.
    pub(crate) fn is_on(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|it| it == "on")
    }

    /// What a client has set under a name of its own, as `app.user`.
    pub(crate) fn own(&self, name: &str) -> Option<String> {
        self.0.get(name.to_ascii_lowercase().as_str()).filter(|_| is_own(name)).cloned()
    }

    fn of(&self, known: &Known) -> String {
        self.0.get(known.name).cloned().unwrap_or_else(|| known.usual.to_owned())
    }

    /// How texts come and go.
    pub(crate) fn charset(&self) -> Charset {
        self.0.get(CLIENT_ENCODING).and_then(|it| Charset::named(it)).unwrap_or(Charset::UTF8)
    }

    /// The time zone, with the styles.
    pub(crate) fn zone(&self) -> Zone {
        let said = self.0.get("TimeZone");
        let zone = said.and_then(|it| Zone::named(it).ok()).unwrap_or_default();
        zone.with_styles(self.styles())
    }

    /// How values are written and read.
    pub(crate) fn styles(&self) -> Styles {
        let mut styles = Styles::default();
        if let Some(said) = self.0.get(DATE_STYLE) {
            styles = styles.with_dates(said).unwrap_or(styles);
        }
        if let Some(said) = self.0.get(INTERVAL_STYLE) {
            styles = styles.with_intervals(said).unwrap_or(styles);
        }
        if let Some(said) = self.0.get(BYTES) {
            styles = styles.with_bytes(said).unwrap_or(styles);
        }
        if let Some(said) = self.0.get(FLOATS).and_then(|it| it.parse().ok()) {
            styles = styles.with_float_digits(said);
        }
        styles
    }

    /// Whether somebody has said where names are looked for.
    pub(crate) fn says_path(&self) -> bool {
        self.0.contains_key("search_path")
    }

    /// The schemas in which names are looked for, as they are said.
    pub(crate) fn search_path(&self) -> Vec<String> {
        listed(self.0.get("search_path").map_or(USUAL_PATH, String::as_str))
    }

    /// All of them.
    pub(crate) fn list(&self) -> Vec<Setting> {
        let setting =
            |it: Known| Setting { name: it.name, value: self.of(&it), description: it.description };
        let mut all: Vec<Setting> = all().map(setting).collect();
        all.sort_by_key(|it| it.name.to_ascii_lowercase());
        all
    }

    /// Those that clients are told of.
    pub(crate) fn reported(&self) -> Vec<(&'static str, String)> {
        let reported = KNOWN.iter().filter(|it| it.reported);
        reported.map(|it| (it.name, self.of(it))).collect()
    }

    /// Whether nothing was said that the other has not.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_done_is_not_taken() {
        let mut settings = ClientSettings::default();
        let value = |settings: &ClientSettings, name: &str| {
            settings.list().into_iter().find(|it| it.name == name).map(|it| it.value).unwrap()
        };
        settings.set("datestyle", Some("iso")).unwrap();
        assert_eq!(value(&settings, "DateStyle"), "ISO, MDY");
        settings.set("datestyle", Some("german")).unwrap();
        settings.set("datestyle", Some("sql")).unwrap();
        settings.set("INTERVALSTYLE", Some("ISO_8601")).unwrap();
        assert_eq!(value(&settings, "DateStyle"), "SQL, DMY");
        assert_eq!(value(&settings, "IntervalStyle"), "iso_8601");
        settings.set("intervalstyle", None).unwrap();
        settings.set("client_encoding", Some("'utf-8'")).unwrap();
        assert_eq!(value(&settings, "client_encoding"), "UTF8");
        settings.set("client_encoding", Some("iso-8859-1")).unwrap();
        assert_eq!(
            (value(&settings, "client_encoding"), settings.charset().name()),
            ("LATIN1".to_owned(), "LATIN1")
        );
        for (name, wrong, state) in [
            ("client_encoding", "EBCDIC", "22023"),
            ("DateStyle", "Swiss", "22023"),
            ("IntervalStyle", "verbose", "22023"),
            ("standard_conforming_strings", "off", "22023"),
            ("extra_float_digits", "4", "22023"),
            ("server_version", "9.0", "55P02"),
        ] {
            assert_eq!(settings.set(name, Some(wrong)).unwrap_err().state.0, state, "{name}");
        }
        settings.set("Application_Name", Some("a test")).unwrap();
        assert!(settings.reported().contains(&("application_name", "a test".to_owned())));
        assert!(!settings.is_same(&ClientSettings::default()));
        settings.set("application_name", None).unwrap();
        settings.set("client_encoding", None).unwrap();
        settings.set("DateStyle", None).unwrap();
        assert!(settings.is_same(&ClientSettings::default()));
    }

    #[test]
    fn their_names_are_in_order() {
        let known: Vec<String> = KNOWN.iter().map(|it| it.name.to_lowercase()).collect();
        let of_planner: Vec<&str> = PLANNER.iter().map(|it| it.0).collect();
        assert!(known.is_sorted() && of_planner.is_sorted(), "{known:?} {of_planner:?}");
    }

    #[test]
    fn settings_of_the_planner_are_checked() {
        let mut settings = ClientSettings::default();
        for (name, right, wrong) in [
            ("enable_seqscan", "off", "sometimes"),
            ("work_mem", "64 MB", "64 apples"),
            ("random_page_cost", "1.1", "cheap"),
            ("plan_cache_mode", "force_generic_plan", "generic"),
        ] {
            settings.set(name, Some(right)).unwrap();
            assert_eq!(settings.set(name, Some(wrong)).unwrap_err().state.0, "22023", "{name}");
        }
    }
}
