//! What the operators of a statement hold, each by itself (docs/design/02-memory-and-placement.md, "Grants").
//!
//! Key decision: an operator has a [`Workspace`](crate::Workspace) of its own, and whoever works for it takes memory there.
//! What is counted for it is counted for its statement too, so that the two cannot drift apart: blocks at once, small pieces
//! when a worker's morsel ends, or when they come to a few hundred KiB.
//!
//! - Invariant: as `Account::operators` tells them, operators never hold more together than their statement.
//! - Limit: what is given back on behalf of no operator, as of an answer that has been sent, is taken off the last ones.

use stdx::Bytes;
use stdx::sync::Arc;

use crate::counting::Held;

/// The account of an operator: what ends a pipeline, or waits beside it.
pub struct OperatorAccount {
    pipeline: u32,
    kind: &'static str,
    held: Arc<Held>,
}

/// What an operator holds, at one moment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OperatorBytes {
    /// The pipeline that it ends or is part of.
    pub pipeline: u32,
    /// What it does, in the word of plans: `build`, `aggregate`, `sort`.
    pub kind: &'static str,
    /// In blocks by node of the topology in its order, what is spread over them at last.
    pub places: Vec<Bytes>,
    /// In small pieces of the heap.
    pub heap: Bytes,
    /// In temporary files.
    pub files: Bytes,
    /// The most that it held in memory.
    pub peak: Bytes,
    /// Written to temporary files in all.
    pub spilled: Bytes,
}

impl std::fmt::Debug for OperatorAccount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "OperatorAccount({} {})", self.pipeline, self.kind)
    }
}

impl OperatorBytes {
    /// All that it holds in memory.
    pub fn held(&self) -> Bytes {
        Bytes(self.heap.0 + self.places.iter().map(|it| it.0).sum::<u64>())
    }
}

impl OperatorAccount {
    /// Nothing held yet, of a statement that counts all of it too.
    pub(crate) fn new(pipeline: u32, kind: &'static str, statement: &Arc<Held>) -> Arc<Self> {
        let held = Arc::new(Held::of_operator(statement));
        Arc::new(Self { pipeline, kind, held })
    }

    pub(crate) fn held(&self) -> &Arc<Held> {
        &self.held
    }

    /// The pipeline that it ends or is part of.
    pub fn pipeline(&self) -> u32 {
        self.pipeline
    }

    /// What it does, in the word of plans.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// The most that it held in memory.
    pub fn peak(&self) -> Bytes {
        Bytes(self.held.peak())
    }

    /// Bytes that it has written to temporary files.
    pub fn spilled(&self) -> Bytes {
        Bytes(self.held.written())
    }

    /// It has ended: what it still holds is another one's from now on, whoever gives it back.
    pub fn leave_to(&self, other: &Self) {
        self.held.leave_to(&other.held);
    }

    fn bytes(&self) -> OperatorBytes {
        let held = &self.held;
        OperatorBytes {
            pipeline: self.pipeline,
            kind: self.kind,
            places: held.places(),
            heap: Bytes(held.heap_bytes()),
            files: Bytes(held.file_bytes()),
            peak: self.peak(),
            spilled: self.spilled(),
        }
    }
}

/// What operators hold that have begun, never more together than `places` and `heap` say of their statement.
pub(crate) fn held_within(
    operators: &[Arc<OperatorAccount>],
    places: &[Bytes],
    heap: Bytes,
) -> Vec<OperatorBytes> {
    let mut all: Vec<_> = operators.iter().map(|it| it.bytes()).collect();
    for (place, limit) in places.iter().enumerate() {
        cut_to(*limit, all.iter_mut().map(|it| &mut it.places[place]));
    }
    cut_to(heap, all.iter_mut().map(|it| &mut it.heap));
    all
}

/// Takes from the last ones what all are together past a limit.
fn cut_to<'a>(limit: Bytes, bytes: impl DoubleEndedIterator<Item = &'a mut Bytes>) {
    let mut bytes: Vec<_> = bytes.collect();
    let all: u64 = bytes.iter().map(|it| it.0).sum();
    let mut excess = all.saturating_sub(limit.0);
    for one in bytes.iter_mut().rev() {
        let cut = one.0.min(excess);
        one.0 -= cut;
        excess -= cut;
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use hardware::NodeId;

    use crate::fake::FakeMachine;
    use crate::{Allocator, OperatorBytes, PLACED_BYTES, Placed, Workspace};
    use stdx::Bytes;

    const PIECE: usize = 2 * PLACED_BYTES;

    fn operators(workspace: &Workspace) -> Vec<OperatorBytes> {
        let account = workspace.account();
        account.operators(&account.places(), account.heap_bytes())
    }

    #[test]
    fn operators_hold_their_part_of_what_the_statement_holds() {
        let allocator = Allocator::new(FakeMachine::with_nodes(2));
        let statement = Workspace::new(&allocator);
        let (build, sort) = (statement.of_operator(0, "build"), statement.of_operator(1, "sort"));
        let table: Placed<u64> = build.spread().zeroed(PIECE / 8).unwrap();
        let run: Placed<u64> = sort.at(NodeId(1)).spread().zeroed(PIECE / 4).unwrap();
        let other: Placed<u64> = statement.on(NodeId(0)).zeroed(PIECE / 8).unwrap();
        let held = |at: usize| operators(&statement)[at].held().0;
        assert_eq!((held(0), held(1)), (PIECE as u64, 2 * PIECE as u64));
        assert_eq!(operators(&statement)[1].places[1], Bytes(2 * PIECE as u64));
        assert_eq!(statement.account().held(), Bytes(4 * PIECE as u64));
        // What is given back is that of who took it, whoever gives it back.
        drop((table, other));
        assert_eq!((held(0), held(1)), (0, 2 * PIECE as u64));
        assert_eq!(operators(&statement)[0].peak, Bytes(PIECE as u64));
        drop(run);
        assert_eq!(statement.account().held(), Bytes(0));
    }

    #[test]
    fn what_is_left_when_an_operator_ends_is_its_readers() {
        let allocator = Allocator::new(FakeMachine::with_nodes(1));
        let statement = Workspace::new(&allocator);
        let (sort, result) = (statement.of_operator(0, "sort"), statement.of_operator(1, "result"));
        let rows: Placed<u64> = sort.spread().zeroed(PIECE / 8).unwrap();
        let account = |it: &Workspace| it.operator().unwrap().clone();
        account(&sort).leave_to(&account(&result));
        account(&result).leave_to(&account(&sort));
        let held = || operators(&statement).iter().map(|it| it.held().0).collect::<Vec<_>>();
        assert_eq!(held(), [0, PIECE as u64]);
        drop(rows);
        assert_eq!((held(), statement.account().held()), (vec![0, 0], Bytes(0)));
    }

    #[test]
    fn operators_are_never_more_than_their_statement() {
        let allocator = Allocator::new(FakeMachine::with_nodes(1));
        let statement = Workspace::new(&allocator);
        let all = [statement.of_operator(0, "sort"), statement.of_operator(1, "result")];
        all.iter().for_each(|it| it.held().count_heap(100));
        // The answer, whose rows are given back on behalf of nobody.
        statement.account().counters().count_heap(-150);
        let held: Vec<_> = operators(&statement).iter().map(|it| it.held().0).collect();
        assert_eq!(held, [50, 0]);
    }

    #[test]
    fn files_count_while_they_are_there_and_once_for_good() {
        let allocator = Allocator::new(FakeMachine::with_nodes(1));
        let statement = Workspace::new(&allocator);
        let sort = statement.of_operator(3, "sort");
        let file = sort.spill_file().unwrap().unwrap();
        file.append(&[1; 1000]).unwrap();
        let found = operators(&statement).remove(0);
        assert_eq!((found.files, statement.account().file_bytes()), (Bytes(1000), Bytes(1000)));
        drop(file);
        let found = operators(&statement).remove(0);
        assert_eq!((found.files, found.spilled, found.pipeline), (Bytes(0), Bytes(1000), 3));
        let account = statement.account();
        assert_eq!((account.file_bytes(), account.spilled()), (Bytes(0), Bytes(1000)));
        assert_eq!((account.spilled_by(3), account.spilled_by(0)), (Bytes(1000), Bytes(0)));
    }
}
