//! Doing once more what a record says was done.

use arrow_array::RecordBatch;
use hardware::Folder;
use journal::Lsn;
use storage::Catalog;
use types::{SqlError, SqlResult};

use super::column_form::values_of;
use super::definition::malformed;
use super::loads::Loads;
use super::operation::{Deed, Operation};
use super::sequence_form::count;
use super::table_files;
use crate::parallel::LoadProgress;
use crate::reshape::reshaped;
use crate::{CancelToken, NoProgress, Session};

/// The files that records name.
pub(super) struct ReplayedFiles<'a> {
    pub(super) folder: &'a dyn Folder,
    pub(super) loads: &'a Loads,
    /// The record.
    pub(super) lsn: Lsn,
}

impl Session {
    /// Does all operations of a record.
    pub(super) fn replay(&mut self, mut record: &[u8], files: &ReplayedFiles<'_>) -> SqlResult<()> {
        while !record.is_empty() {
            let Operation { deed, gone, rows } = Operation::read(&mut record)?;
            self.redo(deed?, &gone, rows, files)?;
        }
        Ok(())
    }

    fn redo(
        &self,
        deed: Deed,
        gone: &[u64],
        rows: Vec<RecordBatch>,
        files: &ReplayedFiles<'_>,
    ) -> SqlResult<()> {
        let cancel = CancelToken::new();
        let topology = self.database.machine.topology();
        let (name, catalog) = (deed.name().to_owned(), &self.database.catalog);
        let design = match &deed {
            Deed::Create { table, .. } => table.design(topology)?,
            _ => storage::TableDesign::default(),
        };
        let (team, progress) = (
            self.load_team(&cancel),
            LoadProgress::new(&NoProgress as &dyn crate::Progress, &name),
        );
        let context = self.build_context(&team, &progress, &|| false, &design);
        // A transaction may have broken keys before it kept them.
        let context = storage::BuildContext { broken: &storage::EverythingPutOff, ..context };
        let old =
            || catalog.get(&name).ok_or_else(|| malformed(format!("there is no table {name}")));
        let (old, new) = match deed {
            Deed::Create { table, or_replace } => {
                let made = self.build(&name, table.schema(), rows, &design, &cancel)?;
                let made = made.with_rules(table.rules()?, &context)?;
                match or_replace {
                    true => catalog.create_or_replace(made),
                    false => catalog.create(made)?,
                };
                return Ok(());
            }
            Deed::Load { files: names, .. } => {
                let loading = self.database.loading;
                let to = (&context, &NoProgress as &dyn crate::Progress);
                let (table, parts) = table_files::read(files.folder, &names, loading, to)?;
                files.loads.replayed(files.lsn, &names, parts);
                catalog.create_or_replace(table);
                return Ok(());
            }
            Deed::Change { .. } => (old()?, old()?.changed(gone, &rows, &context)?),
            Deed::Empty { .. } => (old()?, old()?.emptied(&context)?),
            Deed::Column { change, .. } => {
                let values = values_of(&rows)?;
                (old()?, old()?.with_column_changed(&change.read(), values.as_ref(), &context)?)
            }
            Deed::Rules { rules, .. } => (old()?, old()?.ruled(rules.read()?, &context)?),
            Deed::Reshape { steps, .. } => {
                let steps = steps.iter().map(|it| it.read(topology));
                let steps = steps.collect::<SqlResult<Vec<_>>>()?;
                match reshaped(&*old()?, &steps, &context)? {
                    Some(new) => (old()?, new),
                    None => return Ok(()),
                }
            }
            other => return redo_name(catalog, other),
        };
        catalog.replace(&old, new).map(|_| ())
    }
}

/// Does what needs no rows: only names change, and what is kept under them.
fn redo_name(catalog: &Catalog, deed: Deed) -> SqlResult<()> {
    let name = deed.name().to_owned();
    match deed {
        Deed::Sequence { sequence } => sequence.put(catalog),
        Deed::DropSequence { .. } => return catalog.drop_sequence(&name),
        Deed::View { view } => return view.put(catalog),
        Deed::DropView { .. } => return catalog.drop_view(&name),
        Deed::Type { it } => _ = catalog.put_type(it),
        Deed::DropType { .. } => return catalog.drop_type(&name),
        Deed::Schema { .. } => catalog.put_schema(&name),
        Deed::DropSchema { .. } => return catalog.drop_schema(&name),
        Deed::Comment { of, text } => catalog.put_comment(&of, text.as_deref()),
        Deed::Macro { definition } => catalog.put_macro(definition),
        Deed::DropMacro(it) => catalog.drop_macro(&it.name, it.is_table),
        Deed::Extension { it } => catalog.put_extension(it),
        Deed::DropExtension { .. } => catalog.drop_extension(&name),
        Deed::Role { role } => catalog.put_role(role),
        Deed::DropRole { role } => catalog.drop_role(&role),
        Deed::Rights { kind, rights, .. } => catalog.put_rights((kind, &name), rights),
        Deed::Count { counter, position } => count(&catalog.snapshot(), counter, position),
        Deed::Drop { .. } => return catalog.drop_table(&name).map(|_| ()),
        Deed::Rename { to, .. } => return catalog.rename(&name, &to).map(|_| ()),
        _ => return Err(malformed("a deed of rows")),
    }
    Ok(())
}

impl Deed {
    /// The name of what it was done to.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Create { table, .. } => &table.name,
            Self::Sequence { sequence } => &sequence.name,
            Self::DropSequence { sequence } => sequence,
            Self::View { view } => &view.name,
            Self::DropView { view } => view,
            Self::Type { it } => &it.name,
            Self::DropType { name } => name,
            Self::Comment { of: [_, name, _], .. } => name,
            Self::Schema { schema } | Self::DropSchema { schema } => schema,
            Self::Macro { definition } | Self::DropMacro(definition) => &definition.name,
            Self::Role { role } => &role.name,
            Self::DropRole { role } => role,
            Self::Rights { name, .. } => name,
            Self::Count { .. } => "a counter",
            Self::Drop { table }
            | Self::Change { table }
            | Self::Empty { table }
            | Self::Load { table, .. }
            | Self::Rules { table, .. }
            | Self::Column { table, .. }
            | Self::Rename { table, .. }
            | Self::Reshape { table, .. } => table,
            Self::Extension { it } => &it.name,
            Self::DropExtension { extension } => extension,
        }
    }
}

/// Where in the log replaying failed.
pub(crate) fn at(record: journal::Lsn, error: SqlError) -> SqlError {
    let message = format!("record {} of the log cannot be replayed: {}", record.0, error.message);
    SqlError { message, ..error }
}
