//! Rows of views as Arrow.

use arrow_array::builder::{
    BooleanBuilder, Float32Builder, Float64Builder, Int16Builder, Int32Builder, Int64Builder,
    StringBuilder, TimestampMicrosecondBuilder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use stdx::sync::Arc;
use storage::schema::{held_array_field, letter_field, name_field, oid_field};
use types::{SqlError, SqlResult};

/// The zone of moments.
const UTC: &str = "UTC";

/// The columns of a view: their names, each with the letter of its type ([`ViewBuilder::new`]).
pub(crate) type Columns = &'static [(&'static str, char)];

/// The columns that a text has, of `name:letter` each.
pub(crate) fn columns_of(text: &str) -> Vec<(&str, char)> {
    let columns = text.split(' ').filter_map(|it| it.split_once(':'));
    columns.filter_map(|it| Some((it.0, it.1.chars().next()?))).collect()
}

/// Collects a view row by row.
pub(crate) struct ViewBuilder {
    fields: Vec<Field>,
    columns: Vec<Cells>,
}

enum Cells {
    Text(StringBuilder),
    Integer(Int64Builder),
    Int(Int32Builder),
    Small(Int16Builder),
    Boolean(BooleanBuilder),
    Float(Float64Builder),
    Real(Float32Builder),
    Moment(TimestampMicrosecondBuilder),
}

/// One cell of a view.
pub(crate) enum Cell {
    Text(Option<String>),
    Integer(Option<i64>),
    Boolean(bool),
    Float(f64),
    /// Microseconds from 1970-01-01, UTC.
    Moment(Option<i64>),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(Some(text.to_owned()))
    }
}
impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(Some(text))
    }
}
impl From<Option<String>> for Cell {
    fn from(text: Option<String>) -> Self {
        Self::Text(text)
    }
}
impl From<u64> for Cell {
    fn from(value: u64) -> Self {
        Self::Integer(i64::try_from(value).ok())
    }
}
impl From<i64> for Cell {
    fn from(value: i64) -> Self {
        Self::Integer(Some(value))
    }
}
impl From<Option<i64>> for Cell {
    fn from(value: Option<i64>) -> Self {
        Self::Integer(value)
    }
}
impl From<Option<u64>> for Cell {
    fn from(value: Option<u64>) -> Self {
        Self::Integer(value.and_then(|it| i64::try_from(it).ok()))
    }
}
impl From<f64> for Cell {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}
impl From<bool> for Cell {
    fn from(value: bool) -> Self {
        Self::Boolean(value)
    }
}

/// A number of a column of fewer bits; NULL of one that it does not hold.
fn narrow<T: TryFrom<i64>>(value: Option<i64>) -> Option<T> {
    value.and_then(|it| T::try_from(it).ok())
}

impl ViewBuilder {
    /// Columns by name; `t` text, `d` `name`, `c` `"char"`, `i` BIGINT, `4` INTEGER, `2` SMALLINT, `#` number of the catalog, `b` Boolean, `f` float, `r` REAL, `m` moment, arrays, as they are held, of `s` small integers, `n` integers,
    /// `l` numbers of the catalog, `a` texts and `e` names, vectors of `k` small integers and `o` numbers.
    pub(crate) fn new(columns: &[(&str, char)]) -> Self {
        let field = |&(name, kind): &(&str, char)| {
            let data_type = match kind {
                's' => return held_array_field(name, "smallint"),
                'n' => return held_array_field(name, "bigint"),
                'k' => return held_array_field(name, "int2vector"),
                'o' => return held_array_field(name, "oidvector"),
                'a' => return held_array_field(name, "text"),
                'e' => return held_array_field(name, "name"),
                'l' => return held_array_field(name, "oid"),
                'c' => return letter_field(name),
                'd' => return name_field(name),
                '#' => return oid_field(name),
                'i' => DataType::Int64,
                '4' => DataType::Int32,
                '2' => DataType::Int16,
                'b' => DataType::Boolean,
                'f' => DataType::Float64,
                'r' => DataType::Float32,
                'm' => DataType::Timestamp(TimeUnit::Microsecond, Some(UTC.into())),
                _ => DataType::Utf8,
            };
            Field::new(name, data_type, true)
        };
        let cells = |&(_, kind): &(&str, char)| match kind {
            'i' | '#' => Cells::Integer(Int64Builder::new()),
            '4' => Cells::Int(Int32Builder::new()),
            '2' => Cells::Small(Int16Builder::new()),
            'b' => Cells::Boolean(BooleanBuilder::new()),
            'f' => Cells::Float(Float64Builder::new()),
            'r' => Cells::Real(Float32Builder::new()),
            'm' => Cells::Moment(TimestampMicrosecondBuilder::new().with_timezone(UTC)),
            _ => Cells::Text(StringBuilder::new()),
        };
        Self {
            fields: columns.iter().map(field).collect(),
            columns: columns.iter().map(cells).collect(),
        }
    }

    /// Columns as a text has them ([`columns_of`]).
    pub(crate) fn of(columns: &str) -> Self {
        Self::new(&columns_of(columns))
    }

    pub(crate) fn row(&mut self, row: impl IntoIterator<Item = Cell>) {
        for (cells, cell) in self.columns.iter_mut().zip(row) {
            match (cells, cell) {
                (Cells::Text(it), Cell::Text(text)) => it.append_option(text),
                (Cells::Integer(it), Cell::Integer(value)) => it.append_option(value),
                (Cells::Int(it), Cell::Integer(value)) => it.append_option(narrow(value)),
                (Cells::Small(it), Cell::Integer(value)) => it.append_option(narrow(value)),
                (Cells::Boolean(it), Cell::Boolean(value)) => it.append_value(value),
                (Cells::Float(it), Cell::Float(value)) => it.append_value(value),
                (Cells::Real(it), Cell::Float(value)) => it.append_value(value as f32),
                (Cells::Moment(it), Cell::Moment(value)) => it.append_option(value),
                _ => unreachable!("invariant: a view writes the columns that it declares"),
            }
        }
    }

    pub(crate) fn finish(self) -> SqlResult<RecordBatch> {
        let finish = |it: Cells| -> ArrayRef {
            match it {
                Cells::Text(mut it) => Arc::new(it.finish()),
                Cells::Integer(mut it) => Arc::new(it.finish()),
                Cells::Int(mut it) => Arc::new(it.finish()),
                Cells::Small(mut it) => Arc::new(it.finish()),
                Cells::Boolean(mut it) => Arc::new(it.finish()),
                Cells::Float(mut it) => Arc::new(it.finish()),
                Cells::Real(mut it) => Arc::new(it.finish()),
                Cells::Moment(mut it) => Arc::new(it.finish()),
            }
        };
        let columns = self.columns.into_iter().map(finish).collect();
        RecordBatch::try_new(Arc::new(Schema::new(self.fields)), columns)
            .map_err(|error| SqlError::internal(format!("a view is malformed: {error}")))
    }
}
