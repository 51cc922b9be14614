//! Sort and top-k (P-HYPER 4.5).
