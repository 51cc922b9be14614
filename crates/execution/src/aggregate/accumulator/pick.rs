//! A chosen value per group: the least, the greatest, or any.

use std::cmp::Ordering;

use storage::PlainStrings;

use super::gather::take;
use crate::aggregate::batch_groups::BatchGroups;
use crate::aggregate::key::empty_values;
use crate::aggregate::order::compare_floats;
use crate::{Bitmap, ColumnShape, TextVector, Values, Vector};

/// Which value of a group is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// The least.
    Min,
    /// The greatest.
    Max,
    /// The first that comes along.
    Any,
}

/// A chosen value per group; groups without one have `seen` false.
pub struct Pick {
    rule: Rule,
    shape: ColumnShape,
    /// Empty for text, which changes its length when it is replaced.
    values: Values,
    /// Of positions of a plain column, the heads of their texts: they decide most comparisons. Else empty.
    heads: Vec<u64>,
    texts: Vec<Box<str>>,
    seen: Vec<bool>,
    /// Whether every group so far has a value.
    complete: bool,
}

impl Pick {
    /// Nothing chosen yet among values of a shape.
    pub fn new(rule: Rule, shape: &ColumnShape) -> Self {
        let values = empty_values(shape);
        let (texts, seen) = (Vec::new(), Vec::new());
        let heads = Vec::new();
        Self { rule, shape: shape.clone(), values, heads, texts, seen, complete: true }
    }

    /// Makes room for groups.
    pub fn resize(&mut self, groups: usize) {
        self.seen.resize(groups, false);
        match &mut self.values {
            Values::Codes(it) => it.resize(groups, 0),
            Values::I64(it) => it.resize(groups, 0),
            Values::I128(it) => it.resize(groups, 0),
            Values::F64(it) => it.resize(groups, 0.0),
            Values::Bool(it) => it.resize(groups, false),
            Values::Text(_) => self.texts.resize(groups, "".into()),
        }
        if compared_texts(self.rule, &self.shape).is_some() {
            self.heads.resize(groups, 0);
        }
    }

    /// The groups at some places, in that order.
    pub fn take(&self, places: &[u32]) -> Self {
        let of_texts = if self.texts.is_empty() { &[] } else { places };
        Self {
            rule: self.rule,
            shape: self.shape.clone(),
            values: match &self.values {
                Values::Text(_) => self.values.clone(),
                values => Vector::new(values.clone()).take(places).values,
            },
            heads: if self.heads.is_empty() { Vec::new() } else { take(&self.heads, places) },
            texts: take(&self.texts, of_texts),
            seen: take(&self.seen, places),
            complete: self.complete,
        }
    }

    /// Offers the values of a batch; only rows of `valid` count.
    pub fn update(&mut self, groups: BatchGroups<'_>, values: &Values, valid: Option<&Bitmap>) {
        self.complete &= valid.is_none();
        if self.rule == Rule::Any && self.complete {
            // Groups that were there have a value, and any is as good as another.
            let first = self.seen.len() - groups.firsts.len();
            let pairs = (first..).zip(groups.firsts.iter().map(|&row| row as usize));
            match values {
                Values::Text(texts) => self.offer_texts(pairs, |row| texts.get(row)),
                _ => self.offer(pairs, values),
            }
            return;
        }
        let rows =
            groups.ids.iter().enumerate().filter(|(row, _)| valid.is_none_or(|it| it.get(*row)));
        let pairs = rows.map(|(row, &group)| (group as usize, row));
        match values {
            Values::Text(texts) => self.offer_texts(pairs, |row| texts.get(row)),
            _ => self.offer(pairs, values),
        }
    }

    /// For each pair offers the value chosen for the group that stands second, of another, to the one that stands first.
    pub fn merge(&mut self, pairs: impl Iterator<Item = (usize, usize)>, other: &Self) {
        self.complete = false;
        let pairs = pairs.filter(|pair| other.seen[pair.1]);
        match &other.values {
            Values::Text(_) => self.offer_texts(pairs, |row| &other.texts[row]),
            values => self.offer(pairs, values),
        }
    }

    fn offer(&mut self, pairs: impl Iterator<Item = (usize, usize)>, from: &Values) {
        let (rule, seen) = (self.rule, &mut self.seen);
        match (&mut self.values, from) {
            (Values::Codes(into), Values::Codes(from)) => match compared_texts(rule, &self.shape) {
                Some(texts) => {
                    choose_texts(rule, pairs, (into, &mut self.heads), from, seen, texts);
                }
                None => choose(rule, pairs, into, from, seen, |a, b| a.cmp(&b)),
            },
            (Values::I64(into), Values::I64(from)) => {
                choose(rule, pairs, into, from, seen, |a, b| a.cmp(&b));
            }
            (Values::I128(into), Values::I128(from)) => {
                choose(rule, pairs, into, from, seen, |a, b| a.cmp(&b));
            }
            (Values::F64(into), Values::F64(from)) => {
                choose(rule, pairs, into, from, seen, compare_floats);
            }
            (Values::Bool(into), Values::Bool(from)) => {
                choose(rule, pairs, into, from, seen, |a, b| a.cmp(&b));
            }
            _ => unreachable!("invariant: a vector is held as its shape says"),
        }
    }

    fn offer_texts<'a>(
        &mut self,
        pairs: impl Iterator<Item = (usize, usize)>,
        text: impl Fn(usize) -> &'a str,
    ) {
        for (group, row) in pairs {
            let (old, new) = (&mut self.texts[group], text(row));
            let is_better = || match self.rule {
                Rule::Any => false,
                Rule::Min => new.as_bytes() < old.as_bytes(),
                Rule::Max => new.as_bytes() > old.as_bytes(),
            };
            if !self.seen[group] || is_better() {
                self.seen[group] = true;
                *old = new.into();
            }
        }
    }

    /// The values as a vector; NULL where a group had none.
    pub fn to_vector(&self) -> Vector {
        let values = match &self.values {
            Values::Text(_) => {
                let mut texts = TextVector::default();
                self.texts.iter().for_each(|text| texts.push(text));
                Values::Text(texts)
            }
            values => values.clone(),
        };
        let all = !self.seen.contains(&false);
        let validity = (!all).then(|| Bitmap::from_bits(self.seen.iter().copied()));
        Vector { values, validity }
    }
}

/// The texts of a plain column, if their order decides.
fn compared_texts(rule: Rule, shape: &ColumnShape) -> Option<&PlainStrings> {
    shape.plain().filter(|_| rule != Rule::Any)
}

/// [`choose`] of positions of a plain column, with the heads of those that are chosen so far.
fn choose_texts(
    rule: Rule,
    pairs: impl Iterator<Item = (usize, usize)>,
    (into, heads): (&mut [u32], &mut [u64]),
    from: &[u32],
    seen: &mut [bool],
    texts: &PlainStrings,
) {
    let wanted = if rule == Rule::Max { Ordering::Greater } else { Ordering::Less };
    let text = |position: u32| texts.get(position as usize);
    for (group, row) in pairs {
        let (new, old) = (from[row], into[group]);
        let head = texts.head(new as usize);
        let whole = || text(new).as_bytes().cmp(text(old).as_bytes());
        if !seen[group] || head.cmp(&heads[group]).then_with(whole) == wanted {
            seen[group] = true;
            (into[group], heads[group]) = (new, head);
        }
    }
}

/// [`replace`] by a rule. Each rule has a loop of its own: any value is as good as another without looking.
#[inline]
fn choose<T: Copy>(
    rule: Rule,
    pairs: impl Iterator<Item = (usize, usize)>,
    into: &mut [T],
    from: &[T],
    seen: &mut [bool],
    compare: impl Fn(T, T) -> Ordering,
) {
    match rule {
        Rule::Any => replace(pairs, into, from, seen, |_, _| false),
        Rule::Min => replace(pairs, into, from, seen, |new, old| compare(new, old).is_lt()),
        Rule::Max => replace(pairs, into, from, seen, |new, old| compare(new, old).is_gt()),
    }
}

/// Puts `from[row]` into `into[group]` where the group has nothing or `better(new, old)`.
#[inline]
fn replace<T: Copy>(
    pairs: impl Iterator<Item = (usize, usize)>,
    into: &mut [T],
    from: &[T],
    seen: &mut [bool],
    better: impl Fn(T, T) -> bool,
) {
    for (group, row) in pairs {
        let new = from[row];
        if !seen[group] || better(new, into[group]) {
            seen[group] = true;
            into[group] = new;
        }
    }
}
