//! What an expression may come to when some of its columns are NULL: three-valued logic as sets of possible results.
//!
//! Key decision: one evaluation over sets answers every question of this kind (does a condition reject NULL, may it
//! hold for a row without partner, can a code decide for NULL), so that they cannot disagree. Sets are upper bounds:
//! what is in a set may not happen, what is not in it cannot.
//!
//! - Invariant: columns are taken as independent, and an error counts as no result at all.

use types::{DataType, Value};

use crate::{BinaryOperator, Expr, ExprKind, UnaryOperator};

/// The results that are possible. A value that is no Boolean is both TRUE and FALSE here: not NULL, and no more is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Outcomes(u8);

const TRUE: Outcomes = Outcomes(1);
const FALSE: Outcomes = Outcomes(2);
const VALUE: Outcomes = Outcomes(3);
const NULL: Outcomes = Outcomes(4);
const ANY: Outcomes = Outcomes(7);
const NONE: Outcomes = Outcomes(0);

impl Outcomes {
    fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// `of` where `condition` holds, else nothing.
    fn when(condition: bool, of: Self) -> Self {
        if condition { of } else { NONE }
    }

    /// NOT of each.
    fn negated(self) -> Self {
        Self::when(self.has(TRUE), FALSE)
            .or(Self::when(self.has(FALSE), TRUE))
            .or(Self::when(self.has(NULL), NULL))
    }

    /// The results of an operator that is NULL when an operand is, and else one of `values`.
    fn strict(operands: &[Self], values: Self) -> Self {
        let null = operands.iter().any(|it| it.has(NULL));
        let value = operands.iter().all(|it| it.has(VALUE));
        Self::when(null, NULL).or(Self::when(value, values))
    }
}

/// Whether a condition may be TRUE when the columns of `nulls` are NULL, whatever the others are.
pub fn may_be_true(expr: &Expr, nulls: &dyn Fn(usize) -> bool) -> bool {
    outcomes(expr, nulls).has(TRUE)
}

/// Whether an expression is surely NULL when the columns of `nulls` are.
pub fn is_null(expr: &Expr, nulls: &dyn Fn(usize) -> bool) -> bool {
    outcomes(expr, nulls) == NULL
}

fn outcomes(expr: &Expr, nulls: &dyn Fn(usize) -> bool) -> Outcomes {
    match &expr.kind {
        ExprKind::Column(column) => {
            if nulls(*column) {
                NULL
            } else {
                ANY
            }
        }
        ExprKind::Literal(Value::Null) => NULL,
        ExprKind::Literal(Value::Boolean(true)) => TRUE,
        ExprKind::Literal(Value::Boolean(false)) => FALSE,
        ExprKind::Literal(_) => VALUE,
        ExprKind::Binary { operator, left, right } => {
            binary(*operator, outcomes(left, nulls), outcomes(right, nulls))
        }
        ExprKind::Unary { operator, operand } => unary(*operator, outcomes(operand, nulls)),
        ExprKind::Case { branches, otherwise } => {
            let mut all = NONE;
            for (condition, result) in branches {
                let condition = outcomes(condition, nulls);
                if condition.has(TRUE) {
                    all = all.or(outcomes(result, nulls));
                }
                if condition == TRUE {
                    return all;
                }
            }
            all.or(otherwise.as_ref().map_or(NULL, |it| outcomes(it, nulls)))
        }
        ExprKind::InList { operand, list, negated } => {
            let unmatched = if list.iter().any(Value::is_null) { NULL } else { FALSE };
            let found = match list.is_empty() {
                true => FALSE,
                false => Outcomes::strict(&[outcomes(operand, nulls)], TRUE.or(unmatched)),
            };
            if *negated { found.negated() } else { found }
        }
        ExprKind::Cast(operand) => {
            let boolean = |it: DataType| it == DataType::Boolean;
            let operand_outcomes = outcomes(operand, nulls);
            match boolean(operand.data_type) && boolean(expr.data_type) {
                true => operand_outcomes,
                // An infinite point of time is at no time of a day.
                false if matches!(expr.data_type, DataType::Time | DataType::TimeTz) => {
                    Outcomes::strict(&[operand_outcomes], ANY)
                }
                false => Outcomes::strict(&[operand_outcomes], VALUE),
            }
        }
        // Nor is it in a month.
        ExprKind::Extract { operand, .. } => Outcomes::strict(&[outcomes(operand, nulls)], ANY),
        ExprKind::Like { operand, .. } | ExprKind::Substring { operand, .. } => {
            Outcomes::strict(&[outcomes(operand, nulls)], VALUE)
        }
        // What a function makes of NULL is its own affair, and parameters and subqueries may be NULL.
        _ => ANY,
    }
}

fn binary(operator: BinaryOperator, left: Outcomes, right: Outcomes) -> Outcomes {
    match operator {
        BinaryOperator::And => and(left, right),
        BinaryOperator::Or => and(left.negated(), right.negated()).negated(),
        BinaryOperator::IsDistinctFrom => distinct(left, right),
        BinaryOperator::IsNotDistinctFrom => distinct(left, right).negated(),
        _ => Outcomes::strict(&[left, right], VALUE),
    }
}

fn and(left: Outcomes, right: Outcomes) -> Outcomes {
    let null = left.has(NULL) && right.has(NULL.or(TRUE)) || right.has(NULL) && left.has(TRUE);
    Outcomes::when(left.has(FALSE) || right.has(FALSE), FALSE)
        .or(Outcomes::when(left.has(TRUE) && right.has(TRUE), TRUE))
        .or(Outcomes::when(null, NULL))
}

fn distinct(left: Outcomes, right: Outcomes) -> Outcomes {
    let both_null = left.has(NULL) && right.has(NULL);
    let one_null = left.has(NULL) && right.has(VALUE) || right.has(NULL) && left.has(VALUE);
    Outcomes::when(both_null, FALSE)
        .or(Outcomes::when(one_null, TRUE))
        .or(Outcomes::when(left.has(VALUE) && right.has(VALUE), VALUE))
}

fn unary(operator: UnaryOperator, operand: Outcomes) -> Outcomes {
    // TRUE where the operand is one of `passing`, FALSE where it is another.
    let test = |passing: Outcomes| {
        let others = Outcomes(ANY.0 & !passing.0);
        Outcomes::when(operand.has(passing), TRUE).or(Outcomes::when(operand.has(others), FALSE))
    };
    match operator {
        UnaryOperator::Not => operand.negated(),
        UnaryOperator::Negate => Outcomes::strict(&[operand], VALUE),
        UnaryOperator::IsNull => test(NULL),
        UnaryOperator::IsNotNull => test(VALUE),
        UnaryOperator::IsTrue => test(TRUE),
        UnaryOperator::IsFalse => test(FALSE),
        UnaryOperator::IsNotTrue => test(FALSE.or(NULL)),
        UnaryOperator::IsNotFalse => test(TRUE.or(NULL)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::{boolean, null, unary as apply};
    use BinaryOperator::{And, Equal, Greater, IsDistinctFrom, IsNotDistinctFrom, LessEqual, Or};
    use UnaryOperator::{IsFalse, IsNotFalse, IsNotNull, IsNotTrue, IsNull, IsTrue, Not};

    fn column() -> Expr {
        Expr::column(0, DataType::Integer)
    }

    fn other() -> Expr {
        Expr::column(1, DataType::Boolean)
    }

    fn truth(value: bool) -> Expr {
        Expr::literal(Value::Boolean(value), DataType::Boolean)
    }

    fn two(operator: BinaryOperator, left: Expr, right: Expr) -> Expr {
        Expr::predicate(operator, left, right)
    }

    fn above() -> Expr {
        two(Greater, column(), Expr::literal(Value::Integer(5), DataType::Integer))
    }

    fn list(values: Vec<Value>, negated: bool) -> Expr {
        boolean(ExprKind::InList { operand: Box::new(column()), list: values, negated })
    }

    #[test]
    fn conditions_that_hold_although_a_column_is_null() {
        let present = || apply(IsNotNull, column());
        let case = |condition: Expr, result: Expr, otherwise: Option<Expr>| {
            let branches = vec![(condition, result)];
            boolean(ExprKind::Case { branches, otherwise: otherwise.map(Box::new) })
        };
        let hold = [
            truth(true),
            other(),
            two(Or, truth(true), above()),
            two(Or, above(), other()),
            apply(Not, present()),
            apply(IsNotNull, present()),
            apply(Not, apply(IsNotNull, above())),
            apply(IsFalse, present()),
            apply(IsNotTrue, above()),
            apply(IsNotFalse, above()),
            apply(IsNull, above()),
            apply(Not, apply(IsTrue, above())),
            two(LessEqual, truth(false), present()),
            two(Equal, present(), truth(false)),
            two(IsDistinctFrom, column(), Expr::literal(Value::Integer(1), DataType::Integer)),
            two(IsNotDistinctFrom, column(), null(DataType::Integer)),
            case(above(), truth(false), Some(truth(true))),
            case(apply(IsNull, column()), truth(true), None),
        ];
        for expr in hold {
            assert!(may_be_true(&expr, &|it| it == 0), "{expr:?}");
        }
    }

    #[test]
    fn conditions_that_never_hold_when_a_column_is_null() {
        let fail = [
            truth(false),
            null(DataType::Boolean),
            above(),
            apply(Not, above()),
            two(And, above(), other()),
            two(Or, above(), above()),
            two(Or, above(), apply(IsNotNull, column())),
            apply(IsTrue, above()),
            apply(IsFalse, above()),
            list(vec![Value::Integer(1)], false),
            list(vec![Value::Integer(1), Value::Null], true),
            apply(Not, list(vec![Value::Integer(1)], true)),
            two(IsNotDistinctFrom, column(), Expr::literal(Value::Integer(1), DataType::Integer)),
        ];
        for expr in fail {
            assert!(!may_be_true(&expr, &|it| it == 0), "{expr:?}");
        }
    }

    #[test]
    fn what_is_surely_null() {
        let cast = Expr { kind: ExprKind::Cast(Box::new(column())), data_type: DataType::BigInt };
        for expr in [column(), cast, above(), apply(Not, above())] {
            assert!(is_null(&expr, &|it| it == 0), "{expr:?}");
        }
        for expr in [other(), two(And, above(), other()), apply(IsNull, column())] {
            assert!(!is_null(&expr, &|it| it == 0), "{expr:?}");
        }
        // FALSE AND NULL is FALSE.
        assert!(!is_null(&two(And, above(), truth(false)), &|it| it == 0));
        assert!(is_null(&two(And, above(), truth(true)), &|it| it == 0));
    }
}
