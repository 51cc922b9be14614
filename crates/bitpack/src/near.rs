//! When it is worth to ask whether codes stand near each other, as the faster test of a set wants them.

use std::cell::Cell;

/// Words that go by at most before it is asked again.
const APART_MAX: u32 = 63;

/// How often codes of a scan are looked at for standing together. A word whose codes do not is the end of it where a column is
/// not clustered, and an exception where it is; so ever more words go by unasked, but few after the first.
#[derive(Default)]
pub(crate) struct Nearness {
    /// Words that go by before it is asked again.
    left: Cell<u32>,
    /// As many as went by the last time.
    apart: Cell<u32>,
}

impl Nearness {
    /// Whether to ask for the next word.
    #[inline(always)]
    pub(crate) fn is_asked(&self) -> bool {
        self.left.get() == 0
    }

    /// Notes whether the codes of the word stood together, which they do not where it was not asked.
    #[inline(always)]
    pub(crate) fn note(&self, near: bool) {
        if near {
            self.apart.set(0);
        } else if self.left.get() > 0 {
            self.left.set(self.left.get() - 1);
        } else {
            self.apart.set((self.apart.get() * 2 + 1).min(APART_MAX));
            self.left.set(self.apart.get());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of those told by `near` that are asked for.
    fn asked(near: &[bool]) -> Vec<usize> {
        let nearness = Nearness::default();
        let mut asked = Vec::new();
        for (word, near) in near.iter().enumerate() {
            let is_asked = nearness.is_asked();
            asked.extend(is_asked.then_some(word));
            nearness.note(is_asked && *near);
        }
        asked
    }

    #[test]
    fn columns_that_are_not_clustered_are_asked_ever_less() {
        let asked = asked(&[false; 1024]);
        assert_eq!(asked[..7], [0, 2, 6, 14, 30, 62, 126]);
        assert!(asked.windows(2).skip(5).all(|it| it[1] - it[0] == 64), "{asked:?}");
    }

    #[test]
    fn single_words_hardly_keep_others_from_being_asked() {
        let near: Vec<bool> = (0..1000).map(|it| it % 10 != 0).collect();
        assert_eq!(asked(&near).len(), 900);
    }
}
