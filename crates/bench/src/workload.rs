//! Any workload: a folder of Parquet files, each a table, and a folder of SQL files, each a query.

use std::fs;
use std::path::{Path, PathBuf};

use nodewise::made_files::MadeData;
use nodewise::{Database, Progress, Session, SqlError, SqlResult, SqlState};
use stdx::{Bytes, Nanos};

use crate::record::QueryRecord;

/// What loading took and made.
#[derive(Clone, Copy, Debug, Default)]
pub struct Loaded {
    /// From the first byte read to the last table ready.
    pub time: Nanos,
    /// Rows of all tables.
    pub rows: u64,
    /// Bytes of all tables in memory.
    pub bytes: Bytes,
}

/// Sees to it that a folder holds the Parquet files of generated tables. The span is what making them took, `None` when they
/// were there. A folder of somebody else's files is taken as it is when all tables are there.
pub fn provide(
    database: &Database,
    folder: &Path,
    data: &MadeData,
    progress: &dyn Progress,
) -> SqlResult<Option<Nanos>> {
    if data.is_complete(folder) {
        return Ok(None);
    }
    let machine = database.machine();
    let started = machine.now();
    data.generate_on(database, folder, progress)?;
    Ok(Some(machine.now() - started))
}

/// The queries of the given numbers, from 1 on; all when none is given. An error names a number that is none.
pub fn numbered(queries: &[(&str, &str)], numbers: &[usize]) -> Result<Vec<QueryRecord>, usize> {
    if let Some(&wrong) = numbers.iter().find(|&&it| it == 0 || it > queries.len()) {
        return Err(wrong);
    }
    let wanted = |&(index, _): &(usize, _)| numbers.is_empty() || numbers.contains(&(index + 1));
    let record = |(_, &(name, sql)): (usize, &(&str, &str))| QueryRecord::new(name, sql);
    Ok(queries.iter().enumerate().filter(wanted).map(record).collect())
}

/// Loads Parquet files as tables of the given names.
pub fn load_tables(session: &mut Session, tables: &[(String, PathBuf)]) -> SqlResult<Loaded> {
    let database = session.database().clone();
    let started = database.machine().now();
    for (name, path) in tables {
        let path = path.to_str().ok_or_else(|| {
            let message = format!("the path {} is no UTF-8", path.display());
            SqlError::new(SqlState::INVALID_PARAMETER, message)
        })?;
        let path = path.replace('\'', "''");
        session.execute(&format!("CREATE TABLE {name} AS SELECT * FROM '{path}'"))?;
    }
    let rows = database.tables().iter().map(|it| it.rows()).sum();
    let time = database.machine().now() - started;
    Ok(Loaded { time, rows, bytes: database.table_bytes() })
}

/// The Parquet files of a folder by name; each is a table called as the file.
pub fn tables_in(folder: &Path) -> SqlResult<Vec<(String, PathBuf)>> {
    files_of(folder, "parquet")
}

/// The queries of a folder by name: each file with the ending `.sql` holds one.
pub fn queries_in(folder: &Path) -> SqlResult<Vec<QueryRecord>> {
    let read = |(name, path): (String, PathBuf)| {
        let sql = fs::read_to_string(&path).map_err(|error| unreadable(&path, &error))?;
        Ok(QueryRecord::new(name, sql))
    };
    files_of(folder, "sql")?.into_iter().map(read).collect()
}

/// Files with an ending, by name without it; an error when there is none.
fn files_of(folder: &Path, ending: &str) -> SqlResult<Vec<(String, PathBuf)>> {
    let entries = fs::read_dir(folder).map_err(|error| unreadable(folder, &error))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| unreadable(folder, &error))?.path();
        let name = path.file_name().and_then(|it| it.to_str()).unwrap_or_default();
        if let Some(name) = name.strip_suffix(&format!(".{ending}")) {
            files.push((name.to_owned(), path.clone()));
        }
    }
    if files.is_empty() {
        let message = format!("there is no file *.{ending} in {}", folder.display());
        return Err(SqlError::new(SqlState::IO_ERROR, message));
    }
    files.sort();
    Ok(files)
}

fn unreadable(path: &Path, error: &std::io::Error) -> SqlError {
    SqlError::new(SqlState::IO_ERROR, format!("cannot read {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_by_ending_and_their_absence_is_told() {
        let folder = std::env::temp_dir().join(format!("nodewise-workload-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        for file in ["q2.sql", "q1.1.sql", "hits.parquet", "notes.txt"] {
            fs::write(folder.join(file), "SELECT 1").unwrap();
        }
        let names: Vec<String> =
            queries_in(&folder).unwrap().into_iter().map(|it| it.name).collect();
        assert_eq!(names, ["q1.1", "q2"]);
        let tables = tables_in(&folder).unwrap();
        assert_eq!(tables, [("hits".to_owned(), folder.join("hits.parquet"))]);
        fs::remove_file(folder.join("hits.parquet")).unwrap();
        assert!(tables_in(&folder).unwrap_err().message.contains("no file *.parquet"));
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(queries_in(&folder).unwrap_err().state, SqlState::IO_ERROR);
    }
}
