//! CREATE, ALTER and DROP ROLE, GRANT and REVOKE, ALTER .. OWNER TO, SET ROLE: the parser reads them in part only.

use sqlparser::tokenizer::{Token, TokenWithSpan};
use types::{Privileges, SqlError, SqlResult, SqlState};

use crate::cursor::Cursor;
use crate::role_statement::{
    MembershipOptions, NamedRole, Owned, RightsOn, RoleOptions, RoleStatement,
};
use crate::statement::Statement;
use crate::syntax::unsupported;

/// What is called a role, and differs in what CREATE takes for said.
const KINDS: [&str; 3] = ["ROLE", "USER", "GROUP"];

/// The statement, if the tokens are one about roles and rights.
pub(crate) fn recognise(tokens: &[TokenWithSpan]) -> SqlResult<Option<Statement>> {
    let mut cursor = Cursor::new(tokens);
    let cursor = &mut cursor;
    let statement = if cursor.take("GRANT") {
        given(cursor, true)?
    } else if cursor.take("REVOKE") {
        given(cursor, false)?
    } else if cursor.sees(&["CREATE"]) || cursor.sees(&["ALTER"]) || cursor.sees(&["DROP"]) {
        match defined(cursor)? {
            Some(it) => it,
            None => return Ok(None),
        }
    } else if cursor.take_all(&["REASSIGN", "OWNED", "BY"]) {
        let from = roles(cursor)?;
        cursor.expect("TO")?;
        RoleStatement::Reassign { from, to: role(cursor)? }
    } else {
        match set(cursor)? {
            Some(it) => it,
            None => return Ok(None),
        }
    };
    cursor.expect_end()?;
    Ok(Some(Statement::Roles(statement)))
}

/// CREATE, ALTER and DROP.
fn defined(cursor: &mut Cursor<'_>) -> SqlResult<Option<RoleStatement>> {
    let kind = |cursor: &mut Cursor<'_>, verb: &str| {
        KINDS.into_iter().find(|it| cursor.take_all(&[verb, it]))
    };
    if cursor.take_all(&["DROP", "OWNED", "BY"]) {
        let by = roles(cursor)?;
        return Ok(Some(RoleStatement::DropOwned { by, cascade: behavior(cursor) }));
    }
    if cursor.sees(&["ALTER", "DEFAULT", "PRIVILEGES"]) {
        return Err(unsupported("ALTER DEFAULT PRIVILEGES"));
    }
    if cursor.sees(&["CREATE", "USER", "MAPPING"]) || cursor.sees(&["DROP", "USER", "MAPPING"]) {
        return Ok(None);
    }
    if let Some(kind) = kind(cursor, "CREATE") {
        let name = new_name(cursor)?;
        cursor.take("WITH");
        let mut options = RoleOptions::default();
        while !cursor.is_at_end() {
            option(cursor, &mut options, true)?;
        }
        if kind == "USER" {
            options.login.get_or_insert(true);
        }
        return Ok(Some(RoleStatement::Create { name, options: Box::new(options) }));
    }
    if kind(cursor, "DROP").is_some() {
        let if_exists = cursor.take_all(&["IF", "EXISTS"]);
        let mut names = vec![existing_name(cursor)?];
        while cursor.take_sign(&Token::Comma) {
            names.push(existing_name(cursor)?);
        }
        return Ok(Some(RoleStatement::Drop { names, if_exists }));
    }
    if let Some(kind) = kind(cursor, "ALTER") {
        return altered(cursor, kind).map(Some);
    }
    owner(*cursor).map(|it| {
        it.map(|(statement, end)| {
            *cursor = end;
            statement
        })
    })
}

fn altered(cursor: &mut Cursor<'_>, kind: &str) -> SqlResult<RoleStatement> {
    if cursor.sees(&["ALL"]) {
        return Err(unsupported(format!("ALTER {kind} ALL")));
    }
    let role = role(cursor)?;
    if cursor.take_all(&["RENAME", "TO"]) {
        let NamedRole::Name(name) = role else {
            return Err(cursor.expected("an option of a role"));
        };
        return Ok(RoleStatement::Rename { name, to: new_name(cursor)? });
    }
    let adds = kind == "GROUP" && cursor.take_all(&["ADD", "USER"]);
    if adds || kind == "GROUP" && cursor.take_all(&["DROP", "USER"]) {
        let NamedRole::Name(group) = role else { return Err(cursor.expected("a group")) };
        let members = roles(cursor)?;
        let (options, by) = (MembershipOptions::default(), None);
        return Ok(RoleStatement::Member {
            grant: adds,
            roles: vec![group],
            members,
            options,
            by,
            cascade: false,
        });
    }
    for word in ["SET", "RESET", "IN"] {
        if cursor.sees(&[word]) {
            return Err(unsupported(format!("ALTER {kind} .. {word}")));
        }
    }
    cursor.take("WITH");
    let mut options = RoleOptions::default();
    while !cursor.is_at_end() {
        option(cursor, &mut options, false)?;
    }
    Ok(RoleStatement::Alter { role, options: Box::new(options) })
}

/// What a flag of a role is told in.
type Flag = fn(&mut RoleOptions) -> &mut Option<bool>;

/// Reads an option of a role.
fn option(cursor: &mut Cursor<'_>, said: &mut RoleOptions, is_new: bool) -> SqlResult<()> {
    let begin = *cursor;
    let flags: [(&str, &str, Flag); 7] = [
        ("SUPERUSER", "NOSUPERUSER", |it| &mut it.superuser),
        ("CREATEDB", "NOCREATEDB", |it| &mut it.create_database),
        ("CREATEROLE", "NOCREATEROLE", |it| &mut it.create_role),
        ("INHERIT", "NOINHERIT", |it| &mut it.inherit),
        ("LOGIN", "NOLOGIN", |it| &mut it.login),
        ("REPLICATION", "NOREPLICATION", |it| &mut it.replication),
        ("BYPASSRLS", "NOBYPASSRLS", |it| &mut it.bypass_policies),
    ];
    let twice = || begin.error(SqlState::SYNTAX, "conflicting or redundant options");
    for (yes, no, place) in flags {
        let value = cursor.take(yes);
        if !value && !cursor.take(no) {
            continue;
        }
        return match place(said).replace(value) {
            None => Ok(()),
            Some(_) => Err(twice()),
        };
    }
    let is_first = if cursor.take_all(&["CONNECTION", "LIMIT"]) {
        let minus = cursor.take_sign(&Token::Minus);
        let number = cursor.number("a number")?;
        let number = i64::try_from(number).map_err(|_| cursor.expected("a number"))?;
        said.connections.replace(if minus { -number } else { number }).is_none()
    } else if cursor.take_all(&["PASSWORD", "NULL"]) {
        said.password.replace(None).is_none()
    } else if cursor.take_all(&["ENCRYPTED", "PASSWORD"]) || cursor.take("PASSWORD") {
        said.password.replace(Some(text(cursor)?)).is_none()
    } else if cursor.take_all(&["VALID", "UNTIL"]) {
        said.valid_until.replace(text(cursor)?).is_none()
    } else if is_new && cursor.take("SYSID") {
        cursor.number("a number")?;
        true
    } else if is_new && (cursor.take_all(&["IN", "ROLE"]) || cursor.take_all(&["IN", "GROUP"])) {
        let is_first = said.in_roles.is_empty();
        said.in_roles.push(existing_name(cursor)?);
        while cursor.take_sign(&Token::Comma) {
            said.in_roles.push(existing_name(cursor)?);
        }
        is_first
    } else if is_new && cursor.take("ADMIN") {
        std::mem::replace(&mut said.admins, roles(cursor)?).is_empty()
    } else if is_new && (cursor.take("ROLE") || cursor.take("USER")) {
        std::mem::replace(&mut said.members, roles(cursor)?).is_empty()
    } else {
        return Err(match cursor.peek() {
            Some(Token::Word(word)) => {
                let message = format!("unrecognized role option \"{}\"", word.value.to_lowercase());
                cursor.error(SqlState::SYNTAX, &message)
            }
            _ => cursor.expected("an option of a role"),
        });
    };
    if is_first { Ok(()) } else { Err(twice()) }
}

/// GRANT and REVOKE, behind that word.
fn given(cursor: &mut Cursor<'_>, grant: bool) -> SqlResult<RoleStatement> {
    let mut options = MembershipOptions::default();
    let mut option = false;
    if !grant {
        option = cursor.take_all(&["GRANT", "OPTION", "FOR"]);
        let place = if cursor.take_all(&["ADMIN", "OPTION", "FOR"]) {
            Some(&mut options.admin)
        } else if cursor.take_all(&["INHERIT", "OPTION", "FOR"]) {
            Some(&mut options.inherit)
        } else if cursor.take_all(&["SET", "OPTION", "FOR"]) {
            Some(&mut options.set)
        } else {
            None
        };
        if let Some(place) = place {
            *place = Some(false);
        }
    }
    let mut words = Vec::new();
    let begin = *cursor;
    let is_all = cursor.take("ALL");
    let mut of_all = None;
    if is_all {
        cursor.take("PRIVILEGES");
        of_all = columns(cursor)?;
    } else {
        loop {
            let at = *cursor;
            words.push((cursor.name("a right or a role")?, columns(cursor)?, at));
            if !cursor.take_sign(&Token::Comma) {
                break;
            }
        }
    }
    if !cursor.take("ON") {
        if is_all || option {
            return Err(cursor.expected("ON"));
        }
        if words.iter().any(|it| it.1.is_some()) {
            let message = "column names cannot be included in GRANT/REVOKE ROLE";
            return Err(begin.error(SqlState("0LP01"), message));
        }
        let roles = words.into_iter().map(|it| it.0).collect();
        return membership(cursor, grant, roles, options);
    }
    if options != MembershipOptions::default() {
        return Err(begin.expected("a role"));
    }
    let (mut rights, mut of_columns) = (Privileges::NONE, Vec::new());
    for (word, columns, at) in words {
        let right = Privileges::named(&word).ok_or_else(|| {
            at.error(SqlState::SYNTAX, &format!("unrecognized privilege type \"{word}\""))
        })?;
        match columns {
            Some(columns) => of_columns.push((Some(right), columns)),
            None => rights |= right,
        }
    }
    let rights = (!is_all || of_all.is_some()).then_some(rights);
    of_columns.extend(of_all.map(|it| (None, it)));
    let on = objects(cursor)?;
    cursor.expect(if grant { "TO" } else { "FROM" })?;
    let roles = roles(cursor)?;
    let option = option || grant && cursor.take_all(&["WITH", "GRANT", "OPTION"]);
    let by = granted_by(cursor)?;
    let cascade = !grant && behavior(cursor);
    let columns = of_columns;
    Ok(RoleStatement::Rights { grant, rights, columns, on, roles, option, by, cascade })
}

/// The columns that a right is given on, if it is on single ones.
fn columns(cursor: &mut Cursor<'_>) -> SqlResult<Option<Vec<String>>> {
    if !cursor.take_sign(&Token::LParen) {
        return Ok(None);
    }
    let mut names = vec![cursor.name("a column")?];
    while cursor.take_sign(&Token::Comma) {
        names.push(cursor.name("a column")?);
    }
    match cursor.take_sign(&Token::RParen) {
        true => Ok(Some(names)),
        false => Err(cursor.expected(") or a comma")),
    }
}

/// GRANT and REVOKE of roles, behind their names.
fn membership(
    cursor: &mut Cursor<'_>,
    grant: bool,
    roles: Vec<String>,
    mut options: MembershipOptions,
) -> SqlResult<RoleStatement> {
    cursor.expect(if grant { "TO" } else { "FROM" })?;
    let members = self::roles(cursor)?;
    if grant && cursor.take("WITH") {
        loop {
            let place = if cursor.take("ADMIN") {
                &mut options.admin
            } else if cursor.take("INHERIT") {
                &mut options.inherit
            } else if cursor.take("SET") {
                &mut options.set
            } else {
                return Err(cursor.expected("ADMIN, INHERIT or SET"));
            };
            *place = Some(if cursor.take("OPTION") || cursor.take("TRUE") {
                true
            } else if cursor.take("FALSE") {
                false
            } else {
                return Err(cursor.expected("OPTION, TRUE or FALSE"));
            });
            if !cursor.take_sign(&Token::Comma) {
                break;
            }
        }
    }
    let by = granted_by(cursor)?;
    let cascade = !grant && behavior(cursor);
    Ok(RoleStatement::Member { grant, roles, members, options, by, cascade })
}

/// What stands behind ON.
fn objects(cursor: &mut Cursor<'_>) -> SqlResult<RightsOn> {
    for (word, sequences) in [("TABLES", false), ("SEQUENCES", true)] {
        if cursor.take_all(&["ALL", word, "IN", "SCHEMA"]) {
            return Ok(RightsOn::AllIn { sequences, schemas: names(cursor)? });
        }
    }
    if cursor.take("SCHEMA") {
        return Ok(RightsOn::Schemas(names(cursor)?));
    }
    if cursor.take("DATABASE") {
        return Ok(RightsOn::Databases(names(cursor)?));
    }
    for word in [
        "ALL",
        "FUNCTION",
        "PROCEDURE",
        "ROUTINE",
        "LANGUAGE",
        "TABLESPACE",
        "TYPE",
        "DOMAIN",
        "FOREIGN",
        "LARGE",
        "PARAMETER",
    ] {
        let mut ahead = *cursor;
        if ahead.take(word)
            && matches!(ahead.peek(), Some(Token::Word(_)))
            && !ahead.sees(&["TO"])
            && !ahead.sees(&["FROM"])
        {
            return Err(unsupported(format!("a right on {word}")));
        }
    }
    let sequences = cursor.take("SEQUENCE");
    if !sequences {
        cursor.take("TABLE");
    }
    let mut names = vec![cursor.relation()?];
    while cursor.take_sign(&Token::Comma) {
        names.push(cursor.relation()?);
    }
    Ok(RightsOn::Relations { sequences, names })
}

/// ALTER .. OWNER TO, with the place behind it.
fn owner<'a>(mut cursor: Cursor<'a>) -> SqlResult<Option<(RoleStatement, Cursor<'a>)>> {
    if !cursor.take("ALTER") {
        return Ok(None);
    }
    let kinds = ["table", "materialized view", "view", "sequence"];
    let kind = kinds.into_iter().find(|it| {
        let words: Vec<&str> = it.split(' ').collect();
        cursor.take_all(&words)
    });
    let of = if let Some(kind) = kind {
        let if_exists = cursor.take_all(&["IF", "EXISTS"]);
        let Ok(name) = cursor.relation() else { return Ok(None) };
        Owned::Relation { kind, name, if_exists }
    } else if cursor.take("SCHEMA") {
        let Ok(name) = cursor.name("the name of a schema") else { return Ok(None) };
        Owned::Schema(name)
    } else if cursor.take("TYPE") {
        let Ok(name) = cursor.relation() else { return Ok(None) };
        Owned::Type { name, is_domain: false }
    } else if cursor.take("DOMAIN") {
        let Ok(name) = cursor.relation() else { return Ok(None) };
        Owned::Type { name, is_domain: true }
    } else if cursor.take("DATABASE") {
        let Ok(_) = cursor.name("the name of the database") else { return Ok(None) };
        Owned::Database
    } else {
        return Ok(None);
    };
    if !cursor.take_all(&["OWNER", "TO"]) {
        return Ok(None);
    }
    let to = role(&mut cursor)?;
    Ok(Some((RoleStatement::Owner { of, to }, cursor)))
}

/// SET ROLE, SET SESSION AUTHORIZATION, and RESET of them.
fn set(cursor: &mut Cursor<'_>) -> SqlResult<Option<RoleStatement>> {
    if cursor.take_all(&["RESET", "ROLE"]) {
        return Ok(Some(RoleStatement::SetRole { role: None, is_reset: true, local: false }));
    }
    if cursor.take_all(&["RESET", "SESSION", "AUTHORIZATION"]) {
        return Ok(Some(RoleStatement::SetSession { role: None, is_reset: true, local: false }));
    }
    if !cursor.take("SET") {
        return Ok(None);
    }
    let local = cursor.take("LOCAL");
    let value = |cursor: &mut Cursor<'_>, none: &str| -> SqlResult<Option<String>> {
        if cursor.take(none) {
            return Ok(None);
        }
        match cursor.peek() {
            Some(Token::SingleQuotedString(_)) => text(cursor).map(Some),
            _ => cursor.name("the name of a role").map(Some),
        }
    };
    if cursor.take_all(&["SESSION", "AUTHORIZATION"])
        || !local && cursor.take_all(&["SESSION", "SESSION", "AUTHORIZATION"])
    {
        let role = value(cursor, "DEFAULT")?;
        return Ok(Some(RoleStatement::SetSession { role, is_reset: false, local }));
    }
    if cursor.take("ROLE") || !local && cursor.take_all(&["SESSION", "ROLE"]) {
        // As any setting it may be said with a sign.
        let _ = cursor.take_sign(&Token::Eq) || cursor.take("TO");
        let role = value(cursor, "NONE")?.filter(|it| it != "none");
        return Ok(Some(RoleStatement::SetRole { role, is_reset: false, local }));
    }
    Ok(None)
}

fn granted_by(cursor: &mut Cursor<'_>) -> SqlResult<Option<NamedRole>> {
    match cursor.take_all(&["GRANTED", "BY"]) {
        true => role(cursor).map(Some),
        false => Ok(None),
    }
}

/// CASCADE or RESTRICT.
fn behavior(cursor: &mut Cursor<'_>) -> bool {
    cursor.take("CASCADE") || {
        cursor.take("RESTRICT");
        false
    }
}

fn names(cursor: &mut Cursor<'_>) -> SqlResult<Vec<String>> {
    let mut names = vec![cursor.name("a name")?];
    while cursor.take_sign(&Token::Comma) {
        names.push(cursor.name("a name")?);
    }
    Ok(names)
}

fn roles(cursor: &mut Cursor<'_>) -> SqlResult<Vec<NamedRole>> {
    let mut roles = vec![role(cursor)?];
    while cursor.take_sign(&Token::Comma) {
        roles.push(role(cursor)?);
    }
    Ok(roles)
}

/// A role as a statement names it.
pub(crate) fn role(cursor: &mut Cursor<'_>) -> SqlResult<NamedRole> {
    cursor.take("GROUP");
    for (word, role) in [
        ("CURRENT_USER", NamedRole::Current),
        ("CURRENT_ROLE", NamedRole::Current),
        ("SESSION_USER", NamedRole::Session),
        ("PUBLIC", NamedRole::Public),
    ] {
        if cursor.take(word) {
            return Ok(role);
        }
    }
    let name = cursor.name("the name of a role")?;
    Ok(if name == "public" { NamedRole::Public } else { NamedRole::Name(name) })
}

/// A role that is there, by its name alone.
fn existing_name(cursor: &mut Cursor<'_>) -> SqlResult<String> {
    let begin = *cursor;
    match role(cursor)? {
        NamedRole::Name(name) => Ok(name),
        _ => Err(begin.error(
            SqlState::INVALID_PARAMETER,
            "cannot use special role specifier in this statement",
        )),
    }
}

/// The name of a role that is to be made.
///
/// Errors: 42939 where the system alone gives it.
fn new_name(cursor: &mut Cursor<'_>) -> SqlResult<String> {
    let reserved = |name: &str| {
        let message = format!("role name \"{name}\" is reserved");
        SqlError::new(SqlState("42939"), message)
    };
    match role(cursor)? {
        NamedRole::Name(name) if name == "none" => Err(reserved(&name)),
        NamedRole::Name(name) if name.starts_with("pg_") => {
            Err(reserved(&name).with_hint("Role names starting with \"pg_\" are reserved."))
        }
        NamedRole::Name(name) => Ok(name),
        NamedRole::Public => Err(reserved("public")),
        NamedRole::Current => Err(reserved("current_user")),
        NamedRole::Session => Err(reserved("session_user")),
    }
}

fn text(cursor: &mut Cursor<'_>) -> SqlResult<String> {
    let Some(Token::SingleQuotedString(text)) = cursor.peek() else {
        return Err(cursor.expected("a text in single quotes"));
    };
    cursor.advance();
    Ok(text.clone())
}
