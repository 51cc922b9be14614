//! How the rows of a table are cut into parts (PP of P-HANA 4.2), and which part a row belongs to.
//!
//! The hash is ours and part of what a table is: it depends on the value alone, not on the width or scale it is stored
//! with, so that tables hashed on the same key into equally many parts have the rows that join in parts of the same
//! number, which live on the same node (P-HYPER 4.3). NULL goes to the first part.

use types::numeric::{datetime, number};
use types::{ColumnId, DataType, Range, SqlError, SqlResult, SqlState, Value, ranges};

use crate::ColumnSchema;
use crate::build::hash::{hash_bytes, hash_int};
use crate::build::{Piece, PieceValues};
use crate::key::least_key_from;
use crate::word::{float_of_key, key_of_float};

/// Parts that a table can have.
pub const PARTS_MAX: usize = 1024;

/// How the rows of a table are cut into parts.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Partitioning {
    /// Not at all: the table is one part.
    #[default]
    None,
    /// By the hash of some columns; a row whose columns are all NULL is in the first part.
    Hash {
        /// The key.
        columns: Vec<ColumnId>,
        /// How many parts.
        parts: usize,
    },
    /// By the value of a column: a part for what lies below the first bound, one from each bound on up to the next.
    Range {
        /// The key; NULL is in the first part.
        column: ColumnId,
        /// Where parts begin, ascending: one less than there are parts.
        bounds: Vec<Value>,
    },
    /// Row by row in turn.
    RoundRobin {
        /// How many parts.
        parts: usize,
    },
}

impl Partitioning {
    /// How many parts it makes.
    pub fn parts(&self) -> usize {
        match self {
            Self::None => 1,
            Self::Hash { parts, .. } | Self::RoundRobin { parts } => *parts,
            Self::Range { bounds, .. } => bounds.len() + 1,
        }
    }

    /// The columns that decide the part of a row.
    pub fn columns(&self) -> &[ColumnId] {
        match self {
            Self::None | Self::RoundRobin { .. } => &[],
            Self::Hash { columns, .. } => columns,
            Self::Range { column, .. } => std::slice::from_ref(column),
        }
    }

    /// Whether a table of these columns can be cut so: 22023 or 42703 when not.
    pub fn check(&self, schema: &[ColumnSchema]) -> SqlResult<()> {
        let wrong = |message: String| Err(SqlError::new(SqlState::INVALID_PARAMETER, message));
        if !(1..=PARTS_MAX).contains(&self.parts()) {
            return wrong(format!("a table has from 1 to {PARTS_MAX} parts, not {}", self.parts()));
        }
        for (place, column) in self.columns().iter().enumerate() {
            if column.index() >= schema.len() {
                let message = format!("there is no column number {}", column.index() + 1);
                return Err(SqlError::new(SqlState::UNDEFINED_COLUMN, message));
            }
            if self.columns()[..place].contains(column) {
                let name = &schema[column.index()].name;
                return wrong(format!("column \"{name}\" is twice in the partition key"));
            }
        }
        match self {
            Self::Hash { columns, .. } if columns.is_empty() => {
                wrong("a table is hashed by at least one column".into())
            }
            Self::Range { column, bounds } => RangeKeys::new(&schema[column.index()], bounds)
                .and_then(|it| it.check(&schema[column.index()])),
            _ => Ok(()),
        }
    }

    /// The part that rows with these values in [`Partitioning::columns`] are in; `None` when it could be several, or a
    /// value is not of its column's kind.
    pub fn part_of(&self, schema: &[ColumnSchema], values: &[&Value]) -> Option<usize> {
        match self {
            Self::None | Self::RoundRobin { .. } => None,
            Self::Hash { columns, parts } => {
                let mut hash = KeyHash::default();
                for (column, value) in columns.iter().zip(values) {
                    hash.add_value(schema[column.index()].data_type, value)?;
                }
                Some(hash.part(*parts))
            }
            Self::Range { column, bounds } => {
                let schema = &schema[column.index()];
                let keys = RangeKeys::new(schema, bounds).ok()?;
                match (&keys, values.first()?) {
                    (_, Value::Null) => Some(0),
                    (RangeKeys::Texts(bounds), Value::Text(text)) => {
                        Some(bounds.partition_point(|it| it.as_bytes() <= text.as_bytes()))
                    }
                    (RangeKeys::Numbers(bounds), value) => {
                        let key = least_key_from(schema.data_type, value)?;
                        Some(bounds.partition_point(|it| *it <= key))
                    }
                    _ => None,
                }
            }
        }
    }
}

/// Bounds as a column stores its values.
enum RangeKeys {
    Numbers(Vec<i128>),
    Texts(Vec<String>),
}

impl RangeKeys {
    fn new(schema: &ColumnSchema, bounds: &[Value]) -> SqlResult<Self> {
        let mismatch = |value: &Value| {
            let (name, data_type) = (&schema.name, schema.data_type);
            let message =
                format!("{value} does not bound a range of column \"{name}\" of type {data_type}");
            SqlError::new(SqlState::DATATYPE_MISMATCH, message)
        };
        if schema.data_type == DataType::Numeric {
            let key = |it: &Value| number_key(it).ok_or_else(|| mismatch(it));
            return Ok(Self::Texts(bounds.iter().map(key).collect::<SqlResult<_>>()?));
        }
        if schema.data_type.stored() != schema.data_type.plain() {
            let what = format!("PARTITION BY RANGE of a column of type {}", schema.data_type);
            return Err(SqlError::unsupported(format!("{what} is not supported")));
        }
        if schema.data_type.is_text() {
            let text = |value: &Value| match value {
                // Trailing blanks of CHAR(n) are not stored.
                Value::Text(it) if matches!(schema.data_type, DataType::Char(_)) => {
                    Ok(it.trim_end_matches(' ').to_owned())
                }
                Value::Text(it) => Ok(it.to_string()),
                other => Err(mismatch(other)),
            };
            return Ok(Self::Texts(bounds.iter().map(text).collect::<SqlResult<_>>()?));
        }
        let key = |it: &Value| least_key_from(schema.data_type, it).ok_or_else(|| mismatch(it));
        Ok(Self::Numbers(bounds.iter().map(key).collect::<SqlResult<_>>()?))
    }

    fn check(&self, schema: &ColumnSchema) -> SqlResult<()> {
        let ascending = match self {
            Self::Numbers(keys) => keys.is_sorted_by(|a, b| a < b),
            Self::Texts(keys) => keys.is_sorted_by(|a, b| a < b),
        };
        if ascending {
            return Ok(());
        }
        let message = format!("the bounds of the ranges of column \"{}\" must ascend", schema.name);
        Err(SqlError::new(SqlState::INVALID_PARAMETER, message))
    }
}

/// What a number is in a key of numbers of any scale.
fn number_key(value: &Value) -> Option<String> {
    match value {
        Value::Text(held) if number::is_held(held) => Some(number::key_of(held).to_owned()),
        Value::Integer(it) => Some(number::of_integer(i128::from(*it), 0)),
        Value::Decimal { unscaled, scale } => {
            let held = number::of_integer(*unscaled, (*scale).into());
            Some(number::key_of(&held).to_owned())
        }
        _ => None,
    }
}

/// The hash of a partition key, column by column.
#[derive(Clone, Copy, Default)]
struct KeyHash {
    state: u64,
    /// Whether some column was not NULL.
    has_value: bool,
}

impl KeyHash {
    fn add(&mut self, hash: u64) {
        self.state = hash_int(self.state.rotate_left(17) ^ hash);
        self.has_value = true;
    }

    fn add_null(&mut self) {
        self.state = hash_int(self.state.rotate_left(17));
    }

    fn part(self, parts: usize) -> usize {
        if self.has_value { ((u128::from(self.state) * parts as u128) >> 64) as usize } else { 0 }
    }

    /// Adds a value of a column of a type, or of another type that equals one of that type; `None` when no value of the
    /// column can equal it or that is not known.
    fn add_value(&mut self, data_type: DataType, value: &Value) -> Option<()> {
        match value {
            Value::Null => self.add_null(),
            Value::Text(text) if matches!(data_type, DataType::Char(_)) => {
                self.add(hash_bytes(text.trim_end_matches(' ').as_bytes()));
            }
            Value::Text(held) if data_type == DataType::Numeric => {
                self.add(hash_bytes(number::key_of(held).as_bytes()));
            }
            Value::Text(held) if data_type.range() == Some(Range::Num) => {
                self.add(hash_bytes(ranges::key_of(held).as_bytes()));
            }
            Value::Text(text) if data_type.stored().is_text() => {
                self.add(hash_bytes(text.as_bytes()))
            }
            _ if data_type.stored().is_text() => return None,
            value => self.add(hash_key(data_type, crate::key::key_equal_to(data_type, value)?)),
        }
        Some(())
    }
}

/// The hash of a stored number: equal for equal values of types that compare, whatever their width and scale.
fn hash_key(data_type: DataType, key: i128) -> u64 {
    match data_type.stored() {
        DataType::Decimal { scale, .. } => {
            let (mut unscaled, mut scale) = (key, scale);
            while scale > 0 && unscaled % 10 == 0 {
                (unscaled, scale) = (unscaled / 10, scale - 1);
            }
            hash_wide(unscaled, scale)
        }
        DataType::Date => {
            let infinite = i64::try_from(key).is_ok_and(datetime::is_infinite_day);
            let micros = match infinite {
                true if key < 0 => i128::from(datetime::INFINITE_MICROS.0),
                true => i128::from(datetime::INFINITE_MICROS.1),
                false => key * MICROS_PER_DAY,
            };
            hash_wide(micros, 0)
        }
        DataType::Real | DataType::Double => {
            let float = float_of_key(key as i64);
            let whole = float.fract() == 0.0 && float.abs() < 9e18;
            if whole { hash_wide(float as i128, 0) } else { hash_int(key_of_float(float) as u64) }
        }
        _ => hash_wide(key, 0),
    }
}

const MICROS_PER_DAY: i128 = datetime::DAY as i128;

fn hash_wide(value: i128, scale: u8) -> u64 {
    let low = hash_int(value as u64);
    let narrow = i64::try_from(value).is_ok();
    let hash = if narrow { low } else { hash_int(low ^ (value >> 64) as u64) };
    if scale == 0 { hash } else { hash_int(hash ^ u64::from(scale)) }
}

/// Deals the rows of a load into parts.
pub(crate) struct Router {
    kind: Kind,
    /// The columns it reads.
    columns: Vec<usize>,
    parts: usize,
}

enum Kind {
    Hash(Vec<DataType>),
    Range(RangeKeys),
    /// The turn of the first row.
    RoundRobin(usize),
}

impl Router {
    /// A router for rows behind `rows_before` others; `None` for a table in one piece.
    pub(crate) fn new(
        partitioning: &Partitioning,
        schema: &[ColumnSchema],
        rows_before: usize,
    ) -> SqlResult<Option<Self>> {
        partitioning.check(schema)?;
        let columns: Vec<usize> = partitioning.columns().iter().map(|it| it.index()).collect();
        let kind = match partitioning {
            Partitioning::None => return Ok(None),
            Partitioning::Hash { .. } => {
                Kind::Hash(columns.iter().map(|&it| schema[it].data_type).collect())
            }
            Partitioning::Range { column, bounds } => {
                Kind::Range(RangeKeys::new(&schema[column.index()], bounds)?)
            }
            Partitioning::RoundRobin { parts } => Kind::RoundRobin(rows_before % parts),
        };
        Ok(Some(Self { kind, columns, parts: partitioning.parts() }))
    }

    /// The columns that [`Router::assign`] wants, in order.
    pub(crate) fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// The rows of each part among `rows` rows, of which the first is number `first` of the load. `keys` are the pieces
    /// of the key columns over these rows.
    pub(crate) fn assign(&self, keys: &[Vec<Piece>], first: usize, rows: usize) -> Vec<Vec<u32>> {
        let mut lists: Vec<Vec<u32>> = (0..self.parts).map(|_| Vec::new()).collect();
        match &self.kind {
            Kind::RoundRobin(turn) => {
                let start = (turn + first) % self.parts;
                for row in 0..rows {
                    lists[(start + row) % self.parts].push(row as u32);
                }
            }
            Kind::Hash(types) => {
                let mut hashes = vec![KeyHash::default(); rows];
                for (pieces, &data_type) in keys.iter().zip(types) {
                    let mut rows = hashes.as_mut_slice();
                    for piece in pieces {
                        let (here, rest) = rows.split_at_mut(piece.rows);
                        hash_piece(piece, data_type, here);
                        rows = rest;
                    }
                }
                for (row, hash) in hashes.iter().enumerate() {
                    lists[hash.part(self.parts)].push(row as u32);
                }
            }
            Kind::Range(bounds) => {
                let mut row = 0;
                for piece in keys.iter().flatten() {
                    for at in 0..piece.rows {
                        lists[bounds.part(piece, at)].push(row);
                        row += 1;
                    }
                }
            }
        }
        lists
    }
}

impl RangeKeys {
    /// The part of a row of a piece.
    fn part(&self, piece: &Piece, row: usize) -> usize {
        if piece.is_null(row) {
            return 0;
        }
        match self {
            Self::Numbers(bounds) => {
                let key = match &piece.values {
                    PieceValues::Wide(values) => values[row],
                    _ => i128::from(piece.as_ints()[row]),
                };
                bounds.partition_point(|it| *it <= key)
            }
            Self::Texts(bounds) => {
                let text = piece.text(row);
                bounds.partition_point(|it| it.as_bytes() <= text)
            }
        }
    }
}

/// Hashes of keys of some columns, the same for equal keys; `None` where one of the columns is NULL.
pub(crate) fn hashes_of_keys(
    keys: &[(Piece, DataType)],
    rows: usize,
    nulls_equal: bool,
) -> Vec<Option<u64>> {
    let mut hashes = vec![KeyHash::default(); rows];
    keys.iter().for_each(|(piece, data_type)| hash_piece(piece, *data_type, &mut hashes));
    let hash = |(row, hash): (usize, &KeyHash)| {
        let is_filled = nulls_equal || keys.iter().all(|it| !it.0.is_null(row));
        is_filled.then_some(hash.state)
    };
    hashes.iter().enumerate().map(hash).collect()
}

fn hash_piece(piece: &Piece, data_type: DataType, hashes: &mut [KeyHash]) {
    let hash_of: &dyn Fn(usize) -> u64 = match &piece.values {
        PieceValues::Int { values, .. } => &|row| hash_key(data_type, i128::from(values[row])),
        PieceValues::Wide(values) => &|row| hash_key(data_type, values[row]),
        // Zeros at the end of a number do not count.
        PieceValues::Text(_) | PieceValues::Coded { .. } if data_type == DataType::Numeric => {
            &|row| hash_bytes(&piece.text(row)[..number::key_end(piece.text(row))])
        }
        PieceValues::Text(_) | PieceValues::Coded { .. }
            if data_type.range() == Some(Range::Num) =>
        {
            &|row| {
                let held = String::from_utf8_lossy(piece.text(row));
                hash_bytes(ranges::key_of(&held).as_bytes())
            }
        }
        PieceValues::Text(_) | PieceValues::Coded { .. } => &|row| hash_bytes(piece.text(row)),
    };
    for (row, hash) in hashes.iter_mut().enumerate() {
        if piece.is_null(row) {
            hash.add_null();
        } else {
            hash.add(hash_of(row));
        }
    }
}
