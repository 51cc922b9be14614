//! Ctrl-C without running code in a signal handler: the handler writes a byte into a pipe, a thread reads it and calls.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd};

use stdx::sync::atomic::{AtomicI32, Ordering};
use stdx::sync::{Mutex, OnceLock, thread};

type Callback = Box<dyn Fn() + Send>;

/// Signals belong to the process, so this state does too: the one place without a machine to hand in.
static CALLBACK: OnceLock<Mutex<Callback>> = OnceLock::new();
static PIPE: AtomicI32 = AtomicI32::new(-1);

/// Calls `call` on a thread of its own at each SIGINT (Ctrl-C) instead of ending the process. A second call replaces the
/// first one's function. System calls that were waiting are restarted.
pub fn on_interrupt(call: impl Fn() + Send + 'static) -> io::Result<()> {
    let mut fresh = false;
    let mut call: Option<Callback> = Some(Box::new(call));
    let slot = CALLBACK.get_or_init(|| {
        fresh = true;
        Mutex::new(call.take().expect("invariant: taken once"))
    });
    if let Some(call) = call {
        *slot.lock() = call;
    }
    if fresh || PIPE.load(Ordering::Acquire) < 0 { install() } else { Ok(()) }
}

fn install() -> io::Result<()> {
    let mut ends = [-1_i32; 2];
    // SAFETY: pipe2 writes two descriptors into `ends`.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } == -1 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptors are new and owned by nobody else.
    let (read, write) = unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) };
    // SAFETY: a plain call on a descriptor we own; a full pipe must not block the handler.
    if unsafe { libc::fcntl(ends[1], libc::F_SETFL, libc::O_NONBLOCK) } == -1 {
        return Err(io::Error::last_os_error());
    }
    thread::Builder::new().name("nw-interrupt".into()).spawn(move || listen(File::from(read)))?;
    PIPE.store(write.into_raw_fd(), Ordering::Release);
    let handler: extern "C" fn(libc::c_int) = on_signal;
    // SAFETY: sigaction is plain data for which all zeros are valid.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler as usize;
    action.sa_flags = libc::SA_RESTART;
    // SAFETY: `action` is complete, its handler does only what a handler may, and the old action is not asked for.
    if unsafe { libc::sigaction(libc::SIGINT, &action, std::ptr::null_mut()) } == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Only what is allowed in a handler: an atomic load, write, and errno kept.
extern "C" fn on_signal(_signal: libc::c_int) {
    let pipe = PIPE.load(Ordering::Acquire);
    // SAFETY: errno is a valid thread-local, write reads one byte of a live local, and a failure (full pipe: the thread
    // has bytes to read anyway) is ignored.
    unsafe {
        let errno = *libc::__errno_location();
        libc::write(pipe, [1_u8].as_ptr().cast(), 1);
        *libc::__errno_location() = errno;
    }
}

/// Reads one byte per signal until the pipe fails, which it does not.
fn listen(mut pipe: File) {
    let mut byte = [0_u8];
    loop {
        match pipe.read(&mut byte) {
            Ok(1) => {
                if let Some(call) = CALLBACK.get() {
                    call.lock()();
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(_) | Err(_) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use stdx::parking::Bell;
    use stdx::sync::Arc;
    use stdx::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn each_function_is_called_until_it_is_replaced() {
        let bell = Arc::new(Bell::new());
        let counts = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        for at in 0..2 {
            let (bell_, counts_) = (bell.clone(), counts.clone());
            on_interrupt(move || {
                counts_[at].fetch_add(1, Ordering::SeqCst);
                bell_.ring();
            })
            .unwrap();
            // SAFETY: SIGINT has our handler by now.
            assert_eq!(unsafe { libc::raise(libc::SIGINT) }, 0);
            bell.wait_until(|| counts[at].load(Ordering::SeqCst) == 1);
        }
        assert_eq!(counts[0].load(Ordering::SeqCst), 1);
    }
}
