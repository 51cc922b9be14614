//! Bound, typed expressions over the columns of a batch.

use serde::{Deserialize, Serialize};
use smallvec::{SmallVec, smallvec};
use types::{DataType, Value};

use crate::{Function, PipelineId};

/// A bound expression. Its type is decided by the planner; execution must produce exactly that type (the scale of a
/// decimal included) and may choose how to hold the values.
///
/// Equal are expressions that give the same for the same row. A volatile one is equal to none, not even to itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Expr {
    /// What it computes.
    pub kind: ExprKind,
    /// Its type.
    pub data_type: DataType,
}

/// What an expression computes. NULL follows SQL: an operator with a NULL operand is NULL, unless said otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ExprKind {
    /// A column of the input by place.
    Column(usize),
    /// A constant.
    Literal(Value),
    /// The value of a parameter, counted from 0: a constant that stands in the plan when it runs
    /// ([`crate::Plan::with_parameters`]).
    Parameter(usize),
    /// The only value of a pipeline that ended in [`crate::Sink::Materialize`]: NULL when it has no row, an error
    /// (21000) when it has several.
    Scalar(PipelineId),
    /// Two operands. Operands of `+ - *` and of comparisons may be decimals or integers of different scale; execution
    /// brings them to one scale. All other mixtures are cast by the planner.
    Binary {
        /// The operator.
        operator: BinaryOperator,
        /// Left operand.
        left: Box<Expr>,
        /// Right operand.
        right: Box<Expr>,
    },
    /// One operand.
    Unary {
        /// The operator.
        operator: UnaryOperator,
        /// The operand.
        operand: Box<Expr>,
    },
    /// The first branch whose condition is TRUE, else `otherwise`, else NULL. Branches not taken raise no error.
    Case {
        /// Conditions and results.
        branches: Vec<(Expr, Expr)>,
        /// The result when no condition holds.
        otherwise: Option<Box<Expr>>,
    },
    /// Membership in a list of constants, with SQL's NULL rules.
    InList {
        /// The tested operand.
        operand: Box<Expr>,
        /// Constants of the operand's type (scale included), perhaps NULL.
        list: Vec<Value>,
        /// NOT IN.
        negated: bool,
    },
    /// LIKE with a constant pattern.
    Like {
        /// The text.
        operand: Box<Expr>,
        /// The pattern: `%` any run, `_` one character.
        pattern: String,
        /// The character that makes the next one literal.
        escape: Option<char>,
        /// ILIKE.
        case_insensitive: bool,
        /// NOT LIKE.
        negated: bool,
    },
    /// Conversion to this expression's type.
    Cast(Box<Expr>),
    /// A field of a date or timestamp.
    Extract {
        /// Which field.
        field: DateField,
        /// The date.
        operand: Box<Expr>,
    },
    /// SUBSTRING with constant bounds, counted in characters from 1.
    Substring {
        /// The text.
        operand: Box<Expr>,
        /// First character, may be below 1.
        start: i64,
        /// Characters, all that follow when `None`.
        length: Option<i64>,
    },
    /// A function by id.
    Call {
        /// The function.
        function: Function,
        /// Its arguments.
        arguments: Vec<Expr>,
    },
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are SQL's")]
pub enum BinaryOperator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    /// Three-valued AND.
    And,
    /// Three-valued OR.
    Or,
    /// NULL-safe difference.
    IsDistinctFrom,
    /// NULL-safe equality.
    IsNotDistinctFrom,
}

impl BinaryOperator {
    /// Whether the result is a Boolean from comparing values.
    pub fn is_comparison(self) -> bool {
        use BinaryOperator::*;
        matches!(self, Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual)
    }

    /// The comparison with its operands exchanged.
    pub fn mirrored(self) -> Self {
        use BinaryOperator::*;
        match self {
            Less => Greater,
            LessEqual => GreaterEqual,
            Greater => Less,
            GreaterEqual => LessEqual,
            other => other,
        }
    }

    /// As SQL spells it.
    pub fn sql(self) -> &'static str {
        use BinaryOperator::*;
        match self {
            Add => "+",
            Subtract => "-",
            Multiply => "*",
            Divide => "/",
            Modulo => "%",
            Equal => "=",
            NotEqual => "<>",
            Less => "<",
            LessEqual => "<=",
            Greater => ">",
            GreaterEqual => ">=",
            And => "AND",
            Or => "OR",
            IsDistinctFrom => "IS DISTINCT FROM",
            IsNotDistinctFrom => "IS NOT DISTINCT FROM",
        }
    }
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are SQL's")]
pub enum UnaryOperator {
    Not,
    Negate,
    IsNull,
    IsNotNull,
    IsTrue,
    IsFalse,
    IsNotTrue,
    IsNotFalse,
}

/// Fields of a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are SQL's")]
pub enum DateField {
    Year,
    Quarter,
    Month,
    Day,
}

impl PartialEq for Expr {
    fn eq(&self, other: &Self) -> bool {
        self.data_type == other.data_type
            && self.kind == other.kind
            && !is_volatile_itself(&self.kind)
    }
}

/// What there are seldom more than two of, and what is asked for too often to be allocated.
pub type Few<T> = SmallVec<[T; 2]>;

impl Expr {
    /// A column of the input.
    pub fn column(index: usize, data_type: DataType) -> Self {
        Self { kind: ExprKind::Column(index), data_type }
    }

    /// A constant.
    pub fn literal(value: Value, data_type: DataType) -> Self {
        Self { kind: ExprKind::Literal(value), data_type }
    }

    /// A Boolean expression of two operands.
    pub fn predicate(operator: BinaryOperator, left: Expr, right: Expr) -> Self {
        let kind = ExprKind::Binary { operator, left: Box::new(left), right: Box::new(right) };
        Self { kind, data_type: DataType::Boolean }
    }

    /// The expressions directly below this one.
    pub fn children(&self) -> Few<&Expr> {
        match &self.kind {
            ExprKind::Column(_)
            | ExprKind::Literal(_)
            | ExprKind::Parameter(_)
            | ExprKind::Scalar(_) => smallvec![],
            ExprKind::Binary { left, right, .. } => smallvec![&**left, &**right],
            ExprKind::Unary { operand, .. }
            | ExprKind::InList { operand, .. }
            | ExprKind::Like { operand, .. }
            | ExprKind::Cast(operand)
            | ExprKind::Extract { operand, .. }
            | ExprKind::Substring { operand, .. } => smallvec![&**operand],
            ExprKind::Case { branches, otherwise } => branches
                .iter()
                .flat_map(|(condition, result)| [condition, result])
                .chain(otherwise.as_deref())
                .collect(),
            ExprKind::Call { arguments, .. } => arguments.iter().collect(),
        }
    }

    /// The expressions directly below this one, to change them.
    pub fn children_mut(&mut self) -> Few<&mut Expr> {
        match &mut self.kind {
            ExprKind::Column(_)
            | ExprKind::Literal(_)
            | ExprKind::Parameter(_)
            | ExprKind::Scalar(_) => smallvec![],
            ExprKind::Binary { left, right, .. } => smallvec![&mut **left, &mut **right],
            ExprKind::Unary { operand, .. }
            | ExprKind::InList { operand, .. }
            | ExprKind::Like { operand, .. }
            | ExprKind::Cast(operand)
            | ExprKind::Extract { operand, .. }
            | ExprKind::Substring { operand, .. } => smallvec![&mut **operand],
            ExprKind::Case { branches, otherwise } => branches
                .iter_mut()
                .flat_map(|(condition, result)| [condition, result])
                .chain(otherwise.as_deref_mut())
                .collect(),
            ExprKind::Call { arguments, .. } => arguments.iter_mut().collect(),
        }
    }

    /// How many levels it has, itself among them; found without recursion.
    pub fn levels(&self) -> usize {
        let (mut deepest, mut open) = (0, vec![(self, 1)]);
        while let Some((expr, level)) = open.pop() {
            deepest = deepest.max(level);
            open.extend(expr.children().into_iter().map(|it| (it, level + 1)));
        }
        deepest
    }

    /// Whether it has more nodes than so many.
    pub fn is_larger_than(&self, nodes: usize) -> bool {
        let (mut seen, mut open) = (0, vec![self]);
        while let Some(expr) = open.pop() {
            seen += 1;
            if seen > nodes {
                return true;
            }
            open.extend(expr.children());
        }
        false
    }

    /// Adds the columns it reads to `into`.
    pub fn collect_columns(&self, into: &mut std::collections::BTreeSet<usize>) {
        if let ExprKind::Column(index) = self.kind {
            into.insert(index);
        }
        for child in self.children() {
            child.collect_columns(into);
        }
    }

    /// Whether it reads a column.
    pub fn uses_column(&self, column: usize) -> bool {
        self.kind == ExprKind::Column(column)
            || self.children().into_iter().any(|it| it.uses_column(column))
    }

    /// Adds the pipelines whose scalar it reads to `into`.
    pub fn collect_scalars(&self, into: &mut Vec<PipelineId>) {
        if let ExprKind::Scalar(pipeline) = self.kind {
            into.push(pipeline);
        }
        for child in self.children() {
            child.collect_scalars(into);
        }
    }

    /// Replaces every column by what `map` gives for its place.
    pub fn map_columns(&mut self, map: &mut dyn FnMut(usize) -> usize) {
        if let ExprKind::Column(index) = &mut self.kind {
            *index = map(*index);
        }
        for child in self.children_mut() {
            child.map_columns(map);
        }
    }
}

/// Whether the operator alone may give something else for equal operands.
pub(crate) fn is_volatile_itself(kind: &ExprKind) -> bool {
    match kind {
        ExprKind::Call { function, .. } => {
            matches!(function, Function::Random | Function::Uuid)
                || function.is_of_sequences()
                || function.is_of_sessions()
        }
        _ => false,
    }
}
