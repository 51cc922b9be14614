//! Who calls, and the numbers of sessions and of what is held in them.

use tonic::Status;

use crate::scram::random;
use crate::traces::Parent;

pub const ID_BYTES: usize = 16;
/// The number of a session, or of what is held in one: random.
pub type Id = [u8; ID_BYTES];

/// Who calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    pub user: String,
    /// The session that the call names; `None` for a call that is one of its own.
    pub session: Option<Id>,
    /// The span of the client that the call is in, where statements are traced.
    pub parent: Option<Parent>,
}

/// A number that nobody guesses.
pub fn new_id() -> Result<Id, Status> {
    random().ok_or_else(|| Status::internal("there is no randomness"))
}
