//! By what the parts of a plan name each other.

use serde::{Deserialize, Serialize};

stdx::id! {
    /// A pipeline by its place in its plan; also names the state that its sink leaves behind.
    #[derive(Serialize, Deserialize)]
    PipelineId(u32)
}
