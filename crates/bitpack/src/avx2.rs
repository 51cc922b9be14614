//! 256-bit kernels.
