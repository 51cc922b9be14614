//! Calls of macros become what they stand for before anything is bound.
//!
//! Key decision: on the parsed query, with arguments in the places of parameters, so that a macro is no function: it may hold subqueries,
//! aggregates and windows, and its arguments may be computed several times.

use std::cell::Cell;
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
use crate::function_words::is_of_one_row;
use crate::levels;
use crate::overloads::{self, Candidate};
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
    let calls = Cell::new(0);
    let (calls, is_kept) = (&calls, false);
    let mut expanding = Expanding { catalog, depth: 0, levels: 0, found: false, calls, is_kept };
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
    let calls = Cell::new(0);
    let (calls, is_kept) = (&calls, true);
    let mut expanding = Expanding { catalog, depth: 0, levels: 0, found: false, calls, is_kept };
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
    /// How many calls there are whose functions binding chooses.
    calls: &'a Cell<usize>,
    /// Whether the text is kept and not bound.
    is_kept: bool,
}

impl Editor for Expanding<'_> {
    /// A column that is a call of a function has its name.
    fn pre_query(&mut self, query: &mut ast::Query) -> ControlFlow<SqlError> {
        let named = |call: &ast::Function| {
            // What is wrong with the name is told of the call.
            let all = self.meant(&call.name).unwrap_or_default();
            all.iter().find(|it| it.is_function()).map(|it| it.bare_name())
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

/// Puts what there is in the place of the first relation.
struct Putting(Option<TableFactor>);

impl Editor for Putting {
    fn pre_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<SqlError> {
        if let Some(it) = self.0.take() {
            *factor = it;
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
        let (of_rows, all): (Vec<_>, Vec<_>) =
            self.meant(&call.name)?.into_iter().partition(|it| it.is_table);
        if all.is_empty() && !of_rows.iter().any(|it| it.is_function()) {
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
        if all.is_empty() {
            return self.rows_as_values(&call.name, &of_rows, list);
        }
        let fitting = fitting(&all, &list.args)?;
        match self.is_told_by_names(&fitting)? {
            true => fitting.into_iter().next().map(|it| self.value(it)).transpose(),
            false => {
                let candidates = fitting.into_iter().map(|it| {
                    let it = it.of_call_number(self.next_call());
                    Ok(Candidate { types: it.types(), body: self.value(it)? })
                });
                let candidates = candidates.collect::<SqlResult<_>>()?;
                let given = values_said(&list.args);
                let call = overloads::call(&call.name.to_string(), candidates, given);
                Ok(Some(Expr::Function(call)))
            }
        }
    }

    /// The rows that a call in an expression gives, each as one value.
    fn rows_as_values(
        &self,
        name: &ast::ObjectName,
        of_rows: &[Arc<MacroDefinition>],
        list: &ast::FunctionArgumentList,
    ) -> SqlResult<Option<Expr>> {
        let fitting = fitting(of_rows, &list.args)?;
        let Some(first) = fitting.first().map(|it| &it.form) else { return Ok(None) };
        let width = first.function.as_ref().map_or(0, |it| it.returns.len());
        if width == 0 {
            return Err(unsupported(
                "rows of a function that returns RECORD, without their columns",
            ));
        }
        let ident = |it: &str| Ident::with_quote('"', it);
        let column = |name| ast::TableAliasColumnDef { name, data_type: None };
        let (row, columns) = match width {
            1 => ("\"the row\".\"the value\"", vec![column(ident("the value"))]),
            _ => ("\"the row\"", Vec::new()),
        };
        let call = TableFactor::Function {
            lateral: false,
            name: name.clone(),
            args: list.args.clone(),
            with_ordinality: false,
            alias: Some(TableAlias { explicit: true, name: ident("the row"), columns, at: None }),
        };
        let rows = format!("(SELECT {row} FROM \"the call\")");
        let text = match is_of_one_row(&first.body) {
            true => rows,
            false => format!("unnest(ARRAY{rows})"),
        };
        let mut whole = read(&text, |it| it.parse_expr())?;
        let mut putting = Putting(self.of_table(&call)?);
        match walk::edit(&mut whole, &mut putting) {
            ControlFlow::Continue(()) => Ok(Some(whole)),
            ControlFlow::Break(error) => Err(error),
        }
    }

    /// Whether the number and the names of the arguments alone tell what a call means.
    ///
    /// # Errors
    /// 0A000 where nobody will look at their types.
    fn is_told_by_names(&self, fitting: &[Chosen]) -> SqlResult<bool> {
        let is_told = matches!(fitting, [] | [_]) && !fitting.iter().any(Chosen::is_polymorphic);
        match is_told || !self.is_kept {
            true => Ok(is_told),
            false => Err(unsupported(
                "a call of a function of which several take as many arguments, or of polymorphic types, in what a table or a domain keeps",
            )),
        }
    }

    fn next_call(&self) -> usize {
        self.calls.set(self.calls.get() + 1);
        self.calls.get()
    }

    /// What a call in an expression stands for.
    fn value(&self, Chosen { of, form, values, .. }: Chosen) -> SqlResult<Expr> {
        if let Some(function) = &form.function {
            let body = self.within(crate::parse::query(&form.body)?, &form)?;
            return sql_functions::value(&of.bare_name(), (&form, function), (body, values));
        }
        let body = crate::parse::expression(&form.body)?;
        let body = self.filled(body, &form, values)?;
        Ok(Expr::Nested(Box::new(body)))
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
        let fitting = fitting(&all, arguments)?;
        let Some(bare) = fitting.first().map(|it| it.of.bare_name()) else { return Ok(None) };
        let lateral = !fitting[0].values.is_empty();
        let is_told = self.is_told_by_names(&fitting)?;
        let (mut alias, mut candidates) = (alias.clone(), Vec::new());
        for it in fitting {
            let it = if is_told { it } else { it.of_call_number(self.next_call()) };
            let (types, mut own) = (it.types(), alias.clone());
            let query = self.rows(it, &mut own, is_numbered)?;
            candidates.push((types, query, own));
        }
        let own = TableAlias {
            explicit: false,
            name: Ident::with_quote('"', &bare),
            columns: Vec::new(),
            at: None,
        };
        // Arguments may be columns of what stands before the call.
        let sample = match factor {
            TableFactor::Table { sample, .. } => sample.clone(),
            _ => None,
        };
        if is_told {
            let Some((_, subquery, alias)) = candidates.pop() else { return Ok(None) };
            let alias = Some(alias.unwrap_or(own));
            return Ok(Some(TableFactor::Derived { lateral, subquery, alias, sample }));
        }
        if sample.is_some() {
            return Err(unsupported("a sample of a function that others have the name of"));
        }
        if let Some((.., told)) = candidates.first() {
            alias.clone_from(told);
        }
        let candidate = |(types, query, _)| Candidate { types, body: Expr::Subquery(query) };
        let candidates = candidates.into_iter().map(candidate).collect();
        let args = overloads::arguments_of(&name.to_string(), candidates, values_said(arguments));
        Ok(Some(TableFactor::Function {
            lateral: true,
            name: overloads::own_name(),
            args,
            with_ordinality: false,
            alias: Some(alias.unwrap_or(own)),
        }))
    }

    /// The rows that a call in FROM stands for.
    fn rows(
        &self,
        Chosen { of, form, values, .. }: Chosen,
        alias: &mut Option<TableAlias>,
        is_numbered: bool,
    ) -> SqlResult<Box<ast::Query>> {
        let bare = of.bare_name();
        let query = crate::parse::query(&form.body)?;
        let subquery = match &form.function {
            Some(function) if of.is_table => {
                let made = (self.within(query, &form)?, values);
                let told = told_columns(function, alias)?;
                let function = told.as_ref().unwrap_or(function);
                // A column that has no name of its own is called as the relation.
                if let ([(column, _)], Some(alias)) = (&function.returns[..], alias)
                    && *column == bare
                    && alias.columns.is_empty()
                {
                    let name = alias.name.clone();
                    alias.columns.push(ast::TableAliasColumnDef { name, data_type: None });
                }
                sql_functions::rows(&bare, (&form, function), made)?
            }
            Some(function) => {
                let made = (self.within(query, &form)?, values);
                let value = sql_functions::value(&bare, (&form, function), made)?;
                let column = alias.as_ref().map_or(&bare, |it| &it.name.value);
                sql_functions::row_of(value, column)?
            }
            None => self.filled(query, &form, values)?,
        };
        match is_numbered {
            true if of.is_function() => numbered(subquery),
            true => Err(unsupported("WITH ORDINALITY of a macro")),
            false => Ok(subquery),
        }
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

/// What a call of a macro may mean.
struct Chosen {
    of: Arc<MacroDefinition>,
    form: MacroForm,
    /// Of its parameters.
    values: Vec<Expr>,
    /// The places of the parameters that the arguments of the call are.
    places: Vec<usize>,
}

impl Chosen {
    fn is_polymorphic(&self) -> bool {
        let types = self.form.function.as_ref().map_or(&[][..], |it| &it.types);
        types.iter().any(|it| overloads::is_polymorphic(it))
    }

    fn of_call_number(mut self, number: usize) -> Self {
        self.form.function = self.form.function.map(|it| overloads::of_call_number(&it, number));
        self
    }

    /// The types of the parameters that the arguments of the call are.
    fn types(&self) -> Vec<String> {
        let Some(function) = &self.form.function else { return Vec::new() };
        self.places.iter().filter_map(|it| function.types.get(*it).cloned()).collect()
    }
}

/// The arguments of a call without their names.
fn values_said(arguments: &[FunctionArg]) -> Vec<Expr> {
    let value = |it: &FunctionArg| match it {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(it))
        | FunctionArg::Named { arg: FunctionArgExpr::Expr(it), .. } => Some(it.clone()),
        _ => None,
    };
    arguments.iter().filter_map(value).collect()
}

/// What a call of some macros may mean: the first form of a macro that takes its arguments, or all functions that do; none where none
/// does and functions of other types may.
///
/// # Errors
/// 42883 where all of them are macros.
fn fitting(all: &[Arc<MacroDefinition>], arguments: &[FunctionArg]) -> SqlResult<Vec<Chosen>> {
    let Some(first) = all.first() else { return Ok(Vec::new()) };
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
    let mut found: Vec<Chosen> = Vec::new();
    for (of, form) in all.iter().flat_map(|of| of.forms.iter().map(move |form| (of, form))) {
        let Some(values) = values_of(form, &placed, &named) else { continue };
        let place = |it: &(String, &Expr)| form.parameters.iter().position(|of| of.name == it.0);
        let places = (0..placed.len()).chain(named.iter().filter_map(place)).collect();
        let (of, form) = (of.clone(), form.clone());
        let one = Chosen { of, form, values: values?, places };
        if one.form.function.is_none() {
            if found.is_empty() {
                return Ok(vec![one]);
            }
            continue;
        }
        // Of the same types the first schema has the one that is meant, and in it one that needs no defaults.
        let schema = |it: &Chosen| names::schema_of(&it.of.name).to_owned();
        match found.iter_mut().find(|it| it.types() == one.types()) {
            Some(it) if schema(it) == schema(&one) && one.places.len() == one.values.len() => {
                *it = one;
            }
            Some(_) => {}
            None => found.push(one),
        }
    }
    // Without names the binder tells of it, which knows the types of the arguments.
    let may_be_others = named.is_empty() && all.iter().any(|it| it.is_function());
    if !found.is_empty() || may_be_others {
        return Ok(found);
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
