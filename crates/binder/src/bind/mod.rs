//! Queries to relations: names, types, functions, coercions and subqueries, as PostgreSQL has them.
//!
//! Key decision: binding never takes a subquery apart. It becomes a dependent join ([`plan::relation::ApplyRel`]) over the
//! rows of the clause that it stands in, and the optimizer removes those. So a subquery may stand wherever an expression may.
//!
//! A query is bound by a stack of `level::Level`s, one for each SELECT that is open; a name is looked up from the
//! innermost outwards, and an attribute of an outer level in an inner relation is what makes it correlated.
//!
//! Reading order: `scope` (names in view), `level`, `query` (WITH, set operations, ORDER BY, LIMIT), `from`, `select`,
//! `grouping`, `expression` and the files for kinds of expressions, `coercion` (types that meet).
//!
//! - Invariant: an expression of type [`DataType::Null`] is a constant or a parameter whose type is not known yet; none
//!   leaves this module.
//! - Invariant: binding depends on the text, the catalog, the types of parameters and the time of the statement alone.

mod aggregate;
mod aggregate_names;
mod aggregate_types;
mod aliases;
mod arithmetic;
mod arrays;
mod asked;
mod asking;
mod assignments;
mod bit_strings;
mod call;
mod catalog_calls;
mod catalog_rows;
mod change;
mod change_rules;
mod change_values;
mod changed_view;
mod closed_arms;
mod coercion;
mod columns;
mod comparison;
mod conflict;
mod conversion;
mod dates;
mod dependents;
mod domain_rules;
mod domains;
mod enums;
mod errors;
mod expression;
mod failing;
mod from;
mod full_join;
mod grouping;
mod grouping_sets;
mod index_lookups;
mod interval;
mod json;
mod json_constructors;
mod json_paths;
mod json_query;
mod json_records;
mod json_rows;
mod json_set_lax;
mod kept;
mod late_rows;
mod level;
mod limit;
mod list_items;
mod literal;
mod locking;
mod lookup;
mod made_calls;
mod maps;
mod merge;
mod named_arguments;
mod names;
mod networks;
mod noting;
mod number_ranges;
mod order;
mod ordered_set;
mod origins;
mod overloads;
mod parameter_domains;
mod parameter_types;
mod pivot;
mod positional;
mod quantified_test;
mod query;
mod ranges;
mod recursive;
mod recursive_around;
mod recursive_rows;
mod recursive_rules;
mod relative_days;
mod repeated;
mod repeated_rows;
mod returning;
mod row_functions;
mod row_lock;
mod rows_from;
mod sample;
mod scope;
mod select;
mod series;
mod series_parts;
mod session_facts;
mod set_operation;
mod special;
mod star;
mod structs;
mod subquery;
mod text;
mod through_views;
mod times;
mod type_limits;
mod unpivot;
mod upper;
mod view;
mod window;
mod window_definition;
mod window_parts;
mod with;

use std::collections::HashMap;

use functions::Began;
use plan::relation::{Attr, Attribute, Output, Query, RecursiveQuery, Rel};
use plan::{ColumnOrigin, Expr, OrderDefaults};
use sqlparser::ast;
use types::{CatalogView, DataType, LockMode, LockWait, SqlError, SqlResult, SqlState, Value};

pub use aggregate_names::names as aggregate_names;
use asked::Asking;
pub use asked::{Asked, AskedColumns, AskedRelation};
pub use change::{BoundChange, ChangeKind, bind_change};
pub use change_rules::KeyOfRow;
use change_rules::TargetRules;
pub use changed_view::{changeable_columns, is_changeable};
pub use domain_rules::{DomainRules, RowCheck};
pub use json::names as json_names;
use level::Level;
pub(crate) use literal::text_of;
pub use parameter_types::ParameterTypes;
pub use row_lock::RowLock;
pub use session_facts::{SerialSequence, SessionFacts};
pub use view::{BoundView, bind_view};
use with::WithQuery;

use crate::resolved::Resolved;

/// Nodes of bound expressions that a statement may come to. Some forms repeat their operands (BETWEEN, CASE x WHEN), and
/// so a nest of them doubles at each level.
const NODES_MAX: usize = 2_000_000;

/// What binding knows beside the text.
pub struct Environment<'a> {
    /// The tables.
    pub catalog: &'a dyn CatalogView,
    /// What functions of PostgreSQL's catalog tell.
    pub session: &'a dyn SessionFacts,
    /// When the statement and its transaction began.
    pub now: Began,
    /// The number of the parameter that stands for the first of the functions of the time ([`functions::STABLE`]), where a plan is
    /// made for statements of any time and any time zone; the others follow it. `None`: they stand for their values.
    pub moments: Option<usize>,
    /// Asked now and then: an error ends binding.
    pub check: &'a dyn Fn() -> SqlResult<()>,
}

/// A bound query.
#[derive(Debug)]
pub struct Bound {
    /// The query.
    pub query: Query,
    /// Whether it would be bound to the same thing at any other time: it asks for no now() and the like, which binding
    /// replaces by their values.
    pub is_stable: bool,
    /// The types of its parameters.
    pub parameters: ParameterTypes,
    /// The rights that it needs.
    pub asked: Asked,
}

/// Binds a query. `parameters` are the types of those that are declared.
pub fn bind(
    query: &ast::Query,
    parameters: &[Option<DataType>],
    environment: &Environment<'_>,
) -> SqlResult<Bound> {
    let expanded = crate::macros::expanded(query, environment.catalog)?;
    let query = expanded.as_deref().unwrap_or(query);
    let in_words = crate::registered_output::in_words(query);
    let query = in_words.as_ref().unwrap_or(query);
    let mut binder = Binder::new(environment, parameters);
    // A macro may be another one next time, and nothing else tells.
    binder.is_stable = expanded.is_none();
    let mut answer = binder.query(query)?;
    binder.decide_types(&mut answer)?;
    let output = answer.columns.into_iter().map(Output::from).collect();
    let asked = binder.all_asked();
    let Binder { attributes, mut shared, recursions, is_stable, parameters, .. } = binder;
    let (scalars, mut root) = (Vec::new(), answer.rel);
    Binder::use_items(shared.iter_mut().chain([&mut root]), environment)?;
    let query = Query { attributes, scalars, shared, root, output, recursions };
    Ok(Bound { query, is_stable, parameters, asked })
}

/// The state of binding one statement.
struct Binder<'a> {
    environment: &'a Environment<'a>,
    attributes: Vec<Attribute>,
    /// The columns of files that were not read, with what their use ends with.
    unread: Vec<(Attr, SqlError)>,
    /// The columns of the catalog that are names of functions (REGPROC).
    names_of_functions: plan::relation::AttrSet,
    /// Relations that are computed once and read several times.
    shared: Vec<Rel>,
    /// WITH queries that are made of themselves, each behind those that it uses.
    recursions: Vec<RecursiveQuery>,
    /// How many tables there are that nobody has stored.
    unstored_tables: u32,
    parameters: ParameterTypes,
    is_stable: bool,
    /// The SELECTs that are open, the innermost last.
    levels: Vec<Level>,
    /// The column that COLUMNS means in the entry of a select list that is being bound.
    chosen: Option<Attr>,
    /// The select lists whose names the condition of a SELECT may use, each with how many levels are open there.
    listed: Vec<(usize, &'a [ast::SelectItem])>,
    /// The SELECTs of EXISTS that are bound, which are asked whether they have rows and for nothing else.
    tested: Vec<&'a ast::Select>,
    /// The WITH queries in view, the innermost last.
    with: Vec<WithQuery<'a>>,
    /// How many of them a part of a recursive query sees of the query around.
    lent_with: usize,
    /// The level of the SELECT that reads the query that it is a part of.
    self_reference: Option<usize>,
    /// Nodes of expressions so far.
    nodes: usize,
    /// What the table that is changed asks of its rows.
    rules: &'a TargetRules,
    /// What merge_action() tells, in RETURNING of a MERGE.
    merge_action: Option<Attr>,
    /// What names were found to mean, where that is asked for.
    resolved: Option<Box<Resolved>>,
    /// How many views are being bound, each inside of another.
    views: usize,
    /// What the statement locks, if it is a SELECT that does.
    locking: Option<Locking<'a>>,
    /// What rights it needs.
    asking: Asking,
    /// What polymorphic types mean, by the calls that name them.
    polymorphic: HashMap<(String, String), DataType>,
}

/// What a SELECT locks.
#[derive(Debug)]
struct Locking<'a> {
    select: &'a ast::Select,
    /// The places in FROM whose rows are locked.
    wanted: Vec<(&'a ast::TableFactor, LockMode, LockWait)>,
    /// Those that were bound, each with the column of its positions.
    found: Vec<(RowLock, OutputColumn)>,
}

/// A bound query or part of one.
#[derive(Debug)]
struct Answer {
    rel: Rel,
    columns: Vec<OutputColumn>,
}

/// A column of a bound query.
#[derive(Clone, Debug)]
struct OutputColumn {
    name: String,
    attr: Attr,
    /// Where it comes from, if it is a column of a relation as it is.
    origin: Option<ColumnOrigin>,
}

impl<'a> Binder<'a> {
    fn new(environment: &'a Environment<'a>, parameters: &[Option<DataType>]) -> Self {
        Self {
            environment,
            attributes: Vec::new(),
            unread: Vec::new(),
            names_of_functions: plan::relation::AttrSet::default(),
            shared: Vec::new(),
            recursions: Vec::new(),
            unstored_tables: 0,
            parameters: ParameterTypes::of(parameters),
            is_stable: true,
            levels: Vec::new(),
            chosen: None,
            listed: Vec::new(),
            tested: Vec::new(),
            with: Vec::new(),
            lent_with: 0,
            self_reference: None,
            nodes: 0,
            rules: &change_rules::NOTHING,
            merge_action: None,
            resolved: None,
            views: 0,
            locking: None,
            asking: Asking::default(),
            polymorphic: HashMap::new(),
        }
    }

    fn attribute(&mut self, data_type: DataType, nullable: bool) -> Attr {
        self.attributes.push(Attribute { data_type, nullable });
        self.attributes.len() - 1
    }

    /// What ORDER BY means where it says nothing.
    fn order_defaults(&self) -> OrderDefaults {
        self.environment.session.order_defaults()
    }

    fn column_expr(&self, attr: Attr) -> Expr {
        Expr::column(attr, self.attributes[attr].data_type)
    }

    /// A column that the statement names, by itself or by `*`.
    fn named_column(&mut self, attr: Attr) -> SqlResult<Expr> {
        self.ask_column(attr);
        self.readable_column(attr)
    }

    /// A column that the statement gives another name.
    fn readable_column(&mut self, attr: Attr) -> SqlResult<Expr> {
        self.note_named(attr);
        match self.unread.iter().find(|it| it.0 == attr) {
            Some((_, error)) => Err(error.clone()),
            None => Ok(self.column_expr(attr)),
        }
    }

    /// Counts nodes that are made; an error when they are too many.
    fn count(&mut self, nodes: usize) -> SqlResult<()> {
        let before = self.nodes;
        self.nodes += nodes;
        if before >> 10 != self.nodes >> 10 {
            (self.environment.check)()?;
        }
        if self.nodes > NODES_MAX {
            let message = format!("the statement comes to more than {NODES_MAX} operations");
            return Err(SqlError::new(SqlState::STATEMENT_TOO_COMPLEX, message));
        }
        Ok(())
    }

    /// A copy of an operand that is used twice.
    fn copy(&mut self, expr: &Expr) -> SqlResult<Expr> {
        self.count(size(expr))?;
        Ok(expr.clone())
    }

    /// An attribute for a value: its own where the expression is a column of this SELECT. A column of a query around is
    /// a value here: above an outer join it may become NULL, while the column outside does not.
    fn name_expr(&mut self, expr: Expr, made: &mut Vec<(Attr, Expr)>) -> Attr {
        let around = self.levels.split_last().map_or(&[][..], |it| it.1);
        if let Some(attr) = plan::relation::bare(&expr)
            && !around.iter().any(|it| it.offers(attr))
        {
            return attr;
        }
        let known = made.iter().find(|it| it.1 == expr && is_repeatable(&expr));
        if let Some((attr, _)) = known {
            return *attr;
        }
        let attr = self.attribute(expr.data_type, true);
        made.push((attr, expr));
        attr
    }

    /// Gives the columns of the result a type: what is known of nothing else is text.
    fn decide_types(&mut self, answer: &mut Answer) -> SqlResult<()> {
        let known = answer.columns.iter().map(|it| self.attributes[it.attr].data_type);
        let known: Vec<DataType> = known.collect();
        let types = known.iter().map(|it| types::structs::decided(*it));
        let types = types.collect::<SqlResult<Vec<_>>>()?;
        if types == known {
            return Ok(());
        }
        self.convert_columns(answer, &types)
    }
}

/// A projection, none when nothing is computed.
fn mapped(input: Rel, exprs: Vec<(Attr, Expr)>) -> Rel {
    if exprs.is_empty() {
        return input;
    }
    Rel::Map { input: Box::new(input), exprs }
}

/// The nodes of an expression.
fn size(expr: &Expr) -> usize {
    1 + expr.children().into_iter().map(size).sum::<usize>()
}

/// Whether two equal expressions have one value.
fn is_repeatable(expr: &Expr) -> bool {
    !plan::properties::is_volatile(expr)
}

/// The value of an expression that is a constant.
fn constant(expr: &Expr) -> Option<&Value> {
    match &expr.kind {
        plan::ExprKind::Literal(value) => Some(value),
        _ => None,
    }
}
