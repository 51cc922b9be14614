//! Whether a pattern as a whole prefers the longest or the shortest match.
//!
//! PostgreSQL's rule: a quantified piece prefers what its quantifier says, a group what is in it, a branch what its first
//! piece with a preference says; several branches together prefer the longest.

/// What is known while a pattern is read from left to right.
#[derive(Default)]
pub(super) struct Preferences {
    outer: Vec<Level>,
    level: Level,
}

/// A pattern, or a group in it.
#[derive(Default)]
struct Level {
    /// Whether the branch is greedy, once a piece of it has a preference.
    greedy: Option<bool>,
    /// The last piece, whose quantifier may follow.
    piece: Option<bool>,
    several_branches: bool,
}

impl Level {
    /// Ends the last piece; another begins.
    fn begin_piece(&mut self, greedy: Option<bool>) {
        self.greedy = self.greedy.or(self.piece);
        self.piece = greedy;
    }

    fn finish(mut self) -> Option<bool> {
        self.begin_piece(None);
        if self.several_branches { Some(true) } else { self.greedy }
    }
}

impl Preferences {
    /// A piece without groups begins.
    pub fn piece(&mut self) {
        self.level.begin_piece(None);
    }

    /// The last piece is repeated a number of times that is not fixed.
    pub fn repeat(&mut self, greedy: bool) {
        self.level.piece = Some(greedy);
    }

    /// Another branch begins.
    pub fn branch(&mut self) {
        self.level.several_branches = true;
    }

    /// A group begins.
    pub fn open(&mut self) {
        self.outer.push(std::mem::take(&mut self.level));
    }

    /// A group ends.
    pub fn close(&mut self) {
        if let Some(outer) = self.outer.pop() {
            let inner = std::mem::replace(&mut self.level, outer);
            self.level.begin_piece(inner.finish());
        }
    }

    /// Whether the longest match is preferred, which also holds where it makes no difference.
    pub fn prefers_longest(self) -> bool {
        self.level.finish().unwrap_or(true)
    }
}
