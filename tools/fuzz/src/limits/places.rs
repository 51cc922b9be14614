//! Where statements run: on this machine, and on a modelled one whose disk and memory fail when they are told to.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hardware::samples;
use nodewise::{Database, DatabaseOptions};
use simulator::SimulatedMachine;
use stdx::Bytes;
use stdx::sync::Arc;

use crate::limits::faults::Faults;
use crate::limits::tables;
use crate::peers::nodewise::{Host, Nodewise};
use crate::peers::reply::{Peer, Reply};

/// How long a statement may take without a limit; what takes longer is not of use here.
const FREE: Duration = Duration::from_secs(2);
/// The same under limits, where files are written.
const LIMITED: Duration = Duration::from_secs(20);

/// A session under faults.
pub trait Place {
    /// The session.
    fn peer(&mut self) -> &mut Nodewise;

    /// Sets the limit, and makes things go wrong from now on.
    fn set(&mut self, faults: &Faults) -> Reply;

    /// What a statement has left behind; nothing as it should be.
    fn left(&self) -> Option<String>;

    /// Ends the faults.
    fn heal(&mut self);
}

/// This machine: a session without limits, and one with them, of one database.
pub struct Real {
    pub free: Nodewise,
    limited: Nodewise,
    folder: PathBuf,
}

impl Real {
    /// Opens it with the tables.
    pub fn open() -> Result<Self, String> {
        let folder = std::env::temp_dir().join(format!("nodewise-fuzz-{}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let options = DatabaseOptions { workers: Some(2), ..Default::default() };
        let database = Database::open(hardware_linux::open(), options);
        let database = database.map_err(|error| error.to_string())?;
        let session = |patience| Nodewise::over(&database, Host::Threads(2), patience);
        let (mut free, limited) = (session(FREE), session(LIMITED));
        tables::load(&database)?;
        free.run(tables::PLAIN);
        Ok(Self { free, limited, folder })
    }

    /// Begins anew, when a statement has broken it.
    pub fn reopen(&mut self) -> Result<(), String> {
        *self = Self::open()?;
        Ok(())
    }

    fn set_text(&mut self, sql: String) -> Reply {
        self.limited.run(&sql)
    }
}

impl Place for Real {
    fn peer(&mut self) -> &mut Nodewise {
        &mut self.limited
    }

    fn set(&mut self, faults: &Faults) -> Reply {
        let folder = match faults.no_folder {
            true => Path::new("/proc/no/such/place").to_owned(),
            false => self.folder.clone(),
        };
        let set = self.set_text(format!("SET temp_directory = '{}'", folder.display()));
        if set != Reply::Done {
            return set;
        }
        self.set_text(format!("SET memory_limit = '{}kB'", faults.memory))
    }

    fn left(&self) -> Option<String> {
        let names = std::fs::read_dir(&self.folder).map_or(0, Iterator::count);
        // Files without a name live as long as somebody has them open.
        let open = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
        let targets = open.filter_map(|it| std::fs::read_link(it.path()).ok());
        let open = targets.filter(|it| it.starts_with(&self.folder)).count();
        (names + open > 0).then(|| format!("{names} files and {open} open ones are left"))
    }

    fn heal(&mut self) {
        self.limited.run("SET memory_limit = DEFAULT");
    }
}

impl Drop for Real {
    fn drop(&mut self) {
        // What is left in it has been told.
        drop(std::fs::remove_dir_all(&self.folder));
    }
}

/// A modelled machine of four nodes.
pub struct Modelled {
    machine: Arc<SimulatedMachine>,
    session: Nodewise,
}

impl Modelled {
    /// Opens it with the tables, and a schedule of the seed.
    pub fn open(seed: u64) -> Result<Self, String> {
        let machine = SimulatedMachine::new(samples::four_sockets(), seed);
        let options = DatabaseOptions { workers: Some(4), ..Default::default() };
        let database = Database::open(machine.clone(), options);
        let database = database.map_err(|error| error.to_string())?;
        tables::load(&database)?;
        let host = Host::Modelled("four_sockets", seed);
        Ok(Self { machine, session: Nodewise::over(&database, host, LIMITED) })
    }
}

impl Place for Modelled {
    fn peer(&mut self) -> &mut Nodewise {
        &mut self.session
    }

    fn set(&mut self, faults: &Faults) -> Reply {
        let set = self.session.run(&format!("SET memory_limit = '{}kB'", faults.memory));
        self.machine.set_disk(Bytes(faults.room), faults.good_accesses);
        let (good, refused) = faults.refusals.unwrap_or_default();
        self.machine.set_memory(good, refused);
        set
    }

    fn left(&self) -> Option<String> {
        let (bytes, files) = self.machine.disk_content();
        (files > 0 || bytes.0 > 0).then(|| format!("{files} files of {bytes} are left"))
    }

    fn heal(&mut self) {
        self.machine.set_disk(Bytes(u64::MAX), None);
        self.machine.set_memory(0, 0);
        self.session.run("SET memory_limit = DEFAULT");
    }
}
