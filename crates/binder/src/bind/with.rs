//! WITH: queries under names.
//!
//! As in PostgreSQL, a query that is used once is bound where it is used; one that is used several times, or that may
//! give other rows each time, is computed once. MATERIALIZED and NOT MATERIALIZED decide otherwise.

use plan::relation::{Attr, Rel};
use sqlparser::ast::{self, CteAsMaterialized};
use types::{SqlError, SqlResult, TableId, TableInfo};

use super::errors::{Name, unsupported};
use super::recursive_rows::RecursiveRows;
use super::recursive_rules::INVALID_RECURSION;
use super::scope::is_named;
use super::{Answer, Binder, OutputColumn, is_repeatable};
use crate::syntax::twice_named;
use crate::walk::Uses;

/// A query of a WITH clause in view.
#[derive(Debug)]
pub(super) struct WithQuery<'a> {
    pub(super) cte: &'a ast::Cte,
    /// The levels that it can see, as an error or a correlated use needs them.
    pub(super) levels: usize,
    /// How often its name occurs where it is in view.
    uses: usize,
    is_used: bool,
    /// Where it was bound to be computed once.
    shared: Option<Shared>,
    /// Whether it is made of itself.
    is_recursive: bool,
    /// Whether it is the query that a part of it is being bound of.
    pub(super) is_own: bool,
    /// Whether it is the query that a part is being bound of in which another recursive query is bound.
    is_around: bool,
    /// Where its rows are, if it is and was bound.
    pub(super) rows: Option<RecursiveRows>,
}

impl WithQuery<'_> {
    /// The same for another query, which binds it anew.
    pub(super) fn anew(&self) -> Self {
        let Self { cte, levels, uses, is_recursive, is_own, is_around, .. } = *self;
        Self {
            cte,
            levels,
            uses,
            is_used: true,
            shared: None,
            is_recursive,
            is_own: false,
            is_around: is_own || is_around,
            rows: self.rows.clone(),
        }
    }
}

/// A WITH query that is computed once.
#[derive(Clone, Debug)]
struct Shared {
    id: usize,
    columns: Vec<OutputColumn>,
}

impl<'a> Binder<'a> {
    /// Brings the queries of a WITH clause into view.
    pub(super) fn add_with(&mut self, with: &'a ast::With, query: &'a ast::Query) -> SqlResult<()> {
        let first = self.with.len();
        let order = match with.recursive {
            true => super::recursive_rules::order(&with.cte_tables)?,
            false => (0..with.cte_tables.len()).collect(),
        };
        let uses: Vec<Uses> = with.cte_tables.iter().map(|it| Uses::of(&it.query)).collect();
        let mut later = Uses::of(&query.body);
        uses.iter().for_each(|it| later.add(it));
        for place in &order {
            let cte = &with.cte_tables[*place];
            let name = &cte.alias.name;
            if cte.from.is_some() {
                return Err(unsupported("FROM behind a WITH query", &Name(name)));
            }
            let own = crate::syntax::ident(name);
            if self.with[first..].iter().any(|it| is_named(&it.cte.alias.name, &own)) {
                return Err(twice_named(name));
            }
            later.remove(&uses[*place]);
            let is_recursive = with.recursive && uses[*place].count(&own) > 0;
            let levels = self.levels.len();
            self.with.push(WithQuery {
                cte,
                levels,
                uses: later.count(&own),
                is_used: false,
                shared: None,
                is_recursive,
                is_own: false,
                is_around: false,
                rows: None,
            });
        }
        Ok(())
    }

    /// Takes the queries of a WITH clause out of view. One that nobody used is bound all the same, for its errors.
    pub(super) fn close_with(&mut self, known: usize) -> SqlResult<()> {
        for place in known..self.with.len() {
            if !self.with[place].is_used {
                let known = self.recursions.len();
                match self.with[place].is_recursive {
                    true => drop(self.bind_recursive(place)?),
                    false => drop(self.bind_with(place)?),
                }
                // Nobody asks for its rows.
                self.forget_recursions(known);
            }
        }
        self.with.truncate(known);
        Ok(())
    }

    /// Takes back recursive queries that nobody reads; who reads one of them later binds it anew.
    fn forget_recursions(&mut self, known: usize) {
        let gone: Vec<TableId> = self.recursions.drain(known..).map(|it| it.table.id).collect();
        let of_gone = |it: &TableInfo| gone.contains(&it.id);
        for query in &mut self.with {
            query.rows.take_if(|it| of_gone(&it.table));
        }
    }

    /// The WITH query of a name.
    pub(super) fn find_with(&self, name: &str) -> Option<usize> {
        self.with.iter().rposition(|it| is_named(&it.cte.alias.name, name))
    }

    /// Binds a WITH query, which sees those before it alone, and of the levels only those around its clause.
    fn bind_with(&mut self, place: usize) -> SqlResult<Answer> {
        let WithQuery { cte, levels, .. } = self.with[place];
        let later = self.with.split_off(place);
        let inner = self.levels.split_off(levels);
        // It stands where a level of the recursive query may have stood, and is none of its.
        let self_reference = self.self_reference.take();
        let bound = self.query(&cte.query);
        self.self_reference = self_reference;
        self.levels.extend(inner);
        self.with.extend(later);
        let mut answer = bound?;
        self.decide_types(&mut answer)?;
        super::names::rename(&mut answer.columns, &cte.alias)?;
        Ok(answer)
    }

    /// A use of a WITH query.
    pub(super) fn use_with(&mut self, place: usize) -> SqlResult<Answer> {
        self.with[place].is_used = true;
        if self.with[place].is_around {
            // Its rows are others in each round, and the inner query would have to be run in each.
            let what = "a recursive query inside of another whose rows it reads";
            return Err(unsupported(what, &Name(&self.with[place].cte.alias.name)));
        }
        if self.with[place].is_recursive {
            let rows = match self.with[place].rows.clone() {
                Some(rows) => rows,
                None => self.bind_recursive(place)?,
            };
            if self.with[place].is_own {
                self.self_reference = self.levels.len().checked_sub(1);
            }
            return Ok(self.recursive_rows(&rows));
        }
        if let Some(shared) = self.with[place].shared.clone() {
            return Ok(self.read_shared(&shared));
        }
        let answer = self.bind_with(place)?;
        if place < self.lent_with && !answer.rel.all_expressions(&mut is_repeatable) {
            let what = "a volatile WITH query inside of a recursive one";
            return Err(unsupported(what, &Name(&self.with[place].cte.alias.name)));
        }
        let materialized = match self.with[place].cte.materialized {
            Some(CteAsMaterialized::Materialized) => true,
            Some(CteAsMaterialized::NotMaterialized) => false,
            None => self.with[place].uses > 1 || !answer.rel.all_expressions(&mut is_repeatable),
        };
        // What depends on a query around it is another relation for each of its rows.
        if !materialized || !answer.rel.free_attrs().is_empty() {
            return Ok(answer);
        }
        self.shared.push(answer.rel);
        let shared = Shared { id: self.shared.len() - 1, columns: answer.columns };
        let read = self.read_shared(&shared);
        self.with[place].shared = Some(shared);
        Ok(read)
    }

    /// The rows of a shared relation under attributes of their own.
    fn read_shared(&mut self, shared: &Shared) -> Answer {
        let mut output: Vec<(Attr, Attr)> = Vec::with_capacity(shared.columns.len());
        let mut columns = Vec::with_capacity(shared.columns.len());
        for column in &shared.columns {
            let known = output.iter().find(|it| it.1 == column.attr).map(|it| it.0);
            let attr = known.unwrap_or_else(|| {
                let attribute = self.attributes[column.attr].clone();
                let attr = self.attribute(attribute.data_type, attribute.nullable);
                output.push((attr, column.attr));
                attr
            });
            columns.push(OutputColumn { attr, ..column.clone() });
        }
        Answer { rel: Rel::shared(shared.id, output), columns }
    }
}

impl Binder<'_> {
    /// Refuses aggregates over the rows of the query that the SELECT which is being bound is a part of.
    pub(super) fn check_recursive(&mut self) -> SqlResult<()> {
        if self.self_reference.is_none() || self.self_reference != self.levels.len().checked_sub(1)
        {
            return Ok(());
        }
        self.self_reference = None;
        if self.level().calls.is_empty() {
            return Ok(());
        }
        let message = "aggregate functions are not allowed in a recursive query's recursive term";
        Err(SqlError::new(INVALID_RECURSION, message))
    }
}
