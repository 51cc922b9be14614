//! ENUM: a type whose values are labels, in the order in which they were said.
//!
//! Key decision: a value is held as the place of its label, counted from 0. So columns, keys, joins and sorts handle small whole
//! numbers whose order is that of the type, and a label is looked up where a value is read or shown.

use std::fmt;
use std::hash::{Hash, Hasher};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::interned::Interned;
use crate::{SqlError, SqlResult, SqlState, names};

/// Bytes of a label: PostgreSQL's limit.
const LABEL_BYTES_MAX: usize = 63;

static KNOWN: Interned<Labels> = Interned::new();

/// A type of labels. Types of one name and the same labels are one.
#[derive(Clone, Copy)]
pub struct EnumType(&'static Labels);

#[derive(PartialEq, Eq, Hash)]
struct Labels {
    name: String,
    all: Vec<String>,
    /// Places in the order of the labels as texts.
    sorted: Vec<u32>,
}

impl EnumType {
    /// The type of a name ([`names::joined`]), empty for one that is only said where it is used, and of labels.
    ///
    /// # Errors
    /// 23505 for a label that stands there twice, 42602 for one that is too long, 54000 where there are too many types.
    pub fn new(name: &str, all: Vec<String>) -> SqlResult<Self> {
        if let Some(long) = all.iter().find(|it| it.len() > LABEL_BYTES_MAX) {
            let message = format!("invalid enum label \"{long}\"");
            let error = SqlError::new(SqlState("42602"), message);
            return Err(error.with_hint("labels have 63 bytes at most"));
        }
        let mut sorted: Vec<u32> = (0..all.len() as u32).collect();
        sorted.sort_by_key(|it| &all[*it as usize]);
        let twice = |it: &&[u32]| all[it[0] as usize] == all[it[1] as usize];
        if let Some(pair) = sorted.windows(2).find(twice) {
            let message = format!("enum label \"{}\" used more than once", all[pair[0] as usize]);
            return Err(SqlError::new(SqlState::UNIQUE_VIOLATION, message));
        }
        let bytes = name.len() + all.iter().map(|it| it.len() + 28).sum::<usize>() + 80;
        KNOWN.keep(Labels { name: name.to_owned(), all, sorted }, bytes).map(Self)
    }

    /// Its name ([`names::joined`]), empty where it has none.
    pub fn name(self) -> &'static str {
        &self.0.name
    }

    /// The labels in order.
    pub fn labels(self) -> &'static [String] {
        &self.0.all
    }

    /// The label of a place.
    pub fn label(self, place: i128) -> Option<&'static str> {
        self.0.all.get(usize::try_from(place).ok()?).map(String::as_str)
    }

    /// The place of a label.
    pub fn place(self, label: &str) -> Option<i64> {
        let Labels { all, sorted, .. } = self.0;
        let found = sorted.binary_search_by(|it| all[*it as usize].as_str().cmp(label)).ok()?;
        Some(i64::from(sorted[found]))
    }
}

impl PartialEq for EnumType {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for EnumType {}

impl Hash for EnumType {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.name.hash(state);
        self.0.all.len().hash(state);
    }
}

impl fmt::Debug for EnumType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// As SQL names it.
impl fmt::Display for EnumType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.name.is_empty() {
            let labels = self.0.all.iter().map(|it| format!("'{}'", it.replace('\'', "''")));
            return write!(f, "ENUM({})", labels.collect::<Vec<_>>().join(", "));
        }
        f.write_str(&names::sql(&self.0.name))
    }
}

impl Serialize for EnumType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (&self.0.name, &self.0.all).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for EnumType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (name, all) = <(String, Vec<String>)>::deserialize(deserializer)?;
        Self::new(&name, all).map_err(|it| serde::de::Error::custom(it.message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(all: &[&str]) -> Vec<String> {
        all.iter().map(|it| (*it).to_owned()).collect()
    }

    #[test]
    fn labels_have_places_in_the_order_in_which_they_were_said() {
        let mood = EnumType::new("mood", labels(&["sad", "ok", "happy"])).unwrap();
        assert_eq!(mood.place("ok"), Some(1));
        assert_eq!(mood.place("OK"), None);
        assert_eq!(mood.label(2), Some("happy"));
        assert_eq!((mood.label(3), mood.label(-1)), (None, None));
        assert_eq!(mood, EnumType::new("mood", labels(&["sad", "ok", "happy"])).unwrap());
        assert_ne!(mood, EnumType::new("mood", labels(&["ok", "sad", "happy"])).unwrap());
        assert_ne!(mood, EnumType::new("s.mood", labels(&["sad", "ok", "happy"])).unwrap());
        let twice = EnumType::new("m", labels(&["b", "a", "b"])).unwrap_err();
        assert_eq!(
            (twice.state.0, &*twice.message),
            ("23505", "enum label \"b\" used more than once")
        );
        assert!(EnumType::new("m", vec!["x".repeat(64)]).is_err());
        assert_eq!(EnumType::new("none", Vec::new()).unwrap().place(""), None);
    }

    #[test]
    fn a_type_is_written_as_sql() {
        let said = EnumType::new("", labels(&["it's", "b"])).unwrap();
        assert_eq!(said.to_string(), "ENUM('it''s', 'b')");
        assert_eq!(EnumType::new("s.Mood", Vec::new()).unwrap().to_string(), "s.\"Mood\"");
    }
}
