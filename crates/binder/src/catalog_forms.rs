//! Functions of PostgreSQL's catalog that say what indexes can do and how large values of types are, as SQL.
//!
//! What stands inside of a subquery has names with blanks, so that no column of an argument is taken for one of it.

/// What calls of a function stand for, each form with the number of its arguments.
pub(crate) fn forms(name: &str) -> Option<&'static [(usize, &'static str)]> {
    Some(match name {
        "pg_index_column_has_property" => &[(3, COLUMN_PROPERTY)],
        "pg_index_has_property" => &[(2, INDEX_PROPERTY)],
        "pg_indexam_has_property" => &[(2, METHOD_PROPERTY)],
        "_pg_char_max_length" => &[(
            2,
            "(CASE WHEN ({2}) = -1 THEN NULL WHEN ({1}) IN (1042, 1043) THEN ({2}) - 4 \
             WHEN ({1}) IN (1560, 1562) THEN ({2}) END)",
        )],
        "_pg_char_octet_length" => &[(
            2,
            "(CASE WHEN ({1}) NOT IN (25, 1042, 1043) THEN NULL WHEN ({2}) = -1 THEN 1073741824 \
             WHEN ({1}) <> 25 THEN (({2}) - 4) * 4 END)",
        )],
        "_pg_numeric_precision" => &[(
            2,
            "(CASE WHEN ({1}) = 21 THEN 16 WHEN ({1}) = 23 THEN 32 WHEN ({1}) = 20 THEN 64 \
             WHEN ({1}) = 700 THEN 24 WHEN ({1}) = 701 THEN 53 \
             WHEN ({1}) = 1700 AND ({2}) <> -1 THEN ((({2}) - 4) >> 16) & 65535 END)",
        )],
        "_pg_numeric_precision_radix" => &[(
            2,
            "(CASE WHEN ({2}) IS NULL THEN NULL WHEN ({1}) IN (21, 23, 20, 700, 701) THEN 2 \
             WHEN ({1}) = 1700 THEN 10 END)",
        )],
        "_pg_numeric_scale" => &[(
            2,
            "(CASE WHEN ({1}) IN (21, 23, 20) THEN 0 \
             WHEN ({1}) = 1700 AND ({2}) <> -1 THEN (({2}) - 4) & 65535 END)",
        )],
        "_pg_datetime_precision" => &[(
            2,
            "(CASE WHEN ({1}) = 1082 THEN 0 \
             WHEN ({1}) IN (1083, 1114, 1184, 1266) THEN CASE WHEN ({2}) < 0 THEN 6 ELSE ({2}) END \
             WHEN ({1}) = 1186 THEN CASE WHEN ({2}) < 0 OR (({2}) & 65535) = 65535 THEN 6 \
             ELSE ({2}) & 65535 END END)",
        )],
        _ => return None,
    })
}

/// Whether a function is one of the schema of the standard.
pub(crate) fn is_of_standard(name: &str) -> bool {
    name.starts_with("_pg_") && forms(name).is_some()
}

/// A column of an index; of one that is only included few properties are known.
const COLUMN_PROPERTY: &str = "(SELECT CASE \
    WHEN ({2}) BETWEEN 1 AND \"the keys\" THEN CASE lower({3}) \
    WHEN 'asc' THEN \"is ordered\" AND (\"the options\"[({2}) - 1] & 1) = 0 \
    WHEN 'desc' THEN \"is ordered\" AND (\"the options\"[({2}) - 1] & 1) = 1 \
    WHEN 'nulls_first' THEN \"is ordered\" AND (\"the options\"[({2}) - 1] & 2) = 2 \
    WHEN 'nulls_last' THEN \"is ordered\" AND (\"the options\"[({2}) - 1] & 2) = 0 \
    WHEN 'orderable' THEN \"is ordered\" WHEN 'distance_orderable' THEN FALSE \
    WHEN 'returnable' THEN \"is ordered\" WHEN 'search_array' THEN \"is ordered\" \
    WHEN 'search_nulls' THEN \"is ordered\" END \
    WHEN ({2}) BETWEEN \"the keys\" + 1 AND \"the columns\" THEN CASE lower({3}) \
    WHEN 'orderable' THEN FALSE WHEN 'distance_orderable' THEN FALSE WHEN 'returnable' THEN TRUE END END \
    FROM (SELECT i.indexrelid, i.indnkeyatts, i.indnatts, i.indoption, m.amname <> 'hash' \
    FROM pg_catalog.pg_index AS i JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid \
    JOIN pg_catalog.pg_am AS m ON m.oid = c.relam) \
    AS \"the indexes\" (\"the index\", \"the keys\", \"the columns\", \"the options\", \"is ordered\") \
    WHERE \"the index\" = ({1}))";

const INDEX_PROPERTY: &str = "(SELECT CASE lower({2}) WHEN 'clusterable' THEN \"is ordered\" \
    WHEN 'index_scan' THEN TRUE WHEN 'bitmap_scan' THEN TRUE WHEN 'backward_scan' THEN TRUE END \
    FROM (SELECT c.oid, m.amname <> 'hash' \
    FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_am AS m ON m.oid = c.relam WHERE c.relkind = 'i') \
    AS \"the indexes\" (\"the index\", \"is ordered\") WHERE \"the index\" = ({1}))";

/// There are no constraints that exclude by an operator.
const METHOD_PROPERTY: &str = "(SELECT CASE lower({2}) WHEN 'can_order' THEN \"is ordered\" \
    WHEN 'can_unique' THEN \"is ordered\" WHEN 'can_multi_col' THEN \"is ordered\" \
    WHEN 'can_include' THEN \"is ordered\" WHEN 'can_exclude' THEN FALSE END \
    FROM (SELECT oid, amname <> 'hash' FROM pg_catalog.pg_am WHERE amtype = 'i') \
    AS \"the methods\" (\"the method\", \"is ordered\") WHERE \"the method\" = ({1}))";
