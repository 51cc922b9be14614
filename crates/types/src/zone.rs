//! Time zones: how far local time is ahead of UTC, and when.
//!
//! The zones of IANA come with the program, so that the same text means the same moment on every machine. Where clocks are
//! turned, PostgreSQL's choice holds: a local time that there was not is read as if they had not been turned yet, one that
//! there was twice as the second.

use std::fmt;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use stdx::sync::Arc;

use crate::numeric::infinite::is_infinite;
use crate::value::civil_from_days;
use crate::{SqlError, SqlResult, SqlState, Styles};

const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400 * SECOND;
/// The calendar repeats, down to the day of the week.
const CYCLE: i64 = 146_097 * DAY;
/// Microseconds up to which rules are asked: years 1 to 9900. What lies beyond is asked of the same day of another cycle.
const KNOWN: (i64, i64) = (-62_135_596_800 * SECOND, 250_246_080_000 * SECOND);

/// Names that are no zones of IANA's but stand in texts often, with their hours ahead of UTC.
const ABBREVIATIONS: [(&str, i32); 15] = [
    ("z", 0),
    ("zulu", 0),
    ("ut", 0),
    ("edt", -4),
    ("cst", -6),
    ("cdt", -5),
    ("mdt", -6),
    ("pst", -8),
    ("pdt", -7),
    ("akst", -9),
    ("akdt", -8),
    ("bst", 1),
    ("cest", 2),
    ("eest", 3),
    ("jst", 9),
];

/// Abbreviations that are names of IANA's, too, with their hours ahead of UTC: beside a time the one, and of the zone of a session
/// the other, whose clocks are turned.
const BOTH: [(&str, i32); 7] =
    [("cet", 1), ("eet", 2), ("est", -5), ("hst", -10), ("met", 1), ("mst", -7), ("wet", 0)];
/// What stands before one of these that is IANA's.
const OF_IANA: char = ':';

/// Abbreviations that have stood for other distances at other times: those of a zone.
const HISTORIC: [(&str, &str); 1] = [("msk", "Europe/Moscow")];

/// A time zone, and the styles in which the session whose it is writes and reads times.
#[derive(Clone, Debug, PartialEq)]
pub struct Zone {
    name: Arc<str>,
    rules: TimeZone,
    styles: Styles,
    /// The moment at which its session asks, in microseconds from 1970-01-01 UTC.
    now: i64,
}

impl Default for Zone {
    fn default() -> Self {
        Self::utc()
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Zone {
    /// UTC.
    pub fn utc() -> Self {
        Self::of("UTC", TimeZone::UTC)
    }

    fn of(name: &str, rules: TimeZone) -> Self {
        Self { name: name.into(), rules, styles: Styles::default(), now: 0 }
    }

    /// The same zone, in a session of some styles.
    pub fn with_styles(self, styles: Styles) -> Self {
        Self { styles, ..self }
    }

    /// The same zone, in a session whose transaction began at a moment.
    pub fn with_now(self, now: i64) -> Self {
        Self { now, ..self }
    }

    /// The day that its clocks show at the moment at which its session asks: that of a time of day in a zone, where none is said.
    pub fn today(&self) -> i64 {
        self.local(self.now).unwrap_or(self.now).div_euclid(DAY)
    }

    /// Whether its clocks are as far from UTC at all times.
    pub fn is_fixed(&self) -> bool {
        self.rules.to_fixed_offset().is_ok()
            || self.rules.following(Timestamp::MIN).next().is_none()
    }

    /// Whether it goes by an abbreviation, which means what it does today where no day is said.
    pub fn is_abbreviation(&self) -> bool {
        HISTORIC.iter().any(|it| it.0.eq_ignore_ascii_case(&self.name))
    }

    /// How times are written and read in its session.
    pub fn styles(&self) -> Styles {
        self.styles
    }

    /// A zone so many seconds ahead of UTC, always; `None` beyond a day.
    pub fn fixed(seconds: i64) -> Option<Self> {
        let seconds = i32::try_from(seconds).ok()?;
        let offset = Offset::from_seconds(seconds).ok()?;
        // As PostgreSQL: the name, and the distance to the west.
        let (mut name, mut west) = (String::new(), String::new());
        write_offset(seconds.into(), &mut name);
        match seconds {
            0 => west.push_str("-00"),
            _ => write_offset(-i64::from(seconds), &mut west),
        }
        Some(Self::of(&format!("<{name}>{west}"), TimeZone::fixed(offset)))
    }

    /// The zone of a name of IANA's in any case, of an abbreviation, or of a rule of POSIX (`EST5EDT`, `UTC-3`, where west is
    /// positive).
    pub fn find(name: &str) -> Option<Self> {
        if name.eq_ignore_ascii_case("utc") {
            return Some(Self::utc());
        }
        if let Some(zone) = name.strip_prefix(OF_IANA) {
            return Self::of_both(zone);
        }
        let mut abbreviations = ABBREVIATIONS.iter().chain(&BOTH);
        if let Some((_, hours)) = abbreviations.find(|it| it.0.eq_ignore_ascii_case(name)) {
            let fixed = Self::fixed(i64::from(*hours) * 3_600)?;
            return Some(Self { name: name.to_uppercase().into(), ..fixed });
        }
        if let Some((_, zone)) = HISTORIC.iter().find(|it| it.0.eq_ignore_ascii_case(name)) {
            let rules = TimeZone::get(zone).ok()?;
            return Some(Self::of(&name.to_uppercase(), rules));
        }
        if !name.starts_with(|it: char| it.is_ascii_alphabetic() || it == '<') {
            return None;
        }
        // A distance with minutes behind a name, which the parser of rules does not take.
        let plain = name.strip_prefix('<').and_then(|it| it.split_once('>'));
        if let Some(fixed) = plain.and_then(|it| west(it.1)) {
            return Some(Self { name: name.to_uppercase().into(), ..fixed });
        }
        let known = TimeZone::get(name).ok();
        let rules = known.or_else(|| TimeZone::posix(name).ok())?;
        let name = rules.iana_name().map_or_else(|| name.to_uppercase(), str::to_owned);
        Some(Self::of(&name, rules))
    }

    /// The zone that `SET TimeZone` names: as [`Self::find`], a number of hours ahead of UTC, or, with a colon, as
    /// [`Self::of_value`] to the west.
    ///
    /// # Errors
    /// 22023 for what is none.
    pub fn named(text: &str) -> SqlResult<Self> {
        let hours = || {
            let hours = text.trim().parse::<f64>().ok().filter(|it| it.is_finite())?;
            Self::fixed((hours * 3_600.0) as i64)
        };
        let found = Self::of_both(text.trim()).or_else(|| Self::find(text.trim()));
        found.or_else(hours).map_or_else(|| Self::of_value(text.trim()), Ok)
    }

    /// The zone of IANA's of a name that is an abbreviation, too.
    fn of_both(name: &str) -> Option<Self> {
        let (name, _) = BOTH.iter().find(|it| it.0.eq_ignore_ascii_case(name))?;
        Some(Self::of(&name.to_uppercase(), TimeZone::get(name).ok()?))
    }

    /// The name by which [`Self::of_value`] finds it.
    pub fn value_name(&self) -> String {
        let is_both = BOTH.iter().any(|it| it.0.eq_ignore_ascii_case(&self.name));
        match is_both && self.rules.iana_name().is_some() {
            true => format!("{OF_IANA}{}", self.name),
            false => self.name.to_string(),
        }
    }

    /// The zone that a value names, as that of `AT TIME ZONE`: as [`Self::find`], or hours, minutes and seconds, which POSIX
    /// counts to the west.
    ///
    /// # Errors
    /// 22023 for what is none.
    pub fn of_value(text: &str) -> SqlResult<Self> {
        Self::find(text).or_else(|| west(text)).ok_or_else(|| unknown(text))
    }

    /// The zone that stands behind a time: as [`Self::find`], or a distance ahead of UTC.
    ///
    /// # Errors
    /// 22023 for what is none.
    pub fn of_time(text: &str) -> SqlResult<Self> {
        let invalid = |message| SqlError::new(SqlState::INVALID_PARAMETER, message);
        if text.starts_with(|it: char| it.is_ascii_digit()) {
            let message = format!("invalid input syntax for type numeric time zone: \"{text}\"");
            let hint = "Numeric time zones must have \"-\" or \"+\" as first character.";
            return Err(invalid(message).with_hint(hint));
        }
        if is_offset(text) {
            let ahead = offset(text).and_then(Self::fixed);
            return ahead
                .ok_or_else(|| invalid(format!("numeric time zone \"{text}\" out of range")));
        }
        Self::find(text).ok_or_else(|| unknown(text))
    }

    /// The zone of a name of Arrow's: as [`Self::find`], or a distance ahead of UTC.
    pub fn of_arrow_name(name: &str) -> Option<Self> {
        let turned = match name.strip_prefix('+') {
            Some(rest) => format!("-{rest}"),
            None => name.replacen('-', "+", 1),
        };
        match name.starts_with(['+', '-']) {
            true => west(&turned),
            false => Self::of_both(name).or_else(|| Self::find(name)),
        }
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What Arrow calls it: the name of IANA's, or the distance from UTC of a zone that has none.
    pub fn arrow_name(&self) -> String {
        if self.rules.iana_name().is_some() || self.is_utc() {
            return self.name.to_string();
        }
        let ahead = self.ahead_at(0);
        let (sign, distance) = (if ahead < 0 { '-' } else { '+' }, ahead.abs());
        format!("{sign}{:02}:{:02}", distance / 3_600, distance / 60 % 60)
    }

    /// Whether it is UTC itself.
    pub fn is_utc(&self) -> bool {
        &*self.name == "UTC"
    }

    /// Seconds that its clocks are ahead of UTC at a moment, in microseconds from 1970-01-01 UTC.
    pub fn ahead_at(&self, micros: i64) -> i64 {
        match Timestamp::from_second(known(micros).div_euclid(SECOND)) {
            Ok(moment) => self.rules.to_offset(moment).seconds().into(),
            Err(_) => 0,
        }
    }

    /// What its time is called at a moment: `CET`, or its distance from UTC.
    pub fn abbreviation_at(&self, micros: i64) -> String {
        match Timestamp::from_second(known(micros).div_euclid(SECOND)) {
            Ok(moment) => self.rules.to_offset_info(moment).abbreviation().to_owned(),
            Err(_) => self.name.to_string(),
        }
    }

    /// What its clocks show at a moment; `None` where a timestamp does not reach.
    pub fn local(&self, micros: i64) -> Option<i64> {
        Self::turned(micros, |it| it.checked_add(self.ahead_at(it) * SECOND))
    }

    /// The moment at which its clocks show a time; `None` where a timestamp does not reach.
    pub fn moment(&self, local: i64) -> Option<i64> {
        Self::turned(local, |it| it.checked_sub(self.ahead_of_local(it) * SECOND))
    }

    /// A point of time by other clocks: an infinite one stays, and no other becomes one.
    fn turned(micros: i64, turn: impl Fn(i64) -> Option<i64>) -> Option<i64> {
        match is_infinite(micros) {
            true => Some(micros),
            false => turn(micros).filter(|it| !is_infinite(*it)),
        }
    }

    /// Seconds that its clocks are ahead of UTC when they show a time.
    pub fn ahead_of_local(&self, local: i64) -> i64 {
        let within = known(local);
        let (days, of_day) = (within.div_euclid(DAY), within.rem_euclid(DAY) / SECOND);
        let (year, month, day) = civil_from_days(days);
        let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
        let shown = DateTime::new(
            year as i16,
            month as i8,
            day as i8,
            hour as i8,
            minute as i8,
            second as i8,
            0,
        );
        let Ok(shown) = shown else { return 0 };
        let offset = match self.rules.to_ambiguous_timestamp(shown).offset() {
            AmbiguousOffset::Unambiguous { offset } => offset,
            AmbiguousOffset::Gap { before, .. } => before,
            AmbiguousOffset::Fold { after, .. } => after,
        };
        offset.seconds().into()
    }
}

/// Whether a text spells a distance from UTC: a sign, hours, minutes and seconds.
pub(crate) fn is_offset(text: &str) -> bool {
    let digits = |it: &str| (1..=4).contains(&it.len()) && it.bytes().all(|it| it.is_ascii_digit());
    let Some(distance) = text.strip_prefix(['+', '-']) else { return false };
    let mut parts = distance.split(':');
    parts.clone().count() <= 3 && parts.all(digits)
}

/// The seconds ahead of UTC that such a text spells: `+02`, `-0330`, `+05:30:15`. `None` from sixteen hours on.
pub(crate) fn offset(text: &str) -> Option<i64> {
    let distance = text.get(1..)?;
    let mut parts = [0; 3];
    for (part, digits) in parts.iter_mut().zip(distance.split(':')) {
        *part = digits.parse::<i64>().ok()?;
    }
    if !distance.contains(':') && distance.len() > 2 {
        parts = [parts[0] / 100, parts[0] % 100, 0];
    }
    let [hours, minutes, seconds] = parts;
    if hours > 15 || minutes > 59 || seconds > 59 {
        return None;
    }
    let seconds = (hours * 60 + minutes) * 60 + seconds;
    Some(if text.starts_with('-') { -seconds } else { seconds })
}

/// A zone that is so many hours, minutes and seconds to the west, which is its name.
fn west(text: &str) -> Option<Zone> {
    let distance = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mut seconds, mut unit) = (0, 3_600);
    for part in distance.split(':') {
        let is_number = (1..4).contains(&part.len()) && unit > 0;
        let digits = is_number && part.bytes().all(|it| it.is_ascii_digit());
        seconds += unit * digits.then(|| part.parse::<i64>().ok())??;
        unit /= 60;
    }
    let fixed = Zone::fixed(if text.starts_with('-') { seconds } else { -seconds })?;
    Some(Zone { name: text.into(), ..fixed })
}

/// The same time of a year whose rules are known.
fn known(micros: i64) -> i64 {
    let (first, last) = KNOWN;
    if micros < first {
        // Before there were zones: the first cycle is as good as any.
        first + (micros - first).rem_euclid(CYCLE)
    } else if micros >= last {
        last - CYCLE + (micros - last).rem_euclid(CYCLE)
    } else {
        micros
    }
}

fn unknown(text: &str) -> SqlError {
    let message = format!("time zone \"{text}\" not recognized");
    SqlError::new(SqlState::INVALID_PARAMETER, message)
        .with_hint("zones have names like Europe/Berlin")
}

/// Appends an offset as PostgreSQL writes it: `+02`, `-03:30`, `+00:53:28`.
pub fn write_offset(seconds: i64, out: &mut String) {
    use std::fmt::Write;
    let sign = if seconds < 0 { '-' } else { '+' };
    let ahead = seconds.abs();
    let (hours, minutes, rest) = (ahead / 3_600, ahead / 60 % 60, ahead % 60);
    let _ = write!(out, "{sign}{hours:02}");
    if minutes != 0 || rest != 0 {
        let _ = write!(out, ":{minutes:02}");
    }
    if rest != 0 {
        let _ = write!(out, ":{rest:02}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_have_several_kinds_of_names() {
        let ahead = |name| Zone::named(name).map(|it| it.ahead_at(0));
        assert_eq!(ahead("PST"), Ok(-8 * 3600));
        // In July IANA's clocks are turned, and the abbreviation is what it says.
        let july = 1_720_000_000_000_000;
        let cet = Zone::named("cet").unwrap();
        assert_eq!(cet.ahead_at(july), 7_200);
        assert_eq!(Zone::find("CET").map(|it| it.ahead_at(july)), Some(3_600));
        assert_eq!(Zone::of_value(&cet.value_name()).map(|it| it.ahead_at(july)), Ok(7_200));
        let of_time = |name| Zone::of_time(name).map(|it| it.ahead_at(0)).map_err(|it| it.state.0);
        assert_eq!(of_time("-0330"), Ok(-12_600));
        assert_eq!(of_time("+15:59:59"), Ok(57_599));
        assert_eq!(of_time("EST"), Ok(-5 * 3600));
        for wrong in ["2", "+16", "+2:61", "+2x", "+", "Mars/Olympus"] {
            assert_eq!(of_time(wrong), Err("22023"), "{wrong}");
        }
        assert_eq!(ahead("-3.5"), Ok(-12_600));
        assert_eq!(ahead("+03:30"), Ok(-12_600));
        assert_eq!(ahead("<-03:30>+03:30"), Ok(-12_600));
        let arrow = |name| Zone::of_arrow_name(name).map(|it| it.ahead_at(0));
        assert_eq!(arrow("-03:30"), Some(-12_600));
        assert_eq!(arrow("+05"), Some(18_000));
        assert_eq!(arrow(&Zone::named("+03:30").unwrap().arrow_name()), Some(-12_600));
        assert_eq!(ahead("UTC+3"), Ok(-3 * 3600));
        assert_eq!(ahead("Asia/Kolkata"), Ok(19_800));
        assert!(ahead("Mars/Olympus").is_err());
        let value = |name| Zone::of_value(name).map(|it| it.ahead_at(0));
        assert_eq!(value("+03"), Ok(-3 * 3600));
        assert_eq!(value("-3:30:10"), Ok(12_610));
        assert_eq!(value("UTC+3"), Ok(-3 * 3600));
        for wrong in ["3.5", "+0330", "3:", ":3", "1:2:3:4", "+", "", "26"] {
            assert!(value(wrong).is_err(), "{wrong}");
        }
    }
}
