//! Functions of PostgreSQL's catalog that are short in SQL: a call becomes what it stands for before anything is bound.

/// The words of PostgreSQL that are quoted as names, of those that tables and columns are often called.
const QUOTED: [&str; 24] = [
    "all", "and", "array", "as", "case", "check", "column", "default", "desc", "end", "from",
    "group", "in", "limit", "not", "null", "offset", "on", "order", "select", "table", "to",
    "user", "where",
];

/// What a call of a function stands for; `None` for one that is none of these. Arguments are SQL, and may stand several times.
pub(crate) fn expansion(name: &str, arguments: &[String]) -> Option<String> {
    match (name, arguments) {
        ("quote_ident", [name]) => {
            let known: Vec<String> = QUOTED.iter().map(|it| format!("'{it}'")).collect();
            Some(format!(
                "(CASE WHEN {name} ~ '^[a-z_][a-z0-9_]*$' AND {name} NOT IN ({}) THEN {name} \
                 ELSE '\"' || replace({name}, '\"', '\"\"') || '\"' END)",
                known.join(", ")
            ))
        }
        ("pg_size_pretty", [bytes]) => Some(pretty(&format!("CAST({bytes} AS BIGINT)"))),
        _ => None,
    }
}

/// A number of bytes in the largest unit of which there are ten, rounded by halves.
fn pretty(bytes: &str) -> String {
    let mut text = format!("(CASE WHEN abs({bytes}) < 10240 THEN {bytes} || ' bytes'");
    let mut halves = 512_u64;
    for unit in ["kB", "MB", "GB", "TB"] {
        let in_halves = format!("({bytes} / {halves})");
        text.push_str(&format!(
            " WHEN abs({in_halves}) < 20479 THEN (({in_halves} + CASE WHEN {bytes} < 0 THEN -1 ELSE 1 END) / 2) || ' {unit}'"
        ));
        halves *= 1024;
    }
    let in_halves = format!("({bytes} / {halves})");
    text.push_str(&format!(" ELSE (({in_halves} + 1) / 2) || ' PB' END)"));
    text
}
