//! Tables written to files and read back: the same in every respect, and damage is seen.

mod common;

use common::{Threads, allocator_on, array_of, batch_of, same};
use crc32c::crc32c;
use hardware::{Topology, samples};
use memory::Allocator;
use proptest::prelude::*;
use stdx::Prng;
use stdx::sync::{Arc, OnceLock};
use storage::files::{PartStamp, Source, check, read_table, write_part, write_table};
use storage::{
    BuildContext, ColumnSchema, Encoding, IndexKind, Partitioning, PlaceTarget, Placement,
    PlainStrings, Rules, Serial, Table, TableBuilder, TableDesign, TableIndex, table_to_arrow,
};
use types::numeric::interval_text::{Fields, Unit};
use types::{
    CheckRule, ColumnId, DataType, Deferral, FieldsColumn, ForeignKey, Identity, IndexOrder,
    ReferentialAction, RowRules, SqlState, Value,
};

/// The file of a table and those of its parts.
#[derive(Clone)]
struct Files {
    table: Vec<u8>,
    parts: Vec<Vec<u8>>,
    stamps: Vec<PartStamp>,
}

impl Files {
    fn of(table: &Table) -> Self {
        let mut parts = Vec::new();
        let stamps: Vec<PartStamp> = (0..table.parts().len())
            .map(|it| {
                let mut part = Vec::new();
                let stamp = write_part(table, it, &mut part).unwrap();
                assert_eq!(stamp.bytes, part.len() as u64);
                parts.push(part);
                stamp
            })
            .collect();
        let mut file = Vec::new();
        write_table(table, &stamps, &mut file).unwrap();
        Self { table: file, parts, stamps }
    }

    fn read(&self, context: &BuildContext<'_>) -> types::SqlResult<Table> {
        let parts: Vec<&dyn Source> = self.parts.iter().map(|it| it as &dyn Source).collect();
        read_table(&self.table, &parts, context)
    }

    /// The file that stands before all parts has the number 0.
    fn file(&mut self, number: usize) -> &mut Vec<u8> {
        match number {
            0 => &mut self.table,
            it => &mut self.parts[it - 1],
        }
    }
}

/// How the values of a column spread, which decides its encoding.
#[derive(Clone, Copy, Debug)]
enum Spread {
    Few,
    Dense,
    Wide,
}

fn value(data_type: DataType, spread: Spread, row: u64, prng: &mut Prng) -> Value {
    let number = match spread {
        Spread::Few => (prng.below(40) as i64 - 20) * 1_000_003,
        Spread::Dense => prng.below(5000) as i64 - 9,
        Spread::Wide => prng.next_u64() as i64,
    };
    match data_type {
        DataType::Boolean => Value::Boolean(number & 1 == 1),
        DataType::SmallInt => Value::Integer(i64::from(number as i16)),
        DataType::Integer => Value::Integer(i64::from(number as i32)),
        DataType::BigInt => Value::Integer(number),
        DataType::Real => Value::Float(f64::from(number as f32)),
        DataType::Double => match number % 50 {
            0 => Value::Float(f64::NAN),
            1 => Value::Float(-0.0),
            _ => Value::Float(number as f64 / 7.0),
        },
        DataType::Decimal { precision, scale } => {
            let limit = 10i128.pow(u32::from(precision)) - 1;
            let wide = precision > 18 && matches!(spread, Spread::Few);
            let unscaled = if wide { i128::from(number) << 60 } else { i128::from(number) };
            Value::Decimal { unscaled: unscaled % limit, scale }
        }
        DataType::Date => Value::Date((number % 1_000_000) as i32),
        DataType::Timestamp => Value::Timestamp(number),
        DataType::Char(_) => Value::Text(format!("{:x}", number & 0xffff).into()),
        _ => Value::Text(match spread {
            Spread::Few => format!("text {}", number % 7).into(),
            Spread::Dense => format!("\u{e4} {number}").into(),
            Spread::Wide => format!("the quickly final requests of number {row} {number}").into(),
        }),
    }
}

const TYPES: [DataType; 14] = [
    DataType::Boolean,
    DataType::SmallInt,
    DataType::Integer,
    DataType::BigInt,
    DataType::Real,
    DataType::Double,
    DataType::Decimal { precision: 15, scale: 2 },
    DataType::Decimal { precision: 38, scale: 4 },
    DataType::Date,
    DataType::Timestamp,
    DataType::Char(9),
    DataType::Varchar(99),
    DataType::Text,
    DataType::Null,
];

/// A table of a key and columns of all types, spread in all ways, with and without NULL.
fn table(seed: u64, rows: usize, design: &TableDesign, context: &BuildContext<'_>) -> Table {
    let mut prng = Prng::new(seed);
    let mut columns = Vec::new();
    let key: Vec<Value> = (0..rows as i64).map(|it| Value::Integer(it * 3)).collect();
    let schema = ColumnSchema::new("key", DataType::BigInt, false);
    columns.push((schema, array_of(DataType::BigInt, &key)));
    for data_type in TYPES.into_iter().filter(|it| *it != DataType::Null) {
        for spread in [Spread::Few, Spread::Dense, Spread::Wide] {
            let nulls = [0, 3, 100][prng.below(3) as usize];
            let mut next = |row: usize| match prng.below(100) < nulls {
                true => Value::Null,
                false => value(data_type, spread, row as u64, &mut prng),
            };
            let values: Vec<Value> = (0..rows).map(&mut next).collect();
            let schema = ColumnSchema::new(format!("{data_type} {spread:?}"), data_type, true);
            columns.push((schema, array_of(data_type, &values)));
        }
    }
    let schema: Vec<ColumnSchema> = columns.iter().map(|it| it.0.clone()).collect();
    let builder = TableBuilder::new("Many Types", schema);
    builder.push(0, batch_of(&columns)).unwrap();
    builder.finish(&BuildContext { design, compress_from: 1, ..*context }).unwrap()
}

fn rules(columns: usize) -> Arc<Rules> {
    let index = |name: &str, columns: &[u16], kind| TableIndex {
        name: name.into(),
        columns: columns.iter().map(|it| ColumnId(*it)).collect(),
        kind,
        deferral: types::Deferral::None,
        nulls_equal: false,
        included: Vec::new(),
        orders: Vec::new(),
        method: types::IndexMethod::default(),
    };
    let mut defaults = vec![None; columns];
    defaults[2] = Some("1 + 1".into());
    let check = CheckRule { name: "c".into(), condition: "key >= 0".into(), is_validated: false };
    let indexes = vec![
        index("k", &[0], IndexKind::PrimaryKey),
        index("two", &[0, 3], IndexKind::UniqueKey),
        TableIndex {
            orders: vec![
                IndexOrder { descending: true, nulls_first: false },
                IndexOrder::default(),
            ],
            method: types::IndexMethod::Hash,
            ..index("i", &[5, 39], IndexKind::Index)
        },
    ];
    let reference = ForeignKey {
        name: "f".into(),
        columns: vec![ColumnId(3), ColumnId(0)],
        parent: "Parent".into(),
        parent_columns: vec!["b".into(), "a".into()],
        on_delete: ReferentialAction::Cascade,
        on_update: ReferentialAction::SetDefault,
        is_full: true,
        deferral: Deferral::Deferred,
        is_validated: false,
    };
    let identity = Identity { column: ColumnId(3), always: true };
    let rows = Arc::new(RowRules {
        defaults,
        checks: vec![check],
        identities: vec![identity],
        generated: vec![types::Generated { column: ColumnId(2), is_stored: true }],
        domains: vec![types::DomainColumn { column: ColumnId(1), domain: "s.d".into() }],
        fields: vec![
            FieldsColumn {
                column: ColumnId(2),
                fields: Fields { digits: Some(3), ..Fields::default() },
            },
            FieldsColumn {
                column: ColumnId(4),
                fields: Fields { range: Some((Unit::Day, Unit::Second)), ..Fields::default() },
            },
        ],
    });
    Arc::new(Rules { indexes, rows, references: vec![reference], ..Rules::default() })
}

fn partitionings() -> [Partitioning; 4] {
    let bounds = [-5, 1, 6000, 90_000_000].map(Value::Integer).to_vec();
    [
        Partitioning::None,
        Partitioning::Hash { columns: vec![ColumnId(0), ColumnId(10)], parts: 3 },
        Partitioning::Range { column: ColumnId(0), bounds },
        Partitioning::RoundRobin { parts: 5 },
    ]
}

/// Asserts that two tables are the same, byte for byte and place for place.
fn assert_same(a: &Table, b: &Table, values: bool) {
    assert_eq!((a.id, &a.name, a.rows(), a.schema()), (b.id, &b.name, b.rows(), b.schema()));
    assert_eq!((a.design(), a.rules()), (b.design(), b.rules()));
    assert_eq!(format!("{:?}", a.info()), format!("{:?}", b.info()));
    assert_eq!(a.components().len(), b.components().len());
    for (a, b) in a.components().iter().zip(b.components()) {
        assert_eq!((a.column, a.part, a.replica, a.name), (b.column, b.part, b.replica, b.name));
        assert!(a.segment.as_bytes() == b.segment.as_bytes(), "{a:?} {b:?}");
        // Small ones share pages with others, and may begin anywhere.
        if a.segment.bytes() >= 1 << 16 {
            assert_eq!(nodes_of(a.segment), nodes_of(b.segment), "{a:?} {b:?}");
        }
    }
    for (a, b) in a.parts().iter().zip(b.parts()) {
        assert_eq!((a.positions(), a.nodes()), (b.positions(), b.nodes()));
        for (place, (a_column, b_column)) in a.columns.iter().zip(b.columns.iter()).enumerate() {
            assert_same_column(a_column, b_column);
            let translations = [a, b].map(|it| it.translation(place).map(|it| it.codes()));
            assert_eq!(translations[0], translations[1]);
        }
    }
    for (a, b) in a.columns.iter().zip(&b.columns) {
        assert_same_column(a, b);
    }
    for row in (0..a.rows()).step_by(if values { 1 } else { 997 }) {
        for column in 0..a.columns.len() {
            let column = ColumnId(column as u16);
            let (a, b) = (a.value(column, row), b.value(column, row));
            assert!(same(&a, &b), "row {row} of {column}: {a:?} {b:?}");
        }
    }
}

fn nodes_of(segment: &memory::Segment) -> Vec<hardware::NodeId> {
    segment.page_map().summary().iter().map(|it| it.0).collect()
}

fn assert_same_column(a: &storage::Column, b: &storage::Column) {
    let facts = |it: &storage::Column| {
        let symbols = match &it.encoding {
            Encoding::Plain(PlainStrings::Own(texts)) => {
                texts.symbols().map(|it| format!("{it:?}"))
            }
            Encoding::Offset { min } => Some(format!("{min}")),
            _ => None,
        };
        // Floats are compared as they are shown: NaN is a bound, too.
        let statistics = format!("{:?}", it.statistics);
        let codes = (it.rows(), it.bits(), it.code_count(), it.null_code());
        (it.encoding_name(), symbols, statistics, codes, it.zones.to_vec(), it.index.is_some())
    };
    assert_eq!(facts(a), facts(b), "{}", a.name);
}

fn machines() -> [Topology; 2] {
    [samples::laptop(), samples::four_sockets()]
}

#[test]
fn tables_of_all_types_come_back() {
    for topology in machines() {
        let allocator = allocator_on(topology);
        let threads = Threads(3);
        let context = BuildContext { parallel: &threads, ..BuildContext::serial(&allocator) };
        for (seed, rows) in [(1, 0), (2, 1), (3, 5000), (4, 70_000)] {
            let few = if rows < 70_000 { 4 } else { 2 };
            for partitioning in partitionings().into_iter().take(few) {
                let design = TableDesign { partitioning, ..TableDesign::default() };
                let table = table(seed, rows, &design, &context);
                let mut table = table.with_rules(rules(40), &context).unwrap();
                table.id = types::TableId(17);
                let files = Files::of(&table);
                let read = files.read(&context).unwrap();
                assert_same(&table, &read, rows <= 5000);
                for file in files.parts.iter().chain([&files.table]) {
                    assert_eq!(check(file, &Serial), []);
                }
                if rows == 70_000 && design.partitioning == Partitioning::None {
                    all_encodings(&read);
                }
                // What was read is written as before.
                assert!(Files::of(&read).table == files.table);
            }
        }
    }
}

#[test]
fn tables_that_have_changed_come_back() {
    for topology in machines() {
        let allocator = allocator_on(topology);
        let context = BuildContext { delta_from: 0, ..BuildContext::serial(&allocator) };
        for partitioning in partitionings() {
            let design = TableDesign { partitioning, ..TableDesign::default() };
            let before = table(5, 5000, &design, &context);
            let before = before.with_rules(rules(40), &context).unwrap();
            // A part with many rows: where they are, and their numbers over all parts.
            let large = before.parts().iter().position(|it| it.rows() > 700).unwrap();
            let first = before.parts()[large].positions().start as u64;
            let number: usize = before.parts()[..large].iter().map(storage::Part::rows).sum();
            let gone: Vec<u64> = (0..90).map(|it| first + it * 7).collect();
            let marked = before.changed(&gone, &[], &context).unwrap();
            let row = |it: usize| table_to_arrow(&before, number + it..number + it + 1).unwrap();
            let again = marked.changed(&[], &[row(0)], &context).unwrap();
            let grown = again.changed(&[first + 8, first + 9], &[row(7), row(8)], &context);
            let grown = grown.unwrap();
            for table in [marked, again, grown] {
                assert!(table.has_changed());
                let files = Files::of(&table);
                let read = files.read(&context).unwrap();
                assert_same(&table, &read, true);
                for (a, b) in table.parts().iter().zip(read.parts()) {
                    let gone = |it: &storage::Part| {
                        let rows = 0..it.rows();
                        rows.filter(|row| it.deletions().is_some_and(|it| it.contains(*row)))
                            .collect::<Vec<_>>()
                    };
                    assert_eq!((a.number(), gone(a)), (b.number(), gone(b)));
                }
                assert!(Files::of(&read).table == files.table);
            }
        }
    }
}

/// The test is of all encodings only if they are all there.
fn all_encodings(table: &Table) {
    let names: Vec<&str> = table.columns.iter().map(|it| it.encoding_name()).collect();
    for name in ["offset", "dictionary", "raw", "fsst"] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
    assert!(table.columns.iter().any(|it| it.null_rows().is_some()));
    assert!(table.columns.iter().any(|it| !it.is_dictionary_of_wides().is_empty()));
}

trait Wides {
    fn is_dictionary_of_wides(&self) -> &[i128];
}

impl Wides for storage::Column {
    fn is_dictionary_of_wides(&self) -> &[i128] {
        match &self.encoding {
            Encoding::Dictionary(it) => it.wides(),
            _ => &[],
        }
    }
}

#[test]
fn plain_texts_and_placed_tables_come_back() {
    let allocator = allocator_on(samples::four_sockets());
    let context = BuildContext::serial(&allocator);
    let nodes = |it: &[u16]| it.iter().map(|&it| hardware::NodeId(it)).collect::<Vec<_>>();
    let placements = [
        Placement::Os,
        Placement::RoundRobin(nodes(&[2, 1])),
        Placement::IndexVector(Vec::new()),
        Placement::Parts(nodes(&[3, 0])),
        Placement::Interleaved(nodes(&[1, 3])),
        Placement::Replicated(Vec::new()),
    ];
    for placement in placements {
        let design = TableDesign::placed(placement);
        let allocated = BuildContext { turn: 3, ..context };
        let whole = table(9, 4000, &design, &allocated);
        let target = PlaceTarget::Column(ColumnId(2));
        let whole = whole.placed(&target, &Placement::RoundRobin(nodes(&[3])), &allocated).unwrap();
        let rows = PlaceTarget::Rows(100..3000);
        let whole = whole.placed(&rows, &Placement::Interleaved(nodes(&[0])), &allocated).unwrap();
        let read = Files::of(&whole).read(&allocated).unwrap();
        assert_eq!(whole.design(), read.design());
        assert_eq!(whole.replicas().count(), read.replicas().count());
        for row in 0..whole.rows() {
            let column = ColumnId(row as u16 % 40);
            assert!(same(&whole.value(column, row), &read.value(column, row)));
        }
        // A machine with fewer nodes takes the table, too.
        let small = allocator_on(samples::laptop());
        let small = BuildContext::serial(&small);
        let read = Files::of(&whole).read(&small).unwrap();
        assert!(same(&whole.value(ColumnId(4), 77), &read.value(ColumnId(4), 77)));
    }
    let values: Vec<Value> = (0..70_000).map(|it| Value::Text(format!("no {it}").into())).collect();
    let plain = common::build(DataType::Text, &values, 1000, &context).unwrap();
    assert_eq!(plain.columns[0].encoding_name(), "plain");
    assert_same(&plain, &Files::of(&plain).read(&context).unwrap(), true);
}

#[test]
fn an_index_that_is_missing_in_a_file_is_built() {
    let allocator = allocator_on(samples::laptop());
    let context = BuildContext::serial(&allocator);
    let design = TableDesign { partitioning: partitionings()[1].clone(), ..TableDesign::default() };
    let bare = table(5, 3000, &design, &context);
    let files = Files::of(&bare);
    let ruled = bare.ruled(rules(40), &context).unwrap();
    let mut later = files;
    later.table.clear();
    write_table(&ruled, &later.stamps, &mut later.table).unwrap();
    let read = later.read(&context).unwrap();
    assert_same(&ruled, &read, false);
    assert!(read.parts().iter().all(|it| it.columns[0].index.is_some()));
}

/// A small table with two parts, keys and texts of each kind.
fn small() -> &'static (Allocator, Table, Files) {
    static SMALL: OnceLock<(Allocator, Table, Files)> = OnceLock::new();
    SMALL.get_or_init(make_small)
}

fn make_small() -> (Allocator, Table, Files) {
    let allocator = allocator_on(samples::laptop());
    let context = BuildContext::serial(&allocator);
    let partitioning = Partitioning::Hash { columns: vec![ColumnId(0)], parts: 2 };
    let design = TableDesign { partitioning, ..TableDesign::default() };
    let table = table(6, 400, &design, &context).with_rules(rules(40), &context).unwrap();
    let files = Files::of(&table);
    (allocator, table, files)
}

#[test]
fn files_that_do_not_belong_together_are_refused() {
    let (allocator, _, files) = small();
    let (context, mut files) = (BuildContext::serial(allocator), files.clone());
    files.parts.swap(0, 1);
    let error = files.read(&context).unwrap_err();
    assert_eq!(error.state, SqlState::DATA_CORRUPTED);
    assert!(
        error.message.contains("a file in memory is damaged: it is not the file of part 0"),
        "{error}"
    );
    files.parts.swap(0, 1);
    let part = files.parts.pop().unwrap();
    assert_eq!(files.read(&context).unwrap_err().state, SqlState::DATA_CORRUPTED);
    files.parts.push(part);
    std::mem::swap(&mut files.table, &mut files.parts[0]);
    assert_eq!(files.read(&context).unwrap_err().state, SqlState::DATA_CORRUPTED);
}

#[test]
fn a_later_version_is_told_from_damage() {
    let (allocator, _, files) = small();
    let mut files = files.clone();
    files.table[8] = 2;
    let checksum = crc32c(&files.table[..44]).to_le_bytes();
    files.table[44..48].copy_from_slice(&checksum);
    let error = files.read(&BuildContext::serial(allocator)).unwrap_err();
    assert_eq!(error.state, SqlState::FEATURE_NOT_SUPPORTED);
    assert!(error.message.contains("is of version 2"), "{error}");
    assert_eq!(check(&files.table, &Serial), [error]);
}

/// Makes the checksums of the head and the directory right again.
fn reseal(file: &mut [u8]) -> u32 {
    let long = |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().unwrap()) as usize;
    let checksum = crc32c(&file[long(24)..long(24) + long(32)]);
    file[40..44].copy_from_slice(&checksum.to_le_bytes());
    let head = crc32c(&file[..44]);
    file[44..48].copy_from_slice(&head.to_le_bytes());
    checksum
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_flipped_bit_is_seen_or_means_nothing(number in 0usize..3, at: prop::sample::Index, bit in 0u8..8) {
        let (allocator, table, files) = small();
        let mut files = files.clone();
        let file = files.file(number);
        let at = at.index(file.len());
        file[at] ^= 1 << bit;
        let checked = check(&*file, &Serial);
        match files.read(&BuildContext::serial(allocator)) {
            Ok(read) => {
                // Zeros before a segment, which a check sees, too.
                prop_assert_eq!(checked.len(), 1);
                assert_same(table, &read, false);
            }
            Err(error) => {
                prop_assert_eq!(error.state, SqlState::DATA_CORRUPTED);
                prop_assert!(!checked.is_empty());
            }
        }
    }

    #[test]
    fn a_file_that_was_cut_is_refused(number in 0usize..3, at: prop::sample::Index) {
        let (allocator, _, files) = small();
        let mut files = files.clone();
        let file = files.file(number);
        let at = at.index(file.len());
        file.truncate(at);
        prop_assert!(!check(&*file, &Serial).is_empty());
        let error = files.read(&BuildContext::serial(allocator)).unwrap_err();
        prop_assert_eq!(error.state, SqlState::DATA_CORRUPTED);
    }

    /// Whoever makes all checksums right can make other tables, but no panic.
    #[test]
    fn directories_that_lie_do_no_harm(number in 0usize..3, at: prop::sample::Index, byte: u8) {
        let (allocator, table, files) = small();
        let mut files = files.clone();
        let file = files.file(number);
        let start = u64::from_le_bytes(file[24..32].try_into().unwrap()) as usize;
        let at = start + at.index(file.len() - start);
        file[at] = byte;
        let checksum = reseal(file);
        if number > 0 {
            files.stamps[number - 1].checksum = checksum;
            files.table.clear();
            write_table(table, &files.stamps, &mut files.table).unwrap();
        }
        match files.read(&BuildContext::serial(allocator)) {
            Ok(read) => {
                for row in (0..read.rows()).step_by(7) {
                    for column in 0..read.columns.len() {
                        read.value(ColumnId(column as u16), row);
                    }
                }
            }
            Err(error) => {
                let known = [SqlState::DATA_CORRUPTED, SqlState::FEATURE_NOT_SUPPORTED];
                prop_assert!(known.contains(&error.state), "{}", error);
            }
        }
    }
}
