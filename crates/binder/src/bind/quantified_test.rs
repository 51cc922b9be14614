//! What ANY and ALL ask of a value and each of several others.

use plan::BinaryOperator;
use sqlparser::ast;

/// What is asked of a value and each of several others.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Test {
    /// How they compare.
    Compares(BinaryOperator),
    /// Whether it matches them as patterns of LIKE.
    Like { folds: bool, negate: bool },
    /// Whether it matches them as regular expressions.
    Regex { folds: bool, negate: bool },
}

impl Test {
    /// The test that an operator is.
    pub(super) fn of(operator: &ast::BinaryOperator) -> Option<Self> {
        use ast::BinaryOperator as Sign;
        let compares = super::expression::operator(operator).filter(|it| it.is_comparison());
        Some(match operator {
            Sign::PGLikeMatch => Self::Like { folds: false, negate: false },
            Sign::PGILikeMatch => Self::Like { folds: true, negate: false },
            Sign::PGNotLikeMatch => Self::Like { folds: false, negate: true },
            Sign::PGNotILikeMatch => Self::Like { folds: true, negate: true },
            Sign::PGRegexMatch => Self::Regex { folds: false, negate: false },
            Sign::PGRegexIMatch => Self::Regex { folds: true, negate: false },
            Sign::PGRegexNotMatch => Self::Regex { folds: false, negate: true },
            Sign::PGRegexNotIMatch => Self::Regex { folds: true, negate: true },
            _ => Self::Compares(compares?),
        })
    }

    /// The test that holds where this does not.
    pub(super) fn opposite(self) -> Self {
        match self {
            Self::Compares(operator) => Self::Compares(opposite(operator)),
            Self::Like { folds, negate } => Self::Like { folds, negate: !negate },
            Self::Regex { folds, negate } => Self::Regex { folds, negate: !negate },
        }
    }
}

pub(super) fn opposite(operator: BinaryOperator) -> BinaryOperator {
    use BinaryOperator::*;
    match operator {
        Equal => NotEqual,
        NotEqual => Equal,
        Less => GreaterEqual,
        GreaterEqual => Less,
        Greater => LessEqual,
        LessEqual => Greater,
        other => other,
    }
}
