//! A benchmark whose data are made at any scale, and whose answers are stored for one of them.

use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use nodewise::made_files::MadeData;
use nodewise::reference::Answer;
use nodewise::{Session, SqlResult};

use crate::record::{QueryRecord, Verdict};
use crate::workload::{Loaded, load_tables, numbered};

/// The benchmark.
pub struct MadeSuite {
    /// What `nodewise generate` and folders call it.
    pub name: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// Name and text of each query.
    pub queries: &'static [(&'static str, &'static str)],
    /// The scale whose answers are stored.
    pub answered_scale: f64,
    /// The stored answers, one for each query.
    pub answers: &'static [&'static str],
    /// Its tables at a scale.
    pub data: fn(f64) -> SqlResult<MadeData>,
}

impl MadeSuite {
    /// Where the Parquet files of a scale are when no folder is named.
    pub fn default_folder(&self, scale: f64) -> PathBuf {
        std::env::temp_dir().join(format!("nodewise-{}-{scale}", self.name))
    }

    /// Loads the tables of a folder.
    pub fn load(&self, session: &mut Session, folder: &Path) -> SqlResult<Loaded> {
        let tables = (self.data)(1.0)?.tables;
        let file = |name: &str| (name.to_owned(), folder.join(format!("{name}.parquet")));
        load_tables(session, &tables.iter().map(|it| file(it.name)).collect::<Vec<_>>())
    }

    /// The queries of the given places, from 1 on, all when none is given; an error names a number that is none.
    pub fn select(&self, numbers: &[usize]) -> Result<Vec<QueryRecord>, usize> {
        numbered(self.queries, numbers)
    }

    /// Compares an answer with the one that is stored for a scale.
    pub fn judge(&self, scale: f64) -> impl Fn(&str, &[RecordBatch]) -> Verdict {
        move |name, batches| {
            let place = self.queries.iter().position(|it| it.0 == name);
            let answer = place.and_then(|it| self.answers.get(it));
            let Some(text) = answer.filter(|_| scale == self.answered_scale) else {
                return Verdict::Unchecked;
            };
            match Answer::parse(text).and_then(|it| it.check_batches(batches)) {
                Ok(()) => Verdict::Right,
                Err(difference) => Verdict::Wrong(difference),
            }
        }
    }
}
