//! After each statement that places something, every page is where we say, and every answer is what it was.
//!
//! The statements are the scripts of `tests/lab`. Statements end with a semicolon at the end of a line. Lines
//! `-- query: SELECT ..` name the queries whose answers must not change from there on.

use std::path::{Path, PathBuf};

use lab::topology::GuestMachine;
use nodewise::Database;
use stdx::sync::Arc;

use crate::checks::{Checks, Verdict, same, wrong};
use crate::clients::{Expected, with_load};
use crate::kernel_view::KernelView;
use crate::tables;

const SCRIPTS: &str = "/lab/lab";
const CLIENTS: usize = 4;
/// Moves of a column under load.
const MOVES: usize = 8;

const LINEITEM_QUERIES: [&str; 2] = [
    "SELECT sum(l_extendedprice * l_discount), count(*) FROM lineitem WHERE l_shipdate >= DATE '1994-01-01' \
     AND l_shipdate < DATE '1995-01-01' AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24",
    "SELECT l_returnflag, count(*), sum(l_orderkey), min(l_shipdate), max(l_shipdate) FROM lineitem \
     GROUP BY l_returnflag ORDER BY l_returnflag",
];

/// Runs the suite.
pub fn run(checks: &mut Checks, machine: &GuestMachine) {
    let scripts = match scripts() {
        Ok(scripts) => scripts,
        Err(message) => return checks.run("placement::scripts", || Err(message)),
    };
    for script in scripts {
        let name = script.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        checks.run(&format!("placement::{name}_under_four_clients"), || run_script(&script));
    }
    let nodes = machine.nodes.len();
    checks.run("placement::a_column_moves_under_four_clients", || moving_column(nodes));
    checks.run("placement::the_kernel_has_what_was_demanded", || demands(nodes));
}

fn scripts() -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(SCRIPTS).map_err(|error| format!("{SCRIPTS}: {error}"))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|it| Some(it.ok()?.path())).collect();
    paths.retain(|it| it.extension().is_some_and(|it| it == "sql"));
    paths.sort();
    if paths.is_empty() { Err(format!("{SCRIPTS} has no scripts")) } else { Ok(paths) }
}

/// What a script says.
#[derive(Default, PartialEq, Eq, Debug)]
struct Script {
    /// Statements before the first query is named.
    setup: Vec<String>,
    queries: Vec<String>,
    changes: Vec<String>,
}

fn parse(text: &str) -> Script {
    let (mut script, mut statement) = (Script::default(), String::new());
    for line in text.lines() {
        if let Some(query) = line.strip_prefix("-- query:") {
            script.queries.push(query.trim().to_owned());
        } else if !line.starts_with("--") && !line.trim().is_empty() {
            statement.push_str(line);
            statement.push('\n');
            if line.trim_end().ends_with(';') {
                let list = match script.queries.is_empty() {
                    true => &mut script.setup,
                    false => &mut script.changes,
                };
                list.push(std::mem::take(&mut statement));
            }
        }
    }
    script
}

fn run_script(path: &Path) -> Verdict {
    let script = parse(&std::fs::read_to_string(path).map_err(wrong)?);
    let (kernel, database) = (KernelView::open()?, tables::database()?);
    let mut session = database.session();
    for statement in &script.setup {
        tables::execute(&mut session, statement)?;
        checked(&database, &kernel, statement)?;
    }
    if script.queries.is_empty() || script.changes.is_empty() {
        return Err("the script names no queries or changes nothing".to_owned());
    }
    let expected = Expected::of(&mut session, &script.queries)?;
    with_load(&database, &expected, CLIENTS, || {
        for statement in &script.changes {
            tables::execute(&mut session, statement)?;
            checked(&database, &kernel, statement)?;
            expected.check(&mut session).map_err(|it| format!("after {statement}{it}"))?;
        }
        Ok(())
    })
}

fn checked(database: &Arc<Database>, kernel: &KernelView, statement: &str) -> Verdict {
    match tables::verify(database, kernel) {
        Ok(0) if !database.tables().is_empty() => {
            Err(format!("after {statement}no page was checked"))
        }
        Ok(_) => Ok(()),
        Err(message) => Err(format!("after {statement}{message}")),
    }
}

fn moving_column(nodes: usize) -> Verdict {
    let (kernel, database) = (KernelView::open()?, tables::database()?);
    let mut session = database.session();
    tables::load(&mut session)?;
    let queries = LINEITEM_QUERIES.map(str::to_owned);
    let expected = Expected::of(&mut session, &queries)?;
    with_load(&database, &expected, CLIENTS, || {
        for step in 0..MOVES {
            let node = step % nodes;
            let sql = format!("ALTER TABLE lineitem ALTER COLUMN l_shipdate NUMA NODE ({node});\n");
            tables::execute(&mut session, &sql)?;
            checked(&database, &kernel, &sql)?;
            let found = tables::rows(
                &mut session,
                "SELECT DISTINCT node FROM nodewise.column_placement \
                 WHERE table_name = 'lineitem' AND column_name = 'l_shipdate'",
            )?;
            if found != [node.to_string()] {
                return Err(format!("after {sql}the column is on nodes {found:?}"));
            }
        }
        Ok(())
    })
}

/// Demands against the kernel's view, without the database's own: a node for each part whatever was demanded before, and
/// even deals of what is small.
fn demands(nodes: usize) -> Verdict {
    let (kernel, database) = (KernelView::open()?, tables::database()?);
    let mut session = database.session();
    for statement in [
        "SET default_placement = os",
        "CREATE TABLE t AS SELECT l_orderkey AS k, l_linenumber AS small, l_shipdate AS day, \
         l_extendedprice AS price, l_comment AS remark FROM '/lab/tpch-0.01/lineitem.parquet'",
    ] {
        tables::execute(&mut session, statement)?;
    }
    let last = nodes - 1;
    for before in ["(0)", "SPLIT", "INTERLEAVE", "ROUNDROBIN"] {
        let placed = format!("ALTER TABLE t NUMA NODE {before}");
        tables::execute(&mut session, &placed)?;
        let cut = format!(
            "ALTER TABLE t PARTITION BY HASH (k) PARTITIONS {nodes} NUMA NODE (0 TO {last})"
        );
        tables::execute(&mut session, &cut)?;
        for (part, found) in tables::pages_of_parts(&database, &kernel)? {
            let home = found.get(part % nodes).copied().unwrap_or(0);
            let all: usize = found.iter().sum();
            same(
                format!("pages of part {part} on its node, after {placed}: {found:?}"),
                home,
                all,
            )?;
        }
        tables::execute(&mut session, "ALTER TABLE t MERGE PARTITIONS")?;
    }
    tables::execute(&mut session, "ALTER TABLE t NUMA NODE INTERLEAVE")?;
    for (name, found) in tables::pages_of_columns(&database, &kernel, 4 * nodes)? {
        let (least, most) = (found.iter().min().unwrap_or(&0), found.iter().max().unwrap_or(&0));
        let even = *most <= least + 1 || *most * 4 <= *least * 5;
        same(format!("{name} is dealt evenly: {found:?}"), even && found.len() == nodes, true)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_has_three_parts() {
        let script = parse(
            "-- What it is.\nCREATE TABLE t AS\n  SELECT 1;\n\n-- query: SELECT 1\n-- query: SELECT 2\nA;\nB\n;\n",
        );
        assert_eq!(script.setup, ["CREATE TABLE t AS\n  SELECT 1;\n"]);
        assert_eq!(script.queries, ["SELECT 1", "SELECT 2"]);
        assert_eq!(script.changes, ["A;\n", "B\n;\n"]);
        assert_eq!(parse(""), Script::default());
    }
}
