//! The real machine that the tests run on, and the same with calls refused by a seccomp filter, as in a container.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::time::{Duration, Instant};

use hardware::{
    Machine, MachineError, Mapping, NodeId, PagePolicy, Step, Worker, WorkerSpec, WorkerTeam,
};
use hardware_linux::{LinuxMachine, LinuxOptions, keep_freed_memory, open, open_with};
use stdx::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use stdx::sync::{Arc, Mutex, thread};

const HUGE: usize = 2 << 20;

fn touch(mapping: &Mapping, offset: usize) {
    assert!(offset < mapping.bytes);
    // SAFETY: the byte is inside a mapping that only this test uses.
    unsafe {
        assert_eq!(mapping.base.as_ptr().add(offset).read(), 0, "memory starts zeroed");
        mapping.base.as_ptr().add(offset).write(1);
    }
}

fn home(machine: &LinuxMachine) -> NodeId {
    machine.topology().memory_nodes()[0]
}

#[test]
fn this_machine_can_be_described() {
    let machine = open();
    let topology = machine.topology();
    assert!(!topology.cpus.is_empty() && !topology.memory_nodes().is_empty());
    assert!(topology.to_tree().contains("node"));
    let (peak, now) = machine.resident_bytes();
    assert!(peak >= now && now.0 > 0);
    assert!(machine.available_bytes().0 > 0);
    let before = machine.now();
    machine.sleep(stdx::Nanos(2_000_000));
    assert!((machine.now() - before).0 >= 2_000_000);
    assert!(machine.page_bytes() >= 4096);
}

/// Whether the kernel was asked for huge pages where a mapping begins.
fn wants_huge_pages(mapping: &Mapping) -> bool {
    let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
    let address = mapping.base.addr().get();
    let mut inside = false;
    for line in maps.lines() {
        let range = line.split_once(' ').and_then(|it| it.0.split_once('-'));
        let ends = range.map(|(a, b)| (usize::from_str_radix(a, 16), usize::from_str_radix(b, 16)));
        if let Some((Ok(start), Ok(end))) = ends {
            inside = (start..end).contains(&address);
        } else if let Some(flags) = line.strip_prefix("VmFlags:").filter(|_| inside) {
            return flags.split_whitespace().any(|it| it == "hg");
        }
    }
    panic!("the mapping is not in /proc/self/smaps")
}

#[test]
fn huge_pages_are_asked_for_unless_switched_off() {
    keep_freed_memory();
    let asks = |machine: &LinuxMachine, policy: &PagePolicy| {
        let mapping = machine.map(2 * HUGE, policy).unwrap();
        touch(&mapping, HUGE);
        let wants = wants_huge_pages(&mapping);
        machine.unmap(mapping);
        wants
    };
    let machine = open();
    // The system's word, not what the machine found: a probe that fails for another reason would excuse itself.
    let forbidden = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled")
        .map_or(true, |it| it.contains("[never]"));
    for policy in [PagePolicy::FirstTouch, PagePolicy::Node(home(&machine))] {
        assert_eq!(asks(&machine, &policy), !forbidden, "{policy:?}");
        assert!(
            !asks(
                &open_with(LinuxOptions { huge_pages: false, ..LinuxOptions::default() }),
                &policy
            ),
            "{policy:?}"
        );
    }
    let told = machine.restrictions().iter().any(|it| it.call == "huge_pages");
    assert_eq!(told, forbidden);
}

#[test]
fn a_mapping_grows_with_its_pages() {
    let machine = open();
    let policy = PagePolicy::Node(home(&machine));
    let mapping = machine.map(2 * HUGE, &policy).unwrap();
    touch(&mapping, 0);
    touch(&mapping, 2 * HUGE - 1);
    let before = mapping.base;
    let grown = machine.extend(&mapping, 5 * HUGE, &policy).expect("Linux moves pages");
    assert_ne!(grown.base, before);
    assert_eq!((grown.bytes, grown.base.addr().get() % HUGE), (5 * HUGE, 0));
    for offset in [0, 2 * HUGE - 1] {
        // SAFETY: the byte is inside a mapping that only this test uses.
        assert_eq!(unsafe { grown.base.as_ptr().add(offset).read() }, 1);
    }
    touch(&grown, 2 * HUGE);
    touch(&grown, 5 * HUGE - 1);
    assert_eq!(
        wants_huge_pages(&grown),
        machine.restrictions().iter().all(|it| it.call != "huge_pages")
    );
    let spread = PagePolicy::Interleave(vec![home(&machine)]);
    assert!(machine.extend(&grown, 6 * HUGE, &spread).is_none());
    assert!(machine.extend(&grown, HUGE, &policy).is_none(), "it does not shrink");
    machine.unmap(grown);
}

#[test]
fn pages_are_mapped_touched_and_found() {
    let machine = open();
    let node = home(&machine);
    for policy in [
        PagePolicy::Node(node),
        PagePolicy::FirstTouch,
        PagePolicy::Interleave(vec![node]),
        PagePolicy::Interleave(vec![]),
    ] {
        for bytes in [0, 1, 4096, HUGE, 2 * HUGE + 5] {
            let mapping = machine.map(bytes, &policy).unwrap();
            assert_eq!(mapping.base.addr().get() % HUGE, 0);
            assert!(mapping.bytes >= bytes && mapping.bytes.is_multiple_of(machine.page_bytes()));
            touch(&mapping, 0);
            touch(&mapping, mapping.bytes - 1);
            let pages = mapping.bytes / machine.page_bytes();
            let nodes = machine.locate(mapping.base, pages).unwrap();
            assert_eq!(nodes.len(), pages);
            assert!(nodes[0].is_some() && nodes[pages - 1].is_some());
            machine.place(mapping.base, mapping.bytes, &PagePolicy::Node(node)).unwrap();
            machine.place(mapping.base, 0, &policy).unwrap();
            machine.unmap(mapping);
        }
    }
}

#[test]
fn a_page_never_touched_is_nowhere() {
    let machine = open();
    if machine.restrictions().iter().any(|it| it.call.starts_with("move_pages")) {
        return;
    }
    let mapping = machine.map(16 * 4096, &PagePolicy::Node(home(&machine))).unwrap();
    touch(&mapping, 4096);
    let nodes = machine.locate(mapping.base, 3).unwrap();
    assert_eq!(nodes, [None, Some(home(&machine)), None]);
    machine.unmap(mapping);
}

#[test]
fn what_cannot_be_is_an_error() {
    let machine = open();
    let nowhere = PagePolicy::Node(NodeId(999));
    assert_eq!(machine.map(4096, &nowhere), Err(MachineError::NoSuchNode(NodeId(999))));
    let some = PagePolicy::Interleave(vec![home(&machine), NodeId(998)]);
    assert_eq!(machine.map(4096, &some), Err(MachineError::NoSuchNode(NodeId(998))));
    for bytes in [usize::MAX, usize::MAX - 4096, 1 << 62, 1 << 46] {
        let refused = machine.map(bytes, &PagePolicy::FirstTouch);
        assert_eq!(refused, Err(MachineError::OutOfMemory { bytes }), "{bytes}");
    }
    let mapping = machine.map(2 * 4096, &PagePolicy::FirstTouch).unwrap();
    assert!(machine.place(mapping.base, 3 * 4096, &PagePolicy::FirstTouch).is_err());
    assert!(machine.place(mapping.base, usize::MAX, &PagePolicy::FirstTouch).is_err());
    assert!(machine.locate(mapping.base, usize::MAX).is_err());
    assert!(machine.place(mapping.base, 4096, &nowhere).is_err());
    let inside = NonNull::new(mapping.base.as_ptr().wrapping_add(1)).unwrap();
    assert!(machine.locate(inside, 1).is_err());
    machine.unmap(mapping);
}

#[test]
fn promises_count_though_nothing_was_touched() {
    let machine = open();
    let most = (machine.available_bytes().0 / 10 * 6) as usize;
    let first = machine.map(most, &PagePolicy::FirstTouch).unwrap();
    let second = machine.map(most, &PagePolicy::FirstTouch);
    assert_eq!(second, Err(MachineError::OutOfMemory { bytes: most }));
    machine.unmap(first);
    machine.unmap(machine.map(most, &PagePolicy::FirstTouch).unwrap());
}

#[test]
fn a_foreign_mapping_is_not_unmapped() {
    let machine = open();
    let mapping = machine.map(4096, &PagePolicy::FirstTouch).unwrap();
    let wrong = Mapping { base: mapping.base, bytes: 2 * 4096 };
    assert!(catch_unwind(AssertUnwindSafe(|| machine.unmap(wrong))).is_err());
    machine.unmap(mapping);
}

/// Takes from a common queue; idle while it is empty.
struct Taker {
    queue: Arc<Mutex<usize>>,
    taken: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
    team: Arc<Mutex<Option<Arc<dyn WorkerTeam>>>>,
}

impl Worker for Taker {
    fn step(&mut self) -> Step {
        if self.stop.load(Ordering::Acquire) {
            return Step::Stopped;
        }
        let mut left = self.queue.lock();
        if *left == 0 {
            return Step::Idle;
        }
        *left -= 1;
        drop(left);
        self.taken.fetch_add(1, Ordering::AcqRel);
        let team = self.team.lock().clone();
        if let Some(team) = team {
            team.notify();
        }
        Step::Worked
    }
}

fn specs<W: Worker + 'static>(machine: &LinuxMachine, bodies: Vec<W>) -> Vec<WorkerSpec> {
    let cpus = &machine.topology().cpus;
    let spec = |(at, body): (usize, W)| WorkerSpec {
        cpu: cpus[at % cpus.len()].id,
        name: format!("nw-{at}"),
        body: Box::new(body) as Box<dyn Worker>,
    };
    bodies.into_iter().enumerate().map(spec).collect()
}

/// Works where it is told to, and notes on which thread.
struct Roamer {
    queue: Arc<AtomicUsize>,
    ran: Arc<Mutex<Vec<thread::ThreadId>>>,
    moved: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
}

impl Worker for Roamer {
    fn step(&mut self) -> Step {
        if self.stop.load(Ordering::Acquire) {
            return Step::Stopped;
        }
        let one = |it: usize| it.checked_sub(1);
        if self.queue.fetch_update(Ordering::AcqRel, Ordering::Acquire, one).is_err() {
            return Step::Idle;
        }
        self.ran.lock().push(thread::current().id());
        Step::Worked
    }

    fn moved(&mut self) {
        self.moved.fetch_add(1, Ordering::AcqRel);
    }
}

#[test]
fn a_thread_that_waits_works_in_the_place_of_a_worker() {
    let machine = open();
    let cpus = machine.topology().cpus.len();
    let (queue, ran) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
    let (moved, stop) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let body = |_| Roamer {
        queue: queue.clone(),
        ran: ran.clone(),
        moved: moved.clone(),
        stop: stop.clone(),
    };
    let team = machine.start(specs(&machine, (0..cpus).map(body).collect())).unwrap();
    assert_eq!(team.borrow(0), None, "none of the first none");
    let me = thread::current().id();
    for round in 1..=200 {
        let worker = loop {
            if let Some(worker) = team.borrow(cpus) {
                break worker;
            }
            thread::yield_now();
        };
        if let Some(other) = team.borrow(cpus) {
            assert_ne!(other, worker, "it is lent");
            team.give_back(other, &|| true);
        }
        queue.store(3, Ordering::Release);
        assert!(team.work_until(worker, &|| queue.load(Ordering::Acquire) == 0));
        let found = round % 2 == 0;
        if found {
            queue.store(1, Ordering::Release);
        }
        team.give_back(worker, &|| !found);
        // What was left is taken by a worker that was woken, or spins.
        while queue.load(Ordering::Acquire) > 0 {
            thread::yield_now();
        }
    }
    assert!(moved.load(Ordering::Acquire) >= 400);
    assert!(ran.lock().contains(&me) && ran.lock().iter().any(|it| *it != me));
    stop.store(true, Ordering::Release);
    team.wake(&[], usize::MAX);
    team.join();
}

#[test]
fn a_team_loses_no_work_between_sleeps() {
    let machine = open();
    for workers in [1, 2, 5] {
        let queue = Arc::new(Mutex::new(0));
        let taken = Arc::new(AtomicUsize::new(0));
        let stop = Arc::new(AtomicBool::new(false));
        let slot = Arc::new(Mutex::new(None));
        let bodies = (0..workers).map(|_| Taker {
            queue: queue.clone(),
            taken: taken.clone(),
            stop: stop.clone(),
            team: slot.clone(),
        });
        let team = machine.start(specs(&machine, bodies.collect())).unwrap();
        *slot.lock() = Some(team.clone());
        let mut wanted = 0;
        for round in 0..200_usize {
            *queue.lock() += round % 7;
            wanted += round % 7;
            team.wake(&[round % workers], round % 3 + 1);
            if round % 10 == 0 {
                team.wait_until(&|| taken.load(Ordering::Acquire) == wanted);
            }
            if round % 50 == 0 {
                // Long enough for all to park.
                thread::sleep(Duration::from_millis(2));
            }
        }
        team.wait_until(&|| taken.load(Ordering::Acquire) == wanted);
        stop.store(true, Ordering::Release);
        team.wake(&[], usize::MAX);
        team.join();
        team.join();
        *slot.lock() = None;
    }
}

/// Holds a lock for as long as the test does, once.
struct Blocked {
    lock: Arc<Mutex<()>>,
    inside: Arc<AtomicUsize>,
}

impl Worker for Blocked {
    fn step(&mut self) -> Step {
        self.inside.fetch_add(1, Ordering::AcqRel);
        drop(self.lock.lock());
        self.inside.fetch_add(1, Ordering::AcqRel);
        Step::Stopped
    }
}

/// Rests until told to stop.
struct Resting(Arc<AtomicBool>, Arc<AtomicUsize>);

impl Worker for Resting {
    fn step(&mut self) -> Step {
        self.1.fetch_add(1, Ordering::AcqRel);
        if self.0.load(Ordering::Acquire) {
            return Step::Stopped;
        }
        Step::Rest(stdx::Nanos(3_600_000_000_000))
    }
}

#[test]
fn a_worker_in_a_lock_is_blocked_and_one_that_rests_is_nudged() {
    let machine = open();
    let (stop, looks) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let resting = Resting(stop.clone(), looks.clone());
    let team = machine.start(specs(&machine, vec![resting])).unwrap();
    let (lock, inside) = (Arc::new(Mutex::new(())), Arc::new(AtomicUsize::new(0)));
    let held = lock.lock();
    let body = Box::new(Blocked { lock: lock.clone(), inside: inside.clone() });
    let cpu = machine.topology().cpus[0].id;
    let spec = |name: &str, body| WorkerSpec { cpu, name: name.to_owned(), body };
    assert_eq!(team.add(spec("a (new) one", body)).unwrap(), 1);
    while !team.is_blocked(1) {
        assert!(inside.load(Ordering::Acquire) < 2);
        thread::sleep(Duration::from_millis(1));
    }
    drop(held);
    while inside.load(Ordering::Acquire) < 2 {
        thread::sleep(Duration::from_millis(1));
    }
    while looks.load(Ordering::Acquire) == 0 {
        thread::sleep(Duration::from_millis(1));
    }
    stop.store(true, Ordering::Release);
    team.nudge(0);
    team.join();
    let late = Box::new(Resting(stop, looks.clone()));
    assert!(team.add(spec("late", late)).is_err(), "nobody joins a team that has ended");
    assert_eq!(looks.load(Ordering::Acquire), 2);
}

#[test]
fn a_worker_can_be_confined_and_set_free() {
    let machine = open();
    let all = machine.topology().cpus.clone();
    thread::spawn(move || {
        machine.confine(&[all[0].id]);
        let refused = machine.restrictions().iter().any(|it| it.call == "set_affinity");
        assert!(refused || machine.running_cpu() == Some(all[0].id));
        machine.confine(&[]);
        assert!(all.iter().any(|it| Some(it.id) == machine.running_cpu()));
    })
    .join()
    .unwrap();
}

/// Stops when it has panicked or when told.
struct Bomb(Arc<AtomicBool>);

impl Worker for Bomb {
    fn step(&mut self) -> Step {
        if self.0.load(Ordering::Acquire) {
            panic!("boom in a step");
        }
        Step::Idle
    }
}

fn text(thrown: &(dyn std::any::Any + Send)) -> String {
    let text = thrown.downcast_ref::<&str>().map(|it| (*it).to_owned());
    text.or_else(|| thrown.downcast_ref::<String>().cloned()).unwrap_or_default()
}

#[test]
fn a_panic_in_a_step_reaches_those_who_wait() {
    let machine = open();
    let light = Arc::new(AtomicBool::new(false));
    let team = machine.start(specs(&machine, vec![Bomb(light.clone())])).unwrap();
    light.store(true, Ordering::Release);
    team.wake(&[0], 1);
    let waited = catch_unwind(AssertUnwindSafe(|| team.wait_until(&|| false))).unwrap_err();
    assert_eq!(text(waited.as_ref()), "worker nw-0 panicked: boom in a step");
    let joined = catch_unwind(AssertUnwindSafe(|| team.join())).unwrap_err();
    assert_eq!(text(joined.as_ref()), "boom in a step");
}

#[test]
fn idle_workers_sleep() {
    let machine = open();
    let light = Arc::new(AtomicBool::new(false));
    let mut specs = specs(&machine, vec![Bomb(light.clone()), Bomb(light.clone())]);
    specs.iter_mut().for_each(|it| it.name = "nw-sleepy".to_owned());
    let team = machine.start(specs).unwrap();
    let asleep = || {
        let tasks = std::fs::read_dir("/proc/self/task").unwrap();
        let stats =
            tasks.filter_map(|it| std::fs::read_to_string(it.ok()?.path().join("stat")).ok());
        stats.filter(|it| it.contains("(nw-sleepy) S ")).count()
    };
    let start = Instant::now();
    while asleep() < 2 {
        assert!(start.elapsed() < Duration::from_secs(20), "the workers never park");
        thread::sleep(Duration::from_millis(1));
    }
    light.store(true, Ordering::Release);
    team.wake(&[], usize::MAX);
    assert!(catch_unwind(AssertUnwindSafe(|| team.join())).is_err());
}

#[test]
fn an_empty_team_is_a_team() {
    let team = open().start(Vec::new()).unwrap();
    team.wake(&[0], 1);
    team.wait_until(&|| true);
    team.join();
}

/// Makes the kernel refuse some calls to this thread, as a container's seccomp profile does.
fn refuse(calls: &[libc::c_long]) {
    let op = |code: u32, jt: usize, jf: u8, k: u32| libc::sock_filter {
        code: code as u16,
        jt: jt as u8,
        jf,
        k,
    };
    // Load the call's number; on a match jump to the last line, which refuses with EPERM.
    let mut program = vec![op(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0)];
    for (at, &call) in calls.iter().enumerate() {
        program.push(op(
            libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
            calls.len() - at,
            0,
            call as u32,
        ));
    }
    program.push(op(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW));
    let refused = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
    program.push(op(libc::BPF_RET | libc::BPF_K, 0, 0, refused));
    let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: the program is complete and outlives the call; it bears on this thread and its children only.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &filter), 0);
    }
}

#[test]
fn a_container_that_forbids_everything_still_works() {
    let refused = thread::spawn(|| {
        refuse(&[
            libc::SYS_mbind,
            libc::SYS_move_pages,
            libc::SYS_get_mempolicy,
            libc::SYS_sched_setaffinity,
            libc::SYS_madvise,
        ]);
        let machine = open();
        let calls: Vec<_> = machine.restrictions().iter().map(|it| it.call).collect();
        assert_eq!(
            calls,
            ["set_affinity", "mbind", "move_pages (query)", "move_pages", "huge_pages"]
        );
        assert!(machine.restrictions().iter().all(|it| it.consequence.starts_with("refused")));
        let node = home(&machine);
        let mapping = machine.map(2 * HUGE, &PagePolicy::Node(node)).unwrap();
        touch(&mapping, 0);
        machine.place(mapping.base, HUGE, &PagePolicy::Interleave(vec![node])).unwrap();
        assert_eq!(machine.locate(mapping.base, 3).unwrap(), [Some(node); 3]);
        machine.unmap(mapping);
        let light = Arc::new(AtomicBool::new(true));
        let team = machine.start(specs(&machine, vec![Bomb(light)])).unwrap();
        assert!(catch_unwind(AssertUnwindSafe(|| team.join())).is_err());
    });
    refused.join().unwrap();
}

#[test]
fn the_memory_of_each_node_is_told_afresh() {
    let machine = hardware_linux::open();
    for node in &machine.topology().nodes {
        let memory = machine.node_memory(node.id).unwrap();
        assert!(memory.free <= memory.total && memory.available <= memory.total, "{memory:?}");
    }
    assert_eq!(machine.node_memory(NodeId(u16::MAX)), None);
}
