//! EXPORT DATABASE and IMPORT DATABASE: all tables as SQL and files in a folder, as DuckDB has it.
//!
//! `schema.sql` makes the tables, with keys, checks, defaults, parts and places; `load.sql` fills them, and makes their
//! indexes. An export is of one snapshot; an import is one transaction.

use std::fs;
use std::path::{Path, PathBuf};

use binder::{CopyPlace, Statement};
use types::{SqlError, SqlResult, SqlState, names};

use super::format::CopyFormat;
use super::schema_sql::{
    after_load, comments, create_schemas, create_sequence, create_table, create_types, create_view,
    is_own, macros, position, references, refresh, sequences, views,
};
use super::to::query_of;
use super::writing::io_failed;
use crate::answer::done;
use crate::client_settings::BODIES;
use crate::generated_ddl::rows_without_generated;
use crate::sql_names::sql_name;
use crate::{Answer, CancelToken, Session};

const SCHEMA: &str = "schema.sql";
const LOAD: &str = "load.sql";

impl Session {
    pub(crate) fn export_database(
        &self,
        folder: &str,
        options: &[(String, String)],
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        self.check_files(true)?;
        let format = CopyFormat::of(options, Some("parquet"))?;
        if !matches!(format, CopyFormat::Parquet(_)) {
            return Err(SqlError::unsupported("EXPORT DATABASE writes Parquet files")
                .with_hint("COPY t TO 'file' (FORMAT csv) writes one table as CSV"));
        }
        let mut export = Export::begin(Path::new(folder))?;
        let snapshot = self.snapshot();
        let mut schema: String = create_schemas(&snapshot) + &create_types(&snapshot);
        schema.extend(sequences(&snapshot).map(|it| create_sequence(it)));
        let mut load = String::new();
        let mut tables = snapshot.tables();
        tables.retain(|it| is_own(it));
        tables.sort_by(|a, b| a.name.cmp(&b.name));
        for table in &tables {
            let path = export.file_of(&table.name, format.extension());
            let name = sql_name(&table.name);
            if !table.columns.is_empty() {
                let query = query_of(&rows_without_generated(table))?;
                self.write_rows(&query, snapshot.clone(), &path, &format, cancel)?;
                let path = path.display().to_string().replace('\'', "''");
                load.push_str(&format!("COPY {name} FROM '{path}' (FORMAT parquet);\n"));
            }
            schema.push_str(&create_table(table, &snapshot));
            load.push_str(&after_load(table));
        }
        schema.extend(views(&snapshot).iter().map(|it| create_view(it)));
        load.extend(tables.iter().map(|it| references(it)));
        load.extend(sequences(&snapshot).map(|it| position(it)));
        load.extend(views(&snapshot).iter().map(|it| refresh(it, &snapshot)));
        load.push_str(&macros(&snapshot));
        load.push_str(&comments(&snapshot));
        export.write(SCHEMA, &schema)?;
        // It comes last: a folder without it is no whole export.
        export.write(LOAD, &load)?;
        export.is_whole = true;
        Ok(done("EXPORT DATABASE"))
    }

    pub(crate) fn import_database(
        &mut self,
        folder: &str,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        self.check_files(false)?;
        self.write_alone(cancel)?;
        let folder = Path::new(folder);
        for name in [SCHEMA, LOAD] {
            let path = folder.join(name);
            let text = fs::read_to_string(&path).map_err(|error| {
                let message = format!("cannot read {}: {error}", path.display());
                SqlError::new(SqlState::UNDEFINED_FILE, message)
                    .with_hint("EXPORT DATABASE writes such a folder")
            })?;
            // Places in these texts are none in that of the statement.
            self.import_text(&text, folder, cancel)
                .map_err(|error| SqlError { position: None, ..error })?;
        }
        Ok(done("IMPORT DATABASE"))
    }

    fn import_text(&mut self, text: &str, folder: &Path, cancel: &CancelToken) -> SqlResult<()> {
        let statements = binder::parse::parse(text)?;
        let levels = statements.levels();
        // An export says all schemas but one.
        let before = self.settings.client.clone();
        self.settings.client.set("search_path", Some(names::PUBLIC))?;
        // Bodies of functions name what was found when they were made, perhaps in other schemas.
        self.settings.client.set(BODIES, Some("off"))?;
        let done = self.with_levels(levels, |session| {
            for statement in statements.into_tree() {
                session.run_statement(imported(statement, folder)?, cancel.clone())?;
            }
            Ok(())
        });
        self.settings.client = before;
        done
    }
}

/// A statement of an import. Files are looked for in the folder of the import, wherever they lay when they were written.
fn imported(statement: Statement, folder: &Path) -> SqlResult<Statement> {
    match statement {
        Statement::CopyFrom {
            table,
            columns,
            place: CopyPlace::File(path),
            options,
            condition,
        } => {
            let name = Path::new(&path).file_name().unwrap_or_default();
            let path = folder.join(name).display().to_string();
            let place = CopyPlace::File(path);
            Ok(Statement::CopyFrom { table, columns, place, options, condition })
        }
        it @ (Statement::CreateTable { .. }
        | Statement::CreateSchema { .. }
        | Statement::CreateType { .. }
        | Statement::CreateDomain { .. }
        | Statement::AlterDomain { .. }
        | Statement::Comment { .. }
        | Statement::CreateMacro { .. }
        | Statement::Extension(_)
        | Statement::RefreshView { .. }
        | Statement::CreateIndex { .. }
        | Statement::CreateSequence { .. }
        | Statement::AlterSequence { .. }
        | Statement::CreateView { .. }
        | Statement::Query { .. }
        | Statement::AlterTable { .. }
        | Statement::Change { .. }) => Ok(it),
        _ => Err(SqlError::unsupported(
            "an import makes schemas, types, tables, indexes, sequences and views, fills and places them, and does nothing else",
        )),
    }
}

/// A folder that is being filled. What was written is removed again unless it became whole.
struct Export {
    folder: PathBuf,
    made_folder: bool,
    files: Vec<PathBuf>,
    is_whole: bool,
}

impl Export {
    fn begin(folder: &Path) -> SqlResult<Self> {
        let made_folder = !folder.exists();
        fs::create_dir_all(folder).map_err(|error| io_failed(folder, &error))?;
        let mut entries = fs::read_dir(folder).map_err(|error| io_failed(folder, &error))?;
        if entries.next().is_some() {
            let message = format!("the folder {} is not empty", folder.display());
            return Err(SqlError::new(SqlState("58P02"), message)
                .with_hint("name a folder that does not exist, or remove its files"));
        }
        let folder = folder.to_path_buf();
        Ok(Self { folder, made_folder, files: Vec::new(), is_whole: false })
    }

    /// A file for a table, whose name may hold what the names of files may not.
    fn file_of(&mut self, table: &str, extension: &str) -> PathBuf {
        let safe = |it: char| if it.is_ascii_alphanumeric() || it == '_' { it } else { '_' };
        let base: String = table.chars().map(safe).take(100).collect();
        let numbered = (1..).map(|it| format!("{base}_{it}"));
        let paths = std::iter::once(base.clone()).chain(numbered);
        let mut paths = paths.map(|it| self.folder.join(format!("{it}.{extension}")));
        // Names that differ in case only are one on some disks.
        let lower = |it: &Path| it.display().to_string().to_lowercase();
        let is_free = |it: &PathBuf| self.files.iter().all(|other| lower(other) != lower(it));
        let path = paths.find(is_free).unwrap_or_else(|| self.folder.join(extension));
        self.files.push(path.clone());
        path
    }

    fn write(&mut self, name: &str, text: &str) -> SqlResult<()> {
        let path = self.folder.join(name);
        self.files.push(path.clone());
        fs::write(&path, text).map_err(|error| io_failed(&path, &error))
    }
}

impl Drop for Export {
    fn drop(&mut self) {
        if self.is_whole {
            return;
        }
        // What cannot be removed is told apart by the missing load.sql.
        for file in &self.files {
            let _ = fs::remove_file(file);
        }
        if self.made_folder {
            let _ = fs::remove_dir(&self.folder);
        }
    }
}
