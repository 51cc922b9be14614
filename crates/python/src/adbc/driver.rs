//! The driver, and the databases that it opens: a folder, or one in memory that lasts as long as its handle.

use std::collections::BTreeMap;
use std::path::PathBuf;

use adbc_core::Optionable;
use adbc_core::error::{Result, Status};
use adbc_core::options::{OptionConnection, OptionDatabase, OptionValue};
use nodewise::DatabaseOptions;
use stdx::sync::Arc;

use super::connection::Connection;
use super::errors::{refused, told};
use super::options;
use crate::opening;

/// Where the folder stands that is no URI.
const PATH: &str = "path";
/// The number of workers, which no statement can change.
const THREADS: &str = "threads";
const SCHEME: &str = "nodewise://";

/// The driver.
#[derive(Default)]
pub struct Driver;

impl adbc_core::Driver for Driver {
    type DatabaseType = Database;

    fn new_database(&mut self) -> Result<Database> {
        self.new_database_with_opts([])
    }

    fn new_database_with_opts(
        &mut self,
        given: impl IntoIterator<Item = (OptionDatabase, OptionValue)>,
    ) -> Result<Database> {
        // Whoever loads the library by its path alone has not begun the module.
        memory::take_reserve();
        let text = |(key, value): (OptionDatabase, OptionValue)| {
            let key = key.as_ref().to_owned();
            options::text(&key, value).map(|it| (key, it))
        };
        Database::open(given.into_iter().map(text).collect::<Result<_>>()?)
    }
}

/// A database that is open.
pub struct Database {
    database: Arc<nodewise::Database>,
    /// The options that were given: where it is, and the settings of its connections.
    given: BTreeMap<String, String>,
}

impl Database {
    fn open(given: BTreeMap<String, String>) -> Result<Self> {
        let path = folder(&given)?;
        let workers = given.get(THREADS).map(|it| opening::workers(it)).transpose();
        let options = DatabaseOptions { workers: told(workers)?, ..DatabaseOptions::default() };
        let database = told(opening::open(path.as_deref(), options))?;
        let opened = Self { database, given };
        // What no connection could be opened with is said here.
        opened.session()?;
        Ok(opened)
    }

    /// A session with the settings that were given.
    fn session(&self) -> Result<nodewise::Session> {
        let mut session = self.database.session();
        for (key, value) in self.given.iter().filter(|it| !is_place(it.0)) {
            options::set(&mut session, key, value)?;
        }
        Ok(session)
    }

    fn get(&self, key: &OptionDatabase) -> Result<&str> {
        let key = key.as_ref();
        self.given.get(key).map(String::as_str).ok_or_else(|| options::unset(key))
    }
}

/// Whether an option says which database it is, and on how many workers.
fn is_place(key: &str) -> bool {
    [PATH, THREADS, OptionDatabase::Uri.as_ref()].contains(&key)
}

/// The folder that the options name; none for a database in memory. As in SQLAlchemy, the path of a URI stands behind three slashes.
fn folder(given: &BTreeMap<String, String>) -> Result<Option<PathBuf>> {
    let invalid = |message: String| refused(Status::InvalidArguments, message);
    let path = match (given.get(PATH), given.get(OptionDatabase::Uri.as_ref())) {
        (Some(_), Some(_)) => return Err(invalid("either path or uri, not both".to_owned())),
        (Some(path), None) => path.as_str(),
        (None, Some(uri)) => match uri.strip_prefix(SCHEME) {
            Some("") => "",
            Some(rest) => rest.strip_prefix('/').ok_or_else(|| {
                invalid(format!("{uri:?} names a host; a folder is nodewise:///FOLDER"))
            })?,
            None if uri.contains("://") => {
                return Err(invalid(format!("{uri:?} is no URI of Nodewise: {SCHEME}/FOLDER")));
            }
            None => uri,
        },
        (None, None) => "",
    };
    Ok((!path.is_empty() && path != ":memory:").then(|| PathBuf::from(path)))
}

impl Optionable for Database {
    type Option = OptionDatabase;

    fn set_option(&mut self, key: OptionDatabase, value: OptionValue) -> Result<()> {
        let key = key.as_ref();
        let value = options::text(key, value)?;
        if is_place(key) {
            let message = format!("option {key} is of a database that is not open yet");
            return Err(refused(Status::InvalidState, message));
        }
        options::set(&mut self.session()?, key, &value)?;
        self.given.insert(key.to_owned(), value);
        Ok(())
    }

    fn get_option_string(&self, key: OptionDatabase) -> Result<String> {
        self.get(&key).map(str::to_owned)
    }

    fn get_option_bytes(&self, key: OptionDatabase) -> Result<Vec<u8>> {
        Err(options::unset(key.as_ref()))
    }

    fn get_option_int(&self, key: OptionDatabase) -> Result<i64> {
        options::int(key.as_ref(), self.get(&key)?)
    }

    fn get_option_double(&self, key: OptionDatabase) -> Result<f64> {
        options::double(key.as_ref(), self.get(&key)?)
    }
}

impl adbc_core::Database for Database {
    type ConnectionType = Connection;

    fn new_connection(&self) -> Result<Connection> {
        self.new_connection_with_opts([])
    }

    fn new_connection_with_opts(
        &self,
        given: impl IntoIterator<Item = (OptionConnection, OptionValue)>,
    ) -> Result<Connection> {
        let mut connection = Connection::new(self.session()?);
        for (key, value) in given {
            connection.set_option(key, value)?;
        }
        Ok(connection)
    }
}
