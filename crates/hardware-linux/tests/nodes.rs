//! Every node of the machine that the tests run on, by the kernel's own account: `/proc/self/numa_maps`. With one node
//! little can go wrong; the lab runs this file in guests of several (`docs/lab.md`).

use std::collections::BTreeMap;
use std::ptr::NonNull;

use hardware::{Machine, Mapping, NodeId, PagePolicy};
use hardware_linux::{LinuxMachine, open};

const HUGE: usize = 2 << 20;

/// Writes to each page.
fn touch(machine: &LinuxMachine, mapping: &Mapping) {
    for offset in (0..mapping.bytes).step_by(machine.page_bytes()) {
        // SAFETY: the byte is inside a mapping that only this test uses.
        unsafe { mapping.base.as_ptr().add(offset).write(offset as u8 | 1) }
    }
}

fn assert_intact(machine: &LinuxMachine, mapping: &Mapping) {
    for offset in (0..mapping.bytes).step_by(machine.page_bytes()) {
        // SAFETY: as in `touch`.
        let byte = unsafe { mapping.base.as_ptr().add(offset).read() };
        assert_eq!(byte, offset as u8 | 1, "at {offset}");
    }
}

/// What the kernel writes of the memory from `base` to `base + bytes`: policies, and pages per node. The kernel joins
/// neighbours of one policy into one line, so the ranges are those of mappings with unmapped pages around them.
fn kernel_view(base: usize, bytes: usize) -> (Vec<String>, BTreeMap<u16, usize>) {
    let text = std::fs::read_to_string("/proc/self/numa_maps").unwrap();
    let (mut policies, mut pages) = (Vec::new(), BTreeMap::new());
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let start = usize::from_str_radix(words.next().unwrap(), 16).unwrap();
        if !(base..base + bytes).contains(&start) {
            continue;
        }
        policies.push(words.next().unwrap().to_owned());
        for word in words {
            let Some((node, count)) = word.strip_prefix('N').and_then(|it| it.split_once('='))
            else {
                continue;
            };
            *pages.entry(node.parse().unwrap()).or_insert(0) += count.parse::<usize>().unwrap();
        }
    }
    (policies, pages)
}

/// `locate`, summed as the kernel sums.
fn located(machine: &LinuxMachine, mapping: &Mapping) -> BTreeMap<u16, usize> {
    let pages = mapping.bytes / machine.page_bytes();
    let mut sums = BTreeMap::new();
    for node in machine.locate(mapping.base, pages).unwrap().into_iter().flatten() {
        *sums.entry(node.0).or_insert(0) += 1;
    }
    sums
}

/// True where the kernel can be asked and obeys.
fn can_check(machine: &LinuxMachine) -> bool {
    std::fs::metadata("/proc/self/numa_maps").is_ok()
        && !machine
            .restrictions()
            .iter()
            .any(|it| ["mbind", "move_pages", "move_pages (query)"].contains(&it.call))
}

/// Maps memory with a page that is never mapped next to it being nobody's: the machine aligns to 2 MiB and maps no more.
fn mapped(machine: &LinuxMachine, bytes: usize, policy: &PagePolicy) -> Mapping {
    let mapping = machine.map(bytes, policy).unwrap();
    touch(machine, &mapping);
    mapping
}

#[test]
fn one_node_holds_all_pages() {
    let machine = open();
    if !can_check(&machine) {
        return;
    }
    let nodes = machine.topology().memory_nodes();
    for &node in &nodes {
        for bytes in [4096, 5 * 4096, HUGE, 2 * HUGE + 4096] {
            let mapping = mapped(&machine, bytes, &PagePolicy::Node(node));
            let (policies, pages) = kernel_view(mapping.base.addr().get(), mapping.bytes);
            if nodes.len() > 1 {
                assert_eq!(policies, [format!("prefer:{node}")], "{bytes} bytes");
                assert_eq!(pages, [(node.0, bytes / 4096)].into(), "{bytes} bytes");
            }
            assert_eq!(located(&machine, &mapping), [(node.0, bytes / 4096)].into());
            machine.unmap(mapping);
        }
    }
}

#[test]
fn interleaving_deals_evenly_from_any_node() {
    let machine = open();
    if !can_check(&machine) {
        return;
    }
    let mut nodes = machine.topology().memory_nodes();
    let count = nodes.len();
    let sizes = [count * 4096, count * HUGE / 4, count * HUGE, 4 * count * HUGE];
    for bytes in (0..count.min(4)).flat_map(|_| sizes) {
        if bytes == sizes[0] {
            nodes.rotate_left(1);
        }
        let policy = PagePolicy::Interleave(nodes.clone());
        let mapping = mapped(&machine, bytes, &policy);
        let found = located(&machine, &mapping);
        let (_, pages) = kernel_view(mapping.base.addr().get(), mapping.bytes);
        for node in &nodes {
            assert_eq!(
                found.get(&node.0),
                Some(&(bytes / count / 4096)),
                "node {node} of {nodes:?}"
            );
        }
        if nodes.len() > 1 {
            assert_eq!(found, pages);
        }
        let first = machine.locate(mapping.base, 1).unwrap();
        assert_eq!(first, [Some(nodes[0])], "the first page is the first node's");
        machine.unmap(mapping);
    }
}

#[test]
fn pages_move_to_where_they_are_placed() {
    let machine = open();
    if !can_check(&machine) {
        return;
    }
    let nodes = machine.topology().memory_nodes();
    let mapping = mapped(&machine, 2 * HUGE, &PagePolicy::FirstTouch);
    for &node in nodes.iter().rev() {
        machine.place(mapping.base, mapping.bytes, &PagePolicy::Node(node)).unwrap();
        let (_, pages) = kernel_view(mapping.base.addr().get(), mapping.bytes);
        assert_eq!(located(&machine, &mapping), [(node.0, 2 * HUGE / 4096)].into());
        if nodes.len() > 1 {
            assert_eq!(pages, [(node.0, 2 * HUGE / 4096)].into());
        }
        assert_intact(&machine, &mapping);
    }
    // A part in the middle, then all dealt out.
    let (first, last) = (nodes[0], nodes[nodes.len() - 1]);
    machine.place(mapping.base, mapping.bytes, &PagePolicy::Node(first)).unwrap();
    let middle = NonNull::new(mapping.base.as_ptr().wrapping_add(HUGE / 2)).unwrap();
    machine.place(middle, HUGE, &PagePolicy::Node(last)).unwrap();
    let found = located(&machine, &mapping);
    assert_eq!(found.values().sum::<usize>(), 2 * HUGE / 4096);
    if first != last {
        assert_eq!(found, [(first.0, HUGE / 4096), (last.0, HUGE / 4096)].into());
        let (_, pages) = kernel_view(mapping.base.addr().get(), mapping.bytes);
        assert_eq!(found, pages);
    }
    machine.place(mapping.base, mapping.bytes, &PagePolicy::Interleave(nodes.clone())).unwrap();
    let found = located(&machine, &mapping);
    let (_, pages) = kernel_view(mapping.base.addr().get(), mapping.bytes);
    if nodes.len() > 1 {
        assert_eq!(found, pages);
    }
    assert_eq!(found.len(), nodes.len());
    assert_intact(&machine, &mapping);
    machine.unmap(mapping);
}

#[test]
fn the_first_touch_is_of_the_thread_that_touches() {
    let machine = open();
    if !can_check(&machine) {
        return;
    }
    for node in machine.topology().memory_nodes() {
        let cpus: Vec<_> = machine.topology().cpus_of(node).map(|it| it.id).collect();
        if cpus.is_empty() {
            continue;
        }
        let machine = machine.clone();
        let toucher = stdx::sync::thread::spawn(move || {
            machine.confine(&cpus);
            let mapping = mapped(&machine, HUGE, &PagePolicy::FirstTouch);
            assert_eq!(located(&machine, &mapping), [(node.0, HUGE / 4096)].into());
            machine.unmap(mapping);
        });
        toucher.join().unwrap();
    }
}

#[test]
fn a_node_knows_its_memory_now() {
    let machine = open();
    for node in machine.topology().memory_nodes() {
        let before = machine.node_memory(node).unwrap();
        assert!(before.free <= before.total, "{before:?}");
    }
    assert!(machine.node_memory(NodeId(999)).is_none());
}
