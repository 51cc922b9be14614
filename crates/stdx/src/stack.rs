//! Room on the stack for recursion whose depth a user chooses.
//!
//! Key decision: trees made from a statement are walked by plain recursion, in our code and in libraries. The one who
//! knows how deep a tree can be, from the text it is made of, runs the walk on a stack that is large enough, or refuses.
//! A shallow tree costs nothing; a large stack costs address space, and memory only for what is used of it.
//!
//! - Invariant: a walk over a tree of at most [`FREE_LEVELS`] levels needs no room from here, on any thread.
//! - Invariant: a tree that may be deeper is walked, and dropped, inside of [`with_levels`]; see [`Deep`].

use std::ops::{Deref, DerefMut};

/// Levels that fit the stack of any thread.
pub const FREE_LEVELS: usize = 40;

/// The most levels that there is room for: more than a person writes, and a few hundred megabytes of addresses.
pub const LEVELS_MAX: usize = 20_000;

/// Stack that the dearest walk takes for a level, with some to spare: without optimisation a frame keeps every temporary.
const LEVEL_BYTES: usize = if cfg!(debug_assertions) { 64 << 10 } else { 12 << 10 };

/// Runs `walk` with room for a recursion of `levels` levels, at most [`LEVELS_MAX`].
pub fn with_levels<R>(levels: usize, walk: impl FnOnce() -> R) -> R {
    if levels <= FREE_LEVELS {
        return walk();
    }
    let bytes = levels.min(LEVELS_MAX) * LEVEL_BYTES;
    // Inside of a walk with enough room there is nothing to do.
    stacker::maybe_grow(bytes, bytes + (1 << 20), walk)
}

/// Whether a walk over a tree of so many levels fits what is left of the calling thread's stack.
pub fn has_room(levels: usize) -> bool {
    levels <= FREE_LEVELS || stacker::remaining_stack().is_none_or(|it| it / LEVEL_BYTES >= levels)
}

/// A tree of so many levels at most, which is dropped with room for them, wherever that happens.
#[derive(Debug)]
pub struct Deep<T> {
    /// Present until it is dropped.
    tree: Option<T>,
    levels: usize,
}

impl<T> Deep<T> {
    /// Keeps a tree.
    pub fn new(tree: T, levels: usize) -> Self {
        Self { tree: Some(tree), levels }
    }

    /// Its levels.
    pub fn levels(&self) -> usize {
        self.levels
    }

    /// The tree, to be walked and dropped inside of [`with_levels`].
    pub fn into_tree(mut self) -> T {
        self.tree.take().expect("invariant: a tree is there until it is dropped")
    }

    /// Runs a walk over the tree with room for its levels.
    #[inline]
    pub fn walk<R>(&self, walk: impl FnOnce(&T) -> R) -> R {
        with_levels(self.levels, || walk(self))
    }
}

impl<T> Deref for Deep<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.tree.as_ref().expect("invariant: a tree is there until it is dropped")
    }
}

impl<T> DerefMut for Deep<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.tree.as_mut().expect("invariant: a tree is there until it is dropped")
    }
}

impl<T> Drop for Deep<T> {
    fn drop(&mut self) {
        let tree = self.tree.take();
        with_levels(self.levels, || drop(tree));
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::sync::thread;

    struct Chain(Option<Box<Chain>>, [u8; 64]);

    fn chain(levels: usize) -> Chain {
        (0..levels)
            .fold(Chain(None, [0; 64]), |it, level| Chain(Some(Box::new(it)), [level as u8; 64]))
    }

    fn depth(it: &Chain) -> usize {
        // A frame of some size, as those of a planner are.
        let frame = std::hint::black_box([it.1[0]; 1024]);
        usize::from(frame[0] == it.1[0]) + it.0.as_deref().map_or(0, depth)
    }

    #[test]
    fn the_deepest_tree_is_walked_and_dropped_on_a_small_stack() {
        let small = thread::Builder::new().stack_size(256 << 10);
        let walked = small.spawn(|| {
            let deep = Deep::new(chain(LEVELS_MAX), LEVELS_MAX);
            assert_eq!(deep.levels(), LEVELS_MAX);
            // Walks inside of walks share the room.
            deep.walk(|it| with_levels(LEVELS_MAX / 2, || depth(it)))
        });
        assert_eq!(walked.unwrap().join().unwrap(), LEVELS_MAX + 1);
    }

    #[test]
    fn room_is_what_is_left() {
        let small = thread::Builder::new().stack_size(256 << 10);
        let asked = small.spawn(|| {
            let within = with_levels(2_000, || has_room(1_900));
            (has_room(FREE_LEVELS), has_room(2_000), within)
        });
        assert_eq!(asked.unwrap().join().unwrap(), (true, false, true));
    }

    #[test]
    fn a_shallow_tree_stays_on_the_stack_that_is_there() {
        let here = std::hint::black_box(0u8);
        let distance = with_levels(FREE_LEVELS, || {
            let there = std::hint::black_box(0u8);
            (&raw const here as usize).abs_diff(&raw const there as usize)
        });
        assert!(distance < 4 << 20, "{distance}");
    }
}
