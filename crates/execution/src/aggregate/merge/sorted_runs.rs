//! Groups whose keys came in rising order: run after run they are complete as they stand, and nothing is merged but the
//! groups that one run ends and the next begins with (docs/design/07-measured-costs.md, "runs of groups").

use types::SqlResult;

use crate::aggregate::groups::Groups;
use crate::aggregate::having::Having;
use crate::aggregate::plan::GroupPlan;
use crate::aggregate::result::{Part, part_of};
use crate::aggregate::table::GroupTable;
use crate::aggregate::tasks::collect;
use crate::aggregate::tuning::BATCHES_PER_TASK;
use crate::{BATCH_ROWS, Team};

/// Groups with rising keys.
#[derive(Clone, Copy, Debug)]
struct Run {
    table: usize,
    start: u32,
    end: u32,
}

/// The results, if all groups stand in runs whose keys do not overlap; each part fits a batch.
pub(super) fn parts_of_runs(
    plan: &GroupPlan,
    having: Option<&Having>,
    all: &[Groups],
    team: &dyn Team,
) -> SqlResult<Option<Vec<Part>>> {
    let Some(mut runs) = runs_in_order(all) else { return Ok(None) };
    let shared = take_shared(plan, all, &mut runs);
    let pieces: Vec<Run> = runs.iter().flat_map(|&it| pieces(it)).collect();
    let tasks: Vec<&[Run]> = pieces.chunks(BATCHES_PER_TASK).collect();
    let parts = collect(team, tasks.len(), tasks.len() > 1, &|task| {
        let part = |run: &Run| part_of(plan, having, &all[run.table].slice(run.start..run.end));
        tasks[task].iter().map(part).collect::<SqlResult<Vec<Part>>>()
    })?;
    let mut parts: Vec<Part> = parts.into_iter().flatten().collect();
    if shared.len() > 0 || parts.is_empty() {
        parts.push(part_of(plan, having, &shared)?);
    }
    Ok(Some(parts))
}

/// The runs of all tables in the order of their keys; `None` if they overlap by more than one key.
fn runs_in_order(all: &[Groups]) -> Option<Vec<Run>> {
    let mut runs = Vec::new();
    for (table, groups) in all.iter().enumerate() {
        let of_table = groups.runs()?;
        runs.extend(of_table.into_iter().map(|it| Run { table, start: it.start, end: it.end }));
    }
    runs.sort_by_key(|run| (first_key(all, run), last_key(all, run)));
    let apart = |pair: &[Run]| last_key(all, &pair[0]) <= first_key(all, &pair[1]);
    runs.windows(2).all(apart).then_some(runs)
}

fn key(all: &[Groups], table: usize, group: u32) -> u64 {
    all[table].keys.words()[group as usize]
}

fn first_key(all: &[Groups], run: &Run) -> u64 {
    key(all, run.table, run.start)
}

fn last_key(all: &[Groups], run: &Run) -> u64 {
    key(all, run.table, run.end - 1)
}

/// Takes the groups out of the runs that share their key with a neighbour, and puts them together.
fn take_shared(plan: &GroupPlan, all: &[Groups], runs: &mut [Run]) -> Groups {
    let mut shared: Vec<(usize, u32)> = Vec::new();
    let meets: Vec<bool> =
        runs.windows(2).map(|it| last_key(all, &it[0]) == first_key(all, &it[1])).collect();
    for (place, run) in runs.iter_mut().enumerate() {
        let before = place > 0 && meets[place - 1];
        let after = meets.get(place).copied().unwrap_or(false);
        if before {
            shared.push((run.table, run.start));
            run.start += 1;
        }
        // A run of one group may meet both neighbours with it.
        if after && run.start < run.end {
            run.end -= 1;
            shared.push((run.table, run.end));
        }
    }
    let mut merged = GroupTable::unique(plan);
    let mut to = Vec::new();
    for (table, group) in shared {
        let from = &all[table];
        merged.find_or_insert(&from.keys.take(&[group]), &mut to);
        merged.merge(&to, from, &[group]);
    }
    merged.finish()
}

/// A run cut into pieces that fit a batch.
fn pieces(run: Run) -> impl Iterator<Item = Run> {
    (run.start..run.end).step_by(BATCH_ROWS).map(move |start| Run {
        table: run.table,
        start,
        end: run.end.min(start + BATCH_ROWS as u32),
    })
}
