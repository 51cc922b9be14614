//! The logical query: relations over attributes. An attribute is a number that means one value column of one table
//! occurrence (or one computed column) in the whole query, so relations can be moved about without renaming anything.
//!
//! - Invariant: `ExprKind::Column(n)` in a relation is the attribute `n`, never a place in a batch.
//! - Invariant: `ExprKind::Scalar(n)` is the n-th entry of [`Query::scalars`].
//! - Invariant: an expression uses attributes that the inputs of its operator offer. Within the right side of a
//!   [`Rel::Apply`] those of its left side are there too; the optimizer takes all of these out before anything else.

mod attrs;
mod traverse;

pub use attrs::{Attr, AttrSet};
pub use traverse::{Part, fresh_copy};

use crate::{Aggregate, BinaryOperator, ColumnOrigin, Expr, ExprKind, SortKey, WindowCall};
use serde::{Deserialize, Serialize};
use stdx::sync::Arc;
use types::{DataType, TableId, TableInfo};

/// What is known of an attribute.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Attribute {
    /// Its type.
    pub data_type: DataType,
    /// Whether it may be NULL where it is made.
    pub nullable: bool,
}

/// A bound query.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Query {
    /// All attributes.
    pub attributes: Vec<Attribute>,
    /// Uncorrelated scalar subqueries. They and the shared relations use one another in no circle.
    pub scalars: Vec<ScalarQuery>,
    /// Relations whose rows several [`Rel::Shared`] read: computed once. In a bound query each uses those before it alone,
    /// and nothing of what is around its readers.
    pub shared: Vec<Rel>,
    /// The rows of the answer.
    pub root: Rel,
    /// The columns of the answer.
    pub output: Vec<Output>,
    /// WITH queries that are made of themselves, whose rows it scans as tables; each may scan those before it.
    pub recursions: Vec<RecursiveQuery>,
}

/// A column of the answer of a query.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Output {
    /// Its name.
    pub name: String,
    /// The attribute that it is.
    pub attr: Attr,
    /// Where it comes from, if it is a column of a relation as it is. It stands beside the name, since what an attribute is made of
    /// does not tell it: a cast may be done by nothing, and a column of a view is an attribute of the table below.
    pub origin: Option<ColumnOrigin>,
}

impl Output {
    /// A column without a name, as parts of a query have them.
    pub fn unnamed(attr: Attr) -> Self {
        Self { name: String::new(), attr, origin: None }
    }
}

/// WITH RECURSIVE: rows that are made of rows, round by round, until a round makes none.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RecursiveQuery {
    /// A table that nobody has stored: to `step` the rows of the last round, to all others those of all rounds.
    #[serde(with = "types::shared")]
    pub table: Arc<TableInfo>,
    /// Where rows come once (UNION): to `step` a table of the rows of all rounds so far, which it leaves out.
    pub seen: Option<TableId>,
    /// The rows of the first round.
    pub first: Query,
    /// The rows that a round makes.
    pub step: Query,
    /// What its rows depend on of a query around it.
    pub around: Option<Around>,
}

/// Values of a query around, on which the rows of a recursive one depend. Both its terms read them as a table, its own table has a
/// column more for each of them, and who reads it compares these with the values of the row that it is read for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Around {
    /// A table that nobody has stored: each combination of the values once, in the order of the columns. The optimizer finds its rows.
    pub table: TableId,
    /// How many they are: so many columns of the recursive query's table, the last.
    pub values: usize,
}

/// A subquery that gives one value.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ScalarQuery {
    /// Its rows.
    pub rel: Rel,
    /// The value.
    pub attr: Attr,
}

/// Rows that a series is expected to have.
const SERIES_ROWS: f64 = 1000.0;

/// A relation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Rel {
    /// An occurrence of a table.
    Scan(ScanRel),
    /// Rows for which all predicates hold.
    Filter {
        /// The input.
        input: Box<Rel>,
        /// Conjuncts.
        predicates: Vec<Expr>,
    },
    /// The input with computed attributes more.
    Map {
        /// The input.
        input: Box<Rel>,
        /// The new attributes.
        exprs: Vec<(Attr, Expr)>,
    },
    /// Two relations.
    Join(Box<JoinRel>),
    /// Groups. A key that is a bare attribute of the input keeps it; any other key has a new one.
    Aggregate {
        /// The input.
        input: Box<Rel>,
        /// Group keys.
        keys: Vec<(Attr, Expr)>,
        /// Aggregates.
        aggregates: Vec<(Attr, Aggregate)>,
        /// Expected groups.
        rows: f64,
    },
    /// Rows in order.
    Sort {
        /// The input.
        input: Box<Rel>,
        /// Offset and limit count for each group of rows that share these, NULL being like NULL. With any, what comes
        /// out has no order.
        partition: Vec<Attr>,
        /// The order.
        keys: Vec<SortKey>,
        /// Rows left out.
        offset: u64,
        /// Rows kept.
        limit: Option<u64>,
    },
    /// The input with window functions more. What comes out has no order.
    Window {
        /// The input.
        input: Box<Rel>,
        /// What rows of a partition share, NULL being like NULL.
        partition: Vec<Attr>,
        /// The order within a partition; a function goes by the first of these keys, as many as it says.
        keys: Vec<SortKey>,
        /// What is computed of each row.
        functions: Vec<(Attr, WindowCall)>,
    },
    /// Some rows.
    Limit {
        /// The input.
        input: Box<Rel>,
        /// Rows left out.
        offset: u64,
        /// Rows kept.
        limit: Option<u64>,
    },
    /// All rows of several relations.
    Union {
        /// The relations, each with its attributes in the order of `output`.
        inputs: Vec<(Rel, Vec<Attr>)>,
        /// The attributes of the result.
        output: Vec<Attr>,
    },
    /// Constant rows.
    Values {
        /// The attributes.
        output: Vec<Attr>,
        /// The rows.
        rows: Vec<Vec<Expr>>,
    },
    /// Each row as often as it says itself: what is left of EXCEPT ALL and INTERSECT ALL after counting, and series.
    Repeat {
        /// The input.
        input: Box<Rel>,
        /// How often: a BIGINT that is never NULL; below one is not at all.
        count: Attr,
        /// An attribute more, if wanted: the how manieth of its kind a row is, from 1 on. A BIGINT.
        number: Option<Attr>,
        /// Attributes more, each with an array of the input: of its items the how manieth the row is; NULL behind the last.
        items: Vec<(Attr, Attr)>,
    },
    /// The rows of an entry of [`Query::shared`].
    Shared {
        /// Which.
        id: usize,
        /// The attributes, each with the one that it is there.
        output: Vec<(Attr, Attr)>,
        /// Expected rows.
        rows: f64,
        /// Expected distinct values of each attribute; empty until that is known.
        distinct: Vec<f64>,
    },
    /// A dependent join: the right side is evaluated for each row of the left.
    Apply(Box<ApplyRel>),
}

/// A dependent join. What the right side offers has attributes of its own: a column that is an attribute of the left is
/// made by a [`Rel::Map`] in the right side, since an outer join may extend it by NULL.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ApplyRel {
    /// The outer rows.
    pub left: Rel,
    /// What is evaluated for each of them; its expressions may use attributes of the left.
    pub right: Rel,
    /// What becomes of the rows of the right.
    pub kind: Apply,
}

/// What a dependent join makes of the rows that its right side has for a row of the left.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Apply {
    /// Left rows with a Boolean more: the three-valued OR, over all rows of the right, of a condition. EXISTS has the
    /// condition TRUE, `x IN (..)` has `x = y`; `x op ALL (..)` is NOT of the Boolean with the negated operator.
    Any {
        /// The Boolean.
        mark: Attr,
        /// Over attributes of both sides.
        condition: Expr,
        /// Whether nobody can tell NULL from FALSE where the mark is used: under AND and OR of a WHERE.
        null_as_false: bool,
    },
    /// Left rows with the only value of the right more: NULL where it has no row, an error (21000) where it has several.
    Scalar {
        /// The value.
        value: Attr,
        /// The attribute of the right that it is.
        source: Attr,
    },
    /// LATERAL: the pairs for which all conditions hold.
    Join {
        /// Whether left rows without partner come too, extended by NULL.
        outer: bool,
        /// Over attributes of both sides.
        on: Vec<Expr>,
    },
}

/// An occurrence of a table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ScanRel {
    /// The table.
    #[serde(with = "types::shared")]
    pub table: Arc<TableInfo>,
    /// The attribute of its first column; the others follow.
    pub base: Attr,
    /// Conjuncts over its attributes.
    pub filters: Vec<Expr>,
    /// Expected rows after the filters.
    pub rows: f64,
}

/// Kinds of logical joins.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum RelJoin {
    /// Pairs.
    Inner,
    /// Pairs, and left rows without partner.
    Left,
    /// Pairs, and rows of both sides without partner.
    Full,
    /// Left rows with partner.
    Semi,
    /// Left rows without partner.
    Anti,
    /// Left rows with a Boolean more.
    Mark,
}

/// Two relations.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct JoinRel {
    /// How they are put together.
    pub kind: RelJoin,
    /// NOT IN, or IN as a value: NULL keys matter.
    pub null_aware: bool,
    /// The attribute of the mark.
    pub mark: Option<Attr>,
    /// Left, later the probe side unless `build_left`.
    pub left: Rel,
    /// Right.
    pub right: Rel,
    /// Equalities of an expression of the left with one of the right; found by join ordering.
    pub keys: Vec<(Expr, Expr)>,
    /// All other conjuncts.
    pub residual: Vec<Expr>,
    /// Whether the hash table is built from the left.
    pub build_left: bool,
    /// Expected rows.
    pub rows: f64,
}

impl JoinRel {
    /// A join that says nothing of its rows yet, with the hash table on the right.
    pub fn new(kind: RelJoin, left: Rel, right: Rel) -> Self {
        Self {
            kind,
            null_aware: false,
            mark: None,
            left,
            right,
            keys: Vec::new(),
            residual: Vec::new(),
            build_left: false,
            rows: 0.0,
        }
    }
}

impl Rel {
    /// The attributes it offers.
    pub fn attrs(&self) -> AttrSet {
        match self {
            Self::Scan(scan) => AttrSet::of_range(scan.base..scan.base + scan.table.columns.len()),
            Self::Filter { input, .. } | Self::Sort { input, .. } | Self::Limit { input, .. } => {
                input.attrs()
            }
            Self::Repeat { input, number, items, .. } => {
                let mut set = input.attrs();
                number.iter().for_each(|it| set.insert(*it));
                items.iter().for_each(|it| set.insert(it.0));
                set
            }
            Self::Map { input, exprs } => {
                let mut set = input.attrs();
                exprs.iter().for_each(|it| set.insert(it.0));
                set
            }
            Self::Window { input, functions, .. } => {
                let mut set = input.attrs();
                functions.iter().for_each(|it| set.insert(it.0));
                set
            }
            Self::Join(join) => {
                let mut set = join.left.attrs();
                match join.kind {
                    RelJoin::Semi | RelJoin::Anti => {}
                    RelJoin::Mark => set.insert(join.mark.expect("invariant: a mark join marks")),
                    _ => set.union_with(&join.right.attrs()),
                }
                set
            }
            Self::Aggregate { keys, aggregates, .. } => {
                keys.iter().map(|it| it.0).chain(aggregates.iter().map(|it| it.0)).collect()
            }
            Self::Union { output, .. } | Self::Values { output, .. } => {
                output.iter().copied().collect()
            }
            Self::Shared { output, .. } => output.iter().map(|it| it.0).collect(),
            Self::Apply(apply) => {
                let mut set = apply.left.attrs();
                match &apply.kind {
                    Apply::Any { mark, .. } => set.insert(*mark),
                    Apply::Scalar { value, .. } => set.insert(*value),
                    Apply::Join { .. } => set.union_with(&apply.right.attrs()),
                }
                set
            }
        }
    }

    /// The rows it is expected to have; meaningful once it is optimised.
    pub fn rows(&self) -> f64 {
        match self {
            Self::Scan(scan) => scan.rows,
            Self::Filter { input, predicates } => {
                // HAVING usually looks for the few groups that stand out.
                let share: f64 = if matches!(**input, Self::Aggregate { .. }) { 0.05 } else { 0.3 };
                (input.rows() * share.powi(predicates.len() as i32)).max(1.0)
            }
            Self::Map { input, .. } | Self::Window { input, .. } => input.rows(),
            Self::Join(join) => join.rows,
            Self::Aggregate { rows, .. } => *rows,
            Self::Sort { input, limit, .. } | Self::Limit { input, limit, .. } => {
                limit.map_or(f64::INFINITY, |it| it as f64).min(input.rows())
            }
            Self::Union { inputs, .. } => inputs.iter().map(|it| it.0.rows()).sum(),
            Self::Values { rows, .. } => rows.len() as f64,
            Self::Repeat { input, number: None, .. } => input.rows(),
            Self::Repeat { input, number: Some(_), .. } => SERIES_ROWS * input.rows(),
            Self::Shared { rows, .. } => *rows,
            Self::Apply(apply) => apply.left.rows(),
        }
    }

    /// The rows of an entry of [`Query::shared`], of which nothing is known yet.
    pub fn shared(id: usize, output: Vec<(Attr, Attr)>) -> Self {
        Self::Shared { id, output, rows: 0.0, distinct: Vec::new() }
    }

    /// A filter over it, itself when there is no predicate.
    pub fn filtered(self, predicates: Vec<Expr>) -> Self {
        if predicates.is_empty() {
            return self;
        }
        Self::Filter { input: Box::new(self), predicates }
    }
}

/// The attribute when the expression is one.
pub fn bare(expr: &Expr) -> Option<Attr> {
    match expr.kind {
        ExprKind::Column(attr) => Some(attr),
        _ => None,
    }
}

/// Splits a predicate at its ANDs.
pub fn split_conjunction(expr: Expr, into: &mut Vec<Expr>) {
    match expr.kind {
        ExprKind::Binary { operator: BinaryOperator::And, left, right } => {
            split_conjunction(*left, into);
            split_conjunction(*right, into);
        }
        _ => into.push(expr),
    }
}

/// Splits a predicate at its ORs.
pub fn split_disjunction(expr: Expr, into: &mut Vec<Expr>) {
    match expr.kind {
        ExprKind::Binary { operator: BinaryOperator::Or, left, right } => {
            split_disjunction(*left, into);
            split_disjunction(*right, into);
        }
        _ => into.push(expr),
    }
}

/// Joins predicates by an operator; `None` of nothing.
pub fn combine(operator: BinaryOperator, predicates: Vec<Expr>) -> Option<Expr> {
    predicates.into_iter().reduce(|left, right| Expr::predicate(operator, left, right))
}

/// Replaces attributes by what they are made of.
pub fn substitute(expr: &mut Expr, definitions: &[(Attr, Expr)]) {
    if let ExprKind::Column(attr) = expr.kind {
        if let Some((_, definition)) = definitions.iter().find(|it| it.0 == attr) {
            *expr = definition.clone();
        }
        return;
    }
    for child in expr.children_mut() {
        substitute(child, definitions);
    }
}
