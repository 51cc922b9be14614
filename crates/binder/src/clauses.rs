//! Clauses that the parser reads, for this database or another, and that nobody here honours: refused, never left out.
//!
//! Key decision: a statement is taken apart with all its fields named, or compared with one that says only what is
//! honoured, so that a field that a new version of the parser adds cannot be forgotten.

use sqlparser::ast::{self, helpers::stmt_create_table::CreateTableBuilder};
use types::{IndexMethod, SqlError, SqlResult, SqlState};

use crate::syntax::{name, unsupported};

/// 42601: what is no SQL of PostgreSQL.
fn syntax(what: &str) -> SqlError {
    SqlError::new(SqlState::SYNTAX, format!("syntax error: {what}"))
}

/// The first clause that is there, as an error: of PostgreSQL's 0A000, of other databases 42601.
fn refuse(ours: &[(bool, &str)], others: &[(bool, &str)]) -> SqlResult<()> {
    if let Some((_, what)) = others.iter().find(|it| it.0) {
        return Err(syntax(what));
    }
    match ours.iter().find(|it| it.0) {
        Some((_, what)) => Err(unsupported(what)),
        None => Ok(()),
    }
}

/// INSERT.
pub(crate) fn insert(insert: &ast::Insert) -> SqlResult<()> {
    let ast::Insert {
        insert_token: _,
        optimizer_hints: _,
        or,
        ignore,
        into,
        table: _,
        table_alias: _,
        columns: _,
        overwrite,
        source: _,
        assignments,
        partitioned,
        after_columns,
        has_table_keyword,
        on,
        returning: _,
        output,
        replace_into,
        priority,
        insert_alias,
        settings,
        format_clause,
        multi_table_insert_type,
        multi_table_into_clauses,
        multi_table_when_clauses,
        multi_table_else_clause,
    } = insert;
    let friendly =
        matches!(or, None | Some(ast::SqliteOnConflict::Ignore | ast::SqliteOnConflict::Replace));
    let several = multi_table_insert_type.is_some()
        || !multi_table_into_clauses.is_empty()
        || !multi_table_when_clauses.is_empty()
        || multi_table_else_clause.is_some();
    refuse(
        &[],
        &[
            (!friendly || or.is_some() && on.is_some(), "INSERT OR .."),
            (*ignore || priority.is_some(), "a modifier of INSERT"),
            (*replace_into, "REPLACE INTO"),
            (*overwrite || !*into, "INSERT without INTO"),
            (*has_table_keyword, "INSERT INTO TABLE"),
            (!assignments.is_empty(), "INSERT .. SET"),
            (partitioned.is_some() || !after_columns.is_empty(), "INSERT .. PARTITION"),
            (output.is_some(), "INSERT .. OUTPUT"),
            (matches!(on, Some(ast::OnInsert::DuplicateKeyUpdate(_))), "ON DUPLICATE KEY UPDATE"),
            (insert_alias.is_some(), "an alias behind the rows of INSERT"),
            (settings.is_some() || format_clause.is_some(), "SETTINGS or FORMAT of INSERT"),
            (several, "INSERT into several tables"),
        ],
    )
}

/// UPDATE.
pub(crate) fn update(update: &ast::Update) -> SqlResult<()> {
    let ast::Update {
        update_token: _,
        optimizer_hints: _,
        table: _,
        assignments: _,
        from,
        selection: _,
        returning: _,
        output,
        or,
        order_by,
        limit,
    } = update;
    let early = matches!(from, Some(ast::UpdateTableFromKind::BeforeSet(_)));
    refuse(
        &[],
        &[
            (or.is_some(), "UPDATE OR .."),
            (early, "FROM before SET"),
            (output.is_some(), "UPDATE .. OUTPUT"),
            (!order_by.is_empty() || limit.is_some(), "ORDER BY or LIMIT of UPDATE"),
        ],
    )
}

/// DELETE.
pub(crate) fn delete(delete: &ast::Delete) -> SqlResult<()> {
    let ast::Delete {
        delete_token: _,
        optimizer_hints: _,
        tables,
        from,
        using: _,
        selection: _,
        returning: _,
        output,
        order_by,
        limit,
    } = delete;
    let bare = matches!(from, ast::FromTable::WithoutKeyword(_));
    refuse(
        &[],
        &[
            (bare || !tables.is_empty(), "DELETE without FROM"),
            (output.is_some(), "DELETE .. OUTPUT"),
            (!order_by.is_empty() || limit.is_some(), "ORDER BY or LIMIT of DELETE"),
        ],
    )
}

/// MERGE.
pub(crate) fn merge(merge: &ast::Merge) -> SqlResult<()> {
    let ast::Merge {
        merge_token: _,
        optimizer_hints: _,
        into,
        table,
        source: _,
        on: _,
        clauses,
        output,
    } = merge;
    let is_output = matches!(output, Some(ast::OutputClause::Output { .. }));
    refuse(
        &[],
        &[
            (!*into, "MERGE without INTO"),
            (clauses.is_empty(), "MERGE without WHEN"),
            (is_output, "MERGE .. OUTPUT"),
        ],
    )?;
    let table = ast::TableWithJoins { relation: table.clone(), joins: Vec::new() };
    only_table(std::slice::from_ref(&table)).map(|_| ())
}

/// The one table that UPDATE or DELETE changes.
pub(crate) fn only_table(tables: &[ast::TableWithJoins]) -> SqlResult<&ast::TableFactor> {
    let [ast::TableWithJoins { relation, joins }] = tables else {
        return Err(syntax("a change of several tables"));
    };
    let ast::TableFactor::Table {
        name: _,
        alias: _,
        args: None,
        with_hints,
        version: None,
        with_ordinality: false,
        partitions,
        json_path: None,
        sample: None,
        index_hints,
    } = relation
    else {
        return Err(syntax("a change of anything but a table"));
    };
    let plain = with_hints.is_empty() && partitions.is_empty() && index_hints.is_empty();
    if !plain || !joins.is_empty() {
        return Err(syntax("a clause behind the table that is changed"));
    }
    Ok(relation)
}

/// TRUNCATE. Nothing is counted, so the clauses about that come to the same.
pub(crate) fn truncate(truncate: &ast::Truncate) -> SqlResult<()> {
    let ast::Truncate {
        table_names: _,
        partitions,
        table: _,
        if_exists,
        identity: _,
        cascade: _,
        on_cluster,
    } = truncate;
    let others = partitions.is_some() || on_cluster.is_some();
    refuse(&[], &[(others, "a clause of TRUNCATE"), (*if_exists, "TRUNCATE IF EXISTS")])
}

/// CREATE TABLE, but for its query.
pub(crate) fn create_table(table: &ast::CreateTable) -> SqlResult<()> {
    let honoured = CreateTableBuilder::new(table.name.clone())
        .or_replace(table.or_replace)
        .if_not_exists(table.if_not_exists)
        .columns(table.columns.clone())
        .constraints(table.constraints.clone())
        .hive_formats(table.hive_formats.clone().filter(|it| *it == ast::HiveFormat::default()))
        .query(table.query.clone())
        .build();
    // What says how PostgreSQL keeps rows has no meaning here.
    let honoured = ast::CreateTable {
        table_options: table.table_options.clone(),
        temporary: table.temporary,
        global: table.global,
        on_commit: table.on_commit,
        ..honoured
    };
    if honoured == *table && is_storage(&table.table_options) {
        return Ok(());
    }
    let known = [
        (table.like.is_some(), "CREATE TABLE .. LIKE"),
        (table.inherits.is_some(), "INHERITS"),
        (table.partition_of.is_some(), "PARTITION OF"),
        (!matches!(table.table_options, ast::CreateTableOptions::None), "WITH (..) of a table"),
    ];
    match known.iter().find(|it| it.0) {
        Some((_, what)) => Err(unsupported(what)),
        None => Err(unsupported("a clause of this CREATE TABLE")),
    }
}

/// Whether options of a table are about pages and their care alone: `WITH (fillfactor = 100)`.
fn is_storage(options: &ast::CreateTableOptions) -> bool {
    let is_known = |it: &ast::SqlOption| match it {
        ast::SqlOption::KeyValue { key, .. } => {
            let key = key.value.to_lowercase();
            let begins = ["autovacuum_", "toast."].iter().any(|it| key.starts_with(it));
            begins
                || ["fillfactor", "parallel_workers", "log_autovacuum_min_duration"]
                    .contains(&&*key)
        }
        _ => false,
    };
    match options {
        ast::CreateTableOptions::None => true,
        ast::CreateTableOptions::With(options) => options.iter().all(is_known),
        _ => false,
    }
}

/// CREATE INDEX, but for its columns.
pub(crate) fn create_index(index: &ast::CreateIndex) -> SqlResult<()> {
    let ast::CreateIndex {
        name,
        table_name: _,
        using: _,
        columns: _,
        unique: _,
        // Whether it blocks others meanwhile changes nothing of what there is in the end.
        concurrently: _,
        if_not_exists,
        include: _,
        nulls_distinct,
        with,
        predicate,
        index_options,
        alter_options,
    } = index;
    if let Some(name) = name.as_ref().filter(|it| it.0.len() > 1) {
        return Err(syntax(&format!("the index name {name} is qualified")));
    }
    refuse(
        &[
            (
                *nulls_distinct == Some(false) && predicate.is_some(),
                "NULLS NOT DISTINCT of an index with WHERE",
            ),
            (!with.is_empty(), "WITH (..) of an index"),
        ],
        &[
            (name.is_none() && *if_not_exists, "IF NOT EXISTS needs the name of the index"),
            (!index_options.is_empty() || !alter_options.is_empty(), "an option of CREATE INDEX"),
        ],
    )
}

/// How an index is kept. Errors: 0A000 of what a hash index has not, and of methods that are not here; 42704 of what is none.
pub(crate) fn method(index: &ast::CreateIndex) -> SqlResult<IndexMethod> {
    let Some(using) = &index.using else { return Ok(IndexMethod::default()) };
    let name = using.to_string().to_lowercase();
    match name.as_str() {
        "btree" => Ok(IndexMethod::BTree),
        "inverted" => Ok(IndexMethod::Inverted),
        "hash" => hash(index).map(|()| IndexMethod::Hash),
        "gist" | "gin" | "brin" | "spgist" | "bloom" => {
            Err(unsupported(format!("the access method {name}"))
                .with_hint("btree and hash are there, which find values and not parts of them"))
        }
        _ => {
            let message = format!("access method \"{name}\" does not exist");
            Err(SqlError::new(SqlState("42704"), message))
        }
    }
}

/// What PostgreSQL has not of a hash index is refused.
fn hash(index: &ast::CreateIndex) -> SqlResult<()> {
    let has_order = |it: &ast::IndexColumn| {
        let options = &it.column.options;
        options.asc.is_some() || options.nulls_first.is_some()
    };
    let missing = [
        (index.columns.len() > 1, "multicolumn indexes"),
        (index.unique, "unique indexes"),
        (!index.include.is_empty(), "included columns"),
        (index.columns.iter().any(has_order), "ASC/DESC options"),
    ];
    match missing.iter().find(|it| it.0) {
        None => Ok(()),
        Some((_, what)) => {
            let message = format!("access method \"hash\" does not support {what}");
            Err(SqlError::unsupported(message))
        }
    }
}

/// The operator classes whose order is the one that there is: texts are those of C, so that those for patterns are no others.
const OPERATOR_CLASSES: [&str; 30] = [
    "array_ops",
    "bool_ops",
    "bpchar_ops",
    "bpchar_pattern_ops",
    "bytea_ops",
    "char_ops",
    "date_ops",
    "datetime_ops",
    "enum_ops",
    "float4_ops",
    "float8_ops",
    "int2_ops",
    "int4_ops",
    "int8_ops",
    "interval_ops",
    "jsonb_ops",
    "name_ops",
    "numeric_ops",
    "oid_ops",
    "record_ops",
    "text_ops",
    "text_pattern_ops",
    "time_ops",
    "timestamp_ops",
    "timestamptz_ops",
    "timetz_ops",
    "uuid_ops",
    "varbit_ops",
    "varchar_ops",
    "varchar_pattern_ops",
];

/// A column of an index or a key, whose order says nothing about what there is.
pub(crate) fn index_column(column: &ast::IndexColumn) -> SqlResult<()> {
    let ast::IndexColumn { column, operator_class } = column;
    let ast::OrderByExpr { expr: _, options: _, with_fill } = column;
    if let Some(class) = operator_class {
        let name = name(class);
        if !OPERATOR_CLASSES.contains(&name.strip_prefix("pg_catalog.").unwrap_or(&name)) {
            let message =
                format!("operator class \"{name}\" does not exist for access method \"btree\"");
            return Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message));
        }
    }
    refuse(&[], &[(with_fill.is_some(), "WITH FILL of an index")])
}

/// PRIMARY KEY.
pub(crate) fn primary_key(key: &ast::PrimaryKeyConstraint) -> SqlResult<()> {
    let ast::PrimaryKeyConstraint {
        name: _,
        index_name,
        index_type,
        columns: _,
        index_options,
        characteristics: _,
    } = key;
    refuse(
        &[],
        &[(
            index_name.is_some() || index_type.is_some() || !index_options.is_empty(),
            "the index of a key is named by CONSTRAINT",
        )],
    )
}

/// UNIQUE.
pub(crate) fn unique_key(key: &ast::UniqueConstraint) -> SqlResult<()> {
    let ast::UniqueConstraint {
        name: _,
        index_name,
        index_type_display,
        index_type,
        columns: _,
        index_options,
        characteristics: _,
        nulls_distinct: _,
    } = key;
    let named = index_name.is_some() || index_type.is_some() || !index_options.is_empty();
    let spelt = !matches!(index_type_display, ast::KeyOrIndexDisplay::None);
    refuse(&[], &[(named || spelt, "the index of a key is named by CONSTRAINT")])
}

/// FOREIGN KEY.
pub(crate) fn foreign_key(key: &ast::ForeignKeyConstraint) -> SqlResult<()> {
    let ast::ForeignKeyConstraint {
        name: _,
        index_name,
        columns: _,
        foreign_table: _,
        referred_columns: _,
        on_delete: _,
        on_update: _,
        match_kind,
        characteristics,
    } = key;
    let partial = *match_kind == Some(ast::ConstraintReferenceMatchKind::Partial);
    let not_enforced = characteristics.is_some_and(|it| it.enforced == Some(false));
    refuse(
        &[(partial, "MATCH PARTIAL"), (not_enforced, "a foreign key that is NOT ENFORCED")],
        &[(index_name.is_some(), "a foreign key is named by CONSTRAINT")],
    )
}
