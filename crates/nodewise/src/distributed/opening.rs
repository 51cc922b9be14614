//! Which tables the shards of a coordinator have, and whether each has the rows that it should.

use arrow_array::RecordBatch;
use optimizer::distribution::Sharding;
use storage::{ColumnSchema, TableDesign};
use types::{ColumnId, DataType, SqlError, SqlResult, SqlState, TableInfo, names};

use super::asking::Shards;
use super::shard::has_columns_of;
use super::words::{Reply, Request};
use crate::text::Cells;
use crate::{CancelToken, Session};

/// The number of the shard in which a row is, as an expression of SQL over its key, which is a column of whole numbers.
pub fn shard_of(key: &str, shards: usize) -> String {
    let key = names::written(&[key]);
    format!("(({key} % {shards} + {shards}) % {shards})")
}

/// The same of a number.
pub fn shard_number(key: i64, shards: usize) -> usize {
    key.rem_euclid(shards.max(1) as i64) as usize
}

/// Makes the tables of the shards, without rows, those that are bound against; tells which are cut, and by what.
pub(super) fn open(
    session: &mut Session,
    shards: &mut Shards,
    keys: &[(&str, &str)],
) -> SqlResult<Sharding> {
    let replies = shards.all(&Request::Tables)?;
    let mut tables: Vec<Vec<TableInfo>> = Vec::with_capacity(replies.len());
    for (reply, number) in replies.into_iter().zip(0..) {
        match reply {
            Reply::Tables(it) => tables.push(it),
            Reply::Rows(_) => return Err(refused(format!("shard {number} tells no tables"))),
        }
    }
    let Some((first, others)) = tables.split_first() else {
        return Err(refused("a coordinator needs a shard".to_owned()));
    };
    let mut sharding = Sharding::default();
    for table in first {
        let name = &table.name;
        let key = keys.iter().find(|it| it.0 == *name).map(|it| it.1);
        for other in others {
            let same = other.iter().find(|it| it.name == *name);
            let Some(same) = same.filter(|it| has_columns_of(it, table)) else {
                return Err(refused(format!("not all shards have table {name} alike")));
            };
            if key.is_none() && same.rows != table.rows {
                let message =
                    format!("shards have different rows of table {name}, which has no key");
                return Err(refused(message));
            }
        }
        let own = own_table(session, table)?;
        match key {
            None => sharding.add_whole(own),
            Some(key) => {
                let column = key_column(table, key)?;
                check_rows(shards, name, key)?;
                sharding.add_cut(own, column);
            }
        }
    }
    if let Some((table, _)) = keys.iter().find(|it| first.iter().all(|table| table.name != it.0)) {
        return Err(refused(format!("the shards have no table {table}")));
    }
    Ok(sharding)
}

/// A table without rows in the coordinator's own database.
fn own_table(session: &mut Session, table: &TableInfo) -> SqlResult<types::TableId> {
    let made_by_users = |it: DataType| it.has_parts() || matches!(it, DataType::Enum(_));
    if let Some(column) = table.columns.iter().find(|it| made_by_users(it.data_type)) {
        let (name, column, of) = (&table.name, &column.name, column.data_type);
        return Err(refused(format!("column {column} of table {name} is of type {of}")));
    }
    let column = |it: &types::ColumnInfo| ColumnSchema::new(&it.name, it.data_type, it.nullable);
    let columns = table.columns.iter().map(column).collect();
    let (design, cancel) = (TableDesign::default(), CancelToken::new());
    let made = session.build(&table.name, columns, Vec::new(), &design, &cancel)?;
    Ok(session.catalog().create_or_replace(made).id)
}

fn key_column(table: &TableInfo, key: &str) -> SqlResult<ColumnId> {
    let place = table.columns.iter().position(|it| it.name == key);
    let whole = place.filter(|it| table.columns[*it].data_type.is_integer());
    let no_key = || refused(format!("table {} has no column {key} of whole numbers", table.name));
    whole.map(|it| ColumnId(it as u16)).ok_or_else(no_key)
}

/// Whether all rows of a table are in the shards that their keys say.
fn check_rows(shards: &mut Shards, table: &str, key: &str) -> SqlResult<()> {
    let of = shard_of(key, shards.len());
    let table = names::written(&[table]);
    for number in 0..shards.len() {
        let sql = format!("SELECT count(*) FROM {table} WHERE {of} IS DISTINCT FROM {number}");
        let rows = shards.one(number, &Request::Sql(sql))?;
        let count = match &rows {
            Reply::Rows(batches) => batches.first().and_then(first_text),
            Reply::Tables(_) => None,
        };
        if count.as_deref() != Some("0") {
            let count = count.unwrap_or_default();
            let message = format!(
                "{count} rows of table {table} are in shard {number} and not where {key} says"
            );
            return Err(refused(message));
        }
    }
    Ok(())
}

fn first_text(batch: &RecordBatch) -> Option<String> {
    (batch.num_rows() > 0).then(|| Cells::new(batch.column(0)).text(0))?.map(|it| it.to_string())
}

fn refused(message: String) -> SqlError {
    SqlError::new(SqlState::NOT_IN_STATE, message)
}
