//! Checkpoints: the tables as files, so that the log before them is needed no more (docs/design/09-durability.md, "a
//! checkpoint").
//!
//! Key decision: tables do not change, so that a checkpoint needs the writers' turn only to go on in a new file of the log; it
//! writes the tables of that moment while others commit. A part that is as it was at the last checkpoint keeps its file.
//!
//! - Invariant: a file that the manifest names is never written again; files have new names each time.
//! - Invariant: the log is cut only up to the record that a durable manifest names.

use hardware::Folder;
use journal::{Journal, JournalError, JournalResult, Lsn, read_sealed, write_sealed};
use serde::{Deserialize, Serialize};
use stdx::sync::{Arc, Weak};
use storage::{Catalog, CatalogSnapshot, Table};
use types::{
    Extension, MacroDefinition, ObjectKind, Rights, Role, SqlError, SqlResult, SqlState, UserType,
    names,
};

use super::definition::malformed;
use super::history::Tally;
use super::loads::Loads;
use super::refusal::journal_error;
use super::sequence_form::{SequenceForm, forms};
use super::view_form::{ViewForm, view_forms};
use crate::{Loading, Progress};

use super::table_files::{self, PartFile, failed, is_of_table, of_round, write_names, write_parts};

const MANIFEST: &str = "manifest";

/// What the manifest says.
#[derive(Serialize, Deserialize, Default)]
pub(super) struct Manifest {
    /// The last record that is in the tables.
    pub(super) lsn: u64,
    /// The files of each table: its own, then those of its parts.
    pub(super) tables: Vec<Vec<String>>,
    #[serde(default)]
    pub(super) schemas: Vec<String>,
    #[serde(default)]
    pub(super) sequences: Vec<SequenceForm>,
    #[serde(default)]
    pub(super) views: Vec<ViewForm>,
    #[serde(default)]
    pub(super) types: Vec<UserType>,
    /// What each is on, and the comment.
    #[serde(default)]
    pub(super) comments: Vec<([String; 3], String)>,
    #[serde(default)]
    pub(super) macros: Vec<MacroDefinition>,
    #[serde(default)]
    pub(super) extensions: Vec<Extension>,
    /// Those that somebody has made or changed.
    #[serde(default)]
    pub(super) roles: Vec<Role>,
    /// What each are on, and the rights.
    #[serde(default)]
    pub(super) rights: Vec<((ObjectKind, String), Rights)>,
}

impl Manifest {
    /// What a catalog has, all records up to one, with the files of its tables. `cuts`: whether the log before goes.
    fn of(lsn: Lsn, files: Vec<Vec<String>>, catalog: &CatalogSnapshot, cuts: bool) -> Self {
        Self {
            lsn: lsn.0,
            tables: files,
            schemas: schemas(catalog),
            sequences: forms(catalog, cuts),
            views: view_forms(catalog),
            types: catalog.user_types().map(|it| UserType::clone(it)).collect(),
            comments: comments(catalog),
            macros: macros(catalog),
            extensions: catalog.extensions().map(|it| Extension::clone(it)).collect(),
            roles: catalog.stored_roles().map(|it| Role::clone(it)).collect(),
            rights: rights(catalog),
        }
    }
}

/// The tables of the last checkpoint, with their files.
pub(crate) type Written = Vec<(Weak<Table>, Vec<String>)>;

/// What the last checkpoint says; nothing where there is none.
pub(super) fn manifest(folder: &dyn Folder) -> SqlResult<Manifest> {
    match read_sealed(folder, MANIFEST).map_err(|it| journal_error(&it))? {
        Some(bytes) => serde_json::from_slice(&bytes).map_err(malformed),
        None => Ok(Manifest::default()),
    }
}

/// Refuses a folder with files of tables that neither a manifest nor a log knows of: a backup, or a copy, that was not
/// finished.
fn check_whole(folder: &dyn Folder, manifest: &Manifest) -> SqlResult<()> {
    let names = folder.list().map_err(failed)?;
    let is_known = !manifest.tables.is_empty() || names.iter().any(|it| it.starts_with("log-"));
    match is_known || !names.iter().any(|it| is_of_table(it)) {
        true => Ok(()),
        false => {
            let path = folder.path().display();
            let message = format!("{path} has tables and no manifest: it was never whole");
            Err(SqlError::new(SqlState::DATA_CORRUPTED, message)
                .with_hint("if a backup was cut short, remove the folder and make it again"))
        }
    }
}

/// Reads the tables of the last checkpoint into an empty catalog, and tells which record is the last in them.
pub(super) fn read(
    folder: &dyn Folder,
    (catalog, loading): (&Catalog, Loading),
    context: &storage::BuildContext<'_>,
    progress: &dyn Progress,
) -> SqlResult<(Lsn, Written, Vec<PartFile>)> {
    let manifest = manifest(folder)?;
    check_whole(folder, &manifest)?;
    let (mut written, mut files) = (Written::new(), Vec::new());
    let bytes = table_files::bytes(folder, &manifest.tables)?;
    manifest.schemas.iter().for_each(|it| catalog.put_schema(it));
    progress.begin("reading the tables", bytes);
    for names in manifest.tables {
        let (table, parts) = table_files::read(folder, &names, loading, (context, progress))?;
        let table = catalog.create(table)?;
        files.extend(parts);
        written.push((Arc::downgrade(&table), names));
    }
    progress.end();
    manifest.sequences.into_iter().for_each(|it| it.put(catalog));
    manifest.types.into_iter().for_each(|it| _ = catalog.put_type(it));
    manifest.views.into_iter().try_for_each(|it| it.put(catalog))?;
    manifest.comments.iter().for_each(|it| catalog.put_comment(&it.0, Some(&it.1)));
    manifest.macros.into_iter().for_each(|it| catalog.put_macro(it));
    manifest.extensions.into_iter().for_each(|it| catalog.put_extension(it));
    manifest.roles.into_iter().for_each(|it| catalog.put_role(it));
    for ((kind, name), rights) in manifest.rights {
        catalog.put_rights((kind, &name), Some(rights));
    }
    Ok((Lsn(manifest.lsn), written, files))
}

/// Writes tables that hold all records up to one, and cuts the log. `written` are those of the last checkpoint, then of this.
pub(super) fn write(
    folder: &dyn Folder,
    (journal, loads): (&Journal, &Loads),
    (tables, lsn): (&CatalogSnapshot, Lsn),
    written: &mut Written,
    tally: &mut Tally,
) -> SqlResult<()> {
    let round = loads.next_round();
    let known = (&*written, &loads.parts()[..]);
    let new = write_tables(folder, (tables, round), known, tally, &|| Ok(()));
    // What it has written would take the room that the log needs.
    let (new, parts) = new.inspect_err(|_| discard(folder, round))?;
    let manifest = Manifest::of(lsn, new.iter().map(|it| it.1.clone()).collect(), tables, true);
    let bytes = serde_json::to_vec(&manifest).map_err(malformed)?;
    let sealed = folder.sync().map_err(JournalError::from);
    let sealed = sealed.and_then(|()| write_sealed(folder, MANIFEST, &bytes));
    sealed.and_then(|()| journal.remove_up_to(lsn)).map_err(|it| journal_error(&it))?;
    *written = new;
    loads.checkpointed(lsn, parts);
    clean(folder, &manifest, loads).map_err(|it| journal_error(&it))
}

/// Writes what is not as it was at the last checkpoint. `may_go_on` is asked before each table.
fn write_tables(
    folder: &dyn Folder,
    (tables, round): (&CatalogSnapshot, u64),
    (written, known_parts): (&Written, &[PartFile]),
    tally: &mut Tally,
    may_go_on: &dyn Fn() -> SqlResult<()>,
) -> SqlResult<(Written, Vec<PartFile>)> {
    let (mut new, mut parts) = (Written::new(), Vec::new());
    let lasting = tables.tables().into_iter().filter(|it| !names::is_temporary(&it.name));
    for (place, table) in lasting.enumerate() {
        may_go_on()?;
        let known = written.iter().find(|it| std::ptr::eq(it.0.as_ptr(), &*table));
        let name = format!("{}{place}", of_round(round));
        let files = write_parts(folder, &table, &name, known_parts, tally)?;
        let names = match known {
            Some((_, names)) => {
                tally.kept += 1;
                names.clone()
            }
            None => write_names(folder, &table, name, &files, tally)?,
        };
        new.push((Arc::downgrade(&table), names));
        parts.extend(files);
    }
    Ok((new, parts))
}

/// The schemas that outlast their sessions.
fn schemas(tables: &CatalogSnapshot) -> Vec<String> {
    let all = tables.schemas().map(ToString::to_string);
    all.filter(|it| !it.starts_with(names::TEMPORARY)).collect()
}

/// The macros that outlast their sessions.
fn macros(tables: &CatalogSnapshot) -> Vec<MacroDefinition> {
    let lasting = tables.macros().filter(|it| !names::is_temporary(&it.name));
    lasting.map(|it| MacroDefinition::clone(it)).collect()
}

/// The comments on what outlasts its session.
fn comments(tables: &CatalogSnapshot) -> Vec<([String; 3], String)> {
    let lasting = tables.comments().into_iter().filter(|it| !names::is_temporary(&it.0[1]));
    lasting.map(|(of, text)| (of, text.to_string())).collect()
}

/// The rights on what outlasts its session.
fn rights(tables: &CatalogSnapshot) -> Vec<((ObjectKind, String), Rights)> {
    let mut all = tables.all_rights();
    all.retain(|it| !names::is_temporary(&it.0.1));
    all.into_iter().map(|(of, rights)| (of, Rights::clone(&rights))).collect()
}

/// Removes the files of a checkpoint that failed, before any manifest named them. What stays is removed by the next.
fn discard(folder: &dyn Folder, round: u64) {
    let begin = of_round(round);
    let names = folder.list().unwrap_or_default().into_iter().filter(|it| it.starts_with(&begin));
    names.for_each(|it| _ = folder.remove(&it));
}

/// Writes all tables to a folder that has nothing yet, as a checkpoint before any record. `may_go_on` is asked before
/// each.
pub(super) fn write_anew(
    folder: &dyn Folder,
    tables: &CatalogSnapshot,
    may_go_on: &dyn Fn() -> SqlResult<()>,
) -> SqlResult<()> {
    let (nothing, mut tally) = ((&Written::new(), &[][..]), Tally::default());
    let (new, _) = write_tables(folder, (tables, 1), nothing, &mut tally, may_go_on)?;
    folder.sync().map_err(failed)?;
    let manifest = Manifest::of(Lsn(0), new.into_iter().map(|it| it.1).collect(), tables, false);
    let bytes = serde_json::to_vec(&manifest).map_err(malformed)?;
    write_sealed(folder, MANIFEST, &bytes).map_err(|it| journal_error(&it))
}

/// Removes the files of tables that are in no checkpoint any more, and that no record names.
fn clean(folder: &dyn Folder, manifest: &Manifest, loads: &Loads) -> JournalResult<()> {
    for name in folder.list()? {
        let is_named = manifest.tables.iter().flatten().any(|it| *it == name);
        if is_of_table(&name) && !is_named && !loads.has(&name) {
            folder.remove(&name)?;
        }
    }
    Ok(())
}
