//! Opens the database that a command works on, and sessions of it.

use std::path::Path;

use hardware::Machine;
use nodewise::{Database, DatabaseOptions, FolderCheck, Loading, Session};
use simulator::SimulatedMachine;
use stdx::sync::Arc;

use crate::arguments::{MachineArguments, PoolArguments};
use crate::failure::Failure;
use crate::switches::open_machine;
use crate::{measured, modelled, progress};

/// The seed of the schedules of a modelled machine: the same each time, so that what is shown can be shown again.
const SEED: u64 = 1;

/// Opens an empty database on this machine.
pub fn open_database(pool: &PoolArguments) -> Result<Arc<Database>, Failure> {
    open_database_on(&MachineArguments::default(), pool)
}

/// Opens the database of a folder on this machine.
pub fn open_folder(
    path: &Path,
    pool: &PoolArguments,
    loading: Loading,
) -> Result<Arc<Database>, Failure> {
    let machine: Arc<dyn Machine> = open_machine()?;
    if !path.exists() {
        eprintln!("note: {} is a new database", path.display());
    }
    let progress = progress::for_people(&machine);
    let options = DatabaseOptions { loading, ..options(&*machine, pool) };
    Ok(Database::open_dir(machine, path, options, &*progress)?)
}

/// Looks through the folder of a database.
pub fn check_folder(path: &Path, pool: &PoolArguments) -> Result<FolderCheck, Failure> {
    let machine: Arc<dyn Machine> = open_machine()?;
    let progress = progress::for_people(&machine);
    let options = options(&*machine, pool);
    Ok(Database::check_dir(machine, path, options, &*progress)?)
}

/// Opens an empty database on this machine, or on a modelled one.
pub fn open_database_on(
    machine: &MachineArguments,
    pool: &PoolArguments,
) -> Result<Arc<Database>, Failure> {
    let machine: Arc<dyn Machine> = match &machine.machine {
        None => open_machine()?,
        Some(name) => match hardware::samples::by_name(name) {
            Some(topology) => SimulatedMachine::new(topology, SEED),
            None => SimulatedMachine::with_model(modelled::machine(name, None)?, SEED, Vec::new()),
        },
    };
    let options = options(&*machine, pool);
    Ok(Database::open(machine, options)?)
}

fn options(machine: &dyn Machine, pool: &PoolArguments) -> DatabaseOptions {
    // Figures are kept by machine: those of this one say nothing of a modelled one.
    let performance = measured::load(machine.topology()).map(Arc::new);
    DatabaseOptions { workers: pool.threads, performance, ..DatabaseOptions::default() }
}

/// A session that shows a bar for long work.
pub fn open_session(database: &Arc<Database>) -> Session {
    database.make_verifiers_by(server::Users::verifier_of);
    let mut session = database.session();
    session.set_progress(progress::for_people(database.machine()));
    session
}
