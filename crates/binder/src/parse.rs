//! SQL text to statements.

use crate::dialect::Postgres;
use sqlparser::ast::{self, ObjectType, Set};
use sqlparser::keywords::Keyword;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, TokenWithSpan};
use stdx::stack::{self, Deep};
use types::{SqlError, SqlResult, SqlState};

use crate::column::column;
use crate::data_types::data_type;
use crate::definition_words::Reading;
use crate::design::DesignClause;
use crate::fragments::read;
use crate::levels::{self, levels, names_are_sound, tables_are_sound};
use crate::numa::{self, Recognised};
use crate::parsed_query::ParsedQuery;
use crate::row_changes::{changing, locking};
use crate::statement::{ExplainFormat, Statement};
use crate::syntax::{
    NESTED_MAX, bare_query, dotted, ident, name, syntax, too_deep, unknown, unsupported,
};
use crate::tokenizing::tokenized;
use crate::{
    alter, asof, block_words, call_words, chained, clauses, comment_words, comprehension,
    conflict_words, constraint_words, copy, copy_options, cursor_words, domain_words,
    extension_words, file_calls, folders, frames, friendly_words, from_first, generated_columns,
    item_assignment, json_table_words, keys, lambda, like_words, lock_words, macro_words,
    maintenance, merge_words, new_constraints, notify_words, overriding, parameters, pivot_words,
    pivots, positional, recursion_words, rewrite, role_words, sample_words, schema_words,
    sequence_words, show_words, steering, steps, storage_words, struct_words, subscripts,
    table_actions, temporary, tokens, transactions, type_words, variable_words, view_words,
    written_in_sql,
};

/// Parses statements separated by semicolons. Their trees may be deep: they are to be walked and dropped with room for
/// their levels. What is deeper than there is room for is refused (54001).
pub fn parse(sql: &str) -> SqlResult<Deep<Vec<Statement>>> {
    let tokens = tokens::plain(sql).map_or_else(|| tokenized(sql), Ok)?;
    let levels = levels(&tokens) + levels::of_body(&tokens);
    if levels > stack::LEVELS_MAX {
        return Err(too_deep());
    }
    let statements = stack::with_levels(levels, || statements(tokens))?;
    Ok(Deep::new(statements, levels))
}

fn statements(mut tokens: Vec<TokenWithSpan>) -> SqlResult<Vec<Statement>> {
    let ends = |it: &TokenWithSpan| matches!(it.token, Token::SemiColon);
    let mut statements = Vec::new();
    let last = tokens.iter().rposition(|it| !ends(it) && !is_blank(&it.token));
    tokens.truncate(last.map_or(0, |it| it + 1));
    // The tokens of a single statement stay where they are.
    if !tokens.iter().any(ends) {
        one(tokens, &mut statements)?;
        return Ok(statements);
    }
    let mut tokens = tokens.into_iter().peekable();
    while tokens.peek().is_some() {
        one(tokens.by_ref().take_while(|it| !ends(it)).collect(), &mut statements)?;
    }
    Ok(statements)
}

/// Parses one statement, or nothing but white space.
fn one(mut tokens: Vec<TokenWithSpan>, statements: &mut Vec<Statement>) -> SqlResult<()> {
    // The parser would step over each blank again and again.
    tokens.retain(|it| !is_blank(&it.token));
    let elements = schema_words::elements_at(&tokens);
    if !elements.is_empty() {
        statements.push(schema_with(tokens, &elements)?);
        return Ok(());
    }
    names_are_sound(&tokens)?;
    tables_are_sound(&tokens)?;
    let copy_options = copy_options::take(&mut tokens)?;
    known_words(&mut tokens)?;
    new_constraints::take_not_valid(&mut tokens)?;
    let likes = like_words::take(&mut tokens)?;
    let has_rows = view_words::take_data(&mut tokens);
    let check_option = view_words::take_check_option(&mut tokens);
    let deferrable = transactions::take_deferrable(&mut tokens);
    let known = statements.len();
    let has_open_pivots = tokens.iter().any(pivots::is_about);
    parse_one(tokens, copy_options, statements)?;
    if has_open_pivots {
        for statement in statements.split_off(known) {
            statements.push(pivots::over(statement)?);
        }
    }
    if !likes.is_empty() {
        let Some(Statement::CreateTable { likes: said, .. }) = statements.get_mut(known) else {
            return Err(unsupported("LIKE in CREATE TABLE .. AS"));
        };
        *said = likes;
    }
    if let Some(Statement::CreateView { check, .. }) = statements.get_mut(known) {
        *check = check_option;
    }
    if !has_rows {
        for it in &mut statements[known..] {
            match it {
                Statement::CreateView { materialized: Some(with_data), .. } => *with_data = false,
                Statement::CreateTableAs { query, .. } => query.0 = without_rows(&query.0)?,
                _ => {
                    return Err(SqlError::new(
                        SqlState::SYNTAX,
                        "syntax error at or near \"WITH\"",
                    ));
                }
            }
        }
    }
    if let Some(deferrable) = deferrable {
        statements[known..].iter_mut().for_each(|it| transactions::defer(it, deferrable));
    }
    Ok(())
}

/// Brings what the parser does not know to what it knows; the tokens have no blanks.
fn known_words(tokens: &mut Vec<TokenWithSpan>) -> SqlResult<()> {
    rewrite::abort(tokens);
    rewrite::pragmas(tokens);
    rewrite::time_zones(tokens);
    crate::collations::known_words(tokens)?;
    rewrite::array_types(tokens);
    rewrite::tables(tokens);
    rewrite::trims(tokens);
    rewrite::concurrent_drops(tokens);
    rewrite::similar_substrings(tokens);
    rewrite::order_operators(tokens);
    rewrite::pattern_operators(tokens);
    rewrite::equal_signs(tokens);
    overriding::by_name(tokens);
    friendly_words::known_words(tokens);
    chained::known_words(tokens);
    rewrite::untyped_columns(tokens);
    rewrite::untyped_generated(tokens);
    struct_words::known_words(tokens);
    comprehension::known_words(tokens);
    merge_words::known_words(tokens);
    overriding::known_words(tokens);
    conflict_words::known_words(tokens);
    item_assignment::known_words(tokens)?;
    asof::known_words(tokens);
    positional::known_words(tokens)?;
    sample_words::known_words(tokens)?;
    pivot_words::known_words(tokens)?;
    call_words::known_words(tokens)?;
    json_table_words::known_words(tokens)?;
    recursion_words::known_words(tokens);
    lock_words::known_words(tokens);
    frames::exclusions(tokens);
    frames::offsets(tokens);
    view_words::recursive(tokens);
    temporary::logged(tokens);
    file_calls::fold(tokens);
    from_first::complete(tokens);
    rewrite::empty_selects(tokens);
    Ok(())
}

/// CREATE SCHEMA with statements inside, which begin at some tokens.
fn schema_with(mut tokens: Vec<TokenWithSpan>, elements: &[usize]) -> SqlResult<Statement> {
    let mut inside = Vec::with_capacity(elements.len());
    for at in elements.iter().rev() {
        let mut parsed = Vec::new();
        one(tokens.split_off(*at), &mut parsed)?;
        parsed.append(&mut inside);
        inside = parsed;
    }
    match schema_words::recognise(&tokens)? {
        Some(schema) => schema_words::with_elements(schema, inside),
        None => Err(SqlError::internal("no schema around what is made in it")),
    }
}

/// A query of the columns of another, without any row.
fn without_rows(query: &ast::Query) -> SqlResult<Box<ast::Query>> {
    read(&format!("SELECT * FROM ({query}) AS rows LIMIT 0"), |it| it.parse_query())
}

/// The condition that tokens are, as SQL. Errors: 42601 of what is none.
pub(crate) fn condition_of(condition: Vec<TokenWithSpan>) -> SqlResult<String> {
    let mut tokens = tokenized("SELECT 1 WHERE")?;
    tokens.retain(|it| !is_blank(&it.token));
    tokens.extend(condition);
    known_words(&mut tokens)?;
    let mut parsed = parse_tokens(tokens, copy_options::CopyWords::default())?;
    if let (Some(Statement::Query { query }), true) = (parsed.pop(), parsed.is_empty())
        && let ast::SetExpr::Select(select) = &*query.0.body
        && let Some(condition) = select.selection.as_ref().map(ToString::to_string)
        && query.to_string() == format!("SELECT 1 WHERE {condition}")
    {
        return Ok(condition);
    }
    Err(SqlError::new(SqlState::SYNTAX, "syntax error: no condition stands behind WHERE"))
}

/// Reads a statement that the parser does not know; `None` of any other.
type Recognise = fn(&[TokenWithSpan]) -> SqlResult<Option<Statement>>;

/// The kinds of such statements.
const RECOGNISE: [Recognise; 18] = [
    maintenance::recognise,
    constraint_words::recognise,
    steering::alter_query,
    folders::export_or_import,
    about_names,
    comment_words::recognise,
    about_cursor,
    about_type,
    domain_words::recognise,
    notify_words::recognise,
    transactions::recognise_prepared,
    about_blocks,
    role_words::recognise,
    schema_words::recognise,
    generated_columns::recognise,
    storage_words::recognise,
    sequence_words::recognise,
    extension_words::recognise,
];

fn parse_one(
    tokens: Vec<TokenWithSpan>,
    copy_options: copy_options::CopyWords,
    statements: &mut Vec<Statement>,
) -> SqlResult<()> {
    if steering::is_checkpoint(&tokens) {
        statements.push(Statement::Checkpoint);
        return Ok(());
    }
    if let Some(query) = comment_words::summarized(&tokens) {
        let query = parse_tokens(query, copy_options)?;
        let [Statement::Query { query }] = &query[..] else {
            return Err(SqlError::new(SqlState::SYNTAX, "syntax error: SUMMARIZE takes a query"));
        };
        statements.push(Statement::Summarize { query: query.clone() });
        return Ok(());
    }
    if let Some(actions) = table_actions::apart(&tokens) {
        let mut parsed = Vec::with_capacity(actions.len());
        let mut actions = actions.into_iter();
        actions.try_for_each(|it| parse_one(it, copy_options.clone(), &mut parsed))?;
        statements.push(table_actions::together(parsed)?);
        return Ok(());
    }
    for recognise in RECOGNISE {
        if let Some(statement) = recognise(&tokens)? {
            statements.push(statement);
            return Ok(());
        }
    }
    if let Some(query) = show_words::recognise(&tokens) {
        statements.push(Statement::Query { query: query_of(query)? });
        return Ok(());
    }
    if let Some(statement) = view_words::recognise(&tokens)? {
        statements.push(statement);
        return Ok(());
    }
    if let Some(statement) = folders::backup(&tokens)? {
        statements.push(statement);
        return Ok(());
    }
    match numa::recognise(&tokens)? {
        Recognised::Whole(statement) => statements.push(statement),
        Recognised::Rest(tokens, design) => {
            let parsed = parse_tokens(tokens, copy_options)?;
            statements.extend(parsed.into_iter().map(|it| it.with_design(&design)));
        }
        Recognised::Nothing => statements.extend(parse_tokens(tokens, copy_options)?),
    }
    Ok(())
}

/// SET VARIABLE, CREATE MACRO and their kin.
fn about_names(tokens: &[TokenWithSpan]) -> SqlResult<Option<Statement>> {
    match variable_words::recognise(tokens, &query_of_tokens)? {
        Some(statement) => Ok(Some(statement)),
        None => {
            let reading = Reading { tokens: &query_of_tokens, text: &query_of_text };
            macro_words::recognise(tokens, reading)
        }
    }
}

/// DO.
fn about_blocks(tokens: &[TokenWithSpan]) -> SqlResult<Option<Statement>> {
    use block_words::Kind;
    block_words::recognise(tokens, &|text| {
        Ok(match &parse(text)?[..] {
            [Statement::Query { .. }] => Kind::Query,
            [Statement::CreateTableAs { .. }] => Kind::TableOfQuery,
            [Statement::Transaction(_)] => Kind::Transaction,
            _ => Kind::Other,
        })
    })
}

/// The query that a text is; `None` where it is anything else.
fn query_of_text(text: &str) -> SqlResult<Option<ParsedQuery>> {
    let parsed = parse(text)?;
    levels::ask_room(parsed.levels())?;
    match <[Statement; 1]>::try_from(parsed.into_tree()) {
        Ok([Statement::Query { query }]) => Ok(Some(query)),
        Ok([Statement::OverPivots(_)]) => Err(pivots::no_values()),
        _ => Ok(None),
    }
}

/// The query of a text that is kept.
pub(crate) fn query(text: &str) -> SqlResult<Box<ast::Query>> {
    let wrong = || SqlError::internal(format!("{text} is no query any more"));
    query_of_text(text)?.map(|it| it.0).ok_or_else(wrong)
}

/// The query that tokens are.
fn query_of_tokens(tokens: Vec<TokenWithSpan>) -> SqlResult<ParsedQuery> {
    match <[Statement; 1]>::try_from(parse_tokens(tokens, Default::default())?) {
        Ok([Statement::Query { query }]) => Ok(query),
        _ => Err(SqlError::new(SqlState::SYNTAX, "syntax error: a query is expected here")),
    }
}

/// DECLARE, FETCH, MOVE or CLOSE.
fn about_cursor(tokens: &[TokenWithSpan]) -> SqlResult<Option<Statement>> {
    use cursor_words::Recognised::{Declares, Whole};
    Ok(match cursor_words::recognise(tokens)? {
        Some(Whole(statement)) => Some(*statement),
        Some(Declares(at, declared)) => {
            let query = parse_tokens(tokens[at..].to_vec(), Default::default())?;
            Some(declared.of(query)?)
        }
        None => None,
    })
}

/// CREATE, ALTER or DROP TYPE.
fn about_type(tokens: &[TokenWithSpan]) -> SqlResult<Option<Statement>> {
    type_words::recognise(tokens, |tokens| match parse_tokens(tokens, Default::default())?.pop() {
        Some(Statement::Query { query }) => Ok(query),
        _ => {
            let message = "syntax error: an ENUM takes labels or a query";
            Err(SqlError::new(SqlState::SYNTAX, message))
        }
    })
}

fn is_blank(token: &Token) -> bool {
    matches!(token, Token::Whitespace(_))
}

fn parse_tokens(
    tokens: Vec<TokenWithSpan>,
    copy_options: copy_options::CopyWords,
) -> SqlResult<Vec<Statement>> {
    let has_subscripts = tokens.iter().any(|it| subscripts::is_about(&it.token));
    let has_asof = tokens.iter().any(|it| asof::is_about(&it.token));
    let has_clauses = tokens.iter().any(|it| recursion_words::is_about(&it.token));
    let calls = |it: &[TokenWithSpan]| written_in_sql::is_about(&it[0].token, &it[1].token);
    let is_expanded = tokens.windows(2).any(calls);
    let has_arrow = tokens.iter().any(|it| lambda::is_about(&it.token));
    let begins_query = tokens.first().is_some_and(|it| begins_query(&it.token));
    let dialect = Postgres::of(tokens.len()).with_joins_of(&tokens);
    let parser = Parser::new(&dialect).with_recursion_limit(NESTED_MAX);
    let mut parser = parser.with_tokens_with_locations(tokens);
    let statements = if begins_query {
        let mut query = parser.parse_query().map_err(|it| syntax(&it))?;
        if has_subscripts {
            subscripts::of_columns(&mut query);
        }
        if has_arrow {
            lambda::expanded(&mut query);
        }
        if is_expanded {
            written_in_sql::expanded(&mut query)?;
        }
        if has_asof {
            asof::expanded(&mut query)?;
        }
        if has_clauses {
            recursion_words::expanded(&mut query)?;
        }
        vec![whole(query)?]
    } else {
        let mut statements = parser.parse_statements().map_err(|it| syntax(&it))?;
        if has_subscripts {
            subscripts::of_columns(&mut statements);
        }
        if has_arrow {
            lambda::expanded(&mut statements);
        }
        if is_expanded {
            written_in_sql::expanded(&mut statements)?;
        }
        if has_asof {
            asof::expanded(&mut statements)?;
        }
        if has_clauses {
            recursion_words::expanded(&mut statements)?;
        }
        let one = |it| match it {
            it @ ast::Statement::Copy { .. } => copy::copy(it, copy_options.clone(), condition_of),
            it => statement(it),
        };
        statements.into_iter().map(one).collect::<SqlResult<_>>()?
    };
    // After other statements the parser stops at END as if a block ended there.
    let left = parser.peek_token();
    if left.token != Token::EOF {
        let left = parser.expected::<()>("the end of the statement", left);
        return Err(left.map_or_else(|it| syntax(&it), |()| SqlError::internal("no end")));
    }
    Ok(statements)
}

/// The query of a text of our own.
fn query_of(text: &str) -> SqlResult<ParsedQuery> {
    let mut all = statements(tokenized(text)?)?;
    match (all.pop(), all.is_empty()) {
        (Some(Statement::Query { query }), true) => Ok(query),
        _ => Err(SqlError::internal(format!("{text} is no query"))),
    }
}

/// Whether a statement that begins so is a query. It is parsed as such: the parser's statements are of kilobytes, and moved
/// about.
fn begins_query(token: &Token) -> bool {
    use Keyword::{FROM, SELECT, VALUES, WITH};
    matches!(token, Token::Word(it) if matches!(it.keyword, FROM | SELECT | VALUES | WITH))
}

/// A query that is all of a statement: its body may change rows, behind WITH.
fn whole(query: Box<ast::Query>) -> SqlResult<Statement> {
    match steps::steps_of(query)? {
        Ok((first, last)) => Ok(Statement::InSteps { first, last: Box::new(single(last)?) }),
        Err(query) => single(query),
    }
}

/// A query, or a change of rows, without another inside.
fn single(mut query: Box<ast::Query>) -> SqlResult<Statement> {
    use ast::SetExpr::{Delete, Insert, Merge, Select, Update};
    if let Select(select) = query.body.as_mut()
        && let Some(into) = select.into.take()
    {
        return show_words::select_into(&into, query);
    }
    match query.body.as_ref() {
        Insert(_) | Update(_) | Delete(_) | Merge(_) => changing(query),
        _ if !query.locks.is_empty() => locking(query),
        _ => Ok(Statement::Query { query: parsed(query)? }),
    }
}

fn parsed(query: Box<ast::Query>) -> SqlResult<ParsedQuery> {
    use ast::SetExpr::{Delete, Insert, Merge, Update};
    match query.body.as_ref() {
        Insert(_) | Update(_) | Delete(_) | Merge(_) => {
            Err(unsupported("a statement that changes data inside a query"))
        }
        _ => Ok(ParsedQuery(query)),
    }
}

fn statement(statement: ast::Statement) -> SqlResult<Statement> {
    use ast::Statement as Ast;
    match statement {
        Ast::Query(query) => whole(query),
        it if show_words::is_describe(&it) => show_words::describe(it, query_of),
        Ast::Explain { query_plan, estimate, .. } if query_plan || estimate => {
            Err(SqlError::new(SqlState::SYNTAX, "syntax error: EXPLAIN takes a query"))
        }
        Ast::Explain { analyze, statement, format, options, .. } => {
            explain(analyze, *statement, format, options)
        }
        Ast::CreateTable(table) => create_table(table),
        Ast::CreateView(view) => view_words::create_view(view),
        it @ Ast::Drop { .. } => drop_objects(it),
        Ast::AlterTable(change) => alter::alter_table(change),
        Ast::CreateIndex(index) => keys::create_index(&index),
        Ast::Prepare { name, data_types, statement } => prepare(&name, &data_types, *statement),
        Ast::Execute { immediate, into, using, output, default, .. }
            if immediate || output || default || !into.is_empty() || !using.is_empty() =>
        {
            Err(SqlError::new(SqlState::SYNTAX, "syntax error: a clause of EXECUTE"))
        }
        Ast::Execute { name: Some(name), parameters, .. } => {
            let arguments = parameters::arguments(parameters)?;
            Ok(Statement::Execute { name: dotted(&name), arguments })
        }
        Ast::Deallocate { name, .. } => {
            let all = name.quote_style.is_none() && name.value.eq_ignore_ascii_case("all");
            Ok(Statement::Deallocate { name: (!all).then(|| ident(&name)) })
        }
        it @ (Ast::Insert(_) | Ast::Update(_) | Ast::Delete(_) | Ast::Merge(_)) => change(it),
        it @ (Ast::StartTransaction { .. }
        | Ast::Commit { .. }
        | Ast::Rollback { .. }
        | Ast::Savepoint { .. }
        | Ast::ReleaseSavepoint { .. }
        | Ast::Set(Set::SetTransaction { .. })) => {
            crate::transactions::transaction(it).map(Statement::Transaction)
        }
        Ast::Truncate(truncate) => {
            clauses::truncate(&truncate)?;
            let names = truncate.table_names.iter().map(|it| name(&it.name)).collect();
            let cascade = matches!(truncate.cascade, Some(ast::CascadeOption::Cascade));
            let restart = matches!(truncate.identity, Some(ast::TruncateIdentityOption::Restart));
            Ok(Statement::Truncate { names, cascade, restart })
        }
        Ast::Discard { object_type } => Ok(temporary::discard(object_type)),
        Ast::Lock(lock) => Ok(lock_words::lock_table(&lock)),
        Ast::Set(set) => self::set(set),
        Ast::Reset(it) => Ok(reset(it.reset)),
        Ast::Kill { modifier: None | Some(ast::KillType::Query), id } => {
            Ok(Statement::Kill { statement: id })
        }
        Ast::ShowVariable { variable } => {
            Ok(Statement::Show { name: variable.iter().map(ident).collect::<Vec<_>>().join(".") })
        }
        other => Err(unknown(&other)),
    }
}

fn reset(what: ast::Reset) -> Statement {
    match what {
        ast::Reset::ALL => Statement::Reset(None),
        ast::Reset::ConfigurationParameter(it) => Statement::Reset(Some(dotted(&it))),
    }
}

/// DROP of tables, views, indexes or sequences.
fn drop_objects(statement: ast::Statement) -> SqlResult<Statement> {
    use ast::Statement as Ast;
    match statement {
        Ast::Drop { purge: true, .. }
        | Ast::Drop { temporary: true, .. }
        | Ast::Drop { table: Some(_), .. } => {
            Err(SqlError::new(SqlState::SYNTAX, "syntax error: a clause of DROP"))
        }
        Ast::Drop { object_type: ObjectType::Table, if_exists, names, cascade, .. } => {
            let names = names.iter().map(name).collect();
            Ok(Statement::DropTable { names, if_exists, cascade })
        }
        Ast::Drop {
            object_type: object_type @ (ObjectType::View | ObjectType::MaterializedView),
            if_exists,
            names,
            cascade,
            ..
        } => {
            let names = names.iter().map(name).collect();
            let materialized = object_type == ObjectType::MaterializedView;
            Ok(Statement::DropView { names, materialized, if_exists, cascade })
        }
        Ast::Drop { object_type: ObjectType::Sequence, if_exists, names, cascade, .. } => {
            let names = names.iter().map(name).collect();
            Ok(Statement::DropSequence { names, if_exists, cascade })
        }
        Ast::Drop { object_type: ObjectType::Index, if_exists, names, .. } => {
            Ok(Statement::DropIndex { names: names.iter().map(name).collect(), if_exists })
        }
        other => Err(unknown(&other)),
    }
}

fn set(set: Set) -> SqlResult<Statement> {
    match set {
        Set::SingleAssignment { scope: Some(scope @ ast::ContextModifier::Global), .. } => {
            Err(unsupported(format!("SET {scope}").trim_end()))
        }
        Set::SingleAssignment { hivevar: false, variable, values, scope } => {
            let texts: Vec<String> = values.iter().map(setting).collect();
            let value = Some(texts.join(",")).filter(|it| !is_default(it));
            let local = scope == Some(ast::ContextModifier::Local);
            Ok(Statement::Set { name: dotted(&variable), value, local })
        }
        Set::SetTimeZone { local, value } => {
            let value = match &value {
                ast::Expr::Interval(it) => Some(crate::interval_fields::hours_of_zone(it)?),
                other => Some(setting(other)).filter(|it| !is_default(it)),
            };
            Ok(Statement::Set { name: "timezone".to_owned(), value, local })
        }
        Set::SetNames { charset_name, collation_name: None } => {
            let value = Some(ident(&charset_name));
            Ok(Statement::Set { name: "client_encoding".to_owned(), value, local: false })
        }
        other => Err(unknown(&other)),
    }
}

/// Whether the value of a setting is the one that it has when nobody says another.
fn is_default(value: &str) -> bool {
    value.eq_ignore_ascii_case("default")
}

fn prepare(
    name: &ast::Ident,
    types: &[ast::DataType],
    statement: ast::Statement,
) -> SqlResult<Statement> {
    let types = types.iter().map(data_type).collect::<SqlResult<_>>()?;
    let statement = self::statement(statement)?;
    let is_explain = matches!(statement, Statement::Explain { .. });
    if is_explain || parameters::query_of(&statement).is_none() {
        return Err(SqlError::new(
            SqlState::SYNTAX,
            "PREPARE takes a query, an INSERT, an UPDATE or a DELETE",
        ));
    }
    Ok(Statement::Prepare { name: ident(name), types, statement: Box::new(statement) })
}

fn setting(value: &ast::Expr) -> String {
    match value {
        ast::Expr::Value(it) => match &it.value {
            ast::Value::SingleQuotedString(text) => text.clone(),
            other => other.to_string(),
        },
        other => other.to_string(),
    }
}

fn explain(
    mut analyze: bool,
    inner: ast::Statement,
    format: Option<ast::AnalyzeFormatKind>,
    options: Option<Vec<ast::UtilityOption>>,
) -> SqlResult<Statement> {
    let mut wanted = format.map(|it| it.to_string().replace('=', " ").to_lowercase());
    for option in options.into_iter().flatten() {
        let argument = option.arg.as_ref().map(|it| setting(it).to_lowercase());
        match option.name.value.to_lowercase().as_str() {
            "analyze" => analyze = !matches!(argument.as_deref(), Some("false" | "off" | "0")),
            "format" => wanted = argument,
            // They say how much is shown, and we show what we have.
            "verbose" | "costs" | "settings" | "generic_plan" | "buffers" | "serialize" | "wal"
            | "timing" | "summary" | "memory" => {}
            other => {
                let message = format!("unrecognized EXPLAIN option \"{other}\"");
                return Err(SqlError::new(SqlState::SYNTAX, message));
            }
        }
    }
    let format = match wanted.as_deref().map(|it| it.trim_start_matches("format ").trim()) {
        None | Some("text") => ExplainFormat::Text,
        Some("json") => ExplainFormat::Json,
        Some("svg") => ExplainFormat::Svg,
        Some(other) => {
            return Err(SqlError::new(
                SqlState::INVALID_PARAMETER,
                format!("EXPLAIN does not know the format {other}"),
            )
            .with_hint("the formats are text, json and svg"));
        }
    };
    let explained = match inner {
        ast::Statement::Query(query) => whole(query)?,
        it @ (ast::Statement::Insert(_)
        | ast::Statement::Update(_)
        | ast::Statement::Delete(_)
        | ast::Statement::Merge(_)) => change(it)?,
        it @ (ast::Statement::Execute { .. } | ast::Statement::CreateTable(_)) => statement(it)?,
        _ => return Err(unsupported("EXPLAIN of anything but a query")),
    };
    match explained {
        Statement::Query { query } | Statement::Change { query } => {
            Ok(Statement::Explain { analyze, format, query })
        }
        Statement::CreateTableAs { query, .. } if !analyze => {
            Ok(Statement::Explain { analyze, format, query })
        }
        Statement::Execute { name, arguments } => {
            Ok(Statement::ExplainPrepared { analyze, format, name, arguments })
        }
        Statement::InSteps { .. } => Err(unsupported("EXPLAIN of a statement in steps")),
        Statement::CreateTableAs { .. } => Err(unsupported("EXPLAIN ANALYZE of CREATE TABLE AS")),
        _ => Err(unsupported("EXPLAIN of anything but a query")),
    }
}

fn create_table(table: ast::CreateTable) -> SqlResult<Statement> {
    let (or_replace, if_not_exists) = (table.or_replace, table.if_not_exists);
    clauses::create_table(&table)?;
    let is_of_query = table.query.is_some();
    let may_be = |it: &ast::ColumnDef| {
        let has_none = rewrite::has_no_type(it);
        if is_of_query { has_none } else { !has_none || generated_columns::is_generated(it) }
    };
    if !table.columns.iter().all(may_be) {
        let message = "syntax error: columns have types, but not in CREATE TABLE .. AS";
        return Err(SqlError::new(SqlState::SYNTAX, message));
    }
    let on_commit = temporary::on_commit(&table)?;
    if let Some(query) = table.query {
        return Ok(Statement::CreateTableAs {
            name: temporary::name(&table.name, table.temporary)?,
            on_commit,
            columns: table.columns.iter().map(|it| ident(&it.name)).collect(),
            query: parsed(query)?,
            if_not_exists,
            or_replace,
            design: DesignClause::default(),
        });
    }
    if or_replace && if_not_exists {
        let message = "syntax error: either OR REPLACE or IF NOT EXISTS, not both";
        return Err(SqlError::new(SqlState::SYNTAX, message));
    }
    let columns = table.columns.iter().map(column).collect::<SqlResult<Vec<_>>>()?;
    let constraints = keys::constraints(&table)?;
    let name = temporary::name(&table.name, table.temporary)?;
    let design = DesignClause::default();
    let likes = Vec::new();
    Ok(Statement::CreateTable {
        name,
        columns,
        likes,
        constraints,
        if_not_exists,
        or_replace,
        design,
        on_commit,
    })
}

/// An expression that stands by itself.
pub(crate) fn expression(text: &str) -> SqlResult<ast::Expr> {
    let wrong = || SqlError::internal(format!("{text} is no expression any more"));
    // In parentheses, as a call that stands for others gets a name in a select list.
    let parsed = parse(&format!("SELECT ({text})"))?;
    levels::ask_room(parsed.levels())?;
    let statements = parsed.into_tree();
    let Some(Statement::Query { query }) = statements.into_iter().next() else {
        return Err(wrong());
    };
    let ast::SetExpr::Select(select) = *query.0.body else { return Err(wrong()) };
    match select.projection.into_iter().next() {
        Some(ast::SelectItem::UnnamedExpr(ast::Expr::Nested(it))) => Ok(*it),
        Some(ast::SelectItem::UnnamedExpr(it)) => Ok(it),
        _ => Err(wrong()),
    }
}

/// A statement that changes rows, as the body of a query.
fn change(statement: ast::Statement) -> SqlResult<Statement> {
    use ast::{SetExpr, Statement as Ast};
    let body = match statement {
        it @ Ast::Insert(_) => SetExpr::Insert(it),
        it @ Ast::Update(_) => SetExpr::Update(it),
        it @ Ast::Merge(_) => SetExpr::Merge(it),
        it => SetExpr::Delete(it),
    };
    whole(Box::new(bare_query(body)))
}

#[cfg(test)]
mod tests;
