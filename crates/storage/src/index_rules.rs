//! A table with its keys and indexes: keys are checked, and indexes are built.
//!
//! A table is built anew by every change, and its rules are applied to the new one before anybody sees it: a broken key
//! leaves the old table as it was.

use stdx::sync::Arc;
use types::{
    ColumnId, DataType, Deferral, Range, SqlError, SqlResult, SqlState, Value, Zone, json, names,
    numeric, ranges,
};

use crate::build::hash::{hash_bytes, hash_int};
use crate::index::keys::Keys;
use crate::index::sort::{Order, sort};
use crate::parallel::map;
use crate::rules::{IndexKind, Key, Rules, TableIndex};
use crate::tail::is_looked_through;
use crate::word::key_of_float;
use crate::{BLOCK_ROWS, BuildContext, Column, Dictionary, Encoding, InvertedIndex, Part, Table};

/// What a key ends with that another row has than the one that is told.
type Twice = fn(&Table, &TableIndex, &Part, usize) -> SqlError;

impl Table {
    /// The table with these keys and indexes: indexes that are missing are built, others are dropped, keys are checked.
    pub fn with_rules(self, rules: Arc<Rules>, context: &BuildContext<'_>) -> SqlResult<Self> {
        self.ruled_by(rules, context, Self::exists_twice)
    }

    fn ruled_by(
        mut self,
        rules: Arc<Rules>,
        context: &BuildContext<'_>,
        twice: Twice,
    ) -> SqlResult<Self> {
        // Each part has an index over its own rows.
        let mains = self.partitioning().parts();
        let columns = self.parts.iter_mut().enumerate().flat_map(|(number, part)| {
            let is_indexed = !is_looked_through(part, number, mains);
            let columns = Arc::make_mut(&mut part.columns).iter_mut().enumerate();
            columns.map(move |(place, column)| (is_indexed, place, column))
        });
        for (is_indexed, place, column) in columns {
            let wanted = is_indexed && rules.has_index(place);
            if wanted == column.index.is_some() {
                continue;
            }
            let index = match wanted {
                true => InvertedIndex::build(column, context)?.map(Arc::new),
                false => None,
            };
            *column = Arc::new(Column { index, ..Column::clone(column) });
        }
        if !self.is_in_pieces() {
            self.columns.clone_from(&*self.parts[0].columns);
        }
        self.rules = rules.clone();
        for rule in rules.indexes.iter().filter(|it| it.kind.is_unique()) {
            self.check_key(rule, context, twice)?;
        }
        Ok(self)
    }

    /// This table with other keys and indexes, under the same id: its columns are shared, and only indexes are built.
    pub fn ruled(&self, rules: Arc<Rules>, context: &BuildContext<'_>) -> SqlResult<Self> {
        let table = self.with_parts(self.parts.clone(), self.design.clone());
        table.ruled_by(rules, context, Self::is_duplicated)
    }

    fn check_key(
        &self,
        rule: &TableIndex,
        context: &BuildContext<'_>,
        twice: Twice,
    ) -> SqlResult<()> {
        self.check_filled(rule, self.parts())?;
        if let Some(column) =
            (rule.columns.iter().map(|it| self.column(*it))).find(|it| has_interval(it.data_type))
        {
            let (of, name) = (column.data_type, &column.name);
            let what = format!("a key of the {of} column \"{name}\" is not supported");
            let hint = "intervals that are written otherwise may be equal";
            return Err(SqlError::unsupported(what).with_hint(hint));
        }
        let columns: Vec<&Column> = rule.columns.iter().map(|it| &**self.column(*it)).collect();
        let found = match columns[..] {
            [column]
                if column.index.is_some()
                    && !self.has_changed()
                    && !rule.nulls_equal
                    && !has_other_forms(column) =>
            {
                let found = column.index.as_ref().and_then(|it| it.duplicate(column));
                found.map(|it| (0, it.0 as usize))
            }
            _ => self.duplicate(rule.key(), context)?,
        };
        match found {
            Some((part, row)) if !context.puts_off(rule) => {
                Err(twice(self, rule, &self.parts[part], row))
            }
            _ => Ok(()),
        }
    }

    /// Refuses rows that break a key which might have been broken for a while, of those that are asked for.
    pub fn check_deferrable(
        &self,
        is_asked: impl Fn(&TableIndex) -> bool,
        context: &BuildContext<'_>,
    ) -> SqlResult<()> {
        let deferrable = self.rules.indexes.iter().filter(|it| it.deferral != Deferral::None);
        // Facts were kept while the key was broken, so all rows are looked at.
        deferrable.filter(|it| is_asked(it)).try_for_each(|rule| {
            match self.find_duplicate(rule.key(), context)? {
                Some((part, row)) => Err(self.exists_twice(rule, &self.parts[part], row)),
                None => Ok(()),
            }
        })
    }

    /// Refuses NULL in the columns of a primary key.
    pub(crate) fn check_filled(&self, rule: &TableIndex, parts: &[Part]) -> SqlResult<()> {
        if rule.kind != IndexKind::PrimaryKey {
            return Ok(());
        }
        let has_null = |it: &&ColumnId| parts.iter().any(|part| part.has_null(it.index()));
        match rule.columns.iter().find(has_null) {
            Some(column) => Err(self.not_filled(*column)),
            None => Ok(()),
        }
    }

    /// What NULL in a column of a primary key ends with.
    pub(crate) fn not_filled(&self, column: ColumnId) -> SqlError {
        let column = self.column(column).name.clone();
        let of = names::bare(&self.name);
        let message = format!("column \"{column}\" of relation \"{of}\" contains null values");
        SqlError::new(SqlState::NOT_NULL_VIOLATION, message).about(|it| {
            it.table = Some(self.name.clone());
            it.column = Some(column);
        })
    }

    /// What a row whose key another row has ends with.
    pub(crate) fn exists_twice(&self, rule: &TableIndex, part: &Part, row: usize) -> SqlError {
        self.is_twice(rule, rule.columns.iter().map(|it| part.columns[it.index()].value(row)))
    }

    /// What a key that two rows would have ends with.
    pub(crate) fn is_twice(
        &self,
        rule: &TableIndex,
        values: impl Iterator<Item = Value>,
    ) -> SqlError {
        let message = format!("duplicate key value violates unique constraint \"{}\"", rule.name);
        SqlError::new(SqlState::UNIQUE_VIOLATION, message)
            .of_constraint(&self.name, &rule.name)
            .with_detail(format!("{} already exists.", self.key_text(rule, values)))
    }

    /// What a new key ends with that two rows have.
    fn is_duplicated(&self, rule: &TableIndex, part: &Part, row: usize) -> SqlError {
        let values = rule.columns.iter().map(|it| part.columns[it.index()].value(row));
        let message = format!("could not create unique index \"{}\"", rule.name);
        SqlError::new(SqlState::UNIQUE_VIOLATION, message)
            .of_constraint(&self.name, &rule.name)
            .with_detail(format!("{} is duplicated.", self.key_text(rule, values)))
    }

    fn key_text(&self, rule: &TableIndex, values: impl Iterator<Item = Value>) -> String {
        let name = |it: &ColumnId| names::shown(&self.column(*it).name);
        let names: Vec<&str> = rule.columns.iter().map(name).collect();
        let values = values.zip(&rule.columns);
        let values = values.map(|(value, it)| shown(&value, self.column(*it).data_type));
        let values: Vec<String> = values.collect();
        format!("Key ({})=({})", names.join(", "), values.join(", "))
    }
}

/// A value as Postgres prints keys.
fn shown(value: &Value, data_type: DataType) -> String {
    if value.is_null() {
        return "null".to_owned();
    }
    let mut out = String::new();
    numeric::format::shown(value, data_type, &Zone::utc(), &mut out);
    out
}

/// A row with a NULL in its key: it is like no other.
pub(crate) const NO_KEY: u64 = u64::MAX;

impl Table {
    /// A part and a row of it whose key another row has too: found by sorting hashes, decided by the values.
    fn duplicate(
        &self,
        key: Key<'_>,
        context: &BuildContext<'_>,
    ) -> SqlResult<Option<(usize, usize)>> {
        // A key over a column that is a key by itself needs no look.
        match key.columns.iter().any(|it| self.is_key(*it)) {
            true => Ok(None),
            false => self.find_duplicate(key, context),
        }
    }

    /// The same, whatever the facts say.
    pub(crate) fn find_duplicate(
        &self,
        Key { columns, nulls_equal }: Key<'_>,
        context: &BuildContext<'_>,
    ) -> SqlResult<Option<(usize, usize)>> {
        let (mut hashes, mut firsts) = (Vec::new(), Vec::new());
        for part in self.parts() {
            let columns: Vec<&Column> =
                columns.iter().map(|it| &*part.columns[it.index()]).collect();
            firsts.push(hashes.len());
            hashes.extend(key_hashes((&columns, nulls_equal), part.rows(), context)?);
            if let Some(gone) = part.deletions() {
                let own = &mut hashes[firsts[firsts.len() - 1]..];
                let gone = own.iter_mut().enumerate().filter(|it| gone.contains(it.0));
                gone.for_each(|it| *it.1 = NO_KEY);
            }
        }
        let keys = Keys::Hashes(&hashes);
        let order = Order::of(&keys, context)?;
        let sorted = sort(&keys, &order, context)?;
        let place = |row: u32| {
            let part = firsts.partition_point(|it| *it <= row as usize) - 1;
            (part, row as usize - firsts[part])
        };
        let value = |column: &ColumnId, row: u32| {
            let (part, row) = place(row);
            key_value(&self.parts[part].columns[column.index()], row)
        };
        let same = |a: u32, b: u32| columns.iter().all(|it| value(it, a) == value(it, b));
        // Rows of one hash stand together; there are hardly ever several that are not alike.
        for (slot, &row) in sorted.positions.iter().enumerate() {
            let hash = hashes[row as usize];
            let others = sorted.positions[slot + 1..].iter();
            for &other in others.take_while(|it| hashes[**it as usize] == hash) {
                if same(row, other) {
                    return Ok(Some(place(row)));
                }
            }
        }
        Ok(None)
    }
}

/// A hash of the key of each row of a part; [`NO_KEY`] where a column is NULL, unless NULL is like NULL.
pub(crate) fn key_hashes(
    (columns, nulls_equal): (&[&Column], bool),
    rows: usize,
    context: &BuildContext<'_>,
) -> SqlResult<Vec<u64>> {
    let blocks = rows.div_ceil(BLOCK_ROWS);
    let hashes = map(context.parallel, blocks, |block| {
        let rows = block * BLOCK_ROWS..((block + 1) * BLOCK_ROWS).min(rows);
        let mut hashes = vec![0; rows.len()];
        for column in columns {
            for (row, hash) in rows.clone().zip(&mut hashes) {
                *hash = with_hash(*hash, column, row, nulls_equal);
            }
        }
        hashes
    })?;
    Ok(hashes.concat())
}

/// As [`key_hashes`], of one row.
pub(crate) fn row_hash((columns, nulls_equal): (&[&Column], bool), row: usize) -> u64 {
    columns.iter().fold(0, |hash, column| with_hash(hash, column, row, nulls_equal))
}

fn with_hash(hash: u64, column: &Column, row: usize, nulls_equal: bool) -> u64 {
    let null = (nulls_equal && column.is_null(row)).then_some(0);
    with_own(hash, null.or_else(|| value_hash(column, row)))
}

/// The hash of a key with that of one value more, if it has one.
pub(crate) fn with_own(hash: u64, own: Option<u64>) -> u64 {
    match own {
        Some(own) if hash != NO_KEY => hash_int(hash.rotate_left(17) ^ own).min(NO_KEY - 1),
        _ => NO_KEY,
    }
}

/// A hash of a value that does not depend on how its column holds it; `None` for NULL.
fn value_hash(column: &Column, row: usize) -> Option<u64> {
    if column.is_null(row) {
        return None;
    }
    if has_other_forms(column) {
        return Some(match key_value(column, row) {
            Value::Text(it) => hash_bytes(it.as_bytes()),
            _ => 0,
        });
    }
    let code = column.iv().get(row);
    Some(match &column.encoding {
        Encoding::Offset { min } => hash_int(min.wrapping_add(code as i64) as u64),
        Encoding::Raw => hash_int(crate::int_of_word(code) as u64),
        Encoding::Plain(strings) => hash_bytes(&strings.find(row)?.0.bytes_at(row)),
        Encoding::Parts => return None,
        Encoding::Dictionary(dictionary) => match dictionary {
            Dictionary::Text(_) => hash_bytes(dictionary.as_bytes(code as u32)),
            Dictionary::Int(_) => hash_int(dictionary.ints()[code as usize] as u64),
            Dictionary::Float(_) => {
                hash_int(key_of_float(dictionary.floats()[code as usize]) as u64)
            }
            Dictionary::Wide(_) => hash_wide(dictionary.wides()[code as usize]),
        },
    })
}

/// The hash of an integer that may not fit 64 bits.
pub(crate) fn hash_wide(value: i128) -> u64 {
    match i64::try_from(value) {
        Ok(narrow) => hash_int(narrow as u64),
        Err(_) => hash_int(value as u64) ^ hash_int((value >> 64) as u64),
    }
}

/// Whether values of a column may be equal and be held otherwise: numbers of any scale, also those in JSONB, of which zeros at
/// the end do not count.
pub(crate) fn has_other_forms(column: &Column) -> bool {
    matches!(column.data_type, DataType::Numeric | DataType::Jsonb)
        || column.data_type.range() == Some(Range::Num)
}

/// What a value of a column is in a key.
pub(crate) fn key_value(column: &Column, row: usize) -> Value {
    key_form(column.value(row), column.data_type)
}

/// What a value of a type is in a key.
pub(crate) fn key_form(value: Value, data_type: DataType) -> Value {
    match value {
        Value::Text(held) if data_type == DataType::Numeric => {
            Value::Text(numeric::number::key_of(&held).into())
        }
        Value::Text(held) if data_type.range() == Some(Range::Num) => {
            Value::Text(ranges::key_of(&held).into())
        }
        // What is no JSONB is equal to itself alone.
        Value::Text(held) if data_type == DataType::Jsonb => {
            json::order_key(&held).map_or(Value::Text(held), |it| Value::Text(it.into()))
        }
        // Zeros are one, and so is what is no number.
        Value::Float(0.0) => Value::Float(0.0),
        Value::Float(it) if it.is_nan() => Value::Float(f64::NAN),
        value => value,
    }
}

/// Whether a type is INTERVAL, or has such parts.
fn has_interval(of: DataType) -> bool {
    match of {
        DataType::Interval => true,
        DataType::Array(it) => has_interval(it.data_type()),
        DataType::Struct(it) | DataType::Map(it) => {
            it.fields().iter().any(|it| has_interval(it.data_type))
        }
        _ => false,
    }
}
