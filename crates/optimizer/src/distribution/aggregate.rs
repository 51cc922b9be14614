//! Groups: whole in a shard where they go by its key, else in two phases, of the rows of each shard and of their groups.

use plan::relation::{Attr, AttrSet, Rel, bare};
use plan::{Aggregate, AggregateFunction, Expr, build};
use types::{DataType, numeric};

use super::place::{Place, Placed, about, equal_to};
use super::state::{Splitter, fetch};

type Keys = Vec<(Attr, Expr)>;
type Aggregates = Vec<(Attr, Aggregate)>;

/// What groups use of the rows, and which conditions on them drop groups whole.
pub(super) fn below(
    keys: &Keys,
    aggregates: &Aggregates,
    pending: &[Expr],
) -> (AttrSet, Vec<Expr>) {
    let kept: AttrSet = keys.iter().filter(|it| bare(&it.1) == Some(it.0)).map(|it| it.0).collect();
    let mut wanted = AttrSet::default();
    keys.iter().for_each(|it| wanted.add_expr(&it.1));
    aggregates.iter().flat_map(|it| it.1.expressions()).for_each(|it| wanted.add_expr(it));
    (wanted, about(pending, &kept))
}

/// Groups of rows that are somewhere, with what [`below`] says.
pub(super) fn aggregate(
    this: &mut Splitter<'_>,
    placed: Placed,
    (keys, aggregates, rows): (Keys, Aggregates, f64),
    (wanted, pending): &(AttrSet, Vec<Expr>),
) -> Placed {
    let Placed { rel, place } = placed;
    let whole = |rel: Rel, place| {
        let input = Box::new(rel);
        Placed {
            rel: Rel::Aggregate { input, keys: keys.clone(), aggregates: aggregates.clone(), rows },
            place,
        }
    };
    let parts = match place {
        Place::Parts(parts) => parts,
        other if aggregates.iter().all(|it| is_steady(&it.1)) => return whole(rel, other),
        other => return whole(rel, other.unsteady()),
    };
    let known = equal_to(&parts, pending);
    let of_shard = |it: &&(Attr, Expr)| bare(&it.1).is_some_and(|attr| known.contains(attr));
    let own: AttrSet = keys.iter().filter(of_shard).map(|it| it.0).collect();
    if !own.is_empty() {
        return whole(rel, Place::Parts(own));
    }
    if let Some(phases) = Phases::of(this, &aggregates) {
        return in_two_phases(this, rel, keys, phases, rows);
    }
    let rel = if aggregates.iter().all(|it| it.1.ignores_repetitions()) {
        once(this, rel, wanted)
    } else {
        rel
    };
    let rel = fetch(this, Placed { rel, place: Place::Parts(parts) }, wanted, pending);
    whole(rel, Place::Here)
}

/// Aggregates of the rows of a shard, those of all shards, and what is computed of these.
struct Phases {
    first: Aggregates,
    second: Aggregates,
    computed: Vec<(Attr, Expr)>,
}

impl Phases {
    /// Nothing where one of the aggregates cannot be made of those of parts.
    fn of(this: &mut Splitter<'_>, aggregates: &Aggregates) -> Option<Self> {
        if !aggregates.iter().all(|it| mean_type(&it.1).is_some() || of_parts(&it.1).is_some()) {
            return None;
        }
        let mut phases = Self { first: Vec::new(), second: Vec::new(), computed: Vec::new() };
        for (attr, aggregate) in aggregates {
            let Some(of_sum) = mean_type(aggregate) else {
                phases.add(this, *attr, aggregate.clone());
                continue;
            };
            let mut part = |function, data_type| {
                let attr = this.attribute(data_type);
                phases.add(this, attr, Aggregate { function, data_type, ..aggregate.clone() });
                Expr::column(attr, data_type)
            };
            let sum = part(AggregateFunction::Sum, of_sum);
            let mut count = part(AggregateFunction::Count, DataType::BigInt);
            if of_sum.is_float() {
                count = build::cast(count, aggregate.data_type);
            }
            phases.computed.push((*attr, build::mean(sum, count, aggregate.data_type)));
        }
        Some(phases)
    }

    fn add(&mut self, this: &mut Splitter<'_>, attr: Attr, aggregate: Aggregate) {
        let Some(function) = of_parts(&aggregate) else { return };
        let data_type = aggregate.data_type;
        let part = this.attribute(data_type);
        self.first.push((part, aggregate));
        let argument = Some(Expr::column(part, data_type));
        self.second.push((attr, Aggregate::of(function, argument, data_type)));
    }
}

fn in_two_phases(
    this: &mut Splitter<'_>,
    rel: Rel,
    keys: Keys,
    phases: Phases,
    rows: f64,
) -> Placed {
    let Phases { first, second, computed } = phases;
    let wanted: AttrSet = keys.iter().map(|it| it.0).chain(first.iter().map(|it| it.0)).collect();
    let again: Keys =
        keys.iter().map(|(attr, expr)| (*attr, Expr::column(*attr, expr.data_type))).collect();
    let groups = Rel::Aggregate { input: Box::new(rel), keys, aggregates: first, rows };
    let placed = Placed { rel: groups, place: Place::Parts(AttrSet::default()) };
    let input = Box::new(fetch(this, placed, &wanted, &[]));
    let mut rel = Rel::Aggregate { input, keys: again, aggregates: second, rows };
    if !computed.is_empty() {
        rel = Rel::Map { input: Box::new(rel), exprs: computed };
    }
    Placed { rel, place: Place::Here }
}

/// Each combination of values once.
fn once(this: &Splitter<'_>, rel: Rel, wanted: &AttrSet) -> Rel {
    let keys: Keys = wanted.iter().map(|it| (it, this.column(it))).collect();
    if keys.is_empty() || keys.iter().any(|it| it.1.data_type.is_json()) {
        return rel;
    }
    Rel::Aggregate { input: Box::new(rel), keys, aggregates: Vec::new(), rows: 0.0 }
}

/// What makes an aggregate of those of the rows of each shard. A sum of a shard's rows that leaves its type is an error,
/// though the sum of all might not be: an error, and never another number.
fn of_parts(it: &Aggregate) -> Option<AggregateFunction> {
    let is_sum = it.function == AggregateFunction::Sum && !it.distinct;
    it.of_parts().or(is_sum.then_some(AggregateFunction::Sum))
}

/// The type of the sum of which a mean is made; nothing of what is no mean, or none of all its values.
fn mean_type(it: &Aggregate) -> Option<DataType> {
    let is_mean = it.function == AggregateFunction::Average && !it.distinct;
    // Of other numbers the scale of a quotient is not that of a mean.
    let divides = it.data_type.is_float() || matches!(it.data_type, DataType::Decimal { .. });
    let argument = it.argument.as_ref().filter(|_| is_mean && divides)?;
    numeric::sum_type(argument.data_type)
}

/// Whether it is the same of the same rows in any order.
fn is_steady(it: &Aggregate) -> bool {
    use AggregateFunction::{AnyValue, ArrayAggregate, First, Last, StringAggregate};
    let is_sum_of_floats = it.data_type.is_float() && !it.function.is_choice();
    !is_sum_of_floats
        && !matches!(it.function, AnyValue | ArrayAggregate | First | Last | StringAggregate)
}
