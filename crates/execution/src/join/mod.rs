//! Hash join (P-HYPER 4.1).

/// The build side of a join.
pub struct JoinTable {}
