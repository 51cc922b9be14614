//! Functions of PostgreSQL's catalog and of DuckDB that are short in SQL: a call becomes what it stands for before anything is bound.

use std::ops::ControlFlow;

use sqlparser::ast::{
    self, Expr, FunctionArg, FunctionArgExpr, Ident, SelectItem, SetExpr, TableAlias, TableFactor,
};
use sqlparser::tokenizer::Token;
use types::key_words::{KINDS, UNRESERVED};
use types::{SqlError, SqlResult, names};

use crate::bind::aggregate_names;
use crate::fragments::read;
use crate::own_names::ROWS_FROM;
use crate::walk::{self, Editor};
use crate::{
    catalog_forms, catalog_tables, duckdb_forms, listed_aggregates, named_parts, percentile_lists,
};

/// Whether a statement with such tokens, one behind the other, may call one of these: the walk is for those alone.
pub(crate) fn is_about(name: &Token, behind: &Token) -> bool {
    let Token::Word(word) = name else { return false };
    let name = || word.value.to_lowercase();
    *behind == Token::LParen && (is_known(&name()) || catalog_tables::is_known(&name()))
}

pub(crate) fn is_known(name: &str) -> bool {
    matches!(
        name,
        "pg_size_pretty" | "quote_ident" | "date_part" | "datepart" | "regexp_extract_all"
    ) || listed_aggregates::takes_aggregate(name)
        || listed_aggregates::own_form(name).is_some()
        || percentile_lists::takes_share(name)
        || forms(name).is_some()
}

/// Puts what they stand for in the places of calls. In a select list a call gives its name to the column.
pub(crate) fn expanded(statement: &mut impl ast::VisitMut) -> SqlResult<()> {
    let _ = walk::edit(statement, &mut Naming);
    if let ControlFlow::Break(error) = walk::edit(statement, &mut Tables) {
        return Err(error);
    }
    match walk::edit(statement, &mut Calls::default()) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(error),
    }
}

/// Puts what they stand for in the places of calls.
#[derive(Default)]
struct Calls {
    /// Where the calls of ROWS FROM are, which give rows.
    rows: Vec<*const Expr>,
}

impl Editor for Calls {
    fn pre_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<SqlError> {
        let (name, args) = match factor {
            TableFactor::Function { name, args, .. } => (name, &*args),
            TableFactor::Table { name, args: Some(args), .. } => (name, &args.args),
            _ => return ControlFlow::Continue(()),
        };
        if name.0.last().and_then(|it| it.as_ident()).is_some_and(|it| it.value == ROWS_FROM) {
            let calls = args.iter().filter_map(|it| match it {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(it)) => Some(&raw const *it),
                _ => None,
            });
            self.rows.extend(calls);
        }
        ControlFlow::Continue(())
    }

    fn post_expr(&mut self, expr: &mut Expr) -> ControlFlow<SqlError> {
        let place = &raw const *expr;
        let Expr::Function(call) = expr else { return ControlFlow::Continue(()) };
        if self.rows.contains(&place) && is_of_pairs(call) {
            return ControlFlow::Continue(());
        }
        match made_of(call) {
            None => ControlFlow::Continue(()),
            Some(Ok(new)) => {
                *expr = new;
                ControlFlow::Continue(())
            }
            Some(Err(error)) => ControlFlow::Break(error),
        }
    }
}

/// Whether a call is of a function whose rows have two columns.
fn is_of_pairs(call: &ast::Function) -> bool {
    of_pairs(&call.name.to_string().to_lowercase()).is_some()
}

/// Puts the queries of functions in FROM in the places of their calls.
struct Tables;

impl Editor for Tables {
    fn pre_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<SqlError> {
        let Some((name, text)) = of_table(factor) else { return ControlFlow::Continue(()) };
        let subquery = match read(&text, |it| it.parse_query()) {
            Ok(it) => it,
            Err(error) => return ControlFlow::Break(error),
        };
        let (alias, sample) = match factor {
            TableFactor::Table { alias, sample, .. } => (alias, sample.take()),
            TableFactor::Function { alias, .. } => (alias, None),
            _ => return ControlFlow::Continue(()),
        };
        let own = TableAlias {
            explicit: false,
            name: Ident::with_quote('"', name),
            columns: Vec::new(),
            at: None,
        };
        let alias = Some(alias.take().unwrap_or(own));
        *factor = TableFactor::Derived { lateral: true, subquery, alias, sample };
        ControlFlow::Continue(())
    }
}

/// The name of a function in FROM and its query.
fn of_table(factor: &TableFactor) -> Option<(String, String)> {
    let (name, arguments) = match factor {
        TableFactor::Table { name, args: Some(args), with_ordinality: false, .. } => {
            (name, &args.args)
        }
        TableFactor::Function { name, args, with_ordinality: false, .. } => (name, args),
        _ => return None,
    };
    let name = table_function(&name.0)?;
    let argument = |it: &ast::FunctionArg| match it {
        ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(it)) => Some(it.to_string()),
        _ => None,
    };
    let arguments: Vec<String> = arguments.iter().map(argument).collect::<Option<_>>()?;
    let text = catalog_tables::query_of(&name, &arguments)?;
    Some((name, text))
}

/// The function that a name means, which the schema of the system may precede, and that of the standard must where it is one of it.
fn table_function(name: &[ast::ObjectNamePart]) -> Option<String> {
    let parts = name.iter().map(|it| Some(it.as_ident()?.value.to_lowercase()));
    let parts = parts.collect::<Option<Vec<_>>>()?;
    let (schema, name) = match &parts[..] {
        [name] => (names::CATALOG, name),
        [schema, name] => (&**schema, name),
        _ => return None,
    };
    let of_standard = name == catalog_tables::EXPAND_ARRAY;
    let own = if of_standard { names::INFORMATION } else { names::CATALOG };
    (schema == own && catalog_tables::is_known(name)).then(|| name.clone())
}

/// Names the columns that such calls are.
struct Naming;

impl Editor for Naming {
    fn pre_query(&mut self, query: &mut ast::Query) -> ControlFlow<SqlError> {
        name_columns(&mut query.body, &|call| name_of(call).filter(|it| is_known(it)));
        ControlFlow::Continue(())
    }
}

/// Gives columns of a select list that are calls of some functions the names of these, which `named` tells.
pub(crate) fn name_columns(body: &mut SetExpr, named: &dyn Fn(&ast::Function) -> Option<String>) {
    match body {
        SetExpr::Select(select) => {
            for item in &mut select.projection {
                if let SelectItem::UnnamedExpr(Expr::Function(call)) = item
                    && let Some(name) = named(call)
                {
                    let expr = Expr::Function(call.clone());
                    let alias = Ident::with_quote('"', name);
                    *item = SelectItem::ExprWithAlias { expr, alias };
                }
            }
        }
        SetExpr::SetOperation { left, right, .. } => {
            name_columns(left, named);
            name_columns(right, named);
        }
        // Queries are met by themselves.
        _ => {}
    }
}

fn name_of(call: &ast::Function) -> Option<String> {
    let (schema, name) = match &call.name.0[..] {
        [name] => (names::CATALOG.to_owned(), name.as_ident()?.value.to_lowercase()),
        [schema, name] => {
            (schema.as_ident()?.value.to_lowercase(), name.as_ident()?.value.to_lowercase())
        }
        _ => return None,
    };
    let own = match catalog_forms::is_of_standard(&name) {
        true => names::INFORMATION,
        false => names::CATALOG,
    };
    (schema == own).then_some(name)
}

/// What a call becomes. An aggregate by another name keeps its rows; what is more than that has no OVER and no FILTER.
fn made_of(call: &mut ast::Function) -> Option<SqlResult<Expr>> {
    if let Some(of_shares) = percentile_lists::expansion(&name_of(call)?, call) {
        return Some(read(&of_shares, |it| it.parse_expr()));
    }
    if let Some(kept) = listed_aggregates::of_kept(&name_of(call)?, call) {
        return made_of(&mut { kept });
    }
    let (over, filter) = (call.over.take(), call.filter.take());
    let is_bare = over.is_none() && filter.is_none();
    match of_call(call).map(|text| read(&text, |it| it.parse_expr())) {
        Some(Ok(Expr::Function(new))) if !is_bare && is_aggregate(&new) => {
            Some(Ok(Expr::Function(ast::Function { over, filter, ..new })))
        }
        made => {
            (call.over, call.filter) = (over, filter);
            made.filter(|_| is_bare)
        }
    }
}

fn of_call(call: &ast::Function) -> Option<String> {
    let name = name_of(call)?;
    let ast::FunctionArguments::List(list) = &call.args else { return None };
    if list.duplicate_treatment.is_some() || !list.clauses.is_empty() {
        return None;
    }
    let arguments = plain(list)?;
    if let Some(of_names) = named_parts::expansion(&name, &arguments) {
        return Some(of_names);
    }
    if let Some(of_items) = listed_aggregates::expansion(&name, &arguments) {
        return Some(of_items);
    }
    let arguments: Vec<String> = arguments.iter().map(|it| it.to_string()).collect();
    expansion(&name, &arguments)
}

/// Whether a call is one of an aggregate without a window.
fn is_aggregate(call: &ast::Function) -> bool {
    let name = name_of(call).unwrap_or_default();
    call.over.is_none() && aggregate_names().any(|it| it == name)
}

/// The arguments of a call that have neither names nor `*` among them.
fn plain(list: &ast::FunctionArgumentList) -> Option<Vec<&Expr>> {
    let argument = |it| match it {
        &ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(ref it)) => Some(it),
        _ => None,
    };
    list.args.iter().map(argument).collect()
}

/// What a call of a function stands for; `None` for one that is none of these. Arguments are SQL, and may stand several times.
fn expansion(name: &str, arguments: &[String]) -> Option<String> {
    match (name, arguments) {
        ("quote_ident", [name]) => {
            let reserved = KINDS.iter().filter(|it| it.0 != UNRESERVED);
            let words = reserved.flat_map(|it| it.2.split_ascii_whitespace());
            let known: Vec<String> = words.map(|it| format!("'{it}'")).collect();
            Some(format!(
                "(CASE WHEN {name} ~ '^[a-z_][a-z0-9_]*$' AND {name} NOT IN ({}) THEN {name} \
                 ELSE '\"' || replace({name}, '\"', '\"\"') || '\"' END)",
                known.join(", ")
            ))
        }
        ("pg_size_pretty", [bytes]) => Some(pretty(&format!("CAST({bytes} AS BIGINT)"))),
        _ => {
            let form = forms(name)?.iter().find(|it| it.0 == arguments.len())?;
            Some(filled(form.1, arguments))
        }
    }
}

/// A form with arguments in the places of `{1}`, `{2}` and so on.
fn filled(form: &str, arguments: &[String]) -> String {
    let mut text = String::with_capacity(form.len());
    let mut parts = form.split('{');
    text.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let (number, rest) = part.split_once('}').unwrap_or((part, ""));
        let place = number.parse::<usize>().unwrap_or(0);
        if let Some(argument) = place.checked_sub(1).and_then(|it| arguments.get(it)) {
            text.push_str(argument);
        }
        text.push_str(rest);
    }
    text
}

/// What calls of a function of DuckDB or of the catalog stand for, each form with the number of its arguments.
fn forms(name: &str) -> Option<&'static [(usize, &'static str)]> {
    let of_duckdb = of_times(name).or_else(|| of_texts(name)).or_else(|| of_values(name));
    let own = of_duckdb.or_else(|| of_pairs(name)).or_else(|| of_session(name));
    own.or_else(|| duckdb_forms::forms(name)).or_else(|| catalog_forms::forms(name))
}

fn of_times(name: &str) -> Option<&'static [(usize, &'static str)]> {
    Some(match name {
        "last_day" => &[(
            1,
            "CAST(date_trunc('month', CAST({1} AS TIMESTAMP)) + INTERVAL '1 month -1 day' AS DATE)",
        )],
        "dayname" => &[(1, "to_char({1}, 'FMDay')")],
        "monthname" => &[(1, "to_char({1}, 'FMMonth')")],
        "yearweek" => &[(1, "CAST(to_char({1}, 'IYYYIW') AS BIGINT)")],
        "date_add" => &[
            (2, "(({1}) + ({2}))"),
            // Days and months are those of the zone, hours are as long everywhere.
            (
                3,
                "(((CAST({1} AS TIMESTAMPTZ) AT TIME ZONE {3}) + date_trunc('day', CAST({2} AS INTERVAL))) \
                 AT TIME ZONE {3} + (CAST({2} AS INTERVAL) - date_trunc('day', CAST({2} AS INTERVAL))))",
            ),
        ],
        "date_subtract" => &[
            (2, "(CAST({1} AS TIMESTAMPTZ) - CAST({2} AS INTERVAL))"),
            (
                3,
                "(((CAST({1} AS TIMESTAMPTZ) AT TIME ZONE {3}) - date_trunc('day', CAST({2} AS INTERVAL))) \
                 AT TIME ZONE {3} - (CAST({2} AS INTERVAL) - date_trunc('day', CAST({2} AS INTERVAL))))",
            ),
        ],
        "pg_sleep_for" => {
            &[(1, "pg_sleep(CAST(extract(epoch FROM CAST({1} AS INTERVAL)) AS DOUBLE PRECISION))")]
        }
        "pg_sleep_until" => &[(
            1,
            "pg_sleep(CAST(extract(epoch FROM CAST({1} AS TIMESTAMPTZ) - clock_timestamp()) \
             AS DOUBLE PRECISION))",
        )],
        "nanosecond" => &[(1, "(CAST(extract(microseconds FROM {1}) AS BIGINT) * 1000)")],
        "epoch_us" => &[(1, "CAST(extract(epoch FROM {1}) * 1000000 AS BIGINT)")],
        "epoch_ns" => &[(1, "(CAST(extract(epoch FROM {1}) * 1000000 AS BIGINT) * 1000)")],
        "to_millennia" => &[(1, "(({1}) * INTERVAL '1000 years')")],
        "to_centuries" => &[(1, "(({1}) * INTERVAL '100 years')")],
        "to_decades" => &[(1, "(({1}) * INTERVAL '10 years')")],
        "to_years" => &[(1, "(({1}) * INTERVAL '1 year')")],
        "to_quarters" => &[(1, "(({1}) * INTERVAL '3 months')")],
        "to_months" => &[(1, "(({1}) * INTERVAL '1 month')")],
        "to_weeks" => &[(1, "(({1}) * INTERVAL '7 days')")],
        "to_days" => &[(1, "(({1}) * INTERVAL '1 day')")],
        "to_hours" => &[(1, "(({1}) * INTERVAL '1 hour')")],
        "to_minutes" => &[(1, "(({1}) * INTERVAL '1 minute')")],
        "to_seconds" => &[(1, "(({1}) * INTERVAL '1 second')")],
        "to_milliseconds" => &[(1, "(({1}) * INTERVAL '1 millisecond')")],
        "to_microseconds" => &[(1, "(({1}) * INTERVAL '1 microsecond')")],
        "ago" => &[(1, "(now() - CAST({1} AS INTERVAL))")],
        "get_current_timestamp" => &[(0, "now()")],
        "timeofday" => &[(0, "to_char(clock_timestamp(), 'Dy Mon DD HH24:MI:SS.US YYYY TZ')")],
        // PostgreSQL's is a text without letters, DuckDB's is NULL.
        "sleep_ms" => &[(1, "NULLIF(CAST(pg_sleep(({1}) / 1000.0) AS TEXT), '')")],
        _ => return None,
    })
}

fn of_texts(name: &str) -> Option<&'static [(usize, &'static str)]> {
    Some(match name {
        "string_split" | "str_split" | "split" => &[(
            2,
            "(CASE WHEN {1} = '' AND {2} <> '' THEN ARRAY[''] WHEN {2} IS NULL AND {1} IS NOT NULL \
             THEN ARRAY[CAST({1} AS TEXT)] ELSE string_to_array({1}, NULLIF({2}, '')) END)",
        )],
        "regexp_extract" => &[
            (
                2,
                "(CASE WHEN {1} IS NOT NULL AND {2} IS NOT NULL \
                 THEN coalesce((regexp_match({1}, '(' || {2} || ')'))[1], '') END)",
            ),
            (
                3,
                "(CASE WHEN {1} IS NOT NULL AND {2} IS NOT NULL \
                 THEN coalesce((regexp_match({1}, '(' || {2} || ')'))[({3}) + 1], '') END)",
            ),
        ],
        "regexp_full_match" => &[(2, "(({1}) ~ ('^(?:' || ({2}) || ')$'))")],
        "unicode" => &[(1, "(CASE WHEN {1} = '' THEN -1 ELSE ascii({1}) END)")],
        "base64" | "to_base64" => &[(1, "encode(CAST({1} AS BYTEA), 'base64')")],
        "from_base64" => &[(1, "decode({1}, 'base64')")],
        "convert" => &[(3, "convert_to(convert_from({1}, {2}), {3})")],
        "json_valid" => &[(1, "(({1}) IS JSON)")],
        "json" => &[(1, "CAST({1} AS JSON)")],
        _ => return None,
    })
}

fn of_pairs(name: &str) -> Option<&'static [(usize, &'static str)]> {
    Some(match name {
        // In a select list: each of their rows as one value. In FROM they are no calls in expressions.
        "json_each" => {
            &[(1, "unnest(ARRAY(SELECT \"the pair\" FROM json_each({1}) AS \"the pair\"))")]
        }
        "json_each_text" => {
            &[(1, "unnest(ARRAY(SELECT \"the pair\" FROM json_each_text({1}) AS \"the pair\"))")]
        }
        "jsonb_each" => {
            &[(1, "unnest(ARRAY(SELECT \"the pair\" FROM jsonb_each({1}) AS \"the pair\"))")]
        }
        "jsonb_each_text" => {
            &[(1, "unnest(ARRAY(SELECT \"the pair\" FROM jsonb_each_text({1}) AS \"the pair\"))")]
        }
        _ => return None,
    })
}

fn of_session(name: &str) -> Option<&'static [(usize, &'static str)]> {
    Some(match name {
        "current_query" => {
            &[(0, "(SELECT query FROM pg_stat_activity WHERE pid = pg_backend_pid())")]
        }
        "inet_client_addr" => {
            &[(0, "(SELECT client_addr FROM pg_stat_activity WHERE pid = pg_backend_pid())")]
        }
        "inet_client_port" => {
            &[(0, "(SELECT client_port FROM pg_stat_activity WHERE pid = pg_backend_pid())")]
        }
        _ => return None,
    })
}

fn of_values(name: &str) -> Option<&'static [(usize, &'static str)]> {
    Some(match name {
        "width_bucket" => &[(
            2,
            "(CASE WHEN ({1}) IS NOT NULL AND ({2}) IS NOT NULL THEN CAST((SELECT count(*) \
             FROM unnest({2}) AS \"the bounds\" (\"the bound\") WHERE \"the bound\" <= ({1})) AS INTEGER) END)",
        )],
        // There is no log of the server's beside that which it writes to its output, nobody sees another's temporary schema, and there
        // are neither triggers nor policies of rows.
        "pg_current_logfile" => &[(0, "CAST(NULL AS TEXT)"), (1, "CAST(NULL AS TEXT)")],
        "pg_is_other_temp_schema" => &[(1, "(CAST({1} AS BIGINT) < 0)")],
        "pg_trigger_depth" => &[(0, "0")],
        "row_security_active" => &[(1, "(CAST({1} AS REGCLASS) <> CAST({1} AS REGCLASS))")],
        "add" => &[(2, "(({1}) + ({2}))")],
        "count_star" => &[(0, "count(*)")],
        "subtract" => &[(2, "(({1}) - ({2}))")],
        "multiply" => &[(2, "(({1}) * ({2}))")],
        "divide" => &[(2, "(({1}) // ({2}))")],
        "xor" => &[(2, "(({1}) # ({2}))")],
        "fdiv" => &[(2, "floor(CAST({1} AS DOUBLE PRECISION) / ({2}))")],
        "isinf" => &[(1, "(abs(CAST({1} AS DOUBLE PRECISION)) = 'Infinity')")],
        "if" => &[(3, "(CASE WHEN {1} THEN {2} ELSE {3} END)")],
        "list_select" | "array_select" => {
            &[(2, "list_transform({2}, lambda \"the place\" : ({1})[\"the place\"])")]
        }
        "list_where" | "array_where" => &[(
            2,
            "(CASE WHEN ({1}) IS NOT NULL THEN list_transform(\
                 array_positions(CAST({2} AS BOOLEAN[]), TRUE), lambda \"the place\" : \
                 ({1})[\"the place\"]) END)",
        )],
        "range" => &[
            (1, "(CASE WHEN ({1}) IS NOT NULL THEN ARRAY(SELECT \"range\" FROM range({1})) END)"),
            (
                2,
                "(CASE WHEN ({1}) IS NOT NULL AND ({2}) IS NOT NULL \
                 THEN ARRAY(SELECT \"range\" FROM range({1}, {2})) END)",
            ),
            (
                3,
                "(CASE WHEN ({1}) IS NOT NULL AND ({2}) IS NOT NULL AND ({3}) IS NOT NULL \
                 THEN ARRAY(SELECT \"range\" FROM range({1}, {2}, {3})) END)",
            ),
        ],
        "list_intersect" | "array_intersect" => &[(
            2,
            "list_distinct(list_filter((CASE WHEN TRUE THEN {1} ELSE {2} END), lambda \"the item\" : \
             list_contains({2}, \"the item\")))",
        )],
        // Without any weight it is what floats make of it.
        "weighted_avg" | "wavg" => &[(
            2,
            "(CASE WHEN sum(CASE WHEN ({1}) IS NOT NULL THEN CAST({2} AS DOUBLE PRECISION) END) <> 0 \
             THEN sum(CAST({1} AS DOUBLE PRECISION) * ({2})) \
             / sum(CASE WHEN ({1}) IS NOT NULL THEN CAST({2} AS DOUBLE PRECISION) END) \
             WHEN sum(CAST({1} AS DOUBLE PRECISION) * ({2})) > 0 THEN CAST('Infinity' AS DOUBLE PRECISION) \
             WHEN sum(CAST({1} AS DOUBLE PRECISION) * ({2})) < 0 THEN CAST('-Infinity' AS DOUBLE PRECISION) \
             WHEN sum(CAST({1} AS DOUBLE PRECISION) * ({2})) = 0 THEN CAST('NaN' AS DOUBLE PRECISION) END)",
        )],
        _ => return listed_aggregates::of_items(name),
    })
}

/// A number of bytes in the largest unit of which there are ten, rounded by halves.
fn pretty(bytes: &str) -> String {
    let mut text = format!("(CASE WHEN abs({bytes}) < 10240 THEN {bytes} || ' bytes'");
    let mut halves = 512_u64;
    for unit in ["kB", "MB", "GB", "TB"] {
        let in_halves = format!("({bytes} / {halves})");
        let rounded = rounded(bytes, halves);
        text.push_str(&format!(" WHEN abs({in_halves}) < 20479 THEN {rounded} || ' {unit}'"));
        halves *= 1024;
    }
    let rounded = rounded(bytes, halves);
    text.push_str(&format!(" ELSE {rounded} || ' PB' END)"));
    text
}

/// A number of bytes in a unit of so many times two, rounded away from zero.
fn rounded(bytes: &str, halves: u64) -> String {
    format!("((({bytes} / {halves}) + CASE WHEN {bytes} < 0 THEN -1 ELSE 1 END) / 2)")
}
