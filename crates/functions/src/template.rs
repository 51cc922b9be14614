//! Templates of to_char, to_date and to_timestamp, cut into tokens.

/// What a field of a template stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    Century,
    /// The day's name in full.
    Day,
    /// The day's name, three letters.
    ShortDay,
    DayOfMonth,
    DayOfWeek,
    DayOfYear,
    Era,
    Era4,
    /// So many digits of the fraction of a second.
    Fraction(u8),
    Hour12,
    Hour24,
    IsoDayOfWeek,
    IsoDayOfYear,
    IsoWeek,
    /// So many of the last digits of the ISO year.
    IsoYear(u8),
    Julian,
    Meridiem,
    Meridiem4,
    Microsecond,
    Millisecond,
    Minute,
    Month,
    ShortMonth,
    MonthNumber,
    Quarter,
    Roman,
    Second,
    SecondOfDay,
    WeekOfMonth,
    WeekOfYear,
    /// So many of the last digits of the year.
    Year(u8),
    /// A year with a comma behind the thousands.
    YearComma,
    /// What the time of a zone is called, which a timestamp does not have.
    Zone,
    /// How far a zone is ahead: hours, and minutes if there are some.
    ZoneOffset,
    /// The hours of a zone's offset.
    ZoneHour,
    /// The minutes of a zone's offset.
    ZoneMinute,
    /// Says only that the input must follow the template exactly.
    Exact,
}

/// How names are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Case {
    Upper,
    Lower,
    Capital,
}

/// A piece of a template.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Token {
    Field {
        part: Part,
        case: Case,
        /// The field as the template has it.
        name: &'static str,
        /// FM: neither zeros nor blanks fill it up.
        plain: bool,
        /// TH or th: with the letters of an ordinal.
        ordinal: Option<Case>,
    },
    /// A character between fields that is neither letter nor digit; blanks count.
    Separator(char),
    /// Any other character, or one in quotes.
    Literal(char),
}

/// Fields in the spelling of capitals; of those with a common beginning the longest first.
const FIELDS: &[(&str, Part)] = &[
    ("A.D.", Part::Era4),
    ("A.M.", Part::Meridiem4),
    ("AD", Part::Era),
    ("AM", Part::Meridiem),
    ("B.C.", Part::Era4),
    ("BC", Part::Era),
    ("CC", Part::Century),
    ("DAY", Part::Day),
    ("DDD", Part::DayOfYear),
    ("DD", Part::DayOfMonth),
    ("DY", Part::ShortDay),
    ("D", Part::DayOfWeek),
    ("FF1", Part::Fraction(1)),
    ("FF2", Part::Fraction(2)),
    ("FF3", Part::Fraction(3)),
    ("FF4", Part::Fraction(4)),
    ("FF5", Part::Fraction(5)),
    ("FF6", Part::Fraction(6)),
    ("FX", Part::Exact),
    ("HH24", Part::Hour24),
    ("HH12", Part::Hour12),
    ("HH", Part::Hour12),
    ("IDDD", Part::IsoDayOfYear),
    ("ID", Part::IsoDayOfWeek),
    ("IW", Part::IsoWeek),
    ("IYYY", Part::IsoYear(4)),
    ("IYY", Part::IsoYear(3)),
    ("IY", Part::IsoYear(2)),
    ("I", Part::IsoYear(1)),
    ("J", Part::Julian),
    ("MI", Part::Minute),
    ("MM", Part::MonthNumber),
    ("MONTH", Part::Month),
    ("MON", Part::ShortMonth),
    ("MS", Part::Millisecond),
    ("OF", Part::ZoneOffset),
    ("P.M.", Part::Meridiem4),
    ("PM", Part::Meridiem),
    ("Q", Part::Quarter),
    ("RM", Part::Roman),
    ("SSSSS", Part::SecondOfDay),
    ("SSSS", Part::SecondOfDay),
    ("SS", Part::Second),
    ("TZH", Part::ZoneHour),
    ("TZM", Part::ZoneMinute),
    ("TZ", Part::Zone),
    ("US", Part::Microsecond),
    ("WW", Part::WeekOfYear),
    ("W", Part::WeekOfMonth),
    ("Y,YYY", Part::YearComma),
    ("YYYY", Part::Year(4)),
    ("YYY", Part::Year(3)),
    ("YY", Part::Year(2)),
    ("Y", Part::Year(1)),
];

/// Names that may also be written with one capital.
fn takes_capital(part: Part) -> bool {
    matches!(part, Part::Day | Part::ShortDay | Part::Month | Part::ShortMonth)
}

/// Cuts a template into tokens.
pub(crate) fn tokenize(template: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = template;
    while !rest.is_empty() {
        let (prefix, behind) = prefix(rest);
        if let Some((name, part, case)) = field(behind) {
            rest = &behind[name.len()..];
            let translated = prefix == Prefix::Translated && takes_capital(part);
            let plain = prefix == Prefix::Plain || translated;
            let ordinal = ordinal(&mut rest);
            tokens.push(Token::Field { part, case, name, plain, ordinal });
        } else if prefix != Prefix::None {
            // A prefix without a field says nothing.
            rest = behind;
        } else {
            character(&mut rest, &mut tokens);
        }
    }
    tokens
}

/// What stands before a field: FM, or TM, which asks for names in a language. There is only one, without blanks.
#[derive(Clone, Copy, PartialEq)]
enum Prefix {
    None,
    Plain,
    Translated,
}

fn prefix(rest: &str) -> (Prefix, &str) {
    let prefixes = [
        ("FM", Prefix::Plain),
        ("fm", Prefix::Plain),
        ("TM", Prefix::Translated),
        ("tm", Prefix::Translated),
    ];
    let found = prefixes.iter().find_map(|(name, it)| Some((*it, rest.strip_prefix(name)?)));
    found.unwrap_or((Prefix::None, rest))
}

fn field(rest: &str) -> Option<(&'static str, Part, Case)> {
    FIELDS.iter().find_map(|&(name, part)| {
        let given = rest.as_bytes().get(..name.len())?;
        let is_lower = |it: &[u8]| it.iter().all(|it| !it.is_ascii_uppercase());
        let case = if given == name.as_bytes() {
            Case::Upper
        } else if !given.eq_ignore_ascii_case(name.as_bytes()) {
            return None;
        } else if is_lower(given) {
            Case::Lower
        } else if takes_capital(part) && is_lower(&given[1..]) {
            Case::Capital
        } else {
            return None;
        };
        Some((name, part, case))
    })
}

fn ordinal(rest: &mut &str) -> Option<Case> {
    for (name, case) in [("TH", Case::Upper), ("th", Case::Lower)] {
        if let Some(behind) = rest.strip_prefix(name) {
            *rest = behind;
            return Some(case);
        }
    }
    None
}

/// A character that is no field, or a text in quotes.
fn character(rest: &mut &str, tokens: &mut Vec<Token>) {
    let mut characters = rest.chars();
    match characters.next() {
        Some('"') => {
            while let Some(it) = characters.next() {
                match it {
                    '"' => break,
                    '\\' => tokens.extend(characters.next().map(Token::Literal)),
                    other => tokens.push(Token::Literal(other)),
                }
            }
        }
        Some('\\') if characters.as_str().starts_with('"') => {
            characters.next();
            tokens.push(Token::Literal('"'));
        }
        Some(it) if it == ' ' || it.is_ascii_punctuation() => tokens.push(Token::Separator(it)),
        Some(it) => tokens.push(Token::Literal(it)),
        None => {}
    }
    *rest = characters.as_str();
}

/// The templates of the row before: they are constants, or nearly.
#[derive(Default)]
pub(crate) struct Templates<'a> {
    last: Option<&'a str>,
    tokens: Vec<Token>,
}

impl<'a> Templates<'a> {
    /// The tokens of a template.
    pub fn get(&mut self, template: &'a str) -> &[Token] {
        if self.last != Some(template) {
            self.tokens = tokenize(template);
            self.last = Some(template);
        }
        &self.tokens
    }
}

/// The months, as they are written.
pub(crate) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
/// The days of the week, Monday first.
pub(crate) const DAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
/// The months in Roman numerals.
pub(crate) const ROMAN: [&str; 12] =
    ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"];
