//! Files that a query names in place of tables, and the columns of them that it may use.

use std::collections::HashSet;

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, Tokenizer};
use types::{CatalogView, SqlResult};

use crate::dialect::Postgres;
use crate::parsed_query::ParsedQuery;
use crate::statement::Statement;
use crate::syntax::ident;
use crate::{view_text, walk};

/// The files that a query names as tables.
pub fn files_in(query: &ParsedQuery) -> Vec<String> {
    let mut files = Vec::new();
    walk::relations(&query.0, |relation| {
        if let [part] = relation.0.as_slice()
            && let Some(ident) = part.as_ident()
            && ident.quote_style == Some('\'')
            && !files.contains(&ident.value)
        {
            files.push(ident.value.clone());
        }
    });
    files
}

/// Views in one another that are looked through.
const VIEWS_MAX: usize = 100;

/// The files that a query and the views that it names stand on, each with the columns of it that may be used.
///
/// # Errors
/// Those of reading the kept query of a view.
pub fn files_under(
    query: &ParsedQuery,
    catalog: &dyn CatalogView,
) -> SqlResult<Vec<(String, UsedColumns)>> {
    let mut found = Vec::new();
    gather(query, catalog, 0, &mut found)?;
    Ok(found)
}

fn gather(
    query: &ParsedQuery,
    catalog: &dyn CatalogView,
    depth: usize,
    found: &mut Vec<(String, UsedColumns)>,
) -> SqlResult<()> {
    let files = files_in(query);
    if !files.is_empty() {
        let used = UsedColumns::of(query);
        for file in files {
            match found.iter_mut().find(|it| it.0 == file) {
                Some(known) => known.1.also(&used),
                None => found.push((file, used.clone())),
            }
        }
    }
    if depth == VIEWS_MAX {
        return Ok(());
    }
    for (schema, name) in relations_in(query) {
        let view = catalog.view(schema.as_deref(), &name);
        let Some(view) = view.filter(|it| it.materialized.is_none()) else { continue };
        view_text::parsed(&view.query)?.walk(|it| {
            let kept = ParsedQuery(it.clone());
            gather(&kept, catalog, depth + 1, found)
        })?;
    }
    Ok(())
}

/// The relations that a query names, but files, each with its schema.
fn relations_in(query: &ParsedQuery) -> Vec<(Option<String>, String)> {
    let mut names = Vec::new();
    walk::relations(&query.0, |relation| {
        let parts: Option<Vec<_>> = relation.0.iter().map(|it| it.as_ident()).collect();
        let name = match parts.as_deref() {
            Some([name]) if name.quote_style != Some('\'') => (None, ident(name)),
            Some([schema, name]) => (Some(ident(schema)), ident(name)),
            _ => return,
        };
        if !names.contains(&name) {
            names.push(name);
        }
    });
    names
}

/// The names without a schema in the place of tables, in all statements of a text; those of WITH are among them. None of a text
/// that cannot be read.
pub fn names_in(sql: &str) -> Vec<String> {
    let Ok(statements) = crate::parse::parse(sql) else { return Vec::new() };
    let levels = statements.levels();
    stdx::stack::with_levels(levels, || {
        let mut names = Vec::new();
        statements.into_tree().iter().for_each(|it| names_of(it, &mut names));
        names
    })
}

fn names_of(statement: &Statement, names: &mut Vec<String>) {
    let query = match statement {
        Statement::Query { query }
        | Statement::Explain { query, .. }
        | Statement::Describe { query, .. }
        | Statement::CreateTableAs { query, .. }
        | Statement::Change { query }
        | Statement::CopyTo { query, .. } => query,
        _ => return,
    };
    walk::relations(&query.0, |relation| {
        if let [part] = relation.0.as_slice()
            && let Some(ident) = part.as_ident()
            && ident.quote_style != Some('\'')
            && !names.contains(&ident.value)
        {
            names.push(ident.value.clone());
        }
    });
}

/// The file, when a query is `SELECT * FROM 'file'` and no more.
pub fn whole_file(query: &ParsedQuery) -> Option<String> {
    let mut files = files_in(query);
    let file = files.pop().filter(|_| files.is_empty())?;
    // The parser prints every query in one way, so whatever else the query has would show.
    (query.to_string() == format!("SELECT * FROM '{}'", file.replace('\'', "''"))).then_some(file)
}

/// The columns of its files that a query may use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UsedColumns {
    /// In lower case; `None` where all may be used.
    names: Option<HashSet<String>>,
}

impl UsedColumns {
    /// What a query may use: at least what it does use. All words of its text count as names of columns, whatever they
    /// are, and where columns are meant without their names, all count.
    pub fn of(query: &ParsedQuery) -> Self {
        let text = query.to_string();
        let tokens = Tokenizer::new(&Postgres::of(0), &text).tokenize().unwrap_or_default();
        let tokens: Vec<Token> =
            tokens.into_iter().filter(|it| !matches!(it, Token::Whitespace(_))).collect();
        if tokens.is_empty() || has_unnamed(&tokens) {
            return Self { names: None };
        }
        let words = tokens.iter().filter_map(|it| match it {
            Token::Word(it) => Some(it.value.to_lowercase()),
            _ => None,
        });
        Self { names: Some(words.collect()) }
    }

    /// Takes what another query may use in.
    fn also(&mut self, other: &Self) {
        match (&mut self.names, &other.names) {
            (Some(own), Some(others)) => own.extend(others.iter().cloned()),
            (own, _) => *own = None,
        }
    }

    /// Whether a column may be used.
    pub fn contains(&self, column: &str) -> bool {
        self.names.as_ref().is_none_or(|it| it.contains(&column.to_lowercase()))
    }
}

/// Whether columns are meant without their names: by `*`, NATURAL or TABLE, or by place in an alias of a file.
fn has_unnamed(tokens: &[Token]) -> bool {
    let keyword = |it: Option<&Token>| match it {
        Some(Token::Word(it)) => it.keyword,
        _ => Keyword::NoKeyword,
    };
    (0..tokens.len()).any(|place| {
        let before = place.checked_sub(1).and_then(|it| tokens.get(it));
        let after = tokens.get(place + 1);
        match &tokens[place] {
            // A product has an operand on each side, and count(*) uses no column; anything else may be a list of all.
            Token::Mul => match (before, after) {
                (Some(Token::LParen), Some(Token::RParen)) => false,
                (Some(Token::Word(it)), _) => {
                    matches!(it.keyword, Keyword::SELECT | Keyword::ALL | Keyword::DISTINCT)
                }
                // Behind DISTINCT ON (..) no operand follows.
                (Some(Token::RParen), Some(Token::Word(it))) => it.keyword != Keyword::NoKeyword,
                (Some(Token::RParen), None | Some(Token::Comma | Token::RParen)) => true,
                (Some(Token::Comma | Token::Period | Token::LParen) | None, _) => true,
                _ => false,
            },
            // A query that begins with FROM and has no list takes all.
            Token::Word(it) if it.keyword == Keyword::FROM => {
                matches!(before, None | Some(Token::LParen))
            }
            Token::Word(it) => matches!(it.keyword, Keyword::NATURAL | Keyword::TABLE),
            Token::SingleQuotedString(_) => {
                let named = if keyword(after) == Keyword::AS { place + 2 } else { place + 1 };
                let alias = |it: &Token| match it {
                    Token::Word(it) => {
                        use Keyword::{AND, IN, ON, OR, USING, WHERE};
                        !matches!(it.keyword, AND | IN | ON | OR | USING | WHERE)
                    }
                    _ => false,
                };
                tokens.get(named).is_some_and(alias)
                    && tokens.get(named + 1) == Some(&Token::LParen)
            }
            _ => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Statement;

    fn used(sql: &str) -> UsedColumns {
        match &crate::parse::parse(sql).unwrap()[..] {
            [Statement::Query { query }] => UsedColumns::of(query),
            other => panic!("{sql} is no query: {other:?}"),
        }
    }

    #[test]
    fn columns_are_found_wherever_their_names_stand() {
        let names = [
            ("SELECT max(a), b * c FROM 'f' WHERE \"D\" > 1", "a b c d"),
            ("SELECT count(*) FROM 'f' x JOIN 'g' USING (a) ORDER BY x.b", "a b"),
            ("WITH q AS (SELECT a FROM 'f') SELECT (SELECT 2 * b FROM 'f' LIMIT 1) FROM q", "a b"),
            ("SELECT count(*), sum((a) * 2) FROM 'f' GROUP BY b HAVING c", "a b c"),
        ];
        for (sql, columns) in names {
            for column in columns.split(' ') {
                assert!(used(sql).contains(column), "{column} in {sql}");
                assert!(used(sql).contains(&column.to_uppercase()), "{column} in {sql}");
            }
            assert!(!used(sql).contains("other"), "{sql}");
        }
    }

    #[test]
    fn all_columns_may_be_used_where_they_are_not_named() {
        for sql in [
            "SELECT * FROM 'f'",
            "SELECT count(*) FROM (SELECT DISTINCT ON (a) * FROM 'f')",
            "SELECT a, * FROM 'f'",
            "SELECT f.* FROM 'f' f",
            "SELECT count(f.*) FROM 'f' f",
            "SELECT ALL * FROM 'f'",
            "SELECT a FROM 'f' NATURAL JOIN t",
            "SELECT x FROM 'f' AS f (x, y)",
            "SELECT x FROM 'f' f (x, y)",
            "SELECT a FROM t WHERE EXISTS (SELECT * FROM 'f')",
        ] {
            assert!(used(sql).contains("other"), "{sql}");
        }
    }
}
