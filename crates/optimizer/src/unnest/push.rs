//! The general way: the distinct values that a right side uses of its left side are joined to the relations deep in the
//! right side, so that each operator does its work for all of them at once; the results are joined to the left rows.

use plan::build::unary;
use plan::relation::{Apply, ApplyRel, Attr, AttrSet, JoinRel, Rel, RelJoin, bare};
use plan::{AggregateFunction, BinaryOperator, Expr, UnaryOperator};
use types::{DataType, SqlResult, Value};

use super::expressions::{case, constant};
use super::join::joined;
use super::pull::Pulled;
use super::state::{Unnesting, Use};

/// The distinct values of the left side's attributes that the right side uses.
pub(super) struct Domain {
    /// The entry of the shared relations that has them.
    id: usize,
    /// The attributes of the left side, and what they are in that entry.
    attrs: Vec<(Attr, Attr)>,
    /// Which of them may be NULL.
    nullable: Vec<bool>,
}

/// A relation that has the attributes of a domain, in the domain's order, beside its own.
struct Pushed {
    rel: Rel,
    locals: Vec<Attr>,
}

impl Domain {
    /// An attribute of the left side as one of a relation that has the domain.
    fn local(&self, attr: Attr, locals: &[Attr]) -> Attr {
        let place = self.attrs.iter().position(|it| it.0 == attr);
        place.map_or(attr, |it| locals[it])
    }

    fn put(&self, expr: &mut Expr, locals: &[Attr]) {
        expr.map_columns(&mut |it| self.local(it, locals));
    }

    fn put_all(&self, exprs: &mut [Expr], locals: &[Attr]) {
        exprs.iter_mut().for_each(|it| self.put(it, locals));
    }

    fn is_used_by(&self, rel: &Rel) -> bool {
        let free = rel.free_attrs();
        self.attrs.iter().any(|it| free.contains(it.0))
    }
}

impl Unnesting {
    /// A dependent join of an unnested left side with any right side.
    pub(super) fn general(
        &mut self,
        left: Rel,
        right: Rel,
        how: Use,
        outer: &AttrSet,
        required: &AttrSet,
    ) -> SqlResult<Rel> {
        let nullable = outer.iter().map(|it| self.nullable(&left, it)).collect();
        let attrs: Vec<Attr> = left.attrs().iter().collect();
        let id = self.share(left);
        let left = Rel::shared(id, attrs.iter().map(|it| (*it, *it)).collect());
        let domain = self.domain(id, outer, nullable);
        let Pushed { rel, locals } = self.push(right, &domain)?;
        let conjuncts = domain
            .attrs
            .iter()
            .zip(&locals)
            .enumerate()
            .map(|(place, (it, local))| self.same(it.0, *local, domain.nullable[place]))
            .collect();
        let pulled = Pulled { rel, conjuncts, definitions: Vec::new() };
        self.join(left, pulled, how, required)
    }

    /// The distinct values of attributes of a shared relation, of the rows that ask for the value.
    fn domain(&mut self, of: usize, outer: &AttrSet, nullable: Vec<bool>) -> Domain {
        let mut attrs = Vec::new();
        for (attr, nullable) in outer.iter().zip(&nullable) {
            attrs.push((attr, self.attribute(self.attributes[attr].data_type, *nullable)));
        }
        let output = attrs.iter().map(|it| (it.1, it.0)).collect();
        let keys = attrs.iter().map(|it| (it.1, self.column(it.1))).collect();
        let guards = attrs.iter().filter(|it| self.guards.contains(it.0));
        let asking = guards.map(|it| self.column(it.1)).collect();
        let input = Box::new(Rel::shared(of, output).filtered(asking));
        let id = self.share(Rel::Aggregate { input, keys, aggregates: Vec::new(), rows: 0.0 });
        Domain { id, attrs, nullable }
    }

    /// The rows of a domain with attributes of their own.
    fn values_of(&mut self, domain: &Domain) -> Pushed {
        let locals = self.locals(domain);
        let output = locals.iter().zip(&domain.attrs).map(|it| (*it.0, it.1.1)).collect();
        Pushed { rel: Rel::shared(domain.id, output), locals }
    }

    fn locals(&mut self, domain: &Domain) -> Vec<Attr> {
        let types = domain.attrs.iter().zip(&domain.nullable);
        types.map(|(it, null)| self.attribute(self.attributes[it.0].data_type, *null)).collect()
    }

    /// Whether two attributes are the same, NULL being like NULL.
    fn same(&self, left: Attr, right: Attr, nullable: bool) -> Expr {
        let operator = match nullable {
            true => BinaryOperator::IsNotDistinctFrom,
            false => BinaryOperator::Equal,
        };
        Expr::predicate(operator, self.column(left), self.column(right))
    }

    fn all_same(&self, domain: &Domain, left: &[Attr], right: &[Attr]) -> Vec<Expr> {
        let pairs = left.iter().zip(right).zip(&domain.nullable);
        pairs.map(|((left, right), nullable)| self.same(*left, *right, *nullable)).collect()
    }

    /// A relation for each row of a domain, with the attributes of that row.
    fn push(&mut self, rel: Rel, domain: &Domain) -> SqlResult<Pushed> {
        if !domain.is_used_by(&rel) {
            let Pushed { rel: values, locals } = self.values_of(domain);
            return Ok(Pushed { rel: joined(RelJoin::Inner, values, rel, Vec::new()), locals });
        }
        match rel {
            Rel::Scan(mut scan) => {
                let filters = std::mem::take(&mut scan.filters);
                self.push(Rel::Scan(scan).filtered(filters), domain)
            }
            Rel::Filter { input, mut predicates } => {
                let Pushed { rel, locals } = self.push(*input, domain)?;
                domain.put_all(&mut predicates, &locals);
                Ok(Pushed { rel: rel.filtered(predicates), locals })
            }
            Rel::Map { input, mut exprs } => {
                let Pushed { rel, locals } = self.push(*input, domain)?;
                exprs.iter_mut().for_each(|it| domain.put(&mut it.1, &locals));
                Ok(Pushed { rel: Rel::Map { input: Box::new(rel), exprs }, locals })
            }
            Rel::Join(join) => self.push_join(*join, domain),
            Rel::Apply(apply) => self.push_apply(*apply, domain),
            rel @ Rel::Aggregate { .. } => self.push_aggregate(rel, domain),
            Rel::Window { input, mut partition, mut keys, mut functions } => {
                let Pushed { rel, locals } = self.push(*input, domain)?;
                keys.iter_mut().for_each(|it| domain.put(&mut it.expr, &locals));
                for (_, it) in &mut functions {
                    it.expressions_mut().for_each(|it| domain.put(it, &locals));
                }
                partition.iter_mut().for_each(|it| *it = domain.local(*it, &locals));
                partition.extend(&locals);
                let rel = Rel::Window { input: Box::new(rel), partition, keys, functions };
                Ok(Pushed { rel, locals })
            }
            // An order without a limit says nothing below a join.
            Rel::Sort { input, offset: 0, limit: None, .. } => self.push(*input, domain),
            Rel::Sort { input, mut partition, mut keys, offset, limit } => {
                let Pushed { rel, locals } = self.push(*input, domain)?;
                keys.iter_mut().for_each(|it| domain.put(&mut it.expr, &locals));
                partition.iter_mut().for_each(|it| *it = domain.local(*it, &locals));
                partition.extend(&locals);
                let rel = Rel::Sort { input: Box::new(rel), partition, keys, offset, limit };
                Ok(Pushed { rel, locals })
            }
            Rel::Limit { input, offset, limit } => {
                let (partition, keys) = (Vec::new(), Vec::new());
                match (offset, limit) {
                    (0, None) => self.push(*input, domain),
                    _ => self.push(Rel::Sort { input, partition, keys, offset, limit }, domain),
                }
            }
            Rel::Union { inputs, output } => self.push_union(inputs, output, domain),
            Rel::Values { output, rows } => self.push_values(output, rows, domain),
            Rel::Repeat { input, count, number, items } => {
                let Pushed { rel, locals } = self.push(*input, domain)?;
                let count = domain.local(count, &locals);
                let array = |it: (Attr, Attr)| (it.0, domain.local(it.1, &locals));
                let items = items.into_iter().map(array).collect();
                let input = Box::new(rel);
                Ok(Pushed { rel: Rel::Repeat { input, count, number, items }, locals })
            }
            Rel::Shared { .. } => {
                Err(types::SqlError::internal("a shared relation depends on the rows around it"))
            }
        }
    }

    fn push_apply(&mut self, apply: ApplyRel, domain: &Domain) -> SqlResult<Pushed> {
        let ApplyRel { left, mut right, mut kind } = apply;
        let Pushed { rel: left, locals } = self.push(left, domain)?;
        // Inside, the attributes of the domain are now those of the left side.
        right.rename(&|it| domain.local(it, &locals));
        match &mut kind {
            Apply::Any { condition, .. } => domain.put(condition, &locals),
            Apply::Scalar { source, .. } => *source = domain.local(*source, &locals),
            Apply::Join { on, .. } => domain.put_all(on, &locals),
        }
        Ok(Pushed { rel: Rel::Apply(Box::new(ApplyRel { left, right, kind })), locals })
    }

    fn push_join(&mut self, mut join: JoinRel, domain: &Domain) -> SqlResult<Pushed> {
        let dependent = (domain.is_used_by(&join.left), domain.is_used_by(&join.right));
        let semi = matches!(join.kind, RelJoin::Semi | RelJoin::Anti | RelJoin::Mark);
        if semi && dependent.1 {
            let rel = self.as_apply(join);
            return self.push(rel, domain);
        }
        let both = join.kind == RelJoin::Full
            || dependent.1 && (dependent.0 || join.kind == RelJoin::Left);
        if both {
            let left = self.push(join.left, domain)?;
            let right = self.push(join.right, domain)?;
            domain.put_all(&mut join.residual, &left.locals);
            join.residual.extend(self.all_same(domain, &left.locals, &right.locals));
            (join.left, join.right) = (left.rel, right.rel);
            let kind = join.kind;
            let rel = Rel::Join(Box::new(join));
            return Ok(match kind {
                RelJoin::Full => self.of_either(rel, domain, &left.locals, &right.locals),
                _ => Pushed { rel, locals: left.locals },
            });
        }
        let locals;
        if dependent.1 {
            let right = self.push(join.right, domain)?;
            (join.right, locals) = (right.rel, right.locals);
        } else {
            let left = self.push(join.left, domain)?;
            (join.left, locals) = (left.rel, left.locals);
        }
        domain.put_all(&mut join.residual, &locals);
        Ok(Pushed { rel: Rel::Join(Box::new(join)), locals })
    }

    /// A semi, anti or mark join as the dependent join that it is.
    fn as_apply(&mut self, join: JoinRel) -> Rel {
        let JoinRel { kind, null_aware, mark, left, right, mut residual, .. } = join;
        let condition = match null_aware {
            true => plan::relation::combine(BinaryOperator::And, std::mem::take(&mut residual)),
            false => None,
        };
        // Without regard to NULL a condition is a filter of the right side.
        let right = right.filtered(residual);
        let condition = condition.unwrap_or_else(|| constant(true));
        let attr = mark.unwrap_or_else(|| self.attribute(DataType::Boolean, true));
        let any = Apply::Any { mark: attr, condition, null_as_false: false };
        let rel = Rel::Apply(Box::new(ApplyRel { left, right, kind: any }));
        let asked = self.column(attr);
        match kind {
            RelJoin::Semi => rel.filtered(vec![asked]),
            RelJoin::Anti => rel.filtered(vec![unary(UnaryOperator::Not, asked)]),
            _ => rel,
        }
    }

    /// The rows of a full join, with the domain from the side that has a row.
    fn of_either(&mut self, rel: Rel, domain: &Domain, left: &[Attr], right: &[Attr]) -> Pushed {
        let locals = self.locals(domain);
        let choose = |(left, right): (&Attr, &Attr)| {
            let (left, right) = (self.column(*left), self.column(*right));
            let data_type = left.data_type;
            let missing = unary(UnaryOperator::IsNull, left.clone());
            case(vec![(missing, right)], Some(left), data_type)
        };
        let chosen: Vec<Expr> = left.iter().zip(right).map(choose).collect();
        let exprs = locals.iter().copied().zip(chosen).collect();
        Pushed { rel: Rel::Map { input: Box::new(rel), exprs }, locals }
    }

    /// Groups for each row of the domain. Without keys there is a group even where there is no row.
    fn push_aggregate(&mut self, rel: Rel, domain: &Domain) -> SqlResult<Pushed> {
        let Rel::Aggregate { input, mut keys, mut aggregates, rows } = rel else {
            return self.push(rel, domain);
        };
        let Pushed { rel, locals } = self.push(*input, domain)?;
        keys.iter_mut().for_each(|it| domain.put(&mut it.1, &locals));
        for (_, aggregate) in &mut aggregates {
            aggregate.expressions_mut().for_each(|it| domain.put(it, &locals));
        }
        let whole = keys.is_empty();
        keys.extend(locals.iter().map(|it| (*it, self.column(*it))));
        let counts = if whole { self.counts(&mut aggregates) } else { Vec::new() };
        let groups = Rel::Aggregate { input: Box::new(rel), keys, aggregates, rows };
        if !whole {
            return Ok(Pushed { rel: groups, locals });
        }
        let Pushed { rel: values, locals: all } = self.values_of(domain);
        let on = self.all_same(domain, &all, &locals);
        let rel = joined(RelJoin::Left, values, groups, on);
        Ok(Pushed { rel: with_counts(rel, counts), locals: all })
    }

    /// Gives counts other attributes, so that the old ones can be zero where there is no group.
    pub(super) fn counts(
        &mut self,
        aggregates: &mut [(Attr, plan::Aggregate)],
    ) -> Vec<(Attr, Expr)> {
        let mut counts = Vec::new();
        for (attr, aggregate) in aggregates {
            if aggregate.function != AggregateFunction::Count {
                continue;
            }
            let data_type = self.attributes[*attr].data_type;
            let counted = self.attribute(data_type, false);
            let missing = unary(UnaryOperator::IsNull, self.column(counted));
            let zero = Expr::literal(Value::Integer(0), data_type);
            let value = case(vec![(missing, zero)], Some(self.column(counted)), data_type);
            counts.push((std::mem::replace(attr, counted), value));
        }
        counts
    }

    fn push_union(
        &mut self,
        inputs: Vec<(Rel, Vec<Attr>)>,
        mut output: Vec<Attr>,
        domain: &Domain,
    ) -> SqlResult<Pushed> {
        let mut pushed = Vec::with_capacity(inputs.len());
        for (rel, attrs) in inputs {
            let Pushed { rel, locals } = self.push(rel, domain)?;
            let own = attrs.iter().map(|it| domain.local(*it, &locals));
            pushed.push((rel, own.chain(locals.iter().copied()).collect()));
        }
        let locals = self.locals(domain);
        output.extend(&locals);
        Ok(Pushed { rel: Rel::Union { inputs: pushed, output }, locals })
    }

    fn push_values(
        &mut self,
        output: Vec<Attr>,
        mut rows: Vec<Vec<Expr>>,
        domain: &Domain,
    ) -> SqlResult<Pushed> {
        if rows.len() == 1 {
            let Pushed { rel, locals } = self.values_of(domain);
            let mut row = rows.remove(0);
            domain.put_all(&mut row, &locals);
            let exprs = output.into_iter().zip(row).collect();
            return Ok(Pushed { rel: Rel::Map { input: Box::new(rel), exprs }, locals });
        }
        let mut inputs = Vec::with_capacity(rows.len());
        for row in rows {
            let mut own = Vec::with_capacity(row.len());
            for expr in &row {
                own.push(self.attribute(expr.data_type, true));
            }
            inputs.push((Rel::Values { output: own.clone(), rows: vec![row] }, own));
        }
        self.push_union(inputs, output, domain)
    }
}

/// The rows with counts that are zero where there is no group.
pub(super) fn with_counts(rel: Rel, counts: Vec<(Attr, Expr)>) -> Rel {
    match counts.is_empty() {
        true => rel,
        false => Rel::Map { input: Box::new(rel), exprs: counts },
    }
}

/// Whether a key is an attribute that keeps its number.
pub(super) fn keeps_number(key: &(Attr, Expr)) -> bool {
    bare(&key.1) == Some(key.0)
}
