//! Before unnesting: group keys that are attributes from outside get a number of their own.

use plan::relation::{Attribute, Query, Rel, bare};

/// Prepares all relations of a query.
pub(super) fn prepare(query: &mut Query) {
    let Query { attributes, scalars, shared, root, .. } = query;
    let parts = shared.iter_mut().chain(scalars.iter_mut().map(|it| &mut it.rel));
    parts.chain([root]).for_each(|it| prepare_rel(it, attributes));
}

fn prepare_rel(rel: &mut Rel, attributes: &mut Vec<Attribute>) {
    if let Rel::Aggregate { input, keys, .. } = rel {
        let inner = input.attrs();
        for (attr, key) in keys {
            if bare(key) == Some(*attr) && !inner.contains(*attr) {
                attributes.push(attributes[*attr].clone());
                *attr = attributes.len() - 1;
            }
        }
    }
    rel.inputs_mut().into_iter().for_each(|it| prepare_rel(it, attributes));
}
