//! Peers with a world loaded. A world is loaded anew only when it differs from the one that is there.

use crate::peers::reply::{Peer, Reply};
use crate::world::World;

/// A peer and what it holds.
pub struct Stage<P: Peer> {
    pub peer: P,
    loaded: Option<World>,
    /// What stands behind the columns of each table, and the statements that follow.
    pub layout: Layout,
}

/// How tables are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    Plain,
    /// In deltas, some rows of which have gone.
    Changed,
    /// Hashed into parts by the first column, with an index on each column that may have one, and changed as well.
    Hashed,
}

impl<P: Peer> Stage<P> {
    /// A stage without tables.
    pub fn new(peer: P, layout: Layout) -> Self {
        Self { peer, loaded: None, layout }
    }

    /// Makes the tables of a world; gives the statement that failed, with its answer.
    pub fn load(&mut self, world: &World) -> Result<(), (String, Reply)> {
        if self.loaded.as_ref() == Some(world) {
            return Ok(());
        }
        self.loaded = None;
        let broken = |message| Reply::Error { state: "08006".to_owned(), message };
        self.peer.reset().map_err(|message| ("reset".to_owned(), broken(message)))?;
        for sql in self.statements(world) {
            let reply = self.peer.run(&sql);
            if reply != Reply::Done {
                return Err((sql, reply));
            }
        }
        self.loaded = Some(world.clone());
        Ok(())
    }

    /// Forgets what is loaded, so that the next load begins with nothing.
    pub fn forget(&mut self) {
        self.loaded = None;
    }

    fn statements(&self, world: &World) -> Vec<String> {
        match self.layout {
            Layout::Plain => world.statements(),
            Layout::Changed => world.tables.iter().flat_map(|it| changed(it, "", false)).collect(),
            Layout::Hashed => world.tables.iter().flat_map(hashed).collect(),
        }
    }
}

/// Pieces in which the rows of a table come.
const PIECES: usize = 5;

/// The statements of a table whose rows come in pieces, and some of which are written anew after each. Indexes, if it shall
/// have some, are made behind the first.
fn changed(table: &crate::world::Table, behind: &str, indexed: bool) -> Vec<String> {
    let mut statements = vec![table.create(behind)];
    for (piece, rows) in table.rows.chunks(table.rows.len().div_ceil(PIECES).max(1)).enumerate() {
        let part = crate::world::Table { rows: rows.to_vec(), ..table.clone() };
        statements.extend(part.insert());
        if piece == 0 && indexed {
            let index =
                |it: &crate::world::Column| format!("CREATE INDEX ON {} ({})", table.name, it.name);
            statements.extend(table.columns.iter().map(index));
        }
        let place = piece % table.columns.len().max(1);
        if let (Some(column), Some(value)) = (table.columns.get(place), rows[0].get(place)) {
            let (name, column) = (&table.name, &column.name);
            statements
                .push(format!("UPDATE {name} SET {column} = {column} WHERE {column} = {value}"));
        }
    }
    statements
}

/// The statements of a table in parts.
fn hashed(table: &crate::world::Table) -> Vec<String> {
    let first = table.columns.first().map_or("", |it| it.name.as_str());
    changed(table, &format!(" PARTITION BY HASH ({first}) PARTITIONS 3"), true)
}
