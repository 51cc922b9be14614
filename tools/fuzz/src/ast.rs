//! Queries as a small tree: wide enough for all that is generated, plain enough to be cut smaller.
//!
//! Key decision: an expression is a form with parts, not one variant per operator, so that the reducer can replace any
//! expression by any of its parts without knowing what it is.

use crate::kind::Kind;

/// A query with what stands around its body.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// `WITH name AS (query)`, in order.
    pub with: Vec<(String, Query)>,
    pub body: Body,
    pub order: Vec<Key>,
    pub limit: Option<usize>,
    pub offset: Option<usize>,
}

/// A select or a set operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    Select(Box<Select>),
    Set {
        /// `UNION`, `INTERSECT` or `EXCEPT`.
        operator: &'static str,
        all: bool,
        left: Box<Query>,
        right: Box<Query>,
    },
}

/// One key of an order.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    pub by: By,
    pub descending: bool,
    /// `NULLS FIRST` (true), `NULLS LAST` (false), or nothing said.
    pub nulls_first: Option<bool>,
}

/// What a key of an order or of a grouping names.
#[derive(Clone, Debug, PartialEq)]
pub enum By {
    /// An output column, counted from 1.
    Position(usize),
    Expr(Expr),
}

/// `SELECT items FROM .. WHERE .. GROUP BY .. HAVING ..`
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Select {
    pub distinct: bool,
    pub items: Vec<Item>,
    pub from: Option<From>,
    pub filter: Option<Expr>,
    pub group: Vec<By>,
    /// `ROLLUP` or `CUBE` of the keys.
    pub sets: Option<&'static str>,
    pub having: Option<Expr>,
}

/// An output column.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// An expression with its name.
    Named(Expr, String),
    /// `*`
    Star,
}

/// What rows come from.
#[derive(Clone, Debug, PartialEq)]
pub enum From {
    /// A table or a query of WITH, and its alias.
    Table(String, String),
    Derived(Box<Query>, String),
    Join {
        /// `JOIN`, `LEFT JOIN`, `RIGHT JOIN`, `FULL JOIN` or `CROSS JOIN`.
        kind: &'static str,
        left: Box<From>,
        right: Box<From>,
        on: On,
    },
}

/// How a join finds partners.
#[derive(Clone, Debug, PartialEq)]
pub enum On {
    /// A cross join says nothing.
    Nothing,
    Condition(Expr),
    Using(Vec<String>),
    Natural,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    pub form: Form,
    /// Its type, as far as the generator must know it.
    pub kind: Kind,
    pub parts: Vec<Expr>,
    /// The query of a subquery's form.
    pub query: Option<Box<Query>>,
}

/// What an expression is, without its parts.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    Column {
        /// The alias of its relation; none for a column that USING has merged.
        from: Option<String>,
        name: String,
    },
    /// A constant as it is printed.
    Literal(String),
    Null,
    Prefix(&'static str),
    Postfix(&'static str),
    Infix(&'static str),
    Call(&'static str),
    /// `EXTRACT(field FROM part)`
    Extract(&'static str),
    /// To the expression's own kind; `part::kind` when `colons` is set.
    Cast {
        colons: bool,
    },
    /// Parts: the operand if there is one, pairs of WHEN and THEN, the ELSE if there is one.
    Case {
        operand: bool,
        otherwise: bool,
    },
    /// The first part in the list of the others.
    In {
        negated: bool,
    },
    Between {
        negated: bool,
    },
    /// Parts: the argument if there is one (`count(*)` has none), the condition of FILTER if there is one.
    Aggregate {
        name: &'static str,
        distinct: bool,
        filter: bool,
    },
    /// Parts: the argument if there is one, the condition of FILTER if there is one, what makes partitions, the order.
    Window {
        name: &'static str,
        filter: bool,
        partitions: usize,
        orders: usize,
        /// Of the first key of the order.
        direction: &'static str,
        frame: &'static str,
    },
    Scalar,
    Exists {
        negated: bool,
    },
    InQuery {
        negated: bool,
    },
    /// `part operator ANY (query)` or `ALL`.
    Quantified {
        operator: &'static str,
        all: bool,
    },
}

impl Expr {
    /// An expression of parts.
    pub fn new(form: Form, kind: Kind, parts: Vec<Expr>) -> Self {
        Self { form, kind, parts, query: None }
    }

    /// An expression around a query.
    pub fn of_query(form: Form, kind: Kind, parts: Vec<Expr>, query: Query) -> Self {
        Self { form, kind, parts, query: Some(Box::new(query)) }
    }

    /// A column of a relation.
    pub fn column(from: &str, name: &str, kind: Kind) -> Self {
        Self::new(
            Form::Column { from: Some(from.to_owned()), name: name.to_owned() },
            kind,
            Vec::new(),
        )
    }

    /// A constant.
    pub fn literal(text: impl Into<String>, kind: Kind) -> Self {
        Self::new(Form::Literal(text.into()), kind, Vec::new())
    }

    /// NULL without a cast.
    pub fn null(kind: Kind) -> Self {
        Self::new(Form::Null, kind, Vec::new())
    }

    /// `NOT (..)`
    pub fn negated(self) -> Self {
        Self::new(Form::Prefix("NOT"), Kind::Boolean, vec![self])
    }

    /// `left operator right`
    pub fn infix(operator: &'static str, kind: Kind, left: Expr, right: Expr) -> Self {
        Self::new(Form::Infix(operator), kind, vec![left, right])
    }

    /// `(..) IS NULL` and its like.
    pub fn postfix(operator: &'static str, part: Expr) -> Self {
        Self::new(Form::Postfix(operator), Kind::Boolean, vec![part])
    }

    /// A cast to a type.
    pub fn cast(self, kind: Kind) -> Self {
        Self::new(Form::Cast { colons: false }, kind, vec![self])
    }

    /// Whether it may be a constant once it is computed as far as that goes without rows: it names no column, or has a part that
    /// may leave the others out.
    pub fn may_fold(&self) -> bool {
        match self.form {
            Form::Column { .. } => false,
            Form::Call("coalesce") | Form::Case { .. } => true,
            _ => self.query.is_some() || self.parts.iter().all(Self::may_fold),
        }
    }

    /// Whether it is a constant or NULL.
    pub fn is_constant(&self) -> bool {
        matches!(self.form, Form::Literal(_) | Form::Null)
    }
}

impl Query {
    /// A query without WITH and order.
    pub fn of(select: Select) -> Self {
        Self::of_body(Body::Select(Box::new(select)))
    }

    /// A query without WITH and order.
    pub fn of_body(body: Body) -> Self {
        Self { with: Vec::new(), body, order: Vec::new(), limit: None, offset: None }
    }

    /// Its first select; that of the left side of set operations.
    pub fn first_select(&self) -> &Select {
        match &self.body {
            Body::Select(select) => select,
            Body::Set { left, .. } => left.first_select(),
        }
    }

    /// Output columns; none when a star hides how many there are.
    pub fn width(&self) -> Option<usize> {
        let items = &self.first_select().items;
        (!items.contains(&Item::Star)).then_some(items.len())
    }

    /// Whether its order leaves no two different rows open: all output columns are keys.
    pub fn order_is_total(&self) -> bool {
        let named = |at: usize| self.order.iter().any(|key| key.by == By::Position(at));
        self.width().is_some_and(|width| (1..=width).all(named))
    }
}
