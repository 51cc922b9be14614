//! FROM: tables, subqueries, WITH queries and joins.

use datafusion_sql::sqlparser::ast::{
    self, Join, JoinConstraint, JoinOperator, ObjectName, TableAlias, TableFactor, TableWithJoins,
};
use plan::Expr;

use super::Binder;
use super::scope::{Columns, MadeColumn, Relation, Scope, is_named, normal};
use plan::relation::{JoinRel, Rel, RelJoin, ScanRel, split_conjunction};

/// A join whose conjuncts are not split yet.
pub(super) fn join(kind: RelJoin, left: Rel, right: Rel, residual: Vec<Expr>) -> JoinRel {
    JoinRel { residual, ..JoinRel::new(kind, left, right) }
}

fn extend(relations: &mut [Relation]) {
    relations.iter_mut().for_each(|it| it.is_extended = true);
}

impl<'a> Binder<'a> {
    /// Binds a FROM clause.
    pub(super) fn from(&mut self, tables: &'a [TableWithJoins]) -> Option<(Rel, Vec<Relation>)> {
        let (first, others) = tables.split_first()?;
        let (mut rel, mut relations) = self.joined(first)?;
        for table in others {
            let (right, more) = self.joined(table)?;
            rel = Rel::Join(Box::new(join(RelJoin::Inner, rel, right, Vec::new())));
            relations.extend(more);
        }
        let mut rest = &relations[..];
        while let [relation, others @ ..] = rest {
            if others.iter().any(|it| it.name == relation.name) {
                return None;
            }
            rest = others;
        }
        Some((rel, relations))
    }

    fn joined(&mut self, table: &'a TableWithJoins) -> Option<(Rel, Vec<Relation>)> {
        let (mut rel, relation) = self.factor(&table.relation)?;
        let mut relations = vec![relation];
        for it in &table.joins {
            (rel, relations) = self.join_one(rel, relations, it)?;
        }
        Some((rel, relations))
    }

    fn join_one(
        &mut self,
        left: Rel,
        relations: Vec<Relation>,
        it: &'a Join,
    ) -> Option<(Rel, Vec<Relation>)> {
        use JoinOperator as On;
        let (kind, swap, condition) = match &it.join_operator {
            On::Join(JoinConstraint::On(it)) | On::Inner(JoinConstraint::On(it)) => {
                (RelJoin::Inner, false, Some(it))
            }
            On::CrossJoin(JoinConstraint::None) => (RelJoin::Inner, false, None),
            On::Left(JoinConstraint::On(it)) | On::LeftOuter(JoinConstraint::On(it)) => {
                (RelJoin::Left, false, Some(it))
            }
            On::Right(JoinConstraint::On(it)) | On::RightOuter(JoinConstraint::On(it)) => {
                (RelJoin::Left, true, Some(it))
            }
            On::FullOuter(JoinConstraint::On(it)) => (RelJoin::Full, false, Some(it)),
            _ => return None,
        };
        if it.global {
            return None;
        }
        let (right, relation) = self.factor(&it.relation)?;
        let count = relations.len();
        let mut scope = Scope { relations, outer: None };
        scope.relations.push(relation);
        let mut residual = Vec::new();
        if let Some(condition) = condition {
            let scalars = self.scalars.len();
            split_conjunction(self.predicate(condition, &scope)?, &mut residual);
            if self.scalars.len() > scalars || !self.level.pending.is_empty() {
                return None;
            }
        }
        let Scope { mut relations, .. } = scope;
        match (kind, swap) {
            (RelJoin::Left, false) => extend(&mut relations[count..]),
            (RelJoin::Left, true) => extend(&mut relations[..count]),
            (RelJoin::Full, _) => extend(&mut relations),
            _ => {}
        }
        let (left, right) = if swap { (right, left) } else { (left, right) };
        Some((Rel::Join(Box::new(join(kind, left, right, residual))), relations))
    }

    fn factor(&mut self, factor: &'a TableFactor) -> Option<(Rel, Relation)> {
        match factor {
            TableFactor::Table {
                name,
                alias,
                args: None,
                with_hints,
                version: None,
                with_ordinality: false,
                partitions,
                json_path: None,
                sample: None,
                index_hints,
            } if with_hints.is_empty() && partitions.is_empty() && index_hints.is_empty() => {
                self.named(name, alias.as_ref())
            }
            TableFactor::Derived { lateral: false, subquery, alias: Some(alias), sample: None } => {
                self.derived(subquery, alias, None)
            }
            _ => None,
        }
    }

    /// A table or a WITH query.
    fn named(&mut self, name: &ObjectName, alias: Option<&TableAlias>) -> Option<(Rel, Relation)> {
        let parts = name.0.iter().map(|it| it.as_ident()).collect::<Option<Vec<_>>>()?;
        let (schema, table) = match parts[..] {
            [table] => (None, table),
            [schema, table] => (Some(normal(schema)), table),
            _ => return None,
        };
        // Files are named in single quotes.
        if table.quote_style.is_some_and(|it| it != '"') {
            return None;
        }
        let key = normal(table);
        let known =
            self.with.iter().rposition(|it| schema.is_none() && is_named(&it.cte.alias.name, &key));
        if let Some(place) = known {
            return self.with_query(place, alias);
        }
        let table = self.catalog.table(schema.as_deref(), &key)?;
        let base = self.attributes.len();
        for column in &table.columns {
            let nullable = column.nullable && (column.statistics.nulls > 0 || table.rows == 0);
            self.attribute(column.data_type, nullable);
        }
        let columns = Columns::Table(table.clone(), base);
        let relation = Relation { name: key, columns, is_extended: false };
        let relation = match alias {
            Some(alias) => self.renamed(relation, alias)?,
            None => relation,
        };
        let rows = table.rows as f64;
        Some((Rel::Scan(ScanRel { table, base, filters: Vec::new(), rows }), relation))
    }

    /// A use of a WITH query, which sees those before it alone.
    fn with_query(&mut self, place: usize, alias: Option<&TableAlias>) -> Option<(Rel, Relation)> {
        self.with[place].is_used.set(true);
        let cte = self.with[place].cte;
        let later = self.with.split_off(place);
        let bound = self.derived(&cte.query, &cte.alias, alias);
        self.with.extend(later);
        bound
    }

    fn derived(
        &mut self,
        query: &'a ast::Query,
        alias: &TableAlias,
        again: Option<&TableAlias>,
    ) -> Option<(Rel, Relation)> {
        let answer = self.nested(|this| this.query(query, None, None))?;
        let made = answer.columns.into_iter().map(|it| MadeColumn {
            name: it.is_named.then_some(it.name),
            attr: it.attr,
            nullable: it.nullable,
        });
        let columns = Columns::Made(made.collect());
        let relation = Relation { name: String::new(), columns, is_extended: false };
        let relation = self.renamed(relation, alias)?;
        let relation = match again {
            Some(alias) => self.renamed(relation, alias)?,
            None => relation,
        };
        Some((answer.rel, relation))
    }

    /// The relation under an alias, perhaps with other names for all its columns.
    fn renamed(&self, mut relation: Relation, alias: &TableAlias) -> Option<Relation> {
        if alias.at.is_some() {
            return None;
        }
        relation.name = normal(&alias.name);
        if alias.columns.is_empty() {
            return Some(relation);
        }
        let attrs: Vec<_> = relation.columns().map(|it| it.1).collect();
        if attrs.len() != alias.columns.len() {
            return None;
        }
        let scope = Scope { relations: vec![relation], outer: None };
        let mut made = Vec::with_capacity(attrs.len());
        for (attr, column) in attrs.into_iter().zip(&alias.columns) {
            if column.data_type.is_some() {
                return None;
            }
            let nullable = scope.nullable(attr, &self.attributes);
            made.push(MadeColumn { name: Some(normal(&column.name)), attr, nullable });
        }
        let name = normal(&alias.name);
        Some(Relation { name, columns: Columns::Made(made), is_extended: false })
    }
}
