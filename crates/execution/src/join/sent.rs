//! Rows that are sent to the nodes of their keys (docs/design/02-memory-and-placement.md, "exchange by node"): each worker
//! gathers rows and copies those of a node in one piece into a block of that node's memory; when all have come, tasks on the
//! node look them up.
//!
//! - Invariant: a block has rows of one node, and nobody reads it before its worker has no more rows.

use hardware::NodeId;
use memory::{Placed, SpillFile};
use stdx::sync::{Arc, Mutex};
use types::SqlResult;

use crate::partitions::{Gathered, Piece, Waiting, written_bytes};
use crate::spill::{SharedFile, Writer, read, read_placed};
use crate::traffic::{Item, Place};
use crate::{Batch, PerSlot, Team, WorkContext};

/// The bits of a hash that tell the node, sixteen from here on: tags of tables use those below, partitions in files those above,
/// and buckets the highest.
const NODE_SHIFT: u32 = 4;

/// The node of rows by the hash of their keys, of so many.
#[inline]
pub(super) fn node_of(hash: u64, nodes: usize) -> u8 {
    ((hash >> NODE_SHIFT) as u16 as usize % nodes) as u8
}

/// Bytes for each node that a worker gathers: blocks that are worth a place, and long streams between nodes.
const BLOCK_BYTES: u64 = 256 << 10;

/// Rows up to which the caller looks up what was sent: nobody is woken for them.
const SMALL_ROWS: usize = 16 * 1024;

/// Rows for a node, in its memory or, for want of it, in a file.
struct Block {
    node: usize,
    rows: usize,
    bytes: Bytes,
    pieces: Vec<Piece>,
}

enum Bytes {
    Here(Placed<u8>),
    File(Arc<SpillFile>),
}

/// What a worker sends.
struct Outgoing {
    gathered: Gathered,
    blocks: Vec<Block>,
}

/// The rows of an operator that are on their way.
pub(super) struct Sent {
    nodes: Vec<Option<NodeId>>,
    outgoing: PerSlot<Outgoing>,
    file: SharedFile,
}

impl Sent {
    /// None yet, to these nodes.
    pub(super) fn new(nodes: Vec<Option<NodeId>>, slots: usize) -> Self {
        Self { nodes, outgoing: PerSlot::new(slots), file: SharedFile::of("probe") }
    }

    /// Sends the rows of a batch away whose keys, by their hashes, are of other nodes, if they may have a partner at all; gives
    /// the others back with the place of the table that they are looked up in: those of the own node, and rows that cannot
    /// have a partner if they are `wanted`.
    pub(super) fn send(
        &self,
        batch: Batch,
        hashes: &[Option<u64>],
        wanted: bool,
        context: &WorkContext,
    ) -> SqlResult<(Batch, usize)> {
        let own = self.nodes.iter().position(|it| *it == Some(context.node));
        let (mut here, mut away, mut nodes) = (Vec::new(), Vec::new(), Vec::new());
        for (row, hash) in hashes.iter().enumerate() {
            match hash.map(|it| node_of(it, self.nodes.len())) {
                Some(node) if Some(usize::from(node)) != own => {
                    away.push(row as u32);
                    nodes.push(node);
                }
                None if !wanted => {}
                _ => here.push(row as u32),
            }
        }
        let rest = if here.len() == batch.rows { batch.clone() } else { batch.take(&here) };
        if !away.is_empty() {
            let away = if away.len() == batch.rows { batch } else { batch.take(&away) };
            let waiting =
                Waiting { sequence: away.sequence, columns: away.columns, partitions: nodes };
            self.hold(waiting, context)?;
        }
        Ok((rest, own.unwrap_or_default()))
    }

    fn hold(&self, rows: Waiting, context: &WorkContext) -> SqlResult<()> {
        let mut local = self.outgoing.lock(context.slot);
        let outgoing = local.get_or_insert_with(|| Outgoing {
            gathered: Gathered::new(self.nodes.len()),
            blocks: Vec::new(),
        });
        let workspace = &context.workspace;
        let most = match workspace.account().limit() {
            Some(_) => written_bytes(workspace),
            None => BLOCK_BYTES * self.nodes.len() as u64,
        };
        if outgoing.gathered.add(rows) >= most { self.flush(outgoing, context) } else { Ok(()) }
    }

    /// Copies what a worker has gathered to the nodes.
    fn flush(&self, outgoing: &mut Outgoing, context: &WorkContext) -> SqlResult<()> {
        let mut heaps: Vec<(Writer, Vec<u64>, usize)> =
            self.nodes.iter().map(|_| Default::default()).collect();
        outgoing.gathered.cut(|node, sequence, rows, columns| {
            let (writer, sequences, count) = &mut heaps[node];
            writer.add(rows, columns);
            sequences.push(sequence);
            *count += rows;
            Ok(())
        })?;
        let workspace = &context.workspace;
        for (node, (mut writer, sequences, rows)) in heaps.into_iter().enumerate() {
            if rows == 0 {
                continue;
            }
            let home = self.nodes[node];
            context.touch(Item::Joins, Place::of(home), writer.bytes() as u64);
            let (bytes, extents) = if workspace.account().is_over() {
                let file = self.file.get(workspace)?;
                let extents = writer.write(&file)?;
                (Bytes::File(file), extents)
            } else {
                let scratch = home.map_or(workspace.spread(), |it| workspace.on(it));
                let (bytes, extents) = writer.place(scratch)?;
                (Bytes::Here(bytes), extents)
            };
            let piece = |(extent, sequence)| Piece { extent, sequence };
            let pieces = extents.into_iter().zip(sequences).map(piece).collect();
            outgoing.blocks.push(Block { node, rows, bytes, pieces });
        }
        Ok(())
    }

    /// Hands all rows that were sent to `each`, with the place of their table, in tasks on their nodes.
    pub(super) fn receive(
        &self,
        team: &dyn Team,
        each: impl Fn(usize, Batch, &WorkContext) -> SqlResult<()> + Sync,
    ) -> SqlResult<()> {
        let written: Vec<Mutex<Option<Outgoing>>> =
            self.outgoing.take_all().into_iter().map(|it| Mutex::new(Some(it))).collect();
        let blocks: Mutex<Vec<Block>> = Mutex::new(Vec::new());
        team.run(written.len(), &|worker, context| {
            if let Some(mut outgoing) = written[worker].lock().take() {
                self.flush(&mut outgoing, context)?;
                blocks.lock().extend(outgoing.blocks);
            }
            Ok(())
        })?;
        let mut blocks = blocks.into_inner();
        blocks.sort_by_key(|it| it.node);
        let homes: Vec<Option<NodeId>> = blocks.iter().map(|it| self.nodes[it.node]).collect();
        let small = blocks.iter().map(|it| it.rows).sum::<usize>() <= SMALL_ROWS;
        let blocks: Vec<Mutex<Option<Block>>> =
            blocks.into_iter().map(|it| Mutex::new(Some(it))).collect();
        team.run_at(&homes, small, &|task, context| {
            // Out of the lock first, and freed when its rows are done.
            let block = blocks[task].lock().take();
            let Some(Block { node, bytes, pieces, .. }) = block else { return Ok(()) };
            for piece in pieces {
                context.check()?;
                let (columns, length) = match &bytes {
                    Bytes::Here(bytes) => (read_placed(bytes, piece.extent)?, piece.extent.bytes()),
                    Bytes::File(file) => (read(file, piece.extent)?, 0),
                };
                context.touch(Item::Joins, Place::of(homes[task]), length);
                let (rows, sequence) = (piece.extent.rows as usize, piece.sequence);
                each(node, Batch { rows, columns, sequence }, context)?;
            }
            Ok(())
        })
    }
}
