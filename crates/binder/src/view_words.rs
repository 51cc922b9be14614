//! CREATE VIEW and ALTER VIEW.

use sqlparser::ast;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};
use types::{CheckOption, SqlError, SqlResult, SqlState, names};

use crate::cursor::Cursor;
use crate::parsed_query::ParsedQuery;
use crate::statement::Statement;
use crate::syntax::{ident, unsupported};

/// What the parser does not know: ALTER VIEW, and what may stand around the query of a view.
pub(crate) fn recognise(tokens: &[TokenWithSpan]) -> SqlResult<Option<Statement>> {
    let mut cursor = Cursor::new(tokens);
    if cursor.take_all(&["REFRESH", "MATERIALIZED", "VIEW"]) {
        let concurrently = cursor.take("CONCURRENTLY");
        let name = cursor.relation()?;
        let with_data = !cursor.take_all(&["WITH", "NO", "DATA"]);
        if with_data {
            cursor.take_all(&["WITH", "DATA"]);
        }
        cursor.expect_end()?;
        return Ok(Some(Statement::RefreshView { name, with_data, concurrently }));
    }
    if !cursor.take_all(&["ALTER", "MATERIALIZED", "VIEW"]) && !cursor.take_all(&["ALTER", "VIEW"])
    {
        return Ok(None);
    }
    let if_exists = cursor.take_all(&["IF", "EXISTS"]);
    let name = cursor.relation()?;
    if !cursor.take_all(&["RENAME", "TO"]) {
        return Err(unsupported("ALTER VIEW other than RENAME TO"));
    }
    let to = names::written(&[cursor.name("the name of a view")?]);
    cursor.expect_end()?;
    Ok(Some(Statement::RenameView { name, to, if_exists }))
}

/// Takes WITH DATA or WITH NO DATA from the end of CREATE MATERIALIZED VIEW and CREATE TABLE .. AS; tells whether there are to be rows.
pub(crate) fn take_data(tokens: &mut Vec<TokenWithSpan>) -> bool {
    let mut cursor = Cursor::new(tokens);
    if !cursor.take("CREATE") {
        return true;
    }
    let words = ["OR", "REPLACE", "TEMP", "TEMPORARY", "LOCAL", "UNLOGGED"];
    while words.iter().any(|it| cursor.take(it)) {}
    if !cursor.take("TABLE") && !cursor.take_all(&["MATERIALIZED", "VIEW"]) {
        return true;
    }
    let ends = |words: &[&str]| {
        let at = tokens.len().checked_sub(words.len())?;
        Cursor::new(&tokens[at..]).sees(words).then_some(at)
    };
    let (at, has_rows) = match (ends(&["WITH", "NO", "DATA"]), ends(&["WITH", "DATA"])) {
        (Some(at), _) => (at, false),
        (None, Some(at)) => (at, true),
        (None, None) => return true,
    };
    tokens.truncate(at);
    has_rows
}

/// `CREATE RECURSIVE VIEW v (a) AS ..` is `CREATE VIEW v (a) AS WITH RECURSIVE v (a) AS (..) SELECT a FROM v`.
pub(crate) fn recursive(tokens: &mut Vec<TokenWithSpan>) {
    let mut cursor = Cursor::new(tokens);
    if !cursor.take("CREATE") {
        return;
    }
    cursor.take_all(&["OR", "REPLACE"]);
    let _ = cursor.take("TEMP") || cursor.take("TEMPORARY");
    let word = cursor.at();
    if !cursor.take_all(&["RECURSIVE", "VIEW"]) {
        return;
    }
    let Some(open) = tokens.iter().position(|it| it.token == Token::LParen) else { return };
    let Some(close) = tokens.iter().position(|it| it.token == Token::RParen) else { return };
    let is_as =
        |it: &TokenWithSpan| matches!(&it.token, Token::Word(it) if it.keyword == Keyword::AS);
    // What has no list of columns is refused by the parser.
    if close < open || open == 0 || !tokens.get(close + 1).is_some_and(is_as) {
        return;
    }
    let plain = |it: Token| TokenWithSpan::wrap(it);
    let keyword = |it: &str| plain(Token::make_keyword(it));
    let (name, columns) = (tokens[open - 1].clone(), tokens[open..=close].to_vec());
    let query = tokens.split_off(close + 2);
    tokens.extend([keyword("WITH"), keyword("RECURSIVE"), name.clone()]);
    tokens.extend(columns.iter().cloned());
    tokens.extend([keyword("AS"), plain(Token::LParen)]);
    tokens.extend(query);
    tokens.extend([plain(Token::RParen), keyword("SELECT")]);
    tokens.extend(columns[1..columns.len() - 1].iter().cloned());
    tokens.extend([keyword("FROM"), name]);
    tokens.remove(word);
}

/// Takes WITH CHECK OPTION from the end of CREATE VIEW.
pub(crate) fn take_check_option(tokens: &mut Vec<TokenWithSpan>) -> Option<CheckOption> {
    let mut cursor = Cursor::new(tokens);
    cursor.take("CREATE");
    cursor.take_all(&["OR", "REPLACE"]);
    let is_view = ["VIEW", "TEMP", "TEMPORARY", "RECURSIVE"].iter().any(|it| cursor.sees(&[it]));
    let forms = [
        (&["WITH", "LOCAL", "CHECK", "OPTION"][..], CheckOption::Local),
        (&["WITH", "CASCADED", "CHECK", "OPTION"], CheckOption::Cascaded),
        (&["WITH", "CHECK", "OPTION"], CheckOption::Cascaded),
    ];
    let found = forms.iter().filter(|_| is_view).find_map(|(words, option)| {
        let at = tokens.len().checked_sub(words.len())?;
        Cursor::new(&tokens[at..]).sees(words).then_some((at, *option))
    });
    let (at, option) = found?;
    tokens.truncate(at);
    Some(option)
}

pub(crate) fn create_view(view: ast::CreateView) -> SqlResult<Statement> {
    let ast::CreateView {
        or_alter,
        or_replace,
        materialized,
        secure,
        name,
        name_before_not_exists,
        columns,
        query,
        options,
        cluster_by,
        comment,
        with_no_schema_binding,
        if_not_exists,
        temporary,
        copy_grants,
        to,
        params,
    } = view;
    if options != ast::CreateTableOptions::None {
        return Err(unsupported("WITH (..) of a view"));
    }
    let rare = or_alter
        || secure
        || name_before_not_exists
        || !cluster_by.is_empty()
        || comment.is_some()
        || with_no_schema_binding
        || copy_grants
        || to.is_some()
        || params.is_some();
    if rare || columns.iter().any(|it| it.data_type.is_some() || it.options.is_some()) {
        return Err(SqlError::new(SqlState::SYNTAX, "syntax error: a clause of CREATE VIEW"));
    }
    let query = ParsedQuery(query);
    if query.changes_rows() {
        return Err(SqlError::new(SqlState::SYNTAX, "syntax error: a view is of a query"));
    }
    Ok(Statement::CreateView {
        name: crate::temporary::name(&name, temporary)?,
        columns: columns.iter().map(|it| ident(&it.name)).collect(),
        query,
        or_replace,
        if_not_exists,
        materialized: materialized.then_some(true),
        check: None,
    })
}
