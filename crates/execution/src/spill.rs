//! What a statement writes to temporary files, and reads back: vectors as bytes, and batches that are in memory or in a file
//! (docs/design/02-memory-and-placement.md, "Spilling").
//!
//! - Invariant: what is read back equals what was written; a file is read by the process that wrote it, so that bytes are
//!   in the order of the processor and codes mean what they meant.

use hardware::FileError;
use memory::{Placed, Scratch, SpillFile, Workspace};
use stdx::sync::{Arc, Mutex};
use types::{SqlError, SqlResult, SqlState};

use crate::{Batch, Bitmap, TextVector, Values, Vector};

/// Where vectors lie in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Extent {
    place: u64,
    bytes: u64,
    /// Rows of each vector.
    pub(crate) rows: u32,
}

impl Extent {
    /// How many bytes it has.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// A refusal of a file as a statement's error: 53100 when there is no space.
pub(crate) fn file_error(error: &FileError) -> SqlError {
    match error {
        FileError::Full { .. } => SqlError::new(SqlState::DISK_FULL, error.to_string())
            .with_hint("free some space, or SET temp_directory to a folder that has more"),
        FileError::Failed { .. } => SqlError::new(SqlState::IO_ERROR, error.to_string()),
    }
}

/// A file that all workers on something share, made when the first of them needs it. Clones are the same file.
#[derive(Clone, Default)]
pub(crate) struct SharedFile {
    file: Arc<Mutex<Option<Arc<SpillFile>>>>,
    /// What its bytes count to when that is not what its pipeline ends in.
    kind: Option<&'static str>,
}

impl SharedFile {
    /// A file of an operator that is not the end of its pipeline; `kind` is the word for it in plans.
    pub(crate) fn of(kind: &'static str) -> Self {
        Self { kind: Some(kind), ..Self::default() }
    }

    /// The file.
    pub(crate) fn get(&self, workspace: &Workspace) -> SqlResult<Arc<SpillFile>> {
        let mut file = self.file.lock();
        if let Some(file) = &*file {
            return Ok(file.clone());
        }
        let made = match (self.kind, workspace.operator()) {
            (Some(kind), Some(end)) => workspace.of_operator(end.pipeline(), kind).spill_file(),
            _ => workspace.spill_file(),
        };
        let made =
            made.ok_or_else(|| SqlError::internal("there is no machine to write files on"))?;
        let made = made.map(Arc::new).map_err(|error| file_error(&error))?;
        Ok(file.insert(made).clone())
    }
}

/// Collects vectors as bytes, to be written in one go.
#[derive(Default)]
pub(crate) struct Writer {
    bytes: Vec<u8>,
    extents: Vec<Extent>,
}

impl Writer {
    /// Adds the columns of some rows.
    pub(crate) fn add(&mut self, rows: usize, columns: &[Arc<Vector>]) {
        let place = self.bytes.len();
        columns.iter().for_each(|it| encode(it, &mut self.bytes));
        let bytes = (self.bytes.len() - place) as u64;
        self.extents.push(Extent { place: place as u64, bytes, rows: rows as u32 });
    }

    /// Copies all that was added to memory of a place; tells where in it each piece is.
    pub(crate) fn place(&mut self, scratch: &Scratch) -> SqlResult<(Placed<u8>, Vec<Extent>)> {
        let mut bytes = scratch.with_capacity(self.bytes.len())?;
        bytes.extend_from_slice(&self.bytes);
        self.bytes.clear();
        Ok((bytes, std::mem::take(&mut self.extents)))
    }

    /// Bytes that it holds.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Writes all that was added; tells where each piece is.
    pub(crate) fn write(&mut self, file: &SpillFile) -> SqlResult<Vec<Extent>> {
        let base = file.append(&self.bytes).map_err(|error| file_error(&error))?;
        self.bytes.clear();
        let placed = |it: Extent| Extent { place: base + it.place, ..it };
        Ok(self.extents.drain(..).map(placed).collect())
    }
}

/// Reads the columns of an extent back.
pub(crate) fn read(file: &SpillFile, extent: Extent) -> SqlResult<Vec<Arc<Vector>>> {
    let mut bytes = vec![0; extent.bytes as usize];
    file.read(extent.place, &mut bytes).map_err(|error| file_error(&error))?;
    decode(&bytes, extent.rows)
}

/// The columns of an extent of a block of memory.
pub(crate) fn read_placed(block: &[u8], extent: Extent) -> SqlResult<Vec<Arc<Vector>>> {
    decode(&block[extent.place as usize..(extent.place + extent.bytes) as usize], extent.rows)
}

/// The columns of so many rows.
fn decode(bytes: &[u8], rows: u32) -> SqlResult<Vec<Arc<Vector>>> {
    let mut reader = Reader(bytes);
    let mut columns = Vec::new();
    while !reader.0.is_empty() {
        let column = reader.vector(rows as usize);
        columns.push(Arc::new(
            column.ok_or_else(|| SqlError::internal("a spilled batch is damaged"))?,
        ));
    }
    Ok(columns)
}

/// The kinds of values, by the byte that stands before them.
const CODES: u8 = 0;
const I64: u8 = 1;
const I128: u8 = 2;
const F64: u8 = 3;
const BOOL: u8 = 4;
const TEXT: u8 = 5;
/// Added to the kind of a vector with a validity map.
const WITH_VALIDITY: u8 = 8;

fn encode(vector: &Vector, out: &mut Vec<u8>) {
    macro_rules! numbers {
        ($kind:ident, $values:expr) => {{
            out.push($kind | if vector.validity.is_some() { WITH_VALIDITY } else { 0 });
            $values.iter().for_each(|it| out.extend_from_slice(&it.to_ne_bytes()));
        }};
    }
    match &vector.values {
        Values::Codes(it) => numbers!(CODES, it),
        Values::I64(it) => numbers!(I64, it),
        Values::I128(it) => numbers!(I128, it),
        Values::F64(it) => numbers!(F64, it),
        Values::Bool(it) => numbers!(BOOL, it.iter().map(|&it| u8::from(it)).collect::<Vec<_>>()),
        Values::Text(it) => {
            numbers!(TEXT, it.ends);
            out.extend_from_slice(&it.bytes);
        }
    }
    if let Some(map) = &vector.validity {
        let words = &map.0[..vector.values.len().div_ceil(64)];
        words.iter().for_each(|it| out.extend_from_slice(&it.to_ne_bytes()));
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take(&mut self, bytes: usize) -> Option<&[u8]> {
        let (taken, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(taken)
    }

    fn vector(&mut self, rows: usize) -> Option<Vector> {
        macro_rules! numbers {
            ($kind:ty) => {{
                let bytes = self.take(rows * size_of::<$kind>())?;
                let (numbers, _) = bytes.as_chunks::<{ size_of::<$kind>() }>();
                numbers.iter().map(|it| <$kind>::from_ne_bytes(*it)).collect::<Vec<$kind>>()
            }};
        }
        let kind = self.take(1)?[0];
        let values = match kind & !WITH_VALIDITY {
            CODES => Values::Codes(numbers!(u32)),
            I64 => Values::I64(numbers!(i64)),
            I128 => Values::I128(numbers!(i128)),
            F64 => Values::F64(numbers!(f64)),
            BOOL => Values::Bool(self.take(rows)?.iter().map(|&it| it != 0).collect()),
            TEXT => {
                let ends = numbers!(u32);
                let bytes = self.take(ends.last().map_or(0, |&it| it as usize))?.to_vec();
                Values::Text(TextVector { ends, bytes })
            }
            _ => return None,
        };
        let validity = if kind & WITH_VALIDITY == 0 {
            None
        } else {
            let bytes = self.take(rows.div_ceil(64) * 8)?;
            Some(Bitmap(bytes.as_chunks().0.iter().map(|it| u64::from_ne_bytes(*it)).collect()))
        };
        Some(Vector { values, validity })
    }
}

/// A batch that is kept for later, in memory or in a file.
#[derive(Clone)]
pub enum Kept {
    /// In memory.
    Here(Batch),
    /// In a file.
    Spilled(SpilledBatch),
}

/// A batch in a file.
#[derive(Clone)]
pub struct SpilledBatch {
    file: Arc<SpillFile>,
    extent: Extent,
    sequence: u64,
}

impl Kept {
    /// How many rows it has.
    pub fn rows(&self) -> usize {
        match self {
            Self::Here(batch) => batch.rows,
            Self::Spilled(it) => it.extent.rows as usize,
        }
    }

    /// Where its first row stood in the source.
    pub(crate) fn sequence(&self) -> u64 {
        match self {
            Self::Here(batch) => batch.sequence,
            Self::Spilled(it) => it.sequence,
        }
    }

    /// Gives it another place in the order of batches.
    pub(crate) fn set_sequence(&mut self, sequence: u64) {
        match self {
            Self::Here(batch) => batch.sequence = sequence,
            Self::Spilled(it) => it.sequence = sequence,
        }
    }

    /// The batch; read, if it is in a file.
    pub fn batch(&self) -> SqlResult<Batch> {
        match self {
            Self::Here(batch) => Ok(batch.clone()),
            Self::Spilled(SpilledBatch { file, extent, sequence }) => {
                let (rows, columns) = (extent.rows as usize, read(file, *extent)?);
                Ok(Batch { rows, columns, sequence: *sequence })
            }
        }
    }
}

/// Batches of a worker that are kept: in memory as long as the statement may, then in a file.
#[derive(Default)]
pub(crate) struct Keeper {
    kept: Vec<Kept>,
    /// Those before it are in the file, as far as they are worth it.
    spilled: usize,
    file: SharedFile,
    writer: Writer,
}

impl Keeper {
    /// Nothing kept yet; what there is no memory for goes to a file.
    pub(crate) fn new(file: SharedFile) -> Self {
        Self { file, ..Self::default() }
    }

    /// Keeps a batch; when the statement is over its memory, all that are in memory go to the file.
    pub(crate) fn keep(&mut self, batch: Batch, workspace: &Workspace) -> SqlResult<()> {
        // Rows of no columns need no memory.
        let is_empty = batch.columns.is_empty();
        self.kept.push(Kept::Here(batch));
        if is_empty || !workspace.account().is_over() {
            return Ok(());
        }
        let file = self.file.get(workspace)?;
        for kept in &mut self.kept[self.spilled..] {
            let Kept::Here(batch) = &*kept else { continue };
            self.writer.add(batch.rows, &batch.columns);
            let [extent] = self.writer.write(&file)?[..] else { continue };
            let sequence = batch.sequence;
            *kept = Kept::Spilled(SpilledBatch { file: file.clone(), extent, sequence });
        }
        self.spilled = self.kept.len();
        Ok(())
    }

    /// All of them.
    pub(crate) fn finish(self) -> Vec<Kept> {
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values(rows: usize) -> impl Strategy<Value = Values> {
        prop_oneof![
            proptest::collection::vec(any::<u32>(), rows).prop_map(Values::Codes),
            proptest::collection::vec(any::<i64>(), rows).prop_map(Values::I64),
            proptest::collection::vec(any::<i128>(), rows).prop_map(Values::I128),
            proptest::collection::vec(-1e300..1e300, rows).prop_map(Values::F64),
            proptest::collection::vec(any::<bool>(), rows).prop_map(Values::Bool),
            proptest::collection::vec(any::<String>(), rows).prop_map(|texts| {
                let mut vector = TextVector::default();
                texts.iter().for_each(|it| vector.push(it));
                Values::Text(vector)
            }),
        ]
    }

    fn vector(rows: usize) -> impl Strategy<Value = Vector> {
        let map = proptest::option::of(proptest::collection::vec(any::<bool>(), rows));
        (values(rows), map).prop_map(|(values, map)| {
            let validity = map.map(|it| Bitmap::from_bits(it.into_iter()));
            Vector { values, validity }
        })
    }

    proptest! {
        #[test]
        fn vectors_come_back_as_they_were(
            columns in (0..150usize).prop_flat_map(|rows| proptest::collection::vec(vector(rows), 0..5))
        ) {
            let mut bytes = Vec::new();
            columns.iter().for_each(|it| encode(it, &mut bytes));
            let mut reader = Reader(&bytes);
            for column in &columns {
                let found = reader.vector(column.values.len());
                prop_assert_eq!(found.as_ref(), Some(column));
            }
            prop_assert!(reader.0.is_empty());
            // What is cut short is told, not read past its end.
            for cut in 0..bytes.len() {
                let mut reader = Reader(&bytes[..cut]);
                let whole = columns.iter().all(|it| reader.vector(it.values.len()).is_some());
                prop_assert!(!whole);
            }
        }
    }
}
