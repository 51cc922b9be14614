//! Rows cut into partitions, for what does not fit into memory and for what workers put together apart.

/// Numbers by the partition that each is of.
pub(crate) struct Split {
    order: Vec<u32>,
    starts: Vec<u32>,
}

impl Split {
    /// From the partition of each number.
    pub(crate) fn new(partitions: usize, of: &[u8]) -> Self {
        let mut starts = vec![0u32; partitions + 1];
        of.iter().for_each(|&it| starts[usize::from(it) + 1] += 1);
        for partition in 0..partitions {
            starts[partition + 1] += starts[partition];
        }
        let (mut next, mut order) = (starts.clone(), vec![0; of.len()]);
        for (number, &partition) in of.iter().enumerate() {
            let next = &mut next[usize::from(partition)];
            order[*next as usize] = number as u32;
            *next += 1;
        }
        Self { order, starts }
    }

    /// Those of a partition, in order.
    pub(crate) fn part(&self, partition: usize) -> &[u32] {
        &self.order[self.starts[partition] as usize..self.starts[partition + 1] as usize]
    }
    /// All of them, partition after partition.
    pub(crate) fn into_order(self) -> Vec<u32> {
        self.order
    }
}
