//! How deep the trees can be that a text leads to, from its tokens, before anything recurses over them.
//!
//! Key decision: an upper bound in one pass. Within a pair of parentheses every word and operator may put the tree so far
//! below a new node (`a + b + c`, `x::int::text`, `.. IS NULL IS NULL`), so they add up; a comma begins a tree beside the
//! others, except where the elements of a list hang on one another: branches of UNION and its kin, joined relations,
//! WITH, whose queries stand in one another, and subqueries, each of which is joined to the rows of the query that it stands in.
//!
//! Key decision: texts that are kept bring trees into statements that do not show it. Views know their levels. What tables and
//! domains keep, and bodies of macros with what they stand for, are told here when they are read, and all statements get room for
//! the deepest ([`kept_levels`]). A statement that comes to one that is deeper still is refused, with room for it from then on.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};
use stdx::stack;
use stdx::sync::atomic::{AtomicUsize, Ordering};
use types::{SqlError, SqlResult, SqlState};

use crate::precedence::is_isnull;
use crate::syntax::too_deep;
use crate::tokenizing::tokenized;
use crate::{lambda, written_in_sql};

/// See [`kept_levels`].
static KEPT: AtomicUsize = AtomicUsize::new(0);

/// Levels of the deepest kept text that this process has read so far.
pub fn kept_levels() -> usize {
    KEPT.load(Ordering::Relaxed)
}

/// Has statements have room for a text that is kept, before one reads it.
///
/// # Errors
/// 42601 for what is no text of SQL.
pub fn note_kept(text: &str) -> SqlResult<()> {
    // Each level is a letter at least.
    if text.len() > stack::FREE_LEVELS {
        raise(of_text(text)?);
    }
    Ok(())
}

/// Shallow texts need no room; what is deeper than there can be room for is refused all the same.
fn raise(levels: usize) {
    if levels > stack::FREE_LEVELS && levels <= stack::LEVELS_MAX {
        KEPT.fetch_max(levels, Ordering::Relaxed);
    }
}

/// The most levels of a tree made of a text.
pub(crate) fn of_text(text: &str) -> SqlResult<usize> {
    Ok(levels(&tokenized(text)?))
}

/// Refuses the tree of a kept text that the statement at work has no room for (54001); later statements have it.
pub(crate) fn ask_room(levels: usize) -> SqlResult<()> {
    raise(levels);
    if stack::has_room(levels) { Ok(()) } else { Err(too_deep()) }
}

/// The most levels of the body of a function that these tokens make, which is a text within them.
pub(crate) fn of_body(tokens: &[TokenWithSpan]) -> usize {
    let words = tokens.iter().filter_map(|it| match &it.token {
        Token::Word(word) => Some(word.keyword),
        _ => None,
    });
    let begin: Vec<Keyword> = words.take(4).collect();
    if begin.first() != Some(&Keyword::CREATE) || !begin.contains(&Keyword::FUNCTION) {
        return 0;
    }
    let texts = tokens.iter().filter_map(|it| match &it.token {
        Token::SingleQuotedString(text) => Some(text),
        _ => None,
    });
    // What cannot be read is told when it is.
    texts.filter_map(|it| of_text(it).ok()).max().unwrap_or(0)
}

/// What has been seen between a parenthesis and here.
#[derive(Default)]
struct Frame {
    /// Words and operators since the last comma.
    chain: usize,
    /// The deepest pair of parentheses since the last comma.
    inner: usize,
    /// The deepest element before the last comma.
    deepest: usize,
    /// What is never beside one another.
    stacked: usize,
    /// What is joined to the rows of this branch of a query, or in these parentheses: subqueries, functions that become some,
    /// and windows.
    joined: usize,
    /// The most that is joined to the rows of a branch before this one.
    of_branches: usize,
    /// Whether a query stands in these parentheses.
    is_query: bool,
    /// Whether these are square brackets.
    in_brackets: bool,
    list: List,
}

/// Nodes that a subquery or a window puts between the rows that it is joined to and those of its query.
pub(crate) const JOINED_LEVELS: usize = 2;

#[derive(Clone, Copy, Default, PartialEq)]
enum List {
    /// Elements stand beside one another.
    #[default]
    Apart,
    /// In FROM: each relation is joined to those before it.
    Relations,
    /// In WITH: each query may name those before it.
    Queries,
    /// In VALUES.
    Rows,
}

impl Frame {
    fn comma(&mut self) {
        self.deepest = self.deepest.max(self.chain + self.inner);
        (self.chain, self.inner) = (0, 0);
        self.stacked += usize::from(self.list == List::Relations);
        if self.list == List::Rows {
            self.branch();
        }
    }

    fn close(&mut self, closed: &Frame) {
        // The rows that all of it is joined to are those of the query around.
        self.joined += if closed.is_query { 1 } else { closed.joined };
        let inner = if closed.is_query { closed.levels() } else { closed.own_levels() };
        match self.list {
            List::Queries => self.stacked += inner,
            List::Apart | List::Relations | List::Rows => self.inner = self.inner.max(inner),
        }
    }

    fn levels(&self) -> usize {
        self.own_levels() + JOINED_LEVELS * self.of_branches.max(self.joined)
    }

    /// The levels without what is joined to rows.
    fn own_levels(&self) -> usize {
        1 + self.stacked + self.deepest.max(self.chain + self.inner)
    }

    /// Another branch, or another row: what is joined to it stands beside what is joined to those before.
    fn branch(&mut self) {
        self.of_branches = self.of_branches.max(std::mem::take(&mut self.joined));
    }

    fn word(&mut self, keyword: Keyword) {
        match keyword {
            Keyword::NoKeyword => return,
            Keyword::WITH => self.list = List::Queries,
            Keyword::FROM => self.list = List::Relations,
            Keyword::SELECT
            | Keyword::WHERE
            | Keyword::GROUP
            | Keyword::ORDER
            | Keyword::HAVING => self.list = List::Apart,
            Keyword::VALUES => self.list = List::Rows,
            // A branch is a tree beside the others, under one node more.
            Keyword::UNION | Keyword::EXCEPT | Keyword::INTERSECT => {
                self.comma();
                self.branch();
                (self.list, self.stacked) = (List::Apart, self.stacked + 1);
            }
            Keyword::JOIN => self.stacked += 1,
            Keyword::OVER => self.joined += 1,
            // `[.. for x in ..]` becomes a subquery.
            Keyword::FOR => self.joined += usize::from(self.in_brackets),
            _ => {}
        }
        self.is_query |=
            matches!(keyword, Keyword::SELECT | Keyword::VALUES | Keyword::FROM | Keyword::TABLE);
        self.chain += 1;
    }
}

/// Whether a function becomes a subquery.
fn becomes_subquery(name: &Token, behind: &Token) -> bool {
    lambda::is_function(name) || written_in_sql::is_about(name, behind)
}

/// The most levels that a tree made of these tokens can have.
pub(crate) fn levels(tokens: &[TokenWithSpan]) -> usize {
    let mut deepest = 0;
    let mut outer: Vec<Frame> = Vec::new();
    let mut frame = Frame::default();
    for (at, token) in tokens.iter().enumerate() {
        match &token.token {
            it @ (Token::LParen | Token::LBracket | Token::LBrace) => {
                let is_joined = at > 0 && becomes_subquery(&tokens[at - 1].token, it);
                frame.joined += usize::from(is_joined);
                let in_brackets = *it == Token::LBracket;
                let inner = Frame { in_brackets, ..Frame::default() };
                outer.push(std::mem::replace(&mut frame, inner));
            }
            Token::RParen | Token::RBracket | Token::RBrace => {
                let closed = std::mem::replace(&mut frame, outer.pop().unwrap_or_default());
                // One too many is an error of syntax; its levels count all the same.
                frame.close(&closed);
                // What follows may be put on top: a subscript, a call on a call.
                frame.chain += 1;
            }
            Token::Comma => frame.comma(),
            Token::SemiColon => {
                deepest =
                    deepest.max(frame.levels() + outer.iter().map(Frame::levels).sum::<usize>());
                (frame, outer) = (Frame::default(), Vec::new());
            }
            // An operator, though the parser has no keyword for it.
            it if is_isnull(it) => frame.chain += 1,
            Token::Word(word) => frame.word(word.keyword),
            Token::Whitespace(_) | Token::Period | Token::EOF => {}
            Token::Number(..) | Token::SingleQuotedString(_) | Token::Placeholder(_) => {}
            _ => frame.chain += 1,
        }
    }
    deepest.max(frame.levels() + outer.iter().map(Frame::levels).sum::<usize>())
}

/// The most names with periods between them: more than any object and the fields within it have.
const NAME_PARTS_MAX: usize = 12;

/// Refuses names without letters, and names of very many parts (42601). The parser tries what follows each period twice, so that
/// one of 30 would not end.
pub(crate) fn names_are_sound(tokens: &[TokenWithSpan]) -> SqlResult<()> {
    let mut parts = 0;
    let mut was_period = false;
    let mut of_table = false;
    for token in tokens {
        let is_empty = match &token.token {
            Token::Word(word) => word.value.is_empty(),
            Token::SingleQuotedString(text) => of_table && text.is_empty(),
            _ => false,
        };
        if is_empty {
            return Err(SqlError::new(SqlState::SYNTAX, "zero-length delimited identifier"));
        }
        of_table = matches!(&token.token, Token::Word(it) if it.keyword == Keyword::TABLE);
        let is_period = token.token == Token::Period;
        match is_period {
            true if !was_period => parts += 1,
            false if !was_period => parts = 0,
            _ => {}
        }
        was_period = is_period;
        if parts > NAME_PARTS_MAX {
            let message = "improper qualified name (too many dotted names)";
            return Err(SqlError::new(SqlState::SYNTAX, message));
        }
    }
    Ok(())
}

/// How often the parser may try what stands in FROM.
const TRIES_MAX: usize = 2_048;

/// Refuses relations in parentheses in one another that the parser would try too often: where a relation begins with two
/// parentheses or more, what is wrong in them is tried as a subquery and as a join, at each of them.
///
/// Errors: 54001.
pub(crate) fn tables_are_sound(tokens: &[TokenWithSpan]) -> SqlResult<()> {
    let is_open = |at: usize| tokens.get(at).is_some_and(|it| it.token == Token::LParen);
    let begins = |it: &TokenWithSpan| {
        matches!(&it.token, Token::Word(it)
            if it.quote_style.is_none() && matches!(it.keyword, Keyword::FROM | Keyword::JOIN))
    };
    // How deep the parentheses are that hold each, and the tries of all.
    let (mut held, mut depth, mut tries) = (Vec::new(), 0_usize, 1_usize);
    for (at, token) in tokens.iter().enumerate() {
        match token.token {
            Token::LParen => depth += 1,
            Token::RParen => {
                depth = depth.saturating_sub(1);
                while held.last().is_some_and(|it: &(usize, usize)| it.0 > depth) {
                    tries /= held.pop().map_or(1, |it| it.1);
                }
            }
            _ if begins(token) => {
                let count = (at + 1..).take_while(|it| is_open(*it)).count();
                if count > 1 {
                    held.push((depth + 1, count));
                    tries = tries.saturating_mul(count);
                }
                // One alone is tried as often as it has parentheses.
                if tries > TRIES_MAX && held.len() > 1 {
                    return Err(crate::syntax::too_deep());
                }
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use sqlparser::tokenizer::Tokenizer;

    use super::*;

    fn of(sql: &str) -> usize {
        let tokens = Tokenizer::new(&crate::dialect::Postgres::of(0), sql).tokenize_with_location();
        levels(&tokens.unwrap())
    }

    #[test]
    fn chains_and_nests_add_up() {
        let many = 1000;
        for (what, sql) in [
            ("sum", format!("SELECT {}1", "1+".repeat(many))),
            ("casts", format!("SELECT 1{}", "::int".repeat(many))),
            ("tests", format!("SELECT 1{}", " IS NULL".repeat(many))),
            ("texts", format!("SELECT a{} FROM t", "||a".repeat(many))),
            ("or", format!("SELECT 1 WHERE (a){}", " OR (a = 1)".repeat(many))),
            ("not", format!("SELECT {}a", "NOT ".repeat(many))),
            ("signs", format!("SELECT {}1", "- ".repeat(many))),
            ("parentheses", format!("SELECT {}1{}", "(".repeat(many), ")".repeat(many))),
            ("open", format!("SELECT {}1", "(".repeat(many))),
            ("calls", format!("SELECT {}1{}", "abs(".repeat(many), ")".repeat(many))),
            ("subscripts", format!("SELECT a{}", "[1]".repeat(many))),
            ("branches", format!("SELECT 1, 2{}", " EXCEPT SELECT 1, 2".repeat(many))),
            ("joins", format!("SELECT 1 FROM t{}", " NATURAL JOIN t".repeat(many))),
            ("relations", format!("SELECT 1 FROM t{}", ", t".repeat(many))),
            ("subqueries", format!("SELECT 1{}", ", (SELECT 1)".repeat(many))),
            ("in calls", format!("SELECT 1{}", ", abs((SELECT 1))".repeat(many))),
            ("windows", format!("SELECT 1{}", ", sum(a) OVER ()".repeat(many))),
            ("lists", format!("SELECT 1{}", ", [x for x in a]".repeat(many))),
            ("lambdas", format!("SELECT 1{}", ", list_filter(a, x -> x)".repeat(many))),
            ("after", format!("SELECT 1{}; SELECT 2", "+1".repeat(many))),
            (
                "with",
                format!(
                    "WITH a AS (SELECT 1){} SELECT 1",
                    ", a AS (SELECT 1+1 FROM a)".repeat(many)
                ),
            ),
        ] {
            assert!(of(&sql) >= many, "{what}: {}", of(&sql));
            assert!(of(&sql) <= 8 * many, "{what}: {}", of(&sql));
        }
    }

    #[test]
    fn lists_are_as_deep_as_their_deepest_element() {
        let rows = "(1, 'x', -2.5), ".repeat(10_000);
        assert!(of(&format!("INSERT INTO t VALUES {rows}(1, 'y', 1 + 2)")) < 20);
        assert!(of(&format!("SELECT a FROM t WHERE a IN ({}7)", "7, ".repeat(10_000))) < 20);
        assert!(of(&format!("SELECT {}a + 1 FROM t", "a + 1 AS b, ".repeat(10_000))) < 20);
        let rows = "((SELECT 1)), ".repeat(10_000);
        assert!(of(&format!("INSERT INTO t VALUES {rows}((SELECT 2))")) < 20);
        let branches = " UNION ALL SELECT (SELECT 1)".repeat(1_000);
        assert!(of(&format!("SELECT 1{branches}")) < 1_000 + 20);
        let nested = format!("{}SELECT 1{}", "(".repeat(100), ")".repeat(100));
        assert!(of(&format!("SELECT {nested}")) < 2 * 100 + 20);
        assert!(of("") < 3);
    }
}
