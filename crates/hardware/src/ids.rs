//! The numbers of the parts of a machine.

use stdx::id;

id! {
    /// A NUMA node as the OS numbers it: a socket, or a sub-NUMA cluster of one. Numbers may have gaps.
    NodeId(u16)
}
id! {
    /// A processor socket.
    SocketId(u16)
}
id! {
    /// A hardware thread as the OS numbers it.
    CpuId(u32)
}
id! {
    /// A group of cores that share a last-level cache (a chiplet, or the whole socket).
    LlcId(u16)
}
