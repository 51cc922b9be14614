//! The options of `read_json` and its kin, by DuckDB's names.

use binder::{FileOption, FileReference};
use files::{JsonKnown, Layout};
use types::{SqlError, SqlResult, SqlState, Zone};

use super::csv_options::{filename, typed};
use super::values::{boolean, compression, number, text, wrong};

/// What is said of files of JSON.
#[derive(Clone, Debug)]
pub(crate) struct JsonOptions {
    pub(crate) known: JsonKnown,
    /// The time zone of the session.
    pub(crate) zone: Zone,
    /// The name of a column of the names of files.
    pub(crate) filename: Option<String>,
    /// Whether folders `name=value` are columns; `None`: where they are.
    pub(crate) hive: Option<bool>,
}

impl JsonOptions {
    /// Nothing said.
    pub(crate) fn new(zone: Zone) -> Self {
        Self { known: JsonKnown::default(), zone, filename: None, hive: None }
    }

    /// What the arguments of a call say.
    pub(crate) fn of(function: &str, reference: &FileReference, zone: Zone) -> SqlResult<Self> {
        let mut options = Self::new(zone);
        if function.contains("ndjson") {
            options.known.layout = Some(Layout::Lines);
        }
        for (name, value) in &reference.options {
            options.set(name, value)?;
        }
        if function.ends_with("_objects") || function.ends_with("_objects_auto") {
            options.known.depth = Some(0);
            options.known.is_records = Some(false);
        }
        Ok(options)
    }

    fn set(&mut self, name: &str, value: &FileOption) -> SqlResult<()> {
        let known = &mut self.known;
        match name {
            "format" => known.layout = layout(text(name, value)?)?,
            "columns" => match value {
                FileOption::Map(columns) if !columns.is_empty() => {
                    known.columns = Some(typed(columns)?);
                }
                _ => return Err(wrong(name, "names and types: {'a': 'INTEGER'}")),
            },
            "records" => {
                known.is_records = match text(name, value)? {
                    it if it.eq_ignore_ascii_case("auto") => None,
                    _ => Some(boolean(name, value)?),
                }
            }
            "sample_size" => {
                known.rows = match text(name, value)? {
                    "-1" => None,
                    _ => Some(number(name, value)?.clamp(1, 1 << 24) as usize),
                };
            }
            "maximum_sample_files" => {
                known.files = number(name, value)?.clamp(1, 1 << 24) as usize;
            }
            "maximum_depth" => {
                known.depth = match text(name, value)? {
                    "-1" => None,
                    _ => Some(number(name, value)?.min(1 << 24) as usize),
                };
            }
            "map_inference_threshold" => {
                known.map_from = match text(name, value)? {
                    "-1" => usize::MAX,
                    _ => number(name, value)?.min(1 << 24) as usize,
                };
            }
            "field_appearance_threshold" => {
                let share = text(name, value)?.parse::<f64>().ok();
                known.appearance = share
                    .filter(|it| (0.0..=1.0).contains(it))
                    .ok_or_else(|| wrong(name, "a number from 0 to 1"))?;
            }
            "union_by_name" => known.by_name = boolean(name, value)?,
            "ignore_errors" => known.is_lenient = boolean(name, value)?,
            "compression" => known.compression = compression(text(name, value)?)?,
            "filename" => self.filename = filename(name, value)?,
            "hive_partitioning" => self.hive = Some(boolean(name, value)?),
            // They say how a file is read, and not as what.
            "maximum_object_size" | "auto_detect" => {}
            _ => {
                let message = format!("read_json has no option \"{name}\"");
                return Err(SqlError::new(SqlState::INVALID_PARAMETER, message).with_hint(
                    "it has format, columns, records, sample_size, maximum_depth, ignore_errors, union_by_name, filename, \
                     hive_partitioning, compression, field_appearance_threshold, map_inference_threshold and maximum_sample_files",
                ));
            }
        }
        Ok(())
    }
}

/// How values stand; `None`: as it is found.
pub(super) fn layout(name: &str) -> SqlResult<Option<Layout>> {
    Ok(match name.to_lowercase().as_str() {
        "auto" => None,
        "newline_delimited" | "nd" => Some(Layout::Lines),
        "array" => Some(Layout::Array),
        "unstructured" => Some(Layout::Sequence),
        _ => {
            return Err(wrong("format", "auto, newline_delimited, array or unstructured"));
        }
    })
}
