//! LIKE in CREATE TABLE: columns as another table has them.

use std::ops::Range;

use sqlparser::tokenizer::{Token, TokenWithSpan};
use types::SqlResult;

use crate::cursor::Cursor;

/// `LIKE table [INCLUDING ..]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LikeClause {
    /// The table, or the view.
    pub table: String,
    /// How many columns of the statement's own stand before it.
    pub at: usize,
    /// What is taken over beside names, types and NOT NULL.
    pub including: Including,
}

/// What LIKE takes over.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Including {
    /// Defaults.
    pub defaults: bool,
    /// Identities, with sequences of their own.
    pub identity: bool,
    /// CHECK constraints.
    pub constraints: bool,
    /// Primary key, unique constraints and indexes.
    pub indexes: bool,
    /// Comments.
    pub comments: bool,
    /// What columns are generated of.
    pub generated: bool,
}

impl Including {
    /// Says of a kind whether it is taken over; false of a kind that is not known.
    fn say(&mut self, cursor: &mut Cursor<'_>, includes: bool) -> bool {
        if cursor.take("ALL") {
            let all = includes;
            *self = Self {
                defaults: all,
                identity: all,
                constraints: all,
                indexes: all,
                comments: all,
                generated: all,
            };
        } else if cursor.take("DEFAULTS") {
            self.defaults = includes;
        } else if cursor.take("IDENTITY") {
            self.identity = includes;
        } else if cursor.take("CONSTRAINTS") {
            self.constraints = includes;
        } else if cursor.take("INDEXES") {
            self.indexes = includes;
        } else if cursor.take("GENERATED") {
            self.generated = includes;
        } else if cursor.take("COMMENTS") {
            self.comments = includes;
        } else {
            // What there is none of here.
            return ["COMPRESSION", "STATISTICS", "STORAGE"].iter().any(|it| cursor.take(it));
        }
        true
    }
}

/// Cuts the clauses out of a CREATE TABLE.
pub(crate) fn take(tokens: &mut Vec<TokenWithSpan>) -> SqlResult<Vec<LikeClause>> {
    let mut cursor = Cursor::new(tokens);
    let (mut kept, mut likes): (Vec<Range<usize>>, Vec<LikeClause>) = (Vec::new(), Vec::new());
    if !begins_table(&mut cursor) {
        return Ok(likes);
    }
    let open = cursor.at();
    let mut columns = 0;
    // Past the bracket or a comma an element begins.
    while matches!(cursor.peek(), Some(Token::LParen | Token::Comma)) {
        cursor.advance();
        let begin = cursor.at();
        if cursor.take("LIKE") {
            likes.push(like(&mut cursor, columns)?);
            continue;
        }
        let is_constraint = ["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN", "EXCLUDE"];
        columns += usize::from(!is_constraint.iter().any(|it| cursor.sees(&[it])));
        cursor.skip_to(|it| it.peek() == Some(&Token::Comma));
        kept.push(begin..cursor.at());
    }
    if likes.is_empty() {
        return Ok(likes);
    }
    let mut left: Vec<TokenWithSpan> = tokens[..=open].to_vec();
    for (place, element) in kept.into_iter().enumerate() {
        left.extend((place > 0).then(|| TokenWithSpan::wrap(Token::Comma)));
        left.extend_from_slice(&tokens[element]);
    }
    left.extend_from_slice(&tokens[cursor.at()..]);
    *tokens = left;
    Ok(likes)
}

/// What stands behind LIKE.
fn like(cursor: &mut Cursor<'_>, at: usize) -> SqlResult<LikeClause> {
    let table = cursor.relation()?;
    let mut including = Including::default();
    loop {
        let includes = cursor.take("INCLUDING");
        if !includes && !cursor.take("EXCLUDING") {
            return Ok(LikeClause { table, at, including });
        }
        if !including.say(cursor, includes) {
            return Err(cursor.expected("what is taken over"));
        }
    }
}

/// Goes to the bracket of the columns of a CREATE TABLE, if it is one.
pub(crate) fn begins_table(cursor: &mut Cursor<'_>) -> bool {
    if !cursor.take("CREATE") {
        return false;
    }
    let _ = cursor.take("LOCAL") || cursor.take("GLOBAL");
    let _ = cursor.take("TEMPORARY") || cursor.take("TEMP");
    if !cursor.take("TABLE") {
        return false;
    }
    cursor.take_all(&["IF", "NOT", "EXISTS"]);
    cursor.relation().is_ok() && cursor.peek() == Some(&Token::LParen)
}
