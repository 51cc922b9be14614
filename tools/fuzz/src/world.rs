//! Tables with their rows, and the statements that make them.

use crate::kind::Kind;

/// All tables that a query may read.
#[derive(Clone, Debug, PartialEq)]
pub struct World {
    pub tables: Vec<Table>,
}

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    pub name: String,
    pub columns: Vec<Column>,
    /// Values as they are printed, in the order of the columns.
    pub rows: Vec<Vec<String>>,
}

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    pub name: String,
    pub kind: Kind,
    pub constraint: Constraint,
}

/// What a column promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constraint {
    Nothing,
    NotNull,
    Unique,
    PrimaryKey,
}

impl Column {
    fn definition(&self) -> String {
        let constraint = match self.constraint {
            Constraint::Nothing => "",
            Constraint::NotNull => " NOT NULL",
            Constraint::Unique => " UNIQUE",
            Constraint::PrimaryKey => " PRIMARY KEY",
        };
        format!("{} {}{constraint}", self.name, self.kind)
    }
}

impl Table {
    /// `CREATE TABLE`, with what is to stand behind the columns.
    pub fn create(&self, behind: &str) -> String {
        let columns: Vec<String> = self.columns.iter().map(Column::definition).collect();
        format!("CREATE TABLE {} ({}){behind}", self.name, columns.join(", "))
    }

    /// `INSERT` of all rows; none when there are no rows.
    pub fn insert(&self) -> Option<String> {
        let rows: Vec<String> =
            self.rows.iter().map(|row| format!("({})", row.join(", "))).collect();
        (!rows.is_empty()).then(|| format!("INSERT INTO {} VALUES {}", self.name, rows.join(", ")))
    }
}

impl World {
    /// The statements that make it, in order.
    pub fn statements(&self) -> Vec<String> {
        let of = |table: &Table| [Some(table.create("")), table.insert()];
        self.tables.iter().flat_map(of).flatten().collect()
    }

    /// The same as a script.
    pub fn script(&self) -> String {
        self.statements().iter().map(|it| format!("{it};\n")).collect()
    }

    /// The same without rows that hold timestamps of the first or the last year.
    pub fn without_far_timestamps(&self) -> Self {
        let far = |value: &String| {
            value.starts_with("TIMESTAMP '0001") || value.starts_with("TIMESTAMP '9999")
        };
        let mut world = self.clone();
        for table in &mut world.tables {
            table.rows.retain(|row| !row.iter().any(far));
        }
        world
    }
}
