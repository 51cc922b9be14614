//! Cuts of a query: for each node, what may stand in its place and is smaller.

use crate::ast::{Body, By, Expr, Form, From, Item, On, Query, Select};
use crate::kind::{Class, Kind};
use crate::walk::{self, Node};

/// What stands in the place of a node.
pub enum Cut {
    Query(Query),
    Select(Box<Select>),
    From(From),
    Expr(Expr),
}

/// What may stand in the place of the node of this number; none behind the last node.
pub fn cuts(query: &Query, number: usize) -> Option<Vec<Cut>> {
    let mut at = 0;
    let mut found = None;
    walk::query(&mut query.clone(), &mut |node, _| {
        if at == number {
            found = Some(match node {
                Node::Query(query) => of_query(query).into_iter().map(Cut::Query).collect(),
                Node::Select(select) => {
                    of_select(select).into_iter().map(|it| Cut::Select(Box::new(it))).collect()
                }
                Node::From(from) => of_from(from).into_iter().map(Cut::From).collect(),
                Node::Expr(expr) => of_expr(expr).into_iter().map(Cut::Expr).collect(),
            });
        }
        at += 1;
    });
    found
}

/// The query with another node of this number.
pub fn replaced(query: &Query, number: usize, cut: Cut) -> Query {
    let mut query = query.clone();
    let mut at = 0;
    let mut cut = Some(cut);
    walk::query(&mut query, &mut |node, _| {
        if at == number {
            match (node, cut.take()) {
                (Node::Query(query), Some(Cut::Query(other))) => *query = other,
                (Node::Select(select), Some(Cut::Select(other))) => *select = *other,
                (Node::From(from), Some(Cut::From(other))) => *from = other,
                (Node::Expr(expr), Some(Cut::Expr(other))) => *expr = other,
                _ => {}
            }
        }
        at += 1;
    });
    query
}

fn of_query(query: &Query) -> Vec<Query> {
    let mut cuts = Vec::new();
    if let Body::Set { left, right, .. } = &query.body {
        for side in [left, right] {
            let mut side = (**side).clone();
            side.with = [query.with.clone(), side.with].concat();
            cuts.push(side);
        }
    }
    for (name, inner) in &query.with {
        if !walk::tables(query).contains(name) {
            let mut cut = query.clone();
            cut.with.retain(|it| it.0 != *name);
            cuts.push(cut);
        }
        // What fails may be the query of WITH alone.
        cuts.push(inner.clone());
    }
    cuts.extend(closed_queries(query));
    if query.limit.is_some() || query.offset.is_some() {
        cuts.push(Query { limit: None, offset: None, ..query.clone() });
        cuts.push(Query { offset: None, ..query.clone() });
    } else if !query.order.is_empty() {
        cuts.push(Query { order: Vec::new(), ..query.clone() });
        for at in 0..query.order.len() {
            let mut cut = query.clone();
            cut.order.remove(at);
            cuts.push(cut);
        }
    }
    for at in 0..query.width().unwrap_or(0) {
        let mut cut = query.clone();
        if drop_column(&mut cut, at) {
            cuts.push(cut);
        }
    }
    cuts
}

/// Queries inside a query that name nothing of what is around them, each with the WITH that it may read.
fn closed_queries(of: &Query) -> Vec<Query> {
    let mut inner = Vec::new();
    let mut take = |query: &Query| {
        if walk::outer_aliases(query).is_empty() {
            let with = [of.with.clone(), query.with.clone()].concat();
            inner.push(Query { with, ..query.clone() });
        }
    };
    walk::query(&mut of.clone(), &mut |node, _| match node {
        Node::Expr(Expr { query: Some(query), .. }) => take(query),
        Node::From(From::Derived(query, _)) => take(query),
        _ => {}
    });
    inner
}

/// Drops an output column, on both sides of set operations; false if it is the only one.
fn drop_column(query: &mut Query, at: usize) -> bool {
    let shift = |by: &mut By| match by {
        By::Position(position) if *position == at + 1 => false,
        By::Position(position) => {
            *position -= usize::from(*position > at + 1);
            true
        }
        By::Expr(_) => true,
    };
    query.order.retain_mut(|key| shift(&mut key.by));
    match &mut query.body {
        Body::Set { left, right, .. } => drop_column(left, at) && drop_column(right, at),
        Body::Select(select) => {
            select.group.retain_mut(shift);
            let good = select.items.len() > 1 && at < select.items.len();
            if good {
                select.items.remove(at);
            }
            good
        }
    }
}

fn of_select(select: &Select) -> Vec<Select> {
    let mut cuts = Vec::new();
    let mut push = |change: &dyn Fn(&mut Select)| {
        let mut cut = select.clone();
        change(&mut cut);
        if cut != *select {
            cuts.push(cut);
        }
    };
    push(&|cut| cut.filter = None);
    push(&|cut| cut.having = None);
    push(&|cut| cut.distinct = false);
    push(&|cut| cut.from = None);
    push(&|cut| cut.sets = None);
    for at in 0..select.group.len() {
        push(&|cut| drop(cut.group.remove(at)));
    }
    if let Some(From::Join { left, right, on: On::Condition(condition), .. }) = &select.from {
        for side in [left, right] {
            push(&|cut| {
                cut.from = Some((**side).clone());
                cut.filter = Some(condition.clone());
            });
        }
    }
    cuts
}

fn of_from(from: &From) -> Vec<From> {
    let From::Join { kind, left, right, on } = from else { return Vec::new() };
    let mut cuts = vec![(**left).clone(), (**right).clone()];
    let with = |kind: &'static str, on: On| From::Join {
        kind,
        left: left.clone(),
        right: right.clone(),
        on,
    };
    if *kind != "JOIN" && *on != On::Nothing {
        cuts.push(with("JOIN", on.clone()));
    }
    match on {
        On::Condition(condition) if !condition.is_constant() => {
            cuts.push(with(kind, On::Condition(Expr::literal("TRUE", Kind::Boolean))));
        }
        On::Using(names) if names.len() > 1 => {
            for at in 0..names.len() {
                let mut names = names.clone();
                names.remove(at);
                cuts.push(with(kind, On::Using(names)));
            }
        }
        _ => {}
    }
    cuts
}

fn of_expr(expr: &Expr) -> Vec<Expr> {
    let class = expr.kind.class();
    let mut cuts: Vec<Expr> = Vec::new();
    if !expr.is_constant() {
        cuts.extend(constants(class));
    }
    cuts.extend(expr.parts.iter().filter(|it| it.kind.class() == class).cloned());
    if let (Form::Scalar, Some(query)) = (&expr.form, &expr.query)
        && let Some(Item::Named(inner, _)) = query.first_select().items.first()
    {
        cuts.push(inner.clone());
    }
    match &expr.form {
        Form::Aggregate { name, distinct, filter } => {
            let form = |distinct, filter| Form::Aggregate { name, distinct, filter };
            if *distinct {
                cuts.push(Expr { form: form(false, *filter), ..expr.clone() });
            }
            if *filter {
                let parts = expr.parts[..expr.parts.len() - 1].to_vec();
                cuts.push(Expr { form: form(*distinct, false), parts, ..expr.clone() });
            }
        }
        Form::Window { .. } => cuts.extend(of_window(expr)),
        Form::In { .. } => {
            for at in 1..expr.parts.len() {
                if expr.parts.len() > 2 {
                    cuts.push(without(expr, at, 1));
                }
            }
        }
        Form::Call("coalesce" | "greatest" | "least") if expr.parts.len() > 2 => {
            cuts.extend((0..expr.parts.len()).map(|at| without(expr, at, 1)));
        }
        Form::Case { operand, otherwise } => {
            let first = usize::from(*operand);
            let arms = (expr.parts.len() - first - usize::from(*otherwise)) / 2;
            for arm in 0..arms {
                if arms > 1 {
                    cuts.push(without(expr, first + 2 * arm, 2));
                }
            }
            if *otherwise {
                let mut cut = without(expr, expr.parts.len() - 1, 1);
                cut.form = Form::Case { operand: *operand, otherwise: false };
                cuts.push(cut);
            }
        }
        _ => {}
    }
    cuts
}

/// A window with less.
fn of_window(expr: &Expr) -> Vec<Expr> {
    let mut cuts = Vec::new();
    let Form::Window { name, filter, partitions, orders, direction, frame } = &expr.form else {
        return cuts;
    };
    let own = expr.parts.len() - partitions - orders;
    let form = |filter, partitions, orders, frame| Form::Window {
        name,
        filter,
        partitions,
        orders,
        direction,
        frame,
    };
    if *filter {
        let form = form(false, *partitions, *orders, frame);
        cuts.push(Expr { form, ..without(expr, own - 1, 1) });
    }
    if *partitions > 0 {
        let form = form(*filter, partitions - 1, *orders, frame);
        cuts.push(Expr { form, ..without(expr, own, 1) });
    }
    if *orders > 1 {
        let form = form(*filter, *partitions, orders - 1, frame);
        cuts.push(Expr { form, ..without(expr, expr.parts.len() - 1, 1) });
    }
    if !frame.is_empty() {
        let form = form(*filter, *partitions, *orders, "");
        cuts.push(Expr { form, ..expr.clone() });
    }
    cuts
}

fn without(expr: &Expr, from: usize, count: usize) -> Expr {
    let mut cut = expr.clone();
    cut.parts.drain(from..from + count);
    cut
}

/// The plainest constants of a class.
fn constants(class: Class) -> Vec<Expr> {
    let texts: &[&str] = match class {
        Class::Integer => &["1"],
        Class::Decimal => &["1.5"],
        Class::Boolean => &["TRUE", "FALSE"],
        Class::Date => &["DATE '2024-01-01'"],
        Class::Timestamp => &["TIMESTAMP '2024-01-01 00:00:00'"],
        Class::Moment => &["TIMESTAMPTZ '2024-01-01 00:00:00+00'"],
        Class::Time => &["TIME '00:00:00'"],
        Class::Interval => &["INTERVAL '1 day'"],
        Class::Uuid => &["UUID 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'"],
        Class::Bytes => &["CAST('\\x61' AS BYTEA)"],
        Class::Clock => &["TIMETZ '00:00:00+00'"],
        Class::Bits => &["B'1'"],
        Class::Text => &["'a'"],
        Class::Float => &["CAST('1.5' AS DOUBLE PRECISION)"],
    };
    let kind = class.kind();
    let mut all: Vec<Expr> = texts.iter().map(|text| Expr::literal(*text, kind)).collect();
    all.push(Expr::null(kind).cast(kind));
    all
}
