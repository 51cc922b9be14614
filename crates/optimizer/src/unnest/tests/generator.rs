//! Random queries with dependent joins, over constant rows of small numbers and NULL.

use plan::build::unary;
use plan::relation::{
    Apply, ApplyRel, Attr, Attribute, JoinRel, Output, Query, Rel, RelJoin, fresh_copy,
};
use plan::{
    Aggregate, AggregateFunction, BinaryOperator, Expr, ExprKind, Frame, SortKey, UnaryOperator,
    WindowCall, WindowFunction,
};
use stdx::prng::Prng;
use types::{DataType, Value};

/// Makes queries.
pub(crate) struct Generator {
    random: Prng,
    attributes: Vec<Attribute>,
    shared: Vec<Rel>,
    /// Whether the query has a subquery that may have several rows where one is wanted.
    pub may_raise: bool,
}

/// A relation and the numbers that it offers.
type Made = (Rel, Vec<Attr>);

impl Generator {
    pub fn new(random: Prng) -> Self {
        Self { random, attributes: Vec::new(), shared: Vec::new(), may_raise: false }
    }

    pub fn query(&mut self) -> Query {
        let (root, attrs) = self.rel(3, &[]);
        let named = |it: &Attr| Output { name: format!("c{it}"), ..Output::unnamed(*it) };
        let output = attrs.iter().map(named).collect();
        let attributes = std::mem::take(&mut self.attributes);
        let shared = std::mem::take(&mut self.shared);
        Query { attributes, scalars: Vec::new(), shared, root, output, recursions: Vec::new() }
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.random.below(100) < percent
    }

    fn below(&mut self, bound: usize) -> usize {
        self.random.below(bound as u64) as usize
    }

    fn attribute(&mut self, data_type: DataType, nullable: bool) -> Attr {
        self.attributes.push(Attribute { data_type, nullable });
        self.attributes.len() - 1
    }

    fn column(&self, attr: Attr) -> Expr {
        Expr::column(attr, self.attributes[attr].data_type)
    }

    fn number(&mut self, nullable: bool) -> Expr {
        let value = match self.random.below(5) {
            0 if nullable => Value::Null,
            it => Value::Integer(it as i64 % 4),
        };
        Expr::literal(value, DataType::BigInt)
    }

    /// A number over attributes.
    fn value(&mut self, scope: &[Attr]) -> Expr {
        if scope.is_empty() || self.chance(10) {
            return self.number(true);
        }
        let attr = scope[self.below(scope.len())];
        let column = self.column(attr);
        if self.chance(80) {
            return column;
        }
        let right = self.value(scope);
        let kind = ExprKind::Binary {
            operator: BinaryOperator::Add,
            left: Box::new(column),
            right: Box::new(right),
        };
        Expr { kind, data_type: DataType::BigInt }
    }

    /// One of these attributes, more often one of the last.
    fn comparison(&mut self, left: &[Attr], right: &[Attr]) -> Expr {
        use BinaryOperator::*;
        let (left, right) = (self.value(left), self.value(right));
        let all = [Equal, Equal, Equal, NotEqual, Less, GreaterEqual, IsNotDistinctFrom];
        Expr::predicate(all[self.below(all.len())], left, right)
    }

    fn condition(&mut self, scope: &[Attr], outer: &[Attr]) -> Expr {
        let all: Vec<Attr> = scope.iter().chain(outer).copied().collect();
        let first = match self.chance(60) && !outer.is_empty() {
            true => self.comparison(scope, outer),
            false => self.comparison(scope, &all),
        };
        match self.below(8) {
            0 => {
                let second = self.comparison(&all, &all);
                Expr::predicate(BinaryOperator::Or, first, second)
            }
            1 | 2 => {
                let second = self.comparison(&all, &all);
                Expr::predicate(BinaryOperator::And, first, second)
            }
            3 => unary(UnaryOperator::Not, first),
            _ => first,
        }
    }

    /// Rows of a table, or such as depend on what is around.
    fn values(&mut self, outer: &[Attr]) -> Made {
        let nullable = self.chance(60);
        let width = 1 + self.below(2);
        let dependent = !outer.is_empty() && self.chance(15);
        let output: Vec<Attr> =
            (0..width).map(|_| self.attribute(DataType::BigInt, nullable || dependent)).collect();
        let count = match self.chance(20) {
            true => 1,
            false => self.below(5),
        };
        let mut rows = Vec::new();
        for _ in 0..count {
            let cell = |this: &mut Self| match dependent && this.chance(50) {
                true => this.value(outer),
                false => this.number(nullable),
            };
            rows.push((0..width).map(|_| cell(self)).collect());
        }
        (Rel::Values { output: output.clone(), rows }, output)
    }

    fn rel(&mut self, depth: usize, outer: &[Attr]) -> Made {
        if depth == 0 {
            return self.values(outer);
        }
        match self.below(20) {
            0 => self.values(outer),
            1..=6 => {
                let (rel, attrs) = self.rel(depth - 1, outer);
                (self.filter(rel, &attrs, depth, outer), attrs)
            }
            7 | 8 => self.map(depth, outer),
            9 | 10 => self.join(depth, outer),
            11..=13 => self.aggregate(depth, outer),
            14 => self.union(depth, outer),
            15 if self.chance(50) => self.window(depth, outer),
            15 => self.sort(depth, outer),
            16 => self.repeat(depth, outer),
            17 => self.shared(depth),
            _ => self.lateral(depth, outer),
        }
    }

    fn filter(&mut self, rel: Rel, attrs: &[Attr], depth: usize, outer: &[Attr]) -> Rel {
        let mut predicates = Vec::new();
        let mut rel = rel;
        for _ in 0..=self.below(2) {
            if self.chance(45) {
                let (applied, mark, as_false) = self.any(rel, attrs, depth, outer);
                rel = applied;
                let mark = self.column(mark);
                predicates.push(match self.below(if as_false { 3 } else { 6 }) {
                    0 | 1 => mark,
                    2 => {
                        let other = self.condition(attrs, outer);
                        Expr::predicate(BinaryOperator::Or, mark, other)
                    }
                    3 | 4 => unary(UnaryOperator::Not, mark),
                    _ => unary(UnaryOperator::IsNull, mark),
                });
            } else if self.chance(30) {
                let (applied, value) = self.scalar(rel, attrs, depth, outer);
                rel = applied;
                predicates.push(self.comparison(attrs, &[value]));
            } else {
                predicates.push(self.condition(attrs, outer));
            }
        }
        Rel::Filter { input: Box::new(rel), predicates }
    }

    fn around(attrs: &[Attr], outer: &[Attr]) -> Vec<Attr> {
        attrs.iter().chain(attrs).chain(outer).copied().collect()
    }

    fn any(
        &mut self,
        left: Rel,
        attrs: &[Attr],
        depth: usize,
        outer: &[Attr],
    ) -> (Rel, Attr, bool) {
        let around = Self::around(attrs, outer);
        let (mut right, inner) = match self.chance(10) {
            true => self.chosen_of_first(&around),
            false => self.rel(depth - 1, &around),
        };
        if self.chance(10) {
            right = Rel::Limit { input: Box::new(right), offset: 0, limit: Some(1) };
        }
        let limited = matches!(right, Rel::Limit { .. });
        let condition = match self.below(5) {
            0 | 1 => Expr::literal(Value::Boolean(true), DataType::Boolean),
            _ if limited => Expr::literal(Value::Boolean(true), DataType::Boolean),
            2 | 3 => {
                let (left, right) = (self.value(attrs), self.value(&inner));
                Expr::predicate(BinaryOperator::Equal, left, right)
            }
            _ => self.condition(&inner, &around),
        };
        let mark = self.attribute(DataType::Boolean, true);
        let null_as_false = self.chance(40);
        let kind = Apply::Any { mark, condition, null_as_false };
        (Rel::Apply(Box::new(ApplyRel { left, right, kind })), mark, null_as_false)
    }

    /// A condition on the first row of those that another condition keeps.
    fn chosen_of_first(&mut self, outer: &[Attr]) -> Made {
        let (rel, attrs) = self.values(&[]);
        let rel = rel.filtered(vec![self.condition(&attrs, outer)]);
        let rel = self.first(rel, &attrs, 1);
        (rel.filtered(vec![self.condition(&attrs, outer)]), attrs)
    }

    fn scalar(&mut self, left: Rel, attrs: &[Attr], depth: usize, outer: &[Attr]) -> (Rel, Attr) {
        let around = Self::around(attrs, outer);
        let (right, inner) = match self.below(10) {
            0 => {
                self.may_raise = true;
                self.rel(depth - 1, &around)
            }
            1..=3 => {
                let (rel, inner) = self.rel(depth - 1, &around);
                (self.first(rel, &inner, 1), inner)
            }
            4 => self.nothing(&around, depth),
            _ => self.total(depth, &around),
        };
        let source = match self.chance(5) {
            true => around[self.below(around.len())],
            false => inner[self.below(inner.len())],
        };
        let value = self.attribute(DataType::BigInt, true);
        let kind = Apply::Scalar { value, source };
        (Rel::Apply(Box::new(ApplyRel { left, right, kind })), value)
    }

    /// A SELECT without FROM.
    fn nothing(&mut self, outer: &[Attr], depth: usize) -> Made {
        let mut rel = Rel::Values { output: Vec::new(), rows: vec![Vec::new()] };
        let attr = self.attribute(DataType::BigInt, true);
        let mut expr = self.value(outer);
        if self.chance(30) {
            let (applied, value) = self.scalar(rel, &[], depth.max(2) - 1, outer);
            (rel, expr) = (applied, self.column(value));
        }
        if self.chance(30) {
            rel = rel.filtered(vec![self.comparison(outer, outer)]);
        }
        (Rel::Map { input: Box::new(rel), exprs: vec![(attr, expr)] }, vec![attr])
    }

    /// An aggregate without keys, and what may stand above it.
    fn total(&mut self, depth: usize, outer: &[Attr]) -> Made {
        let (mut rel, inner) = self.rel(depth - 1, outer);
        if self.chance(70) {
            let equality = {
                let (left, right) = (self.value(&inner), self.value(outer));
                Expr::predicate(BinaryOperator::Equal, left, right)
            };
            rel = rel.filtered(vec![equality]);
        }
        let (aggregates, mut attrs) = self.aggregates(&inner, outer);
        let (input, keys) = (Box::new(rel), Vec::new());
        let mut rel = Rel::Aggregate { input, keys, aggregates, rows: 0.0 };
        if self.chance(25) {
            rel = rel.filtered(vec![self.condition(&attrs, outer)]);
        }
        if self.chance(30) {
            let attr = self.attribute(DataType::BigInt, true);
            let scope: Vec<Attr> = attrs.iter().chain(outer).copied().collect();
            let exprs = vec![(attr, self.value(&scope))];
            rel = Rel::Map { input: Box::new(rel), exprs };
            attrs = vec![attr];
        }
        if self.chance(10) {
            let keys = attrs.iter().map(|it| (*it, self.column(*it))).collect();
            rel = Rel::Aggregate { input: Box::new(rel), keys, aggregates: Vec::new(), rows: 0.0 };
        }
        if self.chance(10) {
            let (offset, limit) = (self.random.below(2), Some(self.random.below(2)));
            rel = Rel::Limit { input: Box::new(rel), offset, limit };
        }
        (rel, attrs)
    }

    fn aggregates(
        &mut self,
        inner: &[Attr],
        outer: &[Attr],
    ) -> (Vec<(Attr, Aggregate)>, Vec<Attr>) {
        use AggregateFunction::{Count, Max, Min, Sum};
        let mut all = Vec::new();
        for _ in 0..=self.below(2) {
            let function = [Count, Count, Sum, Min, Max][self.below(5)];
            let scope: Vec<Attr> = match self.chance(10) {
                true => inner.iter().chain(outer).copied().collect(),
                false => inner.to_vec(),
            };
            let argument = (function != Count || self.chance(50)).then(|| self.value(&scope));
            let distinct = argument.is_some() && self.chance(20);
            let filter = self.chance(15).then(|| self.condition(inner, &[]));
            let data_type = DataType::BigInt;
            let plain = Aggregate::of(function, argument, data_type);
            let aggregate = Aggregate { distinct, filter, ..plain };
            all.push((self.attribute(DataType::BigInt, function != Count), aggregate));
        }
        let attrs = all.iter().map(|it| it.0).collect();
        (all, attrs)
    }

    fn map(&mut self, depth: usize, outer: &[Attr]) -> Made {
        let (rel, mut attrs) = self.rel(depth - 1, outer);
        let attr = self.attribute(DataType::BigInt, true);
        let scope: Vec<Attr> = attrs.iter().chain(outer).copied().collect();
        let (rel, expr) = match self.below(3) {
            0 => {
                let (rel, value) = self.scalar(rel, &attrs, depth, outer);
                let condition = self.condition(&attrs, outer);
                let branches = vec![(condition, self.column(value))];
                (
                    rel,
                    super::super::expressions::case(
                        branches,
                        Some(self.value(&scope)),
                        DataType::BigInt,
                    ),
                )
            }
            1 => {
                let (rel, mark, as_false) = self.any(rel, &attrs, depth, outer);
                let mark = self.column(mark);
                // NULL and FALSE lead to the same where the mark says so.
                let branches = match as_false {
                    true => vec![(mark, self.number(false))],
                    false => vec![
                        (mark.clone(), self.number(false)),
                        (unary(UnaryOperator::IsNull, mark), self.number(false)),
                    ],
                };
                (rel, super::super::expressions::case(branches, None, DataType::BigInt))
            }
            _ => {
                let expr = self.value(&scope);
                (rel, expr)
            }
        };
        attrs.push(attr);
        (Rel::Map { input: Box::new(rel), exprs: vec![(attr, expr)] }, attrs)
    }

    fn join(&mut self, depth: usize, outer: &[Attr]) -> Made {
        use RelJoin::{Anti, Full, Inner, Left, Semi};
        let (left, mut attrs) = self.rel(depth - 1, outer);
        let (right, inner) = self.rel(depth - 1, outer);
        let kind = [Inner, Inner, Left, Left, Full, Semi, Anti][self.below(7)];
        let around: Vec<Attr> = attrs.iter().chain(outer).copied().collect();
        let residual = match self.chance(15) {
            true => Vec::new(),
            false => vec![self.condition(&inner, &around)],
        };
        if !matches!(kind, Semi | Anti) {
            attrs.extend(&inner);
        }
        let join = JoinRel { residual, ..JoinRel::new(kind, left, right) };
        (Rel::Join(Box::new(join)), attrs)
    }

    fn aggregate(&mut self, depth: usize, outer: &[Attr]) -> Made {
        if self.chance(40) {
            return self.total(depth, outer);
        }
        let (rel, inner) = self.rel(depth - 1, outer);
        let mut keys = Vec::new();
        for _ in 0..=self.below(2) {
            let attr = inner[self.below(inner.len())];
            if keys.iter().all(|it: &(Attr, Expr)| it.0 != attr) {
                keys.push((attr, self.column(attr)));
            }
        }
        if self.chance(20) {
            let scope: Vec<Attr> = inner.iter().chain(outer).copied().collect();
            let key = self.value(&scope);
            keys.push((self.attribute(DataType::BigInt, true), key));
        }
        let (mut aggregates, mut attrs) = self.aggregates(&inner, outer);
        if self.chance(30) {
            (aggregates, attrs) = (Vec::new(), Vec::new());
        }
        attrs.extend(keys.iter().map(|it| it.0));
        let rel = Rel::Aggregate { input: Box::new(rel), keys, aggregates, rows: 0.0 };
        if self.chance(25) {
            return (self.filter(rel, &attrs, depth, outer), attrs);
        }
        (rel, attrs)
    }

    fn union(&mut self, depth: usize, outer: &[Attr]) -> Made {
        let output = vec![self.attribute(DataType::BigInt, true)];
        let mut inputs = Vec::new();
        for _ in 0..2 {
            let (rel, attrs) = self.rel(depth - 1, outer);
            let attr = attrs[self.below(attrs.len())];
            inputs.push((rel, vec![attr]));
        }
        (Rel::Union { inputs, output: output.clone() }, output)
    }

    /// The first rows in an order that leaves no choice.
    fn first(&mut self, rel: Rel, attrs: &[Attr], limit: u64) -> Rel {
        let mut keys = Vec::new();
        for attr in attrs {
            let (descending, nulls_first) = (self.chance(50), self.chance(50));
            keys.push(SortKey { expr: self.column(*attr), descending, nulls_first });
        }
        let offset = u64::from(self.chance(20));
        let (input, partition) = (Box::new(rel), Vec::new());
        Rel::Sort { input, partition, keys, offset, limit: Some(limit) }
    }

    fn sort(&mut self, depth: usize, outer: &[Attr]) -> Made {
        let (rel, attrs) = self.rel(depth - 1, outer);
        // Rows are told apart by what they offer alone.
        let keys = attrs.iter().map(|it| (*it, self.column(*it))).collect();
        let rel = match self.chance(50) {
            true => Rel::Aggregate { input: Box::new(rel), keys, aggregates: vec![], rows: 0.0 },
            false => rel,
        };
        let limit = 1 + self.random.below(2);
        let mut rel = self.first(rel, &attrs, limit);
        if let Rel::Sort { partition, .. } = &mut rel
            && self.chance(20)
        {
            partition.push(attrs[0]);
        }
        (rel, attrs)
    }

    fn window(&mut self, depth: usize, outer: &[Attr]) -> Made {
        let (rel, mut attrs) = self.rel(depth - 1, outer);
        let (calls, made) = self.aggregates(&attrs, outer);
        let partition = if self.chance(60) { vec![attrs[self.below(attrs.len())]] } else { vec![] };
        let mut keys = Vec::new();
        if self.chance(60) {
            let scope: Vec<Attr> = attrs.iter().chain(outer).copied().collect();
            let (descending, nulls_first) = (self.chance(50), self.chance(50));
            keys.push(SortKey { expr: self.value(&scope), descending, nulls_first });
        }
        let order = keys.len();
        let window = |(attr, it): (Attr, Aggregate)| {
            let call = WindowCall {
                function: WindowFunction::Aggregate(it.function),
                arguments: it.argument.into_iter().collect(),
                filter: it.filter,
                order,
                frame: Frame::default(),
                ignore_nulls: false,
                data_type: it.data_type,
            };
            (attr, call)
        };
        let functions = calls.into_iter().map(window).collect();
        attrs.extend(made);
        (Rel::Window { input: Box::new(rel), partition, keys, functions }, attrs)
    }

    fn repeat(&mut self, depth: usize, outer: &[Attr]) -> Made {
        let (rel, attrs) = self.rel(depth - 1, outer);
        let count = self.attribute(DataType::BigInt, false);
        let value = self.value(&attrs);
        let is_one = Expr::predicate(BinaryOperator::Equal, value, self.number(false));
        let number = |it: i64| Expr::literal(Value::Integer(it), DataType::BigInt);
        let branches = vec![(is_one, number(self.random.below(3) as i64))];
        let often = super::super::expressions::case(branches, Some(number(1)), DataType::BigInt);
        let input = Box::new(Rel::Map { input: Box::new(rel), exprs: vec![(count, often)] });
        (Rel::Repeat { input, count, number: None, items: Vec::new() }, attrs)
    }

    fn shared(&mut self, depth: usize) -> Made {
        let (rel, attrs) = self.rel(depth - 1, &[]);
        // Read twice: the second time with other attributes.
        let (_, fresh) = fresh_copy(&rel, &mut self.attributes);
        self.shared.push(rel);
        let id = self.shared.len() - 1;
        let mut here: Vec<Attr> = Vec::new();
        for attr in &attrs {
            here.push(self.attribute(DataType::BigInt, true));
            assert!(fresh.contains_key(attr));
        }
        let output: Vec<(Attr, Attr)> = here.iter().copied().zip(attrs.clone()).collect();
        let left = Rel::shared(id, output);
        let output = attrs.iter().map(|it| (*it, *it)).collect();
        let right = Rel::shared(id, output);
        let residual = vec![self.condition(&attrs, &here)];
        let kind = [RelJoin::Inner, RelJoin::Left, RelJoin::Semi][self.below(3)];
        let join = JoinRel { residual, ..JoinRel::new(kind, left, right) };
        if kind != RelJoin::Semi {
            here.extend(&attrs);
        }
        (Rel::Join(Box::new(join)), here)
    }

    fn lateral(&mut self, depth: usize, outer: &[Attr]) -> Made {
        let (left, mut attrs) = self.rel(depth - 1, outer);
        let around = Self::around(&attrs, outer);
        let (right, inner) = self.rel(depth - 1, &around);
        let extended = self.chance(50);
        let on = match self.chance(50) {
            true => Vec::new(),
            false => vec![self.condition(&inner, &around)],
        };
        attrs.extend(&inner);
        let kind = Apply::Join { outer: extended, on };
        (Rel::Apply(Box::new(ApplyRel { left, right, kind })), attrs)
    }
}
