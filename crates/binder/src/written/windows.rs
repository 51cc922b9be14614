//! Windows in words: EXCLUDE behind the frame, and offsets that are texts.

use plan::Exclusion;
use sqlparser::ast::{
    Expr, Function, NamedWindowExpr, Select, WindowFrameBound, WindowSpec, WindowType,
};

use super::parts::shown;
use crate::frames::exclusion_of;

pub(super) fn of_call(call: &mut Function) {
    if let Some(WindowType::WindowSpec(spec)) = &mut call.over {
        of_window(spec);
    }
}

pub(super) fn of_select(select: &mut Select) {
    for named in &mut select.named_window {
        if let NamedWindowExpr::WindowSpec(spec) = &mut named.1 {
            of_window(spec);
        }
    }
}

/// Writes a window whose frame the parser would write otherwise than it is read.
fn of_window(spec: &mut WindowSpec) {
    let (exclusion, partition_by) = exclusion_of(&spec.partition_by);
    let is_marked = partition_by.len() < spec.partition_by.len();
    let has_offset = spec
        .window_frame
        .as_ref()
        .is_some_and(|it| is_text(&it.start_bound) || it.end_bound.as_ref().is_some_and(is_text));
    if !is_marked && !has_offset {
        return;
    }
    let mut parts = Vec::new();
    parts.extend(spec.window_name.as_ref().map(ToString::to_string));
    let list = |all: Vec<String>| all.join(", ");
    if !partition_by.is_empty() {
        let keys = list(partition_by.iter().map(ToString::to_string).collect());
        parts.push(format!("PARTITION BY {keys}"));
    }
    if !spec.order_by.is_empty() {
        let keys = list(spec.order_by.iter().map(ToString::to_string).collect());
        parts.push(format!("ORDER BY {keys}"));
    }
    if let Some(frame) = &spec.window_frame {
        let first = bound(&frame.start_bound);
        parts.push(match &frame.end_bound {
            Some(last) => format!("{} BETWEEN {first} AND {}", frame.units, bound(last)),
            None => format!("{} {first}", frame.units),
        });
    }
    if is_marked {
        parts.push(format!("EXCLUDE {}", words_of(exclusion)));
    }
    *spec = WindowSpec {
        window_name: Some(shown(parts.join(" "))),
        partition_by: Vec::new(),
        order_by: Vec::new(),
        window_frame: None,
    };
}

fn words_of(exclusion: Exclusion) -> &'static str {
    match exclusion {
        Exclusion::Nothing => "NO OTHERS",
        Exclusion::CurrentRow => "CURRENT ROW",
        Exclusion::Group => "GROUP",
        Exclusion::Ties => "TIES",
    }
}

/// The offset of a bound, if it is a text that the parser takes for an interval.
fn offset_of(bound: &WindowFrameBound) -> Option<&Expr> {
    let (WindowFrameBound::Preceding(Some(offset)) | WindowFrameBound::Following(Some(offset))) =
        bound
    else {
        return None;
    };
    match &**offset {
        Expr::Interval(it) if it.leading_field.is_none() => Some(&it.value),
        _ => None,
    }
}

fn is_text(bound: &WindowFrameBound) -> bool {
    offset_of(bound).is_some()
}

fn bound(bound: &WindowFrameBound) -> String {
    match (offset_of(bound), bound) {
        (Some(offset), WindowFrameBound::Preceding(_)) => format!("{offset} PRECEDING"),
        (Some(offset), _) => format!("{offset} FOLLOWING"),
        (None, other) => other.to_string(),
    }
}
