//! What a transaction did, one thing after the other, as the bytes of a record.
//!
//! An operation is the length of its head (4 bytes) and the head as JSON; the number of positions (8) and the positions (8
//! each); the number of runs of rows (4), and of each its length (8) and what it is ([`super::row_run`]). Numbers are little-endian.

use arrow_array::RecordBatch;
use journal::Record;
use serde::{Deserialize, Serialize};
use storage::{ColumnChange, Rules, Sequence, Table};
use types::{
    Extension, MacroDefinition, ObjectKind, Rights, Role, SequencePosition, SqlError, SqlResult,
    UserType, ViewDefinition, names,
};

use super::column_form::ColumnForm;
use super::definition::{ReshapeForm, RulesForm, TableForm, malformed};
use super::row_run;
use super::sequence_form::SequenceForm;
use super::view_form::ViewForm;
use crate::reshape::Reshape;

/// What was done to a table, a sequence or a view.
#[derive(Serialize, Deserialize)]
pub(crate) enum Deed {
    /// It was made, with rows.
    Create { table: TableForm, or_replace: bool },
    /// It was dropped.
    Drop { table: String },
    /// Rows went and others came.
    Change { table: String },
    /// All rows went.
    Empty { table: String },
    /// It has other keys and indexes.
    Rules { table: String, rules: RulesForm },
    /// There is a sequence of this name, or another than before.
    Sequence { sequence: SequenceForm },
    /// A sequence was dropped.
    DropSequence { sequence: String },
    /// There is a view of this name, or another than before.
    View { view: ViewForm },
    /// A view was dropped.
    DropView { view: String },
    /// There is a type of this name, or another than before.
    Type { it: UserType },
    /// A type was dropped.
    DropType { name: String },
    /// There is a schema of this name.
    Schema { schema: String },
    /// There is another comment on something, or none.
    Comment { of: [String; 3], text: Option<String> },
    /// There is a macro of this name, or another than before.
    Macro { definition: MacroDefinition },
    /// A macro was dropped, of whose forms nothing is said.
    DropMacro(MacroDefinition),
    /// There is an extension of this name, or another than before.
    Extension { it: Extension },
    /// An extension was dropped.
    DropExtension { extension: String },
    /// A schema was dropped.
    DropSchema { schema: String },
    /// There is a role of this number, or another than before.
    Role { role: Role },
    /// A role was dropped.
    DropRole { role: String },
    /// There are other rights on something; `None` where nobody has said anything of them any more.
    Rights { kind: ObjectKind, name: String, rights: Option<Rights> },
    /// The counter of a sequence is there; other than all else not as a part of a transaction.
    Count { counter: u64, position: SequencePosition },
    /// It is what some files hold: its own, then those of its parts.
    Load { table: String, files: Vec<String> },
    /// A column of it came, went or is another; with the values of one that was built.
    Column { table: String, change: ColumnForm },
    /// It has another name.
    Rename { table: String, to: String },
    /// It is cut or placed in another way.
    Reshape { table: String, steps: Vec<ReshapeForm> },
}

/// A deed with its rows.
pub(crate) struct Operation {
    pub(crate) deed: SqlResult<Deed>,
    /// Positions of rows that went.
    pub(crate) gone: Vec<u64>,
    /// Rows that came.
    pub(crate) rows: Vec<RecordBatch>,
}

impl Operation {
    fn without_rows(deed: SqlResult<Deed>) -> Self {
        Self { deed, gone: Vec::new(), rows: Vec::new() }
    }

    pub(crate) fn create(table: &Table, or_replace: bool, rows: &[RecordBatch]) -> Self {
        let deed = TableForm::of(table).map(|table| Deed::Create { table, or_replace });
        Self { rows: rows.to_vec(), ..Self::without_rows(deed) }
    }

    pub(crate) fn drop_table(table: &str) -> Self {
        Self::without_rows(Ok(Deed::Drop { table: table.to_owned() }))
    }

    pub(crate) fn change(table: &str, gone: &[u64], rows: &[RecordBatch]) -> Self {
        let deed = Ok(Deed::Change { table: table.to_owned() });
        Self { deed, gone: gone.to_vec(), rows: rows.to_vec() }
    }

    pub(crate) fn empty(table: &str) -> Self {
        Self::without_rows(Ok(Deed::Empty { table: table.to_owned() }))
    }

    pub(crate) fn rules(table: &str, rules: &Rules) -> Self {
        let (table, rules) = (table.to_owned(), RulesForm::of(rules));
        Self::without_rows(Ok(Deed::Rules { table, rules }))
    }

    pub(crate) fn sequence(sequence: &Sequence) -> Self {
        Self::without_rows(Ok(Deed::Sequence { sequence: SequenceForm::of(sequence) }))
    }

    pub(crate) fn drop_sequence(name: &str) -> Self {
        Self::without_rows(Ok(Deed::DropSequence { sequence: name.to_owned() }))
    }

    pub(crate) fn view(view: &ViewDefinition) -> Self {
        Self::without_rows(Ok(Deed::View { view: ViewForm::of(view) }))
    }

    pub(crate) fn drop_view(name: &str) -> Self {
        Self::without_rows(Ok(Deed::DropView { view: name.to_owned() }))
    }

    pub(crate) fn user_type(it: &UserType) -> Self {
        Self::without_rows(Ok(Deed::Type { it: it.clone() }))
    }

    pub(crate) fn drop_type(name: &str) -> Self {
        Self::without_rows(Ok(Deed::DropType { name: name.to_owned() }))
    }

    pub(crate) fn schema(name: &str) -> Self {
        Self::without_rows(Ok(Deed::Schema { schema: name.to_owned() }))
    }

    pub(crate) fn comment(of: &[String; 3], text: Option<&str>) -> Self {
        let (of, text) = (of.clone(), text.map(str::to_owned));
        Self::without_rows(Ok(Deed::Comment { of, text }))
    }

    pub(crate) fn macro_made(definition: &MacroDefinition) -> Self {
        Self::without_rows(Ok(Deed::Macro { definition: definition.clone() }))
    }

    pub(crate) fn drop_macro(name: &str, is_table: bool) -> Self {
        let (name, forms) = (name.to_owned(), Vec::new());
        Self::without_rows(Ok(Deed::DropMacro(MacroDefinition { name, is_table, forms })))
    }

    pub(crate) fn extension(it: &Extension) -> Self {
        Self::without_rows(Ok(Deed::Extension { it: it.clone() }))
    }

    pub(crate) fn drop_extension(name: &str) -> Self {
        Self::without_rows(Ok(Deed::DropExtension { extension: name.to_owned() }))
    }

    pub(crate) fn drop_schema(name: &str) -> Self {
        Self::without_rows(Ok(Deed::DropSchema { schema: name.to_owned() }))
    }

    pub(crate) fn role(role: &Role) -> Self {
        Self::without_rows(Ok(Deed::Role { role: role.clone() }))
    }

    pub(crate) fn drop_role(name: &str) -> Self {
        Self::without_rows(Ok(Deed::DropRole { role: name.to_owned() }))
    }

    pub(crate) fn rights((kind, name): (ObjectKind, &str), rights: Option<Rights>) -> Self {
        Self::without_rows(Ok(Deed::Rights { kind, name: name.to_owned(), rights }))
    }

    /// Whether it was done to what goes with its session, of which the log knows nothing.
    pub(crate) fn is_temporary(&self) -> bool {
        self.deed.as_ref().is_ok_and(|it| names::is_temporary(it.name()))
    }

    pub(crate) fn count(counter: u64, position: SequencePosition) -> Self {
        Self::without_rows(Ok(Deed::Count { counter, position }))
    }

    pub(crate) fn load(table: &str, files: Vec<String>) -> Self {
        Self::without_rows(Ok(Deed::Load { table: table.to_owned(), files }))
    }

    pub(crate) fn column(table: &str, change: &ColumnChange, values: &[RecordBatch]) -> Self {
        let (table, change) = (table.to_owned(), ColumnForm::of(change));
        Self { rows: values.to_vec(), ..Self::without_rows(Ok(Deed::Column { table, change })) }
    }

    pub(crate) fn rename(table: &str, to: &str) -> Self {
        let (table, to) = (table.to_owned(), to.to_owned());
        Self::without_rows(Ok(Deed::Rename { table, to }))
    }

    pub(crate) fn reshape(table: &str, steps: &[Reshape]) -> Self {
        let steps = steps.iter().map(ReshapeForm::of).collect::<SqlResult<_>>();
        Self::without_rows(steps.map(|steps| Deed::Reshape { table: table.to_owned(), steps }))
    }

    /// Adds it to a record.
    pub(crate) fn write(self, record: &mut Record) -> SqlResult<()> {
        let deed = self.deed?;
        let are_changed = matches!(deed, Deed::Change { .. });
        let head = serde_json::to_vec(&deed).map_err(unwritable)?;
        record.extend(&(head.len() as u32).to_le_bytes());
        record.extend(&head);
        record.extend(&(self.gone.len() as u64).to_le_bytes());
        for position in self.gone {
            record.extend(&position.to_le_bytes());
        }
        // A run has one schema.
        let runs: Vec<&[RecordBatch]> =
            self.rows.chunk_by(|a, b| a.schema_ref() == b.schema_ref()).collect();
        record.extend(&(runs.len() as u32).to_le_bytes());
        for run in runs {
            let bytes = row_run::bytes_of(run, are_changed).map_err(unwritable)?;
            record.extend(&(bytes.len() as u64).to_le_bytes());
            record.extend(&bytes);
        }
        Ok(())
    }

    /// Takes an operation from the front of a record's bytes.
    pub(crate) fn read(bytes: &mut &[u8]) -> SqlResult<Self> {
        let length = u32::from_le_bytes(taken(bytes)?) as usize;
        let deed = serde_json::from_slice(split(bytes, length)?).map_err(malformed)?;
        let count = usize_of(taken(bytes)?)?;
        let length = count.checked_mul(8).ok_or_else(|| malformed("too many positions"))?;
        let positions = split(bytes, length)?.as_chunks().0.iter();
        let gone = positions.map(|it| u64::from_le_bytes(*it)).collect();
        let mut rows = Vec::new();
        for _ in 0..u32::from_le_bytes(taken(bytes)?) {
            let length = usize_of(taken(bytes)?)?;
            rows.extend(row_run::read(split(bytes, length)?)?);
        }
        Ok(Self { deed: Ok(deed), gone, rows })
    }

    /// The files that a record names.
    pub(super) fn files_of(mut record: &[u8]) -> SqlResult<Vec<String>> {
        let (bytes, mut all) = (&mut record, Vec::new());
        while !bytes.is_empty() {
            let length = u32::from_le_bytes(taken(bytes)?) as usize;
            if let Deed::Load { files, .. } =
                serde_json::from_slice(split(bytes, length)?).map_err(malformed)?
            {
                all.extend(files);
            }
            let positions = usize_of(taken(bytes)?)?.saturating_mul(8);
            split(bytes, positions)?;
            for _ in 0..u32::from_le_bytes(taken(bytes)?) {
                let length = usize_of(taken(bytes)?)?;
                split(bytes, length)?;
            }
        }
        Ok(all)
    }
}

fn unwritable(error: impl std::fmt::Display) -> SqlError {
    SqlError::internal(format!("a change cannot be logged: {error}"))
}

fn split<'a>(bytes: &mut &'a [u8], length: usize) -> SqlResult<&'a [u8]> {
    let (front, rest) =
        bytes.split_at_checked(length).ok_or_else(|| malformed("a record ends too early"))?;
    *bytes = rest;
    Ok(front)
}

fn taken<const N: usize>(bytes: &mut &[u8]) -> SqlResult<[u8; N]> {
    split(bytes, N)?.try_into().map_err(malformed)
}

fn usize_of(bytes: [u8; 8]) -> SqlResult<usize> {
    usize::try_from(u64::from_le_bytes(bytes)).map_err(malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Logs and manifests of before there were functions in schemas.
    #[test]
    fn macros_that_say_no_schema_are_in_the_usual_one() {
        let old = r#"{"name":"a.b","is_table":true,"forms":[{"parameters":[],"body":"SELECT 1"}]}"#;
        let read: MacroDefinition = serde_json::from_str(old).unwrap();
        assert_eq!((&*read.name, &*read.bare_name()), ("\"a.b\"", "a.b"));
        assert_eq!(serde_json::to_string(&read).unwrap(), old);
        let own = MacroDefinition { name: "s.f".to_owned(), forms: Vec::new(), ..read };
        let kept = serde_json::to_string(&Deed::DropMacro(own)).unwrap();
        assert_eq!(kept, r#"{"DropMacro":{"schema":"s","name":"f","is_table":true}}"#);
        let old = r#"{"DropMacro":{"name":"f","is_table":false}}"#;
        let read: Deed = serde_json::from_str(old).unwrap();
        assert_eq!(read.name(), "f");
    }
}
