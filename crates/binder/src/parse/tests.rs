//! What texts come to in little room and little time.

use stdx::sync::thread;

use super::*;
use crate::block::{Block, BlockStep, RaiseLevel};

/// What a text comes to on a stack as small as those of workers; its trees are dropped there, too.
fn state_of(sql: String) -> Result<usize, SqlError> {
    let small = thread::Builder::new().stack_size(2 << 20);
    let parsed = small.spawn(move || parse(&sql).map(|it| it.len()));
    parsed.unwrap().join().expect("no text ends the program")
}

#[test]
fn chains_of_any_length_are_parsed_or_refused() {
    let chain = |first: &str, link: &str, count| format!("SELECT {first}{}", link.repeat(count));
    for (first, link) in [
        ("a", " + a"),
        ("1", "::int"),
        ("a", " IS NULL"),
        ("a", " || a"),
        ("$1", " + $2"),
        ("(a)", " OR (a = 1)"),
        ("a", " AND a NOT IN (1)"),
        ("1", " EXCEPT SELECT 1"),
        ("1", " UNION ALL SELECT 2"),
        ("a FROM t", " NATURAL JOIN t"),
        ("a", "[1]"),
    ] {
        for count in [1, 100, 2_500, 5_000, 20_000, 100_000] {
            match state_of(chain(first, link, count)) {
                Ok(statements) => assert_eq!(statements, 1),
                Err(error) => {
                    assert_eq!(error.state, SqlState::STATEMENT_TOO_COMPLEX, "{link}: {error}");
                    assert!(count >= 5_000, "{count} times {link} is not much");
                }
            }
        }
    }
}

#[test]
fn operators_that_the_parser_does_not_know_are_levels_as_well() {
    for link in
        [" ISNULL", " NOTNULL", " COLLATE \"C\"", " IS JSON", " || 1 IN (SELECT 1)", " + 1 IN b"]
    {
        let some = if link.contains("SELECT") { 200 } else { 500 };
        assert_eq!(state_of(format!("SELECT a{}", link.repeat(some))).ok(), Some(1), "{link}");
        let long = state_of(format!("SELECT a{}", link.repeat(100_000)));
        assert_eq!(long.map_err(|it| it.state), Err(SqlState::STATEMENT_TOO_COMPLEX));
    }
}

#[test]
fn nests_of_any_depth_are_parsed_or_refused_in_little_time() {
    for (open, close) in [
        ("(", ")"),
        ("abs(", ")"),
        ("NOT ", ""),
        ("- ", ""),
        ("CASE WHEN true THEN ", " END"),
        ("(SELECT ", ")"),
        ("ARRAY[", "]"),
        ("coalesce(1, ", ")"),
        ("CAST(", " AS int)"),
        ("EXISTS (SELECT 1 WHERE ", ")"),
        ("(SELECT 1 FROM (SELECT ", ") s)"),
    ] {
        // A parser that tries each level twice would not end with the first of these.
        for count in [40, 200, 2_000, 20_000] {
            let text = format!("SELECT {}1{}", open.repeat(count), close.repeat(count));
            match state_of(text) {
                Ok(statements) => assert_eq!(statements, 1),
                Err(error) => {
                    assert_eq!(error.state, SqlState::STATEMENT_TOO_COMPLEX, "{open}: {error}");
                    assert!(count >= 200, "{count} times {open} is not much");
                }
            }
        }
    }
}

#[test]
fn queries_behind_in_that_are_wrong_are_refused_in_little_time() {
    for (open, close) in [("IN (SELECT ", ""), ("a IN (SELECT ", ")"), ("a IN (VALUES (", "))")] {
        for count in [3, 40, 300] {
            let nest = format!("{}('x' y END{}", open.repeat(count), close.repeat(count));
            let state = state_of(format!("SELECT 1 WHERE b NOT IN (SELECT {nest}"));
            let state = state.map_err(|it| it.state);
            assert!(state.is_err(), "{count} times {open}: {state:?}");
        }
    }
}

#[test]
fn nests_that_are_wrong_are_refused_in_little_time() {
    for (open, close) in
        [("FROM ((", "))"), ("FROM ((SELECT 1 ", "))"), ("POSITION((", "))"), ("POSITION(", ")")]
    {
        for count in [3, 12, 40, 300] {
            for end in ["('x' y END", "1)"] {
                let nest = format!("{}{end}{}", open.repeat(count), close.repeat(count));
                let state = state_of(format!("SELECT 1 {nest}"));
                assert!(state.is_err(), "{count} times {open}{end}: {state:?}");
            }
        }
    }
    let joins = format!("SELECT * FROM {}t{}", "(".repeat(200), " NATURAL JOIN t)".repeat(200));
    assert_eq!(state_of(joins).ok(), Some(1));
}

#[test]
fn names_of_any_length_are_parsed_or_refused_in_little_time() {
    for end in ["((c))", "c[1]", "c COLLATE", "*", "-1", ".", "ARRAY["] {
        for parts in [3, 11, 40, 20_000] {
            for before in ["SELECT ", "SELECT 1 FROM c JOIN o ON "] {
                let parsed = state_of(format!("{before}{}{end}", "c. ".repeat(parts)));
                let state = parsed.map_err(|it| it.state);
                assert!(parts < 12 || state == Err(SqlState::SYNTAX), "{end}: {state:?}");
            }
        }
    }
}

/// The block that DO has this text of.
fn block(text: &str) -> SqlResult<Block> {
    match &parse(&format!("DO $the_block${text}$the_block$"))?[..] {
        [Statement::Do(block)] => Ok(block.clone()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_block_is_read_with_its_texts() {
    let text =
        "begin\n  create type \"a b\" as enum ('x;');\n if not exists (select 1) then perform f(1);
        elsif case when true then true end then null; else raise notice 'a %', 1 + 1; end if;
        exception when duplicate_object or sqlstate '42P07' then null; when others then raise; end";
    let block = block(text).unwrap();
    let BlockStep::If { branches, otherwise } = &block.steps[1] else { panic!("{block:?}") };
    assert_eq!(
        block.steps[0],
        BlockStep::Statement("create type \"a b\" as enum ('x;')".to_owned())
    );
    assert_eq!(branches[0].0, "not exists (select 1)");
    assert_eq!(branches[0].1, [BlockStep::Perform("SELECT f(1)".to_owned())]);
    assert_eq!(branches[1], ("case when true then true end".to_owned(), Vec::new()));
    let BlockStep::Raise(raise) = &otherwise[0] else { panic!("{otherwise:?}") };
    assert_eq!(
        (raise.level, &raise.arguments[..]),
        (RaiseLevel::Notice, &["1 + 1".to_owned()][..])
    );
    assert_eq!(block.handlers.len(), 2);
    assert_eq!(block.handlers[0].conditions.len(), 2);
    assert!(block.handlers[0].steps.is_empty() && block.handlers[1].steps.len() == 1);
}

#[test]
fn what_blocks_have_not_is_refused() {
    for (text, state) in [
        ("declare x int; begin null; end", "0A000"),
        ("begin x := 1; end", "0A000"),
        ("begin select 1 into x; end", "0A000"),
        ("begin for i in 1..2 loop null; end loop; end", "0A000"),
        ("begin execute 'a' into x; end", "0A000"),
        ("begin commit; end", "0A000"),
        ("begin do 'begin null; end'; end", "0A000"),
        ("begin select 1; end", "42601"),
        ("begin selec 1; end", "42601"),
        ("begin null end", "42601"),
        ("begin null; exception end", "42601"),
        ("begin null; exception when nonsense then null; end", "42704"),
        ("begin raise notice '%'; end", "42601"),
        ("begin raise notice 'a', 1; end", "42601"),
        ("begin raise '%' using errcode = '22023'; end", "42601"),
        ("begin", "42601"),
        ("", "42601"),
    ] {
        assert_eq!(block(text).unwrap_err().state.0, state, "{text}");
    }
    let deep = format!("{}null;{}", "begin ".repeat(200), " end;".repeat(200));
    assert_eq!(block(&deep).unwrap_err().state, SqlState::STATEMENT_TOO_COMPLEX);
}
