//! What is made for an item whose values are looked up, and not only scanned: copies of what is small, and parts of a table
//! that has a key (PP, P-HANA 4.2, 7). Either takes what is looked up near to who reads it, which splitting the rows does
//! not (IVP deals the dictionary round the nodes).

use stdx::Nanos;

use crate::constants::{ALIKE, HORIZON, LOSS, REBUILD_COST};
use crate::decision::{Action, Decision};
use crate::plan::{ItemLoad, Round};

impl Round<'_> {
    /// Copies or parts for an item that dominates a node, if it is more than a scan of its rows, or rows that cannot be
    /// split further.
    pub(crate) fn remade(&self, at: Nanos, place: usize) -> Option<Decision> {
        let it = &self.items()[place];
        let (is_looked_up, is_whole) = (it.lookups >= ALIKE, it.nodes.len() >= it.most_nodes);
        let copies = || self.replicated(at, place);
        let parts = || self.partitioned(at, place);
        match (is_looked_up, is_whole) {
            (true, _) => parts().or_else(copies),
            (false, true) => copies(),
            (false, false) => None,
        }
    }

    /// Copies or parts for the item that costs its readers most because it is far from them, whatever the nodes' loads: what
    /// they save must be a part of a node's time that is worth an action.
    pub(crate) fn brought_near(&self, at: Nanos) -> Option<(usize, Decision)> {
        let may = |it: &&ItemLoad| it.is_free && it.is_proven && it.remote > 0.0;
        let mut places: Vec<usize> =
            (0..self.items().len()).filter(|it| may(&&self.items()[*it])).collect();
        places.sort_by(|a, b| self.items()[*b].remote.total_cmp(&self.items()[*a].remote));
        // Where more is read than is thought that a node can give, it is a part of that.
        let most = self.loads[self.ends().0].max(1.0);
        let least = Nanos((LOSS * most * HORIZON.0 as f64) as u64);
        let near = |place: usize| {
            let found = self.partitioned(at, place).or_else(|| self.replicated(at, place));
            found.filter(|it| it.gain >= least).map(|it| (place, it))
        };
        places.into_iter().find_map(near)
    }

    fn replicated(&self, at: Nanos, place: usize) -> Option<Decision> {
        let it = &self.items()[place];
        let bytes = it.copy_bytes.filter(|_| !it.has_copies)? as f64;
        let home = *it.nodes.first()?;
        // What lies on several nodes has its dictionary dealt round them: each needs a copy.
        let far = self.takers().into_iter().filter(|node| it.nodes != [*node]);
        let copies: Vec<(usize, usize, f64)> = far.map(|node| (home, node, bytes)).collect();
        self.pays_back(at, Action::Replicate, place, &copies)
    }

    fn partitioned(&self, at: Nanos, place: usize) -> Option<Decision> {
        let it = &self.items()[place];
        let home = *it.nodes.first()?;
        let nodes = self.takers();
        if it.has_copies || it.most_nodes < nodes.len() {
            return None;
        }
        let each = REBUILD_COST * it.table_bytes? as f64 / nodes.len() as f64;
        let copies: Vec<(usize, usize, f64)> = nodes.iter().map(|it| (home, *it, each)).collect();
        let parts = self.pays_back(at, Action::Partition, place, &copies)?;
        Some(Decision { copy_bytes: it.table_bytes?, ..parts })
    }

    /// All nodes on which what is read may lie.
    fn takers(&self) -> Vec<usize> {
        (0..self.loads.len()).filter(|it| self.costs.takes[*it]).collect()
    }

    /// An action after which an item is read evenly of all nodes, each reader of its own, if it pays back.
    fn pays_back(
        &self,
        at: Nanos,
        action: Action,
        place: usize,
        copies: &[(usize, usize, f64)],
    ) -> Option<Decision> {
        let to = self.takers();
        if to.len() < 2 {
            return None;
        }
        let places = self.touched(place, action);
        let after = self.loads_after(&places, &to);
        let (hottest, coldest) = self.ends();
        let load = self.loads[hottest];
        let load_after = after.iter().copied().fold(0.0, f64::max);
        let change = self.copied(at, (place, action), &to, (hottest, coldest), copies);
        let left = HORIZON.0.saturating_sub(change.copy_time.0) as f64;
        let remote: f64 = places.iter().map(|it| self.items()[*it].remote).sum();
        let near = remote * self.costs.saved_per_remote_byte();
        let gain = Nanos((((load - load_after).max(0.0) + near) * left) as u64);
        let item_load = places.iter().map(|it| self.share_of(*it, hottest)).sum();
        let decision = Decision { load, item_load, load_after, gain, ..change };
        (decision.gain > decision.cost).then_some(decision)
    }

    /// The items that an action on one changes: with a table all of its columns are cut.
    pub(crate) fn touched(&self, place: usize, action: Action) -> Vec<usize> {
        let table = self.items()[place].item.table;
        match action {
            Action::Partition => {
                (0..self.items().len()).filter(|it| self.items()[*it].item.table == table).collect()
            }
            _ => vec![place],
        }
    }
}
