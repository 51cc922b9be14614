//! Calls of macros become what they stand for before anything is bound.
//!
//! Key decision: on the parsed query, with arguments in the places of parameters, so that a macro is no function: it may hold subqueries,
//! aggregates and windows, and its arguments may be computed several times.

use std::ops::ControlFlow;

use sqlparser::ast::{
    self, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, Query, TableAlias,
    TableFactor, Visit, VisitMut,
};
use stdx::sync::Arc;
use types::{
    CatalogView, MacroDefinition, MacroForm, SqlError, SqlFunction, SqlResult, SqlState, names,
};

use crate::fragments::read;
use crate::levels;
use crate::sql_functions;
use crate::syntax::{ident, unsupported};
use crate::walk::{self, Editor, Looker};
use crate::written_in_sql::name_columns;

/// Macros that stand for calls of macros.
const DEPTH_MAX: usize = 100;

/// Expressions that a call stands for with its arguments, each as often as the body has it: calls in one another double them.
const EXPRESSIONS_MAX: usize = 100_000;

/// A query with what its calls of macros stand for; `None` where there are none.
///
/// # Errors
/// 42883 for arguments that no form takes, 54001 for macros that call themselves.
pub(crate) fn expanded(
    query: &ast::Query,
    catalog: &dyn CatalogView,
) -> SqlResult<Option<Box<ast::Query>>> {
    if !catalog.has_macros() {
        return Ok(None);
    }
    let mut tree = Box::new(query.clone());
    let mut expanding = Expanding { catalog, depth: 0, levels: 0, found: false };
    match walk::edit(&mut tree, &mut expanding) {
        ControlFlow::Continue(()) => Ok(expanding.found.then_some(tree)),
        ControlFlow::Break(error) => Err(error),
    }
}

/// An expression that is to be kept, with what its calls of macros stand for: it means the same when these are others.
///
/// # Errors
/// Those of reading it, and of calls in queries.
pub fn with_macros_expanded(expression: &str, catalog: &dyn CatalogView) -> SqlResult<String> {
    let mut tree = crate::parse::expression(expression)?;
    let mut expanding = Expanding { catalog, depth: 0, levels: 0, found: false };
    match walk::edit(&mut tree, &mut expanding) {
        ControlFlow::Continue(()) if expanding.found => Ok(crate::written::written(&tree)),
        ControlFlow::Continue(()) => Ok(expression.to_owned()),
        ControlFlow::Break(error) => Err(error),
    }
}

struct Expanding<'a> {
    catalog: &'a dyn CatalogView,
    depth: usize,
    /// Levels of the bodies that this one stands in.
    levels: usize,
    found: bool,
}

impl Editor for Expanding<'_> {
    /// A column that is a call of a function has its name.
    fn pre_query(&mut self, query: &mut ast::Query) -> ControlFlow<SqlError> {
        let named = |call: &ast::Function| {
            // What is wrong with the name is told of the call.
            let all = self.meant(&call.name).unwrap_or_default();
            let is_one = |it: &&Arc<MacroDefinition>| !it.is_table && it.is_function();
            all.iter().find(is_one).map(|it| it.bare_name())
        };
        name_columns(&mut query.body, &named);
        ControlFlow::Continue(())
    }

    fn post_expr(&mut self, expr: &mut Expr) -> ControlFlow<SqlError> {
        match self.of_call(expr).and_then(|it| self.sound(it)) {
            Ok(None) => {}
            Ok(Some(new)) => {
                self.found = true;
                *expr = new;
            }
            Err(error) => return ControlFlow::Break(error),
        }
        ControlFlow::Continue(())
    }

    fn post_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<SqlError> {
        match self.of_table(factor).and_then(|it| self.sound(it)) {
            Ok(None) => {}
            Ok(Some(new)) => {
                self.found = true;
                *factor = new;
            }
            Err(error) => return ControlFlow::Break(error),
        }
        ControlFlow::Continue(())
    }
}

/// How many expressions there are in what a call stands for, and how deep they stand in one another.
#[derive(Default)]
struct Extent {
    count: usize,
    open: usize,
    deepest: usize,
}

impl Extent {
    fn begin(&mut self) {
        self.open += 1;
        self.deepest = self.deepest.max(self.open);
    }
}

impl Looker for Extent {
    fn pre_query(&mut self, _: &Query) {
        self.begin();
    }

    fn post_query(&mut self) {
        self.open -= 1;
    }

    fn pre_expr(&mut self, _: &Expr) -> ControlFlow<()> {
        self.count += 1;
        self.begin();
        if self.count > EXPRESSIONS_MAX {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn post_expr(&mut self, _: &Expr) -> ControlFlow<()> {
        self.open -= 1;
        ControlFlow::Continue(())
    }
}

impl Expanding<'_> {
    /// What a call stands for, if it is not too long, and the statement has room for it (54001).
    fn sound<T: Visit>(&self, new: Option<T>) -> SqlResult<Option<T>> {
        if let Some(new) = &new {
            let mut extent = Extent::default();
            if walk::look(new, &mut extent) {
                let message = format!("a macro stands for more than {EXPRESSIONS_MAX} expressions");
                return Err(SqlError::new(SqlState::STATEMENT_TOO_COMPLEX, message));
            }
            levels::ask_room(self.levels + extent.deepest)?;
        }
        Ok(new)
    }

    fn of_call(&self, expr: &Expr) -> SqlResult<Option<Expr>> {
        let Expr::Function(call) = expr else { return Ok(None) };
        let FunctionArguments::List(list) = &call.args else { return Ok(None) };
        let mut all = self.meant(&call.name)?;
        all.retain(|it| !it.is_table);
        if all.is_empty() {
            return self.of_extension(call);
        }
        let is_plain = call.over.is_none()
            && call.filter.is_none()
            && call.within_group.is_empty()
            && list.duplicate_treatment.is_none()
            && list.clauses.is_empty();
        if !is_plain {
            return Err(unsupported(
                "a call of a macro or of a function in SQL with anything but arguments",
            ));
        }
        let Some(Chosen { of, form, values }) = chosen(&all, &list.args)? else { return Ok(None) };
        if let Some(function) = &form.function {
            let body = self.within(crate::parse::query(&form.body)?, form)?;
            return sql_functions::value(&of.bare_name(), (form, function), (body, values))
                .map(Some);
        }
        let body = crate::parse::expression(&form.body)?;
        let body = self.filled(body, form, values)?;
        Ok(Some(Expr::Nested(Box::new(body))))
    }

    /// A call of a function of an extension that names its schema, without it: the function is built in.
    fn of_extension(&self, call: &ast::Function) -> SqlResult<Option<Expr>> {
        let (parts, whole) = (&call.name.0, call.name.to_string());
        let said = parts.iter().map(|it| it.as_ident().map(ident)).collect::<Option<Vec<_>>>();
        let Some(said) = said.filter(|it| it.len() > 1) else { return Ok(None) };
        let (Some(schema), bare) = names::within(said, &whole, self.catalog.database())? else {
            return Ok(None);
        };
        if !self.catalog.has_of_extension(&schema, &bare) {
            return Ok(None);
        }
        self.catalog.check_schema(&schema)?;
        let name = ast::ObjectName(parts.last().cloned().into_iter().collect());
        Ok(Some(Expr::Function(ast::Function { name, ..call.clone() })))
    }

    fn of_table(&self, factor: &TableFactor) -> SqlResult<Option<TableFactor>> {
        let (name, arguments, alias, is_numbered) = match factor {
            TableFactor::Table { name, args: Some(args), alias, with_ordinality, .. } => {
                (name, &args.args, alias, *with_ordinality)
            }
            TableFactor::Function { name, args, alias, with_ordinality, .. } => {
                (name, args, alias, *with_ordinality)
            }
            _ => return Ok(None),
        };
        // A function of a value is a table of one row.
        let mut all = self.meant(name)?;
        all.retain(|it| it.is_table || it.is_function());
        let Some(Chosen { of, form, values }) = chosen(&all, arguments)? else { return Ok(None) };
        let (lateral, bare) = (!values.is_empty(), of.bare_name());
        let query = crate::parse::query(&form.body)?;
        let mut alias = alias.clone();
        let subquery = match &form.function {
            Some(function) if of.is_table => {
                let made = (self.within(query, form)?, values);
                let told = told_columns(function, &mut alias)?;
                let function = told.as_ref().unwrap_or(function);
                sql_functions::rows(&bare, (form, function), made)?
            }
            Some(function) => {
                let made = (self.within(query, form)?, values);
                let value = sql_functions::value(&bare, (form, function), made)?;
                let column = alias.as_ref().map_or(&bare, |it| &it.name.value);
                sql_functions::row_of(value, column)?
            }
            None => self.filled(query, form, values)?,
        };
        let own = TableAlias {
            explicit: false,
            name: Ident::with_quote('"', &bare),
            columns: Vec::new(),
            at: None,
        };
        let subquery = match is_numbered {
            true if of.is_function() => numbered(subquery)?,
            true => return Err(unsupported("WITH ORDINALITY of a macro")),
            false => subquery,
        };
        // Arguments may be columns of what stands before the call.
        let alias = Some(alias.unwrap_or(own));
        let sample = match factor {
            TableFactor::Table { sample, .. } => sample.clone(),
            _ => None,
        };
        Ok(Some(TableFactor::Derived { lateral, subquery, alias, sample }))
    }

    /// The macros that the name of a call may mean, in the order in which they are asked.
    ///
    /// # Errors
    /// 42501 where who calls one may not use its schema; those of names with too many parts.
    fn meant(&self, name: &ast::ObjectName) -> SqlResult<Vec<Arc<MacroDefinition>>> {
        let parts = name.0.iter().map(|it| it.as_ident().map(ident));
        let Some(parts) = parts.collect::<Option<Vec<_>>>() else { return Ok(Vec::new()) };
        let (schema, bare) = names::within(parts, &name.to_string(), self.catalog.database())?;
        let all = self.catalog.macros_of(schema.as_deref(), &bare);
        if let Some(schema) = schema.filter(|_| !all.is_empty()) {
            self.catalog.check_schema(&schema)?;
        }
        Ok(all)
    }

    /// A body with its own macros expanded.
    fn within<T: VisitMut>(&self, mut body: T, form: &MacroForm) -> SqlResult<T> {
        if self.depth == DEPTH_MAX {
            let message = format!("more than {DEPTH_MAX} macros stand for one another");
            return Err(SqlError::new(SqlState::STATEMENT_TOO_COMPLEX, message));
        }
        let levels = self.levels + levels::of_text(&form.body)?;
        levels::ask_room(levels)?;
        let mut inner = Expanding { depth: self.depth + 1, levels, found: false, ..*self };
        if let ControlFlow::Break(error) = walk::edit(&mut body, &mut inner) {
            return Err(error);
        }
        Ok(body)
    }

    /// A body with its own macros expanded, and then the arguments in their places.
    fn filled<T: VisitMut>(&self, body: T, form: &MacroForm, values: Vec<Expr>) -> SqlResult<T> {
        let mut body = self.within(body, form)?;
        let _ = walk::expressions_mut(&mut body, |expr| {
            if let Expr::Identifier(name) = expr {
                let name = ident(name);
                let place = form.parameters.iter().position(|it| it.name == name);
                if let Some(value) = place.and_then(|it| values.get(it)) {
                    *expr = Expr::Nested(Box::new(value.clone()));
                }
            }
            ControlFlow::<()>::Continue(())
        });
        Ok(body)
    }
}

/// A function that gives records, with the columns that its call says behind AS, which are names alone from there on; `None` of one
/// that says them itself.
fn told_columns(
    function: &SqlFunction,
    alias: &mut Option<TableAlias>,
) -> SqlResult<Option<SqlFunction>> {
    let is_told =
        alias.as_ref().is_some_and(|it| it.columns.iter().any(|it| it.data_type.is_some()));
    let syntax = |message: &str| Err(SqlError::new(SqlState::SYNTAX, message));
    if !function.returns.is_empty() {
        return match is_told {
            true => {
                syntax("a column definition list is redundant for a function that says its columns")
            }
            false => Ok(None),
        };
    }
    let Some(alias) = alias.as_mut().filter(|_| is_told) else {
        return syntax("a column definition list is required for functions returning \"record\"");
    };
    let mut returns = Vec::with_capacity(alias.columns.len());
    for column in &mut alias.columns {
        let Some(data_type) = column.data_type.take() else {
            return syntax("a column definition list has a type for each column");
        };
        returns.push((ident(&column.name), data_type.to_string()));
    }
    Ok(Some(SqlFunction { returns, ..function.clone() }))
}

/// A query with the numbers of its rows behind its columns.
fn numbered(query: Box<ast::Query>) -> SqlResult<Box<ast::Query>> {
    let text =
        "SELECT \"the rows\".*, row_number() OVER () AS ordinality FROM (SELECT 1) AS \"the rows\"";
    let mut whole = read(text, |it| it.parse_query())?;
    if let ast::SetExpr::Select(select) = &mut *whole.body
        && let Some(TableFactor::Derived { subquery, .. }) =
            select.from.first_mut().map(|it| &mut it.relation)
    {
        *subquery = query;
    }
    Ok(whole)
}

/// What a call of a macro means.
struct Chosen<'m> {
    of: &'m MacroDefinition,
    form: &'m MacroForm,
    /// Of its parameters.
    values: Vec<Expr>,
}

/// The first form of some macros that takes some arguments; `None` where none does and functions of other types may.
///
/// # Errors
/// 42883 where all of them are macros.
fn chosen<'m>(
    all: &'m [Arc<MacroDefinition>],
    arguments: &[FunctionArg],
) -> SqlResult<Option<Chosen<'m>>> {
    let Some(first) = all.first() else { return Ok(None) };
    let mut named: Vec<(String, &Expr)> = Vec::new();
    let mut placed: Vec<&Expr> = Vec::new();
    for argument in arguments {
        match argument {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(it)) if named.is_empty() => placed.push(it),
            FunctionArg::Named { name, arg: FunctionArgExpr::Expr(it), .. } => {
                named.push((ident(name), it));
            }
            _ => return Err(unsupported("this argument of a macro")),
        }
    }
    for (of, form) in all.iter().flat_map(|of| of.forms.iter().map(move |form| (of, form))) {
        if let Some(values) = values_of(form, &placed, &named) {
            return Ok(Some(Chosen { of, form, values: values? }));
        }
    }
    // Without names the binder tells of it, which knows the types of the arguments.
    if named.is_empty() && all.iter().any(|it| it.is_function()) {
        return Ok(None);
    }
    let message = format!(
        "{} {} does not take {} arguments, or not of these names",
        if first.is_function() { "function" } else { "macro" },
        first.name,
        arguments.len()
    );
    Err(SqlError::new(SqlState::UNDEFINED_FUNCTION, message))
}

/// The values of the parameters of a form; `None` where it does not take the arguments.
fn values_of(
    form: &MacroForm,
    placed: &[&Expr],
    named: &[(String, &Expr)],
) -> Option<SqlResult<Vec<Expr>>> {
    let is_known = |name: &str| {
        form.parameters.iter().position(|it| it.name == name).is_some_and(|it| it >= placed.len())
    };
    if placed.len() > form.parameters.len() || !named.iter().all(|it| is_known(&it.0)) {
        return None;
    }
    let mut values = Vec::with_capacity(form.parameters.len());
    for (place, parameter) in form.parameters.iter().enumerate() {
        let said = placed.get(place).copied();
        let said = said.or_else(|| named.iter().find(|it| it.0 == parameter.name).map(|it| it.1));
        values.push(match said {
            Some(it) => it.clone(),
            None => match crate::parse::expression(parameter.default.as_deref()?) {
                Ok(it) => it,
                Err(error) => return Some(Err(error)),
            },
        });
    }
    Some(Ok(values))
}
