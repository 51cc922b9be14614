//! Rights as the catalog shows them.

use types::{Grant, Privileges, RoleId};

/// Grants as texts, such as `ada=arwd/nodewise`: who has what, with a star behind what may be given on, by whom.
pub(crate) fn acl(grants: &[Grant], name: impl Fn(RoleId) -> String) -> Vec<String> {
    let text = |grant: &Grant| {
        let mut letters = String::new();
        for (right, _, letter) in grant.rights.each() {
            letters.push(*letter);
            if grant.options.has(*right) && *right != Privileges::NONE {
                letters.push('*');
            }
        }
        let to = match grant.to {
            RoleId::PUBLIC => String::new(),
            id => quoted(&name(id)),
        };
        format!("{to}={letters}/{}", quoted(&name(grant.by)))
    };
    grants.iter().map(text).collect()
}

fn quoted(name: &str) -> String {
    match name.chars().all(|it| it.is_alphanumeric() || it == '_') && !name.is_empty() {
        true => name.to_owned(),
        false => format!("\"{}\"", name.replace('"', "\"\"")),
    }
}
