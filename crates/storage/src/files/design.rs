//! How a table is cut and placed, and its rules, as records.

use hardware::{NodeId, Topology};
use placement::Placement;
use stdx::sync::Arc;
use types::numeric::interval_text::{Fields, Unit};
use types::numeric::number::Limits;
use types::{
    CheckRule, ColumnId, Deferral, DomainColumn, FieldsColumn, ForeignKey, Generated, Identity,
    IndexMethod, IndexOrder, ReferentialAction, RowRules, SqlResult,
};

use super::medium::damaged;
use super::record::Record;
use super::values::{read_value, value_record};
use crate::preference::Wish;
use crate::{
    ColumnSchema, IndexKind, Partitioning, PlaceTarget, Preference, Rules, TableDesign, TableIndex,
};

/// How a table is cut and placed.
pub(super) fn design_record(design: &TableDesign) -> Record {
    let TableDesign { partitioning, part_nodes, part_turns, preference } = design;
    let wishes = preference.wishes().iter().map(wish_record).collect();
    let record = Record::default()
        .record("partitioning", partitioning_record(partitioning))
        .words("part nodes", words_of(part_nodes));
    let record = match part_turns.is_empty() {
        true => record,
        false => record.words("part turns", part_turns.clone()),
    };
    record.record("base", placement_record(preference.base())).list("wishes", wishes)
}

/// The design of a record, for a table of some columns. Nodes that this machine does not have are left out, as a
/// folder may have come from another one.
pub(super) fn read_design(
    record: &mut Record,
    schema: &[ColumnSchema],
    topology: &Topology,
) -> SqlResult<TableDesign> {
    let partitioning = record.take_record("partitioning", read_partitioning)?;
    partitioning.check(schema).map_err(|it| damaged(it.message))?;
    let part_nodes = nodes_of(record.take_words("part nodes")?, topology)?;
    let part_turns = match record.has("part turns") {
        true => record.take_words("part turns")?,
        false => Vec::new(),
    };
    let base = record.take_record("base", |it| read_placement(it, topology))?;
    let wish = |it: &mut Record| read_wish(it, schema.len(), partitioning.parts(), topology);
    let preference = Preference::of(base, record.take_each("wishes", wish)?);
    Ok(TableDesign { partitioning, part_nodes, part_turns, preference })
}

fn words_of(nodes: &[NodeId]) -> Vec<u32> {
    nodes.iter().map(|it| u32::from(it.0)).collect()
}

fn nodes_of(words: Vec<u32>, topology: &Topology) -> SqlResult<Vec<NodeId>> {
    let node =
        |it: u32| u16::try_from(it).map(NodeId).map_err(|_| damaged("there is no such node"));
    let nodes = words.into_iter().map(node).collect::<SqlResult<Vec<NodeId>>>()?;
    let here = topology.memory_nodes();
    Ok(nodes.into_iter().filter(|it| here.contains(it)).collect())
}

fn columns_of(columns: &[ColumnId]) -> Vec<u32> {
    columns.iter().map(|it| u32::from(it.0)).collect()
}

/// The column of a number, which must be there.
pub(super) fn column_id(number: u32, columns: usize) -> SqlResult<ColumnId> {
    match u16::try_from(number) {
        Ok(it) if usize::from(it) < columns => Ok(ColumnId(it)),
        _ => Err(damaged(format!("there is no column number {number}"))),
    }
}

fn ids_of(words: Vec<u32>, columns: usize) -> SqlResult<Vec<ColumnId>> {
    words.into_iter().map(|it| column_id(it, columns)).collect()
}

fn partitioning_record(partitioning: &Partitioning) -> Record {
    let kind = |it: &str| Record::default().text("kind", it);
    match partitioning {
        Partitioning::None => kind("none"),
        Partitioning::Hash { columns, parts } => {
            kind("hash").words("columns", columns_of(columns)).count("parts", *parts)
        }
        Partitioning::Range { column, bounds } => kind("range")
            .words("columns", columns_of(&[*column]))
            .list("bounds", bounds.iter().map(value_record).collect()),
        Partitioning::RoundRobin { parts } => kind("round robin").count("parts", *parts),
    }
}

fn read_partitioning(record: &mut Record) -> SqlResult<Partitioning> {
    let kind = record.take_text("kind")?;
    let mut columns = || ids_of(record.take_words("columns")?, usize::from(u16::MAX));
    Ok(match &*kind {
        "none" => Partitioning::None,
        "hash" => Partitioning::Hash { columns: columns()?, parts: record.take_number("parts")? },
        "range" => match columns()?[..] {
            [column] => {
                Partitioning::Range { column, bounds: record.take_each("bounds", read_value)? }
            }
            _ => return Err(damaged("ranges are not of one column")),
        },
        "round robin" => Partitioning::RoundRobin { parts: record.take_number("parts")? },
        other => return Err(damaged(format!("\"{other}\" is no way to cut a table"))),
    })
}

fn placement_record(placement: &Placement) -> Record {
    Record::default().text("kind", placement.name()).words("nodes", words_of(placement.nodes()))
}

fn read_placement(record: &mut Record, topology: &Topology) -> SqlResult<Placement> {
    let kind = record.take_text("kind")?;
    let nodes = nodes_of(record.take_words("nodes")?, topology)?;
    Ok(match &*kind {
        "auto" => Placement::Auto,
        "rr" => Placement::RoundRobin(nodes),
        "ivp" => Placement::IndexVector(nodes),
        "pp" => Placement::Parts(nodes),
        "interleave" => Placement::Interleaved(nodes),
        "replicate" => Placement::Replicated(nodes),
        "os" => Placement::Os,
        other => return Err(damaged(format!("\"{other}\" is no placement"))),
    })
}

fn wish_record(wish: &Wish) -> Record {
    let record = Record::default()
        .record("placement", placement_record(&wish.placement))
        .number("deferred", wish.deferred);
    match &wish.target {
        PlaceTarget::Table => record.text("target", "table"),
        PlaceTarget::Column(it) => record.text("target", "column").number("number", it.0),
        PlaceTarget::Part(it) => record.text("target", "part").count("number", *it),
        PlaceTarget::Rows(it) => {
            record.text("target", "rows").number("start", it.start).number("end", it.end)
        }
    }
}

fn read_wish(
    record: &mut Record,
    columns: usize,
    parts: usize,
    topology: &Topology,
) -> SqlResult<Wish> {
    let target = match &*record.take_text("target")? {
        "table" => PlaceTarget::Table,
        "column" => PlaceTarget::Column(column_id(record.take_number("number")?, columns)?),
        "part" => match record.take_number("number")? {
            it if it < parts => PlaceTarget::Part(it),
            it => return Err(damaged(format!("there is no part {it}"))),
        },
        "rows" => {
            let rows = record.take_number("start")?..record.take_number("end")?;
            if rows.start > rows.end || rows.end > u64::from(u32::MAX) {
                return Err(damaged(format!("there are no rows {} to {}", rows.start, rows.end)));
            }
            PlaceTarget::Rows(rows)
        }
        other => return Err(damaged(format!("\"{other}\" cannot be placed"))),
    };
    let placement = record.take_record("placement", |it| read_placement(it, topology))?;
    Ok(Wish { target, placement, deferred: record.take_flag("deferred")? })
}

/// A key or an index; what few have is said of those alone.
fn index_record(index: &TableIndex) -> Record {
    let mut record = Record::default();
    if !index.included.is_empty() {
        record = record.words("included", columns_of(&index.included));
    }
    if !index.orders.is_empty() {
        let orders = index.orders.iter().map(|it| u32::from(it.bits()));
        record = record.words("orders", orders.collect());
    }
    for method in [IndexMethod::Inverted, IndexMethod::Hash] {
        if index.method == method {
            record = record.number(method.name(), true);
        }
    }
    record
        .text("name", &*index.name)
        .words("columns", columns_of(&index.columns))
        .text("kind", index.kind.name())
        .number("nulls equal", index.nulls_equal)
        .number("deferrable", index.deferral != Deferral::None)
        .number("deferred", index.deferral == Deferral::Deferred)
}

/// Keys, indexes, defaults and checks.
pub(super) fn rules_record(rules: &Rules) -> Record {
    let default = |(column, it): (usize, &Option<Arc<str>>)| {
        let sql = it.as_ref()?;
        Some(Record::default().count("column", column).text("sql", &**sql))
    };
    let check = |it: &CheckRule| {
        let record = Record::default().text("name", &*it.name).text("sql", &*it.condition);
        if it.is_validated { record } else { record.number("not valid", true) }
    };
    let identity =
        |it: &Identity| Record::default().number("column", it.column.0).number("always", it.always);
    let generated = |it: &Generated| {
        Record::default().number("column", it.column.0).number("stored", it.is_stored)
    };
    let domain = |it: &DomainColumn| {
        Record::default().number("column", it.column.0).text("name", &*it.domain)
    };
    let fields = |it: &FieldsColumn| {
        let record = Record::default().number("column", it.column.0);
        let record = match it.fields.range {
            Some((first, last)) => record.text("first", first.name()).text("last", last.name()),
            None => record,
        };
        let record = match it.fields.digits {
            Some(digits) => record.number("digits", digits),
            None => record,
        };
        match it.fields.number {
            Some(it) => record.number("precision", it.precision).number("scale", it.scale),
            None => record,
        }
    };
    let RowRules { defaults, checks, identities, generated: made, domains, fields: kept } =
        &*rules.rows;
    Record::default()
        .list("indexes", rules.indexes.iter().map(index_record).collect())
        .count("columns", defaults.len())
        .list("defaults", defaults.iter().enumerate().filter_map(default).collect())
        .list("checks", checks.iter().map(check).collect())
        .list("identities", identities.iter().map(identity).collect())
        .list("generated", made.iter().map(generated).collect())
        .list("domains", domains.iter().map(domain).collect())
        .list("fields", kept.iter().map(fields).collect())
        .list("references", rules.references.iter().map(reference_record).collect())
}

fn reference_record(key: &ForeignKey) -> Record {
    let column = |it: &Arc<str>| Record::default().text("name", &**it);
    Record::default()
        .text("name", &*key.name)
        .words("columns", columns_of(&key.columns))
        .text("parent", &*key.parent)
        .list("parent columns", key.parent_columns.iter().map(column).collect())
        .text("on delete", key.on_delete.name())
        .text("on update", key.on_update.name())
        .number("full", key.is_full)
        .number("deferrable", key.deferral != Deferral::None)
        .number("deferred", key.deferral == Deferral::Deferred)
        .number("not valid", !key.is_validated)
}

/// Until when a constraint may be broken; files of earlier versions do not say it of keys.
fn read_deferral(record: &mut Record) -> SqlResult<Deferral> {
    let deferrable = record.take_flag_if_there("deferrable")?;
    let deferred = record.take_flag_if_there("deferred")?;
    Ok(match (deferrable, deferred) {
        (_, true) => Deferral::Deferred,
        (true, false) => Deferral::Deferrable,
        (false, false) => Deferral::None,
    })
}

fn read_reference(record: &mut Record, columns: usize) -> SqlResult<ForeignKey> {
    let action = |name: String| {
        let found = ReferentialAction::named(&name);
        found.ok_or_else(|| damaged(format!("\"{name}\" is nothing that a foreign key does")))
    };
    let key = ForeignKey {
        name: record.take_text("name")?.into(),
        columns: ids_of(record.take_words("columns")?, columns)?,
        parent: record.take_text("parent")?.into(),
        parent_columns: record
            .take_each("parent columns", |it| Ok(it.take_text("name")?.into()))?,
        on_delete: action(record.take_text("on delete")?)?,
        on_update: action(record.take_text("on update")?)?,
        is_full: record.take_flag_if_there("full")?,
        deferral: read_deferral(record)?,
        is_validated: !record.take_flag_if_there("not valid")?,
    };
    match key.columns.len() == key.parent_columns.len() {
        true => Ok(key),
        false => Err(damaged("a foreign key has more columns on one side")),
    }
}

fn read_fields(record: &mut Record) -> SqlResult<Fields> {
    let unit = |name: String| {
        Unit::of_field(&name).ok_or_else(|| damaged(format!("an interval has no \"{name}\"")))
    };
    let range = match record.has("first") {
        true => Some((unit(record.take_text("first")?)?, unit(record.take_text("last")?)?)),
        false => None,
    };
    let digits = match record.has("digits") {
        true => Some(record.take_number("digits")?),
        false => None,
    };
    let number = match record.has("precision") {
        true => Some(Limits {
            precision: record.take_number("precision")?,
            scale: record.take_number("scale")?,
        }),
        false => None,
    };
    Ok(Fields { range, digits, number })
}

/// A key or an index of a table of so many columns; files of earlier versions do not say all of it.
fn read_index(record: &mut Record, columns: usize) -> SqlResult<TableIndex> {
    let name = record.take_text("name")?.into();
    let ids = ids_of(record.take_words("columns")?, columns)?;
    let kind = record.take_text("kind")?;
    let kinds =
        [IndexKind::PrimaryKey, IndexKind::UniqueKey, IndexKind::UniqueIndex, IndexKind::Index];
    let found = kinds.into_iter().find(|it| it.name() == kind);
    let kind = found.ok_or_else(|| damaged(format!("\"{kind}\" is no kind of index")))?;
    let nulls_equal = record.take_flag_if_there("nulls equal")?;
    let included = match record.has("included") {
        true => ids_of(record.take_words("included")?, columns)?,
        false => Vec::new(),
    };
    let order = |word: u32| {
        let found = u8::try_from(word).ok().and_then(IndexOrder::of_bits);
        found.ok_or_else(|| damaged(format!("{word} is no order of an index")))
    };
    let orders: Vec<IndexOrder> = match record.has("orders") {
        true => record.take_words("orders")?.into_iter().map(order).collect::<SqlResult<_>>()?,
        false => Vec::new(),
    };
    let mut method = IndexMethod::default();
    for it in [IndexMethod::Inverted, IndexMethod::Hash] {
        if record.take_flag_if_there(it.name())? {
            method = it;
        }
    }
    let deferral = read_deferral(record)?;
    let columns = ids;
    Ok(TableIndex { name, columns, kind, deferral, nulls_equal, included, orders, method })
}

/// The rules of a record, for a table of so many columns.
pub(super) fn read_rules(record: &mut Record, columns: usize) -> SqlResult<Rules> {
    let indexes = record.take_each("indexes", |it| read_index(it, columns))?;
    // None where nothing was ever asked, else one for each column.
    let known: usize = record.take_number("columns")?;
    if known > columns {
        return Err(damaged("there are defaults of columns that there are not"));
    }
    let mut defaults: Vec<Option<Arc<str>>> = vec![None; known];
    let named = record.take_each("defaults", |it| {
        let column = column_id(it.take_number("column")?, known)?;
        Ok((column, it.take_text("sql")?))
    })?;
    for (column, sql) in named {
        defaults[column.index()] = Some(sql.into());
    }
    let checks = record.take_each("checks", |it| {
        let (name, condition) = (it.take_text("name")?.into(), it.take_text("sql")?.into());
        let is_validated = !it.take_flag_if_there("not valid")?;
        Ok(CheckRule { name, condition, is_validated })
    })?;
    let identities = record.take_each("identities", |it| {
        let column = column_id(it.take_number("column")?, columns)?;
        Ok(Identity { column, always: it.take_flag("always")? })
    })?;
    // Files of earlier versions have none.
    let generated = match record.has("generated") {
        true => record.take_each("generated", |it| {
            let column = column_id(it.take_number("column")?, columns)?;
            Ok(Generated { column, is_stored: it.take_flag("stored")? })
        })?,
        false => Vec::new(),
    };
    let domains = match record.has("domains") {
        true => record.take_each("domains", |it| {
            let column = column_id(it.take_number("column")?, columns)?;
            Ok(DomainColumn { column, domain: it.take_text("name")?.into() })
        })?,
        false => Vec::new(),
    };
    let fields = match record.has("fields") {
        true => record.take_each("fields", |it| {
            let column = column_id(it.take_number("column")?, columns)?;
            Ok(FieldsColumn { column, fields: read_fields(it)? })
        })?,
        false => Vec::new(),
    };
    let references = record.take_each("references", |it| read_reference(it, columns))?;
    let rows = Arc::new(RowRules { defaults, checks, identities, generated, domains, fields });
    Ok(Rules { indexes, rows, references, ..Rules::default() })
}
