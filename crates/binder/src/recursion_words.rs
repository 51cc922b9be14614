//! SEARCH and CYCLE of WITH RECURSIVE: columns of rows, or of the way to them, by which the rows of a recursion are put in order or
//! rows that come again are told.
//!
//! Key decision: both terms become subqueries that have the columns added, as the standard says it, so that recursion knows
//! nothing of them. The parser reads neither clause: its words become a WITH query of a name that no other has, which goes
//! when the query before it is changed.

use std::ops::ControlFlow;

use sqlparser::ast::{
    self, Cte, Expr, Ident, Query, SelectItem, SetExpr, TableFactor, TableWithJoins, VisitMut,
};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};
use types::{SqlError, SqlResult, SqlState};

use crate::fragments::read;
use crate::steering::is_word;
use crate::syntax::ident;
use crate::walk::{self, Editor, Uses};

/// The names of WITH queries that are clauses of the one before.
const SEARCH: &str = "search\n";
const CYCLE: &str = "cycle\n";

/// Whether a statement with such a token may have such a clause: the walk is for those alone.
pub(crate) fn is_about(token: &Token) -> bool {
    matches!(token, Token::Word(it) if it.quote_style.is_some() && (it.value == SEARCH || it.value == CYCLE))
}

/// Brings the clauses to what the parser knows; the tokens have no blanks.
pub(crate) fn known_words(tokens: &mut Vec<TokenWithSpan>) {
    if !tokens.iter().any(|it| is_word(&it.token, "recursive")) {
        return;
    }
    let mut at = 1;
    while at < tokens.len() {
        let found = match tokens[at - 1].token {
            Token::RParen => search(&tokens[at..]).or_else(|| cycle(&tokens[at..])),
            _ => None,
        };
        if let Some((length, name, items)) = found {
            let span = tokens[at].span;
            let made = clause(name, items).into_iter().map(|token| TokenWithSpan { token, span });
            let made: Vec<TokenWithSpan> = made.collect();
            let behind = at + made.len();
            tokens.splice(at..at + length, made);
            at = behind;
            continue;
        }
        at += 1;
    }
}

/// How many tokens a clause has, its name, and its parts.
type Clause = (usize, &'static str, Vec<Vec<Token>>);

/// `SEARCH DEPTH | BREADTH FIRST BY a, b SET c`: the order, `c`, then `a` and `b`.
fn search(tokens: &[TokenWithSpan]) -> Option<Clause> {
    let is = |at: usize, word: &str| tokens.get(at).is_some_and(|it| is_word(&it.token, word));
    let kinds = ["depth", "breadth"];
    let kind = kinds.into_iter().find(|it| is(1, it))?;
    if !(is(0, "search") && is(2, "first") && is(3, "by")) {
        return None;
    }
    let (columns, end) = names(tokens, 4)?;
    let set = is(end, "set").then(|| name(tokens, end + 1))??;
    let kind = vec![Token::SingleQuotedString(kind.to_owned())];
    Some((end + 2, SEARCH, [kind, set].into_iter().chain(columns).collect()))
}

/// `CYCLE a, b SET c [TO x DEFAULT y] USING d`: `c`, `x`, `y`, `d`, then `a` and `b`.
fn cycle(tokens: &[TokenWithSpan]) -> Option<Clause> {
    let is = |at: usize, word: &str| tokens.get(at).is_some_and(|it| is_word(&it.token, word));
    if !is(0, "cycle") {
        return None;
    }
    let (columns, end) = names(tokens, 1)?;
    let mark = is(end, "set").then(|| name(tokens, end + 1))??;
    let mut at = end + 2;
    let (mut to, mut default) =
        (vec![word("TRUE", Keyword::TRUE)], vec![word("FALSE", Keyword::FALSE)]);
    if is(at, "to") {
        let middle = (at + 1..tokens.len()).find(|it| is(*it, "default"))?;
        let last = (middle + 1..tokens.len()).find(|it| is(*it, "using"))?;
        let between = |from: usize, until: usize| {
            tokens[from..until].iter().map(|it| it.token.clone()).collect::<Vec<Token>>()
        };
        (to, default) = (between(at + 1, middle), between(middle + 1, last));
        at = last;
    }
    let path = is(at, "using").then(|| name(tokens, at + 1))??;
    Some((at + 2, CYCLE, [mark, to, default, path].into_iter().chain(columns).collect()))
}

fn name(tokens: &[TokenWithSpan], at: usize) -> Option<Vec<Token>> {
    match &tokens.get(at)?.token {
        it @ Token::Word(_) => Some(vec![it.clone()]),
        _ => None,
    }
}

/// Names with commas between them, and where they end.
fn names(tokens: &[TokenWithSpan], mut at: usize) -> Option<(Vec<Vec<Token>>, usize)> {
    let mut all = vec![name(tokens, at)?];
    at += 1;
    while tokens.get(at).is_some_and(|it| it.token == Token::Comma) {
        all.push(name(tokens, at + 1)?);
        at += 2;
    }
    Some((all, at))
}

fn word(value: &str, keyword: Keyword) -> Token {
    Token::Word(Word { value: value.to_owned(), quote_style: None, keyword })
}

/// `, "name" AS (SELECT item, item)`.
fn clause(name: &str, items: Vec<Vec<Token>>) -> Vec<Token> {
    let own = Word { value: name.to_owned(), quote_style: Some('"'), keyword: Keyword::NoKeyword };
    let mut made = vec![Token::Comma, Token::Word(own), word("AS", Keyword::AS), Token::LParen];
    made.push(word("SELECT", Keyword::SELECT));
    for (place, item) in items.into_iter().enumerate() {
        if place > 0 {
            made.push(Token::Comma);
        }
        made.extend(item);
    }
    made.push(Token::RParen);
    made
}

/// Adds the columns of such clauses to the queries that have them.
pub(crate) fn expanded(statement: &mut impl VisitMut) -> SqlResult<()> {
    walk::edit(statement, &mut Expanding).break_value().map_or(Ok(()), Err)
}

struct Expanding;

impl Editor for Expanding {
    fn pre_query(&mut self, query: &mut Query) -> ControlFlow<SqlError> {
        let Some(with) = &mut query.with else { return ControlFlow::Continue(()) };
        match of_with(std::mem::take(&mut with.cte_tables)) {
            Ok(changed) => {
                with.cte_tables = changed;
                ControlFlow::Continue(())
            }
            Err(error) => ControlFlow::Break(error),
        }
    }
}

fn of_with(queries: Vec<Cte>) -> SqlResult<Vec<Cte>> {
    let mut made: Vec<Cte> = Vec::with_capacity(queries.len());
    // What both clauses of a query add.
    let mut added: Option<Added> = None;
    for cte in queries {
        let name = &cte.alias.name;
        let is_clause = name.quote_style.is_some() && [SEARCH, CYCLE].contains(&&*name.value);
        match made.last_mut() {
            Some(before) if is_clause => added = Some(Added::of(&cte, before, added.take())?),
            last => {
                if let (Some(added), Some(before)) = (added.take(), last) {
                    added.add(before)?;
                }
                made.push(cte);
            }
        }
    }
    if let (Some(added), Some(before)) = (added, made.last_mut()) {
        added.add(before)?;
    }
    Ok(made)
}

/// Columns that a clause adds, as SQL over the columns of a term, which are those of `"a row"`.
struct Added {
    /// The names, and what they are in the term that is not recursive and in the one that is.
    columns: Vec<(Ident, String, String)>,
    /// Of the rows of the recursive query, which go on.
    goes_on: Option<String>,
}

fn wrong(message: String) -> SqlError {
    SqlError::new(SqlState::SYNTAX, message)
}

fn refused(what: &str) -> SqlError {
    SqlError::unsupported(format!("with a SEARCH or CYCLE clause, {what}"))
}

impl Added {
    /// What a clause adds to a query, behind what one before it does.
    fn of(clause: &Cte, query: &Cte, before: Option<Self>) -> SqlResult<Self> {
        let SetExpr::Select(select) = &*clause.query.body else {
            return Err(SqlError::internal("a clause of WITH RECURSIVE without items"));
        };
        let mut items = Vec::with_capacity(select.projection.len());
        for item in &select.projection {
            match item {
                SelectItem::UnnamedExpr(it) => items.push(it),
                _ => return Err(wrong("syntax error in a clause of WITH RECURSIVE".to_owned())),
            }
        }
        let known = columns_of(query)?;
        let own = match (&*clause.alias.name.value, &items[..]) {
            (SEARCH, [kind, set, by @ ..]) => Self::search(kind, set, by, &known),
            (_, [mark, to, default, path, by @ ..]) => {
                Self::cycle([mark, to, default, path], by, &known)
            }
            _ => Err(SqlError::internal("a clause of WITH RECURSIVE without parts")),
        }?;
        let made = match before {
            Some(before) => Self {
                columns: before.columns.into_iter().chain(own.columns).collect(),
                goes_on: before.goes_on.or(own.goes_on),
            },
            None => own,
        };
        for (place, (name, ..)) in made.columns.iter().enumerate() {
            let message =
                || format!("column name \"{}\" is used already in the WITH query", ident(name));
            if known.iter().any(|it| ident(it) == ident(name)) {
                return Err(SqlError::new(SqlState::AMBIGUOUS_COLUMN, message()));
            }
            if made.columns[..place].iter().any(|it| ident(&it.0) == ident(name)) {
                return Err(wrong(message()));
            }
        }
        Ok(made)
    }

    fn search(kind: &Expr, set: &Expr, by: &[&Expr], known: &[Ident]) -> SqlResult<Self> {
        let (name, by) = (name_of(set)?, listed(by, known, "search")?);
        let breadth = matches!(kind, Expr::Value(it)
            if it.value == ast::Value::SingleQuotedString("breadth".to_owned()));
        let (first, next) = match breadth {
            true => (
                format!("ROW(CAST(0 AS BIGINT), {by})"),
                format!("ROW((\"a row\".{name}).f1 + 1, {by})"),
            ),
            false => (format!("ARRAY[ROW({by})]"), format!("\"a row\".{name} || ROW({by})")),
        };
        Ok(Self { columns: vec![(name, first, next)], goes_on: None })
    }

    fn cycle(
        [mark, to, default, path]: [&Expr; 4],
        by: &[&Expr],
        known: &[Ident],
    ) -> SqlResult<Self> {
        let (mark, path, by) = (name_of(mark)?, name_of(path)?, listed(by, known, "cycle")?);
        let again =
            format!("CASE WHEN ROW({by}) = ANY (\"a row\".{path}) THEN {to} ELSE {default} END");
        let goes_on = format!("{mark} <> {to}");
        let way =
            (path.clone(), format!("ARRAY[ROW({by})]"), format!("\"a row\".{path} || ROW({by})"));
        Ok(Self { columns: vec![(mark, default.to_string(), again), way], goes_on: Some(goes_on) })
    }

    /// Adds the columns to a query.
    fn add(self, query: &mut Cte) -> SqlResult<()> {
        let known = columns_of(query)?;
        let name = query.alias.name.clone();
        let is_recursive = Uses::of(&query.query).count(&ident(&name)) > 0;
        let not_recursive = || wrong("WITH query is not recursive".to_owned());
        let SetExpr::SetOperation { op: ast::SetOperator::Union, left, right, .. } =
            &mut *query.query.body
        else {
            return Err(not_recursive());
        };
        if !is_recursive {
            return Err(not_recursive());
        }
        let SetExpr::Select(step) = &mut **right else {
            return Err(refused("the right side of the UNION must be a SELECT"));
        };
        let own: Vec<&Ident> = self.columns.iter().map(|it| &it.0).collect();
        self.carry(&name, &own, step)?;
        let listed = |all: &[&Ident]| {
            let all: Vec<String> = all.iter().map(ToString::to_string).collect();
            all.join(", ")
        };
        let named: Vec<&Ident> = known.iter().collect();
        let of_row: Vec<String> = known.iter().map(|it| format!("\"a row\".{it}")).collect();
        let term = |inner: &SetExpr, columns: String, second: bool| {
            let mut items = of_row.clone();
            items.extend(self.columns.iter().map(|(name, first, next)| {
                format!("{} AS {name}", if second { next } else { first })
            }));
            let items = items.join(", ");
            let text = format!("SELECT {items} FROM ({inner}) AS \"a row\"({columns})");
            read(&text, |it| it.parse_query()).map(|it| *it.body)
        };
        **left = term(left, listed(&named), false)?;
        let all: Vec<&Ident> = named.iter().chain(&own).copied().collect();
        **right = term(right, listed(&all), true)?;
        if !query.alias.columns.is_empty() {
            let column =
                |name: &Ident| ast::TableAliasColumnDef { name: name.clone(), data_type: None };
            query.alias.columns.extend(own.into_iter().map(column));
        }
        Ok(())
    }

    /// Takes the columns along in the recursive term, and leaves out rows that do not go on.
    fn carry(&self, name: &Ident, own: &[&Ident], step: &mut ast::Select) -> SqlResult<()> {
        let found = step.from.iter().find_map(|it| reference(it, name));
        let Some(reference) = found else {
            return Err(refused(
                "the recursive reference to the WITH query must be at the top level of its right-hand SELECT",
            ));
        };
        let hidden = || {
            Some(ast::ExcludeSelectItem::Multiple(
                own.iter().map(|it| ast::ObjectName::from(vec![(*it).clone()])).collect(),
            ))
        };
        for item in &mut step.projection {
            let options = match item {
                SelectItem::Wildcard(options) => options,
                SelectItem::QualifiedWildcard(
                    ast::SelectItemQualifiedWildcardKind::ObjectName(of),
                    options,
                ) if names_it(of, &reference) => options,
                _ => continue,
            };
            if options.opt_exclude.is_some() || options.opt_except.is_some() {
                return Err(refused("EXCLUDE in the recursive term is not supported"));
            }
            options.opt_exclude = hidden();
        }
        for name in own {
            let column = Expr::CompoundIdentifier(vec![reference.clone(), (*name).clone()]);
            step.projection.push(SelectItem::UnnamedExpr(column));
        }
        if let Some(goes_on) = &self.goes_on {
            let condition = read(&format!("{reference}.{goes_on}"), |it| it.parse_expr())?;
            step.selection = Some(match step.selection.take() {
                None => condition,
                Some(it) => Expr::BinaryOp {
                    left: Box::new(Expr::Nested(Box::new(it))),
                    op: ast::BinaryOperator::And,
                    right: Box::new(condition),
                },
            });
        }
        Ok(())
    }
}

/// The name by which a relation of the FROM means a WITH query.
fn reference(tables: &TableWithJoins, name: &Ident) -> Option<Ident> {
    let joined = tables.joins.iter().map(|it| &it.relation);
    std::iter::once(&tables.relation).chain(joined).find_map(|it| match it {
        TableFactor::Table { name: of, alias, args: None, .. } if names_it(of, name) => {
            Some(alias.as_ref().map_or_else(|| name.clone(), |it| it.name.clone()))
        }
        TableFactor::NestedJoin { table_with_joins, alias: None } => {
            reference(table_with_joins, name)
        }
        _ => None,
    })
}

/// Whether a name of one part is this one.
fn names_it(of: &ast::ObjectName, name: &Ident) -> bool {
    match &of.0[..] {
        [part] => part.as_ident().is_some_and(|it| ident(it) == ident(name)),
        _ => false,
    }
}

/// The names of the columns of a recursive query, as far as its text tells them.
fn columns_of(query: &Cte) -> SqlResult<Vec<Ident>> {
    if !query.alias.columns.is_empty() {
        return Ok(query.alias.columns.iter().map(|it| it.name.clone()).collect());
    }
    let mut body = &*query.query.body;
    while let SetExpr::SetOperation { left, .. } = body {
        body = left;
    }
    let name = |item: &SelectItem| match item {
        SelectItem::ExprWithAlias { alias, .. } => Some(alias.clone()),
        SelectItem::UnnamedExpr(Expr::Identifier(it)) => Some(it.clone()),
        SelectItem::UnnamedExpr(Expr::CompoundIdentifier(all)) => all.last().cloned(),
        _ => None,
    };
    let names = match body {
        SetExpr::Select(select) => select.projection.iter().map(name).collect::<Option<Vec<_>>>(),
        _ => None,
    };
    names.ok_or_else(|| {
        refused("the columns of the WITH query must have names")
            .with_hint("write them behind its name: WITH RECURSIVE t (a, b) AS ..")
    })
}

fn name_of(expr: &Expr) -> SqlResult<Ident> {
    match expr {
        Expr::Identifier(it) => Ok(it.clone()),
        other => Err(wrong(format!("syntax error: {other} is no name of a column"))),
    }
}

/// Columns of a clause, which the query must have.
fn listed(by: &[&Expr], known: &[Ident], what: &str) -> SqlResult<String> {
    let mut all: Vec<Ident> = Vec::with_capacity(by.len());
    for expr in by {
        let name = name_of(expr)?;
        if !known.iter().any(|it| ident(it) == ident(&name)) {
            let name = ident(&name);
            return Err(wrong(format!("{what} column \"{name}\" not in WITH query column list")));
        }
        if all.iter().any(|it| ident(it) == ident(&name)) {
            let message = format!("{what} column \"{}\" specified more than once", ident(&name));
            return Err(SqlError::new(SqlState::DUPLICATE_COLUMN, message));
        }
        all.push(name);
    }
    let all: Vec<String> = all.iter().map(|it| format!("\"a row\".{it}")).collect();
    Ok(all.join(", "))
}
