//! Semi and anti joins with an inequality as a lookup of extremes (docs/design/05-sql-and-planning.md, "extremes"): a
//! row with the key and another value exists exactly when the least or the greatest value of the key is another one. So
//! the right side is grouped by its key, which leaves one partner at most, however often keys repeat. NULL stays as it
//! is: a group without values has NULL for extremes, and no comparison with it is TRUE.

use plan::properties::is_volatile;
use plan::{Aggregate, AggregateFunction, BinaryOperator, Expr, ExprKind};
use types::DataType;

use crate::facts::equality_chains;

use plan::relation::{Attr, AttrSet, Attribute, JoinRel, Rel, bare};

/// The only condition of a join beside its keys: an inequality between both sides.
pub(super) struct Inequality {
    operator: BinaryOperator,
    /// Over the left side.
    left: Expr,
    /// Over the right side.
    right: Expr,
    /// The attributes of the least and the greatest value of a key.
    ends: [Attr; 2],
}

impl Inequality {
    /// The residual of a join on these keys, if it is one whose right side, of attributes `inner`, can be grouped.
    pub(super) fn of(
        keys: &[(Expr, Expr)],
        residual: &[Expr],
        inner: &AttrSet,
        attributes: &mut Vec<Attribute>,
    ) -> Option<Self> {
        use BinaryOperator::{Greater, GreaterEqual, Less, LessEqual, NotEqual};
        let [condition] = residual else { return None };
        let ExprKind::Binary { operator, left, right } = &condition.kind else { return None };
        let ordered = matches!(operator, NotEqual | Less | LessEqual | Greater | GreaterEqual);
        let bare_keys = !keys.is_empty() && keys.iter().all(|it| bare(&it.1).is_some());
        if !ordered || !bare_keys || is_volatile(condition) {
            return None;
        }
        let inside = |it: &AttrSet| !it.is_empty() && it.is_subset(inner);
        let outside = |it: &AttrSet| !it.is_empty() && !it.intersects(inner);
        let (l, r) = (AttrSet::of(left), AttrSet::of(right));
        let (operator, left, right) = if outside(&l) && inside(&r) {
            (*operator, left, right)
        } else if inside(&l) && outside(&r) {
            (operator.mirrored(), right, left)
        } else {
            return None;
        };
        // Of all rows of a group, also of those that no left row has the key of: nothing that could raise an error.
        if right.data_type == DataType::Boolean || bare(right).is_none() {
            return None;
        }
        // Texts whose blanks do not count are in another order than those that the right side is searched in.
        let is_text = left.data_type.stored().is_text() || right.data_type.stored().is_text();
        if is_text && !equality_chains(left.data_type, right.data_type) {
            return None;
        }
        let ends = [(); 2].map(|()| {
            attributes.push(Attribute { data_type: right.data_type, nullable: true });
            attributes.len() - 1
        });
        Some(Self { operator, left: (**left).clone(), right: (**right).clone(), ends })
    }

    /// Groups the right side of a join by its keys, so that the comparison is one with extremes.
    pub(super) fn group(&self, join: &mut JoinRel, groups: f64) {
        let data_type = self.right.data_type;
        let aggregate = |function| Aggregate::of(function, Some(self.right.clone()), data_type);
        let [least, greatest] = self.ends;
        let (min, max) = (aggregate(AggregateFunction::Min), aggregate(AggregateFunction::Max));
        let compare =
            |end| Expr::predicate(self.operator, self.left.clone(), Expr::column(end, data_type));
        let (aggregates, condition) = match self.operator {
            BinaryOperator::Less | BinaryOperator::LessEqual => {
                (vec![(greatest, max)], compare(greatest))
            }
            BinaryOperator::Greater | BinaryOperator::GreaterEqual => {
                (vec![(least, min)], compare(least))
            }
            _ => {
                let either = Expr::predicate(BinaryOperator::Or, compare(least), compare(greatest));
                (vec![(least, min), (greatest, max)], either)
            }
        };
        let mut keys: Vec<(Attr, Expr)> = Vec::new();
        for (_, key) in &join.keys {
            if let Some(attr) = bare(key).filter(|it| keys.iter().all(|known| known.0 != *it)) {
                keys.push((attr, key.clone()));
            }
        }
        let input = Box::new(join.right.take());
        join.right = Rel::Aggregate { input, keys, aggregates, rows: groups };
        join.residual = vec![condition];
    }
}
