//! What all readers of a shared relation ask for is asked of the relation itself.
//!
//! | Rule | Analysis | Data |
//! |---|---|---|
//! | a WITH query read four times, for a year each, groups two years and not all | conjuncts of each reader over one attribute of what it reads, and for each attribute the OR of what the readers say of it | the query alone |
//!
//! The readers keep their own conditions, so what comes through too much does no harm. A reader without a condition on an
//! attribute wants all its values, and then nothing is said of it. What is volatile or can fail stays where it is, and so
//! does what uses a scalar subquery, which may itself read the relation. A relation that does something for each row, as
//! `nextval`, does it for all.

use std::collections::BTreeMap;

use plan::properties::{is_fallible, is_volatile};
use plan::relation::{
    Attr, AttrSet, JoinRel, Part, Query, Rel, RelJoin, combine, split_conjunction, substitute,
};
use plan::{BinaryOperator, Expr};

/// What one reader says of attributes of the shared relation.
type Said = BTreeMap<Attr, Vec<Expr>>;

/// Puts a filter over each shared relation whose readers all have conditions on the same attribute.
pub(super) fn ask_shared(query: &mut Query) {
    let mut readers: Vec<Vec<Said>> = vec![Vec::new(); query.shared.len()];
    if readers.is_empty() {
        return;
    }
    let attributes = &query.attributes;
    let mut collector = Collector { readers: &mut readers, types: &|it| attributes[it].data_type };
    collector.rel(&query.root, Vec::new());
    // Readers before what they read.
    for part in query.parts().into_iter().rev() {
        if let Part::Shared(it) = part {
            let mut asked = common(std::mem::take(&mut readers[it]));
            if !query.shared[it].all_expressions(&mut |it| !is_volatile(it)) {
                asked.clear();
            }
            let rel = query.shared[it].take();
            query.shared[it] = rel.filtered(asked);
        }
        let attributes = &query.attributes;
        let types = &|it: Attr| attributes[it].data_type;
        Collector { readers: &mut readers, types }.rel(query.part(part), Vec::new());
    }
}

/// For each attribute that all readers say something of, the OR of it.
fn common(readers: Vec<Said>) -> Vec<Expr> {
    let Some((first, others)) = readers.split_first() else { return Vec::new() };
    let mut asked = Vec::new();
    for (attr, conjuncts) in first {
        let Some(mut branches) =
            others.iter().map(|it| it.get(attr).cloned()).collect::<Option<Vec<_>>>()
        else {
            continue;
        };
        branches.insert(0, conjuncts.clone());
        let mut ors: Vec<Expr> = Vec::new();
        for branch in branches {
            let and = combine(BinaryOperator::And, branch);
            ors.extend(and.filter(|it| !ors.contains(it)));
        }
        asked.extend(combine(BinaryOperator::Or, ors));
    }
    asked
}

/// Walks from the answer down with the conjuncts that hold for what is read.
struct Collector<'a> {
    readers: &'a mut [Vec<Said>],
    types: &'a dyn Fn(Attr) -> types::DataType,
}

/// Whether a conjunct may be tested anywhere below.
fn is_movable(expr: &Expr) -> bool {
    let mut scalars = Vec::new();
    expr.collect_scalars(&mut scalars);
    scalars.is_empty() && !is_volatile(expr) && !is_fallible(expr)
}

/// The conjuncts of predicates that may be tested below.
fn movable(predicates: &[Expr]) -> Vec<Expr> {
    let mut conjuncts = Vec::new();
    for predicate in predicates {
        split_conjunction(predicate.clone(), &mut conjuncts);
    }
    conjuncts.retain(is_movable);
    conjuncts
}

/// The conjuncts over some attributes alone.
fn over(attrs: &AttrSet, conjuncts: &[Expr]) -> Vec<Expr> {
    let of_them = |it: &&Expr| {
        let used = AttrSet::of(it);
        !used.is_empty() && used.is_subset(attrs)
    };
    conjuncts.iter().filter(of_them).cloned().collect()
}

impl Collector<'_> {
    fn rel(&mut self, rel: &Rel, mut held: Vec<Expr>) {
        match rel {
            Rel::Filter { input, predicates } => {
                held.extend(movable(predicates));
                self.rel(input, held);
            }
            Rel::Map { input, exprs } => {
                held.iter_mut().for_each(|it| substitute(it, exprs));
                held.retain(is_movable);
                self.rel(input, over(&input.attrs(), &held));
            }
            Rel::Join(join) => self.join(join, held),
            Rel::Aggregate { input, keys, .. } => {
                let mut held = over(&keys.iter().map(|it| it.0).collect(), &held);
                held.iter_mut().for_each(|it| substitute(it, keys));
                held.retain(is_movable);
                self.rel(input, held);
            }
            Rel::Window { input, partition, .. } => {
                let held = over(&partition.iter().copied().collect(), &held);
                self.rel(input, held);
            }
            Rel::Sort { input, offset: 0, limit: None, .. } => self.rel(input, held),
            Rel::Union { inputs, output } => {
                for (input, attrs) in inputs {
                    let column = |attr: Attr| Expr::column(attr, (self.types)(attr));
                    let pairs = output.iter().zip(attrs);
                    let map: Vec<(Attr, Expr)> =
                        pairs.map(|(to, from)| (*to, column(*from))).collect();
                    let mut own = held.clone();
                    own.iter_mut().for_each(|it| substitute(it, &map));
                    self.rel(input, own);
                }
            }
            Rel::Shared { id, output, .. } => self.read(*id, output, &held),
            other => other.inputs().into_iter().for_each(|it| self.rel(it, Vec::new())),
        }
    }

    /// Conditions go to the sides whose rows they can drop: not to those that an outer join extends by NULL, and what an
    /// outer or anti join tests says nothing of the rows that it keeps anyway.
    fn join(&mut self, join: &JoinRel, mut held: Vec<Expr>) {
        let keys = (join.keys.iter()).map(|(left, right)| {
            Expr::predicate(BinaryOperator::Equal, left.clone(), right.clone())
        });
        let tested = movable(&join.residual.iter().cloned().chain(keys).collect::<Vec<_>>());
        let (left, right) = (join.left.attrs(), join.right.attrs());
        let (of_left, of_right) = match join.kind {
            RelJoin::Inner => {
                held.extend(tested);
                (over(&left, &held), over(&right, &held))
            }
            RelJoin::Semi => {
                held.extend(tested.iter().cloned());
                (over(&left, &held), over(&right, &tested))
            }
            RelJoin::Left => (over(&left, &held), over(&right, &tested)),
            RelJoin::Anti if !join.null_aware => (over(&left, &held), over(&right, &tested)),
            RelJoin::Anti | RelJoin::Mark => (over(&left, &held), Vec::new()),
            RelJoin::Full => (Vec::new(), Vec::new()),
        };
        self.rel(&join.left, of_left);
        self.rel(&join.right, of_right);
    }

    /// Notes what a reader says, in the words of the shared relation.
    fn read(&mut self, id: usize, output: &[(Attr, Attr)], held: &[Expr]) {
        let names: Vec<(Attr, Expr)> =
            output.iter().map(|it| (it.0, Expr::column(it.1, (self.types)(it.1)))).collect();
        let mut said = Said::new();
        for conjunct in held {
            let mut conjunct = conjunct.clone();
            substitute(&mut conjunct, &names);
            let mut attrs = AttrSet::of(&conjunct).iter().collect::<Vec<_>>();
            if let (Some(attr), None) = (attrs.pop(), attrs.pop()) {
                let known = said.entry(attr).or_default();
                if !known.contains(&conjunct) {
                    known.push(conjunct);
                }
            }
        }
        self.readers[id].push(said);
    }
}
