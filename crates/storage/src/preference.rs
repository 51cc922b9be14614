//! What was asked for a table's place: kept with the table, and followed again whenever its columns are built anew.

use std::ops::Range;

use hardware::{NodeId, Topology};
use placement::{Placement, place_of_part, places};
use types::{ColumnId, SqlError, SqlResult, SqlState};

use crate::Partitioning;
use crate::rules::moved_up;

/// What of a table is placed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PlaceTarget {
    /// All of it.
    Table,
    /// A column, in all parts.
    Column(ColumnId),
    /// A part.
    Part(usize),
    /// What all columns hold of some rows, numbered from 0 over all parts.
    Rows(Range<u64>),
}

/// One demand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wish {
    /// What is to be placed.
    pub target: PlaceTarget,
    /// How.
    pub placement: Placement,
    /// Whether it waits for the next time that the columns are built.
    pub deferred: bool,
}

/// How the columns of a table shall be placed. Of several demands that cover a column the last one counts; those for
/// rows come on top of it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Preference {
    base: Placement,
    wishes: Vec<Wish>,
}

impl Preference {
    /// No demands.
    pub(crate) const NONE: Self = Self { base: Placement::Auto, wishes: Vec::new() };

    /// What is done where nothing was demanded.
    pub fn new(base: Placement) -> Self {
        Self { base, wishes: Vec::new() }
    }

    /// The demands of a preference that was kept.
    pub(crate) fn of(base: Placement, wishes: Vec<Wish>) -> Self {
        Self { base, wishes }
    }

    /// What is done where nothing was demanded: the default when the table was made.
    pub fn base(&self) -> &Placement {
        &self.base
    }

    /// The demands, oldest first.
    pub fn wishes(&self) -> &[Wish] {
        &self.wishes
    }

    /// The same with one more demand, which takes the place of those for the same target; one for the table takes the
    /// place of all. [`Placement::Auto`] takes demands back.
    pub fn with(&self, target: PlaceTarget, placement: Placement, deferred: bool) -> Self {
        let (mut base, mut wishes) = (self.base.clone(), self.wishes.clone());
        let all = target == PlaceTarget::Table;
        wishes.retain(|it| !all && it.target != target);
        if placement != Placement::Auto {
            wishes.push(Wish { target, placement, deferred });
        } else if all {
            base = Placement::Auto;
        }
        Self { base, wishes }
    }

    /// The same after all demands were followed.
    pub(crate) fn followed(&self) -> Self {
        let wishes = self.wishes.iter().map(|it| Wish { deferred: false, ..it.clone() }).collect();
        Self { base: self.base.clone(), wishes }
    }

    /// The same for other parts: `part` tells the new number of an old one. Demands for rows do not outlive their
    /// numbering.
    pub(crate) fn for_other_parts(&self, part: impl Fn(usize) -> Option<usize>) -> Self {
        let renumber = |wish: &Wish| {
            let target = match &wish.target {
                PlaceTarget::Part(it) => PlaceTarget::Part(part(*it)?),
                PlaceTarget::Rows(_) => return None,
                other => other.clone(),
            };
            Some(Wish { target, ..wish.clone() })
        };
        Self { base: self.base.clone(), wishes: self.wishes.iter().filter_map(renumber).collect() }
    }

    /// The same for a table that is cut into parts, and the nodes that they are dealt to (none: all): the named ones, else
    /// those of a demand for the table from before it had parts, which says where and no longer how. Who names nodes or
    /// demanded some does not want the default.
    pub(crate) fn for_new_parts(&self, named: &[NodeId]) -> (Self, Vec<NodeId>) {
        let mut this = self.for_other_parts(|_| None).followed();
        let before = this.wishes.iter().rposition(|it| it.target == PlaceTarget::Table);
        let before = before.map(|at| this.wishes.remove(at).placement);
        let nodes = match &before {
            _ if !named.is_empty() => named,
            Some(demanded) => demanded.nodes(),
            None => return (this, Vec::new()),
        };
        let left_to_os = named.is_empty() && before == Some(Placement::Os);
        this.base = if left_to_os { Placement::Os } else { Placement::Auto };
        (this, nodes.to_vec())
    }

    /// The demands for rows.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (&Range<u64>, &Placement)> {
        self.wishes.iter().filter_map(|it| match &it.target {
            PlaceTarget::Rows(rows) => Some((rows, &it.placement)),
            _ => None,
        })
    }

    /// Whether someone has said where a column of a part, or some rows of it, shall lie; who leaves a table to the OS has.
    pub fn is_demanded(&self, column: usize, part: usize) -> bool {
        let is_os = self.base == Placement::Os;
        is_os || self.demanded(column, part).is_some() || self.rows().next().is_some()
    }

    fn demanded(&self, column: usize, part: usize) -> Option<&Placement> {
        let covers = |it: &&Wish| match &it.target {
            PlaceTarget::Table => true,
            PlaceTarget::Column(id) => id.index() == column,
            PlaceTarget::Part(it) => *it == part,
            PlaceTarget::Rows(_) => false,
        };
        self.wishes.iter().rev().find(covers).map(|it| &it.placement)
    }
}

/// How a table is cut and placed.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TableDesign {
    /// How its rows are cut into parts.
    pub partitioning: Partitioning,
    /// The nodes that the parts are dealt to; none for all.
    pub part_nodes: Vec<NodeId>,
    /// The turn in which each part was dealt to them, where some have got other numbers since; none where that is its number.
    pub part_turns: Vec<u32>,
    /// How its columns are placed.
    pub preference: Preference,
}

impl TableDesign {
    /// The same for a table without a column, which no part is cut by.
    pub(crate) fn without_column(&self, id: ColumnId) -> Self {
        let partitioning = match &self.partitioning {
            Partitioning::Hash { columns, parts } => {
                let columns = columns.iter().filter_map(|it| moved_up(*it, id)).collect();
                Partitioning::Hash { columns, parts: *parts }
            }
            Partitioning::Range { column, bounds } => {
                let column = moved_up(*column, id).unwrap_or(*column);
                Partitioning::Range { column, bounds: bounds.clone() }
            }
            other => other.clone(),
        };
        let wish = |it: &Wish| match &it.target {
            PlaceTarget::Column(column) => {
                let target = PlaceTarget::Column(moved_up(*column, id)?);
                Some(Wish { target, ..it.clone() })
            }
            _ => Some(it.clone()),
        };
        let wishes = self.preference.wishes.iter().filter_map(wish).collect();
        let preference = Preference::of(self.preference.base.clone(), wishes);
        Self { partitioning, preference, ..self.clone() }
    }

    /// A table in one piece, placed as is best.
    pub(crate) const PLAIN: Self = Self {
        partitioning: Partitioning::None,
        part_nodes: Vec::new(),
        part_turns: Vec::new(),
        preference: Preference::NONE,
    };

    /// A table in one piece, placed in a way.
    pub fn placed(base: Placement) -> Self {
        Self { preference: Preference::new(base), ..Self::default() }
    }

    /// The design of a new table: PP by default cuts what is not cut otherwise.
    pub(crate) fn for_new_table(&self, topology: &Topology) -> Self {
        let mut design = self.clone();
        if let (Partitioning::None, Placement::Parts(nodes)) =
            (&self.partitioning, self.preference.base())
        {
            let parts = places(topology, nodes).len();
            if parts > 1 {
                design.partitioning = Partitioning::RoundRobin { parts };
                design.part_nodes.clone_from(nodes);
            }
        }
        design.preference = design.preference.followed();
        design
    }

    /// Whether the table has parts.
    pub(crate) fn is_parted(&self) -> bool {
        self.partitioning != Partitioning::None
    }

    /// The place of a part: where it was put last, or where its number leads.
    pub(crate) fn nodes_of_part(&self, topology: &Topology, part: usize) -> Vec<NodeId> {
        let covers = |it: &&Wish| match it.target {
            PlaceTarget::Table => true,
            PlaceTarget::Part(it) => it == part,
            _ => false,
        };
        match self.preference.wishes.iter().rev().find(covers).map(|it| &it.placement) {
            Some(Placement::RoundRobin(nodes)) => {
                place_of_part(topology, nodes, self.turn_of_part(part))
            }
            Some(other) if !other.nodes().is_empty() => other.nodes().to_vec(),
            _ => self.dealt_place(topology, part),
        }
    }

    /// How a column of a part is placed.
    pub(crate) fn placement_of(
        &self,
        topology: &Topology,
        column: usize,
        part: usize,
    ) -> Placement {
        if let Some(demanded) = self.preference.demanded(column, part) {
            return demanded.clone();
        }
        match self.preference.base() {
            base @ (Placement::Os | Placement::Interleaved(_)) => base.clone(),
            _ if self.is_parted() => match self.dealt_place(topology, part) {
                nodes if nodes.is_empty() => Placement::Os,
                nodes => Placement::Interleaved(nodes),
            },
            Placement::Parts(nodes) => Placement::RoundRobin(nodes.clone()),
            base => base.clone(),
        }
    }
}

impl TableDesign {
    /// How what the parts share of a column is placed: as the column of a table in one piece, else dealt round all nodes that
    /// the parts of the column are on.
    pub(crate) fn placement_of_shared(&self, topology: &Topology, column: usize) -> Placement {
        if !self.is_parted() {
            return self.placement_of(topology, column, 0);
        }
        let mut nodes = Vec::new();
        for part in 0..self.partitioning.parts() {
            match self.placement_of(topology, column, part) {
                Placement::Os => return Placement::Os,
                Placement::RoundRobin(named) => {
                    nodes.extend(place_of_part(topology, &named, self.turn_of_part(part)));
                }
                placement => nodes.extend(places(topology, placement.nodes()).concat()),
            }
        }
        nodes.sort_unstable();
        nodes.dedup();
        Placement::Interleaved(nodes)
    }

    /// How many units were dealt before a column of a part, where `dealt` columns were before those of the table: parts are
    /// dealt as a whole.
    pub(crate) fn turn_of(&self, column: usize, part: usize, dealt: usize) -> usize {
        if self.is_parted() { self.turn_of_part(part) } else { dealt.wrapping_add(column) }
    }

    fn turn_of_part(&self, part: usize) -> usize {
        self.part_turns.get(part).map_or(part, |it| *it as usize)
    }

    /// Where a part was dealt to.
    fn dealt_place(&self, topology: &Topology, part: usize) -> Vec<NodeId> {
        place_of_part(topology, &self.part_nodes, self.turn_of_part(part))
    }

    /// The turns of the parts once the parts `old` have become as many as `new`, all others having stayed where they are: the
    /// first of the new ones stays there, too, and others are dealt as if they were new behind all.
    pub(crate) fn turns_with(&self, old: Range<usize>, new: Range<usize>) -> Vec<u32> {
        let parts = self.partitioning.parts();
        let turns = |parts: Range<usize>| parts.map(|it| self.turn_of_part(it) as u32);
        let next = turns(0..parts).max().map_or(0, |it| it + 1);
        let fresh = (0..new.len().saturating_sub(1) as u32).map(|it| next.wrapping_add(it));
        let first = turns(old.start..old.start + 1);
        let all = turns(0..old.start).chain(first).chain(fresh).chain(turns(old.end..parts));
        let all: Vec<u32> = all.collect();
        let are_numbers = all.iter().enumerate().all(|(part, turn)| part == *turn as usize);
        if are_numbers { Vec::new() } else { all }
    }
}

/// Refuses nodes that no page may be put on.
pub(crate) fn check_nodes(topology: &Topology, nodes: &[NodeId]) -> SqlResult<()> {
    let allowed = topology.memory_nodes();
    let Some(wrong) = nodes.iter().find(|it| !allowed.contains(it)) else { return Ok(()) };
    let known: Vec<String> = allowed.iter().map(ToString::to_string).collect();
    let message = match topology.node_index(*wrong) {
        None => format!("there is no NUMA node {wrong}"),
        Some(_) => format!("no memory may be taken from NUMA node {wrong}"),
    };
    Err(SqlError::new(SqlState::INVALID_PARAMETER, message)
        .with_hint(format!("the nodes with memory are {}", known.join(", "))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hardware::samples;

    fn on(nodes: &[u16]) -> Placement {
        Placement::RoundRobin(nodes.iter().map(|&it| NodeId(it)).collect())
    }

    #[test]
    fn the_last_demand_counts_and_auto_takes_it_back() {
        let column = || PlaceTarget::Column(ColumnId(1));
        let one = Preference::default().with(column(), on(&[1]), false);
        let two = one.with(PlaceTarget::Part(0), on(&[2]), true);
        assert_eq!(two.demanded(1, 0), Some(&on(&[2])));
        assert!(two.is_demanded(1, 1) && !two.is_demanded(0, 1));
        assert!(Preference::new(Placement::Os).is_demanded(0, 0));
        assert_eq!((two.demanded(1, 1), two.demanded(0, 1)), (Some(&on(&[1])), None));
        assert!(two.wishes()[1].deferred && !two.followed().wishes()[1].deferred);
        assert_eq!(two.with(PlaceTarget::Part(0), Placement::Auto, false), one);
        let all = two.with(PlaceTarget::Table, on(&[3]), false);
        assert_eq!(all.wishes().len(), 1);
        assert!(all.with(PlaceTarget::Table, Placement::Auto, false).wishes().is_empty());
        let moved = two.for_other_parts(|it| Some(it + 1));
        assert_eq!(moved.demanded(0, 1), Some(&on(&[2])));
        assert_eq!(two.for_other_parts(|_| None), one);
        let column = Preference::default().with(PlaceTarget::Column(ColumnId(1)), on(&[1]), true);
        let table = Preference::default().with(PlaceTarget::Table, on(&[2, 3]), false);
        let both = table.with(PlaceTarget::Column(ColumnId(1)), on(&[1]), true);
        let cut = |base: &Preference, named| base.for_new_parts(named);
        assert_eq!(cut(&both, &[]), (column.followed(), vec![NodeId(2), NodeId(3)]));
        assert_eq!(cut(&both, &[NodeId(0)]), (column.followed(), vec![NodeId(0)]));
        let os = Preference::new(Placement::Os);
        assert_eq!(cut(&os, &[]), (os.clone(), Vec::new()));
        assert_eq!(cut(&os, &[NodeId(1)]).0.base, Placement::Auto);
        let split = Placement::IndexVector(Vec::new());
        let split = os.with(PlaceTarget::Table, split, false);
        assert_eq!(cut(&split, &[]), (Preference::default(), Vec::new()));
        let back = Preference::default().with(PlaceTarget::Table, Placement::Os, false);
        assert_eq!(cut(&back, &[]), (os, Vec::new()));
    }

    #[test]
    fn parts_go_to_their_nodes_unless_someone_says_otherwise() {
        let machine = samples::four_sockets();
        let nodes = |ids: &[u16]| ids.iter().map(|&it| NodeId(it)).collect::<Vec<_>>();
        let partitioning = Partitioning::RoundRobin { parts: 8 };
        let design = TableDesign { partitioning, ..TableDesign::default() };
        assert_eq!(design.nodes_of_part(&machine, 5), nodes(&[1]));
        assert_eq!(design.placement_of(&machine, 0, 5), Placement::Interleaved(nodes(&[1])));
        let preference = design.preference.with(PlaceTarget::Part(5), on(&[3]), false);
        let design = TableDesign { preference, part_nodes: nodes(&[2]), ..design };
        assert_eq!(design.nodes_of_part(&machine, 5), nodes(&[3]));
        assert_eq!(design.nodes_of_part(&machine, 4), nodes(&[2]));
        assert_eq!(design.placement_of_shared(&machine, 0), Placement::Interleaved(nodes(&[2, 3])));
    }

    #[test]
    fn what_parts_share_is_where_the_column_is_demanded() {
        let machine = samples::four_sockets();
        let nodes = |ids: &[u16]| ids.iter().map(|&it| NodeId(it)).collect::<Vec<_>>();
        let preference = Preference::default().with(PlaceTarget::Table, on(&[2]), false);
        let whole = TableDesign { preference: preference.clone(), ..TableDesign::default() };
        assert_eq!(whole.placement_of_shared(&machine, 0), on(&[2]));
        let partitioning = Partitioning::RoundRobin { parts: 2 };
        let parted = TableDesign { partitioning, ..TableDesign::default() };
        assert_eq!(parted.placement_of_shared(&machine, 0), Placement::Interleaved(nodes(&[0, 1])));
        let column = preference.with(PlaceTarget::Column(ColumnId(1)), on(&[3]), false);
        let parted = TableDesign { preference: column, ..parted };
        assert_eq!(parted.placement_of_shared(&machine, 1), Placement::Interleaved(nodes(&[3])));
        let preference = Preference::new(Placement::Os);
        let left = TableDesign { preference, ..parted };
        assert_eq!(left.placement_of_shared(&machine, 1), Placement::Os);
        assert_eq!((left.turn_of(4, 1, 2), whole.turn_of(4, 0, 2)), (1, 6));
    }

    #[test]
    fn parts_that_get_other_numbers_stay_where_they_are() {
        let bounds = |count| (0..count).map(types::Value::Integer).collect();
        let ranges = |count| Partitioning::Range { column: ColumnId(0), bounds: bounds(count) };
        let four = TableDesign { partitioning: ranges(3), ..TableDesign::default() };
        assert_eq!(four.turns_with(3..4, 3..5), Vec::<u32>::new());
        let part_turns = four.turns_with(1..2, 1..3);
        assert_eq!(part_turns, [0, 1, 4, 2, 3]);
        let five = TableDesign { partitioning: ranges(4), part_turns, ..four };
        assert_eq!(five.nodes_of_part(&samples::four_sockets(), 3), [NodeId(2)]);
        assert_eq!(five.turns_with(0..2, 0..1), [0, 4, 2, 3]);
        assert_eq!(five.turns_with(1..3, 1..2), Vec::<u32>::new());
    }

    #[test]
    fn a_node_that_is_not_there_is_named_with_those_that_are() {
        let error = check_nodes(&samples::four_sockets(), &[NodeId(1), NodeId(7)]).unwrap_err();
        assert_eq!(error.state, SqlState::INVALID_PARAMETER);
        assert!(error.message.contains("no NUMA node 7"), "{error}");
        assert!(error.hint.as_deref().is_some_and(|it| it.contains("0, 1, 2, 3")));
    }
}
