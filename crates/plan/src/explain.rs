//! Plans as text (EXPLAIN).
