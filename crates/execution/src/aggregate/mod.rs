//! Aggregation (P-HYPER 4.4).
