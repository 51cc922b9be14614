//! Attributes and sets of them.

use std::ops::Range;

use smallvec::SmallVec;

use crate::{Expr, ExprKind};

/// An attribute of the query.
pub type Attr = usize;

/// A set of attributes: a bit for each, the first 256 without an allocation.
#[derive(Clone, Eq, Debug)]
pub struct AttrSet(SmallVec<[u64; 4]>);

impl Default for AttrSet {
    /// No attribute, with room for the first of them.
    fn default() -> Self {
        Self(SmallVec::from_buf([0; 4]))
    }
}

impl PartialEq for AttrSet {
    fn eq(&self, other: &Self) -> bool {
        self.is_subset(other) && other.is_subset(self)
    }
}

impl AttrSet {
    /// Adds an attribute.
    pub fn insert(&mut self, attr: Attr) {
        if attr / 64 >= self.0.len() {
            self.0.resize(attr / 64 + 1, 0);
        }
        self.0[attr / 64] |= 1 << (attr % 64);
    }

    /// The attributes of a range.
    pub fn of_range(range: Range<Attr>) -> Self {
        let mut words = SmallVec::from_elem(0, range.end.div_ceil(64));
        for (place, word) in words.iter_mut().enumerate() {
            // The bits of this word that are below an end of the range.
            let below = |end: Attr| match end.saturating_sub(place * 64) {
                bits @ 0..64 => (1u64 << bits) - 1,
                _ => u64::MAX,
            };
            *word = below(range.end) & !below(range.start);
        }
        Self(words)
    }

    /// Takes an attribute out.
    pub fn remove(&mut self, attr: Attr) {
        if let Some(word) = self.0.get_mut(attr / 64) {
            *word &= !(1 << (attr % 64));
        }
    }

    /// Whether it is in.
    pub fn contains(&self, attr: Attr) -> bool {
        self.0.get(attr / 64).is_some_and(|word| word >> (attr % 64) & 1 == 1)
    }

    /// Adds all of another set.
    pub fn union_with(&mut self, other: &Self) {
        if other.0.len() > self.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }

    /// Takes out what is not in another set.
    pub fn retain_in(&mut self, other: &Self) {
        let words = self.0.iter_mut().enumerate();
        words.for_each(|(place, word)| *word &= other.0.get(place).unwrap_or(&0));
    }

    /// Whether all are in the other.
    pub fn is_subset(&self, other: &Self) -> bool {
        self.0.iter().enumerate().all(|(i, word)| word & !other.0.get(i).unwrap_or(&0) == 0)
    }

    /// Whether one is in both.
    pub fn intersects(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }

    /// Whether none is in.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// All of them, ascending.
    pub fn iter(&self) -> impl Iterator<Item = Attr> + '_ {
        self.0.iter().enumerate().flat_map(|(i, word)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros() as usize;
                left &= left.checked_sub(1)?;
                Some(i * 64 + bit)
            })
        })
    }

    /// The attributes of an expression.
    pub fn of(expr: &Expr) -> Self {
        let mut set = Self::default();
        set.add_expr(expr);
        set
    }

    /// The attributes of several expressions.
    pub fn of_all(exprs: &[&Expr]) -> Self {
        let mut set = Self::default();
        exprs.iter().for_each(|it| set.add_expr(it));
        set
    }

    /// Adds the attributes of an expression.
    pub fn add_expr(&mut self, expr: &Expr) {
        if let ExprKind::Column(attr) = expr.kind {
            self.insert(attr);
        }
        for child in expr.children() {
            self.add_expr(child);
        }
    }
}

impl FromIterator<Attr> for AttrSet {
    fn from_iter<I: IntoIterator<Item = Attr>>(attrs: I) -> Self {
        let mut set = Self::default();
        attrs.into_iter().for_each(|it| set.insert(it));
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_the_set_of_its_attributes() {
        for (start, end) in
            [(0, 0), (0, 1), (3, 3), (0, 64), (63, 65), (64, 128), (5, 200), (130, 320), (300, 301)]
        {
            let each: AttrSet = (start..end).collect();
            assert_eq!(AttrSet::of_range(start..end), each, "{start}..{end}");
        }
    }
}
