//! What works on a query: a worker as the parts of a pipeline see it, the team of all workers, and local state by slot.

use std::mem::MaybeUninit;

use hardware::NodeId;
use memory::{Scratch, Workspace};
use scheduler::CancelToken;
use stdx::sync::{Arc, Mutex, MutexGuard};
use types::SqlResult;

use crate::control::{check, check_memory};
use crate::traffic::{Accesses, Item, Place};

/// What a worker hands to the parts of a pipeline.
#[derive(Clone, Debug)]
pub struct WorkContext {
    /// Index of the local state; below [`Team::slots`].
    pub slot: usize,
    /// The node the worker runs on.
    pub node: NodeId,
    /// Ends the statement.
    pub cancel: CancelToken,
    /// Memory for what the query keeps.
    pub workspace: Arc<Workspace>,
    /// Counts what its pipeline touches beside columns.
    pub accesses: Arc<Accesses>,
}

/// Steps of a loop between two looks at the token: below a millisecond of the dearest step, and nothing beside the rest.
const STEPS_UNCHECKED: u32 = 1 << 14;

impl WorkContext {
    /// Memory of the worker's node, for what it keeps beyond a batch.
    pub fn scratch(&self) -> &Scratch {
        self.workspace.on(self.node)
    }

    /// Counts bytes that the worker reads or writes beside columns.
    pub(crate) fn touch(&self, item: Item, place: Place, bytes: u64) {
        self.accesses.add(self.slot, self.node, item, place, bytes);
    }

    /// Fails when the statement has been ended, or holds more memory than it may. Loops ask it that may run for long
    /// without handing on a batch.
    #[inline]
    pub fn check(&self) -> SqlResult<()> {
        check(&self.cancel)?;
        check_memory(self.workspace.account())
    }

    /// [`WorkContext::check`] for each step of a loop of many small ones; `step` counts them.
    #[inline]
    pub fn check_step(&self, step: &mut u32) -> SqlResult<()> {
        *step = step.wrapping_add(1);
        if step.is_multiple_of(STEPS_UNCHECKED) { self.check() } else { Ok(()) }
    }
}

/// The workers, for sinks that finish in parallel.
pub trait Team: Send + Sync {
    /// Slots for local state: workers, workers that may yet come, and one for the caller.
    fn slots(&self) -> usize;
    /// Workers and the caller: what work is divided by.
    fn width(&self) -> usize {
        self.slots()
    }
    /// Memory for what the query keeps.
    fn workspace(&self) -> Arc<Workspace>;
    /// Runs `body(task, context)` for each task below `tasks`, on as many workers as pay, and waits. Ends early with
    /// the first error, and with 57014 when the query is cancelled.
    fn run(
        &self,
        tasks: usize,
        body: &(dyn Fn(usize, &WorkContext) -> SqlResult<()> + Sync),
    ) -> SqlResult<()>;
    /// [`Team::run`] with a task for each of these nodes, which it has an affinity to; `small` work is done by the caller,
    /// as it is not worth waking anybody for.
    fn run_at(
        &self,
        homes: &[Option<NodeId>],
        small: bool,
        body: &(dyn Fn(usize, &WorkContext) -> SqlResult<()> + Sync),
    ) -> SqlResult<()> {
        let _ = small;
        self.run(homes.len(), body)
    }
}

/// A team whose memory is of the caller's choice.
pub(crate) struct InMemoryOf<'a> {
    pub(crate) team: &'a dyn Team,
    pub(crate) workspace: Arc<Workspace>,
}

impl Team for InMemoryOf<'_> {
    fn slots(&self) -> usize {
        self.team.slots()
    }

    fn width(&self) -> usize {
        self.team.width()
    }

    fn workspace(&self) -> Arc<Workspace> {
        self.workspace.clone()
    }

    fn run(
        &self,
        tasks: usize,
        body: &(dyn Fn(usize, &WorkContext) -> SqlResult<()> + Sync),
    ) -> SqlResult<()> {
        self.team.run(tasks, body)
    }
}

/// A worker that does all tasks by itself, with memory of its choice.
pub(crate) struct Alone<'a> {
    pub(crate) context: &'a WorkContext,
    pub(crate) workspace: Arc<Workspace>,
}

impl Team for Alone<'_> {
    fn slots(&self) -> usize {
        self.context.slot + 1
    }

    fn width(&self) -> usize {
        1
    }

    fn workspace(&self) -> Arc<Workspace> {
        self.workspace.clone()
    }

    fn run(
        &self,
        tasks: usize,
        body: &(dyn Fn(usize, &WorkContext) -> SqlResult<()> + Sync),
    ) -> SqlResult<()> {
        (0..tasks).try_for_each(|task| self.context.check().and_then(|()| body(task, self.context)))
    }
}

/// Local state by slot. Each lock is only ever taken by the worker of that slot, until `finish` collects them.
pub struct PerSlot<T>(Vec<Padded<Mutex<Option<T>>>>);

/// A value that shares no cache line, nor the pair of lines a prefetcher takes, with the next one. Room behind it, as aligned
/// memory costs a small statement more than all else of this.
struct Padded<T>(T, #[expect(dead_code, reason = "it keeps others away")] [MaybeUninit<u8>; 128]);

impl<T> Padded<T> {
    fn new(value: T) -> Self {
        Self(value, [const { MaybeUninit::uninit() }; 128])
    }
}

impl<T: Send> PerSlot<T> {
    /// No state yet in any slot.
    pub fn new(slots: usize) -> Self {
        Self((0..slots).map(|_| Padded::new(Mutex::new(None))).collect())
    }

    /// The state of a slot; `None` inside when it was never set.
    pub fn lock(&self, slot: usize) -> MutexGuard<'_, Option<T>> {
        self.0[slot].0.lock()
    }

    /// Takes all states out.
    pub fn take_all(&self) -> Vec<T> {
        self.0.iter().filter_map(|it| it.0.lock().take()).collect()
    }
}
