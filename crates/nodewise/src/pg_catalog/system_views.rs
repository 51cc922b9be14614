//! The relations of the system: which there are, their columns and their numbers.

use ::types::names::{CATALOG, INFORMATION, NODEWISE};
use ::types::{SqlError, SqlResult};
use stdx::sync::OnceLock;
use storage::ColumnSchema;
use storage::schema::sql_type;

use super::nothing::{NOTHING, STANDARD_NOTHING};
use super::{oids, shapes, standard_shapes};
use crate::views::{self, ViewBuilder, columns_of};

/// What was done with tables, and with their blocks: the columns, each with the letter of its type.
const DONE: &str = "relid:# schemaname:d relname:d seq_scan:i last_seq_scan:m seq_tup_read:i idx_scan:i last_idx_scan:m idx_tup_fetch:i n_tup_ins:i n_tup_upd:i n_tup_del:i n_tup_hot_upd:i n_tup_newpage_upd:i n_live_tup:i n_dead_tup:i n_mod_since_analyze:i n_ins_since_vacuum:i last_vacuum:m last_autovacuum:m last_analyze:m last_autoanalyze:m vacuum_count:i autovacuum_count:i analyze_count:i autoanalyze_count:i total_vacuum_time:t total_autovacuum_time:t total_analyze_time:t total_autoanalyze_time:t";
const BLOCKS: &str = "relid:# schemaname:d relname:d heap_blks_read:i heap_blks_hit:i idx_blks_read:i idx_blks_hit:i toast_blks_read:i toast_blks_hit:i tidx_blks_read:i tidx_blks_hit:i";

/// The views of what was done with tables, and their columns.
pub(super) const COUNTS: [(&str, &str); 4] = [
    ("pg_stat_all_tables", DONE),
    ("pg_stat_user_tables", DONE),
    ("pg_statio_all_tables", BLOCKS),
    ("pg_statio_user_tables", BLOCKS),
];

/// The numbers that PostgreSQL's catalogs have in every database, in the order of their names: programs write them down. Its views have
/// none such.
const FIXED: [(&str, i64); 62] = [
    ("pg_aggregate", 2600),
    ("pg_am", 2601),
    ("pg_amop", 2602),
    ("pg_amproc", 2603),
    ("pg_attrdef", 2604),
    ("pg_attribute", 1249),
    ("pg_auth_members", 1261),
    ("pg_authid", 1260),
    ("pg_cast", 2605),
    ("pg_class", 1259),
    ("pg_collation", 3456),
    ("pg_constraint", 2606),
    ("pg_conversion", 2607),
    ("pg_database", 1262),
    ("pg_db_role_setting", 2964),
    ("pg_default_acl", 826),
    ("pg_depend", 2608),
    ("pg_description", 2609),
    ("pg_enum", 3501),
    ("pg_event_trigger", 3466),
    ("pg_extension", 3079),
    ("pg_foreign_data_wrapper", 2328),
    ("pg_foreign_server", 1417),
    ("pg_foreign_table", 3118),
    ("pg_index", 2610),
    ("pg_inherits", 2611),
    ("pg_init_privs", 3394),
    ("pg_language", 2612),
    ("pg_largeobject_metadata", 2995),
    ("pg_namespace", 2615),
    ("pg_opclass", 2616),
    ("pg_operator", 2617),
    ("pg_opfamily", 2753),
    ("pg_parameter_acl", 6243),
    ("pg_partitioned_table", 3350),
    ("pg_policy", 3256),
    ("pg_proc", 1255),
    ("pg_publication", 6104),
    ("pg_publication_namespace", 6237),
    ("pg_publication_rel", 6106),
    ("pg_range", 3541),
    ("pg_replication_origin", 6000),
    ("pg_rewrite", 2618),
    ("pg_seclabel", 3596),
    ("pg_sequence", 2224),
    ("pg_shdepend", 1214),
    ("pg_shdescription", 2396),
    ("pg_shseclabel", 3592),
    ("pg_statistic_ext", 3381),
    ("pg_statistic_ext_data", 3429),
    ("pg_subscription", 6100),
    ("pg_subscription_rel", 6102),
    ("pg_tablespace", 1213),
    ("pg_transform", 3576),
    ("pg_trigger", 2620),
    ("pg_ts_config", 3602),
    ("pg_ts_config_map", 3603),
    ("pg_ts_dict", 3600),
    ("pg_ts_parser", 3601),
    ("pg_ts_template", 3764),
    ("pg_type", 1247),
    ("pg_user_mapping", 1418),
];

fn fixed(name: &str) -> Option<i64> {
    FIXED.binary_search_by_key(&name, |it| it.0).ok().map(|it| FIXED[it].1)
}

/// The views of a schema of PostgreSQL's, in order, with the texts of their columns.
fn texts(schema: &str) -> Vec<(&'static str, &'static str)> {
    match schema {
        CATALOG => shapes::ALL.iter().chain(&COUNTS).chain(NOTHING).copied().collect(),
        INFORMATION => standard_shapes::ALL.iter().chain(STANDARD_NOTHING).copied().collect(),
        _ => Vec::new(),
    }
}

/// The views of `pg_catalog` or `information_schema`, in order.
pub fn names(schema: &str) -> Vec<&'static str> {
    texts(schema).into_iter().map(|it| it.0).collect()
}

/// The relations of the system: their numbers, schemas and names.
pub(super) fn numbered_views() -> impl Iterator<Item = (i64, &'static str, &'static str)> {
    let of_schema = |schema| match schema {
        NODEWISE => views::names().collect(),
        other => names(other),
    };
    // Those of the catalog are fewer than 500, and those of the standard fewer than 200.
    [(0, CATALOG), (500, INFORMATION), (700, NODEWISE)].into_iter().flat_map(
        move |(first, schema)| {
            let views = of_schema(schema).into_iter().enumerate();
            views.map(move |(place, name)| {
                let number = (schema == CATALOG).then(|| fixed(name)).flatten();
                (number.unwrap_or_else(|| oids::view(first + place)), schema, name)
            })
        },
    )
}

/// The number of a view of `pg_catalog`.
pub(super) fn number_of_view(name: &str) -> i64 {
    numbered_views().find(|it| it.1 == CATALOG && it.2 == name).map_or(0, |it| it.0)
}

/// A relation of the system.
pub(super) struct SystemRelation {
    pub oid: i64,
    pub schema: &'static str,
    pub name: &'static str,
    /// Whether PostgreSQL keeps it as a table.
    pub is_table: bool,
    pub columns: Vec<ColumnSchema>,
}

/// All relations of the system with their columns, which depend on no database.
pub(super) fn relations() -> SqlResult<&'static [SystemRelation]> {
    static ALL: OnceLock<SqlResult<Vec<SystemRelation>>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let shapes: Vec<_> = [CATALOG, INFORMATION].into_iter().flat_map(texts).collect();
        let shapes = shapes.into_iter().map(|it| columns_of(it.1));
        let shapes = shapes.chain(views::shapes().map(|it| it.1.to_vec()));
        let relation =
            |((oid, schema, name), columns): ((_, _, &'static str), Vec<(&str, char)>)| {
                let is_table = schema == CATALOG && fixed(name).is_some();
                Ok(SystemRelation {
                    oid,
                    schema,
                    name,
                    is_table,
                    columns: columns_as(name, &columns)?,
                })
            };
        numbered_views().zip(shapes).map(relation).collect()
    });
    all.as_deref().map_err(SqlError::clone)
}

/// Those of the schemas that PostgreSQL has, which are the ones that lists by the standard have.
pub(super) fn standard() -> SqlResult<impl Iterator<Item = &'static SystemRelation>> {
    Ok(relations()?.iter().filter(|it| it.schema != NODEWISE))
}

/// The columns of a relation as tables have them.
fn columns_as(relation: &str, columns: &[(&str, char)]) -> SqlResult<Vec<ColumnSchema>> {
    let fields = ViewBuilder::new(columns).finish()?.schema();
    let column = |name: &String, of| Ok(ColumnSchema::new(name, of, true));
    fields.fields().iter().map(|it| column(it.name(), sql_type(it, relation)?)).collect()
}
