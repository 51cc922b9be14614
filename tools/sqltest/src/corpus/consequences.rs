//! What a refused statement leads to: later records that name what it should have changed.
//!
//! Key decision: by the words of the SQL, without parsing it, because it is SQL that was refused.

use std::collections::HashSet;

/// Names of tables and the like that are not as the script believes.
#[derive(Default)]
pub struct Consequences {
    everything: bool,
    /// Rows may be others, but what is there is there: a transaction or a setting was refused.
    rows: bool,
    names: HashSet<String>,
}

impl Consequences {
    /// A statement did not do what the script believes.
    pub fn failed(&mut self, sql: &str) {
        let words: Vec<String> = words(sql).collect();
        match words.first().map(String::as_str) {
            Some("use") => self.everything = true,
            Some("begin" | "start" | "rollback") => self.rows = true,
            Some("set" | "pragma") => {
                const PARTS: [&str; 7] = [
                    "null_order",
                    "collation",
                    "division",
                    "zone",
                    "seed",
                    "calendar",
                    "search_path",
                ];
                let changes_rows = |word: &String| PARTS.iter().any(|part| word.contains(part));
                self.rows |= words.iter().any(changes_rows);
            }
            // What a trigger writes is in its body, what EXPLAIN ANALYZE changes behind these words.
            Some("create") if words.iter().take(4).any(|it| it == "trigger") => {
                self.names.extend(target(&words));
                self.names.extend(written(&words));
            }
            Some("explain") => {
                let body = words[1..].iter().position(|it| it != "analyze").map(|at| at + 1);
                self.names.extend(body.and_then(|at| target(&words[at..])));
            }
            Some("copy") => {
                self.names.extend(target(&words));
                self.names.extend(last_of_path(sql));
            }
            _ => self.names.extend(target(&words)),
        }
    }

    /// A statement ran: what it changed from a name of ours is one too.
    pub fn ran(&mut self, sql: &str) {
        if self.touch(sql) {
            let words: Vec<String> = words(sql).collect();
            self.names.extend(target(&words));
        }
    }

    /// Whether a statement names one.
    pub fn touch(&self, sql: &str) -> bool {
        self.everything
            || !self.names.is_empty() && words(sql).any(|word| self.names.contains(&word))
    }

    /// Whether a statement that ran may give other rows for it.
    pub fn touch_rows(&self, sql: &str) -> bool {
        self.rows || self.touch(sql)
    }

    /// Forgets all: the database is another.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

/// Names and keywords in lower case.
fn words(sql: &str) -> impl Iterator<Item = String> {
    sql.split(|it: char| !(it.is_alphanumeric() || it == '_'))
        .filter(|it| !it.is_empty())
        .map(str::to_lowercase)
}

/// What a statement changes, by name.
fn target(words: &[String]) -> Option<String> {
    let first = words.first()?.as_str();
    let after = |keyword: &str| words.iter().position(|it| it == keyword).map(|at| at + 1);
    let has = |keyword: &str| words.iter().take(4).any(|it| it == keyword);
    let at = match first {
        "create" if has("index") => return None,
        "create" if has("trigger") => after("on")?,
        "create" | "drop" | "alter" => {
            const NOUNS: [&str; 8] =
                ["table", "view", "sequence", "type", "macro", "function", "schema", "secret"];
            words.iter().position(|it| NOUNS.contains(&it.as_str()))? + 1
        }
        "insert" | "merge" | "replace" => after("into")?,
        // Changes rows in or behind the WITH.
        "with" => after("into").or(after("update"))?,
        "delete" => after("from")?,
        "update" | "truncate" | "copy" | "prepare" => 1,
        _ => return None,
    };
    name_at(words, at)
}

/// What the statements inside of another write into.
fn written(words: &[String]) -> Vec<String> {
    let mut names = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let deletes = word == "from" && at > 0 && words[at - 1] == "delete";
        if word == "into" || word == "update" || deletes {
            names.extend(name_at(words, at + 1));
        }
    }
    names
}

/// The last part of the path of the file that a COPY writes.
fn last_of_path(sql: &str) -> Option<String> {
    let path = sql.rsplit_once(" TO '").or_else(|| sql.rsplit_once(" to '"))?.1;
    let path = path.split('\'').next()?.trim_end_matches('/');
    words(path.rsplit('/').next()?).next()
}

fn name_at(words: &[String], at: usize) -> Option<String> {
    let noise = ["if", "not", "exists", "only", "table", "main", "public", "temp", "or"];
    words[at..].iter().find(|it| !noise.contains(&it.as_str())).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_records_are_told_by_name() {
        let mut state = Consequences::default();
        state.failed("CREATE VIEW v1 AS SELECT a FROM t1");
        assert!(state.touch("SELECT * FROM V1") && !state.touch("SELECT a FROM t1, v10"));
        state.ran("CREATE TABLE t2 AS SELECT * FROM v1");
        state.ran("INSERT INTO t3 SELECT * FROM t1");
        assert!(state.touch("SELECT * FROM t2") && !state.touch("SELECT * FROM t3"));
        state.clear();
        assert!(!state.touch("SELECT * FROM v1"));
        state.failed("CREATE TRIGGER g AFTER DELETE ON t1 FOR EACH ROW INSERT INTO audit SELECT 1");
        assert!(state.touch("SELECT * FROM audit") && state.touch("SELECT * FROM t1"));
        state.failed("EXPLAIN ANALYZE DELETE FROM t4 WHERE a");
        assert!(state.touch("SELECT count(*) FROM t4"));
        state.failed("COPY t5 TO '/tmp/x/parts' (FORMAT parquet)");
        assert!(state.touch("SELECT * FROM '/tmp/x/parts/a=1/*.parquet'"));
        assert!(!state.touch("SELECT * FROM '/tmp/x/others/*.parquet'"));
    }

    #[test]
    fn targets_of_statements() {
        for (sql, name) in [
            ("UPDATE t SET a = 1", Some("t")),
            ("DELETE FROM main.t WHERE a", Some("t")),
            ("INSERT OR REPLACE INTO t VALUES (1)", Some("t")),
            ("CREATE TABLE IF NOT EXISTS \"t\"(a INT)", Some("t")),
            // No row is another for it; at most a later one is accepted.
            ("CREATE UNIQUE INDEX i ON t(a)", None),
            ("CREATE INDEX i ON t(a)", None),
            ("CREATE TRIGGER g AFTER INSERT ON t BEGIN END", Some("t")),
            ("DROP VIEW IF EXISTS v", Some("v")),
            ("WITH c AS (INSERT INTO t SELECT 1 RETURNING *) SELECT * FROM c", Some("t")),
            ("SELECT 1", None),
            ("PRAGMA x", None),
        ] {
            let words: Vec<String> = words(sql).collect();
            assert_eq!(target(&words).as_deref(), name, "{sql}");
        }
    }

    #[test]
    fn what_cannot_be_told_touches_everything() {
        let mut state = Consequences::default();
        state.failed("SET x = 1");
        assert!(!state.touch_rows("SELECT 1"));
        state.failed("SET default_null_order = 'nulls_first'");
        assert!(state.touch_rows("SELECT 1") && !state.touch("SELECT 1"));
        state.clear();
        state.failed("ROLLBACK");
        assert!(state.touch_rows("SELECT 1"));
        state.failed("USE other");
        assert!(state.touch("SELECT 1"));
    }
}
