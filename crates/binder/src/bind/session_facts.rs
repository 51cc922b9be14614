//! What the catalog and its functions tell of the session, and of what has a number.

use plan::{ColumnOrigin, OrderDefaults};
use types::{DataType, SqlResult, Styles, TableId, Value, Zone};

/// A sequence that a column owns.
pub struct SerialSequence {
    /// The names under which its table is found, with its schema and, where that can be, without.
    pub tables: Vec<String>,
    /// The column.
    pub column: String,
    /// The sequence, with its schema.
    pub name: String,
}

/// What the session tells to functions of PostgreSQL's catalog.
pub trait SessionFacts: Sync {
    /// What a function tells of the session, as `current_user`; `None` of one that it does not know. Arguments that are not
    /// known are NULL.
    fn session_value(
        &self,
        name: &str,
        arguments: &[Value],
    ) -> Option<SqlResult<(Value, DataType)>>;
    /// The time zone of the session.
    fn zone(&self) -> Zone {
        Zone::utc()
    }
    /// The styles in which constants are read.
    fn reading_styles(&self) -> Styles {
        self.zone().styles()
    }
    /// Whether what is bound is a text that is to be kept, and to mean the same in every session.
    fn keeps_texts(&self) -> bool {
        false
    }
    /// The value of a variable of the session; `None` of one that nobody has set.
    fn variable(&self, _name: &str) -> Option<(Value, DataType)> {
        None
    }
    /// What ORDER BY means where it says nothing.
    fn order_defaults(&self) -> OrderDefaults {
        OrderDefaults::default()
    }
    /// What a function tells of the numbers of the catalog, as `pg_get_indexdef`: texts by number, and by modifier where that
    /// counts, too; `None` of one that it does not know.
    fn catalog_texts(&self, function: &str) -> Option<Vec<(i64, Option<i64>, String)>>;
    /// The number of a relation (`regclass`) or of a type (`regtype`) by its name.
    fn relation_number(&self, kind: &str, name: &str) -> Option<i64>;
    /// The number of a table or a view (`pg_class.oid`), by its id and its full name; `None` of one that the catalog does not show, as
    /// that of a file.
    fn number_of(&self, _id: TableId, _name: &str) -> Option<u32> {
        None
    }
    /// Where the columns of the rows of a step come from, by its name; those behind the last from nowhere.
    fn step_origins(&self, _name: &str) -> Vec<Option<ColumnOrigin>> {
        Vec::new()
    }
    /// The sequences that columns of tables own.
    fn serial_sequences(&self) -> Vec<SerialSequence> {
        Vec::new()
    }
    /// All settings with their values.
    fn settings(&self) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// There is no session.
impl SessionFacts for () {
    fn session_value(&self, _: &str, _: &[Value]) -> Option<SqlResult<(Value, DataType)>> {
        None
    }

    fn catalog_texts(&self, _: &str) -> Option<Vec<(i64, Option<i64>, String)>> {
        None
    }

    fn relation_number(&self, _: &str, _: &str) -> Option<i64> {
        None
    }
}
