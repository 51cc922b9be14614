//! What shared relations hand on is cut to what is used, from the answer down, so that no column is kept for nobody.

use plan::relation::{AttrSet, Part, Query, Rel};

/// Cuts what every reader of a shared relation hands on.
pub(super) fn prune(query: &mut Query) {
    let parts = query.parts();
    let mut used: AttrSet = query.output.iter().map(|it| it.attr).collect();
    prune_rel(&mut query.root, &mut used);
    // Whoever reads a part comes before it in this direction.
    for part in parts.into_iter().rev() {
        match part {
            Part::Scalar(it) => {
                used.insert(query.scalars[it].attr);
                prune_rel(&mut query.scalars[it].rel, &mut used);
            }
            Part::Shared(it) => prune_rel(&mut query.shared[it], &mut used),
        }
    }
}

fn prune_rel(rel: &mut Rel, used: &mut AttrSet) {
    rel.visit(&mut |it| used.union_with(&it.used()));
    rel.visit_mut(&mut |it| {
        if let Rel::Shared { output, .. } = it {
            output.retain(|it| used.contains(it.0));
            output.iter().for_each(|it| used.insert(it.1));
        }
    });
}
