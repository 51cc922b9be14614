//! What a path of SQL/JSON is made of.

use types::numeric::Arithmetic;
use types::numeric::number::Number;

use super::moment::Kind;

/// A path.
#[derive(Debug)]
pub(super) struct Path {
    /// Whether arrays are taken apart and made where they are in the way, and parts that are not there do not count.
    pub lax: bool,
    pub chain: Chain,
    /// How many steps it has in all.
    pub size: usize,
}

/// A first step and what is done with what it gives.
pub(super) type Chain = Vec<Step>;

/// One step of a path.
#[derive(Debug)]
pub(super) enum Step {
    Null,
    Boolean(bool),
    Number(Number),
    Text(String),
    Variable(String),
    /// `$`
    Root,
    /// `@`
    Current,
    /// The place of the last element of the array around.
    Last,
    Arithmetic(Arithmetic, Chain, Chain),
    /// `+` or `-` of each number.
    Signed {
        negative: bool,
        of: Chain,
    },
    Compare(Compare, Chain, Chain),
    And(Chain, Chain),
    Or(Chain, Chain),
    Not(Chain),
    IsUnknown(Chain),
    Exists(Chain),
    StartsWith(Chain, Chain),
    LikeRegex {
        of: Chain,
        pattern: String,
        flags: RegexFlags,
    },
    Key(String),
    /// `.*`
    AnyKey,
    /// `[*]`
    AnyElement,
    /// `[a, b to c]`
    Elements(Vec<(Chain, Option<Chain>)>),
    /// `**` from one level to another.
    Levels(u32, u32),
    Filter(Chain),
    Method(Method),
    /// `.decimal()` with digits and those behind the point.
    Decimal(Option<i64>, Option<i64>),
    /// `.datetime()` by a template, if there is one.
    DateTime(Option<String>),
    /// `.date()` and its kin, with so many digits of a second.
    Moment(Kind, Option<i64>),
}

/// The methods that make points of time of one kind.
pub(super) const MOMENTS: [(&str, Kind); 5] = [
    ("date", Kind::Date),
    ("time", Kind::Time),
    ("time_tz", Kind::TimeTz),
    ("timestamp", Kind::Timestamp),
    ("timestamp_tz", Kind::TimestampTz),
];

/// The method that makes points of time of a kind.
pub(super) fn name_of(kind: Kind) -> &'static str {
    MOMENTS.iter().find(|it| it.1 == kind).map_or("", |it| it.0)
}

/// The level `last` of `**`.
pub(super) const LAST_LEVEL: u32 = u32::MAX;

/// The sign of an operation.
pub(super) fn sign(of: Arithmetic) -> &'static str {
    match of {
        Arithmetic::Add => "+",
        Arithmetic::Subtract => "-",
        Arithmetic::Multiply => "*",
        Arithmetic::Divide => "/",
        Arithmetic::Modulo => "%",
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Compare {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

impl Compare {
    pub fn sign(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
        }
    }
}

/// The flags of `like_regex`.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct RegexFlags {
    pub fold: bool,
    pub dot_all: bool,
    pub lines: bool,
    pub expanded: bool,
    pub literal: bool,
}

/// The methods without arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Method {
    Abs,
    BigInt,
    Boolean,
    Ceiling,
    Double,
    Floor,
    Integer,
    KeyValue,
    Number,
    Size,
    Text,
    Type,
}

impl Method {
    /// All, with their names.
    pub const ALL: [(&'static str, Self); 12] = [
        ("abs", Self::Abs),
        ("bigint", Self::BigInt),
        ("boolean", Self::Boolean),
        ("ceiling", Self::Ceiling),
        ("double", Self::Double),
        ("floor", Self::Floor),
        ("integer", Self::Integer),
        ("keyvalue", Self::KeyValue),
        ("number", Self::Number),
        ("size", Self::Size),
        ("string", Self::Text),
        ("type", Self::Type),
    ];

    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|it| it.1 == self).map_or("", |it| it.0)
    }
}
