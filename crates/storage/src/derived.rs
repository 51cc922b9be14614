//! Columns of texts that a statement makes of those of a dictionary: codes in the order of the texts, and no rows.

use types::{ColumnStatistics, DataType, SqlError, SqlResult, Value};

use crate::build::text::store_texts_in;
use crate::place::out_of_memory;
use crate::{Column, Dictionary, Encoding, IndexVector, Zones};

impl Column {
    /// A column without rows whose codes are the places of `texts`, which ascend. They lie in memory like that of the texts of
    /// this column, which has a dictionary of them.
    pub fn derived(&self, data_type: DataType, texts: &[&[u8]]) -> SqlResult<Self> {
        let Encoding::Dictionary(Dictionary::Text(own)) = &self.encoding else {
            return Err(SqlError::internal("a column without texts has no others made of them"));
        };
        let near = own.bytes_segment();
        let segment = |bytes: usize| near.of_statement(bytes).map_err(out_of_memory);
        let heap = store_texts_in(texts, segment)?;
        let value = |text: &&[u8]| Value::Text(String::from_utf8_lossy(text).as_ref().into());
        let statistics = ColumnStatistics {
            nulls: 0,
            distinct: texts.len() as u64,
            distinct_exact: true,
            min: texts.first().map(value),
            max: texts.last().map(value),
            sorted: false,
            widened: false,
        };
        Ok(Self {
            name: self.name.clone(),
            data_type,
            nullable: true,
            encoding: Encoding::Dictionary(Dictionary::Text(heap)),
            zones: Zones::store(segment(0)?, &[]),
            statistics,
            rows: 0,
            iv: IndexVector::new(segment(bitpack::packed_bytes(0, 0))?, 0, 0),
            code_count: texts.len(),
            null_rows: None,
            index: None,
            key_rows: None,
        })
    }
}
