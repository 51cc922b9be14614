//! Subqueries that GROUP BY has, and the clauses above the groups repeat, or the select list has, and ORDER BY and DISTINCT ON: they
//! are one.
//!
//! Key decision: two subqueries are the same when what they are bound to is, but for the attributes that each makes.

use plan::Expr;
use plan::relation::{Apply, Attr, Rel, fresh_copy, substitute};
use types::{SqlError, SqlResult};

use super::upper::Upper;
use super::{Binder, is_repeatable};

/// The dependent joins over the relation of one row, from the first to the last.
pub(super) fn chain(mut rel: Rel) -> SqlResult<Vec<(Rel, Apply)>> {
    let mut reversed = Vec::new();
    loop {
        match rel {
            Rel::Apply(apply) => {
                reversed.push((apply.right, apply.kind));
                rel = apply.left;
            }
            Rel::Values { .. } => break,
            _ => return Err(SqlError::internal("a clause has rows of its own")),
        }
    }
    reversed.reverse();
    Ok(reversed)
}

/// The subqueries that are not among known ones, and what the attributes of those are that are.
type Others = (Vec<(Rel, Apply)>, Vec<(Attr, Expr)>);

impl Binder<'_> {
    /// Takes away the subqueries above the groups that are among those below them, and reads those instead.
    pub(super) fn share_repeated(
        &mut self,
        below: &[(Rel, Apply)],
        pending: &mut Vec<(Rel, Apply)>,
        upper: &mut Upper,
    ) -> SqlResult<()> {
        let (left, same) = self.others(below, std::mem::take(pending))?;
        *pending = left;
        upper.expressions_mut().for_each(|it| substitute(it, &same));
        if let Some(having) = &mut upper.having {
            substitute(having, &same);
        }
        Ok(())
    }

    /// Takes away the subqueries of an expression that are among those that the level had before, so many, and reads those instead.
    pub(super) fn share_known(&mut self, known: usize, expr: &mut Expr) -> SqlResult<()> {
        let mut below = std::mem::take(&mut self.level().pending);
        let own = below.split_off(known.min(below.len()));
        if !below.is_empty() && !own.is_empty() {
            let (left, same) = self.others(&below, own)?;
            below.extend(left);
            substitute(expr, &same);
            let level = self.level();
            let windows = level.windows.iter_mut().flat_map(|it| it.1.expressions_mut());
            windows.chain(&mut level.left_out).for_each(|it| substitute(it, &same));
        } else {
            below.extend(own);
        }
        self.level().pending = below;
        Ok(())
    }

    /// Takes the subqueries apart that are not among known ones.
    fn others(&mut self, known: &[(Rel, Apply)], all: Vec<(Rel, Apply)>) -> SqlResult<Others> {
        let mut forms = Vec::with_capacity(known.len());
        for (rel, kind) in known {
            if let (Some(form), Some(attr)) = (self.form_of(rel, kind)?, kind.made()) {
                forms.push((form, attr));
            }
        }
        let mut same: Vec<(Attr, Expr)> = Vec::new();
        let mut left = Vec::with_capacity(all.len());
        for (mut rel, mut kind) in all {
            replace(&mut rel, &mut kind, &same);
            let form = self.form_of(&rel, &kind)?;
            let found = forms.iter().find(|it| form.as_ref() == Some(&it.0)).map(|it| it.1);
            match (found, kind.made()) {
                (Some(there), Some(made)) => same.push((made, self.column_expr(there))),
                _ => left.push((rel, kind)),
            }
        }
        Ok((left, same))
    }

    /// A subquery as bytes that are those of any other that is the same; none of one whose value may be another each time.
    fn form_of(&self, rel: &Rel, kind: &Apply) -> SqlResult<Option<Vec<u8>>> {
        if !rel.all_expressions(&mut is_repeatable) {
            return Ok(None);
        }
        let mut attributes = self.attributes.clone();
        let (copy, fresh) = fresh_copy(rel, &mut attributes);
        let renamed = |attr: Attr| fresh.get(&attr).copied().unwrap_or(attr);
        let (source, condition) = match kind {
            Apply::Scalar { source, .. } => (Some(renamed(*source)), None),
            Apply::Any { condition, .. } if is_repeatable(condition) => {
                let mut condition = condition.clone();
                condition.map_columns(&mut |attr| renamed(attr));
                (None, Some(condition))
            }
            Apply::Any { .. } | Apply::Join { .. } => return Ok(None),
        };
        plan::wire::to_bytes(&(copy, source, condition)).map(Some)
    }
}

fn replace(rel: &mut Rel, kind: &mut Apply, same: &[(Attr, Expr)]) {
    rel.visit_mut(&mut |it| {
        it.expressions_mut().into_iter().for_each(|it| substitute(it, same));
    });
    if let Apply::Any { condition, .. } = kind {
        substitute(condition, same);
    }
}
