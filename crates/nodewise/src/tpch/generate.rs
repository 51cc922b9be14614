//! The eight tables as Parquet files.

use std::path::Path;

use storage::Parallel;
use tpchgen::generators::{
    CustomerGenerator, OrderGenerator, PartGenerator, PartSuppGenerator, SupplierGenerator,
};
use types::{SqlError, SqlResult, SqlState};

use super::TABLES;
use super::columns::reader;
use crate::made_files::{MadeData, MadeTable};
use crate::{Database, Progress};

/// Rows that are made at a time.
const BATCH_ROWS: usize = 8 << 10;
/// What the folder was made by and for.
const MARKER: &str = "nodewise-tpch.txt";
/// Changes whenever the same scale would give other files.
const MADE_BY: &str = "tpchgen 4, layout 1";

/// [`generate`] on the workers of a database.
pub fn generate_on(
    database: &Database,
    dir: &Path,
    scale: f64,
    progress: &dyn Progress,
) -> SqlResult<()> {
    data(scale)?.generate_on(database, dir, progress)
}

/// Makes the Parquet files of a scale in a folder; those that are there already from an earlier run stay.
pub fn generate(
    dir: &Path,
    scale: f64,
    parallel: &dyn Parallel,
    progress: &dyn Progress,
) -> SqlResult<()> {
    data(scale)?.generate(dir, parallel, progress)
}

/// The eight tables of a scale.
pub fn data(scale: f64) -> SqlResult<MadeData> {
    if !(0.001..=100_000.0).contains(&scale) {
        let error =
            SqlError::new(SqlState::INVALID_PARAMETER, format!("no TPC-H of scale {scale}"));
        return Err(error.with_hint("scales go from 0.001 to 100000"));
    }
    let table = |name| MadeTable {
        name,
        schema: reader(name, 0.001, 1, 1, BATCH_ROWS).schema,
        rows: row_count(name, scale),
        part: Box::new(move |part, parts| reader(name, scale, part, parts, BATCH_ROWS).batches),
    };
    let size = format!("scale {scale}");
    let tables = TABLES.map(table).into();
    Ok(MadeData { title: "TPC-H", marker: MARKER, maker: MADE_BY, size, tables })
}

/// The rows of a table; of `lineitem`, whose orders have one to seven lines, about.
fn row_count(name: &str, scale: f64) -> i64 {
    match name {
        "region" => 5,
        "nation" => 25,
        "supplier" => SupplierGenerator::calculate_row_count(scale, 1, 1),
        "customer" => CustomerGenerator::calculate_row_count(scale, 1, 1),
        "part" => PartGenerator::calculate_row_count(scale, 1, 1),
        "partsupp" => PartSuppGenerator::calculate_row_count(scale, 1, 1),
        "orders" => OrderGenerator::calculate_row_count(scale, 1, 1),
        _ => 4 * OrderGenerator::calculate_row_count(scale, 1, 1),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::os::unix::fs::MetadataExt;
    use std::path::PathBuf;

    use parquet::file::reader::{FileReader, SerializedFileReader};
    use storage::Serial;

    use super::*;
    use crate::NoProgress;
    use crate::made_files::size_of;

    /// A folder that is removed again.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("nodewise-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            Self(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    /// Runs tasks backwards, as workers never promise an order.
    struct Backwards;

    impl Parallel for Backwards {
        fn run(
            &self,
            tasks: usize,
            body: &(dyn Fn(usize) -> SqlResult<()> + Sync),
        ) -> SqlResult<()> {
            (0..tasks).rev().try_for_each(body)
        }

        fn width(&self) -> usize {
            3
        }
    }

    fn rows(dir: &Path, table: &str) -> (i64, usize) {
        let file = File::open(dir.join(format!("{table}.parquet"))).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        (reader.metadata().file_metadata().num_rows(), reader.num_row_groups())
    }

    #[test]
    fn files_are_whole_equal_and_made_once() {
        let (forwards, backwards) = (Folder::new("forwards"), Folder::new("backwards"));
        generate(&forwards.0, 0.05, &Serial, &NoProgress).unwrap();
        generate(&backwards.0, 0.05, &Backwards, &NoProgress).unwrap();
        for table in TABLES {
            let name = format!("{table}.parquet");
            let bytes = fs::read(forwards.0.join(&name)).unwrap();
            assert!(
                bytes == fs::read(backwards.0.join(&name)).unwrap(),
                "{table} depends on the order"
            );
            assert!(!forwards.0.join(format!("{name}.tmp")).exists());
        }
        assert_eq!(rows(&forwards.0, "region"), (5, 1));
        assert_eq!(rows(&forwards.0, "nation"), (25, 1));
        assert_eq!(rows(&forwards.0, "orders"), (75_000, 1));
        let (lines, groups) = rows(&forwards.0, "lineitem");
        assert!((299_000..302_000).contains(&lines) && groups == 3, "{lines} in {groups}");
        assert_eq!(size_of(&forwards.0, MARKER, MADE_BY).as_deref(), Some("scale 0.05"));

        let lineitem = forwards.0.join("lineitem.parquet");
        let before = fs::metadata(&lineitem).unwrap().ino();
        fs::remove_file(forwards.0.join("nation.parquet")).unwrap();
        generate(&forwards.0, 0.05, &Serial, &NoProgress).unwrap();
        assert_eq!(fs::metadata(&lineitem).unwrap().ino(), before);
        assert_eq!(rows(&forwards.0, "nation"), (25, 1));
        let error = generate(&forwards.0, 0.01, &Serial, &NoProgress).unwrap_err();
        assert!(error.message.contains("TPC-H of scale 0.05"), "{error}");
    }

    #[test]
    fn a_folder_of_others_is_left_alone() {
        let folder = Folder::new("others");
        fs::create_dir_all(&folder.0).unwrap();
        fs::write(folder.0.join("orders.parquet"), "mine").unwrap();
        let error = generate(&folder.0, 0.01, &Serial, &NoProgress).unwrap_err();
        assert!(error.message.contains("orders.parquet of unknown origin"), "{error}");
        assert_eq!(fs::read(folder.0.join("orders.parquet")).unwrap(), b"mine");
        for scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let error = generate(&folder.0, scale, &Serial, &NoProgress).unwrap_err();
            assert_eq!(error.state, SqlState::INVALID_PARAMETER);
        }
    }

    #[test]
    fn a_failure_leaves_no_half_file() {
        struct Failing;
        impl Parallel for Failing {
            fn run(
                &self,
                tasks: usize,
                body: &(dyn Fn(usize) -> SqlResult<()> + Sync),
            ) -> SqlResult<()> {
                body(tasks - 1)?;
                Err(SqlError::new(SqlState::QUERY_CANCELED, "stopped"))
            }
            fn width(&self) -> usize {
                1
            }
        }
        let folder = Folder::new("failing");
        generate(&folder.0, 0.01, &Failing, &NoProgress).unwrap_err();
        let files = fs::read_dir(&folder.0).unwrap().map(|it| it.unwrap().file_name());
        let left: Vec<_> = files.filter(|it| it.to_string_lossy().ends_with(".tmp")).collect();
        assert!(left.is_empty(), "{left:?}");
    }
}
