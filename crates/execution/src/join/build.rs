//! The sink that builds the table, in two phases (P-HYPER 4.1): workers keep their batches as they come; once all are
//! there and their number is known, the team puts the columns together and builds the structure of the right size. Where the
//! join runs part by part, a task on the node of each part does so for its rows alone.

use stdx::sync::atomic::{AtomicU64, Ordering};
use stdx::sync::{Arc, Mutex};
use types::{SqlError, SqlResult, SqlState};

use super::NO_ROW;
use super::build_side::BuildSide;
use super::dictionary::decode;
use super::key::{KeyColumn, KeyDomain};
use super::parallel::{PIECE_ROWS, Pieces};
use super::stored::Stored;
use super::table::{Columns, ENTRY_BYTES, JoinTable, Structure};
use crate::co_location::PartMap;
use crate::expression::Compiled;
use crate::traffic::{Item, Place};
use crate::work::Alone;
use crate::{
    Batch, Bitmap, PerSlot, Representation, Sink, State, Team, TextVector, Values, Vector,
    WorkContext,
};

/// Collects the build side of a join.
pub struct BuildSink {
    keys: Vec<Compiled>,
    payload: Vec<Compiled>,
    unique: bool,
    keep_null_keys: bool,
    structure: Structure,
    null_keys: AtomicU64,
    /// The parts of the rows, where those of each shall have a table of their own.
    parts: Option<Arc<PartMap>>,
    chunks: PerSlot<Vec<Chunk>>,
}

/// The rows of a batch that all have keys, or all have a NULL key.
struct Chunk {
    keyed: bool,
    sequence: u64,
    rows: usize,
    keys: Vec<Arc<Vector>>,
    payload: Vec<Arc<Vector>>,
}

impl BuildSink {
    /// A sink for `slots` workers. `unique` promises that no two rows share their keys; rows with a NULL key are kept
    /// for [`super::BuildRowsSource`] and for null-aware residuals only when `keep_null_keys`.
    pub fn new(
        keys: Vec<Compiled>,
        payload: Vec<Compiled>,
        unique: bool,
        keep_null_keys: bool,
        slots: usize,
    ) -> Self {
        Self {
            keys,
            payload,
            unique,
            keep_null_keys,
            structure: Structure::Automatic,
            null_keys: AtomicU64::new(0),
            parts: None,
            chunks: PerSlot::new(slots),
        }
    }

    /// The same sink, which builds a table for each of these parts of the rows that it takes in.
    pub fn in_parts(mut self, parts: Option<Arc<PartMap>>) -> Self {
        self.parts = parts;
        self
    }

    /// The same sink with a structure of the caller's choice, for tests and measurements.
    pub fn with_structure(mut self, structure: Structure) -> Self {
        self.structure = structure;
        self
    }
}

impl Sink for BuildSink {
    fn consume(&self, batch: Batch, context: &WorkContext) -> SqlResult<()> {
        if batch.rows == 0 {
            return Ok(());
        }
        let keys: Vec<_> =
            self.keys.iter().map(|it| key_vector(it, &batch)).collect::<SqlResult<_>>()?;
        let payload: Vec<_> =
            self.payload.iter().map(|it| it.evaluate(&batch)).collect::<SqlResult<_>>()?;
        let bytes = |of: &[Arc<Vector>]| of.iter().map(|it| it.value_bytes()).sum::<u64>();
        let written = bytes(&keys) + bytes(&payload);
        let home = self.parts.as_ref().and_then(|it| it.homes()[it.part_of(batch.sequence)]);
        // What a worker collects is read again, and written with its directory where it is looked up.
        context.touch(Item::Joins, Place::Own, 2 * written);
        let table = written + batch.rows as u64 * ENTRY_BYTES;
        context.touch(Item::Joins, Place::of(home), table);
        let chunk =
            Chunk { keyed: true, sequence: batch.sequence, rows: batch.rows, keys, payload };
        let (keyed, without) = chunk.split_nulls();
        self.null_keys
            .fetch_add(without.as_ref().map_or(0, |it| it.rows as u64), Ordering::Relaxed);
        let mut local = self.chunks.lock(context.slot);
        let local = local.get_or_insert_default();
        local.extend(keyed);
        local.extend(without.filter(|_| self.keep_null_keys));
        Ok(())
    }

    fn finish(&self, team: &dyn Team) -> SqlResult<State> {
        let mut chunks: Vec<Chunk> = self.chunks.take_all().into_iter().flatten().collect();
        // The order of the source: neighbours there are likely to be looked up together. NULL keys go last.
        chunks.sort_by_key(|it| (!it.keyed, it.sequence));
        let rows: usize = chunks.iter().map(|it| it.rows).sum();
        if rows >= NO_ROW as usize {
            let message = format!("the build side of a join has {rows} rows, the most is {NO_ROW}");
            return Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message));
        }
        let build = match &self.parts {
            None => BuildSide::whole(Arc::new(self.table(chunks, team)?)),
            Some(parts) => self.tables(chunks, parts, team)?,
        };
        Ok(State::Table(Arc::new(build)))
    }
}

impl BuildSink {
    /// A table for the rows of each part, built by a task on its node.
    fn tables(&self, chunks: Vec<Chunk>, parts: &PartMap, team: &dyn Team) -> SqlResult<BuildSide> {
        let homes = parts.homes();
        let small = chunks.iter().map(|it| it.rows).sum::<usize>() <= PIECE_ROWS;
        let mut of_parts: Vec<Vec<Chunk>> = homes.iter().map(|_| Vec::new()).collect();
        for chunk in chunks {
            of_parts[parts.part_of(chunk.sequence)].push(chunk);
        }
        let of_parts: Vec<Mutex<Vec<Chunk>>> = of_parts.into_iter().map(Mutex::new).collect();
        let tables: Vec<Mutex<Option<JoinTable>>> =
            homes.iter().map(|_| Mutex::new(None)).collect();
        team.run_at(homes, small, &|part, context| {
            let chunks = std::mem::take(&mut *of_parts[part].lock());
            let workspace = match homes[part] {
                Some(node) => Arc::new(context.workspace.at(node)),
                None => context.workspace.clone(),
            };
            let table = self.table(chunks, &Alone { context, workspace })?;
            *tables[part].lock() = Some(table);
            Ok(())
        })?;
        let whole = "invariant: a team runs all tasks, or fails";
        let tables = tables.into_iter().map(|it| it.into_inner().expect(whole));
        Ok(BuildSide::in_parts(tables.zip(homes.iter().copied()).collect()))
    }

    /// One table for the rows of all these chunks.
    fn table(&self, chunks: Vec<Chunk>, team: &dyn Team) -> SqlResult<JoinTable> {
        let count = |it: &dyn Fn(&Chunk) -> bool| -> usize {
            chunks.iter().filter(|chunk| it(chunk)).map(|it| it.rows).sum()
        };
        let (rows, keyed) = (count(&|_| true), count(&|it| it.keyed));
        let domains: Vec<KeyDomain> =
            self.keys.iter().map(|it| KeyDomain::of(it.shape())).collect();
        let (keys, payload) = self.columns(&chunks, &domains, team)?;
        drop(chunks);
        let columns = Columns {
            rows: rows as u32,
            keyed: keyed as u32,
            null_keys: self.null_keys.load(Ordering::Relaxed),
            domains,
            keys,
            payload,
            layout: self.payload.iter().map(|it| it.shape().clone()).collect(),
            unique: self.unique,
        };
        JoinTable::new(columns, self.structure, team)
    }

    /// Puts the chunks one after the other, column by column.
    fn columns(
        &self,
        chunks: &[Chunk],
        domains: &[KeyDomain],
        team: &dyn Team,
    ) -> SqlResult<(Vec<KeyColumn>, Vec<Stored>)> {
        let workspace = team.workspace();
        let scratch = workspace.spread();
        let keyed = || chunks.iter().filter(|it| it.keyed);
        let key_parts: Vec<Vec<Arc<Vector>>> = (0..domains.len())
            .map(|key| keyed().map(|it| it.keys[key].clone()).collect())
            .collect();
        let payload_parts: Vec<Vec<Arc<Vector>>> = (0..self.payload.len())
            .map(|column| chunks.iter().map(|it| it.payload[column].clone()).collect())
            .collect();
        let mut keys = domains
            .iter()
            .zip(&key_parts)
            .map(|(domain, parts)| KeyColumn::sized(domain, parts, scratch))
            .collect::<SqlResult<Vec<_>>>()?;
        let mut payload = self
            .payload
            .iter()
            .zip(&payload_parts)
            .map(|(compiled, parts)| Stored::sized(compiled.shape(), parts, scratch))
            .collect::<SqlResult<Vec<_>>>()?;
        let mut pieces = Pieces::new();
        keys.iter_mut().zip(&key_parts).for_each(|(it, parts)| it.fill(parts, &mut pieces));
        payload.iter_mut().zip(&payload_parts).for_each(|(it, parts)| it.fill(parts, &mut pieces));
        pieces.run(team)?;
        Ok((keys, payload))
    }
}

/// A key of a batch; positions of a plain column become texts, because only texts can be compared.
fn key_vector(key: &Compiled, batch: &Batch) -> SqlResult<Arc<Vector>> {
    let vector = key.evaluate(batch)?;
    match (&key.shape().representation, &vector.values, KeyDomain::of(key.shape())) {
        (Representation::Codes(column), Values::Codes(positions), KeyDomain::Text) => {
            let mut text = TextVector::default();
            decode(column, positions, &vector, &mut text);
            let validity = vector.validity.clone();
            Ok(Arc::new(Vector { values: Values::Text(text), validity }))
        }
        _ => Ok(vector),
    }
}

impl Chunk {
    /// Parts the rows whose keys are there from those with a NULL key.
    fn split_nulls(self) -> (Option<Self>, Option<Self>) {
        let maps: Vec<&Bitmap> = self.keys.iter().filter_map(|it| it.validity.as_ref()).collect();
        let is_keyed = |row: &u32| maps.iter().all(|it| it.get(*row as usize));
        let (keyed, without): (Vec<u32>, Vec<u32>) = match maps.as_slice() {
            [] => return (Some(self), None),
            _ => (0..self.rows as u32).partition(is_keyed),
        };
        match (keyed.is_empty(), without.is_empty()) {
            (_, true) => (Some(self), None),
            (true, false) => (None, Some(Self { keyed: false, ..self })),
            (false, false) => (Some(self.take(&keyed, true)), Some(self.take(&without, false))),
        }
    }

    fn take(&self, rows: &[u32], keyed: bool) -> Self {
        let take = |from: &[Arc<Vector>]| from.iter().map(|it| Arc::new(it.take(rows))).collect();
        let keys = if keyed { take(&self.keys) } else { Vec::new() };
        Self {
            keyed,
            sequence: self.sequence,
            rows: rows.len(),
            keys,
            payload: take(&self.payload),
        }
    }
}
