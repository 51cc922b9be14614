//! The keys of joins: in one type, and what they say of the attributes of both sides.

use plan::Expr;
use plan::build::cast;
use plan::relation::{Attr, AttrSet, JoinRel, RelJoin, bare};
use types::DataType;

use crate::facts::{equal_is_same, equality_chains};

/// Whether values of a type are tested by predicate transfer.
pub(super) fn integer_like(data_type: DataType) -> bool {
    data_type.plain().is_integer() || data_type == DataType::Date
}

/// The keys of both sides in one type.
pub(super) fn unified_keys(join: &JoinRel) -> (Vec<Expr>, Vec<Expr>) {
    let mut keys = (Vec::new(), Vec::new());
    for (left, right) in &join.keys {
        let (l, r) = (left.data_type.plain(), right.data_type.plain());
        let common = match (l, r) {
            _ if l == r || (l.stored().is_text() && r.stored().is_text()) => None,
            _ if l.is_integer() && r.is_integer() => Some(DataType::BigInt),
            _ if l.is_float() || r.is_float() => Some(DataType::Double),
            _ if l.is_numeric() && r.is_numeric() => {
                Some(DataType::Decimal { precision: 38, scale: l.scale().max(r.scale()) })
            }
            _ => None,
        };
        let convert = |it: &Expr| match common {
            Some(common) => cast(it.clone(), common),
            None => it.clone(),
        };
        keys.0.push(convert(left));
        keys.1.push(convert(right));
    }
    keys
}

/// Keys of one side that are attributes and compare with the other side's as they do with each other, so that what is
/// unique there has one partner at most.
pub(super) fn bare_keys(join: &JoinRel, keys: &[Expr]) -> AttrSet {
    let chains = |it: &(Expr, Expr)| equality_chains(it.0.data_type, it.1.data_type);
    let own = keys.iter().zip(&join.keys).filter(|it| chains(it.1));
    own.filter_map(|it| bare(it.0)).collect()
}

/// The right key when both are bare and of one type, so that the left one can stand for it. Only an inner join makes
/// them equal, and equal floats need not be the same.
pub(super) fn same_key(join: &JoinRel, left: &Expr, right: &Expr) -> Option<Attr> {
    let same = join.kind == RelJoin::Inner
        && left.data_type == right.data_type
        && equal_is_same(left.data_type);
    bare(left).filter(|_| same).and_then(|_| bare(right))
}
