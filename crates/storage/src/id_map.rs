//! A map from ids to what they name, for pictures that follow one another: a clone shares all of it, and a change copies only the
//! way to what it changes, so that it costs about the same however many there are.

use stdx::sync::Arc;

/// Bits of an id that each level of the tree looks at.
const BITS: u32 = 3;

const WIDTH: usize = 1 << BITS;

/// A map whose versions share what they have in common.
#[derive(Debug)]
pub(crate) struct IdMap<T> {
    root: Node<T>,
    /// Levels above the leaves.
    height: u32,
}

#[derive(Debug)]
enum Node<T> {
    Nothing,
    Inner(Arc<[Node<T>; WIDTH]>),
    Value(Arc<T>),
}

/// Who is told what an id has in one version of a map, and in another.
type Found<'a, 'b, T> = dyn FnMut(Option<&'a Arc<T>>, Option<&'a Arc<T>>) + 'b;

impl<T> Clone for IdMap<T> {
    fn clone(&self) -> Self {
        Self { root: self.root.clone(), height: self.height }
    }
}

impl<T> Clone for Node<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Nothing => Self::Nothing,
            Self::Inner(below) => Self::Inner(below.clone()),
            Self::Value(value) => Self::Value(value.clone()),
        }
    }
}

impl<T> Default for IdMap<T> {
    fn default() -> Self {
        Self { root: Node::Nothing, height: 0 }
    }
}

impl<T> IdMap<T> {
    /// What has an id.
    pub(crate) fn get(&self, id: u32) -> Option<&Arc<T>> {
        if !self.has_room(id) {
            return None;
        }
        let (mut node, mut height) = (&self.root, self.height);
        while let Node::Inner(below) = node {
            height -= 1;
            node = &below[place(id, height)];
        }
        match node {
            Node::Value(it) => Some(it),
            _ => None,
        }
    }

    /// All, by their ids.
    pub(crate) fn values(&self) -> impl Iterator<Item = &Arc<T>> {
        let mut left = vec![&self.root];
        std::iter::from_fn(move || {
            while let Some(node) = left.pop() {
                match node {
                    Node::Nothing => {}
                    Node::Inner(below) => left.extend(below.iter().rev()),
                    Node::Value(it) => return Some(it),
                }
            }
            None
        })
    }

    /// Puts something in the place of what had an id.
    pub(crate) fn insert(&mut self, id: u32, value: Arc<T>) {
        while !self.has_room(id) {
            self.height += 1;
            let below = std::mem::replace(&mut self.root, Node::Nothing);
            if !matches!(below, Node::Nothing) {
                let mut inner = nothing();
                inner[0] = below;
                self.root = Node::Inner(Arc::new(inner));
            }
        }
        let (mut node, mut height) = (&mut self.root, self.height);
        while height > 0 {
            height -= 1;
            if let Node::Nothing = node {
                *node = Node::Inner(Arc::new(nothing()));
            }
            if let Node::Inner(below) = node {
                node = &mut Arc::make_mut(below)[place(id, height)];
            }
        }
        *node = Node::Value(value);
    }

    /// Takes out what has an id.
    pub(crate) fn remove(&mut self, id: u32) {
        if self.get(id).is_none() {
            return;
        }
        let (mut node, mut height) = (&mut self.root, self.height);
        while let Node::Inner(below) = node {
            height -= 1;
            node = &mut Arc::make_mut(below)[place(id, height)];
        }
        *node = Node::Nothing;
    }

    /// What differs between two versions of a map: of each id what it has in the one and in the other. What they share is not
    /// looked at.
    pub(crate) fn differences<'a>(&'a self, other: &'a Self, found: &mut Found<'a, '_, T>) {
        differ((&self.root, self.height), (&other.root, other.height), found);
    }

    fn has_room(&self, id: u32) -> bool {
        let bits = self.height * BITS;
        bits >= u32::BITS || id >> bits == 0
    }
}

/// The child of a node, so many levels above the leaves, under which an id is.
fn place(id: u32, height: u32) -> usize {
    (id >> (height * BITS)) as usize % WIDTH
}

fn nothing<T>() -> [Node<T>; WIDTH] {
    [const { Node::Nothing }; WIDTH]
}

/// What differs below two nodes, each so many levels above the leaves; the lower one stands first below the ids of the higher.
fn differ<'a, T>(
    (one, height): (&'a Node<T>, u32),
    (other, other_height): (&'a Node<T>, u32),
    found: &mut Found<'a, '_, T>,
) {
    let first = |place: usize, it: &'a Node<T>| if place == 0 { it } else { &Node::Nothing };
    match (one, other) {
        (Node::Inner(below), Node::Inner(others)) if height == other_height => {
            if !Arc::ptr_eq(below, others) {
                let pairs = below.iter().zip(&**others);
                pairs.for_each(|(a, b)| differ((a, height - 1), (b, height - 1), found));
            }
        }
        (Node::Value(a), Node::Value(b)) if height == other_height => {
            if !Arc::ptr_eq(a, b) {
                found(Some(a), Some(b));
            }
        }
        (_, Node::Inner(below)) if height < other_height => {
            let level = other_height - 1;
            for (place, it) in below.iter().enumerate() {
                differ((first(place, one), height), (it, level), found);
            }
        }
        (Node::Inner(below), _) => {
            let level = height - 1;
            for (place, it) in below.iter().enumerate() {
                differ((it, level), (first(place, other), other_height.min(level)), found);
            }
        }
        (Node::Nothing, Node::Inner(below)) => {
            below.iter().for_each(|it| differ((one, 0), (it, other_height - 1), found));
        }
        (Node::Value(a), _) => found(Some(a), None),
        (_, Node::Value(b)) => found(None, Some(b)),
        (Node::Nothing, Node::Nothing) => {}
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use stdx::Prng;

    use super::*;

    type Pair = (Option<u32>, Option<u32>);

    fn differences(one: &IdMap<u32>, other: &IdMap<u32>) -> Vec<Pair> {
        let mut all = Vec::new();
        one.differences(other, &mut |a, b| all.push((a.map(|it| **it), b.map(|it| **it))));
        all.sort_unstable();
        all
    }

    /// A value tells its id, and how often it was put.
    fn id_of(value: u32) -> u32 {
        value >> 8
    }

    #[test]
    fn versions_are_what_a_model_says_and_differ_where_it_does() {
        let mut prng = Prng::new(7);
        for most in [1, 7, 8, 9, 64, 70, 5_000] {
            let (mut map, mut model) = (IdMap::default(), BTreeMap::new());
            let mut kept: Vec<(IdMap<u32>, BTreeMap<u32, u32>)> = Vec::new();
            for step in 0..600_u32 {
                let id = prng.below(most) as u32;
                if prng.below(3) == 0 {
                    map.remove(id);
                    model.remove(&id);
                } else {
                    let value = (id << 8) | (step % 256);
                    map.insert(id, Arc::new(value));
                    model.insert(id, value);
                }
                if step % 97 == 0 {
                    kept.push((map.clone(), model.clone()));
                }
            }
            kept.push((IdMap::default(), BTreeMap::new()));
            for (map, model) in &kept {
                assert!(map.values().map(|it| **it).eq(model.values().copied()));
                let all = (0..most as u32 + 100).chain([u32::MAX]);
                all.for_each(|it| assert_eq!(map.get(it).map(|it| &**it), model.get(&it)));
            }
            for (one, a) in &kept {
                for (other, b) in &kept {
                    let mut wanted: Vec<Pair> = (0..most as u32)
                        .map(|it| (a.get(&it).copied(), b.get(&it).copied()))
                        .filter(|it| it.0 != it.1)
                        .collect();
                    wanted.sort_unstable();
                    // A value may have been put once more: that is another one.
                    let found = differences(one, other);
                    assert!(wanted.iter().all(|it| found.contains(it)));
                    assert!(found.iter().all(|it| wanted.contains(it) || it.0 == it.1));
                    let ids = found.iter().map(|it| id_of(it.0.or(it.1).unwrap()));
                    let mut ids: Vec<u32> = ids.collect();
                    ids.dedup();
                    assert_eq!(ids.len(), found.len(), "each id once");
                }
            }
        }
    }

    #[test]
    fn a_change_copies_the_way_to_it_and_shares_the_rest() {
        let mut map = IdMap::default();
        (0..4_096).for_each(|it| map.insert(it, Arc::new(it << 8)));
        let before = map.clone();
        map.insert(77, Arc::new((77 << 8) | 1));
        assert_eq!(differences(&before, &map), [(Some(77 << 8), Some((77 << 8) | 1))]);
        assert!(Arc::ptr_eq(before.get(78).unwrap(), map.get(78).unwrap()));
        map.insert(1 << 31, Arc::new(1));
        assert_eq!(before.get(1 << 31), None);
        assert_eq!(differences(&map, &before).len(), 2);
        assert_eq!(before.values().count(), 4_096);
        assert_eq!(map.values().count(), 4_097);
    }
}
