//! Random statements that change a table, its columns, its parts and its place, on a modelled machine of four nodes: after each
//! of them every page is where its map says, the map says what was demanded, and the table is what it says of itself.

use std::collections::BTreeSet;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use hardware::samples;
use nodewise::{Database, DatabaseOptions, NoProgress, Session};
use simulator::{DiskImage, SimulatedMachine};
use stdx::Prng;
use stdx::sync::Arc;
use storage::Table;

const NODES: u16 = 4;
const STATEMENTS: usize = 60;

/// What was demanded of a place.
#[derive(Clone, PartialEq, Debug)]
enum Target {
    Table,
    Column(String),
    Part(usize),
}

/// A demand: nodes, how, and of what.
#[derive(Clone, Debug)]
struct Demand {
    target: Target,
    way: &'static str,
    nodes: Vec<u16>,
}

/// How the table is cut.
#[derive(Clone, PartialEq, Debug)]
enum Cut {
    No,
    Dealt(usize),
    Ranges(Vec<i64>),
}

/// What must hold of the place of the table.
struct Model {
    cut: Cut,
    /// The nodes that parts are dealt round.
    part_nodes: Vec<u16>,
    /// Which of them each part was dealt to.
    turns: Vec<usize>,
    /// Whether parts go to nodes of their own where nothing else was demanded.
    is_dealt: bool,
    demands: Vec<Demand>,
    /// Nodes that some rows may be on, whatever else was demanded.
    of_rows: Vec<u16>,
    columns: Vec<String>,
    indexes: Vec<(String, String)>,
}

fn all_nodes() -> Vec<u16> {
    (0..NODES).collect()
}

impl Model {
    fn parts(&self) -> usize {
        match &self.cut {
            Cut::No => 1,
            Cut::Dealt(parts) => *parts,
            Cut::Ranges(bounds) => bounds.len() + 1,
        }
    }

    fn demand(&self, column: &str, part: usize) -> Option<&Demand> {
        self.demands.iter().rev().find(|it| match &it.target {
            Target::Table => true,
            Target::Column(name) => name == column,
            Target::Part(number) => *number == part,
        })
    }

    /// The nodes that a column of a part may be on.
    fn allowed(&self, column: &str, part: usize) -> BTreeSet<u16> {
        let mut nodes = match self.demand(column, part) {
            Some(it) if it.way == "ROUNDROBIN" && self.cut != Cut::No => {
                vec![it.nodes[self.turns[part] % it.nodes.len()]]
            }
            Some(it) => it.nodes.clone(),
            None if self.is_dealt && self.cut != Cut::No => {
                vec![self.part_nodes[self.turns[part] % self.part_nodes.len()]]
            }
            None => all_nodes(),
        };
        nodes.extend(&self.of_rows);
        nodes.into_iter().collect()
    }

    fn wish(&mut self, target: Target, way: &'static str, nodes: Vec<u16>) {
        self.demands.retain(|it| target != Target::Table && it.target != target);
        if target == Target::Table {
            self.of_rows.clear();
        }
        if way == "NULL" {
            self.is_dealt |= target == Target::Table;
        } else {
            self.demands.push(Demand { target, way, nodes });
        }
    }

    fn recut(&mut self, cut: Cut, named: Vec<u16>) {
        self.of_rows.clear();
        self.demands.retain(|it| !matches!(it.target, Target::Part(_)));
        let whole = self.demands.iter().rposition(|it| it.target == Target::Table);
        self.part_nodes = all_nodes();
        if cut != Cut::No {
            let before = whole.map(|it| self.demands.remove(it).nodes);
            self.is_dealt |= before.is_some() || !named.is_empty();
            self.part_nodes = match named.is_empty() {
                true => before.unwrap_or_else(all_nodes),
                false => named,
            };
        }
        self.cut = cut;
        self.turns = (0..self.parts()).collect();
    }

    fn renumber(&mut self, part: impl Fn(usize) -> Option<usize>) {
        self.of_rows.clear();
        self.demands.retain_mut(|it| match &mut it.target {
            Target::Part(number) => part(*number).map(|it| *number = it).is_some(),
            _ => true,
        });
    }
}

struct Walk {
    machine: Arc<SimulatedMachine>,
    database: Arc<Database>,
    session: Session,
    prng: Prng,
    model: Model,
    next_name: usize,
    next_key: i64,
    done: Vec<String>,
}

fn machine(image: DiskImage, seed: u64) -> Arc<SimulatedMachine> {
    SimulatedMachine::after_crash(samples::by_name("four_sockets").unwrap(), seed, image)
}

fn open(machine: &Arc<SimulatedMachine>) -> Arc<Database> {
    let options =
        DatabaseOptions { workers: Some(2), delta_from: Some(0), ..DatabaseOptions::default() };
    Database::open_dir(machine.clone(), Path::new("/db"), options, &NoProgress).unwrap()
}

impl Walk {
    fn new(seed: u64) -> Self {
        let machine = machine(DiskImage::default(), seed);
        let database = open(&machine);
        let session = database.session();
        let base = ["auto", "rr", "ivp", "interleave", "os"][seed as usize % 5];
        let model = Model {
            cut: Cut::No,
            part_nodes: all_nodes(),
            turns: vec![0],
            is_dealt: !matches!(base, "interleave" | "os"),
            demands: Vec::new(),
            of_rows: Vec::new(),
            columns: vec!["name".into(), "few".into()],
            indexes: Vec::new(),
        };
        let (prng, done) = (Prng::new(seed), Vec::new());
        let (next_name, next_key) = (0, 0);
        let mut walk = Self { machine, database, session, prng, model, next_name, next_key, done };
        walk.run(&format!("SET default_placement = {base}"));
        walk.run("CREATE TABLE t (k BIGINT, name TEXT, few TEXT)");
        let rows = if seed.is_multiple_of(3) { 70_000 } else { 4000 };
        walk.insert(rows);
        walk
    }

    fn run(&mut self, sql: &str) {
        self.done.push(sql.into());
        let ran = self.session.execute(sql).map(drop);
        ran.unwrap_or_else(|error| panic!("{sql}: {error}\n{}", self.done.join(";\n")));
    }

    fn number(&mut self, sql: &str) -> i64 {
        let answer = self.session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        answer.batches[0].column(0).as_primitive::<Int64Type>().value(0)
    }

    fn below(&mut self, bound: usize) -> usize {
        self.prng.below(bound as u64) as usize
    }

    fn one_of<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }

    fn nodes(&mut self) -> Vec<u16> {
        let mask = 1 + self.below((1 << NODES) - 1);
        (0..NODES).filter(|it| mask >> it & 1 == 1).collect()
    }

    fn name(&mut self, of: &str) -> String {
        self.next_name += 1;
        format!("{of}{}", self.next_name)
    }

    fn insert(&mut self, rows: i64) {
        let (first, texts) = (self.next_key, self.one_of(&[3, 50, 100_000]));
        self.next_key += rows;
        self.run(&format!(
            "INSERT INTO t (k, name, few) SELECT i, 'n' || i % {texts}, 'f' || i % 7 \
             FROM generate_series({first}, {}) AS g (i)",
            self.next_key - 1
        ));
    }

    /// One statement drawn from all.
    fn step(&mut self) {
        match self.below(20) {
            0..=2 => self.add_column(),
            3 => self.drop_column(),
            4 => self.retype_column(),
            5 | 6 => {
                let rows = self.one_of(&[1, 5, 90, 700]);
                self.insert(rows);
            }
            7 => {
                let sql = self.one_of(&[
                    "DELETE FROM t WHERE k % 17 = 3",
                    "UPDATE t SET name = 'u' || k WHERE k % 23 = 5",
                    "UPDATE t SET few = NULL WHERE k % 31 = 7",
                ]);
                self.run(sql);
            }
            8 => self.run("CALL nodewise.merge('t')"),
            9..=12 => self.demand(),
            13 => self.cut(),
            14 | 15 => self.cut_ranges(),
            16 | 17 => self.index(),
            18 => self.rename(),
            _ => self.reopen(),
        }
    }

    fn add_column(&mut self) {
        if self.model.columns.len() > 8 {
            return self.drop_column();
        }
        let name = self.name("c");
        let what = self.one_of(&[
            "INTEGER",
            "INTEGER NOT NULL DEFAULT 7",
            "TEXT DEFAULT 'same'",
            "TEXT",
            "DOUBLE PRECISION DEFAULT 0.5",
            "BIGINT GENERATED ALWAYS AS (k * 3) STORED",
            "NUMERIC(30, 2) DEFAULT 12345678901234567890.25",
        ]);
        self.run(&format!("ALTER TABLE t ADD COLUMN {name} {what}"));
        self.model.columns.push(name);
    }

    /// A column, and where it stands, that no index is on.
    fn free_column(&mut self) -> Option<usize> {
        let is_free = |it: &String| {
            !["name", "few"].contains(&it.as_str())
                && self.model.indexes.iter().all(|index| index.1 != *it)
        };
        let free: Vec<usize> =
            (0..self.model.columns.len()).filter(|it| is_free(&self.model.columns[*it])).collect();
        (!free.is_empty()).then(|| self.one_of(&free))
    }

    fn drop_column(&mut self) {
        let Some(at) = self.free_column() else { return };
        let name = self.model.columns.remove(at);
        self.run(&format!("ALTER TABLE t DROP COLUMN {name}"));
        self.model.demands.retain(|it| it.target != Target::Column(name.clone()));
    }

    fn retype_column(&mut self) {
        let column = self.one_of(&["name", "few"]);
        let using = self.one_of(&["'x' || k % 5", "'y' || k", "NULL", "few || name"]);
        self.run(&format!("ALTER TABLE t ALTER COLUMN {column} TYPE TEXT USING {using}"));
    }

    fn rename(&mut self) {
        let Some(at) = self.free_column() else { return };
        let (old, new) = (self.model.columns[at].clone(), self.name("r"));
        self.run(&format!("ALTER TABLE t RENAME COLUMN {old} TO {new}"));
        for demand in &mut self.model.demands {
            if demand.target == Target::Column(old.clone()) {
                demand.target = Target::Column(new.clone());
            }
        }
        self.model.columns[at] = new;
    }

    fn demand(&mut self) {
        let (mut nodes, way) = (
            self.nodes(),
            self.one_of(&["SPLIT", "INTERLEAVE", "ROUNDROBIN", "REPLICATE", "NULL"]),
        );
        let list = nodes.iter().map(u16::to_string).collect::<Vec<_>>().join(", ");
        let mut clause = format!("NUMA NODE {way} ({list})");
        if way == "NULL" {
            clause = "NUMA NODE NULL".into();
        } else if self.below(4) == 0 {
            (nodes, clause) = (all_nodes(), format!("NUMA NODE {way}"));
        }
        match self.below(6) {
            0 | 1 => {
                self.run(&format!("ALTER TABLE t {clause}"));
                self.model.wish(Target::Table, way, nodes);
            }
            2 | 3 => {
                let column = self.one_of(&self.model.columns.clone());
                self.run(&format!("ALTER TABLE t ALTER COLUMN {column} {clause}"));
                self.model.wish(Target::Column(column), way, nodes);
            }
            4 if way != "NULL" && way != "REPLICATE" => {
                let rows = self.number("SELECT count(*) FROM t");
                if rows < 2 {
                    return;
                }
                self.run(&format!("ALTER TABLE t ROWS 0 TO {} {clause}", rows / 2));
                self.model.of_rows.extend(nodes);
            }
            _ if self.model.cut != Cut::No => {
                let part = self.below(self.model.parts());
                self.run(&format!("ALTER TABLE t PARTITION {part} {clause}"));
                self.model.wish(Target::Part(part), way, nodes);
            }
            _ => {}
        }
    }

    fn cut(&mut self) {
        let mut nodes = Vec::new();
        let mut clause = String::new();
        if self.below(2) == 0 {
            nodes = self.nodes();
            let list = nodes.iter().map(u16::to_string).collect::<Vec<_>>().join(", ");
            clause = format!("NUMA NODE ({list})");
        }
        match self.below(4) {
            0 => {
                self.run("ALTER TABLE t MERGE PARTITIONS");
                self.model.recut(Cut::No, Vec::new());
            }
            1 => {
                self.run(&format!("ALTER TABLE t PARTITION BY HASH (k) PARTITIONS 5 {clause}"));
                self.model.recut(Cut::Dealt(5), nodes);
            }
            2 => {
                self.run(&format!("ALTER TABLE t PARTITION BY ROUNDROBIN PARTITIONS 3 {clause}"));
                self.model.recut(Cut::Dealt(3), nodes);
            }
            _ => self.cut_into_ranges(&clause, nodes),
        }
    }

    fn cut_into_ranges(&mut self, clause: &str, nodes: Vec<u16>) {
        self.run(&format!(
            "ALTER TABLE t PARTITION BY RANGE (k) (PARTITION VALUES < 1000, \
             PARTITION 1000 <= VALUES < 2000, PARTITION OTHERS) {clause}"
        ));
        self.model.recut(Cut::Ranges(vec![1000, 2000]), nodes);
    }

    /// Ranges are split or merged.
    fn cut_ranges(&mut self) {
        let Cut::Ranges(mut bounds) = self.model.cut.clone() else {
            return self.cut_into_ranges("", Vec::new());
        };
        if bounds.len() < 2 || bounds.len() < 6 && self.below(2) == 0 {
            let at = self.below(4500) as i64;
            if bounds.contains(&at) {
                return;
            }
            let part = bounds.partition_point(|it| *it < at);
            self.run(&format!("ALTER TABLE t SPLIT PARTITION AT ({at})"));
            let next = 1 + self.model.turns.iter().max().unwrap_or(&0);
            self.model.turns.insert(part + 1, next);
            bounds.insert(part, at);
            self.model.cut = Cut::Ranges(bounds);
            self.model.renumber(|it| Some(if it <= part { it } else { it + 1 }));
        } else {
            let part = self.below(bounds.len());
            self.run(&format!("ALTER TABLE t MERGE PARTITIONS {part} TO {}", part + 1));
            self.model.turns.remove(part + 1);
            bounds.remove(part);
            self.model.cut = Cut::Ranges(bounds);
            self.model.renumber(|it| match it {
                it if it <= part => Some(it),
                it => Some(it - 1).filter(|it| *it != part),
            });
        }
    }

    fn index(&mut self) {
        if self.model.indexes.len() > 2 || !self.model.indexes.is_empty() && self.below(2) == 0 {
            let (index, _) = self.model.indexes.swap_remove(0);
            return self.run(&format!("DROP INDEX {index}"));
        }
        let index = self.name("i");
        let column = self.one_of(&self.model.columns.clone());
        self.run(&format!("CREATE INDEX {index} ON t ({column})"));
        self.model.indexes.push((index, column));
    }

    /// The database is opened again, from its log or from files.
    fn reopen(&mut self) {
        if self.below(2) == 0 {
            self.run("CHECKPOINT");
        }
        let image = self.machine.crash(self.next_name as u64);
        self.machine = machine(image, self.next_name as u64 + 1);
        self.database = open(&self.machine);
        self.session = self.database.session();
        self.done.push("-- opened again".into());
    }

    fn check(&mut self) {
        let table = self.database.tables().into_iter().find(|it| it.name == "t").expect("it is");
        let mains = self.model.parts();
        assert_eq!(table.partitioning().parts(), mains, "{}", self.done.join(";\n"));
        let mut wrong = Vec::new();
        for component in table.components().iter().filter(|it| it.segment.bytes() > 0) {
            let column = &table.column(component.column).name;
            let allowed = match component.part {
                Some(it) => self.model.allowed(column, table.parts()[it].number()),
                None => (0..mains).flat_map(|it| self.model.allowed(column, it)).collect(),
            };
            let is: BTreeSet<u16> =
                component.segment.page_map().summary().into_iter().map(|it| it.0.0).collect();
            let misplaced = component.segment.verify().expect("pages can be asked for").len();
            if misplaced > 0 || is.is_empty() || !is.is_subset(&allowed) {
                wrong.push(format!(
                    "{} of {column}, part {:?}, copy {:?}: on {is:?} for {allowed:?}, {misplaced} elsewhere",
                    component.name, component.part, component.replica
                ));
            }
        }
        wrong.extend(self.missing_copies(&table));
        assert!(wrong.is_empty(), "{}\n{}", self.done.join(";\n"), wrong.join("\n"));
    }

    /// The columns that shall have copies and have not.
    fn missing_copies(&self, table: &Table) -> Vec<String> {
        let mut missing = Vec::new();
        let components = table.components();
        for (place, column) in table.columns.iter().enumerate() {
            for part in 0..self.model.parts() {
                let demand = self.model.demand(&column.name, part);
                let Some(demand) = demand.filter(|it| it.way == "REPLICATE") else { continue };
                let copies: BTreeSet<_> = (components.iter())
                    .filter(|it| it.column.index() == place && it.part == Some(part))
                    .filter_map(|it| it.replica)
                    .collect();
                if copies.len() + 1 != demand.nodes.len() {
                    missing.push(format!("{} of part {part} has copies {copies:?}", column.name));
                }
            }
        }
        missing
    }
}

fn walk(seed: u64) {
    let mut walk = Walk::new(seed);
    walk.check();
    for _ in 0..STATEMENTS {
        walk.step();
        walk.check();
    }
    let rows = walk.number("SELECT count(*) FROM t");
    let by_part = "SELECT CAST(sum(rows) AS BIGINT) FROM nodewise.parts WHERE table_name = 't'";
    assert_eq!(walk.number(by_part), rows);
}

#[test]
fn every_statement_leaves_every_page_where_it_was_demanded() {
    let failed = |seed: &u64| std::panic::catch_unwind(|| walk(*seed)).is_err();
    let seeds: Vec<u64> = (0..10).filter(failed).collect();
    assert!(seeds.is_empty(), "wrong with the seeds {seeds:?}");
}
