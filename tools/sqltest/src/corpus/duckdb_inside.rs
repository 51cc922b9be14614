//! Statements that switch how DuckDB works inside, and nothing of what statements mean: its checks of itself, its files,
//! thresholds of its plans, what it tells of its work. They are no records of ours.

/// Whether a statement is `SET`, `RESET` or `PRAGMA` of such a switch.
pub fn is_about(sql: &str) -> bool {
    let sql = sql.trim().trim_end_matches(';');
    if sql.contains(';') {
        return false;
    }
    let mut words = sql
        .split(|it: char| !(it.is_ascii_alphanumeric() || it == '_'))
        .filter(|it| !it.is_empty())
        .map(str::to_ascii_lowercase);
    let verb = words.next().unwrap_or_default();
    if !matches!(&*verb, "set" | "reset" | "pragma") {
        return false;
    }
    let scope = |it: &String| matches!(&**it, "session" | "global" | "local");
    let name = words.find(|it| !scope(it)).unwrap_or_default();
    SWITCHES.contains(&&*name) || BEGINNINGS.iter().any(|it| name.starts_with(it))
}

/// Whether a query looks inside: at DuckDB's plans, the segments and compressions of its files, and its log. A plan that
/// has only a label is compared with the plans of that label.
pub fn is_look(sql: &str, expected: &[&str], labelled: bool) -> bool {
    let sql = sql.to_ascii_lowercase();
    let plans = ["physical_plan", "logical_opt", "logical_plan", "analyzed_plan"];
    let is_plan = sql.trim_start().starts_with("explain")
        && (labelled && expected.is_empty()
            || expected.iter().any(|line| plans.iter().any(|it| line.starts_with(it))));
    is_plan || LOOKS.iter().any(|it| sql.contains(it))
}

/// Functions and views that tell what is inside, and procedures that ask for it.
const LOOKS: [&str; 9] = [
    "pragma_storage_info",
    "pragma_metadata_info",
    "duckdb_logs",
    "duckdb_log_contexts",
    "enable_logging",
    "disable_logging",
    "enable_profiling",
    "disable_profiling",
    "duckdb_external_file_cache",
];

/// How the names of whole families begin.
const BEGINNINGS: [&str; 12] = [
    "debug_",
    "verify_",
    "force_",
    "profiling_",
    "index_scan_",
    "external_file_cache",
    "parquet_",
    "auto_checkpoint",
    "wal_autocheckpoint",
    "partitioned_write_",
    "read_ahead",
    "variant_",
];

/// Single names.
const SWITCHES: [&str; 51] = [
    "allocator_background_threads",
    "allocator_flush_threshold",
    "asof_loop_join_threshold",
    "async_threads",
    "autoinstall_known_extensions",
    "autoload_known_extensions",
    "checkpoint_threshold",
    "custom_profiling_settings",
    "delim_join_as_cte",
    "disable_checkpoint_on_shutdown",
    "disable_optimizer",
    "disable_profile",
    "disable_profiling",
    "disable_progress_bar",
    "disable_verification",
    "disable_verify_external",
    "disable_verify_parallelism",
    "disabled_optimizers",
    "dynamic_or_filter_threshold",
    "enable_caching_operators",
    "enable_checkpoint_on_shutdown",
    "enable_external_file_cache",
    "enable_logging",
    "enable_object_cache",
    "enable_optimizer",
    "enable_profile",
    "enable_profiling",
    "enable_progress_bar",
    "enable_verification",
    "explain_output",
    "external_threads",
    "immediate_transaction_mode",
    "lambda_syntax",
    "late_materialization_max_rows",
    "logging_level",
    "max_temp_directory_size",
    "max_vacuum_tasks",
    "merge_join_threshold",
    "nested_loop_join_threshold",
    "operator_memory_limit",
    "order_by_index_threshold",
    "ordered_aggregate_threshold",
    "perfect_ht_threshold",
    "pivot_filter_threshold",
    "prefer_range_joins",
    "preserve_insertion_order",
    "progress_bar_time",
    "storage_compatibility_version",
    "temp_directory",
    "threads",
    "tracked_metrics",
];

#[cfg(test)]
mod tests {
    use super::{is_about, is_look};

    #[test]
    fn looks_inside_are_told_by_words_and_plans() {
        let plan = ["physical_plan\t<REGEX>:.*HASH_JOIN.*"];
        assert!(is_look("EXPLAIN SELECT 1", &plan, false));
        assert!(is_look("EXPLAIN SELECT 1", &[], true) && !is_look("EXPLAIN SELECT 1", &[], false));
        assert!(!is_look("SELECT 1", &plan, true));
        assert!(is_look("SELECT compression FROM pragma_storage_info('t')", &["Roaring"], false));
        assert!(is_look("CALL enable_logging()", &[], false));
    }

    #[test]
    fn switches_are_told_from_what_means_something() {
        for sql in [
            "PRAGMA enable_verification;",
            "set threads=4",
            "SET GLOBAL wal_autocheckpoint = '1TB'",
            "PRAGMA debug_force_external='true'",
            "RESET disabled_optimizers",
        ] {
            assert!(is_about(sql), "{sql}");
        }
        for sql in [
            "PRAGMA table_info('t')",
            "SET default_null_order = 'nulls_first'",
            "SET threads = 4; SELECT 1",
            "SELECT threads",
            "SET",
        ] {
            assert!(!is_about(sql), "{sql}");
        }
    }
}
