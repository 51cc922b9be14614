//! Tables that the placer has cut into parts, and those whose parts a user has taken back.

use std::collections::BTreeMap;

use types::TableId;

use crate::decision::{Action, Decision};
use crate::window::{Item, Window};

/// What is known of a table that was to be cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// It is still in one piece, or was when it was seen last.
    Asked,
    /// It has parts.
    Cut,
    /// Its parts are to be put together.
    Merging,
    /// A user has put them together: that is a demand.
    TakenBack,
}

/// All of them. Nothing is known of a table that others have cut.
#[derive(Clone, Default, Debug)]
pub(crate) struct CutTables(BTreeMap<TableId, (Stage, Vec<usize>)>);

impl CutTables {
    /// Looks which tables have parts by now.
    pub(crate) fn see(&mut self, window: &Window) {
        self.0.retain(|table, _| window.items.iter().any(|it| it.item.table == *table));
        let mut merged = Vec::new();
        for Item { table, column, .. } in window.items.iter().map(|it| it.item) {
            let Some((stage, _)) = self.0.get_mut(&table) else { continue };
            match (*stage, column) {
                (Stage::Asked, None) => *stage = Stage::Cut,
                (Stage::Cut, Some(_)) => *stage = Stage::TakenBack,
                (Stage::Merging, Some(_)) => merged.push(table),
                _ => {}
            }
        }
        merged.iter().for_each(|it| _ = self.0.remove(it));
    }

    /// Whether a table may be cut.
    pub(crate) fn may_be_cut(&self, table: TableId) -> bool {
        !self.0.contains_key(&table)
    }

    /// Tables that were cut here and still are, with the nodes that they had.
    pub(crate) fn cut(&self) -> impl Iterator<Item = (TableId, &[usize])> {
        let is_cut = |it: &(&TableId, &(Stage, Vec<usize>))| it.1.0 == Stage::Cut;
        self.0.iter().filter(is_cut).map(|it| (*it.0, &it.1.1[..]))
    }

    /// Notes that a decision is carried out, about an item on these nodes.
    pub(crate) fn begin(&mut self, decision: &Decision, from: &[usize]) {
        let table = decision.item.table;
        match decision.action {
            Action::Partition => _ = self.0.insert(table, (Stage::Asked, from.to_vec())),
            Action::Merge => self.set(table, Stage::Merging),
            _ => {}
        }
    }

    /// Notes that it was not.
    pub(crate) fn refused(&mut self, decision: &Decision) {
        let table = decision.item.table;
        match decision.action {
            Action::Partition => _ = self.0.remove(&table),
            Action::Merge => self.set(table, Stage::Cut),
            _ => {}
        }
    }

    fn set(&mut self, table: TableId, stage: Stage) {
        if let Some(known) = self.0.get_mut(&table) {
            known.0 = stage;
        }
    }
}
