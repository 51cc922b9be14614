//! Walks over all nodes of a query, outermost first.

use std::collections::BTreeSet;

use crate::ast::{Body, By, Expr, Form, From, Item, Key, On, Query, Select};

/// A node of a query that may be changed; what stands below it is walked after the change.
pub enum Node<'a> {
    Query(&'a mut Query),
    Select(&'a mut Select),
    From(&'a mut From),
    Expr(&'a mut Expr),
}

/// Where a node stands: the clauses, `case`, `aggregate` and `subquery` around it, the outermost first.
pub type Trail = Vec<&'static str>;

/// What is done at each node.
pub type Visit<'a> = dyn FnMut(Node<'_>, &Trail) + 'a;

/// Walks over a query.
pub fn query(query: &mut Query, visit: &mut Visit<'_>) {
    walk_query(query, &mut Trail::new(), visit);
}

fn within(trail: &mut Trail, word: &'static str, walk: impl FnOnce(&mut Trail)) {
    trail.push(word);
    walk(trail);
    trail.pop();
}

fn walk_query(query: &mut Query, trail: &mut Trail, visit: &mut Visit<'_>) {
    visit(Node::Query(query), trail);
    for (_, query) in &mut query.with {
        within(trail, "with", |trail| walk_query(query, trail, visit));
    }
    match &mut query.body {
        Body::Select(select) => walk_select(select, trail, visit),
        Body::Set { left, right, .. } => within(trail, "set", |trail| {
            walk_query(left, trail, visit);
            walk_query(right, trail, visit);
        }),
    }
    for Key { by, .. } in &mut query.order {
        if let By::Expr(expr) = by {
            within(trail, "order by", |trail| walk_expr(expr, trail, visit));
        }
    }
}

fn walk_select(select: &mut Select, trail: &mut Trail, visit: &mut Visit<'_>) {
    visit(Node::Select(select), trail);
    for item in &mut select.items {
        if let Item::Named(expr, _) = item {
            within(trail, "select list", |trail| walk_expr(expr, trail, visit));
        }
    }
    if let Some(from) = &mut select.from {
        walk_from(from, trail, visit);
    }
    if let Some(filter) = &mut select.filter {
        within(trail, "where", |trail| walk_expr(filter, trail, visit));
    }
    for by in &mut select.group {
        if let By::Expr(expr) = by {
            within(trail, "group by", |trail| walk_expr(expr, trail, visit));
        }
    }
    if let Some(having) = &mut select.having {
        within(trail, "having", |trail| walk_expr(having, trail, visit));
    }
}

fn walk_from(from: &mut From, trail: &mut Trail, visit: &mut Visit<'_>) {
    visit(Node::From(from), trail);
    match from {
        From::Table(..) => {}
        From::Derived(query, _) => {
            within(trail, "derived table", |trail| walk_query(query, trail, visit));
        }
        From::Join { left, right, on, .. } => {
            walk_from(left, trail, visit);
            walk_from(right, trail, visit);
            if let On::Condition(condition) = on {
                within(trail, "on", |trail| walk_expr(condition, trail, visit));
            }
        }
    }
}

fn walk_expr(expr: &mut Expr, trail: &mut Trail, visit: &mut Visit<'_>) {
    visit(Node::Expr(expr), trail);
    let word = match expr.form {
        Form::Case { .. } => Some("case"),
        Form::Aggregate { .. } => Some("aggregate"),
        Form::Window { .. } => Some("window"),
        _ => None,
    };
    trail.extend(word);
    for part in &mut expr.parts {
        walk_expr(part, trail, visit);
    }
    if word.is_some() {
        trail.pop();
    }
    if let Some(query) = &mut expr.query {
        within(trail, "subquery", |trail| walk_query(query, trail, visit));
    }
}

/// Aliases that a query's columns name and its relations do not have: those of the queries around it.
pub fn outer_aliases(of: &Query) -> BTreeSet<String> {
    let mut named = BTreeSet::new();
    let mut own = BTreeSet::new();
    query(&mut of.clone(), &mut |node, _| match node {
        Node::Expr(Expr { form: Form::Column { from: Some(from), .. }, .. }) => {
            named.insert(from.clone());
        }
        Node::From(From::Table(_, alias) | From::Derived(_, alias)) => {
            own.insert(alias.clone());
        }
        _ => {}
    });
    named.difference(&own).cloned().collect()
}

/// Aliases that an expression's columns name, those of its subqueries' own relations left out.
pub fn aliases(of: &Expr) -> BTreeSet<String> {
    let select = Select { filter: Some(of.clone()), ..Select::default() };
    outer_aliases(&Query::of(select))
}

/// Names of all tables, and of queries of WITH, that a query reads.
pub fn tables(of: &Query) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    query(&mut of.clone(), &mut |node, _| {
        if let Node::From(From::Table(name, _)) = node {
            names.insert(name.clone());
        }
    });
    names
}

/// Whether any expression fulfils a condition.
pub fn any(of: &Query, condition: impl Fn(&Expr) -> bool) -> bool {
    let mut found = false;
    query(&mut of.clone(), &mut |node, _| {
        if let Node::Expr(expr) = node {
            found |= condition(expr);
        }
    });
    found
}
