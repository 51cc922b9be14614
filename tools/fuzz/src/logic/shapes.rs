//! Queries that can be written in another way.

use crate::ast::{Body, By, Expr, Form, From, Item, On, Query, Select};
use crate::generate::schema::class_of;
use crate::kind::{Class, Kind};
use crate::logic::rule::{Equation, Rule, count, integer, item, plain, row_by_row, with_select};
use crate::walk::{self, Node};

/// The rules of this file.
pub const RULES: &[Rule] = &[
    Rule { name: "an inner join's ON is WHERE", make: on_is_where },
    Rule { name: "the sides of joins can change places", make: swapped },
    Rule { name: "a query of WITH is a derived table", make: inlined },
    Rule { name: "a derived table is a query of WITH", make: lifted },
    Rule { name: "a query is all of a derived table", make: wrapped },
    Rule { name: "a condition is a column of a derived table", make: computed_inside },
    Rule { name: "DISTINCT is GROUP BY", make: distinct },
    Rule { name: "UNION is DISTINCT of UNION ALL", make: union },
    Rule { name: "NOT EXISTS is LEFT JOIN .. IS NULL", make: anti },
    Rule { name: "EXISTS is a count above zero", make: semi },
    Rule { name: "IN is EXISTS where only truth counts", make: in_is_exists },
];

fn and(one: Option<Expr>, other: Expr) -> Expr {
    match one {
        None => other,
        Some(one) => Expr::infix("AND", Kind::Boolean, one, other),
    }
}

fn on_is_where(query: &Query) -> Option<Equation> {
    let select = plain(query)?;
    let From::Join { kind: "JOIN", left, right, on: On::Condition(condition) } =
        select.from.as_ref()?
    else {
        return None;
    };
    let (left, right) = (left.clone(), right.clone());
    let other = with_select(query, |select| {
        select.from = Some(From::Join { kind: "CROSS JOIN", left, right, on: On::Nothing });
        select.filter = Some(and(select.filter.take(), condition.clone()));
    });
    Equation::between(query, other)
}

fn swapped(query: &Query) -> Option<Equation> {
    let mut other = query.clone();
    let mut star = false;
    walk::query(&mut other, &mut |node, _| match node {
        Node::Select(select) => star |= select.items.contains(&Item::Star),
        Node::From(From::Join { kind, left, right, on }) if !merges_texts(on) => {
            std::mem::swap(left, right);
            *kind = match *kind {
                "LEFT JOIN" => "RIGHT JOIN",
                "RIGHT JOIN" => "LEFT JOIN",
                kind => kind,
            };
        }
        _ => {}
    });
    // A star would show the columns in another order.
    if star { None } else { Equation::between(query, other) }
}

/// Whether a join may merge CHAR(n) with other texts: the left one's type counts then, and only CHAR(n) has blanks.
fn merges_texts(on: &On) -> bool {
    match on {
        On::Natural => true,
        On::Using(names) => names.iter().any(|it| class_of(it) == Some(Class::Text)),
        On::Nothing | On::Condition(_) => false,
    }
}

fn inlined(query: &Query) -> Option<Equation> {
    let mut other = query.clone();
    let mut with = std::mem::take(&mut other.with);
    // What reads itself has no other form.
    if with.iter().any(|(name, inner)| reads(inner, name)) {
        return None;
    }
    while let Some((name, inner)) = with.pop() {
        // A later query may read an earlier one, so the last goes first.
        walk::query(&mut other, &mut |node, _| {
            if let Node::From(from) = node
                && let From::Table(table, alias) = from
                && *table == name
            {
                *from = From::Derived(Box::new(inner.clone()), alias.clone());
            }
        });
    }
    Equation::between(query, other)
}

/// Whether a query reads a relation of a name.
fn reads(query: &Query, name: &str) -> bool {
    let mut found = false;
    walk::query(&mut query.clone(), &mut |node, _| {
        if let Node::From(From::Table(table, _)) = node {
            found |= *table == name;
        }
    });
    found
}

fn lifted(query: &Query) -> Option<Equation> {
    let mut other = query.clone();
    let mut with = Vec::new();
    let Body::Select(select) = &mut other.body else { return None };
    let mut froms: Vec<&mut From> = select.from.as_mut().into_iter().collect();
    while let Some(from) = froms.pop() {
        match from {
            From::Derived(inner, alias) => {
                let name = format!("lifted_{alias}");
                with.push((name.clone(), (**inner).clone()));
                *from = From::Table(name, alias.clone());
            }
            From::Join { left, right, .. } => froms.extend([&mut **left, &mut **right]),
            From::Table(..) => {}
        }
    }
    other.with.extend(with);
    Equation::between(query, other)
}

/// `SELECT * FROM (query) z`
fn around(query: &Query) -> Query {
    let mut inner = query.clone();
    let with = std::mem::take(&mut inner.with);
    let mut outer = Query::of(Select {
        items: vec![Item::Star],
        from: Some(From::Derived(Box::new(inner), "z".to_owned())),
        ..Select::default()
    });
    outer.with = with;
    outer
}

fn wrapped(query: &Query) -> Option<Equation> {
    query.width()?;
    Equation::between(query, around(query))
}

fn computed_inside(query: &Query) -> Option<Equation> {
    let condition = row_by_row(query)?.filter.clone()?;
    query.width()?;
    let inner = with_select(query, |select| {
        select.filter = None;
        select.items.push(item(condition, "kept"));
    });
    let mut other = around(&inner);
    if let Body::Select(select) = &mut other.body {
        let column = |it: &Item| match it {
            Item::Named(expr, name) => item(Expr::column("z", name, expr.kind), name),
            Item::Star => Item::Star,
        };
        select.items = row_by_row(query)?.items.iter().map(column).collect();
        select.filter = Some(Expr::column("z", "kept", Kind::Boolean));
    }
    Equation::between(query, other)
}

fn distinct(query: &Query) -> Option<Equation> {
    let select = plain(query)?;
    let width = query.width()?;
    let bare = with_select(query, |select| select.distinct = false);
    if !select.distinct || row_by_row(&bare).is_none() {
        return None;
    }
    let other = with_select(&bare, |select| select.group = (1..=width).map(By::Position).collect());
    Equation::between(query, other)
}

fn union(query: &Query) -> Option<Equation> {
    let Body::Set { operator: "UNION", all: false, left, right } = &query.body else { return None };
    if query.limit.is_some() || query.offset.is_some() {
        return None;
    }
    let (left, right) = (left.clone(), right.clone());
    let body = Body::Set { operator: "UNION", all: true, left, right };
    let mut other = around(&Query { body, order: Vec::new(), ..query.clone() });
    if let Body::Select(select) = &mut other.body {
        select.distinct = true;
    }
    Equation::between(query, other)
}

/// Both sides of a join at the root of a query, and its condition.
fn sides(query: &Query) -> Option<(&From, &From, &Expr)> {
    match row_by_row(query)?.from.as_ref()? {
        From::Join { left, right, on: On::Condition(condition), .. } => {
            Some((left, right, condition))
        }
        _ => None,
    }
}

/// `SELECT count(*) FROM from WHERE condition`, with the WITH of a query.
fn counting(query: &Query, from: From, condition: Expr) -> Query {
    with_select(query, |select| {
        let items = vec![item(count(), "o0")];
        let (from, filter) = (Some(from), Some(condition));
        *select = Select { items, from, filter, ..Select::default() };
    })
}

fn asked(right: &From, condition: &Expr, output: Expr) -> Query {
    Query::of(Select {
        items: vec![item(output, "o0")],
        from: Some(right.clone()),
        filter: Some(condition.clone()),
        ..Select::default()
    })
}

fn anti(query: &Query) -> Option<Equation> {
    let (left, right, condition) = sides(query)?;
    let From::Table(name, alias) = right else { return None };
    let asked = asked(right, condition, integer("1"));
    let exists = Form::Exists { negated: true };
    let exists = Expr::of_query(exists, Kind::Boolean, Vec::new(), asked);
    let one = counting(query, left.clone(), exists);
    let marked = Query::of(Select {
        items: vec![Item::Star, item(integer("1"), "marker")],
        from: Some(From::Table(name.clone(), "inside".to_owned())),
        ..Select::default()
    });
    let join = From::Join {
        kind: "LEFT JOIN",
        left: Box::new(left.clone()),
        right: Box::new(From::Derived(Box::new(marked), alias.clone())),
        on: On::Condition(condition.clone()),
    };
    let marker = Expr::column(alias, "marker", Kind::Integer);
    let other = counting(query, join, Expr::postfix("IS NULL", marker));
    Equation::between(&one, other)
}

fn semi(query: &Query) -> Option<Equation> {
    let (left, right, condition) = sides(query)?;
    let exists = Expr::of_query(
        Form::Exists { negated: false },
        Kind::Boolean,
        Vec::new(),
        asked(right, condition, integer("1")),
    );
    let one = counting(query, left.clone(), exists);
    let number =
        Expr::of_query(Form::Scalar, Kind::BigInt, Vec::new(), asked(right, condition, count()));
    let above = Expr::infix(">", Kind::Boolean, number, integer("0"));
    Equation::between(&one, counting(query, left.clone(), above))
}

/// At the root of WHERE, and below AND, false and unknown are the same.
fn in_is_exists(query: &Query) -> Option<Equation> {
    let condition = plain(query)?.filter.as_ref()?;
    let other = with_select(query, |select| select.filter = Some(exists_for_in(condition)));
    Equation::between(query, other)
}

fn exists_for_in(expr: &Expr) -> Expr {
    match (&expr.form, &expr.query) {
        (Form::Infix("AND"), _) => {
            let parts = expr.parts.iter().map(exists_for_in).collect();
            Expr { parts, ..expr.clone() }
        }
        (Form::InQuery { negated: false }, Some(inner))
            if walk::outer_aliases(inner).is_empty() && inner.width() == Some(1) =>
        {
            let names = &inner.first_select().items;
            let Some(Item::Named(output, name)) = names.first() else { return expr.clone() };
            let equal = Expr::infix(
                "=",
                Kind::Boolean,
                Expr::column("z", name, output.kind),
                expr.parts[0].clone(),
            );
            let asked = asked(&From::Derived(inner.clone(), "z".to_owned()), &equal, integer("1"));
            Expr::of_query(Form::Exists { negated: false }, Kind::Boolean, Vec::new(), asked)
        }
        _ => expr.clone(),
    }
}
