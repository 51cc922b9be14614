//! What a statement needs of mapped files is read before it runs, by all workers, each on its node
//! (docs/design/10-files.md, "mapped").
//!
//! Key decision: the first look at a page decides on which node it lies, and compares its checksum. A statement names the
//! columns it scans, so that both are done for all of them at once, where their rows shall lie. What it looks at beside
//! these (dictionaries while it is planned, indexes, rows that are changed) is compared when it is looked at, by whoever does.

use hardware::NodeId;
use memory::Segment;
use plan::Plan;
use stdx::sync::Arc;
use types::{SqlError, SqlResult, SqlState};

use crate::loading::Loading;
use crate::statement_catalog::Tables;
use crate::{CancelToken, Session};

/// A piece of a segment that nobody has read, and the node whose workers shall.
type Piece = (Arc<Segment>, usize, Option<NodeId>);

impl Session {
    /// Reads what nobody has read of the columns that a plan scans.
    pub(crate) fn read_mapped(
        &self,
        plan: &Plan,
        tables: &Tables,
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        if self.database.loading == Loading::Resident {
            return Ok(());
        }
        let pieces = unread(plan, tables);
        if pieces.is_empty() {
            return Ok(());
        }
        let homes: Vec<Option<NodeId>> = pieces.iter().map(|it| it.2).collect();
        self.team(cancel, 0).run_bound(&homes, &|task, context| {
            let (segment, piece, _) = &pieces[task];
            let damaged = |what| SqlError::new(SqlState::DATA_CORRUPTED, what);
            segment.read_piece(*piece, context.node).map_err(damaged)
        })?;
        // Where the OS has put the pages. Where it does not say, nothing is known of them.
        for piece in pieces.chunk_by(|a, b| Arc::ptr_eq(&a.0, &b.0)) {
            let _ = piece[0].0.locate();
        }
        Ok(())
    }
}

/// The pieces of scanned columns that nobody has read, those of a segment together.
fn unread(plan: &Plan, tables: &Tables) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut seen: Vec<*const Segment> = Vec::new();
    for scan in plan.scans() {
        let Some(table) = tables.get(&scan.table) else { continue };
        for part in table.parts() {
            // The position of a row is a column that lies nowhere.
            let columns = scan.columns.iter().filter_map(|it| part.columns.get(it.index()));
            for column in columns {
                for (name, segment) in column.segments() {
                    let unread = segment.unread_pieces();
                    let is_needed = !unread.is_empty() && !name.starts_with("ix");
                    if is_needed && !seen.contains(&Arc::as_ptr(segment)) {
                        seen.push(Arc::as_ptr(segment));
                        let unread = unread.into_iter();
                        pieces.extend(unread.map(|it| (segment.clone(), it.0, it.1)));
                    }
                }
            }
        }
    }
    pieces
}
