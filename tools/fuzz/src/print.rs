//! Queries as SQL. Everything that could be read in two ways stands in parentheses.

use std::fmt::{Display, Formatter, Result, Write};

use crate::ast::{Body, By, Expr, Form, From, Item, Key, On, Query, Select};

impl Display for Query {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        for (at, (name, query)) in self.with.iter().enumerate() {
            // Whether one names itself is not asked.
            let word = if at == 0 { "WITH RECURSIVE " } else { ", " };
            write!(out, "{word}{name} AS ({query})")?;
        }
        if !self.with.is_empty() {
            out.write_char(' ')?;
        }
        match &self.body {
            Body::Select(select) => write!(out, "{select}")?,
            Body::Set { operator, all, left, right } => {
                let all = if *all { " ALL" } else { "" };
                write_side(out, left)?;
                write!(out, " {operator}{all} ")?;
                write_side(out, right)?;
            }
        }
        write_list(out, " ORDER BY ", &self.order)?;
        if let Some(limit) = self.limit {
            write!(out, " LIMIT {limit}")?;
        }
        if let Some(offset) = self.offset {
            write!(out, " OFFSET {offset}")?;
        }
        Ok(())
    }
}

/// One side of a set operation.
fn write_side(out: &mut Formatter<'_>, query: &Query) -> Result {
    let plain = matches!(query.body, Body::Select(_))
        && query.with.is_empty()
        && query.order.is_empty()
        && query.limit.is_none()
        && query.offset.is_none();
    if plain { write!(out, "{query}") } else { write!(out, "({query})") }
}

fn write_list<T: Display>(out: &mut Formatter<'_>, word: &str, list: &[T]) -> Result {
    for (at, part) in list.iter().enumerate() {
        write!(out, "{}{part}", if at == 0 { word } else { ", " })?;
    }
    Ok(())
}

impl Display for Key {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        write!(out, "{}", self.by)?;
        if self.descending {
            out.write_str(" DESC")?;
        }
        match self.nulls_first {
            Some(true) => out.write_str(" NULLS FIRST"),
            Some(false) => out.write_str(" NULLS LAST"),
            None => Ok(()),
        }
    }
}

impl Display for By {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        match self {
            Self::Position(at) => write!(out, "{at}"),
            Self::Expr(expr) => write!(out, "{expr}"),
        }
    }
}

impl Display for Item {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        match self {
            Self::Named(expr, name) => write!(out, "{expr} AS {name}"),
            Self::Star => out.write_char('*'),
        }
    }
}

impl Display for Select {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        let word = if self.distinct { "SELECT DISTINCT " } else { "SELECT " };
        write_list(out, word, &self.items)?;
        if let Some(from) = &self.from {
            write!(out, " FROM {from}")?;
        }
        if let Some(filter) = &self.filter {
            write!(out, " WHERE {filter}")?;
        }
        match self.sets.filter(|_| !self.group.is_empty()) {
            Some(word) => {
                write!(out, " GROUP BY {word}")?;
                write_list(out, " (", &self.group)?;
                out.write_char(')')?;
            }
            None => write_list(out, " GROUP BY ", &self.group)?,
        }
        if let Some(having) = &self.having {
            write!(out, " HAVING {having}")?;
        }
        Ok(())
    }
}

impl Display for From {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        match self {
            Self::Table(name, alias) => write!(out, "{name} {alias}"),
            Self::Derived(query, alias) => write!(out, "({query}) {alias}"),
            Self::Join { kind, left, right, on } => {
                let natural = if *on == On::Natural { "NATURAL " } else { "" };
                write!(out, "{left} {natural}{kind} ")?;
                if matches!(**right, Self::Join { .. }) {
                    write!(out, "({right})")?;
                } else {
                    write!(out, "{right}")?;
                }
                match on {
                    On::Nothing | On::Natural => Ok(()),
                    On::Condition(condition) => write!(out, " ON {condition}"),
                    On::Using(names) => write!(out, " USING ({})", names.join(", ")),
                }
            }
        }
    }
}

impl Display for Expr {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        let parts = &self.parts;
        match &self.form {
            Form::Column { from: Some(from), name } => write!(out, "{from}.{name}"),
            Form::Column { from: None, name } => out.write_str(name),
            Form::Literal(text) => out.write_str(text),
            Form::Null => out.write_str("NULL"),
            Form::Prefix(operator) => write!(out, "({operator} {})", parts[0]),
            Form::Postfix(operator) => write!(out, "({} {operator})", parts[0]),
            Form::Infix(operator) => write!(out, "({} {operator} {})", parts[0], parts[1]),
            Form::Call(name) => {
                write!(out, "{name}(")?;
                write_list(out, "", parts)?;
                out.write_char(')')
            }
            Form::Extract(field) => write!(out, "EXTRACT({field} FROM {})", parts[0]),
            Form::Cast { colons: false } => write!(out, "CAST({} AS {})", parts[0], self.kind),
            Form::Cast { colons: true } => write!(out, "({})::{}", parts[0], self.kind),
            Form::Case { operand, otherwise } => write_case(out, parts, *operand, *otherwise),
            Form::In { negated } => {
                write!(out, "({} {}IN (", parts[0], not(*negated))?;
                write_list(out, "", &parts[1..])?;
                out.write_str("))")
            }
            Form::Between { negated } => {
                let not = not(*negated);
                write!(out, "({} {not}BETWEEN {} AND {})", parts[0], parts[1], parts[2])
            }
            Form::Aggregate { name, distinct, filter } => {
                write_aggregate(out, name, *distinct, *filter, parts)
            }
            Form::Window { .. } => self.write_window(out),
            Form::Scalar | Form::Exists { .. } | Form::InQuery { .. } | Form::Quantified { .. } => {
                self.write_subquery(out)
            }
        }
    }
}

fn not(negated: bool) -> &'static str {
    if negated { "NOT " } else { "" }
}

fn write_case(out: &mut Formatter<'_>, parts: &[Expr], operand: bool, otherwise: bool) -> Result {
    out.write_str("CASE")?;
    let mut arms = parts;
    if operand {
        write!(out, " {}", arms[0])?;
        arms = &arms[1..];
    }
    let last = if otherwise { arms.last() } else { None };
    for arm in arms[..arms.len() - usize::from(otherwise)].chunks(2) {
        write!(out, " WHEN {} THEN {}", arm[0], arm[1])?;
    }
    if let Some(last) = last {
        write!(out, " ELSE {last}")?;
    }
    out.write_str(" END")
}

fn write_aggregate(
    out: &mut Formatter<'_>,
    name: &str,
    distinct: bool,
    filter: bool,
    parts: &[Expr],
) -> Result {
    let arguments = parts.len() - usize::from(filter);
    match parts[..arguments].first() {
        None => write!(out, "{name}(*)")?,
        Some(part) if name == "string_agg" => {
            let distinct = if distinct { "DISTINCT " } else { "" };
            write!(
                out,
                "string_agg({distinct}CAST({part} AS TEXT), ',' ORDER BY CAST({part} AS TEXT))"
            )?;
        }
        Some(part) if name == "mode" => write!(out, "mode() WITHIN GROUP (ORDER BY {part})")?,
        Some(part) if name.starts_with("percentile") => {
            write!(out, "{name}(0.5) WITHIN GROUP (ORDER BY {part})")?;
        }
        Some(part) if name == "regr_count" => write!(out, "regr_count({part}, {part})")?,
        Some(part) => write!(out, "{name}({}{part})", if distinct { "DISTINCT " } else { "" })?,
    }
    if filter {
        write!(out, " FILTER (WHERE {})", parts[arguments])?;
    }
    Ok(())
}

impl Expr {
    fn write_window(&self, out: &mut Formatter<'_>) -> Result {
        let Form::Window { name, filter, partitions, orders, direction, frame } = self.form else {
            return Ok(());
        };
        let own = self.parts.len() - partitions - orders;
        let (own, around) = self.parts.split_at(own);
        let (partition, order) = around.split_at(partitions);
        match name {
            "rank" | "dense_rank" => write!(out, "{name}()")?,
            _ => write_aggregate(out, name, false, filter, own)?,
        }
        out.write_str(" OVER (")?;
        write_list(out, "PARTITION BY ", partition)?;
        for (place, key) in order.iter().enumerate() {
            match place {
                0 => write!(out, " ORDER BY {key}{direction}")?,
                _ => write!(out, ", {key}")?,
            }
        }
        write!(out, " {frame})")
    }

    fn write_subquery(&self, out: &mut Formatter<'_>) -> Result {
        let query = self.query.as_deref().expect("invariant: a subquery's form has its query");
        match &self.form {
            Form::Exists { negated } => write!(out, "({}EXISTS ({query}))", not(*negated)),
            Form::InQuery { negated } => {
                write!(out, "({} {}IN ({query}))", self.parts[0], not(*negated))
            }
            Form::Quantified { operator, all } => {
                let word = if *all { "ALL" } else { "ANY" };
                write!(out, "({} {operator} {word} ({query}))", self.parts[0])
            }
            _ => write!(out, "({query})"),
        }
    }
}
