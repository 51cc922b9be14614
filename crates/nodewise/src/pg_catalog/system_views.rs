//! The views of the system: which there are, and their numbers.

use ::types::names::{CATALOG, INFORMATION};

use super::nothing::NOTHING;
use super::oids;

/// Views of `pg_catalog` with rows.
const NAMES: [&str; 36] = [
    "pg_am",
    "pg_attrdef",
    "pg_attribute",
    "pg_auth_members",
    "pg_authid",
    "pg_class",
    "pg_collation",
    "pg_constraint",
    "pg_cursors",
    "pg_database",
    "pg_depend",
    "pg_description",
    "pg_enum",
    "pg_group",
    "pg_index",
    "pg_indexes",
    "pg_language",
    "pg_locks",
    "pg_matviews",
    "pg_namespace",
    "pg_opclass",
    "pg_prepared_statements",
    "pg_proc",
    "pg_rewrite",
    "pg_roles",
    "pg_sequence",
    "pg_sequences",
    "pg_settings",
    "pg_shadow",
    "pg_stat_activity",
    "pg_stat_statements",
    "pg_tables",
    "pg_tablespace",
    "pg_type",
    "pg_user",
    "pg_views",
];

/// Views of things that there are none of: their columns, all of them text or numbers.
pub(super) const EMPTY: &[(&str, &[(&str, char)])] = &[
    ("pg_extension", &[("oid", '#'), ("extname", 'd'), ("extnamespace", '#'), ("extversion", 't')]),
    ("pg_foreign_table", &[("ftrelid", '#'), ("ftserver", '#'), ("ftoptions", 'a')]),
    (
        "pg_inherits",
        &[("inhrelid", '#'), ("inhparent", '#'), ("inhseqno", '4'), ("inhdetachpending", 'b')],
    ),
    (
        "pg_range",
        &[("rngtypid", '#'), ("rngsubtype", '#'), ("rngmultitypid", '#'), ("rngcollation", '#')],
    ),
    (
        "pg_trigger",
        &[
            ("oid", '#'),
            ("tgrelid", '#'),
            ("tgname", 'd'),
            ("tgenabled", 'c'),
            ("tgisinternal", 'b'),
            ("tgparentid", '#'),
            ("tgconstraint", '#'),
            ("tgfoid", '#'),
            ("tgtype", '2'),
            ("tgargs", 't'),
        ],
    ),
    ("pg_shdescription", &[("objoid", '#'), ("classoid", '#'), ("description", 't')]),
];

/// Views of `information_schema`.
const INFORMATION_NAMES: [&str; 24] = [
    "applicable_roles",
    "attributes",
    "check_constraints",
    "column_privileges",
    "columns",
    "constraint_column_usage",
    "constraint_table_usage",
    "domain_constraints",
    "domains",
    "element_types",
    "enabled_roles",
    "key_column_usage",
    "parameters",
    "referential_constraints",
    "role_column_grants",
    "role_table_grants",
    "routines",
    "schemata",
    "sequences",
    "table_constraints",
    "table_privileges",
    "tables",
    "user_defined_types",
    "views",
];

/// What was done with tables, and with their blocks: the columns, each with the letter of its type.
const DONE: &str = "relid:i schemaname:t relname:t seq_scan:i last_seq_scan:t seq_tup_read:i idx_scan:i last_idx_scan:t idx_tup_fetch:i n_tup_ins:i n_tup_upd:i n_tup_del:i n_tup_hot_upd:i n_tup_newpage_upd:i n_live_tup:i n_dead_tup:i n_mod_since_analyze:i n_ins_since_vacuum:i last_vacuum:t last_autovacuum:t last_analyze:t last_autoanalyze:t vacuum_count:i autovacuum_count:i analyze_count:i autoanalyze_count:i total_vacuum_time:t total_autovacuum_time:t total_analyze_time:t total_autoanalyze_time:t";
const BLOCKS: &str = "relid:i schemaname:t relname:t heap_blks_read:i heap_blks_hit:i idx_blks_read:i idx_blks_hit:i toast_blks_read:i toast_blks_hit:i tidx_blks_read:i tidx_blks_hit:i";

/// The views of what was done with tables, and their columns.
pub(super) const COUNTS: [(&str, &str); 4] = [
    ("pg_stat_all_tables", DONE),
    ("pg_stat_user_tables", DONE),
    ("pg_statio_all_tables", BLOCKS),
    ("pg_statio_user_tables", BLOCKS),
];

/// The columns of a text, each with the letter of its type.
pub(super) fn columns_of(text: &str) -> Vec<(&str, char)> {
    let columns = text.split(' ').filter_map(|it| it.split_once(':'));
    columns.filter_map(|it| Some((it.0, it.1.chars().next()?))).collect()
}

/// The numbers that PostgreSQL's catalogs have in every database, in the order of their names: programs write them down.
const FIXED: [(&str, i64); 47] = [
    ("pg_am", 2601),
    ("pg_amproc", 2603),
    ("pg_attrdef", 2604),
    ("pg_attribute", 1249),
    ("pg_auth_members", 1261),
    ("pg_authid", 1260),
    ("pg_cast", 2605),
    ("pg_class", 1259),
    ("pg_collation", 3456),
    ("pg_constraint", 2606),
    ("pg_database", 1262),
    ("pg_db_role_setting", 2964),
    ("pg_default_acl", 826),
    ("pg_depend", 2608),
    ("pg_description", 2609),
    ("pg_enum", 3501),
    ("pg_event_trigger", 3466),
    ("pg_extension", 3079),
    ("pg_foreign_table", 3118),
    ("pg_index", 2610),
    ("pg_inherits", 2611),
    ("pg_init_privs", 3394),
    ("pg_language", 2612),
    ("pg_largeobject_metadata", 2995),
    ("pg_namespace", 2615),
    ("pg_opclass", 2616),
    ("pg_opfamily", 2753),
    ("pg_parameter_acl", 6243),
    ("pg_proc", 1255),
    ("pg_publication_namespace", 6237),
    ("pg_publication_rel", 6106),
    ("pg_range", 3541),
    ("pg_rewrite", 2618),
    ("pg_seclabel", 3596),
    ("pg_sequence", 2224),
    ("pg_shdepend", 1214),
    ("pg_shdescription", 2396),
    ("pg_shseclabel", 3592),
    ("pg_tablespace", 1213),
    ("pg_transform", 3576),
    ("pg_trigger", 2620),
    ("pg_ts_config", 3602),
    ("pg_ts_config_map", 3603),
    ("pg_ts_dict", 3600),
    ("pg_ts_template", 3764),
    ("pg_type", 1247),
    ("pg_user_mapping", 1418),
];

fn fixed(name: &str) -> Option<i64> {
    FIXED.binary_search_by_key(&name, |it| it.0).ok().map(|it| FIXED[it].1)
}

/// The views of the system: their numbers, schemas and names.
pub(super) fn numbered_views() -> impl Iterator<Item = (i64, &'static str, &'static str)> {
    // Those of the catalog are fewer than 500.
    [(0, CATALOG), (500, INFORMATION)].into_iter().flat_map(|(first, schema)| {
        let views = names(schema).into_iter().enumerate();
        views.map(move |(place, name)| {
            let number = fixed(name).unwrap_or_else(|| oids::view(first + place));
            (number, schema, name)
        })
    })
}

/// The number of a view of `pg_catalog`.
pub(super) fn number_of_view(name: &str) -> i64 {
    numbered_views().find(|it| it.1 == CATALOG && it.2 == name).map_or(0, |it| it.0)
}

/// The views of a schema, in order.
pub fn names(schema: &str) -> Vec<&'static str> {
    match schema {
        CATALOG => {
            let texts = COUNTS.iter().chain(NOTHING).map(|it| it.0);
            NAMES.into_iter().chain(EMPTY.iter().map(|it| it.0)).chain(texts).collect()
        }
        INFORMATION => INFORMATION_NAMES.to_vec(),
        _ => Vec::new(),
    }
}
