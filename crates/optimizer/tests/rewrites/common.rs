//! Hand-made queries: tables with statistics, and short words for relations and expressions.

use plan::build::{boolean, unary};
use plan::relation::{Attr, Attribute, JoinRel, Output, Query, Rel, RelJoin, ScanRel};
use plan::{Aggregate, AggregateFunction, BinaryOperator, Expr, ExprKind, Function, UnaryOperator};
use stdx::sync::Arc;
use types::{ColumnInfo, ColumnStatistics, DataType, TableId, TableInfo, Value};

/// A column of a table: its type, whether it holds NULLs, and how many values.
pub struct Column(pub DataType, pub bool, pub u64);

/// A query under construction.
#[derive(Default)]
pub struct Builder {
    pub attributes: Vec<Attribute>,
    tables: u32,
}

impl Builder {
    /// A scan of a new table of `rows` rows, and the attribute of its first column.
    pub fn table(&mut self, rows: u64, columns: &[Column]) -> (Rel, Attr) {
        let base = self.attributes.len();
        let infos = columns.iter().enumerate().map(|(place, it)| {
            let statistics = ColumnStatistics {
                nulls: u64::from(it.1),
                distinct: it.2,
                distinct_exact: true,
                ..ColumnStatistics::default()
            };
            self.attributes.push(Attribute { data_type: it.0, nullable: it.1 });
            ColumnInfo {
                name: format!("c{place}"),
                data_type: it.0,
                nullable: it.1,
                statistics,
                scan_bytes: rows,
                numbers_rows: false,
                index: None,
            }
        });
        let columns = infos.collect();
        self.tables += 1;
        let table = Arc::new(TableInfo {
            id: TableId(self.tables),
            name: "t".to_owned(),
            columns,
            rows,
            is_guess: false,
        });
        (Rel::Scan(ScanRel { table, base, filters: Vec::new(), rows: rows as f64 }), base)
    }

    /// A new attribute.
    pub fn attr(&mut self, data_type: DataType) -> Attr {
        self.attributes.push(Attribute { data_type, nullable: true });
        self.attributes.len() - 1
    }

    /// An attribute as an expression.
    pub fn column(&self, attr: Attr) -> Expr {
        Expr::column(attr, self.attributes[attr].data_type)
    }

    /// The relation with one computed column more, and its attribute.
    pub fn with(&mut self, input: Rel, expr: Expr) -> (Rel, Attr) {
        let attr = self.attr(expr.data_type);
        (Rel::Map { input: Box::new(input), exprs: vec![(attr, expr)] }, attr)
    }

    /// The relation after all rewrites, of whose rows these attributes are wanted.
    pub fn optimised(self, root: Rel, wanted: &[Attr]) -> Rel {
        let mut query = self.query(root, wanted);
        let (options, never) = (optimizer::Options::default(), types::Interrupt::default());
        optimizer::rewrite::optimise(&mut query, options, &never)
            .expect("the query can be optimised");
        query.root
    }

    /// The plan of a query as text.
    pub fn plan(self, root: Rel, wanted: &[Attr]) -> String {
        let plan = optimizer::plan(self.query(root, wanted)).expect("the query can be planned");
        plan::explain::text(&plan, &())
    }

    fn query(self, root: Rel, wanted: &[Attr]) -> Query {
        let named = |it: &Attr| Output { name: format!("a{it}"), ..Output::unnamed(*it) };
        let output = wanted.iter().map(named).collect();
        let (scalars, shared) = (Vec::new(), Vec::new());
        Query { attributes: self.attributes, scalars, shared, root, output, recursions: Vec::new() }
    }
}

pub fn number(value: i64) -> Expr {
    Expr::literal(Value::Integer(value), DataType::Integer)
}

pub fn random() -> Expr {
    let kind = ExprKind::Call { function: Function::Random, arguments: Vec::new() };
    Expr { kind, data_type: DataType::Double }
}

/// An arithmetic of the left operand's type.
pub fn arithmetic(operator: BinaryOperator, left: Expr, right: Expr) -> Expr {
    let data_type = left.data_type;
    let kind = ExprKind::Binary { operator, left: Box::new(left), right: Box::new(right) };
    Expr { kind, data_type }
}

pub fn compare(operator: BinaryOperator, left: Expr, right: Expr) -> Expr {
    Expr::predicate(operator, left, right)
}

pub fn equal(left: Expr, right: Expr) -> Expr {
    compare(BinaryOperator::Equal, left, right)
}

/// `100 / divisor > 1`: it fails where the divisor is zero.
pub fn quotient(divisor: Expr) -> Expr {
    let quotient = arithmetic(BinaryOperator::Divide, number(100), divisor);
    compare(BinaryOperator::Greater, quotient, number(1))
}

/// `operand <> 0`.
pub fn not_zero(operand: Expr) -> Expr {
    compare(BinaryOperator::NotEqual, operand, number(0))
}

pub fn is_null(operand: Expr) -> Expr {
    unary(UnaryOperator::IsNull, operand)
}

pub fn in_list(operand: Expr, values: &[i64]) -> Expr {
    let list = values.iter().map(|it| Value::Integer(*it)).collect();
    boolean(ExprKind::InList { operand: Box::new(operand), list, negated: false })
}

pub fn join(kind: RelJoin, left: Rel, right: Rel, on: Vec<Expr>) -> Rel {
    Rel::Join(Box::new(JoinRel { residual: on, ..JoinRel::new(kind, left, right) }))
}

pub fn group(input: Rel, keys: Vec<(Attr, Expr)>, aggregates: Vec<(Attr, Aggregate)>) -> Rel {
    Rel::Aggregate { input: Box::new(input), keys, aggregates, rows: 0.0 }
}

pub fn aggregate(function: AggregateFunction, argument: Option<Expr>) -> Aggregate {
    let data_type = match (function, &argument) {
        (AggregateFunction::Min | AggregateFunction::Max, Some(it)) => it.data_type,
        _ => DataType::BigInt,
    };
    Aggregate::of(function, argument, data_type)
}

/// All relations of a tree, from the top down.
pub fn all(rel: &Rel) -> Vec<&Rel> {
    let mut found = Vec::new();
    rel.visit(&mut |it| found.push(it));
    found
}

/// The keys of the only grouping of a tree.
pub fn keys_of(rel: &Rel) -> Vec<(Attr, Expr)> {
    let keys = all(rel).into_iter().find_map(|it| match it {
        Rel::Aggregate { keys, .. } => Some(keys.clone()),
        _ => None,
    });
    keys.expect("the query groups")
}

/// The conditions of the scan of the table whose columns begin at an attribute.
pub fn filters_of(rel: &Rel, base: Attr) -> Vec<Expr> {
    let filters = all(rel).into_iter().find_map(|it| match it {
        Rel::Scan(scan) if scan.base == base => Some(scan.filters.clone()),
        _ => None,
    });
    filters.expect("the table is scanned")
}

/// The kinds of the joins of a tree, from the top down.
pub fn joins_of(rel: &Rel) -> Vec<RelJoin> {
    let kind = |it: &Rel| match it {
        Rel::Join(join) => Some(join.kind),
        _ => None,
    };
    all(rel).into_iter().filter_map(kind).collect()
}
