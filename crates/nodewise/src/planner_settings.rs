//! Settings by which PostgreSQL's planner is steered, and what its clients set before they run anything else.
//!
//! Key decision: they are taken, checked and shown, and change nothing, as scripts set them in passing; how a query runs is
//! found by our own planner, and how much memory it has is said by `memory_limit`.

/// Words that a setting takes; the first of a row is what it then is.
pub(crate) type Words = &'static [&'static [&'static str]];

/// What a setting takes.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Words(Words),
    Text,
    /// A number, and a unit if it has one.
    Amount,
}

/// A setting: its name, its value when nobody has set it, what it takes, and what it is for.
pub(crate) type Setting = (&'static str, &'static str, Kind, &'static str);

const SWITCH: Kind = Kind::Words(&[&["on", "true", "yes", "1"], &["off", "false", "no", "0"]]);
const PLANS: &str = "kept, and of no effect: plans are found otherwise";
const AMOUNTS: &str = "kept, and of no effect: see memory_limit and threads";
const LETTERS: &str = "kept, and of no effect: texts are those of C";

const fn switch(name: &'static str) -> Setting {
    (name, "on", SWITCH, PLANS)
}

const fn off(name: &'static str) -> Setting {
    (name, "off", SWITCH, PLANS)
}

const fn cost(name: &'static str, usual: &'static str) -> Setting {
    (name, usual, Kind::Amount, PLANS)
}

const fn amount(name: &'static str, usual: &'static str) -> Setting {
    (name, usual, Kind::Amount, AMOUNTS)
}

const EXCLUSIONS: Kind =
    Kind::Words(&[&["partition"], &["on", "true", "yes", "1"], &["off", "false", "no", "0"]]);
const CACHES: Kind = Kind::Words(&[&["auto"], &["force_generic_plan"], &["force_custom_plan"]]);
const PARALLEL: Kind =
    Kind::Words(&[&["off", "false", "no", "0"], &["on", "true", "yes", "1"], &["regress"]]);

/// All of them, in the order of their names.
pub(crate) const PLANNER: &[Setting] = &[
    ("constraint_exclusion", "partition", EXCLUSIONS, PLANS),
    cost("cpu_index_tuple_cost", "0.005"),
    cost("cpu_operator_cost", "0.0025"),
    cost("cpu_tuple_cost", "0.01"),
    cost("cursor_tuple_fraction", "0.1"),
    ("debug_parallel_query", "off", PARALLEL, PLANS),
    amount("default_statistics_target", "100"),
    ("default_tablespace", "", Kind::Text, "kept, and of no effect: there is one"),
    amount("effective_cache_size", "4GB"),
    amount("effective_io_concurrency", "16"),
    switch("enable_async_append"),
    switch("enable_bitmapscan"),
    switch("enable_distinct_reordering"),
    switch("enable_gathermerge"),
    switch("enable_group_by_reordering"),
    switch("enable_hashagg"),
    switch("enable_hashjoin"),
    switch("enable_incremental_sort"),
    switch("enable_indexonlyscan"),
    switch("enable_indexscan"),
    switch("enable_material"),
    switch("enable_memoize"),
    switch("enable_mergejoin"),
    switch("enable_nestloop"),
    switch("enable_parallel_append"),
    switch("enable_parallel_hash"),
    switch("enable_partition_pruning"),
    off("enable_partitionwise_aggregate"),
    off("enable_partitionwise_join"),
    switch("enable_presorted_aggregate"),
    switch("enable_self_join_elimination"),
    switch("enable_seqscan"),
    switch("enable_sort"),
    switch("enable_tidscan"),
    amount("from_collapse_limit", "8"),
    switch("geqo"),
    amount("geqo_threshold", "12"),
    amount("hash_mem_multiplier", "2"),
    cost("jit_above_cost", "100000"),
    cost("jit_inline_above_cost", "500000"),
    cost("jit_optimize_above_cost", "500000"),
    amount("join_collapse_limit", "8"),
    ("lc_messages", "C", Kind::Text, LETTERS),
    ("lc_monetary", "C", Kind::Text, LETTERS),
    ("lc_numeric", "C", Kind::Text, LETTERS),
    ("lc_time", "C", Kind::Text, LETTERS),
    amount("maintenance_work_mem", "64MB"),
    amount("max_parallel_maintenance_workers", "2"),
    amount("max_parallel_workers", "8"),
    amount("max_parallel_workers_per_gather", "2"),
    amount("min_parallel_index_scan_size", "512kB"),
    amount("min_parallel_table_scan_size", "8MB"),
    switch("parallel_leader_participation"),
    cost("parallel_setup_cost", "1000"),
    cost("parallel_tuple_cost", "0.1"),
    ("plan_cache_mode", "auto", CACHES, PLANS),
    cost("random_page_cost", "4"),
    cost("recursive_worktable_factor", "10"),
    cost("seq_page_cost", "1"),
    amount("temp_buffers", "8MB"),
    amount("work_mem", "4MB"),
    ("xmloption", "content", Kind::Text, "kept, and of no effect: there is no XML"),
];
