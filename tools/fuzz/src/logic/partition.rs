//! A condition parts all rows into three; counts and groups add up.

use crate::ast::{By, Expr, Form, From, Item, Query, Select};
use crate::kind::Kind;
use crate::logic::rule::{
    Equation, Rule, count, has_aggregate, has_window, integer, item, plain, row_by_row, with_select,
};

/// The rules of this file.
pub const RULES: &[Rule] = &[
    Rule { name: "rows of p, NOT p and p IS NULL are all rows", make: ternary },
    Rule { name: "groups of p, NOT p and p IS NULL are all groups", make: having },
    Rule { name: "rows WHERE p are as many as CASE WHEN p counts", make: counted },
    Rule { name: "the rows of all groups are all rows", make: groups },
    Rule { name: "p, NOT NOT p, p IS TRUE and CASE WHEN p keep the same rows", make: kept },
];

fn parts(condition: &Expr) -> [Expr; 3] {
    [condition.clone(), condition.clone().negated(), Expr::postfix("IS NULL", condition.clone())]
}

fn ternary(query: &Query) -> Option<Equation> {
    let condition = row_by_row(query)?.filter.as_ref()?;
    let part = |it: Expr| with_select(query, |select| select.filter = Some(it));
    let all = with_select(query, |select| select.filter = None);
    Some(Equation { left: vec![all], right: parts(condition).map(part).to_vec() })
}

fn having(query: &Query) -> Option<Equation> {
    let select = plain(query)?;
    let condition = select.having.as_ref()?;
    // Without keys there is one group only as long as something aggregates.
    let windows =
        select.items.iter().any(|item| matches!(item, Item::Named(expr, _) if has_window(expr)));
    let grouped = !select.group.is_empty() && !select.distinct && !windows;
    let part = |it: Expr| with_select(query, |select| select.having = Some(it));
    let all = with_select(query, |select| select.having = None);
    grouped.then(|| Equation { left: vec![all], right: parts(condition).map(part).to_vec() })
}

fn counted(query: &Query) -> Option<Equation> {
    let condition = row_by_row(query)?.filter.clone()?;
    let left = with_select(query, |select| select.items = vec![item(count(), "o0")]);
    let case = Expr::new(
        Form::Case { operand: false, otherwise: true },
        Kind::Integer,
        vec![condition, integer("1"), integer("0")],
    );
    let right = with_select(query, |select| {
        select.filter = None;
        select.items = vec![item(sum_or_zero(case), "o0")];
    });
    Some(Equation { left: vec![left], right: vec![right] })
}

fn sum_or_zero(part: Expr) -> Expr {
    let form = Form::Aggregate { name: "sum", distinct: false, filter: false };
    let sum = Expr::new(form, Kind::BigInt, vec![part]);
    Expr::new(Form::Call("coalesce"), Kind::BigInt, vec![sum, integer("0")])
}

fn groups(query: &Query) -> Option<Equation> {
    let select = plain(query)?;
    let keys = select.group.iter().all(|by| matches!(by, By::Expr(_)));
    if select.group.is_empty() || select.sets.is_some() || !keys {
        return None;
    }
    let left = with_select(query, |select| {
        let (from, filter) = (select.from.take(), select.filter.take());
        *select = Select { from, filter, items: vec![item(count(), "o0")], ..Select::default() };
    });
    let mut inner = with_select(query, |select| {
        select.items = vec![item(count(), "c")];
        select.having = None;
        select.distinct = false;
    });
    let with = std::mem::take(&mut inner.with);
    let sum = sum_or_zero(Expr::column("z", "c", Kind::BigInt));
    let mut right = Query::of(Select {
        items: vec![item(sum, "o0")],
        from: Some(From::Derived(Box::new(inner), "z".to_owned())),
        ..Select::default()
    });
    right.with = with;
    Some(Equation { left: vec![left], right: vec![right] })
}

fn kept(query: &Query) -> Option<Equation> {
    let select = plain(query)?;
    let condition = select.filter.clone()?;
    if has_aggregate(&condition) {
        return None;
    }
    let truth = |text: &str| Expr::literal(text, Kind::Boolean);
    let case = Form::Case { operand: false, otherwise: true };
    let others = [
        condition.clone().negated().negated(),
        Expr::postfix("IS TRUE", condition.clone()),
        Expr::new(case, Kind::Boolean, vec![condition, truth("TRUE"), truth("FALSE")]),
    ];
    let with = |it: Expr| with_select(query, |select| select.filter = Some(it));
    let left = vec![query.clone(); others.len()];
    Some(Equation { left, right: others.map(with).to_vec() })
}
