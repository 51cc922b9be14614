//! Databases of this process: one for all connections to a folder, whoever opens them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use nodewise::{Database, DatabaseOptions, NoProgress, SqlResult};
use stdx::sync::{Arc, Mutex, OnceLock, Weak};

use crate::errors::unfit;

/// The folders that this process has open: one database for all connections to a folder.
static OPEN: OnceLock<Mutex<BTreeMap<PathBuf, Weak<Database>>>> = OnceLock::new();

/// Opens a database, or takes the one that this process has open for the folder.
pub fn open(path: Option<&Path>, options: DatabaseOptions) -> SqlResult<Arc<Database>> {
    let Some(path) = path else { return Database::open(hardware_linux::open(), options) };
    // Two that open the same folder at once are to come to one database.
    let mut open = OPEN.get_or_init(Mutex::default).lock();
    let known = path.canonicalize().ok().and_then(|it| open.get(&it)?.upgrade());
    if let Some(database) = known {
        return Ok(database);
    }
    let database = Database::open_dir(hardware_linux::open(), path, options, &NoProgress)?;
    open.retain(|_, it| it.strong_count() > 0);
    if let Ok(path) = path.canonicalize() {
        open.insert(path, Arc::downgrade(&database));
    }
    Ok(database)
}

/// The number of workers that a text asks for.
pub fn workers(text: &str) -> SqlResult<usize> {
    let count = text.parse::<usize>().ok().filter(|it| *it >= 1);
    count.ok_or_else(|| unfit(format!("threads is a number from 1 on, not {text}")))
}
