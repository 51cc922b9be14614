//! What values are of, as far as they were looked at: types of columns.

use std::collections::HashMap;

use types::json::{Lexer, Token, each_element, each_member, skip, string_of};
use types::structs::{Field, StructType};
use types::{DataType, SqlResult};

use crate::spelling::{plain_date, plain_timestamp};

/// Levels of arrays and objects that are looked into, at most.
pub(super) const LEVELS_MAX: usize = 48;

/// What is asked of objects before they are structs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// In which part of the objects a member has to be, on average over the members.
    pub(super) appearance: f64,
    /// So many members of one type are a map.
    pub(super) map_from: usize,
}

/// What values are of.
#[derive(Clone, Default, Debug)]
pub(super) struct Shape {
    scalar: Scalar,
    list: Option<Box<Shape>>,
    object: Option<Box<Object>>,
    /// Whether some were not looked into.
    is_opaque: bool,
}

/// What values are of that are neither arrays nor objects.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
enum Scalar {
    #[default]
    Nothing,
    Boolean,
    Whole,
    /// A whole number that 64 bits do not hold.
    Wide,
    Double,
    /// Texts, which all are of one of these types: a bit for each of [`TEXTS`].
    Texts(u8),
    Mixed,
}

/// What texts may be; what is none of these is a text.
const TEXTS: [DataType; 5] =
    [DataType::Date, DataType::Timestamp, DataType::TimestampTz, DataType::Time, DataType::Uuid];

#[derive(Clone, Default, Debug)]
struct Object {
    /// How many objects there were.
    count: u64,
    members: Vec<Member>,
    by_name: HashMap<String, usize>,
}

#[derive(Clone, Debug)]
struct Member {
    name: String,
    shape: Shape,
    count: u64,
}

impl Shape {
    /// Takes a value into account, whose first token was read last, and goes behind it.
    pub(super) fn add(
        &mut self,
        lexer: &mut Lexer<'_>,
        first: Token,
        levels: usize,
    ) -> SqlResult<()> {
        if levels == 0 {
            self.is_opaque = true;
            return skip(lexer, first).map(drop);
        }
        match first {
            Token::OpenArray => {
                let items = self.list.get_or_insert_default();
                each_element(lexer, |lexer, first| items.add(lexer, first, levels - 1))
            }
            Token::OpenObject => {
                let object = self.object.get_or_insert_default();
                object.count += 1;
                each_member(lexer, |lexer, key, first| {
                    let member = object.member(&string_of(key)?);
                    member.count += 1;
                    member.shape.add(lexer, first, levels - 1)
                })
            }
            _ => {
                let start = lexer.start;
                skip(lexer, first)?;
                self.scalar = self.scalar.with(scalar(lexer.since(start), first)?);
                Ok(())
            }
        }
    }

    /// Takes all into account that another shape has seen.
    pub(super) fn merge(&mut self, other: &Self) {
        self.scalar = self.scalar.with(other.scalar);
        self.is_opaque |= other.is_opaque;
        if let Some(items) = &other.list {
            self.list.get_or_insert_default().merge(items);
        }
        if let Some(other) = &other.object {
            let object = self.object.get_or_insert_default();
            object.count += other.count;
            for it in &other.members {
                let member = object.member(&it.name);
                member.count += it.count;
                member.shape.merge(&it.shape);
            }
        }
    }

    /// Whether there were other values than objects and `null`.
    pub(super) fn has_others(&self) -> bool {
        self.scalar != Scalar::Nothing || self.list.is_some() || self.is_opaque
    }

    /// The type of all values; JSON where no other holds them all.
    pub(super) fn data_type(&self, rules: Rules) -> DataType {
        match (&self.list, &self.object, self.scalar) {
            _ if self.is_opaque => DataType::Json,
            (None, None, scalar) => scalar.data_type(),
            // Lists in lists need not have one length, as arrays in arrays do.
            (Some(items), None, Scalar::Nothing) => match items.data_type(rules) {
                DataType::Array(_) => DataType::Json,
                other => other,
            }
            .array()
            .unwrap_or(DataType::Json),
            (None, Some(object), Scalar::Nothing) => object.data_type(rules),
            _ => DataType::Json,
        }
    }

    /// Names and types of the members, where the values are objects that have members of their own; else nothing.
    pub(super) fn columns(&self, rules: Rules) -> Option<Vec<(String, DataType)>> {
        let object = self.object.as_ref().filter(|_| !self.has_others())?;
        // Names of columns may differ in the case of their letters alone.
        let is_named = object.members.iter().all(|it| !it.name.is_empty());
        if object.map_value(rules).is_some() || !is_named {
            return None;
        }
        let column = |it: &Member| (it.name.clone(), it.shape.data_type(rules));
        Some(object.members.iter().map(column).collect())
    }
}

impl Object {
    fn member(&mut self, name: &str) -> &mut Member {
        let place = match self.by_name.get(name) {
            Some(place) => *place,
            None => {
                self.by_name.insert(name.to_owned(), self.members.len());
                let (name, shape) = (name.to_owned(), Shape::default());
                self.members.push(Member { name, shape, count: 0 });
                self.members.len() - 1
            }
        };
        &mut self.members[place]
    }

    /// What the values of all members are of, where objects have too little in common for a struct.
    fn map_value(&self, rules: Rules) -> Option<DataType> {
        let merged = || {
            let mut all = Shape::default();
            self.members.iter().for_each(|it| all.merge(&it.shape));
            all.data_type(rules)
        };
        let seen: u64 = self.members.iter().map(|it| it.count).sum();
        let each = seen as f64 / (self.members.len().max(1) as u64 * self.count.max(1)) as f64;
        if self.members.is_empty() || each < rules.appearance {
            return Some(merged());
        }
        let is_large = self.members.len() >= rules.map_from;
        is_large.then(merged).filter(|it| *it != DataType::Json)
    }

    fn data_type(&self, rules: Rules) -> DataType {
        if let Some(value) = self.map_value(rules) {
            return StructType::entry(DataType::Text, value).map_or(DataType::Json, DataType::Map);
        }
        // A struct with a field without a name is a row.
        if self.members.iter().any(|it| it.name.is_empty()) {
            return DataType::Json;
        }
        let field = |it: &Member| Field::new(it.name.as_str(), it.shape.data_type(rules));
        // Names that are one for a struct, or more of them than it may have.
        StructType::new(self.members.iter().map(field).collect())
            .map_or(DataType::Json, DataType::Struct)
    }
}

impl Scalar {
    fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, it) | (it, Self::Nothing) => it,
            (one, other) if one == other => one,
            (Self::Texts(one), Self::Texts(other)) => Self::Texts(one & other),
            (Self::Whole | Self::Wide, Self::Whole | Self::Wide) => Self::Wide,
            (Self::Whole | Self::Wide | Self::Double, Self::Whole | Self::Wide | Self::Double) => {
                Self::Double
            }
            _ => Self::Mixed,
        }
    }

    fn data_type(self) -> DataType {
        match self {
            Self::Nothing | Self::Mixed => DataType::Json,
            Self::Boolean => DataType::Boolean,
            Self::Whole => DataType::BigInt,
            Self::Wide => DataType::Decimal { precision: 38, scale: 0 },
            Self::Double => DataType::Double,
            Self::Texts(bits) => {
                TEXTS.get(bits.trailing_zeros() as usize).copied().unwrap_or(DataType::Text)
            }
        }
    }
}

/// What a scalar is of.
fn scalar(json: &str, token: Token) -> SqlResult<Scalar> {
    Ok(match token {
        Token::True | Token::False => Scalar::Boolean,
        Token::String => Scalar::Texts(texts(&string_of(json)?)),
        Token::Number => {
            let is_whole = !json.contains(['.', 'e', 'E']);
            let digits = json.trim_start_matches('-').len();
            match json.parse::<f64>() {
                _ if is_whole && json.parse::<i64>().is_ok() => Scalar::Whole,
                _ if is_whole && digits <= 38 => Scalar::Wide,
                Ok(it) if it.is_finite() => Scalar::Double,
                _ => Scalar::Mixed,
            }
        }
        _ => Scalar::Nothing,
    })
}

/// What a text may be, a bit for each of [`TEXTS`].
fn texts(text: &str) -> u8 {
    let bytes = text.as_bytes();
    let fits = match bytes.len() {
        10 => plain_date(bytes).map(|_| 0),
        36 => is_uuid(bytes).then_some(4),
        _ => None,
    };
    let fits = fits
        .or_else(|| is_time(bytes).then_some(3))
        .or_else(|| plain_timestamp(bytes).map(|_| 1))
        .or_else(|| without_zone(text).and_then(|it| plain_timestamp(it.as_bytes())).map(|_| 2));
    fits.map_or(0, |it| 1 << it)
}

fn is_uuid(bytes: &[u8]) -> bool {
    bytes.iter().enumerate().all(|(place, it)| match place {
        8 | 13 | 18 | 23 => *it == b'-',
        _ => it.is_ascii_hexdigit(),
    })
}

/// `HH:MM:SS[.digits]`.
fn is_time(bytes: &[u8]) -> bool {
    let is_clock = bytes.len() >= 8 && bytes[2] == b':' && bytes[5] == b':';
    is_clock && plain_timestamp(&[b"2000-01-01 ", bytes].concat()).is_some()
}

/// A moment without the `Z`, `+HH`, `+HHMM` or `+HH:MM` behind it; nothing where there is none.
fn without_zone(text: &str) -> Option<&str> {
    if let Some(moment) = text.strip_suffix(['Z', 'z']) {
        return Some(moment);
    }
    let at = text.rfind(['+', '-']).filter(|it| *it > 10)?;
    let (moment, zone) = text.split_at(at);
    let is_digit = |it: u8| it.is_ascii_digit();
    let fits = match zone.as_bytes()[1..] {
        [a, b] => [a, b].into_iter().all(is_digit),
        [a, b, b':', c, d] | [a, b, c, d] => [a, b, c, d].into_iter().all(is_digit),
        _ => false,
    };
    fits.then_some(moment)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(values: &[&str]) -> String {
        let mut shape = Shape::default();
        for text in values {
            let mut lexer = Lexer::new(text);
            let first = lexer.advance().unwrap();
            shape.add(&mut lexer, first, LEVELS_MAX).unwrap();
        }
        shape.data_type(Rules { appearance: 0.1, map_from: 5 }).to_string()
    }

    #[test]
    fn a_type_holds_all_values() {
        for (values, expected) in [
            (&["null"] as &[&str], "JSON"),
            (&["1", "null", "-2"], "BIGINT"),
            (&["1", "18446744073709551615"], "DECIMAL(38,0)"),
            (&["1", "1e2"], "DOUBLE PRECISION"),
            (&["1e999"], "JSON"),
            (&["true"], "BOOLEAN"),
            (&["true", "1"], "JSON"),
            (&["\"x\"", "1"], "JSON"),
            (&["\"2024-02-29\""], "DATE"),
            (&["\"2023-02-29\""], "TEXT"),
            (&["\"2024-02-29 10:00:00\"", "\"2024-02-29T10:00:00.5\""], "TIMESTAMP"),
            (&["\"2024-02-29\"", "\"2024-02-29 10:00:00\""], "TEXT"),
            (&["\"2024-02-29T10:00:00Z\"", "\"2024-02-29 10:00:00+02:00\""], "TIMESTAMPTZ"),
            (&["\"10:11:12\""], "TIME"),
            (&["\"0d3c4b5a-1c2d-4e5f-8a9b-0c1d2e3f4a5b\""], "UUID"),
            (&["[1, 2]", "[]"], "BIGINT[]"),
            (&["[]"], "JSON[]"),
            (&["[[1], [2, 3]]"], "JSON[]"),
            (&["{}"], "MAP(TEXT, JSON)"),
            (&["{\"a\":1}", "{\"a\":null,\"b\":[\"x\"]}"], "STRUCT(a BIGINT, b TEXT[])"),
            (&["{\"a\":1,\"A\":1}"], "JSON"),
            (&["{\"\":1}"], "JSON"),
            (&["{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5.5}"], "MAP(TEXT, DOUBLE PRECISION)"),
            (&["{\"a\":1}", "[1]"], "JSON"),
        ] {
            assert_eq!(shown(values), expected, "{values:?}");
        }
    }
}
