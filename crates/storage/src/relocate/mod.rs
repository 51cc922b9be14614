//! Moves the columns of a table (RR, IVP and the others of P-HANA 4.2): large segments by their pages, at unchanged
//! addresses and under running queries; small ones, which share pages, by a copy.
//!
//! All is planned before anything moves, so that too little memory is noticed in time. What fails half way leaves every
//! segment readable and its map true, in the old place or the new.

mod copies;
mod segment_places;

use std::collections::BTreeMap;
use std::ops::Range;

use hardware::{Machine, NodeId, PagePolicy, Topology};
use memory::Segment;
use placement::{ColumnShape, Placement, places};
use stdx::Bytes;
use stdx::sync::Arc;
use types::{SqlError, SqlResult, SqlState};

use crate::dictionary::Move;
use crate::domain::Shared;
use crate::parallel::try_map;
use crate::part::{Part, Replica, Translation};
use crate::place::{ColumnPlace, check_file, out_of_memory};
use crate::preference::check_nodes;
use crate::{BuildContext, Column, Component, Partitioning, PlaceTarget, Table, TableDesign};
pub use copies::CopyShape;
use copies::{copied, is_copied};
use segment_places::{
    Places, bytes_of_rows, decided_for, is_there, overlay, places_now, places_of, whole_pages,
};

/// Bytes that are moved between two looks for a sign to stop.
const STEP_BYTES: usize = 32 << 20;
/// Steps end between huge pages, so that none is broken for a step.
const HUGE_PAGE: usize = 2 << 20;

/// A segment and its new places.
struct Job {
    segment: Arc<Segment>,
    places: Places,
}

impl Table {
    /// This table with a part of it placed anew, at once. Large segments move under the readers of this table, too;
    /// the result shares them. On failure this table is as good as before.
    pub fn placed(
        &self,
        target: &PlaceTarget,
        placement: &Placement,
        context: &BuildContext<'_>,
    ) -> SqlResult<Self> {
        let topology = context.allocator.machine().topology();
        check_nodes(topology, placement.nodes())?;
        self.check_target(target)?;
        if let (PlaceTarget::Table, Placement::Parts(nodes)) = (target, placement) {
            let parts = places(topology, nodes).len().max(1);
            return self.repartitioned(&Partitioning::RoundRobin { parts }, nodes, context);
        }
        let preference = self.preference().with(target.clone(), placement.clone(), false);
        let design = TableDesign { preference, ..self.design().clone() };
        self.moved(design, target, context)
    }

    /// As [`Table::placed`], but nobody has demanded it: when the columns are built anew they go where they would have.
    pub fn rebalanced(
        &self,
        target: &PlaceTarget,
        placement: &Placement,
        context: &BuildContext<'_>,
    ) -> SqlResult<Self> {
        check_nodes(context.allocator.machine().topology(), placement.nodes())?;
        self.check_target(target)?;
        let preference = self.preference().with(target.clone(), placement.clone(), false);
        let design = TableDesign { preference, ..self.design().clone() };
        let table = self.moved(design, target, context)?;
        Ok(Self { design: self.design().clone(), ..table })
    }

    /// This table with a demand noted, to be followed when its columns are built anew or by
    /// [`Table::follow_deferred`].
    pub fn deferred(
        &self,
        target: &PlaceTarget,
        placement: &Placement,
        topology: &Topology,
    ) -> SqlResult<Self> {
        check_nodes(topology, placement.nodes())?;
        self.check_target(target)?;
        let preference = self.preference().with(target.clone(), placement.clone(), true);
        let design = TableDesign { preference, ..self.design().clone() };
        Ok(self.with_parts(self.parts().to_vec(), design))
    }

    /// This table with all deferred demands followed now.
    pub fn follow_deferred(&self, context: &BuildContext<'_>) -> SqlResult<Self> {
        let preference = self.preference().followed();
        let design = TableDesign { preference, ..self.design().clone() };
        self.moved(design, &PlaceTarget::Table, context)
    }

    fn check_target(&self, target: &PlaceTarget) -> SqlResult<()> {
        match target {
            PlaceTarget::Part(part) if *part >= self.partitioning().parts() => {
                Err(self.no_such_part(*part))
            }
            PlaceTarget::Column(id) if id.index() >= self.columns.len() => {
                let message =
                    format!("table \"{}\" has no column number {}", self.name, id.index() + 1);
                Err(SqlError::new(SqlState::UNDEFINED_COLUMN, message))
            }
            PlaceTarget::Rows(rows) if rows.start > rows.end || rows.end > self.rows() => {
                let message = format!(
                    "table \"{}\" has no rows {} to {}; it has {} rows",
                    self.name,
                    rows.start,
                    rows.end,
                    self.rows()
                );
                Err(SqlError::new(SqlState::INVALID_PARAMETER, message))
            }
            _ => Ok(()),
        }
    }

    /// A table that was just built, or a column of it: what a build does not do itself is done, which is copies, demands for
    /// rows, and to learn where the pages are.
    pub(crate) fn follow_preference(
        self,
        built: &PlaceTarget,
        context: &BuildContext<'_>,
    ) -> SqlResult<Self> {
        let topology = context.allocator.machine().topology();
        let replicated = self.parts().iter().any(|it| {
            (0..it.columns.len()).filter(|column| covers(built, *column, it.number)).any(|column| {
                let placement = self.design().placement_of(topology, column, it.number);
                matches!(placement, Placement::Replicated(_))
            })
        });
        // What lies in a mapped file stays there: demands say who reads it first.
        let is_mapped = self.components().iter().any(|it| it.segment.is_mapped());
        let demanded = replicated || self.preference().rows().next().is_some();
        let table = if demanded && !is_mapped {
            let design = self.design().clone();
            self.moved(design, built, context)?
        } else {
            self
        };
        let components = table.components().into_iter();
        let is_built = |it: &Component<'_>| covers_column(built, it.column.index());
        for component in components.filter(|it| is_built(it) && !it.segment.is_mapped()) {
            learn(component.segment, topology)?;
        }
        Ok(table)
    }

    /// The table with what a target covers placed as a design says.
    fn moved(
        &self,
        design: TableDesign,
        target: &PlaceTarget,
        context: &BuildContext<'_>,
    ) -> SqlResult<Self> {
        let plan = Plan { table: self, design: &design, context };
        let rows_only = matches!(target, PlaceTarget::Rows(_));
        let mut jobs: Vec<Job> = Vec::new();
        for (index, part) in self.parts().iter().enumerate() {
            for place in (0..part.columns.len()).filter(|&it| covers(target, it, part.number)) {
                plan.part_column(index, place, rows_only, &mut jobs)?;
            }
        }
        let shared = || (0..self.columns.len()).filter(|&it| covers_column(target, it));
        if self.is_in_pieces() && !rows_only {
            shared().try_for_each(|it| plan.shared_column(it, &mut jobs))?;
        }
        check_memory(&jobs, plan.copies(), context)?;
        let segments = try_map(context.parallel, jobs.len(), |job| run(&jobs[job], context))?;
        let mut segments = segments.into_iter();
        let mut next = |_: &'static str, _: &Arc<Segment>| {
            segments.next().ok_or_else(|| SqlError::internal("a move lost a segment"))
        };
        let mut parts = self.parts().to_vec();
        for part in &mut parts {
            let number = part.number;
            for place in (0..part.columns.len()).filter(|&it| covers(target, it, number)) {
                let columns = Arc::make_mut(&mut part.columns);
                columns[place] = Arc::new(columns[place].moved(&mut next)?);
                let translations = Arc::make_mut(&mut part.translations);
                let translation = translations.get_mut(place).and_then(Option::as_mut);
                if let Some(it) = translation {
                    *it = Translation { segment: next("translation", &it.segment)?, len: it.len };
                }
            }
            if design.is_parted() {
                part.nodes = design.nodes_of_part(plan.topology(), number);
            }
            part.replicas = plan.replicas(part)?;
        }
        let mut table = self.with_parts(parts, design.clone());
        if self.is_in_pieces() && !rows_only {
            for place in shared() {
                let body =
                    &mut |name, segment: &Arc<Segment>| match table.is_of_part(place, segment) {
                        true => Ok(segment.clone()),
                        false => next(name, segment),
                    };
                table.columns[place] = Arc::new(table.columns[place].moved(body)?);
            }
        }
        Ok(table)
    }

    /// Whether a segment of a column of the table is that of one of its parts.
    fn is_of_part(&self, place: usize, segment: &Arc<Segment>) -> bool {
        let mut of_parts = self.parts().iter().flat_map(|it| it.columns[place].segments());
        of_parts.any(|it| Arc::ptr_eq(it.1, segment))
    }
}

/// Whether a column of a part is placed with what is placed.
fn covers(target: &PlaceTarget, column: usize, part: usize) -> bool {
    match target {
        PlaceTarget::Part(it) => *it == part,
        _ => covers_column(target, column),
    }
}

/// Whether some of a column is placed with what is placed.
fn covers_column(target: &PlaceTarget, column: usize) -> bool {
    match target {
        PlaceTarget::Column(id) => id.index() == column,
        PlaceTarget::Table | PlaceTarget::Part(_) | PlaceTarget::Rows(_) => true,
    }
}

/// What is needed to plan where segments go.
struct Plan<'a> {
    table: &'a Table,
    design: &'a TableDesign,
    context: &'a BuildContext<'a>,
}

impl Plan<'_> {
    fn topology(&self) -> &Topology {
        self.context.allocator.machine().topology()
    }

    /// How many columns or parts were dealt before.
    fn turn(&self, part: usize, column: usize) -> usize {
        self.design.turn_of(column, part, self.context.turn)
    }

    /// Plans what the parts of a column share: a job per segment that is no part's, in the order of [`Column::moved`].
    fn shared_column(&self, place: usize, jobs: &mut Vec<Job>) -> SqlResult<()> {
        let column = &self.table.columns[place];
        let shared = Shared { design: self.design, column: place };
        let placement = shared.placement(self.context);
        let to = shared.place(&placement, self.context);
        let body = &mut |_: &'static str, segment: &Arc<Segment>| {
            if !self.table.is_of_part(place, segment) {
                let places = to.places_of_dictionary(segment.bytes(), 0);
                jobs.push(Job { segment: segment.clone(), places });
            }
            Ok(segment.clone())
        };
        column.moved(body).map(drop)
    }

    /// Plans a column of a part: a job per segment, in the order of [`Column::moved`].
    fn part_column(
        &self,
        index: usize,
        place: usize,
        rows_only: bool,
        jobs: &mut Vec<Job>,
    ) -> SqlResult<()> {
        let part = &self.table.parts()[index];
        let number = part.number;
        let column = &part.columns[place];
        let placement = self.design.placement_of(self.topology(), place, number);
        let turn = self.turn(number, place);
        let decide = |name: &str, segment: &Segment| -> Places {
            let column_place = ColumnPlace::new(self.context.allocator, &placement, turn);
            let mut places = if rows_only {
                Places::new()
            } else {
                places_of(&column_place, column, name, segment)
            };
            for (rows, placement) in self.design.preference.rows() {
                let Some(rows) = self.rows_in_part(index, rows) else { continue };
                let Some(bytes) = bytes_of_rows(column, name, segment, &rows) else { continue };
                let place = ColumnPlace::new(self.context.allocator, placement, turn);
                let shape = ColumnShape { bits: 8, bytes_iv: bytes.len(), bytes_dictionary: 0 };
                let within = |(range, policy): (Range<usize>, PagePolicy)| {
                    (range.start + bytes.start..range.end + bytes.start, policy)
                };
                let over = whole_pages(place.decide(&shape).iv, segment);
                places = overlay(places, over.into_iter().map(within).collect());
            }
            places
        };
        let mut body = |name: &'static str, segment: &Arc<Segment>| {
            jobs.push(Job { segment: segment.clone(), places: decide(name, segment) });
            Ok(segment.clone())
        };
        let body: &mut Move<'_> = &mut body;
        column.moved(body)?;
        if let Some(translation) = part.translation(place) {
            body("translation", &translation.segment)?;
        }
        Ok(())
    }

    /// The rows of a part among some rows of the table.
    fn rows_in_part(&self, index: usize, rows: &Range<u64>) -> Option<Range<usize>> {
        let before: usize = self.table.parts()[..index].iter().map(Part::rows).sum();
        let start = (rows.start as usize).max(before) - before;
        let end = (rows.end as usize).saturating_sub(before).min(self.table.parts()[index].rows());
        (start < end).then_some(start..end)
    }

    /// Bytes that copies of all columns will take on each node.
    fn copies(&self) -> BTreeMap<NodeId, u64> {
        let mut wanted = BTreeMap::new();
        for part in self.table.parts() {
            for (place, column) in part.columns.iter().enumerate() {
                let placement = self.design.placement_of(self.topology(), place, part.number);
                let turn = self.turn(part.number, place);
                let column_place = ColumnPlace::new(self.context.allocator, &placement, turn);
                let decided = decided_for(&column_place, column);
                let copied =
                    column.segments().into_iter().filter(|it| is_copied(it.0, decided.copies_iv));
                let bytes: u64 = copied.map(|it| it.1.bytes() as u64).sum();
                for nodes in &decided.copies {
                    for node in nodes {
                        *wanted.entry(*node).or_default() += bytes / nodes.len() as u64;
                    }
                }
            }
        }
        wanted
    }

    /// The copies that a part needs, made of its columns.
    fn replicas(&self, part: &Part) -> SqlResult<Vec<Replica>> {
        let mut replicas: Vec<Replica> = Vec::new();
        for (place, column) in part.columns.iter().enumerate() {
            let placement = self.design.placement_of(self.topology(), place, part.number);
            if !matches!(placement, Placement::Replicated(_)) {
                continue;
            }
            let column_place =
                ColumnPlace::new(self.context.allocator, &placement, self.turn(part.number, place));
            let decided = decided_for(&column_place, column);
            for nodes in &decided.copies {
                self.context.check_cancelled()?;
                let copy = Arc::new(copied(column, nodes, &decided)?);
                match replicas.iter_mut().find(|it| it.nodes == *nodes) {
                    Some(replica) => replica.columns[place] = copy,
                    None => {
                        let mut columns = part.columns.to_vec();
                        columns[place] = copy;
                        replicas.push(Replica { nodes: nodes.clone(), columns });
                    }
                }
            }
        }
        Ok(replicas)
    }
}

/// Whether the pages of a segment can be moved to its places; else it is copied, as first touch asks for.
fn moves(segment: &Segment, places: &Places) -> bool {
    segment.is_movable() && places.iter().all(|it| it.1 != PagePolicy::FirstTouch)
}

/// Where the step of a move of `range` that begins at `start` ends. A deal goes on where the last step left it: steps are
/// whole rounds, and as long as it takes for the machine to deal them as it would deal the range at once.
fn step_end(
    start: usize,
    range: &Range<usize>,
    policy: &PagePolicy,
    machine: &dyn Machine,
) -> usize {
    let PagePolicy::Interleave(nodes) = policy else {
        return range.end.min((start / HUGE_PAGE) * HUGE_PAGE + STEP_BYTES);
    };
    let round = nodes.len().max(1) * HUGE_PAGE;
    let unit = |bytes| machine.interleave_bytes(bytes, nodes.len());
    let mut step = (STEP_BYTES / round).max(1) * round;
    while step < range.len() && unit(step) != unit(range.len()) {
        step *= 2;
    }
    if range.end - start < 2 * step { range.end } else { start + step }
}

/// Moves or copies a segment.
fn run(job: &Job, context: &BuildContext<'_>) -> SqlResult<Arc<Segment>> {
    let segment = &job.segment;
    context.check_cancelled()?;
    if segment.bytes() == 0 || job.places.is_empty() || is_there(segment, &job.places) {
        return Ok(segment.clone());
    }
    if moves(segment, &job.places) {
        for (range, policy) in &job.places {
            let mut start = range.start;
            while start < range.end {
                context.check_cancelled()?;
                let end = step_end(start, range, policy, &**context.allocator.machine());
                segment.place_range(start..end, policy).map_err(move_failed)?;
                start = end;
            }
        }
        return Ok(segment.clone());
    }
    let all = overlay(places_now(segment), job.places.clone());
    let copy = context.allocator.allocate_placed(segment.bytes(), &all).map_err(out_of_memory)?;
    let mut copy = copy;
    // A file that fails meanwhile is told by the second look.
    check_file(segment)?;
    for (to, from) in
        copy.as_bytes_mut().chunks_mut(STEP_BYTES).zip(segment.as_bytes().chunks(STEP_BYTES))
    {
        context.check_cancelled()?;
        to.copy_from_slice(from);
    }
    check_file(segment)?;
    learn(&copy, context.allocator.machine().topology())?;
    Ok(Arc::new(copy))
}

/// Asks where the pages of parts are that a change has made, and of what columns have in common, as far as nothing was promised of
/// them.
pub(crate) fn learn_new(
    parts: &[Part],
    columns: &[Arc<Column>],
    context: &BuildContext<'_>,
) -> SqlResult<()> {
    let topology = context.allocator.machine().topology();
    if topology.nodes.len() == 1 {
        return Ok(());
    }
    let of_columns = columns.iter().chain(parts.iter().flat_map(|it| it.columns.iter()));
    let translations = parts.iter().flat_map(|it| it.translations.iter().flatten());
    let segments = of_columns.flat_map(|it| it.segments()).map(|it| it.1);
    let mut unknown = segments
        .chain(translations.map(|it| &it.segment))
        .filter(|it| !it.is_mapped() && it.page_map().pages() == 0);
    unknown.try_for_each(|it| learn(it, topology))
}

/// Asks where the pages of a filled segment are. The OS may have dealt them in other turns than was expected, as huge
/// pages are not always to be had, or have taken another node for a full one; first touch promised nothing at all.
fn learn(segment: &Segment, topology: &Topology) -> SqlResult<()> {
    let unknown = segment.page_map().pages() == 0;
    if segment.bytes() > 0 && (unknown || topology.nodes.len() > 1) {
        segment.locate().map_err(out_of_memory)?;
    }
    Ok(())
}

fn move_failed(error: hardware::MachineError) -> SqlError {
    match error {
        error @ hardware::MachineError::OutOfMemory { .. } => out_of_memory(error),
        error => SqlError::new(SqlState::IO_ERROR, format!("pages could not be moved: {error}"))
            .with_hint("nodewise.nodes shows what the nodes have free; the data is as it was"),
    }
}

/// Refuses a move for which a node has too little free memory, before anything moves.
fn check_memory(
    jobs: &[Job],
    mut wanted: BTreeMap<NodeId, u64>,
    context: &BuildContext<'_>,
) -> SqlResult<()> {
    let machine: &dyn Machine = &**context.allocator.machine();
    for job in jobs.iter().filter(|it| !is_there(&it.segment, &it.places)) {
        let map = job.segment.page_map();
        let base = job.segment.address();
        let stays = moves(&job.segment, &job.places);
        for (range, policy) in &job.places {
            let nodes = match policy {
                PagePolicy::Node(node) => std::slice::from_ref(node),
                PagePolicy::Interleave(nodes) => nodes.as_slice(),
                PagePolicy::FirstTouch => &[],
            };
            let under = map.subset(base + range.start, range.len());
            for node in nodes {
                let share = range.len() as u64 / nodes.len() as u64;
                let there = under.summary().into_iter().find(|it| it.0 == *node);
                let there = there.map_or(0, |it| (it.1 * map.page_bytes()) as u64);
                let more = if stays { share.saturating_sub(there) } else { share };
                *wanted.entry(*node).or_default() += more;
            }
        }
    }
    for (node, bytes) in &wanted {
        let Some(memory) = machine.node_memory(*node) else { continue };
        if *bytes > memory.available.0 {
            let all: Vec<String> = (machine.topology().memory_nodes().into_iter())
                .filter_map(|it| Some(format!("node {it}: {}", machine.node_memory(it)?.available)))
                .collect();
            let message = format!(
                "node {node} has {} free, and {} would go there",
                memory.available,
                Bytes(*bytes)
            );
            return Err(SqlError::new(SqlState::OUT_OF_MEMORY, message)
                .with_hint(format!("free memory is {}", all.join(", "))));
        }
    }
    Ok(())
}
