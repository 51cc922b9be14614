//! What depends on relations that are dropped: views that are made of them, and foreign keys of others that refer to them.

use stdx::sync::Arc;
use storage::{Rules, Table};
use types::{ForeignKey, SqlResult, TableId, ViewDefinition};

use crate::dependents::{SEVERAL, needed};
use crate::view_ddl::{described, views_on};
use crate::{CancelToken, Session};

/// What depends on a relation, and goes with it.
enum Dependent {
    View(Arc<ViewDefinition>),
    Key(Arc<Table>, ForeignKey),
}

impl Dependent {
    /// In words.
    fn said(&self) -> String {
        match self {
            Self::View(view) => described(view),
            Self::Key(child, key) => format!("constraint {} on table {}", key.name, child.name),
        }
    }

    /// The relation that it is of; later ones have greater ids.
    fn id(&self) -> TableId {
        match self {
            Self::View(view) => view.id,
            Self::Key(child, _) => child.id,
        }
    }
}

impl Session {
    /// Makes relations of a kind ready to go: what depends on them goes first, or all is refused (2BP01).
    pub(crate) fn release_relations(
        &self,
        kind: &str,
        names: &[String],
        cascade: bool,
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        let above = self.dependents_of(kind, names);
        if !cascade && !above.is_empty() {
            let each = |(it, of): &(Dependent, String)| format!("{} depends on {of}", it.said());
            let each: Vec<String> = above.iter().map(each).collect();
            return Err(match names {
                [one] => needed(&format!("{kind} {one}"), &each),
                _ => needed(SEVERAL, &each),
            });
        }
        for (it, _) in &above {
            self.cascades_to(it.said());
            match it {
                Dependent::View(view) => self.remove_view(&view.name)?,
                Dependent::Key(child, key) => self.remove_reference(child, key, cancel)?,
            }
        }
        Ok(())
    }

    /// What depends on relations, each once and before what depends on it, with what it depends on in words.
    fn dependents_of(&self, kind: &str, names: &[String]) -> Vec<(Dependent, String)> {
        let goes = |name: &str| names.iter().any(|it| it.eq_ignore_ascii_case(name));
        let mut above: Vec<(Dependent, String)> = Vec::new();
        for name in names {
            let mut next = self.direct_dependents(name, &format!("{kind} {name}"));
            while let Some((dependent, of)) = next.pop() {
                let is_known = match &dependent {
                    Dependent::Key(child, _) => goes(&child.name),
                    Dependent::View(view) => goes(&view.name),
                };
                let said = dependent.said();
                if is_known || above.iter().any(|(it, _)| it.said() == said) {
                    continue;
                }
                if let Dependent::View(view) = &dependent {
                    next.extend(self.direct_dependents(&view.name, &said));
                }
                above.push((dependent, of));
            }
        }
        above
    }

    /// What depends on a relation itself, the last first.
    fn direct_dependents(&self, name: &str, of: &str) -> Vec<(Dependent, String)> {
        let views = views_on(&self.snapshot(), name).into_iter().map(Dependent::View);
        let keys = self.referring(name).into_iter().map(|(child, key)| Dependent::Key(child, key));
        let mut all: Vec<Dependent> = views.chain(keys).collect();
        all.sort_by_key(Dependent::id);
        all.into_iter().rev().map(|it| (it, of.to_owned())).collect()
    }

    /// Takes a foreign key from a table.
    pub(crate) fn remove_reference(
        &self,
        child: &Table,
        key: &ForeignKey,
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        let child = self.existing(&child.name)?;
        let mut rules = Rules::clone(child.rules());
        rules.references.retain(|it| it != key);
        self.apply_rules(&child, rules, cancel).map(|_| ())
    }
}
