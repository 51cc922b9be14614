//! CREATE TABLE .. (LIKE ..): the definition of another table, taken over into that of a new one.

use binder::{
    CheckDefinition, ColumnDefinition, Generation, KeyDefinition, LikeClause, Numbering,
    SequenceOptions,
};
use storage::{ColumnSchema, IndexKind, TableIndex};
use types::{ColumnId, SqlError, SqlResult, SqlState, names};

use crate::ddl::NewTable;
use crate::index_ddl::NewIndex;
use crate::index_text::{Said, said};
use crate::{Answer, CancelToken, Session};

impl Session {
    pub(crate) fn create_table_like(
        &mut self,
        mut new: NewTable,
        likes: &[LikeClause],
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        self.write_alone(cancel)?;
        if self.snapshot().kind_of(&new.name).is_some() {
            // Refused, or passed over.
            return self.create_table(new, cancel);
        }
        let (mut indexes, mut comments) = (Vec::new(), Vec::new());
        // From behind, so that the places before stay.
        for like in likes.iter().rev() {
            let columns = self.columns_like(like)?;
            drop(new.columns.splice(like.at..like.at, columns));
            self.rules_like(like, &mut new, &mut indexes)?;
            if like.including.comments {
                comments.extend(self.comments_like(like));
            }
        }
        let name = new.name.clone();
        let answer = self.create_table(new, cancel)?;
        for (said, unique) in indexes.into_iter().rev() {
            let (table, if_not_exists) = (name.clone(), false);
            let index = NewIndex { name: None, table, said, unique, if_not_exists };
            self.create_index(&index, cancel)?;
        }
        for (column, text) in comments {
            self.put_comment(&["relation".to_owned(), name.clone(), column], Some(&text))?;
        }
        Ok(answer)
    }

    fn columns_like(&self, like: &LikeClause) -> SqlResult<Vec<ColumnDefinition>> {
        let snapshot = self.snapshot();
        let plain = |it: &ColumnSchema| ColumnDefinition {
            name: it.name.clone(),
            data_type: it.data_type,
            type_name: None,
            domain: None,
            fields: None,
            nullable: it.nullable,
            default: None,
            numbering: None,
            generation: None,
        };
        if let Some(view) = snapshot.view(&like.table) {
            let columns = view.columns.iter().map(|it| ColumnSchema::new(&it.0, it.1, true));
            return Ok(columns.map(|it| plain(&it)).collect());
        }
        let Some(table) = snapshot.get(&like.table) else {
            let message = format!("relation \"{}\" does not exist", names::bare(&like.table));
            return Err(SqlError::new(SqlState::UNDEFINED_TABLE, message));
        };
        let rows = &table.rules().rows;
        let mut columns = Vec::with_capacity(table.columns.len());
        let schema = table.schema();
        let shown = schema.iter().enumerate().filter(|it| !names::is_hidden(&it.1.name));
        for (place, schema) in shown {
            let mut column = plain(schema);
            column.fields = rows.fields(ColumnId(place as u16));
            column.domain = rows.domain(ColumnId(place as u16)).map(ToString::to_string);
            match rows.identity(ColumnId(place as u16)) {
                Some(identity) if like.including.identity => {
                    let own = self.identity_sequence(&table.name, &schema.name)?;
                    let of = &own.definition;
                    let options = SequenceOptions {
                        increment: Some(of.increment),
                        min: Some(Some(of.min)),
                        max: Some(Some(of.max)),
                        start: Some(of.start),
                        cache: Some(of.cache),
                        cycles: Some(of.cycles),
                        ..SequenceOptions::default()
                    };
                    column.numbering =
                        Some(Numbering::Identity { always: identity.always, options });
                }
                Some(_) => {}
                None if rows.generated(ColumnId(place as u16)).is_some() => {
                    let generated = rows.generated(ColumnId(place as u16));
                    if let Some(it) = generated.filter(|_| like.including.generated) {
                        let stored = it.is_stored;
                        column.generation =
                            Some(if stored { Generation::Stored } else { Generation::Virtual });
                        let expression = rows.defaults.get(place).cloned().flatten();
                        column.default = expression.map(|it| it.to_string());
                    }
                }
                None if like.including.defaults => {
                    let default = rows.defaults.get(place).cloned().flatten();
                    column.default = default.map(|it| it.to_string());
                }
                None => {}
            }
            columns.push(column);
        }
        Ok(columns)
    }

    /// Keys and checks into the definition, indexes into a list.
    fn rules_like(
        &self,
        like: &LikeClause,
        new: &mut NewTable,
        indexes: &mut Vec<(Said, bool)>,
    ) -> SqlResult<()> {
        let snapshot = self.snapshot();
        let Some(table) = snapshot.get(&like.table) else { return Ok(()) };
        let rules = table.rules();
        let columns = |it: &TableIndex| -> Vec<String> {
            it.columns.iter().map(|it| table.column(*it).name.to_string()).collect()
        };
        if like.including.indexes {
            for index in &rules.indexes {
                match index.kind {
                    IndexKind::PrimaryKey | IndexKind::UniqueKey => {
                        let (name, columns) = (None, columns(index));
                        let primary = index.kind == IndexKind::PrimaryKey;
                        new.constraints.keys.push(KeyDefinition {
                            name,
                            columns,
                            primary,
                            deferral: index.deferral,
                            nulls_equal: index.nulls_equal,
                        });
                    }
                    kind => indexes.push((said(table, index), kind.is_unique())),
                }
            }
        }
        if like.including.constraints {
            for check in &rules.rows.checks {
                let name = Some(check.name.to_string());
                let condition = check.condition.to_string();
                let condition = binder::column_names::with_table_renamed(
                    &condition,
                    &names::bare(&table.name),
                    &names::bare(&new.name),
                )?;
                let not_valid = false;
                new.constraints.checks.push(CheckDefinition { name, condition, not_valid });
            }
        }
        Ok(())
    }

    /// The comments on columns.
    fn comments_like(&self, like: &LikeClause) -> Vec<(String, String)> {
        let all = self.snapshot().comments().into_iter();
        let own = all.filter(|([kind, name, column], _)| {
            kind == "relation" && *name == like.table && !column.is_empty()
        });
        own.map(|([_, _, column], text)| (column, text.to_string())).collect()
    }
}
