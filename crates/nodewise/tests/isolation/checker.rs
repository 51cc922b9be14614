//! What a history of transactions over lists may look like at a level of isolation. The method is Elle's (Kingsbury and
//! Alvaro, VLDB 2020): values are only ever put at the end of a list, and each once, so a list that was read tells which
//! transactions wrote before it and in which order. What follows from the order is a graph, and what a level forbids a cycle.

use std::collections::{BTreeMap, HashMap};

/// What is claimed of a history.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// No cycle of what was written over and what was read (G0, G1).
    ReadCommitted,
    /// Snapshots: no cycle without two reads beside one another that came before a write (G-single and its kin).
    RepeatableRead,
    /// No cycle.
    Serializable,
}

/// A list by its number.
pub type List = u64;

/// What a transaction did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Deed {
    /// Put a value at the end of a list.
    Append(List, u64),
    /// Read a list.
    Read(List, Vec<u64>),
}

/// A transaction of a history.
#[derive(Clone, Debug)]
pub struct Transaction {
    /// What it did, without what it took back itself.
    pub deeds: Vec<Deed>,
    /// Whether it committed; nothing of it was to be seen otherwise.
    pub committed: bool,
    /// Numbers that rise with time, over all transactions: before it began, and after it had ended.
    pub time: (u64, u64),
}

/// Why one transaction comes before another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reason {
    /// Its value was written over, was read, or it had ended when the other began.
    Order,
    /// It read what the other then changed (an anti-dependency, rw).
    ReadBefore,
}

/// What is wrong with a history; nothing if it keeps what its level promises.
pub fn anomaly(history: &[Transaction], level: Level) -> Option<String> {
    let orders = match orders(history) {
        Ok(it) => it,
        Err(what) => return Some(what),
    };
    let writers = writers(history);
    own_reads(history)
        .or_else(|| dirty_reads(history, &writers))
        .or_else(|| lost(history, &orders))
        .or_else(|| cycle(&edges(history, &orders, &writers), level))
}

/// The transaction that appended a value, and whether it is the last that it appended to that list.
fn writers(history: &[Transaction]) -> HashMap<(List, u64), (usize, bool)> {
    let mut writers = HashMap::new();
    for (number, transaction) in history.iter().enumerate() {
        let mut last = HashMap::new();
        for deed in &transaction.deeds {
            if let Deed::Append(list, value) = deed {
                assert!(
                    writers.insert((*list, *value), (number, false)).is_none(),
                    "{value} twice"
                );
                last.insert(*list, *value);
            }
        }
        for it in last {
            writers.insert(it, (number, true));
        }
    }
    writers
}

/// The longest that was read of each list: all others begin it.
fn orders(history: &[Transaction]) -> Result<BTreeMap<List, Vec<u64>>, String> {
    let mut orders: BTreeMap<List, Vec<u64>> = BTreeMap::new();
    for transaction in history.iter().filter(|it| it.committed) {
        for deed in &transaction.deeds {
            let Deed::Read(list, read) = deed else { continue };
            let order = orders.entry(*list).or_default();
            let both = order.len().min(read.len());
            if order[..both] != read[..both] {
                return Err(format!("list {list} was {order:?} and {read:?}"));
            }
            if read.len() > both {
                order.clone_from(read);
            }
        }
    }
    Ok(orders)
}

/// What a transaction has appended itself it must read: at the end of the list, as nobody else's may come in between.
fn own_reads(history: &[Transaction]) -> Option<String> {
    for transaction in history {
        let mut own: HashMap<List, Vec<u64>> = HashMap::new();
        for deed in &transaction.deeds {
            match deed {
                Deed::Append(list, value) => own.entry(*list).or_default().push(*value),
                Deed::Read(list, read) => {
                    let own = own.get(list).map_or(&[][..], Vec::as_slice);
                    if !read.ends_with(own) {
                        return Some(format!("list {list} was {read:?} to who had added {own:?}"));
                    }
                }
            }
        }
    }
    None
}

/// G1a and G1b: what was never committed, or was not the last that a transaction did, must not be seen by others.
fn dirty_reads(
    history: &[Transaction],
    writers: &HashMap<(List, u64), (usize, bool)>,
) -> Option<String> {
    for (number, transaction) in history.iter().enumerate() {
        for deed in &transaction.deeds {
            let Deed::Read(list, read) = deed else { continue };
            for (place, value) in read.iter().enumerate() {
                let Some(&(writer, is_last)) = writers.get(&(*list, *value)) else {
                    return Some(format!("list {list} has {value}, which nobody has added"));
                };
                if writer == number {
                    continue;
                }
                if !history[writer].committed {
                    return Some(format!(
                        "list {list} has {value} of a transaction that failed (G1a)"
                    ));
                }
                if place + 1 == read.len() && !is_last {
                    return Some(format!("list {list} ends in {value}, not the last of its (G1b)"));
                }
            }
        }
    }
    None
}

/// What was committed is there. The last transaction has read all lists.
fn lost(history: &[Transaction], orders: &BTreeMap<List, Vec<u64>>) -> Option<String> {
    for transaction in history.iter().filter(|it| it.committed) {
        for deed in &transaction.deeds {
            if let Deed::Append(list, value) = deed
                && !orders.get(list).is_some_and(|it| it.contains(value))
            {
                return Some(format!("{value} was added to list {list} and is not there"));
            }
        }
    }
    None
}

/// For each transaction those that come after it.
type Edges = Vec<Vec<(usize, Reason)>>;

fn edges(
    history: &[Transaction],
    orders: &BTreeMap<List, Vec<u64>>,
    writers: &HashMap<(List, u64), (usize, bool)>,
) -> Edges {
    let mut edges: Edges = vec![Vec::new(); history.len()];
    let mut add = |from: usize, to: usize, reason: Reason| {
        if from != to && !edges[from].contains(&(to, reason)) {
            edges[from].push((to, reason));
        }
    };
    let writer = |list: List, value: u64| writers[&(list, value)].0;
    for (list, order) in orders {
        for pair in order.windows(2) {
            add(writer(*list, pair[0]), writer(*list, pair[1]), Reason::Order);
        }
    }
    for (number, transaction) in history.iter().enumerate().filter(|it| it.1.committed) {
        for deed in &transaction.deeds {
            let Deed::Read(list, read) = deed else { continue };
            if let Some(last) = read.last() {
                add(writer(*list, *last), number, Reason::Order);
            }
            if let Some(next) = orders[list].get(read.len()) {
                add(number, writer(*list, *next), Reason::ReadBefore);
            }
        }
        for (later, other) in history.iter().enumerate().filter(|it| it.1.committed) {
            if transaction.time.1 < other.time.0 {
                add(number, later, Reason::Order);
            }
        }
    }
    edges
}

/// A cycle that a level forbids. The graph is walked with what the step before was, so that a walk knows where it may go.
fn cycle(edges: &Edges, level: Level) -> Option<String> {
    let step = |after: Reason, reason: Reason| match level {
        Level::ReadCommitted => reason == Reason::Order,
        Level::RepeatableRead => [after, reason] != [Reason::ReadBefore; 2],
        Level::Serializable => true,
    };
    let place = |node: usize, reason: Reason| 2 * node + usize::from(reason == Reason::ReadBefore);
    // 0: not been there, 1: on the way, 2: no cycle goes through it.
    let mut state = vec![0u8; 2 * edges.len()];
    for first in 0..edges.len() {
        if state[place(first, Reason::Order)] != 0 {
            continue;
        }
        let mut way = vec![(first, Reason::Order, 0)];
        state[place(first, Reason::Order)] = 1;
        while let Some((node, after, next)) = way.last_mut() {
            let (from, after_this) = (*node, *after);
            let Some(&(to, reason)) = edges[from].get(*next) else {
                state[place(from, after_this)] = 2;
                way.pop();
                continue;
            };
            *next += 1;
            if !step(after_this, reason) {
                continue;
            }
            match state[place(to, reason)] {
                0 => {
                    state[place(to, reason)] = 1;
                    way.push((to, reason, 0));
                }
                1 => {
                    let from = way.iter().position(|it| (it.0, it.1) == (to, reason));
                    let cycle: Vec<_> =
                        way[from.unwrap_or(0)..].iter().map(|it| (it.0, it.1)).collect();
                    return Some(format!("a cycle that {level:?} forbids: {cycle:?}"));
                }
                _ => {}
            }
        }
    }
    None
}

/// Histories that are known to be wrong, and the level from which on they are.
#[cfg(test)]
mod tests {
    use super::*;
    use Deed::{Append, Read};

    /// Transactions that all run at once.
    fn history(deeds: Vec<Vec<Deed>>) -> Vec<Transaction> {
        let at_once = |deeds| Transaction { deeds, committed: true, time: (0, 9) };
        deeds.into_iter().map(at_once).collect()
    }

    fn refused(history: &[Transaction]) -> [bool; 3] {
        [Level::ReadCommitted, Level::RepeatableRead, Level::Serializable]
            .map(|it| anomaly(history, it).is_some())
    }

    /// A name, what its transactions do, and whether each level refuses it.
    type Known = (&'static str, Vec<Vec<Deed>>, [bool; 3]);

    fn r(list: List, read: &[u64]) -> Deed {
        Read(list, read.to_vec())
    }

    fn known() -> Vec<Known> {
        vec![
            ("none", vec![vec![Append(1, 1)], vec![r(1, &[1])]], [false; 3]),
            (
                "another order",
                vec![vec![Append(1, 1)], vec![Append(1, 2)], vec![r(1, &[1, 2])], vec![r(1, &[2])]],
                [true; 3],
            ),
            (
                "G0",
                vec![
                    vec![Append(1, 1), Append(2, 1)],
                    vec![Append(1, 2), Append(2, 2)],
                    vec![r(1, &[1, 2])],
                    vec![r(2, &[2, 1])],
                ],
                [true; 3],
            ),
            (
                "G1b",
                vec![vec![Append(1, 1), Append(1, 2)], vec![r(1, &[1])], vec![r(1, &[1, 2])]],
                [true; 3],
            ),
            (
                "G1c",
                vec![vec![Append(1, 1), r(2, &[1])], vec![Append(2, 1), r(1, &[1])]],
                [true; 3],
            ),
            ("not its own", vec![vec![Append(1, 1), r(1, &[])], vec![r(1, &[1])]], [true; 3]),
            ("lost", vec![vec![Append(1, 1)], vec![r(1, &[])]], [true; 3]),
            (
                "G-single",
                vec![
                    vec![Append(1, 1), Append(2, 1)],
                    vec![r(1, &[]), r(2, &[1])],
                    vec![r(1, &[1])],
                ],
                [false, true, true],
            ),
            (
                "a lost update",
                vec![
                    vec![r(1, &[]), Append(1, 1)],
                    vec![r(1, &[]), Append(1, 2)],
                    vec![r(1, &[1, 2])],
                ],
                [false, true, true],
            ),
            (
                "write skew",
                vec![
                    vec![r(1, &[]), Append(2, 1)],
                    vec![r(2, &[]), Append(1, 1)],
                    vec![r(1, &[1]), r(2, &[1])],
                ],
                [false, false, true],
            ),
            // Who only reads sees the second without the first, which does not see the second.
            (
                "the anomaly of who only reads",
                vec![
                    vec![r(1, &[]), r(2, &[]), Append(1, 1)],
                    vec![Append(2, 1)],
                    vec![r(1, &[]), r(2, &[1])],
                    vec![r(1, &[1]), r(2, &[1])],
                ],
                [false, false, true],
            ),
        ]
    }

    #[test]
    fn known_anomalies_are_found_from_their_level_on() {
        for (name, deeds, wanted) in known() {
            assert_eq!(refused(&history(deeds)), wanted, "{name}");
        }
    }

    #[test]
    fn what_failed_must_not_be_seen_and_time_counts() {
        let mut seen = history(vec![vec![Append(1, 1)], vec![Read(1, vec![1])]]);
        seen[0].committed = false;
        assert_eq!(refused(&seen), [true; 3], "G1a");
        let mut late =
            history(vec![vec![Append(1, 1)], vec![Read(1, vec![])], vec![Read(1, vec![1])]]);
        assert_eq!(refused(&late), [false; 3]);
        (late[0].time, late[1].time) = ((0, 1), (2, 9));
        assert_eq!(refused(&late), [false, true, true], "it had been committed before");
    }
}
