//! CREATE, ALTER and DROP TYPE.

use sqlparser::keywords::Keyword;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};
use types::{SqlResult, names};

use crate::cursor::Cursor;
use crate::dialect::Postgres;
use crate::parsed_query::ParsedQuery;
use crate::statement::{Statement, TypeBody};
use crate::syntax::unsupported;
use crate::user_types::TypeName;
use crate::user_types::{NewLabel, TypeChange};

/// The statement, if the tokens are one about types. `query` reads one.
pub(crate) fn recognise(
    tokens: &[TokenWithSpan],
    query: impl Fn(Vec<TokenWithSpan>) -> SqlResult<ParsedQuery>,
) -> SqlResult<Option<Statement>> {
    let mut cursor = Cursor::new(tokens);
    if cursor.take_all(&["CREATE", "TYPE"]) {
        let name = cursor.relation()?;
        let body = body(&mut cursor, tokens, query)?;
        return Ok(Some(Statement::CreateType { name, body }));
    }
    if cursor.take_all(&["ALTER", "TYPE"]) {
        let name = cursor.relation()?;
        if cursor.sees(&["OWNER", "TO"]) {
            // A statement about roles.
            return Ok(None);
        }
        let change = change(&mut cursor, &name)?;
        cursor.expect_end()?;
        return Ok(Some(Statement::AlterType { name, change }));
    }
    let drops_domain = cursor.take_all(&["DROP", "DOMAIN"]);
    if drops_domain || cursor.take_all(&["DROP", "TYPE"]) {
        let if_exists = cursor.take_all(&["IF", "EXISTS"]);
        let mut names = vec![cursor.relation()?];
        while cursor.take_sign(&Token::Comma) {
            names.push(cursor.relation()?);
        }
        let cascade = cursor.take("CASCADE");
        if !cascade {
            cursor.take("RESTRICT");
        }
        cursor.expect_end()?;
        let domains = drops_domain;
        return Ok(Some(Statement::DropType { names, domains, if_exists, cascade }));
    }
    Ok(None)
}

fn body(
    cursor: &mut Cursor<'_>,
    tokens: &[TokenWithSpan],
    query: impl Fn(Vec<TokenWithSpan>) -> SqlResult<ParsedQuery>,
) -> SqlResult<TypeBody> {
    cursor.expect("AS")?;
    if cursor.sees(&["RANGE"]) {
        return Err(unsupported("a type of ranges"));
    }
    if cursor.peek() == Some(&Token::LParen) {
        return row(&tokens[cursor.at()..]);
    }
    if !cursor.take("ENUM") {
        let of = cursor.any_type(|_| false)?;
        cursor.expect_end()?;
        let (data_type, type_name) = of.ok_or_else(|| cursor.expected("a type"))?;
        return Ok(TypeBody::Alias { data_type, type_name });
    }
    let inside = cursor.at() + 1;
    cursor.expect_sign(&Token::LParen)?;
    if ["SELECT", "FROM", "VALUES", "WITH", "TABLE"].iter().any(|it| cursor.sees(&[it])) {
        cursor.skip_to(|_| false);
        let of = tokens[inside..cursor.at()].to_vec();
        cursor.expect_sign(&Token::RParen)?;
        cursor.expect_end()?;
        return query(of).map(TypeBody::LabelsOf);
    }
    let mut labels = Vec::new();
    if !cursor.take_sign(&Token::RParen) {
        labels.push(label(cursor)?);
        while cursor.take_sign(&Token::Comma) {
            labels.push(label(cursor)?);
        }
        cursor.expect_sign(&Token::RParen)?;
    }
    cursor.expect_end()?;
    Ok(TypeBody::Labels(labels))
}

/// `(name type, ..)`, which is read as the fields of a struct.
fn row(fields: &[TokenWithSpan]) -> SqlResult<TypeBody> {
    let keyword = Keyword::STRUCT;
    let word = Word { value: "STRUCT".to_owned(), quote_style: None, keyword };
    let mut tokens = Vec::with_capacity(fields.len() + 1);
    if let Some(first) = fields.first() {
        tokens.push(TokenWithSpan { token: Token::Word(word), span: first.span });
    }
    tokens.extend_from_slice(fields);
    if matches!(tokens.get(2).map(|it| &it.token), Some(Token::RParen)) {
        return Err(unsupported("a type of rows without columns"));
    }
    crate::struct_words::known_words(&mut tokens);
    let dialect = Postgres::of(tokens.len());
    let mut parser = Parser::new(&dialect).with_tokens_with_locations(tokens);
    let parsed = parser.parse_data_type().map_err(|it| crate::syntax::syntax(&it))?;
    parser.expect_token(&Token::EOF).map_err(|it| crate::syntax::syntax(&it))?;
    let (data_type, type_name) = TypeName::read(&parsed)?;
    Ok(TypeBody::Row { data_type, type_name })
}

fn label(cursor: &mut Cursor<'_>) -> SqlResult<String> {
    let Some(Token::SingleQuotedString(text)) = cursor.peek() else {
        return Err(cursor.expected("a label"));
    };
    let text = text.clone();
    cursor.advance();
    Ok(text)
}

fn change(cursor: &mut Cursor<'_>, name: &str) -> SqlResult<TypeChange> {
    if cursor.take_all(&["ADD", "VALUE"]) {
        let if_not_exists = cursor.take_all(&["IF", "NOT", "EXISTS"]);
        let new = label(cursor)?;
        let place = match () {
            () if cursor.take("BEFORE") => NewLabel::Before(label(cursor)?),
            () if cursor.take("AFTER") => NewLabel::After(label(cursor)?),
            () => NewLabel::Last,
        };
        return Ok(TypeChange::Add { label: new, place, if_not_exists });
    }
    if cursor.take_all(&["RENAME", "VALUE"]) {
        let from = label(cursor)?;
        cursor.expect("TO")?;
        return Ok(TypeChange::RenameLabel { from, to: label(cursor)? });
    }
    match other_name(cursor, name)? {
        Some(it) => Ok(it),
        None => Err(cursor.expected("ADD VALUE, RENAME VALUE, RENAME TO, OWNER TO or SET SCHEMA")),
    }
}

/// RENAME TO and SET SCHEMA, if either comes next.
pub(crate) fn other_name(cursor: &mut Cursor<'_>, name: &str) -> SqlResult<Option<TypeChange>> {
    if cursor.take_all(&["RENAME", "TO"]) {
        let bare = cursor.name("the name of a type")?;
        let to = match names::last(name) {
            Some((schema, _)) => format!("{schema}.{}", names::written(&[bare])),
            None => names::written(&[bare]),
        };
        return Ok(Some(TypeChange::Rename(to)));
    }
    if cursor.take_all(&["SET", "SCHEMA"]) {
        return Ok(Some(TypeChange::Schema(cursor.name("the name of a schema")?)));
    }
    Ok(None)
}
