//! How rows are written as Parquet.

use parquet::basic::{BrotliLevel, Compression, GzipLevel, ZstdLevel};
use types::{SqlError, SqlResult, SqlState};

/// Rows of a row group, at least: enough for good dictionaries, few enough to load one file with many workers.
const ROW_GROUP_ROWS: usize = 128 << 10;

/// How rows are written as Parquet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParquetStyle {
    pub(super) compression: Compression,
    /// Rows of a row group, about.
    pub(super) group_rows: usize,
}

impl Default for ParquetStyle {
    fn default() -> Self {
        Self { compression: Compression::SNAPPY, group_rows: ROW_GROUP_ROWS }
    }
}

impl ParquetStyle {
    /// What the options say.
    pub(super) fn of(options: &[(String, String)]) -> SqlResult<Self> {
        let mut style = Self::default();
        let (mut codec, mut level) = (None, None);
        for (name, value) in options {
            let number = |name: &str| {
                let number = value.parse::<u32>().ok().filter(|it| *it > 0);
                number.ok_or_else(|| invalid(format!("option \"{name}\" takes a number above 0")))
            };
            match name.as_str() {
                "format" | "freeze" => {}
                "compression" | "codec" => codec = Some(value.to_lowercase()),
                "compression_level" => level = Some(number("compression_level")?),
                "row_group_size" | "chunk_size" => style.group_rows = number(name)? as usize,
                _ => {
                    let message = format!("cannot specify {} in Parquet", name.to_uppercase());
                    return Err(SqlError::unsupported(message)
                        .with_hint("it has COMPRESSION, COMPRESSION_LEVEL and ROW_GROUP_SIZE"));
                }
            }
        }
        if codec.is_some() || level.is_some() {
            style.compression = compression(codec.as_deref().unwrap_or("snappy"), level)?;
        }
        Ok(style)
    }
}

fn invalid(message: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::INVALID_PARAMETER, message)
}

fn compression(name: &str, level: Option<u32>) -> SqlResult<Compression> {
    let wrong_level = |error: parquet::errors::ParquetError| invalid(error.to_string());
    let found = match (name, level) {
        ("gzip", level) => {
            let level = level.map_or(Ok(GzipLevel::default()), GzipLevel::try_new);
            return level.map(Compression::GZIP).map_err(wrong_level);
        }
        ("brotli", level) => {
            let level = level.map_or(Ok(BrotliLevel::default()), BrotliLevel::try_new);
            return level.map(Compression::BROTLI).map_err(wrong_level);
        }
        ("zstd", level) => {
            let level = level.map_or(Ok(ZstdLevel::default()), |it| ZstdLevel::try_new(it as i32));
            return level.map(Compression::ZSTD).map_err(wrong_level);
        }
        ("uncompressed" | "none", None) => Compression::UNCOMPRESSED,
        ("snappy", None) => Compression::SNAPPY,
        ("lz4" | "lz4_raw", None) => Compression::LZ4_RAW,
        ("uncompressed" | "none" | "snappy" | "lz4" | "lz4_raw", Some(_)) => {
            return Err(invalid(format!("compression {name} has no level")));
        }
        _ => {
            let names = "uncompressed, snappy, gzip, zstd, brotli, lz4 or lz4_raw";
            return Err(invalid(format!("option \"compression\" takes {names}")));
        }
    };
    Ok(found)
}
