//! `nodewise shard`: the engine of a shard, started by a coordinator, which asks on standard input and reads on standard output.

use std::io::{stdin, stdout};

use hardware::Machine;
use nodewise::distributed::ShardServer;
use nodewise::{Database, DatabaseOptions, NoProgress};
use stdx::sync::{Arc, Condvar, Mutex, thread};

use crate::arguments::ShardArguments;
use crate::failure::Failure;
use crate::frames;
use crate::switches::open_machine;

/// A request that has come and was not taken.
#[derive(Default)]
struct Next {
    request: Mutex<Option<Vec<u8>>>,
    came: Condvar,
}

/// Answers until the input ends.
pub fn run(options: &ShardArguments) -> Result<bool, Failure> {
    let machine: Arc<dyn Machine> = open_machine()?;
    let (workers, loading) = (options.pool.threads, options.loading);
    let settings = DatabaseOptions { workers, loading, ..DatabaseOptions::default() };
    let database = Database::open_dir(machine, &options.folder, settings, &NoProgress)?;
    let mut server = ShardServer::new(&database);
    let next: Arc<Next> = Arc::default();
    let reading = next.clone();
    thread::spawn(move || read(&reading));
    loop {
        let reply = server.reply(&next.wait());
        frames::write(&mut stdout().lock(), &reply)?;
    }
}

/// Reads requests, and ends the process with its input: nobody wants to know any more, and nothing is half written.
fn read(next: &Next) {
    let mut input = stdin().lock();
    while let Ok(Some(request)) = frames::read(&mut input) {
        *next.request.lock() = Some(request);
        next.came.notify_one();
    }
    std::process::exit(0);
}

impl Next {
    fn wait(&self) -> Vec<u8> {
        let mut request = self.request.lock();
        loop {
            if let Some(request) = request.take() {
                return request;
            }
            request = self.came.wait(request).unwrap_or_else(|it| it.into_inner());
        }
    }
}
