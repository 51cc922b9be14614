//! What all connections share.

use nodewise::Database;
use stdx::sync::Arc;
use tokio::sync::Semaphore;

use crate::flight::Seats;
use crate::gate::Gate;
use crate::options::ServerOptions;
use crate::registry::Registry;

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
}
