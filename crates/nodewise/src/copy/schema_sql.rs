//! Tables, sequences and views as the SQL that makes them again.

use binder::sequence_names::as_kept;
use hardware::NodeId;
use stdx::sync::Arc;
use storage::{
    CatalogSnapshot, FUNCTION_COMMENT, IndexKind, Partitioning, PlaceTarget, Placement, Sequence,
    Table,
};
use types::{
    CheckRule, ColumnId, DataType, DomainCheck, Extension, ForeignKey, MacroDefinition, MacroForm,
    MacroParameter, SequenceDefinition, SequenceOwner, SequencePosition, UserType, Value,
    ViewDefinition, names,
};

use crate::constraints::quoted;
use crate::index_text::{nulls_clause, sql_of, using_clause};
use crate::sql_names::sql_name;

/// CREATE SCHEMA of all that outlast their sessions, and CREATE EXTENSION.
pub(super) fn create_schemas(snapshot: &CatalogSnapshot) -> String {
    let lasting = snapshot.schemas().filter(|it| !it.starts_with("pg_"));
    let schemas: String = lasting.map(|it| format!("CREATE SCHEMA {};\n", quoted(it))).collect();
    let extension = |it: &Arc<Extension>| {
        let (name, schema) = (quoted(&it.name), quoted(&it.schema));
        format!("CREATE EXTENSION {name} WITH SCHEMA {schema};\n")
    };
    schemas + &snapshot.extensions().map(extension).collect::<String>()
}

/// CREATE MACRO and CREATE FUNCTION of all.
pub(super) fn macros(snapshot: &CatalogSnapshot) -> String {
    let parameter = |it: &MacroParameter| match &it.default {
        Some(value) => format!("{} := {value}", quoted(&it.name)),
        None => quoted(&it.name),
    };
    let macro_of = |it: &MacroDefinition| {
        let table = if it.is_table { "TABLE " } else { "" };
        let form = |form: &MacroForm| {
            let parameters: Vec<String> = form.parameters.iter().map(parameter).collect();
            format!("({}) AS {table}{}", parameters.join(", "), form.body)
        };
        let forms: Vec<String> = it.forms.iter().map(form).collect();
        format!("CREATE MACRO {}{};\n", sql_name(&it.name), forms.join(", "))
    };
    let lasting = snapshot.macros().filter(|it| !names::is_temporary(&it.name));
    let each = lasting.map(|it| match it.is_function() {
        true => it.forms.iter().map(|form| function(it, form)).collect(),
        false => macro_of(it),
    });
    each.collect()
}

fn function(definition: &MacroDefinition, form: &MacroForm) -> String {
    let Some(own) = &form.function else { return String::new() };
    let parameter = |(it, data_type): (&MacroParameter, &String)| {
        let name = if it.name.starts_with('$') { String::new() } else { quoted(&it.name) };
        let default = it.default.as_ref().map(|it| format!(" DEFAULT {it}")).unwrap_or_default();
        format!("{name} {data_type}{default}")
    };
    let parameters: Vec<String> = form.parameters.iter().zip(&own.types).map(parameter).collect();
    let columns =
        own.returns.iter().map(|(name, data_type)| format!("{} {data_type}", quoted(name)));
    let returns = match (definition.is_table, &own.returns[..]) {
        (false, [(_, data_type)]) => data_type.clone(),
        (true, []) => "SETOF RECORD".to_owned(),
        _ => format!("TABLE ({})", columns.collect::<Vec<_>>().join(", ")),
    };
    let strict = if own.is_strict { " STRICT" } else { "" };
    let (name, parameters) = (sql_name(&definition.name), parameters.join(", "));
    let body = form.body.replace('\'', "''");
    format!(
        "CREATE FUNCTION {name} ({parameters}) RETURNS {returns} LANGUAGE sql{strict} AS '{body}';\n"
    )
}

/// CREATE TYPE of all types that users made.
pub(super) fn create_types(snapshot: &CatalogSnapshot) -> String {
    let create = |it: &Arc<UserType>| match it.data_type {
        DataType::Enum(labels) => {
            let labels = labels.labels().iter().map(|it| format!("'{}'", it.replace('\'', "''")));
            let labels: Vec<String> = labels.collect();
            format!("CREATE TYPE {} AS ENUM ({});\n", sql_name(&it.name), labels.join(", "))
        }
        DataType::Struct(row) if row.name() == it.name => {
            let columns = row.fields().iter();
            let columns =
                columns.map(|it| format!("{} {}", quoted(&it.name), type_sql(it.data_type)));
            let columns: Vec<String> = columns.collect();
            format!("CREATE TYPE {} AS ({});\n", sql_name(&it.name), columns.join(", "))
        }
        other => format!("CREATE TYPE {} AS {};\n", sql_name(&it.name), type_sql(other)),
    };
    let mut plain: Vec<_> = snapshot.user_types().filter(|it| it.domain.is_none()).collect();
    // Labels come before rows of them, rows before those that have them, other names at last.
    plain.sort_by_key(|it| match it.data_type {
        DataType::Enum(_) => 0,
        of if of.made_name() == Some(&*it.name) => rows_within(of),
        _ => usize::MAX,
    });
    let mut text: String = plain.into_iter().map(create).collect();
    // Each behind the one that it is made of.
    let mut left: Vec<_> = snapshot.user_types().filter(|it| it.domain.is_some()).collect();
    while !left.is_empty() {
        let of = |it: &UserType| it.domain.as_ref().and_then(|it| it.of.clone());
        let waits =
            |it: &UserType| of(it).is_some_and(|of| left.iter().any(|other| other.name == of));
        let (later, ready): (Vec<_>, Vec<_>) = left.iter().copied().partition(|it| waits(it));
        if ready.is_empty() {
            break;
        }
        ready.into_iter().for_each(|it| text.push_str(&create_domain(it)));
        left = later;
    }
    text
}

/// How deep rows are in one another, this one among them.
fn rows_within(of: DataType) -> usize {
    match of {
        DataType::Array(it) => rows_within(it.data_type()),
        DataType::Struct(it) | DataType::Map(it) => {
            let inner = it.fields().iter().map(|it| rows_within(it.data_type));
            1 + inner.max().unwrap_or(0)
        }
        _ => 0,
    }
}

fn create_domain(it: &UserType) -> String {
    let Some(domain) = &it.domain else { return String::new() };
    let own = sql_name(&it.name);
    let of = domain.of.as_deref().map_or_else(|| type_sql(it.data_type), sql_name);
    let mut text = format!("CREATE DOMAIN {own} AS {of}");
    if let Some(default) = &domain.default {
        text.push_str(&format!(" DEFAULT {default}"));
    }
    if domain.not_null {
        text.push_str(" NOT NULL");
    }
    let check =
        |it: &DomainCheck| format!(" CONSTRAINT {} CHECK ({})", quoted(&it.name), it.condition);
    let (kept, open): (Vec<_>, Vec<_>) = domain.checks.iter().partition(|it| it.is_validated);
    kept.into_iter().for_each(|it| text.push_str(&check(it)));
    text.push_str(";\n");
    for it in open {
        text.push_str(&format!("ALTER DOMAIN {own} ADD{} NOT VALID;\n", check(it)));
    }
    text
}

/// A type as SQL reads it back.
pub(crate) fn type_sql(data_type: DataType) -> String {
    match data_type {
        DataType::Enum(it) if !it.name().is_empty() => sql_name(it.name()),
        DataType::Array(it) => format!("{}[]", type_sql(it.data_type())),
        other => other.to_string(),
    }
}

/// COMMENT ON of all that outlasts its session.
pub(super) fn comments(snapshot: &CatalogSnapshot) -> String {
    let lasting = snapshot.comments().into_iter().filter(|it| !names::is_temporary(&it.0[1]));
    let each = lasting.filter_map(|([kind, of, part], text)| {
        let (relation, own) = (sql_name(&of), quoted(&part));
        let what = match (kind.as_str(), part.is_empty()) {
            ("relation", true) => format!("{} {relation}", snapshot.kind_of(&of)?.to_uppercase()),
            ("relation", false) => format!("COLUMN {relation}.{own}"),
            ("schema", _) => format!("SCHEMA {}", quoted(&of)),
            ("extension", _) => format!("EXTENSION {own}"),
            (FUNCTION_COMMENT, _) => format!("FUNCTION {relation}({part})"),
            ("constraint", _) => format!("CONSTRAINT {own} ON {relation}"),
            _ => format!("INDEX {}", sql_name(&names::joined(&names::schema_of(&of), &part))),
        };
        Some(format!("COMMENT ON {what} IS '{}';\n", text.replace('\'', "''")))
    });
    each.collect()
}

/// The sequences that outlast their sessions.
pub(super) fn sequences(snapshot: &CatalogSnapshot) -> impl Iterator<Item = &Arc<Sequence>> {
    snapshot.sequences().filter(|it| !names::is_temporary(&it.name))
}

/// The views that outlast their sessions, each behind those that it is made of.
pub(super) fn views(snapshot: &CatalogSnapshot) -> Vec<Arc<ViewDefinition>> {
    let mut views = snapshot.views();
    views.retain(|it| !names::is_temporary(&it.name));
    views
}

/// CREATE TABLE with all that is asked of the rows, how they are cut, and where columns shall lie.
pub(super) fn create_table(table: &Table, sequences: &CatalogSnapshot) -> String {
    let rules = table.rules();
    let mut lines = Vec::new();
    let shown = table.columns.iter().enumerate().filter(|it| !names::is_hidden(&it.1.name));
    for (place, column) in shown {
        let domain = rules.rows.domain(ColumnId(place as u16)).map(|it| sql_name(it));
        let fields = rules.rows.fields(ColumnId(place as u16)).unwrap_or_default();
        let of =
            domain.unwrap_or_else(|| type_sql(column.data_type) + &fields.suffix().to_uppercase());
        let mut line = format!("{} {of}", quoted(&column.name));
        if !column.nullable {
            line.push_str(" NOT NULL");
        }
        let id = ColumnId(place as u16);
        if let Some(identity) = rules.rows.identity(id) {
            let always = if identity.always { "ALWAYS" } else { "BY DEFAULT" };
            let options = own_sequence(sequences, table, &column.name)
                .map_or_else(String::new, |it| {
                    format!(" (SEQUENCE NAME {}{})", sql_name(&it.name), options(&it.definition))
                });
            line.push_str(&format!(" GENERATED {always} AS IDENTITY{options}"));
        } else if let (Some(it), Some(Some(of))) =
            (rules.rows.generated(id), rules.rows.defaults.get(place))
        {
            let kept = if it.is_stored { "STORED" } else { "VIRTUAL" };
            line.push_str(&format!(" GENERATED ALWAYS AS ({of}) {kept}"));
        } else if let Some(Some(default)) = rules.rows.defaults.get(place) {
            line.push_str(&format!(" DEFAULT {default}"));
        }
        let target = PlaceTarget::Column(id);
        if let Some(nodes) = demand(table, &target) {
            line.push_str(&nodes);
        }
        lines.push(line);
    }
    for index in rules.indexes.iter().filter(|it| it.kind.is_constraint()) {
        let kind = if index.kind == IndexKind::PrimaryKey { "PRIMARY KEY" } else { "UNIQUE" };
        let (name, columns) = (quoted(&index.name), names(table, &index.columns));
        let (nulls, deferral) = (nulls_clause(index), index.deferral.clause());
        lines.push(format!("CONSTRAINT {name} {kind}{nulls} ({columns}){deferral}"));
    }
    for check in rules.rows.checks.iter().filter(|it| it.is_validated) {
        lines.push(table_check(check));
    }
    let (name, lines) = (sql_name(&table.name), lines.join(",\n    "));
    let cut = partition(table);
    let nodes = demand(table, &PlaceTarget::Table).unwrap_or_else(|| part_nodes(table));
    format!("CREATE TABLE {name} (\n    {lines}\n){cut}{nodes};\n")
}

/// The sequence of the identity of a column.
fn own_sequence<'a>(
    sequences: &'a CatalogSnapshot,
    table: &Table,
    column: &str,
) -> Option<&'a Sequence> {
    let is_own =
        |it: &SequenceOwner| it.is_identity && it.table == table.name && it.column == column;
    sequences.sequences().find(|it| it.owner.as_ref().is_some_and(is_own)).map(|it| &**it)
}

fn is_identity(sequence: &Sequence) -> bool {
    sequence.owner.as_ref().is_some_and(|it| it.is_identity)
}

/// CREATE SEQUENCE, but of those that identity columns make.
pub(super) fn create_sequence(sequence: &Sequence) -> String {
    if is_identity(sequence) {
        return String::new();
    }
    let (name, definition) = (sql_name(&sequence.name), &sequence.definition);
    format!("CREATE SEQUENCE {name} AS {}{};\n", definition.data_type, options(definition))
}

fn options(definition: &SequenceDefinition) -> String {
    let SequenceDefinition { data_type: _, start, increment, min, max, cache, cycles } = definition;
    let cycle = if *cycles { " CYCLE" } else { "" };
    format!(
        " START WITH {start} INCREMENT BY {increment} MINVALUE {min} MAXVALUE {max} CACHE {cache}{cycle}"
    )
}

/// CREATE VIEW, said when there are the relations that it is made of.
pub(super) fn create_view(view: &ViewDefinition) -> String {
    let columns: Vec<String> = view.columns.iter().map(|it| quoted(&it.0)).collect();
    let (kind, end) = match (&view.materialized, view.check) {
        (Some(_), _) => ("MATERIALIZED VIEW", " WITH NO DATA".to_owned()),
        (None, Some(check)) => ("VIEW", format!(" WITH {} CHECK OPTION", check.name())),
        (None, None) => ("VIEW", String::new()),
    };
    let (name, columns) = (sql_name(&view.name), columns.join(", "));
    format!("CREATE {kind} {name} ({columns}) AS {}{end};\n", view.query)
}

/// REFRESH of a materialized view that has rows, said when all tables have theirs, and its indexes.
pub(super) fn refresh(view: &ViewDefinition, snapshot: &CatalogSnapshot) -> String {
    let Some(rows) = &view.materialized else { return String::new() };
    let name = sql_name(&view.name);
    let filled = match rows.is_populated {
        true => format!("REFRESH MATERIALIZED VIEW {name};\n"),
        false => String::new(),
    };
    filled + &snapshot.get(&rows.table).map_or_else(String::new, |it| indexes(&name, it))
}

/// Whether a table is one of those that users make, and outlasts its session.
pub(super) fn is_own(table: &Table) -> bool {
    let schema = names::schema_of(&table.name);
    schema != names::MATERIALIZED && !schema.starts_with(names::TEMPORARY)
}

/// What a sequence belongs to, and where it is: said when there are tables.
pub(super) fn position(sequence: &Sequence) -> String {
    let mut text = String::new();
    if let Some(owner) = sequence.owner.as_ref().filter(|it| !it.is_identity) {
        let (name, table, column) =
            (sql_name(&sequence.name), sql_name(&owner.table), quoted(&owner.column));
        text.push_str(&format!("ALTER SEQUENCE {name} OWNED BY {table}.{column};\n"));
    }
    let SequencePosition { number, is_called } = sequence.counter.lock().position;
    let name = as_kept(&sequence.name).replace('\'', "''");
    text.push_str(&format!("SELECT setval('{name}', {number}, {is_called});\n"));
    text
}

/// The indexes of a table, and what is demanded for parts and rows: what is said when it has its rows.
pub(super) fn after_load(table: &Table) -> String {
    let name = sql_name(&table.name);
    let mut text = indexes(&name, table);
    for wish in table.preference().wishes() {
        let Some(nodes) = clause(&wish.placement) else { continue };
        match &wish.target {
            PlaceTarget::Part(part) => {
                text.push_str(&format!("ALTER TABLE {name} PARTITION {part}{nodes};\n"));
            }
            PlaceTarget::Rows(rows) if !rows.is_empty() => {
                let (first, last) = (rows.start, rows.end - 1);
                text.push_str(&format!("ALTER TABLE {name} ROWS {first} TO {last}{nodes};\n"));
            }
            PlaceTarget::Rows(_) | PlaceTarget::Table | PlaceTarget::Column(_) => {}
        }
    }
    text
}

/// CREATE INDEX of all that a relation has, by the table of its rows.
fn indexes(relation: &str, table: &Table) -> String {
    let own = table.rules().indexes.iter().filter(|it| !it.kind.is_constraint());
    let each = own.map(|index| {
        let unique = if index.kind.is_unique() { "UNIQUE " } else { "" };
        let (name, (items, condition)) = (quoted(&index.name), sql_of(table, index, quoted));
        let using = using_clause(index);
        format!("CREATE {unique}INDEX {name} ON {relation}{using} ({items}){condition};\n")
    });
    each.collect()
}

fn table_check(check: &CheckRule) -> String {
    format!("CONSTRAINT {} CHECK ({})", quoted(&check.name), check.condition)
}

/// What the rows of a table refer to, and what is asked of new ones only: said when all tables have theirs.
pub(super) fn references(table: &Table) -> String {
    let mut text = String::new();
    for check in table.rules().rows.checks.iter().filter(|it| !it.is_validated) {
        let (own, check) = (sql_name(&table.name), table_check(check));
        text.push_str(&format!("ALTER TABLE {own} ADD {check} NOT VALID;\n"));
    }
    for key in &table.rules().references {
        let ForeignKey { name, columns, parent, parent_columns, on_delete, on_update, .. } = key;
        let parent_columns: Vec<String> = parent_columns.iter().map(|it| quoted(it)).collect();
        let (own, parent_columns) = (names(table, columns), parent_columns.join(", "));
        text.push_str(&format!(
            "ALTER TABLE {} ADD CONSTRAINT {} FOREIGN KEY ({own}) REFERENCES {} ({parent_columns}){} ON \
             DELETE {} ON UPDATE {}{};\n",
            sql_name(&table.name),
            quoted(name),
            sql_name(parent),
            key.match_clause(),
            on_delete.name(),
            on_update.name(),
            key.last_clauses(),
        ));
    }
    text
}

fn names(table: &Table, columns: &[ColumnId]) -> String {
    let names: Vec<String> = columns.iter().map(|it| quoted(&table.column(*it).name)).collect();
    names.join(", ")
}

/// The last demand for something, as a clause.
fn demand(table: &Table, target: &PlaceTarget) -> Option<String> {
    let wishes = table.preference().wishes();
    clause(&wishes.iter().rev().find(|it| it.target == *target)?.placement)
}

fn clause(placement: &Placement) -> Option<String> {
    let way = match placement {
        Placement::IndexVector(_) => "SPLIT",
        Placement::Interleaved(_) => "INTERLEAVE",
        Placement::RoundRobin(_) => "ROUNDROBIN",
        Placement::Replicated(_) => "REPLICATE",
        // Nobody says these of a table: they are defaults of a session, or say nothing.
        Placement::Auto | Placement::Os | Placement::Parts(_) => return None,
    };
    Some(format!(" NUMA NODE {way}{}", nodes(placement.nodes())))
}

fn nodes(nodes: &[NodeId]) -> String {
    let numbers: Vec<String> = nodes.iter().map(ToString::to_string).collect();
    if numbers.is_empty() { String::new() } else { format!(" ({})", numbers.join(", ")) }
}

/// The nodes that parts are dealt to, where they were named.
fn part_nodes(table: &Table) -> String {
    match &table.design().part_nodes[..] {
        [] => String::new(),
        some => format!(" NUMA NODE{}", nodes(some)),
    }
}

fn partition(table: &Table) -> String {
    match table.partitioning() {
        Partitioning::None => String::new(),
        Partitioning::RoundRobin { parts } => {
            format!(" PARTITION BY ROUNDROBIN PARTITIONS {parts}")
        }
        Partitioning::Hash { columns, parts } => {
            let columns = names(table, columns);
            format!(" PARTITION BY HASH ({columns}) PARTITIONS {parts}")
        }
        Partitioning::Range { column, bounds } => {
            let column = names(table, &[*column]);
            format!(" PARTITION BY RANGE ({column}) ({})", ranges(bounds))
        }
    }
}

/// Ranges that follow each other, one more than there are bounds.
fn ranges(bounds: &[Value]) -> String {
    let text = |it: &Value| match it {
        // NaN and infinities are words, not numbers.
        Value::Float(_) => format!("CAST('{it}' AS DOUBLE PRECISION)"),
        other => other.to_string(),
    };
    let bounds: Vec<String> = bounds.iter().map(text).collect();
    let mut ranges: Vec<String> =
        bounds.first().map(|it| format!("PARTITION VALUES < {it}")).into_iter().collect();
    ranges.extend(bounds.windows(2).map(|it| format!("PARTITION {} <= VALUES < {}", it[0], it[1])));
    ranges.extend(bounds.last().map(|it| format!("PARTITION {it} <= VALUES")));
    ranges.join(", ")
}
