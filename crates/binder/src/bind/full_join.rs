//! FULL JOIN whose condition has subqueries.
//!
//! Key decision: a subquery of one side is joined to that side. With one that uses both, no join can compute the condition:
//! then there are the left rows with their partners or NULL, and the right rows without a partner (Neumann and Kemper 2015
//! have dependent joins for both). A volatile side is computed once for both.

use plan::build::null;
use plan::relation::{Apply, Attr, Rel, fresh_copy};
use plan::{Expr, UnaryOperator};
use sqlparser::ast;
use types::{DataType, SqlResult, Value};

use super::errors::unsupported;
use super::level::{apply, over};
use super::{Binder, is_repeatable};

impl Binder<'_> {
    /// The sides with the subqueries that use one of them joined to it; `None` if one uses both.
    pub(super) fn subqueries_by_side(
        &self,
        mut sides: [Rel; 2],
        subqueries: Vec<(Rel, Apply)>,
    ) -> Option<[Rel; 2]> {
        for (subquery, kind) in subqueries {
            let side = sides.iter().position(|it| is_of(&subquery, &kind, it, &sides))?;
            sides[side] = apply(sides[side].take(), subquery, kind);
        }
        Some(sides)
    }

    /// A FULL JOIN of two sides by `on`, which reads `subqueries` over both.
    pub(super) fn full_over_both(
        &mut self,
        [left, right]: [Rel; 2],
        subqueries: Rel,
        on: Vec<Expr>,
        condition: &ast::Expr,
    ) -> SqlResult<Rel> {
        let lefts: Vec<Attr> = left.attrs().iter().collect();
        let output: Vec<Attr> = lefts.iter().copied().chain(right.attrs().iter()).collect();
        let (left, right) = (self.computed_once(left), self.computed_once(right));
        let partners = over(right.clone(), subqueries.clone()).filtered(on.clone());
        let matched = apply(left.clone(), partners, Apply::Join { outer: true, on: Vec::new() });
        if !matched.all_expressions(&mut is_repeatable) {
            let what = "FULL JOIN with a subquery that uses both sides, in a volatile condition,";
            return Err(unsupported(what, condition));
        }
        let mark = self.attribute(DataType::Boolean, true);
        let always = Expr::literal(Value::Boolean(true), DataType::Boolean);
        let any = Apply::Any { mark, condition: always, null_as_false: false };
        let alone = apply(right, over(left, subqueries).filtered(on), any)
            .filtered(vec![plan::build::unary(UnaryOperator::Not, self.column_expr(mark))]);
        let (matched, here) = fresh_copy(&matched, &mut self.attributes);
        let (alone, there) = fresh_copy(&alone, &mut self.attributes);
        let mut nulls = Vec::with_capacity(lefts.len());
        let mut second = Vec::with_capacity(output.len());
        for &attr in &lefts {
            let data_type = self.attributes[attr].data_type;
            let made = self.attribute(data_type, true);
            nulls.push((made, null(data_type)));
            second.push(made);
        }
        second.extend(output[lefts.len()..].iter().map(|it| there[it]));
        let first = output.iter().map(|it| here[it]).collect();
        // From here on only the union makes what both sides had.
        for &attr in &output {
            self.attributes[attr].nullable = true;
        }
        let inputs = vec![(matched, first), (super::mapped(alone, nulls), second)];
        Ok(Rel::Union { inputs, output })
    }

    /// A side that may be read twice: what is volatile gives the same rows to both. One that depends on a query around it
    /// has other rows for each of its, and stays as it is.
    fn computed_once(&mut self, side: Rel) -> Rel {
        if side.all_expressions(&mut is_repeatable) || !side.free_attrs().is_empty() {
            return side;
        }
        let (copy, there) = fresh_copy(&side, &mut self.attributes);
        let output = side.attrs().iter().map(|it| (it, there[&it])).collect();
        self.shared.push(copy);
        Rel::shared(self.shared.len() - 1, output)
    }
}

/// Whether a subquery of a condition uses, of both sides of the join, nothing but this one.
fn is_of(subquery: &Rel, kind: &Apply, side: &Rel, sides: &[Rel; 2]) -> bool {
    let mut used = subquery.free_attrs();
    if let Apply::Any { condition, .. } = kind {
        used.add_expr(condition);
    }
    let own = side.attrs();
    sides.iter().all(|it| {
        let attrs = it.attrs();
        own.intersects(&attrs) || !used.intersects(&attrs)
    })
}
