//! What all connections share.

use nodewise::Database;
use stdx::sync::Arc;
use tokio::sync::Semaphore;

use crate::flight::Seats;
use crate::gate::Gate;
use crate::options::ServerOptions;
use crate::registry::Registry;
use crate::scram::Verifier;
use crate::stream::Origin;
use crate::traces::Traces;

/// What all connections share.
pub struct Shared {
    pub database: Arc<Database>,
    pub options: ServerOptions,
    pub registry: Arc<Registry>,
    /// Sessions of Flight SQL.
    pub flight: Arc<Seats>,
    pub gate: Gate,
    /// A place for each connection.
    pub places: Arc<Semaphore>,
    /// By which nobody can guess who is no user.
    pub secret: [u8; 32],
    /// Where traces go.
    pub traces: Option<Arc<Traces>>,
}

impl Shared {
    /// Whether clients that come through a door need no password.
    pub fn trusts(&self, origin: Origin) -> bool {
        match origin {
            Origin::Socket => true,
            Origin::Loopback(_) => self.options.trust_loopback,
            Origin::Network(_) => false,
        }
    }

    /// What checks the password of a role, if it has one.
    pub fn verifier(&self, role: &str) -> Option<Verifier> {
        self.database.verifier(role).and_then(|it| Verifier::parse(&it))
    }
}
