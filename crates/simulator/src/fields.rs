//! Reading data files: a JSON object whose every field must be asked for, so that a misspelt one is an error and not a
//! default.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Map, Value};

/// Why a data file cannot be used: the file, the field and what is wrong with it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileError(String);

impl FileError {
    /// An error in `field` of `file`.
    pub fn new(file: &str, field: &str, what: impl fmt::Display) -> Self {
        Self(format!("{file}: {field}: {what}"))
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for FileError {}

/// An object of a data file and which of its fields were asked for.
pub struct Fields<'a> {
    file: &'a str,
    path: String,
    object: &'a Map<String, Value>,
    asked: RefCell<BTreeSet<String>>,
}

/// The JSON text of a file as a value.
pub fn parse(file: &str, text: &str) -> Result<Value, FileError> {
    serde_json::from_str(text).map_err(|error| FileError(format!("{file}: not JSON: {error}")))
}

impl<'a> Fields<'a> {
    /// The fields of an object; `path` says where in the file it is.
    pub fn new(file: &'a str, path: &str, value: &'a Value) -> Result<Self, FileError> {
        let name = if path.is_empty() { "the file" } else { path };
        let object = value.as_object().ok_or_else(|| FileError::new(file, name, "an object"));
        let asked = RefCell::new(BTreeSet::new());
        Ok(Self { file, path: path.to_owned(), object: object?, asked })
    }

    /// An error in a field of this object.
    pub fn error(&self, field: &str, what: impl fmt::Display) -> FileError {
        FileError::new(self.file, &self.name(field), what)
    }

    /// The name of the file, for errors.
    pub fn file(&self) -> &'a str {
        self.file
    }

    /// Where in the file a field is.
    pub fn name(&self, field: &str) -> String {
        if self.path.is_empty() { field.to_owned() } else { format!("{}.{field}", self.path) }
    }

    /// A field that may be missing.
    pub fn find(&self, field: &str) -> Option<&'a Value> {
        self.asked.borrow_mut().insert(field.to_owned());
        self.object.get(field)
    }

    /// A field that must be there.
    pub fn value(&self, field: &str) -> Result<&'a Value, FileError> {
        self.find(field).ok_or_else(|| self.error(field, "is missing"))
    }

    /// A text.
    pub fn text(&self, field: &str) -> Result<&'a str, FileError> {
        self.value(field)?.as_str().ok_or_else(|| self.error(field, "a text is needed"))
    }

    /// A text that may be missing.
    pub fn text_or(&self, field: &str, default: &'a str) -> Result<&'a str, FileError> {
        if self.find(field).is_some() { self.text(field) } else { Ok(default) }
    }

    /// A finite number above zero.
    pub fn number(&self, field: &str) -> Result<f64, FileError> {
        let number = self.value(field)?.as_f64().filter(|it| it.is_finite() && *it > 0.0);
        number.ok_or_else(|| self.error(field, "a number above zero is needed"))
    }

    /// A finite number above zero, if the field is there.
    pub fn maybe_number(&self, field: &str) -> Result<Option<f64>, FileError> {
        self.find(field).map(|_| self.number(field)).transpose()
    }

    /// A whole number from 1 to a million million.
    pub fn count(&self, field: &str) -> Result<u64, FileError> {
        let number = self.value(field)?.as_u64().filter(|it| (1..=1_000_000_000_000).contains(it));
        number.ok_or_else(|| self.error(field, "a whole number from 1 on is needed"))
    }

    /// A whole number, if the field is there.
    pub fn maybe_count(&self, field: &str) -> Result<Option<u64>, FileError> {
        self.find(field).map(|_| self.count(field)).transpose()
    }

    /// True or false.
    pub fn flag_or(&self, field: &str, default: bool) -> Result<bool, FileError> {
        let Some(value) = self.find(field) else { return Ok(default) };
        value.as_bool().ok_or_else(|| self.error(field, "true or false is needed"))
    }

    /// A list; empty when the field is missing.
    pub fn list(&self, field: &str) -> Result<&'a [Value], FileError> {
        let Some(value) = self.find(field) else { return Ok(&[]) };
        let list = value.as_array().map(Vec::as_slice);
        list.ok_or_else(|| self.error(field, "a list is needed"))
    }

    /// A list of texts.
    pub fn texts(&self, field: &str) -> Result<Vec<&'a str>, FileError> {
        let text = |it: &'a Value| it.as_str().ok_or_else(|| self.error(field, "texts are needed"));
        self.list(field)?.iter().map(text).collect()
    }

    /// An object below this one.
    pub fn object(&self, field: &str) -> Result<Fields<'a>, FileError> {
        Fields::new(self.file, &self.name(field), self.value(field)?)
    }

    /// Refuses fields that nobody asked for.
    pub fn close(self) -> Result<(), FileError> {
        let asked = self.asked.borrow();
        match self.object.keys().find(|it| !asked.contains(*it)) {
            None => Ok(()),
            Some(unknown) => {
                let known: Vec<&str> = asked.iter().map(String::as_str).collect();
                let what = format!("there is no such field; known are {}", known.join(", "));
                Err(self.error(unknown, what))
            }
        }
    }
}
