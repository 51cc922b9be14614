//! Statements whose texts differ in integers only, as clients send them that put values into their texts: they are read and planned
//! once, and run with what differs as the values of parameters.
//!
//! Key decision: only statements whose plan is the best there is for any value: those that find a row by a key, and rows of VALUES.
//! All others are planned for their values. A text that comes once costs a look at the map and no more.

use binder::bind::ChangeKind;
use plan::{BinaryOperator, Expr, ExprKind, Plan, Source};
use types::DataType;

use crate::prepared::GenericPlan;
use crate::similar_statements::{Known, Similar};
use crate::{Prepared, Session, Value};

impl Session {
    /// The statement for texts like one that has come before, and its values in this one.
    pub(crate) fn similar(&mut self, sql: &str) -> Option<(Similar, Vec<Value>)> {
        let found = binder::similar(sql)?;
        let type_of = |it: &i64| match i32::try_from(*it) {
            Ok(_) => DataType::Integer,
            Err(_) => DataType::BigInt,
        };
        let types: Vec<DataType> = found.values.iter().map(type_of).collect();
        let mut key = found.text;
        let length = key.len();
        for (place, _) in types.iter().enumerate().filter(|it| *it.1 == DataType::BigInt) {
            key.push('\0');
            key.push_str(&place.to_string());
        }
        let values = || found.values.iter().map(|it| Value::Integer(*it)).collect();
        match self.similar.get(&key) {
            Some(Known::Kept(it)) => return Some((it.clone(), values())),
            Some(Known::Other) => return None,
            Some(Known::Once) => {}
            None => {
                self.similar.put(key, Known::Once);
                return None;
            }
        }
        let types: Vec<_> = types.into_iter().map(Some).collect();
        // What cannot be read so is told with its own text.
        let prepared = self.prepare_once(&key[..length], &types, false).ok();
        let prepared = prepared.filter(|it| self.is_best_for_all(it));
        let similar = prepared
            .map(|prepared| Similar { prepared, normalized: binder::normalized(sql).into() });
        let known = similar.clone().map_or(Known::Other, Known::Kept);
        self.similar.put(key, known);
        similar.map(|it| (it, values()))
    }

    /// Whether no value could make another plan a better one.
    fn is_best_for_all(&self, prepared: &Prepared) -> bool {
        let generic = prepared.0.generic.lock().clone();
        match generic.as_ref().map(|it| &it.plan) {
            Some(GenericPlan::Query(plan, ..)) => self.finds_by_key(plan),
            Some(GenericPlan::Change(it)) => match it.kind {
                ChangeKind::Update | ChangeKind::Delete => self.finds_by_key(&it.plan),
                ChangeKind::Insert => is_values(&it.plan),
                ChangeKind::Upsert | ChangeKind::Merge | ChangeKind::Lock => false,
            },
            Some(GenericPlan::None) | None => false,
        }
    }

    /// Whether a plan is a scan of the row that has a key.
    fn finds_by_key(&self, plan: &Plan) -> bool {
        let ([pipeline], []) = (&plan.pipelines[..], &plan.recursions[..]) else { return false };
        let Source::Scan(scan) = &pipeline.source else { return false };
        let snapshot = self.snapshot();
        let Some(table) = snapshot.by_id(scan.table) else { return false };
        let is_key = |place: usize| {
            let mut keys = table.rules().indexes.iter().filter(|it| it.kind.is_unique());
            keys.any(|it| it.columns == [scan.columns[place]])
        };
        let by_key = |it: &Expr| match &it.kind {
            ExprKind::Binary { operator: BinaryOperator::Equal, left, right } => {
                match (&left.kind, &right.kind) {
                    (ExprKind::Column(place), ExprKind::Parameter(_))
                    | (ExprKind::Parameter(_), ExprKind::Column(place)) => is_key(*place),
                    _ => false,
                }
            }
            _ => false,
        };
        scan.transfers.is_empty() && scan.filters.iter().any(by_key)
    }
}

/// Whether a plan is rows of VALUES.
fn is_values(plan: &Plan) -> bool {
    match (&plan.pipelines[..], &plan.recursions[..]) {
        ([pipeline], []) => matches!(pipeline.source, Source::Values { .. }),
        _ => false,
    }
}
