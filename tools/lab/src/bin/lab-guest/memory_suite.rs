//! Segments lie where their page-socket maps say, and where they were asked to be.

use hardware::{Machine, NodeId, PagePolicy};
use lab::topology::GuestMachine;
use memory::{Allocator, PageSocketMap, Segment};
use stdx::Prng;
use stdx::sync::atomic::{AtomicBool, Ordering};
use stdx::sync::{Arc, thread};

use crate::checks::{Checks, Verdict, same, wrong};
use crate::kernel_view::KernelView;

const MIB: usize = 1 << 20;

/// What the checks of this suite work with.
struct Bench {
    machine: Arc<dyn Machine>,
    allocator: Allocator,
    kernel: KernelView,
    nodes: Vec<NodeId>,
}

/// Runs the suite.
pub fn run(checks: &mut Checks, _: &GuestMachine) {
    let bench = match open() {
        Ok(bench) => bench,
        Err(message) => return checks.run("memory::can_be_checked", || Err(message)),
    };
    checks.run("memory::a_segment_lies_on_the_node_asked_for", || bound(&bench));
    checks.run("memory::an_interleaved_segment_is_dealt_evenly", || interleaved(&bench));
    checks.run("memory::the_first_touch_decides", || first_touch(&bench));
    checks.run("memory::a_segment_moves_and_keeps_its_bytes", || moved(&bench));
    checks.run("memory::maps_stay_true_under_any_sequence_of_moves", || random_moves(&bench));
    checks.run("memory::readers_read_on_while_pages_move", || moved_under_readers(&bench));
    checks.run("memory::pages_moved_behind_our_back_are_found", || found_out(&bench));
}

fn open() -> Result<Bench, String> {
    let machine: Arc<dyn Machine> = hardware_linux::open();
    let nodes = machine.topology().memory_nodes();
    let allocator = Allocator::new(machine.clone());
    Ok(Bench { machine, allocator, kernel: KernelView::open()?, nodes })
}

impl Bench {
    fn segment(&self, bytes: usize, policy: PagePolicy) -> Result<Segment, String> {
        let mut segment = self.allocator.allocate(bytes, policy).map_err(wrong)?;
        for (at, byte) in segment.as_bytes_mut().iter_mut().enumerate() {
            *byte = pattern(at);
        }
        Ok(segment)
    }

    fn page(&self) -> usize {
        self.machine.page_bytes()
    }

    /// The kernel's node of each page of a segment.
    fn kernel_nodes(&self, segment: &Segment) -> Result<Vec<Option<NodeId>>, String> {
        let base = segment.as_bytes().as_ptr().addr();
        let pages = segment.bytes().div_ceil(self.page());
        self.kernel.nodes(base, pages, self.page())
    }

    /// An error unless the segment's map and the kernel name the same node for each page.
    fn agree(&self, segment: &Segment, map: &PageSocketMap) -> Verdict {
        let base = segment.as_bytes().as_ptr().addr();
        for (page, kernel) in self.kernel_nodes(segment)?.into_iter().enumerate() {
            let ours = map.node_of(base + page * self.page());
            same(format!("page {page} of {} bytes: ours", segment.bytes()), ours, kernel)?;
        }
        Ok(())
    }

    fn agree_after_asking(&self, segment: &Segment) -> Verdict {
        let map = segment.locate().map_err(wrong)?;
        self.agree(segment, &map)
    }

    fn agree_now(&self, segment: &Segment) -> Verdict {
        self.agree(segment, &segment.page_map())?;
        same("misplaced pages", segment.verify().map_err(wrong)?.len(), 0)
    }
}

fn pattern(at: usize) -> u8 {
    (at / 61 % 251) as u8
}

fn whole(segment: &Segment) -> Verdict {
    let broken = segment.as_bytes().iter().enumerate().find(|&(at, byte)| *byte != pattern(at));
    match broken {
        None => Ok(()),
        Some((at, _)) => Err(format!("byte {at} of {} changed", segment.bytes())),
    }
}

fn bound(bench: &Bench) -> Verdict {
    for &node in &bench.nodes {
        for bytes in [4096, 3 * 4096 + 5, 2 * MIB, 3 * MIB + 4096] {
            let segment = bench.segment(bytes, PagePolicy::Node(node))?;
            for (page, kernel) in bench.kernel_nodes(&segment)?.into_iter().enumerate() {
                same(format!("page {page} of {bytes} bytes on node {node}"), kernel, Some(node))?;
            }
            bench.agree_now(&segment)?;
            bench.agree_after_asking(&segment)?;
        }
    }
    Ok(())
}

fn interleaved(bench: &Bench) -> Verdict {
    let count = bench.nodes.len();
    // Whole rounds: of pages in a piece of a shared chunk and in a mapping; of huge pages where there is room.
    let sizes = [8 * count * 4096, count * MIB, 4 * count * 2 * MIB];
    let sizes = if count > 4 { &sizes[..2] } else { &sizes[..] };
    for (turn, &bytes) in (0..count.min(4)).flat_map(|turn| sizes.iter().map(move |it| (turn, it)))
    {
        let mut nodes = bench.nodes.clone();
        nodes.rotate_left(turn);
        let segment = bench.segment(bytes, PagePolicy::Interleave(nodes.clone()))?;
        let found = bench.kernel_nodes(&segment)?;
        for node in &nodes {
            let pages = found.iter().filter(|it| **it == Some(*node)).count();
            same(format!("pages on node {node}, of {}", found.len()), pages, found.len() / count)?;
        }
        bench.agree_now(&segment)?;
        bench.agree_after_asking(&segment)?;
    }
    Ok(())
}

fn first_touch(bench: &Bench) -> Verdict {
    for &node in &bench.nodes {
        let cpus: Vec<_> = bench.machine.topology().cpus_of(node).map(|it| it.id).collect();
        if cpus.is_empty() {
            continue;
        }
        let segment = thread::scope(|scope| {
            let touching = scope.spawn(|| {
                bench.machine.confine(&cpus);
                bench.segment(2 * MIB, PagePolicy::FirstTouch)
            });
            touching.join().unwrap_or_else(|_| Err("the thread panicked".to_owned()))
        })?;
        for (page, kernel) in bench.kernel_nodes(&segment)?.into_iter().enumerate() {
            same(format!("page {page} touched from node {node}"), kernel, Some(node))?;
        }
        bench.agree_after_asking(&segment)?;
        // A recycled segment was touched before.
        drop(segment);
        bench.allocator.trim();
    }
    Ok(())
}

fn moved(bench: &Bench) -> Verdict {
    let segment = bench.segment(3 * MIB + 4096, PagePolicy::Node(bench.nodes[0]))?;
    for &node in bench.nodes.iter().rev() {
        segment.place(&PagePolicy::Node(node)).map_err(wrong)?;
        for (page, kernel) in bench.kernel_nodes(&segment)?.into_iter().enumerate() {
            same(format!("page {page} moved to node {node}"), kernel, Some(node))?;
        }
        bench.agree_now(&segment)?;
        whole(&segment)?;
    }
    segment.place(&PagePolicy::Interleave(bench.nodes.clone())).map_err(wrong)?;
    bench.agree_now(&segment)?;
    whole(&segment)
}

fn random_moves(bench: &Bench) -> Verdict {
    let mut random = Prng::new(0x1ab);
    let bytes = 4 * MIB;
    let pages = bytes / bench.page();
    let segment = bench.segment(bytes, PagePolicy::Interleave(bench.nodes.clone()))?;
    for _ in 0..24 {
        let first = random.below(pages as u64) as usize;
        let count = 1 + random.below((pages - first) as u64) as usize;
        let node = bench.nodes[random.below(bench.nodes.len() as u64) as usize];
        let policy = match random.below(3) {
            0 => PagePolicy::Interleave(bench.nodes.clone()),
            _ => PagePolicy::Node(node),
        };
        let range = first * bench.page()..(first + count) * bench.page();
        segment.place_range(range, &policy).map_err(wrong)?;
        bench.agree_now(&segment)?;
    }
    bench.agree_after_asking(&segment)?;
    whole(&segment)
}

fn moved_under_readers(bench: &Bench) -> Verdict {
    let segment = bench.segment(2 * MIB, PagePolicy::Node(bench.nodes[0]))?;
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let mut rounds = 0;
                    while !stop.load(Ordering::Acquire) {
                        whole(&segment)?;
                        rounds += 1;
                    }
                    Ok::<usize, String>(rounds)
                })
            })
            .collect();
        let mut verdict = Ok(());
        for &node in bench.nodes.iter().cycle().take(12) {
            let placed = segment.place(&PagePolicy::Node(node)).map_err(wrong);
            verdict = verdict.and(placed).and_then(|()| bench.agree_now(&segment));
        }
        stop.store(true, Ordering::Release);
        for reader in readers {
            let rounds = reader.join().map_err(|_| "a reader panicked".to_owned())?;
            rounds?;
        }
        verdict
    })?;
    whole(&segment)
}

fn found_out(bench: &Bench) -> Verdict {
    let [first, .., last] = bench.nodes[..] else { return Ok(()) };
    let segment = bench.segment(2 * MIB, PagePolicy::Node(first))?;
    bench.agree_now(&segment)?;
    let base = std::ptr::NonNull::from(segment.as_bytes()).cast::<u8>();
    let part = 16 * bench.page();
    bench.machine.place(base, part, &PagePolicy::Node(last)).map_err(wrong)?;
    let misplaced: usize = segment.verify().map_err(wrong)?.iter().map(|it| it.pages).sum();
    let kernel = bench.kernel_nodes(&segment)?;
    let moved = kernel.iter().filter(|it| **it == Some(last)).count();
    if moved < 16 {
        return Err(format!("the kernel moved {moved} pages of 16"));
    }
    same("pages found misplaced", misplaced, moved)?;
    bench.agree_after_asking(&segment)?;
    same("misplaced after asking", segment.verify().map_err(wrong)?.len(), 0)
}
