//! The values that a column has in the deltas of a table: who has seen all rows of a main that share a value has seen all there
//! are, unless it is one of these.

use stdx::sync::{Arc, OnceLock};
use storage::Table;
use types::{ColumnId, Value};

use super::decode::{self, Rows};
use crate::Values;

/// The span of values beyond which they are not told: a bit for each takes 16 MiB then.
const SPAN_MAX: i128 = 1 << 27;

/// The values of each column of a scan in the deltas of its table, looked up once somebody asks.
pub(super) struct Later {
    table: Arc<Table>,
    columns: Vec<(ColumnId, OnceLock<Option<LaterKeys>>)>,
}

impl Later {
    pub(super) fn new(table: &Arc<Table>, columns: &[ColumnId]) -> Self {
        let columns = columns.iter().map(|it| (*it, OnceLock::new())).collect();
        Self { table: table.clone(), columns }
    }

    /// The values of a column by its place in the scan.
    pub(super) fn keys(&self, place: usize) -> Option<&LaterKeys> {
        let (id, keys) = &self.columns[place];
        keys.get_or_init(|| LaterKeys::of(&self.table, *id)).as_ref()
    }
}

/// Values of deltas, a bit for each from the least on.
pub(crate) struct LaterKeys {
    least: i64,
    bits: Vec<u64>,
}

impl LaterKeys {
    /// The integers of a column in all deltas of a table, rows that have gone among them; `None` if there are other values,
    /// or if they are too far apart.
    pub(super) fn of(table: &Table, column: ColumnId) -> Option<Self> {
        let deltas = || {
            let parts = &table.parts()[table.partitioning().parts()..];
            parts.iter().filter(|it| it.rows() > 0).map(|it| &it.columns[column.index()])
        };
        let end = |it: &Option<Value>| it.as_ref().and_then(Value::as_i128);
        let ends = deltas().map(|it| end(&it.statistics.min).zip(end(&it.statistics.max)));
        let (mut least, mut greatest) = (i128::MAX, i128::MIN);
        for ends in ends {
            let (low, high) = ends?;
            (least, greatest) = (least.min(low), greatest.max(high));
        }
        if greatest < least {
            return Some(Self { least: 0, bits: Vec::new() });
        }
        if greatest - least >= SPAN_MAX {
            return None;
        }
        let mut found = Self {
            least: i64::try_from(least).ok()?,
            bits: vec![0; (greatest - least) as usize / 64 + 1],
        };
        for column in deltas() {
            let rows: Vec<u32> = (0..column.rows() as u32).collect();
            let vector = decode::pick(column, None, 0, column.rows(), &Rows::Places(&rows));
            let Values::I64(values) = &vector.values else { return None };
            for (_, value) in values.iter().enumerate().filter(|it| vector.is_valid(it.0)) {
                let bit = value.wrapping_sub(found.least) as u64 as usize;
                found.bits[bit / 64] |= 1 << (bit % 64);
            }
        }
        Some(found)
    }

    /// Whether a delta has a value.
    #[inline]
    pub(crate) fn contains(&self, value: i64) -> bool {
        let bit = value.wrapping_sub(self.least) as u64 as usize;
        self.bits.get(bit / 64).is_some_and(|it| it >> (bit % 64) & 1 == 1)
    }
}
