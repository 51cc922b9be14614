//! What the planner may know of tables: names, types and exact statistics.

use serde::{Deserialize, Serialize};
use stdx::sync::Arc;

use crate::numeric::interval_text::Fields;
use crate::{
    ColumnId, DataType, Interrupt, MacroDefinition, SqlError, SqlResult, TableId, UserType, Value,
    ViewDefinition,
};

/// Facts about a column, kept by storage: exact, unless rows have gone.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct ColumnStatistics {
    /// NULLs.
    pub nulls: u64,
    /// Distinct values without NULL: exact where the encoding knows it, else an estimate.
    pub distinct: u64,
    /// Whether `distinct` is exact. With `distinct == rows` and no NULL the column is a key.
    pub distinct_exact: bool,
    /// Least value.
    pub min: Option<Value>,
    /// Greatest value.
    pub max: Option<Value>,
    /// Whether values never fall from row to row (and there is no NULL).
    pub sorted: bool,
    /// Whether rows have gone since: then no row need hold `min` or `max`, and there are `nulls` NULLs at most.
    pub widened: bool,
}

/// A column as the planner sees it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ColumnInfo {
    /// Its name, as written when it was made.
    pub name: String,
    /// Its type.
    pub data_type: DataType,
    /// Whether it may hold NULL.
    pub nullable: bool,
    /// Its statistics.
    pub statistics: ColumnStatistics,
    /// Bytes read to scan it: its index vector.
    pub scan_bytes: u64,
    /// Whether the values are all integers from the least to the greatest, each once, but for a few rows that came later, and
    /// the table finds rows by them: their values number them, or, where the table is cut into parts, it keeps their rows.
    /// No join needs a hash table for it.
    pub numbers_rows: bool,
    /// The name of the index on it, when there is one.
    #[serde(with = "crate::shared::optional_text")]
    pub index: Option<Arc<str>>,
}

/// What a table asks of its rows beside types and keys, as SQL that was bound when it was said.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RowRules {
    /// For each column the expression of its default; NULL where there is none.
    pub defaults: Vec<Option<Arc<str>>>,
    /// Conditions that must not be false of any row.
    pub checks: Vec<CheckRule>,
    /// The columns that are numbered by themselves; their defaults are the numbers.
    pub identities: Vec<Identity>,
    /// The columns that are generated of others; their defaults are the expressions.
    pub generated: Vec<Generated>,
    /// The columns that are of domains.
    pub domains: Vec<DomainColumn>,
    /// The columns whose types say how much of a time or an interval they keep.
    pub fields: Vec<FieldsColumn>,
}

/// A column that keeps a part of a time or an interval: `TIMESTAMP(3)`, `INTERVAL DAY TO SECOND`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FieldsColumn {
    /// The column.
    pub column: ColumnId,
    /// What it keeps.
    pub fields: Fields,
}

/// A column of a domain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DomainColumn {
    /// The column.
    pub column: ColumnId,
    /// The domain ([`crate::names::joined`]).
    pub domain: Arc<str>,
}

/// A column that is GENERATED ALWAYS AS (expression).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Generated {
    /// The column.
    pub column: ColumnId,
    /// STORED, and not VIRTUAL. Both are held; the word is kept.
    pub is_stored: bool,
}

/// A column that is GENERATED AS IDENTITY.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Identity {
    /// The column.
    pub column: ColumnId,
    /// GENERATED ALWAYS, and not BY DEFAULT: its value is given only by OVERRIDING SYSTEM VALUE.
    pub always: bool,
}

/// A key, or a unique index: no two rows have the same values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UniqueKey {
    /// Its name.
    pub name: Arc<str>,
    /// Its columns.
    pub columns: Vec<ColumnId>,
    /// Whether it is a constraint of the table.
    pub is_constraint: bool,
    /// Whether it may be broken for a while.
    pub is_deferrable: bool,
    /// Whether NULL is like NULL in it.
    pub nulls_equal: bool,
}

/// What becomes of rows that refer to a row that goes, or whose key changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ReferentialAction {
    /// NO ACTION: there must be none when the statement has ended.
    #[default]
    NoAction,
    /// RESTRICT: there must be none, even if another row has the key by then.
    Restrict,
    /// CASCADE: they go too, or follow the key.
    Cascade,
    /// SET NULL.
    SetNull,
    /// SET DEFAULT.
    SetDefault,
}

impl ReferentialAction {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::NoAction, Self::Restrict, Self::Cascade, Self::SetNull, Self::SetDefault];

    /// In SQL.
    pub fn name(self) -> &'static str {
        match self {
            Self::NoAction => "NO ACTION",
            Self::Restrict => "RESTRICT",
            Self::Cascade => "CASCADE",
            Self::SetNull => "SET NULL",
            Self::SetDefault => "SET DEFAULT",
        }
    }

    /// By its name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }
}

/// A FOREIGN KEY: the values of some columns, where none of them is NULL, are a key of a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ForeignKey {
    /// Its name.
    pub name: Arc<str>,
    /// The columns that refer.
    pub columns: Vec<ColumnId>,
    /// The table that they refer to.
    pub parent: Arc<str>,
    /// The names of the columns of its key, one for each that refers.
    pub parent_columns: Vec<Arc<str>>,
    /// What becomes of rows whose parent goes.
    pub on_delete: ReferentialAction,
    /// What becomes of rows whose parent gets another key.
    pub on_update: ReferentialAction,
    /// MATCH FULL: a row has all of the values or none; else it refers to nothing where one is NULL.
    pub is_full: bool,
    /// Until when a row may refer to nothing.
    pub deferral: Deferral,
    /// Whether all rows were looked at; NOT VALID leaves out those that were there before.
    pub is_validated: bool,
}

/// Until when what a constraint asks may be wrong.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Deferral {
    /// The end of a statement.
    #[default]
    None,
    /// DEFERRABLE: the same, unless SET CONSTRAINTS says otherwise.
    Deferrable,
    /// INITIALLY DEFERRED: the end of a transaction, unless SET CONSTRAINTS says otherwise.
    Deferred,
}

impl Deferral {
    /// In SQL, behind a constraint.
    pub fn clause(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Deferrable => " DEFERRABLE",
            Self::Deferred => " DEFERRABLE INITIALLY DEFERRED",
        }
    }
}

/// In which order an index has one of its columns, as it was said: rows are found alike in all.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct IndexOrder {
    /// DESC.
    pub descending: bool,
    /// NULLS FIRST, which DESC means where nothing else is said.
    pub nulls_first: bool,
}

impl IndexOrder {
    /// As a number, in which the first bit is DESC and the second NULLS FIRST: so catalogs and files have it.
    pub fn bits(self) -> u8 {
        u8::from(self.descending) | u8::from(self.nulls_first) << 1
    }

    /// The order of a number; `None` of one that is none.
    pub fn of_bits(bits: u8) -> Option<Self> {
        (bits < 4).then_some(Self { descending: bits & 1 != 0, nulls_first: bits & 2 != 0 })
    }

    /// In SQL, behind a column.
    pub fn clause(self) -> &'static str {
        match (self.descending, self.nulls_first) {
            (false, false) => "",
            (false, true) => " NULLS FIRST",
            (true, true) => " DESC",
            (true, false) => " DESC NULLS LAST",
        }
    }
}

/// How an index is kept, as it was said: all are kept alike, and differ in what is told of them.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum IndexMethod {
    /// What is meant where nothing is said.
    #[default]
    BTree,
    /// The own name of how indexes are kept.
    Inverted,
    /// One of a single column that finds equal values.
    Hash,
}

impl IndexMethod {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::BTree => "btree",
            Self::Inverted => "inverted",
            Self::Hash => "hash",
        }
    }
}

impl ForeignKey {
    /// What stands behind the columns of its parent, before ON UPDATE and ON DELETE.
    pub fn match_clause(&self) -> &'static str {
        if self.is_full { " MATCH FULL" } else { "" }
    }

    /// What stands behind all else.
    pub fn last_clauses(&self) -> String {
        let deferral = match self.deferral {
            Deferral::None => "",
            Deferral::Deferrable => " DEFERRABLE",
            Deferral::Deferred => " DEFERRABLE INITIALLY DEFERRED",
        };
        format!("{deferral}{}", if self.is_validated { "" } else { " NOT VALID" })
    }
}

/// A CHECK constraint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckRule {
    /// Its name.
    pub name: Arc<str>,
    /// Its condition.
    pub condition: Arc<str>,
    /// Whether it is known of all rows, and not of new ones only.
    pub is_validated: bool,
}

impl RowRules {
    /// The identity of a column.
    pub fn identity(&self, column: ColumnId) -> Option<Identity> {
        self.identities.iter().copied().find(|it| it.column == column)
    }

    /// How a column is generated.
    pub fn generated(&self, column: ColumnId) -> Option<Generated> {
        self.generated.iter().copied().find(|it| it.column == column)
    }

    /// The domain of a column.
    pub fn domain(&self, column: ColumnId) -> Option<&Arc<str>> {
        self.domains.iter().find(|it| it.column == column).map(|it| &it.domain)
    }

    /// What a column keeps of times or intervals, if its type says it.
    pub fn fields(&self, column: ColumnId) -> Option<Fields> {
        self.fields.iter().find(|it| it.column == column).map(|it| it.fields)
    }

    /// Says what a column keeps, or that it keeps all.
    pub fn put_fields(&mut self, column: ColumnId, fields: Option<Fields>) {
        self.fields.retain(|it| it.column != column);
        self.fields.extend(fields.map(|fields| FieldsColumn { column, fields }));
    }

    /// The expressions of generated columns, to be changed.
    pub fn generation_expressions(&mut self) -> impl Iterator<Item = &mut Arc<str>> {
        let generated: Vec<usize> = self.generated.iter().map(|it| it.column.index()).collect();
        let defaults = self.defaults.iter_mut().enumerate();
        defaults.filter(move |it| generated.contains(&it.0)).filter_map(|it| it.1.as_mut())
    }

    /// Whether nothing is asked.
    pub fn is_empty(&self) -> bool {
        self.checks.is_empty()
            && self.domains.is_empty()
            && self.fields.is_empty()
            && self.defaults.iter().all(Option::is_none)
    }
}

/// A table as the planner sees it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TableInfo {
    /// Its id.
    pub id: TableId,
    /// Its name.
    pub name: String,
    /// Its columns in order.
    pub columns: Vec<ColumnInfo>,
    /// Its rows.
    pub rows: u64,
    /// Whether that is a guess, as of files that nobody has read: then nothing follows from it.
    pub is_guess: bool,
}

impl ColumnInfo {
    /// Whether some row of the table, which has so many, holds NULL, or may come to: an empty table tells nothing.
    pub fn may_be_null(&self, rows: u64) -> bool {
        self.nullable && (self.statistics.nulls > 0 || rows == 0)
    }
}

/// Values that a number may be beyond what there is before it is beyond what is said of a table that changes often.
const SLACK_MIN: i128 = 1 << 10;

impl ColumnStatistics {
    /// These facts with bounds that leave room for values to come: what follows from them stays true for longer.
    fn loosened(&self) -> Self {
        let (Some(min), Some(max)) = (&self.min, &self.max) else { return self.clone() };
        let (min, max) = match (min, max) {
            (Value::Text(_), _) => (Value::Text("".into()), Value::Text("\u{10ffff}".into())),
            (Value::Float(_), _) => (Value::Float(f64::NEG_INFINITY), Value::Float(f64::INFINITY)),
            _ => {
                let (Some(low), Some(high)) = (min.as_i128(), max.as_i128()) else {
                    return self.clone();
                };
                let slack = (high.saturating_sub(low) / 4).max(SLACK_MIN);
                let Some(step) = (slack as u128).checked_next_power_of_two() else {
                    return self.clone();
                };
                let step = step as i128;
                let below = low.div_euclid(step).saturating_mul(step).saturating_sub(step);
                let above = high.div_euclid(step).saturating_add(2).saturating_mul(step);
                match (min.with_i128(below), max.with_i128(above)) {
                    (Some(min), Some(max)) => (min, max),
                    _ => return self.clone(),
                }
            }
        };
        Self { min: Some(min), max: Some(max), widened: true, ..self.clone() }
    }
}

impl TableInfo {
    /// The same with bounds that leave room for values to come.
    pub fn loosened(&self) -> Self {
        let column =
            |it: &ColumnInfo| ColumnInfo { statistics: it.statistics.loosened(), ..it.clone() };
        Self { columns: self.columns.iter().map(column).collect(), ..self.clone() }
    }

    /// A column by id.
    pub fn column(&self, id: ColumnId) -> &ColumnInfo {
        &self.columns[id.index()]
    }

    /// The same table with one more column behind its own, whose values are the positions of the rows. Only statements that
    /// change rows see it.
    pub fn with_positions(&self) -> Self {
        let statistics = ColumnStatistics {
            nulls: 0,
            distinct: self.rows,
            distinct_exact: true,
            min: Some(Value::Integer(0)),
            max: Some(Value::Integer(i64::from(u32::MAX))),
            sorted: true,
            widened: true,
        };
        let (name, data_type) = ("row position".to_owned(), DataType::BigInt);
        let (nullable, numbers_rows, scan_bytes, index) = (false, false, 0, None);
        let hidden =
            ColumnInfo { name, data_type, nullable, statistics, scan_bytes, numbers_rows, index };
        let mut table = self.clone();
        table.columns.push(hidden);
        table
    }

    /// Whether no two rows share a value of this column. Never of floats and of numbers of any scale: statistics tell zeros
    /// of two signs apart, and 1.0 and 1.00, which are equal.
    pub fn is_unique(&self, id: ColumnId) -> bool {
        let ColumnInfo { statistics, data_type, .. } = self.column(id);
        !data_type.is_float()
            && *data_type != DataType::Numeric
            && statistics.distinct_exact
            && statistics.nulls == 0
            && statistics.distinct == self.rows
    }
}

/// A column of a file that was not read: no type here holds what it holds, or no word of the statement is its name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnreadColumn {
    /// Its name, as the file has it.
    pub name: String,
    /// What a statement that uses it ends with.
    pub error: SqlError,
}

/// A consistent picture of the tables at the start of a statement.
pub trait CatalogView: Send + Sync {
    /// A table by its schema, or where the statement looks when none is said, and its name, in any case. The same table
    /// gives the same reference, so that what is made of it can be kept.
    fn table(&self, schema: Option<&str>, name: &str) -> Option<Arc<TableInfo>>;
    /// A view by name, as [`CatalogView::table`] finds tables.
    fn view(&self, _schema: Option<&str>, _name: &str) -> Option<Arc<ViewDefinition>> {
        None
    }
    /// The name of the database, which may stand before a schema; empty where none is known.
    fn database(&self) -> &str {
        ""
    }
    /// The names of all tables, for suggestions.
    fn table_names(&self) -> Vec<String>;
    /// The type that users made under a name, found as [`CatalogView::table`] finds tables.
    fn user_type(&self, _schema: Option<&str>, _name: &str) -> Option<Arc<UserType>> {
        None
    }
    /// The columns that a table has beside those of its [`TableInfo`].
    fn unread(&self, _table: TableId) -> Vec<UnreadColumn> {
        Vec::new()
    }
    /// What a table asks of its rows; `None` where it asks nothing.
    fn row_rules(&self, _table: TableId) -> Option<Arc<RowRules>> {
        None
    }
    /// The keys and unique indexes of a table.
    fn unique_keys(&self, _table: TableId) -> Vec<UniqueKey> {
        Vec::new()
    }
    /// The name ([`crate::names::joined`]) of the sequence that a name means, found as [`CatalogView::table`] finds tables.
    fn sequence(&self, _schema: Option<&str>, _name: &str) -> Option<String> {
        None
    }
    /// Whether there is any macro.
    fn has_macros(&self) -> bool {
        false
    }
    /// The macros that a name may mean, in the order in which they are asked: of the schema that is said, or of those in which names
    /// are looked for, in each those of tables first. Those that go with their session are found with their schema alone.
    fn macros_of(&self, _schema: Option<&str>, _name: &str) -> Vec<Arc<MacroDefinition>> {
        Vec::new()
    }
    /// Whether an extension has a function of a name in a schema, which is one that is built in.
    fn has_of_extension(&self, _schema: &str, _name: &str) -> bool {
        false
    }

    /// Whether who looks may look for functions in a schema.
    ///
    /// # Errors
    /// 3F000 where there is no such schema, 42501 where it may not.
    fn check_schema(&self, _schema: &str) -> SqlResult<()> {
        Ok(())
    }
    /// Whether the statement that looks may go on; binding and planning ask it again and again.
    fn interrupt(&self) -> &Interrupt {
        &crate::interrupt::NEVER
    }
}
