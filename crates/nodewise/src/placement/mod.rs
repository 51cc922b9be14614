//! Statements that place and cut tables (docs/design/02-memory-and-placement.md, "who decides"; P-HANA 4.2), and the
//! procedures that check and finish it.
//!
//! Key decision: a change is made beside the table that queries read, and put in its place at the end. Large segments
//! do move under the readers, at unchanged addresses. The writers' lock is held only to put the result in place, unless
//! another writer was faster: then the change is made once more, with the lock.

mod clauses;

use binder::{NodeClause, NodeDemand, NodeWay, PlacedItem, TableChange};
use stdx::sync::Arc;
use storage::{Partitioning, PlaceTarget, Table, TableDesign};
use types::{ColumnId, SqlError, SqlResult, SqlState};

use crate::answer::done;
use crate::durability::Operation;
use crate::parallel::LoadProgress;
use crate::reshape::{Reshape, reshaped};
use crate::{Answer, CancelToken, Session};
use clauses::{nodes_of, placement_of};

/// What `Catalog::replace` says when another writer was faster.
const CHANGED_MEANWHILE: SqlState = SqlState("40001");

impl Session {
    /// ALTER TABLE.
    pub(crate) fn alter_table(
        &mut self,
        table: &str,
        (change, if_exists): (&TableChange, bool),
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        if if_exists && self.snapshot().kind_of(table).is_none() {
            self.skip_missing("relation", table);
            return Ok(done("ALTER TABLE"));
        }
        match change {
            TableChange::Rules(changes) => self.change_rules(table, changes, cancel)?,
            TableChange::Rename(to) if self.snapshot().view(table).is_some() => {
                return self.rename_view(table, to, false, cancel).map(|_| done("ALTER TABLE"));
            }
            TableChange::Rename(to) => self.rename_table(table, to, cancel)?,
            TableChange::Place(places) => {
                self.change_table(table, cancel, |old| self.placing(old, places))?;
            }
            TableChange::Partition { partition, nodes } => {
                let old = self.existing(table)?;
                let partitioning = self.partitioning(partition, &old.schema(), cancel)?;
                self.change_table(table, cancel, |_| {
                    self.repartitioning(&partitioning, nodes.as_ref())
                })?;
            }
            TableChange::Merge { parts: None } => {
                let (partitioning, nodes) = (Partitioning::None, Vec::new());
                let step = Reshape::Partition { partitioning, nodes };
                self.change_table(table, cancel, |_| Ok(vec![step.clone()]))?;
            }
            TableChange::Merge { parts: Some((first, last)) } => {
                self.change_table(table, cancel, |old| merging(old, *first, *last))?;
            }
            TableChange::Split { part, at } => {
                let old = self.existing(table)?;
                let Partitioning::Range { column, .. } = old.partitioning() else {
                    return Err(no_ranges(&old));
                };
                let column = old.schema().swap_remove(column.index());
                let at = self.constants(std::slice::from_ref(at), &column, cancel)?.swap_remove(0);
                self.change_table(table, cancel, |old| {
                    check_split(old, *part, &at)?;
                    Ok(vec![Reshape::SplitPart { at: at.clone() }])
                })?;
            }
        }
        Ok(done("ALTER TABLE"))
    }

    /// Puts in the place of a table what the steps of `change` make of it.
    pub(crate) fn change_table(
        &self,
        name: &str,
        cancel: &CancelToken,
        change: impl Fn(&Arc<Table>) -> SqlResult<Vec<Reshape>>,
    ) -> SqlResult<()> {
        let team = self.load_team(cancel);
        let progress = LoadProgress::new(&*self.progress, name);
        let stop = || execution::is_ended(cancel);
        let plain = TableDesign::default();
        let context = self.build_context(&team, &progress, &stop, &plain);
        let made = |old: &Arc<Table>| -> SqlResult<_> {
            let steps = change(old)?;
            let new = self.cancelled_or(cancel, reshaped(old, &steps, &context))?;
            Ok((steps, new.ok_or_else(|| SqlError::internal("ALTER TABLE changes nothing"))?))
        };
        let started = self.database.machine.now();
        let old = self.existing(name)?;
        let (mut steps, new) = made(&old)?;
        self.write_alone(cancel)?;
        let new = match self.catalog().replace(&old, new) {
            Err(error) if error.state == CHANGED_MEANWHILE => {
                let old = self.existing(name)?;
                let (again, new) = made(&old)?;
                steps = again;
                self.catalog().replace(&old, new)?
            }
            other => other?,
        };
        if steps.iter().any(|it| matches!(it, Reshape::Merge)) {
            self.database.merges.note(&old, &new, started, self.database.machine.now());
        }
        self.note(|| Operation::reshape(name, &steps))
    }

    fn placing(
        &self,
        table: &Table,
        places: &[(PlacedItem, NodeClause)],
    ) -> SqlResult<Vec<Reshape>> {
        let topology = self.database.machine.topology();
        let step = |(item, clause): &(PlacedItem, NodeClause)| {
            let target = target_of(table, item)?;
            let parted = *table.partitioning() != Partitioning::None;
            let parts = parted && target == PlaceTarget::Table;
            let placement = placement_of(&clause.demand, parts, topology)?;
            Ok(Reshape::Place { target, placement, deferred: clause.deferred })
        };
        places.iter().map(step).collect()
    }

    fn repartitioning(
        &self,
        partitioning: &Partitioning,
        clause: Option<&NodeClause>,
    ) -> SqlResult<Vec<Reshape>> {
        let topology = self.database.machine.topology();
        let step = |nodes| Reshape::Partition { partitioning: partitioning.clone(), nodes };
        let Some(NodeClause { demand: NodeDemand::On { way, nodes }, deferred }) = clause else {
            return Ok(vec![step(Vec::new())]);
        };
        if *deferred {
            return Err(SqlError::unsupported("a table is cut into parts at once, not DEFERRED"));
        }
        let named = nodes_of(nodes, topology)?;
        if matches!(way, NodeWay::Fitting | NodeWay::RoundRobin) {
            return Ok(vec![step(named)]);
        }
        let demand = NodeDemand::On { way: *way, nodes: nodes.clone() };
        let placement = placement_of(&demand, true, topology)?;
        let place = Reshape::Place { target: PlaceTarget::Table, placement, deferred: false };
        Ok(vec![step(Vec::new()), place])
    }
}

/// What a statement means of a table.
fn target_of(table: &Table, item: &PlacedItem) -> SqlResult<PlaceTarget> {
    Ok(match item {
        PlacedItem::Table => PlaceTarget::Table,
        PlacedItem::Column { name, data_type } => {
            let id = column_of(table, name)?;
            let own = table.column(id).data_type;
            if let Some(other) = data_type.filter(|it| *it != own) {
                let message = format!("column \"{name}\" is {own}; it cannot become {other}");
                return Err(
                    SqlError::unsupported(message).with_hint("name the type that it has, or none")
                );
            }
            PlaceTarget::Column(id)
        }
        PlacedItem::Part(part) => PlaceTarget::Part(part_of(table, *part)?),
        PlacedItem::Rows { first, last } => {
            if *last >= table.rows() {
                let (name, rows) = (&table.name, table.rows());
                let has = match rows.checked_sub(1) {
                    Some(end) => format!("it has rows 0 to {end}"),
                    None => "it has none".to_owned(),
                };
                let message = format!("table \"{name}\" has no rows {first} to {last}; {has}");
                return Err(SqlError::new(SqlState::INVALID_PARAMETER, message));
            }
            PlaceTarget::Rows(*first..*last + 1)
        }
    })
}

fn column_of(table: &Table, name: &str) -> SqlResult<ColumnId> {
    clauses::column_among(&table.schema(), name)
        .ok_or_else(|| clauses::no_such_column(&table.name, name))
}

fn part_of(table: &Table, part: u64) -> SqlResult<usize> {
    let parts = table.partitioning().parts();
    usize::try_from(part).ok().filter(|it| *it < parts).ok_or_else(|| {
        let (name, last) = (&table.name, parts - 1);
        let message = format!("table \"{name}\" has no part {part}; it has parts 0 to {last}");
        SqlError::new(SqlState::INVALID_PARAMETER, message)
    })
}

fn merging(old: &Table, first: u64, last: u64) -> SqlResult<Vec<Reshape>> {
    if !matches!(old.partitioning(), Partitioning::Range { .. }) {
        return Err(no_ranges(old));
    }
    let (first, last) = (part_of(old, first)?, part_of(old, last)?);
    Ok(vec![Reshape::MergePart { first }; (last - first).max(1)])
}

fn no_ranges(table: &Table) -> SqlError {
    let message = format!("table \"{}\" has no parts of ranges", table.name);
    SqlError::unsupported(message).with_hint(
        "ALTER TABLE .. PARTITION BY cuts the whole table anew; MERGE PARTITIONS makes it one",
    )
}

fn check_split(table: &Table, part: Option<u64>, at: &types::Value) -> SqlResult<()> {
    let Some(part) = part else { return Ok(()) };
    let meant = part_of(table, part)?;
    match table.partitioning().part_of(&table.schema(), &[at]) {
        Some(found) if found != meant => {
            let message = format!("{at} is not in part {part} of table \"{}\"", table.name);
            Err(SqlError::new(SqlState::INVALID_PARAMETER, message)
                .with_hint(format!("it is in part {found}")))
        }
        _ => Ok(()),
    }
}
