//! Buffers of pipelines: taken for a morsel or a query, given back touched and placed (P-HANA 5.2;
//! docs/design/02-memory-and-placement.md, "segments").

use std::marker::PhantomData;
use std::mem::size_of;
use std::ops::{Deref, DerefMut};

use hardware::{MachineError, NodeId, PagePolicy};
use stdx::sync::{Arc, Mutex};

use crate::{Allocator, Pod, Segment};

/// The smallest buffer, in bytes: below it the bookkeeping would cost more than the memory.
const SMALLEST: usize = 4096;

/// Re-usable buffers per node, in sizes of powers of two. Clones share everything.
#[derive(Clone)]
pub struct BufferPool(Arc<Shelves>);

struct Shelves {
    allocator: Allocator,
    /// Unused segments per node of the topology (in its order) and per power of two.
    nodes: Vec<Mutex<Vec<Vec<Segment>>>>,
}

impl BufferPool {
    /// An empty pool.
    pub fn new(allocator: Allocator) -> Self {
        let nodes = allocator.machine().topology().nodes.len();
        Self(Arc::new(Shelves { allocator, nodes: (0..nodes).map(|_| Mutex::default()).collect() }))
    }

    /// A buffer of `len` values with unspecified contents on a node. It goes back to the pool when it is dropped.
    pub fn take<T: Pod>(&self, len: usize, node: NodeId) -> Result<Buffer<T>, MachineError> {
        let topology = self.0.allocator.machine().topology();
        let shelf = topology.node_index(node).ok_or(MachineError::NoSuchNode(node))?;
        let bytes = len
            .checked_mul(size_of::<T>())
            .and_then(|it| it.max(SMALLEST).checked_next_power_of_two())
            .ok_or(MachineError::OutOfMemory { bytes: usize::MAX })?;
        let order = bytes.trailing_zeros() as usize;
        let kept = self.0.nodes[shelf].lock().get_mut(order).and_then(Vec::pop);
        let segment = match kept {
            Some(segment) => segment,
            None => self.0.allocator.allocate(bytes, PagePolicy::Node(node))?,
        };
        Ok(Buffer { segment: Some(segment), len, shelf, pool: self.clone(), values: PhantomData })
    }

    /// A buffer of `len` zeros on a node.
    pub fn take_zeroed<T: Pod>(&self, len: usize, node: NodeId) -> Result<Buffer<T>, MachineError> {
        let mut buffer = self.take::<T>(len, node)?;
        let bytes = len * size_of::<T>();
        buffer.segment_mut().as_bytes_mut()[..bytes].fill(0);
        Ok(buffer)
    }

    /// Gives all unused buffers back to the allocator.
    pub fn trim(&self) {
        for shelf in &self.0.nodes {
            let unused = std::mem::take(&mut *shelf.lock());
            drop(unused);
        }
    }
}

/// A buffer of a [`BufferPool`]; reads and writes like a slice, grows up to its capacity like a vector.
pub struct Buffer<T: Pod> {
    /// Present until the buffer is dropped.
    segment: Option<Segment>,
    len: usize,
    shelf: usize,
    pool: BufferPool,
    values: PhantomData<T>,
}

impl<T: Pod> Buffer<T> {
    fn segment(&self) -> &Segment {
        self.segment.as_ref().expect("invariant: a living buffer has its segment")
    }

    fn segment_mut(&mut self) -> &mut Segment {
        self.segment.as_mut().expect("invariant: a living buffer has its segment")
    }

    /// Values that fit without a larger buffer.
    pub fn capacity(&self) -> usize {
        self.segment().bytes() / size_of::<T>()
    }

    /// Sets the length, at most [`Buffer::capacity`]; values past the old length are unspecified.
    pub fn set_len(&mut self, len: usize) {
        assert!(len <= self.capacity(), "{len} values do not fit {}", self.capacity());
        self.len = len;
    }

    /// Sets the length to zero.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Appends a value. Panics when the buffer is full.
    #[inline]
    pub fn push(&mut self, value: T) {
        let at = self.len;
        self.set_len(at + 1);
        self[at] = value;
    }

    /// Appends values. Panics when they do not fit.
    pub fn extend_from_slice(&mut self, values: &[T]) {
        let at = self.len;
        self.set_len(at + values.len());
        self[at..].copy_from_slice(values);
    }
}

impl<T: Pod> Deref for Buffer<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.segment().as_slice()[..self.len]
    }
}

impl<T: Pod> DerefMut for Buffer<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        let len = self.len;
        &mut self.segment_mut().as_mut_slice()[..len]
    }
}

impl<T: Pod> Drop for Buffer<T> {
    fn drop(&mut self) {
        let Some(segment) = self.segment.take() else { return };
        let order = segment.bytes().trailing_zeros() as usize;
        let mut shelf = self.pool.0.nodes[self.shelf].lock();
        if shelf.len() <= order {
            shelf.resize_with(order + 1, Vec::new);
        }
        shelf[order].push(segment);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::FakeMachine;

    #[test]
    fn a_buffer_comes_back_to_its_node_and_is_used_again() {
        let machine = FakeMachine::with_nodes(2);
        let pool = BufferPool::new(Allocator::new(machine.clone()));
        let (first, second) = (NodeId(0), NodeId(1));
        let mut buffer = pool.take::<u32>(1000, first).unwrap();
        assert_eq!((buffer.len(), buffer.capacity()), (1000, 1024));
        buffer.clear();
        buffer.extend_from_slice(&[1, 2]);
        buffer.push(3);
        assert_eq!(*buffer, [1, 2, 3]);
        let address = buffer.as_ptr() as usize;
        drop(buffer);
        let elsewhere = pool.take::<u32>(1000, second).unwrap();
        assert_ne!(elsewhere.as_ptr() as usize, address);
        let again = pool.take_zeroed::<u64>(500, first).unwrap();
        assert_eq!(again.as_ptr() as usize, address);
        assert!(again.iter().all(|&it| it == 0));
        assert!(pool.take::<u8>(1, NodeId(7)).is_err());
        assert!(pool.take::<u64>(usize::MAX, first).is_err());
        drop((elsewhere, again));
        pool.trim();
        drop(pool);
        assert_eq!(machine.mapped(), 0);
    }
}
