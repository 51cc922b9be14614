//! The sink that builds the table, in two phases (P-HYPER 4.1): workers keep their batches as they come; once all are
//! there and their number is known, the team puts the columns together and builds the structure of the right size. Where the
//! join runs part by part, or each node has the rows of some keys, a task on the node of each does so for its rows alone.

use hardware::NodeId;
use memory::Workspace;
use stdx::Bytes;
use stdx::sync::atomic::{AtomicU64, Ordering};
use stdx::sync::{Arc, Mutex};
use types::SqlResult;

use super::build_side::BuildSide;
use super::chunk::{Chunk, check_rows};
use super::dictionary::decode;
use super::key::KeyDomain;
use super::recipe::Recipe;
use super::sent::node_of;
use super::spilled::{KeyBits, NO_KEY, PARTITIONS, SpilledBuild, hashes_of_build, partition_of};
use super::table::{ENTRY_BYTES, JoinTable, Structure};
use crate::co_location::PartMap;
use crate::exchange::Exchange;
use crate::expression::Compiled;
use crate::partitions::{Outgoing, Split, Waiting, written_bytes};
use crate::pieces::PIECE_ROWS;
use crate::spill::SharedFile;
use crate::traffic::{Item, Place};
use crate::work::{Alone, InMemoryOf};
use crate::{
    Batch, PerSlot, Representation, Sink, State, Team, TextVector, Values, Vector, WorkContext,
};

/// Collects the build side of a join.
pub struct BuildSink {
    keys: Vec<Compiled>,
    payload: Vec<Compiled>,
    recipe: Recipe,
    keep_null_keys: bool,
    null_keys: AtomicU64,
    /// The parts of the rows, where those of each shall have a table of their own.
    parts: Option<Arc<PartMap>>,
    /// How rows may go to a table of the node of their key.
    exchange: Option<Arc<Exchange>>,
    /// Whether rows for which there is no memory go to files.
    spills: bool,
    collected: PerSlot<Collected>,
    outgoing: PerSlot<Outgoing>,
    bits: Mutex<Option<Arc<KeyBits>>>,
    file: SharedFile,
}

/// What a worker has collected.
#[derive(Default)]
struct Collected {
    chunks: Vec<Chunk>,
    bytes: u64,
}

impl BuildSink {
    /// A sink for `slots` workers. `unique` promises that no two rows share their keys; rows with a NULL key are kept
    /// for [`super::rows_by_match`] and for null-aware residuals only when `keep_null_keys`.
    pub fn new(
        keys: Vec<Compiled>,
        payload: Vec<Compiled>,
        unique: bool,
        keep_null_keys: bool,
        slots: usize,
    ) -> Self {
        let recipe = Recipe::of(&keys, &payload, unique, Structure::Automatic);
        Self {
            keys,
            payload,
            recipe,
            keep_null_keys,
            null_keys: AtomicU64::new(0),
            parts: None,
            exchange: None,
            spills: false,
            collected: PerSlot::new(slots),
            outgoing: PerSlot::new(slots),
            bits: Mutex::new(None),
            file: SharedFile::default(),
        }
    }

    /// The same sink, which builds a table for each of these parts of the rows that it takes in.
    pub fn in_parts(mut self, parts: Option<Arc<PartMap>>) -> Self {
        self.parts = parts;
        self
    }

    /// The same sink, which builds a table for each node where that is found to pay.
    pub fn exchanging(mut self, exchange: Option<Arc<Exchange>>) -> Self {
        self.exchange = exchange.filter(|_| !self.keys.is_empty());
        self
    }

    /// The same sink with a structure of the caller's choice, for tests and measurements.
    pub fn with_structure(mut self, structure: Structure) -> Self {
        self.recipe.structure = structure;
        self
    }

    /// The same sink, whose rows go to files when there is no memory for them, if all who look them up can do with that.
    pub fn spilling(mut self, spills: bool) -> Self {
        self.spills = spills && !self.keys.is_empty();
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
        let mut local = self.collected.lock(context.slot);
        let local = local.get_or_insert_default();
        local.chunks.extend(keyed);
        local.chunks.extend(without.filter(|_| self.keep_null_keys));
        local.bytes += written;
        let workspace = &context.workspace;
        let is_over = || workspace.account().is_over();
        if self.spills && local.bytes >= written_bytes(workspace) && is_over() {
            self.write(std::mem::take(local), context.slot, workspace)?;
        }
        Ok(())
    }

    fn finish(&self, team: &dyn Team) -> SqlResult<State> {
        let mut collected = self.collected.take_all();
        if let Some(spilled) = self.finish_spilled(&mut collected, team)? {
            return Ok(spilled);
        }
        let mut chunks: Vec<Chunk> = collected.into_iter().flat_map(|it| it.chunks).collect();
        // The order of the source: neighbours there are likely to be looked up together. NULL keys go last.
        chunks.sort_by_key(|it| (!it.keyed, it.sequence));
        let rows = chunks.iter().map(|it| it.rows).sum();
        check_rows(rows)?;
        let pays = |it: &&Arc<Exchange>| it.decide(rows as u64).pays;
        let build = match (&self.parts, self.exchange.as_ref().filter(pays)) {
            (Some(parts), _) => self.tables_of_parts(chunks, parts, team)?,
            (None, Some(exchange)) => self.tables_of_nodes(chunks, exchange.nodes(), team)?,
            (None, None) => BuildSide::whole(Arc::new(self.table(chunks, team)?)),
        };
        Ok(State::Table(Arc::new(build)))
    }
}

impl BuildSink {
    fn table(&self, chunks: Vec<Chunk>, team: &dyn Team) -> SqlResult<JoinTable> {
        self.one_table(chunks, 1, team)
    }

    /// One of so many tables, each of which has the rows of some keys.
    fn one_table(
        &self,
        chunks: Vec<Chunk>,
        tables: usize,
        team: &dyn Team,
    ) -> SqlResult<JoinTable> {
        let null_keys = self.null_keys.load(Ordering::Relaxed);
        self.recipe.one_of(tables).table(chunks, null_keys, team)
    }

    /// The filter of keys that are in files, made when the first of them is.
    fn key_bits(&self, workspace: &Workspace) -> SqlResult<Arc<KeyBits>> {
        let mut bits = self.bits.lock();
        if let Some(bits) = &*bits {
            return Ok(bits.clone());
        }
        Ok(bits.insert(Arc::new(KeyBits::new(workspace)?)).clone())
    }

    /// Writes what a worker has collected.
    fn write(&self, collected: Collected, slot: usize, workspace: &Workspace) -> SqlResult<()> {
        let mut outgoing = self.outgoing.lock(slot);
        let outgoing = match &mut *outgoing {
            Some(it) => it,
            none => none.insert(Outgoing::new(PARTITIONS + 1, &self.file, workspace)?),
        };
        let bits = self.key_bits(workspace)?;
        for mut chunk in collected.chunks {
            let partitions = match chunk.keyed {
                true => {
                    let hashes = hashes_of_build(&chunk.keys, chunk.rows);
                    bits.add(&hashes);
                    hashes.into_iter().map(partition_of).collect()
                }
                false => vec![NO_KEY; chunk.rows],
            };
            let mut columns =
                if chunk.keyed { std::mem::take(&mut chunk.keys) } else { Vec::new() };
            columns.append(&mut chunk.payload);
            outgoing.add(Waiting { sequence: chunk.sequence, columns, partitions })?;
        }
        outgoing.write()
    }

    /// The side in files, if some of it is, or all of it has to be for want of memory.
    fn finish_spilled(
        &self,
        collected: &mut Vec<Collected>,
        team: &dyn Team,
    ) -> SqlResult<Option<State>> {
        let workspace = team.workspace();
        let rows = |it: &Collected| it.chunks.iter().map(|it| it.rows as u64).sum::<u64>();
        let table = |it: &Collected| it.bytes + rows(it) * 2 * ENTRY_BYTES;
        let wanted = Bytes(collected.iter().map(table).sum());
        let fits = || !self.spills || workspace.account().has_room_for(wanted);
        let mut written = self.outgoing.take_all();
        if written.is_empty() && fits() {
            return Ok(None);
        }
        for collected in collected.drain(..) {
            self.write(collected, 0, &workspace)?;
        }
        written.extend(self.outgoing.take_all());
        let written = written.into_iter().map(Outgoing::finish).collect::<SqlResult<_>>()?;
        let null_keys = self.null_keys.load(Ordering::Relaxed);
        let file = self.file.get(&workspace)?;
        let bits = self.key_bits(&workspace)?;
        let recipe = self.recipe.clone();
        let build = SpilledBuild::new(recipe, null_keys, (bits, file), written, team)?;
        Ok(Some(State::Table(Arc::new(BuildSide::in_files(build, team)?))))
    }

    /// A table for the rows of each part.
    fn tables_of_parts(
        &self,
        chunks: Vec<Chunk>,
        parts: &PartMap,
        team: &dyn Team,
    ) -> SqlResult<BuildSide> {
        let mut of_parts: Vec<Vec<Chunk>> = parts.homes().iter().map(|_| Vec::new()).collect();
        for chunk in chunks {
            of_parts[parts.part_of(chunk.sequence)].push(chunk);
        }
        Ok(BuildSide::in_parts(self.tables(of_parts, parts.homes(), team)?))
    }

    /// A table for each node, of the rows whose keys are its own.
    fn tables_of_nodes(
        &self,
        chunks: Vec<Chunk>,
        nodes: &[NodeId],
        team: &dyn Team,
    ) -> SqlResult<BuildSide> {
        let homes: Vec<Option<NodeId>> = nodes.iter().copied().map(Some).collect();
        let of_nodes = cut_by_node(chunks, nodes.len(), team)?;
        let tables = match team.width() <= nodes.len() * WORKERS_PER_TABLE_MAX {
            true => self.tables(of_nodes, &homes, team)?,
            // As one worker a node would keep the others waiting, all build one after the other.
            false => {
                let build = |(chunks, home): (Vec<Chunk>, &Option<NodeId>)| {
                    let workspace = workspace_at(&team.workspace(), *home);
                    let team = InMemoryOf { team, workspace };
                    let table = self.one_table(chunks, nodes.len(), &team)?;
                    Ok((table, *home))
                };
                of_nodes.into_iter().zip(&homes).map(build).collect::<SqlResult<_>>()?
            }
        };
        Ok(BuildSide::by_node(tables, self.table(Vec::new(), team)?))
    }

    /// A table for each of some heaps of rows, built by a task on its node.
    fn tables(
        &self,
        heaps: Vec<Vec<Chunk>>,
        homes: &[Option<NodeId>],
        team: &dyn Team,
    ) -> SqlResult<Vec<(JoinTable, Option<NodeId>)>> {
        let small = heaps.iter().flatten().map(|it| it.rows).sum::<usize>() <= PIECE_ROWS;
        let heaps: Vec<Mutex<Vec<Chunk>>> = heaps.into_iter().map(Mutex::new).collect();
        let tables: Vec<Mutex<Option<JoinTable>>> =
            homes.iter().map(|_| Mutex::new(None)).collect();
        team.run_at(homes, small, &|place, context| {
            let chunks = std::mem::take(&mut *heaps[place].lock());
            let workspace = workspace_at(&context.workspace, homes[place]);
            let alone = Alone { context, workspace };
            let table = self.one_table(chunks, homes.len(), &alone)?;
            *tables[place].lock() = Some(table);
            Ok(())
        })?;
        let whole = "invariant: a team runs all tasks, or fails";
        let tables = tables.into_iter().map(|it| it.into_inner().expect(whole));
        Ok(tables.zip(homes.iter().copied()).collect())
    }
}

/// Workers for each node up to which its table is built by one of them (as [`crate::co_location`] has it for parts).
const WORKERS_PER_TABLE_MAX: usize = 4;

/// Memory of a node in place of all, if there is one.
fn workspace_at(workspace: &Arc<Workspace>, home: Option<NodeId>) -> Arc<Workspace> {
    home.map_or_else(|| workspace.clone(), |node| Arc::new(workspace.at(node)))
}

/// Chunks that a task cuts.
const CHUNKS_PER_TASK: usize = 8;

/// The rows of each of so many nodes by the hash of their keys, in the order of the chunks; those without a key are the first
/// node's.
fn cut_by_node(chunks: Vec<Chunk>, nodes: usize, team: &dyn Team) -> SqlResult<Vec<Vec<Chunk>>> {
    let chunks: Vec<Mutex<Option<Chunk>>> =
        chunks.into_iter().map(|it| Mutex::new(Some(it))).collect();
    let cut: Vec<Mutex<Vec<Option<Chunk>>>> = chunks.iter().map(|_| Mutex::default()).collect();
    team.run(chunks.len().div_ceil(CHUNKS_PER_TASK), &|task, _| {
        for place in (0..chunks.len()).skip(task * CHUNKS_PER_TASK).take(CHUNKS_PER_TASK) {
            let chunk = chunks[place].lock().take();
            *cut[place].lock() = chunk.map_or_else(Vec::new, |it| by_node(it, nodes));
        }
        Ok(())
    })?;
    let mut of_nodes: Vec<Vec<Chunk>> = (0..nodes).map(|_| Vec::new()).collect();
    for cut in cut {
        cut.into_inner().into_iter().zip(&mut of_nodes).for_each(|(it, of)| of.extend(it));
    }
    Ok(of_nodes)
}

/// The rows of a chunk for each node, as far as there are any.
fn by_node(chunk: Chunk, nodes: usize) -> Vec<Option<Chunk>> {
    if !chunk.keyed {
        return vec![Some(chunk)];
    }
    let hashes = hashes_of_build(&chunk.keys, chunk.rows);
    let of: Vec<u8> = hashes.into_iter().map(|it| node_of(it, nodes)).collect();
    let split = Split::new(nodes, &of);
    let rows = |node: usize| Some(split.part(node)).filter(|it| !it.is_empty());
    (0..nodes).map(|node| rows(node).map(|rows| chunk.take(rows, true))).collect()
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
