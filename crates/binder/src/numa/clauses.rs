//! The clauses `NUMA NODE ..` and `PARTITION BY ..`.

use sqlparser::tokenizer::Token;
use types::{SqlError, SqlResult, SqlState};

use crate::cursor::Cursor;
use crate::design::{NodeClause, NodeDemand, NodeRange, NodeWay, PartitionClause};

const NODE: &[&str] = &["NUMA", "NODE"];
const PARTITION: &[&str] = &["PARTITION", "BY"];

/// Whether a clause about nodes begins here.
pub(super) fn sees_nodes(cursor: &Cursor<'_>) -> bool {
    cursor.sees(NODE)
}

/// Whether a clause about parts begins here.
pub(super) fn sees_partition(cursor: &Cursor<'_>) -> bool {
    cursor.sees(PARTITION)
}

/// `NUMA NODE [way] [(0, 2 TO 3)] [IMMEDIATE | DEFERRED]`, or `NUMA NODE NULL`.
pub(super) fn nodes(cursor: &mut Cursor<'_>) -> SqlResult<NodeClause> {
    cursor.expect("NUMA")?;
    cursor.expect("NODE")?;
    let demand = if cursor.take("NULL") {
        NodeDemand::TakenBack
    } else {
        let ways = [
            ("SPLIT", NodeWay::Split),
            ("INTERLEAVE", NodeWay::Interleave),
            ("ROUNDROBIN", NodeWay::RoundRobin),
            ("REPLICATE", NodeWay::Replicate),
        ];
        let way = ways.iter().find(|it| cursor.take(it.0)).map(|it| it.1);
        let nodes = match (cursor.peek(), way) {
            (Some(Token::LParen), _) => cursor.list(node_range)?,
            // A way alone means all nodes.
            (_, Some(_)) => Vec::new(),
            _ => {
                return Err(cursor.expected(
                    "nodes in brackets, NULL, SPLIT, INTERLEAVE, ROUNDROBIN or REPLICATE",
                ));
            }
        };
        NodeDemand::On { way: way.unwrap_or(NodeWay::Fitting), nodes }
    };
    let deferred = cursor.take("DEFERRED");
    if !deferred {
        cursor.take("IMMEDIATE");
    }
    Ok(NodeClause { demand, deferred })
}

fn node_range(cursor: &mut Cursor<'_>) -> SqlResult<NodeRange> {
    let first = cursor.number("the number of a node")?;
    let begin = *cursor;
    let last = if cursor.take("TO") { cursor.number("the number of a node")? } else { first };
    if last < first {
        let message = format!("nodes {first} TO {last} are in the wrong order");
        return Err(begin.error(SqlState::SYNTAX, &message));
    }
    Ok(NodeRange { first, last })
}

/// `PARTITION BY HASH (..) PARTITIONS n | RANGE (..) (..) | ROUNDROBIN PARTITIONS n`.
pub(super) fn partition(cursor: &mut Cursor<'_>) -> SqlResult<PartitionClause> {
    cursor.expect("PARTITION")?;
    cursor.expect("BY")?;
    if cursor.take("HASH") {
        let columns = cursor.list(|it| it.name("the name of a column"))?;
        Ok(PartitionClause::Hash { columns, parts: parts(cursor)? })
    } else if cursor.take("RANGE") {
        let begin = *cursor;
        let mut columns = cursor.list(|it| it.name("the name of a column"))?;
        let column = columns.swap_remove(0);
        if !columns.is_empty() {
            let message = "ranges of several columns are not supported";
            return Err(begin.error(SqlState::FEATURE_NOT_SUPPORTED, message));
        }
        Ok(PartitionClause::Range { column, bounds: bounds(cursor)? })
    } else if cursor.take("ROUNDROBIN") {
        Ok(PartitionClause::RoundRobin { parts: parts(cursor)? })
    } else {
        Err(cursor.expected("HASH, RANGE or ROUNDROBIN"))
    }
}

fn parts(cursor: &mut Cursor<'_>) -> SqlResult<u64> {
    cursor.expect("PARTITIONS")?;
    cursor.number("the number of parts")
}

/// A range as it was written.
struct Range<'a> {
    place: Cursor<'a>,
    from: Option<String>,
    to: Option<String>,
}

/// `(PARTITION VALUES < 10, PARTITION 10 <= VALUES < 20, PARTITION OTHERS)`: where each part but the first begins.
fn bounds(cursor: &mut Cursor<'_>) -> SqlResult<Vec<String>> {
    let mut others = None;
    let mut ranges: Vec<Range<'_>> = Vec::new();
    cursor.list(|it| {
        it.expect("PARTITION")?;
        let place = *it;
        if others.is_some() {
            return Err(place.error(SqlState::SYNTAX, "PARTITION OTHERS is the last part"));
        }
        if it.take("OTHERS") {
            others = Some(place);
        } else {
            ranges.push(range(it)?);
        }
        Ok(())
    })?;
    follow(&ranges, others.as_ref())?;
    let mut bounds: Vec<String> =
        ranges.first().and_then(|it| it.from.clone()).into_iter().collect();
    bounds.extend(ranges.iter().filter_map(|it| it.to.clone()));
    if bounds.is_empty() {
        return Err(cursor.error(SqlState::SYNTAX, "the ranges name no value"));
    }
    Ok(bounds)
}

/// `a <= VALUES < b`; one of the ends may be missing.
fn range<'a>(cursor: &mut Cursor<'a>) -> SqlResult<Range<'a>> {
    let place = *cursor;
    let values = |it: &Cursor<'_>| it.sees(&["VALUES"]) || it.sees(&["VALUE"]);
    let take_values = |it: &mut Cursor<'_>| it.take("VALUES") || it.take("VALUE");
    let from = if values(cursor) {
        None
    } else {
        let from = cursor.expression(|it| {
            it.peek() == Some(&Token::LtEq) || it.peek() == Some(&Token::Comma) || values(it)
        })?;
        cursor.expect_sign(&Token::LtEq)?;
        Some(from)
    };
    if !take_values(cursor) {
        return Err(cursor.expected("VALUES"));
    }
    if cursor.peek() == Some(&Token::Eq) {
        let message = "parts of single values are not supported";
        return Err(cursor
            .error(SqlState::FEATURE_NOT_SUPPORTED, message)
            .with_hint("write a range: PARTITION 5 <= VALUES < 6"));
    }
    let to = if cursor.take_sign(&Token::Lt) {
        Some(cursor.expression(|it| it.peek() == Some(&Token::Comma))?)
    } else if from.is_none() {
        return Err(cursor.expected("<"));
    } else {
        None
    };
    Ok(Range { place, from, to })
}

/// Every value must have a part: ranges follow each other, and what lies outside of them is told where to go.
fn follow(ranges: &[Range<'_>], others: Option<&Cursor<'_>>) -> SqlResult<()> {
    for pair in ranges.windows(2) {
        if pair[0].to.is_none() || pair[0].to != pair[1].from {
            let open = |it: &Option<String>| it.clone().unwrap_or_else(|| "no value".into());
            let (to, from) = (open(&pair[0].to), open(&pair[1].from));
            let message = format!("a range ends at {to} and the next begins at {from}");
            return Err(pair[1]
                .place
                .error(SqlState::SYNTAX, &message)
                .with_hint("each range begins where the one before ends"));
        }
    }
    let (Some(first), Some(last)) = (ranges.first(), ranges.last()) else { return Ok(()) };
    let closed = |it: &Range<'_>, message: String, hint: &str| -> SqlError {
        it.place.error(SqlState::SYNTAX, &message).with_hint(hint)
    };
    match (others, &first.from, &last.to) {
        (Some(place), None, None) => {
            Err(place.error(SqlState::SYNTAX, "nothing is left for PARTITION OTHERS"))
        }
        (None, Some(from), _) => Err(closed(
            first,
            format!("values below {from} have no part"),
            "begin with PARTITION VALUES < .., or end with PARTITION OTHERS",
        )),
        (None, _, Some(to)) => Err(closed(
            last,
            format!("values from {to} on have no part"),
            &format!("end with PARTITION {to} <= VALUES, or with PARTITION OTHERS"),
        )),
        _ => Ok(()),
    }
}
