//! What a file is, by its name or by its first bytes.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use types::{SqlError, SqlResult, SqlState};

/// What a file is read as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FileKind {
    Parquet,
    Csv,
    Json,
    Arrow,
}

impl FileKind {
    /// What the end of a name says, before that of its compression.
    pub(crate) fn of_name(path: &Path) -> Option<Self> {
        let ends = |path: &Path, it: &str| {
            path.extension().is_some_and(|end| end.eq_ignore_ascii_case(it))
        };
        let stem =
            path.file_stem().map(Path::new).filter(|_| ends(path, "gz") || ends(path, "zst"));
        let path = stem.unwrap_or(path);
        let any = |all: &[&str]| all.iter().any(|it| ends(path, it));
        if any(&["csv", "tsv", "tbl", "txt"]) {
            Some(Self::Csv)
        } else if any(&["json", "jsonl", "ndjson"]) {
            Some(Self::Json)
        } else if any(&["parquet"]) && stem.is_none() {
            Some(Self::Parquet)
        } else if any(&["arrow", "arrows", "feather", "ipc"]) && stem.is_none() {
            Some(Self::Arrow)
        } else {
            None
        }
    }

    /// What the name of a file says, else its first bytes.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        Self::of_name(path).or_else(|| {
            let mut magic = [0; 4];
            let mut file = File::open(path).ok().filter(|_| path.is_file())?;
            file.read_exact(&mut magic).ok()?;
            match &magic {
                b"PAR1" | b"PARE" => Some(Self::Parquet),
                b"ARRO" => Some(Self::Arrow),
                _ => None,
            }
        })
    }
}

/// 22P04: nobody says what a file is.
pub(crate) fn unknown(path: &Path) -> SqlError {
    let message =
        format!("file {} is not a Parquet file, and its name tells no format", path.display());
    SqlError::new(SqlState::BAD_FILE_FORMAT, message)
        .with_hint("read_csv('..') reads any file as text in columns, read_json('..') as JSON")
}

/// Whether a name ends in `.tbl`, as those of TPC's files do.
pub(crate) fn is_tbl(path: &Path) -> bool {
    path.file_name().is_some_and(|it| {
        let name = it.to_string_lossy().to_lowercase();
        name.ends_with(".tbl") || name.contains(".tbl.")
    })
}

/// What a file is. Errors: 58P01 where it is not there, 22P04 where nothing tells.
pub(crate) fn known(path: &Path) -> SqlResult<FileKind> {
    // Whether it is there at all is told first.
    storage::regular::open(path)?;
    FileKind::of(path).ok_or_else(|| unknown(path))
}
