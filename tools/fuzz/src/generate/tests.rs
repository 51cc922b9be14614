//! What the generator promises: everything it is meant to make occurs, and it repeats itself.

use std::collections::BTreeMap;

use crate::ast::{Body, By, Expr, Form, From, Item, On, Query, Select};
use crate::case;
use crate::kind::{Class, Kind};
use crate::walk::{self, Node, Trail};
use crate::world::{Constraint, World};

fn kinds() -> Vec<Kind> {
    Class::ALL.iter().flat_map(|class| class.kinds()).copied().collect()
}

fn cases(count: u64) -> impl Iterator<Item = (World, Query)> {
    let kinds = kinds();
    (0..count).map(move |number| {
        let world = case::world(1, number, &kinds);
        let query = case::query(1, number, &world, &kinds, 3);
        (world, query)
    })
}

#[test]
fn a_seed_and_a_number_repeat_a_case() {
    let kinds = kinds();
    let text = |seed, number| {
        let world = case::world(seed, number, &kinds);
        format!("{}{}", world.script(), case::query(seed, number, &world, &kinds, 3))
    };
    assert_eq!(text(3, 17), text(3, 17));
    assert_ne!(text(3, 17), text(3, 18));
    assert_ne!(text(3, 17), text(4, 17));
}

#[test]
fn rows_follow_from_the_tables_alone() {
    assert!(cases(500).all(|(_, query)| case::is_determined(&query)));
}

#[test]
fn worlds_have_all_types_keys_and_empty_tables() {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for (world, _) in cases(2000).step_by(case::PER_WORLD as usize) {
        assert!((2..=5).contains(&world.tables.len()));
        for table in &world.tables {
            assert!(table.rows.len() <= 60);
            let size = if table.rows.is_empty() { "empty" } else { "rows" };
            *seen.entry(size.to_owned()).or_default() += 1;
            for column in &table.columns {
                *seen.entry(column.kind.to_string()).or_default() += 1;
                *seen.entry(format!("{:?}", column.constraint)).or_default() += 1;
            }
            let null = table.rows.iter().flatten().any(|it| it == "NULL");
            *seen.entry(format!("null {null}")).or_default() += 1;
        }
    }
    let mut wanted: Vec<String> = kinds().iter().map(Kind::to_string).collect();
    wanted.extend([Constraint::PrimaryKey, Constraint::Unique].map(|it| format!("{it:?}")));
    wanted.extend(["empty", "rows", "null true"].map(str::to_owned));
    for feature in wanted {
        assert!(seen.contains_key(&feature), "no {feature} among {seen:?}");
    }
}

/// Everything that queries are meant to have.
const WANTED: &[&str] = &[
    "JOIN ON",
    "LEFT JOIN ON",
    "RIGHT JOIN ON",
    "FULL JOIN ON",
    "CROSS JOIN",
    "JOIN USING",
    "LEFT JOIN USING",
    "RIGHT JOIN USING",
    "FULL JOIN USING",
    "FULL JOIN NATURAL",
    "JOIN NATURAL",
    "derived table",
    "derived table with a constant",
    "derived table with an aggregate",
    "WITH once",
    "WITH twice",
    "GROUP BY column",
    "GROUP BY computed",
    "GROUP BY position",
    "GROUP BY repeated",
    "HAVING",
    "DISTINCT",
    "ORDER BY with LIMIT",
    "ORDER BY with OFFSET",
    "NULLS FIRST",
    "NULLS LAST",
    "UNION",
    "UNION ALL",
    "INTERSECT",
    "INTERSECT ALL",
    "EXCEPT",
    "EXCEPT ALL",
    "select star",
    "correlated in select list",
    "correlated in where",
    "correlated in having",
    "correlated in on",
    "correlated in order by",
    "correlated in case",
    "correlated in aggregate",
    "correlated over two levels",
    "EXISTS",
    "NOT EXISTS",
    "IN query",
    "NOT IN query",
    "scalar without aggregate",
    "scalar with aggregate",
    "ANY",
    "ALL",
    "CASE",
    "CASE operand",
    "coalesce",
    "nullif",
    "greatest",
    "IN list with NULL",
    "NOT IN list with NULL",
    "BETWEEN",
    "NOT BETWEEN",
    "LIKE",
    "IS DISTINCT FROM",
    "IS NOT DISTINCT FROM",
    "IS TRUE",
    "IS UNKNOWN",
    "decimals of two scales",
    "date + days",
    "date - date",
    "date + interval",
    "count",
    "count star",
    "sum",
    "avg",
    "min",
    "max",
    "bool_and",
    "bool_or",
    "bit_and",
    "bit_or",
    "bit_xor",
    "var_pop",
    "stddev",
    "aggregate DISTINCT",
    "aggregate FILTER",
    "edge of INTEGER",
    "edge of BIGINT",
    "cast BIGINT",
    "cast SMALLINT",
    "cast REAL",
    "cast DATE",
    "cast TIMESTAMP",
    "cast TEXT",
    "cast DECIMAL",
    "exponent",
];

#[test]
fn every_feature_occurs_within_two_thousand_queries() {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for (_, query) in cases(2000) {
        let mut found = Vec::new();
        walk::query(&mut query.clone(), &mut |node, trail| match node {
            Node::Query(query) => of_query(query, &mut found),
            Node::Select(select) => of_select(select, trail, &mut found),
            Node::From(from) => of_from(from, &mut found),
            Node::Expr(expr) => of_expr(expr, trail, &mut found),
        });
        found.sort();
        found.dedup();
        for feature in found {
            *seen.entry(feature).or_default() += 1;
        }
    }
    let missing: Vec<_> = WANTED.iter().filter(|it| !seen.contains_key(**it)).collect();
    assert!(missing.is_empty(), "no {missing:?} among {seen:?}");
}

fn of_query(query: &Query, found: &mut Vec<String>) {
    let mut note = |feature: &str| found.push(feature.to_owned());
    if let Body::Set { operator, all, .. } = &query.body {
        note(&format!("{operator}{}", if *all { " ALL" } else { "" }));
    }
    if query.limit.is_some() {
        note("ORDER BY with LIMIT");
    }
    if query.offset.is_some() {
        note("ORDER BY with OFFSET");
    }
    for key in &query.order {
        match key.nulls_first {
            Some(true) => note("NULLS FIRST"),
            Some(false) => note("NULLS LAST"),
            None => {}
        }
    }
    let text = query.to_string();
    for (name, _) in &query.with {
        match text.matches(&format!(" {name} y")).count() {
            0 => {}
            1 => note("WITH once"),
            _ => note("WITH twice"),
        }
    }
}

fn of_select(select: &Select, trail: &Trail, found: &mut Vec<String>) {
    let mut note = |feature: &str| found.push(feature.to_owned());
    if select.distinct {
        note("DISTINCT");
    }
    if select.having.is_some() {
        note("HAVING");
    }
    for (at, by) in select.group.iter().enumerate() {
        note(match by {
            By::Position(_) => "GROUP BY position",
            By::Expr(expr) if matches!(expr.form, Form::Column { .. }) => "GROUP BY column",
            By::Expr(_) => "GROUP BY computed",
        });
        if select.group[..at].contains(by) {
            note("GROUP BY repeated");
        }
    }
    for item in &select.items {
        match item {
            Item::Star => note("select star"),
            Item::Named(expr, _) if trail.last() == Some(&"derived table") => match expr.form {
                Form::Literal(_) => note("derived table with a constant"),
                Form::Aggregate { .. } => note("derived table with an aggregate"),
                _ => {}
            },
            Item::Named(..) => {}
        }
    }
}

fn of_from(from: &From, found: &mut Vec<String>) {
    match from {
        From::Table(..) => {}
        From::Derived(..) => found.push("derived table".to_owned()),
        From::Join { kind, on, .. } => found.push(match on {
            On::Nothing => (*kind).to_owned(),
            On::Condition(_) => format!("{kind} ON"),
            On::Using(_) => format!("{kind} USING"),
            On::Natural => format!("{kind} NATURAL"),
        }),
    }
}

fn of_expr(expr: &Expr, trail: &Trail, found: &mut Vec<String>) {
    let mut note = |feature: &str| found.push(feature.to_owned());
    if let Some(query) = &expr.query {
        let free = walk::outer_aliases(query);
        if !free.is_empty() {
            let level = trail.iter().rposition(|it| *it == "subquery").map_or(0, |at| at + 1);
            for word in &trail[level..] {
                note(&format!("correlated in {word}"));
            }
            if level > 0 {
                note("correlated over two levels");
            }
        }
    }
    let words = match &expr.form {
        Form::Exists { negated } => with_not(*negated, "EXISTS"),
        Form::InQuery { negated } => with_not(*negated, "IN query"),
        Form::In { negated } if expr.parts.iter().any(|it| it.form == Form::Null) => {
            with_not(*negated, "IN list with NULL")
        }
        Form::Between { negated } => with_not(*negated, "BETWEEN"),
        Form::Quantified { all, .. } => (if *all { "ALL" } else { "ANY" }).to_owned(),
        Form::Scalar => {
            let aggregate = walk::any(expr.query.as_deref().expect("a subquery"), |it| {
                matches!(it.form, Form::Aggregate { .. })
            });
            format!("scalar {} aggregate", if aggregate { "with" } else { "without" })
        }
        Form::Case { operand, .. } => (if *operand { "CASE operand" } else { "CASE" }).to_owned(),
        Form::Call(name) => (*name).to_owned(),
        Form::Postfix(word) => (*word).to_owned(),
        Form::Cast { .. } if expr.kind.class() == Class::Decimal => "cast DECIMAL".to_owned(),
        Form::Cast { .. } => format!("cast {}", expr.kind),
        Form::Aggregate { name, .. } if expr.parts.is_empty() => format!("{name} star"),
        Form::Aggregate { name, .. } => (*name).to_owned(),
        Form::Literal(text) if text.contains("2147483647") => "edge of INTEGER".to_owned(),
        Form::Literal(text) if text.contains("9223372036854775807") => "edge of BIGINT".to_owned(),
        Form::Literal(text) if text.ends_with("e2") => "exponent".to_owned(),
        Form::Infix(operator) => of_infix(operator, expr),
        _ => String::new(),
    };
    note(&words);
    if let Form::Aggregate { distinct, filter, .. } = expr.form {
        found.extend(distinct.then(|| "aggregate DISTINCT".to_owned()));
        found.extend(filter.then(|| "aggregate FILTER".to_owned()));
    }
}

fn with_not(negated: bool, words: &str) -> String {
    if negated { format!("NOT {words}") } else { words.to_owned() }
}

fn of_infix(operator: &str, expr: &Expr) -> String {
    let (left, right) = (&expr.parts[0], &expr.parts[1]);
    let days = left.kind == Kind::Date && matches!(operator, "+" | "-");
    let interval = matches!(&right.form, Form::Literal(text) if text.starts_with("INTERVAL"));
    match (left.kind, right.kind) {
        (Kind::Date, _) if days && interval => "date + interval".to_owned(),
        (Kind::Date, Kind::Date) if days => "date - date".to_owned(),
        (Kind::Date, _) if days => "date + days".to_owned(),
        (Kind::Decimal(_, one), Kind::Decimal(_, other)) if one != other => {
            "decimals of two scales".to_owned()
        }
        _ => operator.to_owned(),
    }
}
