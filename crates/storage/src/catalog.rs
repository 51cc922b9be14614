//! The names of relations (tables, sequences and views), and the schemas that they are in.

mod changing;
mod extensions;
mod index_names;
mod macros;
mod roles;
mod user_types;
mod views;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::ops::Bound;

use stdx::sync::atomic::{AtomicU64, Ordering};
use stdx::sync::{Apart, Arc, OnceLock, RwLock};
use types::{
    CatalogView, Extension, MacroDefinition, ObjectKind, Rights, Role, SqlError, SqlResult,
    SqlState, TableId, TableInfo, UserType, ViewDefinition, names,
};

use crate::id_map::IdMap;
use crate::{Sequence, Table};
use changing::{Changing, HasVersion};

pub use index_names::IndexedRelation;

/// The kind of comments on functions ([`Catalog::put_comment`]): each is under the name of one, and the types of its parameters.
pub const FUNCTION_COMMENT: &str = "function";

/// The tables of a database. Readers take a snapshot; a table that they hold lives on after it was dropped.
#[derive(Debug, Default)]
pub struct Catalog {
    state: RwLock<State>,
    /// The last version of any picture of the tables, branches' too, so that no two have the same.
    versions: Arc<Apart<AtomicU64>>,
    /// The version of the snapshot, to be looked at without the lock.
    current: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    snapshot: Arc<CatalogSnapshot>,
    last_id: u32,
    /// The last number of a sequence or a counter.
    last_number: u64,
}

/// The relations at one moment. Changes of rows leave the names as they are, so that a commit costs the same however many there are.
#[derive(Clone, Debug, Default)]
pub struct CatalogSnapshot {
    names: Arc<Names>,
    tables: IdMap<Entry>,
    version: u64,
}

/// What there is by name in lower case: names that differ in case only cannot exist at once. Tables of pictures that
/// share it have the same foreign keys, and as many columns.
#[derive(Clone, Debug, Default)]
struct Names {
    relations: BTreeMap<Arc<str>, Relation>,
    /// What follows from them, made when somebody asks for it.
    known: Known,
}

#[derive(Clone, Debug, Default)]
struct Known {
    /// See [`CatalogSnapshot::view_levels`].
    view_levels: OnceLock<usize>,
    /// See [`CatalogSnapshot::is_referred`]; in lower case.
    referred: OnceLock<HashSet<String>>,
    sequences: OnceLock<Vec<Arc<Sequence>>>,
    /// Of all tables.
    columns: OnceLock<usize>,
}

/// What a name stands for.
#[derive(Clone, Debug)]
enum Relation {
    Table(TableId),
    Sequence(Arc<Sequence>),
    View(Arc<ViewDefinition>),
    /// A type, under its name behind a sign that no relation begins with.
    Type(Arc<UserType>),
    /// A schema, under its name behind [`OF_SCHEMAS`], which no relation has. The one that is always there is not kept.
    Schema(Arc<str>),
    /// A comment, under [`OF_COMMENTS`] and what it is of.
    Comment([String; 3], Arc<str>),
    Role(Arc<Role>),
    Macro(Arc<MacroDefinition>),
    Extension(Arc<Extension>),
    /// Rights on an object, of this kind and name.
    Rights((ObjectKind, String), Arc<Rights>),
}

/// A table, under its name in lower case, and what the planner may know of it, made when it asks.
#[derive(Debug)]
struct Entry {
    key: Arc<str>,
    table: Arc<Table>,
    info: OnceLock<Arc<TableInfo>>,
}

impl Entry {
    fn info(&self) -> &Arc<TableInfo> {
        self.info.get_or_init(|| Arc::new(self.table.info()))
    }
}

impl Catalog {
    /// No tables.
    pub fn new() -> Self {
        Self::default()
    }

    /// Tables of one's own that begin with these: what is done to them nobody else sees until they are published. While there
    /// is a branch that is published, no tables are made but on it.
    pub fn branch(&self, from: Arc<CatalogSnapshot>) -> Self {
        let state = self.state.read();
        let (last_id, last_number) = (state.last_id, state.last_number);
        let current = AtomicU64::new(from.version);
        let state = RwLock::new(State { snapshot: from, last_id, last_number });
        Self { state, versions: self.versions.clone(), current }
    }

    /// Takes over what was changed on a branch since it began with some tables.
    pub fn publish(&self, began: &CatalogSnapshot, branch: &Self) {
        let branch = branch.state.read();
        let mut state = self.change();
        state.last_id = state.last_id.max(branch.last_id);
        state.last_number = state.last_number.max(branch.last_number);
        if state.snapshot.version == began.version {
            // Nobody else has changed anything.
            state.snapshot = branch.snapshot.clone();
            return;
        }
        let changes = branch.snapshot.changes_since(began);
        if changes.is_empty() {
            return;
        }
        let version = self.next_version();
        let snapshot = Arc::make_mut(&mut state.snapshot);
        snapshot.version = version;
        for name in changes {
            match branch.snapshot.names.relations.get(name) {
                Some(Relation::Table(id)) => {
                    branch.snapshot.tables.get(id.0).into_iter().for_each(|it| snapshot.put(it));
                }
                Some(it) => {
                    snapshot.remove(name);
                    snapshot.relations().insert(name.into(), it.clone());
                }
                None => snapshot.remove(name),
            }
        }
    }

    /// Goes back to tables that it had.
    pub fn restore(&self, snapshot: Arc<CatalogSnapshot>) {
        self.change().snapshot = snapshot;
    }

    /// Takes over a table, by its id, as another picture has it.
    pub fn adopt(&self, from: &CatalogSnapshot, id: TableId) {
        let Some(entry) = from.tables.get(id.0) else { return };
        let mut state = self.change();
        if state.snapshot.tables.get(id.0).is_some_and(|it| Arc::ptr_eq(it, entry)) {
            return;
        }
        let snapshot = Arc::make_mut(&mut state.snapshot);
        snapshot.version = self.next_version();
        snapshot.put(entry);
    }

    /// The state, to be changed.
    fn change(&self) -> Changing<'_, State> {
        Changing::new(self.state.write(), &self.current)
    }

    fn next_version(&self) -> u64 {
        self.versions.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The tables now.
    pub fn snapshot(&self) -> Arc<CatalogSnapshot> {
        self.state.read().snapshot.clone()
    }

    /// The tables now, where somebody has seen them before: as long as nothing has changed that costs a look at a number. What is
    /// kept is the holder's own, so that those who read at once do not count who holds it in one place.
    pub fn snapshot_after(&self, seen: &mut Arc<CatalogSnapshot>) -> Arc<CatalogSnapshot> {
        if self.current.load(Ordering::Acquire) != seen.version {
            *seen = Arc::new(CatalogSnapshot::clone(&self.snapshot()));
        }
        seen.clone()
    }

    /// Adds a table under a new id.
    pub fn create(&self, table: Table) -> SqlResult<Arc<Table>> {
        let mut state = self.change();
        state.snapshot.check_free(&table.name)?;
        Ok(state.add(table, self.next_version()))
    }

    /// Adds a table under a new id, in the place of one of the same name, if there is one: readers see the one or the
    /// other, and never neither.
    pub fn create_or_replace(&self, table: Table) -> Arc<Table> {
        let mut state = self.change();
        state.add(table, self.next_version())
    }

    /// Puts a table in the place of the one it was made from, under the same id. Fails when that one has been replaced
    /// or dropped meanwhile: the rows of the other writer would be lost.
    pub fn replace(&self, old: &Arc<Table>, mut table: Table) -> SqlResult<Arc<Table>> {
        let mut state = self.change();
        let current = state.snapshot.by_id(old.id);
        if !current.is_some_and(|it| Arc::ptr_eq(it, old)) {
            let message = format!("table \"{}\" was changed by another session", old.name);
            return Err(SqlError::new(SqlState("40001"), message).with_hint("try again"));
        }
        table.id = old.id;
        // Counters go on through moves and appends; a table that is cut in another way begins with new ones.
        let same = old.design.partitioning == table.design.partitioning;
        let parts = table.partitioning().parts();
        if same && old.traffic.fits(parts, table.columns.len()) {
            table.traffic = old.traffic.clone();
        }
        table.name.clone_from(&old.name);
        let table = Arc::new(table);
        state.put(table.clone(), self.next_version());
        Ok(table)
    }

    /// Gives a table another name.
    ///
    /// Errors: 42P01 where there is none, 42P07 where a relation has the name.
    pub fn rename(&self, name: &str, to: &str) -> SqlResult<Arc<Table>> {
        let mut state = self.change();
        let old = state.snapshot.get(name).cloned().ok_or_else(|| {
            let message = format!("table \"{name}\" does not exist");
            SqlError::new(SqlState::UNDEFINED_TABLE, message)
        })?;
        state.snapshot.check_free(to)?;
        let renamed = old.version(old.parts.clone(), old.columns.clone());
        let renamed = Arc::new(Table { name: to.to_owned(), ..renamed });
        let comments = state.snapshot.comments_of(name);
        let rights = state.snapshot.rights(ObjectKind::Relation, name);
        state.remove(name, self.next_version());
        state.put(renamed.clone(), self.next_version());
        let snapshot = Arc::make_mut(&mut state.snapshot);
        snapshot.put_rights_of(&renamed.name, rights);
        for ([kind, _, part], text) in comments {
            snapshot.put_comment([kind, renamed.name.clone(), part], text);
        }
        Ok(renamed)
    }

    /// Takes a table out and returns it; its memory is given back when the last reader lets go.
    pub fn drop_table(&self, name: &str) -> SqlResult<Arc<Table>> {
        let mut state = self.change();
        let table = state.snapshot.get(name).cloned().ok_or_else(|| {
            let message = format!("table \"{name}\" does not exist");
            SqlError::new(SqlState::UNDEFINED_TABLE, message)
        })?;
        state.remove(name, self.next_version());
        Ok(table)
    }

    /// A number that no sequence and no counter has.
    pub fn next_number(&self) -> u64 {
        let mut state = self.change();
        state.last_number += 1;
        state.last_number
    }

    /// Puts a sequence under its name, in the place of what it was there before.
    pub fn put_sequence(&self, sequence: Sequence) -> Arc<Sequence> {
        let mut state = self.change();
        let sequence = Arc::new(sequence);
        state.last_number = state.last_number.max(sequence.id).max(sequence.counter.id);
        let snapshot = Arc::make_mut(&mut state.snapshot);
        snapshot.version = self.next_version();
        snapshot.relations().insert(key(&sequence.name), Relation::Sequence(sequence.clone()));
        sequence
    }

    /// Takes a sequence out.
    pub fn drop_sequence(&self, name: &str) -> SqlResult<()> {
        let mut state = self.change();
        if state.snapshot.sequence(name).is_none() {
            let message = format!("sequence \"{name}\" does not exist");
            return Err(SqlError::new(SqlState::UNDEFINED_TABLE, message));
        }
        state.remove(name, self.next_version());
        Ok(())
    }

    /// Puts a comment in the place of what there was of something: its kind, its name or that of its table, and its name
    /// there. `None` takes it away.
    pub fn put_comment(&self, of: &[String; 3], text: Option<&str>) {
        let mut state = self.change();
        let snapshot = Arc::make_mut(&mut state.snapshot);
        snapshot.version = self.next_version();
        match text {
            Some(text) => snapshot.put_comment(of.clone(), text.into()),
            None => _ = snapshot.relations().remove(&comment_key([&of[0], &of[1], &of[2]])),
        }
    }

    /// Makes a schema.
    pub fn put_schema(&self, name: &str) {
        let mut state = self.change();
        let snapshot = Arc::make_mut(&mut state.snapshot);
        snapshot.version = self.next_version();
        snapshot.relations().insert(schema_key(name), Relation::Schema(name.into()));
    }

    /// Takes a schema out, in which nothing is any more. Errors: 3F000.
    pub fn drop_schema(&self, name: &str) -> SqlResult<()> {
        let mut state = self.change();
        let snapshot = Arc::make_mut(&mut state.snapshot);
        snapshot.version = self.next_version();
        snapshot.relations().remove(&comment_key(["schema", name, ""]));
        snapshot.remove_rights_of_schema(name);
        snapshot.relations().remove(&schema_key(name)).map(drop).ok_or_else(|| no_schema(name))
    }

    /// Takes out a schema with all that is in it.
    pub fn forget(&self, schema: &str) {
        let mut state = self.change();
        let gone: Vec<String> =
            state.snapshot.relations_of(schema).into_iter().map(|it| it.1).collect();
        let version = self.next_version();
        gone.iter().for_each(|it| state.remove(it, version));
        let snapshot = Arc::make_mut(&mut state.snapshot);
        snapshot.version = version;
        snapshot.forget_macros(schema);
        snapshot.remove_rights_of_schema(schema);
        snapshot.relations().remove(&schema_key(schema));
    }

    /// Puts a view under its name: with a new id, or in the place and with the id of the view that was there.
    pub fn put_view(&self, view: ViewDefinition) -> Arc<ViewDefinition> {
        let mut state = self.change();
        let known = state.snapshot.view(&view.name).map(|it| it.id);
        let id = known.unwrap_or_else(|| state.next_id());
        let view = Arc::new(ViewDefinition { id, ..view });
        let snapshot = Arc::make_mut(&mut state.snapshot);
        snapshot.version = self.next_version();
        snapshot.relations().insert(key(&view.name), Relation::View(view.clone()));
        view
    }

    /// Takes a view out.
    pub fn drop_view(&self, name: &str) -> SqlResult<()> {
        let mut state = self.change();
        if state.snapshot.view(name).is_none() {
            let message = format!("view \"{name}\" does not exist");
            return Err(SqlError::new(SqlState::UNDEFINED_TABLE, message));
        }
        state.remove(name, self.next_version());
        Ok(())
    }

    /// A table by name, ignoring case.
    pub fn get(&self, name: &str) -> Option<Arc<Table>> {
        self.state.read().snapshot.get(name).cloned()
    }
}

impl HasVersion for State {
    fn version(&self) -> u64 {
        self.snapshot.version
    }
}

impl State {
    fn next_id(&mut self) -> TableId {
        self.last_id += 1;
        TableId(self.last_id)
    }

    fn add(&mut self, mut table: Table, version: u64) -> Arc<Table> {
        table.id = self.next_id();
        let table = Arc::new(table);
        self.put(table.clone(), version);
        table
    }

    fn put(&mut self, table: Arc<Table>, version: u64) {
        let snapshot = Arc::make_mut(&mut self.snapshot);
        snapshot.version = version;
        let known = snapshot.tables.get(table.id.0).filter(|it| it.table.name == table.name);
        let key = known.map_or_else(|| key(&table.name), |it| it.key.clone());
        snapshot.put(&Arc::new(Entry { key, table, info: OnceLock::new() }));
    }

    fn remove(&mut self, name: &str, version: u64) {
        let snapshot = Arc::make_mut(&mut self.snapshot);
        snapshot.version = version;
        snapshot.remove(&folded(name));
        for (of, _) in snapshot.comments_of(name) {
            snapshot.relations().remove(&comment_key([&of[0], &of[1], &of[2]]));
        }
        snapshot.remove_rights_of(name);
    }
}

impl CatalogSnapshot {
    /// The names, to be changed; what was known by them is asked anew.
    fn relations(&mut self) -> &mut BTreeMap<Arc<str>, Relation> {
        let names = Arc::make_mut(&mut self.names);
        names.known = Known::default();
        &mut names.relations
    }

    /// Puts a table under its name, in the place of what it was there before.
    fn put(&mut self, entry: &Arc<Entry>) {
        let (id, rules) = (entry.table.id, entry.table.rules());
        let is_alike = |it: &Arc<Entry>| {
            let known = it.table.rules();
            it.table.columns.len() == entry.table.columns.len()
                && (Arc::ptr_eq(known, rules) || known.references == rules.references)
        };
        let is_named = match self.names.relations.get(&*entry.key) {
            Some(Relation::Table(known)) => *known == id,
            _ => false,
        };
        if !is_named {
            self.remove(&entry.key);
            self.relations().insert(entry.key.clone(), Relation::Table(id));
        } else if !self.tables.get(id.0).is_some_and(is_alike) {
            self.relations();
        }
        self.tables.insert(id.0, entry.clone());
    }

    /// Takes out what has a name, in lower case.
    fn remove(&mut self, name: &str) {
        let Some(Relation::Table(id)) = self.relations().remove(name) else { return };
        // It may have got another name.
        if self.tables.get(id.0).is_some_and(|it| *it.key == *name) {
            self.tables.remove(id.0);
        }
    }

    /// The names, in lower case, under which there is another relation than in an earlier picture, or none any more.
    pub fn changes_since<'a>(&'a self, earlier: &'a Self) -> Vec<&'a str> {
        let (names, before) = (&self.names, &earlier.names);
        if Arc::ptr_eq(names, before) {
            let mut changed = Vec::new();
            self.tables.differences(&earlier.tables, &mut |now, before| {
                let key = now.or(before).map(|it| &*it.key);
                changed.extend(key.filter(|it| self.differs(earlier, it)));
            });
            return changed;
        }
        let gone = before.relations.keys().filter(|it| !names.relations.contains_key(*it));
        let all = names.relations.keys().chain(gone).map(|it| &**it);
        all.filter(|it| self.differs(earlier, it)).collect()
    }

    /// Whether what [`CatalogSnapshot::changes_since`] names goes with its session.
    pub fn is_temporary(name: &str) -> bool {
        let of_kind = Self::is_temporary_right(name).or(Self::is_temporary_type(name));
        if let Some(goes) = of_kind.or(Self::is_temporary_macro(name)) {
            return goes;
        }
        match name.strip_prefix(OF_SCHEMAS) {
            Some(schema) => schema.starts_with(names::TEMPORARY),
            None => match name.strip_prefix(OF_COMMENTS) {
                Some(of) => of.split(OF_COMMENTS).nth(1).is_some_and(names::is_temporary),
                None => names::is_temporary(name),
            },
        }
    }

    /// Whether there is another relation of a name, in lower case, than in another picture.
    pub fn differs(&self, other: &Self, name: &str) -> bool {
        match (self.names.relations.get(name), other.names.relations.get(name)) {
            (Some(Relation::Table(one)), Some(Relation::Table(id))) => {
                let pair = self.by_id(*one).zip(other.by_id(*id));
                !pair.is_some_and(|it| Arc::ptr_eq(it.0, it.1))
            }
            (Some(Relation::Sequence(one)), Some(Relation::Sequence(other))) => {
                !Arc::ptr_eq(one, other)
            }
            (Some(Relation::View(one)), Some(Relation::View(other))) => !Arc::ptr_eq(one, other),
            (Some(Relation::Schema(_)), Some(Relation::Schema(_))) => false,
            (Some(Relation::Comment(_, one)), Some(Relation::Comment(_, other))) => one != other,
            (Some(Relation::Type(one)), Some(Relation::Type(other))) => one != other,
            (Some(Relation::Role(one)), Some(Relation::Role(other))) => one != other,
            (Some(Relation::Macro(one)), Some(Relation::Macro(other))) => one != other,
            (Some(Relation::Extension(one)), Some(Relation::Extension(other))) => one != other,
            (Some(Relation::Rights(_, one)), Some(Relation::Rights(_, other))) => one != other,
            (Some(_), Some(_)) => true,
            (one, other) => one.is_some() != other.is_some(),
        }
    }

    /// Tells this picture from all others of a database: two snapshots of a catalog with one version hold the same tables.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// A table by name, ignoring case.
    pub fn get(&self, name: &str) -> Option<&Arc<Table>> {
        self.entry(name).map(|it| &it.table)
    }

    fn entry(&self, name: &str) -> Option<&Arc<Entry>> {
        match self.relation(name)? {
            Relation::Table(it) => self.tables.get(it.0),
            _ => None,
        }
    }

    fn relation(&self, name: &str) -> Option<&Relation> {
        self.names.relations.get(&*folded(name))
    }

    fn entries(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.names.relations.values().filter_map(|it| match it {
            Relation::Table(it) => self.tables.get(it.0),
            _ => None,
        })
    }

    /// A sequence by name, ignoring case.
    pub fn sequence(&self, name: &str) -> Option<&Arc<Sequence>> {
        match self.relation(name)? {
            Relation::Sequence(it) => Some(it),
            _ => None,
        }
    }

    /// All sequences, by name.
    pub fn sequences(&self) -> impl Iterator<Item = &Arc<Sequence>> {
        let sequences = self.names.known.sequences.get_or_init(|| {
            let all = self.names.relations.values().filter_map(|it| match it {
                Relation::Sequence(it) => Some(it.clone()),
                _ => None,
            });
            all.collect()
        });
        sequences.iter()
    }

    /// How many columns all tables have together.
    pub fn column_count(&self) -> usize {
        let count = || self.tables.values().map(|it| it.table.columns.len()).sum();
        *self.names.known.columns.get_or_init(count)
    }

    /// Whether a foreign key of any table refers to a table of a name.
    pub fn is_referred(&self, name: &str) -> bool {
        let referred = self.names.known.referred.get_or_init(|| {
            let keys = self.tables.values().flat_map(|it| &it.table.rules().references);
            keys.map(|it| it.parent.to_ascii_lowercase()).collect()
        });
        !referred.is_empty() && referred.contains(&name.to_ascii_lowercase())
    }

    /// What kind of relation has a name, in words.
    pub fn kind_of(&self, name: &str) -> Option<&'static str> {
        Some(match self.relation(name)? {
            Relation::Table(_) => "table",
            Relation::Sequence(_) => "sequence",
            Relation::View(it) => it.kind(),
            Relation::Schema(_)
            | Relation::Comment(..)
            | Relation::Type(_)
            | Relation::Role(_)
            | Relation::Macro(_)
            | Relation::Extension(_)
            | Relation::Rights(..) => return None,
        })
    }

    /// Refuses a name that a relation has (42P07), and one in a schema that is not there (3F000).
    pub fn check_free(&self, name: &str) -> SqlResult<()> {
        if let Some(kind) = self.kind_of(name) {
            return Err(already_exists(kind, &names::bare(name)));
        }
        let schema = names::schema_of(name);
        match self.has_schema(&schema) {
            true => Ok(()),
            false => Err(no_schema(&schema)),
        }
    }

    fn put_comment(&mut self, of: [String; 3], text: Arc<str>) {
        let key = comment_key([&of[0], &of[1], &of[2]]);
        self.relations().insert(key, Relation::Comment(of, text));
    }

    /// The comment on something (as [`Catalog::put_comment`] takes it).
    pub fn comment(&self, of: [&str; 3]) -> Option<&Arc<str>> {
        match self.names.relations.get(&comment_key(of))? {
            Relation::Comment(_, text) => Some(text),
            _ => None,
        }
    }

    /// All comments, with what they are on.
    pub fn comments(&self) -> Vec<([String; 3], Arc<str>)> {
        // They stand behind the schemas, before all relations.
        let begin = OF_COMMENTS.to_string();
        let behind = (Bound::Included(begin.as_str()), Bound::Unbounded);
        let all = self.names.relations.range::<str, _>(behind).map(|it| it.1);
        all.map_while(|it| match it {
            Relation::Comment(of, text) => Some((of.clone(), text.clone())),
            _ => None,
        })
        .collect()
    }

    /// Those on a relation and its parts.
    fn comments_of(&self, relation: &str) -> Vec<([String; 3], Arc<str>)> {
        let mut all = self.comments();
        let is_of_one = |kind: &str| !matches!(kind, "schema" | FUNCTION_COMMENT);
        all.retain(|it| is_of_one(&it.0[0]) && it.0[1].eq_ignore_ascii_case(relation));
        all
    }

    /// Whether there is a schema.
    pub fn has_schema(&self, name: &str) -> bool {
        name == names::PUBLIC || self.names.relations.contains_key(&schema_key(name))
    }

    /// All schemas but `public`, by name.
    pub fn schemas(&self) -> impl Iterator<Item = &Arc<str>> {
        // They are the first.
        self.names.relations.values().map_while(|it| match it {
            Relation::Schema(it) => Some(it),
            _ => None,
        })
    }

    /// The relations of a schema, by name: what kind each is, in words, and its name.
    pub fn relations_of(&self, schema: &str) -> Vec<(&'static str, String)> {
        let name = |it: &Relation| match it {
            Relation::Table(it) => Some(("table", self.by_id(*it)?.name.clone())),
            Relation::Sequence(it) => Some(("sequence", it.name.clone())),
            Relation::View(it) => Some((it.kind(), it.name.clone())),
            Relation::Type(it) => Some(("type", it.name.clone())),
            _ => None,
        };
        let all = self.names.relations.values().filter_map(name);
        all.filter(|it| names::schema_of(&it.1) == schema).collect()
    }

    /// A table by id.
    pub fn by_id(&self, id: TableId) -> Option<&Arc<Table>> {
        self.tables.get(id.0).map(|it| &it.table)
    }

    /// What the planner may know of a table.
    pub fn info(&self, id: TableId) -> Option<&Arc<TableInfo>> {
        self.tables.get(id.0).map(|it| it.info())
    }

    /// All tables, by name.
    pub fn tables(&self) -> Vec<Arc<Table>> {
        self.each_table().cloned().collect()
    }

    /// [`CatalogSnapshot::tables`], to be looked through.
    pub fn each_table(&self) -> impl Iterator<Item = &Arc<Table>> {
        self.entries().map(|it| &it.table)
    }
}

impl CatalogView for CatalogSnapshot {
    fn table(&self, schema: Option<&str>, name: &str) -> Option<Arc<TableInfo>> {
        self.entry(&full(schema, name)).map(|it| it.info().clone())
    }

    fn view(&self, schema: Option<&str>, name: &str) -> Option<Arc<ViewDefinition>> {
        CatalogSnapshot::view(self, &full(schema, name)).cloned()
    }

    fn table_names(&self) -> Vec<String> {
        let views = self.views_by_name().map(|it| it.name.clone());
        self.entries().map(|it| it.table.name.clone()).chain(views).collect()
    }

    fn user_type(&self, schema: Option<&str>, name: &str) -> Option<Arc<UserType>> {
        CatalogSnapshot::user_type(self, &full(schema, name)).cloned()
    }

    fn sequence(&self, schema: Option<&str>, name: &str) -> Option<String> {
        CatalogSnapshot::sequence(self, &full(schema, name)).map(|it| it.name.clone())
    }
}

/// The name of a relation of a schema, or of the one that needs no saying.
fn full(schema: Option<&str>, name: &str) -> String {
    names::joined(schema.unwrap_or(names::PUBLIC), name)
}

/// What the keys of comments begin with, and what stands between their parts.
const OF_COMMENTS: char = '\u{1}';

/// Of a kind of object, its name or that of its table, and its name there: no relation is called so.
fn comment_key(of: [&str; 3]) -> Arc<str> {
    key(&format!("{OF_COMMENTS}{}", of.join("\u{1}")))
}

/// What the keys of schemas begin with.
const OF_SCHEMAS: char = '\0';

fn schema_key(name: &str) -> Arc<str> {
    key(&format!("{OF_SCHEMAS}{name}"))
}

fn no_schema(name: &str) -> SqlError {
    SqlError::new(SqlState::UNDEFINED_SCHEMA, format!("schema \"{name}\" does not exist"))
}

fn key(name: &str) -> Arc<str> {
    folded(name).into()
}

/// A name in lower case.
fn folded(name: &str) -> Cow<'_, str> {
    match name.bytes().all(|it| it.is_ascii() && !it.is_ascii_uppercase()) {
        true => name.into(),
        false => name.to_lowercase().into(),
    }
}

fn already_exists(kind: &str, name: &str) -> SqlError {
    let message = format!("{kind} \"{name}\" already exists");
    SqlError::new(SqlState::DUPLICATE_TABLE, message)
        .with_hint("drop it first, or choose another name")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(name: &str, rows: u64) -> Table {
        Table::whole(name, Vec::new(), rows, crate::TableDesign::default())
    }

    #[test]
    fn a_snapshot_stays_as_it_was() {
        let catalog = Catalog::new();
        let first = catalog.create(table("Orders", 1)).unwrap();
        let before = catalog.snapshot();
        let second = catalog.replace(&first, table("any", 2)).unwrap();
        assert_eq!((second.id, second.name.as_str(), second.rows()), (first.id, "Orders", 2));
        assert_eq!(before.table(None, "orders").unwrap().rows, 1);
        assert_eq!(catalog.get("ORDERS").unwrap().rows(), 2);
        assert_eq!(catalog.replace(&first, table("x", 3)).unwrap_err().state.0, "40001");
        assert_eq!(
            catalog.create(table("orders", 0)).unwrap_err().state,
            SqlState::DUPLICATE_TABLE
        );
        catalog.drop_table("orders").unwrap();
        assert_eq!(catalog.drop_table("orders").unwrap_err().state, SqlState::UNDEFINED_TABLE);
        assert!(catalog.replace(&second, table("x", 3)).is_err());
        let again = catalog.create(table("orders", 0)).unwrap();
        assert_ne!(again.id, first.id);
        assert!(before.by_id(first.id).is_some() && before.by_id(again.id).is_none());
        assert_eq!(catalog.snapshot().tables().len(), 1);
        assert!(before.table(Some("public"), "orders").is_some());
        assert!(before.table(Some("nodewise"), "orders").is_none());
        assert_eq!(before.table_names(), ["Orders"]);
        assert!(before.version() < catalog.snapshot().version());
    }

    #[test]
    fn a_replaced_table_is_another_and_readers_never_miss_the_name() {
        let catalog = Catalog::new();
        let first = catalog.create_or_replace(table("t", 1));
        let before = catalog.snapshot();
        let second = catalog.create_or_replace(table("T", 2));
        assert_ne!(second.id, first.id);
        assert_eq!(catalog.get("t").unwrap().rows(), 2);
        assert_eq!(before.get("t").unwrap().rows(), 1);
        // What was made from the old one is no longer wanted.
        assert_eq!(catalog.replace(&first, table("t", 3)).unwrap_err().state.0, "40001");
        assert_eq!(catalog.snapshot().version(), before.version() + 1, "one step, not two");
    }
}
