//! The key words, as `pg_get_keywords()` tells of them.

use types::key_words::{KINDS, Kind};

/// The query of them.
pub(crate) fn query() -> String {
    let of_kind = |(letter, is_label, words): &Kind| {
        format!(
            "SELECT word, '{letter}' AS kind, {is_label} AS barelabel FROM string_to_table('{words}', ' ') AS t (word)"
        )
    };
    let kinds: Vec<String> = KINDS.iter().map(of_kind).collect();
    format!(
        "SELECT word, CAST(kind AS \"char\") AS catcode, barelabel, CASE kind \
         WHEN 'U' THEN 'unreserved' WHEN 'C' THEN 'unreserved (cannot be function or type name)' \
         WHEN 'T' THEN 'reserved (can be function or type name)' ELSE 'reserved' END AS catdesc, \
         CASE WHEN barelabel THEN 'can be bare label' ELSE 'requires AS' END AS baredesc \
         FROM ({}) AS \"the words\" ORDER BY word",
        kinds.join(" UNION ALL ")
    )
}
