//! Relations evaluated as they are defined, row by row: the oracle. Nothing here is fast.
//!
//! An error becomes a value that raises where it is used, so that the place where it is computed does not matter.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

use plan::relation::{Apply, Attr, JoinRel, Query, Rel, RelJoin, split_conjunction};
use plan::{
    Aggregate, AggregateFunction, BinaryOperator, Expr, ExprKind, UnaryOperator, WindowFunction,
};
use types::Value;

/// An error at run time.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub(crate) struct Raised;

type Cell = Result<Value, Raised>;
type Row = BTreeMap<Attr, Cell>;
type Rows = Result<Vec<Row>, Raised>;

/// The rows of the answer, sorted.
pub(crate) fn answer(query: &Query) -> Result<Vec<String>, Raised> {
    let this = Interpreter { query, shared: RefCell::default() };
    let mut rows = Vec::new();
    for row in this.rel(&query.root, &Row::new())? {
        let values = query.output.iter().map(|it| row[&it.attr].clone());
        rows.push(format!("{:?}", values.collect::<Result<Vec<_>, _>>()?));
    }
    rows.sort();
    Ok(rows)
}

struct Interpreter<'a> {
    query: &'a Query,
    shared: RefCell<HashMap<usize, Vec<Row>>>,
}

fn merged(left: &Row, right: &Row) -> Row {
    left.iter().chain(right).map(|it| (*it.0, it.1.clone())).collect()
}

fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Boolean(it) => Some(*it),
        Value::Null => None,
        other => panic!("{other:?} is no Boolean"),
    }
}

fn boolean(value: Option<bool>) -> Value {
    value.map_or(Value::Null, Value::Boolean)
}

fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Integer(it) => Some(*it),
        Value::Null => None,
        other => panic!("{other:?} is no integer"),
    }
}

/// A place in an order: NULL, then numbers.
fn rank(value: &Value) -> (bool, i64) {
    match value {
        Value::Null => (false, 0),
        Value::Boolean(it) => (true, i64::from(*it)),
        other => (true, integer(other).unwrap_or(0)),
    }
}

impl Interpreter<'_> {
    fn expr(&self, expr: &Expr, row: &Row, outer: &Row) -> Cell {
        let of = |it: &Expr| self.expr(it, row, outer);
        match &expr.kind {
            ExprKind::Column(attr) => row
                .get(attr)
                .or_else(|| outer.get(attr))
                .unwrap_or_else(|| panic!("attribute {attr} is not there"))
                .clone(),
            ExprKind::Literal(value) => Ok(value.clone()),
            ExprKind::Scalar(id) => {
                let scalar = &self.query.scalars[id.index()];
                let rows = self.rel(&scalar.rel, &Row::new())?;
                match &rows[..] {
                    [] => Ok(Value::Null),
                    [row] => row[&scalar.attr].clone(),
                    _ => Err(Raised),
                }
            }
            ExprKind::Binary { operator, left, right } => binary(*operator, of(left), of(right)),
            ExprKind::Unary { operator, operand } => Ok(unary(*operator, &of(operand)?)),
            ExprKind::Case { branches, otherwise } => {
                for (condition, result) in branches {
                    if truth(&of(condition)?) == Some(true) {
                        return of(result);
                    }
                }
                otherwise.as_ref().map_or(Ok(Value::Null), |it| of(it))
            }
            ExprKind::Call { .. } => Err(Raised),
            other => panic!("{other:?} is not interpreted"),
        }
    }

    /// Whether all conditions hold, in whatever order they are asked.
    fn holds<'a>(
        &self,
        conditions: impl IntoIterator<Item = &'a Expr>,
        row: &Row,
        outer: &Row,
    ) -> Result<bool, Raised> {
        let mut all = Vec::new();
        conditions.into_iter().for_each(|it| split_conjunction(it.clone(), &mut all));
        let mut raised = false;
        for condition in &all {
            match self.expr(condition, row, outer) {
                Ok(it) if truth(&it) == Some(true) => {}
                Ok(_) => return Ok(false),
                Err(Raised) => raised = true,
            }
        }
        if raised { Err(Raised) } else { Ok(true) }
    }

    fn rel(&self, rel: &Rel, outer: &Row) -> Rows {
        match rel {
            Rel::Scan(_) => panic!("tables are not interpreted"),
            Rel::Values { output, rows } => {
                let of = |it: &Vec<Expr>| {
                    let cells = it.iter().map(|it| self.expr(it, &Row::new(), outer));
                    output.iter().copied().zip(cells).collect()
                };
                Ok(rows.iter().map(of).collect())
            }
            Rel::Filter { input, predicates } => {
                let mut kept = Vec::new();
                for row in self.rel(input, outer)? {
                    if self.holds(predicates, &row, outer)? {
                        kept.push(row);
                    }
                }
                Ok(kept)
            }
            Rel::Map { input, exprs } => {
                let add = |row: Row| {
                    let made = exprs.iter().map(|it| (it.0, self.expr(&it.1, &row, outer)));
                    merged(&row, &made.collect())
                };
                Ok(self.rel(input, outer)?.into_iter().map(add).collect())
            }
            Rel::Join(join) => self.join(join, outer),
            Rel::Aggregate { input, keys, aggregates, .. } => {
                self.aggregate(self.rel(input, outer)?, keys, aggregates, outer)
            }
            Rel::Sort { .. } => self.sort(rel, outer),
            Rel::Window { .. } => self.window(rel, outer),
            Rel::Limit { input, offset, limit } => {
                Ok(some(self.rel(input, outer)?, *offset, *limit))
            }
            Rel::Union { inputs, output } => self.union(inputs, output, outer),
            Rel::Repeat { input, count, .. } => {
                let mut all = Vec::new();
                for row in self.rel(input, outer)? {
                    let count = integer(&row[count].clone()?).expect("a count is never NULL");
                    assert!(count >= 0, "a count is never negative");
                    (0..count).for_each(|_| all.push(row.clone()));
                }
                Ok(all)
            }
            Rel::Shared { id, output, .. } => self.shared(*id, output, outer),
            Rel::Apply(apply) => {
                let mut all = Vec::new();
                for left in self.rel(&apply.left, outer)? {
                    let around = merged(outer, &left);
                    let right = self.rel(&apply.right, &around)?;
                    self.apply(&apply.kind, left, right, outer, &apply.right, &mut all)?;
                }
                Ok(all)
            }
        }
    }

    fn union(&self, inputs: &[(Rel, Vec<Attr>)], output: &[Attr], outer: &Row) -> Rows {
        let mut all = Vec::new();
        for (input, attrs) in inputs {
            for row in self.rel(input, outer)? {
                let cell = |it: &Attr| row.get(it).unwrap_or_else(|| &outer[it]).clone();
                all.push(output.iter().copied().zip(attrs.iter().map(cell)).collect());
            }
        }
        Ok(all)
    }

    fn shared(&self, id: usize, output: &[(Attr, Attr)], outer: &Row) -> Rows {
        let shared = &self.query.shared[id];
        let known = self.shared.borrow().get(&id).cloned();
        let rows = match known {
            Some(rows) => rows,
            None => self.rel(shared, outer)?,
        };
        if shared.free_attrs().is_empty() {
            self.shared.borrow_mut().insert(id, rows.clone());
        }
        let cell = |row: &Row, it: Attr| row.get(&it).unwrap_or_else(|| &outer[&it]).clone();
        let read = |row: Row| output.iter().map(|it| (it.0, cell(&row, it.1))).collect();
        Ok(rows.into_iter().map(read).collect())
    }

    fn apply(
        &self,
        kind: &Apply,
        left: Row,
        right: Vec<Row>,
        outer: &Row,
        rel: &Rel,
        into: &mut Vec<Row>,
    ) -> Result<(), Raised> {
        match kind {
            Apply::Any { mark, condition, .. } => {
                let cells = right.iter().map(|it| self.expr(condition, &merged(&left, it), outer));
                into.push(merged(&left, &[(*mark, any(cells))].into()));
            }
            Apply::Scalar { value, source } => {
                let around = merged(outer, &left);
                let cell = match &right[..] {
                    [] => Ok(Value::Null),
                    [row] => row.get(source).unwrap_or_else(|| &around[source]).clone(),
                    _ => Err(Raised),
                };
                into.push(merged(&left, &[(*value, cell)].into()));
            }
            Apply::Join { outer: extended, on } => {
                let mut found = false;
                for row in &right {
                    let pair = merged(&left, row);
                    if self.holds(on, &pair, outer)? {
                        found = true;
                        into.push(pair);
                    }
                }
                if *extended && !found {
                    into.push(merged(&left, &nulls(rel)));
                }
            }
        }
        Ok(())
    }

    fn join(&self, join: &JoinRel, outer: &Row) -> Rows {
        let (left, right) = (self.rel(&join.left, outer)?, self.rel(&join.right, outer)?);
        let (mut all, mut partnered) = (Vec::new(), vec![false; right.len()]);
        for row in left {
            let pairs: Vec<Row> = right.iter().map(|it| merged(&row, it)).collect();
            let cells = || {
                pairs.iter().map(|it| match join.null_aware {
                    true => self.expr(&join.residual[0], it, outer),
                    false => self.holds(&join.residual, it, outer).map(Value::Boolean),
                })
            };
            match join.kind {
                RelJoin::Semi | RelJoin::Anti => {
                    assert!(!join.null_aware || join.residual.len() == 1);
                    let wanted = join.kind == RelJoin::Semi;
                    if truth(&any(cells())?) == Some(wanted) {
                        all.push(row);
                    }
                }
                RelJoin::Mark => {
                    let mark = join.mark.expect("a mark join marks");
                    all.push(merged(&row, &[(mark, any(cells()))].into()));
                }
                RelJoin::Inner | RelJoin::Left | RelJoin::Full => {
                    let mut found = false;
                    for (place, cell) in cells().enumerate() {
                        if truth(&cell?) == Some(true) {
                            (found, partnered[place]) = (true, true);
                            all.push(pairs[place].clone());
                        }
                    }
                    if !found && join.kind != RelJoin::Inner {
                        all.push(merged(&row, &nulls(&join.right)));
                    }
                }
            }
        }
        if join.kind == RelJoin::Full {
            let alone = right.iter().zip(&partnered).filter(|it| !it.1);
            all.extend(alone.map(|it| merged(&nulls(&join.left), it.0)));
        }
        Ok(all)
    }

    fn aggregate(
        &self,
        rows: Vec<Row>,
        keys: &[(Attr, Expr)],
        aggregates: &[(Attr, Aggregate)],
        outer: &Row,
    ) -> Rows {
        let mut groups: Vec<(Vec<Value>, Vec<Row>)> = Vec::new();
        if keys.is_empty() {
            groups.push((Vec::new(), Vec::new()));
        }
        for row in rows {
            let key = keys.iter().map(|it| self.expr(&it.1, &row, outer));
            let key = key.collect::<Result<Vec<Value>, Raised>>()?;
            match groups.iter_mut().find(|it| it.0 == key) {
                Some(group) => group.1.push(row),
                None => groups.push((key, vec![row])),
            }
        }
        let of_group = |(key, rows): (Vec<Value>, Vec<Row>)| {
            let keys = keys.iter().map(|it| it.0).zip(key.into_iter().map(Ok));
            let values = aggregates.iter().map(|it| (it.0, self.total(&it.1, &rows, outer)));
            keys.chain(values).collect()
        };
        Ok(groups.into_iter().map(of_group).collect())
    }

    fn total(&self, aggregate: &Aggregate, rows: &[Row], outer: &Row) -> Cell {
        let mut values: Vec<Value> = Vec::new();
        for row in rows {
            if !self.holds(&aggregate.filter, row, outer)? {
                continue;
            }
            let value = match &aggregate.argument {
                Some(argument) => match self.expr(argument, row, outer) {
                    // Any value of several is taken where nobody uses it.
                    Err(Raised) if aggregate.function == AggregateFunction::AnyValue => {
                        return Err(Raised);
                    }
                    other => other?,
                },
                None => Value::Integer(1),
            };
            let counts = aggregate.function == AggregateFunction::AnyValue || !value.is_null();
            if counts && !(aggregate.distinct && values.contains(&value)) {
                values.push(value);
            }
        }
        let numbers = values.iter().filter_map(integer);
        Ok(match aggregate.function {
            AggregateFunction::Count => Value::Integer(values.len() as i64),
            AggregateFunction::Sum if values.is_empty() => Value::Null,
            AggregateFunction::Sum => Value::Integer(numbers.sum()),
            AggregateFunction::Min => numbers.min().map_or(Value::Null, Value::Integer),
            AggregateFunction::Max => numbers.max().map_or(Value::Null, Value::Integer),
            AggregateFunction::AnyValue => values.first().cloned().unwrap_or(Value::Null),
            other => panic!("{} is not interpreted", other.name()),
        })
    }

    /// What decides the place of a row in an order.
    fn ranks(
        &self,
        keys: &[plan::SortKey],
        row: &Row,
        outer: &Row,
    ) -> Result<Vec<(bool, i64)>, Raised> {
        let rank_of = |key: &plan::SortKey| {
            let (known, number) = rank(&self.expr(&key.expr, row, outer)?);
            let known = known == key.nulls_first;
            Ok((known, if key.descending { -number } else { number }))
        };
        keys.iter().map(rank_of).collect()
    }

    /// Aggregates of all rows of the partition up to the last peer.
    fn window(&self, rel: &Rel, outer: &Row) -> Rows {
        let Rel::Window { input, partition, keys, functions } = rel else { panic!() };
        let rows = self.rel(input, outer)?;
        let key = |row: &Row| partition.iter().map(|it| row[it].clone()).collect::<Vec<Cell>>();
        let mut all = Vec::new();
        for row in &rows {
            let mut made = Row::new();
            for (attr, call) in functions {
                let WindowFunction::Aggregate(function) = call.function else { panic!() };
                let keys = &keys[..call.order];
                let last = self.ranks(keys, row, outer)?;
                let mut own = Vec::new();
                for other in rows.iter().filter(|it| key(it) == key(row)) {
                    if self.ranks(keys, other, outer)? <= last {
                        own.push(other.clone());
                    }
                }
                let argument = call.arguments.first().cloned();
                let aggregate = Aggregate {
                    filter: call.filter.clone(),
                    ..Aggregate::of(function, argument, call.data_type)
                };
                made.insert(*attr, self.total(&aggregate, &own, outer));
            }
            all.push(merged(row, &made));
        }
        Ok(all)
    }

    fn sort(&self, rel: &Rel, outer: &Row) -> Rows {
        let Rel::Sort { input, partition, keys, offset, limit } = rel else { panic!() };
        let mut ranked = Vec::new();
        for row in self.rel(input, outer)? {
            ranked.push((self.ranks(keys, &row, outer)?, row));
        }
        ranked.sort_by(|a, b| a.0.cmp(&b.0));
        let mut groups: Vec<(Vec<Cell>, Vec<Row>)> = Vec::new();
        for (_, row) in ranked {
            let key: Vec<Cell> = partition.iter().map(|it| row[it].clone()).collect();
            match groups.iter_mut().find(|it| it.0 == key) {
                Some(group) => group.1.push(row),
                None => groups.push((key, vec![row])),
            }
        }
        Ok(groups.into_iter().flat_map(|it| some(it.1, *offset, *limit)).collect())
    }
}

fn some(rows: Vec<Row>, offset: u64, limit: Option<u64>) -> Vec<Row> {
    let limit = limit.map_or(usize::MAX, |it| it as usize);
    rows.into_iter().skip(offset as usize).take(limit).collect()
}

fn nulls(rel: &Rel) -> Row {
    rel.attrs().iter().map(|it| (it, Ok(Value::Null))).collect()
}

/// The three-valued OR; an error only where no TRUE makes up for it.
fn any(cells: impl Iterator<Item = Cell>) -> Cell {
    let (mut unknown, mut raised) = (false, false);
    for cell in cells {
        match cell {
            Ok(it) => match truth(&it) {
                Some(true) => return Ok(Value::Boolean(true)),
                Some(false) => {}
                None => unknown = true,
            },
            Err(Raised) => raised = true,
        }
    }
    match (raised, unknown) {
        (true, _) => Err(Raised),
        (false, true) => Ok(Value::Null),
        (false, false) => Ok(Value::Boolean(false)),
    }
}

fn unary(operator: UnaryOperator, value: &Value) -> Value {
    let is = |wanted: Option<bool>| truth(value) == wanted;
    match operator {
        UnaryOperator::Not => boolean(truth(value).map(|it| !it)),
        UnaryOperator::Negate => integer(value).map_or(Value::Null, |it| Value::Integer(-it)),
        UnaryOperator::IsNull => Value::Boolean(value.is_null()),
        UnaryOperator::IsNotNull => Value::Boolean(!value.is_null()),
        UnaryOperator::IsTrue => Value::Boolean(is(Some(true))),
        UnaryOperator::IsFalse => Value::Boolean(is(Some(false))),
        UnaryOperator::IsNotTrue => Value::Boolean(!is(Some(true))),
        UnaryOperator::IsNotFalse => Value::Boolean(!is(Some(false))),
    }
}

fn binary(operator: BinaryOperator, left: Cell, right: Cell) -> Cell {
    use BinaryOperator as Op;
    if let Op::And | Op::Or = operator {
        // One side may decide alone.
        let deciding = Ok(Value::Boolean(operator == Op::Or));
        if left == deciding || right == deciding {
            return deciding;
        }
        let (left, right) = (truth(&left?), truth(&right?));
        return Ok(boolean(left.and(right).map(|_| operator == Op::And)));
    }
    let (left, right) = (left?, right?);
    match operator {
        Op::IsDistinctFrom => return Ok(Value::Boolean(left != right)),
        Op::IsNotDistinctFrom => return Ok(Value::Boolean(left == right)),
        _ if left.is_null() || right.is_null() => return Ok(Value::Null),
        _ => {}
    }
    let (a, b) = (rank(&left).1, rank(&right).1);
    Ok(match operator {
        Op::Add => Value::Integer(a + b),
        Op::Subtract => Value::Integer(a - b),
        Op::Equal => Value::Boolean(a == b),
        Op::NotEqual => Value::Boolean(a != b),
        Op::Less => Value::Boolean(a < b),
        Op::LessEqual => Value::Boolean(a <= b),
        Op::Greater => Value::Boolean(a > b),
        Op::GreaterEqual => Value::Boolean(a >= b),
        other => panic!("{other:?} is not interpreted"),
    })
}
