//! Moves that fail or are stopped at every point: the data stays whole, and the maps stay true.

use std::ptr::NonNull;

use hardware::{
    Machine, MachineError, Mapping, NodeId, NodeMemory, PagePolicy, Restriction, Topology,
    WorkerSpec, WorkerTeam, samples,
};
use nodewise::text::Cells;
use nodewise::{CancelHandle, Database, DatabaseOptions, Session};
use simulator::SimulatedMachine;
use stdx::sync::atomic::{AtomicI64, Ordering};
use stdx::sync::{Arc, Mutex};
use stdx::{Bytes, Nanos};

/// What happens when a countdown of calls that map or move pages ends.
#[derive(Clone)]
enum Fault {
    /// The call fails.
    Refused,
    /// Somebody cancels the statement.
    Cancelled(CancelHandle),
}

/// A modelled machine whose memory calls go wrong when they are told to.
struct FaultyMachine {
    inner: Arc<dyn Machine>,
    calls_left: AtomicI64,
    fault: Mutex<Option<Fault>>,
    /// A node that says that it has little memory left.
    full: Mutex<Option<NodeId>>,
}

impl FaultyMachine {
    fn arm(&self, calls: i64, fault: Fault) {
        *self.fault.lock() = Some(fault);
        self.calls_left.store(calls, Ordering::Relaxed);
    }

    /// Whether the fault came.
    fn disarm(&self) -> bool {
        *self.fault.lock() = None;
        self.calls_left.swap(i64::MAX, Ordering::Relaxed) < 0
    }

    fn check(&self) -> Result<(), MachineError> {
        if self.calls_left.fetch_sub(1, Ordering::Relaxed) > 0 {
            return Ok(());
        }
        match &*self.fault.lock() {
            Some(Fault::Refused) => {
                Err(MachineError::Os { call: "place", message: "as the test wants it".into() })
            }
            Some(Fault::Cancelled(handle)) => {
                handle.cancel();
                Ok(())
            }
            None => Ok(()),
        }
    }
}

impl Machine for FaultyMachine {
    fn topology(&self) -> &Topology {
        self.inner.topology()
    }
    fn now(&self) -> Nanos {
        self.inner.now()
    }
    fn sleep(&self, span: Nanos) {
        self.inner.sleep(span);
    }
    fn page_bytes(&self) -> usize {
        self.inner.page_bytes()
    }
    fn map(&self, bytes: usize, policy: &PagePolicy) -> Result<Mapping, MachineError> {
        self.check()?;
        self.inner.map(bytes, policy)
    }
    fn unmap(&self, mapping: Mapping) {
        self.inner.unmap(mapping);
    }
    fn place(
        &self,
        base: NonNull<u8>,
        bytes: usize,
        policy: &PagePolicy,
    ) -> Result<(), MachineError> {
        self.check()?;
        self.inner.place(base, bytes, policy)
    }
    fn locate(&self, base: NonNull<u8>, pages: usize) -> Result<Vec<Option<NodeId>>, MachineError> {
        self.inner.locate(base, pages)
    }
    fn start(&self, workers: Vec<WorkerSpec>) -> Result<Arc<dyn WorkerTeam>, MachineError> {
        self.inner.start(workers)
    }
    fn restrictions(&self) -> Vec<Restriction> {
        self.inner.restrictions()
    }
    fn resident_bytes(&self) -> (Bytes, Bytes) {
        self.inner.resident_bytes()
    }
    fn available_bytes(&self) -> Bytes {
        self.inner.available_bytes()
    }
    fn node_memory(&self, node: NodeId) -> Option<NodeMemory> {
        let memory = self.inner.node_memory(node)?;
        match *self.full.lock() == Some(node) {
            true => Some(NodeMemory { free: Bytes(4096), available: Bytes(4096), ..memory }),
            false => Some(memory),
        }
    }
}

fn text(session: &mut Session, sql: &str) -> String {
    let answer = session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let mut text = String::new();
    for batch in &answer.batches {
        for row in 0..batch.num_rows() {
            for column in batch.columns() {
                text += &Cells::new(column).text(row).unwrap_or_else(|| "NULL".into());
                text.push(' ');
            }
        }
    }
    text
}

/// All rows are there, and no page is elsewhere than its map says.
fn whole(session: &mut Session, context: &str) {
    let sums = text(session, "SELECT count(*), sum(k), count(DISTINCT name), max(name) FROM t");
    assert_eq!(sums, "40000 799980000 200 n99 ", "{context}");
    let answer = session.query("CALL nodewise.verify_placement('t')").expect("it can be asked");
    for batch in &answer.batches {
        let wrong = Cells::new(batch.column(7));
        for row in 0..batch.num_rows() {
            assert_eq!(wrong.text(row).as_deref(), Some("0"), "{context}, row {row}");
        }
    }
}

/// A session on a machine that can be made to fail, with a table of 40,000 rows.
fn filled() -> (Arc<FaultyMachine>, Session) {
    let machine = Arc::new(FaultyMachine {
        inner: SimulatedMachine::new(samples::four_sockets(), 11),
        calls_left: AtomicI64::new(i64::MAX),
        fault: Mutex::new(None),
        full: Mutex::new(None),
    });
    let opened = Database::open(machine.clone(), DatabaseOptions::default());
    let mut session = opened.expect("the database opens").session();
    session
        .execute(
            "CREATE TABLE two_hundred AS SELECT a.x + 10 * b.x + 100 * c.x AS x FROM \
             (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS a (x), \
             (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS b (x), \
             (VALUES (0), (1)) AS c (x);
             CREATE TABLE t AS SELECT a.x + 200 * b.x AS k, 'n' || a.x AS name \
             FROM two_hundred a, two_hundred b",
        )
        .expect("the table is filled");
    (machine, session)
}

#[test]
fn a_full_node_is_named_and_nothing_moves() {
    let (machine, mut session) = filled();
    session.execute("ALTER TABLE t NUMA NODE (0)").expect("there is room");
    *machine.full.lock() = Some(NodeId(2));
    for nodes in ["(2)", "(1, 2)", "INTERLEAVE"] {
        let sql = format!("ALTER TABLE t NUMA NODE {nodes}");
        let error = session.execute(&sql).expect_err(&sql);
        assert_eq!(error.state.0, "53200", "{error}");
        assert!(error.message.contains("node 2 has 4.0 KiB free"), "{error}");
        assert!(error.hint.as_deref().is_some_and(|it| it.contains("node 1: ")), "{error}");
        whole(&mut session, &sql);
        let nodes = "SELECT DISTINCT node FROM nodewise.column_placement WHERE table_name = 't'";
        assert_eq!(text(&mut session, nodes), "0 ");
    }
    *machine.full.lock() = None;
    session.execute("ALTER TABLE t NUMA NODE (2)").expect("there is room again");
}

#[test]
fn a_move_that_ends_early_leaves_the_table_whole() {
    let (machine, mut session) = filled();
    let handle = session.cancel_handle();
    let moves = [
        "ALTER TABLE t NUMA NODE (3)",
        "ALTER TABLE t NUMA NODE INTERLEAVE (0, 2)",
        "ALTER TABLE t PARTITION BY HASH (k) PARTITIONS 4",
        "ALTER TABLE t NUMA NODE REPLICATE",
        "ALTER TABLE t MERGE PARTITIONS",
        "ALTER TABLE t PARTITION BY RANGE (k) (PARTITION VALUES < 10000, PARTITION OTHERS)",
        "ALTER TABLE t SPLIT PARTITION AT (20000)",
    ];
    let (mut failed, mut cancelled) = (0, 0);
    for sql in moves {
        for fault in [Fault::Refused, Fault::Cancelled(handle.clone())] {
            let one = "ALTER TABLE t MERGE PARTITIONS; ALTER TABLE t NUMA NODE (0)";
            session.execute(one).expect("the table goes back to one node");
            if sql.contains("SPLIT") {
                let two = "ALTER TABLE t PARTITION BY RANGE (k) \
                           (PARTITION VALUES < 10000, PARTITION OTHERS)";
                session.execute(two).expect("the table is cut");
            }
            let mut calls = 0;
            loop {
                machine.arm(calls, fault.clone());
                let result = session.execute(sql);
                let came = machine.disarm();
                let context = format!("{sql}, after {calls} calls");
                whole(&mut session, &context);
                match result {
                    Ok(_) => {
                        // What was cancelled too late is done.
                        if !came || calls > 200 {
                            break;
                        }
                    }
                    Err(error) => {
                        assert!(came, "{context}: {error}");
                        match error.state.0 {
                            "57014" => cancelled += 1,
                            _ => failed += 1,
                        }
                    }
                }
                calls += 1 + calls / 2;
            }
        }
    }
    assert!(failed > 0 && cancelled > 0, "{failed} failed, {cancelled} were cancelled");
}

#[test]
fn a_view_that_cannot_be_made_ends_its_statement_and_nothing_else() {
    let statements = [
        "SELECT count(*) FROM nodewise.columns",
        "EXPLAIN SELECT table_name FROM nodewise.columns",
        "CREATE TABLE copy AS SELECT table_name FROM nodewise.columns",
        "SELECT count(*) FROM nodewise.columns c, nodewise.page_ranges r, t",
    ];
    for sql in statements {
        let (machine, mut session) = filled();
        let (mut calls, mut failed) = (0, 0);
        loop {
            machine.arm(calls, Fault::Refused);
            let result = session.query(sql);
            let came = machine.disarm();
            let context = format!("{sql}, after {calls} calls");
            whole(&mut session, &context);
            let Err(error) = result else {
                assert!(!came, "{context}: the view is whole or an error");
                break;
            };
            assert!(came, "{context}: {error}");
            // The view is known: its failure is no missing table.
            assert_eq!(error.state.0, "XX000", "{context}: {error}");
            assert!(error.message.contains("as the test wants it"), "{context}: {error}");
            let copies = "SELECT count(*) FROM nodewise.tables WHERE table_name = 'copy'";
            assert_eq!(text(&mut session, copies), "0 ", "{context}");
            failed += 1;
            calls += 1;
        }
        assert!(failed > 0, "{sql} takes memory");
    }
}
