//! From clauses as they are written to nodes, parts and values of this machine and table.

use binder::{
    DesignClause, NodeDemand, NodeRange, NodeWay, ParsedQuery, PartitionClause, Statement,
};
use hardware::{NodeId, Topology};
use storage::{ColumnSchema, Partitioning, PlaceTarget, Placement, TableDesign};
use types::{ColumnId, SqlError, SqlResult, SqlState, Value};

use crate::{CancelToken, Session};

impl Session {
    /// How a new table shall be: as its statement says, else as the session is set.
    pub(crate) fn design_of(
        &self,
        clause: &DesignClause,
        table: &str,
        schema: &[ColumnSchema],
        cancel: &CancelToken,
    ) -> SqlResult<TableDesign> {
        let topology = self.database.machine.topology();
        let mut design = default_design(&self.settings.default_placement);
        if let Some(partition) = &clause.partition {
            design.partitioning = self.partitioning(partition, schema, cancel)?;
        }
        if let Some(nodes) = &clause.nodes {
            // Who names nodes does not want the default.
            design.preference = TableDesign::default().preference;
            match &nodes.demand {
                NodeDemand::On { way: NodeWay::Fitting | NodeWay::RoundRobin, nodes }
                    if clause.partition.is_some() =>
                {
                    design.part_nodes = nodes_of(nodes, topology)?;
                }
                demand => {
                    let placement = placement_of(demand, clause.partition.is_some(), topology)?;
                    design.preference =
                        design.preference.with(PlaceTarget::Table, placement, false);
                }
            }
        }
        for (name, nodes) in &clause.columns {
            let column = column_among(schema, name).ok_or_else(|| no_such_column(table, name))?;
            let placement = placement_of(&nodes.demand, false, topology)?;
            design.preference =
                design.preference.with(PlaceTarget::Column(column), placement, false);
        }
        Ok(design)
    }

    /// How rows of these columns are cut.
    pub(crate) fn partitioning(
        &self,
        clause: &PartitionClause,
        schema: &[ColumnSchema],
        cancel: &CancelToken,
    ) -> SqlResult<Partitioning> {
        let column = |name: &String| {
            column_among(schema, name).ok_or_else(|| {
                let message = format!("there is no column \"{name}\" to partition by");
                SqlError::new(SqlState::UNDEFINED_COLUMN, message)
            })
        };
        let parts = |parts: u64| usize::try_from(parts).unwrap_or(usize::MAX);
        let partitioning = match clause {
            PartitionClause::Hash { columns, parts: count } => Partitioning::Hash {
                columns: columns.iter().map(column).collect::<SqlResult<_>>()?,
                parts: parts(*count),
            },
            PartitionClause::RoundRobin { parts: count } => {
                Partitioning::RoundRobin { parts: parts(*count) }
            }
            PartitionClause::Range { column: name, bounds } => {
                let column = column(name)?;
                let bounds = self.constants(bounds, &schema[column.index()], cancel)?;
                Partitioning::Range { column, bounds }
            }
        };
        partitioning.check(schema)?;
        Ok(partitioning)
    }

    /// The values of constant expressions as values of a column.
    pub(crate) fn constants(
        &self,
        texts: &[String],
        column: &ColumnSchema,
        cancel: &CancelToken,
    ) -> SqlResult<Vec<Value>> {
        let rows: Vec<String> =
            texts.iter().map(|it| format!("(CAST({it} AS {}))", column.data_type)).collect();
        let query = self.parsed_query(&format!("VALUES {}", rows.join(", ")))?;
        let batches = self.rows_of_query(&query, cancel)?;
        let mut values = Vec::with_capacity(texts.len());
        for batch in &batches {
            let table = self.table_of("bounds", batch)?;
            let all = (0..table.rows()).map(|row| table.value(ColumnId(0), row));
            values.extend(all);
        }
        match values.iter().any(Value::is_null) || values.len() != texts.len() {
            true => Err(SqlError::new(
                SqlState::INVALID_PARAMETER,
                format!("a part of ranges of column \"{}\" cannot begin at NULL", column.name),
            )),
            false => Ok(values),
        }
    }

    fn parsed_query(&self, sql: &str) -> SqlResult<ParsedQuery> {
        match binder::parse::parse(sql)?.pop() {
            Some(Statement::Query { query }) => Ok(query),
            _ => Err(SqlError::internal("values are no query")),
        }
    }
}

/// How a session wants new tables to be, when their statement says nothing.
pub(crate) fn default_design(placement: &Placement) -> TableDesign {
    TableDesign::placed(placement.clone())
}

/// The nodes that some ranges name, each once, in order.
pub(crate) fn nodes_of(ranges: &[NodeRange], topology: &Topology) -> SqlResult<Vec<NodeId>> {
    let known = topology.memory_nodes();
    let mut nodes = Vec::new();
    for range in ranges {
        for number in range.first..=range.last {
            let found = known.iter().find(|it| u64::from(it.0) == number);
            let &node = found.ok_or_else(|| no_such_node(number, topology))?;
            if !nodes.contains(&node) {
                nodes.push(node);
            }
        }
    }
    Ok(nodes)
}

fn no_such_node(number: u64, topology: &Topology) -> SqlError {
    let known: Vec<String> = topology.memory_nodes().iter().map(ToString::to_string).collect();
    let there = topology.nodes.iter().find(|it| u64::from(it.id.0) == number);
    let message = match there {
        None => format!("there is no NUMA node {number}"),
        Some(it) if it.memory_total.0 == 0 => format!("NUMA node {number} has no memory"),
        Some(_) => format!("this process may not take memory from NUMA node {number}"),
    };
    SqlError::new(SqlState::INVALID_PARAMETER, message)
        .with_hint(format!("the nodes with memory are {}", known.join(", ")))
}

/// The placement that a clause demands. `parts`: of a table with parts, whose parts are dealt where nothing else is
/// said.
pub(crate) fn placement_of(
    demand: &NodeDemand,
    parts: bool,
    topology: &Topology,
) -> SqlResult<Placement> {
    let NodeDemand::On { way, nodes } = demand else { return Ok(Placement::Auto) };
    let nodes = nodes_of(nodes, topology)?;
    Ok(match way {
        NodeWay::Fitting if parts => Placement::RoundRobin(nodes),
        NodeWay::Fitting | NodeWay::Split => Placement::IndexVector(nodes),
        NodeWay::Interleave => Placement::Interleaved(nodes),
        NodeWay::RoundRobin => Placement::RoundRobin(nodes),
        NodeWay::Replicate => Placement::Replicated(nodes),
    })
}

pub(crate) fn column_among(schema: &[ColumnSchema], name: &str) -> Option<ColumnId> {
    let place = schema.iter().position(|it| it.name.eq_ignore_ascii_case(name))?;
    u16::try_from(place).ok().map(ColumnId)
}

pub(crate) fn no_such_column(table: &str, name: &str) -> SqlError {
    let message = format!("table \"{table}\" has no column \"{name}\"");
    SqlError::new(SqlState::UNDEFINED_COLUMN, message)
}
