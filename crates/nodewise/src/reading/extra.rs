//! Columns that a file has by where it lies: its name, and folders `name=value` above it, as Hive lays them out.

use std::path::{Path, PathBuf};

use binder::FileOption;
use files::narrowest_type;
use storage::ColumnSchema;
use types::{DataType, SqlError, SqlResult, SqlState};

use super::csv_options::filename;
use super::values::boolean;

/// A folder of NULL.
pub(crate) const NULL_FOLDER: &str = "__HIVE_DEFAULT_PARTITION__";

/// A column that has one value for each file.
#[derive(Clone, Debug)]
pub(crate) struct ExtraColumn {
    pub(crate) name: String,
    pub(crate) data_type: DataType,
    pub(crate) values: Vec<Option<String>>,
}

impl ExtraColumn {
    pub(crate) fn schema(&self) -> ColumnSchema {
        ColumnSchema::new(self.name.clone(), self.data_type, true)
    }
}

/// What the options of a function say that has none but these: the name of the column of names of files, and whether folders are
/// columns. Errors: 22023.
pub(super) fn extra_options(
    function: &str,
    options: &[(String, FileOption)],
) -> SqlResult<(Option<String>, Option<bool>)> {
    let (mut name, mut hive) = (None, None);
    for (option, value) in options {
        match option.as_str() {
            "filename" => name = filename(option, value)?,
            "hive_partitioning" => hive = Some(boolean(option, value)?),
            _ => {
                let message = format!("{function} has no option \"{option}\"");
                return Err(SqlError::new(SqlState::INVALID_PARAMETER, message)
                    .with_hint("it has filename and hive_partitioning"));
            }
        }
    }
    Ok((name, hive))
}

/// The columns of some files, without those that the files have themselves.
pub(crate) fn extra_columns(
    paths: &[PathBuf],
    own: &[String],
    filename: Option<&str>,
    hive: Option<bool>,
) -> Vec<ExtraColumn> {
    let is_own = |name: &str| own.iter().any(|it| it.eq_ignore_ascii_case(name));
    let mut columns = Vec::new();
    if let Some(name) = filename.filter(|it| !is_own(it)) {
        let values = paths.iter().map(|it| Some(it.display().to_string())).collect();
        columns.push(ExtraColumn { name: name.to_owned(), data_type: DataType::Text, values });
    }
    if hive != Some(false) {
        columns.extend(folders(paths).into_iter().filter(|it| !is_own(&it.name)));
    }
    columns
}

/// The folders `name=value` that all files lie in.
fn folders(paths: &[PathBuf]) -> Vec<ExtraColumn> {
    let all: Vec<Vec<(String, String)>> = paths.iter().map(|it| pairs(it)).collect();
    let Some(first) = all.first() else { return Vec::new() };
    let names = first.iter().map(|it| &it.0);
    if !all.iter().all(|it| it.iter().map(|it| &it.0).eq(names.clone())) {
        return Vec::new();
    }
    let column = |(place, (name, _)): (usize, &(String, String))| {
        let value =
            |it: &Vec<(String, String)>| Some(it[place].1.clone()).filter(|it| it != NULL_FOLDER);
        let values: Vec<Option<String>> = all.iter().map(value).collect();
        let data_type = narrowest_type(values.iter().flatten().map(String::as_str));
        ExtraColumn { name: name.clone(), data_type, values }
    };
    first.iter().enumerate().map(column).collect()
}

fn pairs(path: &Path) -> Vec<(String, String)> {
    let folders = path.parent().into_iter().flat_map(Path::components);
    let pair = |it: std::path::Component<'_>| {
        let text = it.as_os_str().to_str()?;
        let (name, value) = text.split_once('=').filter(|it| !it.0.is_empty())?;
        Some((decoded(name), decoded(value)))
    };
    folders.filter_map(pair).collect()
}

/// A name in which `%XX` stands for a byte.
fn decoded(text: &str) -> String {
    let (bytes, mut out, mut at) = (text.as_bytes(), Vec::new(), 0);
    while at < bytes.len() {
        let hex = text.get(at + 1..at + 3).and_then(|it| u8::from_str_radix(it, 16).ok());
        match (bytes[at], hex) {
            (b'%', Some(byte)) => {
                out.push(byte);
                at += 3;
            }
            (byte, _) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_columns() {
        let paths: Vec<PathBuf> =
            ["x/year=2024/k%20k=a%2Fb/f.csv", "x/year=2025/k%20k=__HIVE_DEFAULT_PARTITION__/f.csv"]
                .into_iter()
                .map(PathBuf::from)
                .collect();
        let found = extra_columns(&paths, &["Own".into()], Some("filename"), None);
        let shown: Vec<_> = found.iter().map(|it| (it.name.as_str(), it.data_type)).collect();
        let expected =
            [("filename", DataType::Text), ("year", DataType::BigInt), ("k k", DataType::Text)];
        assert_eq!(shown, expected);
        assert_eq!(found[2].values, [Some("a/b".to_owned()), None]);
        assert!(extra_columns(&paths, &["YEAR".into(), "k k".into()], None, None).is_empty());
        assert!(extra_columns(&paths, &[], None, Some(false)).is_empty());
        let mixed = [PathBuf::from("a=1/f"), PathBuf::from("b=1/f")];
        assert!(extra_columns(&mixed, &[], None, None).is_empty());
    }
}
