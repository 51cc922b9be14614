//! A database in this process, and what the kernel says of its tables.

use std::path::Path;

use nodewise::text::Cells;
use nodewise::{Answer, Database, DatabaseOptions, Session};
use stdx::sync::Arc;

use memory::Segment;

use crate::checks::{Verdict, same, wrong};
use crate::kernel_view::KernelView;

/// Where the lab puts the TPC-H data of scale 0.01.
pub const DATA: &str = "/lab/tpch-0.01";

/// An empty database on this machine.
pub fn database() -> Result<Arc<Database>, String> {
    Database::open(hardware_linux::open(), DatabaseOptions::default()).map_err(wrong)
}

/// Loads the eight tables of TPC-H.
pub fn load(session: &mut Session) -> Verdict {
    bench::tpch::load(session, Path::new(DATA)).map(|_| ()).map_err(wrong)
}

/// Executes one statement.
pub fn execute(session: &mut Session, sql: &str) -> Result<Answer, String> {
    session.query(sql).map_err(|error| format!("{sql}: {error}"))
}

/// The rows of a query as text.
pub fn rows(session: &mut Session, sql: &str) -> Result<Vec<String>, String> {
    let answer = execute(session, sql)?;
    let mut rows = Vec::new();
    for batch in &answer.batches {
        let columns: Vec<Cells> = batch.columns().iter().map(Cells::new).collect();
        for row in 0..batch.num_rows() {
            let cells: Vec<String> =
                columns.iter().map(|it| it.text(row).unwrap_or_else(|| "NULL".into())).collect();
            rows.push(cells.join("|"));
        }
    }
    Ok(rows)
}

/// All pages of all tables are where we say: by the procedure that users have, and by the kernel's page table, page by page.
/// Gives back how many pages that were.
pub fn verify(database: &Arc<Database>, kernel: &KernelView) -> Result<usize, String> {
    let mut session = database.session();
    let answer = execute(&mut session, "CALL nodewise.verify_placement()")?;
    for batch in &answer.batches {
        let wrong_pages = batch.column_by_name("wrong").map(Cells::new);
        let wrong_pages = wrong_pages.ok_or("verify_placement has no column wrong")?;
        for row in 0..batch.num_rows() {
            if wrong_pages.text(row).as_deref() != Some("0") {
                let cells = batch.columns().iter().map(|it| Cells::new(it).text(row));
                let cells: Vec<String> = cells.map(|it| it.unwrap_or_default()).collect();
                return Err(format!("verify_placement: {}", cells.join("|")));
            }
        }
    }
    let mut pages = 0;
    for table in database.tables() {
        for component in table.components() {
            let (segment, map) = (component.segment, component.segment.page_map());
            if segment.bytes() == 0 {
                continue;
            }
            let page = map.page_bytes();
            let start = segment.as_bytes().as_ptr().addr() / page;
            let end = (segment.as_bytes().as_ptr().addr() + segment.bytes()).div_ceil(page);
            let found = kernel.nodes(start * page, end - start, page)?;
            for (at, found) in found.into_iter().enumerate() {
                let ours = map.node_of((start + at) * page);
                let what = || {
                    let column = &table.column(component.column).name;
                    format!(
                        "{}.{column} {} page {at} of {}",
                        table.name,
                        component.name,
                        end - start
                    )
                };
                // A page that nobody has touched has no memory yet.
                if found.is_some() && ours != found {
                    same(what(), ours, found)?;
                }
            }
            pages += end - start;
        }
    }
    Ok(pages)
}

/// Pages per node of each part's components that have pages of their own, by the kernel.
pub fn pages_of_parts(
    database: &Arc<Database>,
    kernel: &KernelView,
) -> Result<Vec<(usize, Vec<usize>)>, String> {
    let mut parts = Vec::new();
    for table in database.tables() {
        for component in table.components() {
            if let Some(part) = component.part
                && component.segment.bytes() > 0
            {
                parts.push((part, pages_per_node(component.segment, kernel)?));
            }
        }
    }
    if parts.is_empty() { Err("no table has parts".to_owned()) } else { Ok(parts) }
}

/// Pages per node of each component of at least some pages, by the kernel.
pub fn pages_of_columns(
    database: &Arc<Database>,
    kernel: &KernelView,
    least: usize,
) -> Result<Vec<(String, Vec<usize>)>, String> {
    let mut columns = Vec::new();
    for table in database.tables() {
        for component in table.components() {
            let segment = component.segment;
            if segment.bytes() >= least * segment.page_map().page_bytes() {
                let name = format!("{} {}", table.column(component.column).name, component.name);
                columns.push((name, pages_per_node(segment, kernel)?));
            }
        }
    }
    if columns.is_empty() { Err(format!("no column has {least} pages")) } else { Ok(columns) }
}

fn pages_per_node(segment: &Segment, kernel: &KernelView) -> Result<Vec<usize>, String> {
    let page = segment.page_map().page_bytes();
    let start = segment.as_bytes().as_ptr().addr() / page;
    let end = (segment.as_bytes().as_ptr().addr() + segment.bytes()).div_ceil(page);
    let mut nodes = Vec::new();
    for node in kernel.nodes(start * page, end - start, page)?.into_iter().flatten() {
        nodes.resize(nodes.len().max(node.index() + 1), 0);
        nodes[node.index()] += 1;
    }
    Ok(nodes)
}
