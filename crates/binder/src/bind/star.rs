//! `*` and `t.*`, and what may stand behind them, as DuckDB has it: EXCLUDE, REPLACE and RENAME.

use sqlparser::ast::{self, ExcludeSelectItem, Ident, RenameSelectItem};
use types::{SqlError, SqlResult, SqlState};

use super::Binder;
use super::errors::{Name, at, no_column, unsupported};
use super::scope::{Named, is_named};
use super::upper::Item;
use crate::syntax::ident;

impl<'a> Binder<'a> {
    /// All of some columns, but for what is said of single ones.
    pub(super) fn starred(
        &mut self,
        (item, relation): (Option<&'a ast::SelectItem>, Option<&str>),
        columns: Vec<Named>,
        options: Option<&'a ast::WildcardAdditionalOptions>,
        items: &mut Vec<Item>,
    ) -> SqlResult<()> {
        let excluded = options.map(excluded).transpose()?.unwrap_or_default();
        let renamed = match options.and_then(|it| it.opt_rename.as_ref()) {
            None => &[][..],
            Some(RenameSelectItem::Single(it)) => std::slice::from_ref(it),
            Some(RenameSelectItem::Multiple(all)) => all,
        };
        let replaced = options.and_then(|it| it.opt_replace.as_ref());
        let replaced = replaced.map_or(&[][..], |it| &it.items);
        let said = excluded.iter().copied();
        let said = said.chain(renamed.iter().map(|it| &it.ident));
        let said = said.chain(replaced.iter().map(|it| &it.column_name));
        let mut seen: Vec<String> = Vec::new();
        for name in said {
            let known = ident(name);
            if seen.contains(&known) {
                let message =
                    format!("column \"{known}\" is named twice in EXCLUDE, REPLACE and RENAME");
                return Err(at(SqlError::new(SqlState::SYNTAX, message), &Name(name)));
            }
            seen.push(known);
            if !columns.iter().any(|it| is_named(name, &it.name)) {
                return Err(no_column(&ident(name), name));
            }
        }
        match item {
            Some(item) if self.is_resolving() && !(renamed.is_empty() && replaced.is_empty()) => {
                return Err(at(unsupported("REPLACE or RENAME of * in a view", item), item));
            }
            None if self.is_resolving() => {
                return Err(SqlError::unsupported(
                    "FROM without SELECT in a view is not supported",
                ));
            }
            _ => {}
        }
        let is_kept = |it: &Named| !excluded.iter().any(|name| is_named(name, &it.name));
        let columns: Vec<Named> = columns.into_iter().filter(is_kept).collect();
        if let Some(item) = item {
            self.note_star(item, &columns, relation);
        }
        for Named { name, attr, origin } in columns {
            let (expr, origin) = match replaced.iter().find(|it| is_named(&it.column_name, &name)) {
                Some(it) => {
                    let bound = self.declared(&it.expr)?;
                    let origin = self.origin(&it.expr, &bound);
                    (bound, origin)
                }
                None => (self.named_column(attr)?, origin),
            };
            let other = renamed.iter().find(|it| is_named(&it.ident, &name));
            let name = other.map_or(name, |it| ident(&it.alias));
            items.push(Item { name, expr, origin });
        }
        Ok(())
    }
}

/// The names behind EXCLUDE; an error for what else may stand there.
pub(super) fn excluded(options: &ast::WildcardAdditionalOptions) -> SqlResult<Vec<&Ident>> {
    if options.opt_ilike.is_some() || options.opt_except.is_some() || options.opt_alias.is_some() {
        let message = "syntax error: * takes EXCLUDE, REPLACE and RENAME";
        return Err(SqlError::new(SqlState::SYNTAX, message));
    }
    let names = match &options.opt_exclude {
        None => return Ok(Vec::new()),
        Some(ExcludeSelectItem::Single(name)) => std::slice::from_ref(name),
        Some(ExcludeSelectItem::Multiple(names)) => names,
    };
    let one = |name: &'_ ast::ObjectName| match &name.0[..] {
        [part] => part.as_ident().map(|_| ()),
        _ => None,
    };
    if let Some(bad) = names.iter().find(|it| one(it).is_none()) {
        return Err(at(unsupported("a qualified name in EXCLUDE", bad), bad));
    }
    Ok(names.iter().filter_map(|it| it.0.first().and_then(|it| it.as_ident())).collect())
}
