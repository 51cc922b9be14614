//! Before unnesting: shared relations that depend on the rows around them are put in where they are read, and group keys
//! that are attributes from outside get a number of their own.

use plan::Expr;
use plan::relation::{Attr, Attribute, Query, Rel, bare, fresh_copy};

/// Prepares all relations of a query.
pub(super) fn prepare(query: &mut Query) {
    let Query { attributes, scalars, shared, root, .. } = query;
    let mut done: Vec<Rel> = Vec::with_capacity(shared.len());
    for rel in shared.drain(..) {
        let mut rel = rel;
        prepare_rel(&mut rel, &mut done, attributes);
        done.push(rel);
    }
    scalars.iter_mut().for_each(|it| prepare_rel(&mut it.rel, &mut done, attributes));
    prepare_rel(root, &mut done, attributes);
    // What was put in is read nowhere any more.
    for rel in &mut done {
        if !rel.free_attrs().is_empty() {
            rel.take();
        }
    }
    *shared = done;
}

fn prepare_rel(rel: &mut Rel, shared: &mut [Rel], attributes: &mut Vec<Attribute>) {
    match rel {
        Rel::Shared { id, output, .. } if !shared[*id].free_attrs().is_empty() => {
            let (copy, fresh) = fresh_copy(&shared[*id], attributes);
            let made = |it: Attr| fresh.get(&it).copied().unwrap_or(it);
            let exprs = output.iter().map(|(here, there)| {
                (*here, Expr::column(made(*there), attributes[*here].data_type))
            });
            *rel = Rel::Map { exprs: exprs.collect(), input: Box::new(copy) };
            return;
        }
        Rel::Aggregate { input, keys, .. } => {
            let inner = input.attrs();
            for (attr, key) in keys {
                if bare(key) == Some(*attr) && !inner.contains(*attr) {
                    attributes.push(attributes[*attr].clone());
                    *attr = attributes.len() - 1;
                }
            }
        }
        _ => {}
    }
    rel.inputs_mut().into_iter().for_each(|it| prepare_rel(it, shared, attributes));
}
