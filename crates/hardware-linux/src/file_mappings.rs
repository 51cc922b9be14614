//! Files in memory, and what happens when one of their pages cannot be read (docs/design/10-files.md, "mapped").
//!
//! Key decision: the kernel answers a look at such a page with SIGBUS, which would end the process. The handler marks the
//! mapping as failed and puts zeros in the place of the page and all behind it; then the reader goes on, and who asks
//! [`hardware::FileMapping::failed`] afterwards knows that what was read is worth nothing. A SIGBUS at any other address goes
//! to whoever handled it before.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::{NonNull, null_mut};

use hardware::FileMapping;
use stdx::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use stdx::sync::{Arc, Mutex, OnceLock};

use crate::kernel;

/// A file in memory.
struct LinuxFileMapping {
    base: NonNull<u8>,
    bytes: usize,
    /// Length of the mapping: whole pages.
    length: usize,
    slot: &'static Slot,
    failed: Arc<AtomicBool>,
}

// SAFETY: the mapping is owned, never written, and unmapped by its last owner only.
unsafe impl Send for LinuxFileMapping {}
// SAFETY: as above.
unsafe impl Sync for LinuxFileMapping {}

/// What the handler knows of a mapping. Slots are never freed, so that a handler may walk them at any time.
struct Slot {
    /// First address; [`FREE`] where there is no mapping.
    start: AtomicUsize,
    end: AtomicUsize,
    /// That of the mapping, which lives longer than its entry here.
    failed: AtomicPtr<AtomicBool>,
    next: Option<&'static Slot>,
}

/// The start of no mapping.
const FREE: usize = usize::MAX;

/// Signals belong to the process, so this state does too.
static NEWEST: AtomicPtr<Slot> = AtomicPtr::new(null_mut());
/// Held by whoever changes slots.
static CHANGE: OnceLock<Mutex<()>> = OnceLock::new();
static FAILURES: AtomicU64 = AtomicU64::new(0);
static PAGE: AtomicUsize = AtomicUsize::new(4096);
/// Who handled the signal before; an error where it could not be handled.
static BEFORE: OnceLock<Result<libc::sigaction, i32>> = OnceLock::new();

/// Maps a file to be read.
pub(crate) fn map(file: &File) -> io::Result<impl FileMapping + use<>> {
    install()?;
    let bytes = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
    let length = bytes.next_multiple_of(kernel::page_bytes());
    // SAFETY: a new mapping at an address of the kernel's choice overlaps nothing; it is only ever read.
    let raw = unsafe {
        libc::mmap(null_mut(), length, libc::PROT_READ, libc::MAP_SHARED, file.as_raw_fd(), 0)
    };
    let base = NonNull::new(raw.cast::<u8>()).filter(|_| raw != libc::MAP_FAILED);
    let base = base.ok_or_else(io::Error::last_os_error)?;
    let failed = Arc::new(AtomicBool::new(false));
    let slot = enter(base.addr().get(), length, Arc::as_ptr(&failed).cast_mut());
    Ok(LinuxFileMapping { base, bytes, length, slot, failed })
}

/// Whether a range lies in a mapped file.
pub(crate) fn contains(start: usize, bytes: usize) -> bool {
    slots().any(|it| it.has(start) && start.checked_add(bytes).is_some_and(|end| it.has(end - 1)))
}

/// How often the handler has put zeros somewhere.
pub(crate) fn failures() -> u64 {
    FAILURES.load(Ordering::SeqCst)
}

/// All slots; for handlers, too.
fn slots() -> impl Iterator<Item = &'static Slot> {
    let newest = NEWEST.load(Ordering::SeqCst);
    // SAFETY: a slot was leaked before it was stored there.
    let newest = unsafe { newest.as_ref() };
    std::iter::successors(newest, |it| it.next)
}

impl Slot {
    /// Whether an address lies in its mapping. What another thread changes meanwhile is not its mapping: a mapping that is
    /// being read stays.
    fn has(&self, address: usize) -> bool {
        let start = self.start.load(Ordering::SeqCst);
        let end = self.end.load(Ordering::SeqCst);
        start <= address && address < end && self.start.load(Ordering::SeqCst) == start
    }
}

/// Enters a mapping in a free slot.
fn enter(start: usize, length: usize, failed: *mut AtomicBool) -> &'static Slot {
    let _change = CHANGE.get_or_init(Mutex::default).lock();
    let slot = slots().find(|it| it.start.load(Ordering::SeqCst) == FREE).unwrap_or_else(|| {
        let (start, end) = (AtomicUsize::new(FREE), AtomicUsize::new(0));
        let next = slots().next();
        let slot = Box::leak(Box::new(Slot { start, end, failed: AtomicPtr::default(), next }));
        NEWEST.store(slot, Ordering::SeqCst);
        slot
    });
    slot.failed.store(failed, Ordering::SeqCst);
    slot.end.store(start + length, Ordering::SeqCst);
    slot.start.store(start, Ordering::SeqCst);
    slot
}

impl FileMapping for LinuxFileMapping {
    fn base(&self) -> NonNull<u8> {
        self.base
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn failed(&self) -> &Arc<AtomicBool> {
        &self.failed
    }
}

impl Drop for LinuxFileMapping {
    fn drop(&mut self) {
        {
            let _change = CHANGE.get_or_init(Mutex::default).lock();
            self.slot.start.store(FREE, Ordering::SeqCst);
        }
        kernel::unmap(self.base, self.length);
    }
}

/// Handles the signal from now on.
fn install() -> io::Result<()> {
    let before = BEFORE.get_or_init(|| {
        PAGE.store(kernel::page_bytes(), Ordering::SeqCst);
        let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = on_fault;
        // SAFETY: sigaction is plain data for which all zeros are valid.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = handler as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        // SAFETY: as above.
        let mut before: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: `action` is complete, and its handler does only what a handler may.
        match unsafe { libc::sigaction(libc::SIGBUS, &action, &mut before) } {
            -1 => Err(io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL)),
            _ => Ok(before),
        }
    });
    before.as_ref().map(|_| ()).map_err(|it| io::Error::from_raw_os_error(*it))
}

/// Only what is allowed in a handler: atomics, mmap (a plain system call), and errno kept.
extern "C" fn on_fault(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    context: *mut libc::c_void,
) {
    // SAFETY: the kernel hands a valid siginfo to a handler that was installed with SA_SIGINFO. A code above zero says that
    // the kernel sends the signal, and then for an address.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr() as usize) };
    let slot = slots().find(|it| code > 0 && it.has(address));
    if slot.is_some_and(|it| put_zeros(it, address)) {
        return;
    }
    hand_on(signal, info, context);
}

/// Puts zeros in the place of a page and all behind it.
fn put_zeros(slot: &Slot, address: usize) -> bool {
    let page = address & !(PAGE.load(Ordering::SeqCst) - 1);
    let length = slot.end.load(Ordering::SeqCst) - page;
    // SAFETY: the mapping of a slot owns its flag, and is alive as a thread is reading it.
    if let Some(failed) = unsafe { slot.failed.load(Ordering::SeqCst).as_ref() } {
        failed.store(true, Ordering::SeqCst);
    }
    FAILURES.fetch_add(1, Ordering::SeqCst);
    // SAFETY: errno is a valid thread-local. The range is in a mapping of ours that is alive, as a thread is reading it, and is
    // only ever read; readers know by the flag that its bytes may change. The mapping is unmapped as a whole later.
    unsafe {
        let errno = *libc::__errno_location();
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE;
        let raw = libc::mmap(page as *mut _, length, libc::PROT_READ, flags, -1, 0);
        *libc::__errno_location() = errno;
        raw != libc::MAP_FAILED
    }
}

/// Lets whoever handled the signal before do what it does; the default, which ends the process, when the reader tries again.
fn hand_on(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let before = BEFORE.get().and_then(|it| it.as_ref().ok());
    match before {
        Some(it) if it.sa_sigaction != libc::SIG_DFL && it.sa_sigaction != libc::SIG_IGN => {
            // SAFETY: the address is that of a handler of the signal, which takes what its flags say.
            unsafe {
                if it.sa_flags & libc::SA_SIGINFO != 0 {
                    type Handler =
                        extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);
                    std::mem::transmute::<usize, Handler>(it.sa_sigaction)(signal, info, context);
                } else {
                    type Handler = extern "C" fn(libc::c_int);
                    std::mem::transmute::<usize, Handler>(it.sa_sigaction)(signal);
                }
            }
        }
        _ => {
            // SAFETY: sets the default action of a signal, for which a handler may call it.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn bytes(mapping: &dyn FileMapping) -> &[u8] {
        // SAFETY: the mapping is as long, and lives as long.
        unsafe { std::slice::from_raw_parts(mapping.base().as_ptr(), mapping.bytes()) }
    }

    #[test]
    fn a_file_that_is_cut_reads_as_zeros_and_says_so() {
        let path = std::env::temp_dir().join(format!("nodewise-mapped-{}", std::process::id()));
        let mut file =
            File::options().create(true).truncate(true).read(true).write(true).open(&path).unwrap();
        file.write_all(&[7; 5 * 4096 + 10]).unwrap();
        let (one, other) = (map(&file).unwrap(), map(&file).unwrap());
        std::fs::remove_file(&path).unwrap();
        assert!(bytes(&one).iter().all(|it| *it == 7), "also without a name");
        assert!(contains(one.base().addr().get(), 6 * 4096));
        assert!(!contains(one.base().addr().get(), 6 * 4096 + 1));
        file.set_len(4096).unwrap();
        let before = failures();
        assert!(!one.failed().load(Ordering::SeqCst));
        assert_eq!((bytes(&one)[0], bytes(&one)[3 * 4096], bytes(&one)[5 * 4096]), (7, 0, 0));
        assert!(one.failed().load(Ordering::SeqCst) && !other.failed().load(Ordering::SeqCst));
        assert_eq!(failures(), before + 1);
        let address = one.base().addr().get();
        drop(one);
        assert!(!contains(address, 1));
        file.set_len(5 * 4096).unwrap();
        let again = map(&file).unwrap();
        assert_eq!((bytes(&again)[0], bytes(&again)[4096]), (7, 0));
        assert!(!again.failed().load(Ordering::SeqCst), "zeros that are in the file");
    }
}
