//! The 22 queries give the same answers under every placement: as the default at load, and by moving and cutting
//! tables that are there.

use crate::common::{data, wrong_answers};
use hardware::samples;
use nodewise::{Database, DatabaseOptions, Session, tpch};
use simulator::SimulatedMachine;

const MACHINES: [&str; 2] = ["four_sockets", "sub_numa"];
const SCALE: f64 = 0.01;

fn open(machine: &str, seed: u64) -> Session {
    let topology = samples::by_name(machine).expect("a sample machine");
    let machine = SimulatedMachine::new(topology, seed);
    let database = Database::open(machine, DatabaseOptions::default()).expect("it opens");
    database.session()
}

fn load(session: &mut Session) {
    let folder = data(SCALE);
    for table in tpch::TABLES {
        let path = folder.join(format!("{table}.parquet"));
        let sql = format!("CREATE TABLE {table} AS SELECT * FROM '{}'", path.display());
        session.execute(&sql).expect("the table is loaded");
    }
}

fn check(session: &mut Session, what: &str) {
    let wrong = wrong_answers(session, SCALE);
    assert!(wrong.is_empty(), "{what}: {wrong:#?}");
}

#[test]
fn right_under_every_default() {
    for (seed, machine) in MACHINES.into_iter().enumerate() {
        for placement in ["rr", "ivp", "pp", "interleave", "os"] {
            let mut session = open(machine, seed as u64);
            session.execute(&format!("SET default_placement = '{placement}'")).unwrap();
            load(&mut session);
            let parts: usize =
                session.database().tables().iter().map(|it| it.parts().len()).max().unwrap();
            assert_eq!(parts > 1, placement == "pp", "{placement}");
            check(&mut session, &format!("{machine}, {placement}"));
        }
    }
}

#[test]
fn right_after_every_move() {
    for (seed, machine) in MACHINES.into_iter().enumerate() {
        let mut session = open(machine, seed as u64);
        load(&mut session);
        for way in ["REPLICATE", "SPLIT", "INTERLEAVE", "(1)", "(3, 0 TO 1)", "ROUNDROBIN", "NULL"]
        {
            for table in tpch::TABLES {
                let sql = format!("ALTER TABLE {table} NUMA NODE {way}");
                session.execute(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
            }
            check(&mut session, &format!("{machine}, {way}"));
        }
    }
}

/// How to cut each table by the key that it is joined on, and by a range of it.
const KEYS: [(&str, &str, &str); 8] = [
    ("region", "r_regionkey", "2"),
    ("nation", "n_nationkey", "10"),
    ("supplier", "s_suppkey", "50"),
    ("customer", "c_custkey", "500"),
    ("part", "p_partkey", "700"),
    ("partsupp", "ps_partkey", "700"),
    ("orders", "o_orderkey", "20000"),
    ("lineitem", "l_orderkey", "20000"),
];

#[test]
fn right_in_parts_of_every_kind() {
    for (seed, machine) in MACHINES.into_iter().enumerate() {
        let mut session = open(machine, seed as u64);
        load(&mut session);
        for kind in ["hash", "range", "round robin"] {
            for (table, key, bound) in KEYS {
                let parts = match kind {
                    "hash" => format!("HASH ({key}) PARTITIONS 5"),
                    "range" => {
                        format!("RANGE ({key}) (PARTITION VALUES < {bound}, PARTITION OTHERS)")
                    }
                    _ => "ROUNDROBIN PARTITIONS 3".to_owned(),
                };
                let sql = format!("ALTER TABLE {table} PARTITION BY {parts}");
                session.execute(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
            }
            check(&mut session, &format!("{machine}, {kind}"));
        }
        session.execute("ALTER TABLE lineitem NUMA NODE REPLICATE").unwrap();
        session.execute("ALTER TABLE orders NUMA NODE SPLIT").unwrap();
        check(&mut session, &format!("{machine}, parts placed by hand"));
    }
}

#[test]
fn tables_hashed_on_their_key_have_their_rows_together() {
    let mut session = open("four_sockets", 7);
    load(&mut session);
    for (table, key) in [("orders", "o_orderkey"), ("lineitem", "l_orderkey")] {
        let sql = format!("ALTER TABLE {table} PARTITION BY HASH ({key}) PARTITIONS 8");
        session.execute(&sql).unwrap();
    }
    let tables = session.database().tables();
    let named = |name: &str| tables.iter().find(|it| it.name == name).unwrap();
    let keys = |name: &str, part: usize| {
        let part = &named(name).parts()[part];
        let keys = (0..part.rows()).map(|row| part.columns[0].value(row).as_i128().unwrap());
        keys.collect::<std::collections::BTreeSet<i128>>()
    };
    for part in 0..8 {
        let (orders, lines) = (keys("orders", part), keys("lineitem", part));
        assert!(!lines.is_empty() && lines.is_subset(&orders), "part {part}");
        assert_eq!(named("orders").parts()[part].nodes(), named("lineitem").parts()[part].nodes());
    }
}
