//! The system calls, each as a safe function that returns what the kernel said.
//!
//! mbind and move_pages have no wrapper in libc (libnuma has them), so they go through `syscall`.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;

/// Length of a huge page on x86-64 and on arm64 with 4 KiB pages.
pub const HUGE_BYTES: usize = 2 << 20;

const MPOL_DEFAULT: libc::c_ulong = 0;
const MPOL_PREFERRED: libc::c_ulong = 1;
const MPOL_INTERLEAVE: libc::c_ulong = 3;
const MPOL_MF_MOVE: libc::c_ulong = 1 << 1;

/// Bits of a node mask: more than any kernel's MAX_NUMNODES (1024).
const MASK_BITS: usize = 1024;
const WORD_BITS: usize = libc::c_ulong::BITS as usize;

/// PERF_COUNT_HW_CPU_CYCLES.
pub const CYCLES: u64 = 0;
/// PERF_COUNT_HW_INSTRUCTIONS.
pub const INSTRUCTIONS: u64 = 1;

/// The first version of perf_event_attr, of which the kernel takes the rest to be zero.
#[repr(C)]
#[derive(Default)]
struct CounterRequest {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup: u32,
    breakpoint: u32,
    address: u64,
}

/// A memory policy as mbind takes it.
#[derive(Clone, Copy, Debug)]
pub enum Policy<'a> {
    /// The policy of the thread: first touch.
    Default,
    /// One node while it has room, then the nearest that has.
    Preferred(u16),
    /// Dealt round a set of nodes.
    Interleave(&'a [u16]),
}

fn check(result: libc::c_long) -> io::Result<()> {
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Bytes of a base page.
pub fn page_bytes() -> usize {
    // SAFETY: sysconf reads a constant of the system and touches no memory of ours.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).ok().filter(|it| it.is_power_of_two()).unwrap_or(4096)
}

/// What a terminal shows at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TerminalSize {
    /// Letters of a line.
    pub columns: u16,
    /// Lines.
    pub lines: u16,
}

/// The size of the terminal behind standard output; `None` when there is none.
pub fn terminal_size() -> Option<TerminalSize> {
    // SAFETY: winsize is plain data for which all zeros are valid.
    let mut size: libc::winsize = unsafe { std::mem::zeroed() };
    // SAFETY: TIOCGWINSZ writes one winsize, which is what it gets.
    let answer = unsafe { libc::ioctl(libc::STDOUT_FILENO, libc::TIOCGWINSZ, &raw mut size) };
    (answer == 0 && size.ws_col > 0)
        .then_some(TerminalSize { columns: size.ws_col, lines: size.ws_row })
}

/// Where a mapping begins: `skew` units past a round of `period` units, as the kernel counts them.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    /// Bytes of a unit: a page, or a huge page.
    pub unit: usize,
    /// Units of a round.
    pub period: usize,
    /// Units of the round that come before.
    pub skew: usize,
}

impl Turn {
    /// The start of a huge page.
    pub const HUGE: Self = Self { unit: HUGE_BYTES, period: 1, skew: 0 };
}

/// Maps `bytes` zeroed bytes, a multiple of the page size. The kernel deals pages by the number of the unit, of which it
/// takes 32 bits before it divides (`offset_il_node` of Linux).
pub fn map(bytes: usize, turn: Turn) -> io::Result<NonNull<u8>> {
    let (period, skew) = (turn.period * turn.unit, turn.skew * turn.unit);
    let over = bytes.checked_add(period).ok_or(io::ErrorKind::OutOfMemory)?;
    // SAFETY: a new private anonymous mapping at an address of the kernel's choice overlaps nothing.
    let raw = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            over,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    if raw == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    let start = raw as usize % (turn.unit << 32);
    let head = (skew + period - start % period) % period;
    let base = raw.cast::<u8>().wrapping_add(head);
    // The kernel hands out whole pages, so head and tail are whole pages too.
    if head > 0 {
        unmap_raw(raw.cast(), head);
    }
    if period > head {
        unmap_raw(base.wrapping_add(bytes), period - head);
    }
    NonNull::new(base).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
}

/// Moves the pages of a mapping to the front of a longer, empty one, whose place it takes; nobody refers to either. What
/// is behind them becomes as they are: their policy, their advice, zeros. On an error only the empty one is gone.
pub fn move_mapping(
    from: NonNull<u8>,
    bytes: usize,
    room: NonNull<u8>,
    length: usize,
) -> io::Result<NonNull<u8>> {
    let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
    // SAFETY: both ranges are mappings of ours without references, and do not overlap as both are mapped.
    let raw = unsafe {
        libc::mremap(
            from.as_ptr().cast(),
            bytes,
            length,
            flags,
            room.as_ptr().cast::<libc::c_void>(),
        )
    };
    if raw == libc::MAP_FAILED {
        let error = io::Error::last_os_error();
        unmap(room, length);
        return Err(error);
    }
    Ok(room)
}

/// Gives back `bytes` from `base` on, which [`map`] returned and which nobody refers to.
pub fn unmap(base: NonNull<u8>, bytes: usize) {
    unmap_raw(base.as_ptr(), bytes);
}

fn unmap_raw(base: *mut u8, bytes: usize) {
    // SAFETY: the callers pass a range of a mapping of ours that nobody refers to: a trimmed edge nobody was given, or
    // a mapping whose token came back (`Machine::unmap`).
    let result = unsafe { libc::munmap(base.cast(), bytes) };
    // It can fail only by splitting one mapping too many (vm.max_map_count); the range then stays mapped, which harms
    // nobody.
    debug_assert_eq!(result, 0, "munmap: {}", io::Error::last_os_error());
}

/// Lets the allocator of the process keep what is freed, up to 128 MiB, and keep buffers of up to 32 MiB among it. As it
/// comes, it gives each of a load's buffers back to the kernel, which then clears pages for the next one: a quarter of
/// the time of loading TPC-H from Parquet. Where the allocator is another one nothing happens.
pub fn keep_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // SAFETY: plain numbers; these settings may be changed at any time.
        unsafe {
            libc::mallopt(libc::M_MMAP_THRESHOLD, 32 << 20);
            libc::mallopt(libc::M_TRIM_THRESHOLD, 128 << 20);
        }
    }
}

/// Has the kernel forget what it has of a file in memory, but for pages that are mapped or not written yet.
pub fn drop_cache(file: &std::fs::File) {
    // SAFETY: advice on a descriptor that is open; no memory of ours is touched.
    unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
}

/// Asks for huge pages in a range of ours, or for none.
pub fn advise_huge(base: NonNull<u8>, bytes: usize, huge: bool) -> io::Result<()> {
    let advice = if huge { libc::MADV_HUGEPAGE } else { libc::MADV_NOHUGEPAGE };
    // SAFETY: this advice changes how pages are backed, never their contents.
    check(unsafe { libc::madvise(base.as_ptr().cast(), bytes, advice) }.into())
}

/// Breaks the huge page under the page at `base`, if there is one, into base pages: else a part of it cannot move alone.
pub fn split_huge(base: NonNull<u8>, page: usize) {
    // SAFETY: MADV_COLD only changes when pages are given up under pressure, never their contents; what counts here is
    // that the kernel splits a huge page of which a part is named. Where it does not, the whole page moves later.
    unsafe { libc::madvise(base.as_ptr().cast(), page, libc::MADV_COLD) };
}

/// Sets the policy of a range; `migrate` also moves pages that are elsewhere.
pub fn bind(base: NonNull<u8>, bytes: usize, policy: Policy<'_>, migrate: bool) -> io::Result<()> {
    let mut mask: [libc::c_ulong; MASK_BITS / WORD_BITS] = [0; MASK_BITS / WORD_BITS];
    let mut set = |node: u16| match mask.get_mut(usize::from(node) / WORD_BITS) {
        Some(word) => {
            *word |= 1 << (usize::from(node) % WORD_BITS);
            Ok(())
        }
        None => Err(io::Error::from(io::ErrorKind::InvalidInput)),
    };
    let mode = match policy {
        Policy::Default => MPOL_DEFAULT,
        Policy::Preferred(node) => {
            set(node)?;
            MPOL_PREFERRED
        }
        Policy::Interleave(nodes) => {
            nodes.iter().try_for_each(|&it| set(it))?;
            MPOL_INTERLEAVE
        }
    };
    // The kernel reads one bit fewer than it is told.
    let (pointer, bits) = match mode {
        MPOL_DEFAULT => (std::ptr::null(), 0),
        _ => (mask.as_ptr(), MASK_BITS as libc::c_ulong + 1),
    };
    let flags = if migrate { MPOL_MF_MOVE } else { 0 };
    // SAFETY: mbind changes where pages live, never their contents; the mask outlives the call and has `bits` bits.
    check(unsafe {
        libc::syscall(libc::SYS_mbind, base.as_ptr(), bytes, mode, pointer, bits, flags)
    })
}

/// The node of each of `count` pages from `base` on; a negative number where the page has none.
pub fn query_pages(base: NonNull<u8>, count: usize, page: usize) -> io::Result<Vec<i32>> {
    let addresses: Vec<_> = (0..count).map(|it| base.as_ptr().wrapping_add(it * page)).collect();
    let mut status = vec![-libc::ENOENT; count];
    // SAFETY: with a null node list move_pages only writes `count` entries of `status`; the addresses are not followed.
    let result = unsafe {
        libc::syscall(
            libc::SYS_move_pages,
            0_usize,
            count,
            addresses.as_ptr(),
            std::ptr::null::<i32>(),
            status.as_mut_ptr(),
            0_usize,
        )
    };
    check(result).map(|()| status)
}

/// Moves pages of this process to the nodes given for each. Pages that cannot be moved stay where they are.
pub fn move_pages(pages: &[usize], nodes: &[i32]) -> io::Result<()> {
    assert_eq!(pages.len(), nodes.len(), "invariant: one node per page");
    let mut status = vec![0_i32; pages.len()];
    // SAFETY: both lists have `pages.len()` entries and outlive the call; moving a page keeps its contents and address.
    let result = unsafe {
        libc::syscall(
            libc::SYS_move_pages,
            0_usize,
            pages.len(),
            pages.as_ptr(),
            nodes.as_ptr(),
            status.as_mut_ptr(),
            MPOL_MF_MOVE,
        )
    };
    check(result)
}

/// The hardware threads that the calling thread may run on.
pub fn affinity() -> io::Result<Vec<u32>> {
    let mut words = 16;
    loop {
        let mut mask: Vec<libc::c_ulong> = vec![0; words];
        // SAFETY: the kernel writes at most the given number of bytes into `mask`.
        let got = unsafe {
            libc::syscall(
                libc::SYS_sched_getaffinity,
                0_usize,
                words * size_of::<libc::c_ulong>(),
                mask.as_mut_ptr(),
            )
        };
        if got >= 0 {
            let set =
                |bit: &u32| mask[*bit as usize / WORD_BITS] >> (*bit as usize % WORD_BITS) & 1;
            return Ok((0..(words * WORD_BITS) as u32).filter(|it| set(it) == 1).collect());
        }
        let error = io::Error::last_os_error();
        // EINVAL: the kernel's mask is wider than ours.
        if error.raw_os_error() != Some(libc::EINVAL) || words >= 1 << 12 {
            return Err(error);
        }
        words *= 2;
    }
}

/// Pins the calling thread to the given hardware threads.
pub fn set_affinity(cpus: &[u32]) -> io::Result<()> {
    let words = cpus.iter().max().map_or(1, |&it| it as usize / WORD_BITS + 1);
    let mut mask: Vec<libc::c_ulong> = vec![0; words];
    for &cpu in cpus {
        mask[cpu as usize / WORD_BITS] |= 1 << (cpu as usize % WORD_BITS);
    }
    // SAFETY: the kernel reads the given number of bytes of `mask` and changes nothing of ours.
    check(unsafe {
        libc::syscall(
            libc::SYS_sched_setaffinity,
            0_usize,
            words * size_of::<libc::c_ulong>(),
            mask.as_ptr(),
        )
    })
}

/// The number of the calling thread, as `/proc/self/task` lists it.
pub fn thread_id() -> i32 {
    // SAFETY: gettid reads a number and cannot fail.
    let id = unsafe { libc::syscall(libc::SYS_gettid) };
    i32::try_from(id).unwrap_or(-1)
}

/// The hardware thread that the calling thread is on at this moment.
pub fn running_cpu() -> Option<u32> {
    // SAFETY: sched_getcpu reads a number; -1 says that the kernel cannot tell.
    u32::try_from(unsafe { libc::sched_getcpu() }).ok()
}

/// Opens a hardware counter of the calling thread, in user mode alone, as a member of the group that `leader` leads.
pub fn open_counter(config: u64, leader: Option<&OwnedFd>) -> io::Result<OwnedFd> {
    const FORMAT_GROUP: u64 = 1 << 3;
    const EXCLUDE_KERNEL: u64 = 1 << 5;
    const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
    const CLOSE_ON_EXEC: libc::c_ulong = 1 << 3;
    let request = CounterRequest {
        size: size_of::<CounterRequest>() as u32,
        config,
        read_format: FORMAT_GROUP,
        flags: EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR,
        ..CounterRequest::default()
    };
    let group = leader.map_or(-1, AsRawFd::as_raw_fd);
    // SAFETY: the kernel reads `size` bytes of the request, all of which are set, and changes nothing of ours.
    let answer = unsafe {
        libc::syscall(libc::SYS_perf_event_open, &raw const request, 0, -1, group, CLOSE_ON_EXEC)
    };
    check(answer)?;
    // SAFETY: the kernel has just made this descriptor for us, and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(answer as i32) })
}

/// The counts of a group of two.
pub fn read_counters(leader: &OwnedFd) -> io::Result<[u64; 2]> {
    let mut counts = [0_u64; 3];
    // SAFETY: the kernel writes at most the bytes of `counts`: how many counters there are, then their counts.
    let answer =
        unsafe { libc::read(leader.as_raw_fd(), counts.as_mut_ptr().cast(), size_of_val(&counts)) };
    match usize::try_from(answer) {
        Ok(bytes) if bytes == size_of_val(&counts) => Ok([counts[1], counts[2]]),
        Ok(_) => Err(io::ErrorKind::UnexpectedEof.into()),
        Err(_) => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_start_where_asked() {
        let turns = |unit| [(1, 0), (4, 0), (4, 3), (3, 2)].map(|it| (unit, it.0, it.1));
        for (unit, period, skew) in [turns(4096), turns(HUGE_BYTES)].concat() {
            for bytes in [4096, HUGE_BYTES, 3 * HUGE_BYTES + 4096] {
                let base = map(bytes, Turn { unit, period, skew }).unwrap();
                assert_eq!(base.addr().get() / unit % (1 << 32) % period, skew);
                unmap(base, bytes);
            }
        }
        assert!(map(usize::MAX - 4095, Turn::HUGE).is_err());
    }

    #[test]
    fn the_affinity_mask_can_be_read_and_set_again() {
        let cpus = affinity().unwrap();
        assert!(!cpus.is_empty());
        set_affinity(&cpus).unwrap();
        assert_eq!(affinity().unwrap(), cpus);
        assert!(set_affinity(&[]).is_err(), "an empty mask is refused by the kernel");
    }

    #[test]
    fn nodes_past_the_mask_are_refused_before_the_call() {
        let base = map(4096, Turn::HUGE).unwrap();
        let far = bind(base, 4096, Policy::Preferred(u16::MAX), false);
        assert_eq!(far.unwrap_err().kind(), io::ErrorKind::InvalidInput);
        unmap(base, 4096);
    }
}
