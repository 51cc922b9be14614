//! Aggregates over distinct values as two groupings: by the keys and the value, then by the keys. The first drops
//! repeated values while it merges what the workers found, all of them in parallel, and needs no sets within groups.

use plan::{Aggregate, AggregateFunction, Expr, ExprKind, Function, Sink};

/// The two groupings of one with DISTINCT; the second reads the rows of the first. `None` when there is nothing to gain:
/// no DISTINCT, several columns with it, or another aggregate that cannot be put together from parts.
pub(super) fn two_levels(
    keys: &[Expr],
    aggregates: &[Aggregate],
    rows: f64,
    groups: f64,
) -> Option<(Sink, Sink)> {
    let mut distinct = aggregates.iter().filter(|it| it.distinct);
    let first = distinct.next().filter(|it| is_of_value(it))?;
    let value = first.argument.as_ref().filter(|it| is_told_apart(it))?;
    if distinct.any(|it| it.argument.as_ref() != Some(value) || !is_of_value(it)) {
        return None;
    }
    let (mut inner, mut outer) = (Vec::new(), Vec::new());
    for aggregate in aggregates {
        let (function, argument) = if aggregate.distinct && aggregate.filter.is_none() {
            (aggregate.function, Expr::column(keys.len(), value.data_type))
        } else {
            // Over no rows at all a sum of counts is NULL and not zero, which no group of a key can be.
            let counts = aggregate.function == AggregateFunction::Count;
            let function = aggregate.of_parts().filter(|_| !(counts && keys.is_empty()))?;
            inner.push(aggregate.clone());
            (function, Expr::column(keys.len() + inner.len(), aggregate.data_type))
        };
        outer.push(Aggregate::of(function, Some(argument), aggregate.data_type));
    }
    let own = keys.iter().enumerate();
    let outer_keys = own.map(|(place, it)| Expr::column(place, it.data_type)).collect();
    let inner_keys = keys.iter().chain([value]).cloned().collect();
    Some((
        Sink::Aggregate { keys: inner_keys, aggregates: inner, estimated_groups: rows },
        Sink::Aggregate { keys: outer_keys, aggregates: outer, estimated_groups: groups },
    ))
}

/// Whether values are equal where they are held alike alone: of numbers of any scale those without zeros at their end.
fn is_told_apart(value: &Expr) -> bool {
    let is_key = matches!(value.kind, ExprKind::Call { function: Function::TrimScale, .. });
    !value.data_type.has_key() || is_key
}

/// Whether an aggregate looks at its first argument alone, in any order.
fn is_of_value(it: &Aggregate) -> bool {
    it.rest.is_empty() && it.order.is_empty()
}

#[cfg(test)]
mod tests {
    use types::DataType;

    use super::*;

    fn aggregate(function: AggregateFunction, distinct: bool, argument: usize) -> Aggregate {
        let argument = Some(Expr::column(argument, DataType::Integer));
        Aggregate { distinct, ..Aggregate::of(function, argument, DataType::BigInt) }
    }

    #[test]
    fn one_distinct_column_is_a_grouping_of_its_own() {
        use AggregateFunction::{Average, Count, Max, Sum};
        let key = Expr::column(0, DataType::Date);
        let keys = std::slice::from_ref(&key);
        let users = aggregate(Count, true, 3);
        let mixed = [users.clone(), aggregate(Count, false, 1), aggregate(Max, false, 2)];
        let Some((inner, outer)) = two_levels(keys, &mixed, 100.0, 10.0) else {
            panic!("counts and maxima can be put together from parts");
        };
        let Sink::Aggregate { keys: inner_keys, aggregates, .. } = inner else { panic!() };
        assert_eq!(inner_keys, [key.clone(), Expr::column(3, DataType::Integer)]);
        assert_eq!(aggregates, mixed[1..]);
        let Sink::Aggregate { keys: outer_keys, aggregates, .. } = outer else { panic!() };
        assert_eq!(outer_keys, [Expr::column(0, DataType::Date)]);
        let of = |it: &Aggregate| (it.function, it.distinct, it.argument.clone());
        let big = |place| Some(Expr::column(place, DataType::BigInt));
        let expected = [
            (Count, false, Some(Expr::column(1, DataType::Integer))),
            (Sum, false, big(2)),
            (Max, false, big(3)),
        ];
        assert_eq!(aggregates.iter().map(of).collect::<Vec<_>>(), expected);
        let refused = |keys: &[Expr], all: &[Aggregate]| two_levels(keys, all, 1.0, 1.0).is_none();
        assert!(refused(keys, &[aggregate(Count, false, 1)]), "nothing is distinct");
        assert!(refused(keys, &[users.clone(), aggregate(Sum, true, 2)]), "two columns are");
        assert!(refused(keys, &[users.clone(), aggregate(Average, false, 2)]));
        assert!(refused(&[], &[users.clone(), aggregate(Count, false, 2)]), "0, not NULL");
        assert!(!refused(&[], &[users.clone(), aggregate(Sum, false, 2)]));
        let filtered = Aggregate { filter: Some(Expr::column(5, DataType::Boolean)), ..users };
        assert!(refused(keys, &[filtered]));
    }
}
