//! Connections: sessions with their options and transactions, and what they know of the catalog.

use std::collections::HashSet;

use adbc_core::error::Result;
use adbc_core::options::{InfoCode, IsolationLevel, ObjectDepth, OptionConnection, OptionValue};
use adbc_core::{CancelHandle, Optionable};
use arrow_array::RecordBatchReader;
use arrow_schema::Schema;
use nodewise::text::quoted_name;
use nodewise::{Session, SqlError, SqlState, Value};
use stdx::sync::Arc;

use super::catalog::{catalog, check_catalog, current_schema, first};
use super::client::Client;
use super::errors::missing;
use super::info;
use super::objects::{self, Asked};
use super::options;
use super::statement::Statement;

/// What a session says of transactions that nothing was said of.
const ISOLATION: &str = "default_transaction_isolation";
const READ_ONLY: &str = "default_transaction_read_only";

/// A connection.
pub struct Connection {
    client: Arc<Client>,
}

impl Connection {
    /// A connection of a session.
    pub fn new(session: Session) -> Self {
        Self { client: Client::new(session) }
    }

    /// The value of a setting.
    fn setting(&self, name: &str) -> Result<String> {
        let values = [Value::Text(name.into())];
        let found = self.client.look(|session| {
            first(session, "SELECT pg_catalog.current_setting($1::text)", &values)
        })?;
        found.ok_or_else(|| options::unset(name))
    }

    fn set_schema(&self, schema: &str) -> Result<()> {
        self.client.look(|session| {
            let sql = "SELECT nspname FROM pg_catalog.pg_namespace WHERE nspname = $1::text";
            first(session, sql, &[Value::Text(schema.into())])?.ok_or_else(|| {
                let message = format!("schema \"{schema}\" does not exist");
                SqlError::new(SqlState::UNDEFINED_SCHEMA, message)
            })?;
            session.set_setting("search_path", &quoted_name(schema))
        })
    }

    fn option(&self, key: &OptionConnection) -> Result<String> {
        match key {
            OptionConnection::AutoCommit => Ok(options::flag_text(self.client.is_autocommit())),
            OptionConnection::ReadOnly => Ok(options::flag_text(self.setting(READ_ONLY)? == "on")),
            OptionConnection::CurrentCatalog => self.client.look(catalog),
            OptionConnection::CurrentSchema => self.client.look(current_schema),
            OptionConnection::IsolationLevel => Ok(level(&self.setting(ISOLATION)?).into()),
            OptionConnection::Other(key) if !key.starts_with("adbc.") => self.setting(key),
            other => Err(options::unset(other.as_ref())),
        }
    }
}

/// The name that ADBC has for a level of isolation.
fn level(setting: &str) -> IsolationLevel {
    match setting {
        "serializable" => IsolationLevel::Serializable,
        "repeatable read" => IsolationLevel::RepeatableRead,
        "read uncommitted" => IsolationLevel::ReadUncommitted,
        _ => IsolationLevel::ReadCommitted,
    }
}

/// The level that an option asks for. Transactions that see one picture are called repeatable read in PostgreSQL.
fn setting_of_level(key: &str, asked: &str) -> Result<&'static str> {
    let is = |it: IsolationLevel| asked == String::from(it);
    match () {
        () if is(IsolationLevel::Default) => Ok("read committed"),
        () if is(IsolationLevel::ReadUncommitted) => Ok("read uncommitted"),
        () if is(IsolationLevel::ReadCommitted) => Ok("read committed"),
        () if is(IsolationLevel::RepeatableRead) => Ok("repeatable read"),
        () if is(IsolationLevel::Snapshot) => Ok("repeatable read"),
        () if is(IsolationLevel::Serializable) => Ok("serializable"),
        () if is(IsolationLevel::Linearizable) => Err(missing("linearizable transactions")),
        () => Err(options::wrong(key, asked)),
    }
}

impl Optionable for Connection {
    type Option = OptionConnection;

    fn set_option(&mut self, key: OptionConnection, value: OptionValue) -> Result<()> {
        let name = key.as_ref();
        match &key {
            OptionConnection::AutoCommit => self.client.set_autocommit(options::flag(name, value)?),
            OptionConnection::ReadOnly => {
                let word = if options::flag(name, value)? { "on" } else { "off" };
                self.client.look(|session| session.set_setting(READ_ONLY, word))
            }
            OptionConnection::IsolationLevel => {
                let level = setting_of_level(name, &options::text(name, value)?)?;
                self.client.look(|session| session.set_setting(ISOLATION, level))
            }
            OptionConnection::CurrentCatalog => {
                let named = options::text(name, value)?;
                self.client.look(|session| check_catalog(session, Some(&named)))
            }
            OptionConnection::CurrentSchema => self.set_schema(&options::text(name, value)?),
            OptionConnection::Other(key) => {
                let value = options::text(key, value)?;
                self.client.look(|session| Ok(options::set(session, key, &value)))?
            }
            _ => Err(options::unknown(name)),
        }
    }

    fn get_option_string(&self, key: OptionConnection) -> Result<String> {
        self.option(&key)
    }

    fn get_option_bytes(&self, key: OptionConnection) -> Result<Vec<u8>> {
        Err(options::unset(key.as_ref()))
    }

    fn get_option_int(&self, key: OptionConnection) -> Result<i64> {
        options::int(key.as_ref(), &self.option(&key)?)
    }

    fn get_option_double(&self, key: OptionConnection) -> Result<f64> {
        options::double(key.as_ref(), &self.option(&key)?)
    }
}

impl adbc_core::Connection for Connection {
    type StatementType = Statement;

    fn new_statement(&mut self) -> Result<Statement> {
        Ok(Statement::new(&self.client))
    }

    fn get_cancel_handle(&self) -> Box<dyn CancelHandle> {
        self.client.cancel_handle()
    }

    fn get_info(
        &self,
        codes: Option<HashSet<InfoCode>>,
    ) -> Result<Box<dyn RecordBatchReader + Send + 'static>> {
        info::facts(codes.as_ref())
    }

    fn get_objects(
        &self,
        depth: ObjectDepth,
        catalog: Option<&str>,
        db_schema: Option<&str>,
        table_name: Option<&str>,
        table_type: Option<Vec<&str>>,
        column_name: Option<&str>,
    ) -> Result<Box<dyn RecordBatchReader + Send + 'static>> {
        let table_types = table_type.map(|it| it.join(","));
        let asked = Asked {
            depth,
            catalog,
            schema: db_schema,
            table: table_name,
            table_types,
            column: column_name,
        };
        self.client.look(|session| objects::objects(session, &asked))
    }

    fn get_table_schema(
        &self,
        catalog: Option<&str>,
        db_schema: Option<&str>,
        table_name: &str,
    ) -> Result<Schema> {
        let schema = db_schema.filter(|it| !it.is_empty());
        let schema = schema.map_or(String::new(), |it| format!("{}.", quoted_name(it)));
        let sql = format!("SELECT * FROM {schema}{}", quoted_name(table_name));
        let described = self.client.look(|session| {
            check_catalog(session, catalog)?;
            let prepared = session.prepare_typed(&sql, &[])?;
            session.describe(&prepared)
        })?;
        Ok(described.map_or_else(Schema::empty, |it| it.with_lists().as_ref().clone()))
    }

    fn get_table_types(&self) -> Result<Box<dyn RecordBatchReader + Send + 'static>> {
        info::table_types()
    }

    fn get_statistic_names(&self) -> Result<Box<dyn RecordBatchReader + Send + 'static>> {
        Err(missing("statistics by ADBC"))
    }

    fn get_statistics(
        &self,
        _catalog: Option<&str>,
        _db_schema: Option<&str>,
        _table_name: Option<&str>,
        _approximate: bool,
    ) -> Result<Box<dyn RecordBatchReader + Send + 'static>> {
        Err(missing("statistics by ADBC"))
    }

    fn commit(&mut self) -> Result<()> {
        self.client.end(true)
    }

    fn rollback(&mut self) -> Result<()> {
        self.client.end(false)
    }

    fn read_partition(
        &self,
        _partition: impl AsRef<[u8]>,
    ) -> Result<Box<dyn RecordBatchReader + Send + 'static>> {
        Err(missing("results in partitions"))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.client.shared.close();
    }
}
