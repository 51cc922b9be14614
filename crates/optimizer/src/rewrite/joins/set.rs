//! Sets of vertices of a join graph: one word for the graphs that are ordered exhaustively, more for larger ones.

/// A set of vertices.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct VertexSet {
    /// Vertices below 64.
    low: u64,
    /// The others in words, the last of which is not zero.
    high: Vec<u64>,
}

impl VertexSet {
    /// The set of one vertex.
    pub fn one(vertex: usize) -> Self {
        let mut set = Self::default();
        set.insert(vertex);
        set
    }

    /// The set whose vertices, all below 64, are the bits of a word.
    pub fn of_bits(bits: u64) -> Self {
        Self { low: bits, high: Vec::new() }
    }

    /// The vertices below 64 as the bits of a word.
    pub fn bits(&self) -> u64 {
        self.low
    }

    /// Adds a vertex.
    pub fn insert(&mut self, vertex: usize) {
        match vertex.checked_sub(64) {
            None => self.low |= 1 << vertex,
            Some(rest) => {
                let words = rest / 64 + 1;
                if words > self.high.len() {
                    self.high.resize(words, 0);
                }
                self.high[rest / 64] |= 1 << (rest % 64);
            }
        }
    }

    /// Takes a vertex out.
    pub fn remove(&mut self, vertex: usize) {
        match vertex.checked_sub(64) {
            None => self.low &= !(1 << vertex),
            Some(rest) => {
                if let Some(word) = self.high.get_mut(rest / 64) {
                    *word &= !(1 << (rest % 64));
                }
                while self.high.last() == Some(&0) {
                    self.high.pop();
                }
            }
        }
    }

    /// Whether a vertex is in.
    pub fn contains(&self, vertex: usize) -> bool {
        let (word, bit) = match vertex.checked_sub(64) {
            None => (self.low, vertex),
            Some(rest) => (self.high.get(rest / 64).copied().unwrap_or(0), rest % 64),
        };
        word >> bit & 1 == 1
    }

    /// Adds all of another set.
    pub fn union_with(&mut self, other: &Self) {
        self.low |= other.low;
        if other.high.len() > self.high.len() {
            self.high.resize(other.high.len(), 0);
        }
        self.high.iter_mut().zip(&other.high).for_each(|(own, other)| *own |= other);
    }

    /// The vertices of either set.
    pub fn union(&self, other: &Self) -> Self {
        let mut union = self.clone();
        union.union_with(other);
        union
    }

    /// The vertices of both sets.
    pub fn intersection(&self, other: &Self) -> Self {
        let mut high: Vec<u64> = self.high.iter().zip(&other.high).map(|(a, b)| a & b).collect();
        while high.last() == Some(&0) {
            high.pop();
        }
        Self { low: self.low & other.low, high }
    }

    /// Whether a vertex is in both.
    pub fn intersects(&self, other: &Self) -> bool {
        self.low & other.low != 0 || self.high.iter().zip(&other.high).any(|(a, b)| a & b != 0)
    }

    /// Whether all are in the other.
    pub fn is_subset(&self, other: &Self) -> bool {
        let word = |place: usize| other.high.get(place).copied().unwrap_or(0);
        self.low & !other.low == 0
            && self.high.iter().enumerate().all(|(place, own)| own & !word(place) == 0)
    }

    /// Whether all are in one of two others.
    pub fn is_subset_of_both(&self, left: &Self, right: &Self) -> bool {
        let word = |place: usize| {
            let of = |it: &Self| it.high.get(place).copied().unwrap_or(0);
            of(left) | of(right)
        };
        self.low & !(left.low | right.low) == 0
            && self.high.iter().enumerate().all(|(place, own)| own & !word(place) == 0)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        let high: u32 = self.high.iter().map(|it| it.count_ones()).sum();
        (self.low.count_ones() + high) as usize
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.low == 0 && self.high.is_empty()
    }

    /// The least one.
    pub fn first(&self) -> Option<usize> {
        if self.low != 0 {
            return Some(self.low.trailing_zeros() as usize);
        }
        let word = self.high.iter().position(|it| *it != 0)?;
        Some(64 + word * 64 + self.high[word].trailing_zeros() as usize)
    }

    /// The only one.
    pub fn single(&self) -> Option<usize> {
        if self.len() == 1 { self.first() } else { None }
    }
}

impl FromIterator<usize> for VertexSet {
    fn from_iter<I: IntoIterator<Item = usize>>(vertices: I) -> Self {
        let mut set = Self::default();
        vertices.into_iter().for_each(|it| set.insert(it));
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use stdx::prng::Prng;

    #[test]
    fn sets_are_like_those_of_the_library() {
        let mut prng = Prng::new(5);
        for _ in 0..500 {
            let bound = [10, 64, 65, 200][prng.below(4) as usize];
            let mut draw = || -> BTreeSet<usize> {
                (0..prng.below(12)).map(|_| prng.below(bound) as usize).collect()
            };
            let (a, b, c) = (draw(), draw(), draw());
            let set = |it: &BTreeSet<usize>| it.iter().copied().collect::<VertexSet>();
            let (x, y, z) = (set(&a), set(&b), set(&c));
            assert_eq!(x.union(&y), set(&(&a | &b)));
            assert_eq!(x.intersection(&y), set(&(&a & &b)));
            assert_eq!(x.intersects(&y), !a.is_disjoint(&b));
            assert_eq!(x.is_subset(&y), a.is_subset(&b));
            assert_eq!(x.is_subset_of_both(&y, &z), a.is_subset(&(&b | &c)));
            assert_eq!((x.len(), x.is_empty()), (a.len(), a.is_empty()));
            assert_eq!(x.first(), a.first().copied());
            assert_eq!(x.single(), a.first().copied().filter(|_| a.len() == 1));
            let mut less = x.clone();
            let mut fewer = a.clone();
            for it in &b {
                less.remove(*it);
                fewer.remove(it);
            }
            assert_eq!(less, set(&fewer));
            assert!((0..bound as usize).all(|it| x.contains(it) == a.contains(&it)));
        }
    }
}
