//! What statements need, and whether who runs them has it.

use binder::bind::{Asked, AskedColumns, AskedRelation};
use binder::column_names::which_named;
use binder::{
    ColumnAlteration, Commented, Constraints, DomainChange, FunctionChange, RuleChange,
    SequenceChange, Statement, TableChange, TypeChange,
};
use storage::{CatalogSnapshot, IndexKind};
use types::{
    LockMode, ObjectKind, Privileges, RoleId, SqlError, SqlResult, SqlState, UserType, names,
};

use super::{Authority, columns_of, is_secret};
use crate::Session;
use crate::views::Viewer;

const REFUSED: SqlState = SqlState("42501");

/// Where the ids of tables begin that live as long as their statement.
const TRANSIENT: u32 = u32::MAX - (1 << 20);

/// The database, of which there is one.
const DATABASE: (ObjectKind, &str) = (ObjectKind::Database, "");

impl Session {
    /// Whether who runs a query or a change of rows has the rights that were noted when it was bound. Errors: 42501.
    pub(crate) fn check_asked(&self, asked: &Asked) -> SqlResult<()> {
        let mut within_views = asked.relations.iter().filter(|it| it.view.is_some()).peekable();
        if self.role() == RoleId::BOOTSTRAP && within_views.peek().is_none() {
            return Ok(());
        }
        let own = self.authority();
        if own.is_superuser() {
            // A superuser has no more by a view than its owner.
            return within_views.try_for_each(|it| own.check_relation(it));
        }
        for schema in &asked.schemas {
            own.check_schema(schema, Privileges::USAGE)?;
        }
        asked.relations.iter().try_for_each(|it| own.check_relation(it))
    }

    /// Whether names may be looked for in a schema. Errors: 42501.
    pub(crate) fn check_usage(&self, schema: &str) -> SqlResult<()> {
        match self.role() == RoleId::BOOTSTRAP {
            true => Ok(()),
            false => self.authority().check_schema(schema, Privileges::USAGE),
        }
    }

    /// Whether who runs a statement may, as far as no query of it tells. Errors: 42501.
    pub(crate) fn check_statement(&self, statement: &Statement) -> SqlResult<()> {
        if self.role() == RoleId::BOOTSTRAP {
            return Ok(());
        }
        let own = self.authority();
        if own.is_superuser() {
            return Ok(());
        }
        use Statement as S;
        match statement {
            S::CreateTable { .. }
            | S::CreateTableAs { .. }
            | S::CreateView { .. }
            | S::CreateSequence { .. } => self.check_creation(statement, &own),
            it if it.is_about_types() => own.check_types(it),
            S::CreateIndex { table, .. } => own.check_owner(table),
            S::AlterTable { table, change, .. } => own.check_change(table, change),
            S::AlterSequence { name, change, .. } => own.check_sequence(name, change),
            S::RefreshView { name, .. } => {
                own.check((ObjectKind::Relation, name), Privileges::MAINTAIN)
            }
            S::RenameView { name, to, .. } => {
                own.check_owner(name)?;
                own.check_create(to)
            }
            S::DropTable { names, .. }
            | S::DropView { names, .. }
            | S::DropSequence { names, .. } => names.iter().try_for_each(|it| own.check_drop(it)),
            S::RenameIndex { name, .. } => self.check_index(name, &own),
            S::DropIndex { names, .. } => {
                names.iter().try_for_each(|it| self.check_index(it, &own))
            }
            S::CreateSchema { .. } | S::Extension(_) => {
                own.check_database(Privileges::CREATE, &self.client.database)
            }
            S::RenameSchema { name, .. } => {
                own.check_owner_of_schema(name)?;
                own.check_database(Privileges::CREATE, &self.client.database)
            }
            S::DropSchema { names, .. } => {
                names.iter().try_for_each(|it| own.check_owner_of_schema(it))
            }
            S::CreateMacro { definition, .. } => own.check_create(&definition.name),
            S::AlterFunction { of, changes } => {
                changes.iter().try_for_each(|it| match it {
                    FunctionChange::Schema(to) => own.check_schema(to, Privileges::CREATE),
                    _ => Ok(()),
                })?;
                own.check_create(&of.name)
            }
            S::DropMacro { macros, .. } => {
                macros.iter().try_for_each(|it| own.check_create(&it.name))
            }
            S::Comment { of, .. } => self.check_comment(of, &own),
            S::Truncate { names, cascade, .. } => self.check_truncate(names, *cascade, &own),
            S::LockTables { names, mode, .. } => {
                names.iter().try_for_each(|it| own.check_lock(it, *mode))
            }
            S::CopyFrom { table, columns, condition, .. } => {
                own.check_copy(table, columns)?;
                own.check_copy_condition(table, condition.as_deref())
            }
            other => self.check_operation(other, &own),
        }
    }

    /// TRUNCATE, of what refers to the tables, too.
    fn check_truncate(&self, names: &[String], cascade: bool, own: &Authority) -> SqlResult<()> {
        for name in names {
            own.check((kind_of(&own.snapshot, name), name), Privileges::TRUNCATE)?;
        }
        // What cannot be emptied is told by who does it.
        let all = self.with_referring(names, cascade).unwrap_or_default();
        all.iter()
            .try_for_each(|it| own.check((ObjectKind::Relation, &it.name), Privileges::TRUNCATE))
    }

    /// What is done for the database, and to others.
    fn check_operation(&self, statement: &Statement, own: &Authority) -> SqlResult<()> {
        use Statement as S;
        match statement {
            S::Backup { .. } => only_superuser("BACKUP", "it holds all tables and passwords"),
            S::ExportDatabase { .. } if !own.has_role(RoleId::READ_ALL_DATA) => {
                only_superuser("EXPORT DATABASE", "or a member of pg_read_all_data")
            }
            S::Checkpoint if !own.has_role(RoleId::CHECKPOINT) => {
                let message = "permission denied to execute CHECKPOINT command";
                Err(SqlError::new(REFUSED, message)
                    .with_hint("it takes the privileges of the role pg_checkpoint"))
            }
            S::Call { .. } => only_superuser("CALL", "procedures look at all tables"),
            S::Kill { statement } | S::AlterQuery { statement, .. } => {
                self.check_signal(*statement, own)
            }
            S::Set { name, .. } => {
                let all = crate::database_settings::list_of_database(&self.database);
                match all.iter().any(|it| it.name.eq_ignore_ascii_case(name)) {
                    true => {
                        let message = format!("permission denied to set parameter \"{name}\"");
                        Err(SqlError::new(REFUSED, message)
                            .with_hint("it is a setting of the whole database"))
                    }
                    false => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// Whether files of the server may be read, or written. Errors: 42501.
    pub(crate) fn check_files(&self, writes: bool) -> SqlResult<()> {
        if !self.may_use_files {
            let message = "permission denied for the files of the server";
            return Err(SqlError::new(REFUSED, message).with_hint(
                "clients on the Unix socket may name them, and others with --allow-files",
            ));
        }
        let (needed, name, what) = match writes {
            true => (RoleId::WRITE_SERVER_FILES, "pg_write_server_files", "write"),
            false => (RoleId::READ_SERVER_FILES, "pg_read_server_files", "read"),
        };
        if self.role() == RoleId::BOOTSTRAP || self.authority().has_role(needed) {
            return Ok(());
        }
        let message = format!("permission denied to {what} files of the server");
        Err(SqlError::new(REFUSED, message)
            .with_hint(format!("only roles with the privileges of \"{name}\" may")))
    }

    /// Whether the texts of all statements may be seen.
    pub(crate) fn sees_all_texts(&self) -> bool {
        self.role() == RoleId::BOOTSTRAP || self.authority().has_role(RoleId::READ_ALL_STATS)
    }

    /// Whether a statement of a session may be ended or steered.
    fn check_signal(&self, statement: u64, own: &Authority) -> SqlResult<()> {
        let Ok(found) = self.database.statements.find(statement) else { return Ok(()) };
        let Some(user) = self.database.sessions.user_of(found.session) else { return Ok(()) };
        let is_super = Authority::of(own.snapshot.clone(), user).is_superuser();
        let message = "permission denied to cancel query";
        if is_super {
            return Err(SqlError::new(REFUSED, message)
                .with_hint("only superusers cancel the statements of superusers"));
        }
        match own.has_role(user) || own.has_role(RoleId::SIGNAL_BACKEND) {
            true => Ok(()),
            false => Err(SqlError::new(REFUSED, message).with_hint(
                "it takes the privileges of the role whose statement it is, or of pg_signal_backend",
            )),
        }
    }

    fn check_creation(&self, statement: &Statement, own: &Authority) -> SqlResult<()> {
        let snapshot = self.snapshot();
        match statement {
            Statement::CreateTable { name, likes, constraints, or_replace, .. } => {
                own.check_create(name)?;
                if *or_replace && snapshot.kind_of(name).is_some() {
                    own.check_owner(name)?;
                }
                for like in likes {
                    own.check((kind_of(&snapshot, &like.table), &like.table), Privileges::SELECT)?;
                }
                own.check_references(name, constraints)
            }
            Statement::CreateTableAs { name, or_replace, .. }
            | Statement::CreateView { name, or_replace, .. } => {
                own.check_create(name)?;
                match *or_replace && snapshot.kind_of(name).is_some() {
                    true => own.check_owner(name),
                    false => Ok(()),
                }
            }
            Statement::CreateSequence { name, options, .. } => {
                own.check_create(name)?;
                match &options.owner {
                    Some(Some((table, _))) => own.check_owner(table),
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    fn check_index(&self, name: &str, own: &Authority) -> SqlResult<()> {
        match self.snapshot().relation_of_index(name) {
            Some((of, _)) if !own.owns((ObjectKind::Relation, &of.name)) => {
                Err(not_owner("index", &names::bare(name)))
            }
            _ => Ok(()),
        }
    }

    fn check_comment(&self, of: &Commented, own: &Authority) -> SqlResult<()> {
        match of {
            Commented::Relation { name, .. }
            | Commented::Column { relation: name, .. }
            | Commented::Constraint { table: name, .. } => {
                own.check_owner(&self.existing_name(name, true)?)
            }
            Commented::Schema(name) => own.check_owner_of_schema(name),
            Commented::Extension(_) => {
                own.check_database(Privileges::CREATE, &self.client.database)
            }
            Commented::Function(of) => own.check_create(&of.name),
            Commented::Index(name) => self.check_index(&self.existing_index(name, true)?, own),
        }
    }
}

impl Viewer for Session {
    fn sees_texts_of(&self, session: u64) -> bool {
        let user = self.database.sessions.user_of(session);
        session == self.number
            || self.sees_all_texts()
            || user.is_some_and(|it| self.authority().has_role(it))
    }

    fn reads_table(&self, name: &str) -> bool {
        self.role() == RoleId::BOOTSTRAP
            || self.authority().may((ObjectKind::Relation, name), Privileges::SELECT)
    }

    fn reads_sequence(&self, name: &str) -> bool {
        let some = Privileges::SELECT | Privileges::USAGE;
        self.role() == RoleId::BOOTSTRAP
            || self.authority().held((ObjectKind::Sequence, name)).has_any(some)
    }
}

impl Authority {
    /// Errors: 42501 without the right.
    pub(crate) fn check(
        &self,
        (kind, name): (ObjectKind, &str),
        rights: Privileges,
    ) -> SqlResult<()> {
        match self.may((kind, name), rights) {
            true => Ok(()),
            false => Err(self.denied((kind, name))),
        }
    }

    /// The error without a right.
    pub(crate) fn denied(&self, (kind, name): (ObjectKind, &str)) -> SqlError {
        let word = match kind {
            ObjectKind::Relation | ObjectKind::Sequence => {
                self.snapshot.kind_of(name).unwrap_or("table")
            }
            other => other.word(),
        };
        let message = format!("permission denied for {word} {}", names::bare(name));
        SqlError::new(REFUSED, message)
    }

    fn check_schema(&self, schema: &str, rights: Privileges) -> SqlResult<()> {
        let is_own = schema.starts_with("pg_temp") || names::SYSTEM.contains(&schema);
        match is_own || !self.snapshot.has_schema(schema) {
            true => Ok(()),
            false => self.check((ObjectKind::Schema, schema), rights),
        }
    }

    fn check_database(&self, rights: Privileges, name: &str) -> SqlResult<()> {
        match self.may(DATABASE, rights) {
            true => Ok(()),
            false => {
                let message = format!("permission denied for database {name}");
                Err(SqlError::new(REFUSED, message))
            }
        }
    }

    /// What binding has noted of a relation; through a view its owner needs the right.
    fn check_relation(&self, asked: &AskedRelation) -> SqlResult<()> {
        let owner = asked.view.as_ref().map(|view| {
            let owner = self.snapshot.rights(ObjectKind::Relation, view).owner;
            (owner != self.role).then(|| Self::of(self.snapshot.clone(), owner))
        });
        let AskedRelation { id, name, rights, .. } = asked;
        let by = owner.as_ref().and_then(Option::as_ref).unwrap_or(self);
        let kind = kind_of(&self.snapshot, name);
        if id.0 >= TRANSIENT && kind == ObjectKind::Relation {
            return by.check_transient(name);
        }
        let schema = names::schema_of(name);
        match (schema == names::MATERIALIZED, &owner) {
            // The rows of a materialized view are those of the view.
            (true, Some(_)) => Ok(()),
            (true, None) => {
                Err(SqlError::new(REFUSED, format!("permission denied for schema {schema}")))
            }
            (false, _) => by.check_columns((kind, name), *rights, &asked.columns),
        }
    }

    /// Errors: 42501 without the rights to a relation, or to the columns that they are needed on.
    fn check_columns(
        &self,
        of: (ObjectKind, &str),
        rights: Privileges,
        columns: &AskedColumns,
    ) -> SqlResult<()> {
        if self.may(of, rights) {
            return Ok(());
        }
        type P = Privileges;
        let left = rights & !self.held(of);
        let by_column = [
            (P::SELECT, &columns.selected),
            (P::INSERT, &columns.inserted),
            (P::UPDATE, &columns.updated),
        ];
        let has = |(right, on): &(P, &Vec<String>)| {
            !left.has(*right) || self.may_columns(of.1, *right, on)
        };
        let is_single = (P::SELECT | P::INSERT | P::UPDATE).has(left);
        match of.0 == ObjectKind::Relation && is_single && by_column.iter().all(has) {
            true => Ok(()),
            false => Err(self.denied(of)),
        }
    }

    /// A relation that is made for the statement: of the catalog's own all but one are for everybody.
    fn check_transient(&self, name: &str) -> SqlResult<()> {
        let (schema, bare) = names::split(name);
        match is_secret(&schema, &bare) && !self.is_superuser() {
            true => {
                let word = if bare == "pg_authid" { "table" } else { "view" };
                Err(SqlError::new(REFUSED, format!("permission denied for {word} {bare}")))
            }
            false => Ok(()),
        }
    }

    /// Whether a relation may be made.
    pub(crate) fn check_create(&self, name: &str) -> SqlResult<()> {
        if names::is_temporary(name) {
            return match self.may(DATABASE, Privileges::TEMPORARY) {
                true => Ok(()),
                false => {
                    let message =
                        "permission denied to create temporary tables in database \"nodewise\"";
                    Err(SqlError::new(REFUSED, message))
                }
            };
        }
        self.check_schema(&names::schema_of(name), Privileges::CREATE)
    }

    /// Whether it owns a relation; of one that is not there others tell.
    pub(super) fn check_owner(&self, name: &str) -> SqlResult<()> {
        let Some(word) = self.snapshot.kind_of(name) else { return Ok(()) };
        match self.owns((kind_of(&self.snapshot, name), name)) {
            true => Ok(()),
            false => Err(not_owner(word, &names::bare(name))),
        }
    }

    /// Who owns a schema drops what is in it.
    fn check_drop(&self, name: &str) -> SqlResult<()> {
        let schema = names::schema_of(name);
        match self.owns((ObjectKind::Schema, &schema)) {
            true => Ok(()),
            false => self.check_owner(name),
        }
    }

    pub(super) fn check_owner_of_schema(&self, name: &str) -> SqlResult<()> {
        match !self.snapshot.has_schema(name) || self.owns((ObjectKind::Schema, name)) {
            true => Ok(()),
            false => Err(not_owner("schema", name)),
        }
    }

    /// Whether it may change a sequence.
    fn check_sequence(&self, name: &str, change: &SequenceChange) -> SqlResult<()> {
        self.check_owner(name)?;
        match change {
            SequenceChange::Rename(to) => self.check_create(to),
            SequenceChange::Options(options) => match &options.owner {
                Some(Some((table, _))) => self.check_owner(table),
                _ => Ok(()),
            },
        }
    }

    /// Whether it may make, change or drop types.
    fn check_types(&self, statement: &Statement) -> SqlResult<()> {
        let all: &[String] = match statement {
            Statement::CreateType { name, .. } | Statement::CreateDomain { name, .. } => {
                return self.check_create(name);
            }
            Statement::AlterType { name, change }
            | Statement::AlterDomain { name, change: DomainChange::Type(change) } => {
                if let TypeChange::Schema(schema) = change {
                    self.check_create(&names::joined(schema, &names::bare(name)))?;
                }
                std::slice::from_ref(name)
            }
            Statement::AlterDomain { name, .. } => std::slice::from_ref(name),
            Statement::DropType { names, .. } => names,
            _ => &[],
        };
        let mut all = all.iter().filter_map(|it| self.snapshot.user_type(it));
        all.try_for_each(|it| self.check_owner_of_type(it))
    }

    /// Errors: 42501 where it does not own a type.
    pub(super) fn check_owner_of_type(&self, it: &UserType) -> SqlResult<()> {
        match self.has_role(it.owner) {
            true => Ok(()),
            false => Err(not_owner("type", &it.name)),
        }
    }

    fn check_change(&self, table: &str, change: &TableChange) -> SqlResult<()> {
        self.check_owner(table)?;
        match change {
            TableChange::Rename(to) => self.check_create(to),
            TableChange::Rules(changes) => changes.iter().try_for_each(|it| match it {
                RuleChange::Add(constraints)
                | RuleChange::Column(ColumnAlteration::Add { constraints, .. }) => {
                    self.check_references(table, constraints)
                }
                _ => Ok(()),
            }),
            _ => Ok(()),
        }
    }

    /// Rows are added, of all columns or of some.
    fn check_copy(&self, name: &str, columns: &[String]) -> SqlResult<()> {
        let mut inserted = columns.to_vec();
        if inserted.is_empty() {
            inserted = columns_of(&self.snapshot, name).into_iter().map(|it| it.1).collect();
        }
        let columns = AskedColumns { inserted, ..AskedColumns::default() };
        self.check_columns((ObjectKind::Relation, name), Privileges::INSERT, &columns)
    }

    /// The condition of COPY .. FROM reads the columns that it names.
    pub(crate) fn check_copy_condition(
        &self,
        name: &str,
        condition: Option<&str>,
    ) -> SqlResult<()> {
        let Some(condition) = condition else { return Ok(()) };
        let all: Vec<String> =
            columns_of(&self.snapshot, name).into_iter().map(|it| it.1).collect();
        let names: Vec<&str> = all.iter().map(String::as_str).collect();
        let named = which_named(condition, &names)?;
        let selected: Vec<String> =
            all.iter().zip(named).filter(|it| it.1).map(|it| it.0.clone()).collect();
        if selected.is_empty() {
            return Ok(());
        }
        let columns = AskedColumns { selected, ..AskedColumns::default() };
        self.check_columns((ObjectKind::Relation, name), Privileges::SELECT, &columns)
    }

    /// Foreign keys tell which keys their parents have.
    fn check_references(&self, own: &str, constraints: &Constraints) -> SqlResult<()> {
        let mut others =
            constraints.references.iter().filter(|it| !it.parent.eq_ignore_ascii_case(own));
        others.try_for_each(|it| {
            let of = (ObjectKind::Relation, &*it.parent);
            let columns: Vec<String> = match &it.parent_columns[..] {
                [] => self.primary_key(of.1),
                all => all.iter().map(|it| it.to_string()).collect(),
            };
            match self.may(of, Privileges::REFERENCES)
                || !columns.is_empty() && self.may_columns(of.1, Privileges::REFERENCES, &columns)
            {
                true => Ok(()),
                false => Err(self.denied(of)),
            }
        })
    }

    fn primary_key(&self, table: &str) -> Vec<String> {
        let Some(table) = self.snapshot.get(table) else { return Vec::new() };
        let keys = &table.rules().indexes;
        let key = keys.iter().find(|it| it.kind == IndexKind::PrimaryKey);
        let columns = key.iter().flat_map(|it| &it.columns);
        columns.map(|it| table.column(*it).name.clone()).collect()
    }

    fn check_lock(&self, name: &str, mode: LockMode) -> SqlResult<()> {
        type P = Privileges;
        let held = self.held((ObjectKind::Relation, name));
        let changes = P::UPDATE | P::DELETE | P::TRUNCATE | P::MAINTAIN;
        let enough = match mode {
            _ if mode <= LockMode::AccessShare => changes | P::SELECT | P::INSERT,
            _ if mode <= LockMode::RowExclusive => changes | P::INSERT,
            _ => changes,
        };
        match held.has_any(enough) {
            true => Ok(()),
            false => Err(self.denied((ObjectKind::Relation, name))),
        }
    }
}

/// Whether a name is that of a sequence, or of another relation.
pub(super) fn kind_of(snapshot: &CatalogSnapshot, name: &str) -> ObjectKind {
    match snapshot.kind_of(name) {
        Some("sequence") => ObjectKind::Sequence,
        _ => ObjectKind::Relation,
    }
}

fn not_owner(word: &str, name: &str) -> SqlError {
    SqlError::new(REFUSED, format!("must be owner of {word} {name}"))
}

fn only_superuser(what: &str, hint: &str) -> SqlResult<()> {
    let message = format!("must be superuser to execute {what}");
    Err(SqlError::new(REFUSED, message).with_hint(hint))
}
